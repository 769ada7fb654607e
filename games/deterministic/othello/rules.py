"""Othello: enclose the other's discs to turn them; most discs at the end wins.

Place a disc so that, in at least one of eight directions, it encloses an unbroken line of the
opponent's discs between itself and another disc of yours.  All lines enclosed this way are turned.
A seat passes only if it cannot place a disc, and then it must.  The game ends when neither can
place.

Black begins.  Actions are written as the square, ``d3``, or ``pass``; a1 is the top left corner.
``position`` gives another start: 64 characters from a1 to h1, then row 2 and so on, then a blank
and the colour to move.  As in the test files of othello programs, "x" is black, "o" is white, and
"-" or "." is empty.

With ``score`` the return is the difference of discs at the end, and squares left empty count for
the winner, as the problems of the French federation (FFO) are scored.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

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
from plyhouse.games.bits import BIT, bit_number, count_bits, pick_bit
from plyhouse.games.boards import board_grid, board_scene, result_status, square_names
from plyhouse.games.deterministic.othello.board import final_score, placeable, turned
from plyhouse.games.deterministic.othello.endgames import OthelloEndings
from plyhouse.games.deterministic.othello.evaluation import (
    POINTS,
    SQUARE_WORTHS,
    shared_evaluation,
)
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.errors import InvalidPosition
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Counter, Scene

if TYPE_CHECKING:
    import random

__all__ = ["PASS", "Othello", "OthelloObservation", "OthelloState"]

PASS: Final = 64
"""The action of a seat that cannot place a disc."""

_NAMES: Final[tuple[str, ...]] = (*square_names(8, 8), "pass")

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)

_ONLY_PASS: Final[tuple[int, ...]] = (PASS,)

_START_BLACK: Final = (1 << 28) | (1 << 35)
_START_WHITE: Final = (1 << 27) | (1 << 36)

_BEST_FIRST: Final[tuple[int, ...]] = tuple(
    sorted(range(64), key=lambda square: (-SQUARE_WORTHS[square], square))
)
_MOST_DISCS: Final = 63.5
"""Most that an estimate may be, below the score of 64."""


@final
@mypyc_attr(free_list_len=1)
class OthelloState(BoardState):
    """Discs of both seats as sets of squares, and the squares where the mover can place."""

    # Square number 8 * row + column is a bit; see `plyhouse.games.bits` for bit 63, the sign.

    __slots__ = ("black", "open", "score", "white")

    black: i64
    white: i64
    open: i64
    score: bool

    def __init__(
        self,
        to_move: int = 0,
        black: i64 = _START_BLACK,
        white: i64 = _START_WHITE,
        open_: i64 = 0,
        score: bool = False,
    ) -> None:
        self.to_move = to_move
        self.black = black
        self.white = white
        self.open = open_
        self.score = score

    def __reduce__(self) -> tuple[Any, ...]:
        return OthelloState, (self.to_move, self.black, self.white, self.open, self.score)

    def actions(self) -> tuple[Any, ...]:
        """Squares in the order of their numbers, or a pass when there are none."""
        if self.to_move < 0:
            return ()
        cells: i64 = self.open
        if cells == 0:
            return _ONLY_PASS
        found: list[int] = []
        if cells < 0:
            # The last square is the sign, which the loop cannot take away.
            cells = cells & 0x7FFF_FFFF_FFFF_FFFF
            while cells != 0:
                found.append(int(bit_number(cells & -cells)))
                cells = cells & (cells - 1)
            found.append(63)
        else:
            while cells != 0:
                found.append(int(bit_number(cells & -cells)))
                cells = cells & (cells - 1)
        return tuple(found)

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Corners first, squares that give a corner away last."""
        if len(actions) < 2:
            return actions
        asked: i64 = 0
        for action in actions:
            square: i64 = action
            asked |= BIT[square]
        best: list[int] = []
        for number in _BEST_FIRST:
            bit: i64 = BIT[number]
            if asked & bit != 0:
                best.append(number)
        return tuple(best)

    def after(self, action: Any) -> OthelloState:
        """Return the state after a disc is placed and others turned, or after a pass."""
        square: i64 = action
        black: i64 = self.black
        white: i64 = self.white
        if square != PASS:
            bit: i64 = BIT[square]
            if self.to_move == 0:
                flips: i64 = turned(bit, black, white)
                black = black | bit | flips
                white = white ^ flips
            else:
                flips = turned(bit, white, black)
                white = white | bit | flips
                black = black ^ flips
        return _reached(1 - self.to_move, black, white, self.score)

    def returns(self) -> tuple[float, ...]:
        """+1 for more discs, -1 for fewer, 0 for as many; or the score, see `Othello`."""
        return _result(self.black, self.white, self.score)

    def key(self) -> tuple[int, int, int]:
        """Return the discs and whose turn it is."""
        return (self.to_move, self.black, self.white)

    def heuristic(self) -> tuple[float, ...]:
        """Return the estimated score as a share of 64 discs, or in discs for games by score.

        See `plyhouse.games.deterministic.othello.evaluation`; at the end it is the result itself.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        black: i64 = self.black
        white: i64 = self.white
        empties: i64 = 64 - count_bits(black | white)
        points: i64
        if self.to_move == 0:
            points = shared_evaluation().value(black, white, empties)
        else:
            points = -shared_evaluation().value(white, black, empties)
        value: float = min(max(float(points) / float(POINTS), -_MOST_DISCS), _MOST_DISCS)
        if not self.score:
            value /= 64.0
        return (value, -value)

    def endings(self, meter: Meter) -> Endings:
        """Return the exact solver of the last plies for one search."""
        return OthelloEndings(meter)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        if self.to_move == TERMINAL:
            return self.returns()
        # From the mover's side; the sides change after every ply.
        swapped: bool = self.to_move == 1
        mine: i64 = self.white if swapped else self.black
        theirs: i64 = self.black if swapped else self.white
        cells: i64 = self.open
        while True:
            if cells == 0:
                other: i64 = placeable(theirs, mine)
                if other == 0:
                    break
                # A pass: the only action, but drawn like any other.
                rng.random()
            else:
                bit: i64 = pick_bit(cells, int(rng.random() * float(count_bits(cells))))
                flips: i64 = turned(bit, mine, theirs)
                mine = mine | bit | flips
                theirs = theirs ^ flips
                other = placeable(theirs, mine)
            keep: i64 = mine
            mine = theirs
            theirs = keep
            cells = other
            swapped = not swapped
        if swapped:
            return _result(theirs, mine, self.score)
        return _result(mine, theirs, self.score)


def _reached(to_move: int, black: i64, white: i64, score: bool) -> OthelloState:
    """Return the state of these discs, over if neither seat can place any more."""
    mine: i64 = black if to_move == 0 else white
    theirs: i64 = white if to_move == 0 else black
    cells: i64 = placeable(mine, theirs)
    if cells == 0 and placeable(theirs, mine) == 0:
        return OthelloState(TERMINAL, black, white, 0, score)
    return OthelloState(to_move, black, white, cells, score)


def _result(black: i64, white: i64, score: bool) -> tuple[float, ...]:
    """Returns for the discs at the end."""
    if score:
        value: float = float(final_score(black, white))
        return (value, -value)
    more: i64 = count_bits(black) - count_bits(white)
    if more > 0:
        return _WON
    if more < 0:
        return _LOST
    return _DRAW


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class OthelloObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Rows from row 1 at the top, each from column a: "x" for black (seat 0), "o" for white, "."
    empty."""
    discs: tuple[int, int]
    """By seat the number of its discs."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Othello(Game[OthelloState, int, OthelloObservation]):
    """Othello on 8 by 8 squares.

    >>> othello = Othello()
    >>> state = othello.initial_state()
    >>> othello.legal_text(state, 0)
    ('d3', 'c4', 'f5', 'e6')
    >>> othello.observe(state.after(othello.parse(state, "d3")), None).discs
    (4, 1)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="othello",
        title="Othello",
        summary="Enclose discs to turn them; most discs at the end wins.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        # By score; without it -1 to 1, see return_bounds.
        min_return=-64.0,
        max_return=64.0,
        # At most 61 discs are placed (three are needed to place one), and a pass is
        # always followed by a disc.
        max_plies=122,
        parameters=(
            Parameter("position", "", 'another start: 64 of "x", "o", "-", and who is to move'),
            Parameter("score", False, "whether the returns are how many discs more one has"),
        ),
        seat_names=("Black", "White"),
    )
    observation_type: ClassVar[type[Observation]] = OthelloObservation
    action_pattern: ClassVar[str] = "[a-z][0-9]+|pass"
    action_notation: str = "a square from a1 to h8, like d3, or pass"

    def check_parameters(self) -> None:
        """Read the start position."""
        self.score = self.parameters["score"] is True
        self.start = _read_position(self.text_parameter("position"), self.score)

    @property
    def return_bounds(self) -> tuple[float, float]:
        """From -1 to 1, or from -64 to 64 by score."""
        return (-64.0, 64.0) if self.score else (-1.0, 1.0)

    def initial_state(self) -> OthelloState:
        """Four discs in the middle, Black to move; or the given position."""
        return self.start

    def format(self, state: OthelloState, action: int) -> str:
        """Return the square, like ``d3``, or ``pass``."""
        return _NAMES[action]

    def observe(self, state: OthelloState, seat: int | None) -> OthelloObservation:
        """Return the board and the discs counted."""
        return OthelloObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=_rows(state),
            discs=(int(count_bits(state.black)), int(count_bits(state.white))),
        )

    def sample_state(self, observation: OthelloObservation, rng: random.Random) -> OthelloState:
        """Return the position that was observed."""
        text = "".join(observation.board)
        black = sum([BIT[square] for square in range(64) if text[square] == "x"])
        white = sum([BIT[square] for square in range(64) if text[square] == "o"])
        return _reached(max(observation.to_move, 0), black, white, self.score)

    def scene(self, observation: OthelloObservation) -> Scene:
        """Return the board, where each square that can be chosen is its action, and the counts."""
        grid = board_grid(
            observation.board,
            {"x": 0, "o": 1},
            {"x": "black disc", "o": "white disc"},
            legal=observation.legal,
            top_is_first=True,
            theme="felt",
        )
        counters = [
            Counter(f"Discs of {self.seat_name(seat)}", observation.discs[seat], None, seat)
            for seat in range(2)
        ]
        more = observation.discs[0] - observation.discs[1]
        winner = None if observation.to_move != TERMINAL or more == 0 else 0 if more > 0 else 1
        status = result_status(self, winner, observation.to_move)
        return board_scene([grid, *counters], observation.legal, status, observation.to_move)

    def describe(self, state: OthelloState) -> str:
        """Return the board from row 1, one line per row, and whose turn it is."""
        who = {0: "x to move", 1: "o to move"}.get(state.to_move, "over")
        return "\n".join([*_rows(state), who])


