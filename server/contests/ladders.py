"""A ladder that is played: whoever is connected is paired, until an organiser ends it.

What it knows of a bot (when it came, when it last had room, how often it played) it has seen
itself since the server's start; who met whom is rebuilt from the stored pairings.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition.facts import Outcome, Pairing
from plyhouse.server.competition.ladder import Ladder, Rung
from plyhouse.server.table.participants import Participant

__all__ = ["LadderWork"]

USUAL: Final = 1500.0
"""The rating of who has none yet, in Elo."""
UNKNOWN: Final = 350.0
"""The standard error of the rating of who has not played, in Elo; it falls with the root of the
pairings that it has played."""

STEP: Final = 48.0
"""Elo that a pairing moves a bot by at most where the ratings do not know of it."""


def _number(key: str) -> int:
    """The number of a pairing by its key, ``l7``."""
    return int(key[1:]) if key[1:].isdecimal() else 0


@dataclass(slots=True)
class _Seen:
    """What was seen of a connected bot."""

    line: object
    came_ns: int
    free_ns: int
    played: int = 0
    last: int | None = None


class LadderWork:
    """The pairings of a ladder; as `plyhouse.server.competition.progress.Progress`."""

    stale = False
    over = False
    reused_matches = 0

    def __init__(
        self,
        ladder: Ladder,
        bots: Iterable[int],
        begun: Mapping[str, Sequence[int]],
        participants: Mapping[int, Participant],
        rating_of: Callable[[int], float | None],
        now: Callable[[], int],
        name: str,
        *,
        rated: bool = True,
        finished: Mapping[str, Outcome[int]] | None = None,
        replaced: Collection[str] = (),
        rest: Callable[[int], int] | None = None,
    ) -> None:
        """``rating_of`` is asked for a version, ``now`` for monotonic nanoseconds.

        If what is played here is not ``rated``, it keeps account of it itself, for itself alone,
        beginning with the pairings that are ``finished``.  Pairings with the keys ``replaced``
        were played by versions that are no longer entered, and say nothing of the bots.

        ``rest`` gives the nanoseconds between two pairings for which a bot asks, from the number
        of pairings that its version has begun; None: no rest.
        """
        self._ladder = ladder
        self._bots = list(bots)
        self._participants = participants
        self._rating_of = rating_of
        self._now = now
        self._seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        numbers = [int(key[1:]) for key in begun if key[1:].isdecimal()]
        self._begun = max(numbers, default=0)
        present = [pair for key, pair in begun.items() if key not in replaced]
        self._total = len(begun)
        self._rest = rest
        self._rests: dict[int, int] = {}
        """Until when bots rest, in nanoseconds."""
        self._met: Counter[frozenset[int]] = Counter(frozenset(pair) for pair in present)
        self._played: Counter[int] = Counter(bot for pair in present for bot in pair)
        self._since: dict[int, int] = {}
        """The number of the last pairing that was begun before a bot got its present version."""
        self._seen: dict[int, _Seen] = {}
        self._rated = rated
        self._moved: defaultdict[int, float] = defaultdict(float)
        """By how much results here moved a bot from its rating, in Elo; nothing if it is rated."""
        for outcome in sorted((finished or {}).values(), key=lambda each: _number(each.key)):
            if outcome.key not in replaced:
                self.ended(outcome)
        self.idle = False
        """Whether bots had room and wait for another opponent: then to look again helps."""

    def __len__(self) -> int:
        """Nothing is known beforehand."""
        return 0

    @property
    def at_once(self) -> int:
        """Matches of a pairing."""
        return self._ladder.at_once

    @property
    def planned(self) -> int:
        """What has begun; more will."""
        return self._total * self.at_once

    @property
    def bots(self) -> list[int]:
        """The bots that are paired when they are here."""
        return list(self._bots)

    def played(self, bot: int) -> int:
        """Return how many pairings of a bot have begun."""
        return self._played[bot]

    def entries(self) -> list[int]:
        """Nobody in particular is waited for."""
        return []

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """None is known: it is drawn at the moment when two have room."""
        return []

    def take(
        self, room: Callable[[int], int], freed: Iterable[int] | None = None, *, limit: int
    ) -> list[Pairing[int]]:
        """Pair those who are here, at most so many pairings."""
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
        """A bot that is here; None for who is away."""
        participant = self._participants.get(bot)
        if participant is None or participant.line is None:
            self._seen.pop(bot, None)
            return None
        seen = self._seen.get(bot)
        if seen is None or seen.line is not participant.line:
            seen = self._seen[bot] = _Seen(participant.line, now, now)
        has_room = free >= self.at_once
        if not has_room:
            seen.free_ns = now
        return Rung(
            bot,
            self._strength(bot),
            UNKNOWN / math.sqrt(1 + self._played[bot]),
            *(seen.played, seen.came_ns, seen.free_ns, has_room, seen.last),
            resting=self._rests.get(bot, 0) > now,
        )

    def ended(self, outcome: Outcome[int]) -> None:
        """A pairing is finished, which the ratings know unless it is unrated."""
        if self._rated or outcome.void or len(outcome.entries) != 2:
            return
        one, other = outcome.entries
        number = _number(outcome.key)
        if number <= max(self._since.get(one, 0), self._since.get(other, 0)):
            return  # a version played that has been replaced since
        ahead = self._strength(one) - self._strength(other)
        expected = 1.0 / (1.0 + 10.0 ** (-ahead / 400.0))
        moved = STEP * (outcome.share(one) - expected)
        self._moved[one] += moved
        self._moved[other] -= moved

    def _strength(self, bot: int) -> float:
        """What a bot is paired by, in Elo."""
        participant = self._participants.get(bot)
        rating = None if participant is None else self._rating_of(participant.version_id)
        return (USUAL if rating is None else rating) + self._moved[bot]

    def withdraw(self, entry: int) -> None:
        """Pair a bot no more."""
        if entry in self._bots:
            self._bots.remove(entry)

    def enter(self, bot: int, *, fresh: bool) -> None:
        """Pair a bot; ``fresh``: with another version, of which nothing is known."""
        if bot not in self._bots:
            self._bots.append(bot)
        if fresh:
            self._since[bot] = self._begun
            self._moved.pop(bot, None)
            self._played.pop(bot, None)
            self._rests.pop(bot, None)
            for pair in [pair for pair in self._met if bot in pair]:
                del self._met[pair]
