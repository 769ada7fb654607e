"""One hosted final through all that can happen to it, with grades worked out a second time."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path

import pytest
from tests.harness.clocks import FakeClock, WallClock
from tests.harness.hosted_finals import HostedFinal
from tests.harness.patience import PATIENCE
from tests.harness.server import MemoryServer
from tests.harness.simulated_runner import OLGA, SimulatedRunner, digest

from plyhouse.protocol.hosting.runner_messages import FlagFell
from plyhouse.protocol.messages import Resign
from plyhouse.server.competitions.file_changes import change, propose
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.runners import SECOND
from plyhouse.server.table.live import LiveMatch
from plyhouse.storage import (
    competition_sql,
    competition_students,
    match_lists,
    people,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import Identity, MatchRow
from plyhouse.storage.store import Store

ORGANISER = Identity(0, "olga", frozenset(("organise",)), 0)
CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "move:5"
board = "public"
[dates]
freeze = 2026-07-01T12:00:00Z
[hosting]
required = true
[[baselines]]
bot = "house/weak"
reference = "random"
grade = "pass"
at_least = 0.5
[[baselines]]
bot = "house/strong"
reference = "mcts(simulations=50)"
grade = "good"
at_least = 0.5
"""
STUDENTS = "ann", "ben", "cleo", "dan"
GRADES = {"house/weak": ("pass", 0.5), "house/strong": ("good", 0.5)}
ORDER = ["house/weak", "ben/mine", "cleo/mine", "house/strong", "dan/mine", "ann/mine"]
"""From the weakest to the strongest, until a new version of ben's bot beats all."""


class Final(HostedFinal):
    """The final of this test: in each match the weaker bot resigns, and one of cleo's hangs."""

    order = ORDER

    async def submit(self, player: str, version: str, at: int, *, ok: bool = True) -> None:
        """Submit a version for a student, and check it."""
        store = self.house.hub.store
        found = await store.read(people.player, player)
        bot = await store.ensure_bot(found.id, "mine", "bot")
        number = sum(map(ord, player + version))
        row = await store.submissions.add(bot.id, version, digest(number), b"zip", at)
        await store.write(submission_sql.check, row.id, ok, "", ["tic_tac_toe"], at)

    async def check_baselines(self, *, refused: Collection[str] = ()) -> None:
        """Check all reference bots that wait."""
        store = self.house.hub.store
        for number in await store.read(submission_checks.waiting):
            row = await store.read(submission_sql.find, number)
            ok = f"{row.player}/{row.bot}" not in refused
            report = "" if ok else "FAILED  plays tic_tac_toe as 0: too late"
            games = ["tic_tac_toe"] if ok else []
            await store.write(submission_sql.check, number, ok, report, games, 10)

    async def status(self) -> str:
        return (await self.house.hub.store.read(competition_sql.find, self.cup)).status

    async def play_next(self) -> None:
        """Begin the matches that can begin, and let the weaker bot of each resign."""
        await self.connect()
        await self.ready()
        for live in self.lives:
            await self.resign(live)
        await asyncio.sleep(0)

    async def resign(self, live: LiveMatch) -> None:
        """Let the weaker bot of a match resign."""
        weak = min(live.seats, key=lambda each: self.order.index(each.name))
        await self.clients[weak.bot_id].ask(Resign, live.id)

    async def play_out(self, until: int | None = None) -> None:
        """Play on to the end, or until so many matches are over."""
        async with asyncio.timeout(PATIENCE):
            while await self.status() == "running":
                if until is not None and len(await self.finished()) >= until:
                    return
                await self.play_next()

    async def finished(self) -> list[MatchRow]:
        """All finished matches of the final, the latest first."""
        return await self.house.hub.store.read(
            match_lists.list_matches, match_lists.MatchFilter(status="finished"), limit=500
        )

    async def hang(self, live: LiveMatch) -> None:
        """Let the flag of the bot to move fall, while its machine says that it was busy."""
        mover = live.match.seat_to_move
        assert mover is not None
        bot = live.seats[mover].bot_id
        await self.be_heard()  # two hangs in a row take longer than a client may be silent
        self.house.move_to(self.house.clock.now + 6 * SECOND)
        await self.machine.call()
        live.input(live.match.tick, self.house.clock.now)
        while not live.over:  # noqa: ASYNC110 - its end is being stored
            await asyncio.sleep(0.001)
        figures = dict.fromkeys(("allowed", "wall", "match_wall"), 5 * SECOND)
        busy = dict.fromkeys(("lost", "match_lost"), 4 * SECOND)
        flag = FlagFell(match=live.id, bot=bot, ply=live.match.ply, cpu=SECOND, **figures, **busy)
        await self.machine.call(flags=[flag])
        await asyncio.sleep(0)

    async def kill(self, opened: Callable[[], Awaitable[Hub]]) -> None:
        """End server and runner without a word, and start both again."""
        hub = self.house.hub
        hub.watchdog.stop()
        for timer in hub._timers:
            timer.stop()
        await hub.competitions.close()
        await hub.audit_follower.close()
        await hub.store.close()  # The log is silent, and nothing more is stored.
        self.house.hub = await opened()
        self.machine = SimulatedRunner(self.house, self.machine.said.name)
        self.clients.clear()
        self.welcomed.clear()


