"""Value of a position at which a search stops; shared by the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from plyhouse.games.native import BoardState
from plyhouse.search.callback_types import evaluated

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["Leaves"]


@final
class Leaves:
    """Values positions at the depth limit, and remembers that there were some.

    ``evaluate(state, seat)`` comes first, then the state's own ``heuristic()`` (if
    ``heuristic`` says that it has one), then 0.  Estimates outside of ``low`` to ``high``,
    the bounds of the game's returns, raise `ValueError`: such a number would outweigh a
    won game.
    """

    def __init__(
        self,
        evaluate: Callable[[Any, int], float] | None,
        heuristic: bool,
        low: float,
        high: float,
    ) -> None:
        self.evaluate = evaluate
        self.heuristic: bool = heuristic
        self.low: float = low
        self.high: float = high
        self.least: float = low
        self.most: float = high
        """Bound on all values that a search may rely on: it stops at a position worth this much to
        its mover.
        """
        self.used: bool = False
        """True if a position was valued since `reset`: otherwise the result is exact."""
        self.claimed: bool = False
        """True if an estimate was as good or bad as a won or lost game."""

    def reset(self) -> None:
        """Forget what was seen, before an iteration."""
        self.used = False
        self.claimed = False

    def value(self, state: Any, seat: i64) -> float:
        """Estimate what ``seat`` may expect from the state."""
        self.used = True
        value: float
        evaluate = self.evaluate
        if evaluate is not None:
            value = evaluated(evaluate, state, seat)
        elif self.heuristic:
            if isinstance(state, BoardState):  # the same, but a C call
                value = state.heuristic()[seat]
            else:
                value = float(state.heuristic()[seat])
        else:
            return 0.0
        return self.checked(value)

    def all_values(self, state: Any, seats: i64) -> list[float]:
        """Estimate what every seat may expect from the state."""
        values: list[float] = []
        seat: i64 = 0
        if self.evaluate is None and self.heuristic:
            self.used = True
            for value in state.heuristic():
                values.append(self.checked(float(value)))  # noqa: PERF401 - see the kernels
            return values
        while seat < seats:
            values.append(self.value(state, seat))
            seat += 1
        return values

    def checked(self, value: float) -> float:
        """Return the estimate, if it lies within the bounds; raises `ValueError` if not."""
        if self.low < value < self.high:
            return value
        if value != self.low and value != self.high:
            raise ValueError(
                f"the evaluation gave {value}, outside of the game's returns "
                f"{self.low} to {self.high}: scale it to lie between them"
            )
        self.claimed = True
        return value
