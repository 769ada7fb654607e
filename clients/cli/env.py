"""``plyhouse env``: a game as an environment to learn in."""

from __future__ import annotations

import functools

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import game_option, number_option


@click.group()
def env() -> None:
    """Serve a game as an environment to learn in."""


@env.command()
@game_option()
@click.option(
    "--opponent",
    default="easy",
    show_default=True,
    metavar="BOT",
    help="Bot in all other seats: easy, medium, hard or another one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@number_option("--port", 8000, "Port; 0 for any.", 0, 65535)
@number_option("--sessions", 64, "Episodes at once.", 1, 10_000)
@game_files_option()
def serve(game: str, opponent: str, host: str, port: int, sessions: int) -> None:
    """Serve one seat of a game by OpenEnv.

    Each websocket has its own episodes against bots that run in this process. There is no
    password: let only programs that you trust reach the address. docs/openenv.md has a client.
    """
    import socket

    import uvicorn

    from plyhouse.bots.loading import bot_options, load_bot
    from plyhouse.clients.openenv.application import application
    from plyhouse.games.registry import get_game

    found, bot = get_game(game, files=True), load_bot(opponent)
    make = functools.partial(bot, **bot_options(opponent, bot))
    made = application(found, make, sessions)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        raise CommandError(f"Cannot listen on {host}:{port}: {error}.", EXIT_USAGE) from error
    address = f"http://{host}:{listener.getsockname()[1]}"
    click.echo(f"{found.spec} against {opponent} is an OpenEnv environment at {address}")
    config = uvicorn.Config(made, log_level="warning", ws_max_size=1 << 20, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
