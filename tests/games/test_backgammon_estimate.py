"""Estimated values of backgammon positions, and the file of weights behind them."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import random
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.games.random_positions import random_position

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.stochastic.backgammon.estimate import (
    CHANCES,
    INPUTS,
    PLACES,
    chances_of,
    is_race,
    networks,
    points_of,
    read_network,
    read_networks,
)
from plyhouse.games.stochastic.backgammon.rules import BackgammonState, pips
from plyhouse.games.stochastic.backgammon.shapes import CROSSED, SIDED
from plyhouse.search import Limit, expectiminimax

ROOT = Path(__file__).parents[2]
GAME = get_game("backgammon")
FILE = files("plyhouse.games.stochastic.backgammon") / "network.toml"
DIGEST = "79ea7dc14dc54139db14e221744b8624b51a814f11013d36d386e957b90425fd"

Side = tuple[int, ...]


def at(position: str) -> Any:
    return type(GAME)(position=position).initial_state()


def states(seed: int, matches: int = 4, odd: int = 60) -> list[Any]:
    """Positions of random play and such as it seldom meets."""
    rng = random.Random(seed)
    found: list[Any] = []
    for _ in range(matches):
        state: Any = GAME.initial_state()
        while state.to_move != TERMINAL:
            found.append(state)
            choices = state.actions() or [roll for roll, _ in state.chance_outcomes()]
            state = state.after(rng.choice(choices))
    found += [random_position("backgammon", rng)[1] for _ in range(odd)]
    return found


def mirrored(state: Any) -> BackgammonState:
    """The same position with the seats exchanged."""
    mover = state.to_move if state.to_move < 0 else 1 - state.to_move
    return BackgammonState(mover, state.two, state.one, 1 - state.turn, state.dice)


def races(seed: int, count: int) -> list[tuple[Side, Side]]:
    """Sides that have passed each other, at any distance from home."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        border = rng.randint(1, 23)
        sides = []
        for farthest in (border, 24 - border):
            counts = [0] * PLACES
            for _ in range(15):
                counts[rng.randint(0, farthest)] += 1
            if counts[0] == 15:
                counts[0], counts[1] = 14, 1
            sides.append(tuple(counts))
        found.append((sides[0], sides[1]))
    return found


def test_what_one_seat_may_expect_the_other_loses_and_seats_do_not_matter() -> None:
    for state in states(1):
        if state.turn < 0:
            continue
        mine, theirs = state.heuristic()
        assert mine == -theirs
        assert mirrored(state).heuristic() == (theirs, mine)


def test_nobody_is_ahead_before_the_opening_roll() -> None:
    assert at("").heuristic() == (0.0, 0.0)


def test_who_rolls_first_is_ahead_of_the_same_position() -> None:
    assert 0.0 < at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0").heuristic()[0] < 0.3
    assert at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 1").heuristic()[0] < 0.0


def test_estimates_lie_strictly_within_the_returns() -> None:
    low, high = GAME.return_bounds
    extremes = ["1; bar 23x14; 0", "bar 23x14; 1; 1", "2; 24x15; 0", "6x15; 1; 1"]
    for state in [*states(2), *[at(text) for text in extremes]]:
        assert all(low < value < high for value in state.heuristic())


def test_chances_are_parts_of_each_other() -> None:
    pairs = [(state.one, state.two) for state in states(3)] + races(3, 200)
    for one, two in pairs:
        win, gammon, backgammon, lost, badly = chances_of(one, two)
        assert 0.0 <= backgammon <= gammon <= win <= 1.0
        assert 0.0 <= badly <= lost <= 1.0 - win
        if two[0]:
            assert gammon == 0.0
        if one[0]:
            assert lost == 0.0


