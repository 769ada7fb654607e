"""A ladder that is played: whoever is connected is paired, until an organiser ends it.

What it knows of a bot (when it came, when it last had room, how often it played) it has seen
itself since the server's start; who met whom is rebuilt from the stored pairings.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition.facts import Outcome, Pairing
from plyhouse.server.competition.ladder import Ladder, Rung
from plyhouse.server.house.participants import Participant

__all__ = ["LadderWork"]

USUAL: Final = 1500.0
"""The rating of who has none yet, in Elo."""
UNKNOWN: Final = 350.0
"""The standard error of the rating of who has not played, in Elo; it falls with the root of the
pairings that it has played."""


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
    ) -> None:
        """``rating_of`` is asked for a version, ``now`` for monotonic nanoseconds."""
        self._ladder = ladder
        self._bots = list(bots)
        self._participants = participants
        self._rating_of = rating_of
        self._now = now
        self._seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        numbers = [int(key[1:]) for key in begun if key[1:].isdecimal()]
        self._begun = max(numbers, default=0)
        self._met: Counter[frozenset[int]] = Counter(frozenset(pair) for pair in begun.values())
        self._played: Counter[int] = Counter(bot for pair in begun.values() for bot in pair)
        self._seen: dict[int, _Seen] = {}
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
        return self._met.total() * self.at_once

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
        self._begun += len(taken)
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
        rating = self._rating_of(participant.version_id)
        return Rung(
            bot,
            USUAL if rating is None else rating,
            UNKNOWN / math.sqrt(1 + self._played[bot]),
            *(seen.played, seen.came_ns, seen.free_ns, has_room, seen.last),
        )

    def ended(self, outcome: Outcome[int]) -> None:
        """A pairing is finished, which the ratings know."""

    def withdraw(self, entry: int) -> None:
        """Pair a bot no more."""
        if entry in self._bots:
            self._bots.remove(entry)
