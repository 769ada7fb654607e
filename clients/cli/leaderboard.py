"""``plyhouse leaderboard``: the standings of a game, from a database or a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import database_option, json_option, server_option
from plyhouse.clients.shared.output import (
    interval,
    note,
    print_json,
    print_table,
    rich_table,
    signed,
)
from plyhouse.clients.shared.screens import draws_in_place, plain_option

if TYPE_CHECKING:
    from rich.table import Table

    from plyhouse.protocol.api.leaderboards import Standing

__all__ = [
    "leaderboard",
    "print_standings",
    "standings_cells",
    "standings_from_database",
    "standings_table",
]

WHO: Final = ("#", "bot", "player", "rating", "95 % interval")
BY_WINS: Final = ("score", "games", "W-D-L", "returns")
BY_RETURNS: Final = ("return per game", "95 % interval", "games", "W-D-L", "returns")


@click.command()
@click.argument("game", required=False)
@click.option(
    "--limit", default=100, show_default=True, type=click.IntRange(1, 1000), help="Lines."
)
@click.option(
    "--versions",
    is_flag=True,
    help="Show every version of a bot, not just the one that it played with last.",
)
@game_files_option()
@server_option(default=None)
@database_option()
@plain_option()
@json_option()
def leaderboard(
    game: str | None,
    limit: int,
    versions: bool,
    server: str | None,
    database: str,
    plain: bool,
    as_json: bool,
) -> None:
    """Show the leaderboard of GAME: rating with its interval, score, results.

    Without GAME: all games with results, and of a server the competitions. In a terminal one goes
    from one to the next, and intervals are drawn; --plain prints the table.

    Where the size of the return counts (chips, cents), ratings go by returns, and the
    table shows the mean return per game with its interval in place of the score.

    Reads the database, or asks a running server when --server is given.
    """
    from plyhouse.clients.shared.games import named_spec, spec_of

    if draws_in_place(plain) and not as_json:
        from plyhouse.clients.cli.boards import boards_of
        from plyhouse.clients.shared.showing import show_boards

        first = game if game is None else (spec_of if server else named_spec)(game)
        show_boards(boards_of(server, database, limit, versions=versions), first)
        return
    if game is None:
        _list_games(server, database, as_json=as_json)
        return
    if server is not None:
        from plyhouse.clients.shared.http import ask
        from plyhouse.protocol.api import calls

        spec = spec_of(game)
        which = "all" if versions else "latest"
        answer = ask(server, calls.leaderboard(spec, versions=which, limit=limit))
        spec, scoring = answer.game, answer.scoring
        rows = answer.standings
    else:
        from plyhouse.server.results.leaderboards import scoring_of

        spec = named_spec(game)
        scoring = scoring_of(spec).value
        rows = asyncio.run(standings_from_database(database, spec, limit, every_version=versions))
    if as_json:
        print_json({"game": spec, "scoring": scoring, "standings": rows})
    elif rows:
        print_standings(spec, rows, versions=versions)
    else:
        note(f"No rated matches of {spec} yet in {server or database}.")


def _list_games(server: str | None, database: str, *, as_json: bool) -> None:
    """Print the games that have results."""
    from plyhouse.clients.cli.boards import games_with_results

    games = asyncio.run(games_with_results(server, database))
    if as_json:
        click.echo(json.dumps(games, indent=2))
    elif games:
        click.echo("\n".join(games))
    else:
        note(f"No rated matches yet in {server or database}.")


async def standings_from_database(
    url: str, spec: str, limit: int, *, every_version: bool = False
) -> list[Standing]:
    """The first ``limit`` lines of a game's leaderboard, best first."""
    from plyhouse.server.results.leaderboards import board
    from plyhouse.storage.store import Store

    store = await Store.open(url, create=False)
    try:
        return await board(store, spec, limit, every_version=every_version)
    finally:
        await store.close()


def print_standings(title: str, rows: Sequence[Standing], *, versions: bool = False) -> None:
    """Print standings of a game.

    With ``versions`` they say of which version of a bot they are.
    """
    print_table(title, *standings_cells(rows, versions=versions), keys=4 if versions else 3)


def standings_table(title: str, rows: Sequence[Standing]) -> Table:
    """The same as a table of rich, whatever standard output is and however wide."""
    return rich_table(title, *standings_cells(rows))


def standings_cells(
    rows: Sequence[Standing], *, versions: bool = False
) -> tuple[Sequence[str], list[list[str]], str]:
    """Columns, lines, and which columns to align right."""
    by_returns = any(row.mean_return is not None for row in rows)
    columns = WHO + (BY_RETURNS if by_returns else BY_WINS)
    table = []
    for row in rows:
        known = row.rating is not None
        line = [
            str(row.rank),
            f"{row.bot} {row.version or '-'}" if versions else row.bot,
            row.player,
            f"{row.rating:.0f}" if known else "-",
            f"[{row.low:.0f}, {row.high:.0f}]" if known else "-",
        ]
        if not by_returns:
            line.append(f"{row.score:g}")
        elif row.mean_return is None or row.mean_low is None or row.mean_high is None:
            line += ["-", "-"]
        else:
            line.append(signed(row.mean_return, 2))
            line.append(interval(row.mean_low, row.mean_high, 2))
        line += [
            str(row.games),
            f"{row.wins}-{row.draws}-{row.losses}",
            signed(row.returns, 1),
        ]
        table.append(line)
    return (
        columns,
        table,
        "rll" + "".join("R" if name.startswith("95 %") else "r" for name in columns[3:]),
    )
