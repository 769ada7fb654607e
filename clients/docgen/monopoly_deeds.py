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
    PROPERTIES,
    PROPERTY_AT,
    RAILROADS,
    RENT,
    SHORT,
    SPACE_AT,
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
    """Return the section as lines of Markdown: a table of properties, and the other spaces."""
    others = [
        f"{place} {NAMES[place]} (`{SHORT[place]}`)"
        for place in range(SPACES)
        if PROPERTY_AT[place] < 0
    ]
    return [
        "## Properties",
        "",
        "Actions and observations name a property by its code, and `clear` names a colour group. "
        "Boards show the short name. The rents of a street are those without a house, with one to "
        "four houses, and with a hotel, which costs as much as a house. "
        "The rents of a railroad are those of an owner of one to four of them. "
        "A utility brings 4 times the dice, or 10 times if its owner has both. "
        "A mortgage brings half the price.",
        "",
        "| space | property | code | short name | group | price | house | rents |",
        "|---|---|---|---|---|---|---|---|",
        *[_row(item) for item in range(PROPERTIES)],
        "",
        f"The other spaces are {', '.join(others)}.",
        "",
        "Python bots find the same tables in `plyhouse.games.stochastic.monopoly.board`:",
        "",
        _EXAMPLE,
        "",
    ]


def _row(item: int) -> str:
    """Return the row of a property."""
    space, group = SPACE_AT[item], GROUP[item]
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
