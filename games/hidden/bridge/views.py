"""Observations of bridge, words for calls, and the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.hidden.bridge.scoring import is_vulnerable
from plyhouse.games.hidden.bridge.state import (
    DOUBLE,
    FIRST_BID,
    PASS,
    REDOUBLE,
    SEATS,
    BridgeState,
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
from plyhouse.games.scene import Button, Card, Cell, Element, Grid, Hand, Scene, Text

__all__ = ["CALLS", "BridgeObservation", "bridge_scene", "observed"]

_TRUMPS: Final = ("C", "D", "H", "S", "NT")
_SIGNS: Final = ("\u2663", "\u2666", "\u2665", "\u2660", "NT")

CALLS: Final[dict[int, str]] = {
    PASS: "pass",
    DOUBLE: "X",
    REDOUBLE: "XX",
    **{FIRST_BID + bid: f"{bid // 5 + 1}{_TRUMPS[bid % 5]}" for bid in range(35)},
}
"""Calls as text."""
_LONG: Final = {"pass": "Pass", "X": "Double", "XX": "Redouble"}


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class BridgeObservation(Observation):
    """One seat's view: its cards, dummy, the auction, the tricks, and the scores."""

    board: int
    """Number of the board, from 0."""
    dealer: int
    """Seat that calls first."""
    vulnerable: tuple[bool, bool]
    """Whether north and south, and whether east and west are vulnerable."""
    dealt: int
    """How many cards have been dealt to all seats; 52 when the deal is complete."""
    hand: tuple[str, ...]
    """The observer's cards, as in "Qs", by suit and rank."""
    dummy: tuple[str, ...]
    """Dummy's cards; empty before the opening lead."""
    calls: tuple[str, ...]
    """The auction, beginning with the dealer."""
    contract: str
    """The last bid, with X or XX if it is doubled or redoubled, such as "3NTX"; "" before a bid."""
    declarer: int | None
    """Seat of the declarer; None before the auction is over, or if all passed."""
    tricks: tuple[tuple[int, tuple[str, ...]], ...]
    """Tricks of this board, the current one last: the seat that led, and the cards in order."""
    taken: tuple[int, int]
    """Tricks that north and south, and east and west have taken."""
    points: int
    """Points of north and south in the boards that are over."""
    imps: int
    """The same in IMPs."""
    last_contract: str
    """Contract of the board that ended last; "" if all passed, or there is none."""
    last_declarer: int | None
    """Its declarer."""
    last_taken: int | None
    """Tricks of the declarer's side in it; None if there is no such board."""
    last_points: int
    """Points of north and south in it."""


def contract_text(bid: int, doubled: int) -> str:
    """Return a contract as text; "" without a bid."""
    return "" if bid < 0 else CALLS[FIRST_BID + bid] + "X" * doubled


def observed(state: BridgeState, seat: int | None, legal: tuple[str, ...]) -> BridgeObservation:
    """Return what a seat, or a spectator, sees."""
    contract = state.contract()
    tricks: list[tuple[int, tuple[str, ...]]] = []
    for start in range(0, len(state.played), SEATS):
        codes = state.played[start : start + SEATS]
        tricks.append((codes[0] >> 6, tuple([CARDS[code & 63] for code in codes])))
    decided = state.dealt == PACK and not state.bidding() and contract.bid >= 0
    side = contract.declarer % 2
    over = len(state.played) // SEATS
    taken = [0, 0]
    if decided:
        taken[side] = state.taken
        taken[1 - side] = over - state.taken
    dummy = state.dummy()
    last = state.last
    return BridgeObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        board=state.board,
        dealer=state.dealer(),
        vulnerable=(is_vulnerable(state.board, 0), is_vulnerable(state.board, 1)),
        dealt=state.dealt,
        hand=() if seat is None else _names(state.hands[seat]),
        dummy=() if dummy < 0 else _names(state.hands[dummy]),
        calls=tuple([CALLS[call] for call in state.calls]),
        contract=contract_text(contract.bid, contract.doubled),
        declarer=contract.declarer if decided else None,
        tricks=tuple(tricks),
        taken=(taken[0], taken[1]),
        points=state.points,
        imps=state.imps,
        last_contract=contract_text(last[0], last[2]) if last else "",
        last_declarer=last[1] if last and last[0] >= 0 else None,
        last_taken=last[3] if last else None,
        last_points=last[4] if last else 0,
    )


def _names(cards: int) -> tuple[str, ...]:
    return tuple([CARDS[card] for card in cards_by_suit(cards)])


def _card(name: str, action: str | None, said: str = "", marked: bool = False) -> Card:
    """Return an open card; ``said`` follows its name in the spoken description."""
    suit = SUIT_NAMES[SUITS.index(name[1])]
    label = f"{RANK_NAMES[RANKS.index(name[0])]} of {suit}{said}"
    return Card(name, action, label, name[0].replace("T", "10"), suit, "", marked)


def _sign(call: str) -> str:
    """Return a call with the sign of its suit."""
    if call[0] in "1234567":
        kind = call[1:].rstrip("X")
        return call[0] + _SIGNS[_TRUMPS.index(kind)] + call[1 + len(kind) :]
    return _LONG[call]


