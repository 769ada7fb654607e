"""Rules for later calls: they follow from the points and cards that both hands have shown.

A side bids what both hands are worth together.  The points for games and slams are those of the
"ACBL SAYC System Booklet" and of every primer: 25 for 3NT, 29 for five of a minor, 33 and 37 for
slams.  Four of a major needs 24, one less, by the measurement in `benchmarks/NOTES.md`.  A hand
whose partner has shown a range invites if game is good opposite the upper half of it.  In
competition a side bids as many tricks as it has trumps, by the law of total tricks (J.-R. Vernes,
1966).
"""

from __future__ import annotations

from typing import Final, final

from plyhouse.games.hidden.bridge.cards import DOUBLE, NO_TRUMP, PASS
from plyhouse.games.hidden.bridge.rules_of_calls import MOST_POINTS, Rule, cheapest
from plyhouse.games.hidden.bridge.shown import Shown

__all__ = ["LATER", "Position", "later_rules"]

GAME: Final = 24
NO_TRUMP_GAME: Final = 25
MINOR_GAME: Final = 29
SLAM: Final = 33
GRAND_SLAM: Final = 37
COMPETE: Final[tuple[int, ...]] = (0, 15, 17, 20, 24, 27, 30, 34)
"""Points of both hands to contest a part score at each level, with the trumps for it."""
PENALTY: Final = 24
"""Points of both hands to double a contract from the three level on, with three of its trumps."""
TAKEOUT: Final = 24
"""Points of both hands to ask partner for another suit by a double."""
TWO_NO_TRUMP: Final = 9
THREE_NO_TRUMP: Final = 14
FOUR_NO_TRUMP: Final = 19
LATER: Final = 1000
"""Number of the first group of rules; tables have lower ones."""
MAJORS_FIRST: Final[tuple[int, ...]] = (3, 2, 1, 0)


@final
class Position:
    """Facts on which a later call depends."""

    def __init__(
        self,
        own: Shown,
        partner: Shown,
        bid: int,
        theirs: bool,
        risk: int,
        their_suit: int,
        suits: int,
        forced: bool,
        doubled: bool,
    ) -> None:
        self.own = own
        self.partner = partner
        self.bid = bid
        self.theirs = theirs
        """True if the highest bid is the opponents'."""
        self.risk = risk
        self.their_suit = their_suit
        self.suits = suits
        """Suits that somebody has bid, as bits."""
        self.forced = forced or (partner.asks and not (theirs and risk == 1))
        """True if this seat must not pass."""
        self.doubled = doubled
        """True if the last call of this seat but passes was a double."""
        self.rules: list[Rule] = []
        self.low: int = partner.points
        spread: int = min(partner.most, partner.points + 4) - partner.points
        self.high: int = partner.points + spread
        limited: bool = own.most - own.points <= 3
        # Over 2NT of its own side there is no bid left that invites: take the better half, too.
        room: bool = theirs or bid < TWO_NO_TRUMP
        self.invites: bool = spread >= 2 and not limited and not forced and room
        self.game: int = 0 if forced else self.needs(GAME)
        self.unsure: int = 0
        """Points that a contract without trumps needs beyond those of a game in a suit."""
        if not forced:
            # Points of partner that are shortness are worth nothing without trumps.
            self.unsure = NO_TRUMP_GAME - GAME + (3 if partner.fit >= 0 else 0)

    def needs(self, total: int) -> int:
        """Return the points to bid a contract that needs so many: sure ones if one may invite."""
        if self.invites:
            return total - self.low
        return (2 * total - self.low - self.high) // 2

    def add(
        self, strain: int, level: int, low: int, high: int, least: int = 0, fits: bool = True
    ) -> Rule:
        """Add the rule for a bid; level 0 is the lowest one.  ``fits`` counts shortness."""
        rule = Rule(-1)
        rule.strain = strain
        rule.level = level
        rule.step = 1 if level == 0 else 0
        rule.low = max(0, low)
        rule.high = min(MOST_POINTS, high)
        if strain < NO_TRUMP:
            rule.least[strain] = max(least, 0)
            if fits:
                rule.fit = strain
                rule.own_fit = self.own.cards[strain] > self.partner.cards[strain]
        self.put(rule)
        return rule

    def call(self, call: int, low: int, high: int) -> Rule:
        """Add the rule for a call that is not a bid."""
        rule = Rule(call)
        rule.low = max(0, low)
        rule.high = high
        self.put(rule)
        return rule

    def put(self, rule: Rule) -> None:
        """Add a rule."""
        self.rules.append(rule)
        rule.group = LATER + len(self.rules)

    def stopped(self, rule: Rule) -> None:
        """Add to a rule that the suit of the opponents must be stopped, unless partner stops it."""
        if not self.partner.stops:
            rule.conditions.append("stop")

    def for_fit(self, suit: int) -> int:
        """Return the cards of a suit that make eight with partner's; 14 if that is not known."""
        theirs: int = self.partner.cards[suit]
        if theirs >= 2:
            return 8 - theirs
        return 7 if self.own.cards[suit] >= 4 else 14


