"""EinStein wuerfelt nicht (Einstein does not play dice): six stones, a die, two corners.

On a board of 5 by 5 each seat has the stones 1 to 6 in the triangle of its corner.  The first
player begins in the upper left (a5), the second in the lower right (e1).  In turn, each seat rolls
the die and moves its stone of that number.  If that stone is gone, the seat moves the next higher
or the next lower one that is left.  A stone moves one step towards the other corner, along a row, a
column or the diagonal, and captures any stone there, even one of its own side.  Reaching the other
corner wins, and so does capturing all stones of the other seat.

Moves are written from and to, ``a5b4``; the die, a chance node, as its number.  With
``placement=standard`` the stones begin as 1 2 3 / 4 5 / 6 from the corner, alike for both seats.
With ``placement=free`` the seats first choose their places.  The first player places its stones in
the order of their numbers, in the open, then the second player.  A placement is the cell, ``b4``.

I. Althoefer's game, 2004.
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
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Cell, Dice, Element, Grid, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["Einstein", "EinsteinObservation", "EinsteinState"]

SIZE: Final = 5
GONE: Final = 25
"""Cell of a stone that was captured or is not yet placed."""

CELLS: Final[tuple[str, ...]] = tuple(
    ["abcde"[cell % SIZE] + str(SIZE - cell // SIZE) for cell in range(SIZE * SIZE)]
)
"""Names of the cells, from the upper left along the rows."""

_CORNER: Final[tuple[int, ...]] = (0, 1, 2, 5, 6, 10)
"""The triangle of seat 0; that of seat 1 is opposite (24 - cell)."""

HOMES: Final[tuple[tuple[int, ...], ...]] = (
    _CORNER,
    tuple([24 - cell for cell in _CORNER]),
)

START: Final[tuple[int, ...]] = HOMES[0] + HOMES[1]

GOALS: Final[tuple[int, ...]] = (24, 0)


def _moves(step: int) -> tuple[tuple[int, ...], ...]:
    """Moves from each cell along rows, columns and diagonals; step 1 or -1."""
    found: list[tuple[int, ...]] = []
    for cell in range(SIZE * SIZE):
        row, column = cell // SIZE, cell % SIZE
        found.append(
            tuple(
                [
                    32 * cell + (row + down * step) * SIZE + column + right * step
                    for down, right in ((0, 1), (1, 0), (1, 1))
                    if 0 <= row + down * step < SIZE and 0 <= column + right * step < SIZE
                ]
            )
        )
    return tuple(found)


MOVES: Final[tuple[tuple[int, ...], ...]] = _moves(1) + _moves(-1)
"""Moves of a stone of seat 0 on ``cell``, of seat 1 on the place ``25 + cell``."""

DIE: Final[tuple[tuple[Any, float], ...]] = tuple([(face, 1.0 / 6.0) for face in range(1, 7)])

# The chance that a roll allows a stone, by how many numbers lead to it.
_SHARE: Final[tuple[float, ...]] = tuple([count / 6.0 for count in range(7)])

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)


@final
@mypyc_attr(free_list_len=1)
class EinsteinState(BoardState):
    """Cells of all stones, 1 to 6 of seat 0 and then of seat 1; a move is from * 32 + to.

    ``placed`` counts stones on the board at the start (12 when play has begun).  ``turn`` is the
    seat that rolls or acts, and the winner after the end.  ``rolled`` is the die, 0 before it is
    rolled.
    """

    __slots__ = ("placed", "rolled", "stones", "turn")

    stones: tuple[int, ...]
    turn: int
    rolled: int
    placed: int

    def __init__(
        self,
        to_move: int = CHANCE,
        stones: tuple[int, ...] = START,
        turn: int = 0,
        rolled: int = 0,
        placed: int = 12,
    ) -> None:
        self.to_move = to_move
        self.stones = stones
        self.turn = turn
        self.rolled = rolled
        self.placed = placed

    def __reduce__(self) -> tuple[Any, ...]:
        return EinsteinState, (self.to_move, self.stones, self.turn, self.rolled, self.placed)

    def actions(self) -> tuple[Any, ...]:
        """Moves of the stone rolled or its neighbours; or free cells of the own corner."""
        seat: int = self.to_move
        if seat < 0:
            return ()
        if self.placed < 12:
            stones = self.stones
            return tuple([cell for cell in HOMES[seat] if cell not in stones])
        return tuple(moves_of(list(self.stones), seat, self.rolled))

    def after(self, action: Any) -> EinsteinState:
        """Return the state after a placement, a roll or a move."""
        choice: int = action
        seat: int = self.turn
        if self.to_move == CHANCE:
            return EinsteinState(seat, self.stones, seat, choice, 12)
        stones: list[int] = list(self.stones)
        if self.placed < 12:
            stones[self.placed] = choice
            placed: int = self.placed + 1
            if placed == 12:
                return EinsteinState(CHANCE, tuple(stones), 0, 0, 12)
            seat = 0 if placed < 6 else 1
            return EinsteinState(seat, tuple(stones), seat, 0, placed)
        if move_stone(stones, seat, choice):
            return EinsteinState(TERMINAL, tuple(stones), seat, 0, 12)
        return EinsteinState(CHANCE, tuple(stones), 1 - seat, 0, 12)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the die."""
        if self.to_move == CHANCE:
            return DIE
        return ()

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser."""
        return _WON if self.turn == 0 else _LOST

    def key(self) -> tuple[int, int, int, tuple[int, ...]]:
        """Return the whole position."""
        return (self.to_move, self.turn, self.rolled, self.stones)

    def heuristic(self) -> tuple[float, ...]:
        """Return how soon the best stone of each seat can arrive, given how often it may move."""
        if self.to_move == TERMINAL:
            return self.returns()
        if self.placed < 12:
            return (0.0, 0.0)
        first: float = _speed(self.stones, 0)
        second: float = _speed(self.stones, 1)
        if self.turn == 0:
            first += 0.25
        else:
            second += 0.25
        lead: float = first - second
        value: float = lead / (0.5 + abs(lead))
        return (value, -value)

    def noisy_actions(self) -> tuple[Any, ...]:
        """Moves that capture a stone of the other seat or reach the corner."""
        seat: int = self.to_move
        if seat < 0 or self.placed < 12:
            return ()
        stones = self.stones
        goal: int = GOALS[seat]
        found: list[int] = []
        for action in moves_of(list(stones), seat, self.rolled):
            to: int = action % 32
            if to == goal or to in stones[6 - 6 * seat : 12 - 6 * seat]:
                found.append(action)
        return tuple(found)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random placements, rolls and moves."""
        seat: int = self.turn
        if self.to_move == TERMINAL:
            return self.returns()
        stones: list[int] = list(self.stones)
        for place in range(self.placed, 12):
            while True:
                cell: int = HOMES[place // 6][int(rng.random() * 6)]
                if cell not in stones:
                    break
            stones[place] = cell
            seat = 0
        rolled: int = self.rolled
        while True:
            if rolled == 0:
                rolled = int(rng.random() * 6) + 1
            # As `moves_of`, without a list: the stone rolled, or those next to its number.
            base: int = 25 * seat
            start: int = 6 * seat
            low: int = start + rolled - 1
            high: int = low
            rolled = 0
            while low >= start and stones[low] == GONE:
                low -= 1
            options: tuple[int, ...] = ()
            if low >= start:
                options = MOVES[base + stones[low]]
            others: tuple[int, ...] = ()
            if low != high:
                while high < start + 6 and stones[high] == GONE:
                    high += 1
                if high < start + 6:
                    others = MOVES[base + stones[high]]
            count: int = len(options)
            pick: int = int(rng.random() * (count + len(others)))
            move: int = options[pick] if pick < count else others[pick - count]
            if move_stone(stones, seat, move):
                return _WON if seat == 0 else _LOST
            seat = 1 - seat


def moves_of(stones: list[int], seat: int, rolled: int) -> list[int]:
    """Return the moves of a seat after a roll: of the next lower stone first."""
    start: int = 6 * seat
    base: int = 25 * seat
    found: list[int] = []
    here: int = start + rolled - 1
    cell: int = stones[here]
    if cell != GONE:
        found.extend(MOVES[base + cell])
        return found
    other: int = here - 1
    while other >= start and stones[other] == GONE:
        other -= 1
    if other >= start:
        cell = stones[other]
        found.extend(MOVES[base + cell])
    other = here + 1
    end: int = start + 6
    while other < end and stones[other] == GONE:
        other += 1
    if other < end:
        cell = stones[other]
        found.extend(MOVES[base + cell])
    return found


def move_stone(stones: list[int], seat: int, action: int) -> bool:
    """Play a move in place; whether it wins."""
    cell: int = action // 32
    to: int = action % 32
    mover: int = -1
    theirs: int = 0
    start: int = 6 * seat
    for index in range(12):
        there: int = stones[index]
        if there == cell:
            mover = index
        elif there == to:
            stones[index] = GONE
        elif there != GONE and (index < start or index >= start + 6):
            theirs += 1
    stones[mover] = to
    return to == GOALS[seat] or theirs == 0


def _speed(stones: tuple[int, ...], seat: int) -> float:
    """Return the best stone's chance to be allowed to move, per step it still needs."""
    best: float = 0.0
    goal: int = GOALS[seat]
    start: int = 6 * seat
    for index in range(6):
        cell: int = stones[start + index]
        if cell == GONE:
            continue
        numbers: int = 1
        other: int = index - 1
        while other >= 0 and stones[start + other] == GONE:
            numbers += 1
            other -= 1
        other = index + 1
        while other < 6 and stones[start + other] == GONE:
            numbers += 1
            other += 1
        steps: int = max(abs(goal // SIZE - cell // SIZE), abs(goal % SIZE - cell % SIZE))
        speed: float = (0.3 + _SHARE[numbers]) / float(max(1, steps))
        best = max(best, speed)
    return best


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class EinsteinObservation(Observation):
    """Everything: the game has perfect information."""

    stones: tuple[tuple[str | None, ...], tuple[str | None, ...]]
    """By seat the cells of its stones 1 to 6, column a to e and row 1 to 5 as in actions; None if
    captured or not yet placed."""
    turn: int
    """Seat that places, rolls or moves; after the end the winner."""
    rolled: int
    """The number rolled, 0 before the roll."""
    placed: int
    """How many stones have been placed, 12 once play has begun."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Einstein(Game[EinsteinState, int, EinsteinObservation]):
    """EinStein wuerfelt nicht.

    >>> game = Einstein()
    >>> state = game.initial_state()
    >>> state = state.after(game.parse_chance(state, "6"))
    >>> game.legal_text(state, 0)
    ('a3b3', 'a3a2', 'a3b2')
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="einstein",
        title="EinStein würfelt nicht",
        summary="The die says which of six stones may step towards the other corner.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        # Every move takes a stone one or two steps nearer, of at most eight.
        max_plies=12 + 2 * 12 * 8,
        parameters=(
            Parameter(
                "placement",
                "standard",
                "how the stones begin: as usual, or as the seats choose",
                choices=("standard", "free"),
            ),
        ),
        seat_names=("upper left", "lower right"),
    )
    observation_type: ClassVar[type[Observation]] = EinsteinObservation
    action_pattern: ClassVar[str] = "[a-e][1-5]([a-e][1-5])?"
    action_notation: str = "a move like a5b4, or a cell like b4 to place a stone"

    def initial_state(self) -> EinsteinState:
        """Ready to roll, or an empty board on which seat 0 places its stone 1."""
        if self.text_parameter("placement") == "free":
            return EinsteinState(0, (GONE,) * 12, 0, 0, 0)
        return EinsteinState()

    def format(self, state: EinsteinState, action: int) -> str:
        """``a5b4``, or ``b4`` for a placement."""
        if state.placed < 12:
            return CELLS[action]
        return CELLS[action // 32] + CELLS[action % 32]

    def display(self, state: EinsteinState, action: int) -> str:
        """Return the cells, and the die by its face."""
        return die_faces(action) if state.to_move == CHANCE else self.format(state, action)

    def observe(self, state: EinsteinState, seat: int | None) -> EinsteinObservation:
        """Return the stones, the turn and the die."""
        cells = [None if cell == GONE else CELLS[cell] for cell in state.stones]
        return EinsteinObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            stones=(tuple(cells[:6]), tuple(cells[6:])),
            turn=state.turn,
            rolled=state.rolled,
            placed=state.placed,
        )

    def sample_state(self, observation: EinsteinObservation, rng: random.Random) -> EinsteinState:
        """Return the position that was observed."""
        stones = tuple(
            [
                GONE if cell is None else CELLS.index(cell)
                for side in observation.stones
                for cell in side
            ]
        )
        return EinsteinState(
            observation.to_move, stones, observation.turn, observation.rolled, observation.placed
        )

    def scene(self, observation: EinsteinObservation) -> Scene:
        """Return the board, on which stones are placed; the die; a button per move."""
        there: dict[str, tuple[int, int]] = {}
        for seat, side in enumerate(observation.stones):
            for index, name in enumerate(side):
                if name is not None:
                    there[name] = (seat, index + 1)
        places = {action for action in observation.legal if len(action) == 2}
        rows: list[tuple[Cell, ...]] = []
        for row in range(SIZE):
            cells: list[Cell] = []
            for name in CELLS[SIZE * row : SIZE * row + SIZE]:
                stone = there.get(name)
                label = f"{name}, empty"
                if stone is not None:
                    label = f"{name}, stone {stone[1]} of {self.seat_name(stone[0])}"
                cells.append(
                    Cell(
                        text="" if stone is None else f"{'xo'[stone[0]]}{stone[1]}",
                        owner=None if stone is None else stone[0],
                        action=name if name in places else None,
                        label=label,
                        shape="" if stone is None else "disc",
                        name=name,
                        face="" if stone is None else str(stone[1]),
                    )
                )
            rows.append(tuple(cells))
        numbers = ("5", "4", "3", "2", "1")
        grid = Grid(tuple(rows), numbers, tuple("abcde"), "Board", theme="wood", bottom=1)
        elements: list[Element] = [
            grid,
            Dice("Die", (observation.rolled,) if observation.rolled else (), observation.turn),
        ]
        if places:
            elements.append(Text(f"Place stone {observation.placed % 6 + 1}."))
        elements += [
            Button(
                f"Stone {there[action[:2]][1]} to {action[2:]}", action, (action[:2], action[2:])
            )
            for action in observation.legal
            if len(action) == 4
        ]
        name = self.seat_name(observation.turn)
        if observation.to_move == TERMINAL:
            status = f"{name} wins"
        elif observation.to_move == CHANCE:
            status = f"{name} rolls the die"
        else:
            status = f"{name} to place a stone" if places else f"{name} to move"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: EinsteinState) -> str:
        """Return the board from the top, and one line with the turn and the die."""
        board = ["."] * (SIZE * SIZE)
        for index, cell in enumerate(state.stones):
            if cell != GONE:
                # Stones of seat 1 as letters, so that a stone is one character.
                board[cell] = "123456abcdef"[index]
        rows = ["".join(board[SIZE * row : SIZE * row + SIZE]) for row in range(SIZE)]
        doing = {CHANCE: "rolls", TERMINAL: "has won"}.get(state.to_move, "to act")
        rows.append(f"{self.seat_name(state.turn)} {doing}, die {state.rolled or '-'}")
        return "\n".join(rows)