def _rows(position: OthelloState) -> tuple[str, ...]:
    """Return the board as eight texts from the top."""
    rows: list[str] = []
    for row in range(8):
        text = ""
        for square in range(8 * row, 8 * row + 8):
            bit: i64 = BIT[square]
            text += "x" if position.black & bit else "o" if position.white & bit else "."
        rows.append(text)
    return tuple(rows)


def _read_position(text: str, score: bool) -> OthelloState:
    """Return the state that the parameter ``position`` describes."""
    if not text:
        return _reached(0, _START_BLACK, _START_WHITE, score)
    found = re.fullmatch(r"(\S+)\s+(\S+)", text.strip())
    if found is None:
        raise InvalidPosition("othello", text, "write the board, a blank and who is to move")
    board, mover = found[1].lower(), found[2].lower()
    if len(board) != 64:
        raise InvalidPosition("othello", text, f"the board has {len(board)} squares, not 64")
    for square, mark in enumerate(board):
        if mark not in "xo-.":
            reason = f'{mark!r} stands on {_NAMES[square]}; write "x", "o" or "-"'
            raise InvalidPosition("othello", text, reason)
    if mover not in ("x", "o"):
        raise InvalidPosition("othello", text, f'{mover!r} is to move; write "x" or "o"')
    black = sum([BIT[square] for square in range(64) if board[square] == "x"])
    white = sum([BIT[square] for square in range(64) if board[square] == "o"])
    state = _reached("xo".index(mover), black, white, score)
    if state.to_move == TERMINAL:
        raise InvalidPosition("othello", text, "neither side can place a disc")
    return state
