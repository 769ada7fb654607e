"""A small exact solver for two-seat zero-sum games of imperfect information.

CFR+ on the whole tree, laid out once in arrays by level; what is read from the game are
its states, returns and information states only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from plyhouse.games import CHANCE, TERMINAL, Game, State

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Level:
    """The nodes at one depth, children of one node side by side."""

    def __init__(self, parents: list[int], slots: list[int], chances: list[float]) -> None:
        self.parent: Ints = np.array(parents, dtype=np.int64)
        self.slot: Ints = np.array(slots, dtype=np.int64)
        self.chance: Floats = np.array(chances)
        self.mover: Ints = np.zeros(0, dtype=np.int64)
        self.payoff: Floats = np.zeros(0)


class Solver:
    """CFR+ with linear averaging; a slot is one action of one information state."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.owner: list[int] = []
        self.names: dict[Hashable, int] = {}
        self.first: list[int] = []
        self.slots = 0
        self.levels: list[Level] = []
        self.build()
        self.starts: Ints = np.array(self.first, dtype=np.int64)
        widths = np.diff([*self.first, self.slots])
        self.width: Ints = np.repeat(widths, widths)
        self.group: Ints = np.repeat(np.arange(len(self.first)), widths)
        self.seat: Ints = np.repeat(np.array(self.owner, dtype=np.int64), widths)
        self.regret: Floats = np.zeros(self.slots)
        self.total: Floats = np.zeros(self.slots)

    def build(self) -> None:
        """Lay out the tree."""
        states: list[State] = [self.game.initial_state()]
        level = Level([0], [-1], [1.0])
        while states:
            self.levels.append(level)
            parents: list[int] = []
            slots: list[int] = []
            chances: list[float] = []
            following: list[State] = []
            payoff = np.zeros(len(states))
            for index, state in enumerate(states):
                branches: Any
                if state.to_move == TERMINAL:
                    payoff[index] = state.returns()[0]
                    continue
                if state.to_move == CHANCE:
                    branches = [(-1, p, outcome) for outcome, p in state.chance_outcomes()]
                else:
                    base = self.information_set(state)
                    actions = enumerate(state.actions())
                    branches = [(base + place, 1.0, action) for place, action in actions]
                for slot, chance, action in branches:
                    parents.append(index)
                    slots.append(slot)
                    chances.append(chance)
                    following.append(state.after(action))
            level.mover = np.array([state.to_move for state in states], dtype=np.int64)
            level.payoff = payoff
            states = following
            level = Level(parents, slots, chances)

    def information_set(self, state: State) -> int:
        """First slot of the mover's information state."""
        name = self.game.information_state(state, state.to_move)
        if name not in self.names:
            self.names[name] = self.slots
            self.first.append(self.slots)
            self.owner.append(state.to_move)
            self.slots += len(state.actions())
        return self.names[name]

    def normalised(self, weights: Floats) -> Floats:
        """Weights as probabilities; uniform where there are none."""
        sums = np.add.reduceat(weights, self.starts)[self.group]
        even = 1.0 / self.width
        return np.where(sums > 0.0, weights / np.where(sums > 0.0, sums, 1.0), even)

    def reaches(self, policy: Floats) -> list[tuple[Floats, Floats, Floats]]:
        """By level, the parts of the two seats and of chance in reaching each node."""
        one = np.ones(1)
        found = [(one, one, one)]
        for above, level in zip(self.levels, self.levels[1:], strict=False):
            mover = above.mover[level.parent]
            taken = np.where(level.slot >= 0, policy[level.slot], 1.0)
            first, second, chance = (part[level.parent] for part in found[-1])
            found.append(
                (
                    np.where(mover == 0, first * taken, first),
                    np.where(mover == 1, second * taken, second),
                    chance * level.chance,
                )
            )
        return found

    def sweep(self, policy: Floats, seat: int, *, respond: bool) -> tuple[float, Floats, Floats]:
        """Value of the root for ``seat``, its counterfactual gains and its own reaches.

        With ``respond`` the seat plays its best response to the policy instead.
        """
        reached = self.reaches(policy)
        sign = 1.0 if seat == 0 else -1.0
        gains = np.zeros(self.slots)
        own = np.zeros(self.slots)
        below: Floats = np.zeros(0)
        for depth in range(len(self.levels) - 1, -1, -1):
            here = self.levels[depth]
            values = sign * here.payoff
            if depth + 1 < len(self.levels):
                level = self.levels[depth + 1]
                others = reached[depth][1 - seat] * reached[depth][2]
                mine = here.mover[level.parent] == seat
                slots = level.slot[mine]
                parents = level.parent[mine]
                worth = np.bincount(
                    slots, weights=others[parents] * below[mine], minlength=self.slots
                )
                weight = level.chance * np.where(level.slot >= 0, policy[level.slot], 1.0)
                if respond and len(slots):
                    best = np.maximum.reduceat(worth, self.starts)[self.group]
                    chosen = np.flatnonzero(worth >= best)
                    pick = np.zeros(self.slots)
                    pick[chosen[np.unique(self.group[chosen], return_index=True)[1]]] = 1.0
                    weight = np.where(mine, pick[level.slot], weight)
                values = values + np.bincount(
                    level.parent, weights=weight * below, minlength=len(values)
                )
                gains += worth
                gains -= np.bincount(
                    slots, weights=others[parents] * values[parents], minlength=self.slots
                )
                own[slots] = reached[depth][seat][parents]
            below = values
        return float(below[0]), gains, own

    def run(self, iterations: int) -> None:
        """Improve the average policy."""
        for number in range(1, iterations + 1):
            for seat in (0, 1):
                policy = self.normalised(self.regret)
                _, gains, own = self.sweep(policy, seat, respond=False)
                mine = self.seat == seat
                self.regret = np.where(mine, np.maximum(self.regret + gains, 0.0), self.regret)
                self.total += np.where(mine, number * own * policy, 0.0)

    @property
    def policy(self) -> Floats:
        """The average policy."""
        return self.normalised(self.total)

    def value(self) -> float:
        """What the average policy is worth to seat 0 against itself."""
        return self.sweep(self.policy, 0, respond=False)[0]

    def exploitability(self) -> float:
        """Mean gain of the seats by best responses to the average policy: 0 in equilibrium."""
        policy = self.policy
        return sum(self.sweep(policy, seat, respond=True)[0] for seat in (0, 1)) / 2.0

    def chances(self, name: Hashable) -> list[float]:
        """The average policy in one information state."""
        first = self.names[name]
        return [float(p) for p in self.policy[first : first + int(self.width[first])]]


@pytest.fixture(scope="session")
def solver() -> Callable[[Game], Solver]:
    """Makes a `Solver` of a game."""
    return Solver
