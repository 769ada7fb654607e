"""Requests of logged-in participants and spectators, except actions.

An action takes a shorter path (`plyhouse.server.gateway.hub.Hub.act`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Coroutine, Mapping
from typing import Any, Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    AcceptDraw,
    Answer,
    Challenge,
    ClientMessage,
    DeclineDraw,
    MatchMessage,
    OfferDraw,
    Ok,
    Ready,
    Resign,
    Seek,
    Sync,
    Unseek,
    Unwatch,
    Watch,
)
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.table import journal
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Participant
from plyhouse.server.wire.session import Session
from plyhouse.storage.errors import StorageError

__all__ = ["Requests"]

log = logging.getLogger("plyhouse.server")

NO_SUCH_MATCH: Final = "No such match is being played."


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
    ) -> None:
        self._directory = directory
        self._privacy = privacy
        self._browser_sessions = browser_sessions
        self._sessions = sessions
        self._seated = seated
        self._spawn = spawn
        self._now = now
        self._by_type: dict[type, Callable[[Session, Any, Any, int], None]] = {
            Ready: self._ready,
            Seek: lambda session, who, message, _: session.send(lobby.seek(who, message)),
            Unseek: lambda session, who, message, _: session.send(lobby.unseek(who, message)),
            Challenge: lambda session, who, message, _: session.send(lobby.challenge(who, message)),
            Answer: lambda session, who, message, _: session.send(lobby.answer(who, message)),
            Resign: self._resign,
            OfferDraw: self._offer_draw,
            AcceptDraw: self._accept_draw,
            DeclineDraw: self._decline_draw,
            Sync: self._sync,
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

    def seat(self, session: Session, message: Any) -> tuple[LiveMatch, int]:
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

    def _ready(self, session: Session, _: object, message: Ready, stamp: int) -> None:
        live, seat = self.seat(session, message)
        live.input(live.match.ready, seat, message.nonce, stamp, re=message.id)

    def _resign(self, session: Session, _: object, message: Resign, stamp: int) -> None:
        live, seat = self.seat(session, message)
        live.input(live.match.resign, seat, stamp, message.reason, message.detail, re=message.id)

    def _offer_draw(self, session: Session, _: object, message: OfferDraw, stamp: int) -> None:
        live, seat = self.seat(session, message)
        live.input(live.match.offer_draw, seat, stamp, re=message.id)

    def _accept_draw(self, session: Session, _: object, message: AcceptDraw, stamp: int) -> None:
        live, seat = self.seat(session, message)
        live.input(live.match.accept_draw, seat, stamp, re=message.id)

    def _decline_draw(self, session: Session, _: object, message: DeclineDraw, stamp: int) -> None:
        live, seat = self.seat(session, message)
        live.input(live.match.decline_draw, seat, stamp, re=message.id)

    def _sync(self, session: Session, _: object, message: Sync, stamp: int) -> None:
        live, seat = self.seat(session, message)
        _may_view(session, stamp)
        live.input(live.match.sync, seat, stamp, re=message.id)

    def _watch(self, session: Session, _: object, message: Watch, stamp: int) -> None:
        live = self._directory.match(message.match)
        if live is None:
            raise ProtocolError("match/unknown", NO_SUCH_MATCH)
        if not self._privacy.known_free(live.pairing.competition):
            _may_view(session, stamp)  # it needs a database query
            self._spawn(self._watch_if_allowed(session, message, live))
            return
        self._let_watch(session, message, live, stamp)

    async def _watch_if_allowed(self, session: Session, message: Watch, live: LiveMatch) -> None:
        """Let a spectator watch a restricted match, or answer that there is no such match."""
        participant = self._seated.get(session)
        try:
            if participant is not None:
                player_id = participant.presence.player_id
                sight = await self._privacy.sight_of(player_id, participant.scopes)
            else:  # a page shows what the player signed in at the browser may see
                sight = await self._privacy.sight(
                    await self._browser_sessions.viewer(session.upgrade)
                )
            class_id = await self._privacy.class_of(live.pairing.competition)
            if not sight.sees(class_id, {each.player_id for each in live.seats}):
                raise ProtocolError("match/unknown", NO_SUCH_MATCH)
            if session in self._sessions:  # it may have left meanwhile
                self._let_watch(session, message, live, self._now())
        except ProtocolError as error:
            session.refuse(message, error)
        except StorageError as error:
            log.error("who may watch %s cannot be read: %s", live.id, error)
            session.refuse(message, ProtocolError("server/storage"))

    def _let_watch(self, session: Session, message: Watch, live: LiveMatch, stamp: int) -> None:
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
