"""The hub: everything a server does, apart from how frames travel.

It owns the database, the matches, the bots and their connections, and hands every request to the
part that knows about it.  Transports attach connections with `Hub.attach`; the rest happens in
callbacks on one event loop.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import secrets
import time
from collections.abc import Callable, Container, Coroutine
from typing import Any, Final

import msgspec

from plyhouse.games.registry import add_game_file
from plyhouse.protocol.codec import MSGPACK, Codec, codec_for
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    AcceptDraw,
    Act,
    Answer,
    Challenge,
    ClientMessage,
    DeclineDraw,
    Hello,
    Limits,
    MatchMessage,
    MatchSnapshot,
    Notice,
    OfferDraw,
    Ok,
    Ready,
    Register,
    Registered,
    Resign,
    Seek,
    Sync,
    Unseek,
    Unwatch,
    Watch,
    Welcome,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.house import journal
from plyhouse.server.house.boards import Boards
from plyhouse.server.house.classes import Classes
from plyhouse.server.house.competitions import Competitions
from plyhouse.server.house.counts import Counts
from plyhouse.server.house.directory import Directory
from plyhouse.server.house.exports import Exports
from plyhouse.server.house.handing_in import HandingIn
from plyhouse.server.house.health import HealthCheck
from plyhouse.server.house.hosting import TICKET_PREFIX, Hosting
from plyhouse.server.house.house_bots import HouseBots
from plyhouse.server.house.live import LiveMatch
from plyhouse.server.house.lobby import Lobby, read_game
from plyhouse.server.house.matches import MatchRunner
from plyhouse.server.house.oversight import Oversight
from plyhouse.server.house.participants import Participant
from plyhouse.server.house.privacy import Privacy
from plyhouse.server.house.probation import Watch as ForfeitWatch
from plyhouse.server.house.probation import suspended_text
from plyhouse.server.house.registration import Login, Registration
from plyhouse.server.house.reports import Reports
from plyhouse.server.house.reviews import Reviews
from plyhouse.server.house.visitors import Visitors
from plyhouse.server.house.watchdog import Watchdog
from plyhouse.server.match.outcomes import VOID
from plyhouse.server.results.leaderboards import Leaderboards
from plyhouse.server.wire.door import Full, Places
from plyhouse.server.wire.memory import MemoryClient, link
from plyhouse.server.wire.session import Session
from plyhouse.server.wire.transport import Transport
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import SeatRow
from plyhouse.storage.store import Store

__all__ = ["Hub", "server_version"]

log = logging.getLogger("plyhouse.server")

SWEEP_SECONDS: Final = 0.25
"""How often connections are asked whether something is due: pings, silence, missing logins."""
NO_SUCH_MATCH: Final = "No such match is being played."
LONG_STALL_NS: Final = 100_000_000
"""Standstills that count for the silence of connections, which is measured in seconds."""


def server_version() -> str:
    """Name and version of this program."""
    try:
        return f"plyhouse {importlib.metadata.version('plyhouse')}"
    except importlib.metadata.PackageNotFoundError:
        return "plyhouse"


class Hub:
    """A server without its transports; made by `Hub.open`."""

    def __init__(
        self, config: ServerConfig, store: Store, now: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.config = config
        self.store = store
        self.now = now
        """Monotonic nanoseconds, for everything that is measured."""
        self.started = now()
        self.counts = Counts()
        self.sessions: set[Session] = set()
        self.directory = Directory()
        self.places = Places(
            config.max_connections,
            spectators=config.max_spectators,
            per_address=config.max_connections_per_address,
            strangers_per_address=config.max_logins_per_address,
        )
        self._seated: dict[Session, Participant] = {}
        """Who logged in on each connection."""
        self.stopping = False
        self.ratings = Leaderboards(store)
        self.watchdog = Watchdog(now, self._stalled)
        self.runner = MatchRunner(
            config,
            store,
            self.directory,
            now,
            on_over=self._match_over,
            rating_of=self.ratings.rating_of,
            settle_stalls=self.watchdog.beat,
        )
        self.registration = Registration(config, store, now)
        self.visitors = Visitors(
            *(config, store, self.registration, now), playing=self._plays, leaving=self._forget
        )
        self.house_bots: HouseBots | None = None
        """Starts bots for people to play against; None where there are none."""
        self.house_player = 0
        """The player of these bots; 0 before there was any."""
        self.lobby = Lobby(config, self.runner, self.directory)
        self.competitions = Competitions(store, self.runner, self.directory)
        self.hosting = Hosting(store, self.directory, self.competitions, now)
        self.competitions.room_of_hosted = self.hosting.room
        self.classes = Classes(config, store, self.competitions, self.directory)
        self.privacy = Privacy(store)
        self.boards = Boards(store)
        self.reports = Reports(store, self.boards)
        self.exports = Exports(store, self.boards, self.privacy)
        self.oversight = Oversight(self)
        self.probation = ForfeitWatch(config, store, self.oversight.look)
        self.reviews = Reviews(config)
        self.handing_in = HandingIn(config, store, now)
        self.health = HealthCheck(store, self.runner.writer, now)
        self._limits = ConnectionLimits(
            hello_timeout_ns=int(config.auth_timeout * 1e9),
            heartbeat_ns=int(config.heartbeat * 1e9),
            silence_ns=int(config.peer_timeout * 1e9),
            messages_per_second=config.messages_per_second,
            message_burst=2 * config.messages_per_second,
            mistakes_per_second=config.mistakes_per_second,
            mistake_burst=10 * config.mistakes_per_second,
        )
        self._server = server_version()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._requests: dict[type, Callable[[Session, Any, Any, int], None]] = {
            Ready: self._ready,
            Seek: lambda session, who, message, _: session.send(self.lobby.seek(who, message)),
            Unseek: lambda session, who, message, _: session.send(self.lobby.unseek(who, message)),
            Challenge: lambda session, who, message, _: session.send(
                self.lobby.challenge(who, message)
            ),
            Answer: lambda session, who, message, _: session.send(self.lobby.answer(who, message)),
            Resign: self._resign,
            OfferDraw: self._offer_draw,
            AcceptDraw: self._accept_draw,
            DeclineDraw: self._decline_draw,
            Sync: self._sync,
            Watch: self._watch,
            Unwatch: self._unwatch,
        }

    @classmethod
    async def open(
        cls,
        config: ServerConfig,
        *,
        store: Store | None = None,
        now: Callable[[], int] = time.monotonic_ns,
    ) -> Hub:
        """Open the database and take up what was running when the last server stopped.

        Raises `plyhouse.storage.errors.StorageError` when the database cannot be used, and
        `plyhouse.games.errors.GameError` for a file of ``config.game_files`` that is no game.
        ``store`` is one that is open already; the hub closes it in the end all the same.
        """
        for source in filter(None, map(str.strip, config.game_files.split(","))):
            add_game_file(source)
        if store is None:
            store = await Store.open(config.database)
        try:
            await store.claim()
            await store.apply(())  # a database that cannot be written is found out now
            hub = cls(config, store, now)
            await hub.ratings.start()
            resumed = await hub.runner.restore(hub._holder)
            if resumed:
                log.info("matches of the last run resumed", extra={"matches": resumed})
            await hub.competitions.restore()
            await hub.classes.start()
            await hub.oversight.start()
            hub.visitors.start()
        except BaseException:
            await store.close()
            raise
        hub.watchdog.start()
        hub._sweep()
        return hub

    # ------------------------------------------------------------------ connections

    def attach(self, transport: Transport, subprotocol: str) -> Session:
        """Make the session of a new connection."""
        return self._attach(transport, codec_for(subprotocol))

    def connect(self, codec: Codec = MSGPACK) -> MemoryClient:
        """Connect a client in this process; it speaks the same protocol as any other."""
        return link(lambda transport: self._attach(transport, codec), self.now)

    def _attach(self, transport: Transport, codec: Codec) -> Session:
        session = Session(self, transport, codec, self._limits, self.config.max_queue)
        self.counts.connections += 1
        journal.connected(session)
        self.sessions.add(session)
        if self.stopping:
            session.fail("server/shutting_down")
            return session
        try:
            gone = self.places.enter(session, transport.peer.rpartition(":")[0])
        except Full as full:
            session.fail("server/overloaded", f"{full} Try again later.")
        else:
            if isinstance(gone, Session):
                gone.fail("server/overloaded", "Others wait: log in at once after connecting.")
        return session

    def spent(self, session: Session, nanoseconds: int) -> None:
        """Note for how long the server was busy with what a connection sent."""
        self.watchdog.note(session, nanoseconds)

    def left(self, session: Session) -> None:
        """A connection is over, whoever ended it."""
        self.sessions.discard(session)
        self.places.leave(session)
        for match_id in tuple(session.watching):
            live = self.directory.match(match_id)
            if live is not None:
                live.unwatch(session)
        session.watching.clear()
        participant = self._seated.pop(session, None)
        journal.left(session, participant)
        if participant is None or participant.line is not session:
            return
        self.directory.leave(participant)
        self.lobby.leave(participant)
        for live, seat in self.directory.matches_of(participant):
            live.disconnected(seat)
        self.directory.forget(participant)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something of a session that must wait for the database."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sweep(self) -> None:
        now = self.now()
        for session in tuple(self.sessions):
            session.tick(now)
        self.hosting.credit(now)
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def _stalled(self, begin: int, end: int, busy_ns: int) -> None:
        self.runner.stalled(begin, end, busy_ns, self.watchdog.spent)
        if end - begin > LONG_STALL_NS:
            who, spent = self.watchdog.busiest()
            told, work = (end - begin) // 1_000_000, busy_ns // 1_000_000
            if who is None:  # nobody's frames were read meanwhile
                log.warning("the server stood still for %d ms: %d ms at work", told, work)
            else:
                log.warning(
                    "the server stood still for %d ms: %d ms at work, of which %d ms for %r",
                    told,
                    work,
                    spent // 1_000_000,
                    who,
                )
            for session in self.sessions:
                session.connection.forgive(end - begin)

    # ------------------------------------------------------------------------- logging in

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        try:
            player, token = await self.registration.register(message.player, session.address)
        except ProtocolError as error:
            journal.registration_refused(session, message.player, error)
            raise
        journal.registered(session, player)
        session.send(Registered(message.id, player, token))

    async def login(self, session: Session, hello: Hello) -> None:
        """Let a bot in, with all of its running matches; without token and name, a spectator."""
        if not (hello.token or hello.bot or hello.games or hello.signed_in):
            try:
                self.places.watch(session)
            except Full as full:
                raise ProtocolError("server/overloaded", f"{full} Try again later.") from None
            session.scenes = hello.scenes
            session.send(self._welcome(hello, "", "", "", 0, []))
            return
        try:
            await self._log_in(session, hello)
        except ProtocolError as error:
            self.counts.refused[error.code] += 1
            journal.login_refused(session, hello, error)
            raise

    async def _log_in(self, session: Session, hello: Hello) -> None:
        forgotten = self.visitors.forgotten
        person = await self.visitors.at(session.upgrade) if hello.signed_in else None
        if hello.token.startswith(TICKET_PREFIX):
            ticket = self.hosting.ticket(hello.token)
            if ticket is None:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            login = await self.registration.admit_hosted(ticket)
            if self.hosting.ticket(hello.token) is not ticket:
                raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
            hello = msgspec.structs.replace(hello, version=ticket.label, takeover=True)
        else:
            login = await self.registration.log_in(hello, session.address, person)
        if session not in self.sessions:
            return  # it left meanwhile
        self.oversight.check(login)
        if login.identity.guest and self.visitors.overtaken(login.identity.player_id, forgotten):
            raise ProtocolError("auth/signed_out")
        participant = self.directory.participants.get(login.bot.id)
        if participant is None:
            participant = self._participant(login)
        if login.ticket is None and participant.hosted and self.hosting.holds(login.bot.id):
            raise ProtocolError("bot/hosted")
        other = participant.line
        if other is not None:
            known = _same_key(hello.session, participant.key)
            if not known and not hello.takeover:
                raise ProtocolError("auth/already_connected", _already(participant))
            other.fail("auth/replaced")
        self._settle_in(participant, session, hello, login)
        self.counts.logins += 1
        journal.logged_in(session, participant)
        now = self.now()
        entered = []
        for live, seat in tuple(self.directory.matches_of(participant)):
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
        for (live, seat), snapshot in zip(entered, snapshots, strict=True):
            if snapshot.your_turn:
                live.turn_told(seat, snapshot.ply, session)
            live.tell_who_is_away(session, seat)
        self._check_games(session, hello)
        if participant.suspended:
            session.send(Notice("auth/suspended", suspended_text(participant.suspended)))
        self.lobby.pair_soon([participant])
        self.competitions.advance_soon([participant.bot_id])

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
            heartbeat_ms=int(self.config.heartbeat * 1000),
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
        self.directory.participants[login.bot.id] = participant
        self.directory.come_back(participant)
        return participant

    def _settle_in(
        self, participant: Participant, session: Session, hello: Hello, login: Login
    ) -> None:
        """Make the session the connection of its bot."""
        # Ending the other connection may have put the participant away.
        self.directory.enter(participant, session)
        participant.since = time.time()
        participant.version, participant.version_id = hello.version, login.version_id
        participant.suspended = login.suspended
        participant.hosted = "" if login.ticket is None else login.ticket.machine
        participant.kind = "human" if login.in_person else "bot"
        if login.identity.guest:
            participant.kind = "guest"
        participant.session_id = login.identity.session_id
        participant.casual = login.identity.guest or (login.identity.player_id == self.house_player)
        participant.scopes = login.identity.scopes
        participant.token_id = login.identity.token_id
        participant.games = frozenset(hello.games)
        most = 1 if login.identity.guest else self.config.max_matches_per_bot
        participant.max_matches = min(hello.max_matches, most)
        participant.updates, participant.scenes = hello.updates, hello.scenes
        self._seated[session] = participant
        self.places.play(session)
        session.admit(participant)
        session.scenes = hello.scenes

    def _check_games(self, session: Session, hello: Hello) -> None:
        """Tell a bot of games it offers that are not known here: it will never be asked."""
        for spec in hello.games:
            try:
                read_game(spec)
            except ProtocolError as error:
                session.send(Notice(error.code, error.message))

    def _holder(self, seat: SeatRow) -> Participant:
        """The participant of a stored seat, who is away after a restart."""
        participant = self.directory.participants.get(seat.bot_id)
        if participant is None:
            in_person = seat.bot.lower() == seat.player.lower()
            participant = self.directory.participants[seat.bot_id] = Participant(
                player_id=seat.player_id,
                player=seat.player,
                bot_id=seat.bot_id,
                bot="" if in_person else seat.bot,
                version_id=seat.version_id,
                version=seat.version,
                kind="human" if in_person else "bot",
            )
        return participant

    # ----------------------------------------------------------------------- requests

    def act(self, session: Session, message: Act, stamp: int) -> None:
        """Hand an action to its match."""
        participant = self._seated.get(session)
        seat = None if participant is None else participant.matches.get(message.match)
        if seat is not None:
            live = self.directory.live[message.match]
        else:
            try:
                live, seat = self._seat(session, message)
            except ProtocolError as error:
                session.refuse(message, error)
                return
        if self.watchdog.ongoing(stamp):
            self.watchdog.beat(stamp)  # settles the standstill that this frame was read after
        live.act(seat, message, stamp, session.lag_ns)

    def request(self, session: Session, message: ClientMessage, stamp: int) -> None:
        """Carry out any other request; `ProtocolError` says why not."""
        participant = self._seated.get(session)
        if participant is None and not isinstance(message, Watch | Unwatch):
            raise ProtocolError("auth/required")
        self._requests[type(message)](session, participant, message, stamp)
        if participant is not None and isinstance(message, journal.TOLD):
            journal.asked(participant, message)

    def _seat(self, session: Session, message: Any) -> tuple[LiveMatch, int]:
        participant = self._seated.get(session)
        if participant is None:
            raise ProtocolError("auth/required")
        held = self.directory.seat_of(participant, message.match)
        if held is None:
            known = self.directory.match(message.match) is not None
            raise ProtocolError("match/not_yours" if known else "match/unknown")
        return held

    def _ready(self, session: Session, _: Participant, message: Ready, stamp: int) -> None:
        live, seat = self._seat(session, message)
        live.input(live.match.ready, seat, message.nonce, stamp, re=message.id)

    def _resign(self, session: Session, _: Participant, message: Resign, stamp: int) -> None:
        live, seat = self._seat(session, message)
        live.input(live.match.resign, seat, stamp, message.reason, message.detail, re=message.id)

    def _offer_draw(self, session: Session, _: Participant, message: OfferDraw, stamp: int) -> None:
        live, seat = self._seat(session, message)
        live.input(live.match.offer_draw, seat, stamp, re=message.id)

    def _accept_draw(
        self, session: Session, _: Participant, message: AcceptDraw, stamp: int
    ) -> None:
        live, seat = self._seat(session, message)
        live.input(live.match.accept_draw, seat, stamp, re=message.id)

    def _decline_draw(
        self, session: Session, _: Participant, message: DeclineDraw, stamp: int
    ) -> None:
        live, seat = self._seat(session, message)
        live.input(live.match.decline_draw, seat, stamp, re=message.id)

    def _sync(self, session: Session, _: Participant, message: Sync, stamp: int) -> None:
        live, seat = self._seat(session, message)
        _may_view(session, stamp)
        live.input(live.match.sync, seat, stamp, re=message.id)

    def _watch(
        self, session: Session, participant: Participant | None, message: Watch, stamp: int
    ) -> None:
        live = self.directory.match(message.match)
        if live is None:
            raise ProtocolError("match/unknown", NO_SUCH_MATCH)
        if not self.privacy.known_free(live.pairing.competition):
            _may_view(session, stamp)  # as it costs a look at the database
            self.spawn(self._watch_if_allowed(session, participant, message, live))
            return
        self._let_watch(session, message, live, stamp)

    async def _watch_if_allowed(
        self,
        session: Session,
        participant: Participant | None,
        message: Watch,
        live: LiveMatch,
    ) -> None:
        """Let a spectator in where only some may watch; others are told that there is nothing."""
        try:
            if participant is not None:
                sight = await self.privacy.sight_of(participant.player_id, participant.scopes)
            else:  # a page shows what whoever is signed in at the browser may see
                sight = await self.privacy.sight(await self.visitors.viewer(session.upgrade))
            class_id = await self.privacy.class_of(live.pairing.competition)
            if not sight.sees(class_id, {holder.player_id for holder in live.holders}):
                raise ProtocolError("match/unknown", NO_SUCH_MATCH)
            if session in self.sessions:  # it may have left meanwhile
                self._let_watch(session, message, live, self.now())
        except ProtocolError as error:
            session.refuse(message, error)
        except StorageError as error:
            log.error("who may watch %s cannot be read: %s", live.id, error)
            session.refuse(message, ProtocolError("server/storage"))

    def _let_watch(self, session: Session, message: Watch, live: LiveMatch, stamp: int) -> None:
        if live.match.config.shares_chance and live.pairing.open:
            raise ProtocolError("match/not_over")
        _may_view(session, stamp)
        if live.over:
            session.send(MatchMessage(live.match.snapshot(None, stamp), message.id))
            return
        session.watching.add(live.id)
        live.watch(session, message.id, scenes=session.scenes)

    def _unwatch(self, session: Session, _: object, message: Unwatch, stamp: int) -> None:
        if message.match not in session.watching:
            raise ProtocolError("match/unknown", "You do not follow this match.")
        session.watching.discard(message.match)
        live = self.directory.match(message.match)
        if live is not None:
            live.unwatch(session)
        session.send(Ok(message.id))

    # -------------------------------------------------------------------------- endings

    def expel(
        self, fits: Callable[[Participant], bool], code: str, text: str, *, keep_matches: bool
    ) -> None:
        """Close the connections of all participants that fit; unless their matches are kept, they
        forfeit them (those that have not begun are void).
        """
        for participant in filter(fits, tuple(self.directory.participants.values())):
            held = tuple(self.directory.matches_of(participant))
            if participant.line is not None:
                participant.line.fail(code, text)
            if not keep_matches:
                for live, seat in held:
                    live.input(live.match.exclude, seat, self.now())

    def signed_out(self, session_ids: Container[int]) -> None:
        """Close the connections that were opened in sessions which are over."""
        self.expel(
            lambda each: each.session_id > 0 and each.session_id in session_ids,
            "auth/signed_out",
            "You have signed out.",
            keep_matches=True,
        )

    def _plays(self, player_id: int) -> bool:
        everybody = self.directory.participants.values()
        return any(each.player_id == player_id and each.matches for each in everybody)

    def _forget(self, players: list[int]) -> None:
        """Guests are about to be forgotten: nothing here may go by their numbers any more."""
        gone = frozenset(players)
        self.expel(lambda each: each.player_id in gone, "auth/signed_out", "", keep_matches=True)
        self.directory.forget_players(gone)
        self.oversight.forget_players(gone)

    def _match_over(self, live: LiveMatch) -> None:
        outcome = live.match.outcome
        config = live.match.config
        self.counts.ended(outcome)
        journal.match_over(live)
        void = outcome is None or outcome.termination in VOID
        if config.rated and not void:
            self.ratings.played(config.game.spec)
        self._look_at_forfeit(live)
        for holder in live.holders:
            self.directory.forget(holder)
        if not self.stopping:
            self.lobby.pair_soon(live.holders)
            self.competitions.over(live)

    def _look_at_forfeit(self, live: LiveMatch) -> None:
        """See whether the version that has just forfeited a match has done so too often."""
        outcome = live.match.outcome
        if self.stopping or outcome is None or outcome.seat is None:
            return
        culprit = live.holders[outcome.seat]
        if self.probation.concerns(outcome.termination, culprit):
            culprit.looked_at += 1
            self.spawn(self._look_at(culprit, live.id, outcome.seat))

    async def _look_at(self, culprit: Participant, match_id: str, seat: int) -> None:
        """Pair nobody with a bot until it is clear whether it is suspended."""
        try:
            await self.probation.forfeited(match_id, seat, culprit.name)
        finally:
            culprit.looked_at -= 1
        self.lobby.pair_soon([culprit])
        self.competitions.advance_soon([culprit.bot_id])

    def suspend(self, version_id: int, reason: str) -> None:
        """Pair a version no more, or again where there is no reason; its matches are played on."""
        for participant in tuple(self.directory.participants.values()):
            if participant.version_id != version_id:
                continue
            participant.suspended = reason
            if reason:
                self.lobby.leave(participant)
            told = Notice("notice/reinstated", "This version was reinstated, and is paired again.")
            if reason:
                told = Notice("auth/suspended", suspended_text(reason))
            if participant.line is not None:
                participant.line.send(told)
            self.competitions.advance_soon([participant.bot_id])

    async def say_goodbye(self) -> None:
        """Tell every client that the server stops, and let the last frames go out."""
        self.stopping = True
        self.directory.abdicate()
        self.runner.freeze()
        for session in tuple(self.sessions):
            session.fail("server/shutting_down")
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop: running matches stay in the database and are taken up at the next start."""
        await self.say_goodbye()
        self.watchdog.stop()
        await self.visitors.close()
        await self.oversight.close()
        await self.classes.close()
        await self.reviews.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        try:
            await self.competitions.close()
            await self.runner.close()
            await self.ratings.close()
        finally:
            await self.store.close()


def _may_view(session: Session, stamp: int) -> None:
    """Refuse more snapshots than anybody needs: each can be a thousand times its request."""
    if not session.views.allow(stamp):
        raise ProtocolError("match/too_many_snapshots")


def _same_key(said: str, key: str) -> bool:
    """Whether a session key is right, in a time that tells nothing of it."""
    return secrets.compare_digest(said.encode(errors="surrogatepass"), key.encode())


def _already(participant: Participant) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(participant.since))
    return (
        f"{participant.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
