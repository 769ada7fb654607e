"""Points and lengths that the calls of a seat have shown, and whether partner must answer."""

from __future__ import annotations

from typing import final

from plyhouse.games.hidden.bridge.hand_value import Hand
from plyhouse.games.hidden.bridge.rules_of_calls import MOST_POINTS, Rule

__all__ = ["Shown"]


@final
class Shown:
    """Points and cards that the calls of a seat have shown."""

    def __init__(self) -> None:
        self.points: int = 0
        """Least points."""
        self.most: int = MOST_POINTS
        """Most points."""
        self.cards: list[int] = [0, 0, 0, 0]
        """Least cards of each suit."""
        self.limits: list[int] = [13, 13, 13, 13]
        """Most cards of each suit."""
        self.fit: int = -1
        """The suit with which shortness was counted; -1 if points are high cards."""
        self.asks: bool = False
        """True if partner has to answer its last call."""
        self.stops: bool = False
        """True if a call has shown a stopper in the suit of the opponents."""
        self.natural: bool = False
        """True if its last call was a bid that shows its suit."""

    def narrow(self, rules: list[Rule], low: int, high: int) -> None:
        """Note a call that these rules make, with points in a range: what they have in common."""
        for suit in range(4):
            least: int = 13
            most: int = 0
            for rule in rules:
                least = min(least, rule.least[suit])
                most = max(most, rule.most[suit])
            self.cards[suit] = max(self.cards[suit], least)
            self.limits[suit] = min(self.limits[suit], most)
        first = rules[0]
        if first.fit >= 0 or low > self.points:
            # Otherwise the least points are those of an earlier call.
            self.fit = first.fit
        self.asks = "asks" in first.conditions or "game" in first.conditions
        if "art" in first.conditions:
            self.natural = False
        if "even" in first.conditions and len(rules) == 1:
            for suit in range(4):
                self.cards[suit] = max(self.cards[suit], 2)
        self.bounded(low, high)

    def narrow_naturally(self, level: int, strain: int) -> None:
        """Note a bid that the system does not have: a suit, with more points at higher levels."""
        self.asks = False
        self.fit = -1
        if strain < 4:
            size: int = 4 if self.cards[strain] == 0 and level < 3 else 5
            self.cards[strain] = max(self.cards[strain], size)
        self.bounded(min(6 + 3 * level, 15), self.most)

    def bounded(self, low: int, high: int) -> None:
        """Narrow the range of points; a call that contradicts an earlier one counts more."""
        self.points = max(self.points, low)
        self.most = min(self.most, high)
        if self.most < self.points:
            if low > self.most:
                self.most = self.points + 3
            else:
                self.points = self.most

    def shortfall(self, hand: Hand) -> int:
        """Return by how much a hand misses what has been shown; 0 if it fits."""
        points: int = hand.high if self.fit < 0 else hand.with_fit(self.fit, False)
        missed: int = 0
        for suit in range(4):
            missed += 2 * max(0, self.cards[suit] - hand.size[suit])
            missed += 2 * max(0, hand.size[suit] - self.limits[suit])
        return missed + max(0, self.points - points) + max(0, points - self.most)
