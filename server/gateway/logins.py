"""Log in bots, people and spectators: a connection from ``hello`` to ``welcome``.

`plyhouse.server.accounts.registration` checks tokens;
`plyhouse.server.accounts.browser_sessions` checks the sessions of browsers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Sequence
from typing import Final, Protocol

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
from plyhouse.server.accounts.tickets import TICKET_PREFIX, Ticket
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.lobby.lobby import Lobby, read_game
from plyhouse.server.lobby.suspension import suspended_text
from plyhouse.server.table import journal
from plyhouse.server.table.counts import Counts
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.login_refunds import LoginRefunds, LoginWait
from plyhouse.server.table.pairing_plans import SeatHolder
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.presence import Presence
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.connection_limits import Full, Places
from plyhouse.server.wire.rates import client_of
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import SeatRow

__all__ = ["Logins", "Membership"]

KEPT_SECONDS: Final = 0.5
"""A login that waits longer than this for a match of another server is not charged for it."""


class Membership(Protocol):
    """The interface of the cluster for logins; a single server is a cluster of one."""

    async def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""

    async def admit(
        self, wanted: SeatHolder, session: Session, *, takeover: bool
    ) -> tuple[Participant, bool, int]:
        """Make a session the connection of its bot; see `Admission.admit`.

        Returns also how many nanoseconds the login waited because there was no leader.
        """

    def returned(self, live: LiveMatch, seat: int, waited_ns: int) -> None:
        """Excuse a bot that is back in a match here for the time that servers kept it away."""

    async def enter(
        self, match: RunningMatch, seat: int, participant: Participant, waited_ns: int
    ) -> MatchSnapshot | None:
        """Let a bot back into a match of another server; None if that has lost it."""


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
        member: Membership,
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
        self._member = member
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
            ticket = await self._member.ticket(hello.token)
            if ticket is None:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            login = await self._registration.admit_hosted(ticket)
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
        wanted = self._wanted(session, hello, login, builtin=builtin)
        release = session.hold()
        try:
            participant, was_hosted, waited = await self._member.admit(
                wanted, session, takeover=hello.takeover
            )
        except BaseException:
            release(None)
            raise
        if was_hosted:
            self._hosting.refund(self._now())
        if was_hosted or waited:  # that was given back, or is when the bot enters its matches
            self._login_refunds.skip(wait)
        self._seated[session] = participant
        self._places.play(session)
        session.admit(participant.presence)
        session.scenes = hello.scenes
        presence = participant.presence
        self._login_refunds.give_back(wait, bot)
        self._counts.logins += 1
        journal.logged_in(session, presence)
        snapshots = await self._enter(participant, session, waited, wait)
        if participant.line is not session:
            return  # it left meanwhile
        release(
            self._welcome(
                hello,
                presence.player,
                presence.bot,
                participant.key,
                presence.max_matches,
                [snapshot for _, _, snapshot in snapshots],
            )
        )
        self._login_refunds.give_back(wait, bot)
        for live, seat, snapshot in snapshots:
            if snapshot.your_turn:
                live.turn_told(seat, snapshot.ply, session)
            live.tell_who_is_away(session, seat)
        self._check_games(session, hello)
        suspended = participant.presence.suspended
        if suspended:
            session.send(Notice("auth/suspended", suspended_text(suspended)))
        self._lobby.pair_soon([presence])
        self._tournaments.advance_soon([bot])

    async def _enter(
        self, participant: Participant, session: Session, waited_ns: int, wait: LoginWait
    ) -> list[tuple[RunningMatch, int, MatchSnapshot]]:
        """Let a bot back into its matches; return what it may know of each.

        Return early if the session ends meanwhile.
        """
        entered: list[tuple[RunningMatch, int, MatchSnapshot]] = []
        elsewhere: list[tuple[RunningMatch, int]] = []
        own = self._directory.own
        for match, seat in tuple(self._directory.matches_of(participant.presence.bot_id)):
            live = own.get(match.id)
            if live is None:
                elsewhere.append((match, seat))
            else:
                self._member.returned(live, seat, waited_ns)
                updates, scenes = participant.updates, participant.scenes
                entered.append((live, seat, live.enter(seat, updates=updates, scenes=scenes)))
        for match, _, _ in tuple(entered):
            # Events in the snapshot may not be in the database yet.
            live = own.get(match.id)
            stored = None if live is None else live.durable()
            if stored is not None:
                await stored
        waiting = {
            asyncio.ensure_future(self._member.enter(match, seat, participant, waited_ns)): (
                match,
                seat,
            )
            for match, seat in elsewhere
        }
        try:
            # A login without a session must not give time back beside the next one of the bot.
            while waiting and participant.line is session:
                began = self._now()
                done, _ = await asyncio.wait(
                    waiting, timeout=KEPT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for answer in done:
                    match, seat = waiting.pop(answer)
                    snapshot = answer.result()
                    if snapshot is not None:
                        # Its owner may have changed meanwhile, even to this server.
                        entered.append((self._directory.live.get(match.id, match), seat, snapshot))
                if not done and participant.line is session:
                    self._kept_waiting(entered, began)
                    self._login_refunds.skip(wait)
        finally:
            for each in waiting:
                each.cancel()
        return entered

    def _kept_waiting(
        self, entered: Sequence[tuple[RunningMatch, int, MatchSnapshot]], since: int
    ) -> None:
        """Give a bot back the time in which another of its matches has no server.

        It may know its turns, but it hears of them only when all its matches are found.
        """
        now = self._now()
        for match, seat, _ in entered:
            found = self._directory.live.get(match.id, match)
            if not found.over:
                found.stand_still({seat: now - since}, now)

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

    def _wanted(self, session: Session, hello: Hello, login: Login, *, builtin: bool) -> SeatHolder:
        """Return the record of a bot as it will be on this connection."""
        identity, ticket = login.identity, login.ticket
        most = 1 if identity.guest else self._config.max_matches_per_bot
        presence = Presence(
            bot_id=login.bot.id,
            player_id=identity.player_id,
            player=identity.player,
            bot="" if login.in_person else login.bot.name,
            version_id=login.version_id,
            version=hello.version,
            kind="guest" if identity.guest else "human" if login.in_person else "bot",
            since=time.time(),
            hosted="" if ticket is None else ticket.machine,
            ticket="" if ticket is None else ticket.secret,
            casual=identity.guest or builtin,
            suspended=login.suspended,
            games=frozenset(hello.games),
            max_matches=min(hello.max_matches, most),
        )
        return SeatHolder(
            presence,
            0,
            0,
            hello.updates,
            hello.scenes,
            hello.session,
            identity.token_id,
            identity.session_id,
            identity.scopes,
        )

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
