"""The positions of a record, as one viewer may see them.

Everything goes through the server's own choke point (`plyhouse.server.match.views`), as in the
replays of a server (`plyhouse.server.web.replay`), so a seat's replay shows what the seat saw.
"""

from __future__ import annotations

from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.shared.match_text import event_text
from plyhouse.clients.shared.output import signed
from plyhouse.clients.terminal.interfaces import Position
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position as Played
from plyhouse.protocol.messages import Event, Outcome
from plyhouse.server.match.views import Views
from plyhouse.server.results.record import Record

__all__ = ["Position", "holders", "positions_of"]


def positions_of(record: Record, game: Game, viewer: int | None) -> list[Position]:
    """All positions; ``viewer`` is a seat, or None for spectators.

    Raises `CommandError` if the record does not fit the game.
    """
    views = Views(game, game.seats)
    played = Played(game)
    found: list[Position] = []
    told = 0

    def draw() -> None:
        nonlocal told
        happened = tuple(_words(game, event) for event in views.events(viewer, told))
        told = views.length
        found.append(Position(played.ply, happened, views.drawn(played.state, viewer)[1]))

    if played.mover != CHANCE:
        draw()
    try:
        for row in record.events:
            if row.kind not in ("action", "chance"):
                continue
            before = played.state
            action = played.apply(row.seat, row.text)
            charged = row.charged_ns if row.kind == "action" else None
            views.record(before, action, row.text, row.seat, row.ply, charged)
            if played.mover != CHANCE:
                draw()
    except GameError as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error
    if played.mover == CHANCE:  # not dealt yet, or cut short before the roll
        draw()
    last = found[-1]
    scene = last.scene
    if record.outcome is not None and played.mover != TERMINAL:
        scene = views.stopped(played.state, viewer)[1]
    ending = _ending(game, record.outcome)
    if record.void_reason is not None:
        ending += f" Void, it counts nowhere: {record.void_reason}"
    found[-1] = Position(last.ply, last.told, scene, ending)
    return found


def holders(record: Record) -> list[str]:
    """The holder of each seat: ``alice/mybot``, or the name alone for a person."""
    return [f"{seat.player}{f'/{seat.bot}' if seat.bot else ''}" for seat in record.seats]


def _words(game: Game, event: Event) -> str:
    who = "chance" if event.seat < 0 else game.seat_name(event.seat)
    time = "" if event.ms is None else f" in {event.ms / 1000:g} s"
    return f"{who}: {event_text(event)}{time}"


def _ending(game: Game, outcome: Outcome | None) -> str:
    if outcome is None:
        return "The match was not over when this was recorded."
    returns = ", ".join(
        f"{game.seat_name(seat)} {signed(value, 2)}" for seat, value in enumerate(outcome.returns)
    )
    why = outcome.termination.replace("_", " ")
    reason = f" {outcome.reason[:1].upper()}{outcome.reason[1:]}" if outcome.reason else ""
    return f"Result: {returns or 'void'} ({why}).{reason}"
