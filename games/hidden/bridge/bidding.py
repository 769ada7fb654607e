"""Calls by a simple natural system: what a seat's calls show, and what to call next.

Hands are valued by high cards (M. Work: 4, 3, 2, 1 for ace to jack) and a point for each card of a
suit beyond four.  An opening of one in a suit shows 12 points and four cards, five in a major.
Openings without trumps show an even hand: 1NT 15 to 17 points, 2NT 20.  Those at the two or three
level show a long suit and few points, but 2C shows 22.  Overcalls show five cards and 9 points, or
12 at the two level.  A double of a low bid in a suit asks partner to choose one of the others.

All later bids follow from one table: the points that both hands need together for a level.  So a
bid shows the points that are missing to that table, and a suit of four cards, or three if partner
has bid it.  Conventions such as transfers are left out.

>>> from plyhouse.games.hidden.bridge.cards import call_number, hand_bits
>>> hand = "SA SK S8 S5 S2 HK H7 DQ D9 D4 C8 C6 C3"
>>> best_call(hand_bits(tuple(hand.split())), (call_number("Pass"),)) == call_number("1S")
True
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from plyhouse.games.hidden.bridge.cards import (
    BITS,
    DOUBLE,
    FIRST_BID,
    LAST_CALL,
    NO_TRUMP,
    PASS,
    REDOUBLE,
    SUIT_BITS,
    bit_count,
)

__all__ = ["Shown", "best_call", "high_cards", "shortfall", "shown_by"]

SUIT_NEED: Final[tuple[int, ...]] = (0, 17, 20, 23, 25, 28, 33, 37)
"""Points of both hands for each level in a suit."""
NO_TRUMP_NEED: Final[tuple[int, ...]] = (0, 18, 22, 25, 29, 31, 33, 37)
"""Points of both hands for each level without trumps."""
OPENING: Final = 12
GAME: Final = 14
"""3NT, the lowest bid of a game."""
LONG: Final = 6
"""Cards of a suit for an opening with few points."""


@final
class Shown:
    """Points and cards that the calls of a seat have shown."""

    def __init__(self) -> None:
        self.points: int = 0
        """Least points."""
        self.most: int = 37
        """Most points."""
        self.cards: list[int] = [0, 0, 0, 0]
        """Least cards of each suit."""
        self.asks: bool = False
        """True if partner has to answer its last call."""


def high_cards(hand: int) -> int:
    """Return the points of the high cards of a hand."""
    found: int = 0
    for suit in range(4):
        for rank in range(9, 13):
            if hand & BITS[13 * suit + rank]:
                found += rank - 8
    return found


def lengths(hand: int) -> list[int]:
    """Return the number of cards of each suit."""
    return [_length(hand, suit) for suit in range(4)]


def _length(hand: i64, suit: i64) -> int:
    bits: i64 = SUIT_BITS[suit]
    return bit_count(hand & bits)


def shown_by(calls: tuple[int, ...]) -> list[Shown]:
    """Return what each place has shown, from the dealer's."""
    shown = [Shown(), Shown(), Shown(), Shown()]
    bid: int = -1
    opener: int = -1
    bidder: int = -1
    for at, call in enumerate(calls):
        place: int = at % 4
        own = shown[place]
        partner = shown[(place + 2) % 4]
        own.asks = False
        first: bool = at < 4
        if call >= FIRST_BID:
            level: int = (call - FIRST_BID) // 5 + 1
            strain: int = (call - FIRST_BID) % 5
            if opener < 0:
                _show_opening(own, level, strain)
                opener = place
            elif partner.points == 0 and own.points == 0 and (opener + place) % 2 == 1:
                _show_overcall(own, level, strain, bid)
            else:
                _show_bid(own, partner, level, strain, first or opener != place)
            bid = call - FIRST_BID
            bidder = place
        elif call == DOUBLE:
            if _takeout(bid) and own.points == 0 and partner.points == 0:
                own.points = OPENING
                own.asks = True
                for suit in range(4):
                    if suit != bid % 5:
                        own.cards[suit] = max(own.cards[suit], 3)
        elif call == PASS:
            if own.points == 0 and opener < 0:
                own.most = min(own.most, OPENING - 1)
            elif own.points == 0 and partner.points >= OPENING and (bidder + place) % 2 == 0:
                own.most = min(own.most, 5)
    return shown


def _takeout(bid: int) -> bool:
    """Return whether a double of a bid asks for a suit: up to two spades, not without trumps."""
    return 0 <= bid < 9 and bid % 5 != NO_TRUMP


def _show_opening(own: Shown, level: int, strain: int) -> None:
    if strain == NO_TRUMP:
        own.points = 15 if level == 1 else 20 if level == 2 else 25
        own.most = own.points + 2
        own.cards = [2, 2, 2, 2]
    elif level == 1:
        own.points = OPENING
        own.most = 21
        own.cards[strain] = 5 if strain >= 2 else 4
    elif level == 2 and strain == 0:
        own.points = 22
        own.asks = True
    else:
        own.points = 6
        own.most = 11
        own.cards[strain] = level + 4


