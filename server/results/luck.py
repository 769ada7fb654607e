"""Luck adjustment: results without the luck of known chance outcomes.

A position has one value before a roll and another one after it.  The difference, on average zero,
is the *luck* of that roll, for any players of any strength.  Summed over a match it correlates with
the result, so the part of the result that it explains can be subtracted without a bias.  These are
control variates, applied to games as in White and Bowling, "Learning a value analysis tool for
agent evaluation" (IJCAI 2009).  See also Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT"
(AAAI 2018), which also takes out the bots' own choices if their policies are known.

Any function of the position can serve as value: a solved table, the game's own estimate, a guess.
A better one takes out more, a bad one nothing.  None of them biases the mean: its luck is zero on
average, provided that it depends on nothing but the position.  In Texas hold'em the value is what
seats win if all check and call to the end (`call_down`).  So after an all-in its luck is the
difference between the result and all-in equity.  The factor to subtract is a regression
coefficient.  Each unit's coefficient comes from the other units (cross-fitting), so no unit's own
result influences its correction.  Always show the raw mean next to the adjusted one.

`chances_of` lists the possible outcomes of each chance event, in the game's order.  With them and
the record, anybody can recompute what the committed seed gave at each chance node, without the
rules of the game: see ``docs/chance.md``.  Only the rules show that these outcomes are the right
ones; `plyhouse.server.results.verify` replays them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from plyhouse.games.base import CHANCE, TERMINAL, ChanceKind, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.positions import Chances, Possible
from plyhouse.server.results.intervals import Interval, mean_interval
from plyhouse.storage.rows import EventRow, StoredMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = Callable[[Any], Sequence[float]]
"""A function from a position to its value for each seat, in the units of the returns."""

Judge = Callable[[tuple[Hashable, ...], Any], Sequence[float]]
"""The same function of all actions and outcomes so far, and the position they led to."""

SMALL: Final = 20_000
"""Games with at most this number of histories are solved completely."""
FOLDS: Final = 10
CALL_DOWN_WORK: Final = 40
"""Valued positions that one `call_down` takes as long as."""
FEWEST: Final = 8
"""With fewer units nothing is subtracted, because a coefficient would be a guess."""


class Adjusted(NamedTuple):
    """A raw mean, and the mean with luck taken out."""

    raw: Interval
    adjusted: Interval
    saved: float
    """The share of games that the adjustment saves: with so many fewer games the adjusted interval
    would be as narrow as the raw one.  It is negative if the adjustment does harm."""
    coefficient: float
    """The coefficient of the luck subtracted, on average over the folds."""
    watched: tuple[float, float] | None = None
    """Bounds on the raw mean that hold at every moment (`mean_returns.watched_bounds`); None if the
    bounds of a return are unknown."""


def estimate(state: Any) -> Sequence[float]:
    """Return the game's own estimate as a value; `AttributeError` without one."""
    values: Sequence[float] = state.heuristic()
    return values


def called_down(_: tuple[Hashable, ...], state: Any) -> Sequence[float]:
    """Return the expected returns of a position by its `call_down`.

    They are a mean over chance.  So the mean over the outcomes of a chance node is its own value,
    and `match_luck` needs no other position.
    """
    values: Sequence[float] = state.call_down()
    return values


