"""A class whose names are in several scripts, from its list to its files."""

from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.harness.finals import HERE, Course, weaker_resigns

from plyhouse.clients.cli.main import main
from plyhouse.protocol.messages import Register

NAMES = ["Ольга", "李雷", "नमस्ते"]
FILE = """
name = "Кубок (финал)"
games = ["connect_four"]
time_control = "total:60"
board = "class"
[[baselines]]
bot = "Штаб/лёгкий"
grade = "зачёт"
"""


async def test_a_class_with_names_of_several_scripts_is_played_and_exported(
    house: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = Course(house, FILE, "Кубок (финал)")
    token = await house.token("Штаб")
    client = await house.client()
    await client.hello(token, "лёгкий", games=["connect_four"], max_matches=50)
    cup.tokens["Штаб"], cup.bots["Штаб"] = token, client
    await cup.freeze("connect_four", *NAMES)
    await cup.play(weaker_resigns([*NAMES, "Штаб"]))
    board = await cup.get("/table", NAMES[0])
    assert [line["entry"] for line in board["lines"]] == [
        *(f"{name}/bot" for name in NAMES),
        "Штаб/лёгкий",
    ]
    async with cup.web(NAMES[1]) as web:
        for place in (
            "/competitions/Кубок (финал)",
            "/players/李雷",
            "/bots/Ольга/bot",
            "/api/v1/matches?bot=Ольга/bot&competition=кубок (ФИНАЛ)",
        ):
            answer = await web.get(place)
            assert answer.status_code == 200, place
            assert "Ольга" in answer.text, place
            assert "李雷" in answer.text, place

    async def plyhouse(*arguments: str) -> None:
        given = ["--server", house.server.url, "--token", cup.tokens["olga"]]
        code = await asyncio.to_thread(main, [*arguments, *given])
        assert code == 0, capsys.readouterr().err

    formats = [f"--format={each}" for each in ("csv", "grades", "gradescope", "html", "jsonl")]
    await plyhouse(
        "competition", "export", cup.here.rpartition("/")[2], "--to", str(tmp_path), *formats
    )
    grades = (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert all(name in grades for name in NAMES)
    assert "зачёт" in grades
    assert "Ольга/bot" in (tmp_path / "standings.csv").read_text(encoding="utf-8")
    await plyhouse("competition", "report", "КУБОК (ФИНАЛ)", "--folder", str(tmp_path / "reports"))
    assert {f"{name}.md" for name in NAMES} <= {
        each.name for each in (tmp_path / "reports").iterdir()
    }


async def test_own_name_in_another_normal_form_reads_own_data(house: Any) -> None:
    key = {"Authorization": f"Bearer {await house.token('Андрей')}"}
    name = unicodedata.normalize("NFD", "АНДРЕЙ")
    async with httpx.AsyncClient(base_url=house.server.url, headers=key) as web:
        answer = await web.get(f"/api/v1/players/{name}/data")
    assert (answer.status_code, answer.json().get("account")) == (200, "Андрей")


async def test_import_join_and_registration_make_the_same_account(open_house: Any) -> None:
    """One rule for names: what one way accepts, the others accept, and none drops an accent."""
    house = await open_house(registration="open")
    cup = Course(house, FILE, "Кубок (финал)")
    cup.tokens["olga"] = await house.token("olga", "organise")
    async with cup.web("olga") as api:
        made = await api.post(HERE, json={"file": FILE.split("[[")[0]})
        assert made.status_code == 201, made.text
        listed = await api.post(f"{cup.here}/students", json={"csv": "name\nZoë-Ångström\n"})
        assert [each["account"] for each in listed.json()] == ["Zoë-Ångström"]
        await api.post(f"{cup.here}/open", json={})
        code = (await api.post(f"{cup.here}/codes", json={"uses": 2})).json()["code"]
    async with cup.web() as web:
        joined = await web.post("/api/v1/join", json={"code": code, "player": "Chloé-Ångström"})
        assert joined.json()["account"] == "Chloé-Ångström", joined.text
        bad = await web.post("/api/v1/join", json={"code": code, "player": "Chlo\N{SNOWMAN}"})
        assert "'\N{SNOWMAN}' (snowman)" in bad.json()["detail"], "the character itself"
    client = await house.client()
    assert (await client.ask(Register, "Noël-Ångström")).player == "Noël-Ångström"


SLASHED = "AI 101 / Fall"


async def test_competition_whose_name_has_a_slash_is_played_and_exported(
    house: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILE.replace("Кубок (финал)", SLASHED).split("[[")[0]
    cup = Course(house, text, quote(SLASHED, safe=""))
    await cup.freeze("connect_four", "ada", "bob")
    await cup.play(weaker_resigns(["ada", "bob"]))
    assert [line["entry"] for line in (await cup.get("/table", "ada"))["lines"]] == [
        *("ada/bot", "bob/bot"),
    ]
    async with cup.web("olga") as web:
        listed = (await web.get("/competitions")).text
        (link,) = set(re.findall(r'href="(/competitions/[^"?#]+)"', listed)) - {"/competitions/new"}
        for page in (link, f"/competitions/{quote(SLASHED, safe='')}"):
            answer = await web.get(page)
            assert (answer.status_code, f"<h1>{SLASHED}</h1>" in answer.text) == (200, True), page
        report = await web.get(f"/competitions/{quote(SLASHED, safe='')}/report?student=ada")
        assert SLASHED in report.text
        unknown = await web.get("/competitions/AI%20101%20%2f%20Spring")
        assert unknown.status_code == 404
        assert "There is no competition AI 101 / Spring on this server." in unknown.text
        found = await web.get("/api/v1/matches", params={"competition": SLASHED})
        assert len(found.json()) == 2
        plot = await web.get(f"{link}?plot=ratings")
        assert "/" not in plot.headers["content-disposition"].partition("filename=")[2]

    async def plyhouse(*arguments: str) -> str:
        given = ["--server", house.server.url, "--token", cup.tokens["olga"]]
        code = await asyncio.to_thread(main, [*arguments, *given])
        told = capsys.readouterr()
        assert code == 0, told.err
        return told.out

    assert SLASHED in await plyhouse("competition", "standings", SLASHED)
    assert SLASHED in await plyhouse("competition", "status", SLASHED)
    await plyhouse("competition", "export", SLASHED, "--to", str(tmp_path))
    await plyhouse("competition", "report", SLASHED, "--folder", str(tmp_path))
    assert {"standings.csv", "grades.csv", "ada.md"} <= set(os.listdir(tmp_path))
    await plyhouse("competition", "delete", SLASHED, "--yes")
