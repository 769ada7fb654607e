"""Chomp: a square like ``c2`` is eaten with all above and right of it; a1 is poisoned."""

import random
from dataclasses import dataclass
from typing import Any, ClassVar

from plyhouse import games
from plyhouse.games.scene import Cell, Grid, Scene


class ChompState:
    def __init__(self, to_move: int, rows: tuple[int, ...], winner: int = -1) -> None:
        self.to_move = to_move
        self.rows = rows  # squares left in each row, from the bottom
        self.winner = winner

    def __reduce__(self) -> tuple[Any, ...]:
        return ChompState, (self.to_move, self.rows, self.winner)

    def actions(self) -> tuple[tuple[int, int], ...]:
        rows = self.rows if self.to_move >= 0 else ()
        return tuple([(x, y) for y, left in enumerate(rows) for x in range(left)])

    def after(self, action: tuple[int, int]) -> "ChompState":
        x, y = action
        rows = tuple([min(left, x) if row >= y else left for row, left in enumerate(self.rows)])
        other = 1 - self.to_move
        return ChompState(other, rows) if rows[0] else ChompState(games.TERMINAL, rows, other)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        return (1.0, -1.0) if self.winner == 0 else (-1.0, 1.0)


@dataclass(frozen=True)
class ChompObservation(games.Observation):
    rows: tuple[int, ...]
    winner: int


class Chomp(games.Game):
    info: ClassVar[games.GameInfo] = games.GameInfo(
        "chomp", "Chomp", "Eat chocolate, but not the last square.", 2, 2,
        games.ChanceKind.DETERMINISTIC, games.Information.PERFECT, games.Utility.ZERO_SUM,
        min_return=-1, max_return=1, max_plies=81,
        parameters=(games.Parameter("size", 4, "squares per side", 2, 9),),
    )  # fmt: skip
    observation_type: ClassVar[type[games.Observation]] = ChompObservation

    def initial_state(self) -> ChompState:
        return ChompState(0, (self.int_parameter("size"),) * self.int_parameter("size"))

    def format(self, state: Any, action: tuple[int, int]) -> str:
        return f"{'abcdefghi'[action[0]]}{action[1] + 1}"

    def observe(self, state: Any, seat: int | None) -> ChompObservation:
        legal = self.legal_text(state, seat)
        return ChompObservation(seat, state.to_move, legal, state.rows, state.winner)

    def sample_state(self, observation: Any, rng: random.Random) -> ChompState:
        return ChompState(observation.to_move, observation.rows, observation.winner)

    def scene(self, observation: Any) -> Scene:
        size, mover = len(observation.rows), observation.to_move
        bar: list[tuple[Cell, ...]] = []
        for y, left in enumerate(observation.rows):
            marks = ["#" if x < left else " " for x in range(size)]
            names = [self.format(None, (x, y)) for x in range(size)]
            legal = [name if name in observation.legal else None for name in names]
            bar.insert(0, tuple([Cell(marks[x], action=legal[x]) for x in range(size)]))
        seat = self.seat_name(mover if mover >= 0 else observation.winner)
        status = f"{seat} to move" if mover >= 0 else f"{seat} wins"
        return Scene((Grid(tuple(bar)),), status, mover if mover >= 0 else None)

    def describe(self, state: Any) -> str:
        return f"rows {state.rows} from the bottom, to_move {state.to_move}"
