"""The forty spaces of the US board: names, prices, rents and costs of houses.

A *property* is a number from 0 to 27, in the order of the board; `PROPERTY_AT` maps spaces to
properties.  Groups 0 to 7 are the colours, 8 the railroads, and 9 the utilities.  All amounts are
dollars.  Source: the board and title deeds of the US edition, Parker Brothers and Hasbro, with the
taxes of 2008.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHANCE_SPACE",
    "CHEST_SPACE",
    "CODES",
    "COST",
    "FREE_SPACE",
    "GO",
    "GO_TO_JAIL",
    "GROUP",
    "GROUPS",
    "GROUP_NAMES",
    "HOUSE",
    "INTEREST",
    "JAIL",
    "KINDS",
    "MORTGAGE",
    "NAMES",
    "PRICE",
    "PROPERTIES",
    "PROPERTY_AT",
    "PROPERTY_SPACE",
    "RAILROADS",
    "RENT",
    "SHORT",
    "SPACES",
    "SPACE_AT",
    "TAX",
    "TAX_SPACE",
    "UTILITIES",
]

SPACES: Final = 40
PROPERTIES: Final = 28
GO: Final = 0
JAIL: Final = 10
RAILROADS: Final = 8
UTILITIES: Final = 9

PROPERTY_SPACE: Final = 0
CHANCE_SPACE: Final = 1
CHEST_SPACE: Final = 2
TAX_SPACE: Final = 3
GO_TO_JAIL: Final = 4
FREE_SPACE: Final = 5
"""Kinds of spaces; nothing happens on a free one."""

GROUP_NAMES: Final[tuple[str, ...]] = (
    "brown", "light_blue", "pink", "orange", "red", "yellow", "green", "dark_blue", "railroads",
    "utilities",
)  # fmt: skip

_BOARD: Final[tuple[tuple[str, str, str, int], ...]] = (
    # Name, code for actions, short name; group of a property, or minus the kind of the space.
    ("Go", "go", "GO", -FREE_SPACE),
    ("Mediterranean Avenue", "mediterranean", "MED", 0),
    ("Community Chest", "chest", "CC1", -CHEST_SPACE),
    ("Baltic Avenue", "baltic", "BAL", 0),
    ("Income Tax", "income_tax", "TAX", -TAX_SPACE),
    ("Reading Railroad", "reading", "REA", RAILROADS),
    ("Oriental Avenue", "oriental", "ORI", 1),
    ("Chance", "chance", "CH1", -CHANCE_SPACE),
    ("Vermont Avenue", "vermont", "VER", 1),
    ("Connecticut Avenue", "connecticut", "CON", 1),
    ("Jail", "jail", "JAIL", -FREE_SPACE),
    ("St. Charles Place", "st_charles", "SC", 2),
    ("Electric Company", "electric", "ELE", UTILITIES),
    ("States Avenue", "states", "STA", 2),
    ("Virginia Avenue", "virginia", "VIR", 2),
    ("Pennsylvania Railroad", "pennsylvania_railroad", "PRR", RAILROADS),
    ("St. James Place", "st_james", "SJ", 3),
    ("Community Chest", "chest", "CC2", -CHEST_SPACE),
    ("Tennessee Avenue", "tennessee", "TEN", 3),
    ("New York Avenue", "new_york", "NY", 3),
    ("Free Parking", "free_parking", "FREE", -FREE_SPACE),
    ("Kentucky Avenue", "kentucky", "KEN", 4),
    ("Chance", "chance", "CH2", -CHANCE_SPACE),
    ("Indiana Avenue", "indiana", "IND", 4),
    ("Illinois Avenue", "illinois", "ILL", 4),
    ("B. & O. Railroad", "b_and_o", "B&O", RAILROADS),
    ("Atlantic Avenue", "atlantic", "ATL", 5),
    ("Ventnor Avenue", "ventnor", "VEN", 5),
    ("Water Works", "water", "WAT", UTILITIES),
    ("Marvin Gardens", "marvin_gardens", "MAR", 5),
    ("Go to Jail", "go_to_jail", "GOTO", -GO_TO_JAIL),
    ("Pacific Avenue", "pacific", "PAC", 6),
    ("North Carolina Avenue", "north_carolina", "NC", 6),
    ("Community Chest", "chest", "CC3", -CHEST_SPACE),
    ("Pennsylvania Avenue", "pennsylvania", "PEN", 6),
    ("Short Line", "short_line", "SHO", RAILROADS),
    ("Chance", "chance", "CH3", -CHANCE_SPACE),
    ("Park Place", "park_place", "PP", 7),
    ("Luxury Tax", "luxury_tax", "LUX", -TAX_SPACE),
    ("Boardwalk", "boardwalk", "BOA", 7),
)

NAMES: Final[tuple[str, ...]] = tuple([space[0] for space in _BOARD])
SHORT: Final[tuple[str, ...]] = tuple([space[2] for space in _BOARD])
"""Unique names of spaces for drawings, four characters at most."""
KINDS: Final[tuple[int, ...]] = tuple(
    [PROPERTY_SPACE if space[3] >= 0 else -space[3] for space in _BOARD]
)
TAX: Final[tuple[int, ...]] = tuple(
    [200 if name == "Income Tax" else 100 if name == "Luxury Tax" else 0 for name in NAMES]
)
SPACE_AT: Final[tuple[int, ...]] = tuple(
    [place for place, space in enumerate(_BOARD) if space[3] >= 0]
)
"""Space of each property."""
PROPERTY_AT: Final[tuple[int, ...]] = tuple(
    [SPACE_AT.index(place) if space[3] >= 0 else -1 for place, space in enumerate(_BOARD)]
)
"""Property of each space, or -1."""
CODES: Final[tuple[str, ...]] = tuple([_BOARD[place][1] for place in SPACE_AT])
"""Names of properties in actions."""
GROUP: Final[tuple[int, ...]] = tuple([_BOARD[place][3] for place in SPACE_AT])
GROUPS: Final[tuple[tuple[int, ...], ...]] = tuple(
    [
        tuple([each for each in range(PROPERTIES) if GROUP[each] == group])
        for group in range(len(GROUP_NAMES))
    ]
)
"""Properties of each group."""

_RAILROAD: Final[tuple[int, ...]] = (25, 50, 100, 200)
_UTILITY: Final[tuple[int, ...]] = (4, 10)
_DEEDS: Final[tuple[tuple[int, tuple[int, ...]], ...]] = (
    # Price; rents of a street without a house, with one to four of them, and with a hotel; of a
    # railroad by the number of them; of a utility the factors of the dice.
    (60, (2, 10, 30, 90, 160, 250)),
    (60, (4, 20, 60, 180, 320, 450)),
    (200, _RAILROAD),
    (100, (6, 30, 90, 270, 400, 550)),
    (100, (6, 30, 90, 270, 400, 550)),
    (120, (8, 40, 100, 300, 450, 600)),
    (140, (10, 50, 150, 450, 625, 750)),
    (150, _UTILITY),
    (140, (10, 50, 150, 450, 625, 750)),
    (160, (12, 60, 180, 500, 700, 900)),
    (200, _RAILROAD),
    (180, (14, 70, 200, 550, 750, 950)),
    (180, (14, 70, 200, 550, 750, 950)),
    (200, (16, 80, 220, 600, 800, 1000)),
    (220, (18, 90, 250, 700, 875, 1050)),
    (220, (18, 90, 250, 700, 875, 1050)),
    (240, (20, 100, 300, 750, 925, 1100)),
    (200, _RAILROAD),
    (260, (22, 110, 330, 800, 975, 1150)),
    (260, (22, 110, 330, 800, 975, 1150)),
    (150, _UTILITY),
    (280, (24, 120, 360, 850, 1025, 1200)),
    (300, (26, 130, 390, 900, 1100, 1275)),
    (300, (26, 130, 390, 900, 1100, 1275)),
    (320, (28, 150, 450, 1000, 1200, 1400)),
    (200, _RAILROAD),
    (350, (35, 175, 500, 1100, 1300, 1500)),
    (400, (50, 200, 600, 1400, 1700, 2000)),
)

PRICE: Final[tuple[int, ...]] = tuple([deed[0] for deed in _DEEDS])
RENT: Final[tuple[tuple[int, ...], ...]] = tuple([deed[1] for deed in _DEEDS])
MORTGAGE: Final[tuple[int, ...]] = tuple([price // 2 for price in PRICE])
INTEREST: Final[tuple[int, ...]] = tuple([(value + 9) // 10 for value in MORTGAGE])
"""Ten per cent of the mortgage, rounded up."""
HOUSE: Final[tuple[int, ...]] = (50, 50, 100, 100, 150, 150, 200, 200, 0, 0)
"""Price of a house by group."""
COST: Final[tuple[int, ...]] = tuple([HOUSE[group] for group in GROUP])
"""Price of a house by property."""
