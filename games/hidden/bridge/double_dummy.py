"""Tricks with all hands open and best play of all: the double-dummy value of a position.

Alpha-beta search with windows of one trick and a table of positions at the beginnings of tricks, as
programs for this problem have (B. Haglund and S. Hein, "DDS", 2014; M. Ginsberg, "GIB", JAIR 14,
2001).  It tries only one of several equal cards, and certain tricks of the leader bound the
value.  A solver keeps its table for one deal: positions are told apart by the cards left.

>>> from plyhouse.games.hidden.bridge.cards import hand_bits
>>> ends = [hand_bits(tuple(cards.split())) for cards in ("SA SQ", "SK H2", "HA HK", "SJ S2")]
>>> solver = DoubleDummy(tuple(ends), 4)
>>> solver.tricks(0), solver.tricks(3), solver.card_values((), 0)
(2, 2, {51: 2, 49: 1})
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from mypy_extensions import i64

from plyhouse.games.hidden.bridge.card_play import highest_card, lowest_card
from plyhouse.games.hidden.bridge.cards import BITS, SUIT_BITS, bit_count

__all__ = ["DoubleDummy"]

_LOOK: Final = 15
"""Positions searched, less one, between two looks at whether to stop; a power of two."""
_MOST: Final = 1_000_000
"""Positions that are kept; with more the table begins again."""


@final
class DoubleDummy:
    """The double-dummy values of one deal with one trump suit, or 4 for none.

    With ``most_nodes`` positions searched, or once ``stop`` is true, it gives up: `stopped` is then
    true, and results mean nothing.
    """

    def __init__(
        self,
        hands: tuple[int, ...],
        strain: int,
        most_nodes: int = 1 << 40,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.held: list[int] = [hands[0], hands[1], hands[2], hands[3]]
        self.strain: i64 = strain
        self.trumps: i64 = 0
        if strain < 4:
            self.trumps = SUIT_BITS[strain]
        self.table: dict[int, int] = {}
        """Least and most tricks of North and South, by cards left and leader."""
        self.nodes: i64 = 0
        self.most_nodes: i64 = most_nodes
        self.stop = stop

    def stopped(self) -> bool:
        """Return whether the search has given up."""
        return self.nodes >= self.most_nodes

    def tricks(self, leader: int) -> int:
        """Return the tricks that North and South take if ``leader`` leads to the next one."""
        left: i64 = bit_count(self.held[leader])
        least: i64 = 0
        most: i64 = left
        while least < most:
            middle: i64 = (least + most + 1) >> 1
            if self.reaches(leader, middle, left):
                least = middle
            else:
                most = middle - 1
        return least

    def card_values(self, trick: tuple[int, ...], leader: int) -> dict[int, int]:
        """Return for each card of the seat to play the tricks of North and South.

        The trick that ``trick`` begins counts.  ``leader`` has led to it.
        """
        place: i64 = len(trick)
        seat: i64 = (leader + place) % 4
        best: i64 = 0
        best_seat: i64 = leader
        table: i64 = 0
        for at, card in enumerate(trick):
            table |= BITS[card]
            if at == 0 or self.beats(card, best):
                best = card
                best_seat = (leader + at) % 4
        led: i64 = trick[0] if place > 0 else -1
        left: i64 = bit_count(self.held[seat])
        found: dict[int, int] = {}
        guess: i64 = (left + 1) >> 1
        moves = self.moves(seat, led, best, best_seat, place, table)
        for move in moves:
            # Values of cards are close to each other: search upwards or downwards from the last.
            if self.after(move, leader, place, led, best, best_seat, table, guess, left):
                while guess < left and self.after(
                    move, leader, place, led, best, best_seat, table, guess + 1, left
                ):
                    guess += 1
            else:
                guess -= 1
                while guess > 0 and not self.after(
                    move, leader, place, led, best, best_seat, table, guess, left
                ):
                    guess -= 1
            found[move] = guess
        # Cards that are equal to one of these have its value.
        legal: i64 = self.legal(seat, led)
        value: int = 0
        for number in range(51, -1, -1):
            bit: i64 = BITS[number]
            if (legal & bit) != 0:
                value = found.get(number, value)
                found[number] = value
        return found

    def legal(self, seat: i64, led: i64) -> i64:
        """Return the cards that a seat may play; ``led`` is -1 for the leader."""
        mine: i64 = self.held[seat]
        if led >= 0:
            same: i64 = mine & SUIT_BITS[led // 13]
            if same != 0:
                return same
        return mine

    def beats(self, card: i64, best: i64) -> bool:
        """Return whether a card beats the best card before it."""
        suit: i64 = card // 13
        if suit == best // 13:
            return card > best
        return suit == self.strain

    def reaches(self, leader: i64, need: i64, left: i64) -> bool:
        """Return whether North and South take ``need`` of the ``left`` tricks still to begin."""
        if need <= 0:
            return True
        if need > left or self.nodes >= self.most_nodes:
            return False
        north: i64 = self.held[0]
        east: i64 = self.held[1]
        south: i64 = self.held[2]
        west: i64 = self.held[3]
        key: i64 = (north | east | south | west) * 4 + leader
        least: i64 = 0
        most: i64 = left
        known = self.table.get(key)
        if known is not None:
            bounds: i64 = known
            least = bounds & 15
            most = bounds >> 4
            if least >= need:
                return True
            if most < need:
                return False
        quick: i64 = self.quick_tricks(leader)
        if leader % 2 == 0:
            if quick >= need:
                return True
        elif left - quick < need:
            return False
        self.nodes += 1
        if self.stop is not None and self.nodes & _LOOK == 0 and self.stop():
            self.most_nodes = 0
        result: bool = self.play(leader, 0, -1, 0, leader, 0, need, left)
        if self.nodes >= self.most_nodes:
            return False
        if result:
            least = need
        else:
            most = need - 1
        if len(self.table) >= _MOST:
            self.table.clear()
        self.table[key] = most * 16 + least
        return result

    def quick_tricks(self, leader: i64) -> i64:
        """Return tricks that the leader takes for certain by leading its top cards at once."""
        mine: i64 = self.held[leader]
        one: i64 = self.held[(leader + 1) % 4]
        other: i64 = self.held[(leader + 3) % 4]
        every: i64 = mine | one | other | self.held[(leader + 2) % 4]
        ruff: bool = ((one | other) & self.trumps) != 0
        found: i64 = 0
        suit: i64 = 0
        while suit < 4:
            bits: i64 = SUIT_BITS[suit]
            own: i64 = mine & bits
            most: i64 = 13
            if ruff and suit != self.strain:
                # An opponent with trumps ruffs as soon as it has no card of the suit.
                if (one & self.trumps) != 0:
                    most = bit_count(one & bits)
                if (other & self.trumps) != 0:
                    theirs: i64 = bit_count(other & bits)
                    if theirs < most:
                        most = theirs
            all_left: i64 = every & bits
            count: i64 = 0
            while own != 0 and count < most:
                top: i64 = BITS[highest_card(all_left)]
                if (own & top) == 0:
                    break
                own = own ^ top
                all_left = all_left ^ top
                count += 1
            found += count
            suit += 1
        return found

    def play(
        self,
        leader: i64,
        place: i64,
        led: i64,
        best: i64,
        best_seat: i64,
        table: i64,
        need: i64,
        left: i64,
    ) -> bool:
        """Return whether North and South reach ``need`` in the middle of a trick."""
        seat: i64 = (leader + place) % 4
        ours: bool = seat % 2 == 0
        for move in self.moves(seat, led, best, best_seat, place, table):
            if self.after(move, leader, place, led, best, best_seat, table, need, left) == ours:
                return ours
        return not ours

    def after(
        self,
        card: i64,
        leader: i64,
        place: i64,
        led: i64,
        best: i64,
        best_seat: i64,
        table: i64,
        need: i64,
        left: i64,
    ) -> bool:
        """Return whether North and South reach ``need`` after a card."""
        seat: i64 = (leader + place) % 4
        bit: i64 = BITS[card]
        if place == 0 or self.beats(card, best):
            best = card
            best_seat = seat
        before: int = self.held[seat]
        self.held[seat] = before ^ bit
        result: bool
        if place == 3:
            won: i64 = 1 - best_seat % 2
            result = self.reaches(best_seat, need - won, left - 1)
        else:
            if place == 0:
                led = card
            result = self.play(leader, place + 1, led, best, best_seat, table | bit, need, left)
        self.held[seat] = before
        return result

    def moves(
        self, seat: i64, led: i64, best: i64, best_seat: i64, place: i64, table: i64
    ) -> list[int]:
        """Return the different cards of a seat, those most likely to be good first."""
        legal: i64 = self.legal(seat, led)
        present: i64 = self.held[0] | self.held[1] | self.held[2] | self.held[3] | table
        first: list[int] = []
        rest: list[int] = []
        partner: bool = place > 0 and (best_seat + seat) % 2 == 0
        suit: i64 = 0
        while suit < 4:
            bits: i64 = SUIT_BITS[suit]
            mine: i64 = legal & bits
            all_left: i64 = present & bits
            top: i64 = highest_card(all_left) if all_left != 0 else 0
            while mine != 0:
                card: i64 = lowest_card(mine)
                mine = mine ^ BITS[card]
                if mine != 0:
                    # Equal to the next higher card if only own cards lie between them.
                    following: i64 = lowest_card(mine)
                    bit: i64 = BITS[following]
                    low: i64 = BITS[card]
                    if (all_left & (bit - 1) & -(low << 1)) == 0:
                        continue
                good: bool
                if place == 0:
                    good = card == top
                elif partner:
                    good = False
                else:
                    good = self.beats(card, best)
                if good:
                    first.append(card)
                else:
                    rest.append(card)
            suit += 1
        return first + rest
