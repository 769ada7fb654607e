"""Go by Tromp-Taylor rules without suicide: area scoring, positional superko.

Actions are GTP points like ``D4`` (columns without I, rows from below), or ``pass``.
Black, seat 0, begins.  A play may not repeat any earlier position of the whole board.  Two
passes in a row end the match, and so does ply number ``4 * size * size``, which good play
does not come near.  Stones and the empty regions that reach one colour only are that
colour's points; dead stones have to be captured, and points shared in a seki count for
nobody.  White gets ``komi`` points on top; equal scores are a draw.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.deterministic.go.board import (
    EMPTY,
    Scratch,
    area_lead,
    captured_by,
    empty_board,
    has_other_liberty,
    nearness,
    place_of,
    steps_of,
)
from plyhouse.games.errors import InvalidObservation
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Cell, Grid, Scene, Text

if TYPE_CHECKING:
    import random

    from plyhouse.games.base import State

__all__ = ["Go", "GoObservation", "GoState"]

PASS: Final = "pass"  # noqa: S105 - of the rules, not a secret
_COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"
_MARKS: Final = ".xo"

_BLACK_WINS: Final[tuple[float, ...]] = (1.0, -1.0)
_WHITE_WINS: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


@final
class Rules:
    """What all positions of one size and komi share; made by `rules_of` only."""

    def __init__(self, size: int = 9, komi: float = 7.5) -> None:
        self.size: int = size
        self.komi: float = komi
        self.board: bytes = empty_board(size)
        self.steps: bytes = steps_of(size)
        self.points: tuple[Any, ...] = tuple(range(size * size + 1))
        """Ready objects of all actions, as making them anew would take longer."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.size, self.komi)


@functools.cache
def rules_of(size: int, komi: float) -> Rules:
    """The one `Rules` of a size and komi."""
    return Rules(size, komi)


_STANDARD: Final = rules_of(9, 7.5)


