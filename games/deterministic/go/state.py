"""Positions of Go: what may be played, what superko forbids, and what a play does."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import TERMINAL
from plyhouse.games.deterministic.go.board import (
    EMPTY,
    area_lead,
    captured_by,
    empty_board,
    has_other_liberty,
    nearness,
    place_of,
    steps_of,
)
from plyhouse.games.deterministic.go.playouts import Playout
from plyhouse.games.deterministic.go.priors import action_priors
from plyhouse.games.deterministic.go.scratch import Scratch
from plyhouse.games.native import BoardState

if TYPE_CHECKING:
    import random

__all__ = ["COLUMNS", "PASS", "GoState", "Rules", "rules_of"]

PASS: Final = "pass"  # noqa: S105 - of the rules, not a secret
COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"

_BLACK_WINS: Final[tuple[float, ...]] = (1.0, -1.0)
_WHITE_WINS: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


@final
class Rules:
    """Tables shared by all positions of one size and komi; made by `rules_of` only."""

    def __init__(self, size: int = 9, komi: float = 7.5) -> None:
        self.size: int = size
        self.komi: float = komi
        self.board: bytes = empty_board(size)
        self.steps: bytes = steps_of(size)
        self.points: tuple[Any, ...] = tuple(range(size * size + 1))
        """All actions as objects, made once to save time."""
        names = [f"{COLUMNS[point % size]}{point // size + 1}" for point in range(size * size)]
        self.names: tuple[str, ...] = (*names, PASS)
        """All actions as text."""
        self.numbers: dict[str, int] = {name: n for n, name in enumerate(self.names)}
        """The opposite."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.size, self.komi)


@functools.cache
def rules_of(size: int, komi: float) -> Rules:
    """Return the one `Rules` of a size and komi."""
    return Rules(size, komi)


_STANDARD: Final = rules_of(9, 7.5)


