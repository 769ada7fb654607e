"""The operator's view of connections, logins and matches: lines of the log, and counters.

Each event of a connection or a match gets at most one line, with its ids, and a ply gets none.
`plyhouse.server.logs` formats the lines.  The counters are whole numbers, read on request.  They
change with a connection or a match, never with a ply, so they cost plies nothing.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Answer, Challenge, ClientMessage, Hello, Outcome, Seek
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.terminations import FORFEITS, VOID
from plyhouse.server.wire.limits import Rate, client_of
from plyhouse.server.wire.session import Session

connections = logging.getLogger("plyhouse.server.connections")
matches = logging.getLogger("plyhouse.server.matches")
lobby = logging.getLogger("plyhouse.server.lobby")

LOGGED: Final = (Seek, Challenge, Answer)
"""Requests of bots that get a line."""
LINES: Final = 200, 2.0
"""Lines that an account or an address may cause: at once, and per second after that."""
OF_A_REFUSAL: Final = 8.0
"""Lines that a refusal counts for."""
LONGEST: Final = 300
"""Most characters of a client's reason; the match record has all of it."""


# ------------------------------------------------------------------------- what clients cause


class ClientLog:
    """Lines of the log that clients cause: connections, logins, and requests to the lobby.

    An account or address that causes too many gets further ones at the level *debug*, so that
    nobody fills the disk.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self._lines = Rate(*LINES, now)

    def _level(self, level: int, key: Hashable, cost: float = 1.0) -> int:
        return level if self._lines.take(key, cost) else logging.DEBUG

    def connected(self, session: Session) -> None:
        """Log a connection that has not logged in yet."""
        connections.debug("connected", extra={"address": session.peer})

    def logged_in(self, session: Session, participant: Presence) -> None:
        """Log a login of a bot or a person."""
        connections.log(
            self._level(logging.INFO, participant.player_id),
            "logged in",
            extra={
                "address": session.peer,
                "bot": participant.name,
                "bot_id": participant.bot_id,
                "version": participant.version,
                "matches": len(participant.matches),
            },
        )

    def login_refused(self, session: Session, hello: Hello, error: ProtocolError) -> None:
        """Log a refused login; the name in it is the client's claim."""
        connections.log(
            self._refusal(session, error),
            "login refused",
            extra={
                "address": session.peer,
                "code": error.code,
                "called_itself": hello.bot,
                "why": error.message,
            },
        )

    def left(self, session: Session, participant: Presence | None) -> None:
        """Log the end of a connection."""
        if participant is None:
            connections.debug("disconnected", extra={"address": session.peer})
            return
        closing = session.connection.closing
        connections.log(
            self._level(logging.INFO, participant.player_id),
            "disconnected",
            extra={
                "address": session.peer,
                "bot": participant.name,
                "bot_id": participant.bot_id,
                "why": "" if closing is None else closing.reason,
                "close_code": None if closing is None else closing.code,
                "matches": len(participant.matches),
            },
        )

    def registered(self, session: Session, player: str) -> None:
        """Log a new account."""
        connections.info("registered", extra={"address": session.peer, "player": player})

    def registration_refused(self, session: Session, player: str, error: ProtocolError) -> None:
        """Log a refused registration."""
        connections.log(
            self._refusal(session, error),
            "registration refused",
            extra={"address": session.peer, "code": error.code, "called_itself": player},
        )

    def _refusal(self, session: Session, error: ProtocolError) -> int:
        """Return the level of a refusal; those by a rate are details, like a flood of others."""
        if error.code == "auth/rate":
            return logging.DEBUG
        return self._level(logging.WARNING, client_of(session.address), OF_A_REFUSAL)

    def asked(self, participant: Presence, message: ClientMessage) -> None:
        """Log a seek, a challenge, or an answer to a challenge."""
        level = self._level(logging.INFO, participant.player_id)
        fields: dict[str, Any] = {"bot": participant.name, "bot_id": participant.bot_id}
        if isinstance(message, Answer):
            lobby.log(level, "answer", extra={**fields, "challenge": message.challenge})
        elif isinstance(message, Seek | Challenge):
            terms = {
                "game": message.game,
                "time_control": message.time_control,
                "rated": message.rated,
                "mirrored": message.mirrored,
            }
            if isinstance(message, Challenge):
                more = {"opponent": message.opponent, **terms}
                lobby.log(level, "challenge", extra={**fields, **more})
            else:
                lobby.log(level, "seek", extra={**fields, **terms, "count": message.count})


# ----------------------------------------------------------------------------------- matches


def match_begun(match: MatchSummary) -> None:
    """Log a new match."""
    matches.info(
        "match begun",
        extra={
            **_ids(match),
            "game": match.game,
            "time_control": match.time_control,
            "rated": match.rated,
            "bots": [each.name for each in match.seats],
        },
    )


def match_over(match: MatchSummary) -> None:
    """Log the end of a match: by the rules, by forfeit, or void."""
    outcome = match.outcome
    normal = outcome is not None and outcome.termination == "normal"
    if normal and not matches.isEnabledFor(logging.INFO):
        return
    fields = {
        **_ids(match),
        "plies": match.ply,
        "bots": [each.name for each in match.seats],
    }
    if outcome is None:
        matches.error("match void", extra={**fields, "termination": "server_fault"})
        return
    fields["termination"] = outcome.termination
    if outcome.reason:
        fields["why"] = outcome.reason[:LONGEST]
    if outcome.termination in VOID:
        fault = outcome.termination == "server_fault"
        matches.log(logging.ERROR if fault else logging.WARNING, "match void", extra=fields)
        return
    fields["returns"] = list(outcome.returns)
    if outcome.seat is not None:
        fields["seat"], fields["bot"] = outcome.seat, match.seats[outcome.seat].name
    forfeit = outcome.seat is not None and outcome.termination in FORFEITS
    if forfeit and outcome.termination == "bot_crash":
        matches.warning("bot crashed", extra=fields)
    else:
        matches.info("match forfeited" if forfeit else "match ended", extra=fields)


def _ids(match: MatchSummary) -> dict[str, Any]:
    ids = {"match": match.id, "pairing": match.pairing}
    if match.tournament is not None:
        ids["tournament"] = match.tournament
    return ids


class Counts:
    """Numbers since the start of the server."""

    def __init__(self) -> None:
        self.connections = 0
        """Accepted connections, with and without a login."""
        self.logins = 0
        self.refused: Counter[str] = Counter()
        """Refused logins by error code."""
        self.terminations: Counter[str] = Counter()
        """Finished matches by termination."""

    def ended(self, outcome: Outcome | None) -> None:
        """Count a finished match; None stands for a match that could not even be stored."""
        self.terminations["server_fault" if outcome is None else outcome.termination] += 1
