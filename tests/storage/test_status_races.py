"""Statuses of competitions that two writers change at once, on both databases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.storage.races import race
from tests.tournaments import add_competition

from plyhouse.storage import competition_sql, tournaments
from plyhouse.storage.errors import NotNow, Unknown
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import TournamentSettings, settings
from plyhouse.storage.tournaments import reason

OLGA = By("olga", "because")
Work = Callable[[Store], Awaitable[Any]]


async def start(store: Store) -> int:
    """Make the running competition ``cup`` with one bot in it; return the bot."""
    player = await store.add_player("ada")
    bot = await store.ensure_bot(player.id, "mybot")
    row = TournamentRow("cup", "Cup", "pig", "move:1", "round_robin", 1, True, False, 1)
    await add_competition(store, row, [bot.id])
    return bot.id


STEPS = {"paused": "pause", "running": "resume", "deleted": "delete"}


def organise(status: str) -> Work:
    return lambda store: store.write(competition_sql.move, "cup", STEPS[status], OLGA, store.now())


async def test_suspended_competition_that_was_paused_stays_paused(store: Store) -> None:
    await start(store)
    await organise("paused")(store)
    await store.write(tournaments.suspend, "cup", "its game is missing")
    suspended = await store.read(tournaments.find_tournament, "cup")
    assert (suspended.status, reason(suspended)) == ("suspended", "its game is missing")
    await store.write(tournaments.resume, "cup")
    resumed = await store.read(tournaments.find_tournament, "cup")
    assert (resumed.status, settings(resumed)) == ("paused", TournamentSettings())
    await organise("running")(store)
    await store.write(tournaments.suspend, "cup", "again")
    await store.write(tournaments.resume, "cup")
    assert (await store.read(tournaments.find_tournament, "cup")).status == "running"


async def test_suspending_twice_keeps_the_status_to_return_to(store: Store) -> None:
    await start(store)
    await organise("paused")(store)
    for why in ("first", "second"):
        await store.write(tournaments.suspend, "cup", why)
    assert reason(await store.read(tournaments.find_tournament, "cup")) == "second"
    await store.write(tournaments.resume, "cup")
    assert (await store.read(tournaments.find_tournament, "cup")).status == "paused"


@pytest.mark.parametrize("status", ["finished", "running", "paused"])
async def test_resuming_what_is_not_suspended_changes_nothing(store: Store, status: str) -> None:
    await start(store)
    if status == "paused":
        await organise(status)(store)
    elif status == "finished":
        await finish(store)
    await store.write(tournaments.resume, "cup")
    assert (await store.read(tournaments.find_tournament, "cup")).status == status


async def test_finished_competition_is_not_suspended(store: Store) -> None:
    await start(store)
    await store.write(tournaments.finish, "cup", store.now())
    with pytest.raises(NotNow, match="finished"):
        await store.write(tournaments.suspend, "cup", "too late")
    assert (await store.read(tournaments.find_tournament, "cup")).status == "finished"


def note_left(store: Store) -> Awaitable[Any]:
    return store.write(tournaments.note_left, "cup", {7: 2})


def suspend(store: Store) -> Awaitable[Any]:
    return store.write(tournaments.suspend, "cup", "its game is missing")


def finish(store: Store) -> Awaitable[Any]:
    return store.write(tournaments.finish, "cup", store.now())


@pytest.mark.parametrize("status", ["paused", "deleted"])
@pytest.mark.parametrize("write", [note_left, finish, suspend])
async def test_status_of_an_organiser_survives_a_concurrent_write(
    racing_url: str, write: Work, status: str
) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    await race(racing_url, write, organise(status), at="UPDATE tournaments")
    async with await Store.open(racing_url) as store:
        if status == "deleted":
            with pytest.raises(Unknown):
                await store.read(tournaments.find_tournament, "cup")
        elif write is note_left:
            row = await store.read(tournaments.find_tournament, "cup")
            assert (row.status, settings(row).left) == ("paused", {7: 2})
        else:
            row = await store.read(tournaments.find_tournament, "cup")
            assert row.status == ("finished" if write is finish else "suspended")
            if write is suspend:
                resumed = await store.write(tournaments.resume, "cup")
                assert resumed.status == "paused", "as its competition is"


@pytest.mark.parametrize("status", ["paused", "deleted"])
async def test_status_of_an_organiser_survives_a_concurrent_withdrawal(
    racing_url: str, status: str
) -> None:
    async with await Store.open(racing_url) as store:
        bot = await start(store)

    def withdraw(store: Store) -> Awaitable[Any]:
        return store.write(tournaments.withdraw, "cup", bot, OLGA, store.now())

    await race(racing_url, withdraw, organise(status), at="UPDATE tournaments")
    async with await Store.open(racing_url) as store:
        if status == "deleted":
            with pytest.raises(Unknown):
                await store.read(tournaments.find_tournament, "cup")
            return
        row = await store.read(tournaments.find_tournament, "cup")
        assert (row.status, settings(row).gone) == ("paused", {bot: "because"})


async def test_facts_noted_at_once_are_both_kept(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    await race(
        racing_url,
        note_left,
        lambda store: store.write(tournaments.note_left, "cup", {8: 3}),
        at="UPDATE tourn",
    )
    async with await Store.open(racing_url) as store:
        assert settings(await store.read(tournaments.find_tournament, "cup")).left == {7: 2, 8: 3}


async def test_finishing_wins_over_an_older_reading_of_the_status(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await start(store)
    paused, _ = await race(racing_url, organise("paused"), finish, at="UPDATE tournaments")
    assert paused.status == "paused"
    async with await Store.open(racing_url) as store:
        row = await store.read(tournaments.find_tournament, "cup")
        assert (row.status, row.finished_ms is not None) == ("finished", True)
