"""The dates and costs in the output of `competition check` with a server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.harness.finals import Course

from plyhouse.clients.cli.main import main
from plyhouse.server.web.api import competition_files
from plyhouse.storage import measures

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
    assert "think until 2001-02-01" in capsys.readouterr().out
    path.write_text(path.read_text().replace("2001", "2000"))
    assert await check(house, token, path) == 2
    assert "competition/date_past" in capsys.readouterr().err
    alone = ["competition", "check", str(path), "--entries", "30"]
    monkeypatch.delenv("PLYHOUSE_SERVER", raising=False)
    assert await asyncio.to_thread(main, alone) == 0
    assert "is over by the clock of this machine" in capsys.readouterr().err


async def test_check_predicts_by_the_latest_final_of_the_same_kind_only(
    house: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A final costs starts of bots, the network and pairings, which only a final measures."""
    # A sample of another game does not hold up one that was played here.
    monkeypatch.setattr(competition_files, "_SAMPLING", None)
    cup = Course(house, FILE.format(name="Cup", control="total:60"))
    await cup.freeze("tic_tac_toe", "s0", "s1")
    await cup.play()

    async def costed(text: str) -> tuple[Any, Any, int, Any]:
        path = tmp_path / "next.toml"
        path.write_text(text)
        async with cup.web("olga") as api:
            given = {"file": text, "entries": 30}
            cost = (await api.post("/api/v1/competition-files/preview", json=given)).json()
            known = await api.post("/api/v1/competition-files/check", json={"file": text})
        capsys.readouterr()
        return (
            cost,
            known.json()[0],
            await check(house, cup.tokens["olga"], path),
            capsys.readouterr(),
        )

    again = FILE.format(name="Next", control="total:60")
    cost, known, code, shown = await costed(again)
    final = known["final"]
    assert (final["competition"], final["matches"], code) == ("Cup", 2, 0)
    assert cost["typical_hours"] * 3600 >= cost["matches"] * final["seconds"] / 2 * 0.999
    assert cost["games"][0]["typical_seconds"] == pytest.approx(final["seconds"] / 2)
    assert "final of Cup played 2 matches of tic_tac_toe" in shown.err
    assert any("final of Cup played 2 matches" in each for each in cost["notes"])
    assert "the final typically takes" in shown.out
    assert "thinking at most" in shown.out

    cost, known, code, shown = await costed(FILE.format(name="Next", control="move:3"))
    assert (known["final"], cost["typical_hours"], cost["typical_end_ms"]) == (None, None, None)
    (game,) = cost["games"]
    assert (game["source"], game["measured"], game["typical_seconds"]) == ("server", 2, None)
    assert 5 <= known["plies"] <= 9
    assert code == 0
    assert "typically" not in shown.out
    assert "No final of tic_tac_toe at move:3" in shown.err
    assert game["seconds"] == pytest.approx(3 * known["plies"]), "all of its time"

    hosted = await house.hub.store.read(measures.measure, "tic_tac_toe", "total:60", hosted=True)
    assert hosted.final is None, "starts of processes are not in it"

    async with cup.web("olga") as api:
        deleted = await api.delete("/api/v1/competitions/Cup")
        assert deleted.status_code < 300, deleted.text
    _, known, _, _ = await costed(again)
    assert known["final"] is None, "the name of a deleted competition is in no answer"
