"""Finals in every format, with bots in memory: played to the end, interrupted, and again."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.harness.hub_finals import FILE, OLGA, ORGANISER, STAFF, Course, places, states

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition_rules import progress
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.formats import LineState
from plyhouse.server.competitions import tournaments
from plyhouse.server.competitions.finals import finals_of, parts
from plyhouse.server.grades.game_tables import GameFinal
from plyhouse.storage import competition_sql, competition_students
from plyhouse.storage import tournaments as stored_tournaments
from plyhouse.storage.causes import written


async def shown_versions(course: Course, student: str) -> list[tuple[str, str]]:
    """The versions of a student in the status and on the board: of its results, and the next."""
    view = await course.hub.competitions.view("Cup")
    (entry,) = [each for each in view.entries if each.player == student]
    found = await course.hub.boards.results.of(view.row)
    (entrant,) = [each for each in found.entrants if each.student == student]
    return [(entry.version, entry.next_version), (entrant.version, entry.next_version)]


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
    assert states(final) <= {LineState.FINISHED, LineState.BYE}
    found = places(final)
    assert found["s00/bot"] == 1
    if staff:
        assert found["staff/b0"] is None
    view = await course.hub.competitions.view("Cup")
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
    export = await course.hub.boards.results.of(
        await course.hub.store.read(competition_sql.find, "Cup")
    )
    assert sum(line.matches for line in export.standings) == 2 * matches


@pytest.mark.parametrize(("seats", "students"), [(4, 9), (6, 7)])
async def test_tables_of_many_seats_are_played_to_their_table_over_a_restart(
    course: Course, seats: int, students: int
) -> None:
    file = FILE.replace('"pig"', f'"pig(seats={seats})"')
    names = await course.open(f'{file}[format]\nname = "tables"\nnumber = 2\n', students)
    await course.run()

    async def played() -> bool:
        return len(course.begun) >= seats

    await course.until(played)
    await course.restart(names)
    final = await course.finished()
    assert len(final.rounds) == 2
    assert states(final) <= {LineState.FINISHED, LineState.BYE}
    lines = [line for each in final.rounds for line in each.lines if line.outcome]
    assert len(lines) == 2 * (students // seats)
    assert [line.outcome.matches for line in lines if line.outcome] == [seats] * len(lines)
    board = await course.hub.boards.board("Cup", ORGANISER)
    assert [each.standing.place for each in board.lines] == [row.place for row in final.table]
    points = {final.names[row.entry]: row.points for row in final.table}
    assert points["s00/bot"] == max(points.values())


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
        await course.restart(names)
    final = await course.finished()
    assert places(final)["s00/bot"] == 1
    assert states(final) <= {LineState.FINISHED, LineState.BYE}
    counted = sum(
        line.outcome.matches for each in final.rounds for line in each.lines if line.outcome
    )
    listed = await course.hub.store.read(stored_tournaments.played_seats, final.tournament_id)
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
        database.execute("UPDATE tournaments SET data = json_remove(data, '$.lot')")
        database.execute("UPDATE tournaments SET data = json_set(data, '$.seeds', json('[]'))")
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
    waiting = [line for line in final.rounds[0].lines if line.state is LineState.READY]
    gone = final.names[waiting[0].players[0]]
    other = final.names[waiting[0].players[1]]
    await course.hub.store.write(
        competition_students.disqualify, "Cup", gone, OLGA, course.hub.store.now()
    )
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
    assert lost.state is LineState.WALKOVER
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
    [first] = [line for line in final.rounds[0].lines if line.state is LineState.PLAYING]
    resting = [final.names[line.players[0]] for line in final.rounds[0].lines if line != first]
    await course.hub.store.write(
        competition_students.disqualify, "Cup", resting[0], OLGA, course.hub.store.now()
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
    assert [state for _, state in lost] == [LineState.WALKOVER] * 2
    assert [name.partition(",")[0] for name, _ in lost] == ["Winners", "Losers"]
    found = places(final)
    assert found[resting[0]] is None
    best = "s00/bot" if resting[0] != "s00/bot" else "s01/bot"
    assert found[best] == 1


def _live(course: Course, count: int) -> Any:
    """Wait for matches that bots were told of: only then does the database have them."""

    async def enough() -> bool:
        return len(course.begun) >= count

    return enough


async def test_a_result_that_comes_while_a_round_is_drawn_is_not_lost(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question to the format waits until more has happened."""
    asked: list[int] = []
    real = progress.look

    def slow(*facts: Any) -> Any:
        answer = real(*facts)
        asked.append(len(course.begun))
        time.sleep(0.02 * (len(asked) % 2))
        return answer

    monkeypatch.setattr(tournaments, "look", slow)
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
    for each in list(course.hub.directory.own.values()):
        each.input(each.match.abort, written("by hand"), course.hub.now())
    course.hold = False
    final = await course.finished()
    assert [len(each.lines) for each in final.rounds] == [2, 2]
    assert states(final) == {LineState.FINISHED}
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
        await finals_of(course.hub.boards, "Cup", None)
    await course.hub.store.write(
        competition_students.extend, "Cup", names[2], 2**50, OLGA, course.hub.store.now()
    )
    await course.leave(f"{names[2]}/bot")
    await course.connect(names[2], version="2")
    # The page shows the version of the results; the other one is for the rerun.
    assert await shown_versions(course, names[2]) == [("1", "2"), ("1", "2")]
    await course.hub.competitions.rerun("Cup", OLGA, anyway=True)
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
    export = await course.hub.boards.results.of(
        await course.hub.store.read(competition_sql.find, "Cup")
    )
    assert sum(line.matches for line in export.standings) == 2 * first
    # Once more, with nothing changed: nothing is played.
    await course.hub.competitions.rerun("Cup", OLGA, anyway=True)
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
        competition_students.extend, "Cup", names[7], 2**50, OLGA, course.hub.store.now()
    )
    await course.leave(f"{names[7]}/bot")
    await course.connect(names[7], version="2")
    await course.hub.competitions.rerun("Cup", OLGA, anyway=True)
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
        (final,) = await finals_of(course.hub.boards, "Cup", viewer)
        return final

    reads = 0
    read = stored_tournaments.played_seats

    def counting(connection: Connection, identifier: str) -> Any:
        nonlocal reads
        reads += 1
        return read(connection, identifier)

    monkeypatch.setattr(stored_tournaments, "played_seats", counting)
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
        await finals_of(course.hub.boards, "Cup", eve)
    assert caught.value.code == "auth/scope"


