"""A final that plays until grades are certain, with bots in memory and a stop in the middle."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness.hub_finals import FILE, ORGANISER, Course, told
from tests.harness.server import BotClient

from plyhouse.protocol.messages import MatchSnapshot, Ready
from plyhouse.server.competitions.exports import grade_entries
from plyhouse.server.competitions.finals import finals_of
from plyhouse.server.results.sequential import ConfidenceSequence, Grading
from plyhouse.server.web.api.standings import board_view
from plyhouse.storage import competition_sql

STAFF = (
    '[[baselines]]\nbot = "staff/b0"\ngrade = "pass"\nat_least = 0.4\n'
    '[[baselines]]\nbot = "staff/b1"\ngrade = "good"\nat_least = 0.6\nhidden = true\n'
)
TEXT = f'{FILE}[format]\nname = "gauntlet"\nuntil_certain = true\nmost = 40\n{STAFF}'


class Clear(Course):
    """s00 always wins, s01 always loses."""

    async def _match(
        self, client: BotClient, shown: MatchSnapshot, name: str
    ) -> tuple[Any, ...] | None:
        self.begun[shown.match] = shown
        if self.hold or shown.outcome is not None:
            return None
        await client.ask(Ready, shown.match)
        names = {told(each) for each in shown.players}
        return (shown.match,) if name == ("s01/bot" if "s01/bot" in names else max(names)) else None


@pytest.fixture
async def course(tmp_path: Path) -> AsyncIterator[Clear]:
    made = Clear(f"sqlite:///{tmp_path / 'course.db'}")
    await made.start()
    yield made
    await made.stop()


def needed(threshold: float, score: float) -> int:
    """Pairs until it is certain, each baseline having half of the error."""
    grading = Grading([threshold], maximum=40, alpha=0.025)
    while grading.add(score).band is None:
        pass
    return grading.decision.pairs


async def test_a_final_ends_when_grades_are_certain(course: Clear) -> None:
    names = await course.open(TEXT, 2)
    await course.run()

    async def some() -> bool:
        return len(course.begun) >= 12

    await course.until(some)
    await course.stop()
    await course.start()
    for bot in ("b0", "b1"):
        await course.connect("staff", bot)
    for name in names:
        await course.connect(name)
    final = await course.finished()
    pairs = Counter(
        tuple(sorted(final.names[bot] for bot in line.players))
        for each in final.rounds
        for line in each.lines
    )
    assert pairs == {
        ("s00/bot", "staff/b0"): needed(0.4, 1.0),
        ("s00/bot", "staff/b1"): needed(0.6, 1.0),
        ("s01/bot", "staff/b0"): needed(0.4, 0.0),
        ("s01/bot", "staff/b1"): needed(0.6, 0.0),
    }
    reached = {(final.names[each.entry], each.reached) for each in final.certainty}
    assert reached == {("s00/bot", True), ("s01/bot", False)}
    hub = course.hub
    text = await hub.exports.grades("Cup")
    lines = {row["student"]: row for row in csv.DictReader(text.splitlines())}
    assert lines["s00"]["grade"] == "good"
    assert lines["s00"]["decision staff/b1"] == "decided"
    assert int(lines["s00"]["matches staff/b1"]) == 2 * needed(0.6, 1.0)
    assert "standard error staff/b1" not in lines["s00"]
    assert float(lines["s00"]["low staff/b1"]) >= 0.6 > float(lines["s01"]["high staff/b1"])
    entries = await grade_entries(
        hub.store,
        hub.boards,
        await hub.boards.results.of(await hub.store.read(competition_sql.find, "Cup")),
    )
    assert [(each.grade.student, each.points) for each in entries] == [("s00", 2.0), ("s01", 0.0)]
    assert entries[0].certainty["staff/b1"].pairs == needed(0.6, 1.0)
    view = board_view(await hub.boards.board("Cup", ORGANISER), crosses=False)
    assert (view.decided_by, view.graded, view.lines[0].decider) == ("grade", False, "good")
    viewer = await hub.store.authenticate(course.tokens["s00"])
    (seen,) = await finals_of(hub.boards, "Cup", viewer)
    assert {seen.names[each.baseline] for each in seen.certainty} == {"staff/b0"}, "b1 is hidden"
    (mine,) = await finals_of(hub.boards, "Cup", ORGANISER)
    assert len(mine.certainty) == 4
    assert [(mine.names[row.entry], row.place) for row in mine.table] == [
        ("s00/bot", 1), ("s01/bot", 2), ("staff/b0", None), ("staff/b1", None)
    ]  # fmt: skip


async def test_stopped_final_has_any_time_bounds_alone(course: Clear) -> None:
    await course.open(TEXT, 2)
    await course.run()
    await course.finished()
    hub = course.hub
    board = await hub.boards.board("Cup", ORGANISER)
    assert any("any-time" in note for note in board.notes)
    for line in board.lines:
        at = line.estimate
        assert at is not None
        assert (at.low, at.high) == (at.any_low, at.any_high)
        assert line.ahead is None
        assert 1 <= at.rank_low <= at.rank_high <= 4
    won = board.crosstab["s00/bot", "staff/b0"].score
    bounds = ConfidenceSequence()
    bounds.extend([1.0] * won.size)
    assert (won.mean, won.low, won.high) == (1.0, bounds.low, bounds.high)
    report = await hub.reports.report("Cup", "s00", ORGANISER)
    assert report.any_time
    for each in (*report.baselines, *report.opponents):
        assert (each.low, each.high) == (each.any_low, each.any_high)
    for point in report.history["s00/bot"]:
        assert (point.low, point.high) == (point.any_low, point.any_high)
    text = await hub.exports.standings("Cup", "csv", ORGANISER)
    for row in csv.DictReader(text.splitlines()):
        assert (row["low"], row["high"]) == (row["any_low"], row["any_high"])
