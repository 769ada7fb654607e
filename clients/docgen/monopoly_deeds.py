"""Section of the page about Monopoly with the spaces, prices and rents that its bots need."""

from __future__ import annotations

from typing import Final

from plyhouse.games.stochastic.monopoly.board import (
    CODES,
    COST,
    GROUP,
    GROUP_NAMES,
    NAMES,
    PRICE,
    PROPERTY_AT,
    RAILROADS,
    RENT,
    SHORT,
    SPACES,
    UTILITIES,
)

__all__ = ["deeds_section"]

_EXAMPLE: Final = """\
```python
from plyhouse.games.stochastic.monopoly.board import CODES, PRICE, RENT

boardwalk = CODES.index("boardwalk")
assert PRICE[boardwalk] == 400
assert RENT[boardwalk] == (50, 200, 600, 1400, 1700, 2000)
```"""


def deeds_section() -> list[str]:
    """Return the section as lines of Markdown: a table of all spaces."""
    return [
        "## Board",
        "",
        "Actions and observations name a property by its code, and `clear` names a colour group. "
        "Boards in browsers and terminals show the short name. "
        "The rents of a street are those without a house, with one to four houses, and with a "
        "hotel, which costs as much as a house. "
        "The rents of a railroad are those of an owner of one to four of them. "
        "A utility brings 4 times the dice, or 10 times if its owner has both. "
        "A mortgage brings half the price.",
        "",
        "| space | name | code | short name | group | price | house | rents |",
        "|---|---|---|---|---|---|---|---|",
        *[_row(space) for space in range(SPACES)],
        "",
        "Python bots find the same tables in `plyhouse.games.stochastic.monopoly.board`:",
        "",
        _EXAMPLE,
        "",
    ]


def _row(space: int) -> str:
    """Return the row of a space; the cells about property are empty if it is none."""
    item = PROPERTY_AT[space]
    if item < 0:
        return f"| {space} | {NAMES[space]} |  | `{SHORT[space]}` |  |  |  |  |"
    group = GROUP[item]
    rents = ", ".join([str(rent) for rent in RENT[item]])
    cells = (
        str(space),
        NAMES[space],
        f"`{CODES[item]}`",
        f"`{SHORT[space]}`",
        f"`{GROUP_NAMES[group]}`",
        str(PRICE[item]),
        str(COST[item]) if group < RAILROADS else "",
        f"{rents} times the dice" if group == UTILITIES else rents,
    )
    return f"| {' | '.join(cells)} |"
