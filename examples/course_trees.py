"""The worked examples of a course on adversarial search; each draws itself.

python examples/course_trees.py FOLDER      writes an SVG of each into the folder
python examples/course_trees.py             prints them as text

The trees are in the notation of plyhouse.games.tree_notation; docs/course.md shows them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plyhouse.games import get_game
from plyhouse.games.trees import tree_game
from plyhouse.search import Explanation, Limit, explain, minimax
from plyhouse.search.policies import Policy, mixed_policy, search_policy

MINIMAX = "((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))"
BOOK = "a1:(b1:3 b2:12 b3:8) a2:(c1:2 c2:4 c3:6) a3:(d1:14 d2:5 d3:2)"
CHANCE = "?(1/2:8 1/3:24 1/6:-12)"
DICE = "a1:?(9/10:(2 2) 1/10:(3 3)) a2:?(9/10:(1 1) 1/10:(4 4))"
SCALED = "a1:?(9/10:(20 20) 1/10:(30 30)) a2:?(9/10:(1 1) 1/10:(400 400))"
STAR = "safe:4 gamble:?(1/2:(0 3) 1/4:(8 7) 1/4:(6 8))"
THREE = "(([1 6 6] [7 1 2]) ([6 1 2] [7 2 1])) (([5 1 7] [1 5 2]) ([7 7 1] [5 2 5]))"
CARELESS = "safe:(10 11) bold:(8 60 60)"


def written(text: str, search: str, **options: Any) -> Explanation:
    """Search a written tree."""
    game = tree_game(text)
    return explain(game, game.initial_state(), search, **options)


def played(spec: str, moves: str, search: str, **options: Any) -> Explanation:
    """Search a game after some moves."""
    game = get_game(spec)
    state: Any = game.initial_state()
    for move in moves.split():
        state = state.after(game.parse(state, move))
    return explain(game, state, search, **options)


def mostly_minimax(text: str) -> Policy:
    """Return an opponent who plays minimax of depth 2 with 80 %, and anything otherwise."""
    return mixed_policy(search_policy(minimax, tree_game(text), Limit(depth=2)), 0.8)


EXAMPLES: dict[str, tuple[str, Callable[[], Explanation]]] = {
    "minimax": ("Minimax", lambda: written(MINIMAX, "minimax")),
    "alpha-beta": ("The same tree with alpha-beta",
                   lambda: written(MINIMAX, "alpha_beta", show_cut=True)),
    "two-ply": ("A tree of two plies", lambda: written(BOOK, "alpha_beta", show_cut=True)),
    "coins": ("Four coins, one or two at a time; who takes the last one loses",
              lambda: played("coins", "", "minimax")),
    "chance": ("A chance node", lambda: written(CHANCE, "expectiminimax")),
    "dice": ("Chance between MAX and MIN", lambda: written(DICE, "expectiminimax")),
    "dice-scaled": ("The same order of leaves, another choice",
                    lambda: written(SCALED, "expectiminimax")),
    "star1": ("Star1 cuts below a chance node", lambda: written(STAR, "star1", show_cut=True)),
    "three-players": ("Three players", lambda: written(THREE, "maxn")),
    "paranoid": ("The same three, feared as one", lambda: written(THREE, "paranoid")),
    "careful": ("An opponent expected to be perfect", lambda: written(CARELESS, "minimax")),
    "careless": ("An opponent who is so 80 % of the time",
                 lambda: written(CARELESS, "expectimax",
                                 opponents=mostly_minimax(CARELESS))),
    "connect-four": ("connect_four after 4 4", lambda: played("connect_four", "4 4", "alpha_beta",
                                                              depth=3)),
    "tic-tac-toe": ("tic_tac_toe near the end",
                    lambda: played("tic_tac_toe", "b2 a1 a2 c2 b1 b3", "alpha_beta")),
}  # fmt: skip
"""Name of the picture, its heading, and the search."""


def main() -> int:
    """Draw or print all examples."""
    for name, (heading, search) in EXAMPLES.items():
        if len(sys.argv) > 1:
            path = Path(sys.argv[1]) / f"{name}.svg"
            path.write_text(search().svg(heading), encoding="utf-8")
        else:
            sys.stdout.write(f"{heading}\n{search().text()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