@final
@mypyc_attr(free_list_len=1)
class GoState(BoardState):
    """A board and how it came about: the chain of ``earlier`` states is for superko.

    Actions count the points from A1 along the rows; the last one is to pass.
    """

    __slots__ = ("board", "earlier", "last", "passes", "plies", "rules", "stones", "taken")

    rules: Rules
    board: bytes
    """See `plyhouse.games.deterministic.go.board`."""
    earlier: GoState | None
    """The state before; None at the start."""
    last: i64
    """The action that led here; -1 at the start."""
    plies: i64
    passes: i64
    """How many passes in a row have just been made."""
    stones: i64
    """How many stones are on the board."""
    taken: bool
    """Whether any stone was ever taken: before that, nothing can repeat."""

    def __init__(
        self,
        to_move: int = 0,
        rules: Rules = _STANDARD,
        board: bytes = b"",
        earlier: GoState | None = None,
        last: i64 = -1,
        plies: i64 = 0,
        passes: i64 = 0,
        stones: i64 = 0,
        taken: bool = False,
    ) -> None:
        self.to_move = to_move
        self.rules = rules
        self.board = board
        self.earlier = earlier
        self.last = last
        self.plies = plies
        self.passes = passes
        self.stones = stones
        self.taken = taken

    def __reduce__(self) -> tuple[Any, ...]:
        return _replayed, (self.rules, self.moves())

    def moves(self) -> tuple[int, ...]:
        """All actions since the start."""
        found: list[int] = []
        state = self
        while state.earlier is not None:
            found.append(int(state.last))
            state = state.earlier
        found.reverse()
        return tuple(found)

    def _result(self, at: i64, taken: list[int]) -> bytes:
        """The board after a stone of the mover ``at`` a place that takes some stones."""
        board = bytearray(self.board)
        board[at] = self.to_move + 1
        for place in taken:
            board[place] = EMPTY
        return bytes(board)

    def _repeats(self, board: bytes, stones: i64) -> bool:
        """Whether the whole board was so before."""
        state = self
        while True:
            if state.stones == stones and state.board == board:
                return True
            if state.earlier is None:
                return False
            state = state.earlier

    def _plays(self) -> tuple[list[Any], list[Any]]:
        """Legal plays, and the plays that only the superko rule forbids."""
        rules = self.rules
        size: i64 = rules.size
        width: i64 = size + 1
        steps = rules.steps
        board = self.board
        colour: i64 = self.to_move + 1
        ko = self.taken
        closed: list[int] = self._closed() if ko else []
        legal: list[Any] = []
        banned: list[Any] = []
        count: i64 = size * size
        action: i64 = 0
        row: i64 = 0
        at: i64 = width + 1
        while action < count:
            if board[at] == EMPTY:
                right: i64 = board[at + 1]
                left: i64 = board[at - 1]
                above: i64 = board[at + width]
                below: i64 = board[at - width]
                possible = (
                    right == EMPTY
                    or left == EMPTY
                    or above == EMPTY
                    or below == EMPTY
                    or (right == colour and has_other_liberty(board, steps, at + 1, at))
                    or (left == colour and has_other_liberty(board, steps, at - 1, at))
                    or (above == colour and has_other_liberty(board, steps, at + width, at))
                    or (below == colour and has_other_liberty(board, steps, at - width, at))
                )
                if ko or not possible:
                    enemy: i64 = 3 - colour
                    takes = (
                        (right == enemy and not has_other_liberty(board, steps, at + 1, at))
                        or (left == enemy and not has_other_liberty(board, steps, at - 1, at))
                        or (above == enemy and not has_other_liberty(board, steps, at + width, at))
                        or (below == enemy and not has_other_liberty(board, steps, at - width, at))
                    )
                    if takes:
                        possible = True
                        if ko:
                            taken = captured_by(board, steps, at, colour)
                            stones: i64 = self.stones + 1 - len(taken)
                            if self._repeats(self._result(at, taken), stones):
                                banned.append(rules.points[action])
                                possible = False
                    elif possible and len(closed) > 0 and at in closed:
                        banned.append(rules.points[action])
                        possible = False
                if possible:
                    legal.append(rules.points[action])
            action += 1
            row += 1
            at += 1
            if row == size:
                row = 0
                at += 1
        return legal, banned

    def _closed(self) -> list[int]:
        """Places where a stone of the mover, taking nothing, would repeat a board."""
        board = self.board
        stones: i64 = self.stones + 1
        colour: i64 = self.to_move + 1
        size: i64 = len(board)
        found: list[int] = []
        state = self
        while state.earlier is not None:
            state = state.earlier
            if state.stones == stones:
                # With one stone more, it is the same but for one place or differs in several.
                other = state.board
                at: i64 = 0
                while board[at] == other[at]:
                    at += 1
                first = at
                at += 1
                while at < size and board[at] == other[at]:
                    at += 1
                if at == size and board[first] == EMPTY and other[first] == colour:
                    found.append(int(first))
        return found

    def actions(self) -> tuple[Any, ...]:
        """Legal plays from A1 along the rows, then to pass."""
        if self.to_move < 0:
            return ()
        legal, _ = self._plays()
        legal.append(self.rules.points[self.rules.size * self.rules.size])
        return tuple(legal)

    def after(self, action: Any) -> GoState:
        """The state after a play or a pass."""
        rules = self.rules
        number: i64 = action
        size: i64 = rules.size
        plies: i64 = self.plies + 1
        to_move = 1 - self.to_move
        if plies >= 4 * size * size:
            to_move = TERMINAL
        if number == size * size:
            passes: i64 = self.passes + 1
            if passes == 2:
                to_move = TERMINAL
            return GoState(
                to_move, rules, self.board, self, number, plies, passes, self.stones, self.taken
            )
        at: i64 = place_of(number, size)
        taken = captured_by(self.board, rules.steps, at, self.to_move + 1)
        board = self._result(at, taken)
        stones: i64 = self.stones + 1 - len(taken)
        ko = self.taken or len(taken) > 0
        return GoState(to_move, rules, board, self, number, plies, 0, stones, ko)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Nothing is left to chance."""
        return ()

    def lead(self) -> float:
        """Black's area less white's and the komi, as the board stands."""
        return float(area_lead(self.board, self.rules.steps)) - self.rules.komi

    def returns(self) -> tuple[float, ...]:
        """+1 for the side with more points, -1 for the other, 0 when equal."""
        return _decide(self.lead())

    def key(self) -> tuple[Any, ...]:
        """Board, side to move, passes, and the plays that superko forbids now.

        What it will forbid later depends on the whole history and is left out.
        """
        if self.to_move < 0:
            return (self.board, self.to_move, 0, ())
        banned: tuple[Any, ...] = ()
        if self.taken:
            _, found = self._plays()
            banned = tuple(found)
        return (self.board, self.to_move, int(self.passes), banned)

    def heuristic(self) -> tuple[float, ...]:
        """The lead in points, where an empty point is the nearer colour's."""
        if self.to_move == TERMINAL:
            return self.returns()
        rules = self.rules
        lead: float = float(nearness(self.board, rules.steps)) - rules.komi
        value = lead / (float(rules.size * rules.size) + abs(rules.komi) + 1.0)
        return (value, -value)

    def noisy_actions(self) -> tuple[Any, ...]:
        """Plays that take stones."""
        if self.to_move < 0:
            return ()
        return tuple([action for action in self._plays()[0] if self._takes(action)])

    def _takes(self, action: i64) -> bool:
        rules = self.rules
        size: i64 = rules.size
        if action == size * size:
            return False
        at: i64 = place_of(action, size)
        return len(captured_by(self.board, rules.steps, at, self.to_move + 1)) > 0

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same actions: those that take stones first, to pass last."""
        first: list[Any] = []
        others: list[Any] = []
        last: list[Any] = []
        most: i64 = self.rules.size * self.rules.size
        for action in actions:
            number: i64 = action
            if number == most:
                last.append(action)
            elif self._takes(number):
                first.append(action)
            else:
                others.append(action)
        return tuple(first + others + last)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after random play that fills no eyes, see `Scratch.play_out`."""
        if self.to_move < 0:
            return self.returns()
        size: i64 = self.rules.size
        scratch = Scratch(self.board, self.rules.steps)
        left: i64 = 4 * size * size - self.plies
        lead = scratch.play_out(rng, self.to_move + 1, self.passes, left)
        return _decide(float(lead) - self.rules.komi)


