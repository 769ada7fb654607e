"""Common parts of the Monte Carlo searches outside of their inner loops.

>>> rounds(100, None), rounds(100, 110)
(125, 110)
>>> checked_word("pimc", "combine", "median", ("mean", "vote"))
Traceback (most recent call last):
ValueError: pimc(combine='median'): expected 'mean' or 'vote'
"""

from __future__ import annotations

from typing import Any, Final

from plyhouse.games.base import Game, Utility
from plyhouse.search.limit import Limit
from plyhouse.search.poll import Poll

__all__ = [
    "DEFAULT_SIMULATIONS",
    "SimulationPoll",
    "checked_number",
    "checked_whole",
    "checked_word",
    "is_two_sided",
    "most_simulations",
    "rounds",
]

DEFAULT_SIMULATIONS: Final = 1000
"""Simulations where the limit has no bound that ends a search of this kind."""
GROWTH: Final = 4
"""A search reports each time its simulations have grown by a 4th."""


class SimulationPoll(Poll):
    """The heartbeat of a search that counts simulations.

    A simulation may take a microsecond or, in a slow game, a tenth of a second, so the first
    polls come after every one.
    """

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.interval = 1
        self.node_limit = None


def most_simulations(limit: Limit) -> int | None:
    """Return how many simulations a search does at most; None if something else ends it."""
    if limit.simulations is None and limit.time is None and limit.nodes is None:
        return DEFAULT_SIMULATIONS
    return limit.simulations


def rounds(done: int, limit: int | None) -> int:
    """Return how many simulations to have after the next round, at whose end is a report."""
    target = done + max(1, done // GROWTH)
    return target if limit is None else min(target, limit)


def is_two_sided(game: Game) -> bool:
    """Return whether what one seat wins is what the other loses."""
    if game.seats != 2:
        return False
    opposite = game.info.utility is Utility.TEAM and game.team(0) != game.team(1)
    return opposite or game.info.utility is Utility.ZERO_SUM


def checked_whole(algorithm: str, name: str, value: Any, least: int) -> int:
    """Return the option if it is a whole number of at least ``least``, else raise."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{algorithm}({name}={value!r}): expected a whole number")
    if value < least:
        raise ValueError(f"{algorithm}({name}={value!r}): expected at least {least}")
    return value


def checked_number(algorithm: str, name: str, value: Any) -> float:
    """Return the option if it is a number of at least 0, else raise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{algorithm}({name}={value!r}): expected a number")
    if not 0 <= value < float("inf"):
        raise ValueError(f"{algorithm}({name}={value!r}): expected a number from 0 up")
    return float(value)


def checked_word(algorithm: str, name: str, value: Any, words: tuple[str, ...]) -> str:
    """Return the option if it is one of these words, else raise `ValueError`."""
    if value not in words:
        wanted = " or ".join([repr(word) for word in words])
        raise ValueError(f"{algorithm}({name}={value!r}): expected {wanted}")
    return str(value)
