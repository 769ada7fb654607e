"""A position of bridge: hands as words of bits, the auction, and tricks.

Bit n of a word is card n of `plyhouse.games.playing_cards`.  An action is a card from 0 to 51, a
call of `PASS`, `DOUBLE` or `REDOUBLE`, or a bid: `FIRST_BID` plus five times the level less one,
plus the trumps (0 clubs, 1 diamonds, 2 hearts, 3 spades, 4 none).
"""

from __future__ import annotations

import random
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.bits import BIT, bit_number, count_bits, pick_bit
from plyhouse.games.hidden.bridge.scoring import imps_of, is_vulnerable, points_of
from plyhouse.games.native import NativeState
from plyhouse.games.playing_cards import PACK, SUIT_BITS, cards_by_suit

__all__ = [
    "BIDS",
    "DOUBLE",
    "FIRST_BID",
    "HAND",
    "PASS",
    "REDOUBLE",
    "SEATS",
    "BridgeState",
    "Contract",
    "contract_of",
    "first_state",
    "trick_winner",
]

SEATS: Final = 4
HAND: Final = 13
"""Cards of a seat, and tricks of a board."""
PASS: Final = 52
DOUBLE: Final = 53
REDOUBLE: Final = 54
FIRST_BID: Final = 55
BIDS: Final = 35
_NONE: Final = 4
_ALL: Final[int] = (1 << PACK) - 1


@final
class Contract:
    """The contract to which an auction has led so far."""

    def __init__(self, bid: int, declarer: int, doubled: int, side: int) -> None:
        self.bid: int = bid
        """The last bid, from 0 (one club) to 34 (seven no trumps); -1 if there is none."""
        self.declarer: int = declarer
        """The first seat of the bidding side that named the trumps; -1 without a bid."""
        self.doubled: int = doubled
        """0, 1, or 2 for redoubled."""
        self.side: int = side
        """The side of the last bid or double: 0 for north and south, 1, or -1."""

    @property
    def level(self) -> int:
        """Tricks beyond six that the declarer has promised."""
        return self.bid // 5 + 1

    @property
    def trumps(self) -> int:
        """The suit of trumps, or 4 for none."""
        return self.bid % 5


def contract_of(calls: tuple[int, ...], dealer: int) -> Contract:
    """Return the contract of an auction, as it stands."""
    bid: int = -1
    bidder: int = -1
    doubled: int = 0
    side: int = -1
    for place, call in enumerate(calls):
        seat: int = (dealer + place) % SEATS
        if call >= FIRST_BID:
            bid = call - FIRST_BID
            bidder = seat
            doubled = 0
            side = seat % 2
        elif call != PASS:
            doubled = call - PASS
            side = seat % 2
    if bid < 0:
        return Contract(-1, -1, 0, -1)
    for place, call in enumerate(calls):
        seat = (dealer + place) % SEATS
        if call >= FIRST_BID and seat % 2 == bidder % 2 and (call - FIRST_BID) % 5 == bid % 5:
            return Contract(bid, seat, doubled, side)
    return Contract(bid, bidder, doubled, side)


def trick_winner(lead: int, trick: tuple[int, ...], trumps: int) -> int:
    """Return the seat with the highest trump, or else the highest card of the suit led."""
    best: i64 = trick[0]
    seat: i64 = 0
    place: i64 = 1
    while place < len(trick):
        card: i64 = trick[place]
        if card & 3 == best & 3:
            if card > best:
                best = card
                seat = place
        elif card & 3 == trumps:
            best = card
            seat = place
        place += 1
    return (lead + int(seat)) % SEATS


