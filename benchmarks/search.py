"""The searches, pure and compiled, beside OpenSpiel and easyAI, in one run.

Each row is the same work for all, and every figure the median of a few short runs in a separate
process, in that process's time, so other load disturbs less.  Ratios are
of figures measured one after the other.  The rivals run where they are installed
(``pip install 'plyhouse[bench]'``).

- *same tree*: alpha-beta from the empty board to depth 10 without any order of actions;
  unfinished games count 0.  All visit the same nodes, but for easyAI, whose values depend on the
  depth.  *to depth 10* is the same question, with the order of the built-in game.
- *solve*: alpha-beta without a table to the end of the game.
- MCTS: one uniformly random playout for each simulation, no proven values, from the first
  decision; OpenSpiel's C++ ``MCTSBot``.  OpenSpiel's pig also rolls and holds at random in
  playouts, ours holds at 20.
- expectiminimax: each its own tree (OpenSpiel's depth does not count chance nodes) without
  pruning; nodes per second.
- CFR+: one iteration updates both seats, one after the other, on the whole tree.  *to 0.01* is
  the time until the exploitability of the average policy is below, the checks not counted.
- MCCFR: external sampling; one iteration is one walk for each seat.
- The user's game is benchmarks/plain_connect_four.py: *interpreted*, with compiled searches, and
  compiled by ``plyhouse compile``; the column "pure" is all interpreted.
- *on two cores* compares elapsed times of one process and of two.

    python benchmarks/search.py
    python benchmarks/search.py --rows mcts --seconds 3
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import search_rivals as rivals
from search_rivals import DEPTH, TARGET, lasting, rate

HERE = Path(__file__).resolve().parent
USERS_GAME = "plain_connect_four.py"
INFINITY = float("inf")
Measure = Callable[[float], float]
Measure2 = Callable[[float], list[float]]


def start(name: str) -> tuple[Any, Any]:
    """A game of ours, and its first state in which a seat is to move."""
    from plyhouse.games import get_game

    game = get_game(name, files=name.endswith(".py"))
    state: Any = game.initial_state()
    while state.to_move == -1:
        state = state.after(state.chance_outcomes()[0][0])
    return game, state


def kernel_search(state: Any, depth: int, *, heuristic: bool, order: bool) -> int:
    """Plain alpha-beta below the root; the number of nodes."""
    from plyhouse.search.kernels import kernel_for
    from plyhouse.search.kernels.alpha_beta import AlphaBetaKernel
    from plyhouse.search.kernels.leaf_evaluation import Leaves
    from plyhouse.search.limit import MAX_DEPTH, Limit
    from plyhouse.search.poll import Poll

    leaves = Leaves(None, heuristic, -1.0, 1.0)
    kernel = kernel_for(AlphaBetaKernel, state)(Poll(Limit()), leaves, order, MAX_DEPTH)
    kernel.search(state, depth, -INFINITY, INFINITY, 0)
    return int(kernel.nodes)


def alpha_beta_nodes(
    name: str, depth: int, *, heuristic: bool = False, order: bool = False
) -> Measure:
    def measured(seconds: float) -> float:
        _, state = start(name)
        return rate(lambda: kernel_search(state, depth, heuristic=heuristic, order=order), seconds)

    return measured


def to_depth(seconds: float) -> float:
    from plyhouse.search import Limit, alpha_beta

    game, state = start("connect_four")
    return lasting(lambda: alpha_beta(game, state, Limit(depth=DEPTH), heuristic=False), seconds)


def solve(seconds: float) -> float:
    from plyhouse.search import alpha_beta

    game, state = start("tic_tac_toe")
    return lasting(lambda: alpha_beta(game, state), seconds)


def expectiminimax_nodes(seconds: float) -> float:
    from plyhouse.search import Limit, expectiminimax

    game, state = start("pig")
    return rate(lambda: expectiminimax(game, state, Limit(depth=7)).nodes, seconds)


def mcts_rate(name: str, simulations: int) -> Measure:
    def measured(seconds: float) -> float:
        from plyhouse.search import Limit, mcts

        game, state = start(name)

        def search() -> float:
            mcts(game, state, Limit(simulations=simulations), solve=False)
            return simulations

        return rate(search, seconds)

    return measured


def cfr_plus_rate(name: str) -> Measure:
    def measured(seconds: float) -> float:
        from plyhouse.search import cfr_plus

        game, _ = start(name)
        solution = cfr_plus(game, iterations=1)

        def iterate() -> float:
            solution.run(iterations=5)
            return 5.0

        return rate(iterate, seconds)

    return measured


def exploitable(name: str) -> Measure:
    def measured(seconds: float) -> float:
        from plyhouse.search import cfr_plus

        game, _ = start(name)
        enough = cfr_plus(game, target=TARGET, every=10, iterations=100_000).iterations
        return lasting(lambda: cfr_plus(game, iterations=enough), seconds)

    return measured


def mccfr_rate(name: str) -> Measure:
    def measured(seconds: float) -> float:
        from plyhouse.search import mccfr

        game, _ = start(name)
        solution = mccfr(game, iterations=1)

        def iterate() -> float:
            solution.run(iterations=100)
            return 100.0

        return rate(iterate, seconds)

    return measured


@dataclass(frozen=True)
class Row:
    """One line of the table: how all do the same."""

    name: str
    unit: str
    ours: Measure
    native: Measure | None = None
    """OpenSpiel's C++, called from Python."""
    python: Measure | None = None
    """OpenSpiel's Python."""
    easy: Measure | None = None
    goal: float | None = None
    """The compiled figure is to be so many times better ..."""
    than: str = "native"
    """... than this column's."""
    users: bool = False
    """Plays the user's game: "ours" takes its file as $PLYHOUSE_BENCH_GAME."""
    compile: bool = False
    """... compiled."""

    def gain(self, better: float, worse: float) -> float:
        """How many times better."""
        return worse / better if self.unit == "s" else better / worse


