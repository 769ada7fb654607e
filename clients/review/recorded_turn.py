"""The turn of a seat at one ply of a record, as the server sent it.

Everything a seat sees goes through `plyhouse.server.match.views` here, too, so that a bot that is
asked again learns nothing that it could not know in the match.  Clocks follow from the ledgers.
"""

from __future__ import annotations

from dataclasses import dataclass

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.protocol.messages import MatchSnapshot, SeatInfo
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, TimeControl
from plyhouse.server.match.views import Views, clock_states
from plyhouse.server.results.record import Record, RecordEvent


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A seat to move, and what became of it."""

    snapshot: MatchSnapshot
    """The turn that the seat received."""
    position: Position
    """The full position, hidden parts included: for reading actions, not for the bot."""
    played: str
    """The action played; empty if the match ended before one."""
    event: RecordEvent | None
    """With the ledger of that ply."""

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self.position.mover


def moment_of(record: Record, game: Game, ply: int) -> RecordedTurn:
    """The moment before ply ``ply``; raises `CommandError` if there was none."""
    position = Position(game)
    views = Views(game, game.seats)
    clock = Clock(TimeControl.parse(record.time_control), game.seats, record.lag)
    played: RecordEvent | None = None
    try:
        for event in record.events:
            if event.kind == "end" and position.ply == ply:
                played = event
            if event.kind not in ("action", "chance"):
                continue
            if event.kind == "action" and position.ply == ply:
                played = event
                break
            before = position.state
            action = position.apply(event.seat, event.text)
            charged = event.charged_ns if event.kind == "action" else None
            views.record(before, action, event.text, event.seat, event.ply, charged)
            if event.kind == "action":
                clock.replay(event.seat, event.charged_ns, event.lag_ns)
    except (GameError, ValueError) as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error
    if position.ply != ply or position.mover < 0:
        last = position.ply if position.mover >= 0 else position.ply - 1
        raise CommandError(
            f"Nobody was to move at ply {ply + 1} of match {record.match}: its plies are 1 to "
            f"{last + 1}.",
            EXIT_USAGE,
        )
    return RecordedTurn(
        _snapshot(record, position, views, clock),
        position,
        played.text if played is not None and played.kind == "action" else "",
        played,
    )


def _snapshot(record: Record, position: Position, views: Views, clock: Clock) -> MatchSnapshot:
    seat = position.mover
    return MatchSnapshot(
        match=record.match,
        pairing=record.pairing,
        game=position.game.spec,
        time_control=record.time_control,
        rated=record.rated,
        seat=seat,
        players=[SeatInfo(each.player, each.bot, each.version) for each in record.seats],
        status="running",
        ply=position.ply,
        commitment=record.chance.commitment,
        nonces=list(record.chance.nonces),
        illegal_rule=record.illegal_rule,
        events=list(views.events(seat)),
        observation=views.observation(position.state, seat),
        clocks=clock_states(clock, 0, seat),
        your_turn=True,
        deadline_ms=clock.remaining(seat, 0) // MS,
    )
