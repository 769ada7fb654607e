"""Find out who says ``hello``, and let them in.

`plyhouse.server.gateway.entrance` lets in a bot that is known.
`plyhouse.server.accounts.registration` checks tokens;
`plyhouse.server.accounts.browser_sessions` checks the sessions of browsers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Hello, Notice, Register, Registered
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.registration import Registration, is_in_person
from plyhouse.server.accounts.tickets import TICKET_PREFIX
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.entrance import Connections, Entrance
from plyhouse.server.gateway.membership import Sockets
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.lobby.suspension import suspended_text
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.refunds import LoginWait
from plyhouse.server.wire.limits import client_of
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of

GAMES_READ: Final = 48
"""Games of a ``hello`` about which a bot may be warned; more than there are."""


class Logins:
    """Lets connections in as bots or people."""

    def __init__(
        self,
        config: ServerConfig,
        entrance: Entrance,
        *,
        connections: Connections,
        registration: Registration,
        browser_sessions: BrowserSessions,
        audit_follower: AuditFollower,
        sockets: Sockets,
        on_entered: Callable[[Presence], None],
    ) -> None:
        """``on_entered`` is called for bots that have been let in."""
        self._config = config
        self._entrance = entrance
        self._sessions = connections.sessions
        self._journal = connections.journal
        self._sockets = sockets
        self._registration = registration
        self._browser_sessions = browser_sessions
        self._audit_follower = audit_follower
        self._on_entered = on_entered

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        try:
            player, token = await self._registration.register(
                message.player, client_of(session.address)
            )
        except ProtocolError as error:
            self._journal.registration_refused(session, message.player, error)
            raise
        self._journal.registered(session, player)
        session.send(Registered(message.id, player, token))

    async def log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        """Let in a bot or person; raises `ProtocolError`."""
        unhelped: list[str] = []
        address = client_of(session.address)
        person = await self._browser_sessions.at(session.upgrade) if hello.signed_in else None
        if hello.token.startswith(TICKET_PREFIX):
            ticket = await self._sockets.ticket(hello.token)
            wanted = await self._registration.admit_hosted(hello, ticket, address)
            hello = msgspec.structs.replace(hello, takeover=True)
        else:
            identity = await self._registration.player_of(hello, address, person)
            wait.player_id = identity.player_id
            wait.bot = "" if is_in_person(hello, identity) else key_of(hello.bot)
            wanted, unhelped = await self._registration.log_in(hello, identity)
        if session not in self._sessions:
            return  # it left meanwhile
        self._audit_follower.check(wanted)
        if wanted.player_id in self._browser_sessions.forgotten:  # while it logged in
            raise ProtocolError("auth/signed_out")
        participant = await self._entrance.let_in(session, hello, wanted, wait)
        if participant is None:
            return
        self._check_games(session, hello)
        suspended = participant.presence.suspended
        if suspended:
            session.send(Notice("auth/suspended", suspended_text(suspended)))
        self._on_entered(participant.presence)
        for why in unhelped:
            session.send(Notice("help/required", why))

    def _check_games(self, session: Session, hello: Hello) -> None:
        """Warn a bot about offered games that the server does not know.

        Nobody can invite it to them.  Only the first games are read, because 256 took 20 ms.
        """
        for spec in hello.games[:GAMES_READ]:
            try:
                read_game(spec)
            except ProtocolError as error:
                session.send(Notice(error.code, error.message))
