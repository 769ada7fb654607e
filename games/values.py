"""Values of positions as people read them: chances of winning, or returns with their unit.

Where a match of two is won, drawn or lost, a value is the chance of winning in percent, to which a
draw adds a half.  Elsewhere it is a return in the unit of the game, such as points.  Programs get
returns in both cases.
"""

from __future__ import annotations

import math
from typing import Final

from plyhouse.games.base import Game, Scoring

__all__ = [
    "PERCENT",
    "counts_wins",
    "drop_text",
    "number",
    "probability_text",
    "unit_of",
    "value_text",
]

PERCENT: Final = "%"


def counts_wins(game: Game) -> bool:
    """Return whether a value is a chance of winning: of two seats, -1 for a loss, 1 for a win."""
    return (
        game.seats == 2 and game.return_bounds == (-1.0, 1.0) and game.info.scoring is Scoring.WINS
    )


def unit_of(game: Game) -> str:
    """Return the unit in which values of a game are shown: ``%``, ``points``, ``bb/100``."""
    return PERCENT if counts_wins(game) else game.info.returns_unit or "points"


def value_text(value: float, unit: str) -> str:
    """Return a value with its unit.

    >>> value_text(0.25, "%"), value_text(-1.0, "%"), value_text(-1.5, "points")
    ('62.5 %', '0 %', '−1.50 points')
    """
    if unit == PERCENT:
        return _percent(50 * (min(1.0, max(-1.0, value)) + 1))
    text = f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{text if round(value, 2) else '0.00'} {unit}"


def drop_text(drop: float, unit: str) -> str:
    """Return a loss of value; a gain has a minus sign.

    >>> drop_text(0.4, "%"), drop_text(-0.4, "points"), drop_text(-0.0001, "points")
    ('20 %', '−0.400 points', '0.000 points')
    """
    text = _percent(50 * drop) if unit == PERCENT else f"{round(drop, 3) + 0.0:.3f} {unit}"
    return text.replace("-", "\N{MINUS SIGN}")


def _percent(value: float) -> str:
    """Return a percentage with one digit after the point where it is not whole."""
    return f"{round(value, 1) + 0.0:g} %"


def number(value: float) -> str:
    """Return a value as people write it, with three digits or, when small, four after the point."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{3 if abs(value) >= 0.1 else 4}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text.replace("-", "\N{MINUS SIGN}")


def probability_text(value: float) -> str:
    """Return a probability as a fraction where it is one of small numbers: ``1/6``, ``0.137``."""
    for below in range(1, 101):
        above = round(value * below)
        if abs(value - above / below) < 1e-12:
            return f"{above}/{below}" if below > 1 else str(above)
    return f"{value:.3g}"
