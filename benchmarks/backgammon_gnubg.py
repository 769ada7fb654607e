"""Backgammon's estimate at one ply against GNU Backgammon's at its 0 plies, and the pip count.

Each takes the turn after which it likes the position best: that is depth 1 of
expectiminimax, and 0-ply in gnubg's words.  Matches come in pairs with the same dice and the
seats swapped; points count gammons and backgammons, without a cube.  The intervals are of
means of pairs, at 95 %.

The second result is without the luck of the dice: each roll's value minus the mean over all rolls
is subtracted from the points.  A roll is worth what the estimate expects after the best turn.
Luck is zero on average whatever the estimate says, so this result has the same mean, but a narrower
interval (see `plyhouse.server.results.luck`).

    python benchmarks/backgammon_gnubg.py --pairs 300
    python benchmarks/backgammon_gnubg.py --ours pips --pairs 100
    python benchmarks/backgammon_gnubg.py --rival pips --pairs 300
    python benchmarks/backgammon_gnubg.py --ours network.toml --rival estimate --pairs 300
    python benchmarks/backgammon_gnubg.py --ours search --pairs 50 --seed 2
    python benchmarks/backgammon_gnubg.py --ours search:network.toml --pairs 50

``network.toml`` stands for any file that ``plyhouse learn backgammon`` has written.  ``search`` is
the estimate at depth 3 of expectiminimax: own turn, roll, and answer of the other seat.
``search:network.toml`` is the same with the network of a file.  To use several cores, run the
command with different seeds: each has its own dice.

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
from plyhouse.games.stochastic.backgammon.rules import (
    CHECKERS,
    OPENING,
    ROLLS,
    START,
    pips,
    points_won,
)
from plyhouse.games.stochastic.backgammon.turns import apply_turn, turns_of
from plyhouse.learning.backgammon_training import load_backgammon_network
from plyhouse.search import Limit, expectiminimax

PATIENCE = 60
"""Seconds in which gnubg must answer: it needs milliseconds."""

TOGETHER = 32
"""Pairs of matches that are played at once, so that gnubg gets many positions in one message."""

Values = Callable[[list[Any]], list[float]]
"""Return the values of states before a roll, for the seat that does not roll."""
Player = Callable[[list[Any]], list[Any]]
"""Return the actions of the seats on turn in states of different matches."""

INSIDE_GNUBG = """
import gnubg, json, os
asked = os.fdopen(int(os.environ["ASKED"]), "r")
told = os.fdopen(int(os.environ["TOLD"]), "w")
gnubg.command("set threads 2")  # with one thread, each evaluation sleeps for 10 ms
# No cube, the plies, deterministic; in its search gnubg leaves out turns that look bad.
contexts = [gnubg.evalcontext(0, plies, 1, plies > 0, 0.0) for plies in range(3)]
money = gnubg.cubeinfo(1, -1, 0, 0, (0, 0), 0, 0)
for line in asked:
    points = []
    plies, boards = json.loads(line)
    for mine, theirs in boards:
        w, wg, wb, lg, lb, _ = gnubg.evaluate((tuple(theirs), tuple(mine)), money, contexts[plies])
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
        # gnubg replaces ~/.history and creates ~/.gnubg, so its home is this folder.
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        script = Path(self.folder.name, "inside.py")
        script.write_text(INSIDE_GNUBG, encoding="utf-8")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.process = subprocess.Popen(
            [program, "--tty", "--quiet", "--no-rc", "--python", str(script)],
            env=os.environ
            | {"ASKED": str(theirs_in), "TOLD": str(theirs_out), "HOME": self.folder.name},
            cwd=self.folder.name,
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.ask = os.fdopen(ours_out, "w")
        self.hear = os.fdopen(ours_in, "r")

    def values(self, states: list[Any], plies: int = 0) -> list[float]:
        """Return gnubg's expectation for the seat that moved."""
        if not states:
            return []
        boards = []
        for state in states:
            sides = (state.one, state.two) if state.turn == 0 else (state.two, state.one)
            boards.append([side[1:] for side in sides])
        self.ask.write(json.dumps([plies, boards]) + "\n")
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


def by_estimate(states: list[Any]) -> list[float]:
    """The game's own estimates."""
    return [state.heuristic()[1 - state.turn] for state in states]


def by_pips(states: list[Any]) -> list[float]:
    """The lead in the pip count."""
    return [
        float(pips(state.one) - pips(state.two)) * (1 if state.turn == 0 else -1)
        for state in states
    ]


def by_network(file: str) -> Values:
    """Estimates by the network of a file."""
    weights = load_backgammon_network(file)
    return lambda states: [
        -points_of(state.one, state.two, weights)
        if state.turn == 0
        else -points_of(state.two, state.one, weights)
        for state in states
    ]


def searching(file: str | None = None) -> Player:
    """A player by expectiminimax at depth 3, with the network of a file or the game's own."""
    # With a limit of nodes the search deepens, which tries the best turn first and saves a quarter.
    game, limit = get_game("backgammon"), Limit(depth=3, nodes=10**9)
    values = by_estimate if file is None else by_network(file)

    def by_file(state: Any, seat: int) -> float:
        value = -values([state])[0]
        return value if state.turn == seat else -value

    evaluate = None if file is None else by_file
    return lambda states: [
        expectiminimax(game, state, limit, pruning="star2", evaluate=evaluate).action
        for state in states
    ]


def greedy(values: Values) -> Player:
    """A player of the turns after which the positions are worth most; the first of equals."""

    def choose(states: list[Any]) -> list[Any]:
        actions = [state.actions() for state in states]
        children = [
            [state.after(action) for action in each] if len(each) > 1 else []
            for state, each in zip(states, actions, strict=True)
        ]
        worth = iter(
            values([child for each in children for child in each if child.to_move != TERMINAL])
        )
        chosen = []
        for state, turns, each in zip(states, actions, children, strict=True):
            found = [
                next(worth) if child.to_move != TERMINAL else 100 * child.returns()[state.to_move]
                for child in each
            ]
            chosen.append(turns[found.index(max(found))] if found else turns[0])
        return chosen

    return choose


class Dice:
    """Luck of rolls, by the estimates after the best turns."""

    def __init__(self) -> None:
        self.opening = {
            roll: self.worth(list(START), list(START), max(roll, swapped(roll)))
            for roll, _ in OPENING
        }

    def worth(self, mine: list[int], theirs: list[int], roll: int) -> float:
        """Return the points that a seat may expect that has rolled."""
        best = -3.0
        for turn in turns_of(mine, theirs, roll):
            own, other = mine[:], theirs[:]
            apply_turn(own, other, roll, turn)
            if own[0] == CHECKERS:
                return points_won(other)
            best = max(best, -points_of(tuple(other), tuple(own)))
        return best

    def luck(self, state: Any, roll: int) -> float:
        """Return the luck of a roll, in points of seat 0."""
        if state.turn < 0:  # As often for one seat as for the other, so that the mean is 0.
            return self.opening[roll] if roll // 10 > roll % 10 else -self.opening[roll]
        mine, theirs = list(state.one), list(state.two)
        if state.turn == 1:
            mine, theirs = theirs, mine
        worth = {other: self.worth(mine, theirs, other) for other, _ in ROLLS}
        luck = worth[roll] - sum([share * worth[other] for other, share in ROLLS])
        return luck if state.turn == 0 else -luck


def swapped(roll: int) -> int:
    """Return a roll with its dice in the other order."""
    return roll % 10 * 10 + roll // 10


class Match:
    """A match with the dice of a seed, and what the dice explain of its points."""

    def __init__(self, players: tuple[Player, Player], seed: int, judge: Dice) -> None:
        self.players = players
        self.rng = random.Random(seed)
        self.judge = judge
        self.state: Any = get_game("backgammon").initial_state()
        self.luck = 0.0
        """In points of seat 0."""
        self.roll()

    def play(self, action: Any) -> None:
        """Play a turn, and roll unless it was the last."""
        self.state = self.state.after(action)
        self.roll()

    def roll(self) -> None:
        """Roll the dice if it is time to."""
        if self.state.to_move == CHANCE:
            outcomes = self.state.chance_outcomes()
            roll = self.rng.choices(outcomes, [weight for _, weight in outcomes])[0][0]
            self.luck += self.judge.luck(self.state, roll)
            self.state = self.state.after(roll)


def play(matches: list[Match]) -> None:
    """Play matches to the end, side by side."""
    while running := [match for match in matches if match.state.to_move != TERMINAL]:
        for player in dict.fromkeys([player for match in matches for player in match.players]):
            mine = [match for match in running if match.players[match.state.to_move] is player]
            if mine:
                actions = player([match.state for match in mine])
                for match, action in zip(mine, actions, strict=True):
                    match.play(action)
            running = [match for match in running if match not in mine]


def compare(ours: Player, rival: Player, pairs: int, seed: int) -> list[tuple[float, float]]:
    """Our points a match, raw and without luck, a mean of the two matches of each pair."""
    judge = Dice()
    found: list[tuple[float, float]] = []
    while len(found) < pairs:
        numbers = range(len(found), min(len(found) + TOGETHER, pairs))
        dice = [seed * 1_000_003 + pair for pair in numbers]
        firsts = [Match((ours, rival), each, judge) for each in dice]
        seconds = [Match((rival, ours), each, judge) for each in dice]
        play(firsts + seconds)
        for first, second in zip(firsts, seconds, strict=True):
            points = (first.state.returns()[0] - second.state.returns()[0]) / 2
            found.append((points, points - (first.luck - second.luck) / 2))
        if len(found) < pairs:
            print(f"{len(found)} pairs: {summary(found)}", file=sys.stderr, flush=True)
    return found


def summary(found: list[tuple[float, float]]) -> str:
    """Return both means with their margins at 95 %."""
    texts = []
    for values in zip(*found, strict=True):
        margin = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 6.0
        texts.append(f"{statistics.fmean(values):+.3f} ± {margin:.3f}")
    return f"{texts[0]} points a match, {texts[1]} without luck"


OWN: dict[str, Player] = {
    "estimate": greedy(by_estimate),
    "pips": greedy(by_pips),
    "search": searching(),
}


def own(name: str) -> Player:
    """A player by its name, or by the file of its network."""
    if name in OWN:
        return OWN[name]
    kind, _, file = name.partition(":")
    return searching(file) if kind == "search" else greedy(by_network(name))


def main() -> None:
    """Print how one fares against the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    known = ", ".join(OWN)
    parser.add_argument(
        "--ours", default="estimate", help=f"{known}, search:FILE or a network's FILE"
    )
    parser.add_argument("--rival", default="gnubg", help="gnubg or as --ours")
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
    print(f"{options.ours} against {options.rival}, {len(found)} pairs: {summary(found)}")


if __name__ == "__main__":
    main()