def users_game(measure: Callable[[str], Measure]) -> Measure:
    def measured(seconds: float) -> float:
        return measure(os.environ["PLYHOUSE_BENCH_GAME"])(seconds)

    return measured


MCTS_ROWS = (
    ("tic_tac_toe", 5000, 1.0),
    ("connect_four", 5000, 2.5),
    ("othello", 1000, 12.0),
    ("pig", 2000, 1.3),
    ("backgammon", 100, 5.0),
)

USERS_ROWS = (("interpreted game", 1.0, False), ("compiled game", 5.0, True))

ROWS = [
    Row(
        "alpha_beta connect_four, same tree", "nodes/s", alpha_beta_nodes("connect_four", DEPTH),
        python=rivals.spiel_alpha_beta, easy=rivals.easy_alpha_beta, goal=25.0, than="python",
    ),
    Row(
        "alpha_beta connect_four, with estimates", "nodes/s",
        alpha_beta_nodes("connect_four", 8, heuristic=True, order=True),
    ),
    Row(
        "alpha_beta connect_four, to depth 10", "s", to_depth,
        python=rivals.spiel_to_depth, easy=rivals.easy_to_depth, goal=25.0, than="python",
    ),
    Row(
        "alpha_beta tic_tac_toe, solve", "s", solve,
        python=rivals.spiel_solve, easy=rivals.easy_solve, than="python",
    ),
    *[
        Row(
            f"mcts {name}", "simulations/s", mcts_rate(name, count),
            native=rivals.spiel_mcts(name, count), goal=goal,
        )
        for name, count, goal in MCTS_ROWS
    ],
    Row(
        "expectiminimax pig", "nodes/s", expectiminimax_nodes,
        python=rivals.spiel_expectiminimax, than="python",
    ),
    *[
        Row(
            f"cfr_plus {name}", "iterations/s", cfr_plus_rate(f"{name}_poker"),
            native=rivals.spiel_cfr_plus(f"{name}_poker"),
            python=rivals.spiel_cfr_plus_python(f"{name}_poker"),
            goal=8.0 if name == "leduc" else None,
        )
        for name in ("kuhn", "leduc")
    ],
    *[
        Row(
            f"cfr_plus {name}, to 0.01", "s", exploitable(f"{name}_poker"),
            native=rivals.spiel_exploitable(f"{name}_poker"),
        )
        for name in ("kuhn", "leduc")
    ],
    *[
        Row(
            f"mccfr {name}", "iterations/s", mccfr_rate(f"{name}_poker"),
            native=rivals.spiel_mccfr(f"{name}_poker"),
        )
        for name in ("kuhn", "leduc")
    ],
    *[
        Row(f"{label} alpha_beta", "nodes/s", users_game(lambda name: alpha_beta_nodes(name, 7)),
            goal=goal, than="pure", users=True, compile=compiled)
        for label, goal, compiled in USERS_ROWS
    ],
    *[
        Row(f"{label} mcts", "simulations/s", users_game(lambda name: mcts_rate(name, 1000)),
            goal=goal, than="pure", users=True, compile=compiled)
        for label, goal, compiled in USERS_ROWS
    ],
]  # fmt: skip


