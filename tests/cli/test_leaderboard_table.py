"""The table of a leaderboard: what it shows where wins count, and where returns do."""

from __future__ import annotations

import pytest

from plyhouse.clients.shared.standings import print_standings
from plyhouse.protocol.api.standings import Standing
from plyhouse.server.results.leaderboards import lines

FIRST = Standing(1, "kira", "optimal", 1, 33.0, 60, 25, 0, 35, 1520.4, 1480.0, 1560.0, 21.0, 130.0)
SECOND = Standing(2, "mo", "maniac", 2, 27.0, 60, 35, 0, 25, None, None, None, -21.0, 130.0)


def shown(capsys: pytest.CaptureFixture[str], spec: str) -> list[str]:
    print_standings(spec, lines(spec, [FIRST, SECOND]))
    return capsys.readouterr().out.splitlines()


def test_where_wins_count_it_shows_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    title, head, first, second = shown(capsys, "tic_tac_toe")
    assert title == "tic_tac_toe"
    assert head.split("  ")[-1].strip() == "returns"
    assert "score" in head
    assert "return per game" not in head
    assert first.split()[3:] == ["1520", "[1480,", "1560]", "33", "60", "25-0-35", "+21.0"]
    assert "-" in second


def test_where_returns_count_it_shows_the_mean_return(capsys: pytest.CaptureFixture[str]) -> None:
    _, head, first, second = shown(capsys, "kuhn_poker")
    assert "rating  95 % interval  return per game   95 % interval  games" in head
    assert "score" not in head
    assert first.split()[3:] == ["1520", "[1480,", "1560]", "+0.35", "[−0.03,", "+0.70]", "60",
                                 "25-0-35", "+21.0"]  # fmt: skip
    assert second.split()[3:5] == ["-", "-"]
    assert "[−0.70, +0.03]" in second
