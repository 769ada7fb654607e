"""Log in bots, people and spectators: a connection from ``hello`` to ``welcome``.

`plyhouse.server.accounts.registration` checks tokens; `plyhouse.server.accounts.visitors` knows who
is signed in at a browser.
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
from plyhouse.server.accounts.registration import Login, Registration, is_in_person
from plyhouse.server.accounts.tickets import TICKET_PREFIX
from plyhouse.server.accounts.visitors import Visitors
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.config import ServerConfig
from plyhouse.server.contests.competitions import Competitions
from plyhouse.server.hosting.plan import Hosting
from plyhouse.server.lobby.lobby import Lobby, read_game
from plyhouse.server.lobby.probation import suspended_text
from plyhouse.server.table import journal
from plyhouse.server.table.counts import Counts
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.login_waits import LoginWait, LoginWaits
from plyhouse.server.table.participants import Participant
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
        visitors: Visitors,
        audit_follower: AuditFollower,
        hosting: Hosting,
        lobby: Lobby,
        competitions: Competitions,
        login_waits: LoginWaits,
        builtin_player: Callable[[], int],
        now: Callable[[], int],
    ) -> None:
        """``server`` is the name and version that clients get.

        ``builtin_player`` returns the player of the built-in bots, or 0.
        """
        self._config = config
        self._server = server
        self._limits = limits
        self._sessions = sessions
        self._seated = seated
        self._places = places
        self._counts = counts
        self._directory = directory
        self._registration = registration
        self._visitors = visitors
        self._audit_follower = audit_follower
        self._hosting = hosting
        self._lobby = lobby
        self._competitions = competitions
        self._login_waits = login_waits
        self._builtin_player = builtin_player
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
            with self._login_waits.begin(session, stamp) as wait:
                await self._log_in(session, hello, wait)
        except ProtocolError as error:
            self._counts.refused[error.code] += 1
            journal.login_refused(session, hello, error)
            raise

    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        forgotten = self._visitors.forgotten
        person = await self._visitors.at(session.upgrade) if hello.signed_in else None
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
        if session not in self._sessions:
            return  # it left meanwhile
        self._audit_follower.check(login)
        if login.identity.guest and self._visitors.overtaken(login.identity.player_id, forgotten):
            raise ProtocolError("auth/signed_out")
        participant = self._directory.participants.get(login.bot.id)
        if participant is None:
            participant = self._participant(login)
        if login.ticket is None and participant.hosted and self._hosting.holds(login.bot.id):
            raise ProtocolError("bot/hosted")
        other = participant.line
        if other is not None:
            known = _same_key(hello.session, participant.key)
            if not known and not hello.takeover:
                raise ProtocolError("auth/already_connected", _already(participant))
            other.fail("auth/replaced")
        if participant.hosted and participant.line is None:
            self._hosting.credit(self._now())
            self._login_waits.skip(wait)
        self._settle_in(participant, session, hello, login)
        self._login_waits.give_back(wait, participant)
        self._counts.logins += 1
        journal.logged_in(session, participant)
        now = self._now()
        entered = []
        for live, seat in tuple(self._directory.matches_of(participant)):
            live.match.subscribe(seat, updates=hello.updates, scenes=hello.scenes)
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
                participant.player,
                participant.bot,
                participant.key,
                participant.max_matches,
                snapshots,
            )
        )
        self._login_waits.give_back(wait, participant)
        for (live, seat), snapshot in zip(entered, snapshots, strict=True):
            if snapshot.your_turn:
                live.turn_told(seat, snapshot.ply, session)
            live.tell_who_is_away(session, seat)
        self._check_games(session, hello)
        if participant.suspended:
            session.send(Notice("auth/suspended", suspended_text(participant.suspended)))
        self._lobby.pair_soon([participant])
        self._competitions.advance_soon([participant.bot_id])

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
        participant = Participant(
            player_id=login.identity.player_id,
            player=login.identity.player,
            bot_id=login.bot.id,
            bot="" if login.in_person else login.bot.name,
        )
        self._directory.participants[login.bot.id] = participant
        self._directory.come_back(participant)
        return participant

    def _settle_in(
        self, participant: Participant, session: Session, hello: Hello, login: Login
    ) -> None:
        """Make the session the connection of its bot."""
        # Ending the other connection may have removed the participant.
        self._directory.enter(participant, session)
        participant.since = time.time()
        participant.version, participant.version_id = hello.version, login.version_id
        participant.suspended = login.suspended
        participant.hosted = "" if login.ticket is None else login.ticket.machine
        participant.ticket = "" if login.ticket is None else login.ticket.secret
        participant.kind = "human" if login.in_person else "bot"
        if login.identity.guest:
            participant.kind = "guest"
        participant.session_id = login.identity.session_id
        builtin = login.identity.player_id == self._builtin_player()
        participant.casual = login.identity.guest or builtin
        participant.scopes = login.identity.scopes
        participant.token_id = login.identity.token_id
        participant.games = frozenset(hello.games)
        most = 1 if login.identity.guest else self._config.max_matches_per_bot
        participant.max_matches = min(hello.max_matches, most)
        participant.updates, participant.scenes = hello.updates, hello.scenes
        self._seated[session] = participant
        self._places.play(session)
        session.admit(participant)
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
        if participant is None:
            in_person = seat.bot.lower() == seat.player.lower()
            participant = self._directory.participants[seat.bot_id] = Participant(
                player_id=seat.player_id,
                player=seat.player,
                bot_id=seat.bot_id,
                bot="" if in_person else seat.bot,
                version_id=seat.version_id,
                version=seat.version,
                kind="human" if in_person else "bot",
            )
        return participant


def _same_key(said: str, key: str) -> bool:
    """Compare session keys in constant time."""
    return secrets.compare_digest(said.encode(errors="surrogatepass"), key.encode())


def _already(participant: Participant) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(participant.since))
    return (
        f"{participant.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
