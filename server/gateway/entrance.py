"""Let a connection in: from knowing its bot to its ``welcome``, with all running matches.

`plyhouse.server.gateway.logins` finds out whose connection it is, on a server with accounts.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.messages import PROTOCOL_VERSION, Hello, Limits, MatchSnapshot, Welcome
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.membership import Sockets
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.journal import ClientLog, Counts
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.refunds import LoginRefunds, LoginWait
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.version import server_version
from plyhouse.server.wire.limits import Backlog, Full, Places, Rate
from plyhouse.server.wire.session import Session

MOST_UNREAD: Final = 1 << 28
"""Bytes that may wait for slow readers, all together."""
PLIES_PER_WELCOME: Final = 2000
"""Plies of running matches that use up one welcome of the limit; fewer use up none."""
WELCOMES: Final = 100, 5.0
"""Welcomes with long matches for one bot: at once, and per second after that."""
KEPT_SECONDS: Final = 0.5
"""A login that waits longer than this for a match of another server is not charged for it."""


class Connections:
    """The connections of a server, who sits at them, and what bounds and counts them."""

    def __init__(self, config: ServerConfig, now: Callable[[], int]) -> None:
        self.now = now
        self.sessions: set[Session] = set()
        self.seated: dict[Session, Participant] = {}
        """The participant of each connection."""
        self.counts = Counts()
        self.journal = ClientLog(now)
        self.places = Places(
            config.max_connections,
            spectators=config.max_spectators,
            per_address=config.max_connections_per_address,
            strangers_per_address=config.max_pending_logins_per_address,
        )
        self.backlog = Backlog(MOST_UNREAD)
        """The bytes that wait for slow readers, also of HTTP answers."""
        self.limits = ConnectionLimits(
            hello_timeout_ns=int(config.auth_timeout * 1e9),
            heartbeat_ns=int(config.heartbeat * 1e9),
            silence_ns=int(config.peer_timeout * 1e9),
            messages_per_second=config.messages_per_second,
            message_burst=2 * config.messages_per_second,
            mistakes_per_second=config.mistakes_per_second,
            mistake_burst=10 * config.mistakes_per_second,
        )


class Entrance:
    """Lets bots, people and spectators in."""

    def __init__(
        self,
        config: ServerConfig,
        connections: Connections,
        directory: Directory,
        login_refunds: LoginRefunds,
        sockets: Sockets,
        refund_hosted: Callable[[], None] = lambda: None,
    ) -> None:
        """``refund_hosted`` gives hosted bots back the time in which no machine ran them."""
        self._config = config
        self._connections = connections
        self._directory = directory
        self._login_refunds = login_refunds
        self._sockets = sockets
        self._refund_hosted = refund_hosted
        self._welcomes = Rate(*WELCOMES, connections.now)

    def watch(self, session: Session, hello: Hello) -> None:
        """Let a spectator in; raises `ProtocolError`."""
        try:
            gone = self._connections.places.watch(session)
        except Full as full:
            raise _overloaded(full) from None
        if isinstance(gone, Session):
            gone.fail("server/overloaded", "Spectators at other addresses wait. Try again later.")
        session.scenes = hello.scenes
        session.send(self._welcome(hello, "", "", "", 0, []))

    async def let_in(
        self, session: Session, hello: Hello, wanted: Presence, wait: LoginWait
    ) -> Participant | None:
        """Make a session the connection of the bot ``wanted``, and return its participant.

        Returns None if the session has ended meanwhile.  Raises `ProtocolError` if another
        connection of the bot stays, or if it logs in too often with many long matches.
        """
        bot = wanted.bot_id
        self._check_welcome(bot)
        # A connected bot replaces its connection, and one with a match has to get back to it.
        if not (self._directory.is_online(bot) or any(self._directory.matches_of(bot))):
            try:
                self._connections.places.check(session, wanted.player_id)
            except Full as full:
                raise _overloaded(full) from None
        release = session.hold()
        try:
            participant, was_hosted, waited = await self._sockets.admit(
                wanted, session, key=hello.session, takeover=hello.takeover
            )
        except BaseException:
            release(None)
            raise
        if was_hosted:
            self._refund_hosted()
        if was_hosted or waited:  # that was given back, or is when the bot enters its matches
            self._login_refunds.skip(wait)
        self._connections.seated[session] = participant
        self._connections.places.play(session, wanted.player_id)
        session.admit(participant.presence.name, wanted.player_id)
        session.scenes = hello.scenes
        presence = participant.presence
        self._login_refunds.give_back(wait, bot)
        self._connections.counts.logins += 1
        self._connections.journal.logged_in(session, presence)
        snapshots = await self._enter(participant, session, waited, wait)
        if participant.line is not session:
            return None  # it left meanwhile
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
                live.turn_written(seat, snapshot.ply, session)
            live.send_absences(session, seat)
        return participant

    def _check_welcome(self, bot: int) -> None:
        """Refuse more welcomes than a bot needs, which have all plies of its matches."""
        plies = sum(match.ply for match, _ in self._directory.matches_of(bot))
        cost = plies // PLIES_PER_WELCOME
        if cost and not self._welcomes.take(bot, cost):
            seconds = max(1, math.ceil(self._welcomes.wait(bot, cost)))
            text = f"Too many logins of a bot with long matches: wait {seconds} s."
            raise ProtocolError("auth/rate", text, retry_after=seconds)

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
                self._sockets.returned(live, seat, waited_ns)
                updates, scenes = participant.presence.updates, participant.presence.scenes
                entered.append((live, seat, live.enter(seat, updates=updates, scenes=scenes)))
        for match, _, _ in tuple(entered):
            # Events in the snapshot may not be in the database yet.
            live = own.get(match.id)
            stored = None if live is None else live.durable()
            if stored is not None:
                await stored
        waiting = {
            asyncio.ensure_future(self._sockets.enter(match, seat, participant, waited_ns)): (
                match,
                seat,
            )
            for match, seat in elsewhere
        }
        try:
            # A login without a session must not give time back beside the next one of the bot.
            while waiting and participant.line is session:
                began = self._connections.now()
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
        now = self._connections.now()
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
            server=server_version(),
            time_ms=time.time_ns() // 1_000_000,
            heartbeat_ms=int(self._config.heartbeat * 1000),
            limits=Limits(self._connections.limits.max_frame, max_matches),
            matches=matches,
        )


def _overloaded(full: Full) -> ProtocolError:
    return ProtocolError("server/overloaded", f"{full} Try again later.")
