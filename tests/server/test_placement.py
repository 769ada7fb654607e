"""The placement of bots: through all changes, each bot is in one place at most, and stays there."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from plyhouse.server.hosting.placement import (
    Machine,
    Need,
    Place,
    Plan,
    Priority,
    decide,
    room_for_matches,
)

NAMES = ["a", "b", "c", "d"]

machines = st.lists(
    st.builds(
        Machine,
        st.sampled_from(NAMES),
        st.integers(1, 4),
        st.integers(0, 5),
        st.integers(0, 4),
    ),
    unique_by=lambda machine: machine.id,
    max_size=4,
)
needs = st.lists(
    st.builds(
        Need,
        st.integers(1, 8),
        st.integers(1, 3),
        st.sampled_from(Priority),
        st.frozensets(st.sampled_from(NAMES), max_size=2),
        idle=st.just(value=False),
        playing=st.booleans(),
        turn=st.integers(0, 2),
    )
    | st.builds(
        Need,
        st.integers(1, 8),
        st.integers(1, 3),
        st.sampled_from(Priority),
        st.frozensets(st.sampled_from(NAMES), max_size=2),
        idle=st.booleans(),
        turn=st.integers(0, 2),
    ),
    unique_by=lambda need: need.bot,
    max_size=8,
)
checks = st.lists(st.integers(1, 6), unique=True, max_size=6)
worlds = st.lists(st.tuples(machines, needs, checks), min_size=1, max_size=5)


# The first bot moves to the second machine, and so the other one finds room on the first.
CROWDED = (
    [Machine("a", 1, 1, busy=1), Machine("b", 2, 1)],
    [Need(1, 1, idle=True), Need(2, 1, not_on=frozenset("b"))],
    list[int](),
)


@given(worlds)
@example([CROWDED])
def test_each_bot_is_in_one_place_that_is_there_has_room_and_can_run_it(
    worlds: list[tuple[list[Machine], list[Need], list[int]]],
) -> None:
    plan = Plan()
    for here, needed, waiting in worlds:
        before, plan = plan, decide(here, needed, waiting, plan)
        room = {machine.id: machine.bots for machine in here}
        wanted = {need.bot: need for need in needed}
        used = Counter(place.machine for place in plan.bots.values())
        assert all(used[name] <= room[name] for name in used)
        # Needed bots, and no others, are placed or said to be waiting.
        assert sorted([*plan.bots, *plan.waiting]) == sorted(wanted)
        for bot, place in plan.bots.items():
            assert place.version == wanted[bot].version
            assert place.machine not in wanted[bot].not_on
        # No bot waits while a machine could take it.
        for bot in plan.waiting:
            able = [name for name in room if name not in wanted[bot].not_on]
            assert all(used[name] == room[name] for name in able)
        # A bot moves only if it must: its machine is gone, full, or cannot run it. It may also move
        # if it plays nothing, its machine has no free processor, and the other one has more for
        # each bot.
        there = {machine.id: machine for machine in here}
        for bot, place in plan.bots.items():
            old = before.bots.get(bot)
            if old is not None and old.machine != place.machine:
                known, new = there.get(old.machine), there[place.machine]
                gained = (
                    known is not None
                    and wanted[bot].idle
                    and known.busy + plan.held.get(known.id, 0) >= known.cores
                    and new.busy + plan.held.get(new.id, 0) < new.cores
                )
                elsewhere = sum(
                    wanted[each].idle and at.machine != old.machine
                    for each, at in plan.bots.items()
                )  # of which some may have been placed where it was before they moved on
                full = used[old.machine] + elsewhere >= room.get(old.machine, 0)
                assert full or old.machine in wanted[bot].not_on or gained
        # A decision that nothing has changed is the same again.
        assert decide(here, needed, waiting, plan) == plan


@given(worlds)
def test_one_check_at_a_time_on_each_machine_and_never_two_of_one(
    worlds: list[tuple[list[Machine], list[Need], list[int]]],
) -> None:
    plan = Plan()
    for here, needed, waiting in worlds:
        before, plan = plan, decide(here, needed, waiting, plan)
        there = {machine.id: machine for machine in here}
        assert set(plan.checks) <= set(waiting)
        assert max(Counter(plan.checks.values()).values(), default=0) <= 1
        for submission, name in plan.checks.items():
            fresh = before.checks.get(submission) != name
            assert not fresh or there[name].busy < there[name].cores
        for submission in waiting:  # begun is finished, where the machine is still there
            old = before.checks.get(submission)
            assert old not in there or plan.checks.get(submission) == old
        # While one waits, every machine keeps a processor free of matches.
        if len(plan.checks) < len(waiting):
            assert all(plan.held.get(name) == 1 for name in there) or len(waiting) == len(plan.held)


@given(machines)
def test_room_never_exceeds_the_processors_but_for_one_pairing_alone(here: list[Machine]) -> None:
    for machine in here:
        for held in (0, 1):
            room = room_for_matches(machine, held, cores_each=1, at_once=2)
            assert room + machine.busy + held <= max(
                machine.cores, 0 if room == 0 else 2 + held, machine.busy + held
            )


def test_finals_go_before_rehearsals_and_people_and_checks_before_all() -> None:
    small = Machine("a", 2, 1)
    final, person = Need(1, 10, Priority.FINAL), Need(2, 20, Priority.INTERACTIVE)
    rehearsal = Need(3, 30, Priority.REHEARSAL)
    there = decide([small], [person], [])
    assert there.bots == {2: Place("a", 20)}
    there = decide([small], [person, rehearsal], [], there)
    assert there.bots == {3: Place("a", 30)}
    assert decide([small], [final, person, rehearsal], [], there).bots == {1: Place("a", 10)}
    # A busy machine begins no check; it keeps the next processor free for it instead.
    busy = Machine("a", 2, 5, busy=2)
    plan = decide([busy], [], [9])
    assert plan.checks == {}
    assert plan.held == {"a": 1}
    assert room_for_matches(Machine("a", 2, 5, busy=1), 1, cores_each=1, at_once=1) == 0
    assert decide([Machine("a", 2, 5, busy=1)], [], [9], plan).checks == {9: "a"}


def test_what_a_machine_could_not_check_goes_to_another() -> None:
    here = [Machine("a", 2, 5), Machine("b", 2, 5)]
    plan = decide(here, [], [9])
    assert plan.checks == {9: "a"}
    assert decide(here, [], [9], plan, unfit={9: {"a"}}).checks == {9: "b"}


def test_a_machine_that_joins_takes_bots_that_are_between_matches() -> None:
    needs = [Need(bot, bot * 10, idle=bot > 2) for bot in range(1, 7)]
    alone = decide([Machine("a", 2, 10)], needs, [])
    assert {place.machine for place in alone.bots.values()} == {"a"}
    # As long as its machine has a processor left nobody has to move.
    joined = [Machine("a", 2, 10, busy=1), Machine("b", 2, 10)]
    assert decide(joined, needs, [], alone) == alone
    full = [Machine("a", 2, 10, busy=2), Machine("b", 2, 10)]
    plan = decide(full, needs, [], alone)
    moved = {bot for bot, place in plan.bots.items() if place.machine == "b"}
    assert moved == {3, 4, 5}  # half of them, and none that plays
    assert decide(full, needs, [], plan) == plan
    assert decide([joined[0], Machine("b", 2, 10, busy=2)], needs, [], plan) == plan
    # Not to a machine that has no processor left, no room in memory, or not what it needs.
    for other in (Machine("b", 2, 10, busy=2), Machine("b", 2, 0)):
        assert decide([full[0], other], needs, [], alone) == alone
    unable = [Need(need.bot, need.version, not_on=frozenset("b"), idle=True) for need in needs]
    assert decide(full, unable, [], alone) == alone
    # To a larger one more of them.
    large = [full[0], Machine("b", 6, 10)]
    idle = [Need(need.bot, need.version, idle=True) for need in needs]
    plan = decide(large, idle, [], alone)
    assert sum(place.machine == "b" for place in plan.bots.values()) == 5


def test_playing_bot_keeps_its_place_and_yields_it_to_one_that_goes_first() -> None:
    small = Machine("a", 2, 1)
    ladder = Need(1, 10, Priority.LADDER, playing=True, turn=1)
    there = decide([small], [ladder], [])
    for first in (Need(2, 20, Priority.FINAL), Need(2, 20, Priority.LADDER, turn=0)):
        plan = decide([small], [ladder, first], [], there)
        assert (plan.bots, plan.waiting) == ({1: Place("a", 10)}, (2,))
        assert plan.yielding == {1}
        # Its match is over.
        idle = Need(1, 10, Priority.LADDER, idle=True, turn=1)
        assert decide([small], [idle, first], [], plan).bots == {2: Place("a", 20)}
    for later in (Need(2, 20, Priority.LADDER, turn=1), Need(2, 20, not_on=frozenset("a"))):
        assert decide([small], [ladder, later], [], there).yielding == frozenset()


def test_matches_wait_for_ladders_and_for_what_goes_before_them() -> None:
    waits = {
        each: {other for other in Priority if each.has_to_wait_for(other)} for each in Priority
    }
    assert waits == {
        Priority.FINAL: {Priority.FINAL, Priority.LADDER},
        Priority.REHEARSAL: {Priority.FINAL, Priority.REHEARSAL, Priority.LADDER},
        Priority.INTERACTIVE: set(Priority),
        Priority.LADDER: set(Priority),
    }


def test_check_of_a_student_takes_the_place_of_a_check_that_comes_later() -> None:
    one = Machine("one", 2, 4)
    begun = decide([one], [], [7], later=[7])
    assert begun.checks == {7: "one"}
    plan = decide([one], [], [8, 7], begun, later=[7])
    assert plan.checks == {8: "one"}
    assert plan.held == {"one": 1}
    assert decide([one], [], [7], plan, later=[7]).checks == {7: "one"}
    # Another machine is taken first, so that the check that has begun goes on.
    both = decide([one, Machine("two", 2, 4)], [], [8, 7], begun, later=[7])
    assert both.checks == {8: "two", 7: "one"}
