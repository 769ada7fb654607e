"""Observations of Texas hold'em, words for actions, and the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.hidden.texas_holdem.ranking import category_name, hand_strength
from plyhouse.games.hidden.texas_holdem.state import (
    BET,
    CALL,
    CHECK,
    FOLDED,
    RAISED,
    TexasHoldemState,
    action_parts,
)
from plyhouse.games.playing_cards import (
    BET_PLACES,
    CARDS,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    SUITS,
    card_number,
    hand_bits,
)
from plyhouse.games.scene import Button, Card, Counter, Element, Hand, Scene, Text

__all__ = ["TexasHoldemObservation", "holdem_scene", "observed", "words"]

_WORDS: Final[dict[int, str]] = {
    FOLDED: "fold",
    CHECK: "check",
    CALL: "call",
    BET: "bet",
    RAISED: "raise",
}


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class TexasHoldemObservation(Observation):
    """One seat's view: its cards, the table, the betting, and what the last showdown showed."""

    hand: int
    """Number of the hand, from 0."""
    button: int
    """Seat of the button."""
    cards: tuple[str, ...]
    """The observer's own cards, as in "Ah"; empty for spectators and before the deal."""
    dealt: int
    """How many cards have been dealt to the seats in this hand."""
    board: tuple[str, ...]
    """Cards on the table: none, or three of the flop, the turn and the river."""
    rounds: tuple[tuple[tuple[int, str], ...], ...]
    """Actions of this hand as pairs of seat and text, for each round of betting that has begun."""
    bets: tuple[int, ...]
    """By seat its chips bet in this round; amounts of actions count the same way."""
    paid: tuple[int, ...]
    """By seat its chips in the pot, bets of this round included."""
    stacks: tuple[int, ...]
    """By seat the chips that it has left."""
    folded: tuple[bool, ...]
    """By seat whether it has folded."""
    to_call: int
    """Chips that the seat to move needs to call; 0 if nobody moves."""
    won: tuple[int, ...]
    """By seat chips won or lost in the hands that are over."""
    last_hand: int | None
    """Number of the hand that ended last; None in the first hand."""
    last_board: tuple[str, ...]
    """Cards on the table in that hand."""
    last_shown: tuple[tuple[str, ...], ...]
    """By seat the cards that it showed in that hand; empty for a seat that had folded."""
    last_won: tuple[int, ...]
    """By seat chips won or lost in that hand."""


def words(code: int) -> str:
    """Return an action of a history as text."""
    _, _, kind, amount = action_parts(code)
    word = _WORDS[kind]
    return f"{word} {amount}" if kind in (BET, RAISED) else word


def _names(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([CARDS[card] for card in cards])


def observed(
    state: TexasHoldemState, seat: int | None, legal: tuple[str, ...]
) -> TexasHoldemObservation:
    """Return what a seat, or a spectator, sees."""
    rules = state.rules
    seats = list(range(rules.seats))
    over = state.to_move == TERMINAL
    rounds: list[list[tuple[int, str]]] = [[] for _ in range(state.street + 1)]
    for code in state.history:
        street, actor, _, _ = action_parts(code)
        rounds[street].append((actor, words(code)))
    last = state.last
    return TexasHoldemObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        hand=state.hand,
        button=state.button(),
        cards=() if seat is None else _names(state.hole(seat)),
        dealt=min(len(state.cards), 2 * rules.seats),
        board=_names(state.board()),
        rounds=tuple([tuple(each) for each in rounds]),
        bets=tuple([0 if over else max(0, state.paid[each] - state.base) for each in seats]),
        paid=state.paid,
        stacks=tuple([rules.stacks[each] - state.paid[each] for each in seats]),
        folded=tuple([bool(state.folded >> each & 1) for each in seats]),
        to_call=state.to_call() if state.to_move >= 0 else 0,
        won=state.won,
        last_hand=last[0] if last else None,
        last_board=_names(last[1]) if last else (),
        last_shown=tuple([_names(cards) for cards in last[2]]) if last else (),
        last_won=last[3] if last else (),
    )


def _held(cards: tuple[str, ...]) -> str:
    """Return what a hand of five to seven cards is, as in "a pair"."""
    bits = hand_bits(tuple([card_number(card) for card in cards]))
    category = category_name(hand_strength(bits, len(cards) - 5))
    plain = category in ("high card", "two pair", "three of a kind", "four of a kind")
    return category if plain else f"a {category}"


def _card(name: str, won: bool = False, faint: bool = False) -> Card:
    """Return an open card."""
    suit = SUIT_NAMES[SUITS.index(name[1])]
    rank = name[0].replace("T", "10")
    label = f"{RANK_NAMES[RANKS.index(name[0])]} of {suit}"
    return Card(name, None, label, rank, suit, "", won, faint)


