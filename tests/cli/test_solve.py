"""``plyhouse solve``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli.shared.errors import EXIT_USAGE
from plyhouse.games.registry import get_game
from plyhouse.search import exploitability, load_policy


def test_kuhn_poker_is_solved_shown_and_written(plyhouse: Plyhouse, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.policy"
    done = plyhouse("solve", "kuhn_poker", "-o", str(path))
    assert done.code == 0
    assert "1,000 iterations of cfr_plus" in done.out
    assert "value           -0.0555" in done.out
    assert "card J, dealt 2, bets bet, paid 2 1        fold 1.000, call 0.000" in done.out
    assert "Wrote 12 information states" in done.err
    policy = load_policy(path)
    assert policy.exploitability == pytest.approx(exploitability(get_game("kuhn_poker"), policy))


def test_as_json_with_a_target(plyhouse: Plyhouse) -> None:
    done = plyhouse(
        "solve", "leduc_poker", "--algorithm", "discounted_cfr", "--target", "0.05", "--json"
    )
    assert done.code == 0
    facts = json.loads(done.out)
    assert facts["game"] == "leduc_poker"
    assert facts["algorithm"] == "discounted_cfr"
    assert facts["exploitability"] <= 0.05
    assert facts["values"][0] == pytest.approx(-0.0856, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chess",), "its seats see the whole state"),
        (("battleship",), "its tree has more than 2,000,000 nodes"),
        (("kuhn",), "kuhn_poker"),
        (("kuhn_poker", "--iterations", "0"), "iterations"),
        (("kuhn_poker", "--algorithm", "cfr+"), "cfr_plus"),
        (("kuhn_poker", "-o", "/no/such/folder/x.policy"), "/no/such/folder"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    plyhouse: Plyhouse, arguments: tuple[str, ...], words: str
) -> None:
    done = plyhouse("solve", *arguments)
    assert done.code == EXIT_USAGE
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_curve_is_written_as_csv(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("solve", "kuhn_poker", "--curve", "curve.csv")
    assert done.code == 0, done.err
    assert "1,000 iterations of cfr_plus" in done.out
    head, *lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert head == "iterations,seconds,exploitability"
    rows = [[float(cell) for cell in line.split(",")] for line in lines]
    assert [row[0] for row in rows] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    assert rows[-1][2] < rows[0][2]
    assert rows == sorted(rows, key=lambda row: row[1])


def test_a_curve_ends_at_its_bound(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("solve", "kuhn_poker", "--curve", "c.csv", "--target", "0.05")
    assert done.code == 0, done.err
    last = (tmp_path / "c.csv").read_text().splitlines()[-1]
    assert float(last.split(",")[2]) <= 0.05
    done = plyhouse("solve", "kuhn_poker", "--curve", "c.csv", "--iterations", "7")
    assert done.code == 0, done.err
    assert (tmp_path / "c.csv").read_text().splitlines()[-1].startswith("7,")