def _decide(lead: float) -> tuple[float, ...]:
    """Returns for black's lead in points."""
    if lead > 0.0:
        return _BLACK_WINS
    return _WHITE_WINS if lead < 0.0 else _DRAW


def _replayed(rules: Rules, moves: tuple[int, ...]) -> GoState:
    """The state after these actions."""
    state = GoState(0, rules, rules.board)
    for move in moves:
        state = state.after(move)
    return state


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class GoObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Rows from the top: "x" for black stones, "o" for white ones, "." for empty points."""
    moves: tuple[str, ...]
    """All actions since the start: with them, what superko forbids is known."""
    komi: float
    """Points that white gets on top."""
    lead: float | None
    """By how many points black has won, negative if white has; None while play goes on."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Go(Game):
    """Go on boards of 5 to 19 lines."""

    info: ClassVar[GameInfo] = GameInfo(
        name="go",
        title="Go",
        summary="Surround more of the board than the opponent.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        complete_keys=False,
        min_return=-1.0,
        max_return=1.0,
        max_plies=4 * 19 * 19,
        parameters=(
            Parameter("size", 9, "lines of the board", choices=(5, 7, 9, 13, 19)),
            Parameter("komi", 7.5, "points for white, who plays second", -200.0, 200.0),
        ),
        seat_names=("black", "white"),
        draw_offers=True,
    )
    observation_type: ClassVar[type[Observation]] = GoObservation
    action_pattern: ClassVar[str] = "[a-hj-t](1?[1-9]|10)|pass"
    action_notation = "a point like D4, or pass"

    def check_parameters(self) -> None:
        """Every size goes with every komi."""
        self.size = self.int_parameter("size")
        self.rules = rules_of(self.size, self.float_parameter("komi"))

    def initial_state(self) -> GoState:
        """The empty board, black to move."""
        return GoState(0, self.rules, self.rules.board)

    def format(self, state: State, action: int) -> str:
        """GTP, in capitals."""
        return point_name(action, self.size)

    def observe(self, state: State, seat: int | None) -> GoObservation:
        """The board and the moves so far."""
        position = cast("GoState", state)
        return GoObservation(
            seat=seat,
            to_move=position.to_move,
            legal=self.legal_text(state, seat),
            board=_rows(position),
            moves=tuple([point_name(move, self.size) for move in position.moves()]),
            komi=self.rules.komi,
            lead=position.lead() if position.to_move == TERMINAL else None,
        )

    def sample_state(self, observation: Observation, rng: random.Random) -> GoState:
        """The state that was observed, reached by the same moves."""
        seen = cast("GoObservation", observation)
        names = {point_name(action, self.size): action for action in self.rules.points}
        unknown = [move for move in seen.moves if move not in names]
        if unknown:
            raise InvalidObservation(self.info.name, f"{unknown[0]!r} is not a point")
        return _replayed(self.rules, tuple([names[move] for move in seen.moves]))

    def scene(self, observation: Observation) -> Scene:
        """The board with every legal play on its point, and a button to pass."""
        seen = cast("GoObservation", observation)
        legal = set(seen.legal)
        last = seen.moves[-1] if seen.moves else ""
        rows: list[tuple[Cell, ...]] = []
        for index, row in enumerate(seen.board):
            cells: list[Cell] = []
            for column, mark in zip(_COLUMNS, row, strict=False):
                name = f"{column}{self.size - index}"
                owner = None if mark == "." else _MARKS.index(mark) - 1
                content = "empty" if owner is None else f"stone of {self.seat_name(owner)}"
                cells.append(
                    Cell(
                        text="" if owner is None else mark,
                        owner=owner,
                        shape="" if owner is None else "disc",
                        action=name if name in legal else None,
                        label=f"{name}, {content}",
                        highlight=name == last,
                    )
                )
            rows.append(tuple(cells))
        numbers = tuple([str(self.size - index) for index in range(self.size)])
        grid = Grid(tuple(rows), numbers, tuple(_COLUMNS[: self.size]), "Board", "lines")
        buttons = (Button("pass", PASS),) if PASS in legal else ()
        if seen.lead is None:
            passed = f"{self.seat_name(1 - seen.to_move)} passed, " if last == PASS else ""
            status = f"{passed}{self.seat_name(seen.to_move)} to move"
        elif seen.lead == 0:
            status = "Draw"
        else:
            status = f"{self.seat_name(0 if seen.lead > 0 else 1)} wins by {abs(seen.lead):g}"
        komi = Text(f"Komi {seen.komi:g}")
        return Scene((grid, *buttons, komi), status, seen.to_move if seen.to_move >= 0 else None)

    def describe(self, state: State) -> str:
        """The board from the top, and who moves."""
        position = cast("GoState", state)
        mover = self.seat_name(position.to_move) + " to move" if position.to_move >= 0 else "over"
        return "\n".join([*_rows(position), mover])


def point_name(action: int, size: int) -> str:
    """``D4`` or ``pass``."""
    if action == size * size:
        return PASS
    return f"{_COLUMNS[action % size]}{action // size + 1}"


def _rows(state: GoState) -> tuple[str, ...]:
    """The board as texts from the top."""
    size = state.rules.size
    starts = [(row + 1) * (size + 1) + 1 for row in range(size - 1, -1, -1)]
    return tuple(["".join([_MARKS[code] for code in state.board[at : at + size]]) for at in starts])
