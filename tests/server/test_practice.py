"""The practice ladder: played from the opening to the freeze, and counting for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.hub_finals import FILE as SHORT
from tests.harness.hub_finals import OLGA, ORGANISER, STAFF, Course

from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competitions import file_changes
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.grades.board import Board
from plyhouse.server.match.presence import PRIVATE
from plyhouse.storage import competition_sql, competition_students, practice_ladders
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.rows import Identity

FILE = SHORT.replace("total:60", "total:3000")
PRACTICE = "[practice]\nladder = true\n"
LADDER = "Cup (practice)"


class Fast(Course):
    """A course whose clock a test moves; bots that rest do so in no time."""

    def __init__(self, url: str, clock: FakeClock) -> None:
        super().__init__(url)
        self.clock = clock
        self.step = 1.0
        """Seconds by which the clock moves whenever somebody looks."""

    async def start(self) -> None:
        # No connection is given up because the clock jumps.
        config = ServerConfig(
            database=self.url, peer_timeout=1e6, ready_timeout=1e6, auth_timeout=1e6
        )
        self.hub = await Hub.open(config, now=self.clock)


@pytest.fixture
async def course(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Fast]:
    made = Fast(f"sqlite:///{tmp_path / 'course.db'}", clock)
    await made.start()
    yield made
    await made.stop()


async def board(course: Course, who: Identity = ORGANISER) -> Board:
    return await course.hub.boards.board(LADDER, who)


async def played(course: Course) -> list[Match]:
    """The matches of the ladder that are over, the latest first."""
    row = await course.hub.store.read(competition_sql.find, LADDER)
    ids = tuple(game.tournament_id or "" for game in row.games)
    sight = await course.hub.privacy.sight(ORGANISER)
    wanted = MatchFilter(tournament_ids=ids, status="finished")
    return await course.hub.privacy.matches(sight, wanted, limit=200)


def at_least(course: Fast, count: int, fits: Callable[[Match], bool] = bool) -> Any:
    async def enough() -> bool:
        course.clock.advance(course.step)
        course.hub.tournaments.advance_soon()
        await course.hub.competitions.look()
        if await course.hub.store.read(practice_ladders.status, await practice_id(course)) is None:
            return False
        return sum(map(fits, await played(course))) >= count

    return enough


async def practice_id(course: Course) -> str:
    return (await course.hub.store.read(competition_sql.find, "Cup")).practice_id


def holders(row: Match) -> set[str]:
    return {f"{seat.player}/{seat.bot}" for seat in row.seats}


async def test_a_ladder_runs_from_the_opening_to_the_freeze_and_counts_for_nothing(
    course: Fast,
) -> None:
    await course.open(FILE + 'board = "public"\n' + STAFF + PRACTICE, 3)
    await course.until(at_least(course, 24))
    rows = await played(course)
    assert not any(row.rated for row in rows)
    assert {name for row in rows for name in holders(row)} == {
        *("s00/bot", "s01/bot", "s02/bot", "staff/b0"),
    }, "hidden baselines are never on it"
    shown = await board(course)
    names = [line.standing.entrant.name for line in shown.lines]
    assert names[0] == "s00/bot", "the first one wins everything"
    assert all(line.estimate is not None for line in shown.lines)
    await course.connect("s00", "late")
    await course.until(at_least(course, 1, lambda row: "s00/late" in holders(row)))
    await course.run()
    await course.hub.competitions.look()
    assert (await course.hub.store.read(competition_sql.find, LADDER)).status == "finished"

    async def only_the_final() -> bool:
        # The periodic look may have stored the ladder's end, and not yet stopped it.
        return [each.row.name for each in course.hub.tournaments.played()] == ["Cup: pig"]

    await course.until(only_the_final)
    await course.finished()
    results = await course.hub.boards.results.of(
        await course.hub.store.read(competition_sql.find, "Cup")
    )
    count = len(await course.hub.store.read(competition_sql.entries_of, results.row.id))
    assert len(results.outcomes) == count * (count - 1), "a round robin, and nothing of practice"


async def test_a_new_version_takes_its_place_at_once_and_old_results_count_no_more(
    course: Fast,
) -> None:
    names = await course.open(FILE + PRACTICE, 3)
    await course.until(at_least(course, 18))
    await course.leave("s02/bot")
    await course.connect("s02", version="2")
    await course.until(at_least(course, 2, lambda row: "2" in {seat.version for seat in row.seats}))
    for row in await played(course):
        old = any(seat.player == "s02" and seat.version == "1" for seat in row.seats)
        assert row.replaced is old
    fresh = [row for row in await played(course) if not row.replaced]
    lines = {each.standing.entrant.name: each for each in (await board(course)).lines}
    mine = lines["s02/bot"].standing
    assert mine.entrant.version == "2"
    later = [row for row in await played(course) if not row.replaced]
    counts = [sum("s02/bot" in holders(row) for row in rows) for rows in (fresh, later)]
    assert counts[0] <= mine.matches <= counts[1]
    # After a restart everything is as it was, and the ladder goes on.
    await course.stop()
    await course.start()
    before = len(await played(course))
    for name in names:
        await course.connect(name, version="2" if name == "s02" else "1")
    await course.until(at_least(course, before + 6))
    assert len({row.match for row in await played(course)}) >= before + 6
    lines = {each.standing.entrant.name: each for each in (await board(course)).lines}
    assert lines["s02/bot"].standing.entrant.version == "2"


async def test_a_bot_without_a_match_to_spare_rests_after_a_practice_pairing(
    course: Fast,
) -> None:
    course.max_matches, course.step = 2, 0.0
    await course.open(FILE + PRACTICE, 2)
    await course.until(at_least(course, 2))
    await course.until(idle(course))
    await look_around(course)
    (running,) = course.hub.tournaments.played()
    bots = [course.hub.directory.presences[bot] for bot in running.names]
    assert [bot.free for bot in bots] == [2, 2], "others may play them now"
    course.clock.advance(5.1)
    course.hub.tournaments.advance_soon()
    await course.until(at_least(course, 4))


async def test_bots_that_are_known_rest_longer_and_a_new_version_chooses_them(
    course: Fast,
) -> None:
    course.step = 0.0
    await course.open(FILE + PRACTICE, 2)
    for number in range(1, 5):
        await course.until(at_least(course, 2 * number))
        await course.until(idle(course))
        course.clock.advance(5 * number - 0.1)
        await look_around(course)
        assert len(await played(course)) == 2 * number, "both rest"
        course.clock.advance(0.2)
        course.hub.tournaments.advance_soon()
    await course.until(at_least(course, 10))
    await course.until(idle(course))
    await course.leave("s01/bot")
    await course.connect("s01", version="2")
    await course.until(at_least(course, 12))


async def test_a_bot_plays_one_practice_pairing_at_a_time(course: Fast) -> None:
    await course.open(FILE + PRACTICE, 2)
    await course.until(at_least(course, 8))
    assert course.most == 2


def idle(course: Course) -> Any:
    async def nothing_runs() -> bool:
        return not course.hub.directory.own

    return nothing_runs


async def look_around(course: Course) -> None:
    """Let the ladder look for pairings, several times."""
    for _ in range(20):
        course.hub.tournaments.advance_soon()
        await asyncio.sleep(0)
    assert not course.hub.directory.own


async def test_who_leaves_is_paired_no_more_and_a_deleted_ladder_stays_deleted(
    course: Fast,
) -> None:
    await course.open(FILE + PRACTICE, 3)
    await course.until(at_least(course, 6))
    await course.hub.store.write(
        competition_students.disqualify, "Cup", "s01", OLGA, course.hub.store.now()
    )
    await course.hub.competitions.look()
    await course.until(at_least(course, 2 + len(await played(course))))
    ladder = await course.hub.store.read(competition_sql.find, LADDER)
    entries = await course.hub.store.read(competition_sql.entries_of, ladder.id)
    assert {each.player: each.status for each in entries}["s01"] == "disqualified"
    (running,) = course.hub.tournaments.played()
    assert len(running.gone) == 1
    await course.hub.store.write(
        competition_sql.move, ladder.id, "delete", OLGA, course.hub.store.now()
    )
    await course.hub.audit_follower.look()
    await course.hub.competitions.look()
    assert course.hub.tournaments.played() == []
    await course.hub.store.write(
        competition_sql.move, "Cup", "delete", OLGA, course.hub.store.now()
    )
    await course.hub.competitions.look()


async def test_the_ladder_of_a_deleted_competition_is_deleted(course: Fast) -> None:
    await course.open(FILE + PRACTICE, 2)
    await course.until(at_least(course, 2))
    name = await practice_id(course)
    await course.hub.store.write(
        competition_sql.move, "Cup", "delete", OLGA, course.hub.store.now()
    )
    await course.hub.audit_follower.look()
    await course.hub.competitions.look()
    await course.hub.audit_follower.look()
    assert await course.hub.store.read(practice_ladders.status, name) == "deleted"

    async def nothing() -> bool:
        # A periodic look may have read of the end, and not yet stopped it.
        return course.hub.tournaments.played() == []

    await course.until(nothing)


async def test_an_anonymous_ladder_shows_a_student_its_own_place_and_matches(
    course: Fast,
) -> None:
    await course.open(FILE + 'board = "anonymous"\n' + PRACTICE, 4)
    await course.until(at_least(course, 24))
    mine = await course.hub.store.authenticate(course.tokens["s03"])
    assert mine is not None
    shown = await board(course, mine)
    names = [line.standing.entrant.name for line in shown.lines]
    assert names == [PRIVATE, PRIVATE, PRIVATE, "s03/bot"]
    own = shown.lines[-1]
    assert own.standing.place == 4
    assert own.estimate is not None
    assert own.estimate.low < own.estimate.elo < own.estimate.high
    sight = await course.hub.privacy.sight(mine)
    ids = tuple(each.row.id for each in course.hub.tournaments.played())
    rows = await course.hub.privacy.matches(sight, MatchFilter(tournament_ids=ids), limit=100)
    assert rows
    assert all("s03/bot" in holders(row) for row in rows)
    eve = await course.hub.store.authenticate(await course._account("eve"))
    with pytest.raises(ProtocolError):
        await board(course, replace(eve, scopes=frozenset({"play"})) if eve else ORGANISER)


async def test_a_ladder_follows_changes_of_its_competition_and_goes_on_after_an_unfreeze(
    course: Fast,
) -> None:
    hub, store = course.hub, course.hub.store
    await course.open(
        FILE + 'board = "public"\n' + STAFF.replace("hidden = true\n", "") + PRACTICE, 2
    )
    met = {"s00/bot", "staff/b1"}
    await course.until(at_least(course, 1, lambda row: holders(row) == met))

    async def change(old: str, new: str) -> None:
        row = await store.read(competition_sql.find, "Cup")
        proposal = await file_changes.propose(
            hub.store, hub.competitions, row, row.file.replace(old, new)
        )
        await file_changes.change(hub.store, hub.competitions, proposal, OLGA)
        await hub.competitions.look()
        await hub.audit_follower.look()

    nobody = await hub.privacy.sight(None)
    ids = tuple(each.row.id for each in hub.tournaments.played())
    assert await hub.privacy.matches(nobody, MatchFilter(tournament_ids=ids))
    await change('board = "public"', 'board = "anonymous"')
    nobody = await hub.privacy.sight(None)
    assert await hub.privacy.matches(nobody, MatchFilter(tournament_ids=ids)) == []
    await change('bot = "staff/b1"', 'bot = "staff/b1"\nhidden = true')
    mine = await hub.store.authenticate(course.tokens["s00"])
    assert mine is not None
    shown = str([line.standing.entrant.name for line in (await board(course, mine)).lines])
    assert "staff/b0" in shown
    assert "staff/b1" not in shown
    sight = await hub.privacy.sight(mine)
    rows = await hub.privacy.matches(sight, MatchFilter(tournament_ids=ids), limit=200)
    assert PRIVATE in {seat.player for row in rows for seat in row.seats}
    assert "staff/b1" not in {name for row in rows for name in holders(row)}
    before = len(await played(course))
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    await hub.competitions.look()
    await hub.audit_follower.look()
    assert hub.tournaments.played() == []
    await file_changes.unfreeze(
        hub.store, hub.competitions, await store.read(competition_sql.find, "Cup"), OLGA
    )
    await course.until(at_least(course, before + 4))
    await change('time_control = "total:3000"', 'time_control = "total:2000"')
    assert (await store.read(competition_sql.find, LADDER)).status == "finished"
    await hub.competitions.look()
    assert hub.tournaments.played() == []


async def test_a_ladder_that_two_looks_end_at_once_goes_on_after_an_unfreeze(course: Fast) -> None:
    hub, store = course.hub, course.hub.store
    await course.open(FILE + PRACTICE, 2)
    await course.until(at_least(course, 2))
    before = len(await played(course))
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    await asyncio.gather(hub.competitions.look(), hub.competitions.look())
    assert (await store.read(competition_sql.find, LADDER)).status == "finished"
    row = await store.read(competition_sql.find, "Cup")
    await file_changes.unfreeze(store, hub.competitions, row, OLGA)
    await hub.competitions.look()
    assert (await store.read(competition_sql.find, LADDER)).status == "running"
    await course.until(at_least(course, before + 2))
