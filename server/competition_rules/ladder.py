"""Ladder: an endless format that pairs connected bots for information.

A match tells much about two bots if its result is open and if little is known about them.  Let
``p`` be the probability of a result, and ``v`` the variance with which the difference in strength
is known.  The result then tells about ``log(1 + v p (1 - p)) / 2`` nats: the information gain of a
logistic model, as in Chaloner and Verdinelli, "Bayesian experimental design: a review" (1995).
``p`` is softened by the uncertainty as in Glickman's Glicko.  So near ratings meet, and newcomers
meet everybody.

No bot starves: the bot with the fewest pairings for its time on the ladder chooses first.  Even if
all others chose the same few opponents, every bot would still have half of the turns.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import ClassVar, Final, Generic, NoReturn, TypeVar

from plyhouse.server.competition_rules.formats import MANY_SEATS, FormatError, Pairing

EntryT = TypeVar("EntryT", bound=Hashable)

SCALE: Final = math.log(10) / 400
"""Natural units of a rating difference per Elo."""
NEAREST: Final = 16
"""The number of free opponents considered above and below, by rating."""
UNCERTAIN: Final = 8
"""The number of others considered: those with the largest errors."""


@dataclass(frozen=True, slots=True)
class Rung(Generic[EntryT]):
    """A connected bot."""

    entry: EntryT
    rating: float
    """The rating in Elo."""
    error: float
    """The standard error of the rating in Elo; some hundreds for a bot without matches."""
    played: int
    """Pairings of the ladder that it has begun since it connected."""
    came_ns: int
    """The time when it connected."""
    free_ns: int
    """The time since when it has had room for a pairing; if ``room`` is False, the time when it
    will."""
    room: bool = True
    """True if it can begin a pairing now."""
    last: EntryT | None = None
    """Its last opponent."""
    resting: bool = False
    """True if it requests no pairing; others may still choose it."""


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """A ladder of a game of two seats."""

    name: ClassVar[str] = "ladder"
    many_seats: ClassVar[bool] = False
    by_score: ClassVar[bool] = False
    repeats: ClassVar[bool] = False
    rule_of_places: ClassVar[str] = "ratings fitted to the matches of the ladder"
    column: ClassVar[str] = "rating"
    seats: int = 2
    mirrored: bool = True
    patience: float = 10.0
    """Seconds for which a bot waits for an opponent other than its last one, while there are any.
    """

    def __post_init__(self) -> None:
        if self.seats != 2:
            raise FormatError(
                f"a ladder pairs two seats, and the game has {self.seats}: use {MANY_SEATS}"
            )
        if not self.patience >= 0:
            raise FormatError(f"patience must be 0 or more seconds, not {self.patience}")

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.seats if self.mirrored else 1

    def count(self, entries: int, baselines: int = 0) -> NoReturn:
        """Raise `FormatError`, because a ladder has no end."""
        raise FormatError(
            "a ladder goes on as long as bots are connected; cap the matches that run at a time"
        )

    def pairs(
        self,
        connected: Sequence[Rung[EntryT]],
        now_ns: int,
        *,
        begun: int,
        seed: int,
        met: Mapping[frozenset[EntryT], int] | None = None,
        limit: int | None = None,
    ) -> list[Pairing[EntryT]]:
        """Return the pairings to begin now, at most ``limit``, each entry once.

        ``connected`` are all connected bots, including those without room.  ``begun`` is the number
        of pairings that the ladder has begun; it numbers the keys.  ``met`` counts how often two
        bots have met, over a period that the caller chooses.  The same arguments give the same
        pairings.
        """
        random = Random(f"{seed}:{begun}")
        pace = {each.entry: _pace(each, now_ns) for each in connected}
        usual = median(pace.values()) if pace else 0.0
        free = sorted(
            (each for each in connected if each.room), key=lambda e: (e.rating, str(e.entry))
        )
        chance = {each.entry: random.random() for each in free}
        choosers = sorted(
            range(len(free)), key=lambda i: (pace[free[i].entry], chance[free[i].entry])
        )
        near = _Chain(len(free))
        unsure = sorted(range(len(free)), key=lambda i: -free[i].error)
        counts = met or {}

        def worth(one: Rung[EntryT], other: Rung[EntryT]) -> float:
            again = counts.get(frozenset((one.entry, other.entry)), 0)
            busy = pace[other.entry] / usual if usual else 1.0
            return information(one, other) / (1 + again) / (0.5 + busy)

        pairings: list[Pairing[EntryT]] = []
        for chooser in choosers:
            if limit is not None and len(pairings) >= limit:
                break
            if chooser in near.gone or free[chooser].resting:
                continue
            one = free[chooser]
            others = near.around(chooser, NEAREST)
            others += [i for i in unsure if i != chooser and i not in near.gone][:UNCERTAIN]
            fit = [i for i in others if not self._again(one, free[i], len(connected), now_ns)]
            if not fit:
                continue
            # The drawn number decides between equals, so that the seed decides.
            best = max(fit, key=lambda i: (worth(one, free[i]), chance[free[i].entry]))
            near.remove(chooser)
            near.remove(best)
            pair = (one.entry, free[best].entry)
            if random.random() < 0.5:
                pair = pair[::-1]
            matches = (pair, pair[::-1]) if self.mirrored else (pair,)
            number = begun + len(pairings)
            pairings.append(Pairing(f"l{number + 1}", number, matches))
        return pairings

    def _again(self, one: Rung[EntryT], other: Rung[EntryT], connected: int, now_ns: int) -> bool:
        """Return whether two bots have just met and should wait for others."""
        if connected < 3 or one.last != other.entry or other.last != one.entry:
            return False
        return now_ns - max(one.free_ns, other.free_ns) < self.patience * 1e9


def information(one: Rung[EntryT], other: Rung[EntryT]) -> float:
    """Return the information in a match about the bots' difference, in nats.

    >>> known, unknown = Rung("a", 1500, 30, 0, 0, 0), Rung("b", 1500, 300, 0, 0, 0)
    >>> far = Rung("c", 2100, 30, 0, 0, 0)
    >>> information(known, unknown) > information(known, known) > information(known, far)
    True
    """
    variance = SCALE**2 * (one.error**2 + other.error**2)
    softened = SCALE * (one.rating - other.rating) / math.sqrt(1 + 3 * variance / math.pi**2)
    chance = 0.5 * (1.0 + math.tanh(0.5 * softened))
    return 0.5 * math.log1p(variance * chance * (1.0 - chance))


def _pace(rung: Rung[EntryT], now_ns: int) -> float:
    """Return pairings per second since the bot came; 0 for a new bot."""
    return rung.played / max((now_ns - rung.came_ns) / 1e9, 1e-9) if rung.played else 0.0


class _Chain:
    """A chain of neighbours from which places are removed."""

    def __init__(self, count: int) -> None:
        self.gone: set[int] = set()
        self._next = list(range(1, count + 1))
        self._before = list(range(-1, count - 1))
        self._count = count

    def remove(self, place: int) -> None:
        before, after = self._before[place], self._next[place]
        if before >= 0:
            self._next[before] = after
        if after < self._count:
            self._before[after] = before
        self.gone.add(place)

    def around(self, place: int, many: int) -> list[int]:
        """Return up to ``many`` remaining places on each side, the nearest first."""
        found = []
        for steps, end in ((self._next, self._count), (self._before, -1)):
            here = steps[place]
            for _ in range(many):
                if here == end:
                    break
                found.append(here)
                here = steps[here]
        return found
