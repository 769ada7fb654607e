"""Authentication by tokens, names of players, and registration of accounts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Final

from msgspec import structs

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.competitions import Joining
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Hello
from plyhouse.server.accounts.builtin_bots import BUILTIN_ROLE
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.config import ServerConfig
from plyhouse.server.match.presence import Presence
from plyhouse.server.wire.limits import Rate
from plyhouse.storage import join_codes, people, sessions, suspensions
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.errors import (
    AlreadyExists,
    CompetitionRefusal,
    Disabled,
    DisplayTaken,
    InvalidName,
    LimitReached,
    StorageError,
    TokenRevoked,
    public_message,
)
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.accounts.registration")

WRONG_TOKENS: Final = 20, 0.2
"""Wrong tokens and tickets from one address: at once, and per second after that."""
REGISTRATIONS: Final = 20, 1 / 30
"""New accounts from one address: at once, and per second after that."""
WRONG_CODES: Final = 300, 1.0
"""Wrong codes from one address, or of one account: at once, and per second after that.

A class behind one address mistypes some, and nobody finds one of 6e11 codes by guessing.
"""
OWN_CHANGES: Final = 60, 1 / 60
"""Changes that players make themselves and the audit log notes: at once, and per second after that.

The log keeps each of them.
"""
TOKEN_LOOKUPS: Final = 2000, 20.0
"""Logins and other uses of one player's tokens that need the database."""

_DIGEST: Final = re.compile("[0-9a-f]{64}")


