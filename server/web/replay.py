"""Positions of a match from its stored events, for people who want to see it again.

Everything goes through `plyhouse.server.match.views`, so that a replay shows a viewer nothing that
was not sent at the time.  While a pairing with hidden information is being played only the
spectators' view may be asked for; the caller has to see to that.

Scenes in which the cards, dice and ships of every seat lie open, for matches that are over.

Nobody saw such a scene while the match ran, so the caller has to see to it that what the seats saw
is public.  Each scene is put together from those of the single seats: hands and boards are the
same ones if they have the same label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from plyhouse.storage.rows import StoredMatch

Fields = dict[str, Any]
"""A part of a scene as plain data (`plyhouse.games.scene.scene_fields`)."""


def open_hands(scene: Fields, seen: Iterable[Fields]) -> Fields:
    """Return ``scene`` with everything open that is open in one of the scenes ``seen``.

    >>> hidden, known = {"text": None, "label": "a card"}, {"text": "K", "label": "king"}
    >>> hand = {"kind": "hand", "label": "Hand of ann"}
    >>> mine, hers = ({"elements": [{**hand, "cards": [card]}]} for card in (hidden, known))
    >>> open_hands(mine, [mine, hers])["elements"][0]["cards"]
    [{'text': 'K', 'label': 'king', 'action': None}]
    """
    known: dict[tuple[str, str], list[Fields]] = {}
    for each in seen:
        for element in each["elements"]:
            known.setdefault((element["kind"], element.get("label", "")), []).append(element)
    opened = [
        _opened(element, known.get((element["kind"], element.get("label", "")), ()))
        for element in scene["elements"]
    ]
    return {**scene, "elements": opened}


def _opened(element: Fields, others: Iterable[Fields]) -> Fields:
    """Return an element with what the same element shows in other scenes."""
    for other in others:
        if element["kind"] == "hand" and len(other["cards"]) == len(element["cards"]):
            pairs = zip(element["cards"], other["cards"], strict=True)
            element = {**element, "cards": [_known(mine, its, None) for mine, its in pairs]}
        elif element["kind"] == "grid" and len(other["rows"]) == len(element["rows"]):
            lines = zip(element["rows"], other["rows"], strict=True)
            rows = [
                [_known(mine, its, "") for mine, its in zip(line, its_line, strict=False)]
                for line, its_line in lines
            ]
            element = {**element, "rows": rows}
    return element


def _known(mine: Fields, its: Fields, nothing: str | None) -> Fields:
    """Return a card or cell as it is, or as the other scene has it if only that one shows it."""
    if mine["text"] == nothing and its["text"] != nothing:
        return {**its, "action": None}
    return mine


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
