"""Luck taken out of results, by what chance did and the server knows.

Before a die falls, a position has a value; after it, another.  The difference, on average zero, is
the *luck* of that roll, whoever plays and however well.  Summed over a match it correlates with the
result, so that part of the result which it explains can be subtracted without a bias: control
variates, in games as in White and Bowling, "Learning a value analysis tool for agent evaluation"
(IJCAI 2009); see Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT" (AAAI 2018), which takes out
the bots' own choices too, if one knows their policies.

Any function of the position serves as value: a solved table, the game's own estimate, a guess.  A
better one takes out more, a bad one nothing, none of them makes the mean wrong, for its luck is
zero on average whatever it says, provided that it looks at nothing but the position.  How much to
subtract is a regression coefficient; each unit's comes from the other units (cross-fitting), so
that no unit's own result decides on its correction.  The raw mean belongs beside it always.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plyhouse.games.base import CHANCE, TERMINAL, ChanceKind, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.server.results.intervals import Interval, mean_interval
from plyhouse.server.results.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Adjusted",
    "Judge",
    "Value",
    "adjusted_mean",
    "course_luck",
    "estimate",
    "judge_of",
    "looked_ahead",
    "match_luck",
    "random_play",
]

Value = Callable[[Any], Sequence[float]]
"""From a position to what it is worth to each seat, in the units of the returns."""

Judge = Callable[[tuple[Hashable, ...], Any], Sequence[float]]
"""The same from all actions and outcomes so far, and the position they led to."""

SMALL: Final = 20_000
"""Games with no more courses than this are worked out as a whole."""
FOLDS: Final = 10
FEWEST: Final = 8
"""With fewer units nothing is subtracted: a coefficient would be a guess."""


class Adjusted(NamedTuple):
    """A mean as it is, and with luck taken out."""

    raw: Interval
    adjusted: Interval
    saved: float
    """Which part of the games the adjustment saves: of so many fewer the interval would be as
    narrow; negative if it does harm."""
    coefficient: float
    """How much of the luck was subtracted, on average over the folds."""
    watched: tuple[float, float] | None = None
    """Bounds on the raw mean that hold at every moment (`utilities.watched_bounds`); None where
    nobody knows how much a return can be."""


def estimate(state: Any) -> Sequence[float]:
    """The game's own estimate of a position, as a value; raises `AttributeError` without one."""
    values: Sequence[float] = state.heuristic()
    return values


def looked_ahead(value: Value) -> Value:
    """What a position is worth if its mover takes what ``value`` finds best after one action.

    For values that look at the board and not at the dice that lie beside it, as estimates of
    backgammon do: without it no roll would be luck.  It costs a value for each action of each
    outcome of a chance node (some 400 in backgammon).
    """

    def best(state: Any) -> Sequence[float]:
        mover = state.to_move
        if mover < 0:
            return value(state)
        return max(
            (value(state.after(action)) for action in state.actions()), key=itemgetter(mover)
        )

    return best


def match_luck(record: Record, value: Value, game: Game | None = None) -> tuple[float, ...]:
    """How much luck each seat had in a match: sum of value after chance less its expectation.

    ``game`` is needed where the record's game was loaded from a file.  Raises `GameError` if the
    record does not fit the game.
    """
    rules = get_game(record.game) if game is None else game
    course = [(each.kind, each.seat, each.text) for each in record.events]
    return course_luck(rules, course, lambda _, state: value(state))


def course_luck(
    rules: Game,
    course: Iterable[tuple[str, int, str]],
    judge: Judge,
    most: int | None = None,
) -> tuple[float, ...]:
    """`match_luck` of events as kind, seat and text; other kinds than chance and action pass.

    After ``most`` valued positions, at the next chance node, the rest of the match counts as
    without luck.  Nothing is biased by that: no roll decides whether it is counted itself.
    A position counts once for each action that its mover has.
    """
    import numpy as np

    position = Position(rules)
    path: tuple[Hashable, ...] = ()
    total = np.zeros(rules.seats)
    work = 0
    for kind, seat, text in course:
        if kind not in ("chance", "action"):
            continue
        rolled = kind == "chance" and position.mover == CHANCE
        if rolled and most is not None and work >= most:
            break
        mean = np.zeros(rules.seats)
        if rolled:
            state = position.state
            for outcome, probability in state.chance_outcomes():
                after = state.after(outcome)
                work += len(after.actions()) if most is not None and after.to_move >= 0 else 1
                worth = judge((*path, outcome), after)
                mean += probability * np.asarray(worth, dtype=np.float64)
        path = (*path, position.apply(seat, text))
        if rolled:
            total += np.asarray(judge(path, position.state), dtype=np.float64) - mean
    return tuple(float(each) for each in total)


