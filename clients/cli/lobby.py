"""``plyhouse play --server``: games to play on a server, open seeks, running matches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.screen_mode import draws_in_place

if TYPE_CHECKING:
    from plyhouse.clients.shared.terminal_server import TerminalServer


def lobby(plain: bool, server: str, token: str | None) -> None:
    """Show the lobby of a server, or with ``plain`` print what it offers.

    Raises `CommandError` if the server cannot be reached or refuses.
    """
    from plyhouse.clients.shared.screens import failed, show_lobby
    from plyhouse.clients.shared.terminal_server import TerminalServer
    from plyhouse.clients.terminal.interfaces import Refusal

    api = TerminalServer(server, token)
    try:
        if draws_in_place(plain):
            show_lobby(api)
        else:
            asyncio.run(_write(api))
    except Refusal as error:
        raise failed(error) from error


async def _write(api: TerminalServer) -> None:
    from plyhouse.protocol.api import calls

    games = await api.ask(calls.games())
    session = await api.ask(calls.session())
    seeks = await api.ask(calls.seeks())
    running = await api.ask(calls.page_of_matches(status="running", limit=50))
    click.echo(f"Games: {', '.join(each.name for each in games)}")
    click.echo(f"Built-in bots: {', '.join(session.levels) or 'none'}")
    for bot in await api.ask(calls.hosted_bots()):
        click.echo(f"Submitted bot: {bot.bot} ({', '.join(bot.games)})")
    click.echo(f"Guests: {'accepted' if session.guests else 'not accepted'}")
    for seek in seeks:
        kind = "rated" if seek.rated else "casual"
        click.echo(f"{seek.player} seeks {seek.game}, {seek.time_control}, {kind}")
    for match in running:
        who = " - ".join(seat.name for seat in match.seats)
        click.echo(f"Match {match.match}: {match.game}, {who}, ply {match.ply}")
    if not running:
        click.echo("No match is running.")