def bridge_scene(seen: BridgeObservation, boards: int, name: Callable[[int], str]) -> Scene:
    """Return the hands that may be seen, the trick, the auction or the contract, and the scores."""
    elements: list[Element] = []
    last = seen.tricks[-1] if seen.tricks else (0, ())
    full = len(last[1]) == SEATS
    trumps = _TRUMPS.index(seen.contract[1:].rstrip("X")) if seen.contract else 4
    numbers = tuple([card_number(card) for card in last[1]])
    taker = trick_winner(last[0], numbers, trumps) if full else None
    dummy = None if seen.declarer is None else (seen.declarer + 2) % SEATS
    for seat in range(SEATS):
        called = name(seat)
        place = (seat - last[0]) % SEATS
        cards: tuple[Card, ...] = ()
        if place < len(last[1]):
            cards = (_card(last[1][place], None, f", played by {called}", seat == taker),)
        if cards or (seat != seen.seat and seen.declarer is not None):
            elements.append(Hand(called, cards, seat))
        told = _told(seen, seat)
        if told:
            elements.append(Text(f"{called}: {told}", seat))
    if seen.dummy and dummy is not None and dummy != seen.seat:
        elements.append(_hand(f"Dummy, {name(dummy)}", seen.dummy, seen.legal, None))
    if seen.seat is not None:
        elements.append(_hand("Your cards", seen.hand, seen.legal, seen.seat))
    if seen.contract and seen.declarer is not None:
        us, them = seen.taken
        elements.append(
            Text(
                f"{_sign(seen.contract)} by {name(seen.declarer)}; "
                f"tricks: {us} north and south, {them} east and west"
            )
        )
    elements.append(Text(_score(seen, boards)))
    if seen.last_taken is not None and seen.to_move != TERMINAL:
        elements.append(Text(_result(seen, name)))
    if seen.declarer is None and seen.dealt == PACK and seen.to_move >= 0:
        elements += _bidding_box(seen)
    return Scene(tuple(elements), _status(seen, name), seen.seat_to_move)


def _hand(label: str, cards: tuple[str, ...], legal: tuple[str, ...], seat: int | None) -> Hand:
    return Hand(
        label, tuple([_card(each, each if each in legal else None) for each in cards]), seat
    )


def _told(seen: BridgeObservation, seat: int) -> str:
    """Return the calls of a seat during the auction, and its part in the play after it."""
    if seen.declarer is not None:
        if seat == seen.declarer:
            return "declarer"
        return "dummy" if seat == (seen.declarer + 2) % SEATS else ""
    own = [_sign(call) for call in seen.calls[(seat - seen.dealer) % SEATS :: SEATS]]
    return ", ".join(own)


def _score(seen: BridgeObservation, boards: int) -> str:
    sides = [
        side
        for side, one in zip(("north and south", "east and west"), seen.vulnerable, strict=True)
        if one
    ]
    danger = "both sides" if len(sides) == 2 else sides[0] if sides else "nobody"
    board = f"Board {seen.board + 1} of {boards}, vulnerable: {danger}"
    if seen.last_taken is None:
        return board
    return f"{board}; north and south have {seen.imps:+d} IMPs"


def _result(seen: BridgeObservation, name: Callable[[int], str]) -> str:
    """Return one sentence on the board that ended last."""
    if seen.last_declarer is None:
        return "The last board was passed out"
    level = int(seen.last_contract[0])
    over = (seen.last_taken or 0) - level - 6
    made = "made" if over == 0 else f"made with {over} more" if over > 0 else f"{-over} down"
    return (
        f"{_sign(seen.last_contract)} by {name(seen.last_declarer)}: {made}, "
        f"{seen.last_points:+d} for north and south"
    )


def _bidding_box(seen: BridgeObservation) -> list[Element]:
    """Return all bids as a table of levels and trumps, and buttons for the other calls."""
    rows: list[tuple[Cell, ...]] = []
    bids = [call for call in seen.calls if call[0] in "1234567"]
    for level in range(1, 8):
        cells: list[Cell] = []
        for trumps, sign in zip(_TRUMPS, _SIGNS, strict=True):
            call = f"{level}{trumps}"
            cells.append(
                Cell(
                    f"{level}{sign}",
                    None,
                    "",
                    call if call in seen.legal else None,
                    f"{level} {'no trumps' if trumps == 'NT' else sign}",
                    bool(bids) and call == bids[-1],
                )
            )
        rows.append(tuple(cells))
    found: list[Element] = [Grid(tuple(rows), label="Bids", look="table")]
    found += [Button(_LONG[call], call) for call in seen.legal if call in _LONG]
    return found


def _status(seen: BridgeObservation, name: Callable[[int], str]) -> str:
    """Return one line on what happens now."""
    if seen.to_move == TERMINAL:
        if seen.imps == 0:
            return f"{_result(seen, name)}. The match is drawn"
        winner = "North and south win" if seen.imps > 0 else "East and west win"
        return f"{_result(seen, name)}. {winner} by {abs(seen.imps)} IMPs"
    if seen.to_move == CHANCE:
        return "The cards are dealt"
    if seen.declarer is None:
        return f"{name(seen.to_move)} to call"
    played = sum([len(cards) for _, cards in seen.tricks])
    if played == 0:
        return f"{name(seen.to_move)} leads"
    lead, cards = seen.tricks[-1]
    hand = (lead + len(cards)) % SEATS
    if len(cards) == SEATS:
        numbers = tuple([card_number(card) for card in cards])
        hand = trick_winner(lead, numbers, _TRUMPS.index(seen.contract[1:].rstrip("X")))
    if hand != seen.to_move:
        return f"{name(seen.to_move)} plays from dummy"
    return f"{name(seen.to_move)} to play"
