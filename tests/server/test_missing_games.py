"""An entry that does not play all games of a competition: told early, and never ahead by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.harness.hub_finals import OLGA, ORGANISER, Course

from plyhouse.clients.shared.student_report import report_text
from plyhouse.storage import (
    audit,
    competition_sql,
    competition_students,
    people,
    submission_sql,
)

FILE = (
    'name = "Cup"\ngames = ["pig", "tic_tac_toe"]\ntime_control = "total:60"\n'
    '[[baselines]]\nbot = "staff/b0"\ngrade = "pass"\nat_least = 0.75\n'
    '[[baselines]]\nbot = "staff/b1"\n'
)
BOTH = {"games": ["pig", "tic_tac_toe"]}
ONE = "s00/bot"
"""The bot of pig only; it wins all of its matches."""
WORDS = "without tic_tac_toe: a missing game counts as 0, and the score is at most 1 of 2"


class TwoGames(Course):
    """A class of two games, whose bots play both unless told otherwise."""

    async def connect(self, player: str, bot: str = "bot", version: str = "1", **more: Any) -> None:
        await super().connect(player, bot, version, **{**BOTH, **more})

    async def submitted(self, *games: str) -> None:
        """Submit the first student's bot as one that its check found to play these games."""
        store = self.hub.store
        bot = await store.ensure_bot((await store.read(people.player, "s00")).id, "bot")
        row = await store.submissions.add(bot.id, "1", "a" * 64, b"x", store.now())
        await store.write(submission_sql.check, row.id, True, "", games, store.now())

    async def over(self) -> None:
        async def done() -> bool:
            return await self.status() == "finished"

        await self.until(done)


@pytest.fixture
async def course(tmp_path: Path) -> Any:
    made = TwoGames(f"sqlite:///{tmp_path / 'course.db'}")
    await made.start()
    yield made
    await made.stop()


async def test_checked_bot_of_one_game_waits_for_nobody_and_is_not_first(course: TwoGames) -> None:
    await course.open(FILE, 3)
    await course.leave(ONE)
    await course.submitted("pig")
    store = course.hub.store
    row = await store.read(competition_sql.find, "Cup")
    # Before the final the staff and the student are told.
    view = await course.hub.competitions.view("Cup")
    (entry,) = [each for each in view.entries if each.name == ONE]
    assert view.missing_of(entry) == WORDS
    assert f"tic_tac_toe is not played by {ONE}: a missing game counts as 0." in view.warnings
    # It is here for pig alone; the final of the other game does not wait for it.
    await course.connect("s00", digest="a" * 64, games=["pig"])
    await course.run()
    why = "it does not play tic_tac_toe, as its check found"
    log = await store.read(audit.latest, 50)
    (noted,) = [each for each in log if each.what == "competition.withdraw"]
    assert (noted.why, noted.subject) == (why, f"{ONE} from Cup: tic_tac_toe")
    await course.over()
    results = await course.hub.boards.results.of(await store.read(competition_sql.find, "Cup"))
    lines = {each.entrant.name: each for each in results.standings}
    assert lines[ONE].games == {"pig": 1.0, "tic_tac_toe": 0.0}
    assert lines[ONE].score == 0.5
    assert lines["s01/bot"].score == pytest.approx(0.875)
    board = await course.hub.boards.board("Cup", ORGANISER)
    assert f"{ONE} is {WORDS}." in board.notes
    assert any(why in each for each in board.notes)
    placed = {each.standing.entrant.name: each.standing.place for each in board.lines}
    assert placed["s01/bot"] == 1
    assert placed[ONE] != 1
    grades = {each.student: each for each in await course.hub.boards.grades(results)}
    assert grades["s00"].missing == ("tic_tac_toe",)
    assert (grades["s00"].grade, grades["s00"].against[0]) == ("", 0.5)
    assert grades["s01"].grade == "pass"
    # The report compares what the grade compares, and says why.
    report = await course.hub.reports.report("Cup", "s00", ORGANISER)
    (gone, _) = report.baselines
    assert (gone.name, gone.score, gone.counted, gone.reached) == ("staff/b0", 1.0, 0.5, False)
    assert report.grade == ""
    assert f"{ONE} is {WORDS}." in report.notes
    assert "pass from 0.75: not reached, as 0.500 counts" in report_text(report, "")
    assert row.id == results.row.id


async def test_rerun_leaves_the_game_out_again_and_takes_a_better_version_in(
    course: TwoGames,
) -> None:
    await course.open(FILE, 2)
    await course.leave(ONE)
    await course.submitted("pig")
    await course.connect("s00", digest="a" * 64, games=["pig"])
    await course.run()
    await course.over()
    await course.hub.competitions.rerun("Cup", OLGA)
    await course.over()
    results = await course.hub.boards.results.of(
        await course.hub.store.read(competition_sql.find, "Cup")
    )
    lines = {each.entrant.name: each for each in results.standings}
    assert lines[ONE].games["tic_tac_toe"] == 0.0


async def test_final_ended_early_counts_a_game_without_a_match_as_missing(
    course: TwoGames,
) -> None:
    await course.open(FILE, 3)
    await course.leave(ONE)  # It is absent from everything, and never withdrawn.
    await course.connect("s00", games=["pig"])

    async def rest() -> bool:
        view = await course.hub.competitions.view("Cup")
        return not course.hub.directory.own and all(each.finished for each in view.games)

    await course.run()
    await course.until(rest)
    view = await course.hub.competitions.view("Cup")
    assert "it would say so with `--game tic_tac_toe`" in str(view.games[1].waiting_for)
    store = course.hub.store
    await store.write(competition_sql.move, "Cup", "finish", OLGA, store.now())
    results = await course.hub.boards.results.of(await store.read(competition_sql.find, "Cup"))
    lines = {each.entrant.name: each for each in results.standings}
    assert lines[ONE].games == {"pig": 1.0, "tic_tac_toe": 0.0}


async def test_disqualified_entry_has_no_missing_games(course: TwoGames) -> None:
    await course.open(FILE, 3)
    await course.leave(ONE)
    await course.connect("s00", games=["pig"])

    async def played() -> bool:
        view = await course.hub.competitions.view("Cup")
        return bool(view.games[0].finished == view.games[0].planned)

    await course.run()
    await course.until(played)
    store = course.hub.store
    await store.write(competition_students.disqualify, "Cup", ONE, OLGA, store.now())
    await course.hub.audit_follower.look()
    await course.over()
    results = await course.hub.boards.results.of(await store.read(competition_sql.find, "Cup"))
    lines = {each.entrant.name: each for each in results.standings}
    assert lines[ONE].games == {"pig": 1.0}
    grades = {each.student: each for each in await course.hub.boards.grades(results)}
    assert (grades["s00"].grade, grades["s00"].missing) == ("disqualified", ())
