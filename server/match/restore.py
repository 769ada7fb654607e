"""Rebuilding a match from its stored events, after the server was killed.

Everything comes from the rows.  Actions and chance outcomes are replayed, and ledgers are charged
as written, so that clocks are exact to the nanosecond.  Chance outcomes are checked against the
seed: a row that disagrees is an error.  So is any row that does not fit the position.  The ply
under way is not charged for the time before the kill.  Its clock starts again when the seat has
come back and has got its turn.

`final_snapshot` shows a match that is over and no longer in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from plyhouse.games.base import CHANCE
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import MatchSnapshot, Outcome, Termination
from plyhouse.server.match.chance import normal_nonce
from plyhouse.server.match.engine import Match
from plyhouse.server.match.events import end_data
from plyhouse.server.match.history import Course
from plyhouse.server.match.terms import MatchConfig, config_of
from plyhouse.server.match.time_control import Ledger
from plyhouse.storage.rows import EventRow, StoredMatch


class RestoreError(ValueError):
    """Stored events that make no match.

    The database is damaged, or the game has changed.
    """

    code: ClassVar[str] = "server/storage"

    def __init__(self, row: EventRow, reason: str) -> None:
        super().__init__(
            f"Match {row.match_id} cannot be restored: event {row.index} ({row.kind}) {reason}."
        )
        self.match = row.match_id
        self.index = row.index
        self.reason = reason


def restore(config: MatchConfig, events: Sequence[EventRow], now: int) -> Match:
    """Return the match of these events; every seat counts as away from ``now`` on.

    Call `Match.resume` next.  Raises `RestoreError` if the events do not fit together.
    """
    course = Course(config)
    for index, row in enumerate(events):
        if row.index != index:
            raise RestoreError(row, f"should be number {index}")
        if course.status == "finished":
            raise RestoreError(row, "comes after the end")
        try:
            _apply(course, row)
        except RestoreError:
            raise
        except (GameError, ValueError, IndexError) as error:
            raise RestoreError(row, f"does not fit: {str(error).rstrip('.')}") from error
    return Match(config, now, course)


def final_snapshot(stored: StoredMatch, *, scenes: bool) -> MatchSnapshot:
    """Return what spectators may know of a match that is over.

    Raises `RestoreError` or ValueError if its rows are damaged, and `GameError` if its game is
    missing.
    """
    header = stored.header
    match = restore(config_of(header, get_game(header.game)), stored.events, 0)
    if match.course.status != "finished":  # it could not be resumed after a restart
        outcome = Outcome(cast(Termination, header.termination), [], None, header.reason)
        match.course.end(outcome, header.cause, None, None, "")
    return match.snapshot(None, 0, scenes=scenes)


def _apply(course: Course, row: EventRow) -> None:
    """Change a course as one row says; the row that the course returns is not needed."""
    kind = row.kind
    if kind == "ready":
        if course.status != "waiting":
            raise RestoreError(row, "comes after the start")
        course.ready(row.seat, normal_nonce(row.text))
        return
    if kind == "end":
        _end(course, row)
        return
    if course.status != "running":
        raise RestoreError(row, "comes before every seat was ready")
    if row.ply != course.position.ply:
        raise RestoreError(row, f"should be at ply {course.position.ply}")
    if kind == "chance":
        _roll(course, row)
    elif kind == "action":
        _act(course, row)
    elif kind == "illegal":
        course.illegal(row.seat, row.text)
    elif kind == "draw_offer":
        course.offer(row.seat)
    elif kind == "draw_accept":
        course.agree(row.seat)
    elif kind == "draw_decline":
        course.decline(row.seat)
    else:
        raise RestoreError(row, "is of an unknown kind")


def _end(course: Course, row: EventRow) -> None:
    data = end_data(row)
    if data.on_clock >= 0:
        flagged = row.text == "flag_fall"
        course.clock.replay(data.on_clock, row.charged_ns, row.lag_ns, flagged=flagged)
    seat = None if row.seat < 0 else row.seat
    reason = data.cause.sentence(course.config.players)
    outcome = Outcome(cast(Termination, row.text), list(data.returns), seat, reason)
    course.end(outcome, data.cause, None, None, "")


def _roll(course: Course, row: EventRow) -> None:
    if course.position.mover != CHANCE:
        raise RestoreError(row, "comes where chance has nothing to do")
    text = course.roll_once().text
    if text != row.text:
        raise RestoreError(row, f"says {row.text!r} where the seed gives {text!r}")


def _act(course: Course, row: EventRow) -> None:
    before, action = course.act(row.seat, row.text)
    remaining = course.clock.replay(row.seat, row.charged_ns, row.lag_ns)
    if remaining != row.remaining_ns:
        raise RestoreError(row, f"leaves {remaining} ns on the clock, not {row.remaining_ns}")
    ledger = Ledger(row.thought_ns, row.lag_ns, row.stall_ns, row.charged_ns, remaining)
    course.acted(before, action, row.seat, row.text, row.text, ledger)
    course.lapse(row.seat)
