"""English draughts (checkers): jump when you can; a seat that cannot act loses.

Men step and jump diagonally forward, kings also backward.  Jumping is forced and goes on as long as
the same piece can jump; the seat may choose among several ways.  A man that reaches the far row
becomes a king and its turn ends there.  A seat with no legal action, blocked or without pieces,
loses.

The match is drawn, without a claim, after ``quiet_moves`` (40) moves of each seat without a jump
and without a step of a man.  It is also drawn when a position occurs for the third time with the
same seat to move.

Black begins.  Actions are written as in PDN: ``11-15`` for a step, ``15x24`` for
jumps, a whole series being one action; where two series share both ends all squares are
written, ``9x18x27``, and they may always be.  ``position`` gives another start in the FEN of
PDN: ``B:W24,27,K10:B12,16-20`` is the side to move, then the squares of each side.
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
from plyhouse.games.bits import BIT, count_bits, pick_bit
from plyhouse.games.boards import board_grid, board_scene, result_status
from plyhouse.games.deterministic.checkers.endgames import CheckersEndings
from plyhouse.games.deterministic.checkers.moves import (
    CELLS,
    FAR,
    MEN_START,
    SQUARE_BIT,
    can_act,
    jump_actions,
    legal_actions,
    route_squares,
    start_bit,
    steppers,
    walk,
)
from plyhouse.games.deterministic.checkers.notation import (
    board_rows,
    read_action,
    read_board,
    read_position,
    write_action,
    write_position,
)
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.errors import AmbiguousAction, GameError, InvalidObservation, InvalidPosition
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Counter, Element, Scene

if TYPE_CHECKING:
    import random

__all__ = ["Checkers", "CheckersObservation", "CheckersState"]

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)

_SQUARES: Final = frozenset([str(square) for square in range(1, 33)])
_NOTHING: Final[tuple[int, ...]] = ()

# Rows 2 to 7 of the board as Black sees them, for the advance of men.
_ROWS: Final[tuple[int, ...]] = tuple([sum(SQUARE_BIT[4 * r + 1 : 4 * r + 5]) for r in range(8)])


@final
@mypyc_attr(free_list_len=1)
class CheckersState(BoardState):
    """The pieces as sets of squares, and what the rules of draws must remember.

    ``past`` is empty after a jump or a step of a man.  Else it holds the pieces of the seat
    that moved first, those of the other, and then those of each mover in turn: two
    neighbours in it are a position.
    """

    __slots__ = ("black", "kings", "limit", "past", "white", "winner")

    black: i64
    white: i64
    kings: i64
    past: tuple[int, ...]
    winner: int
    limit: int

    def __init__(
        self,
        to_move: int = 0,
        black: i64 = 0,
        white: i64 = 0,
        kings: i64 = 0,
        past: tuple[int, ...] = (),
        winner: int = -1,
        limit: int = 80,
    ) -> None:
        self.to_move = to_move
        self.black = black
        self.white = white
        self.kings = kings
        self.past = past
        self.winner = winner
        # Plies without a jump or a step of a man after which the match is drawn.
        self.limit = limit

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckersState, (
            self.to_move,
            self.black,
            self.white,
            self.kings,
            self.past,
            self.winner,
            self.limit,
        )

    def actions(self) -> tuple[Any, ...]:
        """Jumps if there are any; else the steps, by direction and then by square."""
        if self.to_move == 0:
            return tuple(legal_actions(0, self.black, self.white, self.kings))
        if self.to_move == 1:
            return tuple(legal_actions(1, self.white, self.black, self.kings))
        return ()

    def after(self, action: Any) -> CheckersState:
        """Return the state after a step or a whole series of jumps."""
        code: i64 = action
        seat: i64 = self.to_move
        own: i64 = self.black if seat == 0 else self.white
        enemy: i64 = self.white if seat == 0 else self.black
        kings: i64 = self.kings
        start: i64 = start_bit(code)
        goal: i64 = start
        past: tuple[int, ...] = _NOTHING
        king: bool = kings & start != 0
        if code < 256:
            goal = walk(start, code & 3)
            if king:
                past = self.past
                past = (*past, own ^ start | goal) if past else (own, enemy, own ^ start | goal)
        else:
            taken: i64 = 0
            route: i64 = code >> 6
            while route > 1:
                over: i64 = walk(goal, route & 3)
                goal = walk(over, route & 3)
                taken |= over
                route = route >> 2
            enemy = enemy & ~taken
            kings = kings & ~taken
        own = (own ^ start) | goal
        if king:
            kings = (kings & ~start) | goal
        elif goal & FAR[seat] != 0:
            kings |= goal
        black: i64 = own if seat == 0 else enemy
        white: i64 = enemy if seat == 0 else own
        limit: int = self.limit
        if not can_act(1 - seat, enemy, own, kings):
            return CheckersState(TERMINAL, black, white, kings, past, self.to_move, limit)
        if past and (len(past) - 2 >= limit or occurrences(past) >= 3):
            return CheckersState(TERMINAL, black, white, kings, past, -1, limit)
        return CheckersState(1 - self.to_move, black, white, kings, past, -1, limit)

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser, 0 for a draw."""
        return _WON if self.winner == 0 else _LOST if self.winner == 1 else _DRAW

    def key(self) -> tuple[int, int, int, int, int, int]:
        """Pieces, mover, quiet plies and how often the position has stood.

        The key leaves out the other earlier positions, as is usual in searches.
        """
        past = self.past
        quiet = len(past)
        often = occurrences(past) if past else 1
        return (self.to_move, self.black, self.white, self.kings, quiet, often)

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Longest jumps first; steps as they are, kings' last."""
        if len(actions) < 2:
            return actions
        first: i64 = actions[0]
        if first >= 256:
            return tuple(sorted(actions, reverse=True))
        men: list[Any] = []
        kings: list[Any] = []
        for action in actions:
            code: i64 = action
            if self.kings & BIT[code >> 2] != 0:
                kings.append(action)
            else:
                men.append(action)
        return tuple(men + kings)

    def noisy_actions(self) -> tuple[Any, ...]:
        """Jumps, which are forced and change the material at once."""
        if self.to_move == 0:
            return tuple(jump_actions(0, self.black, self.white, self.kings))
        if self.to_move == 1:
            return tuple(jump_actions(1, self.white, self.black, self.kings))
        return ()

    def forced(self) -> bool:
        """Return whether the mover has to jump."""
        if self.to_move == 0:
            return len(jump_actions(0, self.black, self.white, self.kings)) > 0
        return self.to_move == 1 and len(jump_actions(1, self.white, self.black, self.kings)) > 0

    def heuristic(self) -> tuple[float, ...]:
        """Material, a king counting one and a half men, and the advance of the men."""
        if self.to_move == TERMINAL:
            return self.returns()
        kings: i64 = self.kings
        black: i64 = self.black & ~kings
        white: i64 = self.white & ~kings
        balance: i64 = 100 * (count_bits(black) - count_bits(white))
        balance += 150 * (count_bits(self.black & kings) - count_bits(self.white & kings))
        for row in range(8):
            cells: i64 = _ROWS[row]
            ahead: i64 = row
            balance += 2 * ahead * count_bits(black & cells)
            balance -= 2 * (7 - ahead) * count_bits(white & cells)
        # A side has 12 kings, or 12 men of fewer than 114 each, at most.
        value: float = float(balance) / 1900.0
        return (value, -value)

    def endings(self, meter: Meter) -> Endings:
        """Return the table of positions with few pieces, for one search."""
        return CheckersEndings(meter)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        if self.to_move == TERMINAL:
            return self.returns()
        seat: i64 = self.to_move
        own: i64 = self.black if seat == 0 else self.white
        enemy: i64 = self.white if seat == 0 else self.black
        kings: i64 = self.kings
        past: list[int] = list(self.past)
        limit: int = self.limit
        while True:
            quiet: bool = False
            jumps: list[int] = jump_actions(seat, own, enemy, kings)
            if jumps:
                code: i64 = jumps[int(rng.random() * len(jumps))]
                start: i64 = BIT[code & 63]
                goal: i64 = start
                taken: i64 = 0
                route: i64 = code >> 6
                while route > 1:
                    over: i64 = walk(goal, route & 3)
                    goal = walk(over, route & 3)
                    taken |= over
                    route = route >> 2
                enemy = enemy & ~taken
                kings = kings & ~taken
            else:
                empty: i64 = CELLS & ~(own | enemy)
                down: i64 = own if seat == 0 else own & kings
                up: i64 = own & kings if seat == 0 else own
                # The steps in each direction, counted up.
                steps0: i64 = steppers(down, empty, 0)
                steps1: i64 = steppers(down, empty, 1)
                steps2: i64 = steppers(up, empty, 2)
                steps3: i64 = steppers(up, empty, 3)
                to0: i64 = count_bits(steps0)
                to1: i64 = to0 + count_bits(steps1)
                to2: i64 = to1 + count_bits(steps2)
                to3: i64 = to2 + count_bits(steps3)
                if to3 == 0:
                    return _LOST if seat == 0 else _WON
                drawn: i64 = int(rng.random() * float(to3))
                if drawn < to0:
                    start = pick_bit(steps0, drawn)
                    goal = start << 4
                elif drawn < to1:
                    start = pick_bit(steps1, drawn - to0)
                    goal = start << 5
                elif drawn < to2:
                    start = pick_bit(steps2, drawn - to1)
                    goal = start >> 4
                else:
                    start = pick_bit(steps3, drawn - to2)
                    goal = start >> 5
                quiet = kings & start != 0
            if quiet and not past:
                past = [own, enemy]
            king: bool = kings & start != 0
            own = (own ^ start) | goal
            if king:
                kings = (kings & ~start) | goal
            elif goal & FAR[seat] != 0:
                kings |= goal
            if quiet:
                past.append(int(own))
                drawish: bool = len(past) - 2 >= limit or stood_thrice(past)
                if drawish and can_act(1 - seat, enemy, own, kings):
                    return _DRAW
            elif past:
                past = []
            keep: i64 = own
            own = enemy
            enemy = keep
            seat = 1 - seat