def looked_ahead(value: Value) -> Value:
    """Return the value after the mover's best action, as ``value`` judges it.

    It is for values that depend on the board and not on the dice beside it, such as estimates of
    backgammon: with these alone no roll would be luck.  It costs one value for each action of each
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


def match_luck(
    rules: Game,
    events: Iterable[tuple[str, int, str]],
    judge: Judge,
    most: int | None = None,
) -> tuple[float, ...]:
    """Return each seat's luck in a match, given its events as kind, seat and text.

    Luck is the sum of values after chance, less their expectations.

    With `called_down` the value of a chance node is that mean already.  It is computed once for
    all cards that come without an action between them.

    Kinds other than chance and action are skipped.  After ``most`` valued positions, from the next
    chance node on, the rest of the match counts as without luck.  This causes no bias, because no
    roll decides whether it is counted itself.  A position counts once for each action that its
    mover has.
    """
    import numpy as np

    position = Position(rules)
    if judge is called_down:
        return _called_down_luck(position, events, most)
    path: tuple[Hashable, ...] = ()
    total = np.zeros(rules.seats)
    work = 0
    for kind, seat, text in events:
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


def _called_down_luck(
    position: Position, events: Iterable[tuple[str, int, str]], most: int | None
) -> tuple[float, ...]:
    """Return each seat's luck by `called_down`: what its value changes by while chance acts."""
    import numpy as np

    total = np.zeros(position.game.seats)
    before: Sequence[float] | None = None
    work = 0
    for kind, seat, text in events:
        if kind not in ("chance", "action"):
            continue
        if position.mover == CHANCE and before is None:
            if most is not None and work >= most:
                break
            before = position.state.call_down()
        position.apply(seat, text)
        if before is not None and position.mover != CHANCE:
            total += np.asarray(position.state.call_down()) - np.asarray(before)
            before = None
            work += 2 * CALL_DOWN_WORK
    return tuple(float(each) for each in total)


def judge_of(game: Game) -> Judge | None:
    """Return a server's judge of a game's positions; None if there is none.

    It is `called_down` if states have `call_down`.  Otherwise it is the game's own estimate of the
    best position after one action (`looked_ahead`), since estimates need not consider the dice
    beside the board.  For small games it is the exact
    expectation under random play.  It is None if neither is known, and if chance plays no part.
    """
    if game.chance_kind is ChanceKind.DETERMINISTIC:
        return None
    try:
        if hasattr(game.initial_state(), "call_down"):
            return called_down
        if hasattr(game.initial_state(), "heuristic"):
            value = looked_ahead(estimate)
            return lambda _, state: value(state)
        values = random_play(game)
    except GameError:
        return None
    return None if values is None else (lambda path, _: values[path])


def random_play(game: Game, most: int = SMALL) -> Mapping[tuple[Hashable, ...], list[float]] | None:
    """Return the value of every history of a game under random play.

    Returns None if there are more than ``most`` histories, or if the game has no chance.
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
    """Return the mean of independent units, raw and with luck taken out.

    ``luck`` has the luck of each unit, in the same order; for mirrored pairs, the mean over their
    matches, as for the values.  Raises `ValueError` if the lengths differ, or if one is no finite
    number.
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
    if after <= 1e-24:  # The spread of equal values says nothing, so use the bounds.
        return Adjusted(raw, raw, 0.0, float(slopes.mean()))
    saved = 1.0 - after / before if before > 0 else 0.0
    return Adjusted(raw, mean_interval(rest.tolist()), saved, float(slopes.mean()))


def _cross_fitted(
    y: NDArray[np.float64], x: NDArray[np.float64], folds: int
) -> NDArray[np.float64]:
    """Return each unit's slope of values on luck, fitted on other folds."""
    import numpy as np

    fold = np.arange(len(y)) % folds
    slopes = np.zeros(len(y))
    for number in range(folds):
        rest = fold != number
        about = x[rest] - x[rest].mean()
        spread = float(about @ about)
        slopes[~rest] = float(about @ y[rest]) / spread if spread > 1e-18 else 0.0
    return slopes


def chances_of(match: str, game: Game, events: Sequence[EventRow]) -> Chances:
    """Replay a match and return the possible outcomes wherever chance acted.

    Raises `GameError` if the stored events do not fit the game (any more).
    """
    position = Position(game)
    known: dict[tuple[Possible, ...], int] = {}
    nodes: list[int] = []
    counters: list[int] = []
    for row in events:
        if row.kind not in ("action", "chance"):
            continue
        if row.kind == "chance" and position.mover == CHANCE:
            state = position.state
            outcomes = tuple(
                Possible(game.format_chance(state, outcome), float(share))
                for outcome, share in state.chance_outcomes()
            )
            counters.append(game.chance_number(state, len(nodes)))
            nodes.append(known.setdefault(outcomes, len(known)))
        position.apply(row.seat, row.text)
    return Chances(match, game.spec, [list(table) for table in known], nodes, counters)


def chances_json(stored: StoredMatch) -> bytes:
    """Return the chances of a stored match as JSON."""
    header = stored.header
    return msgspec.json.encode(chances_of(header.id, get_game(header.game), stored.events))
