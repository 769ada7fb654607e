"""Which machine hosts which bot, and which makes which check: decided anew, from what is there.

`decide` looks at the machines that are heard of, at what is needed, and at what was decided before,
and says what shall be.  Nothing is remembered but its own last answer, so whatever dies is mended
by the next decision.  A bot stays where it is well; one machine at most has it at any time.

Processors are given by priority: first to the checks of what was handed in, then to people who
play against a hosted bot, then to finals.  A check that waits keeps a processor free of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

__all__ = ["Machine", "Need", "Place", "Plan", "Priority", "decide", "room_for_matches"]


class Priority(IntEnum):
    """What a bot is needed for; the lower goes before."""

    INTERACTIVE = 1
    FINAL = 2


@dataclass(frozen=True, slots=True)
class Machine:
    """A runner that was heard of lately."""

    id: str
    cores: int
    """Processors on which bots may think: matches with alternating moves at a time."""
    bots: int
    """How many bots it has room for in memory."""
    busy: int = 0
    """Processors that matches of its bots need now."""


@dataclass(frozen=True, slots=True)
class Need:
    """A bot that has to be there, with one version."""

    bot: int
    version: int
    priority: Priority = Priority.FINAL
    not_on: frozenset[str] = frozenset()
    """Machines that could not run it just now."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a version of a bot is hosted."""

    machine: str
    version: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall be."""

    bots: Mapping[int, Place] = field(default_factory=dict)
    """By the bot's id."""
    checks: Mapping[int, str] = field(default_factory=dict)
    """The machine by the submission's id."""
    waiting: tuple[int, ...] = ()
    """Bots for which there is no machine."""
    held: Mapping[str, int] = field(default_factory=dict)
    """Processors by machine that are for checks: those being made, and those that wait for one."""


def decide(
    machines: Collection[Machine],
    needs: Collection[Need],
    checks: Sequence[int],
    before: Plan = Plan(),
    *,
    unfit: Mapping[int, Collection[str]] | None = None,
) -> Plan:
    """Say who hosts what; ``checks`` are submissions in the order in which they came.

    ``unfit`` are the machines that could not check a submission just now.

    >>> one, two = Machine("one", 2, 10), Machine("two", 2, 10)
    >>> plan = decide([one, two], [Need(7, 70), Need(8, 80)], [])
    >>> [(bot, place.machine) for bot, place in plan.bots.items()]
    [(7, 'one'), (8, 'two')]
    >>> [(bot, place.machine) for bot, place in decide([two], [Need(7, 70)], [], plan).bots.items()]
    [(7, 'two')]
    """
    here = {machine.id: machine for machine in machines}
    placed, waiting = _place(here, needs, before.bots)
    made, held = _check(here, checks, before.checks, unfit or {})
    return Plan(dict(sorted(placed.items())), made, tuple(waiting), held)


def _place(
    here: Mapping[str, Machine], needs: Collection[Need], before: Mapping[int, Place]
) -> tuple[dict[int, Place], list[int]]:
    order = sorted(needs, key=lambda need: (need.priority, need.bot))
    load: Counter[str] = Counter()
    placed: dict[int, Place] = {}

    def fits(need: Need, machine: str) -> bool:
        known = here.get(machine)
        return known is not None and load[machine] < known.bots and machine not in need.not_on

    for need in order:  # whoever is well where it is stays there
        place = before.get(need.bot)
        if place is not None and need.bot not in placed and fits(need, place.machine):
            placed[need.bot] = Place(place.machine, need.version)
            load[place.machine] += 1
    waiting: list[int] = []
    for need in order:
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


def _check(
    here: Mapping[str, Machine],
    checks: Sequence[int],
    before: Mapping[int, str],
    unfit: Mapping[int, Collection[str]],
) -> tuple[dict[int, str], dict[str, int]]:
    """One check at a time on each machine, on a processor that no match needs."""
    made: dict[int, str] = {}
    for submission in checks:
        machine = before.get(submission, "")
        known = machine in here and machine not in unfit.get(submission, ())
        if known and machine not in made.values():
            made[submission] = machine
    held = Counter(made.values())
    for submission in checks:
        if submission in made:
            continue
        able = [
            machine
            for machine in here.values()
            if not held[machine.id] and machine.id not in unfit.get(submission, ())
        ]
        if not able:
            continue
        best = min(able, key=lambda each: (each.busy - each.cores, each.id))
        held[best.id] = 1  # from now on it is kept free for it
        if best.busy < best.cores:
            made[submission] = best.id
    return made, {machine: count for machine, count in held.items() if count}


def room_for_matches(machine: Machine, held: int, *, cores_each: int, at_once: int) -> int:
    """Matches that may begin on a machine now, if one needs so many of its processors.

    A pairing begins with all of its matches, ``at_once``: on a machine that is idle it may, even if
    they share processors, because it could never be played otherwise.

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
