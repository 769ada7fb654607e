"""Functions that a caller gives to a search: what each takes and returns.

They stand here, on the top floor, because several rooms take them and none owns them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Evaluation", "Policy"]

Evaluation = Callable[[Any, int], float]
"""``evaluate(state, seat)``: what the seat may expect from a position that is not over,
between the game's least and greatest return.  A search always asks for the seat that is
to move at its root."""

Policy = Callable[[Any], Sequence[tuple[Any, float]]]
"""``policy(state)``: legal actions of the seat to move with their probabilities, which sum
to 1; actions that are left out are never played."""
