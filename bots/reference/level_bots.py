"""Opponents for people: ``easy``, ``medium`` and ``hard``.

Each plays every game for two.  ``choose`` is async, so that one process plays many matches at
once; the searches run in threads of it, bounded by what a person likes to wait.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, ClassVar

from plyhouse.bots.api import Bot, Turn
from plyhouse.bots.reference.best_bot import BestBot
from plyhouse.protocol.messages import Outcome

__all__ = ["EasyBot", "HardBot", "MediumBot"]


class EasyBot(Bot):
    """Plays any legal action; wins against nobody who knows the rules."""

    name = "easy"

    async def choose(self, turn: Turn) -> Any:
        """Return a random legal action."""
        turn.report(turn.some_action)
        return turn.random_action()


class _Searching(Bot):
    """Lets `BestBot` choose, in a thread, with less of everything than it would take."""

    bounds: ClassVar[dict[str, Any]] = {}
    slips: ClassVar[float] = 0.0
    """How often it plays any legal action instead."""

    def __init__(self) -> None:
        self.player = BestBot(**self.bounds)
        self.searching = threading.Lock()
        """Held by the thread that searches: the search of a turn may outlive the turn."""

    async def choose(self, turn: Turn) -> Any:
        """Return what the search found, or now and then anything."""
        turn.report(turn.some_action)  # the threads may all be busy
        if turn.rng.random() < self.slips:
            return turn.random_action()
        return await asyncio.to_thread(self.searched, turn)

    def searched(self, turn: Turn) -> Any:
        """Let the player choose, once its search of an earlier turn has ended."""
        with self.searching:
            return self.player.choose(turn)

    def finish(self, outcome: Outcome) -> None:
        """Pass the end on."""
        self.player.finish(outcome)


class MediumBot(_Searching):
    """Looks two plies ahead, or a hundred simulations, and every seventh ply not at all."""

    name = "medium"
    bounds: ClassVar[dict[str, Any]] = {"time": 0.5, "depth": 2, "simulations": 100}
    slips = 1 / 7


class HardBot(_Searching):
    """Plays the best search for the game, for about a second."""

    name = "hard"
    bounds: ClassVar[dict[str, Any]] = {"time": 1.0}
