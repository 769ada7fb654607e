"""Go by Tromp-Taylor rules without suicide: area scoring, positional superko.

Actions are GTP points like ``D4`` (columns without I, rows from below), or ``pass``.
Black begins.  A play may not repeat any earlier position of the whole board.  Two
passes in a row end the match, and so does ply number ``4 * size * size``, which good play
does not come near.  A colour scores its stones and the empty regions that reach only that colour.
Dead stones must be captured, and points shared in a seki count for neither side.  White gets
``komi`` points on top; equal scores are a draw.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, ClassVar, Final

from mypy_extensions import mypyc_attr

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
from plyhouse.games.deterministic.go.board import BORDER, EMPTY, has_other_liberty, place_of
from plyhouse.games.deterministic.go.state import COLUMNS, PASS, GoState, Rules, rules_of
from plyhouse.games.errors import InvalidObservation, InvalidPosition
from plyhouse.games.scene import Button, Cell, Grid, Scene, Text, Tray

if TYPE_CHECKING:
    import random

__all__ = ["Go", "GoObservation", "GoState"]

_MARKS: Final = ".xo"
_WRITTEN: Final[bytes] = bytes([ord(_MARKS[code]) if code < 3 else 32 for code in range(256)])
"""Character of each point code, for `bytes.translate`."""


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class GoObservation(Observation):
    """The board, and what superko forbids now.

    Earlier boards are in the events of the match, not here, because their number grows.
    """

    board: tuple[str, ...]
    """Rows from the top, row ``size`` first and row 1 last, each from column A at the left.  Black
    stones (seat 0) are "x", white ones "o", and empty points "."."""
    last: str
    """The last action, a point or "pass"; "" at the start."""
    plies: int
    """Actions so far: at ``4 * size * size`` the match ends."""
    forbidden: tuple[str, ...]
    """Points on which the side to move could play but for superko."""
    komi: float
    """Points that white gets on top."""
    lead: float | None
    """By how many points black has won, negative if white has; None while play goes on."""
    prisoners: tuple[int, int] = (0, 0)
    """By seat how many stones of the other seat it has taken; they do not count in the score."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Go(Game[GoState, int, GoObservation]):
    """Go on boards of 5 to 19 lines.

    >>> go = Go(size=5)
    >>> state = go.initial_state()
    >>> for text in ("C3", "C4", "B4", "pass"):
    ...     state = state.after(go.parse(state, text))
    >>> go.observe(state, None).board
    ('.....', '.xo..', '..x..', '.....', '.....')
    """

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
            Parameter("position", "", "stones at the start, like W:BD4,E5:WC3; white moves here"),
        ),
        seat_names=("Black", "White"),
        draw_offers=True,
    )
    observation_type: ClassVar[type[Observation]] = GoObservation
    action_pattern: ClassVar[str] = "[a-hj-t](1?[1-9]|10)|pass"
    action_notation = "a point like D4, or pass"

    def check_parameters(self) -> None:
        """Read the position; every size goes with every komi."""
        self.size = self.int_parameter("size")
        self.rules = rules_of(self.size, self.float_parameter("komi"))
        text = self.text_parameter("position")
        self.start = (
            _read_position(text, self.rules) if text else GoState(0, self.rules, self.rules.board)
        )

    def initial_state(self) -> GoState:
        """Return the empty board, black to move; or the given position."""
        return self.start

    def restarted(self, state: GoState, seat: int) -> Game | None:
        """Return the game that begins in this position: no earlier board and no ply counts."""
        position = _write_position(state, seat)
        return Go(size=self.size, komi=self.rules.komi, position=position)

    def format(self, state: GoState, action: int) -> str:
        """GTP, in capitals."""
        return self.rules.names[action]

    def likely(self, state: GoState, text: str, actions: tuple[int, ...]) -> tuple[int, ...]:
        """Return the action of that name, if it is legal."""
        number = self.rules.numbers.get(text, -1)
        return (number,) if number in actions else ()

    def legal_text(self, state: GoState, seat: int | None) -> tuple[str, ...]:
        """Legal actions as `format` writes them: a large board has hundreds."""
        names = self.rules.names
        return tuple([names[action] for action in state.actions()]) if state.to_move == seat else ()

    def observe(self, state: GoState, seat: int | None) -> GoObservation:
        """Return the board, the last action and what superko forbids."""
        return GoObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=_rows(state),
            last="" if state.last < 0 else self.rules.names[state.last],
            plies=state.plies,
            forbidden=tuple([self.rules.names[point] for point in state.forbidden()]),
            komi=self.rules.komi,
            lead=state.lead() if state.to_move == TERMINAL else None,
            prisoners=(state.white_lost, state.black_lost),
        )

    def sample_state(self, observation: GoObservation, rng: random.Random) -> GoState:
        """Return the state that was observed, with the same legal actions.

        Not in it: earlier boards.  So a search from here sees what superko forbids now, but not
        what it would forbid later on account of boards before this one.
        """
        numbers = self.rules.numbers
        for name in (*observation.forbidden, observation.last):
            if name and name not in numbers:
                raise InvalidObservation(self.info.name, f"{name!r} is not a point")
        last = numbers[observation.last] if observation.last else -1
        board = _read_rows(observation.board, self.rules)
        stones = len(board) - board.count(EMPTY) - self.rules.board.count(BORDER)
        passes = 1 if observation.last == PASS else 0
        white_lost, black_lost = observation.prisoners
        state = GoState(
            observation.to_move,
            self.rules,
            board,
            None,
            last,
            observation.plies,
            passes,
            stones,
            False,
            black_lost,
            white_lost,
        )
        return state.without_history(tuple([numbers[name] for name in observation.forbidden]))

    def _stars(self) -> set[str]:
        """Points that boards have a dot on, as players expect on boards of odd sizes."""
        size = self.size
        if size < 7 or size % 2 == 0:
            return set()
        first = 2 if size < 12 else 3
        middle = size // 2
        lines = (first, middle, size - 1 - first)
        return {
            f"{COLUMNS[column]}{row + 1}"
            for column in lines
            for row in lines
            if size > 13 or (column == middle) == (row == middle)
        }

    def scene(self, observation: GoObservation) -> Scene:
        """Return the board with every legal play on its point, and a button to pass."""
        legal = set(observation.legal)
        last = observation.last
        stars = self._stars()
        over = observation.lead is not None
        areas = _areas(observation.board) if over else {}
        rows: list[tuple[Cell, ...]] = []
        for index, row in enumerate(observation.board):
            cells: list[Cell] = []
            for column, mark in zip(COLUMNS, row, strict=False):
                name = f"{column}{self.size - index}"
                owner = None if mark == "." else _MARKS.index(mark) - 1
                content = "empty" if owner is None else f"stone of {self.seat_name(owner)}"
                whose = areas.get((index, len(cells)))
                if whose is not None:
                    content = f"territory of {self.seat_name(whose)}"
                    cells.append(Cell("bw"[whose], whose, "dot", None, f"{name}, {content}"))
                    continue
                cells.append(
                    Cell(
                        text="" if owner is None else mark,
                        owner=owner,
                        shape="disc" if owner is not None else "star" if name in stars else "",
                        action=name if name in legal else None,
                        label=f"{name}, {content}",
                        highlight=name == last,
                    )
                )
            rows.append(tuple(cells))
        numbers = tuple([str(self.size - index) for index in range(self.size)])
        grid = Grid(tuple(rows), numbers, tuple(COLUMNS[: self.size]), "Board", "lines", "wood")
        buttons = (Button("pass", PASS),) if PASS in legal else ()
        if observation.lead is None:
            passed = f"{self.seat_name(1 - observation.to_move)} passed, " if last == PASS else ""
            status = f"{passed}{self.seat_name(observation.to_move)} to move"
        elif observation.lead == 0:
            status = "Draw"
        else:
            winner = self.seat_name(0 if observation.lead > 0 else 1)
            status = f"{winner} wins by {abs(observation.lead):g}"
        komi = Text(f"Komi {observation.komi:g}")
        scores: list[Text] = []
        for seat in range(2) if over else ():
            stones = sum(row.count(_MARKS[seat + 1]) for row in observation.board)
            land = list(areas.values()).count(seat)
            extra = observation.komi if seat else 0
            added = f" + {extra:g} komi" if extra else ""
            count = f"{stones} stones + {land} territory{added} = {stones + land + extra:g}"
            scores.append(Text(f"{self.seat_name(seat)}: {count}"))
        trays = [self._prisoners(seat, observation.prisoners[seat]) for seat in range(2)]
        elements = (grid, *trays, *buttons, *(scores or (komi,)))
        return Scene(elements, status, observation.seat_to_move)

    def _prisoners(self, seat: int, count: int) -> Tray:
        """Return the stones that a seat has taken."""
        stone = Cell(
            _MARKS[2 - seat],
            1 - seat,
            "disc",
            label=f"stones of {self.seat_name(1 - seat)}",
            count=count,
        )
        return Tray(f"Prisoners of {self.seat_name(seat)}", (stone,) if count else (), seat)

    def describe(self, state: GoState) -> str:
        """Return the board from the top, and who moves."""
        mover = self.seat_name(state.to_move) + " to move" if state.to_move >= 0 else "over"
        return "\n".join([*_rows(state), mover])


