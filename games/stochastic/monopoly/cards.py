"""The two decks of sixteen cards: what each does, in our own words.

Cards 0 to 15 are Chance, 16 to 31 Community Chest.  Source: the decks of the US edition since 2008.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ADVANCE",
    "BACK",
    "COLLECT",
    "DECK",
    "EACH",
    "EFFECTS",
    "FREE",
    "JAILED",
    "PAY",
    "PAY_EACH",
    "RAILROAD",
    "REPAIRS",
    "TEXTS",
    "UTILITY",
]

DECK: Final = 16

ADVANCE: Final = 0
BACK: Final = 1
RAILROAD: Final = 2
UTILITY: Final = 3
COLLECT: Final = 4
PAY: Final = 5
EACH: Final = 6
PAY_EACH: Final = 7
REPAIRS: Final = 8
JAILED: Final = 9
FREE: Final = 10
"""Kinds of effects; see `EFFECTS` for their numbers."""

_CARDS: Final[tuple[tuple[str, int, int, int], ...]] = (
    ("Advance to Boardwalk", ADVANCE, 39, 0),
    ("Advance to Go", ADVANCE, 0, 0),
    ("Advance to Illinois Avenue", ADVANCE, 24, 0),
    ("Advance to St. Charles Place", ADVANCE, 11, 0),
    ("Advance to Reading Railroad", ADVANCE, 5, 0),
    ("Advance to the next railroad and pay twice its rent (1)", RAILROAD, 0, 0),
    ("Advance to the next railroad and pay twice its rent (2)", RAILROAD, 0, 0),
    ("Advance to the next utility and pay ten times new dice", UTILITY, 0, 0),
    ("Go back three spaces", BACK, 3, 0),
    ("Go to jail", JAILED, 0, 0),
    ("Leave jail free: keep this card", FREE, 0, 0),
    ("Dividend: collect 50", COLLECT, 50, 0),
    ("Building loan: collect 150", COLLECT, 150, 0),
    ("Speeding: pay 15", PAY, 15, 0),
    ("Chairman: pay each player 50", PAY_EACH, 50, 0),
    ("Repairs: pay 25 a house, 100 a hotel", REPAIRS, 25, 100),
    ("Advance to Go", ADVANCE, 0, 0),
    ("Go to jail", JAILED, 0, 0),
    ("Leave jail free: keep this card", FREE, 0, 0),
    ("Bank error: collect 200", COLLECT, 200, 0),
    ("Sale of stock: collect 50", COLLECT, 50, 0),
    ("Holiday fund: collect 100", COLLECT, 100, 0),
    ("Tax refund: collect 20", COLLECT, 20, 0),
    ("Life insurance: collect 100", COLLECT, 100, 0),
    ("Consultancy: collect 25", COLLECT, 25, 0),
    ("Beauty contest: collect 10", COLLECT, 10, 0),
    ("Inheritance: collect 100", COLLECT, 100, 0),
    ("Birthday: collect 10 from each player", EACH, 10, 0),
    ("Doctor: pay 50", PAY, 50, 0),
    ("Hospital: pay 100", PAY, 100, 0),
    ("School: pay 50", PAY, 50, 0),
    ("Street repairs: pay 40 a house, 115 a hotel", REPAIRS, 40, 115),
)

TEXTS: Final[tuple[str, ...]] = tuple([card[0] for card in _CARDS])
EFFECTS: Final[tuple[tuple[int, int, int], ...]] = tuple(
    [(card[1], card[2], card[3]) for card in _CARDS]
)
"""Kind of effect, and its numbers: the space to go to, the spaces to go back, an amount, or the
amounts for a house and for a hotel."""
