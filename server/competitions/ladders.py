"""A running ladder: it pairs connected bots until an organiser ends it.

It observes when a bot connected, when it last had room and how often it played, and starts afresh
with the server.  Past opponents are rebuilt from the stored pairings.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition_rules.formats import Pairing, PairingOutcome
from plyhouse.server.competition_rules.ladder import Ladder, Rung
from plyhouse.server.competition_rules.pairing_queue import PairingQueue
from plyhouse.server.match.presence import Presence

USUAL: Final = 1500.0
"""The rating assumed for a bot without one, in Elo."""
UNKNOWN: Final = 350.0
"""The standard error of the rating of a bot that has not played, in Elo.  It falls with the square
root of the number of pairings played."""

STEP: Final = 48.0
"""The largest change of a bot's strength by one pairing that ratings do not include, in Elo."""


def _number(key: str) -> int:
    """Return the number of a pairing from its key, such as ``l7``."""
    return int(key[1:]) if key[1:].isdecimal() else 0


@dataclass(slots=True)
class _Seen:
    """The observations of a connected bot."""

    connection: int
    came_ns: int
    free_ns: int
    played: int = 0
    last: int | None = None


class LadderQueue(PairingQueue[int]):
    """The pairings of a ladder."""

    over = False

    def __init__(
        self,
        ladder: Ladder,
        bots: Iterable[int],
        begun: Mapping[str, Sequence[int]],
        presences: Mapping[int, Presence],
        rating_of: Callable[[int], float | None],
        now: Callable[[], int],
        name: str,
        *,
        rated: bool = True,
        finished: Mapping[str, PairingOutcome[int]] | None = None,
        replaced: Collection[str] = (),
        rest: Callable[[int], int] | None = None,
    ) -> None:
        """Take the bots of a ladder and the pairings that it has begun.

        ``rating_of`` takes a version id; ``now`` gives monotonic nanoseconds.

        If the matches are not ``rated``, the ladder tracks the strengths of its bots itself,
        starting with the pairings in ``finished``.  Versions that are no longer entered played the
        pairings with the keys ``replaced``, so these say nothing about the bots.

        ``rest`` returns the nanoseconds between two pairings that a bot requests, given the number
        of pairings that its version has begun.  None means no rest.
        """
        super().__init__()
        self._ladder = ladder
        self._bots = list(bots)
        self._presences = presences
        self._rating_of = rating_of
        self._now = now
        self._seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        numbers = [int(key[1:]) for key in begun if key[1:].isdecimal()]
        self._begun = max(numbers, default=0)
        present = [pair for key, pair in begun.items() if key not in replaced]
        self._total = len(begun)
        self._rest = rest
        self._rests: dict[int, int] = {}
        """The time until which each bot rests, in nanoseconds."""
        self._met: Counter[frozenset[int]] = Counter(frozenset(pair) for pair in present)
        self._played: Counter[int] = Counter(bot for pair in present for bot in pair)
        self._since: dict[int, int] = {}
        """The number of the last pairing that began before a bot got its current version."""
        self._seen: dict[int, _Seen] = {}
        self._rated = rated
        self._moved: defaultdict[int, float] = defaultdict(float)
        """The change of each bot's strength by results here, in Elo; always 0 if the ladder is
        rated."""
        for outcome in sorted((finished or {}).values(), key=lambda each: _number(each.key)):
            if outcome.key not in replaced:
                self.ended(outcome)
        self.idle = False
        """True if bots had room and wait for another opponent, so that another look can help."""

    def __len__(self) -> int:
        """Return 0: a ladder knows no pairings in advance."""
        return 0

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self._ladder.at_once

    @property
    def planned(self) -> int:
        """The number of matches begun so far; more will follow."""
        return self._total * self.at_once

    @property
    def bots(self) -> list[int]:
        """The bots that are paired when they are connected."""
        return list(self._bots)

    def played(self, bot: int) -> int:
        """Return how many pairings of a bot have begun."""
        return self._played[bot]

    def entries(self) -> list[int]:
        """Return no bots: a ladder waits for none in particular."""
        return []

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """Return no pairings: a ladder draws one when two bots have room."""
        return []

    def take(
        self, room: Callable[[int], int], freed: Iterable[int] | None = None, *, limit: int
    ) -> list[Pairing[int]]:
        """Pair the connected bots; return at most ``limit`` pairings."""
        now = self._now()
        rungs = [rung for bot in self._bots if (rung := self._rung(bot, room(bot), now))]
        taken = self._ladder.pairs(
            rungs, now, begun=self._begun, seed=self._seed, met=self._met, limit=limit
        )
        for pairing in taken:
            one, other = pairing.entries
            self._met[frozenset(pairing.entries)] += 1
            for bot, opponent in ((one, other), (other, one)):
                self._seen[bot].played += 1
                self._seen[bot].last = opponent
                self._played[bot] += 1
                if self._rest is not None:
                    self._rests[bot] = now + self._rest(self._played[bot])
        self._begun += len(taken)
        self._total += len(taken)
        self.idle = len(taken) < limit and sum(each.room for each in rungs) - 2 * len(taken) > 1
        return taken

    def _rung(self, bot: int, free: int, now: int) -> Rung[int] | None:
        """Return the rung of a connected bot; None if the bot is away."""
        presence = self._presences.get(bot)
        if presence is None or not presence.online:
            self._seen.pop(bot, None)
            return None
        seen = self._seen.get(bot)
        if seen is None or seen.connection != presence.connection:
            seen = self._seen[bot] = _Seen(presence.connection, now, now)
        has_room = free >= self.at_once
        if not has_room:
            seen.free_ns = now
        return Rung(
            bot,
            self._strength(bot),
            UNKNOWN / math.sqrt(1 + self._played[bot]),
            played=seen.played,
            came_ns=seen.came_ns,
            free_ns=seen.free_ns,
            room=has_room,
            last=seen.last,
            resting=self._rests.get(bot, 0) > now,
        )

    def ended(self, outcome: PairingOutcome[int]) -> None:
        """Add a finished pairing to the strengths if the ladder is unrated.

        The leaderboard ratings include rated pairings already.
        """
        if self._rated or outcome.void or len(outcome.entries) != 2:
            return
        one, other = outcome.entries
        number = _number(outcome.key)
        if number <= max(self._since.get(one, 0), self._since.get(other, 0)):
            return  # A version that has been replaced since played this pairing.
        ahead = self._strength(one) - self._strength(other)
        expected = 1.0 / (1.0 + 10.0 ** (-ahead / 400.0))
        moved = STEP * (outcome.share(one) - expected)
        self._moved[one] += moved
        self._moved[other] -= moved

    def _strength(self, bot: int) -> float:
        """Return the strength by which a bot is paired, in Elo."""
        presence = self._presences.get(bot)
        rating = None if presence is None else self._rating_of(presence.version_id)
        return (USUAL if rating is None else rating) + self._moved[bot]

    def withdraw(self, entry: int) -> None:
        """Stop pairing a bot."""
        if entry in self._bots:
            self._bots.remove(entry)

    def enter(self, bot: int, *, fresh: bool) -> None:
        """Pair a bot; ``fresh`` means that it has another, unknown version."""
        if bot not in self._bots:
            self._bots.append(bot)
        if fresh:
            self._since[bot] = self._begun
            self._moved.pop(bot, None)
            self._played.pop(bot, None)
            self._rests.pop(bot, None)
            for pair in [pair for pair in self._met if bot in pair]:
                del self._met[pair]
