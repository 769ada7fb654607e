"""Requests of logged-in participants and spectators, except actions.

An action takes a shorter path (`plyhouse.server.gateway.hub.Hub.act`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Container, Coroutine, Mapping
from typing import Any, Final

from plyhouse.games.base import Information
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    AcceptDraw,
    Answer,
    Challenge,
    ClientMessage,
    DeclineDraw,
    OfferDraw,
    Ok,
    Ready,
    Resign,
    Say,
    Seek,
    Sync,
    Unseek,
    Unwatch,
    Watch,
)
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.gateway.member import Member
from plyhouse.server.gateway.remote_matches import RemoteMatch
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.table import journal
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.presence import Presence
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.rates import Rate
from plyhouse.server.wire.session import Session
from plyhouse.storage import match_places
from plyhouse.storage.errors import StorageError
from plyhouse.storage.store import Store

__all__ = ["Requests"]

log = logging.getLogger("plyhouse.server")

NO_SUCH_MATCH: Final = "No such match is being played."

PHRASES: Final = 3
"""Phrases that a seat may say at once."""
SECONDS_PER_PHRASE: Final = 5
"""Time after which it may say another one."""


class Requests:
    """Carries out the requests of connections."""

    def __init__(
        self,
        *,
        directory: Directory,
        lobby: Lobby,
        privacy: Privacy,
        browser_sessions: BrowserSessions,
        sessions: Container[Session],
        seated: Mapping[Session, Participant],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        now: Callable[[], int],
        member: Member | None,
        store: Store,
    ) -> None:
        self._directory = directory
        self._member = member
        self._store = store
        self._lobby: dict[type, Callable[[Presence, Any], Ok]] = {
            Seek: lobby.seek,
            Unseek: lobby.unseek,
            Challenge: lobby.challenge,
            Answer: lobby.answer,
        }
        self._privacy = privacy
        self._browser_sessions = browser_sessions
        self._sessions = sessions
        self._seated = seated
        self._spawn = spawn
        self._now = now
        self._phrases = Rate(PHRASES, 1 / SECONDS_PER_PHRASE, now)
        self._by_type: dict[type, Callable[[Session, Any, Any, int], None]] = {
            Ready: self._of_match,
            Seek: self._of_lobby,
            Unseek: self._of_lobby,
            Challenge: self._of_lobby,
            Answer: self._of_lobby,
            Resign: self._of_match,
            OfferDraw: self._of_match,
            AcceptDraw: self._of_match,
            DeclineDraw: self._of_match,
            Say: self._say,
            Sync: self._of_match,
            Watch: self._watch,
            Unwatch: self._unwatch,
        }

    def carry_out(self, session: Session, message: ClientMessage, stamp: int) -> None:
        """Carry out a request; raises `ProtocolError` if that is not possible."""
        participant = self._seated.get(session)
        if participant is None and not isinstance(message, Watch | Unwatch):
            raise ProtocolError("auth/required")
        presence = None if participant is None else participant.presence
        self._by_type[type(message)](session, presence, message, stamp)
        if presence is not None and isinstance(message, journal.TOLD):
            journal.asked(presence, message)

    def seat(self, session: Session, message: Any) -> tuple[RunningMatch, int]:
        """Return the match that a request names, and the sender's seat in it.

        Raises `ProtocolError` if there is none.
        """
        participant = self._seated.get(session)
        if participant is None:
            raise ProtocolError("auth/required")
        held = self._directory.seat_of(participant, message.match)
        if held is None:
            known = self._directory.match(message.match) is not None
            raise ProtocolError("match/not_yours" if known else "match/unknown")
        return held

    def ask_lobby(self, bot: Presence, message: Any) -> Ok:
        """Carry out a request about seeks or challenges; raises `ProtocolError`."""
        return self._lobby[type(message)](bot, message)

    def _of_lobby(self, session: Session, bot: Presence, message: Any, _: int) -> None:
        if self._member is not None and not self._member.board.ready:
            self._member.sockets.ask_lobby(session, bot, message)
        else:
            session.send(self.ask_lobby(bot, message))

    def _of_match(self, session: Session, _: object, message: Any, stamp: int) -> None:
        live, seat = self.seat(session, message)
        if type(message) is Sync:
            _may_view(session, stamp)
        live.request(seat, message, stamp)

    def _say(self, session: Session, _: object, message: Say, stamp: int) -> None:
        live, seat = self.seat(session, message)
        hidden = get_game(live.summary().game).info.information is Information.IMPERFECT
        if live.pairing.competition or (hidden and len(live.holders) > 2):
            raise ProtocolError("match/no_phrases")
        if not self._phrases.take((message.match, seat)):
            raise ProtocolError("match/too_many_phrases")
        live.request(seat, message, stamp)

    def _watch(self, session: Session, _: object, message: Watch, stamp: int) -> None:
        live = self._directory.match(message.match)
        if live is None and self._member is None:
            raise ProtocolError("match/unknown", NO_SUCH_MATCH)
        _may_view(session, stamp)
        free = live is not None and self._privacy.known_free(live.pairing.competition)
        if self._member is not None and not self._reachable(live, free, self._member):
            self._spawn(self._find_and_watch(session, message, self._member))
        elif live is not None and not free:
            players = {each.player_id for each in live.seats}
            competition = live.pairing.competition
            self._spawn(
                self._watch_if_allowed(session, message, competition, players, lambda: live)
            )
        elif live is not None:
            self._let_watch(session, message, live)

    @staticmethod
    def _reachable(live: RunningMatch | None, free: bool, member: Member) -> bool:
        """Return whether a match can be watched without a look into the database."""
        if isinstance(live, RemoteMatch):  # it may be dropped while the database is asked
            return free and live.owner in member.board.peers
        return live is not None

    async def _find_and_watch(self, session: Session, message: Watch, member: Member) -> None:
        """Let a spectator watch a match that another server runs."""
        try:
            found = await self._store.read(match_places.places, [message.match])
        except StorageError as error:
            log.error("where %s runs cannot be read: %s", message.match, error)
            session.refuse(message, ProtocolError("server/storage"))
            return
        row, competition, owner = found.get(message.match, (None, None, 0))
        if row is None or not owner:
            session.refuse(message, ProtocolError("match/unknown", NO_SUCH_MATCH))
            return

        def follow() -> RunningMatch:
            known = self._directory.live.get(message.match)
            return known or member.sockets.found(row, competition, owner)

        players = {each.player_id for each in row.seats}
        await self._watch_if_allowed(session, message, competition, players, follow)

    async def _watch_if_allowed(
        self,
        session: Session,
        message: Watch,
        competition: str | None,
        players: Collection[int],
        find: Callable[[], RunningMatch],
    ) -> None:
        """Let a spectator watch a restricted match, or answer that there is no such match.

        ``find`` is called if the spectator may watch and has not left.
        """
        participant = self._seated.get(session)
        try:
            if participant is not None:
                player_id = participant.presence.player_id
                sight = await self._privacy.sight_of(player_id, participant.scopes)
            else:  # a page shows what the player signed in at the browser may see
                sight = await self._privacy.sight(
                    await self._browser_sessions.viewer(session.upgrade)
                )
            if not sight.sees(await self._privacy.class_of(competition), players):
                raise ProtocolError("match/unknown", NO_SUCH_MATCH)
            if session in self._sessions:  # it may have left meanwhile
                self._let_watch(session, message, find())
        except ProtocolError as error:
            session.refuse(message, error)
        except StorageError as error:
            log.error("who may watch %s cannot be read: %s", message.match, error)
            session.refuse(message, ProtocolError("server/storage"))

    def _let_watch(self, session: Session, message: Watch, live: RunningMatch) -> None:
        if not live.over:
            session.watching.add(live.id)
        live.watch(session, message.id, scenes=session.scenes)

    def _unwatch(self, session: Session, _: object, message: Unwatch, stamp: int) -> None:
        if message.match not in session.watching:
            raise ProtocolError("match/unknown", "You do not follow this match.")
        session.watching.discard(message.match)
        live = self._directory.match(message.match)
        if live is not None:
            live.unwatch(session)
        session.send(Ok(message.id))


def _may_view(session: Session, stamp: int) -> None:
    """Refuse more snapshots than anybody needs.

    A snapshot can be a thousand times the size of its request.
    """
    if not session.views.allow(stamp):
        raise ProtocolError("match/too_many_snapshots")
