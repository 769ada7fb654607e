"""Kinds of actions and sizes of bets, for the bots of Texas hold'em.

A bot gives a probability to each kind of action, so that `benchmarks/local_best_response.py` can
ask what it would do with any cards.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = [
    "FOLD",
    "PASSIVE",
    "RAISE",
    "SHARE",
    "drawn_kind",
    "kind_of",
    "raises_in_round",
    "sized",
]

SHARE: Final = 0.8
"""Part of a turn's time for the strength of the cards; then an estimate must do."""
FOLD: Final = 0
PASSIVE: Final = 1
"""Check or call."""
RAISE: Final = 2
"""Bet or raise."""

_KINDS: Final = {"fold": FOLD, "check": PASSIVE, "call": PASSIVE, "bet": RAISE, "raise": RAISE}


def kind_of(text: str) -> int:
    """Return the kind of an action.

    >>> [kind_of(text) for text in ("fold", "check", "raise 12")]
    [0, 1, 2]
    """
    return _KINDS[text.partition(" ")[0]]


def raises_in_round(seen: Any) -> int:
    """Return the number of bets and raises in this round; blinds do not count."""
    return sum([kind_of(text) == RAISE for _, text in seen.rounds[-1]])


def drawn_kind(shares: Mapping[int, float], rng: random.Random) -> int:
    """Draw a kind of action by its probabilities."""
    drawn = rng.random()
    for kind, share in shares.items():
        drawn -= share
        if drawn < 0.0:
            return kind
    return PASSIVE


def sized(legal: Sequence[str], kind: int, aim: float) -> str:
    """Return the legal action of a kind; a bet or raise is the one nearest to ``aim`` chips.

    A raise that is not legal becomes a call, and a fold becomes a check if there is no bet.

    >>> sized(("fold", "call", "raise 4", "raise 5", "raise 6"), RAISE, 5.2)
    'raise 5'
    >>> sized(("check", "bet 2"), FOLD, 0)
    'check'
    """
    found = [text for text in legal if kind_of(text) == kind]
    if not found:
        return next(text for text in legal if kind_of(text) == PASSIVE)
    if kind != RAISE:
        return found[0]
    return min(found, key=lambda text: abs(int(text.split()[1]) - aim))