class Registration:
    """Checks tokens and makes accounts.

    Every refusal is a `ProtocolError` with its code.
    """

    def __init__(self, config: ServerConfig, store: Store, now: Callable[[], int]) -> None:
        self._config = config
        self._store = store
        self._wrong = Rate(*WRONG_TOKENS, now)
        self._registrations = Rate(*REGISTRATIONS, now)
        self._lookups = Rate(*TOKEN_LOOKUPS, now)
        self._wrong_codes = Rate(*WRONG_CODES, now)
        self._own_changes = Rate(*OWN_CHANGES, now)
        self._joining = asyncio.Lock()
        self._builtin_player = 0
        """The player of the built-in bots; 0 until one is known."""

    async def identify(self, token: str, *scopes: str, address: str = "") -> Identity:
        """Return the owner of a token, which must allow one of ``scopes``.

        The scope ``admin`` allows everything.  ``address`` is the client's address; empty within
        this process.  Raises `ProtocolError`.

        Valid tokens work from an address that has tried too many wrong ones: a class may share it,
        and nobody guesses a token.
        """
        try:
            with storage_refusals():
                identity = await self._store.authenticate(token)
        except ProtocolError as error:
            if error.code in ("auth/revoked", "auth/disabled"):
                self._failed(address)
            raise
        if identity is None:
            self._failed(address)
            raise ProtocolError("auth/bad_token")
        if address and not self._lookups.take(identity.player_id):
            raise too_many("logins of this player", self._lookups, identity.player_id)
        if identity.scopes.isdisjoint((*scopes, "admin")):
            held = ", ".join(sorted(identity.scopes)) or "nothing"
            wanted = " or ".join(f"'{scope}'" for scope in scopes)
            raise ProtocolError(
                "auth/scope",
                f"This token does not allow {wanted}, only: {held}. Use another token, or ask the "
                "administrator of the server for one.",
            )
        return identity

    def _failed(self, address: str) -> None:
        """Count a wrong token or ticket; raises `ProtocolError` if it was one too many."""
        if address and not self._wrong.take(address):
            raise too_many("wrong tokens from your address", self._wrong, address)

    async def player_of(
        self, hello: Hello, address: str = "", person: Identity | None = None
    ) -> Identity:
        """Identify the player of a ``hello`` by its token.

        ``person`` is the player who is signed in at the browser, if the ``hello`` asks for that.
        """
        if person is None:
            return await self.identify(hello.token, "play", address=address)
        if hello.token or hello.bot:
            raise ProtocolError(
                "protocol/bad_field", "With signed_in, token and bot have to be empty."
            )
        return person

    async def log_in(self, hello: Hello, identity: Identity) -> tuple[Presence, list[str]]:
        """Return the bot or person of a ``hello``; a first login creates the bot and its version.

        ``identity`` is its player.  The sentences say why the label of a bot's version keeps it out
        of competitions.
        """
        in_person = is_in_person(hello, identity)
        name = identity.player if in_person else hello.bot
        config = self._config
        if hello.digest and not _DIGEST.fullmatch(hello.digest):
            raise ProtocolError(
                "protocol/bad_field",
                "digest must be empty, or a SHA-256 as 64 hexadecimal digits in small letters.",
            )
        with storage_refusals():
            known = await self._store.known_login(
                identity.player_id, name, hello.version, hello.digest
            )
            if known is not None:
                bot, version, suspended, unhelped = known
            else:
                bot = await self._store.ensure_bot(
                    identity.player_id,
                    name,
                    _kind(identity, in_person),
                    limit=config.max_bots_per_player,
                )
            if bot.disabled_ms is not None:
                raise ProtocolError("auth/disabled")
            if known is None:
                version = await self._store.log_in(
                    bot,
                    hello.version,
                    config.max_versions_per_bot,
                    digest=hello.digest,
                    games=hello.games,
                )
                suspended, unhelped = await self._store.version_notes(bot, version, hello.version)
        presence = await self._presence(
            hello, identity, bot, version, suspended, in_person=in_person
        )
        return presence, [] if in_person else unhelped

    async def is_builtin(self, player_id: int) -> bool:
        """Return whether a player owns the built-in bots; raises `ProtocolError`."""
        if not self._builtin_player:
            with storage_refusals():
                self._builtin_player = await self._store.read(sessions.holder, BUILTIN_ROLE)
        return player_id == self._builtin_player

    async def admit_hosted(
        self, hello: Hello, ticket: Ticket | None, address: str = ""
    ) -> Presence:
        """Log in a hosted bot by its ticket; raises `ProtocolError`.

        None stands for a ticket that is not valid, which counts as a wrong token of the address.
        """
        if ticket is None:
            self._failed(address)
            raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
        wanted = ticket.wanted
        with storage_refusals():
            player = await self._store.read(people.player, wanted.player)
            bot = await self._store.ensure_bot(player.id, wanted.name, "bot")
            if player.disabled_ms is not None or bot.disabled_ms is not None:
                raise ProtocolError("auth/disabled")
            suspended = await self._store.read(suspensions.reason_of, wanted.version)
        identity = Identity(player.id, player.name, frozenset(("play",)), 0)
        presence = await self._presence(hello, identity, bot, wanted.version, suspended)
        return structs.replace(
            presence, version=wanted.label, hosted=ticket.machine, ticket=wanted.ticket
        )

    async def _presence(
        self,
        hello: Hello,
        identity: Identity,
        bot: Bot,
        version_id: int,
        suspended: str,
        *,
        in_person: bool = False,
    ) -> Presence:
        """Return the record of a bot as it will be on the connection of a ``hello``."""
        most = 1 if identity.guest else self._config.max_matches_per_bot
        return Presence(
            bot_id=bot.id,
            player_id=identity.player_id,
            player=identity.player,
            bot="" if in_person else bot.name,
            version_id=version_id,
            version=hello.version,
            kind=_kind(identity, in_person),
            since=time.time(),
            casual=identity.guest or await self.is_builtin(identity.player_id),
            suspended=suspended,
            games=frozenset(hello.games),
            max_matches=min(hello.max_matches, most),
            updates=hello.updates,
            scenes=hello.scenes,
            token_id=identity.token_id,
            session_id=identity.session_id,
            scopes=identity.scopes,
        )

    async def join(
        self,
        code: str,
        player: str,
        token: str = "",
        address: str = "",
        member: Identity | None = None,
    ) -> tuple[CompetitionRow, Joining]:
        """Join a competition by a code: with the account of a token, or with a new one.

        ``member`` is the signed-in player who joins instead, without a token.

        A code is an invitation, so it works even where registration is closed.  Wrong codes are
        limited; valid ones are not, because each has its number of uses.
        """
        player_id = None if member is None else member.player_id
        if token:
            player_id = (await self.identify(token, "play", address=address)).player_id
        # One at a time: guesses sent together count, and a class that joins together is let in.
        async with self._joining:
            who: Hashable = address if player_id is None else player_id
            if address and self._wrong_codes.left(who) < 1.0:
                raise too_many("wrong codes", self._wrong_codes, who)
            try:
                return await self._store.write(
                    join_codes.join, code, player, player_id, self._store.now()
                )
            except InvalidName as error:
                raise ProtocolError("auth/bad_name", f"{error}.") from error
            except CompetitionRefusal as error:
                if address and error.code == "competition/code_unknown":
                    self._wrong_codes.take(who)
                raise

    def may_change(self, identity: Identity) -> None:
        """Raise `ProtocolError` if players have changed too much of their own lately."""
        if not self._own_changes.take(identity.player_id):
            raise too_many("changes", self._own_changes, identity.player_id)

    def may_register(self, player: str, address: str = "") -> None:
        """Raise `ProtocolError` if an account must not be registered now.

        Registration may be closed, the name refused, or the address may have registered too many.
        """
        if self._config.registration != "open":
            raise ProtocolError("auth/registration_closed")
        with storage_refusals():
            people.check_new_name(player)
        if address and not self._registrations.take(address):
            raise too_many("new accounts from your address", self._registrations, address)

    async def register(self, player: str, address: str = "", display: str = "") -> tuple[str, str]:
        """Make an account; return its name and its token."""
        self.may_register(player, address)
        with storage_refusals(player):
            row = await self._store.add_player(player, display)
            token = await self._store.add_token(row, ("play",), label="registered")
        return row.name, token