@pytest.mark.parametrize("board", ["public", "class", "anonymous"])
async def test_a_ladder_counts_for_leaderboards_only_if_its_board_is_public(
    course: Course, board: str
) -> None:
    text = f'{FILE}board = "{board}"\n[format]\nname = "ladder"\n'
    await course.open(text, 0)
    row = await course.hub.store.read(competition_sql.find, "Cup")
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
    await course.hub.store.write(
        competition_sql.move, "Cup", "finish", OLGA, course.hub.store.now()
    )
    await course.hub.audit_follower.look()
    assert len(course.hub.tournaments) == 0
    final = await course.finished()
    met = [line.players for line in final.rounds[0].lines]
    assert len({frozenset(pair) for pair in met}) == 10, "everybody meets everybody in time"
    count = [sum(bot in pair for pair in met) for bot in final.names]
    assert min(count) >= max(count) / 2, "nobody starves"
    assert places(final)["s00/bot"] == 1
    assert places(final)["s04/bot"] == 5


async def test_gauntlet_of_three_seats_seats_both_baselines_with_each_entry(course: Course) -> None:
    file = FILE.replace('"pig"', '"pig(seats=3)"')
    await course.open(f'{file}[format]\nname = "gauntlet"\n{STAFF}', 2)
    planned = (await course.hub.competitions.view("Cup")).games[0].planned
    await course.run()
    final = await course.finished()
    assert len(course.begun) == planned == 2 * 3
    lines = [line for each in final.rounds for line in each.lines]
    assert [{final.names[bot] for bot in line.players} for line in lines] == [
        {"s00/bot", "staff/b0", "staff/b1"},
        {"s01/bot", "staff/b0", "staff/b1"},
    ]
    assert places(final) == {"s00/bot": 1, "s01/bot": 1, "staff/b0": None, "staff/b1": None}
