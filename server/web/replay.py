"""Positions of a match from its stored events, for people who want to see it again.

Everything goes through `plyhouse.server.match.views`, so that a replay shows a viewer nothing that
was not sent at the time.  While a pairing with hidden information is being played only the
spectators' view may be asked for; the caller has to see to that.

The cards, dice and ships of every seat may lie open once a match is over.  Nobody saw such a scene
while the match ran, so the caller has to see to it that what the seats saw is public.  Each
scene is put together from those of the single seats: hands and boards are the same ones if they
have the same label.
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
from plyhouse.protocol.api.matches import Replay
from plyhouse.protocol.messages import Event
from plyhouse.protocol.parts import Info
from plyhouse.server.match.events import kept_info
from plyhouse.server.match.views import Views
from plyhouse.storage.rows import EventRow, StoredMatch

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


class _Replayed:
    """A match as it goes on, with the positions drawn so far for one viewer."""

    def __init__(self, game: Game, viewer: int | None, *, all_hands: bool, plies: range) -> None:
        self.position = Position(game)
        self.views = Views(game, game.seats)
        self.frames: list[matches.Position] = []
        self._viewer = viewer
        self._seats = range(game.seats) if all_hands else range(0)
        """The seats whose hands lie open."""
        self._plies = plies
        self._told = 0
        """Number of events that the positions so far have."""

    def play(self, row: EventRow) -> None:
        """Play a stored action or chance outcome."""
        before = self.position.state
        action = self.position.apply(row.seat, row.text)
        charged = row.charged_ns if row.kind == "action" else None
        self.views.record(before, action, row.text, row.seat, row.ply, charged)

    def draw(self, info: Info | None) -> None:
        """Draw the position, if it is one of those asked for."""
        if self.position.ply in self._plies:
            scene = self.scene(self.views.drawn)
            events = self._events()
            self.frames.append(matches.Position(self.position.ply, events, scene, info))
        self._told = self.views.length

    def scene(
        self, draw: Callable[[Any, int | None], tuple[Any, dict[str, Any]]]
    ) -> dict[str, Any]:
        """Return the scene of the position, with the hands that lie open."""
        state = self.position.state
        scene = draw(state, self._viewer)[1]
        if not self._seats:
            return scene
        return open_hands(scene, [draw(state, seat)[1] for seat in self._seats])

    def _events(self) -> list[Event]:
        """Return the events since the last position, with all actions if hands lie open."""
        events = self.views.events(self._viewer, self._told)
        seen = [self.views.events(seat, self._told) for seat in self._seats]
        if not seen:
            return events
        return [
            next((each for each in known if each.action is not None), event)
            for event, *known in zip(events, *seen, strict=True)
        ]


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
    bots allow it (`plyhouse.server.match.events.seats_with_public_thoughts`).

    Raises `GameError` if the stored events do not fit the game (any more).
    """
    replayed = _Replayed(game, viewer, all_hands=all_hands, plies=range(first, first + limit))
    position = replayed.position
    over = stored.pairing.finished_ms is not None
    if position.mover != CHANCE:
        replayed.draw(None)
    info: Info | None = None
    for row in stored.events:
        if row.kind not in ("action", "chance"):
            continue
        replayed.play(row)
        # A seat's view has what that seat knew: not what the others thought.
        if row.kind == "action" and (all_hands or viewer in (None, row.seat)):
            said = kept_info(row.data)
            early = viewer is None and row.seat in live and said is not None and said.live
            info = said if over or early else None
        if position.mover != CHANCE:
            replayed.draw(info)
            info = None
    if position.mover == CHANCE:  # not dealt yet, or cut short before the roll
        replayed.draw(info)
    frames = replayed.frames
    ended = stored.header.status == "finished" and position.mover != TERMINAL
    if ended and frames and frames[-1].ply == position.ply:
        frames[-1] = structs.replace(frames[-1], scene=replayed.scene(replayed.views.stopped))
    return Replay(stored.header.id, game.spec, viewer, seats_open, position.ply, frames)


def replay_json(stored: StoredMatch, viewer: int | None, **more: Any) -> bytes:
    """Return `replay` as JSON, with its other arguments in ``more``."""
    return msgspec.json.encode(replay(stored, get_game(stored.header.game), viewer, **more))