def is_in_person(hello: Hello, identity: Identity) -> bool:
    """Return whether a player says ``hello`` without naming a bot."""
    return not hello.bot or key_of(hello.bot) == key_of(identity.player)


def _kind(identity: Identity, in_person: bool) -> str:
    if identity.guest:
        return "guest"
    return "human" if in_person else "bot"


def too_many(what: str, rate: Rate, key: Hashable) -> ProtocolError:
    """The refusal of a key that has used up a rate."""
    seconds = max(1, math.ceil(rate.wait(key)))
    return ProtocolError("auth/rate", f"Too many {what}: wait {seconds} s.", retry_after=seconds)


@contextlib.contextmanager
def storage_refusals(name: str = "") -> Iterator[None]:
    """Turn what storage refuses at a login or registration into errors for the client.

    ``name`` is that of a new player.  Details about the database are logged.
    """
    try:
        yield
    except DisplayTaken:
        raise  # it has its own code
    except StorageError as error:
        match error:
            case TokenRevoked():
                refusal = ProtocolError("auth/revoked")
            case Disabled():
                refusal = ProtocolError("auth/disabled")
            case InvalidName():
                refusal = ProtocolError("auth/bad_name", f"{error}.")
            case LimitReached():
                refusal = ProtocolError("auth/limit", _sentence(error))
            case AlreadyExists() if name:
                refusal = ProtocolError("auth/name_taken", f"The name {name!r} is taken.")
            case _:
                log.error("login or registration failed", extra={"why": str(error)})
                refusal = ProtocolError("server/storage", _sentence(error))
        raise refusal from error


def _sentence(error: StorageError) -> str:
    text = public_message(error)
    return f"{text[:1].upper()}{text[1:]}."
