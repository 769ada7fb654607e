"""Observations of bridge, and the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.hidden.bridge.cards import (
    CALL_NAMES,
    CARD_NAMES,
    FIRST_BID,
    PASS,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    SUITS,
    bid_name,
    names,
)
from plyhouse.games.hidden.bridge.scoring import needed_tricks
from plyhouse.games.hidden.bridge.state import BridgeState
from plyhouse.games.scene import Button, Card, Cell, Element, Grid, Hand, Scene, Text

__all__ = ["BridgeObservation", "bridge_scene", "contract_text", "observed", "result_text"]

_RISKS: Final[dict[int, str]] = {1: "", 2: "X", 4: "XX"}
_SIGNS: Final[dict[str, str]] = {"C": "\u2663", "D": "\u2666", "H": "\u2665", "S": "\u2660"}


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class BridgeObservation(Observation):
    """One seat's view: its cards, the auction, dummy, the cards played, and the result so far."""

    board: int
    """Number of the board, from 1, by which dealer and vulnerability are fixed."""
    dealer: int
    """Seat that calls first."""
    vulnerable: tuple[bool, ...]
    """By seat whether it is vulnerable."""
    cards: tuple[str, ...]
    """Cards that the observer holds, as in "SA"; empty for spectators."""
    dealt: int
    """How many cards have been dealt."""
    calls: tuple[str, ...]
    """Calls of the auction from the dealer's, as in "1NT", "Pass", "X" and "XX"."""
    contract: str
    """Contract, as in "4S" or "3NTX"; "" before the end of the auction, or if all passed."""
    declarer: int | None
    """Declarer; None without a contract."""
    dummy: tuple[str, ...]
    """Cards that dummy still holds; empty before the opening lead."""
    plays: tuple[str, ...]
    """All cards played on this board, in order."""
    trick: tuple[tuple[int, str], ...]
    """Seat and card of each play to the current trick."""
    turn: int | None
    """Seat whose card is due, which is dummy when the declarer plays for it; None otherwise."""
    tricks: tuple[int, int]
    """Tricks of the declarer's side, and of the defenders."""
    points: int
    """Points of North and South on the boards that are over."""
    last_board: int | None
    """Number of the board that ended last; None on the first one."""
    last_contract: str
    """Contract of that board; "" if all passed."""
    last_declarer: int | None
    """Declarer of that board."""
    last_tricks: int
    """Tricks of its declarer's side."""
    last_points: int
    """Points of North and South on it."""


def contract_text(bid: int, risk: int) -> str:
    """Return a contract such as "3NTX"; "" for none."""
    return bid_name(bid) + _RISKS[risk] if bid >= 0 else ""


def observed(state: BridgeState, seat: int | None, legal: tuple[str, ...]) -> BridgeObservation:
    """Return what a seat, or a spectator, sees."""
    declarer = state.declarer
    playing = declarer >= 0
    place = len(state.plays) % 4
    last = state.last
    return BridgeObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        board=state.number(),
        dealer=state.dealer(),
        vulnerable=tuple([state.is_vulnerable(each) for each in range(4)]),
        cards=() if seat is None else names(state.held(seat)),
        dealt=state.count,
        calls=tuple([CALL_NAMES[call - PASS] for call in state.calls]),
        contract=contract_text(state.bid, state.risk) if playing else "",
        declarer=declarer if playing else None,
        dummy=names(state.exposed()),
        plays=tuple([CARD_NAMES[card] for card in state.plays]),
        trick=tuple(
            [
                ((state.leader + at) % 4, CARD_NAMES[card])
                for at, card in enumerate(state.trick()[:place])
            ]
        ),
        turn=state.hand_to_play() if playing and state.to_move >= 0 else None,
        tricks=(state.tricks, len(state.plays) // 4 - state.tricks),
        points=state.points,
        last_board=last[0] if last else None,
        last_contract=contract_text(last[1], last[2]) if last else "",
        last_declarer=last[3] if last and last[3] >= 0 else None,
        last_tricks=last[4] if last else 0,
        last_points=last[5] if last else 0,
    )


def _words(name: str) -> str:
    """Return a card in words."""
    return f"{RANK_NAMES[RANKS.index(name[1])]} of {SUIT_NAMES[SUITS.index(name[0])]}"


def _card(name: str, action: str | None = None, by: str = "", highlight: bool = False) -> Card:
    """Return an open card; ``by`` names the seat that has played it."""
    label = f"{by}: {_words(name)}" if by else _words(name)
    suit = SUIT_NAMES[SUITS.index(name[0])]
    return Card(name, action, label, name[1].replace("T", "10"), suit, "", highlight)


def pretty(call: str) -> str:
    """Return a call as people write it: 4\u2660 for "4S"."""
    if call[0].isdigit() and call[1] in _SIGNS:
        return call[0] + _SIGNS[call[1]] + call[2:]
    return call


def result_text(contract: str, declarer: str, tricks: int, points: int) -> str:
    """Return a sentence on a board that is over."""
    if not contract:
        return "all passed"
    over = tricks - needed_tricks(CALL_NAMES.index(contract.rstrip("X")) + PASS - FIRST_BID)
    made = "made" if over == 0 else f"made with {over} over" if over > 0 else f"{-over} down"
    side = "North and South" if points > 0 else "East and West"
    return f"{pretty(contract)} by {declarer}, {made}, {abs(points)} points for {side}"


def _last_result(seen: BridgeObservation, name: Callable[[int], str]) -> str:
    declarer = "" if seen.last_declarer is None else name(seen.last_declarer)
    told = result_text(seen.last_contract, declarer, seen.last_tricks, seen.last_points)
    return f"Board {seen.last_board}: {told}"