def _rows(state: GoState) -> tuple[str, ...]:
    """Return the board as texts from the top."""
    size = state.rules.size
    text = state.board.translate(_WRITTEN).decode("ascii")
    starts = [(row + 1) * (size + 1) + 1 for row in range(size - 1, -1, -1)]
    return tuple([text[at : at + size] for at in starts])


def _write_position(state: GoState, seat: int) -> str:
    """Return the stones and the seat to move as the parameter ``position`` takes them."""
    sides = []
    for colour in (1, 2):
        names = [
            name
            for action, name in enumerate(state.rules.names)
            if name != PASS and state.board[place_of(action, state.rules.size)] == colour
        ]
        sides.append(",".join(names))
    return f"{'BW'[seat]}:B{sides[0]}:W{sides[1]}"


def _read_position(text: str, rules: Rules) -> GoState:
    """Return the state of a position; raises `InvalidPosition`."""
    parts = re.sub(r"\s", "", text).upper().split(":")
    if [part[:1] for part in parts] not in (["B", "B", "W"], ["W", "B", "W"]) or parts[0][1:]:
        reason = "write who is to move and the stones of black and white, like W:BD4,E5:WC3"
        raise InvalidPosition("go", text, reason)
    board = bytearray(rules.board)
    stones = 0
    for colour, part in enumerate(parts[1:], 1):
        for name in filter(None, part[1:].split(",")):
            action = rules.numbers.get(name, -1)
            if action < 0:
                raise InvalidPosition("go", text, f"{name!r} is not a point of this board")
            at = place_of(action, rules.size)
            if board[at] != EMPTY:
                raise InvalidPosition("go", text, f"two stones stand on {name}")
            board[at] = colour
            stones += 1
    for action, name in enumerate(rules.names):
        at = place_of(action, rules.size) if name != PASS else 0
        if board[at] in (1, 2) and not has_other_liberty(bytes(board), rules.steps, at, 0):
            raise InvalidPosition("go", text, f"the stone on {name} has no liberty")
    return GoState("BW".index(parts[0]), rules, bytes(board), stones=stones)


