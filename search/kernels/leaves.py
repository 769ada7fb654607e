"""What the kernels share: the value of a position at which a search has to stop looking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from plyhouse.games.native import BoardState

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
        self.used: bool = False
        """Whether a position was valued since `reset`: otherwise the result is exact."""
        self.claimed: bool = False
        """Whether an estimate was as good or bad as a won or lost game."""

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
            value = float(evaluate(state, seat))
        elif self.heuristic:
            if isinstance(state, BoardState):  # the same, but a C call
                value = state.heuristic()[seat]
            else:
                value = float(state.heuristic()[seat])
        else:
            return 0.0
        if self.low < value < self.high:
            return value
        if value != self.low and value != self.high:
            raise ValueError(
                f"the evaluation gave {value}, outside of the game's returns "
                f"{self.low} to {self.high}: scale it to lie between them"
            )
        self.claimed = True
        return value
