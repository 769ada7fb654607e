"""Results of the solvers for games of imperfect information: `Solution`.

A solution can be asked at any time for its policy and how good that is, and be improved
further by calling `Solution.run` again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from plyhouse.games.base import Game
from plyhouse.search.equilibria.sequence_form import sequence_form
from plyhouse.search.equilibria.tabular import TabularPolicy
from plyhouse.search.game_requirements import require_solvable
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.limit import UNLIMITED, Limit, require_limit
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tree_size import MAX_NODES

__all__ = ["DEFAULT_ITERATIONS", "Progress", "Report", "Solution"]

DEFAULT_ITERATIONS: Final = 1000
"""Iterations where nothing else bounds a solver."""


@dataclass(frozen=True)
class Progress:
    """How far a solver has come."""

    iteration: int
    """Iterations completed, over all runs."""
    seconds: float
    """Spent in this run."""
    rate: float
    """Iterations per second in this run, the time to walk the tree not counted."""
    solution: Solution

    def exploitability(self) -> float:
        """Exploitability of the current average policy; takes about as long as a full iteration."""
        return self.solution.exploitability()


Report = Callable[[Progress], None]


def _require_positive(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{name}={number!r}: expected a whole number from 1")


def most_iterations(
    limit: Limit, iterations: int | None, *, target: float | None = None
) -> int | None:
    """Return how many iterations a run does at most; None if something else ends it.

    Without any bound these are `DEFAULT_ITERATIONS`.
    """
    require_limit(limit)
    if iterations is not None:
        _require_positive("iterations", iterations)
    bounds = [bound for bound in (iterations, limit.simulations) if bound is not None]
    bounded = limit.time is not None or limit.nodes is not None or target is not None
    return min(bounds) if bounds else None if bounded else DEFAULT_ITERATIONS


class Solution(ABC):
    """A policy for all seats of a game, and the numbers that say how good it is.

    Not to be used by two threads at the same time.
    """

    def __init__(self, algorithm: str, game: Game, max_nodes: int = MAX_NODES) -> None:
        require_solvable(algorithm, game)
        self.algorithm = algorithm
        self.game = game
        self.max_nodes = max_nodes
        self.seconds = 0.0
        """Spent in all runs."""
        self._form: SequenceForm | None = None

    # What it found

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations completed, over all runs."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Nodes visited in all runs: for mccfr those it walked through, for the others the ends
        of the tree that they weighed.  This is what the ``nodes`` of a limit bound.
        """

    @property
    @abstractmethod
    def policy(self) -> TabularPolicy:
        """The average policy, which converges: that of single iterations need not.

        Uniform in information states that were never reached.
        """

    @abstractmethod
    def _put_on_trial(self, form: SequenceForm) -> None:
        """Set the ``trial`` probabilities of the form to the average policy."""

    @property
    def form(self) -> SequenceForm:
        """The sequence form of the game, made when it is first needed.

        Raises `GameMismatch` if the tree is too large.
        """
        if self._form is None:
            self._form = sequence_form(
                self.game, algorithm=self.algorithm, max_nodes=self.max_nodes
            )
        return self._form

    @property
    def information_states(self) -> int:
        """Information states of the whole game, of all seats together."""
        return sum(len(own) for own in self.form.sets)

    def value(self, seat: int) -> float:
        """Expected return of the seat if all play the policy."""
        seats = self.game.seats
        if not 0 <= seat < seats:
            raise ValueError(f"seat={seat!r}: {self.game.spec} has the seats 0 to {seats - 1}")
        return self._on_trial().value(seat)

    def nash_conv(self) -> float:
        """Sum over the seats of what each could gain by a best response to the others'
        policies: 0 in a Nash equilibrium, and only there.
        """
        form = self._on_trial()
        gains = [form.respond(seat, None) - form.value(seat) for seat in range(form.seats)]
        return sum(gains)

    def exploitability(self) -> float:
        """`nash_conv` divided by the number of seats (for two seats as in OpenSpiel)."""
        return self.nash_conv() / self.game.seats

    def _on_trial(self) -> SequenceForm:
        form = self.form
        self._put_on_trial(form)
        form.spread_trial()
        return form

    # Improving it

    def run(
        self,
        limit: Limit = UNLIMITED,
        *,
        iterations: int | None = None,
        target: float | None = None,
        progress: Report | None = None,
        every: int = 100,
    ) -> None:
        """Do further iterations until a bound is reached; what was done stays, however it ends.

        ``iterations`` more, the time or nodes of ``limit`` (its ``simulations`` are
        iterations too), or an exploitability of at most ``target``, which is looked at after
        each ``every`` iterations.  Without any bound it does `DEFAULT_ITERATIONS`.
        ``progress`` is called after each ``every`` iterations and at the end; what it raises,
        and Ctrl-C, ends the run and reaches the caller.

        Raises `GameMismatch` if the game's tree is too large.
        """
        left = most_iterations(limit, iterations, target=target)
        _require_positive("every", every)
        if target is not None and not target > 0:
            raise ValueError(f"target={target!r}: expected an exploitability above 0")
        poll = Poll(limit)
        visited = self.nodes
        prepared = 0.0
        begun = self.iterations
        told = -1
        spent = self.seconds

        def tell() -> None:
            nonlocal told
            told = self.iterations
            if progress is not None:
                seconds = poll.seconds()
                active = max(seconds - prepared, 1e-9)
                progress(Progress(told, seconds, (told - begun) / active, self))

        def beat(nodes: int) -> int:
            return poll(nodes - visited) + visited

        try:
            self._prepare(Poll(replace(limit, nodes=None)))
            prepared = poll.seconds()
            while left is None or left > 0:
                before = self.iterations
                count = every - before % every
                self._advance(beat, count if left is None else min(count, left))
                if left is not None:
                    left -= self.iterations - before
                if self.iterations % every == 0:
                    tell()
                    if target is not None and self.exploitability() <= target:
                        break
        except SearchStopped:
            pass
        finally:
            self.seconds = spent + poll.seconds()
        if told != self.iterations:
            tell()

    @abstractmethod
    def _prepare(self, poll: Poll) -> None:
        """Make what the iterations need, under the limit, before the first of them."""

    @abstractmethod
    def _advance(self, poll: Callable[[int], int], count: int) -> None:
        """Do so many iterations; ``poll`` may raise `SearchStopped`."""
