"""A position of hearts: hands as words of bits, passed cards, tricks, and points.

Bit n of a word is card n of `plyhouse.games.playing_cards`.
"""

from __future__ import annotations

import random
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.bits import BIT, bit_number, count_bits, pick_bit
from plyhouse.games.native import NativeState
from plyhouse.games.playing_cards import PACK, SUIT_BITS, card_number, cards_by_suit

__all__ = [
    "HEARTS",
    "PASSED",
    "QUEEN",
    "SEATS",
    "TWO_OF_CLUBS",
    "HeartsState",
    "direction_of",
    "trick_winner",
]

SEATS: Final = 4
PASSED: Final = 3
"""Cards that each seat passes."""
HEARTS: Final = 2
TWO_OF_CLUBS: Final = card_number("2c")
QUEEN: Final = card_number("Qs")
"""The queen of spades, which counts 13 points; a heart counts one."""
ALL_POINTS: Final = 26

_PENALTIES: Final[int] = SUIT_BITS[HEARTS] | 1 << QUEEN
_ALL: Final[int] = (1 << PACK) - 1
_DIRECTIONS: Final = (1, 3, 2, 0)
"""How many seats further cards are passed, by the number of the deal: to the left, to the right,
across, and not at all."""


def direction_of(deal: int) -> int:
    """Return how many seats to the left cards are passed in a deal; 0 if none are."""
    return _DIRECTIONS[deal % 4]


def trick_winner(lead: int, trick: tuple[int, ...]) -> int:
    """Return the seat with the highest card of the suit led."""
    best: i64 = trick[0]
    seat: i64 = 0
    place: i64 = 1
    while place < SEATS:
        card: i64 = trick[place]
        if card & 3 == best & 3 and card > best:
            best = card
            seat = place
        place += 1
    return (lead + int(seat)) % SEATS


def _points(card: i64) -> i64:
    if card & 3 == HEARTS:
        return 1
    return 13 if card == QUEEN else 0


def _playable(hand: i64, suit: i64, first: bool, broken: bool) -> i64:
    """Return the cards that a seat may play; ``suit`` is that of the trick, -1 for the leader."""
    hearts: i64 = SUIT_BITS[HEARTS]
    found: i64
    if suit < 0:
        if first:
            return hand & BIT[TWO_OF_CLUBS]
        if broken:
            return hand
        found = hand & ~hearts
        return found if found != 0 else hand
    led: i64 = SUIT_BITS[suit]
    found = hand & led
    if found != 0:
        return found
    if first:
        found = hand & ~_PENALTIES
        if found != 0:
            return found
    return hand


