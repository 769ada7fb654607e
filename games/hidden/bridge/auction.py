"""An auction as the system understands it: what seats have shown, and the rules of the next call.

Places are counted from the dealer.  The tables of `system_tables` serve the first calls of a side;
later ones follow from what both hands have shown, in `later_calls`.
"""

from __future__ import annotations

from typing import Final, final

from plyhouse.games.hidden.bridge.cards import DOUBLE, FIRST_BID, NO_TRUMP, PASS, REDOUBLE
from plyhouse.games.hidden.bridge.hand_value import Hand
from plyhouse.games.hidden.bridge.later_calls import LATER, Position, later_rules
from plyhouse.games.hidden.bridge.rules_of_calls import MOST_POINTS, Rule, rules_of
from plyhouse.games.hidden.bridge.shown import Shown
from plyhouse.games.hidden.bridge.system_tables import (
    ADVANCE_OF_DOUBLE,
    ADVANCE_OF_OVERCALL,
    AFTER_NO_TRUMP,
    AFTER_STAYMAN,
    AFTER_STRONG_CLUB,
    AFTER_TRANSFER,
    AFTER_TWO_NO_TRUMP,
    BALANCING,
    HIGH_DEFENCE,
    OPENING,
    OPENING_FOURTH,
    OVER_NO_TRUMP,
    OVER_PREEMPT,
    OVERCALL,
    REBID_AFTER_JACOBY,
    REBID_AFTER_NEW_SUIT,
    REBID_AFTER_NO_TRUMP,
    REBID_AFTER_STRONG_CLUB,
    REBID_AFTER_TWO_OVER_ONE,
    REOPENING,
    RESPONSE_TO_MAJOR,
    RESPONSE_TO_MINOR,
    RESPONSE_TO_PREEMPT,
    RESPONSE_TO_WEAK_TWO,
    RESPONSE_WITH_OVERCALL,
    SANDWICH,
)

__all__ = ["Auction"]

ONE_NO_TRUMP: Final = 4
TWO_CLUBS: Final = 5
TWO_DIAMONDS: Final = 6
TWO_HEARTS: Final = 7
TWO_NO_TRUMP: Final = 9
GAME: Final = 14
"""3NT, the lowest bid of a game."""
OPENS: Final = 11
"""Least points of a hand that opens."""
PASSED: Final = 12
"""Most points of a hand that has not opened."""

_KNOWN: Final[dict[tuple[str, int, int, int, int, int], list[Rule]]] = {}


def table_rules(
    table: str, first: int, second: int, theirs: int, bid_suits: int, more: int
) -> list[Rule]:
    """Return the rules of a table, made once for each choice of suits and points."""
    key = (table, first, second, theirs, bid_suits, more)
    found = _KNOWN.get(key)
    if found is None:
        found = rules_of(table, first, second, theirs, bid_suits, more)
        _KNOWN[key] = found
    return found


