"""Observations of hearts, and the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.hidden.hearts.state import (
    PASSED,
    SEATS,
    HeartsState,
    direction_of,
    trick_winner,
)
from plyhouse.games.playing_cards import (
    CARDS,
    PACK,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    SUITS,
    card_number,
    cards_by_suit,
)
from plyhouse.games.scene import Card, Element, Hand, Scene, Text

__all__ = ["HeartsObservation", "hearts_scene", "observed"]

_TO: Final = ("", "to the left", "across", "to the right")
"""Where cards are passed, by how many seats further."""


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class HeartsObservation(Observation):
    """One seat's view: its cards, the tricks of this deal, and all points."""

    deal: int
    """Number of the deal, from 0."""
    pass_to: int | None
    """Seat to which the observer passes; None if nobody passes in this deal, and for spectators."""
    dealt: int
    """How many cards have been dealt to all seats; 52 when the deal is complete."""
    hand: tuple[str, ...]
    """The observer's cards, as in "Qs", by suit and rank; cards chosen to pass stay in it until all
    have chosen."""
    chosen: int
    """How many cards all seats have chosen to pass so far; 12 when the cards have changed hands."""
    passed: tuple[str, ...]
    """Cards that the observer has chosen to pass."""
    received: tuple[str, ...]
    """Cards that the observer was passed."""
    tricks: tuple[tuple[int, tuple[str, ...]], ...]
    """Tricks of this deal, the current one last: the seat that led, and the cards in order."""
    points: tuple[int, ...]
    """By seat points in this deal."""
    won: tuple[int, ...]
    """By seat points in the deals that are over."""


def _names(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([CARDS[card] for card in cards])


def observed(state: HeartsState, seat: int | None, legal: tuple[str, ...]) -> HeartsObservation:
    """Return what a seat, or a spectator, sees."""
    by = direction_of(state.deal)
    tricks: list[tuple[int, tuple[str, ...]]] = []
    for start in range(0, len(state.played), SEATS):
        codes = state.played[start : start + SEATS]
        tricks.append((codes[0] >> 6, _names(tuple([code & 63 for code in codes]))))
    return HeartsObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        deal=state.deal,
        pass_to=None if seat is None or by == 0 else (seat + by) % SEATS,
        dealt=state.dealt,
        hand=() if seat is None else _names(cards_by_suit(state.hands[seat])),
        chosen=len(state.passed),
        passed=() if seat is None else _names(state.own_passed(seat)),
        received=() if seat is None else _names(state.received(seat)),
        tricks=tuple(tricks),
        points=state.points,
        won=state.won,
    )


def _card(name: str, action: str | None = None, said: str = "", marked: bool = False) -> Card:
    """Return an open card; ``said`` follows its name in the spoken description."""
    suit = SUIT_NAMES[SUITS.index(name[1])]
    label = f"{RANK_NAMES[RANKS.index(name[0])]} of {suit}{said}"
    return Card(name, action, label, name[0].replace("T", "10"), suit, "", marked)


def hearts_scene(seen: HeartsObservation, deals: int, name: Callable[[int], str]) -> Scene:
    """Return the trick or the cards to pass, the hand with its legal cards, and all points."""
    elements: list[Element] = []
    over = seen.to_move == TERMINAL
    last = seen.tricks[-1] if seen.tricks else (0, ())
    taker = trick_winner(last[0], _numbers(last[1])) if len(last[1]) == SEATS else None
    for seat in range(SEATS):
        called = name(seat)
        total = seen.won[seat] + (0 if over else seen.points[seat])
        points = f"{total} point{'' if total == 1 else 's'}"
        elements.append(Text(f"{called}: {points}", seat, "badge"))
    for place, each in enumerate(last[1]):
        seat = (last[0] + place) % SEATS
        card = _card(each, None, f", played by {name(seat)}", seat == taker)
        elements.append(Hand(name(seat), (card,), seat, "trick"))
    by = direction_of(seen.deal)
    choosing = by > 0 and seen.dealt == PACK and seen.chosen < SEATS * PASSED
    if choosing:
        for seat in range(SEATS):
            if seat == seen.seat:
                out = tuple([_card(each) for each in seen.passed])
                elements.append(Hand(f"Passed {_TO[by]}", out, seat, "trick"))
            elif (count := min(seen.chosen - PASSED * seat, PASSED)) > 0:
                down = Card(None, None, f"{count} card{'' if count == 1 else 's'}")
                elements.append(Hand(f"{name(seat)} passes", (down,) * count, seat, "trick"))
    if seen.seat is not None:
        own = [
            _card(
                each,
                each if each in seen.legal else None,
                "",
                not seen.tricks and each in seen.received,
            )
            for each in seen.hand
            if not choosing or each not in seen.passed
        ]
        elements.append(Hand("Your cards", tuple(own), seen.seat))
    if deals > 1:
        elements.append(Text(f"Deal {seen.deal + 1} of {deals}"))
    return Scene(tuple(elements), _status(seen, name), seen.seat_to_move)


def _numbers(cards: tuple[str, ...]) -> tuple[int, ...]:
    return tuple([card_number(card) for card in cards])


def _status(seen: HeartsObservation, name: Callable[[int], str]) -> str:
    """Return one line on what happens now."""
    if seen.to_move == TERMINAL:
        least = min(seen.won)
        best = [name(seat) for seat in range(SEATS) if seen.won[seat] == least]
        verb = "wins" if len(best) == 1 else "share the win"
        return f"{' and '.join(best)} {verb} with {least} points"
    if seen.to_move == CHANCE:
        return "The cards are dealt"
    if seen.chosen < SEATS * PASSED and not seen.tricks and direction_of(seen.deal) > 0:
        where = _TO[direction_of(seen.deal)]
        if seen.to_move == seen.seat:
            return f"Choose card {len(seen.passed) + 1} of {PASSED} to pass {where}"
        return f"{name(seen.to_move)} chooses cards to pass {where}"
    verb = "leads" if not seen.tricks or len(seen.tricks[-1][1]) == SEATS else "to play"
    return f"{name(seen.to_move)} {verb}"
