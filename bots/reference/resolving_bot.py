"""``resolving``: resolves the rest of the match from a blueprint at each of its turns.

``resolving(file="leduc.policy")`` takes its blueprint from a file of `plyhouse solve`.  Without a
file it solves the game coarsely by CFR+ in a part of its first turn.  The rest of the turn's time
goes to the subgame that begins with the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar, Final

from plyhouse.bots import Turn
from plyhouse.bots.reference.policy_bot import PolicyBot
from plyhouse.games.errors import GameMismatch
from plyhouse.search.equilibria.cfr import RegretSolution
from plyhouse.search.equilibria.resolving import public_record, resolve_subgame, subgame_roots
from plyhouse.search.equilibria.tabular import TabularPolicy

__all__ = ["ResolvingBot"]

SHARE: Final = 0.5
"""Share of a turn's time spent on the subgame."""
MOST_ITERATIONS: Final = 3000
"""Iterations for a subgame, also if there is more time."""
MOST_NODES: Final = 400_000
"""Largest subgame that is resolved without a clock."""
NODES_A_SECOND: Final = 20_000
"""Nodes of a subgame for each second of the turn, as to walk the tree takes time as well."""


class ResolvingBot(PolicyBot):
    """Draws each action from a subgame that it resolves with a gadget, or from its blueprint.

    Each resolved policy is the blueprint of the next turn, so that the policy of the whole match is
    as safe as the first blueprint.  The bot plays that blueprint if the time is too short, the
    subgame too large, or the match not one of two seats.
    """

    name = "resolving"
    games: ClassVar[Sequence[str]] = ("leduc_poker", "liars_dice")

    policies: ClassVar[dict[tuple[str, str], TabularPolicy]] = {}
    solutions: ClassVar[dict[str, Future[RegretSolution]]] = {}

    def __init__(self, file: str = "", iterations: int = 100) -> None:
        super().__init__(file, iterations)
        self.played: TabularPolicy | None = None
        """The blueprint of the next turn."""

    def choose(self, turn: Turn) -> Any:
        """Return an action drawn from the resolved policy."""
        turn.report(turn.some_action)
        state = turn.sample()  # any consistent state: the policy depends on the information state
        if self.played is None:
            self.played = self.policy(turn)
        turn.report(self.played.choose(state, turn.rng))
        resolved = self.resolved(turn, self.played)
        if resolved is not None:
            self.played = TabularPolicy(
                turn.game, {**self.played.table, **resolved.table}, iterations=resolved.iterations
            )
        return self.played.choose(state, turn.rng)

    def resolved(self, turn: Turn, blueprint: TabularPolicy) -> TabularPolicy | None:
        """Return the policy of the subgame that begins here; None if the blueprint must do."""
        limit = replace(turn.limit, simulations=MOST_ITERATIONS, report=None)
        most = MOST_NODES
        if limit.time is not None:
            most = max(1, min(most, round(limit.time * NODES_A_SECOND)))
            limit = replace(limit, time=limit.time * SHARE)
        events = [(event.seat, event.action) for event in turn.history]
        try:
            record = public_record(turn.game, events, turn.seat, max_nodes=most)
            roots = subgame_roots(turn.game, blueprint, record, max_nodes=most)
            # A bot that took over a match may follow actions that its blueprint never takes.
            if not any(root.reach[turn.seat] for root in roots):
                return None
            found = resolve_subgame(turn.game, blueprint, roots, turn.seat, limit, max_nodes=most)
        except GameMismatch:
            return None
        return found if found.iterations else None