@final
@mypyc_attr(free_list_len=1)
class HeartsState(NativeState):
    """Hands, passed cards, tricks and points of a deal, and points of the deals before it."""

    __slots__ = ("deal", "deals", "dealt", "first", "hands", "passed", "played", "points", "won")

    deals: int
    """Deals of the match."""
    deal: int
    """Number of the deal, from 0."""
    hands: tuple[int, ...]
    """The cards that each seat holds, as a word of bits; cards chosen to pass until all have."""
    dealt: int
    """How many cards have been dealt; card n goes to seat n modulo 4."""
    passed: tuple[int, ...]
    """Cards chosen to pass: three of seat 0, then three of seat 1, and so on."""
    played: tuple[int, ...]
    """Cards in the order of play, each with 64 times the seat that played it."""
    points: tuple[int, ...]
    """Points of each seat in this deal."""
    won: tuple[int, ...]
    """Points of each seat in the deals that are over."""
    first: int
    """The first deal that counts, from 0."""

    def __init__(
        self,
        to_move: int = CHANCE,
        deals: int = 4,
        deal: int = 0,
        hands: tuple[int, ...] = (0, 0, 0, 0),
        dealt: int = 0,
        passed: tuple[int, ...] = (),
        played: tuple[int, ...] = (),
        points: tuple[int, ...] = (0, 0, 0, 0),
        won: tuple[int, ...] = (0, 0, 0, 0),
        first: int = 0,
    ) -> None:
        self.to_move = to_move
        self.deals = deals
        self.deal = deal
        self.hands = hands
        self.dealt = dealt
        self.passed = passed
        self.played = played
        self.points = points
        self.won = won
        self.first = first

    def __reduce__(self) -> tuple[Any, ...]:
        return HeartsState, (
            self.to_move,
            self.deals,
            self.deal,
            self.hands,
            self.dealt,
            self.passed,
            self.played,
            self.points,
            self.won,
            self.first,
        )

    # Facts

    def passing(self) -> bool:
        """Return whether seats choose cards to pass."""
        return (
            self.dealt == PACK
            and direction_of(self.deal) > 0
            and len(self.passed) < SEATS * PASSED
            and self.to_move >= 0
        )

    def trick(self) -> tuple[int, ...]:
        """Return the cards of the trick on the table, in order; empty between tricks."""
        begun: int = len(self.played) % SEATS
        return tuple([code & 63 for code in self.played[len(self.played) - begun :]])

    def leader(self) -> int:
        """Return the seat that leads, or has led, the trick; only when cards are played."""
        begun: int = len(self.played) % SEATS
        if begun == 0:
            return self.to_move
        first: int = self.played[len(self.played) - begun]
        return first >> 6

    def broken(self) -> bool:
        """Return whether a heart has been played, so that hearts may be led."""
        for code in self.played:
            number: i64 = code
            if number & 3 == HEARTS:
                return True
        return False

    def own_passed(self, seat: int) -> tuple[int, ...]:
        """Return the cards that a seat has chosen to pass so far."""
        return self.passed[PASSED * seat : PASSED * seat + PASSED]

    def received(self, seat: int) -> tuple[int, ...]:
        """Return the cards that a seat got, in ascending order; empty before all have passed."""
        if len(self.passed) < SEATS * PASSED:
            return ()
        return tuple(sorted(self.own_passed((seat - direction_of(self.deal)) % SEATS)))

    # Rules

    def playable(self) -> i64:
        """Return the cards that the seat to move may choose, as a word."""
        mover = self.to_move
        hand: i64 = self.hands[mover]
        if self.passing():
            for card in self.own_passed(mover):
                bit: i64 = BIT[card]
                hand = hand & ~bit
            return hand
        count: int = len(self.played)
        begun: int = count % SEATS
        suit: i64 = -1
        if begun > 0:
            lead: i64 = self.played[count - begun]
            suit = lead & 3
        return _playable(hand, suit, count < SEATS, suit >= 0 or self.broken())

    def actions(self) -> tuple[Any, ...]:
        """Return the cards to choose from, by suit and rank."""
        if self.to_move < 0:
            return ()
        return cards_by_suit(self.playable())

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the cards left in the pack; each is as likely as another."""
        if self.to_move != CHANCE:
            return ()
        left: i64 = _ALL
        for hand in self.hands:
            cards: i64 = hand
            left = left & ~cards
        share: float = 1.0 / (PACK - self.dealt)
        return tuple([(card, share) for card in range(PACK) if left & BIT[card] != 0])

    def after(self, action: Any) -> HeartsState:
        """Return the state after a card was dealt, chosen to pass, or played."""
        card: int = action
        bit: i64 = BIT[card]
        hands: list[int] = list(self.hands)
        mover: int = self.to_move
        if mover == CHANCE:
            seat: int = self.dealt % SEATS
            held: i64 = hands[seat]
            hands[seat] = int(held | bit)
            dealt: int = self.dealt + 1
            if dealt == PACK:
                mover = 0 if direction_of(self.deal) > 0 else _holder(hands)
            return HeartsState(
                mover,
                self.deals,
                self.deal,
                tuple(hands),
                dealt,
                (),
                (),
                self.points,
                self.won,
                self.first,
            )
        if self.passing():
            return self._after_pass(card)
        held = hands[mover]
        hands[mover] = int(held & ~bit)
        played: tuple[int, ...] = (*self.played, 64 * mover + card)
        points = self.points
        following: int = (mover + 1) % SEATS
        if len(played) % SEATS == 0:
            trick = tuple([code & 63 for code in played[len(played) - SEATS :]])
            following = trick_winner(following, trick)
            gained: i64 = 0
            for one in trick:
                gained += _points(one)
            counted: list[int] = list(points)
            counted[following] += int(gained)
            points = tuple(counted)
            if len(played) == PACK:
                return self._after_deal(hands, played, points)
        return HeartsState(
            following,
            self.deals,
            self.deal,
            tuple(hands),
            PACK,
            self.passed,
            played,
            points,
            self.won,
            self.first,
        )

    def _after_pass(self, card: int) -> HeartsState:
        """Return the state after a card was chosen; with the last one all cards change hands."""
        passed: tuple[int, ...] = (*self.passed, card)
        hands: list[int] = list(self.hands)
        mover: int = len(passed) // PASSED
        if len(passed) == SEATS * PASSED:
            by: int = direction_of(self.deal)
            for place, each in enumerate(passed):
                bit: i64 = BIT[each]
                giver: int = place // PASSED
                taker: int = (giver + by) % SEATS
                given: i64 = hands[giver]
                hands[giver] = int(given & ~bit)
                taken: i64 = hands[taker]
                hands[taker] = int(taken | bit)
            mover = _holder(hands)
        return HeartsState(
            mover,
            self.deals,
            self.deal,
            tuple(hands),
            PACK,
            passed,
            (),
            self.points,
            self.won,
            self.first,
        )

    def _after_deal(
        self, hands: list[int], played: tuple[int, ...], points: tuple[int, ...]
    ) -> HeartsState:
        """Return the state after the last card of a deal: the next deal, or the end."""
        if ALL_POINTS in points:  # Somebody has shot the moon.
            points = tuple([0 if one == ALL_POINTS else ALL_POINTS for one in points])
        won = tuple([self.won[seat] + points[seat] for seat in range(SEATS)])
        if self.deal + 1 == self.deals:
            return HeartsState(
                TERMINAL,
                self.deals,
                self.deal,
                tuple(hands),
                PACK,
                self.passed,
                played,
                points,
                won,
                self.first,
            )
        return HeartsState(
            CHANCE,
            self.deals,
            self.deal + 1,
            (0, 0, 0, 0),
            0,
            (),
            (),
            (0, 0, 0, 0),
            won,
            self.first,
        )

    def returns(self) -> tuple[float, ...]:
        """Return by how much a seat has fewer points than the mean of all, per deal."""
        mean: float = float(sum(self.won)) / float(SEATS)
        deals: float = float(self.deals - self.first)
        return tuple([(mean - float(points)) / deals for points in self.won])

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after play to the end by simple rules, of which chance decides what they leave
        open.

        A seat that cannot follow suit throws away the queen, then high hearts, then its highest
        card.  A seat that can follow plays the highest card that does not win, and otherwise its
        lowest; the last seat takes a trick without points with its highest card.  Leaders play
        low.  Each card is with one chance in eight any legal one.
        """
        state = self
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                outcomes = state.chance_outcomes()
                state = state.after(outcomes[int(rng.random() * len(outcomes))][0])
                continue
            cards: i64 = state.playable()
            chance: float = rng.random()
            if chance < 0.125 or state.passing():
                count: i64 = count_bits(cards)
                skip: int = int(rng.random() * float(count))
                state = state.after(int(bit_number(pick_bit(cards, skip))))
            else:
                state = state.after(int(_sensible(state, cards)))
        return state.returns()


