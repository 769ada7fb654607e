"""Bots: the plug-in interface (`Bot`, `Turn`), the runner, and reference bots."""

if __name__ != "plyhouse.bots":
    raise ImportError("import plyhouse.bots, not bots")

from plyhouse.bots.api import (
    Bot,
    BotError,
    HiddenInformation,
    Match,
    Resignation,
    Turn,
    TurnClock,
    TurnOver,
)
from plyhouse.bots.searching import SearchBot

__all__ = [
    "Bot",
    "BotError",
    "HiddenInformation",
    "Match",
    "Resignation",
    "SearchBot",
    "Turn",
    "TurnClock",
    "TurnOver",
]
