"""Who may come in: tokens, names, and new accounts where registration is open."""

from __future__ import annotations

from dataclasses import dataclass

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Hello
from plyhouse.server.config import ServerConfig
from plyhouse.storage.errors import AlreadyExists, InvalidName, StorageError, TokenRevoked
from plyhouse.storage.rows import BotRow, Identity
from plyhouse.storage.store import Store

__all__ = ["Login", "Registration"]


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

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self._config = config
        self._store = store

    async def identify(self, token: str, scope: str) -> Identity:
        """Whose token this is; it must allow ``scope`` (``admin`` allows everything)."""
        try:
            identity = await self._store.authenticate(token)
        except TokenRevoked as error:
            raise ProtocolError("auth/revoked") from error
        except StorageError as error:
            raise ProtocolError("server/storage", str(error)) from error
        if identity is None:
            raise ProtocolError("auth/bad_token")
        if scope not in identity.scopes and "admin" not in identity.scopes:
            held = ", ".join(sorted(identity.scopes)) or "nothing"
            raise ProtocolError("auth/scope", f"This token does not allow '{scope}', only: {held}.")
        return identity

    async def log_in(self, hello: Hello) -> Login:
        """Identify a bot by its ``hello``; its bot and version are made at their first login."""
        identity = await self.identify(hello.token, "play")
        in_person = not hello.bot or hello.bot.lower() == identity.player.lower()
        name = identity.player if in_person else hello.bot
        try:
            bot = await self._store.ensure_bot(
                identity.player_id, name, "human" if in_person else "bot"
            )
            version = await self._store.ensure_version(bot.id, hello.version)
        except InvalidName as error:
            raise ProtocolError("auth/bad_name", f"{error}.") from error
        except StorageError as error:
            raise ProtocolError("server/storage", f"{error}.") from error
        return Login(identity, bot, in_person, version)

    async def register(self, player: str) -> tuple[str, str]:
        """Make an account; return its name and its token."""
        if self._config.registration != "open":
            raise ProtocolError("auth/registration_closed")
        try:
            row = await self._store.add_player(player)
            token = await self._store.add_token(row, ("play",), label="registered")
        except AlreadyExists as error:
            raise ProtocolError("auth/name_taken", f"The name {player!r} is taken.") from error
        except InvalidName as error:
            raise ProtocolError("auth/bad_name", f"{error}.") from error
        except StorageError as error:
            raise ProtocolError("server/storage", f"{error}.") from error
        return row.name, token
