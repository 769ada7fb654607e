"""``plyhouse leaderboard``: the standings of a game on a server."""

from __future__ import annotations

import json

import click

from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import (
    json_option,
    number_option,
    server_option,
)
from plyhouse.clients.shared.output import note, print_json
from plyhouse.clients.shared.screen_mode import draws_in_place, plain_option
from plyhouse.clients.shared.standings import print_standings


@click.command()
@click.argument("game", required=False)
@number_option("--limit", 100, "Lines.", 1, 1000)
@click.option(
    "--versions",
    is_flag=True,
    help="Show every version of a bot, not just the one that it played with last.",
)
@game_files_option()
@server_option()
@plain_option()
@json_option()
def leaderboard(
    game: str | None,
    limit: int,
    versions: bool,
    server: str,
    plain: bool,
    as_json: bool,
) -> None:
    """Show the leaderboard of a game.

    It has ratings with their intervals, scores and results.

    Without GAME: all games with results, and the competitions. In a terminal one goes
    from one to the next, and intervals are drawn; --plain prints the table.

    Where the size of the return counts (chips, cents), ratings go by returns, and the
    table shows the mean return per game with its interval in place of the score.
    """
    from plyhouse.clients.shared.games import spec_of
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import calls

    if draws_in_place(plain) and not as_json:
        from plyhouse.clients.shared.screens import show_boards
        from plyhouse.clients.shared.terminal_server import ServedBoards

        first = None if game is None else spec_of(game)
        show_boards(ServedBoards(server, limit, versions=versions), first)
        return
    if game is None:
        _list_games(server, as_json=as_json)
        return
    which = "all" if versions else "latest"
    answer = ask(server, calls.leaderboard(spec_of(game), versions=which, limit=limit))
    if as_json:
        print_json({"game": answer.game, "scoring": answer.scoring, "standings": answer.standings})
    elif answer.standings:
        print_standings(answer.game, answer.standings, versions=versions)
    else:
        note(f"No rated matches of {answer.game} yet on {server}.")


def _list_games(server: str, *, as_json: bool) -> None:
    """Print the games that have results."""
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import calls

    games = ask(server, calls.leaderboards())
    if as_json:
        click.echo(json.dumps(games, indent=2))
    elif games:
        click.echo("\n".join(games))
    else:
        note(f"No rated matches yet on {server}.")