def recomputed(
    rows: Sequence[MatchRow], versions: Mapping[str, int | None]
) -> tuple[dict[str, float], dict[str, str]]:
    """Work out mean scores and grades from raw results alone."""
    met: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        names = [f"{seat.player}/{seat.bot}" for seat in row.seats]
        current = all(versions[n] == s.version_id for n, s in zip(names, row.seats, strict=True))
        if row.void_reason is not None or not row.returns or not current:
            continue
        for seat, name in enumerate(names):
            met[name, names[1 - seat]].append((1 + row.returns[seat]) / 2)
    means, grades = {}, {}
    for name in versions:
        scores = [score for (one, _), each in met.items() if one == name for score in each]
        means[name] = sum(scores) / len(scores)
        grade = ""
        for baseline, (word, least) in GRADES.items():
            against = met[name, baseline]
            if not against or sum(against) / len(against) < least:
                break
            grade = word
        grades[name] = grade
    return means, grades


async def agrees(final: Final, rows: Sequence[MatchRow], out: Collection[str] = ()) -> None:
    """Compare the exported grades and places with those that follow from raw results."""
    hub = final.house.hub
    entries = await hub.store.read(competition_sql.entries_of, final.cup)
    means, grades = recomputed(rows, {each.name: each.version_id for each in entries})
    told = csv.DictReader(io.StringIO(await hub.exports.grades(final.cup)))
    assert {each["student"]: each["grade"] for each in told} == {
        name: "disqualified" if name in out else grades[f"{name}/mine"] for name in STUDENTS
    }
    table = list(
        csv.DictReader(io.StringIO(await hub.exports.standings(final.cup, "csv", ORGANISER)))
    )
    placed = sorted((each for each in table if each["place"]), key=lambda each: int(each["place"]))
    assert {each["entry"] for each in table} - {each["entry"] for each in placed} == {
        f"{name}/mine" for name in out
    }
    for each in table:
        assert float(each["score"]) == pytest.approx(means[each["entry"]])
    assert [each["entry"] for each in placed] == sorted(
        (each["entry"] for each in placed), key=lambda name: -means[name]
    )