def _show_overcall(own: Shown, level: int, strain: int, bid: int) -> None:
    jump: bool = 5 * (level - 1) + strain - bid > 5
    if strain == NO_TRUMP:
        own.points = 15 if level == 1 else 19
        own.most = own.points + 3
        own.cards = [2, 2, 2, 2]
    elif jump:
        own.points = 6
        own.most = 11
        own.cards[strain] = LONG
    else:
        own.points = 9 if level == 1 else OPENING
        own.most = 17
        own.cards[strain] = 5


def _show_bid(own: Shown, partner: Shown, level: int, strain: int, asking: bool) -> None:
    """Note a later bid: the points that the level needs beyond what partner has shown."""
    need: int = NO_TRUMP_NEED[level] if strain == NO_TRUMP else SUIT_NEED[level]
    points: int = min(need - partner.points, own.most)
    if strain < NO_TRUMP:
        if partner.cards[strain] >= 4:
            own.cards[strain] = max(own.cards[strain], 8 - partner.cards[strain])
            own.most = min(own.most, max(own.points, points) + 3)
        elif own.cards[strain] > 0:
            own.cards[strain] += 1
        else:
            own.cards[strain] = 4 if level < 3 else 5
            own.asks = asking and own.most > 12 and not partner.asks
    else:
        own.most = min(own.most, max(own.points, points) + 3)
    own.points = max(own.points, points)


def shortfall(hand: int, shown: Shown) -> int:
    """Return by how much a hand misses what its seat's calls have shown; 0 if it fits."""
    points: int = high_cards(hand)
    missed: int = 0
    for suit in range(4):
        size: int = _length(hand, suit)
        points += max(0, size - 4)
        missed += 2 * max(0, shown.cards[suit] - size)
    return missed + max(0, shown.points - points) + max(0, points - shown.most)


def best_call(hand: int, calls: tuple[int, ...]) -> int:
    """Return the call of the seat to move, which holds ``hand``, after ``calls``."""
    call: int = _chosen(hand, calls)
    highest: int = FIRST_BID - 1
    for each in calls:
        highest = max(highest, each)
    # The system has no bid above 7NT, and after odd auctions it may lack room.
    return PASS if call >= FIRST_BID and (call <= highest or call > LAST_CALL) else call


def _chosen(hand: int, calls: tuple[int, ...]) -> int:
    """Return the call of the system, which may be above 7NT."""
    shown = shown_by(calls)
    place: int = len(calls) % 4
    own = shown[place]
    partner = shown[(place + 2) % 4]
    bid: int = -1
    bidder: int = -1
    risk: int = 1
    for at, call in enumerate(calls):
        if call >= FIRST_BID:
            bid = call - FIRST_BID
            bidder = at % 4
            risk = 1
        elif call == DOUBLE:
            risk = 2
        elif call == REDOUBLE:
            risk = 4
    size = lengths(hand)
    high: int = high_cards(hand)
    long: int = 0
    for each in size:
        long += max(0, each - 4)
    even: bool = min(size) >= 2 and sorted(size)[1] >= 3 and max(size) <= 5
    if bid < 0:
        return _opening(size, high, high + long, even)
    theirs: bool = (bidder + place) % 2 == 1
    if theirs and own.points == 0 and partner.points == 0:
        return _overcall(size, high, high + long, even, bid, risk)
    if partner.points == 0 and not partner.asks:
        return PASS
    return _developed(own, partner, size, high + long, bid, theirs, risk)


def _longest(size: list[int]) -> int:
    """Return the longest suit, the higher of equal ones."""
    found: int = 0
    for suit in range(4):
        if size[suit] >= size[found]:
            found = suit
    return found


def _opening(size: list[int], high: int, points: int, even: bool) -> int:
    longest: int = _longest(size)
    if points >= 22:
        return FIRST_BID + 5
    if even and 20 <= high <= 21:
        return FIRST_BID + 5 + NO_TRUMP
    if even and 15 <= high <= 17:
        return FIRST_BID + NO_TRUMP
    if points >= OPENING + 1 or high >= OPENING:
        if size[longest] >= 5:
            return FIRST_BID + longest
        return FIRST_BID + (1 if size[1] > size[0] or size[1] == 4 else 0)
    if high >= 6 and size[longest] >= LONG and not (longest == 0 and size[0] == LONG):
        return FIRST_BID + (5 if size[longest] == LONG else 10) + longest
    return PASS


