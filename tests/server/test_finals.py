"""Finals in every format, with bots in memory: played to the end, interrupted, and again."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Client

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    MatchMessage,
    MatchSnapshot,
    Ok,
    Ready,
    Resign,
    SeatInfo,
    Welcome,
)
from plyhouse.server.competition import progress
from plyhouse.server.competition.evidence import PRIVATE
from plyhouse.server.competition.facts import State
from plyhouse.server.competition.file import read_competition
from plyhouse.server.config import ServerConfig
from plyhouse.server.contests import competitions
from plyhouse.server.contests.finals import finals_of, parts
from plyhouse.server.contests.game_finals import GameFinal
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import class_people, class_sql
from plyhouse.storage.class_rows import NewMember
from plyhouse.storage.rows import By, Identity

OLGA = By("olga")
ORGANISER = Identity(0, "olga", frozenset({"organise"}), 0)
FILE = 'name = "Cup"\ngames = ["pig"]\ntime_control = "total:60"\nentries_per_student = 2\n'
STAFF = '[[baselines]]\nbot = "staff/b0"\n[[baselines]]\nbot = "staff/b1"\nhidden = true\n'


def told(info: SeatInfo) -> str:
    """Who holds a seat; of a hidden baseline its rivals are told no name."""
    return "staff/b1" if info.player == PRIVATE else f"{info.player}/{info.bot}"


class Course:
    """A server in this process, a class on it, and bots of which the first ones win."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.hub: Hub
        self.tokens: dict[str, str] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.begun: dict[str, MatchSnapshot] = {}
        """Every match that bots were told of, by its id, in order."""
        self.hold = False
        """Whether bots do nothing but connect."""
        self.crashing: set[str] = set()
        self.max_matches = 8
        self.most = 0

    async def start(self) -> None:
        self.hub = await Hub.open(ServerConfig(database=self.url))

    async def stop(self) -> None:
        for name in list(self.tasks):
            await self.leave(name)
        await self.hub.close()

    async def open(self, text: str, students: int) -> list[str]:
        """Open a competition, take students in, and connect their bots."""
        if "baselines" in text:
            self.tokens["staff"] = await self._account("staff")
            for bot in ("b0", "b1"):
                await self.connect("staff", bot)
        await self.hub.courses.open(text, OLGA)
        names = [f"s{number:02}" for number in range(students)]
        people = [NewMember(name, name) for name in names]
        for joined in await self.hub.store.write(
            class_people.take_in, "Cup", people, OLGA, self.hub.store.now()
        ):
            self.tokens[joined.account] = joined.token
        for name in names:
            await self.connect(name)
        return names

    async def _account(self, name: str) -> str:
        await self.hub.store.add_player(name)
        return await self.hub.store.add_token(name)

    async def connect(self, player: str, bot: str = "bot", version: str = "1") -> None:
        client = Client(self.hub.connect(), MSGPACK)
        hello = {
            "games": ["pig"],
            "version": version,
            "takeover": True,
            "max_matches": self.max_matches,
        }
        welcome = await client.hello(self.tokens[player], bot, **hello)
        assert isinstance(welcome, Welcome), welcome
        name = f"{player}/{bot}"
        self.tasks[name] = asyncio.create_task(self._play(client, welcome, name))

    async def leave(self, name: str) -> None:
        task = self.tasks.pop(name)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def _play(self, client: Client, welcome: Welcome, name: str) -> None:
        """Be ready for every match at once; resign those that are this one's as they begin.

        Waiting for the other one of one match alone would leave that of another waiting: two who
        wait for each other would lose by not being ready.
        """
        waiting: list[tuple[Any, ...]] = []
        client.inbox[:0] = [MatchMessage(shown) for shown in welcome.matches]
        try:
            while True:
                if not client.inbox and not waiting:
                    client.inbox.append(await client.receive())
                while client.inbox:
                    message = client.inbox.pop(0)
                    if message is None:
                        return
                    if isinstance(message, MatchMessage):
                        self.most = max(self.most, len(self.hub.directory.live))
                        if resignation := await self._match(client, message.snapshot, name):
                            waiting.append(resignation)
                waiting = [
                    each for each in waiting if not await self._settled(client.ask(Resign, *each))
                ]
                if waiting:
                    await asyncio.sleep(0.01)
        finally:
            await client.close()

    async def _settled(self, answer: Awaitable[Any]) -> bool:
        """Whether a match is over: the other one may not be ready yet."""
        told = await answer
        return isinstance(told, Ok) or told.code != "match/not_ready"

    async def _match(
        self, client: Client, shown: MatchSnapshot, name: str
    ) -> tuple[Any, ...] | None:
        """Be ready for a match; returns the fields of the resignation, if it is this one's."""
        self.begun[shown.match] = shown
        if self.hold or shown.outcome is not None:
            return None
        await client.ask(Ready, shown.match)
        names = {told(each) for each in shown.players}
        failing = self.crashing & names
        if name != max(failing or names):
            return None
        return (shown.match, *(("bot_crash", "it crashed") if failing else ()))

    async def until(self, enough: Any) -> None:
        async with asyncio.timeout(60):
            while not await enough():  # noqa: ASYNC110 - the database is asked
                await asyncio.sleep(0.01)

    async def status(self) -> str:
        return (await self.hub.store.read(class_sql.find, "Cup")).status

    async def finished(self) -> GameFinal:
        async def over() -> bool:
            return await self.status() == "finished"

        await self.until(over)
        (final,) = await finals_of(self.hub.store, self.hub.boards, "Cup", ORGANISER)
        return final

    async def final(self) -> GameFinal:
        (final,) = await finals_of(self.hub.store, self.hub.boards, "Cup", ORGANISER)
        return final

    async def run(self) -> None:
        await self.hub.store.write(class_sql.move, "Cup", "freeze", OLGA, self.hub.store.now())
        await self.hub.courses.run("Cup", OLGA)


