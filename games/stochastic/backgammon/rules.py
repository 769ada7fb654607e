"""Backgammon: full rules, without the doubling cube.

Every seat numbers the points in its own direction: 24 is the farthest, and 1 to 6 are its home
board.  So point p of one seat is point 25 - p of the other.  The opening roll is one die for each
seat, never a double.  The seat that rolled more begins, with both dice.  After it the seats roll
two dice in turn.  A seat must play both dice if possible (four with a double), and the larger one
if it can play only one.  Checkers on the bar enter first.  A seat with all checkers at home bears
them off, from a lower point than the die only if no checker is farther.  The first to bear off all
fifteen wins 1 point.  It wins 2 (a gammon) if the other has borne off none.  It wins 3 (a
backgammon) if the other also has a checker on the bar or in the winner's home board.

An action is a whole turn in standard notation: ``24/18 13/11*``, ``bar/20``, ``8/4(2)``,
``6/off``, and ``pass`` when nothing can be played; turns with equal results are one.  Rolls are
chance outcomes, written as two digits with the larger first.  In the opening roll the first digit
is the die of the first player, who begins after ``31``; after ``13`` the second player begins.

``position`` gives another start, with three parts separated by ``;``.  They are the checkers of the
first player, those of the second, each in its own numbering, and the seat to roll, optionally with
the dice.  Checkers missing from fifteen have been borne off: ``"24x2 13x5 8x3 6x5; bar 13x5 8x3
6x5; 0 31"``.

The heuristic is in points.  It comes from the pips that are left when the sides have passed each
other, and otherwise from two small networks trained by self-play.
"""

from __future__ import annotations

import dataclasses
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
from plyhouse.games.errors import AmbiguousAction, IllegalAction
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Cell, Counter, Dice, Element, Grid, Scene
from plyhouse.games.stochastic.backgammon.estimate import points_of
from plyhouse.games.stochastic.backgammon.position import position_text, read_position
from plyhouse.games.stochastic.backgammon.turns import (
    BAR,
    OFF,
    Path,
    apply_turn,
    dice_used,
    farthest,
    read_steps,
    steps_of,
    turns_of,
    ways,
    written,
)

if TYPE_CHECKING:
    import random

__all__ = ["Backgammon", "BackgammonObservation", "BackgammonState"]

CHECKERS: Final = 15

START: Final[tuple[int, ...]] = (
    *(0, 0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0),
    *(5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0),
)

_POINT: Final = "(2[0-5]|[01]?[0-9])"
_CHECKERS: Final = rf"(bar|{_POINT})(/{_POINT}\*?)*/(off|{_POINT}\*?)(\([2-4]\))?"
"""Pattern of the move of checkers from one point."""

_STARTS: Final[dict[str, int]] = {"pass": 0, "bar": BAR} | {str(p): p for p in range(1, 25)}
"""The points with which the notation of a turn begins."""

ROLLS: Final[tuple[tuple[Any, float], ...]] = tuple(
    [
        (10 * large + small, 1.0 / 36.0 if large == small else 1.0 / 18.0)
        for large in range(1, 7)
        for small in range(1, large + 1)
    ]
)
"""The 21 rolls."""

OPENING: Final[tuple[tuple[Any, float], ...]] = tuple(
    [
        (10 * first + second, 1.0 / 30.0)
        for first in range(1, 7)
        for second in range(1, 7)
        if first != second
    ]
)
"""Opening rolls: the die of seat 0, then that of seat 1."""

NOBODY: Final = -1