@final
class Auction:
    """The calls so far, and what they show."""

    def __init__(self) -> None:
        self.shown: list[Shown] = [Shown(), Shown(), Shown(), Shown()]
        self.count: int = 0
        self.bid: int = -1
        self.bidder: int = -1
        self.risk: int = 1
        self.suits: int = 0
        """Suits that somebody has bid, as bits."""
        self.first_suits: list[int] = [-1, -1]
        """The first suit that each side has bid naturally."""
        self.made: tuple[list[int], list[int]] = ([], [])
        """Calls of each side but passes, with four times the call plus the place."""
        self.opener: int = -1
        self.game_forced: list[bool] = [False, False]
        self.passes: int = 0
        self.next_rules: list[Rule] = []
        """The rules of the seat to move, once they are known."""

    def add(self, call: int) -> None:
        """Note a call."""
        place: int = self.count % 4
        own = self.shown[place]
        self.note(own, self.rules(), call)
        self.next_rules = []
        if call != PASS:
            self.shown[(place + 2) % 4].asks = False
            self.made[place % 2].append(4 * call + place)
        else:
            own.asks = False
        self.passes = self.passes + 1 if call == PASS else 0
        if call >= FIRST_BID:
            if self.opener < 0:
                self.opener = place
            self.bid = call - FIRST_BID
            self.bidder = place
            self.risk = 1
            strain: int = self.bid % 5
            if strain < NO_TRUMP and own.natural:
                self.suits |= 1 << strain
                if self.first_suits[place % 2] < 0:
                    self.first_suits[place % 2] = strain
        elif call == DOUBLE:
            self.risk = 2
        elif call == REDOUBLE:
            self.risk = 4
        self.count += 1

    def note(self, own: Shown, rules: list[Rule], call: int) -> None:
        """Add what a call shows: what its rules have in common.

        Rules for rare hands only widen the points.  Later rules do not count beside those of a
        table: few hands get past the table, and the call would show almost nothing.
        """
        found: list[Rule] = []
        low: int = MOST_POINTS
        high: int = 0
        game: bool = True
        for rule in rules:
            if rule.bid_over(self.bid) == call:
                if found and (call == DOUBLE or rule.group >= LATER > found[0].group):
                    break
                low = min(low, rule.low)
                high = max(high, rule.high)
                game = game and "game" in rule.conditions
                if not found or (rule.group < LATER and "rare" not in rule.conditions):
                    found.append(rule)
        own.natural = call >= FIRST_BID
        if found:
            own.narrow(found, low, high)
            if "again" in found[0].conditions:
                own.asks = self.shown[(self.count + 2) % 4].most > PASSED
            unstopped = [each for each in found if "stop" not in each.conditions]
            own.stops = own.stops or (self.theirs() >= 0 and not unstopped)
            if game:
                self.game_forced[self.count % 2] = True
        elif call >= FIRST_BID:
            own.narrow_naturally((call - FIRST_BID) // 5 + 1, (call - FIRST_BID) % 5)

    def theirs(self) -> int:
        """Return the suit of the opponents of the seat to move; -1 if they have bid none."""
        return self.first_suits[1 - self.count % 2]

    def undisturbed(self) -> bool:
        """Return whether the opponents of the seat to move have bid nothing."""
        return not [each for each in self.made[1 - self.count % 2] if each // 4 >= FIRST_BID]

    def call_of(self, cards: int) -> int:
        """Return the call of the seat to move with these cards."""
        hand = Hand(cards)
        theirs: int = self.theirs()
        found: int = PASS
        best: Rule | None = None
        for rule in self.rules():
            if best is not None and rule.group != best.group:
                break
            call: int = rule.bid_over(self.bid)
            if call < 0 or not self.allows(call) or not rule.fits(hand, theirs):
                continue
            if best is None or _longer(hand, rule.strain, best.strain):
                best = rule
                found = call
        return found

    def allows(self, call: int) -> bool:
        """Return whether a call is legal; a bid of a rule is always high enough."""
        if call == DOUBLE:
            return self.bid >= 0 and self.risk == 1 and (self.bidder + self.count) % 2 == 1
        if call == REDOUBLE:
            return self.risk == 2 and (self.bidder + self.count) % 2 == 0
        return True

    # Which rules

    def rules(self) -> list[Rule]:
        """Return the rules of the seat to move, in order."""
        if not self.next_rules:
            self.next_rules = self.found_rules()
        return self.next_rules

    def found_rules(self) -> list[Rule]:
        """Return the rules of a table, of `later_calls`, or of both."""
        place: int = self.count % 4
        ours = self.made[place % 2]
        table: str = ""
        more: int = 0
        if self.bid < 0:
            table = OPENING_FOURTH if self.count == 3 else OPENING
        elif not ours:
            table = self.defence()
        elif self.risk == 2 and self.passes == 1 and self.is_asked_for_suit(ours):
            table = ADVANCE_OF_DOUBLE
            # A double in the last seat shows less, as if it had borrowed a king from this hand.
            more = 3 if self.shown[(place + 2) % 4].points < OPENS else 0
        elif len(ours) == 1:
            table = self.second(ours[0] // 4, ours[0] % 4)
        elif len(ours) == 2 and ours[0] % 4 == place and ours[1] % 4 != place:
            table = self.rebid(ours[0] // 4 - FIRST_BID, ours[1] // 4 - FIRST_BID)
        elif len(ours) == 3 and ours[2] % 4 != place and self.is_strong_no_trump(ours):
            table = AFTER_TWO_NO_TRUMP
        elif len(ours) == 4 and ours[3] % 4 != place and self.is_strong_no_trump(ours):
            table = self.no_trump_rebid(ours[3] // 4 - FIRST_BID)
        found: list[Rule] = []
        if table:
            found = table_rules(
                table,
                self.first_suits[place % 2],
                self.second_suit(ours),
                self.theirs(),
                self.suits,
                more,
            )
            if found[len(found) - 1].call == PASS:
                if len(ours) != 2 or self.bidder % 2 == place % 2:
                    return found
                found = found[: len(found) - 1]  # over a bid of theirs more calls are possible
        return found + later_rules(self.position())

    def is_asked_for_suit(self, ours: list[int]) -> bool:
        """Return whether partner, who alone has called, has doubled a low bid in a suit."""
        last: int = ours[len(ours) - 1]
        if last // 4 != DOUBLE or self.bid >= GAME or self.theirs() < 0:
            return False
        return not [each for each in ours if each % 4 != last % 4]

    def is_strong_no_trump(self, ours: list[int]) -> bool:
        """Return whether a side has called 2C, 2D and 2NT."""
        return (
            ours[0] // 4 == FIRST_BID + TWO_CLUBS
            and ours[1] // 4 == FIRST_BID + TWO_DIAMONDS
            and ours[2] // 4 == FIRST_BID + TWO_NO_TRUMP
            and self.opener % 2 == self.count % 2
        )

    def second_suit(self, ours: list[int]) -> int:
        """Return the suit of partner's answer: with transfers the suit that it shows."""
        if len(ours) < 2:
            return -1
        bid: int = ours[len(ours) - 1] // 4 - FIRST_BID
        opening: int = ours[len(ours) - 2] // 4 - FIRST_BID
        if bid < 0 or bid % 5 == NO_TRUMP:
            return -1
        return bid % 5 + 1 if opening in (ONE_NO_TRUMP, TWO_NO_TRUMP) else bid % 5

    def defence(self) -> str:
        """Return the table of a side that has not called yet."""
        theirs = self.made[1 - self.count % 2]
        if self.bid == ONE_NO_TRUMP and len(theirs) == 1:
            return OVER_NO_TRUMP
        if self.bid >= 5 and len(theirs) == 1 and self.bid < GAME:
            return OVER_PREEMPT
        if self.bid >= 10:
            return HIGH_DEFENCE
        if self.passes == 2:
            return BALANCING
        return OVERCALL if len(theirs) == 1 else SANDWICH

    def second(self, call: int, by: int) -> str:
        """Return the table after one call of the side."""
        place: int = self.count % 4
        opened: bool = self.opener % 2 == place % 2
        if by == place:
            return REOPENING if opened and self.passes == 2 and self.bid < 10 else ""
        if not opened:
            if call == DOUBLE:
                return ""
            if call == FIRST_BID + ONE_NO_TRUMP:
                # In the last seat 1NT shows less than an opening, so that the table overbids.
                strong: bool = self.shown[(place + 2) % 4].points >= 15
                return AFTER_NO_TRUMP if strong and self.passes == 1 else ""
            if call == FIRST_BID + TWO_NO_TRUMP:
                return ""
            return ADVANCE_OF_OVERCALL if call < FIRST_BID + 10 else ""
        bid: int = call - FIRST_BID
        contested: bool = self.bid != bid
        if bid == ONE_NO_TRUMP:
            return "" if contested else AFTER_NO_TRUMP
        if bid == TWO_NO_TRUMP:
            return "" if contested else AFTER_TWO_NO_TRUMP
        if bid == TWO_CLUBS:
            return "" if contested else AFTER_STRONG_CLUB
        if bid < ONE_NO_TRUMP:
            if contested:
                return RESPONSE_WITH_OVERCALL if self.bid < GAME else ""
            return RESPONSE_TO_MAJOR if bid >= 2 else RESPONSE_TO_MINOR
        return RESPONSE_TO_WEAK_TWO if bid < TWO_NO_TRUMP else RESPONSE_TO_PREEMPT

    def rebid(self, opening: int, answer: int) -> str:
        """Return the table of an opener's second call."""
        if self.opener % 2 != self.count % 2 and opening != ONE_NO_TRUMP:
            return ""
        if opening in (ONE_NO_TRUMP, TWO_NO_TRUMP):
            return self.no_trump_rebid(answer) if self.bid == answer else ""
        if opening == TWO_CLUBS:
            return REBID_AFTER_STRONG_CLUB if answer == TWO_DIAMONDS else ""
        if opening > ONE_NO_TRUMP or answer < 0 or answer % 5 == opening:
            return ""
        if answer < ONE_NO_TRUMP:
            return REBID_AFTER_NEW_SUIT
        if answer == ONE_NO_TRUMP:
            return REBID_AFTER_NO_TRUMP
        if answer < TWO_NO_TRUMP and answer < opening + 5:
            return REBID_AFTER_TWO_OVER_ONE
        if answer == TWO_NO_TRUMP and opening >= 2 and self.undisturbed():
            return REBID_AFTER_JACOBY
        return ""

    def no_trump_rebid(self, answer: int) -> str:
        """Return the table of the opener of 1NT or 2NT."""
        low: int = answer % 5
        if answer < 0 or answer // 5 > 2 or low > 2:
            return ""
        return AFTER_STAYMAN if low == 0 else AFTER_TRANSFER

    def position(self) -> Position:
        """Return what the later rules look at."""
        place: int = self.count % 4
        last: int = PASS
        for each in self.made[place % 2]:
            if each % 4 == place:
                last = each // 4
        ours: bool = self.bidder % 2 == place % 2
        return Position(
            self.shown[place],
            self.shown[(place + 2) % 4],
            self.bid,
            not ours,
            self.risk,
            self.theirs(),
            self.suits,
            ours and self.game_forced[place % 2] and self.bid < GAME + 3 and self.bid != GAME,
            last == DOUBLE,
        )


def _longer(hand: Hand, suit: int, other: int) -> bool:
    """Return whether a suit is bid before another: the longer one; of five cards the higher one."""
    if suit < 0 or suit > 3 or hand.size[suit] != hand.size[other]:
        return suit >= 0 and suit < 4 and hand.size[suit] > hand.size[other]
    return suit > other if hand.size[suit] >= 5 else suit < other