@pytest.fixture
async def course(tmp_path: Path) -> AsyncIterator[Course]:
    made = Course(f"sqlite:///{tmp_path / 'course.db'}")
    await made.start()
    yield made
    await made.stop()


def places(final: GameFinal) -> dict[str, int | None]:
    return {final.names[line.entry]: line.place for line in final.table}


async def shown_versions(course: Course, student: str) -> list[tuple[str, str]]:
    """The versions of a student in the status and on the board: of its results, and the next."""
    view = await course.hub.courses.view("Cup")
    (entry,) = [each for each in view.entries if each.player == student]
    found = await course.hub.boards.results(view.row)
    (entrant,) = [each for each in found.entrants if each.student == student]
    return [(entry.version, entry.next_version), (entrant.version, entry.next_version)]


def states(final: GameFinal) -> set[State]:
    return {line.state for each in final.rounds for line in each.lines}


@pytest.mark.parametrize(
    ("style", "students", "matches", "rounds"),
    [
        ('name = "double_round_robin"', 4, 24, 6),
        ('name = "swiss"\nnumber = 4', 7, 4 * 3 * 2, 4),
        ('name = "knockout"\nthird_place = true', 6, 6 * 2, 4),
        ('name = "double_elimination"', 6, 10 * 2, 8),
        ('name = "groups_knockout"\nsize = 3\nadvance = 1', 6, 2 * 3 * 2 + 2, 4),
        ('name = "gauntlet"\ntimes = 2', 4, 4 * 2 * 2 * 2, 4),
    ],
)
async def test_every_format_is_played_to_its_table(
    course: Course, style: str, students: int, matches: int, rounds: int
) -> None:
    staff = STAFF if "gauntlet" in style else ""
    await course.open(
        f"{FILE}[limits]\nmatches_at_a_time = 6\n[format]\n{style}\n{staff}", students
    )
    await course.run()
    final = await course.finished()
    assert len(course.begun) == matches
    assert course.most <= 6
    assert len(final.rounds) == rounds
    assert states(final) <= {State.FINISHED, State.BYE}
    found = places(final)
    assert found["s00/bot"] == 1
    if staff:
        assert found["staff/b0"] is None
    view = await course.hub.courses.view("Cup")
    assert view.games[0].finished == matches <= view.games[0].planned
    board = await course.hub.boards.board("Cup", ORGANISER)
    assert "Places are decided by" in board.notes[0]
    placed = [(each.standing.entrant.name, each.standing.place) for each in board.lines]
    assert placed == [(final.names[row.entry], row.place) for row in final.table]
    # The lot is drawn and shown where seeds matter.
    drawn = any(name in style for name in ("swiss", "knockout", "elimination"))
    assert bool(final.lot) == drawn
    assert any(f"seed {final.lot}." in note for note in board.notes) == drawn
    # The mean scores and grades beside it are those of all matches.
    export = await course.hub.boards.results(await course.hub.store.read(class_sql.find, "Cup"))
    assert sum(line.matches for line in export.standings) == 2 * matches


