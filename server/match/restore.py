"""Rebuilding a match from its stored events, after the server was killed.

Everything comes from the rows: actions and chance outcomes are replayed, ledgers are charged as
written, so that clocks are true to the nanosecond.  Chance outcomes are checked against the seed:
a row that disagrees is an error, as is any row that does not fit the position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from plyhouse.games.base import CHANCE
from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import CHANCE_SEAT, Outcome, Termination
from plyhouse.server.match.chance import Chance, normal_nonce
from plyhouse.server.match.clock import Ledger
from plyhouse.server.match.events import end_data
from plyhouse.server.match.terms import Played
from plyhouse.storage.rows import EventRow

if TYPE_CHECKING:
    from plyhouse.server.match.engine import Match

__all__ = ["RestoreError", "replay"]


class RestoreError(ValueError):
    """Stored events do not make a match: the database is damaged, or the game has changed."""

    code: ClassVar[str] = "server/storage"

    def __init__(self, row: EventRow, reason: str) -> None:
        super().__init__(
            f"Match {row.match_id} cannot be restored: event {row.index} ({row.kind}) {reason}."
        )
        self.match = row.match_id
        self.index = row.index
        self.reason = reason


def replay(match: Match, events: Sequence[EventRow]) -> None:
    """Bring a fresh match to where its events left it; raises `RestoreError`."""
    for index, row in enumerate(events):
        if row.index != index:
            raise RestoreError(row, f"should be number {index}")
        if match.status == "finished":
            raise RestoreError(row, "comes after the end")
        try:
            _apply(match, row)
        except RestoreError:
            raise
        except (GameError, ValueError, IndexError) as error:
            raise RestoreError(row, f"does not fit: {str(error).rstrip('.')}") from error
        match._rows = index + 1


def _apply(match: Match, row: EventRow) -> None:
    """Apply one row."""
    if row.kind == "ready":
        if match.status != "waiting":
            raise RestoreError(row, "comes after the start")
        match.nonces[row.seat] = normal_nonce(row.text)
        if None not in match.nonces:
            match.status = "running"
        return
    if row.kind == "end":
        data = end_data(row)
        if data.on_clock >= 0:
            flagged = row.text == "flag_fall"
            match.clock.replay(data.on_clock, row.charged_ns, row.lag_ns, flagged=flagged)
        seat = None if row.seat < 0 else row.seat
        match.outcome = Outcome(cast(Termination, row.text), list(data.returns), seat, data.reason)
        match.status = "finished"
        return
    if match.status != "running":
        raise RestoreError(row, "comes before every seat was ready")
    if row.ply != match.ply:
        raise RestoreError(row, f"should be at ply {match.ply}")
    if row.kind == "chance":
        _apply_chance(match, row)
    elif row.kind == "action":
        _apply_action(match, row)
    elif row.kind == "illegal":
        match._retries += 1
    elif row.kind in ("draw_offer", "draw_accept"):
        match._offers.add(row.seat)
        if row.kind == "draw_offer":
            match._offered_at[row.seat] = row.ply
    elif row.kind == "draw_decline":
        match._offers.clear()
    else:
        raise RestoreError(row, "is of an unknown kind")


def _apply_chance(match: Match, row: EventRow) -> None:
    state = match.state
    if state.to_move != CHANCE:
        raise RestoreError(row, "comes where chance has nothing to do")
    if match._chance is None:
        nonces = [nonce or "" for nonce in match.nonces]
        match._chance = Chance(match.config.seed, match.config.chance_stream, nonces)
    drawn = match._chance.draw(match._draws, state.chance_outcomes())
    text = match.views.chance_text(state, drawn)
    if text != row.text:
        raise RestoreError(row, f"says {row.text!r} where the seed gives {text!r}")
    match.views.record(state, drawn, text, CHANCE_SEAT, row.ply, None)
    match._draws += 1
    match.state = state.after(drawn)


def _apply_action(match: Match, row: EventRow) -> None:
    state = match.state
    if row.seat != state.to_move:
        raise RestoreError(row, f"is of seat {row.seat}, but seat {state.to_move} is to move")
    action = match.game.parse(state, row.text)
    remaining = match.clock.replay(row.seat, row.charged_ns, row.lag_ns)
    if remaining != row.remaining_ns:
        raise RestoreError(row, f"leaves {remaining} ns on the clock, not {row.remaining_ns}")
    ledger = Ledger(row.thought_ns, row.lag_ns, row.stall_ns, row.charged_ns, remaining)
    match.views.record(state, action, row.text, row.seat, row.ply, row.charged_ns)
    match.plies.append(Played(row.seat, action, row.text, row.text, ledger))
    match.state = state.after(action)
    match.ply += 1
    match._retries = 0
    if row.seat not in match._offers:
        match._offers.clear()
