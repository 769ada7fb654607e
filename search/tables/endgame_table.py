"""The interface of endgame tables, independent of their storage.

>>> quick, slow, draw = Entry(1.0, 3), Entry(1.0, 9), Entry(0.0, None)
>>> max([slow, draw, quick], key=preference)
Entry(value=1.0, distance=3)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from plyhouse.games.base import TERMINAL, Game

__all__ = ["EndgameTable", "Entry", "NotInTable"]

STEP: Final = 1e-6
"""Weight of one ply in `EndgameTable.evaluate`, as a share of a win."""


class Entry(NamedTuple):
    """Result of perfect play."""

    value: float
    """The return of the seat to move (of seat 0 where the game is over)."""
    distance: int | None
    """Plies to the end if the winner hurries and the loser resists; None for a draw."""


class NotInTable(LookupError):  # noqa: N818 - no error: the table does not reach so far
    """A position that a table does not hold."""


class EndgameTable(ABC):
    """Values of a set of positions of one game, with everything that can follow them."""

    def __init__(self, game: Game, worth: float) -> None:
        self.game = game
        self.worth = worth
        """The return of a win."""

    @abstractmethod
    def get(self, state: Any) -> Entry | None:
        """Return the value of the position; None if it is not in the table.

        A position that is over is always known.
        """

    @abstractmethod
    def __len__(self) -> int:
        """Return how many positions the table holds."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the table into a file; see `plyhouse.search.tables.table_file`."""

    def __contains__(self, state: Any) -> bool:
        return self.get(state) is not None

    def probe(self, state: Any) -> Entry:
        """Return the value of the position; raise `NotInTable`."""
        entry = self.get(state)
        if entry is None:
            raise NotInTable(
                f"the table of {self.game.spec} has {len(self):,} positions, but not this one: "
                f"{self.game.describe(state)}"
            )
        return entry

    def values(self, state: Any) -> dict[Any, Entry]:
        """Return the entry after each action, for the seat that chooses, counted from its own ply.

        Raises `NotInTable` if the table does not hold what follows.
        """
        answers = {}
        for action in state.actions():
            child = state.after(action)
            value, distance = self.probe(child)
            seat = 0 if child.to_move == TERMINAL else child.to_move
            answers[action] = Entry(
                (value if seat == state.to_move else -value) + 0.0,
                None if distance is None else distance + 1,
            )
        return answers

    def best_action(self, state: Any) -> Any:
        """Return the quickest win; else a draw; else what loses latest; see `best_of`."""
        return self.best_of(state, self.values(state))

    def best_of(self, state: Any, answers: Mapping[Any, Entry]) -> Any:
        """Return the best of some actions with their entries.

        Among equals it is the one after which a reply at random is worth most, as opponents err;
        then the first.
        """
        most = max([preference(entry) for entry in answers.values()])
        equal = [action for action, entry in answers.items() if preference(entry) == most]
        if len(equal) == 1:
            return equal[0]
        return max(equal, key=lambda action: self.hope(state, action))

    def hope(self, state: Any, action: Any) -> float:
        """Return the mean value for the mover if the next seat replies to an action at random."""
        child = state.after(action)
        if child.to_move in (TERMINAL, state.to_move):
            return 0.0
        replies = [entry.value for entry in self.values(child).values()]
        return -sum(replies) / len(replies)

    def evaluate(
        self, fallback: Callable[[Any, int], float] | None = None
    ) -> Callable[[Any, int], float]:
        """Return an evaluation for searches: exact where the table knows, ``fallback`` elsewhere.

        Without a fallback the state's ``heuristic()`` counts, or 0.  A win is worth a
        millionth less for each ply it takes, so that a search goes the shortest way to it.
        """

        def value(state: Any, seat: int) -> float:
            entry = self.get(state)
            if entry is None:
                if fallback is not None:
                    return fallback(state, seat)
                return float(state.heuristic()[seat]) if hasattr(state, "heuristic") else 0.0
            if entry.distance is None:
                return 0.0
            worth = entry.value * (1.0 - STEP * (entry.distance + 1))
            return worth if seat == max(state.to_move, 0) else -worth

        return value


def preference(entry: Entry) -> tuple[float, int]:
    """Return a sort key of actions: greater is better."""
    if entry.distance is None:
        return 0.0, 0
    return entry.value, -entry.distance if entry.value > 0 else entry.distance