@pytest.mark.parametrize(
    "style", ['name = "swiss"', 'name = "knockout"\nbest_of = 3', 'name = "double_elimination"']
)
async def test_a_server_that_stops_in_the_middle_goes_on_where_it_was(
    course: Course, style: str
) -> None:
    names = await course.open(f"{FILE}[limits]\nmatches_at_a_time = 4\n[format]\n{style}\n", 6)
    await course.run()
    for enough in (5, 11):

        async def played(enough: int = enough) -> bool:
            return len(course.begun) >= enough

        await course.until(played)
        course.hold = True
        await course.stop()
        course.hold = False
        await course.start()
        for name in names:
            await course.connect(name)
    final = await course.finished()
    assert places(final)["s00/bot"] == 1
    assert states(final) <= {State.FINISHED, State.BYE}
    counted = sum(
        line.outcome.matches for each in final.rounds for line in each.lines if line.outcome
    )
    listed = await course.hub.store.played_seats(final.competition_id)
    assert len({seat.match_id for seat in listed}) == counted, "nothing twice, or in vain"
    assert {seat.pairing_id for seat in listed} == set(final.pairings.values())


async def test_seeding_by_lot_outlives_a_restart_and_older_finals_keep_their_order(
    course: Course, tmp_path: Path
) -> None:
    await course.open(f'{FILE}[format]\nname = "knockout"\n', 5)
    await course.run()
    before = await course.finished()
    assert len(before.seeds) == 5
    await course.stop()
    await course.start()
    again = await course.final()
    assert (again.seeds, again.lot, again.rounds) == (before.seeds, before.lot, before.rounds)
    await course.stop()
    # As a server without lots has stored it: only entries with a rating were seeded.
    with contextlib.closing(sqlite3.connect(tmp_path / "course.db")) as database, database:
        database.execute("UPDATE competitions SET data = json_remove(data, '$.lot')")
        database.execute("UPDATE competitions SET data = json_set(data, '$.seeds', json('[]'))")
    await course.start()
    older = await course.final()
    assert older.lot == ""
    assert list(older.seeds) == sorted(before.seeds)


async def test_who_leaves_in_the_middle_of_a_round_loses_what_has_not_begun(
    course: Course,
) -> None:
    names = await course.open(
        f'{FILE}[limits]\nmatches_at_a_time = 2\n[format]\nname = "swiss"\nnumber = 3\n', 6
    )
    course.hold = True
    await course.run()
    await course.until(_live(course, 2))
    final = await course.final()
    waiting = [line for line in final.rounds[0].lines if line.state is State.READY]
    gone = final.names[waiting[0].players[0]]
    other = final.names[waiting[0].players[1]]
    await course.hub.store.write(class_people.disqualify, "Cup", gone, OLGA, course.hub.store.now())
    await course.hub.audit_follower.look()
    # Before anything else, the server stops: what it knew of the round must be stored.
    await course.stop()
    course.hold = False
    await course.start()
    for name in names:
        await course.connect(name)
    final = await course.finished()
    (lost,) = [
        line for line in final.rounds[0].lines if gone in [final.names[bot] for bot in line.players]
    ]
    assert lost.state is State.WALKOVER
    assert lost.winner is not None
    assert final.names[lost.winner] == other
    assert len(final.rounds) == 3
    assert not any(
        gone in [final.names[bot] for bot in line.players]
        for each in final.rounds[1:]
        for line in each.lines
    )


async def test_a_disqualified_entry_loses_both_brackets_of_a_double_elimination(
    course: Course,
) -> None:
    names = await course.open(f'{FILE}[format]\nname = "double_elimination"\n', 5)
    course.hold = True
    await course.run()
    await course.until(_live(course, 2))
    final = await course.final()
    [first] = [line for line in final.rounds[0].lines if line.state is State.PLAYING]
    resting = [final.names[line.players[0]] for line in final.rounds[0].lines if line != first]
    await course.hub.store.write(
        class_people.disqualify, "Cup", resting[0], OLGA, course.hub.store.now()
    )
    await course.hub.audit_follower.look()
    await course.stop()
    course.hold = False
    await course.start()
    for name in names:
        await course.connect(name)
    final = await course.finished()
    lost = [
        (each.name, line.state)
        for each in final.rounds
        for line in each.lines
        if line.winner is not None
        and len(line.players) == 2
        and resting[0] in [final.names[bot] for bot in line.players]
        and final.names[line.winner] != resting[0]
    ]
    assert [state for _, state in lost] == [State.WALKOVER] * 2
    assert [name.partition(",")[0] for name, _ in lost] == ["Winners", "Losers"]
    found = places(final)
    assert found[resting[0]] is None
    best = "s00/bot" if resting[0] != "s00/bot" else "s01/bot"
    assert found[best] == 1


