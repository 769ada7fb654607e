"""Backgammon's estimate at one ply against GNU Backgammon's at its 0 plies, and the pip count.

Each takes the turn after which it likes the position best: that is depth 1 of
expectiminimax, and 0-ply in gnubg's words.  Matches come in pairs with the same dice and the
seats swapped; points count gammons and backgammons, without a cube.  The interval is of
means of pairs, at 95 %.

    python benchmarks/backgammon_gnubg.py --pairs 300
    python benchmarks/backgammon_gnubg.py --ours pips --pairs 100
    python benchmarks/backgammon_gnubg.py --rival pips --pairs 300
    python benchmarks/backgammon_gnubg.py --ours network.toml --rival estimate --pairs 300
    python benchmarks/backgammon_gnubg.py --ours search --pairs 50

``network.toml`` stands for any file that ``plyhouse learn backgammon`` has written.  ``search`` is
the estimate at depth 3 of expectiminimax: own turn, roll, and answer of the other seat.

gnubg (GPL; of Debian the package `gnubg`) is asked by a pipe what positions are worth.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.stochastic.backgammon.estimate import points_of
from plyhouse.games.stochastic.backgammon.rules import pips
from plyhouse.search import Limit, expectiminimax
from plyhouse.search.evaluation.backgammon_training import load_backgammon_network

PATIENCE = 60
"""Seconds in which gnubg must answer: it needs milliseconds."""

Values = Callable[[list[Any], int], list[float]]
"""Return the values of states for the seat that moved to them."""
Player = Callable[[Any], Any]
"""Return the action of the seat on turn."""

INSIDE_GNUBG = """
import gnubg, json, os
asked = os.fdopen(int(os.environ["ASKED"]), "r")
told = os.fdopen(int(os.environ["TOLD"]), "w")
context = gnubg.evalcontext(0, 0, 1, 0, 0.0)  # no cube, 0 plies, deterministic, all moves
money = gnubg.cubeinfo(1, -1, 0, 0, (0, 0), 0, 0)
for line in asked:
    points = []
    for mine, theirs in json.loads(line):
        w, wg, wb, lg, lb, _ = gnubg.evaluate((tuple(theirs), tuple(mine)), money, context)
        points.append(2 * w - 1 + wg + wb - lg - lb)
    told.write(json.dumps(points) + "\\n")
    told.flush()
"""


def find_gnubg() -> str | None:
    """The program, also where Debian puts games."""
    return shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games:/usr/local/games")


class Gnubg:
    """GNU Backgammon in a separate process."""

    def __init__(self, program: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        script = Path(self.folder.name, "inside.py")
        script.write_text(INSIDE_GNUBG, encoding="utf-8")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.process = subprocess.Popen(
            [program, "--tty", "--quiet", "--no-rc", "--python", str(script)],
            env=os.environ | {"ASKED": str(theirs_in), "TOLD": str(theirs_out)},
            cwd=self.folder.name,
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.ask = os.fdopen(ours_out, "w")
        self.hear = os.fdopen(ours_in, "r")

    def values(self, states: list[Any], seat: int) -> list[float]:
        """Return gnubg's expectation for the seat that moved."""
        boards = []
        for state in states:
            sides = (state.one, state.two) if state.turn == 0 else (state.two, state.one)
            boards.append([side[1:] for side in sides])
        self.ask.write(json.dumps(boards) + "\n")
        self.ask.flush()
        ready, _, _ = select.select([self.hear], [], [], PATIENCE)
        if not ready:
            self.process.kill()
            raise RuntimeError(f"gnubg did not answer within {PATIENCE} s")
        line = self.hear.readline()
        if not line:
            raise RuntimeError("gnubg ended before it answered; does it run, with Python in it?")
        return [-points for points in json.loads(line)]

    def close(self) -> None:
        """End the process."""
        self.ask.close()
        self.process.wait()
        self.hear.close()
        self.folder.cleanup()


