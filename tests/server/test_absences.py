"""Absent entries delay a final for a limited time: bots in memory, and time that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.harness.hub_finals import FILE, OLGA, ORGANISER, STAFF, Course, places, states

from plyhouse.server.competition_rules.formats import LineState
from plyhouse.server.competitions.absences import GAP_MS, Waits
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import audit, competition_sql
from plyhouse.storage.store import Store

MINUTE_MS = 60_000
BEGIN_MS = 1_800_000_000_000


class Timed(Course):
    """A course whose store has the time of the test."""

    now = BEGIN_MS

    async def start(self) -> None:
        store = await Store.open(self.url, clock=lambda: self.now)
        self.hub = await Hub.open(ServerConfig(database=self.url), store=store)
        await (
            self.hub.competitions.close()
        )  # the test alone looks: two at once would see time go back

    async def wait(self, minutes: int) -> None:
        """Let so much time pass while the server looks."""
        for _ in range(minutes):
            await self.hub.competitions.look()
            self.now += MINUTE_MS
        await self.hub.competitions.look()

    async def told(self) -> str:
        """Return the absences in the competition's status."""
        (game,) = (await self.hub.competitions.view("Cup")).games
        return " ".join(game.absent)

    async def board(self) -> str:
        """The notes of the board for its organiser."""
        return " ".join((await self.hub.boards.board("Cup", ORGANISER)).notes)

    async def stuck(self) -> None:
        """Until nothing is played and the final waits for somebody."""

        async def waits() -> bool:
            (game,) = (await self.hub.competitions.view("Cup")).games
            return bool(game.waiting_for) and not self.hub.directory.own

        await self.until(waits)


@pytest.fixture
async def course(tmp_path: Path) -> AsyncIterator[Timed]:
    made = Timed(f"sqlite:///{tmp_path / 'course.db'}")
    await made.start()
    yield made
    await made.stop()


@pytest.mark.parametrize("style", ["swiss", "knockout", "round_robin"])
async def test_a_final_goes_on_without_who_is_away(course: Timed, style: str) -> None:
    names = await course.open(
        f'{FILE}[limits]\nabsent_minutes = 20\n[format]\nname = "{style}"\n', 4
    )
    gone = f"{names[1]}/bot"
    await course.leave(gone)
    await course.run()
    await course.stuck()
    await course.wait(19)
    assert await course.status() == "running"
    assert f"{gone} has been away for 19 minutes; after 20 minutes it is withdrawn" in (
        await course.told()
    )
    await course.wait(1)
    final = await course.finished()
    why = f"{gone} was withdrawn from pig: away for 20 minutes."
    assert why in await course.told()
    assert why in await course.board()
    log = await course.hub.store.read(audit.latest, 50)
    (noted,) = [each for each in log if each.what == "competition.withdraw"]
    assert (noted.who, noted.why) == ("the clock", "away for 20 minutes")
    assert gone in noted.subject
    assert places(final)[f"{names[0]}/bot"] == 1
    if style != "round_robin":
        walkovers = [
            line for each in final.rounds for line in each.lines if line.state is LineState.WALKOVER
        ]
        assert [final.names[line.winner or 0] for line in walkovers] != []
        assert gone not in [final.names[line.winner or 0] for line in walkovers]
    # To come back now changes nothing; to run it again does.
    first = len(course.begun)
    await course.connect(names[1])
    await course.wait(1)
    assert len(course.begun) == first
    await course.hub.competitions.rerun("Cup", OLGA)
    assert await course.told() == "", "it is in again"
    final = await course.finished()
    assert len(course.begun) > first
    assert states(final) <= {LineState.FINISHED, LineState.BYE}


async def test_rerun_waits_anew_for_who_was_withdrawn_a_moment_ago(course: Timed) -> None:
    names = await course.open(f"{FILE}[limits]\nabsent_minutes = 20\n", 3)
    gone = f"{names[1]}/bot"
    await course.leave(gone)
    await course.run()
    await course.stuck()
    await course.wait(20)
    await course.finished()
    await course.hub.competitions.rerun("Cup", OLGA)
    course.now += 1000
    await course.hub.competitions.look()
    assert await course.status() == "running"
    assert "withdrawn" not in await course.told()
    await course.wait(20)
    assert "away for 20 minutes" in await course.told()


async def test_only_an_unbroken_wait_counts(course: Timed) -> None:
    names = await course.open(f'{FILE}[format]\nname = "swiss"\nnumber = 2\n', 4)
    gone = f"{names[2]}/bot"
    await course.leave(gone)
    await course.run()
    await course.stuck()
    await course.wait(29)
    course.now += 10 * MINUTE_MS  # the machine slept
    await course.wait(29)
    # The server is stopped and comes again.
    await course.stop()
    await course.start()
    for name in names:
        if name != names[2]:
            await course.connect(name)
    await course.stuck()
    await course.wait(29)
    store = course.hub.store
    await store.write(competition_sql.move, "Cup", "pause", OLGA, store.now())
    await course.hub.audit_follower.look()
    await course.wait(40)
    await store.write(competition_sql.move, "Cup", "resume", OLGA, store.now())
    await course.hub.audit_follower.look()
    await course.wait(29)
    assert await course.status() == "running"
    assert "was withdrawn" not in await course.told()
    # The wrong version is as good as none.
    await course.connect(names[2], version="other")
    await course.wait(1)
    await course.finished()
    assert "connected with another version only for 30 minutes" in await course.told()


async def test_baselines_are_waited_for_and_zero_minutes_are_for_ever(course: Timed) -> None:
    names = await course.open(f'{FILE}[format]\nname = "gauntlet"\n{STAFF}', 2)
    await course.leave("staff/b1")
    await course.run()
    await course.stuck()
    await course.wait(100)
    assert await course.status() == "running"
    told = await course.told()
    assert "staff/b1 has been away for 100 minutes; a baseline is never withdrawn" in told
    assert names[0] not in told, "nobody waits for who is there"
    await course.connect("staff", "b1")
    final = await course.finished()
    assert states(final) == {LineState.FINISHED}


async def test_zero_minutes_are_for_ever(course: Timed) -> None:
    names = await course.open(
        f'{FILE}[limits]\nabsent_minutes = 0\n[format]\nname = "swiss"\nnumber = 2\n', 4
    )
    await course.leave(f"{names[2]}/bot")
    await course.run()
    await course.stuck()
    await course.wait(200)
    assert await course.status() == "running"
    assert "for 200 minutes; it is waited for until it comes" in await course.told()
    await course.connect(names[2])
    assert states(await course.finished()) == {LineState.FINISHED}


def test_a_wait_that_nobody_looked_at_does_not_count() -> None:
    waits = Waits[str]()
    for now in range(0, 5 * GAP_MS, GAP_MS):
        found = waits.look(now, ["ada"])
    assert found == {"ada": 4 * GAP_MS}
    assert waits.look(6 * GAP_MS, ["ada"]) == {"ada": 0}
    assert waits.look(5 * GAP_MS, ["ada"]) == {"ada": 0}, "the clock was set back"