def occurrences(past: tuple[int, ...]) -> int:
    """Return how often the last position of ``past`` has stood, itself counted."""
    last: int = past[len(past) - 1]
    before: int = past[len(past) - 2]
    count: int = 1
    at: int = len(past) - 3
    while at > 0:
        if past[at] == last and past[at - 1] == before:
            count += 1
        at -= 2
    return count


def stood_thrice(past: list[int]) -> bool:
    """Return whether the last position of ``past`` stands for the third time."""
    last: int = past[len(past) - 1]
    before: int = past[len(past) - 2]
    count: int = 1
    at: int = len(past) - 3
    while at > 0:
        if past[at] == last and past[at - 1] == before:
            count += 1
        at -= 2
    return count >= 3


def _past(seen: CheckersObservation, black: int, white: int) -> tuple[int, ...]:
    """Return a past of so many quiet plies in which the position has stood as often as was
    observed, and no other one: empty boards stand for those.
    """
    if not 0 <= seen.quiet <= seen.quiet_limit or not 1 <= seen.occurrences <= 3:
        raise InvalidObservation("checkers", "quiet or occurrences is out of range")
    if seen.quiet < 4 * (seen.occurrences - 1):
        raise InvalidObservation("checkers", "a position comes again after four quiet plies")
    if seen.quiet == 0:
        return ()
    past = [0] * (seen.quiet + 2)
    for time in range(seen.occurrences):
        at = len(past) - 1 - 4 * time
        past[at] = white if seen.to_move == 0 else black
        past[at - 1] = black if seen.to_move == 0 else white
    return tuple(past)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class CheckersObservation(Observation):
    """The board and the progress towards a draw.

    Earlier positions are in the events of the match, not here, because their number grows.
    """

    board: tuple[str, ...]
    """Eight rows of eight from Black's side (seat 0): "b" and "w" for men, "B" and "W" for kings,
    "." empty.  The first row has the squares 1 to 4 at its second, fourth, sixth and eighth
    character.  The next row has 5 to 8 at its first, third, fifth and seventh, and so on to 32."""
    winner: int | None
    """The seat that has won; None while play goes on and after a draw."""
    quiet: int
    """Plies since the last jump or step of a man."""
    quiet_limit: int
    """So many quiet plies make a draw."""
    occurrences: int
    """How often the position has stood since that ply, now included; the third time is a draw."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Checkers(Game[CheckersState, int, CheckersObservation]):
    """English draughts on 8 by 8 squares, from the start or any position.

    >>> game = Checkers(position="B:W15,32:B11")
    >>> state = game.initial_state()
    >>> game.legal_text(state, 0)
    ('11x18',)
    >>> game.describe(state.after(game.parse(state, "11x18")))
    'W:W32:B18 (White to move)'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="checkers",
        title="Checkers",
        summary="English draughts: jumps are forced; who cannot act has lost.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        complete_keys=False,
        min_return=-1.0,
        max_return=1.0,
        # Men can make 2 * (7 + 6 + 5) * 4 moves, kings 23 jumps; between these, before and
        # after there are at most 100 quiet plies.
        max_plies=16_967,
        parameters=(
            Parameter("position", "", "another start, in the FEN of PDN"),
            Parameter("quiet_moves", 40, "quiet moves of each seat that make a draw", 1, 50),
        ),
        seat_names=("Black", "White"),
        draw_offers=True,
    )
    observation_type: ClassVar[type[Observation]] = CheckersObservation
    action_pattern: ClassVar[str] = r"[0-9]{1,2}(-[0-9]{1,2}|(x[0-9]{1,2})+)"
    action_notation: str = "squares from 1 to 32, like 11-15 or 15x24"

    def check_parameters(self) -> None:
        """Read the start position; it must leave the mover something to do."""
        self.limit = 2 * self.int_parameter("quiet_moves")
        text = self.text_parameter("position")
        mover, black, white, kings = (
            read_position(text) if text else (0, MEN_START[0], MEN_START[1], 0)
        )
        self.start = CheckersState(mover, black, white, kings, (), -1, self.limit)

    def initial_state(self) -> CheckersState:
        """Twelve men each, Black to move; or the given position."""
        return self.start

    def restarted(self, state: CheckersState, seat: int) -> Game | None:
        """Return the game that begins in this position: no quiet ply counts."""
        fen = write_position(seat, state.black, state.white, state.kings)
        try:
            return Checkers(position=fen, quiet_moves=self.limit // 2)
        except InvalidPosition:
            return None

    def format(self, state: CheckersState, action: int) -> str:
        """PDN: ``11-15``, ``15x24``, or all squares where that is needed."""
        return write_action(action, state.actions() if action >= 256 else ())

    def likely(self, state: CheckersState, text: str, actions: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of the piece on the square with which ``text`` begins."""
        digits = text[:2] if text[1:2].isdigit() else text[:1]
        bit = SQUARE_BIT[int(digits)] if digits in _SQUARES else 0
        return tuple([action for action in actions if start_bit(action) == bit])

    def parse(self, state: CheckersState, text: str) -> int:
        """Return the legal action that is meant; all squares of a series may always be written."""
        try:
            return super().parse(state, text)
        except GameError:
            wanted = text.strip().casefold()
            if not re.fullmatch(self.action_pattern, wanted):
                raise
            meant = read_action(wanted, state.actions())
            if len(meant) == 1:
                return meant[0]
            if not meant:
                raise
            candidates = [self.format(state, action) for action in meant]
            raise AmbiguousAction(text, self.describe(state), candidates) from None

    def observe(self, state: CheckersState, seat: int | None) -> CheckersObservation:
        """Return the board and the progress towards a draw."""
        return CheckersObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=board_rows(state.black, state.white, state.kings),
            winner=None if state.winner < 0 else state.winner,
            quiet=max(0, len(state.past) - 2),
            quiet_limit=state.limit,
            occurrences=occurrences(state.past) if state.past else 1,
        )

    def sample_state(self, observation: CheckersObservation, rng: random.Random) -> CheckersState:
        """Return the observed position, with the number of times it has occurred.

        Earlier positions are unknown.  A search from here therefore counts repetitions of the
        present position, but not of positions before it.
        """
        return self._seen(observation)

    def _seen(self, seen: CheckersObservation) -> CheckersState:
        black, white, kings = read_board(seen.board)
        winner = -1 if seen.winner is None else seen.winner
        past = _past(seen, black, white)
        return CheckersState(seen.to_move, black, white, kings, past, winner, seen.quiet_limit)

    def scene(self, observation: CheckersObservation) -> Scene:
        """Return the board, each action by its squares, and the quiet plies once there are some."""
        grid = board_grid(
            observation.board,
            {"b": 0, "B": 0, "w": 1, "W": 1},
            {"b": "black man", "B": "black king", "w": "white man", "W": "white king"},
            names=_LABELS,
            faces={"B": "\u265b", "W": "\u265b"},
            look="checkered",
            theme="wood",
            shapes={"B": "crowned", "W": "crowned"},
            bottom=1,
        )
        status = result_status(self, observation.winner, observation.to_move)
        counter = Counter("Moves of each seat without progress", observation.quiet // 2)
        elements: list[Element] = [grid, counter] if observation.quiet else [grid]
        routes: dict[str, tuple[str, ...]] = {}
        if observation.legal:
            # They are in the order of actions; a jump's text may leave out squares.
            actions = self._seen(observation).actions()
            for text, action in zip(observation.legal, actions, strict=True):
                routes[text] = tuple([str(square) for square in route_squares(action)])
        return board_scene(
            elements, observation.legal, status, observation.to_move, routes.__getitem__
        )

    def describe(self, state: CheckersState) -> str:
        """Return the FEN of the position, and how it stands."""
        after_the_end = 1 if state.winner == 0 else 0
        mover = state.to_move if state.to_move >= 0 else after_the_end
        fen = write_position(mover, state.black, state.white, state.kings)
        winner = None if state.winner < 0 else state.winner
        quiet = f", {len(state.past) - 2} quiet plies" if state.past else ""
        return f"{fen} ({result_status(self, winner, state.to_move)}{quiet})"


_LABELS: Final[tuple[str, ...]] = tuple(
    [
        str(4 * row + column // 2 + 1) if (row + column) % 2 else ""
        for row in range(8)
        for column in range(8)
    ]
)
"""Names of the 64 squares: the number of a dark one, "" for a light one."""
