"""The built-in bots for people to play against, as far as the server knows them.

They are ordinary bots in separate processes, connected by real websockets.  The server imports no
search and starts no bot.  Its operator may set `Hub.builtin_bots` to an object that starts them, as
``plyhouse serve`` does.
"""

from __future__ import annotations

from typing import Final, Protocol

from plyhouse.server.competition.provided import HOUSE

__all__ = ["HOUSE_NAMES", "HOUSE_ROLE", "MOST_OF_A_LEVEL", "HouseBots", "NoHouseBot"]

HOUSE_ROLE: Final = "house"
HOUSE_NAMES: Final = HOUSE
"""Names for the player of these bots; the first one that is free is taken."""

MOST_OF_A_LEVEL: Final = 5
"""Most bots of one level at one table; each is a process."""


class NoHouseBot(Exception):  # noqa: N818 (a condition)
    """A lack of built-in bots to play against; the message says why."""

    code = "house/no_bot"


class HouseBots(Protocol):
    """An object that starts built-in bots when somebody wants them."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, the weakest first; each is also the name of a bot."""

    async def ready(self, level: str, number: int = 1) -> str:
        """Wait until a bot is connected, and return its name; raises `NoHouseBot`.

        ``number`` distinguishes the bots of one level at one table.
        """
