"""Log in bots, people and spectators: a connection from ``hello`` to ``welcome``.

`plyhouse.server.accounts.registration` checks tokens;
`plyhouse.server.accounts.browser_sessions` checks the sessions of browsers.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Container

import msgspec

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    Hello,
    Limits,
    MatchSnapshot,
    Notice,
    Register,
    Registered,
    Welcome,
)
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.registration import Login, Registration, is_in_person
from plyhouse.server.accounts.tickets import TICKET_PREFIX
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.lobby.lobby import Lobby, read_game
from plyhouse.server.lobby.suspension import suspended_text
from plyhouse.server.table import journal
from plyhouse.server.table.counts import Counts
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.login_refunds import LoginRefunds, LoginWait
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.presence import Presence
from plyhouse.server.wire.connection_limits import Full, Places
from plyhouse.server.wire.rates import client_of
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import SeatRow

__all__ = ["Logins"]


class Logins:
    """Lets connections in as spectators, bots or people."""

    def __init__(
        self,
        config: ServerConfig,
        server: str,
        *,
        limits: ConnectionLimits,
        sessions: Container[Session],
        seated: dict[Session, Participant],
        places: Places,
        counts: Counts,
        directory: Directory,
        registration: Registration,
        browser_sessions: BrowserSessions,
        audit_follower: AuditFollower,
        hosting: Hosting,
        lobby: Lobby,
        tournaments: Tournaments,
        login_refunds: LoginRefunds,
        now: Callable[[], int],
    ) -> None:
        """``server`` is the name and version that clients get."""
        self._config = config
        self._server = server
        self._limits = limits
        self._sessions = sessions
        self._seated = seated
        self._places = places
        self._counts = counts
        self._directory = directory
        self._registration = registration
        self._browser_sessions = browser_sessions
        self._audit_follower = audit_follower
        self._hosting = hosting
        self._lobby = lobby
        self._tournaments = tournaments
        self._login_refunds = login_refunds
        self._now = now

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        try:
            player, token = await self._registration.register(
                message.player, client_of(session.address)
            )
        except ProtocolError as error:
            journal.registration_refused(session, message.player, error)
            raise
        journal.registered(session, player)
        session.send(Registered(message.id, player, token))

    async def login(self, session: Session, hello: Hello, stamp: int) -> None:
        """Log in a bot with all of its running matches.

        Without token and name, log in a spectator.
        """
        if not (hello.token or hello.bot or hello.games or hello.signed_in):
            try:
                self._places.watch(session)
            except Full as full:
                raise ProtocolError("server/overloaded", f"{full} Try again later.") from None
            session.scenes = hello.scenes
            session.send(self._welcome(hello, "", "", "", 0, []))
            return
        try:
            with self._login_refunds.begin(session, stamp) as wait:
                await self._log_in(session, hello, wait)
        except ProtocolError as error:
            self._counts.refused[error.code] += 1
            journal.login_refused(session, hello, error)
            raise

    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        person = await self._browser_sessions.at(session.upgrade) if hello.signed_in else None
        if hello.token.startswith(TICKET_PREFIX):
            ticket = self._hosting.ticket(hello.token)
            if ticket is None:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            login = await self._registration.admit_hosted(ticket)
            if self._hosting.ticket(hello.token) is not ticket:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            hello = msgspec.structs.replace(hello, version=ticket.label, takeover=True)
        else:
            identity = await self._registration.player_of(hello, client_of(session.address), person)
            wait.player_id = identity.player_id
            wait.bot = "" if is_in_person(hello, identity) else key_of(hello.bot)
            login = await self._registration.log_in(hello, identity)
        builtin = await self._registration.is_builtin(login.identity.player_id)
        if session not in self._sessions:
            return  # it left meanwhile
        self._audit_follower.check(login)
        if login.identity.player_id in self._browser_sessions.forgotten:  # while it logged in
            raise ProtocolError("auth/signed_out")
        bot = login.bot.id
        participant = self._directory.participants.get(bot) or self._participant(login)
        presence = participant.presence
        if login.ticket is None and presence.hosted and self._hosting.holds(bot):
            raise ProtocolError("bot/hosted")
        other = participant.line
        if other is not None:
            known = _same_key(hello.session, participant.key)
            if not known and not hello.takeover:
                raise ProtocolError("auth/already_connected", _already(presence))
            other.fail("auth/replaced")
        if presence.hosted and participant.line is None:
            self._hosting.refund(self._now())
            self._login_refunds.skip(wait)
        self._settle_in(participant, session, hello, login, builtin=builtin)
        presence = participant.presence
        self._login_refunds.give_back(wait, bot)
        self._counts.logins += 1
        journal.logged_in(session, presence)
        now = self._now()
        entered = []
        for live, seat in tuple(self._directory.matches_of(bot)):
            live.match.audience.subscribe(seat, updates=hello.updates, scenes=hello.scenes)
            live.reconnected(seat)
            entered.append((live, seat))
        release = session.hold()
        snapshots = [live.match.snapshot(seat, now) for live, seat in entered]
        for live, _ in entered:
            # Events in the snapshot may not be in the database yet.
            stored = live.durable()
            if stored is not None:
                await stored
        release(
            self._welcome(
                hello,
                presence.player,
                presence.bot,
                participant.key,
                presence.max_matches,
                snapshots,
            )
        )
        self._login_refunds.give_back(wait, bot)
        for (live, seat), snapshot in zip(entered, snapshots, strict=True):
            if snapshot.your_turn:
                live.turn_told(seat, snapshot.ply, session)
            live.tell_who_is_away(session, seat)
        self._check_games(session, hello)
        suspended = participant.presence.suspended
        if suspended:
            session.send(Notice("auth/suspended", suspended_text(suspended)))
        self._lobby.pair_soon([presence])
        self._tournaments.advance_soon([bot])

    def _welcome(
        self,
        hello: Hello,
        player: str,
        bot: str,
        key: str,
        max_matches: int,
        matches: list[MatchSnapshot],
    ) -> Welcome:
        return Welcome(
            re=hello.id,
            player=player,
            bot=bot,
            session=key,
            protocol=PROTOCOL_VERSION,
            server=self._server,
            time_ms=time.time_ns() // 1_000_000,
            heartbeat_ms=int(self._config.heartbeat * 1000),
            limits=Limits(self._limits.max_frame, max_matches),
            matches=matches,
        )

    def _participant(self, login: Login) -> Participant:
        participant = self._directory.add(
            Presence(
                player_id=login.identity.player_id,
                player=login.identity.player,
                bot_id=login.bot.id,
                bot="" if login.in_person else login.bot.name,
            )
        )
        self._directory.come_back(participant)
        return participant

    def _settle_in(
        self,
        participant: Participant,
        session: Session,
        hello: Hello,
        login: Login,
        *,
        builtin: bool,
    ) -> None:
        """Make the session the connection of its bot."""
        identity, ticket = login.identity, login.ticket
        kind = "guest" if identity.guest else "human" if login.in_person else "bot"
        most = 1 if identity.guest else self._config.max_matches_per_bot
        participant.session_id = identity.session_id
        participant.scopes = identity.scopes
        participant.token_id = identity.token_id
        participant.updates, participant.scenes = hello.updates, hello.scenes
        # Ending the other connection may have removed the participant.
        self._directory.enter(
            participant,
            session,
            since=time.time(),
            version=hello.version,
            version_id=login.version_id,
            suspended=login.suspended,
            hosted="" if ticket is None else ticket.machine,
            ticket="" if ticket is None else ticket.secret,
            kind=kind,
            casual=identity.guest or builtin,
            games=frozenset(hello.games),
            max_matches=min(hello.max_matches, most),
        )
        self._seated[session] = participant
        self._places.play(session)
        session.admit(participant.presence)
        session.scenes = hello.scenes

    def _check_games(self, session: Session, hello: Hello) -> None:
        """Warn a bot about offered games that the server does not know.

        Nobody can invite it to them.
        """
        for spec in hello.games:
            try:
                read_game(spec)
            except ProtocolError as error:
                session.send(Notice(error.code, error.message))

    def holder(self, seat: SeatRow) -> Participant:
        """Return the participant of a stored seat, who is offline after a restart."""
        participant = self._directory.participants.get(seat.bot_id)
        if participant is not None:
            return participant
        in_person = seat.bot.lower() == seat.player.lower()
        return self._directory.add(
            Presence(
                player_id=seat.player_id,
                player=seat.player,
                bot_id=seat.bot_id,
                bot="" if in_person else seat.bot,
                version_id=seat.version_id,
                version=seat.version,
                kind="human" if in_person else "bot",
            )
        )


def _same_key(said: str, key: str) -> bool:
    """Compare session keys in constant time."""
    return secrets.compare_digest(said.encode(errors="surrogatepass"), key.encode())


def _already(presence: Presence) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(presence.since))
    return (
        f"{presence.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
