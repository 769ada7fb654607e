"""Which grade mean scores against baselines are worth.

Baselines come from the easiest grade to the best one.  A grade needs its own threshold and, unless
the competition says otherwise, every lower one: a bot that beats the best baseline and loses to
`random` was lucky, or plays against that baseline alone.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["grade_level", "is_reached"]

DIGITS = 12
"""Mean scores are compared to so many decimals: the order of adding up must not matter."""


def is_reached(score: float | None, at_least: float) -> bool:
    """Whether a mean score is at least a threshold; None, for never met, is not."""
    return score is not None and round(score, DIGITS) >= round(at_least, DIGITS)


def grade_level(
    scores: Sequence[float | None], needed: Sequence[float | None], *, every_lower: bool
) -> int:
    """Return the number of the best baseline whose grade is reached; -1 for none.

    ``scores`` are the mean scores against the baselines, ``needed`` their thresholds (None for a
    baseline without a grade), both from the easiest to the hardest.

    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=False)
    1
    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=True)
    -1
    """
    best = -1
    for number, (score, least) in enumerate(zip(scores, needed, strict=True)):
        if least is None:
            continue
        if is_reached(score, least):
            best = number
        elif every_lower:
            break
    return best