def by_estimate(states: list[Any], seat: int) -> list[float]:
    """The game's own estimates."""
    return [state.heuristic()[seat] for state in states]


def by_pips(states: list[Any], seat: int) -> list[float]:
    """The lead in the pip count."""
    sign = 1 if seat == 0 else -1
    return [sign * float(pips(state.two) - pips(state.one)) for state in states]


def by_network(file: str) -> Values:
    """Estimates by the network of a file."""
    network = load_backgammon_network(file)

    def values(states: list[Any], seat: int) -> list[float]:
        return [
            -points_of(state.two, state.one, network)
            if seat == 0
            else -points_of(state.one, state.two, network)
            for state in states
        ]

    return values


def by_search(state: Any) -> Any:
    """The turn that expectiminimax finds at depth 3: own turn, roll, and answer."""
    return expectiminimax(get_game("backgammon"), state, Limit(depth=3), pruning="star2").action


def greedy(values: Values) -> Player:
    """A player that looks at its own turns only."""
    return lambda state: choose(state, values)


def choose(state: Any, values: Values) -> Any:
    """The turn after which the position is worth most; the first of equals."""
    actions = state.actions()
    if len(actions) == 1:
        return actions[0]
    seat = state.to_move
    children = [state.after(action) for action in actions]
    going = [child for child in children if child.to_move != TERMINAL]
    worth = iter(values(going, seat) if going else [])
    found = [
        100 * child.returns()[seat] if child.to_move == TERMINAL else next(worth)
        for child in children
    ]
    return actions[found.index(max(found))]


def play(players: tuple[Player, Player], seed: int) -> float:
    """Points of seat 0 of one match, with the dice of the seed."""
    rng = random.Random(seed)
    state = get_game("backgammon").initial_state()
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            chosen = rng.choices(outcomes, [weight for _, weight in outcomes])[0]
            state = state.after(chosen[0])
        else:
            state = state.after(players[state.to_move](state))
    return float(state.returns()[0])


def compare(ours: Player, rival: Player, pairs: int, seed: int) -> list[float]:
    """Our points a match, a mean of two for each pair of matches with the same dice."""
    found = []
    for pair in range(pairs):
        dice = seed * 1_000_003 + pair
        found.append((play((ours, rival), dice) - play((rival, ours), dice)) / 2)
        if sys.stderr.isatty():
            print(
                f"\r{pair + 1} of {pairs}: {statistics.fmean(found):+.3f} ", end="", file=sys.stderr
            )
        elif pair % 50 == 49:
            print(f"{pair + 1} pairs: {statistics.fmean(found):+.3f}", flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return found


OWN: dict[str, Player] = {
    "estimate": greedy(by_estimate),
    "pips": greedy(by_pips),
    "search": by_search,
}


def own(name: str) -> Player:
    """A player by its name, or by the file of its network."""
    return OWN[name] if name in OWN else greedy(by_network(name))


def main() -> None:
    """Print how one fares against the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    known = ", ".join(OWN)
    parser.add_argument("--ours", default="estimate", help=f"{known} or the file of a network")
    parser.add_argument("--rival", default="gnubg", help=f"gnubg, {known} or a file")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    engine: Gnubg | None = None
    if options.rival == "gnubg":
        program = find_gnubg()
        if program is None:
            print(
                "skipped: there is no program gnubg here to play against; install it (Debian: "
                "apt-get install gnubg), or measure against the pip count by --rival pips"
            )
            return
        engine = Gnubg(program)
    rival = own(options.rival) if engine is None else greedy(engine.values)
    found = compare(own(options.ours), rival, options.pairs, options.seed)
    if engine is not None:
        engine.close()
    margin = 1.96 * statistics.stdev(found) / len(found) ** 0.5
    print(
        f"{options.ours} against {options.rival}, {len(found)} pairs: "
        f"{statistics.fmean(found):+.3f} ± {margin:.3f} points a match"
    )


if __name__ == "__main__":
    main()
