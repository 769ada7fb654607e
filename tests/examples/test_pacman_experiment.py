"""The Pacman experiment of the course keeps its pattern, with few games of each kind."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).resolve().parents[2] / "examples" / "pacman_experiment.py"

if not FILE.is_file():
    pytest.skip("the examples are not here", allow_module_level=True)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pacman_experiment", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_only_trust_in_chance_against_an_adversary_fails(example: ModuleType) -> None:
    games = 24
    experiment = example.Experiment()
    cells = {pair: experiment.cell(*pair, games) for pair in example.COURSE}
    assert cells["minimax", "adversarial"].wins == games
    assert cells["minimax", "random"].wins == games
    assert cells["expectimax", "random"].wins == games
    # The course: won one of five, with -303 points on average.
    fails = cells["expectimax", "adversarial"]
    assert 0 < fails.wins <= games // 2
    assert fails.mean < -100
    assert fails.win_interval[1] < 0.6
    assert cells["expectimax", "random"].mean >= cells["minimax", "random"].mean


def test_games_are_repeatable(example: ModuleType) -> None:
    experiment = example.Experiment()
    pair = ("expectimax", "adversarial")
    assert experiment.cell(*pair, 3) == experiment.cell(*pair, 3)


def test_intervals(example: ModuleType) -> None:
    cell = example.Cell((10, 20, 30, 40), 2)
    assert cell.mean == 25
    assert cell.margin == pytest.approx(1.96 * math.sqrt(500 / 3 / 4))
    # Wilson's interval for 2 of 4.
    assert cell.win_interval == pytest.approx((0.15, 0.85), abs=0.001)
    assert example.Cell((5,), 1).margin == math.inf


def test_the_table_names_the_course_and_what_came_out(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    example.main(["--games", "2", "--layout", "gamble", "--depth", "4"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[3].startswith("expectimax  adversarial  won 1/5, score -303  won 0/2 (")
    with pytest.raises(SystemExit):
        example.main(["--games", "0"])