@dataclass
class Bench:
    """One run of this script."""

    seconds: float
    folder: Path
    """For the copy of the user's game that is compiled."""
    spiel: bool = field(default_factory=lambda: importlib.util.find_spec("pyspiel") is not None)
    easy: bool = field(default_factory=lambda: importlib.util.find_spec("easyAI") is not None)

    def cell(self, row: Row, part: str, **environ: str) -> float | None:
        """Return one figure, from a separate process."""
        command = [sys.executable, __file__, "--part", part, "--rows", row.name]
        done = subprocess.run(
            [*command, "--seconds", str(self.seconds)],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            check=False,
            text=True,
        )
        return float(json.loads(done.stdout)) if done.returncode == 0 else None

    def figures(self, row: Row) -> dict[str, float | None]:
        """All columns of one row, one after the other."""
        found: dict[str, float | None] = {}
        plain = {"PLYHOUSE_BENCH_GAME": str(HERE / USERS_GAME)} if row.users else {}
        found["pure"] = self.cell(row, "ours", PLYHOUSE_PURE="1", **plain)
        if row.compile:
            plain = {"PLYHOUSE_BENCH_GAME": str(self.compiled_game())}
        if native_games():
            found["compiled"] = self.cell(row, "ours", **plain)
        if self.spiel and row.native is not None:
            found["native"] = self.cell(row, "native")
        if self.spiel and row.python is not None:
            found["python"] = self.cell(row, "python")
        if self.easy and row.easy is not None:
            found["easy"] = self.cell(row, "easy")
        return found

    def compiled_game(self) -> Path:
        """A copy of the user's game with machine code beside it."""
        copy = self.folder / USERS_GAME
        if not copy.exists():
            shutil.copyfile(HERE / USERS_GAME, copy)
            plyhouse("compile", str(copy))
        return copy


def plyhouse(*arguments: str) -> float:
    """Run the command line; the seconds that passed."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "plyhouse.clients.cli.main", *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - begun


def parallel_search(seconds: float) -> list[float]:
    """Elapsed seconds of as many simulations in one process and in two, already started."""
    from plyhouse.search import Limit
    from plyhouse.search.monte_carlo.parallel import ParallelSearch

    game, state = start("othello")
    limit = Limit(simulations=round(400_000 * seconds))
    found = []
    for workers in (1, 2):
        with ParallelSearch(workers) as search:
            search.mcts(game, state, Limit(simulations=10))
            begun = time.perf_counter()
            search.mcts(game, state, limit, solve=False)
            found.append(time.perf_counter() - begun)
    return found


def parallel_match(seconds: float) -> list[float]:
    """Elapsed seconds of the same matches, one at a time and two at a time.

    Not mirrored: in a mirrored pairing two bots think at once, so that one job fills two cores.
    """
    fixed = ["--game", "connect_four", "--games", "16", "--opening-plies", "4", "--seed", "1"]
    fixed.append("--no-mirrored")
    bots = ["minimax(depth=7)"] * 2
    return [
        plyhouse("match", *bots, *fixed, "--time-control", "move:60", "--jobs", str(jobs))
        for jobs in (1, 2)
    ]


TWO_CORES: dict[str, Measure2] = {
    "parallel mcts othello": parallel_search,
    "parallel plyhouse match": parallel_match,
}


def native_games() -> bool:
    from plyhouse.games.native import COMPILED

    return COMPILED


def number(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:,.1f}M"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def printed(row: Row, found: dict[str, float | None]) -> str:
    """One line of the table."""
    columns = ("pure", "compiled", "native", "python", "easy")
    line = f"{row.name:40}{row.unit:>14}"
    line += "".join(f"{number(found.get(column)):>13}" for column in columns)
    mine = found.get("compiled") or found.get("pure")
    gains = ""
    for column in columns[:1] + columns[2:]:
        other = found.get(column)
        if mine and other and column in ("pure", row.than):
            gain = row.gain(mine, other)
            gains += f"{gain:9.1f}x"
            if row.goal is not None and column == row.than:
                gains += f"  {'met' if gain >= row.goal else 'MISSED'} (goal {row.goal:g}x)"
        elif column in ("pure", row.than):
            gains += " " * 10
    return line + gains


def main() -> None:
    parser = argparse.ArgumentParser(description="The searches beside other libraries.")
    parser.add_argument("--rows", nargs="*", help="those whose names contain one of these")
    parser.add_argument("--seconds", type=float, default=0.6, help="for each figure")
    parser.add_argument(
        "--part", choices=("ours", "native", "python", "easy"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.part:
        row = next(row for row in ROWS if row.name == options.rows[0])
        print(json.dumps(getattr(row, options.part)(options.seconds)))
        return

    def wanted(name: str) -> bool:
        return not options.rows or any(part in name for part in options.rows)

    rows = [row for row in ROWS if wanted(row.name)]
    titles = ("pure", "compiled", "Spiel C++", "Spiel Python", "easyAI")
    head = f"{'':40}{'':>14}" + "".join(f"{title:>13}" for title in titles)
    print(head + f"{'/ pure':>10}{'/ rival':>10}")
    with tempfile.TemporaryDirectory(prefix="plyhouse-bench-") as folder:
        bench = Bench(options.seconds, Path(folder))
        for row in rows:
            print(printed(row, bench.figures(row)), flush=True)
    for name, measure in TWO_CORES.items():
        if wanted(name):
            one, two = measure(options.seconds)
            line = f"{name:40}{'s elapsed':>14}  one process {one:.2f}, two {two:.2f}"
            print(f"{line}: {one / two:.2f} times as fast", flush=True)


if __name__ == "__main__":
    main()