@final
@mypyc_attr(free_list_len=1)
class BridgeState(NativeState):
    """Hands, calls and tricks of a board, and the scores of the boards before it."""

    __slots__ = (
        "board",
        "boards",
        "calls",
        "dealt",
        "hands",
        "imps",
        "last",
        "played",
        "points",
        "taken",
    )

    boards: int
    """Boards of the match."""
    board: int
    """Number of the board, from 0."""
    hands: tuple[int, ...]
    """The cards that each seat holds, as a word of bits."""
    dealt: int
    """How many cards have been dealt; card n goes to seat n modulo 4."""
    calls: tuple[int, ...]
    """The auction, beginning with the dealer."""
    played: tuple[int, ...]
    """Cards in the order of play, each with 64 times the seat whose hand it came from."""
    taken: int
    """Tricks that the side of the declarer has taken."""
    points: int
    """Points of north and south in the boards that are over."""
    imps: int
    """The same in IMPs."""
    last: tuple[int, ...]
    """The last board: bid or -1, declarer, doubled, tricks, points of north and south."""

    def __init__(
        self,
        to_move: int = CHANCE,
        boards: int = 4,
        board: int = 0,
        hands: tuple[int, ...] = (0, 0, 0, 0),
        dealt: int = 0,
        calls: tuple[int, ...] = (),
        played: tuple[int, ...] = (),
        taken: int = 0,
        points: int = 0,
        imps: int = 0,
        last: tuple[int, ...] = (),
    ) -> None:
        self.to_move = to_move
        self.boards = boards
        self.board = board
        self.hands = hands
        self.dealt = dealt
        self.calls = calls
        self.played = played
        self.taken = taken
        self.points = points
        self.imps = imps
        self.last = last

    def __reduce__(self) -> tuple[Any, ...]:
        return BridgeState, (
            self.to_move,
            self.boards,
            self.board,
            self.hands,
            self.dealt,
            self.calls,
            self.played,
            self.taken,
            self.points,
            self.imps,
            self.last,
        )

    # Facts

    def dealer(self) -> int:
        """Return the seat that calls first."""
        return self.board % SEATS

    def contract(self) -> Contract:
        """Return the contract, as the auction stands."""
        return contract_of(self.calls, self.dealer())

    def bidding(self) -> bool:
        """Return whether the auction goes on."""
        return self.to_move >= 0 and not _is_over(self.calls)

    def trick(self) -> tuple[int, ...]:
        """Return the cards of the trick on the table, in order; empty between tricks."""
        begun: int = len(self.played) % SEATS
        return tuple([code & 63 for code in self.played[len(self.played) - begun :]])

    def dummy(self) -> int:
        """Return the seat whose cards lie on the table; -1 before the opening lead."""
        if not self.played:
            return -1
        return (self.contract().declarer + 2) % SEATS

    def hand_to_play(self) -> int:
        """Return the seat whose card is played next; dummy's is chosen by the declarer."""
        declarer = self.contract().declarer
        if self.to_move == declarer and self.played:
            count: int = len(self.played)
            begun: int = count % SEATS
            if begun > 0:
                return ((self.played[count - 1] >> 6) + 1) % SEATS
            trick = tuple([code & 63 for code in self.played[count - SEATS :]])
            lead: int = self.played[count - SEATS] >> 6
            return trick_winner(lead, trick, self.contract().trumps)
        return self.to_move

    # Rules

    def playable(self) -> i64:
        """Return the cards that may be played, as a word."""
        hand: i64 = self.hands[self.hand_to_play()]
        count: int = len(self.played)
        begun: int = count % SEATS
        if begun > 0:
            lead: i64 = self.played[count - begun]
            led: i64 = SUIT_BITS[lead & 3]
            found: i64 = hand & led
            if found != 0:
                return found
        return hand

    def actions(self) -> tuple[Any, ...]:
        """Return pass, doubles and bids in ascending order, or cards by suit and rank."""
        if self.to_move < 0:
            return ()
        if not self.bidding():
            return cards_by_suit(self.playable())
        contract = self.contract()
        found: list[int] = [PASS]
        if contract.bid >= 0:
            mine = self.to_move % 2
            if contract.doubled == 0 and contract.side != mine:
                found.append(DOUBLE)
            elif contract.doubled == 1 and contract.side != mine:
                found.append(REDOUBLE)
        for bid in range(contract.bid + 1, BIDS):
            found.append(FIRST_BID + bid)  # noqa: PERF401 - no closure when compiled
        return tuple(found)

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

    def after(self, action: Any) -> BridgeState:
        """Return the state after a card was dealt, a call, or a card was played."""
        choice: int = action
        if self.to_move == CHANCE:
            return self._after_deal(choice)
        if self.bidding():
            return self._after_call(choice)
        return self._after_card(choice)

    def _after_deal(self, card: int) -> BridgeState:
        seat: int = self.dealt % SEATS
        held: i64 = self.hands[seat]
        bit: i64 = BIT[card]
        hands: list[int] = list(self.hands)
        hands[seat] = int(held | bit)
        dealt: int = self.dealt + 1
        mover: int = self.dealer() if dealt == PACK else CHANCE
        return self._with(mover, tuple(hands), dealt, (), (), 0)

    def _after_call(self, call: int) -> BridgeState:
        calls: tuple[int, ...] = (*self.calls, call)
        mover: int = (self.to_move + 1) % SEATS
        if _is_over(calls):
            contract = contract_of(calls, self.dealer())
            if contract.bid < 0:
                return self._next_board((-1, -1, 0, 0, 0), self.hands, calls, (), 0)
            mover = (contract.declarer + 1) % SEATS
        return self._with(mover, self.hands, PACK, calls, (), 0)

    def _after_card(self, card: int) -> BridgeState:
        contract = self.contract()
        seat: int = self.hand_to_play()
        held: i64 = self.hands[seat]
        bit: i64 = BIT[card]
        hands: list[int] = list(self.hands)
        hands[seat] = int(held & ~bit)
        played: tuple[int, ...] = (*self.played, 64 * seat + card)
        taken: int = self.taken
        following: int = (seat + 1) % SEATS
        if len(played) % SEATS == 0:
            trick = tuple([code & 63 for code in played[len(played) - SEATS :]])
            following = trick_winner(following, trick, contract.trumps)
            if following % 2 == contract.declarer % 2:
                taken += 1
            if len(played) == PACK:
                side: int = contract.declarer % 2
                points: int = points_of(
                    contract.level,
                    contract.trumps,
                    contract.doubled,
                    taken,
                    is_vulnerable(self.board, side),
                )
                result = (
                    contract.bid,
                    contract.declarer,
                    contract.doubled,
                    taken,
                    points if side == 0 else -points,
                )
                return self._next_board(result, tuple(hands), self.calls, played, taken)
        dummy: int = (contract.declarer + 2) % SEATS
        mover: int = contract.declarer if following == dummy else following
        return self._with(mover, tuple(hands), PACK, self.calls, played, taken)

    def _with(
        self,
        to_move: int,
        hands: tuple[int, ...],
        dealt: int,
        calls: tuple[int, ...],
        played: tuple[int, ...],
        taken: int,
    ) -> BridgeState:
        """Return a state of the same board."""
        return BridgeState(
            to_move,
            self.boards,
            self.board,
            hands,
            dealt,
            calls,
            played,
            taken,
            self.points,
            self.imps,
            self.last,
        )

    def _next_board(
        self,
        result: tuple[int, ...],
        hands: tuple[int, ...],
        calls: tuple[int, ...],
        played: tuple[int, ...],
        taken: int,
    ) -> BridgeState:
        """Return the state after a board with this result: the next board, or the end."""
        points: int = self.points + result[4]
        imps: int = self.imps + imps_of(result[4])
        if self.board + 1 == self.boards:
            return BridgeState(
                TERMINAL,
                self.boards,
                self.board,
                hands,
                PACK,
                calls,
                played,
                taken,
                points,
                imps,
                result,
            )
        return BridgeState(
            CHANCE,
            self.boards,
            self.board + 1,
            (0, 0, 0, 0),
            0,
            (),
            (),
            0,
            points,
            imps,
            result,
        )

    def returns(self) -> tuple[float, ...]:
        """Return the IMPs a board of the seat's side."""
        won: float = float(self.imps) / float(self.boards)
        return (won, -won, won, -won)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after all pass and play cards by simple rules, to the end.

        A seat plays low if its partner holds the trick or it cannot win it.  Otherwise it wins as
        cheaply as it can, with a trump if it is out of the suit.  Leaders play any card.  Each card
        is with one chance in eight any legal one.  Later boards are passed out.
        """
        state = self
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                if state.dealt == 0 and state.board > self.board:
                    break
                outcomes = state.chance_outcomes()
                state = state.after(outcomes[int(rng.random() * len(outcomes))][0])
            elif state.bidding():
                state = state.after(PASS)
            else:
                cards: i64 = state.playable()
                begun: int = len(state.played) % SEATS
                if begun == 0 or rng.random() < 0.125:
                    count: i64 = count_bits(cards)
                    skip: int = int(rng.random() * float(count))
                    state = state.after(int(bit_number(pick_bit(cards, skip))))
                else:
                    state = state.after(int(_sensible(state, cards)))
        return state.returns()


def _is_over(calls: tuple[int, ...]) -> bool:
    """Return whether an auction has ended: by three passes, and four if nobody bids."""
    count: int = len(calls)
    if count < SEATS:
        return False
    return calls[count - 1] == PASS and calls[count - 2] == PASS and calls[count - 3] == PASS


def _lowest(cards: i64) -> i64:
    return bit_number(cards & -cards)


def _sensible(state: BridgeState, cards: i64) -> i64:
    """Return the card that `BridgeState.playout` plays to a trick without chance."""
    trick = state.trick()
    trumps = state.contract().trumps
    seat = state.hand_to_play()
    lead = (seat - len(trick)) % SEATS
    holder = trick_winner(lead, trick, trumps)
    if holder % 2 == seat % 2 and len(trick) > 1:
        return _thrown(cards, trumps)
    best: i64 = trick[(holder - lead) % SEATS]
    suit: i64 = SUIT_BITS[best & 3]
    higher: i64 = cards & suit & ~(BIT[best] | (BIT[best] - 1))
    if higher != 0:
        return _lowest(higher)
    if trumps < _NONE and best & 3 != trumps:
        ruffs: i64 = cards & SUIT_BITS[trumps]
        if ruffs != 0:
            return _lowest(ruffs)
    return _thrown(cards, trumps)


def _thrown(cards: i64, trumps: int) -> i64:
    """Return the lowest card that is no trump, if there is one."""
    others: i64 = cards
    if trumps < _NONE:
        others = cards & ~SUIT_BITS[trumps]
    return _lowest(others if others != 0 else cards)


def first_state(boards: int) -> BridgeState:
    """Return the position before the first card of a match."""
    return BridgeState(CHANCE, boards)