def later_rules(at: Position) -> list[Rule]:
    """Return the rules of a call for which there is no table, in order."""
    _slams(at)
    if at.bid >= THREE_NO_TRUMP and not at.theirs and not at.forced:
        _corrections(at)
        return at.rules
    _games(at)
    _invitations(at)
    if at.doubled:
        _strong_suit(at)
    if at.forced:
        _forced(at)
    elif at.theirs:
        _competition(at)
    else:
        _sign_offs(at)
    at.call(PASS, 0, max(0, GAME - at.high - 1) if at.invites else MOST_POINTS)
    return at.rules


def _slams(at: Position) -> None:
    """Bid a slam with the points for it."""
    for total, level in ((GRAND_SLAM, 7), (SLAM, 6)):
        if at.bid >= 25 and not at.theirs and level == 6:
            continue
        for suit in MAJORS_FIRST:
            if at.for_fit(suit) < 14:
                at.add(suit, level, total - at.low, MOST_POINTS, at.for_fit(suit))
        at.add(NO_TRUMP, level, total - at.low, MOST_POINTS)
    if at.invites and not at.theirs:
        _slam_invitations(at)


def _slam_invitations(at: Position) -> None:
    """Ask partner to bid a slam with the better half of its range."""
    low: int = SLAM - at.high
    high: int = SLAM - at.low - 1
    for suit in (3, 2):
        if at.for_fit(suit) < 14 and at.bid < 20 + suit:
            at.add(suit, 5, low, high, at.for_fit(suit))
    if at.bid < FOUR_NO_TRUMP:
        at.add(NO_TRUMP, 4, low, high).conditions.append("even")


def _corrections(at: Position) -> None:
    """Correct 3NT to a major in which there are eight cards; otherwise pass."""
    if at.bid == THREE_NO_TRUMP:
        for suit in (3, 2):
            if at.partner.cards[suit] >= 5 or (
                at.partner.cards[suit] == 4 and at.own.cards[suit] == 0
            ):
                at.add(suit, 4, 0, MOST_POINTS, 8 - at.partner.cards[suit])
    at.call(PASS, 0, MOST_POINTS)


def _games(at: Position) -> None:
    """Bid a game with the points for it, and a major on the way to it."""
    for suit in (3, 2):
        if at.for_fit(suit) < 14 and at.bid < 15 + suit:
            at.add(suit, 4, at.game, MOST_POINTS, at.for_fit(suit))
    for suit in (3, 2):
        lowest: int = cheapest(suit, at.bid)
        own: int = at.own.cards[suit]
        if lowest >= THREE_NO_TRUMP or (at.suits >> suit & 1 and own == 0):
            continue
        if own in (4, 5) and at.partner.cards[suit] < 3 and at.partner.limits[suit] >= 8 - own - 1:
            level: int = 3 if lowest < 10 + suit else 0
            rule = at.add(suit, level, at.game + at.unsure, MOST_POINTS, own + 1, False)
            rule.conditions.append("game")
        elif own == 0 and at.partner.limits[suit] >= 4 and at.own.limits[suit] >= 4:
            rule = at.add(suit, 0, at.game + at.unsure, MOST_POINTS, 4, False)
            rule.conditions.append("game")
    if at.bid < THREE_NO_TRUMP:
        rule = at.add(NO_TRUMP, 3, at.game + at.unsure, MOST_POINTS)
        at.stopped(rule)
    for suit in (1, 0):
        if at.for_fit(suit) < 14 and at.bid < 20 + suit:
            at.add(suit, 5, MINOR_GAME - at.low, MOST_POINTS, at.for_fit(suit))


def _invitations(at: Position) -> None:
    """Ask partner to bid a game with the better half of its range."""
    if not at.invites:
        return
    low: int = GAME - at.high
    high: int = at.game - 1
    for suit in MAJORS_FIRST:
        if at.for_fit(suit) < 14 and at.bid < 10 + suit and (suit >= 2 or not at.theirs):
            at.add(suit, 3, low + (0 if suit >= 2 else 2), high, at.for_fit(suit))
    if at.bid < TWO_NO_TRUMP:
        rule = at.add(NO_TRUMP, 2, low + at.unsure, high + at.unsure)
        at.stopped(rule)


def _strong_suit(at: Position) -> None:
    """Bid a suit after a double: too many points for an overcall."""
    for suit in MAJORS_FIRST:
        if not at.suits >> suit & 1:
            at.add(suit, 0, 18, MOST_POINTS, 5, False)