@final
@mypyc_attr(free_list_len=1)
class BackgammonState(BoardState):
    """Both sides in their own numbering, whose turn it is, and the dice (0 before the roll).

    ``turn`` is the seat that rolls or plays, -1 before the opening roll, and the winner
    after the end.
    """

    __slots__ = ("dice", "one", "turn", "two")

    one: tuple[int, ...]
    two: tuple[int, ...]
    turn: int
    dice: int

    def __init__(
        self,
        to_move: int = CHANCE,
        one: tuple[int, ...] = START,
        two: tuple[int, ...] = START,
        turn: int = NOBODY,
        dice: int = 0,
    ) -> None:
        self.to_move = to_move
        self.one = one
        self.two = two
        self.turn = turn
        self.dice = dice

    def __reduce__(self) -> tuple[Any, ...]:
        return BackgammonState, (self.to_move, self.one, self.two, self.turn, self.dice)

    def actions(self) -> tuple[Any, ...]:
        """Return all turns with different results."""
        if self.to_move == 0:
            return tuple(turns_of(list(self.one), list(self.two), self.dice))
        if self.to_move == 1:
            return tuple(turns_of(list(self.two), list(self.one), self.dice))
        return ()

    def after(self, action: Any) -> BackgammonState:
        """Return the state after a roll or a turn."""
        choice: int = action
        if self.to_move == CHANCE:
            turn: int = self.turn
            if turn < 0:
                turn = 0 if choice // 10 > choice % 10 else 1
            if choice // 10 < choice % 10:
                choice = choice % 10 * 10 + choice // 10
            return BackgammonState(turn, self.one, self.two, turn, choice)
        one: list[int] = list(self.one)
        two: list[int] = list(self.two)
        seat: int = self.to_move
        if seat == 0:
            apply_turn(one, two, self.dice, choice)
            if one[0] == CHECKERS:
                return BackgammonState(TERMINAL, tuple(one), tuple(two), 0, 0)
        else:
            apply_turn(two, one, self.dice, choice)
            if two[0] == CHECKERS:
                return BackgammonState(TERMINAL, tuple(one), tuple(two), 1, 0)
        return BackgammonState(CHANCE, tuple(one), tuple(two), 1 - seat, 0)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the opening roll, or any roll."""
        if self.to_move != CHANCE:
            return ()
        return OPENING if self.turn < 0 else ROLLS

    def returns(self) -> tuple[float, ...]:
        """Points won: 1, 2 for a gammon, 3 for a backgammon."""
        if self.turn == 0:
            points: float = points_won(list(self.two))
            return (points, -points)
        points = points_won(list(self.one))
        return (-points, points)

    def key(self) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
        """Return the whole position."""
        return (self.turn, self.dice, self.one, self.two)

    def heuristic(self) -> tuple[float, ...]:
        """Points to be expected by who rolls next, by a network.

        Dice that were rolled already are not looked at.  See `plyhouse.games.stochastic.
        backgammon.estimate`.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        if self.turn < 0:
            return (0.0, 0.0)  # either seat may begin
        if self.turn == 0:
            value: float = points_of(self.one, self.two)
        else:
            value = -points_of(self.two, self.one)
        return (value, -value)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random turns to the end."""
        if self.to_move == TERMINAL:
            return self.returns()
        seat: int = self.turn
        dice: int = self.dice
        while seat < 0:
            first: int = int(rng.random() * 6) + 1
            second: int = int(rng.random() * 6) + 1
            if first != second:
                seat = 0 if first > second else 1
                dice = 10 * first + second if first > second else 10 * second + first
        mine: list[int] = list(self.one if seat == 0 else self.two)
        theirs: list[int] = list(self.two if seat == 0 else self.one)
        while True:
            if dice == 0:
                large: int = int(rng.random() * 6) + 1
                small: int = int(rng.random() * 6) + 1
                dice = 10 * large + small if large > small else 10 * small + large
            turns = turns_of(mine, theirs, dice)
            turn: int = turns[int(rng.random() * len(turns))]
            apply_turn(mine, theirs, dice, turn)
            if mine[0] == CHECKERS:
                points: float = points_won(theirs)
                return (points, -points) if seat == 0 else (-points, points)
            dice = 0
            seat = 1 - seat
            swap = mine
            mine = theirs
            theirs = swap


def pips(side: tuple[int, ...]) -> int:
    """Pips that a side still has to move; a checker on the bar has 25."""
    total: int = 0
    for point in range(1, 26):
        total += point * side[point]
    return total


def points_won(loser: list[int]) -> float:
    """Return the points that the other side wins by bearing off its last checker."""
    if loser[0] > 0:
        return 1.0
    for point in range(19, 26):  # the winner's home board, and the bar
        if loser[point] > 0:
            return 3.0
    return 2.0


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class BackgammonObservation(Observation):
    """Everything: the game has perfect information."""

    checkers: tuple[tuple[int, ...], tuple[int, ...]]
    """By seat, 26 counts of its checkers in its own numbering.  Index 0 is for those borne off, 1
    to 24 for the points, and 25 for the bar.  Point p of one seat is point 25 - p of the other."""
    turn: int | None
    """Seat that rolls or plays; after the end the winner; None before the opening roll."""
    dice: tuple[int, ...]
    """The two dice to be played, the larger first; empty before the roll."""
    pips: tuple[int, int]
    """By seat the pips it still has to move."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Backgammon(Game[BackgammonState, int, BackgammonObservation]):
    """Backgammon without the cube.

    >>> game = Backgammon()
    >>> state = game.initial_state()
    >>> state = state.after(game.parse_chance(state, "31"))  # seat 0 rolled more and begins
    >>> game.describe(state.after(game.parse(state, "8/5 6/5")))
    '24x2 13x5 8x2 6x4 5x2; 24x2 13x5 8x3 6x5; 1'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="backgammon",
        title="Backgammon",
        summary="Race fifteen checkers home past the other side's; hits, gammons, no cube.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-3.0,
        max_return=3.0,
        max_plies=50_000,
        parameters=(
            Parameter("position", "", "where to start, like 6x2 5; 1x3; 0 31; empty: as usual"),
        ),
        seat_names=("first", "second"),
        most_actions=10_000,
    )
    observation_type: ClassVar[type[Observation]] = BackgammonObservation
    action_pattern: ClassVar[str] = rf"pass|{_CHECKERS}( +{_CHECKERS}){{0,3}}"
    action_notation: str = "a turn like 24/18 13/11, or pass"

    def check_parameters(self) -> None:
        """Read the position."""
        text = self.text_parameter("position")
        self.start = BackgammonState()
        if text.strip():
            one, two, turn, dice = read_position(text)
            to_move = turn if dice else CHANCE
            self.start = BackgammonState(to_move, one, two, turn, dice)

    def initial_state(self) -> BackgammonState:
        """Return the usual start before the opening roll, or the given position."""
        return self.start

    def format(self, state: BackgammonState, action: int) -> str:
        """Return the turn in standard notation."""
        theirs = state.two if state.to_move == 0 else state.one
        return written(theirs, state.dice, action)

    def likely(
        self, state: BackgammonState, text: str, actions: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Return those that leave the point with which ``text`` begins."""
        point = _STARTS.get(text.partition("/")[0], -1)
        return tuple([action for action in actions if farthest(action) == point])

    def parse(self, state: BackgammonState, text: str) -> Any:
        """Read a turn; moves may be in any order, points on the way and stars may be left out."""
        try:
            return super().parse(state, text)
        except IllegalAction as error:
            position = state
            if position.to_move < 0:
                raise
            wanted = read_steps(text.strip().casefold())
            close = [a for a in position.actions() if _matches(position, a, wanted)]
            if len(close) == 1:
                return close[0]
            if not close:
                raise
            candidates = [self.format(state, action) for action in close]
            raise AmbiguousAction(text, self.describe(state), candidates) from error

    def format_chance(self, state: BackgammonState, outcome: int) -> str:
        """Two digits."""
        return str(outcome)

    def display(self, state: BackgammonState, action: Any) -> str:
        """Return a turn in its usual notation, and dice by their faces."""
        if state.to_move == CHANCE:
            return die_faces(action // 10, action % 10)
        return self.format(state, action)

    def observe(self, state: BackgammonState, seat: int | None) -> BackgammonObservation:
        """Return the board, the turn and the dice."""
        dice = state.dice
        return BackgammonObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            checkers=(state.one, state.two),
            turn=None if state.turn < 0 else state.turn,
            dice=(dice // 10, dice % 10) if dice else (),
            pips=(pips(state.one), pips(state.two)),
        )

    def sample_state(
        self, observation: BackgammonObservation, rng: random.Random
    ) -> BackgammonState:
        """Return the position that was observed."""
        dice = 10 * observation.dice[0] + observation.dice[1] if observation.dice else 0
        turn = NOBODY if observation.turn is None else observation.turn
        return BackgammonState(
            observation.to_move, observation.checkers[0], observation.checkers[1], turn, dice
        )

    def scene(self, observation: BackgammonObservation) -> Scene:
        """Return the board as the observer's seat numbers it, the dice, and a button per turn."""
        viewer = observation.seat or 0
        called = (self.seat_name(0), self.seat_name(1))
        rows: list[tuple[Cell, ...]] = []
        for side, numbers in ((1 - viewer, range(13, 25)), (viewer, range(12, 0, -1))):
            cells = [_cell(observation, viewer, point, called) for point in numbers]
            name = called[side]
            own = side == viewer
            there = observation.checkers[side]
            bar = _stack(there[BAR], side, name, f"bar of {name}", "bar" if own else "")
            off = _stack(there[OFF], side, name, f"borne off by {name}", "off" if own else "")
            rows.append((*cells[:6], bar, *cells[6:], off))
        names = [f"{13 + column}/{12 - column}" for column in range(12)]
        labels = (*names[:6], "bar", *names[6:], "off")
        elements: list[Element] = [
            Grid(
                tuple(rows),
                (),
                labels,
                f"Points of {self.seat_name(viewer)}",
                "points",
                "felt",
                viewer,
            )
        ]
        for seat in range(2):
            name = self.seat_name(seat)
            elements.append(Counter(f"Pips of {name}", observation.pips[seat], None, seat))
        elements.append(Dice("Dice", observation.dice, observation.turn))
        for turn in observation.legal:
            elements += [
                Button(
                    turn,
                    turn,
                    way,
                    pairs=bool(way),
                    dice=dice_used(way, observation.dice) if way else (),
                )
                for way in ways(turn, observation.dice, observation.checkers[1 - viewer])
            ]
        if observation.turn is None:
            status = "The opening roll"
        elif observation.to_move == TERMINAL:
            points = points_won(list(observation.checkers[1 - observation.turn]))
            kind = {1.0: "", 2.0: " a gammon", 3.0: " a backgammon"}[points]
            status = f"{self.seat_name(observation.turn)} wins{kind}"
        elif observation.to_move == CHANCE:
            status = f"{self.seat_name(observation.turn)} rolls"
        else:
            larger, smaller = observation.dice
            status = f"{self.seat_name(observation.turn)} to play {larger} and {smaller}"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: BackgammonState) -> str:
        """Return one line, which the parameter ``position`` can read unless the match is over."""
        return position_text(state.one, state.two, state.turn, state.dice)


