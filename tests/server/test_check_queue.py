"""Checks of submissions on the server: whose turn it is, whose verdict counts, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.harness.server import MemoryServer
from tests.harness.simulated_runner import SimulatedRunner, digest, submissions

from plyhouse.protocol.hosting.runner_messages import CheckDone, Trouble
from plyhouse.server.hosting.check_queue import MAX_FAILURES
from plyhouse.server.hosting.placement import REST_NS
from plyhouse.server.hosting.runners import LEASE_NS
from plyhouse.storage import people, submission_checks, submission_sql


async def submit(house: MemoryServer, player: str, *numbers: int) -> list[int]:
    """Submit packages of a player, each as another version of one bot; return their ids."""
    store = house.hub.store
    known = {each.name: each for each in await store.read(people.list_players)}
    row = known.get(player) or await store.add_player(player)
    bot = await store.ensure_bot(row.id, "mine", "bot")
    return [
        (await store.submissions.add(bot.id, f"v{each}", digest(each), b"zip", store.now())).id
        for each in numbers
    ]


async def refuse(machine: SimulatedRunner, submission: int) -> list[int]:
    """Report that a check ended badly; return the checks that the machine is given next."""
    told = await machine.call(checked=[CheckDone(submission, False, "FAILED  it is slow")])
    return [each.submission for each in told.checks]


async def test_player_with_many_submissions_is_served_in_turn_with_others(
    still_house: MemoryServer,
) -> None:
    house = still_house
    many = await submit(house, "mallory", 1, 2, 3)
    machine = SimulatedRunner(house)
    assert [each.submission for each in (await machine.call()).checks] == many[:1]
    (late,) = await submit(house, "bob", 4)
    assert await refuse(machine, many[0]) == [late]
    assert await refuse(machine, late) == [many[1]]


@pytest.mark.parametrize("while_checked", [True, False])
async def test_deleting_submissions_does_not_bring_the_next_one_forward(
    still_house: MemoryServer, while_checked: bool
) -> None:
    house = still_house
    many = await submit(house, "mallory", 1, 2, 3)
    machine = SimulatedRunner(house)
    await machine.call()
    (late,) = await submit(house, "bob", 4)
    if while_checked:
        await house.hub.store.write(submission_sql.remove, many[0])
        assert [each.submission for each in (await machine.call()).checks] == [late]
    else:
        await house.hub.store.write(submission_sql.check, many[0], False, "", (), 1)
        await house.hub.store.write(submission_sql.remove, many[0])
        assert [each.submission for each in (await machine.call()).checks] == [late]


async def test_refused_package_that_is_submitted_again_waits_behind_others(
    still_house: MemoryServer,
) -> None:
    house = still_house
    (first,) = await submit(house, "mallory", 1)
    machine = SimulatedRunner(house)
    await machine.call()
    bobs = await submit(house, "bob", 2, 3)
    served = [*await refuse(machine, first)]
    for _ in range(3):
        await submit(house, "mallory", 1)
        served += await refuse(machine, served[-1])
    assert served == [bobs[0], first, bobs[1], first]


async def test_verdict_counts_only_from_the_runner_that_was_given_the_check(
    still_house: MemoryServer,
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    store = house.hub.store
    given, other = SimulatedRunner(house), SimulatedRunner(house, "lab2")
    (check,) = (await given.call()).checks
    done = CheckDone(check.submission, True, "ok      loads", ["tic_tac_toe"])
    assert (await other.call(checked=[done])).checks == []
    assert (await store.read(submission_sql.find, check.submission)).status == "waiting"

    # The machine is silent for long, and the check is given to the other one.
    house.clock.now += LEASE_NS
    assert (await other.call()).checks == [check]
    await given.call(checked=[done])
    assert (await store.read(submission_sql.find, check.submission)).status == "waiting"
    await other.call(checked=[done])
    assert (await store.read(submission_sql.find, check.submission)).status == "ready"


async def test_verdict_of_a_program_that_was_started_again_does_not_count(
    still_house: MemoryServer,
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    first = SimulatedRunner(house)
    (check,) = (await first.call()).checks
    house.clock.now += LEASE_NS
    done = CheckDone(check.submission, True, "ok      loads", ["tic_tac_toe"])
    again = SimulatedRunner(house)
    assert again.said.instance != first.said.instance
    assert (await again.call(checked=[done])).checks == [check]
    assert (await house.hub.store.read(submission_sql.find, check.submission)).status == "waiting"


async def fail(house: MemoryServer, machine: SimulatedRunner, trouble: Trouble) -> bool:
    """Report a failed check twice, as if the answer was lost; whether the check was given first."""
    checks = (await machine.call()).checks
    await machine.call(troubles=[trouble])
    await machine.call(troubles=[trouble])
    house.clock.now += REST_NS
    return [each.submission for each in checks] == [trouble.submission]


async def test_package_that_cannot_be_checked_is_refused_after_three_failures(
    still_house: MemoryServer,
) -> None:
    house = still_house
    (submission,) = await submit(house, "mallory", 1)
    machine = SimulatedRunner(house)
    trouble = Trouble("Not a directory: 'a/b'", submission=submission, machine_works=True)
    store = house.hub.store
    for _ in range(MAX_FAILURES):
        assert (await store.read(submission_sql.find, submission)).status == "waiting"
        assert await fail(house, machine, trouble)
    row = await store.read(submission_sql.find, submission)
    assert row.status == "refused"
    assert "Not a directory: 'a/b'" in row.report
    assert (await machine.call()).checks == []
    await submit(house, "mallory", 1)  # another chance
    assert await fail(house, machine, trouble)
    assert (await store.read(submission_sql.find, submission)).status == "waiting"


async def test_broken_machine_refuses_no_package(still_house: MemoryServer) -> None:
    house = still_house
    (submission,) = await submit(house, "ada", 1)
    machine = SimulatedRunner(house)
    for _ in range(3 * MAX_FAILURES):
        assert await fail(house, machine, Trouble("no space left", submission=submission))
    row = await house.hub.store.read(submission_sql.find, submission)
    assert row.status == "waiting"


async def test_failures_of_a_machine_that_was_not_given_the_check_do_not_count(
    still_house: MemoryServer,
) -> None:
    house = still_house
    (submission,) = await submit(house, "ada", 1)
    given, other = SimulatedRunner(house), SimulatedRunner(house, "lab2")
    assert len((await given.call()).checks) == 1
    trouble = Trouble("it is broken", submission=submission, machine_works=True)
    for _ in range(MAX_FAILURES):
        await other.call(troubles=[trouble])
    assert (await house.hub.store.read(submission_sql.find, submission)).status == "waiting"
    assert len((await given.call()).checks) == 1


async def test_submission_that_is_removed_while_a_runner_is_answered_is_left_out(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    (other,) = await submit(house, "bob", 5)
    store = house.hub.store
    (removed,) = [each for each in await store.read(submission_checks.waiting) if each != other]
    read = store.read

    async def remove_first(query: Any, *arguments: Any) -> Any:
        if query is submission_sql.find:
            monkeypatch.setattr(store, "read", read)
            await store.write(submission_sql.remove, removed)
        return await read(query, *arguments)

    machine = SimulatedRunner(house)
    monkeypatch.setattr(store, "read", remove_first)
    assert (await machine.call()).checks == []
    assert [each.submission for each in (await machine.call()).checks] == [other]
