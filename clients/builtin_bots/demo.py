"""Simple bots of the demo, weaker than searches, so that its leaderboards show differences."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Bot, Turn


class HoldAtTwenty(Bot):
    """Rolls until the turn has brought twenty points: the rule of thumb for pig."""

    name = "hold_at_20"
    games = ("pig",)

    def choose(self, turn: Turn) -> Any:
        """Hold with twenty points at risk, or enough to win."""
        seen = turn.observation.fields()
        enough = min(20, int(turn.game.parameters["target"]) - seen["scores"][turn.seat])
        return "hold" if seen["turn_total"] >= enough and "hold" in turn.legal_text else "roll"


class AlwaysNickel(Bot):
    """Always hides the nickel and always names Jefferson: easy to see through."""

    name = "always_nickel"
    games = ("coin_guess",)

    def choose(self, turn: Turn) -> str:
        """Choose what has to do with nickels."""
        return "nickel" if "nickel" in turn.legal_text else "jefferson"


class Maniac(Bot):
    """Bets and calls with every card."""

    name = "maniac"
    games = ("kuhn_poker",)

    def choose(self, turn: Turn) -> str:
        """Never check, never fold."""
        return "bet" if "bet" in turn.legal_text else "call"
