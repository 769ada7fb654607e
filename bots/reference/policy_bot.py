"""``policy``: plays a policy, from a file or worked out when the first match begins.

``policy(file="leduc.policy")`` plays what `plyhouse solve leduc_poker -o leduc.policy` wrote.
Without a file it solves the game by CFR+ in a part of its time, and continues in later turns if
that is too short.  Games with a larger tree need a file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.errors import GameError, GameMismatch
from plyhouse.search.equilibria.cfr import RegretSolution
from plyhouse.search.equilibria.cfr_plus import cfr_plus
from plyhouse.search.equilibria.tabular import PolicyError, TabularPolicy, load_policy

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
    solutions: ClassVar[dict[str, RegretSolution]] = {}

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
        state = turn.sample()  # any consistent state: the policy depends on the information state
        return self.policy(turn).choose(state, turn.rng)

    def policy(self, turn: Turn) -> TabularPolicy:
        """Return the policy for the game of this turn."""
        wanted = (self.file, turn.game.spec)
        known = self.policies.get(wanted)
        if known is None or (not self.file and known.iterations < self.iterations):
            known = load_policy(self.file, turn.game) if self.file else self.solved(turn, known)
            self.policies[wanted] = known
        return known

    def solved(self, turn: Turn, known: TabularPolicy | None) -> TabularPolicy:
        """Solve the game, or go on with it, in a part of the turn's time."""
        spec = turn.game.spec
        limit = replace(turn.limit, report=None)
        if limit.time is not None:
            limit = replace(limit, time=limit.time * SHARE)
        solution = self.solutions.get(spec)
        try:
            if solution is None:
                solution = cfr_plus(
                    turn.game, limit, iterations=self.iterations, max_nodes=MAX_NODES
                )
                self.solutions[spec] = solution
            elif solution.iterations < self.iterations:
                solution.run(limit, iterations=self.iterations - solution.iterations)
        except GameMismatch as error:
            self.say(f"chooses at random: {error}")
            return TabularPolicy(turn.game, {}, iterations=self.iterations)
        if solution.iterations == 0:
            self.say(
                f"chooses at random: there was no time to solve {spec}; "
                f"`plyhouse solve '{spec}' -o FILE` does it before, play {self.name}(file=\"FILE\")"
            )
        elif known is None:
            self.say(f"solved {spec} by {solution.iterations} iterations of CFR+")
        return solution.policy

    def say(self, text: str) -> None:
        """Tell the author of the bot: standard error reaches the log of the runner."""
        print(f"{self.name} {text}", file=sys.stderr, flush=True)  # noqa: T201
