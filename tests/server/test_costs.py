"""The dates and costs in the output of `competition check` with a server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.harness.finals import Course

from plyhouse.clients.cli.main import main

FILE = 'name = "{name}"\ngames = ["tic_tac_toe"]\ntime_control = "{control}"\n'


async def check(house: Any, token: str, path: Path) -> int:
    given = ["--server", house.server.url, "--token", token, "--entries", "30"]
    return await asyncio.to_thread(main, ["competition", "check", str(path), *given])


async def test_check_goes_by_the_clock_of_the_server(
    house: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine of the lecturer is in another year than the server."""
    then = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp() * 1000)
    monkeypatch.setattr(house.hub.store, "_clock", lambda: then)
    token = await house.token("olga", "organise")
    path = tmp_path / "cup.toml"
    path.write_text(
        FILE.format(name="Cup", control="move:1") + "[dates]\nfinal = 2001-02-01T00:00:00Z\n"
    )
    assert await check(house, token, path) == 0
    assert "ends by 2001-02-01" in capsys.readouterr().out
    path.write_text(path.read_text().replace("2001", "2000"))
    assert await check(house, token, path) == 2
    assert "competition/date_past" in capsys.readouterr().err
    alone = ["competition", "check", str(path), "--entries", "30"]
    monkeypatch.delenv("PLYHOUSE_SERVER", raising=False)
    assert await asyncio.to_thread(main, alone) == 0
    assert "is over by the clock of this machine" in capsys.readouterr().err


async def test_check_estimates_by_matches_at_other_time_controls(
    house: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = Course(house, FILE.format(name="Cup", control="total:60"))
    await cup.freeze("tic_tac_toe", "s0", "s1")

    await cup.play()
    text = FILE.format(name="Next", control="move:3")
    async with cup.web("olga") as api:
        (measure,) = (await api.post("/api/v1/competition-files/check", json={"file": text})).json()
        cost = (await api.post("/api/v1/competition-files/preview", json={"file": text})).json()
    assert (measure["matches"], measure["same_control"]) == (2, False)
    assert 5 <= measure["plies"] <= 9
    (game,) = cost["games"]
    assert (game["source"], game["measured"]) == ("server", 2)
    assert game["seconds"] == pytest.approx(3 * measure["plies"]), "all of its time"
    assert game["typical_seconds"] == pytest.approx(measure["seconds"])
    path = tmp_path / "next.toml"
    path.write_text(text)
    capsys.readouterr()
    assert await check(house, cup.tokens["olga"], path) == 0
    assert "2 matches on the server" in capsys.readouterr().out
