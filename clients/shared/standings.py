"""Standings of a leaderboard, read from a database and printed as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from plyhouse.clients.shared.output import interval, print_table, rich_table, signed

if TYPE_CHECKING:
    from rich.table import Table

    from plyhouse.protocol.api.leaderboards import Standing

__all__ = ["print_standings", "standings_cells", "standings_from_database", "standings_table"]

WHO: Final = ("#", "bot", "player", "rating", "95 % interval")
BY_WINS: Final = ("score", "games", "W-D-L", "returns")
BY_RETURNS: Final = ("return per game", "95 % interval", "games", "W-D-L", "returns")


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
    """Return the same as a table of rich, for any standard output and width."""
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