def _hand(seen: TexasHoldemObservation, seat: int, called: str) -> Hand:
    """Return the cards of a seat, face down unless they may be seen; none after a fold."""
    over = seen.to_move == TERMINAL
    seats = len(seen.paid)
    place = (seat - seen.button - 1) % seats
    count = max(0, min(2, (seen.dealt - place + seats - 1) // seats))
    faces = seen.last_shown[seat] if over else ()
    if not faces and seat == seen.seat:
        faces = seen.cards
    gone = seen.folded[seat]
    won = over and seen.last_won[seat] > 0
    if faces:
        return Hand(called, tuple([_card(face, won, gone) for face in faces]), seat)
    down = Card(None, None, "a card face down")
    return Hand(called, () if gone else (down,) * count, seat)


def _outcome(seen: TexasHoldemObservation, name: Callable[[int], str]) -> str:
    """Return one sentence on the hand that ended last."""
    parts: list[str] = []
    for seat, chips in enumerate(seen.last_won):
        shown = seen.last_shown[seat]
        if chips > 0:
            held = f" with {_held((*shown, *seen.last_board))}" if shown else ""
            parts.append(f"{name(seat)} wins {chips}{held}")
    if not parts:
        parts.append("the pot is shared")
    shows: list[str] = []
    for seat, cards in enumerate(seen.last_shown):
        if cards:
            shows.append(f"{name(seat)} {' '.join(cards)}")
    shown_text = f" ({'; '.join(shows)}; table {' '.join(seen.last_board)})" if shows else ""
    return f"{', '.join(parts)}{shown_text}"


def _said(seen: TexasHoldemObservation, seat: int) -> str:
    """Return what a seat has shown, else its last action in this hand; "" if it has not acted."""
    if seen.to_move == TERMINAL and seen.last_shown[seat]:
        return _held((*seen.last_shown[seat], *seen.last_board))
    said = ""
    for each in seen.rounds:
        for actor, text in each:
            if actor == seat:
                said = text
    return said


def holdem_scene(seen: TexasHoldemObservation, hands: int, name: Callable[[int], str]) -> Scene:
    """Return the table: cards, bets, stacks, the pot, the last result, and what may be chosen."""
    elements: list[Element] = []
    over = seen.to_move == TERMINAL
    for seat in range(len(seen.paid)):
        called = name(seat)
        if seat == seen.button:
            elements.append(Text(f"{called}: dealer", seat, "badge"))
        elements.append(Text(f"{called}: stack {seen.stacks[seat]}", seat, "badge"))
        if hands > 1:
            elements.append(Text(f"{called}: won {seen.won[seat]:+d}", seat, "badge"))
        elements.append(_hand(seen, seat, f"Cards of {called}"))
        elements.append(Counter(f"Bet of {called}", seen.bets[seat], None, seat, "chips"))
        if said := _said(seen, seat):
            elements.append(Text(f"{called}: {said}", seat))
    elements.append(Hand("Table", tuple([_card(card) for card in seen.board])))
    winners = [seat for seat, chips in enumerate(seen.last_won) if chips > 0]
    taker = winners[0] if over and len(winners) == 1 else None
    pot = sum(seen.paid) - sum(seen.bets)
    elements.append(Counter("Pot", pot, None, taker, "chips"))
    if hands > 1:
        elements.append(Text(f"Deal {seen.hand + 1} of {hands}"))
    if seen.last_hand is not None and not over:
        elements.append(Text(f"Deal {seen.last_hand + 1}: {_outcome(seen, name)}"))
    elements += _choices(seen)
    if over:
        status = _outcome(seen, name)
        status = status[0].upper() + status[1:]
    elif seen.to_move == CHANCE:
        status = "The cards are dealt"
    else:
        status = f"{name(seen.to_move)} to act"
        if seen.to_call > 0:
            status += f", {seen.to_call} to call"
        elif seen.to_move == seen.seat and len(seen.board) >= 3:
            status += f", with {_held((*seen.cards, *seen.board))}"
    return Scene(tuple(elements), status, seen.seat_to_move)


def _choices(seen: TexasHoldemObservation) -> list[Element]:
    """Return buttons for the actions; unusual sizes of bets are set aside."""
    found: list[Element] = []
    sizes: list[str] = []
    for action in seen.legal:
        if action.startswith(("bet ", "raise ")):
            sizes.append(action)
        else:
            label = f"Call {seen.to_call}" if action == "call" else action.capitalize()
            found.append(Button(label, action, place=BET_PLACES[action]))
    if not sizes:
        return found
    word, _, _ = sizes[0].partition(" ")
    place = BET_PLACES[word]
    verb = "Bet" if word == "bet" else "Raise to"
    mover = seen.to_move
    called = seen.bets[mover] + seen.to_call
    pot = sum(seen.paid) + seen.to_call
    whole = seen.bets[mover] + seen.stacks[mover]
    common = {
        called + (pot + 1) // 2: "half the pot",
        called + pot: "the pot",
        whole: "all in",
    }
    least = int(sizes[0].split()[1])
    for action in sizes:
        amount = int(action.split()[1])
        if amount in common:
            label = f"{verb} {amount}, {common[amount]}"
            found.append(Button(label, action, place=place, amount=amount))
        else:
            aside = amount != least
            found.append(
                Button(f"{verb} {amount}", action, aside=aside, place=place, amount=amount)
            )
    return found
