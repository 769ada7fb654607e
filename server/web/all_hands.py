"""Scenes in which the cards, dice and ships of every seat lie open, for matches that are over.

Nobody saw such a scene while the match ran, so the caller has to see to it that what the seats saw
is public.  Each scene is put together from those of the single seats: hands and boards are the
same ones if they have the same label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["open_hands"]

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