def _competition(at: Position) -> None:
    """Contest a part score with the trumps for it, or double."""
    for suit in MAJORS_FIRST:
        bid: int = cheapest(suit, at.bid)
        level: int = bid // 5 + 1
        partner: int = at.partner.cards[suit]
        if level > 4 or suit == at.their_suit:
            continue
        if partner >= 3 or at.own.cards[suit] >= 5:
            # Partner may have a card more than it has promised.
            least: int = max(3, level + 6 - partner) if partner > 0 else level + 4
            at.add(suit, 0, COMPETE[level] - at.low, MOST_POINTS, least)
        elif at.own.cards[suit] >= 4 and level <= 3:
            at.add(suit, 0, COMPETE[level] - at.low, MOST_POINTS, level + 4, False)
    if at.risk == 1:
        if at.bid >= 10 and at.their_suit >= 0:
            rule = at.call(DOUBLE, PENALTY - at.low, MOST_POINTS)
            rule.least[at.their_suit] = 3
        elif at.bid < 10 and at.their_suit >= 0:
            rule = at.call(DOUBLE, TAKEOUT - at.low, MOST_POINTS)
            rule.most[at.their_suit] = 2
            rule.conditions.append("asks")


def _forced(at: Position) -> None:
    """Answer a call that asks: with a fit, a long suit, a new suit or without trumps."""
    for suit in MAJORS_FIRST:
        if at.for_fit(suit) < 14:
            at.add(suit, 0, 0, at.game - 1, at.for_fit(suit))
    for suit in MAJORS_FIRST:
        if at.own.cards[suit] >= 3 and cheapest(suit, at.bid) < THREE_NO_TRUMP:
            at.add(suit, 0, 0, MOST_POINTS, max(6, at.own.cards[suit] + 1), False)
    group: int = LATER + 500
    for suit in MAJORS_FIRST:
        if not at.suits >> suit & 1 and cheapest(suit, at.bid) - at.bid <= 5:
            least: int = 4 if cheapest(suit, at.bid) < 10 else 5
            rule = at.add(suit, 0, 0, MOST_POINTS, least, False)
            rule.group = group
    if at.bid < THREE_NO_TRUMP:
        rule = at.add(NO_TRUMP, 0, 0, MOST_POINTS)
        rule.conditions += ["stop"] if cheapest(NO_TRUMP, at.bid) == NO_TRUMP else ["stop", "even"]
    for suit in MAJORS_FIRST:
        if at.partner.cards[suit] >= 4:
            at.add(suit, 0, 0, MOST_POINTS, 7 - at.partner.cards[suit], False)
    for suit in MAJORS_FIRST:
        if at.own.cards[suit] >= 3:
            at.add(suit, 0, 0, MOST_POINTS, 5, False)
    for suit in MAJORS_FIRST:
        if at.partner.cards[suit] >= 4:
            at.add(suit, 0, 0, MOST_POINTS, 2, False)
    at.add(NO_TRUMP, 0, 0, MOST_POINTS)


def _sign_offs(at: Position) -> None:
    """Choose the best part score with a hand too weak for game."""
    if not at.partner.stops:
        # Without a stopper 3NT is better than no game at all: partner may have one.
        rule = at.add(NO_TRUMP, 3, at.game + at.unsure, MOST_POINTS)
        rule.conditions.append("rare")
    strain: int = at.bid % 5
    high: int = at.game - 1
    if at.bid < NO_TRUMP and at.for_fit(strain) < 14:
        at.add(strain, 2, COMPETE[2] - at.low, high, at.for_fit(strain))
    for suit in MAJORS_FIRST:
        bid: int = cheapest(suit, at.bid)
        if suit == strain or bid > 12 + suit or at.for_fit(suit) >= 14:
            continue
        if strain == NO_TRUMP:
            if suit >= 2 or bid < 10:
                rule = at.add(suit, 0, 0, high, at.for_fit(suit))
                if suit < 2:
                    rule.conditions.append("uneven")
        else:
            rule = at.add(suit, 0, 0, high, max(2, 7 - at.partner.cards[suit]))
            rule.better_than = strain
            rule.margin = at.partner.cards[strain] - at.partner.cards[suit]
            if at.own.cards[strain] > 0 or (suit < strain and bid // 5 > at.bid // 5):
                rule.margin += 1
    for suit in MAJORS_FIRST:
        if suit != strain and at.own.cards[suit] >= 4 and cheapest(suit, at.bid) < 9:
            rule = at.add(suit, 0, 0, high, 6, False)
            if strain < NO_TRUMP:
                rule.most[strain] = max(0, 7 - at.partner.cards[strain])
