"""``policy``: plays a policy, from a file or worked out when the first match begins.

``policy(file="leduc.policy")`` plays what `plyhouse solve leduc_poker -o leduc.policy` wrote.
Without a file it solves the game by CFR+ in a part of its time, and continues in later turns if
that is too short.  Games with a larger tree need a file.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference.background import begun, value_in_time
from plyhouse.games.errors import GameError, GameMismatch
from plyhouse.search.equilibria.cfr import RegretSolution, cfr_plus
from plyhouse.search.equilibria.tabular import PolicyError, TabularPolicy, drawn_action, load_policy
from plyhouse.search.limit import Limit

__all__ = ["PolicyBot"]

SHARE: Final = 0.25
"""Share of a turn's time spent on solving; writing the policy down takes time as well."""
MAX_NODES: Final = 400_000
"""Largest tree that is solved without a file."""


class PolicyBot(Bot):
    """Draws each action with the probability that the policy gives it."""

    name = "policy"
    reads = ("file",)
    games: ClassVar[Sequence[str]] = (
        "kuhn_poker",
        "leduc_poker",
        "liars_dice",
        "coin_guess",
        "coin_guess(variant=bag)",
        "rock_paper_scissors",
        "prisoners_dilemma",
        "matrix",
    )

    policies: ClassVar[dict[tuple[str, str], TabularPolicy]] = {}
    """Policies of this process by file and game, for later matches."""
    solutions: ClassVar[dict[str, Future[RegretSolution]]] = {}
    """Solutions of this process by game."""
    improving: ClassVar[threading.Lock] = threading.Lock()
    """Held by the thread that goes on with a solution: bots of other matches share it."""

    def __init__(self, file: str = "", iterations: int = 1000) -> None:
        if iterations < 1:
            raise ValueError(f"iterations={iterations}: expected a whole number from 1")
        if file and not Path(file).is_file():
            raise ValueError(
                f"file={file!r}: there is no such file; `plyhouse solve GAME -o FILE` writes one"
            )
        if file and not any(known == file for known, _ in self.policies):
            self.read(file)
        self.file = file
        self.iterations = iterations

    def read(self, file: str) -> None:
        """Keep the policy of a file for all matches.  Raises `ValueError` for a file without one.

        A game that only its match knows, such as one from a file, is read in the first turn.
        """
        try:
            policy = load_policy(file)
        except PolicyError as error:
            raise ValueError(str(error)) from error
        except GameError:
            return
        self.policies[file, policy.game.spec] = policy

    def choose(self, turn: Turn) -> Any:
        """Return an action drawn from the policy."""
        turn.report(turn.some_action)
        state = turn.sample()  # any consistent state: the policy depends on the information state
        if self.file:
            return self.policy(turn).choose(state, turn.rng)
        solution = self.solved(turn)
        if solution is None:
            return turn.random_action()
        return drawn_action(solution.choices(state), turn.rng)

    def policy(self, turn: Turn) -> TabularPolicy:
        """Return the whole policy for the game of this turn."""
        wanted = (self.file, turn.game.spec)
        known = self.policies.get(wanted)
        if known is None or (not self.file and known.iterations < self.iterations):
            if self.file:
                known = load_policy(self.file, turn.game)
            else:
                solution = self.solved(turn)
                known = TabularPolicy(turn.game, {}) if solution is None else solution.policy
            self.policies[wanted] = known
        return known

    def solved(self, turn: Turn) -> RegretSolution | None:
        """Solve the game, or go on with it, in a part of the turn's time; None if that fails.

        A thread walks its tree, which may take longer than a turn.
        """
        game = turn.game
        limit = turn.limit
        if game.spec not in self.solutions:
            begin = functools.partial(cfr_plus, game, iterations=1, max_nodes=MAX_NODES)
            self.solutions[game.spec] = begun(begin)
        try:
            solution = value_in_time(turn, self.solutions[game.spec], SHARE)
        except GameMismatch as error:
            self.say(f"chooses at random: {error}")
            return None
        if solution is None:
            self.say(
                f"chooses at random: there was no time to solve {game.spec}; "
                f"`plyhouse solve '{game.spec}' -o FILE` does it before, "
                f'play {self.name}(file="FILE")'
            )
            return None
        if solution.iterations < self.iterations and self.improving.acquire(blocking=False):
            try:
                self.improve(turn, solution, limit)
            finally:
                self.improving.release()
        return solution

    def improve(self, turn: Turn, solution: RegretSolution, limit: Limit) -> None:
        """Go on with a solution for what is left of its part of the turn."""
        fresh = solution.iterations == 1
        left = turn.limit.time
        if limit.time is not None and left is not None:
            left = max(0.0, left - (1.0 - SHARE) * limit.time)
        solution.run(
            replace(turn.limit, time=left, report=None),
            iterations=self.iterations - solution.iterations,
        )
        if fresh:
            self.say(f"solved {turn.game.spec} by {solution.iterations} iterations of CFR+")

    def say(self, text: str) -> None:
        """Tell the author of the bot: standard error reaches the log of the runner."""
        print(f"{self.name} {text}", file=sys.stderr, flush=True)  # noqa: T201
