"""Requests about matches, except actions.

An action takes a shorter path (`plyhouse.server.gateway.match_hub.MatchHub.act`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from plyhouse.games.base import Information
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    AcceptDraw,
    ClientMessage,
    DeclineDraw,
    OfferDraw,
    Ok,
    Ready,
    Resign,
    Say,
    Sync,
    Unwatch,
    Watch,
)
from plyhouse.server.gateway.entrance import Connections
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.journal import LOGGED
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.limits import Rate
from plyhouse.server.wire.session import Session

NO_SUCH_MATCH: Final = "You can see no match with this id."

PHRASES: Final = 3
"""Phrases that a seat may say at once."""
SECONDS_PER_PHRASE: Final = 5
"""Time after which it may say another one."""
PLIES_PER_VIEW: Final = 2000
"""Plies that cost as much of the limit on snapshots as a snapshot alone."""


class MatchRequests:
    """Carries out the requests of seats and spectators."""

    def __init__(self, directory: Directory, connections: Connections) -> None:
        self._directory = directory
        self._seated = connections.seated
        self._journal = connections.journal
        self._phrases = Rate(PHRASES, 1 / SECONDS_PER_PHRASE, connections.now)
        self._by_type: dict[type, Callable[[Session, Any, Any, int], None]] = {
            Ready: self._of_match,
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
        carry_out = self._by_type.get(type(message))
        if carry_out is None:
            raise ProtocolError("protocol/unexpected", "This server has no lobby.")
        carry_out(session, presence, message, stamp)
        if presence is not None and isinstance(message, LOGGED):
            self._journal.asked(presence, message)

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

    def _of_match(self, session: Session, _: object, message: Any, stamp: int) -> None:
        live, seat = self.seat(session, message)
        if type(message) is Sync:
            check_views(session, stamp, live.ply)
        live.request(seat, message, stamp)

    def _say(self, session: Session, _: object, message: Say, stamp: int) -> None:
        live, seat = self.seat(session, message)
        hidden = get_game(live.summary().game).info.information is Information.IMPERFECT
        if live.pairing.tournament or (hidden and len(live.holders) > 2):
            raise ProtocolError("match/no_phrases")
        if not self._phrases.take((message.match, seat)):
            raise ProtocolError("match/too_many_phrases")
        live.request(seat, message, stamp)

    def _watch(self, session: Session, _: object, message: Watch, stamp: int) -> None:
        live = self._directory.match(message.match)
        if live is None:
            raise ProtocolError("match/unknown", NO_SUCH_MATCH)
        check_views(session, stamp, live.ply)
        let_watch(session, message, live)

    def _unwatch(self, session: Session, _: object, message: Unwatch, stamp: int) -> None:
        if message.match not in session.watching:
            raise ProtocolError("match/unknown", "You do not follow this match.")
        session.watching.discard(message.match)
        live = self._directory.match(message.match)
        if live is not None:
            live.unwatch(session)
        session.send(Ok(message.id))


def let_watch(session: Session, message: Watch, live: RunningMatch) -> None:
    """Let a spectator watch a match."""
    if not live.over:
        session.watching.add(live.id)
    live.watch(session, message.id, scenes=session.scenes)


def check_views(session: Session, stamp: int, plies: int) -> None:
    """Refuse more snapshots than anybody needs; raises `ProtocolError`.

    A snapshot can be a thousand times the size of its request, as it has all ``plies`` so far.
    """
    if not session.views.allow(stamp, 1 + plies // PLIES_PER_VIEW):
        raise ProtocolError("match/too_many_snapshots")
