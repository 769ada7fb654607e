"""The tree that a search looks at, recorded node by node, to be drawn and talked about.

These are plain, slow, teaching implementations, written from the definitions and on
purpose independent of the compiled kernels, whose results the tests compare with theirs.

Minimax and its companions: Russell and Norvig, "Artificial Intelligence: A Modern
Approach", 4th ed., the chapter "Adversarial Search and Games".
Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975).
Star1: Ballard, "The *-minimax search procedure for trees containing chance nodes",
Artificial Intelligence 21 (1983).  Max^n: Luckhardt and Irani, "An algorithmic solution of
N-person games", AAAI (1986).  Paranoid: Sturtevant and Korf, "On pruning techniques for
multi-player games", AAAI (2000).

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("(3 12) (2 4)")
>>> print(explain(game, game.initial_state()).text(), end='')
alpha_beta to the end: value 3 for MAX, best 1, 6 nodes
MAX = 3  α −∞ β ∞
├─ 1  MIN = 3  α −∞ β ∞ *
│  ├─ 1  end = 3 *
│  └─ 2  end = 12
└─ 2  MIN ≤ 2  α 3 β ∞
   ├─ 1  end = 2
   └─ cut: 2  (the value is ≤ 2, α is 3)
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Any, Final

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.callback_types import Evaluation, Policy
from plyhouse.search.game_requirements import ALGORITHMS, fitting_algorithms
from plyhouse.search.limit import Limit
from plyhouse.search.teaching.drawable_tree import Explanation
from plyhouse.search.teaching.tree_recorder import Recorder, Style

__all__ = ["SEARCHES", "TreeTooLarge", "UnknownSearch", "explain"]

WHOLE: Final = 200
"""Plies of a tree without a depth limit: more cannot be drawn, and Python's stack ends."""
MAX_NODES: Final = 500
"""Largest tree that fits on a page."""


SEARCHES: Final = {
    "minimax": Style(ALGORITHMS["minimax"]),
    "alpha_beta": Style(ALGORITHMS["alpha_beta"], prunes=True, bounds=True, orders=True),
    "expectiminimax": Style(ALGORITHMS["expectiminimax"]),
    "star1": Style(replace(ALGORITHMS["expectiminimax"], algorithm="star1"), prunes=True),
    "team_search": Style(ALGORITHMS["team_search"], prunes=True, teams=True),
    "maxn": Style(ALGORITHMS["maxn"], every_seat=True),
    "paranoid": Style(ALGORITHMS["paranoid"], prunes=True),
    "expectimax": Style(ALGORITHMS["expectimax"], models=True),
}
"""The searches that can be explained, by name."""


class UnknownSearch(ValueError):  # noqa: N818 - like UnknownGame
    """No search of this name; the message names the nearest."""

    def __init__(self, name: str) -> None:
        self.name = name
        near = difflib.get_close_matches(name.lower().replace("-", "_"), SEARCHES, n=2)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"it is one of {', '.join(SEARCHES)}."
        )
        super().__init__(f"There is no search {name!r} to explain; {hint}")


class TreeTooLarge(ValueError):  # noqa: N818 - a condition of the question, like GameMismatch
    """The tree has more nodes than may be drawn; the fields say what would fit."""

    def __init__(
        self,
        what: str,
        max_nodes: int,
        depth: tuple[int, int] | None,
        actions: tuple[int, int] | None,
        words: tuple[str, str, str] = ("depth={}", "max_actions={}", "max_nodes"),
    ) -> None:
        self.what = what
        self.max_nodes = max_nodes
        self.depth = depth
        """The greatest depth that fits, and the nodes of that tree."""
        self.actions = actions
        """At the depth asked for, the most actions a position that fit, and the nodes."""
        ways: list[str] = []
        if depth is not None:
            ways.append(f"{words[0].format(depth[0])} fits ({depth[1]} nodes)")
        if actions is not None:
            ways.append(
                f"{words[1].format(actions[0])}, the first actions of each position only, "
                f"fits ({actions[1]} nodes)"
            )
        ways.append(f"{words[2]} allows more")
        super().__init__(f"{what} has more than {max_nodes} nodes: {'; '.join(ways)}")


