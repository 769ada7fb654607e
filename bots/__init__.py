"""Bots: what their authors write against, how they are run, and those of the house.

A bot's author needs what is imported here, and no more.  On this floor:

    api          `Bot`, and the `Turn` it is given
    searching    `SearchBot`: what bots that call one search have in common
    loading      the bot that a text names: ``random``, ``mybot.py:MyBot(depth=4)``
    options      the part of that text in parentheses
    reference/   the bots of the house, each a short example

The rooms behind it, from the bot to the server:

    process/     the process that a bot lives in, and its supervisor
    running/     a run: matches, time management, results
    client/      the connection to a server

and for bots of others, which a server runs itself:

    hosting/     packages, and how they are played
    sandbox/     where they are confined
"""

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
