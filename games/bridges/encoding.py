"""Observations as vectors of numbers, for libraries that learn from arrays.

The fields of an observation follow each other, each in a fixed part of the vector.  A number is
itself, a text the codes of its characters, and a tuple its elements; where tuples of a field differ
in length, that length comes first.  Parts of what is missing are 0, and None is -1.

The sizes of the parts are those seen in some random plays, and twice as much where they differ.
The encoding cuts off longer values.  `Observation.fields` has everything.

>>> from plyhouse.games import get_game
>>> game = get_game("nim")
>>> encoding = Encoding(game)
>>> [int(number) for number in encoding.encode(game.observe(game.initial_state(), 0))]
[0, 0, 3, 4, 5, 1, 0]
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL, Game, Observation

__all__ = ["LARGEST", "Encoding"]

LARGEST: Final = float(2**24)
"""Numbers beyond it, to which a float32 is exact, are cut off there."""

_PLAYS: Final = 20
_POSITIONS: Final = 400
"""Random plays, and positions in all of them, that show the sizes."""


class _Part:
    """The part of a vector for one value, as far as seen."""

    def __init__(self) -> None:
        self.number = False
        self.texts: set[int] = set()
        self.tuples: set[int] = set()
        self.items: _Part | None = None
        self.width = 0
        self.capacity = 0

    def see(self, value: Any) -> None:
        """Take one more value into account."""
        if isinstance(value, tuple):
            self.tuples.add(len(value))
            for item in value:
                self.items = self.items or _Part()
                self.items.see(item)
        elif isinstance(value, str):
            self.texts.add(len(value))
        else:
            self.number = True

    def settle(self) -> int:
        """Determine and return the width."""
        self.capacity = _room(self.tuples)
        inside = self.items.settle() if self.items is not None else 0
        length = len(self.tuples) > 1
        self.width = max(int(self.number), _room(self.texts), length + self.capacity * inside)
        return self.width

    def write(self, value: Any, vector: NDArray[np.float32], at: int) -> None:
        """Write a value to its place."""
        if isinstance(value, tuple):
            if len(self.tuples) > 1:
                vector[at] = len(value)
                at += 1
            if self.items is not None:
                for index, item in enumerate(value[: self.capacity]):
                    self.items.write(item, vector, at + index * self.items.width)
        elif isinstance(value, str):
            for index, letter in enumerate(value[: self.width]):
                vector[at + index] = ord(letter)
        elif value is None:
            vector[at : at + self.width] = -1
        elif self.width:
            vector[at] = min(max(float(value), -LARGEST), LARGEST)


def _room(lengths: set[int]) -> int:
    """Return the capacity for values of these lengths."""
    return max(lengths, default=0) * (1 + (len(lengths) > 1))


class Encoding:
    """How the observations of one game become vectors of ``size`` numbers."""

    def __init__(self, game: Game) -> None:
        self._parts: dict[str, _Part] = {}
        rng = random.Random(0)
        left = _POSITIONS
        for _ in range(_PLAYS):
            state: Any = game.initial_state()
            while left > 0:
                left -= 1
                for seat in range(game.seats):
                    self._see(game.observe(state, seat))
                if state.to_move == TERMINAL:
                    break
                if state.to_move == CHANCE:
                    choices = tuple([outcome for outcome, _ in state.chance_outcomes()])
                else:
                    choices = state.actions()
                state = state.after(choices[int(rng.random() * len(choices))])
        self.size = sum([part.settle() for part in self._parts.values()])

    def _see(self, observation: Observation) -> None:
        for name, value in observation.fields().items():
            if name != "legal":  # the mask of actions says it
                self._parts.setdefault(name, _Part()).see(value)

    def encode(self, observation: Observation) -> NDArray[np.float32]:
        """Return the vector of an observation."""
        vector = np.zeros(self.size, np.float32)
        fields, at = observation.fields(), 0
        for name, part in self._parts.items():
            part.write(fields[name], vector, at)
            at += part.width
        return vector
