"""Rules of a bidding system: what a call promises, and whether a hand fits that.

A rule is one line of a table such as those of `system_tables`: the call, the points, conditions::

    1NT   15-17   even
    2+x   10+     x4+  asks
    3o    10-12o  o4+

The same rule chooses the call of a hand and says what the call shows.  The first rule that fits
counts; among rules for several new suits ``x`` the one for the longest suit.

*Calls* are ``1NT``, ``Pass``, ``X`` and ``XX``.  Suits are ``C``, ``D``, ``H``, ``S``, or

* ``o`` for the first suit of the side, written ``M`` if it has to be a major, ``m`` if a minor;
* ``r`` for the suit of its second call;
* ``x`` for each suit that nobody has bid, ``y`` for the suit of the opponents.

``+x`` is the lowest bid of a suit and ``++x`` one level above.  A level before the plus must be
reached exactly.  *Points* are high cards; a suit after them adds shortness.  *Conditions*: ``S5+``,
``H3-``, ``D4`` are lengths, and the words are these.

* ``even`` and ``uneven``: shapes;
* ``opens`` and ``fourth``: the strength of an opening, and of one in fourth seat;
* ``own``: the suit after the points is one's own, so that length counts, too;
* ``good``: a suit with honours;
* ``longest``: the hand has no longer suit; ``sole``: nor one as long;
* ``stop``: a stopper in the suit of the opponents; ``short``: two cards of it at most;
* ``major``: four cards of a major that nobody has bid; ``support``: three of each such suit;
* ``lower`` and ``higher``: a suit below or above ``o``;
* ``asks``: partner must answer; ``again``: it must if it has not passed before;
* ``game``: nobody may pass below game;
* ``art``: the call does not show its suit; ``rare``: hands that nothing better fits.
"""

from __future__ import annotations

from typing import Final, final

from plyhouse.games.hidden.bridge.cards import (
    DOUBLE,
    FIRST_BID,
    NO_TRUMP,
    PASS,
    REDOUBLE,
)
from plyhouse.games.hidden.bridge.hand_value import Hand

__all__ = ["MOST_POINTS", "Rule", "cheapest", "rules_of", "suit_of"]

MOST_POINTS: Final = 37
_ANY: Final = 0
_LOWEST: Final = 1
_JUMP: Final = 2


