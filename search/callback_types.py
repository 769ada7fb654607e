"""Functions that a caller gives to a search: what each takes and returns.

They stand here, on the top floor, because several rooms take them and none owns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

__all__ = ["Evaluation", "Policy", "evaluated", "pairs_of"]

Evaluation = Callable[[Any, int], float]
"""``evaluate(state, seat)``: what the seat may expect from a position that is not over,
between the game's least and greatest return.  A search always asks for the seat that is
to move at its root."""

Policy = Callable[[Any], Sequence[tuple[Any, float]]]
"""``policy(state)``: legal actions of the seat to move with their probabilities, which sum
to 1; actions that are left out are never played."""


def evaluated(evaluate: Evaluation, state: Any, seat: int) -> float:
    """Return what an evaluation gives; raises `TypeError` if that is no number."""
    given: Any = evaluate(state, seat)
    try:
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"the evaluation gave {given!r}: expected a number") from None


def pairs_of(policy: Policy, state: Any) -> tuple[tuple[Any, float], ...]:
    """Ask a policy for its (action, probability) pairs; raises `TypeError` if it gives none."""
    given: Any = policy
    pairs = "(action, probability) pairs"
    if not callable(given):
        raise TypeError(f"{given!r} is no policy: expected a function from a state to {pairs}")
    found: Any = policy(state)
    if isinstance(found, Mapping):
        return tuple(found.items())
    listed = tuple(found) if isinstance(found, Iterable) else (None,)
    if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed):
        return listed
    example = f"[({state.actions()[0]!r}, 1.0)]"
    raise TypeError(f"the policy gave {found!r}: expected {pairs}, as in {example}")
