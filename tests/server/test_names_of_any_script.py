"""A class whose names are in several scripts, from its list to its files."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.finals import Course, weaker_resigns

from plyhouse.clients.cli.main import main

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