def _live(course: Course, count: int) -> Any:
    async def enough() -> bool:
        return len(course.hub.directory.live) >= count

    return enough


async def test_a_result_that_comes_while_a_round_is_drawn_is_not_lost(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked of the format takes until more has happened."""
    asked: list[int] = []
    real = progress.look

    def slow(*facts: Any) -> Any:
        answer = real(*facts)
        asked.append(len(course.begun))
        time.sleep(0.02 * (len(asked) % 2))
        return answer

    monkeypatch.setattr(competitions, "look", slow)
    await course.open(f'{FILE}[format]\nname = "knockout"\nbest_of = 3\nextra = 0\n', 8)
    await course.run()
    final = await course.finished()
    assert places(final)["s00/bot"] == 1
    assert len(final.pairings) == 7 * 2, "a series is over when it is decided"


async def test_a_void_match_is_played_again_and_a_crashing_baseline_forfeits(
    course: Course,
) -> None:
    await course.open(f'{FILE}[format]\nname = "gauntlet"\n{STAFF}', 2)
    course.crashing.add("staff/b1")
    course.hold = True
    await course.run()
    await course.until(_live(course, 8))
    for each in list(course.hub.directory.live.values()):
        each.input(each.match.abort, "by hand", course.hub.now())
    course.hold = False
    final = await course.finished()
    assert [len(each.lines) for each in final.rounds] == [2, 2]
    assert states(final) == {State.FINISHED}
    for drawn in final.rounds:
        for line in drawn.lines:
            assert line.outcome is not None
            staff = next(bot for bot in line.players if final.names[bot].startswith("staff"))
            crashed = final.names[staff] == "staff/b1"
            assert line.outcome.forfeited == ({staff} if crashed else set())
            assert line.outcome.matches == 2
    assert len([each for each in course.begun.values() if "~1" in each.pairing]) == 8


# ------------------------------------------------------------------------- only what changed


@pytest.mark.parametrize(
    ("style", "fresh"),
    [
        ('name = "round_robin"', 2 * 4),
        ('name = "gauntlet"', 2 * 2),
    ],
)
async def test_after_a_resubmission_only_that_student_plays_again(
    course: Course, style: str, fresh: int
) -> None:
    staff = STAFF if "gauntlet" in style else ""
    names = await course.open(f"{FILE}[format]\n{style}\n{staff}", 5)
    await course.run()
    before = await course.finished()
    first = len(course.begun)
    with pytest.raises(ProtocolError):
        await finals_of(course.hub.store, course.hub.boards, "Cup", None)
    await course.hub.store.write(
        class_people.extend, "Cup", names[2], 2**50, OLGA, course.hub.store.now()
    )
    await course.leave(f"{names[2]}/bot")
    await course.connect(names[2], version="2")
    # What is shown is the version that the results are of; the other one is for the rerun.
    assert await shown_versions(course, names[2]) == [("1", "2"), ("1", "2")]
    await course.hub.courses.rerun("Cup", OLGA, anyway=True)
    await course.stop()
    await course.start()
    if staff:
        for bot in ("b0", "b1"):
            await course.connect("staff", bot)
    for name in names:
        await course.connect(name, version="2" if name == names[2] else "1")
    after = await course.finished()
    again = list(course.begun.values())[first:]
    assert len(again) == fresh
    assert await shown_versions(course, names[2]) == [("2", ""), ("2", "")]
    for each in again:
        assert names[2] in [seat.player for seat in each.players]
    assert places(after) == places(before)
    assert [line.played for line in after.table] == [line.played for line in before.table]
    kept = set(before.pairings.values()) & set(after.pairings.values())
    assert len(kept) == len(before.pairings) - fresh // 2
    export = await course.hub.boards.results(await course.hub.store.read(class_sql.find, "Cup"))
    assert sum(line.matches for line in export.standings) == 2 * first
    # Once more, with nothing changed: nothing is played.
    await course.hub.courses.rerun("Cup", OLGA, anyway=True)
    last = await course.finished()
    assert len(course.begun) == first + fresh
    assert places(last) == places(after)
    assert last.pairings == after.pairings


async def test_a_swiss_that_runs_again_takes_over_pairings_that_are_drawn_again(
    course: Course,
) -> None:
    names = await course.open(f'{FILE}[format]\nname = "swiss"\nnumber = 3\n', 8)
    await course.run()
    before = await course.finished()
    first = len(course.begun)
    await course.hub.store.write(
        class_people.extend, "Cup", names[7], 2**50, OLGA, course.hub.store.now()
    )
    await course.leave(f"{names[7]}/bot")
    await course.connect(names[7], version="2")
    await course.hub.courses.rerun("Cup", OLGA, anyway=True)
    after = await course.finished()
    again = list(course.begun.values())[first:]
    assert {seat.player for each in again for seat in each.players} >= {names[7]}
    assert all(names[7] in [seat.player for seat in each.players] for each in again), (
        "it loses again, so that the others are drawn as before"
    )
    assert places(after) == places(before)


# ------------------------------------------------------------------------------ who sees what


async def test_rounds_are_seen_by_those_who_may_see_the_board(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    await course.open(f'{FILE}board = "anonymous"\n[format]\nname = "gauntlet"\n{STAFF}', 3)
    await course.run()
    await course.finished()
    store = course.hub.store

    async def seen(name: str) -> GameFinal:
        viewer = await store.authenticate(course.tokens[name])
        (final,) = await finals_of(store, course.hub.boards, "Cup", viewer)
        return final

    reads = 0
    read = store.played_seats

    async def counting(identifier: str) -> Any:
        nonlocal reads
        reads += 1
        return await read(identifier)

    monkeypatch.setattr(store, "played_seats", counting)
    mine = await seen("s01")
    await seen("s00")
    assert reads <= 1, "worked out once for all who look"
    shown = [mine.names[bot] for each in mine.rounds for line in each.lines for bot in line.players]
    assert sorted(shown) == ["(another entry)", "s01/bot", "s01/bot", "staff/b0"]
    assert [mine.names[line.entry] for line in mine.table] == [
        "(another entry)",
        "s01/bot",
        "staff/b0",
    ]
    eve = await store.authenticate(await course._account("eve"))
    with pytest.raises(ProtocolError) as caught:
        await finals_of(store, course.hub.boards, "Cup", eve)
    assert caught.value.code == "auth/scope"


@pytest.mark.parametrize("board", ["public", "class", "anonymous"])
async def test_a_ladder_counts_for_leaderboards_only_if_its_board_is_public(
    course: Course, board: str
) -> None:
    text = f'{FILE}board = "{board}"\n[format]\nname = "ladder"\n'
    await course.open(text, 0)
    row = await course.hub.store.read(class_sql.find, "Cup")
    (made,) = await parts(row, read_competition(row.file), [], course.hub.store, 0)
    assert made.rated is (board == "public")


async def test_a_ladder_is_played_until_it_is_ended(course: Course) -> None:
    names = await course.open(
        f'{FILE}[limits]\nmatches_at_a_time = 4\n[format]\nname = "ladder"\npatience = 0\n', 5
    )
    await course.run()

    async def played() -> bool:
        return len(course.begun) >= 40

    await course.until(played)
    await course.stop()
    await course.start()
    for name in names:
        await course.connect(name)
    before = len(course.begun)

    async def more() -> bool:
        return len(course.begun) >= before + 20

    await course.until(more)
    assert course.most <= 4
    await course.hub.store.write(class_sql.move, "Cup", "finish", OLGA, course.hub.store.now())
    await course.hub.audit_follower.look()
    assert len(course.hub.competitions) == 0
    final = await course.finished()
    met = [line.players for line in final.rounds[0].lines]
    assert len({frozenset(pair) for pair in met}) == 10, "everybody meets everybody in time"
    count = [sum(bot in pair for pair in met) for bot in final.names]
    assert min(count) >= max(count) / 2, "nobody starves"
    assert places(final)["s00/bot"] == 1
    assert places(final)["s04/bot"] == 5
