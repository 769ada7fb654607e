"""Rehearsals on a server: the command, the commands that it prints, and their files."""

from __future__ import annotations

import asyncio
import shlex
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.harness.server import Server

from plyhouse.clients.cli.main import main
from plyhouse.clients.shared.errors import EXIT_USAGE
from plyhouse.server.competition_rules.derived_files import toml
from plyhouse.storage import competition_students, people, submission_checks, submission_sql
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By

CUP = """
name = "Autumn cup"
games = ["pig"]
time_control = "total:60"
[hosting]
required = true
[[baselines]]
bot = "house/weak"
reference = "random"
"""


async def test_dress_rehearsal_prints_commands_that_work(
    open_house: Callable[..., Awaitable[Server]], capsys: pytest.CaptureFixture[str]
) -> None:
    house = await open_house(hosted=True)
    store, olga = house.hub.store, By("olga")
    given = ["--server", house.server.url]
    given += ["--token", await house.token("olga", "play", "organise")]

    async def plyhouse(*arguments: str) -> tuple[int, str]:
        code = await asyncio.to_thread(main, [*arguments, *given])
        return code, capsys.readouterr().err

    cup = await house.hub.competitions.open(CUP, olga)
    await store.write(
        competition_students.take_in,
        cup.id,
        [NewMember("ada", "ada")],
        olga,
        store.now(),
        adopt="*",
    )
    ada = await store.read(people.player, "ada")
    bot = await store.ensure_bot(ada.id, "mine", "bot")
    await store.submissions.add(bot.id, "", "d" * 64, b"zip", store.now())
    for submission in await store.read(submission_checks.waiting):
        await store.write(submission_sql.check, submission, True, "", ("pig",), 10)
    for _ in range(2):  # the second one needs the first to be gone
        code, said = await plyhouse("competition", "rehearse", "Autumn cup")
        assert code == 0, said
        begun, ended = said.strip().splitlines()
        for line in (begun.partition(", standings")[0], ended):
            command = shlex.split(line.partition(": ")[2])
            assert command[:2] == ["plyhouse", "competition"]
            code, said = await plyhouse(*command[1:])
            assert code == 0, (line, said)


def test_rehearse_of_a_file_says_how_to_rehearse_a_competition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup.toml").write_text(CUP)
    server = ("--server", "http://127.0.0.1:9", "--token", "ply_none")
    assert main(["competition", "rehearse", "cup.toml", *server]) == EXIT_USAGE
    assert "cup.toml is a file. Open it with" in capsys.readouterr().err


def test_toml_of_every_kind_of_value_is_read_as_that_value() -> None:
    values: dict[str, Any] = {
        "text": 'a "b" \\ \n ü \x7f',
        "numbers": [1, 2.5],
        "flag": True,
        "empty": [],
        "table": {"inner": {"deep": 1}},
        "tables": [{"a": 1, "under": {"b": "c"}}, {"a": 2}],
    }
    assert tomllib.loads(toml(values)) == values
