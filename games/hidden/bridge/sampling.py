"""Random deals that agree with what a seat knows: its cards, the cards played, voids shown.

A seat that did not follow suit has none of that suit.  All deals without such cards are equally
likely.  `Unseen` counts them suit by suit: the number of ways to deal the suits from one on depends
only on the room left in each hand.  So a deal is drawn without ever trying one in vain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from plyhouse.games.hidden.bridge.cards import BITS, PACK

if TYPE_CHECKING:
    import random

__all__ = ["Unseen"]

_FACTORIALS: Final[list[float]] = [1.0]
for _number in range(1, 14):
    _FACTORIALS.append(_FACTORIALS[_number - 1] * float(_number))

_SIDE: Final = 14
"""Room in a hand is 0 to 13."""


@final
class Unseen:
    """The cards that nobody has shown, and how they may lie.

    ``known`` are cards of each seat, ``room`` the number of others that it has, and ``voids`` the
    suits that it cannot have, as bits.  Cards that find no room are still in the pack, as during
    the deal.
    """

    def __init__(
        self, known: tuple[int, ...], room: tuple[int, ...], voids: tuple[int, ...]
    ) -> None:
        self.known = known
        self.room = room
        taken: int = known[0] | known[1] | known[2] | known[3]
        self.cards: list[int] = [card for card in range(PACK) if not taken & BITS[card]]
        self.seats: list[int] = [seat for seat in range(4) if room[seat] > 0]
        self.barred: list[int] = [0, 0, 0, 0]
        """By suit the seats that have none of it, as bits."""
        self.constrained: bool = False
        for seat in self.seats:
            for suit in range(4):
                if voids[seat] >> suit & 1:
                    self.barred[suit] |= 1 << seat
                    self.constrained = True
        self.sizes: list[int] = [
            len([card for card in self.cards if card // 13 == suit]) for suit in range(4)
        ]
        self.ways: dict[int, float] = {}
        """Ways to deal the suits from one on, by that suit and the room left."""

    def deal(self, rng: random.Random) -> tuple[int, ...]:
        """Return a hand for each seat, known cards included."""
        hands: list[int] = list(self.known)
        if not self.constrained:
            cards: list[int] = list(self.cards)
            rest: int = len(cards)
            for seat in self.seats:
                for _ in range(self.room[seat]):
                    place: int = int(rng.random() * rest)
                    rest -= 1
                    hands[seat] |= BITS[cards[place]]
                    cards[place] = cards[rest]
            return (hands[0], hands[1], hands[2], hands[3])
        room: tuple[int, ...] = self.room
        for suit in range(4):
            taken: tuple[int, ...] = self.drawn_split(suit, room, rng)
            cards = [card for card in self.cards if card // 13 == suit]
            rest = len(cards)
            for seat in range(4):
                for _ in range(taken[seat]):
                    place = int(rng.random() * rest)
                    rest -= 1
                    hands[seat] |= BITS[cards[place]]
                    cards[place] = cards[rest]
            room = _less(room, taken)
        return (hands[0], hands[1], hands[2], hands[3])

    def drawn_split(self, suit: int, room: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
        """Return how many cards of a suit each seat gets, by the number of deals behind it."""
        left: float = rng.random() * self.count(suit, room)
        found: tuple[int, ...] = (0, 0, 0, 0)
        for split in self.splits(suit, room):
            ways: float = self.weight(suit, split) * self.count(suit + 1, _less(room, split))
            if ways > 0.0:
                found = split
                left -= ways
                if left < 0.0:
                    break
        return found

    def count(self, suit: int, room: tuple[int, ...]) -> float:
        """Return the number of ways to deal the suits from ``suit`` on into the room left."""
        if suit == 4:
            return 1.0
        key: int = suit
        for each in room:
            key = key * _SIDE + each
        found = self.ways.get(key)
        if found is None:
            found = 0.0
            for split in self.splits(suit, room):
                found += self.weight(suit, split) * self.count(suit + 1, _less(room, split))
            self.ways[key] = found
        return found

    def weight(self, suit: int, split: tuple[int, ...]) -> float:
        """Return the number of ways to choose the cards of a suit for the seats."""
        found: float = _FACTORIALS[self.sizes[suit]]
        for number in split:
            found /= _FACTORIALS[number]
        return found

    def splits(self, suit: int, room: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return all ways to share out the number of cards of a suit among the seats."""
        most: list[int] = [0 if self.barred[suit] >> seat & 1 else room[seat] for seat in range(4)]
        size: int = self.sizes[suit]
        found: list[tuple[int, ...]] = []
        for north in range(min(most[0], size) + 1):
            for east in range(min(most[1], size - north) + 1):
                for south in range(min(most[2], size - north - east) + 1):
                    west: int = size - north - east - south
                    if west <= most[3]:
                        found.append((north, east, south, west))
        return found


def _less(room: tuple[int, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
    """Return the room that is left."""
    return (room[0] - taken[0], room[1] - taken[1], room[2] - taken[2], room[3] - taken[3])
