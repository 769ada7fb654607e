"""Who may come in: tokens, names, and new accounts where registration is open."""

from __future__ import annotations

import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Hello
from plyhouse.server.config import ServerConfig
from plyhouse.server.house.rates import Rate
from plyhouse.storage.errors import (
    AlreadyExists,
    Disabled,
    InvalidName,
    LimitReached,
    StorageError,
    TokenRevoked,
    public_message,
)
from plyhouse.storage.rows import BotRow, Identity
from plyhouse.storage.store import Store

__all__ = ["Login", "Registration"]

log = logging.getLogger("plyhouse.server.house.registration")

WRONG_TOKENS: Final = 20, 0.2
"""Wrong tokens from one address: at once, and per second after that."""
REGISTRATIONS: Final = 20, 1 / 30
"""New accounts from one address: a class behind one address may all register in a minute."""
LOGINS: Final = 2000, 20.0
"""Logins and other uses of the tokens of one player, for which the database is asked."""
KNOWN_TOKENS: Final = 10_000
"""Good tokens that are remembered, so that whoever shares an address with somebody who tries
wrong ones gets in all the same."""


@dataclass(frozen=True, slots=True)
class Login:
    """Who a ``hello`` turned out to be."""

    identity: Identity
    bot: BotRow
    in_person: bool
    """Whether the player plays without naming a bot."""
    version_id: int


class Registration:
    """Checks tokens and makes accounts; every refusal is a `ProtocolError` with its code."""

    def __init__(self, config: ServerConfig, store: Store, now: Callable[[], int]) -> None:
        self._config = config
        self._store = store
        self._wrong = Rate(*WRONG_TOKENS, now)
        self._registrations = Rate(*REGISTRATIONS, now)
        self._logins = Rate(*LOGINS, now)
        self._good: OrderedDict[bytes, None] = OrderedDict()
        """Digests of tokens that were good when last seen, the least recently used first."""

    async def identify(self, token: str, *scopes: str, address: str = "") -> Identity:
        """Whose token this is; it must allow one of ``scopes`` (``admin`` allows everything).

        ``address`` is where the token comes from; empty within this process.
        """
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        if address and digest not in self._good and self._wrong.left(address) < 1.0:
            raise _wait(self._wrong, address, "wrong tokens from your address")
        try:
            identity = await self._store.authenticate(token)
        except (TokenRevoked, Disabled) as error:
            self._failed(digest, address)
            revoked = isinstance(error, TokenRevoked)
            raise ProtocolError("auth/revoked" if revoked else "auth/disabled") from error
        except StorageError as error:
            raise _failure(error) from error
        if identity is None:
            self._failed(digest, address)
            raise ProtocolError("auth/bad_token")
        self._good[digest] = None
        self._good.move_to_end(digest)
        while len(self._good) > KNOWN_TOKENS:
            self._good.popitem(last=False)
        if address and not self._logins.take(identity.player_id):
            raise _wait(self._logins, identity.player_id, "logins of this player")
        if identity.scopes.isdisjoint((*scopes, "admin")):
            held = ", ".join(sorted(identity.scopes)) or "nothing"
            wanted = " or ".join(f"'{scope}'" for scope in scopes)
            raise ProtocolError("auth/scope", f"This token does not allow {wanted}, only: {held}.")
        return identity

    def _failed(self, digest: bytes, address: str) -> None:
        self._good.pop(digest, None)
        if address:
            self._wrong.take(address)

    async def log_in(self, hello: Hello, address: str = "") -> Login:
        """Identify a bot by its ``hello``; its bot and version are made at their first login."""
        identity = await self.identify(hello.token, "play", address=address)
        in_person = not hello.bot or hello.bot.lower() == identity.player.lower()
        name = identity.player if in_person else hello.bot
        config = self._config
        try:
            bot = await self._store.ensure_bot(
                *(identity.player_id, name, "human" if in_person else "bot"),
                limit=config.max_bots_per_player,
            )
            if bot.disabled_ms is not None:
                raise ProtocolError("auth/disabled")
            version = await self._store.ensure_version(
                bot.id, hello.version, limit=config.max_versions_per_bot
            )
        except InvalidName as error:
            raise ProtocolError("auth/bad_name", f"{error}.") from error
        except LimitReached as error:
            raise ProtocolError("auth/limit", _sentence(error)) from error
        except StorageError as error:
            raise _failure(error) from error
        return Login(identity, bot, in_person, version)

    async def register(self, player: str, address: str = "", display: str = "") -> tuple[str, str]:
        """Make an account; return its name and its token."""
        if self._config.registration != "open":
            raise ProtocolError("auth/registration_closed")
        if address and not self._registrations.take(address):
            raise _wait(self._registrations, address, "new accounts from your address")
        try:
            row = await self._store.add_player(player, display)
            token = await self._store.add_token(row, ("play",), label="registered")
        except AlreadyExists as error:
            raise ProtocolError("auth/name_taken", f"The name {player!r} is taken.") from error
        except InvalidName as error:
            raise ProtocolError("auth/bad_name", f"{error}.") from error
        except StorageError as error:
            raise _failure(error) from error
        return row.name, token


def _wait(rate: Rate, key: Hashable, what: str) -> ProtocolError:
    seconds = max(1, math.ceil(rate.wait(key)))
    return ProtocolError("auth/rate", f"Too many {what}: wait {seconds} s.")


def _failure(error: StorageError) -> ProtocolError:
    """What strangers are told of it; the log says where the database is."""
    log.error("a login or registration failed: %s", error)
    return ProtocolError("server/storage", _sentence(error))


def _sentence(error: StorageError) -> str:
    text = public_message(error)
    return f"{text[:1].upper()}{text[1:]}."