def test_a_race_begins_when_the_sides_have_passed_each_other() -> None:
    def met(position: str) -> bool:
        state = at(position)
        return not is_race(state.one, state.two)

    assert met("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0")
    assert met("13; 13; 0")
    assert not met("12; 12; 0")
    assert met("bar 6x5; 1; 0")
    assert met("7 5; 19; 0")
    assert not met("5 4; 19; 0")


def test_in_a_race_a_pip_more_costs_something() -> None:
    changes = []
    for mine, theirs in races(4, 150):
        before = points_of(mine, theirs)
        for point in range(1, 25):
            if not mine[point]:
                continue
            counts = list(mine)
            counts[point] -= 1
            counts[point + 1] += 1
            if is_race(tuple(counts), theirs):
                changes.append(points_of(tuple(counts), theirs) - before)
    # A network is not monotone where it has seldom been.
    assert max(changes) < 0.1
    assert sum(changes) / len(changes) < -0.005
    assert sum([change < 0.002 for change in changes]) > 0.9 * len(changes)


def test_a_race_is_worth_what_is_known_of_it() -> None:
    # E. Heyken, Ortega & Kleinman and others: on roll and an eighth of 100 pips ahead, about
    # 78 % are won, so that the other side may just accept to go on for twice the stake.
    level = at("13x2 6x5 5x4 4x3 1; 13x2 6x5 5x4 4x3 1; 0")
    assert 0.55 < chances_of(level.one, level.two)[0] < 0.68
    ahead = at("8x4 6x4 5x4 4x3; 8x4 7x4 6x4 5x3; 0")
    assert 0.74 < chances_of(ahead.one, ahead.two)[0] < 0.92
    # A checker on the ace point each: the first to roll has won.
    assert chances_of(at("1; 1; 0").one, at("1; 1; 0").two)[0] > 0.9


def test_a_gammon_in_a_race_is_what_is_left_to_save() -> None:
    behind = at("1x2; 12x15; 0")
    assert chances_of(behind.one, behind.two)[1] > 0.99
    saved = at("1x2; 12x14; 0")  # one is borne off
    assert chances_of(saved.one, saved.two)[1] == 0.0


@pytest.mark.parametrize(
    ("safe", "shot", "other"),
    [
        # Seat 0 is equally many pips away; the other side waits on the ace point, the bar, or an
        # anchor.
        ("8x2 6x4 5x3 4x3 3x3", "7 8 6x4 5x3 4x4 3x2", "24x2 6x4 5x3 4x3 3x3"),
        ("7x2 6x3 5x3 4x3 3x2 2x2", "7 6x4 5x3 4x3 3x3 2", "bar 24 6x4 5x3 4x3 3x3"),
        ("10x2 8x3 6x4 4x3 3x3", "11 9 8x3 6x4 4x3 3x3", "20x2 8x3 6x4 5x3 4x3"),
    ],
)
def test_a_blot_under_a_direct_shot_is_worse_than_none(safe: str, shot: str, other: str) -> None:
    states = [at(f"{side}; {other}; 1") for side in (safe, shot)]
    assert pips(states[0].one) == pips(states[1].one)
    assert states[0].heuristic()[0] > states[1].heuristic()[0] + 0.1


@pytest.mark.parametrize(
    ("roll", "turn"),
    [("31", "8/5 6/5"), ("42", "8/4 6/4"), ("61", "13/7 8/7"), ("53", "8/3 6/3"), ("65", "24/13")],
)
def test_the_opening_rolls_that_all_play_alike_are_played_so(roll: str, turn: str) -> None:
    start: Any = GAME.initial_state()
    state = start.after(GAME.parse_chance(start, roll))
    best = expectiminimax(GAME, state, Limit(depth=1)).action
    assert GAME.format(state, best) == turn


class Unjudged:
    """Stands for the judge of luck, which costs twenty times as much as the players."""

    def luck(self, state: Any, roll: int) -> float:
        return 0.0