def _read_rows(rows: tuple[str, ...], rules: Rules) -> bytes:
    """Return the board that `_rows` wrote; raises `InvalidObservation`."""
    size = rules.size
    if len(rows) != size or any(len(row) != size or row.strip(_MARKS) for row in rows):
        raise InvalidObservation("go", f"{rows!r} is not a board of {size} lines")
    board = bytearray(rules.board)
    for index, row in enumerate(rows):
        at = (size - index) * (size + 1) + 1
        board[at : at + size] = bytes([_MARKS.index(mark) for mark in row])
    return bytes(board)


def _areas(board: tuple[str, ...]) -> dict[tuple[int, int], int]:
    """Return the empty points, by row and column, that reach stones of one seat only."""
    size = len(board)
    found: dict[tuple[int, int], int] = {}
    seen: set[tuple[int, int]] = set()
    for start in [(y, x) for y in range(size) for x in range(size) if board[y][x] == "."]:
        if start in seen:
            continue
        seen.add(start)
        region, reached = [start], set()
        for y, x in region:  # grows as it is walked over
            for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if not (0 <= near[0] < size and 0 <= near[1] < size) or near in seen:
                    continue
                mark = board[near[0]][near[1]]
                if mark == ".":
                    seen.add(near)
                    region.append(near)
                else:
                    reached.add(_MARKS.index(mark) - 1)
        if len(reached) == 1:
            found |= dict.fromkeys(region, reached.pop())
    return found
