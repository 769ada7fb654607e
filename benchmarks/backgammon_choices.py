"""Points that backgammon's estimate loses by its choices at one ply, as gnubg at 2 plies judges.

The positions are of matches in which the estimate and gnubg at 0 plies choose by turns.  gnubg at 2
plies judges the turns that one of them likes nearly as well as its best.  The others count as worse
by as much as gnubg says at 0 plies.  gnubg's choices at 0 plies are judged in the same way.  This
favours them, because the judge's search ends in the same networks: gnubg's own loss is too low.

    python benchmarks/backgammon_choices.py --decisions 2000 --write judged.txt

With ``--write``, `benchmarks/train_backgammon.c` can judge other networks by the same positions.
Each line begins a decision: its kind, by its number in the table, and the number of turns. A line
for each turn has the 26 counts of the side that moved, those of the other, and the judgement.
"""

from __future__ import annotations

import argparse
import random
import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from backgammon_gnubg import Gnubg, by_estimate, find_gnubg

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL

KINDS = (
    "contact, both sides behind",
    "contact, on the bar",
    "contact, one side clear of the other's home",
    "contact, some borne off",
    "race",
)
NEAR = 0.12
"""Points below gnubg's best at 0 plies within which it judges a turn at 2 plies."""
OWN_NEAR = 0.03
"""The same for the estimate."""
MOST = 10
"""Turns of a decision that are judged, the best by gnubg at 0 plies."""


def kind_of(state: Any) -> int:
    """Return the kind of a position before a turn."""
    farthest = [
        max([point for point in range(26) if side[point]], default=0)
        for side in (state.one, state.two)
    ]
    if sum(farthest) < 25:
        return 4
    if max(farthest) == 25:
        return 1
    if state.one[0] or state.two[0]:
        return 3
    return 2 if min(farthest) < 19 else 0


def main() -> None:
    """Print what the estimate and gnubg lose, by the kind of position."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    program = find_gnubg()
    if program is None:
        print("skipped: there is no program gnubg here; install it (Debian: apt-get install gnubg)")
        return
    with ExitStack() as stack:
        gnubg = Gnubg(program)
        stack.callback(gnubg.close)
        file = stack.enter_context(options.write.open("w")) if options.write else None
        found = judge(gnubg, options.decisions, random.Random(options.seed), file)
    print("| kind of position | decisions | estimate, loss | gnubg at 0 plies |\n|---|---|---|---|")
    for number, kind in enumerate(KINDS):
        report(kind, [losses for each, *losses in found if each == number])
    report("all", [losses for _, *losses in found])


def report(kind: str, losses: list[list[float]]) -> None:
    """Print a row of the table."""
    if len(losses) > 1:
        cells = [
            f"{statistics.fmean(each):.4f} ± {1.96 * statistics.stdev(each) / len(each) ** 0.5:.4f}"
            for each in zip(*losses, strict=True)
        ]
        print(f"| {kind} | {len(losses)} | {cells[0]} | {cells[1]} |")


def judge(
    gnubg: Gnubg, decisions: int, rng: random.Random, file: Any
) -> list[tuple[int, float, float]]:
    """Return of each decision its kind, and what the estimate and gnubg at 0 plies lose by it."""
    game = get_game("backgammon")
    found: list[tuple[int, float, float]] = []
    while len(found) < decisions:
        state: Any = game.initial_state()
        estimating = rng.random() < 0.5
        while state.to_move != TERMINAL and len(found) < decisions:
            if state.to_move == CHANCE:
                outcomes = state.chance_outcomes()
                weights = [weight for _, weight in outcomes]
                state = state.after(rng.choices(outcomes, weights)[0][0])
                continue
            after = [state.after(action) for action in state.actions()]
            if any(each.to_move == TERMINAL for each in after):
                break
            ours, zero = by_estimate(after), gnubg.values(after)
            near = [
                each
                for each in range(len(after))
                if zero[each] > max(zero) - NEAR or ours[each] > max(ours) - OWN_NEAR
            ]
            near = sorted(near, key=lambda each: -zero[each])[:MOST]
            if len(near) > 1:
                judged = dict(
                    zip(near, gnubg.values([after[each] for each in near], 2), strict=True)
                )
                best = max(judged.values())
                worth = [
                    judged.get(each, best - max(max(zero) - zero[each], NEAR))
                    for each in range(len(after))
                ]
                kind = kind_of(state)
                mine, theirs = worth[ours.index(max(ours))], worth[zero.index(max(zero))]
                found.append((kind, best - mine, best - theirs))
                if file is not None:
                    write(file, kind, after, worth)
            values = ours if estimating else zero
            state = after[values.index(max(values))]
            estimating = not estimating
    return found


def write(file: Any, kind: int, after: list[Any], worth: list[float]) -> None:
    """Write a decision for the program that trains networks."""
    file.write(f"{kind} {len(after)}\n")
    for state, points in zip(after, worth, strict=True):
        sides = state.one + state.two if state.turn == 1 else state.two + state.one
        file.write(f"{' '.join(map(str, sides))} {points:.5f}\n")


if __name__ == "__main__":
    main()