def test_one_ply_wins_clearly_against_the_pip_count(
    benchmark_module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark_module, "Dice", Unjudged)
    found = benchmark_module.compare(
        benchmark_module.OWN["estimate"], benchmark_module.OWN["pips"], pairs=12, seed=5
    )
    assert sum([points for points, _ in found]) / len(found) > 1.0


def test_luck_of_all_rolls_cancels_out(benchmark_module: ModuleType) -> None:
    judge = benchmark_module.Dice()
    plain_worth = judge.worth

    @functools.cache
    def known_worth(mine: bytes, theirs: bytes, roll: int) -> float:
        return float(plain_worth(list(mine), list(theirs), roll))

    # The luck of each roll asks for the worth of all.
    judge.worth = lambda mine, theirs, roll: known_worth(bytes(mine), bytes(theirs), roll)
    for state in [state for state in states(6, matches=1, odd=5) if state.to_move == CHANCE]:
        luck = [share * judge.luck(state, roll) for roll, share in state.chance_outcomes()]
        assert abs(sum(luck)) < 1e-9


def test_a_roll_is_worth_the_best_turn_and_sixes_are_lucky_in_a_race(
    benchmark_module: ModuleType,
) -> None:
    judge = benchmark_module.Dice()
    wrong: list[float] = []
    raced = 0
    for state in [state for state in states(8, matches=2, odd=1) if state.to_move == CHANCE]:
        if state.turn < 0:
            continue
        mover = state.turn
        sides = (state.one, state.two) if mover == 0 else (state.two, state.one)
        if is_race(*sides):
            luck = judge.luck(state, 66) * (1 if mover == 0 else -1)
            assert luck > -1e-6  # 0 where the race is decided
            raced += luck > 0.01
        elif state.one[0] == state.two[0] == 0:
            roll = state.chance_outcomes()[len(wrong) % 21][0]
            rolled = state.after(roll)
            best = max([rolled.after(each).heuristic()[mover] for each in rolled.actions()])
            wrong.append(abs(judge.worth(*map(list, sides), roll) - best))
    assert len(wrong) > 20
    assert max(wrong) < 1e-9
    assert raced > 5


