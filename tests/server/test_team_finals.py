"""Finals of bridge between sides of two bots, with bots in memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sqlalchemy import Connection
from tests.harness.hub_finals import OLGA, ORGANISER, Course, places, states

from plyhouse.server.competition_rules.formats import LineState
from plyhouse.server.competitions import exports
from plyhouse.server.grades.final_results import Results
from plyhouse.server.grades.standings import Standing
from plyhouse.server.match.presence import PRIVATE
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_students,
    match_lists,
    people,
    suspensions,
    tournaments,
)
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_entries as entry_table
from plyhouse.storage.models import competitions, versions
from plyhouse.storage.rows import By

FILE = """
name = "Cup"
games = ["bridge(boards=1)"]
time_control = "total:60"
teams = true
[format]
"""
STAFF = '[[baselines]]\nbot = "staff/b0"\ngrade = "pass"\n[[baselines]]\nbot = "staff/b1"\n'


async def with_partners(course: Course, text: str, students: int) -> list[str]:
    names = await course.open(text, students)
    for name in names:
        await course.connect(name, "two")
    return names


async def replace_bot(course: Course, player: str, old: str, new: str) -> None:
    store = course.hub.store
    owner = (await store.read(people.player, player)).id
    await store.write(
        competition_entries.enter,
        "Cup", owner, new, version="", replaces=old, now_ms=store.now(),
    )  # fmt: skip


async def extend(course: Course, student: str) -> None:
    await course.hub.store.write(
        competition_students.extend, "Cup", student, 2**50, OLGA, course.hub.store.now()
    )


async def standings_of(course: Course) -> dict[str, Standing]:
    board = await course.hub.boards.board("Cup", ORGANISER)
    return {line.standing.entrant.name: line.standing for line in board.lines}


@pytest.mark.parametrize(
    ("style", "students", "matches"),
    [
        ('name = "round_robin"', 3, 3 * 2),
        ('name = "swiss"\nnumber = 2', 4, 2 * 2 * 2),
        ('name = "knockout"', 4, 3 * 2),
        ('name = "double_elimination"', 3, 4 * 2),
        ('name = "gauntlet"', 2, 2 * 2),
    ],
)
async def test_sides_of_two_bots_play_as_one_entry(
    course: Course, style: str, students: int, matches: int
) -> None:
    staff = STAFF if "gauntlet" in style else ""
    names = await with_partners(course, f"{FILE}{style}\n{staff}", students)
    planned = (await course.hub.competitions.view("Cup")).games[0].planned
    await course.run()
    final = await course.finished()
    assert states(final) <= {LineState.FINISHED, LineState.BYE, LineState.DROPPED}
    rows = await course.hub.store.read(
        match_lists.list_matches, match_lists.MatchFilter(), limit=99
    )
    assert len(rows) == matches <= planned
    for row in rows:
        north, east, south, west = [(seat.player, seat.bot) for seat in row.seats]
        assert (north[0], east[0]) == (south[0], west[0]), "partners sit opposite"
        assert north < south
        assert east < west
    found = places(final)
    assert found["s00/bot"] == 1
    assert found.keys() >= {f"{name}/bot" for name in names}
    lines = await standings_of(course)
    assert lines.keys() == {f"{name}/bot" for name in names} | ({"staff/b0"} if staff else set())
    first = lines["s00/bot"]
    assert [name for _, name in first.entrant.partners] == ["s00/two"]
    assert (first.wins, first.draws, first.losses) == (first.matches, 0, 0)
    assert first.score == 1.0
    grades = await course.hub.boards.grades(
        await course.hub.boards.results.of(await course.hub.store.read(competition_sql.find, "Cup"))
    )
    # The last name by the alphabet resigns, which is a bot of the staff.
    assert {each.grade for each in grades} == ({"pass"} if staff else {""})


async def test_final_of_sides_goes_on_after_a_restart_and_a_withdrawal(course: Course) -> None:
    names = await with_partners(course, f'{FILE}name = "double_round_robin"\n', 4)
    await course.run()

    async def played() -> bool:
        return len(course.begun) >= 4

    await course.until(played)
    await course.restart(names)
    for name in names:
        await course.connect(name, "two")
    view = await course.hub.competitions.view("Cup")
    (game,) = view.row.games
    (two,) = [each.bot_id for each in view.entries if each.name == "s03/two"]
    await course.hub.tournaments.withdraw(game.tournament_id or "", two, OLGA)
    final = await course.finished()
    found = places(final)
    assert [found[f"{name}/bot"] for name in names[:2]] == [1, 2]
    gone = {final.names[row.entry] for row in final.table if row.withdrawn}
    assert gone == {"s03/bot"}, "a side leaves with each of its bots"


async def test_final_of_sides_waits_for_each_partner(course: Course) -> None:
    names = await with_partners(course, f'{FILE}name = "round_robin"\n', 2)
    await course.leave("s01/two")

    async def away() -> bool:
        return course.hub.directory.find("s01/two") is None

    await course.until(away)
    await course.run()

    async def waiting() -> bool:
        view = await course.hub.competitions.view("Cup")
        return view.games[0].waiting_for == ["s01/two is not connected."]

    await course.until(waiting)
    assert course.begun == {}
    await course.connect(names[1], "two")
    await course.finished()


async def test_bot_without_a_partner_is_refused_or_left_out(course: Course) -> None:
    names = await course.open(f'{FILE}name = "round_robin"\n', 3)
    for name in names[:2]:
        await course.connect(name, "two")
    store = course.hub.store
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    with pytest.raises(CompetitionRefusal, match="s02/bot has no partner"):
        await course.hub.competitions.run("Cup", OLGA)
    await course.hub.competitions.run("Cup", OLGA, anyway=True)
    assert set(places(await course.finished())) == {"s00/bot", "s01/bot"}


async def test_board_of_a_competition_of_teams_names_partners(course: Course) -> None:
    await with_partners(course, f'board = "public"\n{FILE}name = "round_robin"\n', 2)
    await course.run()
    await course.finished()
    board = await course.hub.boards.board("Cup", None)
    first = board.lines[0].standing.entrant
    assert first.bots.keys() == {first.bot_id, *[bot for bot, _ in first.partners]}
    assert list(first.bots.values()) == ["s00/bot", "s00/two"]


async def test_replaced_partner_changes_only_its_side_and_only_in_a_rerun(course: Course) -> None:
    text = f'entries_per_student = 4\n{FILE}name = "round_robin"\n'
    await with_partners(course, text, 2)
    for bot in ("three", "four", "five"):
        await course.connect("s01", bot)
    # An older bot than its partners takes a place, which must not lead to other sides.
    await replace_bot(course, "s01", "bot", "five")
    await course.run()
    await course.finished()
    before = await standings_of(course)
    sides = {tuple(each.entrant.bots.values()): each for each in before.values()}
    kept, changing = ("s01/two", "s01/three"), ("s01/four", "s01/five")
    assert sides.keys() == {("s00/bot", "s00/two"), kept, changing}
    await extend(course, "s01")
    await replace_bot(course, "s01", "five", "bot")
    after = await standings_of(course)
    for name, each in before.items():
        assert after[name].entrant.bots == each.entrant.bots
        assert (after[name].matches, after[name].score) == (each.matches, each.score)
    assert after["s01/four"].entrant.status == "withdrawn"
    played = set(course.begun)
    await course.hub.competitions.rerun("Cup", OLGA, anyway=True)
    final = await course.finished()
    assert states(final) == {LineState.FINISHED}
    lines = await standings_of(course)
    assert {tuple(each.entrant.bots.values()) for each in lines.values()} == {
        ("s00/bot", "s00/two"), kept, ("s01/four", "s01/bot")
    }  # fmt: skip
    again = [course.begun[match] for match in course.begun.keys() - played]
    assert len(again) == 2 * 2, "the new side meets both others, once from each side"
    for shown in again:
        assert {"four", "bot"} <= {seat.bot for seat in shown.players if seat.player == "s01"}
    assert [each.matches for each in lines.values()] == [4, 4, 4]
    assert {final.names[row.entry]: 2 * row.played for row in final.table} == dict.fromkeys(
        lines, 4
    )


async def test_late_partner_costs_its_side_the_penalty(course: Course) -> None:
    dates = "[dates]\nfreeze = 2999-01-01T00:00:00Z\n[late]\ndays = 3\npenalty_per_day = 10\n"
    await with_partners(course, f'{FILE}name = "round_robin"\n{dates}', 2)
    store = course.hub.store
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    await course.hub.competitions.run("Cup", OLGA, anyway=True)
    await course.finished()
    view = await course.hub.competitions.view("Cup")
    came = {"s00/two": 25, "s01/bot": 1, "s01/two": 49}

    def late(connection: Connection) -> None:
        now = store.now()
        connection.execute(competitions.update().values(freezes_ms=now))
        for each in view.entries:
            created = now + came.get(each.name, -1) * 3_600_000
            mine = versions.c.id == each.version_id
            connection.execute(versions.update().where(mine).values(created_ms=created))

    await store.write(late)
    row = await store.read(competition_sql.find, "Cup")
    grades = await course.hub.boards.grades(await course.hub.boards.results.of(row))
    assert {each.entry: (each.days_late, each.penalty) for each in grades} == {
        "s00/bot": (2, 20.0), "s01/bot": (3, 30.0)
    }  # fmt: skip


async def test_board_and_report_say_why_a_partner_was_withdrawn(course: Course) -> None:
    await with_partners(course, f'{FILE}name = "round_robin"\n', 2)
    await course.run()
    await course.finished()
    store, view = course.hub.store, await course.hub.competitions.view("Cup")
    (two,) = [each for each in view.entries if each.name == "s01/two"]
    part = view.row.games[0].tournament_id or ""
    asked_for = By("olga", "its author asked for it")
    await store.write(tournaments.withdraw, part, two.bot_id, asked_for, store.now())
    assert two.version_id is not None
    await store.write(suspensions.suspend, two.version_id, "it crashed", store.now())
    mine = entry_table.c.bot_id == two.bot_id
    gone = entry_table.update().where(mine).values(status="withdrawn")
    await store.write(lambda connection: connection.execute(gone).rowcount)
    board = await course.hub.boards.board("Cup", ORGANISER)
    suspended = "s01/two was withdrawn from the final, as it is suspended: it crashed."
    assert suspended in board.notes
    asked = "s01/two was withdrawn from bridge(boards=1): its author asked for it."
    assert asked in board.notes
    report = await course.hub.reports.report("Cup", "s01", ORGANISER)
    assert suspended in report.notes
    other = await course.hub.reports.report("Cup", "s00", ORGANISER)
    assert suspended not in other.notes


async def test_export_names_every_bot_but_hidden_ones(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff = '[[baselines]]\nbot = "staff/b0"\nhidden = true\n'
    staff += staff.replace("b0", "b1")
    await with_partners(course, f'board = "public"\n{FILE}name = "round_robin"\n{staff}', 2)
    await course.run()
    await course.finished()

    def listed(found: Results, names: Mapping[int, str]) -> bytes:
        return " ".join(sorted({names[each.bot_id] for each in found.seats})).encode()

    monkeypatch.setattr(exports, "has_parquet", lambda: True)
    monkeypatch.setattr(exports, "_parquet", listed)
    students = "s00/bot s00/two s01/bot s01/two"
    found = await course.hub.exports.parquet("Cup", None)
    assert found.decode() == f"{PRIVATE} {students}"
    found = await course.hub.exports.parquet("Cup", ORGANISER)
    assert found.decode() == f"{students} staff/b0 staff/b1"


@pytest.mark.parametrize("style", ["swiss", "knockout"])
async def test_side_without_a_partner_is_not_drawn_in_a_rerun(course: Course, style: str) -> None:
    await with_partners(course, f'{FILE}name = "{style}"\n', 4)
    await course.run()
    await course.finished()
    store, view = course.hub.store, await course.hub.competitions.view("Cup")
    (two,) = [each.bot_id for each in view.entries if each.name == "s01/two"]
    gone = entry_table.update().where(entry_table.c.bot_id == two).values(status="withdrawn")
    await store.write(lambda connection: connection.execute(gone).rowcount)
    with pytest.raises(CompetitionRefusal, match="s01/bot has no partner"):
        await course.hub.competitions.rerun("Cup", OLGA)
    played = set(course.begun)
    await course.hub.competitions.rerun("Cup", OLGA, anyway=True)
    final = await course.finished()
    drawn = {
        final.names[bot] for each in final.rounds for line in each.lines for bot in line.players
    }
    assert drawn == {"s00/bot", "s02/bot", "s03/bot"}
    new = [course.begun[match] for match in course.begun.keys() - played]
    assert not [each for each in new if "s01" in {seat.player for seat in each.players}]
