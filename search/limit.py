"""How much a search may spend (`Limit`) and what it found (`SearchResult`).

>>> Limit(time=-1)
Traceback (most recent call last):
ValueError: Limit(time=-1): expected seconds from 0 up, or None for no bound
>>> from plyhouse.games import get_game
>>> from plyhouse.search import alpha_beta
>>> game = get_game("connect_four(columns=8)")
>>> result = alpha_beta(game, game.initial_state(), Limit(depth=4, nodes=100))
>>> result.depth, result.nodes, result.exact
(2, 100, False)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic_ns
from typing import Any, Final

__all__ = ["MAX_DEPTH", "UNLIMITED", "Limit", "SearchResult", "require_limit"]

MAX_DEPTH: Final = 256
"""Plies below the root that a search looks at most: it guards the C stack of compiled
searches and the recursion limit of pure ones.  Positions there are valued as at any
other depth limit."""


@dataclass(frozen=True)
class Limit:
    """Limits of a search; it stops at the first limit that it reaches.

    A limit without any bound lets a search look until the end of the game, which is
    right for tic-tac-toe and hopeless for chess.  Values that make no sense raise
    `ValueError` (or `TypeError` for the wrong type) when the limit is made, not later
    in the middle of a match.
    """

    time: float | None = None
    """Seconds from the call of the search; 0 means: answer at once."""
    depth: int | None = None
    """Plies to look ahead, chance nodes included; at least 1."""
    nodes: int | None = None
    """Positions to visit, the root included; at least 1."""
    simulations: int | None = None
    """Simulations, for Monte Carlo searches; at least 1.  Tree searches ignore it."""
    report: Callable[[SearchResult], None] | None = field(default=None, compare=False)
    """Called with the best result so far, each time a depth is completed or a better
    root action is found.  It runs inside the search, so it should be quick; what it
    raises ends the search and reaches the caller."""
    clock: Callable[[], int] = field(default=monotonic_ns, compare=False, repr=False)
    """Monotonic nanoseconds; tests inject their own."""

    def __post_init__(self) -> None:
        if self.time is not None:
            if isinstance(self.time, bool) or not isinstance(self.time, int | float):
                raise TypeError(f"Limit(time={self.time!r}): expected seconds as a number or None")
            if not 0 <= self.time < math.inf:
                raise ValueError(
                    f"Limit(time={self.time!r}): expected seconds from 0 up, or None for no bound"
                )
        for name in ("depth", "nodes", "simulations"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Limit({name}={value!r}): expected a whole number or None")
            if value < 1:
                raise ValueError(
                    f"Limit({name}={value!r}): expected at least 1, or None for no bound"
                )
        if self.report is not None and not callable(self.report):
            raise TypeError(f"Limit(report={self.report!r}): expected a function or None")

    def within(self, other: Limit) -> Limit:
        """Return this limit with the tighter ones of its bounds and those of another.

        >>> Limit(time=1, depth=3).within(Limit(depth=5, nodes=10))
        Limit(time=1, depth=3, nodes=10, simulations=None, report=None)
        """

        def least(one: Any, other: Any) -> Any:
            return min([bound for bound in (one, other) if bound is not None], default=None)

        return replace(
            self,
            time=least(self.time, other.time),
            depth=least(self.depth, other.depth),
            nodes=least(self.nodes, other.nodes),
            simulations=least(self.simulations, other.simulations),
        )


UNLIMITED: Final = Limit()
"""The default of searches: they look until the end of the game."""


def require_limit(limit: Limit) -> None:
    """Raise `TypeError` for what is no limit, such as a number of seconds."""
    given: object = limit
    if not isinstance(given, Limit):
        raise TypeError(f"limit={given!r}: expected a Limit, as in Limit(time=1)")


def part_of(whole: int | None, parts: int, number: int) -> int | None:
    """Return one of almost equal parts of a limit, at least 1."""
    if whole is None:
        return None
    return max(1, whole // parts + (1 if number < whole % parts else 0))


@dataclass(frozen=True)
class SearchResult:
    """The best action a search knows, and how it came to it."""

    action: Any
    """The action to play."""
    value: float
    """Expected return of the mover, in the units of the game."""
    pv: tuple[Any, ...]
    """Principal variation: the play expected from here, ``action`` first.  It ends at a
    chance node, because what follows depends on the dice."""
    depth: int
    """Plies fully searched; 0 when time was out before the first was.  For Monte Carlo tree
    searches, plies of the longest line in the tree."""
    nodes: int
    """Positions visited, the root included, over all iterations."""
    time: float
    """Seconds spent."""
    values: Mapping[Any, float] = field(default_factory=dict)
    """Value per root action, as far as known; a search that prunes knows only an upper
    bound for actions worse than the best."""
    vector: tuple[float, ...] = ()
    """Expected returns of all seats, from searches that compute them (max^n); otherwise empty."""
    exact: bool = False
    """True if the value is proven: no line ended at a depth limit or in an estimate, or the game is
    won or lost in any case.
    """
    visits: Mapping[Any, int] = field(default_factory=dict)
    """Simulations that began with each root action, for Monte Carlo searches."""
    simulations: int = 0
    """Simulations of this search, for Monte Carlo searches."""
    source: str = "search"
    """Where the value comes from: "search"; "endings" if the game solved positions itself; "book"
    if the position is in the game's opening book; "table" for an endgame table.
    """
