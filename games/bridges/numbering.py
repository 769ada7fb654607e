"""Actions as numbers from 0, as other libraries name them.

In most games a number is the game's own number of an action, the same in every position.  Three
built-in games write a whole turn as one action, of which there are too many: number n is there the
n-th legal action.

>>> from plyhouse.games import get_game
>>> game = get_game("connect_four")
>>> numbering = numbering_of(game)
>>> numbering.size, numbering.fixed, numbering.legal(game.initial_state())
(8, True, [1, 2, 3, 4, 5, 6, 7])
>>> numbering_of(get_game("backgammon")).fixed
False
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameMismatch

__all__ = ["Numbering", "numbering_of"]

_LARGEST_TREE: Final = 2_000
"""Positions that are searched for the actions of a game that is not built in."""


class Numbering:
    """The numbers of a game's actions: those below ``size``, of which few are legal at a time."""

    def __init__(self, size: int, *, fixed: bool = True, listed: tuple[Any, ...] = ()) -> None:
        self.size = size
        self.fixed = fixed
        """True if a number means the same action in every position."""
        self._listed = listed
        self._last: tuple[Any, tuple[Any, ...]] = (None, ())
        self._numbers = {action: number for number, action in enumerate(listed)}

    def actions(self, state: Any) -> dict[int, Any]:
        """Return the legal actions of the seat to move by number, in increasing order.

        Without fixed numbers, the first ``size`` legal actions have one.
        """
        if not self.fixed:
            return dict(enumerate(self._turns(state)[: self.size]))
        actions = state.actions() if state.to_move >= 0 else ()
        if self._listed:
            return dict(sorted([(self._numbers[action], action) for action in actions]))
        return dict(zip(sorted(actions), sorted(actions), strict=True))

    def legal(self, state: Any) -> list[int]:
        """Return the numbers of `actions`."""
        return list(self.actions(state))

    def action(self, state: Any, number: int) -> Any:
        """Return the legal action with this number."""
        if not self.fixed:
            return self._turns(state)[number]
        return self._listed[number] if self._listed else number

    def _turns(self, state: Any) -> tuple[Any, ...]:
        """Return the legal actions; libraries ask for one number after another of a position."""
        known, actions = self._last
        if known is not state:
            actions = state.actions() if state.to_move >= 0 else ()
            self._last = (state, actions)
        return actions


def numbering_of(game: Game) -> Numbering:
    """Return the numbering of a game's actions.

    Raises `GameMismatch` for a game that is not built in and too large to list all its actions.
    """
    kind = type(game)
    if kind.__module__.startswith("plyhouse.games."):
        if game.info.name in _TURNS:
            return Numbering(_TURNS[game.info.name], fixed=False)
        if game.info.name in _BOUNDS:
            return Numbering(_BOUNDS[game.info.name](game))
    own: int | None = getattr(game, "action_count", None)
    if own is not None:
        return Numbering(own)
    return Numbering(len(found := _all_actions(game)), listed=found)


def _all_actions(game: Game) -> tuple[Any, ...]:
    """Return all actions of a small game, sorted by their texts."""
    start: Any = game.initial_state()
    waiting = [start]
    seen: set[Any] = set()
    found: dict[Any, str] = {}
    while waiting:
        state = waiting.pop()
        if state.to_move == TERMINAL:
            continue
        key = state.key() if hasattr(state, "key") else game.describe(state)
        if (state.to_move, key) in seen:
            continue
        seen.add((state.to_move, key))
        if len(seen) > _LARGEST_TREE:
            raise GameMismatch(
                "A fixed numbering",
                game.spec,
                f"it has more than {_LARGEST_TREE} positions to look for actions in",
                "make its actions numbers from 0, and set action_count of the game above them",
            )
        if state.to_move == CHANCE:
            waiting += [state.after(outcome) for outcome, _ in state.chance_outcomes()]
            continue
        for action in state.actions():
            found.setdefault(action, game.format(state, action))
            waiting.append(state.after(action))
    return tuple(sorted(found, key=lambda action: (found[action], repr(action))))


def _squares(game: Game) -> int:
    return game.int_parameter("size") ** 2


def _placements(game: Game) -> int:
    """Places for a ship, and cells to shoot at."""
    state: Any = game.initial_state()
    return max(len(state.waters.place_names), len(state.waters.names))


def _choices(game: Game) -> int:
    state: Any = game.initial_state()
    counts: list[int] = []
    while state.to_move >= 0:
        counts.append(max(state.actions()) + 1)
        state = state.after(state.actions()[0])
    return max(counts)


def _bids(game: Game) -> int:
    """Bids in increasing order, and the doubt."""
    return game.seats * game.int_parameter("dice") * game.int_parameter("faces") + 1


_BOUNDS: Final[dict[str, Callable[[Any], int]]] = {
    "battleship": _placements,
    "bridge": lambda _: 90,
    "breakthrough": lambda game: 3 * _squares(game),
    "chess": lambda _: 7 * 64 * 64,
    "coin_guess": lambda _: 2,
    "coins": lambda game: game.int_parameter("max_take") + 1,
    "connect_four": lambda game: game.int_parameter("columns") + 1,
    "einstein": lambda _: 25 * 32,
    "go": lambda game: _squares(game) + 1,
    "hearts": lambda _: 52,
    "hexapawn": lambda game: 3 * _squares(game),
    "kalah": lambda game: game.int_parameter("houses") + 1,
    "kuhn_poker": lambda _: 4,
    "leduc_poker": lambda _: 4,
    "liars_dice": _bids,
    "matrix": _choices,
    "monopoly": lambda game: game.action_count,
    "nim": lambda game: 32 * len(game.initial_state().heaps),
    "othello": lambda _: 65,
    "pacman": lambda _: 5,
    "pig": lambda _: 2,
    "prisoners_dilemma": _choices,
    "rock_paper_scissors": _choices,
    "texas_holdem": lambda game: max(game.stacks) + 2,
    "tic_tac_toe": lambda _: 9,
}
"""Number of actions by game: their own numbers are below it."""

_TURNS: Final[dict[str, int]] = {
    # A turn of doubles is a multiset of four of 25 points to move from: C(28, 4) of them.
    "backgammon": 20_475,
    # Far more than the legal actions of any position that play has shown.
    "checkers": 512,
    # Two blanks allow many thousand plays; those of later number are out of reach.
    "scrabble": 32_768,
}
"""Games whose actions are whole turns: how many of the legal ones have a number."""
