"""Bots: the interface for authors, the runner, and the built-in bots.

This package exports everything that an author needs:

    api          `Bot`, and the `Turn` it is given
    action_text  the wire text of an action, what is wrong with it, and what a bot thought about it
    search_bot   `SearchBot`: base class of bots that call one search
    loading      the bot that a text names: ``random``, ``mybot.py:MyBot(depth=4)``
    options      the part of that text in parentheses
    local_packages  a package from a file, a folder or a zip; a package's folder or a command as
                    such a text
    reference/   built-in bots, each a short example
    engines/     bots that play by engines: UCI, XBoard, GTP, GNU Backgammon
    serving/     bots as engines of other programs: UCI and GTP

Its subpackages, from the bot to the server:

    process/     the process of a bot, and its supervisor
    running/     a run: matches, time management, results
    client/      the connection to a server

and for submitted bots, which a server runs:

    hosting/     packages, and how they are played
    sandbox/     confines them
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
from plyhouse.bots.search_bot import SearchBot

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
