"""Files of a final: standings, grades, matches, and who may have them."""

from __future__ import annotations

import codecs
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.harness.finals import HERE, Course, weaker_resigns
from tests.harness.server import helped

from plyhouse.server.competitions import exports
from plyhouse.server.competitions.exports import _zipped
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.results.record import read_record
from plyhouse.server.results.verify import verify

FILE = """
name = "Cup"
games = ["chess"]
time_control = "total:60"
board = "{board}"
[[baselines]]
bot = "staff/bot"
grade = "pass"
at_least = 0.4
[[baselines]]
bot = "secret/bot"
hidden = true
grade = "good"
at_least = 0.5
"""


async def final(house: Any, board: str) -> Course:
    cup = Course(house, FILE.format(board=board))
    await cup.freeze("chess", "s0", "s1", staff=("staff", "secret"))
    await cup.play(weaker_resigns(["s0", "staff", "secret", "s1"]))
    return cup


async def fetched(cup: Course, form: str, who: str = "olga", status: int = 200) -> Any:
    async with cup.web(who) as web:
        answer = await web.get(f"{HERE}/cup/export/{form}")
    assert answer.status_code == status, answer.text
    if status == 200:
        assert "attachment; filename=" in answer.headers["content-disposition"]
        assert answer.headers["cache-control"] == "no-store"
    return answer


async def test_standings_come_as_tables_for_people_and_programs(house: Any) -> None:
    cup = await final(house, "public")
    rows = list(csv.DictReader(io.StringIO((await fetched(cup, "csv")).text)))
    assert [row["entry"] for row in rows] == ["s0/bot", "staff/bot", "secret/bot", "s1/bot"]
    assert float(rows[0]["any_low"]) < float(rows[0]["low"]) < float(rows[0]["rating"])
    assert rows[-1]["ahead_of_next"] == ""
    markdown = (await fetched(cup, "md", "")).text
    assert "| 1 | s0/bot | s0 |" in markdown
    page = (await fetched(cup, "html", "")).text
    assert "<td>s0/bot</td>" in page
    whole = (await fetched(cup, "json", "")).json()
    assert [line["entry"] for line in whole["standings"]] == ["s0/bot", "staff/bot", "s1/bot"]
    for text in (markdown, page, json.dumps(whole)):
        assert "secret" not in text
    async with cup.web("olga") as web:
        assert (await web.get(f"{HERE}/cup/export/xls")).status_code == 404


async def test_matches_come_as_records_and_in_the_format_of_their_game(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = await final(house, "public")
    worked = helped(house, monkeypatch)
    lines = (await fetched(cup, "jsonl", "")).text.splitlines()
    records = [read_record(line) for line in lines]
    assert len(records) == 12
    assert all(verify(record).ok for record in records)
    pgn = (await fetched(cup, "pgn", "")).text
    assert pgn.count('[Event "Cup"]') == 12
    assert worked == ["match_text"] * 24, "many threads would block the event loop"
    problem = (await fetched(cup, "sgf", "olga", 409)).json()
    assert problem["code"] == "competition/format_missing"
    assert "jsonl" in problem["detail"]


async def test_grades_come_for_grade_books(house: Any) -> None:
    cup = await final(house, "public")
    text = (await fetched(cup, "grades")).content
    assert text.startswith(codecs.BOM_UTF8), "Excel reads it as UTF-8"
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))
    assert [(row["student"], row["grade"], row["points"]) for row in rows] == [
        ("s0", "good", "2.0"), ("s1", "", "0.0")
    ]  # fmt: skip
    assert [row["matches staff/bot"] for row in rows] == ["2", "2"]
    assert 0.0 < float(rows[0]["standard error staff/bot"]) < 0.5
    archive = zipfile.ZipFile(io.BytesIO((await fetched(cup, "gradescope")).content))
    assert archive.namelist() == ["s0/results.json", "s1/results.json"]
    best, worst = (json.loads(archive.read(name)) for name in archive.namelist())
    assert [(t["name"], t["score"], t["max_score"], t["status"]) for t in best["tests"]] == [
        ("pass: staff/bot", 1.0, 1.0, "passed"),
        ("good", 1.0, 1.0, "passed"),
    ]
    assert [test["visibility"] for test in best["tests"]] == ["visible", "hidden"]
    assert [test["status"] for test in worst["tests"]] == ["failed", "failed"]
    assert (best["score"], worst["score"]) == (2.0, 0.0)
    assert [each["name"] for each in best["leaderboard"]] == ["Score", "Rating"]
    assert "secret" not in json.dumps(best)
    canvas = list(csv.reader(io.StringIO((await fetched(cup, "canvas")).text)))
    assert canvas[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert canvas[1][0] == "    Points Possible"
    assert len(canvas) == 2 + len(rows)
    moodle = list(csv.DictReader(io.StringIO((await fetched(cup, "moodle")).text)))
    points = [float(row["points"]) for row in rows]
    assert [float(each[canvas[0][5]]) for each in moodle] == points
    for form in ("grades", "canvas", "moodle", "gradescope"):
        await fetched(cup, form, "", 401)
        await fetched(cup, form, "s0", 403)


@pytest.mark.parametrize("board", ["class", "anonymous"])
async def test_files_keep_to_the_board(house: Any, board: str) -> None:
    cup = await final(house, board)
    for form in ("csv", "md", "html", "json", "jsonl", "pgn"):
        await fetched(cup, form, "", 401)
        await fetched(cup, form, "eve", 403)
    assert "s0/bot" in (await fetched(cup, "csv", "s0")).text
    other = (await fetched(cup, "csv", "s1")).text
    assert ("s0/bot" in other) == (board == "class")
    if board == "class":
        assert len((await fetched(cup, "jsonl", "s1")).text.splitlines()) == 12
    else:
        await fetched(cup, "jsonl", "s1", 403)


async def test_parquet_without_pyarrow_says_what_is_missing(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = await final(house, "public")
    monkeypatch.setattr(exports, "has_parquet", lambda: False)
    problem = (await fetched(cup, "parquet", "", 409)).json()
    assert "pip install 'plyhouse[parquet]'" in problem["detail"]


async def test_parquet_where_pyarrow_is(house: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    cup = await final(house, "public")
    table = parquet.read_table(io.BytesIO((await fetched(cup, "parquet", "")).content))
    assert table.num_rows == 24
    assert set(table["entry"].to_pylist()) == {"s0/bot", "s1/bot", "staff/bot", PRIVATE}


async def test_formats_of_one_match_come_as_an_archive() -> None:
    async def matches() -> AsyncIterator[tuple[str, str]]:
        for number in range(3):
            yield f"m{number}", f"{number} " * 20_000

    parts = [part async for part in _zipped(matches(), "mat")]
    assert all(parts), "each match is sent when it is written"
    archive = zipfile.ZipFile(io.BytesIO(b"".join(parts)))
    assert archive.testzip() is None
    assert archive.namelist() == ["m0.mat", "m1.mat", "m2.mat"]
    assert archive.read("m1.mat").decode() == "1 " * 20_000