def judge_of(game: Game) -> Judge | None:
    """What a server itself can judge a game's positions by, if there is chance in them.

    The game's own estimate of the best position after one action (`looked_ahead`), since estimates
    need not look at the dice that lie beside the board.  For small games it is the exact
    expectation if everybody went on at random.  None where neither is known, and where chance
    plays no part.
    """
    if game.chance_kind is ChanceKind.DETERMINISTIC:
        return None
    try:
        if hasattr(game.initial_state(), "heuristic"):
            value = looked_ahead(estimate)
            return lambda _, state: value(state)
        values = random_play(game)
    except GameError:
        return None
    return None if values is None else (lambda path, _: values[path])


def random_play(game: Game, most: int = SMALL) -> Mapping[tuple[Hashable, ...], list[float]] | None:
    """What every course of a game is worth if everybody acts at random from there on.

    None if there are more than ``most`` courses, or chance plays no part in them.
    """
    values: dict[tuple[Hashable, ...], list[float]] = {}
    left = most
    chance = False

    def walk(path: tuple[Hashable, ...], state: Any) -> list[float] | None:
        nonlocal left, chance
        left -= 1
        if left < 0 or len(path) > 200:
            return None
        if state.to_move == TERMINAL:
            worth = [float(each) for each in state.returns()]
        else:
            if state.to_move == CHANCE:
                chance = True
                branches = list(state.chance_outcomes())
            else:
                actions = state.actions()
                branches = [(action, 1.0 / len(actions)) for action in actions]
            worth = [0.0] * game.seats
            for action, share in branches:
                below = walk((*path, action), state.after(action))
                if below is None:
                    return None
                worth = [sum_ + share * each for sum_, each in zip(worth, below, strict=True)]
        values[path] = worth
        return worth

    return values if walk((), game.initial_state()) is not None and chance else None


def adjusted_mean(
    values: Sequence[float],
    luck: Sequence[float],
    *,
    bounds: tuple[float, float] | None = None,
    folds: int = FOLDS,
) -> Adjusted:
    """The mean of independent units with its interval, raw and with luck taken out.

    ``luck`` has the luck of each unit, in the same order (of mirrored pairs: the mean of its
    matches, as the value is).  Raises `ValueError` if they are not as many, or not numbers.
    """
    import numpy as np

    if len(values) != len(luck):
        raise ValueError(f"{len(values)} values and {len(luck)} of luck: give one for each unit")
    y, x = np.array(values, dtype=np.float64), np.array(luck, dtype=np.float64)
    if not (np.isfinite(y).all() and np.isfinite(x).all()):
        raise ValueError("a value or its luck is no number")
    raw = mean_interval(list(values), bounds=bounds)
    if len(y) < FEWEST:
        return Adjusted(raw, raw, 0.0, 0.0)
    slopes = _cross_fitted(y, x, max(2, min(folds, len(y) // 2)))
    rest = y - slopes * x
    before, after = float(y.var()), float(rest.var())
    if after <= 1e-24:  # equal values: their spread says nothing, the bounds do
        return Adjusted(raw, raw, 0.0, float(slopes.mean()))
    saved = 1.0 - after / before if before > 0 else 0.0
    return Adjusted(raw, mean_interval(rest.tolist()), saved, float(slopes.mean()))


def _cross_fitted(
    y: NDArray[np.float64], x: NDArray[np.float64], folds: int
) -> NDArray[np.float64]:
    """For every unit the slope of values on luck over the units of other folds."""
    import numpy as np

    fold = np.arange(len(y)) % folds
    slopes = np.zeros(len(y))
    for number in range(folds):
        rest = fold != number
        about = x[rest] - x[rest].mean()
        spread = float(about @ about)
        slopes[~rest] = float(about @ y[rest]) / spread if spread > 1e-18 else 0.0
    return slopes