def _holder(hands: list[int]) -> int:
    """Return the seat that holds the two of clubs."""
    for seat in range(SEATS):
        hand: i64 = hands[seat]
        if hand & BIT[TWO_OF_CLUBS] != 0:
            return seat
    return 0


def _highest(cards: i64) -> i64:
    """Return the highest card of a word; suits break ties."""
    left: i64 = cards
    while left & (left - 1) != 0:
        left = left & (left - 1)
    return bit_number(left)


def _sensible(state: HeartsState, cards: i64) -> i64:
    """Return the card that `HeartsState.playout` plays without chance."""
    trick = state.trick()
    lowest: i64 = bit_number(cards & -cards)
    if not trick:
        return lowest
    lead: i64 = trick[0]
    led: i64 = SUIT_BITS[lead & 3]
    if cards & led == 0:
        if cards & BIT[QUEEN] != 0:
            return QUEEN
        hearts: i64 = cards & SUIT_BITS[HEARTS]
        return _highest(hearts if hearts != 0 else cards)
    best: i64 = lead
    counted: i64 = 0
    for one in trick:
        card: i64 = one
        counted += _points(card)
        if card & 3 == lead & 3 and card > best:
            best = card
    below: i64 = cards & (BIT[best] - 1)
    if below != 0:
        if below & BIT[QUEEN] != 0:
            return QUEEN
        return _highest(below)
    if len(trick) == SEATS - 1 and counted == 0:
        without: i64 = cards & ~BIT[QUEEN]
        return _highest(without if without != 0 else cards)
    return lowest
