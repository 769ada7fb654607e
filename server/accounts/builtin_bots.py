"""The built-in bots for people to play against, as far as the server knows them.

They are ordinary bots in separate processes, connected by real websockets.  The server imports no
search and starts no bot.  ``plyhouse serve`` gives it an object that starts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from plyhouse.protocol.api.people import PlayerAccount
from plyhouse.storage import sessions
from plyhouse.storage.names import BUILTIN_NAMES
from plyhouse.storage.store import Store

BUILTIN_ROLE: Final = "house"
"""The role of their player."""


async def builtin_player(store: Store) -> PlayerAccount:
    """Return the player of the built-in bots; make it first if there is none."""
    return await store.write(sessions.special, BUILTIN_ROLE, BUILTIN_NAMES, store.now())


async def builtin_token(store: Store, label: str, scope: str = "play") -> tuple[PlayerAccount, str]:
    """Return the player of the built-in bots and a new token of it, valid while this server runs.

    Servers of a cluster have tokens of their own; the next start deletes those of ended servers.
    """
    row = await builtin_player(store)
    token = await store.write(
        sessions.only_token, row.id, label, store.now(), store.epoch, (scope,)
    )
    return row, token


class NoBuiltinBot(Exception):  # noqa: N818 (a condition)
    """A lack of built-in bots to play against; the message says why."""

    code = "house/no_bot"


class BuiltinBots(Protocol):
    """An object that starts built-in bots when somebody wants them."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, the weakest first; each is also the name of a bot."""

    async def ready(self, level: str, number: int = 1) -> str:
        """Wait until a bot is connected, and return its name; raises `NoBuiltinBot`.

        ``number`` distinguishes the bots of one level at one table.
        """

    def keep(self) -> None:
        """Keep the bots of running matches connected, from now on.

        The leader of a cluster does this for the matches of all servers.
        """

    async def wake(self, names: Sequence[str]) -> None:
        """Start those of the named bots that are built-in ones, as ``house/easy-2``.

        Raises `NoBuiltinBot` if that fails.
        """

    async def close(self) -> None:
        """Stop the bots."""
