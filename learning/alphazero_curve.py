"""How well a policy and value network plays: the points of a learning curve.

For tic-tac-toe and connect four, a point is the share of test positions in which a search finds a
best action, by 2 simulations in tic-tac-toe and by 100 in connect four.  A best action keeps the
exact value of the position: a win, a draw or a loss.  In all test positions some action is a
mistake.  For breakthrough, a point is the share of points against a rival.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.learning.policy_networks import EXPLORATION, PolicyNetwork, search_together
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.self_play import SelfPlayTree

SIMULATIONS: Final = 100
"""Simulations of a network's search for each action that is measured."""
FEWER: Final = 2
"""The same in tic-tac-toe, where 100 find every best action with any network."""
SOLVED: Final = ("connect_four", "tic_tac_toe")
"""Games with solved positions."""
OPENING: Final = 4
"""Most random plies before each pair of matches."""
CONNECT_FOUR_POSITIONS: Final = Path(__file__).with_name("connect_four_positions.toml")
"""Made by `benchmarks/connect_four_positions.py`."""

Rival = Callable[[Game, Any, int], Any]
"""``rival(game, state, seed)`` returns an action; the same seed, the same action."""


@dataclass(frozen=True)
class SolvedPosition:
    """A position in which some action is a mistake."""

    state: Any
    ply: int
    best: tuple[Any, ...]
    """The actions that keep the position's exact value."""


def measure(
    network: PolicyNetwork, count: int, rival: Rival | None = None
) -> tuple[float, float] | None:
    """Return a network's share, of best actions or of points, and the margin at 95 %.

    ``count`` bounds the positions or matches. Calls with equal weights give the same. Without a
    rival there is no measure of breakthrough: None.
    """
    game = get_game(network.view.spec)
    if game.spec not in SOLVED:
        return None if rival is None else against(network, rival, count // 2)
    positions = solved_positions(game)
    if len(positions) > count:
        step = len(positions) / count
        positions = [positions[int(at * step)] for at in range(count)]
    simulations = FEWER if game.spec == "tic_tac_toe" else SIMULATIONS
    actions = chosen(network, [each.state for each in positions], simulations)
    good = [action in position.best for position, action in zip(positions, actions, strict=True)]
    share = float(np.mean(good))
    return share, 1.96 * (share * (1 - share) / len(good)) ** 0.5


def chosen(
    network: PolicyNetwork, states: Sequence[Any], simulations: int = SIMULATIONS
) -> list[Any]:
    """Return the actions that searches of a network choose, as `puct` does."""
    trees = []
    for state in states:
        tree = kernel_for(SelfPlayTree, state)(network.view.places, EXPLORATION)
        tree.plant(state)
        trees.append(tree)
    # The first simulation of a tree only makes its root.
    search_together(trees, simulations + 1, network.view, network.function())
    found = []
    for tree in trees:
        children = tree.root.children
        shares = tree.shares()
        ranks = [(shares[at], child.total, child.prior) for at, child in enumerate(children)]
        place = ranks.index(max(ranks))
        found.append(tree.root.options[place])
    return found


def solved_positions(game: Game) -> list[SolvedPosition]:
    """Return all test positions of tic-tac-toe, or those of connect four.

    Raises `ValueError` for another game or board.
    """
    if game.spec == "tic_tac_toe":
        return _tic_tac_toe_positions()
    if game.spec == "connect_four":
        return _connect_four_positions()
    raise ValueError(
        f"there are no test positions of {game.spec}, only of the standard boards of "
        "connect_four and tic_tac_toe"
    )


@functools.cache
def _tic_tac_toe_positions() -> list[SolvedPosition]:
    """Return every reachable position of tic-tac-toe with a mistake, by its number of marks."""
    values: dict[int, float] = {}
    found: list[SolvedPosition] = []

    def value(state: Any, ply: int) -> float:
        """Return the value for seat 0, and note the position."""
        key = state.key()
        if key in values:
            return values[key]
        if state.to_move < 0:
            values[key] = state.returns()[0]
            return values[key]
        each = {action: value(state.after(action), ply + 1) for action in state.actions()}
        best = max(each.values()) if state.to_move == 0 else min(each.values())
        keeping = tuple([action for action, kept in each.items() if kept == best])
        if len(keeping) < len(each):
            found.append(SolvedPosition(state, ply, keeping))
        values[key] = best
        return best

    value(get_game("tic_tac_toe").initial_state(), 0)
    return sorted(found, key=lambda position: position.ply)


@functools.cache
def _connect_four_positions() -> list[SolvedPosition]:
    """Return the positions of the file, by their number of discs."""
    game = get_game("connect_four")
    content = tomllib.loads(CONNECT_FOUR_POSITIONS.read_text(encoding="utf-8"))
    found = []
    for plies, best in content["positions"]:
        state = game.initial_state()
        for action in plies:
            state = state.after(int(action))
        found.append(SolvedPosition(state, len(plies), tuple([int(action) for action in best])))
    return found


def against(network: PolicyNetwork, rival: Rival, pairs: int) -> tuple[float, float]:
    """Return a network's share of the points against a rival, and the margin at 95 %.

    The network has `SIMULATIONS` an action. The two matches of a pair begin with the same random
    plies (`random_opening`); each player begins one.
    """
    game = get_game(network.view.spec)
    shares = []
    for pair in range(pairs):
        start = random_opening(game, OPENING, np.random.default_rng([1, pair]))
        points = [_match(network, rival, game, start, seat, pair) for seat in (0, 1)]
        shares.append(sum(points) / 2)
    margin = 1.96 * np.std(shares, ddof=1) / pairs**0.5 if pairs > 1 else 1.0
    return float(np.mean(shares)), float(margin)


def random_opening(game: Game, plies: int, rng: np.random.Generator) -> Any:
    """Return a position after some random plies, or fewer if one of them ends the match.

    The position is not terminal: the ply that would end the match is left out.
    """
    state: Any = game.initial_state()
    for _ in range(plies):
        actions = state.actions()
        after = state.after(actions[int(rng.integers(len(actions)))])
        if after.to_move < 0:
            break
        state = after
    return state


def _match(
    network: PolicyNetwork, rival: Rival, game: Game, state: Any, seat: int, seed: int
) -> float:
    """Return 1, 0.5 or 0: the points of the network, which plays a seat."""
    while state.to_move >= 0:
        if state.to_move == seat:
            action = chosen(network, [state])[0]
        else:
            action = rival(game, state, seed + 1)
        state = state.after(action)
    low, high = game.return_bounds
    return float((state.returns()[seat] - low) / (high - low))
