"""The actions of a rack on a board: all of them, or a list that takes few steps.

A rack with two blanks has up to 95,754 plays.  Referees send the short list, between the messages
of other matches.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from plyhouse.games.hidden.scrabble.match_rules import Rules
from plyhouse.games.hidden.scrabble.plays import Plays
from plyhouse.games.hidden.scrabble.tiles import tile_names

__all__ = ["LEAST_BAG", "PASS", "actions_with", "exchanges", "listed_with"]

PASS: Final = "-"  # noqa: S105 - no password, but how a pass is written
LEAST_BAG: Final = 7
"""Tiles that the bag must hold for an exchange."""
_KEPT: Final = 4
"""Positions whose actions are kept: with two blanks in the rack there are up to 100,000 texts."""
_LISTS_KEPT: Final = 64
"""Positions whose shorter lists are kept."""
_LOOKS: Final = 32
"""Looks of the generator (`Plays`) after which a list is cut short.  They take a few milliseconds
where the games are compiled, and suffice for most racks without a blank."""
_FEW_LOOKS: Final = 8
"""The same where the list will not be complete, because a blank is in the rack."""
_FEW_TILES: Final = 3
"""Tiles of a rack with blanks whose plays may all be listed."""
_WHOLE: Final = 500
"""Most plays of a list that has them all."""
_SOME: Final = 100
"""Plays of a list that has not."""


def exchanges(rack: bytes) -> list[str]:
    """Return all exchanges of tiles of a rack, few tiles first."""
    level: list[bytes] = [b""]
    found: list[str] = []
    for _ in range(len(rack)):
        kept: dict[bytes, None] = {}
        for chosen in level:
            used: list[int] = list(chosen)
            for tile in rack:
                if (not used or tile >= used[-1]) and used.count(tile) < rack.count(tile):
                    kept[bytes([*used, tile])] = None
        level = list(kept)
        found.extend([PASS + tile_names(chosen) for chosen in level])
    return found


@functools.lru_cache(maxsize=_KEPT)
def actions_with(rules: Rules, board: bytes, rack: bytes, may_exchange: bool) -> tuple[Any, ...]:
    """Return the actions on a board with a rack, apart from answers to plays.

    Observing a state, reading an action and drawing the choices ask for the same ones in turn.
    """
    found = Plays(rules.words.edges, board, rack, False)
    texts = found.texts
    if rules.most_plays:
        order = sorted(range(len(texts)), key=lambda place: (-found.scores[place], place))
        texts = [texts[place] for place in order[: rules.most_plays]]
        if not texts and may_exchange:
            texts = [PASS + tile_names(rack)]
    elif may_exchange:
        texts = texts + exchanges(rack)
    return (*texts, PASS)


class _Looks:
    """Stops a generator after some looks, for the same list on every machine."""

    def __init__(self, most: int) -> None:
        self.left: int = most

    def __call__(self) -> bool:
        """Return whether the generator must stop."""
        self.left -= 1
        return self.left < 0


@functools.lru_cache(maxsize=_LISTS_KEPT)
def listed_with(
    rules: Rules, board: bytes, rack: bytes, may_exchange: bool
) -> tuple[tuple[str, ...], bool]:
    """Return actions on a board with a rack, and whether they are all."""
    others: list[str] = exchanges(rack) if may_exchange else []
    others.append(PASS)
    blanks: int = rack.count(0)
    plain: bytes = bytes([tile for tile in rack if tile > 0])
    texts: list[str] = []
    most: int = _LOOKS
    if blanks and len(rack) > _FEW_TILES:
        # All words that begin with blanks would take the steps, and need not reach the board.
        most = _FEW_LOOKS
        texts = Plays(rules.words.edges, board, plain, False, _Looks(most)).texts
    if not texts:
        found = Plays(rules.words.edges, board, rack, False, _Looks(most))
        if not found.stopped and len(found.texts) <= _WHOLE:
            return (*found.texts, *others), True
        texts = found.texts
    return (*texts[:_SOME], *others), False
