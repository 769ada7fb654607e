"""``random``: plays any legal action, in every game; a bot that loses to it has a bug."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Bot, Turn

__all__ = ["RandomBot"]


class RandomBot(Bot):
    """Chooses uniformly among the legal actions."""

    name = "random"

    def choose(self, turn: Turn) -> Any:
        """Return a random legal action."""
        turn.report(turn.some_action)
        return turn.random_action()
