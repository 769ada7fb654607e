"""Connect four as somebody might write it who has read docs/own-game.md: ordinary Python, no
base class for the state, nothing but what a game must have.  benchmarks/search.py plays it.
"""

import random
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from plyhouse import games
from plyhouse.games.scene import Cell, Grid, Scene

COLUMNS: Final = 7
ROWS: Final = 6
HEIGHT: Final = ROWS + 1
BOTTOMS: Final = tuple([1 << column * HEIGHT for column in range(COLUMNS)])
TOPS: Final = tuple([1 << column * HEIGHT + ROWS - 1 for column in range(COLUMNS)])
FULL: Final = (1 << COLUMNS * HEIGHT) - 1 - sum(TOPS) * 2


def wins(discs: int) -> bool:
    for step in (1, HEIGHT - 1, HEIGHT, HEIGHT + 1):
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class PlainState:
    def __init__(self, to_move: int, mine: int, taken: int, winner: int = -1) -> None:
        self.to_move = to_move
        self.mine = mine  # discs of the seat that moves
        self.taken = taken
        self.winner = winner

    def __reduce__(self) -> tuple[Any, ...]:
        return PlainState, (self.to_move, self.mine, self.taken, self.winner)

    def actions(self) -> tuple[int, ...]:
        if self.to_move < 0:
            return ()
        return tuple([column + 1 for column in range(COLUMNS) if not self.taken & TOPS[column]])

    def after(self, action: int) -> "PlainState":
        filled = self.taken | self.taken + BOTTOMS[action - 1]
        theirs = self.taken ^ self.mine
        if wins(filled ^ theirs):
            return PlainState(games.TERMINAL, theirs, filled, self.to_move)
        return PlainState(games.TERMINAL if filled == FULL else 1 - self.to_move, theirs, filled)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        if self.winner < 0:
            return (0.0, 0.0)
        return (1.0, -1.0) if self.winner == 0 else (-1.0, 1.0)


@dataclass(frozen=True)
class PlainObservation(games.Observation):
    rows: tuple[str, ...]
    winner: int


class PlainConnectFour(games.Game):
    info: ClassVar[games.GameInfo] = games.GameInfo(
        "plain_connect_four", "Plain connect four", "Four in a line win.", 2, 2,
        games.ChanceKind.DETERMINISTIC, games.Information.PERFECT, games.Utility.ZERO_SUM,
        min_return=-1, max_return=1, max_plies=42,
    )  # fmt: skip
    observation_type: ClassVar[type[games.Observation]] = PlainObservation

    def initial_state(self) -> PlainState:
        return PlainState(0, 0, 0)

    def format(self, state: Any, action: int) -> str:
        return str(action)

    def observe(self, state: Any, seat: int | None) -> PlainObservation:
        odd = bin(state.taken).count("1") % 2
        sets = {"x": state.taken ^ state.mine if odd else state.mine, ".": ~state.taken}
        rows = []
        for row in range(ROWS):
            bits = [BOTTOMS[column] << row for column in range(COLUMNS)]
            rows.append(
                "".join(["x" if sets["x"] & b else "." if sets["."] & b else "o" for b in bits])
            )
        legal = self.legal_text(state, seat)
        return PlainObservation(seat, state.to_move, legal, tuple(rows), state.winner)

    def sample_state(self, observation: Any, rng: random.Random) -> PlainState:
        sets = {"x": 0, "o": 0, ".": 0}
        for row, text in enumerate(observation.rows):
            for column, mark in enumerate(text):
                sets[mark] |= BOTTOMS[column] << row
        taken = sets["x"] | sets["o"]
        mine = sets["xo"[bin(taken).count("1") % 2]]
        return PlainState(observation.to_move, mine, taken, observation.winner)

    def scene(self, observation: Any) -> Scene:
        mover = observation.to_move if observation.to_move >= 0 else None
        names = [str(column + 1) for column in range(COLUMNS)]
        legal = [name if name in observation.legal else None for name in names]
        rows = [
            tuple([Cell(mark, action=name) for mark, name in zip(row, legal, strict=True)])
            for row in reversed(observation.rows)
        ]
        status = "over" if mover is None else f"seat {mover} to move"
        return Scene((Grid(tuple(rows)),), status, mover)

    def describe(self, state: Any) -> str:
        return "\n".join(reversed(self.observe(state, None).rows))
