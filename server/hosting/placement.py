"""The hosting plan: which machine hosts which bot and makes which check.

`decide` takes the machines that called lately, the needs and its own last answer, and returns a new
plan.  It remembers nothing else, so the next plan repairs any loss.  A bot is on one machine at
most, and stays there while it can.  An idle bot moves if its machine has no processor left and
another machine has fewer bots for its processors.

Processors are given by priority: first to checks of submissions, then to finals, then to
rehearsals.  People who play against a hosted bot come next.  Ladders come last, because they always
have another match to play.  A waiting check keeps one processor free of all others.  A final does
not wait for matches of rehearsals and people.  It begins beside them on their processor, and their
bots yield (`Priority.nice`).  A match of a ladder keeps its processor until it ends, because the
rating of a bot on half a processor means nothing.  No other ladder match begins while anything else
waits.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

MOST_LOST: Final = 0.25
"""The share of a bot's time that its machine may give to others before a flag fall is excused."""


class Priority(IntEnum):
    """The purpose for which a bot is needed; a lower value goes first."""

    FINAL = 1
    REHEARSAL = 2
    INTERACTIVE = 3
    LADDER = 4

    @property
    def nice(self) -> int:
        """The niceness of its processes, in addition to that of all hosted bots."""
        return {Priority.REHEARSAL: 10, Priority.INTERACTIVE: 19}.get(self, 0)

    def has_to_wait_for(self, running: Priority) -> bool:
        """Return whether a match needs a processor on which a match of ``running`` is played."""
        return running <= self or running is Priority.LADDER


@dataclass(frozen=True, slots=True)
class Machine:
    """A runner that called lately."""

    id: str
    cores: int
    """Processors for bots that think: the number of matches with alternating moves at a time."""
    bots: int
    """The number of bots that fit in its memory."""
    busy: int = 0
    """The number of processors that matches of its bots need now."""


@dataclass(frozen=True, slots=True)
class Need:
    """A bot that must be hosted, with one version."""

    bot: int
    version: int
    priority: Priority = Priority.FINAL
    not_on: frozenset[str] = frozenset()
    """Machines that could not run it just now, or lack what it needs."""
    idle: bool = False
    """True if it plays no match now and can be moved."""
    playing: bool = False
    """True while it plays a match of a competition and therefore keeps its place."""
    turn: int = 0
    """Its turns so far: where there is no room for all, a bot with fewer turns goes first."""


