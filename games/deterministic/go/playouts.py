"""Fast play to the end of a go match, led by local answers to the last move.

The order follows MoGo: answers to atari, then local shapes, then random moves.  Gelly,
Wang, Munos and Teytaud, "Modification of UCT with patterns in Monte-Carlo go", INRIA RR-6062, 2006.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from plyhouse.games.deterministic.go.board import EMPTY, ZERO
from plyhouse.games.deterministic.go.patterns import shapes
from plyhouse.games.deterministic.go.scratch import Scratch

__all__ = ["Playout"]


@final
class Playout:
    """Play from a position to the end, with numbers of its own generator.

    The generator is Marsaglia's xorshift with 32 bits ("Xorshift RNGs", JSS 2003): one number takes
    a few machine instructions, where a call of `random.Random` takes as long as a stone.
    """

    def __init__(self, scratch: Scratch, seed: i64) -> None:
        """Begin with the position of ``scratch``, which is changed; ``seed`` is in 32 bits."""
        self.scratch: Scratch = scratch
        self.seed: i64 = seed if seed != 0 else 1
        self.shapes: bytes = shapes()
        self.first: list[int] = [0 for _ in range(len(scratch.colours))]
        """By place the colour, 1 or 2, that first put a stone there; 0 if none did."""

    def draw(self, bound: i64) -> i64:
        """Return a random number from 0 to ``bound`` - 1."""
        seed: i64 = self.seed
        seed ^= (seed << 13) & 0xFFFFFFFF
        seed ^= seed >> 17
        seed ^= (seed << 5) & 0xFFFFFFFF
        self.seed = seed
        return (seed * bound) >> 32

    def play(self, colour: i64, last: i64, passes: i64, plies: i64) -> None:
        """Play to two passes, for at most so many plies; ``last`` is the last stone's place or 0.

        A player never fills its eyes or retakes a simple ko, and passes where nothing else is left.
        Longer repetitions are left to the limit on plies.
        """
        first = self.first
        while plies > 0:
            at: i64 = self.put_stone(colour, last)
            if at == 0:
                self.scratch.ko = 0
                passes += 1
                if passes == 2:
                    return
            else:
                passes = 0
                if first[at] == 0:
                    first[at] = colour
            last = at
            colour = 3 - colour
            plies -= 1

    def put_stone(self, colour: i64, last: i64) -> i64:
        """Put one stone of a colour; return its place, or 0 for a pass.

        ``last`` is the place of the stone just put by the other colour, or 0.
        """
        if last != 0:
            at: i64 = self.answer(last, colour)
            if at == 0:
                at = self.shaped(last, colour)
            if at != 0 and self.scratch.try_stone(at, colour):
                return at
        return self.random_stone(colour)

    def answer(self, last: i64, colour: i64) -> i64:
        """Return a place that takes a chain in atari or saves one, near the last stone, or 0."""
        scratch = self.scratch
        colours = scratch.colours
        steps = scratch.steps
        heads = scratch.heads
        following = scratch.following
        count: i64 = 0
        found: i64 = 0
        liberty: i64 = scratch.only_liberty(last)
        if liberty != 0 and liberty != scratch.ko:
            count = 1
            found = liberty
        way: i64 = 0
        while way < 4:
            beside: i64 = last + steps[way] - ZERO
            way += 1
            if colours[beside] != colour:
                continue
            liberty = scratch.only_liberty(beside)
            if liberty == 0:
                continue
            if scratch.liberties_after(liberty, colour) == 2:
                count += 1
                if count == 1 or self.draw(count) == 0:
                    found = liberty
            # Or take a chain that closes it in.
            head: i64 = heads[beside]
            at: i64 = head
            while True:
                side: i64 = 0
                while side < 4:
                    to: i64 = at + steps[side] - ZERO
                    side += 1
                    if colours[to] == 3 - colour and heads[to] != heads[last]:
                        liberty = scratch.only_liberty(to)
                        if liberty != 0 and liberty != scratch.ko:
                            count += 1
                            if count == 1 or self.draw(count) == 0:
                                found = liberty
                at = following[at]
                if at == head:
                    break
        return found

    def shaped(self, last: i64, colour: i64) -> i64:
        """Return a place beside the last stone with one of the local shapes, or 0."""
        scratch = self.scratch
        colours = scratch.colours
        steps = scratch.steps
        count: i64 = 0
        found: i64 = 0
        way: i64 = 0
        while way < 8:
            at: i64 = last + steps[way] - ZERO
            way += 1
            if (
                colours[at] == EMPTY
                and at != scratch.ko
                and self.shapes[scratch.code_at(at)] != 0
                and scratch.liberties_after(at, colour) == 2
            ):
                count += 1
                if count == 1 or self.draw(count) == 0:
                    found = at
        return found

    def random_stone(self, colour: i64) -> i64:
        """Put a stone on a random place that is no eye; return the place, or 0 for none."""
        scratch = self.scratch
        empties = scratch.empties
        where = scratch.where
        left: i64 = scratch.free
        while left > 0:
            index: i64 = self.draw(left)
            at: i64 = empties[index]
            if (
                at != scratch.ko
                and not scratch.is_eye(at, colour)
                and (scratch.liberties_after(at, colour) == 2 or self.draw(4) == 0)
                and scratch.try_stone(at, colour)
            ):
                return at
            left -= 1
            other: i64 = empties[left]
            empties[left] = at
            where[at] = left
            empties[index] = other
            where[other] = index
        return 0
