"""Assumptions and reality: minimax and expectimax Pacman against two kinds of ghosts.

A Pacman that fears an adversary and one that trusts in chance each meet a ghost of either kind.
A Pacman whose assumption is right plays best.  One that takes an adversary for a random ghost is
usually caught; one that takes a random ghost for an adversary just loses some time.  The course
(and Berkeley's CS188, whose Pacman this is) shows five games of each; this plays more:

    python pacman_experiment.py --games 100
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.games import TERMINAL, Game, get_game
from plyhouse.search import Limit, expectimax, team_search

__all__ = ["COURSE", "LAYOUT", "Cell", "Experiment", "main", "table"]

LAYOUT: Final = "%%%%%%%%%%%/%G %     .%/%%    . P %/%%    %  .%/%%%%%%%%%%%"
"""A room with a few pillars, three dots and one ghost, which must hurry to cut Pacman off."""

COURSE: Final = {
    ("minimax", "adversarial"): "won 5/5, score 483",
    ("minimax", "random"): "won 5/5, score 493",
    ("expectimax", "adversarial"): "won 1/5, score -303",
    ("expectimax", "random"): "won 5/5, score 503",
}
"""The course's results, by Pacman and ghost."""


def avoids_trouble(state: Any, seat: int) -> float:
    """Pacman's evaluation: the score, less for dots left and the way to the nearest.

    The score of a finished game includes being caught, so the search itself sees the danger.  It
    takes the danger as certain against an adversary, and weighs it by its probability against
    chance.
    """
    far = state.maze.distances(state.pacman)
    left = [far[cell] for cell in state.maze.dots if state.dots & state.maze.bits[cell]]
    value = float(state.score - 3 * len(left) - min(left))
    return value if seat == 0 else -value


def seeks_pacman(state: Any, seat: int) -> float:
    """Return the ghosts' evaluation: the way from the nearest of them to Pacman."""
    far = state.maze.distances(state.pacman)
    value = float(min(far[ghost] for ghost in state.ghosts))
    return value if seat == 0 else -value


@dataclass(frozen=True)
class Cell:
    """The games of one Pacman against one kind of ghost."""

    scores: tuple[int, ...]
    wins: int

    @property
    def mean(self) -> float:
        """The mean score."""
        return sum(self.scores) / len(self.scores)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of the mean score; infinite for one game."""
        count = len(self.scores)
        if count < 2:
            return math.inf
        variance = sum((score - self.mean) ** 2 for score in self.scores) / (count - 1)
        return 1.96 * math.sqrt(variance / count)

    @property
    def win_interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of games won (Wilson 1927)."""
        count, z = len(self.scores), 1.96
        share = self.wins / count
        centre = (share + z * z / (2 * count)) / (1 + z * z / count)
        half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
        half /= 1 + z * z / count
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        low, high = self.win_interval
        return (
            f"won {self.wins}/{len(self.scores)} ({low:.0%} to {high:.0%}), "
            f"score {self.mean:.1f} +- {self.margin:.1f}"
        )


class Experiment:
    """Games in one layout; depths are in plies, each Pacman's or a ghost's."""

    def __init__(self, layout: str = LAYOUT, depth: int = 6, ghost_depth: int = 2) -> None:
        quoted = layout.replace('"', "")
        self.adversaries: Game = get_game(f'pacman(layout="{quoted}",steps=200)')
        self.chance: Game = get_game(f'pacman(layout="{quoted}",steps=200,ghosts=random)')
        self.depth = Limit(depth=depth)
        self.ghost_depth = Limit(depth=ghost_depth)

    def step(self, state: Any, pacman: str, ghosts: str, rng: random.Random) -> Any:
        """Return the action of the figure to move, at random among equally good ones."""
        seed = rng.getrandbits(32) | 1
        if state.to_move > 0:
            if ghosts == "random":
                return rng.choice(state.actions())
            return team_search(
                self.adversaries, state, self.ghost_depth, evaluate=seeks_pacman, seed=seed
            ).action
        if pacman == "minimax":
            return team_search(
                self.adversaries, state, self.depth, evaluate=avoids_trouble, seed=seed
            ).action
        # The same position, but under the assumption that chance moves the ghosts.
        return expectimax(
            self.chance, state.with_ghosts(True), self.depth, evaluate=avoids_trouble, seed=seed
        ).action

    def play(self, pacman: str, ghosts: str, seed: int) -> tuple[int, bool]:
        """One game: the score, and whether Pacman ate all dots."""
        rng = random.Random(seed)
        state: Any = self.adversaries.initial_state()
        while state.to_move != TERMINAL:
            state = state.after(self.step(state, pacman, ghosts, rng))
        return state.score, state.dots == 0

    def cell(self, pacman: str, ghosts: str, games: int) -> Cell:
        """So many games, always the same ones."""
        played = [self.play(pacman, ghosts, seed) for seed in range(games)]
        return Cell(tuple(score for score, _ in played), sum(won for _, won in played))


def table(cells: dict[tuple[str, str], Cell]) -> str:
    """Return the course's table beside ours."""
    lines = [f"{'Pacman':<11} {'ghost':<12} {'the course':<20} here"]
    for (pacman, ghosts), cell in cells.items():
        course = COURSE[pacman, ghosts]
        lines.append(f"{pacman:<11} {ghosts:<12} {course:<20} {cell}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Play all four kinds of games and print what came out, with 95 % intervals."""
    parser = argparse.ArgumentParser(description="Assumptions and reality, with Pacman.")
    parser.add_argument("--games", type=int, default=100, help="games of each kind")
    parser.add_argument("--layout", default=LAYOUT, help="name of a layout, or rows apart by /")
    parser.add_argument("--depth", type=int, default=6, help="plies Pacman looks ahead")
    parser.add_argument("--ghost-depth", type=int, default=2, help="plies an adversary does")
    options = parser.parse_args(arguments)
    if options.games < 1:
        parser.error(f"--games {options.games}: at least 1")
    experiment = Experiment(options.layout, options.depth, options.ghost_depth)
    cells = {pair: experiment.cell(*pair, options.games) for pair in COURSE}
    print(table(cells))  # noqa: T201 - what the program is for


if __name__ == "__main__":
    main()