@final
class Rule:
    """A call, and the hands that make it."""

    def __init__(self, call: int) -> None:
        self.call = call
        """A call; for a bid of `level` 0 the strain, and the bid depends on the auction."""
        self.strain: int = -1
        self.level: int = 0
        self.step: int = _ANY
        self.low: int = 0
        self.high: int = MOST_POINTS
        self.fit: int = -1
        """The suit whose shortness counts; -1 if only high cards count."""
        self.own_fit: bool = False
        self.least: list[int] = [0, 0, 0, 0]
        self.most: list[int] = [13, 13, 13, 13]
        self.conditions: list[str] = []
        self.group: int = 0
        """Number of the line: among its rules, that of the longest suit counts."""
        self.better_than: int = -1
        """A suit that must not be longer than that of the call, partner's cards included."""
        self.margin: int = 0

    def bid_over(self, bid: int) -> int:
        """Return the call after the highest bid so far; -1 if it is not possible."""
        if self.strain < 0:
            return self.call
        found: int
        if self.step == _ANY:
            found = 5 * (self.level - 1) + self.strain
            return FIRST_BID + found if found > bid else -1
        found = cheapest(self.strain, bid) + (5 if self.step == _JUMP else 0)
        if found > 34 or (self.level > 0 and found // 5 + 1 != self.level):
            return -1
        return FIRST_BID + found

    def fits(self, hand: Hand, theirs: int) -> bool:
        """Return whether a hand makes this call; ``theirs`` is the suit of the opponents or -1."""
        points: int = hand.high if self.fit < 0 else hand.with_fit(self.fit, self.own_fit)
        if points < self.low or points > self.high:
            return False
        for suit in range(4):
            if hand.size[suit] < self.least[suit] or hand.size[suit] > self.most[suit]:
                return False
        if self.better_than >= 0:
            lead: int = hand.size[self.strain] - hand.size[self.better_than]
            if lead < self.margin:
                return False
        missed = [each for each in self.conditions if not _holds(each, hand, self.strain, theirs)]
        return not missed


def _holds(condition: str, hand: Hand, strain: int, theirs: int) -> bool:
    """Return whether a hand meets a condition."""
    if condition == "even":
        return hand.even
    if condition == "uneven":
        return not hand.even
    if condition == "opens":
        # The rule of 20 (M. Bergen) for 11 points: nine cards in the two longest suits.
        return hand.high >= 12 or (hand.high == 11 and hand.two_longest >= 9)
    if condition == "fourth":
        # The rule of 15 (D. Pearson) in fourth seat: high cards and spades.
        return hand.high >= 13 or hand.high + hand.size[3] >= 15
    if condition == "good":
        return hand.good[strain]
    if condition == "longest":
        return hand.size[strain] == hand.longest
    if condition == "sole":
        return hand.size[strain] == hand.longest and hand.two_longest < 2 * hand.longest
    if condition == "stop":
        return theirs < 0 or hand.stops[theirs]
    if condition == "short":
        return theirs >= 0 and hand.size[theirs] <= 2
    if condition == "major":
        return hand.size[2] >= 4 or hand.size[3] >= 4
    return True


def cheapest(strain: int, bid: int) -> int:
    """Return the lowest bid of a strain above a bid."""
    found: int = bid + 1
    while found % 5 != strain:
        found += 1
    return found


def suit_of(letter: str, first: int, second: int, theirs: int) -> int:
    """Return the suit that a letter stands for; -1 if there is none."""
    place: int = "CDHS".find(letter)
    if place >= 0:
        return place
    if letter == "M":
        return first if first >= 2 else -1
    if letter == "m":
        return first if first < 2 else -1
    return first if letter == "o" else second if letter == "r" else theirs


def rules_of(
    table: str, first: int, second: int, theirs: int, bid_suits: int, more: int
) -> list[Rule]:
    """Return the rules of a table for the suits that its letters stand for.

    ``bid_suits`` are those that somebody has bid, as bits: ``x`` is each of the others.  Calls need
    ``more`` points than the table says.
    """
    found: list[Rule] = []
    number: int = 0
    for line in table.strip().split("\n"):
        words = line.partition("#")[0].split()
        if not words:
            continue
        number += 1
        free: list[int] = [suit for suit in range(4) if not bid_suits >> suit & 1]
        others: list[int] = free if words[0].endswith("x") else [-1]
        for other in others:
            rule = _rule(words, first, second, theirs, other)
            if rule is not None and _restricted(rule, free, first, theirs):
                rule.group = number
                rule.low += more if rule.low > 0 else 0
                rule.high = min(rule.high + more, MOST_POINTS)
                found.append(rule)
    return found


def _restricted(rule: Rule, free: list[int], first: int, theirs: int) -> bool:
    """Put conditions about suits that nobody has bid as lengths; return False if they fail."""
    if rule.strain >= 0 and rule.strain == theirs and "art" not in rule.conditions:
        return False
    if "lower" in rule.conditions and rule.strain > first:
        return False
    if "higher" in rule.conditions and rule.strain < first:
        return False
    if "support" in rule.conditions:
        for suit in free:
            rule.least[suit] = max(rule.least[suit], 3)
    if "major" in rule.conditions:
        majors: list[int] = [suit for suit in free if suit >= 2]
        if len(majors) == 1:
            rule.least[majors[0]] = 4
        return len(majors) > 0
    return True


def _rule(words: list[str], first: int, second: int, theirs: int, other: int) -> Rule | None:
    """Return the rule of a line; None if it needs a suit that there is not."""
    rule = _called(words[0], first, second, theirs, other)
    if rule is None:
        return None
    points: str = words[1]
    if points[-1].isalpha():
        rule.fit = suit_of(points[-1], first, second, theirs)
        points = points[:-1]
    low, _, high = points.partition("-")
    rule.low = int(low.rstrip("+"))
    rule.high = int(high) if high else MOST_POINTS if low.endswith("+") else rule.low
    for word in words[2:]:
        if len(word) in (2, 3) and word[1].isdigit():
            suit: int = other if word[0] == "x" else suit_of(word[0], first, second, theirs)
            if suit < 0:
                return None
            size: int = int(word[1])
            if not word.endswith("-"):
                rule.least[suit] = size
            if not word.endswith("+"):
                rule.most[suit] = size
        else:
            rule.conditions.append(word)
    rule.own_fit = "own" in rule.conditions
    return rule


def _called(word: str, first: int, second: int, theirs: int, other: int) -> Rule | None:
    """Return a rule for the call of a line; None if it is a bid in a suit that there is not."""
    if word == "Pass":
        return Rule(PASS)
    if word == "X":
        return Rule(DOUBLE)
    if word == "XX":
        return Rule(REDOUBLE)
    rule = Rule(-1)
    if word[0].isdigit():
        rule.level = int(word[0])
        word = word[1:]
    while word[0] == "+":
        rule.step += 1
        word = word[1:]
    if word == "NT":
        rule.strain = NO_TRUMP
    else:
        rule.strain = other if word == "x" else suit_of(word, first, second, theirs)
        if word in "CDHS" and rule.step == _LOWEST and rule.strain == first:
            return None
    return rule if rule.strain >= 0 else None