@final
@mypyc_attr(free_list_len=1)
class GoState(BoardState):
    """A board and the chain of states before it, which superko looks at.

    Actions count the points from A1 along the rows; the last one is to pass.
    """

    __slots__ = (
        "black_lost",
        "board",
        "earlier",
        "last",
        "passes",
        "plies",
        "rules",
        "stones",
        "taken",
        "white_lost",
    )

    rules: Rules
    board: bytes
    """See `plyhouse.games.deterministic.go.board`."""
    earlier: GoState | None
    """The state before; None at the start.  A sampled state has here some state with a board that
    superko forbids to repeat.
    """
    last: i64
    """The action that led here; -1 at the start."""
    plies: i64
    passes: i64
    """How many passes in a row have just been made."""
    stones: i64
    """How many stones are on the board."""
    taken: bool
    """True if any stone was ever taken: before that, nothing can repeat."""
    black_lost: i64
    """How many stones of black were taken."""
    white_lost: i64

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
        black_lost: i64 = 0,
        white_lost: i64 = 0,
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
        self.black_lost = black_lost
        self.white_lost = white_lost

    def __reduce__(self) -> tuple[Any, ...]:
        # The chain as a flat list: followed by pickle itself, it would exhaust the stack.
        chain: list[tuple[Any, ...]] = []
        state: GoState | None = self
        while state is not None:
            chain.append(state._fields())
            state = state.earlier
        chain.reverse()
        return _linked, (self.rules, tuple(chain))

    def _fields(self) -> tuple[Any, ...]:
        """Return all but the rules and the state before."""
        return (
            self.to_move,
            self.board,
            int(self.last),
            int(self.plies),
            int(self.passes),
            int(self.stones),
            self.taken,
            int(self.black_lost),
            int(self.white_lost),
        )

    def forbidden(self) -> tuple[Any, ...]:
        """Points on which the mover could play but for superko."""
        if self.to_move < 0 or not self.taken:
            return ()
        _, banned = self._plays()
        return tuple(banned)

    def without_history(self, forbidden: tuple[Any, ...]) -> GoState:
        """Return the state without its past, except that superko forbids these points."""
        earlier: GoState | None = None
        for action in forbidden:
            number: i64 = action
            at: i64 = place_of(number, self.rules.size)
            taken = captured_by(self.board, self.rules.steps, at, self.to_move + 1)
            stones: i64 = self.stones + 1 - len(taken)
            board = self._result(at, taken)
            earlier = GoState(0, self.rules, board, earlier, -1, 0, 0, stones, False)
        return GoState(
            self.to_move,
            self.rules,
            self.board,
            earlier,
            self.last,
            self.plies,
            self.passes,
            self.stones,
            earlier is not None,
            self.black_lost,
            self.white_lost,
        )

    def _result(self, at: i64, taken: list[int]) -> bytes:
        """Return the board after a stone of the mover ``at`` a place that takes some stones."""
        board = bytearray(self.board)
        board[at] = self.to_move + 1
        for place in taken:
            board[place] = EMPTY
        return bytes(board)

    def _repeats(self, board: bytes, stones: i64) -> bool:
        """Return whether the whole board was so before."""
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
        """Return the state after a play or a pass."""
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
                to_move,
                rules,
                self.board,
                self,
                number,
                plies,
                passes,
                self.stones,
                self.taken,
                self.black_lost,
                self.white_lost,
            )
        at: i64 = place_of(number, size)
        taken = captured_by(self.board, rules.steps, at, self.to_move + 1)
        board = self._result(at, taken)
        count: i64 = len(taken)
        stones: i64 = self.stones + 1 - count
        black_lost: i64 = self.black_lost
        white_lost: i64 = self.white_lost
        if self.to_move == 0:
            white_lost += count
        else:
            black_lost += count
        ko = self.taken or count > 0
        return GoState(
            to_move, rules, board, self, number, plies, 0, stones, ko, black_lost, white_lost
        )

    def lead(self) -> float:
        """Black's area less white's and the komi, as the board stands."""
        return float(area_lead(self.board, self.rules.steps)) - self.rules.komi

    def returns(self) -> tuple[float, ...]:
        """+1 for the side with more points, -1 for the other, 0 when equal."""
        return _decide(self.lead())

    def key(self) -> tuple[Any, ...]:
        """Board, side to move, passes, and the plays that superko forbids now.

        The key leaves out plays that superko forbids later, as they depend on the whole history.
        """
        if self.to_move < 0:
            return (self.board, self.to_move, 0, ())
        return (self.board, self.to_move, int(self.passes), self.forbidden())

    def heuristic(self) -> tuple[float, ...]:
        """Return the lead in points, where an empty point is the nearer colour's."""
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
        """Return the same actions: those that take stones first, to pass last."""
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
        """Returns after fast play to the end, see `Playout`; takes one number from ``rng``."""
        if self.to_move < 0:
            return self.returns()
        return self._played(rng)[0]

    def action_count(self) -> int:
        """Return how many actions there are: points and to pass."""
        return self.rules.size * self.rules.size + 1

    def noted_playout(self, rng: random.Random, first: list[int]) -> tuple[float, ...]:
        """Return the same as `playout`, and note who played where first.

        ``first`` has a 0 for each action; those that are played become the seat + 1.
        """
        if self.to_move < 0:
            return self.returns()
        size: i64 = self.rules.size
        result, played = self._played(rng)
        stones = played.first
        action: i64 = 0
        row: i64 = 0
        at: i64 = size + 2
        while action < size * size:
            first[action] = stones[at]
            action += 1
            row += 1
            at += 1
            if row == size:
                row = 0
                at += 1
        return result

    def _played(self, rng: random.Random) -> tuple[tuple[float, ...], Playout]:
        size: i64 = self.rules.size
        random_number: float = rng.random()
        seed: i64 = int(random_number * 4294967296.0)
        scratch = self._scratch()
        played = Playout(scratch, seed)
        left: i64 = 4 * size * size - self.plies
        played.play(self.to_move + 1, self._last_stone(), self.passes, left)
        return _decide(float(scratch.lead()) - self.rules.komi), played

    def _last_stone(self) -> i64:
        """Return where the last action put a stone, or 0."""
        size: i64 = self.rules.size
        if self.last < 0 or self.last == size * size:
            return 0
        at: i64 = place_of(self.last, size)
        return 0 if self.board[at] == EMPTY else at

    def _scratch(self) -> Scratch:
        """Return the board to play on, with a simple ko."""
        scratch = Scratch(self.board, self.rules.steps)
        earlier = self.earlier
        if earlier is not None and earlier.stones == self.stones:
            last: i64 = self._last_stone()
            if last != 0 and scratch.following[last] == last and scratch.liberties[last] == 1:
                place: i64 = scratch.only_liberty(last)
                if earlier.board[place] == self.to_move + 1:
                    scratch.ko = place
        return scratch

    def priors(self, actions: tuple[Any, ...]) -> tuple[list[float], list[float]]:
        """Return for each action virtual visits and their mean return, see `action_priors`."""
        visits, means = action_priors(
            self._scratch(), actions, self.rules.size, self.to_move + 1, self._last_stone()
        )
        if self.passes == 1 and len(actions) > 0:
            # To pass, the last action, ends the match with the board as it is.
            means[len(means) - 1] = self.returns()[self.to_move]
        return visits, means


def _decide(lead: float) -> tuple[float, ...]:
    """Returns for black's lead in points."""
    if lead > 0.0:
        return _BLACK_WINS
    return _WHITE_WINS if lead < 0.0 else _DRAW


def _linked(rules: Rules, chain: tuple[tuple[Any, ...], ...]) -> GoState:
    """Return the last state of a chain that `GoState.__reduce__` took apart."""
    state: GoState | None = None
    for to_move, board, *others in chain:
        state = GoState(to_move, rules, board, state, *others)
    assert state is not None  # noqa: S101 - a chain has at least one link
    return state
