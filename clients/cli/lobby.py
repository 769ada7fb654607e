"""``plyhouse lobby``: games to play on a server, open seeks, running matches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.shared.options import server_option, token_option
from plyhouse.clients.shared.screens import draws_in_place, plain_option

if TYPE_CHECKING:
    from plyhouse.clients.shared.house import ServerHouse

__all__ = ["lobby"]


@click.command()
@plain_option()
@server_option()
@token_option()
def lobby(plain: bool, server: str, token: str | None) -> None:
    """Play on a server in this terminal: against its bots, or whoever seeks the same.

    Without a token you play as a guest, where the server takes guests. In a pipe and with --plain,
    what there is is written: games, bots, open seeks, running matches.
    """
    from plyhouse.clients.shared.house import ServerHouse
    from plyhouse.clients.shared.showing import failed, show_lobby
    from plyhouse.clients.terminal.line import Refusal

    house = ServerHouse(server, token)
    try:
        if draws_in_place(plain):
            show_lobby(house)
        else:
            asyncio.run(_write(house))
    except Refusal as error:
        raise failed(error) from error


async def _write(house: ServerHouse) -> None:
    games: list[dict[str, Any]] = await house.call("GET", "games")
    session = await house.call("GET", "session")
    seeks = await house.call("GET", "seeks")
    running = await house.call("GET", "matches", query="?status=running&limit=50")
    click.echo(f"Games: {', '.join(each['name'] for each in games)}")
    click.echo(f"Bots of the house: {', '.join(session['levels']) or 'none'}")
    for each in await house.call("GET", "hosted-bots"):
        click.echo(f"Handed in, to play against: {each['bot']} ({', '.join(each['games'])})")
    click.echo(f"Guests: {'welcome' if session['guests'] else 'not taken'}")
    for each in seeks:
        kind = "rated" if each["rated"] else "casual"
        click.echo(f"{each['player']} seeks {each['game']}, {each['time_control']}, {kind}")
    for each in running:
        who = " - ".join(
            f"{seat['player']}/{seat['bot']}" if seat["bot"] else seat["player"]
            for seat in each["seats"]
        )
        click.echo(f"Match {each['match']}: {each['game']}, {who}, ply {each['ply']}")
    if not running:
        click.echo("No match is being played.")