def _winners(seen: BridgeObservation) -> tuple[tuple[int, str], ...]:
    """Return seat and card of each play to the trick that ended last; () if there is none."""
    whole = len(seen.plays) // 4 * 4
    if whole == 0 or seen.declarer is None:
        return ()
    strain = _strain(seen.contract)
    leader = (seen.declarer + 1) % 4
    for start in range(0, whole - 4, 4):
        leader = (leader + _best(seen.plays[start : start + 4], strain)) % 4
    return tuple(
        [((leader + at) % 4, card) for at, card in enumerate(seen.plays[whole - 4 : whole])]
    )


def _strain(contract: str) -> str:
    return "" if "N" in contract else contract[1:2]


def _best(cards: tuple[str, ...], strain: str) -> int:
    """Return the place of the winning card among names of cards, from the leader's."""
    best = 0
    for place, card in enumerate(cards):
        top = cards[best]
        if card[0] == top[0]:
            if RANKS.index(card[1]) > RANKS.index(top[1]):
                best = place
        elif card[0] == strain:
            best = place
    return best


def _open(label: str, faces: tuple[str, ...], legal: tuple[str, ...], seat: int) -> Hand:
    """Return open cards, of which legal ones can be chosen."""
    cards = [_card(face, face if face in legal else None) for face in faces]
    return Hand(label, tuple(cards), seat, "suits")


def _said(seen: BridgeObservation, seat: int) -> list[str]:
    """Return the part of a seat on this board, and whether it is vulnerable."""
    told: list[str] = []
    if seen.declarer is None:
        told += ["dealer"] if seat == seen.dealer else []
    elif (seat - seen.declarer) % 2 == 0:
        told.append("declarer" if seat == seen.declarer else "dummy")
    return told + (["vulnerable"] if seen.vulnerable[seat] else [])


def bridge_scene(seen: BridgeObservation, boards: int, name: Callable[[int], str]) -> Scene:
    """Return the table: hands, the trick or the auction, the contract, tricks and points."""
    elements: list[Element] = []
    over = seen.to_move == TERMINAL
    trick = seen.trick or _winners(seen)
    best = _best(tuple([card for _, card in trick]), _strain(seen.contract))
    for seat in range(4):
        elements += [Text(f"{name(seat)}: {said}", seat, "badge") for said in _said(seen, seat)]
    for place, (seat, card) in enumerate(trick):
        called = name(seat)
        elements.append(Hand(called, (_card(card, None, called, place == best),), seat, "trick"))
    if seen.declarer is None:
        elements += _auction(seen, name)
    else:
        elements += _contract(seen, name)
    if seen.seat is not None and seen.cards:
        legal = seen.legal if seen.turn == seen.seat else ()
        elements.append(_open("Your cards", seen.cards, legal, seen.seat))
    if boards > 1:
        elements.append(Text(f"Board {seen.board}; North and South: {seen.points:+d} points"))
    if seen.last_board is not None and not over:
        elements.append(Text(_last_result(seen, name)))
    if over:
        status = _last_result(seen, name)
    elif seen.to_move == CHANCE:
        status = "The cards are dealt"
    elif seen.turn is None:
        status = f"{name(seen.to_move)} to call"
    elif seen.turn != seen.to_move:
        status = f"{name(seen.to_move)} to play from dummy"
    else:
        status = f"{name(seen.to_move)} to play"
    return Scene(tuple(elements), status, seen.seat_to_move)


def _contract(seen: BridgeObservation, name: Callable[[int], str]) -> list[Element]:
    """Return dummy's cards, the contract, and the tricks won."""
    found: list[Element] = []
    declarer = seen.declarer or 0
    dummy = (declarer + 2) % 4
    if seen.dummy and dummy != seen.seat:
        legal = seen.legal if seen.turn == dummy else ()
        found.append(_open(f"Dummy, {name(dummy)}", seen.dummy, legal, dummy))
    need = needed_tricks(CALL_NAMES.index(seen.contract.rstrip("X")) + PASS - FIRST_BID)
    found.append(
        Text(
            f"{pretty(seen.contract)} by {name(declarer)}; tricks: {seen.tricks[0]} of {need}, "
            f"defenders {seen.tricks[1]}"
        )
    )
    return found


def _auction(seen: BridgeObservation, name: Callable[[int], str]) -> list[Element]:
    """Return the calls so far, and a box of bids to choose from."""
    found: list[Element] = []
    if seen.calls:
        cells = [Cell("")] * seen.dealer
        cells += [Cell(pretty(call), label=call) for call in seen.calls]
        cells += [Cell("")] * (-len(cells) % 4)
        rows = [tuple(cells[start : start + 4]) for start in range(0, len(cells), 4)]
        heads = tuple([name(seat) for seat in range(4)])
        found.append(Grid(tuple(rows), (), heads, "Auction", "table"))
    if not seen.legal:
        return found
    bids: list[tuple[Cell, ...]] = []
    for strain in range(4, -1, -1):
        row: list[Cell] = []
        for level in range(7):
            call = bid_name(5 * level + strain)
            legal = call in seen.legal
            row.append(Cell(pretty(call), None, "", call if legal else None, pretty(call)))
        bids.append(tuple(row))
    found.append(Grid(tuple(bids), (), (), "Bids", "table"))
    words = {"Pass": "Pass", "X": "Double", "XX": "Redouble"}
    for place, (call, word) in enumerate(words.items(), 1):
        if call in seen.legal:
            found.append(Button(word, call, place=place))
    return found