def _cell(seen: BackgammonObservation, viewer: int, point: int, names: tuple[str, str]) -> Cell:
    """One point, by the viewer's number."""
    own = seen.checkers[viewer][point]
    other = seen.checkers[1 - viewer][25 - point]
    owner = viewer if own else 1 - viewer
    return _stack(own or other, owner, names[owner], f"point {point}", str(point))


def _stack(count: int, owner: int, whose: str, where: str, name: str = "") -> Cell:
    """So many checkers in one place."""
    if not count:
        return Cell("", label=f"{where}, empty", name=name)
    text = f"{'xo'[owner]}{count}"
    label = f"{where}, {count} of {whose}"
    return Cell(text, owner, "disc", None, label, name=name, face=str(count), count=count)


def _matches(position: BackgammonState, action: int, wanted: list[Path]) -> bool:
    """Return whether a turn moves the same checkers as was written, and hits at least there."""
    theirs = position.two if position.to_move == 0 else position.one
    change: dict[int, int] = {}
    hits: set[int] = set()
    for point, to in steps_of(position.dice, action):
        change[point] = change.get(point, 0) - 1
        change[to] = change.get(to, 0) + 1
        if to > 0 and theirs[25 - to] == 1:
            hits.add(to)
    for points, stars in wanted:
        if not stars <= hits or not {p for p in points[1:-1] if theirs[25 - p] == 1} <= hits:
            return False
        change[points[0]] = change.get(points[0], 0) + 1
        change[points[-1]] = change.get(points[-1], 0) - 1
    return not any(change.values())
