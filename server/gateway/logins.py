"""Who comes in: accounts are made, bots and people log in, and find their running matches.

The hub's part of a connection from ``hello`` to ``welcome``; whose tokens are good is decided by
`plyhouse.server.accounts.registration`, and who signed in at a browser by `visitors`.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import msgspec

from plyhouse.protocol.errors import ProtocolError
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
from plyhouse.server.accounts.registration import Login, is_in_person
from plyhouse.server.hosting.plan import TICKET_PREFIX
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.lobby.probation import suspended_text
from plyhouse.server.table import journal
from plyhouse.server.table.login_waits import LoginWait
from plyhouse.server.table.participants import Participant
from plyhouse.server.wire.connection_limits import Full
from plyhouse.server.wire.session import Session
from plyhouse.storage.rows import SeatRow

if TYPE_CHECKING:
    from plyhouse.server.gateway.hub import Hub

__all__ = ["Logins"]


class Logins:
    """Lets connections of a hub in."""

    def __init__(self, hub: Hub, server: str) -> None:
        self._hub = hub
        self._server = server
        """Name and version, as clients are told."""

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        hub = self._hub
        try:
            player, token = await hub.registration.register(message.player, session.address)
        except ProtocolError as error:
            journal.registration_refused(session, message.player, error)
            raise
        journal.registered(session, player)
        session.send(Registered(message.id, player, token))

    async def login(self, session: Session, hello: Hello, stamp: int) -> None:
        """Let a bot in, with all of its running matches; without token and name, a spectator."""
        hub = self._hub
        if not (hello.token or hello.bot or hello.games or hello.signed_in):
            try:
                hub.places.watch(session)
            except Full as full:
                raise ProtocolError("server/overloaded", f"{full} Try again later.") from None
            session.scenes = hello.scenes
            session.send(self._welcome(hello, "", "", "", 0, []))
            return
        try:
            with hub.login_waits.begin(session, stamp) as wait:
                await self._log_in(session, hello, wait)
        except ProtocolError as error:
            hub.counts.refused[error.code] += 1
            journal.login_refused(session, hello, error)
            raise

    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        hub = self._hub
        forgotten = hub.visitors.forgotten
        person = await hub.visitors.at(session.upgrade) if hello.signed_in else None
        if hello.token.startswith(TICKET_PREFIX):
            ticket = hub.hosting.ticket(hello.token)
            if ticket is None:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            login = await hub.registration.admit_hosted(ticket)
            if hub.hosting.ticket(hello.token) is not ticket:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            hello = msgspec.structs.replace(hello, version=ticket.label, takeover=True)
        else:
            identity = await hub.registration.player_of(hello, session.address, person)
            wait.player_id = identity.player_id
            wait.bot = "" if is_in_person(hello, identity) else hello.bot.lower()
            login = await hub.registration.log_in(hello, identity)
        if session not in hub.sessions:
            return  # it left meanwhile
        hub.audit_follower.check(login)
        if login.identity.guest and hub.visitors.overtaken(login.identity.player_id, forgotten):
            raise ProtocolError("auth/signed_out")
        participant = hub.directory.participants.get(login.bot.id)
        if participant is None:
            participant = self._participant(login)
        if login.ticket is None and participant.hosted and hub.hosting.holds(login.bot.id):
            raise ProtocolError("bot/hosted")
        other = participant.line
        if other is not None:
            known = _same_key(hello.session, participant.key)
            if not known and not hello.takeover:
                raise ProtocolError("auth/already_connected", _already(participant))
            other.fail("auth/replaced")
        if participant.hosted and participant.line is None:
            hub.hosting.credit(hub.now())
            hub.login_waits.skip(wait)
        self._settle_in(participant, session, hello, login)
        hub.login_waits.give_back(wait, participant)
        hub.counts.logins += 1
        journal.logged_in(session, participant)
        now = hub.now()
        entered = []
        for live, seat in tuple(hub.directory.matches_of(participant)):
            live.match.subscribe(seat, updates=hello.updates, scenes=hello.scenes)
            live.reconnected(seat)
            entered.append((live, seat))
        release = session.hold()
        snapshots = [live.match.snapshot(seat, now) for live, seat in entered]
        for live, _ in entered:
            # What the snapshot shows may still be on its way to the database.
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
        hub.login_waits.give_back(wait, participant)
        for (live, seat), snapshot in zip(entered, snapshots, strict=True):
            if snapshot.your_turn:
                live.turn_told(seat, snapshot.ply, session)
            live.tell_who_is_away(session, seat)
        self._check_games(session, hello)
        if participant.suspended:
            session.send(Notice("auth/suspended", suspended_text(participant.suspended)))
        hub.lobby.pair_soon([participant])
        hub.competitions.advance_soon([participant.bot_id])

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
            heartbeat_ms=int(self._hub.config.heartbeat * 1000),
            limits=Limits(self._hub.limits.max_frame, max_matches),
            matches=matches,
        )

    def _participant(self, login: Login) -> Participant:
        hub = self._hub
        participant = Participant(
            player_id=login.identity.player_id,
            player=login.identity.player,
            bot_id=login.bot.id,
            bot="" if login.in_person else login.bot.name,
        )
        hub.directory.participants[login.bot.id] = participant
        hub.directory.come_back(participant)
        return participant

    def _settle_in(
        self, participant: Participant, session: Session, hello: Hello, login: Login
    ) -> None:
        """Make the session the connection of its bot."""
        hub = self._hub
        # Ending the other connection may have put the participant away.
        hub.directory.enter(participant, session)
        participant.since = time.time()
        participant.version, participant.version_id = hello.version, login.version_id
        participant.suspended = login.suspended
        participant.hosted = "" if login.ticket is None else login.ticket.machine
        participant.ticket = "" if login.ticket is None else login.ticket.secret
        participant.kind = "human" if login.in_person else "bot"
        if login.identity.guest:
            participant.kind = "guest"
        participant.session_id = login.identity.session_id
        participant.casual = login.identity.guest or (login.identity.player_id == hub.house_player)
        participant.scopes = login.identity.scopes
        participant.token_id = login.identity.token_id
        participant.games = frozenset(hello.games)
        most = 1 if login.identity.guest else hub.config.max_matches_per_bot
        participant.max_matches = min(hello.max_matches, most)
        participant.updates, participant.scenes = hello.updates, hello.scenes
        hub.seated[session] = participant
        hub.places.play(session)
        session.admit(participant)
        session.scenes = hello.scenes

    def _check_games(self, session: Session, hello: Hello) -> None:
        """Tell a bot of games it offers that are not known here: it will never be asked."""
        for spec in hello.games:
            try:
                read_game(spec)
            except ProtocolError as error:
                session.send(Notice(error.code, error.message))

    def holder(self, seat: SeatRow) -> Participant:
        """The participant of a stored seat, who is away after a restart."""
        hub = self._hub
        participant = hub.directory.participants.get(seat.bot_id)
        if participant is None:
            in_person = seat.bot.lower() == seat.player.lower()
            participant = hub.directory.participants[seat.bot_id] = Participant(
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
    """Whether a session key is right, in a time that tells nothing of it."""
    return secrets.compare_digest(said.encode(errors="surrogatepass"), key.encode())


def _already(participant: Participant) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(participant.since))
    return (
        f"{participant.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