def _check_options(search: str, **numbers: Any) -> None:
    """Raise the errors of `explain` for its third argument and for its numbers."""
    given: Any = search
    if not isinstance(given, str):
        raise TypeError(
            f"explain(game, state, {given!r}): the third argument is the name of a search"
            + (f"; write {_as_depth(given)}" if isinstance(given, Limit) else "")
        )
    if search not in SEARCHES:
        raise UnknownSearch(search)
    for name, number in numbers.items():
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise TypeError(
                f"{name}={number!r}: expected a whole number"
                + (f"; write {_as_depth(number)}" if isinstance(number, Limit) else "")
            )
        if number is not None and number < 1:
            raise ValueError(f"{name}={number}: expected at least 1")


def explain(
    game: Game,
    state: Any,
    search: str = "alpha_beta",
    *,
    depth: int | None = None,
    evaluate: Evaluation | None = None,
    opponents: Policy | None = None,
    seat: int | None = None,
    show_cut: bool = False,
    max_actions: int | None = None,
    max_nodes: int = MAX_NODES,
) -> Explanation:
    """Record the tree of a search from a state in which a seat is to move, or chance.

    ``search`` is one of `SEARCHES`.  ``depth`` counts plies, chance included; without it
    the tree goes to the end of the game.  Positions at the depth limit are valued by
    ``evaluate(state, seat)``, else by the state's ``heuristic()``, else as 0.
    ``opponents`` models the other seats for "expectimax" (see `plyhouse.search.policies`); by
    default they choose uniformly.
    ``show_cut`` records what lies behind cuts as well, for drawings; it counts for
    ``max_nodes``, but not among the nodes that the search looked at.
    ``max_actions`` looks at the first actions of each position only, which makes large
    games drawable; chance keeps all its outcomes.

    Values are those of ``seat``, by default the seat to move (seat 0 at a chance node); with "maxn"
    every seat has its own.  Raises `UnknownSearch`, `GameMismatch` for a game that does not fit,
    and `TreeTooLarge`.  Raises `ValueError` for options out of range and if the game is over, and
    `TypeError` for options of the wrong type.  A `Limit` is one of these, because only depth and
    nodes bound a tree.
    """
    _check_options(search, depth=depth, max_actions=max_actions, max_nodes=max_nodes)
    if opponents is not None and not SEARCHES[search].models:
        raise ValueError(f"{search} has no model of an opponent; expectimax does")
    require_fit(search, game)
    if seat is not None and not 0 <= seat < game.seats:
        raise ValueError(f"seat={seat}: expected a seat from 0 to {game.seats - 1}")
    if state.to_move == TERMINAL:
        raise ValueError("the game is over here: there is no tree to search")
    if seat is None:
        seat = max(state.to_move, 0)
    asked = Recorder(
        game, state, SEARCHES[search], evaluate, opponents, seat, show_cut, max_actions, max_nodes
    )
    plies = WHOLE if depth is None else min(depth, WHOLE)
    root = asked.record(plies)
    if root is None:
        what = f"The {search} tree of {game.spec}{'' if depth is None else f' to depth {depth}'}"
        raise TreeTooLarge(
            what, max_nodes, asked.depth_that_fits(plies), asked.actions_that_fit(plies)
        )
    return Explanation(
        game=game,
        search=search,
        depth=depth,
        seat=seat,
        max_actions=max_actions,
        root=root,
        nodes=asked.nodes,
    )


def _as_depth(limit: Limit) -> str:
    """How to ask for what a limit says: a tree has depth and nodes, and takes no time."""
    depth = 3 if limit.depth is None else limit.depth
    nodes = "" if limit.nodes is None else f", max_nodes={limit.nodes}"
    return f'explain(game, state, "alpha_beta", depth={depth}{nodes})'


def require_fit(search: str, game: Game) -> None:
    """Raise `GameMismatch` unless the search can play the game."""
    reasons = tuple(SEARCHES[search].needs.misfits(game))
    if reasons:
        fitting = [name for name, style in SEARCHES.items() if not any(style.needs.misfits(game))]
        others = f"what fits {game.spec}: {', '.join(fitting)}"
        if not fitting:
            playing = ", ".join(fitting_algorithms(game))
            others = f"no search that explain draws fits {game.spec}; what can play it: {playing}"
        wanted = SEARCHES[search].needs.wanted()
        raise GameMismatch(search, game.spec, " and ".join(reasons), f"it plays {wanted}; {others}")
