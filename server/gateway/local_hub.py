"""The hub of matches on one machine: no database, accounts, lobby, competitions or hosting.

It is the referee of ``plyhouse match``, ``plyhouse play`` and ``plyhouse bot check``.
"""

from __future__ import annotations

import secrets
import time
from typing import Final, Self

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Hello, Register
from plyhouse.server.accounts.tickets import TicketOffice
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.bot_connections import BotConnections
from plyhouse.server.gateway.match_hub import MatchHub
from plyhouse.server.gateway.match_requests import MatchRequests
from plyhouse.server.gateway.membership import Membership, Sockets
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table import journal
from plyhouse.server.table.kept_matches import KeptMatches
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.server.table.refunds import LoginWait
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of, name_problem, normal

TOKEN_BYTES: Final = 16


class LocalHub(MatchHub):
    """A hub whose players exist as long as it does."""

    def __init__(self, config: ServerConfig) -> None:
        super().__init__(config, time.monotonic_ns)
        self.kept = KeptMatches()
        """The events of the last matches."""
        self.live_matches = LiveMatches(
            config,
            self.kept,
            self.directory,
            time.monotonic_ns,
            on_over=self._match_over,
            rating_of=lambda game, version: None,
            settle_stalls=self._settle_stalls,
        )
        self.requests = MatchRequests(self.directory, self.connections)
        self.member = Membership(Sockets(BotConnections(self.directory, TicketOffice())))
        self._entrance = self._make_entrance()
        self._players: dict[str, tuple[int, str]] = {}
        """The id and name of the player of each token."""
        self._bots: dict[tuple[int, str], int] = {}
        """The id of each bot, by its player and the key of its name."""

    def add_player(self, name: str) -> str:
        """Add a player, and return the token of its bots."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._players[token] = len(self._players) + 1, name
        return token

    async def register(self, session: Session, message: Register) -> None:
        """Refuse to make an account; raises `ProtocolError`."""
        raise ProtocolError("auth/registration_closed")

    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        if hello.token not in self._players:
            raise ProtocolError("auth/bad_token")
        wait.player_id, player = self._players[hello.token]
        name = normal(hello.bot)
        problem = name_problem(name) if name else ""
        if problem:
            raise ProtocolError("auth/bad_name", f"{name!r} cannot name a bot: {problem}.")
        in_person = key_of(name) in ("", key_of(player))
        wait.bot = "" if in_person else key_of(name)
        presence = Presence(
            bot_id=self._bots.setdefault((wait.player_id, wait.bot), len(self._bots) + 1),
            player_id=wait.player_id,
            player=player,
            bot="" if in_person else name,
            version=hello.version,
            kind="human" if in_person else "bot",
            since=time.time(),
            games=frozenset(hello.games),
            max_matches=min(hello.max_matches, self.config.max_matches_per_bot),
            updates=hello.updates,
            scenes=hello.scenes,
        )
        await self._entrance.let_in(session, hello, presence, wait)

    def _match_over(self, match: MatchSummary) -> None:
        self.counts.ended(match.outcome)
        journal.match_over(match)
        for bot in match.bots:
            self.directory.forget(bot)

    async def close(self) -> None:
        """Stop: end all connections, and forget all matches."""
        await self.say_goodbye()
        self.watchdog.stop()
        await self._end_tasks()
        await self.live_matches.close()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
