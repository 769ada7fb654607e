"""A whole course over real sockets, with a server that is killed in the middle of the final."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.conftest import Zygote
from tests.harness.course_server import PATIENCE, Bot, CourseServer, account

from plyhouse.games.registry import get_game
from plyhouse.server.results.record import read_record
from plyhouse.server.results.scoring import match_scores, return_span
from plyhouse.server.results.verify import verify

FILE = """
name = "Autumn cup"
games = ["tic_tac_toe", "kuhn_poker"]
time_control = "total:60"
mirrored = false
board = "class"
entries_per_student = 1
[limits]
students = 20
matches_at_a_time = 12
[[baselines]]
bot = "staff/easy"
grade = "pass"
at_least = 0.3
[[baselines]]
bot = "staff/hard"
hidden = true
grade = "good"
at_least = 0.6
"""


@pytest.fixture
async def house(tmp_path: Path, zygote: Zygote) -> AsyncIterator[CourseServer]:
    made = CourseServer(tmp_path, zygote)
    made.start()
    yield made
    made.end(signal.SIGKILL)


async def until(house: CourseServer, token: str, enough: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(PATIENCE):
        while True:
            view = await house.get("/api/v1/competitions/Autumn cup", token)
            if enough(view):
                return view
            await asyncio.sleep(0.1)


async def test_a_course_from_the_list_of_students_to_the_grades(house: CourseServer) -> None:
    olga = await account(house, "olga", "play", "organise")
    staff = await account(house, "staff", "play")
    (house.folder / "cup.toml").write_text(FILE)
    said = await house.do("competition", "open", "cup.toml", token=olga, code=2)
    assert said.count("[competition/missing_baseline]") == 2
    bots = [await Bot(house, staff, name, "1", "0").begin() for name in ("easy", "hard")]
    await house.do("competition", "check", "cup.toml", token=olga)
    await house.do("competition", "open", "cup.toml", token=olga)
    said = await house.do("competition", "open", "cup.toml", token=olga, code=2)
    assert "competition/name_taken" in said

    # Nine by the list, of whom two are a group, and three by a code.
    names = [f"s{number}" for number in range(8)]
    rows = [f"{name},{name}@example.org," for name in names[:7]] + ["s7,,crew", "s8,,crew"]
    (house.folder / "list.csv").write_text("\n".join(["name,email,group", *rows]))
    given = ("--competition", "Autumn cup")
    sheet = await house.do("student", "import", "list.csv", *given, token=olga)
    tokens = {row["name"]: row["token"] for row in csv.DictReader(io.StringIO(sheet))}
    assert len(tokens) == 9
    assert await house.do("student", "import", "list.csv", *given, token=olga) == ""
    code = (await house.do("code", "create", *given, "--uses", "3", token=olga)).strip()
    for name in ("j1", "j2", "j3"):
        tokens[name] = (await house.do("join", code, "--player", name, token="")).strip()
    said = await house.do("join", code, "--player", "j4", token="", code=4)
    assert "this code was for 3, and all have come" in said

    # Everybody submits by connecting; s0 comes with two versions and chooses the first.
    students = {"crew" if name == "s7" else name: token for name, token in tokens.items()}
    del students["s8"]
    first = {
        name: await Bot(house, token, "bot", "1", "a").begin() for name, token in students.items()
    }
    for name in ("s0", "s1"):
        await first[name].stop()
        second = await Bot(house, students[name], "bot", "1", "b").begin()
        await second.stop()
    await house.do("bot", "enter", "bot", *given, "--version-label", "aaaa", token=students["s0"])
    mine = json.loads(await house.do("bot", "versions", "--json", token=students["s0"]))
    assert [(each["digest"][:4], bool(each["entered"])) for each in mine] == [
        ("bbbb", False),
        ("aaaa", True),
    ]

    # The freeze; a late student, an extension, and a change that comes too late.
    await house.do("competition", "freeze", "Autumn cup", token=olga)
    said = await house.do("bot", "enter", "bot", *given, token=students["s1"], code=4)
    assert "frozen" in said
    far = "2999-01-01T00:00:00Z"
    sheet = await house.do("student", "add", "late", *given, "--late-until", far, token=olga)
    students["late"] = next(csv.DictReader(io.StringIO(sheet)))["token"]
    first["late"] = await Bot(house, students["late"], "bot", "1", "c").begin()
    said = await house.do("competition", "run", "Autumn cup", token=olga, code=4)
    assert "late may still submit" in said
    await first["s2"].stop()
    too_late = await Bot(house, students["s2"], "bot", "2", "d").begin()
    view = await house.get("/api/v1/competitions/Autumn cup", olga)
    entries = {each["entry"]: each for each in view["entries"]}
    assert len(entries) == 2 + 12
    assert entries["s0/bot"]["digest"] == "a" * 64
    assert entries["s1/bot"]["digest"] == "b" * 64
    assert entries["s2/bot"]["digest"] == "a" * 64
    assert not entries["s2/bot"]["connected"], "another version is, for practice"

    # The final, a kill in the middle of it, and a disqualification.
    await house.do("competition", "run", "Autumn cup", "--anyway", token=olga)
    view = await until(house, olga, lambda view: view["progress"][0]["finished"] >= 20)
    waiting = {text for game in view["progress"] for text in game["waiting_for"]}
    assert any(text.startswith("s2/bot is connected with another version") for text in waiting)
    house.end(signal.SIGKILL)
    house.start()
    first["s0"] = await Bot(house, students["s0"], "bot", "1", "a").begin()
    first["s1"] = await Bot(house, students["s1"], "bot", "1", "b").begin()
    why = ("--why", "not their own work")
    await house.do("competition", "disqualify", "Autumn cup", "s3", *why, token=olga)
    await house.do("competition", "pause", "Autumn cup", token=olga)
    await house.do("competition", "resume", "Autumn cup", token=olga)
    await too_late.stop()  # the final has waited for what s2 entered
    first["s2"] = await Bot(house, students["s2"], "bot", "1", "a").begin()
    view = await until(house, olga, lambda view: view["status"] == "finished")

    # The export is what the records say.
    await house.do("competition", "export", "Autumn cup", "--folder", "out", token=olga)
    shown = json.loads((house.folder / "out" / "standings.json").read_text())
    scores, games = await recomputed(house, view, olga)
    assert {line["entry"] for line in shown["standings"]} == set(entries)
    for line in shown["standings"]:
        mine_by_game = scores[line["entry"]]
        assert line["matches"] == sum(map(len, mine_by_game.values())), line["entry"]
        means = {game: sum(each) / len(each) for game, each in mine_by_game.items()}
        assert line["games"] == pytest.approx(means)
        if means:
            assert line["score"] == pytest.approx(sum(means.values()) / len(means))
    honest = [each for each in shown["standings"] if each["entry"] != "s3/bot"]
    assert shown["standings"][-1]["entry"] == "s3/bot"
    assert shown["standings"][-1]["rank"] is None
    order = [each["score"] for each in honest]
    assert order == sorted(order, reverse=True)
    everybody = {each for match in games for each in match}
    missed = [
        (one, other)
        for one in everybody
        for other in everybody
        if one < other and "s3/bot" not in (one, other)
        if games[one, other] != 2
    ]
    assert not missed, "each of two games once, in spite of the kill"
    assert not any(each["forfeits"] for each in honest), "nobody forfeits by the server's end"
    text = (house.folder / "out" / "grades.csv").read_text("utf-8-sig")
    graded = list(csv.DictReader(io.StringIO(text)))
    assert {row["student"] for row in graded} == set(students), "a row for each member"
    assert {row["student"]: row["grade"] for row in graded}["s3"] == "disqualified"

    # Only organisers see matches that deserve a look.
    look = ("competition", "suspicious", "Autumn cup", "--json")
    told = json.loads(await house.do(*look, token=olga))
    assert 55 <= told["pairs_tested"] <= 66, "twelve students, of whom one was disqualified"
    assert told["records"] >= 2 * 78
    assert told["left_out"] == 0
    same = {each["digest"]: each["entries"] for each in told["same_files"]}
    assert {"s0/bot", "s2/bot"} <= set(same["a" * 64])
    await house.do(*look, token=students["s0"], code=4)

    # The visibility of the board and its parts.
    board = await house.get("/api/v1/competitions/Autumn cup/board", students["s0"])
    assert "staff/easy" in {line["entry"] for line in board}
    assert "staff/hard" not in {line["entry"] for line in board}
    async with httpx.AsyncClient(base_url=house.url) as client:
        path = "/api/v1/competitions/Autumn cup/board"
        assert (await client.get(path)).status_code == 401
    for bot in [*bots, *first.values()]:
        await bot.stop()


async def recomputed(house: CourseServer, view: Any, token: str) -> tuple[Any, Any]:
    """Scores by entry and game, and how often every two met, from verified records alone."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    games: dict[tuple[str, str], int] = defaultdict(int)
    for part in view["progress"]:
        game = get_game(part["game"])
        before = ""
        while True:
            query = f"?competition={part['tournament']}&limit=100{before}"
            page = await house.get(f"/api/v1/matches{query}", token)
            if not page:
                break
            before = f"&before={page[-1]['match']}"
            for header in page:
                path = f"/api/v1/matches/{header['match']}/record"
                record = read_record(json.dumps(await house.get(path, token)))
                outcome = record.outcome
                if outcome is None or not outcome.returns:
                    continue  # void: nobody is to blame, and it was played again
                assert verify(record).ok, header["match"]
                names = [f"{seat.player}/{seat.bot}" for seat in record.seats]
                counted = match_scores(outcome.returns, return_span(game))
                for name, (score, _) in zip(names, counted.seats, strict=True):
                    scores[name][part["game"]].append(score)
                one, other = sorted(names)
                games[one, other] += 1
    return scores, games
