"""Recommend an algorithm for a game, by the properties that the game declares.

The rules rest on matches whose results are in benchmarks/NOTES.md.  None names a game.

>>> from plyhouse.games import get_game
>>> recommended(get_game("backgammon"))
Choice(algorithm='expectiminimax', reason='It is a duel with dice and estimates its positions.')
>>> recommended(get_game("go")).algorithm
'mcts'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from plyhouse.games.base import CHANCE, ChanceKind, Game, Information, Utility

__all__ = ["SOLVABLE", "WIDE", "Choice", "recommended"]

WIDE: Final = 40
"""Actions in the first position from which on a full-width search hardly gets anywhere."""

SOLVABLE: Final = 20_000
"""Histories up to which an equilibrium is computed before play, about a second compiled, and
positions up to which a duel is searched to its end."""


@dataclass(frozen=True)
class Choice:
    """An algorithm and why."""

    algorithm: str
    """Name of a function of `plyhouse.search`; "cfr_plus" stands for playing the policy that it
    computes."""
    reason: str
    """One sentence."""


def recommended(game: Game) -> Choice:
    """Name the algorithm that is most likely to play the game well, and why."""
    info = game.info
    if info.information is Information.IMPERFECT:
        if histories(game) <= SOLVABLE:
            return Choice("cfr_plus", "It hides information and is small enough to be solved.")
        return Choice("ismcts", "It hides information and is too large to be solved.")
    if info.utility is Utility.TEAM and game.seats > 1:
        return Choice("team_search", "Its seats are teams.")
    chance = game.chance_kind is not ChanceKind.DETERMINISTIC
    estimated = hasattr(game.initial_state(), "heuristic")
    if game.seats == 2 and zero_sum(game):
        if not estimated:
            if not chance and positions(game) <= SOLVABLE:
                return Choice("alpha_beta", "It is small enough to be searched to its end.")
            return Choice("mcts", "It has no estimate of positions: playouts give one.")
        if chance:
            return Choice("expectiminimax", "It is a duel with dice and estimates its positions.")
        if len(game.initial_state().actions()) > WIDE:
            return Choice("mcts", "It is too wide to look at every action.")
        return Choice("alpha_beta", "It is a duel without chance and estimates its positions.")
    if game.seats == 1 and estimated:
        return Choice("expectimax", "It is played alone, against chance.")
    if estimated:
        return Choice("maxn", "It has several seats and estimates its positions.")
    return Choice("mcts", "Any number of seats, any returns: playouts fit all.")


def zero_sum(game: Game) -> bool:
    """Return whether what one seat wins the others lose."""
    return game.info.utility in (Utility.ZERO_SUM, Utility.CONSTANT_SUM)


def histories(game: Game, most: int = SOLVABLE) -> int:
    """Count the histories of the game, or give up with more than ``most``."""
    stack: list[Any] = [game.initial_state()]
    seen = 0
    while stack and seen <= most:
        seen += 1
        stack += children(stack.pop())
    return seen


def positions(game: Game, most: int = SOLVABLE) -> int:
    """Count the positions that can be reached, told apart by their keys, or give up as above.

    Without keys they are histories.
    """
    root: Any = game.initial_state()
    if not hasattr(root, "key"):
        return histories(game, most)
    stack = [root]
    seen = {root.key()}
    while stack and len(seen) <= most:
        for child in children(stack.pop()):
            key = child.key()
            if key not in seen:
                seen.add(key)
                stack.append(child)
    return len(seen)


def children(state: Any) -> list[Any]:
    """Return the states that may follow."""
    if state.to_move == CHANCE:
        return [state.after(outcome) for outcome, _ in state.chance_outcomes()]
    return [state.after(action) for action in state.actions()]
