"""Positions of a match from its stored events, for people who want to see it again.

Everything goes through `plyhouse.server.match.views`, so that a replay shows a viewer nothing that
was not sent at the time.  While a pairing with hidden information is being played only the
spectators' view may be asked for; the caller has to see to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import matches
from plyhouse.protocol.api.matches import Info, Replay
from plyhouse.protocol.messages import Event
from plyhouse.server.match.thoughts import kept_info
from plyhouse.server.match.views import Views
from plyhouse.server.web.all_hands import open_hands
from plyhouse.storage.rows import StoredMatch

__all__ = ["replay", "replay_json"]


def replay(
    stored: StoredMatch,
    game: Game,
    viewer: int | None,
    *,
    seats_open: bool,
    all_hands: bool = False,
    first: int = 0,
    limit: int = 1000,
    live: frozenset[int] = frozenset(),
) -> Replay:
    """Draw ``limit`` positions of a match from ply ``first`` on.

    With ``all_hands``, what any seat held lies open, in ``viewer``'s scenes and events.

    ``live`` are the seats whose thoughts spectators may see before the pairing is over, if their
    bots allow it (`plyhouse.server.match.thoughts.open_seats`).

    Raises `GameError` if the stored events do not fit the game (any more).
    """
    views = Views(game, game.seats)
    position = Position(game)
    frames: list[matches.Position] = []
    told = 0
    over = stored.pairing.finished_ms is not None
    info: Info | None = None

    def scene_of(draw: Callable[[Any, int | None], tuple[Any, dict[str, Any]]]) -> dict[str, Any]:
        scene = draw(position.state, viewer)[1]
        if not all_hands:
            return scene
        return open_hands(scene, [draw(position.state, seat)[1] for seat in range(game.seats)])

    def told_since(told: int) -> list[Event]:
        events = views.events(viewer, told)
        if not all_hands:
            return events
        seen = [views.events(seat, told) for seat in range(game.seats)]
        return [
            next((each for each in known if each.action is not None), event)
            for event, *known in zip(events, *seen, strict=True)
        ]

    def draw() -> None:
        nonlocal told, info
        if first <= position.ply < first + limit:
            scene = scene_of(views.drawn)
            events = told_since(told)
            frames.append(matches.Position(position.ply, events, scene, info))
        told = views.length
        info = None

    if position.mover != CHANCE:
        draw()
    for row in stored.events:
        if row.kind not in ("action", "chance"):
            continue
        before = position.state
        action = position.apply(row.seat, row.text)
        charged = row.charged_ns if row.kind == "action" else None
        views.record(before, action, row.text, row.seat, row.ply, charged)
        # A seat's view has what that seat knew: not what the others thought.
        if row.kind == "action" and (all_hands or viewer in (None, row.seat)):
            said = kept_info(row.data)
            early = viewer is None and row.seat in live and said is not None and said.live
            info = said if over or early else None
        if position.mover != CHANCE:
            draw()
    if position.mover == CHANCE:  # not dealt yet, or cut short before the roll
        draw()
    ended = stored.header.status == "finished" and position.mover != TERMINAL
    if ended and frames and frames[-1].ply == position.ply:
        frames[-1] = structs.replace(frames[-1], scene=scene_of(views.stopped))
    return Replay(stored.header.id, game.spec, viewer, seats_open, position.ply, frames)


def replay_json(stored: StoredMatch, viewer: int | None, **more: Any) -> bytes:
    """Return `replay` as JSON, with its other arguments in ``more``."""
    return msgspec.json.encode(replay(stored, get_game(stored.header.game), viewer, **more))