@dataclass(frozen=True, slots=True)
class Place:
    """The machine that hosts a version of a bot."""

    machine: str
    version: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The assignment of bots and checks to machines."""

    bots: Mapping[int, Place] = field(default_factory=dict)
    """Places by bot id."""
    checks: Mapping[int, str] = field(default_factory=dict)
    """Machines by submission id."""
    waiting: tuple[int, ...] = ()
    """Bots without a machine."""
    held: Mapping[str, int] = field(default_factory=dict)
    """Processors reserved for checks, by machine: for checks in progress and for waiting ones."""
    yielding: frozenset[int] = frozenset()
    """Bots that begin no more matches, because others wait for their places."""


def decide(
    machines: Collection[Machine],
    needs: Collection[Need],
    checks: Sequence[int],
    before: Plan = Plan(),
    *,
    unfit: Mapping[int, Collection[str]] | None = None,
    later: Collection[int] = (),
) -> Plan:
    """Assign bots and checks to machines; ``checks`` are in submission order.

    ``unfit`` are the machines that could not check a submission just now.  Checks in ``later``
    yield to all others, even if they have begun.

    >>> one, two = Machine("one", 2, 10), Machine("two", 2, 10)
    >>> plan = decide([one, two], [Need(7, 70), Need(8, 80)], [])
    >>> [(bot, place.machine) for bot, place in plan.bots.items()]
    [(7, 'one'), (8, 'two')]
    >>> [(bot, place.machine) for bot, place in decide([two], [Need(7, 70)], [], plan).bots.items()]
    [(7, 'two')]
    """
    here = {machine.id: machine for machine in machines}
    made, held = _check(here, checks, before.checks, unfit or {}, later)
    placed, waiting = _place(here, needs, before.bots)
    crowded = {each.id for each in machines if each.busy + held.get(each.id, 0) >= each.cores}
    if _spread(here, {need.bot: need for need in needs}, placed, crowded) and waiting:
        placed, waiting = _place(here, needs, placed)  # The bots that moved have left room.
    waits = set(waiting)
    first = [need for need in needs if need.bot in waits]
    yielding = [
        need.bot
        for need in needs
        if need.playing and need.bot in placed
        if any(_goes_before(each, need, placed[need.bot].machine) for each in first)
    ]
    return Plan(dict(sorted(placed.items())), made, tuple(waiting), held, frozenset(yielding))


def _goes_before(waiting: Need, other: Need, machine: str) -> bool:
    """Return whether a bot gets the place of another that stops playing."""
    earlier = (waiting.priority, waiting.turn) < (other.priority, other.turn)
    return earlier and machine not in waiting.not_on


def _place(
    here: Mapping[str, Machine], needs: Collection[Need], before: Mapping[int, Place]
) -> tuple[dict[int, Place], list[int]]:
    def group_of(need: Need) -> tuple[bool, Priority, int]:
        return not need.playing, need.priority, need.turn

    order = sorted(needs, key=lambda need: (group_of(need), need.bot))
    load: Counter[str] = Counter()
    placed: dict[int, Place] = {}
    waiting: list[int] = []

    def fits(need: Need, machine: str) -> bool:
        known = here.get(machine)
        return known is not None and load[machine] < known.bots and machine not in need.not_on

    for _, group in itertools.groupby(order, key=group_of):
        equals = list(group)
        for need in equals:  # A bot that fits its current machine stays there.
            place = before.get(need.bot)
            if place is not None and need.bot not in placed and fits(need, place.machine):
                placed[need.bot] = Place(place.machine, need.version)
                load[place.machine] += 1
        for need in equals:
            if need.bot in placed or need.bot in waiting:
                continue
            able = [machine for machine in here.values() if fits(need, machine.id)]
            if not able:
                waiting.append(need.bot)
                continue
            best = min(able, key=lambda each: (load[each.id] / max(1, each.cores), each.id))
            placed[need.bot] = Place(best.id, need.version)
            load[best.id] += 1
    return placed, waiting


def _spread(
    here: Mapping[str, Machine],
    needs: Mapping[int, Need],
    placed: dict[int, Place],
    crowded: Collection[str],
) -> bool:
    """Move idle bots from machines without a free processor to others.

    Returns whether any bot moved.  A target machine has fewer bots for its processors.  Each move
    leaves less to the busier of the two machines, so the moves end, and none goes back.
    """
    load = Counter(place.machine for place in placed.values())

    def share(machine: str, more: int = 0) -> float:
        return (load[machine] + more) / max(1, here[machine].cores)

    def best(bot: int) -> str | None:
        home = placed[bot].machine
        able = [
            each.id
            for each in here.values()
            if each.id not in crowded and each.id not in needs[bot].not_on
            if load[each.id] < each.bots and share(each.id, 1) < share(home)
        ]
        return min(able, key=lambda name: (share(name, 1), name), default=None)

    moved = False
    idle = [bot for bot in sorted(placed) if needs[bot].idle and placed[bot].machine in crowded]
    for bot in idle:
        target = best(bot)
        if target is not None:
            moved = True
            load[placed[bot].machine] -= 1
            load[target] += 1
            placed[bot] = Place(target, placed[bot].version)
    return moved


def _check(
    here: Mapping[str, Machine],
    checks: Sequence[int],
    before: Mapping[int, str],
    unfit: Mapping[int, Collection[str]],
    later: Collection[int],
) -> tuple[dict[int, str], dict[str, int]]:
    """Give each machine one check at a time, on a processor no match needs."""
    made: dict[int, str] = {}
    held: Counter[str] = Counter()
    giving_way = {machine for submission, machine in before.items() if submission in later}
    for group in (
        [each for each in checks if each not in later],
        [each for each in checks if each in later],
    ):
        for submission in group:
            machine = before.get(submission, "")
            known = machine in here and machine not in unfit.get(submission, ())
            if known and not held[machine]:
                made[submission] = machine
                held[machine] = 1
        for submission in group:
            if submission in made:
                continue
            able = [
                machine
                for machine in here.values()
                if not held[machine.id] and machine.id not in unfit.get(submission, ())
            ]
            if not able:
                continue
            best = min(
                able, key=lambda each: (each.busy - each.cores, each.id in giving_way, each.id)
            )
            held[best.id] = 1  # The machine keeps this processor free for the check.
            if best.busy < best.cores:
                made[submission] = best.id
    return made, {machine: count for machine, count in held.items() if count}


def room_for_matches(machine: Machine, held: int, *, cores_each: int, at_once: int) -> int:
    """Return how many matches of ``cores_each`` may begin on a machine.

    A pairing begins with all of its matches, ``at_once``.  On an idle machine it may begin even if
    its matches share processors, because it could never be played otherwise.

    >>> room_for_matches(Machine("one", 4, 10, busy=1), 1, cores_each=1, at_once=2)
    2
    >>> room_for_matches(Machine("one", 1, 10), 0, cores_each=1, at_once=2)
    2
    >>> room_for_matches(Machine("one", 1, 10), 1, cores_each=1, at_once=2)
    0
    """
    free = (machine.cores - held - machine.busy) // max(1, cores_each)
    if machine.busy == 0 and held < max(1, machine.cores):
        return max(free, at_once)
    return max(0, free)


@dataclass(frozen=True, slots=True)
class LostTime:
    """The time that a machine withheld from a bot before its flag fell, in ns.

    ``allowed`` is the bot's clock at that ply.  ``lost`` of that time went to other processes, and
    for ``slept`` the bot wanted no processor.  ``match_wall`` and ``match_lost`` are the first two
    summed over all its plies in the match.

    >>> LostTime(allowed=1000, lost=300, match_wall=9000, match_lost=300).excuses(kept=False)
    True
    >>> early = LostTime(allowed=1000, lost=0, match_wall=9000, match_lost=4000)
    >>> early.excuses(kept=True), early.excuses(kept=False)
    (True, False)
    >>> LostTime(1000, 300, match_wall=1000, match_lost=300, slept=600).excuses(kept=False)
    False
    """

    allowed: int
    lost: int
    match_wall: int
    match_lost: int
    slept: int = 0

    def excuses(self, *, kept: bool) -> bool:
        """Return whether the machine, not the bot, lost this match.

        With ``kept``, unused time is kept for later plies, so time lost at earlier plies counts
        too.  A bot that slept for as long as its machine was busy could have used that time, and
        has no excuse.  Without a known allowance there is no excuse either.
        """
        if self.allowed <= 0:
            return False
        here = self.lost > MOST_LOST * self.allowed and self.lost > self.slept
        before = self.match_lost > MOST_LOST * self.match_wall and self.match_lost > self.slept
        return here or (kept and before)


REST_NS: Final = 60 * 1_000_000_000
"""How long a machine does not get again what failed there, in nanoseconds."""

MOST_HEARD: Final = 10_000
"""Number of reports whose ids are remembered."""


@dataclass(slots=True)
class RunnerFailures:
    """Failures by machine, and until when the machine does not get it again."""

    until: dict[tuple[int, str], int] = field(default_factory=dict)
    """By the id of a version or submission, and the machine."""
    count: dict[int, int] = field(default_factory=dict)
    _heard: dict[str, None] = field(default_factory=dict)
    """Ids of reports."""

    def is_new(self, report: str) -> bool:
        """Note the id of a report; return whether it is new, as an empty one always is."""
        if not report:
            return True
        if report in self._heard:
            return False
        self._heard[report] = None
        if len(self._heard) > MOST_HEARD:
            del self._heard[next(iter(self._heard))]
        return True

    def note(self, what: int, machine: str, now: int) -> None:
        """Count a failure of ``what`` on a machine."""
        self.until[what, machine] = now + REST_NS
        self.count[what] = self.count.get(what, 0) + 1

    def machines(self, what: int, now: int) -> frozenset[str]:
        """Return the machines that do not get ``what`` now."""
        return frozenset(
            name for (each, name), until in self.until.items() if each == what and until > now
        )

    def played(self, what: int) -> None:
        """Forget the failures of ``what``, because it went well."""
        self.count.pop(what, None)

    def tidy(self, now: int) -> None:
        """Forget the backoffs that are over."""
        self.until = {key: until for key, until in self.until.items() if until > now}
