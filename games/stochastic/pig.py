"""Pig: roll a die as often as you dare; a 1 loses the turn's points, holding keeps them.

A turn is a series of rolls.  A 1 ends it with nothing; any other number is added to the turn total.
Instead of rolling again, a seat may hold: the turn total is added to its score and the next seat
rolls.  The first seat to hold with a score of at least the target wins.  A seat must roll before it
can hold, and must hold once it has enough to win.  Neither rule changes the value of any position,
and together they keep positions finite.

Actions are written ``roll`` and ``hold``; the die, a chance node, as the number rolled.
With optimal play from the start the first of two players wins with probability 0.5306
(T. Neller and C. Presser, "Optimal play of the dice game Pig", 2004).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.dice import die_faces
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Counter, Dice, Element, Scene

if TYPE_CHECKING:
    import random

__all__ = ["HOLD", "ROLL", "Pig", "PigObservation", "PigState"]

ROLL: Final = 0
HOLD: Final = 1

NAMES: Final[tuple[str, ...]] = ("roll", "hold")

_ONLY_ROLL: Final[tuple[int, ...]] = (ROLL,)
_ONLY_HOLD: Final[tuple[int, ...]] = (HOLD,)
_EITHER: Final[tuple[int, ...]] = (ROLL, HOLD)

_HOLD_AT: Final = 20
"""Playouts hold at this turn total: with a die of six the best fixed threshold."""

# Constants of the heuristic, fitted to the exact solution (root mean square error 0.1).
_AT_RISK: Final = 0.74
_AT_RISK_ROLLING: Final = 0.55
_ON_TURN: Final = 5.9
_SPREAD: Final = 4.13
_SPREAD_AT_END: Final = 5.9


@final
class Rules:
    """Tables shared by all positions of one match; made by `rules_of` only."""

    def __init__(self, seats: int = 2, target: int = 100, sides: int = 6) -> None:
        self.seats: int = seats
        self.target: int = target
        self.sides: int = sides
        self.die: tuple[tuple[Any, float], ...] = tuple(
            [(face, 1.0 / sides) for face in range(1, sides + 1)]
        )
        self.start: tuple[int, ...] = (0,) * seats
        self.loss: float = -1.0 / (seats - 1)
        self.wins: tuple[tuple[float, ...], ...] = tuple(
            [
                tuple([1.0 if seat == winner else self.loss for seat in range(seats)])
                for winner in range(seats)
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.seats, self.target, self.sides)


@functools.cache
def rules_of(seats: int, target: int, sides: int) -> Rules:
    """Return the one `Rules` of these parameters."""
    return Rules(seats, target, sides)


_STANDARD: Final = rules_of(2, 100, 6)


@final
@mypyc_attr(free_list_len=1)
class PigState(BoardState):
    """Scores of all seats, whose turn it is and the points of the turn so far."""

    __slots__ = ("rolled", "rules", "scores", "total", "turn")

    scores: tuple[int, ...]
    turn: int
    total: int
    rolled: int
    rules: Rules

    def __init__(
        self,
        to_move: int = 0,
        scores: tuple[int, ...] = (0, 0),
        turn: int = 0,
        total: int = 0,
        rolled: int = 0,
        rules: Rules = _STANDARD,
    ) -> None:
        self.to_move = to_move
        self.scores = scores
        self.turn = turn
        self.total = total
        # The last number rolled, 0 before the first: shown to people, of no effect.
        self.rolled = rolled
        self.rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.to_move, self.scores, self.turn, self.total, self.rolled, self.rules)
        return PigState, fields

    def actions(self) -> tuple[Any, ...]:
        """Roll, hold or both."""
        if self.to_move < 0:
            return ()
        if self.total == 0:
            return _ONLY_ROLL
        if self.scores[self.turn] + self.total >= self.rules.target:
            return _ONLY_HOLD
        return _EITHER

    def after(self, action: Any) -> PigState:
        """Return the state after a roll begins, a hold, or the face of the die."""
        rules = self.rules
        choice: int = action
        following: int = self.turn + 1
        if following == rules.seats:
            following = 0
        if self.to_move == CHANCE:
            if choice == 1:
                return PigState(following, self.scores, following, 0, 1, rules)
            total: int = self.total + choice
            return PigState(self.turn, self.scores, self.turn, total, choice, rules)
        if choice == ROLL:
            return PigState(CHANCE, self.scores, self.turn, self.total, self.rolled, rules)
        banked: list[int] = list(self.scores)
        score: int = banked[self.turn] + self.total
        banked[self.turn] = score
        if score >= rules.target:
            return PigState(TERMINAL, tuple(banked), self.turn, 0, self.rolled, rules)
        return PigState(following, tuple(banked), following, 0, self.rolled, rules)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the faces of the die while it rolls."""
        if self.to_move == CHANCE:
            return self.rules.die
        return ()

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner; the others share the loss, so that the sum is zero."""
        return self.rules.wins[self.turn]

    def key(self) -> tuple[int, int, int, tuple[int, ...]]:
        """Return the position without the last number rolled, which has no effect."""
        return (self.to_move, self.turn, self.total, self.scores)

    def heuristic(self) -> tuple[float, ...]:
        """Chances to win judged by the points still missing.

        Every seat has a weight that falls exponentially with the points it lacks.  Points at risk
        in the running turn count partly, and being on turn counts as half a turn.  The constants
        fit the exact solution for two seats, target 100 and a die of six.
        """
        rules = self.rules
        if self.to_move == TERMINAL:
            return self.returns()
        # A bigger die gives bigger turns: measure points in those of a die of six.
        unit: float = 6.0 / float(rules.sides)
        least: float = 1e9
        lacking: list[float] = []
        for seat in range(rules.seats):
            points: float = float(self.scores[seat])
            if seat == self.turn:
                risk: float = _AT_RISK_ROLLING if self.to_move == CHANCE else _AT_RISK
                points += risk * float(self.total) + _ON_TURN / unit
            lack: float = max(0.0, (float(rules.target) - points) * unit)
            least = min(least, lack)
            lacking.append(lack)
        spread: float = _SPREAD * math.sqrt(least + _SPREAD_AT_END)
        weights: list[float] = []
        together: float = 0.0
        for lack in lacking:
            weight: float = math.exp((least - lack) / spread)
            weights.append(weight)
            together += weight
        values: list[float] = []
        for weight in weights:
            chance: float = weight / together
            values.append(chance + (1.0 - chance) * rules.loss)
        return tuple(values)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns when every seat rolls until it has 20 points in the turn, or enough to win."""
        rules = self.rules
        sides: int = rules.sides
        scores: list[int] = list(self.scores)
        turn: int = self.turn
        total: int = self.total
        must_roll: bool = self.to_move == CHANCE
        if self.to_move == TERMINAL:
            return self.returns()
        while True:
            score: int = scores[turn] + total
            if not must_roll and total > 0:
                if score >= rules.target:
                    return rules.wins[turn]
                if total >= _HOLD_AT:
                    scores[turn] = score
                    total = 0
                    turn = turn + 1 if turn + 1 < rules.seats else 0
            must_roll = False
            face: int = int(rng.random() * sides) + 1
            if face == 1:
                total = 0
                turn = turn + 1 if turn + 1 < rules.seats else 0
            else:
                total += face


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class PigObservation(Observation):
    """Everything: the game has perfect information."""

    scores: tuple[int, ...]
    """By seat the points it has kept."""
    turn: int
    """Seat whose turn it is, also while the die rolls; after the end the winner."""
    turn_total: int
    """Points at risk in this turn."""
    last_roll: int
    """The number rolled last, 0 before the first roll."""
    target: int
    """Points that win."""
    sides: int
    """Sides of the die."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Pig(Game[PigState, int, PigObservation]):
    """The dice game Pig for two to ten seats.

    >>> pig = Pig(target=20)
    >>> state = pig.initial_state()
    >>> state = state.after(pig.parse(state, "roll"))
    >>> state = state.after(pig.parse_chance(state, "5"))
    >>> pig.describe(state)
    'scores 0 0 of 20, seat 1 to act, 5 at risk, last roll 5'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="pig",
        title="Pig",
        summary="Roll and collect, but a 1 loses the turn; first to the target wins.",
        min_seats=2,
        max_seats=10,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=200_000,
        parameters=(
            Parameter("seats", 2, "number of seats", 2, 10),
            Parameter("target", 100, "points that win", 2, 1000),
            Parameter("sides", 6, "faces of the die", 2, 20),
        ),
    )
    observation_type: ClassVar[type[Observation]] = PigObservation
    action_pattern: ClassVar[str] = "roll|hold"
    action_notation: str = "roll or hold"

    def check_parameters(self) -> None:
        """Accept every combination, and store the rules that all positions share."""
        self.rules = rules_of(
            self.int_parameter("seats"), self.int_parameter("target"), self.int_parameter("sides")
        )

    def initial_state(self) -> PigState:
        """No points, seat 0 to roll."""
        return PigState(0, self.rules.start, 0, 0, 0, self.rules)

    def format(self, state: PigState, action: int) -> str:
        """``roll`` or ``hold``."""
        return NAMES[action]

    def display(self, state: PigState, action: int) -> str:
        """Return ``roll`` or ``hold``, and the die by its face."""
        return die_faces(action) if state.to_move == CHANCE else NAMES[action]

    def observe(self, state: PigState, seat: int | None) -> PigObservation:
        """Scores, the running turn and the rules."""
        return PigObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            scores=state.scores,
            turn=state.turn,
            turn_total=state.total,
            last_roll=state.rolled,
            target=self.rules.target,
            sides=self.rules.sides,
        )

    def sample_state(self, observation: PigObservation, rng: random.Random) -> PigState:
        """Return the position that was observed."""
        return PigState(
            observation.to_move,
            observation.scores,
            observation.turn,
            observation.turn_total,
            observation.last_roll,
            self.rules,
        )

    def scene(self, observation: PigObservation) -> Scene:
        """Scores as bars, the die, and a button per action."""
        elements: list[Element] = [
            Counter(f"Score of {self.seat_name(seat)}", score, observation.target, seat)
            for seat, score in enumerate(observation.scores)
        ]
        elements.append(Dice("Die", (observation.last_roll,) if observation.last_roll else ()))
        elements.append(Counter("Points at risk", observation.turn_total))
        labels = {
            "roll": "Roll the die",
            "hold": f"Hold and keep {observation.turn_total} points",
        }
        elements += [Button(labels[action], action, key=action[0]) for action in observation.legal]
        if observation.to_move == TERMINAL:
            status = f"{self.seat_name(observation.turn)} wins"
        elif observation.to_move == CHANCE:
            status = f"{self.seat_name(observation.turn)} rolls the die"
        else:
            status = f"{self.seat_name(observation.turn)} to roll or hold"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: PigState) -> str:
        """Return one line: scores, turn and points at risk."""
        scores = " ".join(str(score) for score in state.scores)
        if state.to_move == TERMINAL:
            doing = "has won"
        elif state.to_move == CHANCE:
            doing = "rolls"
        else:
            doing = "to act"
        return (
            f"scores {scores} of {state.rules.target}, {self.seat_name(state.turn)} {doing}, "
            f"{state.total} at risk, last roll {state.rolled or '-'}"
        )
