"""The house's own bots for people to play against, as far as the server knows them.

They are ordinary bots in processes of their own, over real websockets.  The server imports no
search and starts no bot: whoever runs it may hand it somebody who does (`Hub.house_bots`, which
``plyhouse serve`` sets).
"""

from __future__ import annotations

from typing import Final, Protocol

from plyhouse.server.competition.provided import HOUSE

__all__ = ["HOUSE_NAMES", "HOUSE_ROLE", "MOST_OF_A_LEVEL", "HouseBots", "NoHouseBot"]

HOUSE_ROLE: Final = "house"
HOUSE_NAMES: Final = HOUSE
"""What the player of these bots may be called, the first that is free."""

MOST_OF_A_LEVEL: Final = 5
"""Bots of one level that may sit at one table; each is a process."""


class NoHouseBot(Exception):  # noqa: N818 (a condition)
    """There is no bot of the house to play against; the message says why."""

    code = "house/no_bot"


class HouseBots(Protocol):
    """Starts the bots of the house when they are wanted."""

    @property
    def levels(self) -> tuple[str, ...]:
        """How well they play, the weakest first; each is the name of a bot, too."""

    async def ready(self, level: str, number: int = 1) -> str:
        """See to it that a bot is connected, and return its name; raises `NoHouseBot`.

        ``number`` counts the bots of a level that sit at one table.
        """