def _overcall(size: list[int], high: int, points: int, even: bool, bid: int, risk: int) -> int:
    longest: int = _longest(size)
    cheapest: int = _cheapest(longest, bid)
    level: int = cheapest // 5 + 1
    if even and 15 <= high <= 18 and bid < NO_TRUMP and size[bid % 5] >= 3:
        return FIRST_BID + NO_TRUMP
    if size[longest] >= 5 and longest != bid % 5:
        if level == 1 and high >= 9 and high <= 17:
            return FIRST_BID + cheapest
        if level == 2 and high >= OPENING and high <= 17:
            return FIRST_BID + cheapest
    if risk == 1 and _takeout(bid) and high >= OPENING and size[bid % 5] <= 2:
        return DOUBLE
    if risk == 1 and _takeout(bid) and high >= 18:
        return DOUBLE
    return PASS


def _cheapest(strain: int, bid: int) -> int:
    """Return the lowest bid of a strain above a bid."""
    found: int = bid + 1
    while found % 5 != strain:
        found += 1
    return found


def _developed(
    own: Shown,
    partner: Shown,
    size: list[int],
    points: int,
    bid: int,
    theirs: bool,
    risk: int,
) -> int:
    """Return the call when this side has bid."""
    fit: int = -1
    for suit in range(4):
        together: int = size[suit] + partner.cards[suit]
        # A major is worth more than a longer minor.
        longer: bool = fit < 0 or together >= size[fit] + partner.cards[fit] or suit >= 2
        if together >= 8 and longer and (fit < 2 or suit >= 2):
            fit = suit
    value: int = points
    if fit >= 0:
        for each in size:
            value += max(0, 3 - each) if each < 2 else 0
    total: int = value + partner.points
    if bid >= GAME and not theirs and not partner.asks and total < SUIT_NEED[6]:
        return PASS
    goal: int = _goal(fit, total)
    if goal > bid and (fit >= 0 or not _new_suit_first(own, size, bid)):
        return FIRST_BID + goal
    if partner.asks or (not theirs and total >= 23 and fit < 0):
        forced: int = _forced(own, partner, size, bid, fit)
        if forced >= 0 and (partner.asks or total >= SUIT_NEED[forced // 5 + 1]):
            return FIRST_BID + forced
    if theirs and risk == 1 and bid >= 10 and total >= 26 and fit < 0 and size[bid % 5 % 4] >= 3:
        return DOUBLE
    if partner.points >= OPENING and own.points == 0 and points >= 6 and not theirs:
        answer: int = _answer(size, points, bid)
        if answer >= 0:
            return FIRST_BID + answer
    return PASS


def _goal(fit: int, total: int) -> int:
    """Return the highest contract for the points of both hands that is worth bidding; -1 if none.

    Above a part score only games and slams count.
    """
    if fit < 0:
        if total >= NO_TRUMP_NEED[6]:
            return 5 * (6 if total >= NO_TRUMP_NEED[7] else 5) + NO_TRUMP
        if total >= NO_TRUMP_NEED[3]:
            return 10 + NO_TRUMP
        return -1
    if total >= SUIT_NEED[6]:
        return 5 * (6 if total >= SUIT_NEED[7] else 5) + fit
    if fit >= 2 and total >= SUIT_NEED[4]:
        return 15 + fit
    if fit < 2 and total >= NO_TRUMP_NEED[3] + 1:
        return 10 + NO_TRUMP
    for level in (3, 2, 1):
        if total >= SUIT_NEED[level]:
            return 5 * (level - 1) + fit
    return -1


def _new_suit_first(own: Shown, size: list[int], bid: int) -> bool:
    """Return whether a major of four cards can be shown at the level of one first."""
    if own.points > 0 or bid >= NO_TRUMP:
        return False
    hearts: bool = size[2] >= 4 and bid < 2
    return hearts or (size[3] >= 4 and bid < 3)


def _answer(size: list[int], points: int, bid: int) -> int:
    """Return the first answer to an opening of one: a suit at the level of one, or no trump."""
    if bid >= 5:
        return -1
    for suit in range(4):
        if size[suit] >= 4 and _cheapest(suit, bid) < 5 and suit != bid % 5:
            return _cheapest(suit, bid)
    if points >= 11:
        longest: int = _longest(size)
        if size[longest] >= 5 and longest != bid % 5 and _cheapest(longest, bid) < 10:
            return _cheapest(longest, bid)
        return 5 + NO_TRUMP
    return NO_TRUMP if bid < NO_TRUMP else -1


def _forced(own: Shown, partner: Shown, size: list[int], bid: int, fit: int) -> int:
    """Return a bid for a seat that must not pass: a fit, a long suit, a new suit or no trump."""
    if fit >= 0:
        return _cheapest(fit, bid)
    if partner.points >= 22 and bid < 6:
        return 6
    best: int = -1
    for suit in range(4):
        spare: int = size[suit] - max(own.cards[suit], 3)
        if spare > 0 and partner.cards[suit] != 4:
            found: int = _cheapest(suit, bid)
            if found - bid <= 5 and (best < 0 or found < best):
                best = found
    if best < 0:
        best = _cheapest(NO_TRUMP, bid)
    return best if best < 35 else -1
