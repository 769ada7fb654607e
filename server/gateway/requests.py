"""Requests that need the lobby, the rules of privacy or other servers of the cluster."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Final

from plyhouse.games.errors import GameError
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Answer, Challenge, MatchMessage, Ok, Seek, Unseek, Watch
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.builtin_bots import NoBuiltinBot
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.gateway.entrance import Connections
from plyhouse.server.gateway.match_requests import (
    NO_SUCH_MATCH,
    MatchRequests,
    check_views,
    let_watch,
)
from plyhouse.server.gateway.membership import Membership
from plyhouse.server.jobs.helper_jobs import NotWorkedOut
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.restore import final_snapshot
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.limits import client_of
from plyhouse.server.wire.session import Session
from plyhouse.storage import members
from plyhouse.storage.errors import InvalidValue, StorageError, Unknown
from plyhouse.storage.names import BUILTIN_NAMES
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server")


LOBBY_REQUESTS: Final[Mapping[type, Callable[[Lobby, Presence, Any], Ok]]] = {
    Seek: Lobby.seek,
    Unseek: Lobby.unseek,
    Challenge: Lobby.challenge,
    Answer: Lobby.answer,
}
"""The requests about seeks and challenges; each raises `ProtocolError`."""


class Watching:
    """Lets spectators watch matches, as far as they may see them."""

    def __init__(
        self,
        directory: Directory,
        connections: Connections,
        member: Membership,
        store: Store,
        privacy: Privacy,
        browser_sessions: BrowserSessions,
        helpers: Helpers,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._directory = directory
        self._connections = connections
        self._member = member
        self._store = store
        self._privacy = privacy
        self._browser_sessions = browser_sessions
        self._helpers = helpers
        self._spawn = spawn

    def watch(self, session: Session, message: Watch, stamp: int) -> None:
        """Let a spectator watch a match, at once or when it is clear whether it may."""
        live = self._directory.match(message.match)
        check_views(session, stamp, 0 if live is None else live.ply)
        free = live is not None and self._privacy.known_free(live.pairing.tournament)
        here = isinstance(live, LiveMatch)
        # A match of another server may be dropped while the database is asked.
        if live is None or not (here or (free and self._member.reaches(live))):
            self._spawn(self._find_and_watch(session, message))
        elif not free:
            players = {each.player_id for each in live.seats}
            tournament = live.pairing.tournament
            self._spawn(self._watch_if_allowed(session, message, tournament, players, lambda: live))
        else:
            let_watch(session, message, live)

    async def _find_and_watch(self, session: Session, message: Watch) -> None:
        """Let a spectator watch a match that another server runs, or see one that is over."""
        try:
            found = await self._store.read(members.places, [message.match])
        except InvalidValue:  # an id with NUL, on PostgreSQL
            found = {}
        except StorageError as error:
            log.error("match not found", extra={"match": message.match, "why": str(error)})
            session.refuse(message, ProtocolError("server/storage"))
            return
        row, tournament, owner = found.get(message.match, (None, None, 0))
        if row is not None and row.status == "finished":
            await self._show_final(session, message)
            return
        if row is None or not owner:
            session.refuse(message, ProtocolError("match/unknown", NO_SUCH_MATCH))
            return

        def follow() -> RunningMatch | None:
            known = self._directory.live.get(message.match)
            return known or self._member.sockets.follow(row, tournament, owner)

        players = {each.player_id for each in row.seats}
        await self._watch_if_allowed(session, message, tournament, players, follow)

    async def _watch_if_allowed(
        self,
        session: Session,
        message: Watch,
        tournament: str | None,
        players: Collection[int],
        find: Callable[[], RunningMatch | None],
    ) -> None:
        """Let a spectator watch a restricted match, or answer that there is no such match.

        ``find`` is called if the spectator may watch and has not left.
        """
        try:
            sight = await self._sight_of(session)
            if not sight.sees(await self._privacy.competition_of(tournament), players):
                raise ProtocolError("match/unknown", NO_SUCH_MATCH)
            if session in self._connections.sessions:  # it may have left meanwhile
                live = find()
                if live is None:
                    raise ProtocolError("match/unknown", NO_SUCH_MATCH)
                let_watch(session, message, live)
        except ProtocolError as error:
            session.refuse(message, error)
        except StorageError as error:
            log.error("match not watched", extra={"match": message.match, "why": str(error)})
            session.refuse(message, ProtocolError("server/storage"))

    async def _show_final(self, session: Session, message: Watch) -> None:
        """Send a spectator the end of a match that only the database has."""
        try:
            # Read it when its turn has come: what waits takes no memory.
            async with self._helpers.queue.of(client_of(session.address)):
                if session not in self._connections.sessions:
                    return
                stored = await self._privacy.match(await self._sight_of(session), message.match)
                snapshot = await self._helpers.run(final_snapshot, stored, scenes=session.scenes)
        except Unknown:
            session.refuse(message, ProtocolError("match/unknown", NO_SUCH_MATCH))
        except NotWorkedOut as error:
            why = ProtocolError(error.code, str(error), retry_after=error.retry_after)
            session.refuse(message, why)
        except (StorageError, GameError, ValueError) as error:
            log.error("match not shown", extra={"match": message.match, "why": str(error)})
            session.refuse(message, ProtocolError("server/storage"))
        else:
            session.send(MatchMessage(snapshot, message.id))

    async def _sight_of(self, session: Session) -> Sight:
        """Return what the player of a connection may see."""
        participant = self._connections.seated.get(session)
        if participant is not None:
            presence = participant.presence
            return await self._privacy.sight_of(presence.player_id, presence.scopes)
        # A page shows what the player signed in at the browser may see.
        return await self._privacy.sight(await self._browser_sessions.viewer(session.upgrade))


class Requests(MatchRequests):
    """Carries out the requests of connections, except actions."""

    def __init__(
        self,
        directory: Directory,
        connections: Connections,
        member: Membership,
        lobby: Lobby,
        watching: Watching,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        wakes: Callable[[Sequence[str]], Awaitable[None]] | None,
    ) -> None:
        """``wakes`` starts built-in bots by their names; None if there are none."""
        super().__init__(directory, connections)
        self._member = member
        self._lobby = lobby
        self._watching = watching
        self._spawn = spawn
        self._wakes = wakes
        self._by_type |= dict.fromkeys(LOBBY_REQUESTS, self._of_lobby)

    def _watch(self, session: Session, _: object, message: Watch, stamp: int) -> None:
        self._watching.watch(session, message, stamp)

    def _of_lobby(self, session: Session, bot: Presence, message: Any, _: int) -> None:
        if isinstance(message, Challenge) and self._wakes is not None:
            names = [message.opponent, *message.others]
            absent = [name for name in names if self._directory.find(name) is None]
            if any(name.partition("/")[0].casefold() in BUILTIN_NAMES for name in absent):
                self._spawn(self._wake_and_ask(session, bot, message, absent))
                return
        self._pass_to_lobby(session, bot, message)

    async def _wake_and_ask(
        self, session: Session, bot: Presence, challenge: Challenge, absent: Sequence[str]
    ) -> None:
        """Start the built-in bots that are challenged, then ask the lobby."""
        try:
            if self._wakes is not None:
                await self._wakes(absent)
            self._pass_to_lobby(session, self._directory.presences.get(bot.bot_id, bot), challenge)
        except NoBuiltinBot as error:
            session.refuse(challenge, ProtocolError("challenge/offline", str(error)))
        except StorageError as error:
            log.error("built-in bots not found", extra={"why": str(error)})
            session.refuse(challenge, ProtocolError("server/storage"))
        except ProtocolError as error:
            session.refuse(challenge, error)

    def _pass_to_lobby(self, session: Session, bot: Presence, message: Any) -> None:
        if self._member.leads:
            session.send(LOBBY_REQUESTS[type(message)](self._lobby, bot, message))
        else:
            self._member.sockets.ask_lobby(session, bot, message)
