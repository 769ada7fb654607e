"""A position of bridge: the deal, the auction and the play of one board, and the result so far.

The cards of a board are dealt one at a time, each at a chance node, from the seat after the dealer.
When a board ends, its result is kept as `last`, and the next board begins at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.bridge.bidding import auction_of
from plyhouse.games.hidden.bridge.card_play import finished_tricks, trick_winner
from plyhouse.games.hidden.bridge.cards import (
    BITS,
    DOUBLE,
    FIRST_BID,
    LAST_CALL,
    PACK,
    PASS,
    REDOUBLE,
    SUIT_BITS,
)
from plyhouse.games.hidden.bridge.scoring import contract_points, dealer_of, is_vulnerable
from plyhouse.games.native import NativeState

if TYPE_CHECKING:
    import random

__all__ = ["NO_HANDS", "BridgeState", "start_of_board"]

NO_HANDS: Final[tuple[int, ...]] = (0, 0, 0, 0)
_SHORTEST_AUCTION: Final = 4


@final
@mypyc_attr(free_list_len=1)
class BridgeState(NativeState):
    """The board on the table and the points of the boards before it.

    Hands are words with a bit for each card; cards and calls are the numbers of `cards`.
    """

    __slots__ = (
        "bid", "bidder", "board", "boards", "calls", "count", "declarer", "first", "hands", "last",
        "leader", "played", "plays", "points", "risk", "tricks",
    )  # fmt: skip

    first: int
    boards: int
    board: int
    points: int
    last: tuple[int, ...]
    count: int
    hands: tuple[int, ...]
    calls: tuple[int, ...]
    bid: int
    risk: int
    bidder: int
    declarer: int
    leader: int
    tricks: int
    played: int
    plays: tuple[int, ...]

    def __init__(
        self,
        to_move: int = CHANCE,
        first: int = 1,
        boards: int = 1,
        board: int = 0,
        points: int = 0,
        last: tuple[int, ...] = (),
        count: int = 0,
        hands: tuple[int, ...] = NO_HANDS,
        calls: tuple[int, ...] = (),
        bid: int = -1,
        risk: int = 1,
        bidder: int = -1,
        declarer: int = -1,
        leader: int = -1,
        tricks: int = 0,
        played: int = 0,
        plays: tuple[int, ...] = (),
    ) -> None:
        self.to_move = to_move
        self.first = first
        """Number of the first board, from 1."""
        self.boards = boards
        self.board = board
        """Boards before this one."""
        self.points = points
        """Points of North and South on the boards before this one."""
        self.last = last
        """The board that ended last: number, bid, risk, declarer, tricks, points of North and
        South.  Bid and declarer are -1 if all passed."""
        self.count = count
        """Cards dealt."""
        self.hands = hands
        """Cards dealt to each seat, those that it has played included."""
        self.calls = calls
        self.bid = bid
        """Highest bid, from 0 for 1C; -1 if there is none."""
        self.risk = risk
        """2 if that bid is doubled, 4 if it is redoubled, otherwise 1."""
        self.bidder = bidder
        self.declarer = declarer
        """Declarer; -1 before the end of the auction."""
        self.leader = leader
        """Seat that leads to the current trick."""
        self.tricks = tricks
        """Tricks of the declarer's side."""
        self.played = played
        """All cards played, as bits."""
        self.plays = plays
        """All cards played, in order."""

    def __reduce__(self) -> tuple[Any, ...]:
        return BridgeState, (
            self.to_move, self.first, self.boards, self.board, self.points, self.last, self.count,
            self.hands, self.calls, self.bid, self.risk, self.bidder, self.declarer, self.leader,
            self.tricks, self.played, self.plays,
        )  # fmt: skip

    # Whose turn it is, and what is open

    def number(self) -> int:
        """Return the number of the board, from 1."""
        return self.first + self.board

    def dealer(self) -> int:
        """Return the seat that calls first."""
        return dealer_of(self.number())

    def dummy(self) -> int:
        """Return the declarer's partner; -1 before the end of the auction."""
        return (self.declarer + 2) % 4 if self.declarer >= 0 else -1

    def hand_to_play(self) -> int:
        """Return the seat whose card is due; the declarer chooses for dummy."""
        return (self.leader + len(self.plays)) % 4

    def trick(self) -> tuple[int, ...]:
        """Return the cards of the current trick, from the leader's."""
        return self.plays[len(self.plays) - len(self.plays) % 4 :]

    def held(self, seat: int) -> int:
        """Return the cards that a seat still holds."""
        return self.hands[seat] & ~self.played

    def exposed(self) -> int:
        """Return dummy's cards that all see: none before the opening lead."""
        return self.held(self.dummy()) if self.plays else 0

    def is_vulnerable(self, seat: int) -> bool:
        """Return whether a seat is vulnerable on this board."""
        return is_vulnerable(self.number(), seat)

    # Rules

    def actions(self) -> tuple[Any, ...]:
        """Return calls in increasing order, or cards in increasing order."""
        if self.to_move < 0:
            return ()
        found: list[int] = []
        if self.declarer < 0:
            found.append(PASS)
            if self.can_double():
                found.append(DOUBLE)
            if self.can_redouble():
                found.append(REDOUBLE)
            call: int = FIRST_BID + self.bid + 1
            while call <= LAST_CALL:
                found.append(call)
                call += 1
            return tuple(found)
        left: i64 = self.playable()
        card: i64 = 0
        while left != 0:
            if left & 1:
                found.append(card)
            left = left >> 1
            card += 1
        return tuple(found)

    def can_double(self) -> bool:
        """Return whether the seat to move may double: the last bid is the opponents'."""
        return self.bid >= 0 and self.risk == 1 and (self.bidder + self.to_move) % 2 == 1

    def can_redouble(self) -> bool:
        """Return whether the seat to move may redouble: its side's bid has been doubled."""
        return self.risk == 2 and (self.bidder + self.to_move) % 2 == 0

    def playable(self) -> i64:
        """Return the cards that may be played: those of the suit led if there are any."""
        held: i64 = self.held(self.hand_to_play())
        place: int = len(self.plays) % 4
        if place > 0:
            suit: int = self.plays[len(self.plays) - place] // 13
            same: i64 = held & SUIT_BITS[suit]
            if same != 0:
                return same
        return held

    # Transitions

    def after(self, action: Any) -> BridgeState:
        """Return the state after a card is dealt, a call, or a card is played."""
        choice: int = action
        if self.to_move == CHANCE:
            return self.dealt(choice)
        return self.called(choice) if self.declarer < 0 else self.carded(choice)

    def copied(self) -> BridgeState:
        """Return a copy to be changed."""
        return BridgeState(
            self.to_move, self.first, self.boards, self.board, self.points, self.last, self.count,
            self.hands, self.calls, self.bid, self.risk, self.bidder, self.declarer, self.leader,
            self.tricks, self.played, self.plays,
        )  # fmt: skip

    def dealt(self, card: int) -> BridgeState:
        """Return the state after a card is dealt."""
        hands: list[int] = list(self.hands)
        hands[(self.dealer() + 1 + self.count) % 4] |= BITS[card]
        found = self.copied()
        found.hands = (hands[0], hands[1], hands[2], hands[3])
        found.count = self.count + 1
        if found.count == PACK:
            found.to_move = self.dealer()
        return found

    def called(self, call: int) -> BridgeState:
        """Return the state after a call."""
        seat: int = self.to_move
        found = self.copied()
        found.calls = (*self.calls, call)
        found.to_move = (seat + 1) % 4
        if call == DOUBLE:
            found.risk = 2
        elif call == REDOUBLE:
            found.risk = 4
        elif call >= FIRST_BID:
            found.bid = call - FIRST_BID
            found.bidder = seat
            found.risk = 1
        count: int = len(found.calls)
        if count < _SHORTEST_AUCTION or found.calls[count - 3 :] != (PASS, PASS, PASS):
            return found
        if found.bid < 0:
            return found.ended(0)
        found.declarer = found.first_to_name(found.bid % 5, found.bidder)
        found.leader = (found.declarer + 1) % 4
        found.to_move = found.leader
        return found

    def first_to_name(self, strain: int, bidder: int) -> int:
        """Return the seat of the bidder's side that bid a strain first: the declarer."""
        dealer: int = self.dealer()
        for place, call in enumerate(self.calls):
            seat: int = (dealer + place) % 4
            if call >= FIRST_BID and (call - FIRST_BID) % 5 == strain and (seat + bidder) % 2 == 0:
                return seat
        return bidder

    def carded(self, card: int) -> BridgeState:
        """Return the state after a card is played."""
        found = self.copied()
        plays: tuple[int, ...] = (*self.plays, card)
        found.plays = plays
        found.played = self.played | BITS[card]
        count: int = len(plays)
        if count % 4 == 0:
            found.leader = (self.leader + trick_winner(plays[count - 4 :], self.bid % 5)) % 4
            if (found.leader + self.declarer) % 2 == 0:
                found.tricks = self.tricks + 1
            if count == PACK:
                return found.ended(
                    contract_points(
                        self.bid, self.risk, self.is_vulnerable(self.declarer), found.tricks
                    )
                )
        turn: int = found.hand_to_play()
        found.to_move = self.declarer if turn == self.dummy() else turn
        return found

    def ended(self, points: int) -> BridgeState:
        """Return the next board, or the end of the match; the declarer's side gets ``points``."""
        if self.declarer % 2 == 1:
            points = -points
        last: tuple[int, ...] = (
            self.number(), self.bid, self.risk, self.declarer, self.tricks, points,
        )  # fmt: skip
        total: int = self.points + points
        if self.board + 1 < self.boards:
            return start_of_board(self.first, self.boards, self.board + 1, total, last)
        found = self.copied()
        found.to_move = TERMINAL
        found.points = total
        found.last = last
        return found

    # Cards

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the cards still in the pack, equally likely."""
        if self.to_move != CHANCE:
            return ()
        dealt: i64 = self.hands[0] | self.hands[1] | self.hands[2] | self.hands[3]
        share: float = 1.0 / float(PACK - self.count)
        found: list[tuple[int, float]] = []
        for card in range(PACK):
            bit: i64 = BITS[card]
            if (dealt & bit) == 0:
                found.append((card, share))
        return tuple(found)

    def redealt(self, hands: tuple[int, ...]) -> BridgeState:
        """Return the same position with other hands."""
        found = self.copied()
        found.hands = hands
        return found

    # Results

    def returns(self) -> tuple[float, ...]:
        """Return points per board for each seat."""
        return self.shared(self.points)

    def shared(self, points: int) -> tuple[float, ...]:
        """Return what points of North and South are to each seat."""
        mean: float = float(points) / float(self.boards)
        # Avoid -0.0 for a drawn match.
        other: float = 0.0 - mean
        return (mean, other, mean, other)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Return the returns if this board ends by rules of thumb, and no other is played.

        Calls follow `bidding` and cards `card_play`.  Later boards do not depend on this one, and
        nobody has an advantage in them on average.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        if self.count < PACK:
            return self.shared(self.points)
        state: BridgeState = self
        if state.declarer < 0:
            auction = auction_of(state.calls)
            while state.declarer < 0:
                call: int = auction.call_of(state.hands[state.to_move])
                auction.add(call)
                state = state.called(call)
                if state.to_move < 0:
                    return self.shared(self.points)
        declarer: int = state.declarer
        held: tuple[int, ...] = tuple([state.held(seat) for seat in range(4)])
        tricks: int = state.tricks + finished_tricks(
            held,
            state.trick(),
            state.leader,
            declarer,
            state.bid % 5,
            int(rng.random() * 0x4000_0000),
        )
        points: int = contract_points(state.bid, state.risk, state.is_vulnerable(declarer), tricks)
        if declarer % 2 == 1:
            points = -points
        return self.shared(self.points + points)


def start_of_board(
    first: int, boards: int, board: int, points: int, last: tuple[int, ...]
) -> BridgeState:
    """Return the state before the first card of a board is dealt."""
    return BridgeState(CHANCE, first, boards, board, points, last)