async def test_hosted_final_is_graded_right_whatever_happens_to_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    wall, url = WallClock("2026-06-01"), f"sqlite:///{tmp_path}/house.db"

    async def opened() -> Hub:
        store = await Store.open(url, clock=wall)
        config = ServerConfig(database=url, hosted=True, suspend_after=0)
        return await Hub.open(config, store=store, now=clock)

    house = MemoryServer(await opened(), clock)
    final = Final(house, "", SimulatedRunner(house))
    try:
        hub = house.hub
        final.cup = (await hub.competitions.open(CUP, OLGA)).id
        members = [NewMember(name, name) for name in STUDENTS]
        await hub.store.write(
            competition_students.take_in, final.cup, members, OLGA, hub.store.now()
        )
        for name in STUDENTS:
            await final.submit(name, "v1", wall())

        # The deadline moves, and what is submitted after the first one counts.
        text = CUP.replace("2026-07-01T12", "2026-07-08T12")
        row = await hub.store.read(competition_sql.find, final.cup)
        await change(
            hub.store, hub.competitions, await propose(hub.store, hub.competitions, row, text), OLGA
        )
        wall.set("2026-07-05")
        await hub.competitions.look()
        assert await final.status() == "open"
        await final.submit("cleo", "v2", wall())
        wall.set("2026-07-09")
        await hub.competitions.look()
        assert await final.status() == "frozen"

        # A baseline is refused, and replaced.
        await final.check_baselines(refused=["house/strong"])
        with pytest.raises(CompetitionRefusal, match="house/strong was refused by its check"):
            await hub.competitions.run(final.cup, OLGA)
        again = hub.competitions.baselines.check_again
        await again(final.cup, "house/strong", OLGA, replace_by="alpha_beta")
        await final.check_baselines()
        await hub.competitions.run(final.cup, OLGA)

        # A night.
        await final.connect()
        await final.ready()
        before = final.lives
        assert before
        await final.move("pause")
        await final.machine.call(leaving=True)
        await final.disconnect()
        await final.pass_time(10 * 3600)
        assert final.lives == before
        assert all(live.match.outcome is None for live in before)
        await final.move("resume")
        await final.play_out(until=4)

        # A bot hangs: its first flag is excused, the second one is not.
        hung = 0
        async with asyncio.timeout(PATIENCE):
            while hung < 2:
                await final.connect()
                await final.ready()
                running = [live for live in final.lives if live.match.status == "running"]
                hangs = [live for live in running if live.seats[0].name == "cleo/mine"]
                for live in running:
                    if live not in hangs:
                        await final.resign(live)
                for live in hangs:
                    await final.hang(live)
                    hung += 1
                await asyncio.sleep(0)
        (void,) = [each for each in await final.finished() if each.void_reason]
        assert "its machine lab1 was not the bot's" in str(void.void_reason)

        # Server and runner are killed in the middle of matches.
        await final.connect()
        await final.ready()
        playing = {live.id for live in final.lives}
        assert playing
        await final.kill(opened)
        hub = house.hub
        assert {live.id for live in final.lives} == playing
        await final.play_out(until=20)

        # A student cheated.
        await hub.store.write(
            competition_students.disqualify, final.cup, "dan", OLGA, hub.store.now()
        )
        await hub.audit_follower.look()
        await final.play_out()
        assert await final.status() == "finished"
        rows = await final.finished()
        assert [row.termination for row in rows].count("flag_fall") == 2
        assert {row.termination for row in rows} == {"flag_fall", "resignation"}
        await agrees(final, rows, out=["dan"])

        # A student may submit once more, and what is missing is played.
        until = wall() + 60_000
        await hub.store.write(
            competition_students.extend, final.cup, "ben", until, OLGA, hub.store.now()
        )
        await final.submit("ben", "v2", wall())
        wall.now = until
        await hub.competitions.rerun(final.cup, OLGA)
        final.order = [*(each for each in ORDER if each != "ben/mine"), "ben/mine"]
        await final.play_out()
        assert await final.status() == "finished"
        more = await final.finished()
        assert len(more) - len(rows) == 2 * 4, "only the pairings of the new version"
        await agrees(final, more, out=["dan"])
    finally:
        await house.hub.close()
