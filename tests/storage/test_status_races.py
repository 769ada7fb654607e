"""Statuses of competitions that two writers change at once, on both databases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.storage.races import race

from plyhouse.storage.competitions import gone_why, reason, settings
from plyhouse.storage.errors import NotNow, Unknown
from plyhouse.storage.rows import By, CompetitionRow
from plyhouse.storage.store import Store

OLGA = By("olga", "because")
Work = Callable[[Store], Awaitable[Any]]


async def start(store: Store) -> int:
    """Make the running competition ``cup`` with one bot in it; return the bot."""
    player = await store.add_player("ada")
    bot = await store.ensure_bot(player.id, "")
    row = CompetitionRow("cup", "Cup", "pig", "move:1", "round_robin", 1, True, False, 1)
    await store.create_competition(row, [bot.id])
    await store.set_competition_status("cup", "running")
    return bot.id


def organise(status: str) -> Work:
    return lambda store: store.administration.set_competition_status("cup", status, OLGA)


async def test_suspended_competition_that_was_paused_stays_paused(store: Store) -> None:
    await start(store)
    await organise("paused")(store)
    await store.suspend_competition("cup", "its game is missing")
    suspended = await store.competition("cup")
    assert (suspended.status, reason(suspended)) == ("suspended", "its game is missing")
    await store.resume_competition("cup")
    resumed = await store.competition("cup")
    assert (resumed.status, settings(resumed)) == ("paused", {})
    await organise("running")(store)
    await store.suspend_competition("cup", "again")
    await store.resume_competition("cup")
    assert (await store.competition("cup")).status == "running"


async def test_suspending_twice_keeps_the_status_to_return_to(store: Store) -> None:
    await start(store)
    await organise("paused")(store)
    for why in ("first", "second"):
        await store.suspend_competition("cup", why)
    assert reason(await store.competition("cup")) == "second"
    await store.resume_competition("cup")
    assert (await store.competition("cup")).status == "paused"


@pytest.mark.parametrize("status", ["finished", "running", "paused"])
async def test_resuming_what_is_not_suspended_changes_nothing(store: Store, status: str) -> None:
    await start(store)
    if status == "paused":
        await organise(status)(store)
    else:
        await store.set_competition_status("cup", status)
    await store.resume_competition("cup")
    assert (await store.competition("cup")).status == status


async def test_finished_competition_is_not_suspended(store: Store) -> None:
    await start(store)
    await store.set_competition_status("cup", "finished")
    with pytest.raises(NotNow, match="finished"):
        await store.suspend_competition("cup", "too late")
    assert (await store.competition("cup")).status == "finished"


def note_left(store: Store) -> Awaitable[Any]:
    return store.note_left("cup", {7: 2})


def suspend(store: Store) -> Awaitable[Any]:
    return store.suspend_competition("cup", "its game is missing")


def finish(store: Store) -> Awaitable[Any]:
    return store.set_competition_status("cup", "finished")


@pytest.mark.parametrize("status", ["paused", "deleted"])
@pytest.mark.parametrize("write", [note_left, finish, suspend])
async def test_status_of_an_organiser_survives_a_concurrent_write(
    racing_url: str, write: Work, status: str
) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    _, done = await race(racing_url, write, organise(status), at="UPDATE competitions")
    async with await Store.open(racing_url) as store:
        if status == "deleted":
            with pytest.raises(Unknown):
                await store.competition("cup")
        elif write is note_left:
            row = await store.competition("cup")
            assert (row.status, settings(row)["left"]) == ("paused", {"7": 2})
        else:  # the other one was first: the organiser hears that it is too late
            assert isinstance(done, NotNow)
            expected = "finished" if write is finish else "suspended"
            assert (await store.competition("cup")).status == expected


@pytest.mark.parametrize("status", ["paused", "deleted"])
async def test_status_of_an_organiser_survives_a_concurrent_withdrawal(
    racing_url: str, status: str
) -> None:
    async with await Store.open(racing_url) as store:
        bot = await start(store)

    def withdraw(store: Store) -> Awaitable[Any]:
        return store.administration.withdraw("cup", bot, OLGA, tell=True)

    await race(racing_url, withdraw, organise(status), at="UPDATE competitions")
    async with await Store.open(racing_url) as store:
        if status == "deleted":
            with pytest.raises(Unknown):
                await store.competition("cup")
            return
        row = await store.competition("cup")
        assert (row.status, gone_why(row)) == ("paused", {bot: "because"})


async def test_facts_noted_at_once_are_both_kept(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    await race(
        racing_url, note_left, lambda store: store.note_left("cup", {8: 3}), at="UPDATE comp"
    )
    async with await Store.open(racing_url) as store:
        assert settings(await store.competition("cup"))["left"] == {"7": 2, "8": 3}


async def test_finishing_wins_over_an_older_reading_of_the_status(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    paused, _ = await race(racing_url, organise("paused"), finish, at="UPDATE competitions")
    assert paused.status == "paused"
    async with await Store.open(racing_url) as store:
        row = await store.competition("cup")
        assert (row.status, row.finished_ms is not None) == ("finished", True)
