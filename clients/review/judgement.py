"""The verdict of a judge on one ply, and the interface of judges."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

__all__ = ["Judge", "Judgement"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The value of one ply for its seat, in the game's returns."""

    best_action: Any
    best: float
    played: float | None
    """None where nothing was played, or the judge never tried what was."""
    certainty: str
    """``exact``, ``depth 6``, ``sampled 4,000``: how it is known."""
    exact: bool
    """True if both values are those of perfect play."""
    error: float = inf
    """The largest likely error of the difference of the two: 0 if it is exact, two standard errors
    if it is sampled, and infinite for an estimate at a depth."""

    @property
    def drop(self) -> float:
        """The loss by the choice: never negative."""
        return 0.0 if self.played is None else max(0.0, self.best - self.played)


class Judge(Protocol):
    """Values what was played."""

    method: str
    """How it does so, in words for people."""

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge ``action`` (None: only the position) in about so many seconds."""
        ...