@pytest.fixture
def benchmark_module() -> ModuleType:
    path = ROOT / "benchmarks" / "backgammon_gnubg.py"
    spec = importlib.util.spec_from_file_location("backgammon_gnubg", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_match_against_gnubg_is_played_or_left_out_with_a_reason(
    benchmark_module: ModuleType,
) -> None:
    done = subprocess.run(
        [sys.executable, str(benchmark_module.__file__), "--pairs", "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    if benchmark_module.find_gnubg() is None:
        assert done.stdout.startswith("skipped: there is no program gnubg")
    else:
        assert done.stdout.startswith("estimate against gnubg, 1 pairs: ")


PRINT_ESTIMATES = """
import random
from plyhouse.games import get_game
game, rng = get_game("backgammon"), random.Random(9)
for _ in range(3):
    state = game.initial_state()
    while state.to_move != -2:
        print(state.heuristic()[0].hex())
        state = state.after(rng.choice(state.actions() or [r for r, _ in state.chance_outcomes()]))
"""


def test_estimates_are_the_same_interpreted_and_compiled() -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT_ESTIMATES],
            env={**os.environ, "PLYHOUSE_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in ("1", "0")
    ]
    assert len(printed[0].split()) > 100
    assert printed[0] == printed[1]


def test_the_file_of_weights_is_the_one_that_was_measured() -> None:
    # After training again, measure again: benchmarks/backgammon_gnubg.py, docs/games/backgammon.md.
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == DIGEST


def test_all_networks_have_a_row_for_each_place_and_count() -> None:
    assert len(networks()) == 3
    for found in networks():
        hidden = len(found.bias)
        assert hidden == 160
        assert len(found.rows) == 2 * PLACES * 16
        assert len(found.shapes) == 2 * (SIDED + CROSSED)
        assert {len(row) for row in found.rows + found.shapes} == {hidden}
        assert [len(weights) for weights in found.out] == [hidden] * CHANCES
        assert len(found.out_bias) == CHANCES
        assert all(weight == 0.0 for weight in found.rows[0])  # nothing there, nothing added


def small(**changes: str) -> str:
    parts = {
        "format": '"plyhouse-backgammon-network-1"',
        "hidden": "2",
        "hidden_bias": '"0 10000"',
        "chances_bias": '"0 0 0 0 0"',
        "chances": '"1 2 3 4 5 6 7 8 9 10"',
        "inputs": '"""\n' + "5000 -5000\n" * (2 * PLACES * INPUTS) + '"""',
    } | changes
    return "\n".join([f"{name} = {value}" for name, value in parts.items()])


def test_weights_are_ten_thousandths() -> None:
    found = read_network(small())
    assert found.bias == [0.0, 1.0]
    assert found.rows[16 * 6 + 1] == [0.5, -0.5]  # a blot
    assert found.rows[16 * 6 + 2] == [0.5, -0.5]  # a point
    assert found.rows[16 * 6 + 5] == [1.5, -1.5]  # with a spare, and two more
    assert found.rows[16 * 25 + 1] == [0.25, -0.25]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": '"other"'}, "format 'other', expected"),
        ({"hidden_bias": '"1 2 3"'}, "3 numbers in hidden_bias, expected 2"),
        ({"chances": '"1"'}, "1 numbers in chances, expected 10"),
        ({"inputs": '"""\n1 2\n"""'}, "1 inputs, expected 208"),
    ],
)
def test_a_file_that_is_no_network_is_refused(changes: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_network(small(**changes))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_trainer_writes_a_network_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    program = tmp_path / "train"
    source = ROOT / "benchmarks" / "train_backgammon.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lm"], check=True)
    texts = []
    for name, seed in (("one", "1"), ("again", "1"), ("other", "2")):
        file = tmp_path / f"{name}.toml"
        subprocess.run([str(program), str(file), "10", seed], check=True)
        texts.append(file.read_text(encoding="utf-8"))
    assert texts[0] == texts[1] != texts[2]
    assert "10 matches of self-play, seed 1" in texts[0]
    start = at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0")
    assert start.to_move == CHANCE
    for trained in read_networks(texts[0]):
        assert all(0.0 < chance < 1.0 for chance in trained.chances(start.one, start.two))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_trainer_sees_positions_as_the_estimate_does(tmp_path: Path) -> None:
    program = tmp_path / "train"
    source = ROOT / "benchmarks" / "train_backgammon.c"
    command = ["cc", "-O1", "-DHIDDEN=160", "-o", str(program), str(source), "-lm"]
    subprocess.run(command, check=True)
    rng = random.Random(7)
    lines = []
    loss = 0.0
    decisions = 0
    for state in [state for state in states(7, matches=1) if state.to_move >= 0]:
        after = [state.after(action) for action in state.actions()]
        if any(each.to_move == TERMINAL for each in after):
            continue
        # What the turns are worth does not matter: any numbers tell which one was chosen.
        worth = [rng.random() for _ in after]
        decisions += 1
        lines.append(f"0 {len(after)}")
        for each, points in zip(after, worth, strict=True):
            sides = each.one + each.two if state.to_move == 0 else each.two + each.one
            lines.append(f"{' '.join(map(str, sides))} {points}")
        estimates = [each.heuristic()[state.to_move] for each in after]
        loss += max(worth) - worth[estimates.index(max(estimates))]
    judged = tmp_path / "judged.txt"
    judged.write_text("\n".join(lines), encoding="utf-8")
    printed = subprocess.run(
        [str(program), "judge", str(FILE), str(judged)], check=True, capture_output=True, text=True
    ).stdout
    kind, count, found = printed.split("\n")[-2].split()[:3]
    assert (kind, count) == ("15", str(decisions))
    assert float(found) == pytest.approx(loss / decisions, abs=1e-4)
