"""``plyhouse solve``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.clients.shared.errors import EXIT_USAGE
from plyhouse.games.registry import get_game
from plyhouse.search import cfr_plus, exploitability, load_policy


def test_kuhn_poker_is_solved_shown_and_written(plyhouse: Plyhouse, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.policy"
    done = plyhouse("solve", "kuhn_poker", "-o", str(path))
    assert done.code == 0
    assert "1,000 iterations of cfr_plus" in done.out
    assert "value           −0.0555" in done.out
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
        (("chess",), "ismcts, pimc, random."),
        (("battleship",), "its tree has more than 2,000,000 nodes"),
        (("kuhn",), "kuhn_poker"),
        (("kuhn_poker", "--iterations", "0"), "iterations"),
        (("kuhn_poker", "--algorithm", "cfr+"), "cfr_plus"),
        (("kuhn_poker", "-o", "/no/such/folder/x.policy"), "/no/such/folder"),
        (("kuhn_poker", "--curve", "/no/such/folder/x.csv"), "/no/such/folder"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    plyhouse: Plyhouse, arguments: tuple[str, ...], words: str
) -> None:
    done = plyhouse("solve", *arguments)
    assert done.code == EXIT_USAGE
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("bound", [("--iterations", "60"), ("--target", "0.02")])
def test_the_curve_is_exploitability_by_iteration(
    plyhouse: Plyhouse, tmp_path: Path, bound: tuple[str, str]
) -> None:
    path = tmp_path / "kuhn.csv"
    done = plyhouse("solve", "kuhn_poker", "--curve", str(path), "--json", *bound)
    assert done.code == 0
    facts = json.loads(done.out)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["iteration", "seconds", "exploitability"]
    iterations = [int(row["iteration"]) for row in rows]
    assert iterations == sorted(set(iterations))
    assert iterations[-1] == facts["iterations"]
    assert float(rows[-1]["exploitability"]) == facts["exploitability"]
    for row in rows[:3]:
        after = cfr_plus(get_game("kuhn_poker"), iterations=int(row["iteration"]))
        assert float(row["exploitability"]) == after.exploitability()
    if bound[0] == "--iterations":
        assert iterations[:10] == list(range(1, 11))
        assert len(iterations) < 40
    assert f"Wrote {len(rows)} points" in done.err


def test_a_curve_of_a_tree_too_large_is_refused_before_the_work(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    path = tmp_path / "battleship.csv"
    done = plyhouse(
        "solve", "liars_dice", "--algorithm", "mccfr", "--max-nodes", "100", "--curve", str(path)
    )
    assert done.code == EXIT_USAGE
    assert "its tree has more than 100 nodes" in done.err
    assert "choose smaller parameters, or raise --max-nodes." in done.err
    done = plyhouse("solve", "liars_dice", "--max-nodes", "100")
    assert "raise --max-nodes, or use --algorithm mccfr, which samples" in done.err
