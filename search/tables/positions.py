"""All positions of a game, found by traversing it, and the place of each in a table.

Shared by the solvers of whole games: `plyhouse.search.tables.retrograde` and
`plyhouse.search.tables.value_iteration`.  A key identifies a position, by default ``state.key()``;
tables keep 64 bits of it (`position_hash`), in rising order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.files import position_hash
from plyhouse.search.game_requirements import require_game
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.reachable import ReachableKernel

__all__ = ["MOST", "Hashes", "Key", "TooManyPositions", "place_of", "reachable", "sorted_hashes"]

Hashes: TypeAlias = NDArray[np.uint64]
Key: TypeAlias = Callable[[Any], Hashable]

MOST: Final = 5_000_000
"""How many positions a game may have, unless somebody says otherwise."""


class TooManyPositions(ValueError):  # noqa: N818 - no error: the game is too large
    """There are more positions than were allowed for."""

    def __init__(self, game: Game, most: int) -> None:
        self.most = most
        super().__init__(
            f"{game.spec} has more than {most:,} positions from here: begin closer to the end, "
            "take a smaller game, or allow more with most="
        )


def reachable(
    algorithm: str,
    game: Game,
    starts: Iterable[Any] | None,
    key: Key | None,
    fresh: Callable[[Any], Any] | None,
    most: int,
    poll: Callable[[int], int],
) -> Any:
    """Return the graph of all positions that can follow the ``starts`` (by default, of the whole
    game), as the kernel `plyhouse.search.kernels.reachable` makes it.

    ``fresh(state)`` is the same position without a past, for states that have one.  Raises
    `GameMismatch` for a game that ``algorithm`` does not fit, `ValueError` where all starts are
    over, `TooManyPositions`, and any exception of ``poll``.
    """
    require_game(algorithm, game)
    roots = [game.initial_state()] if starts is None else list(starts)
    live = [root for root in roots if root.to_move != TERMINAL]
    if not live:
        raise ValueError(f"there is no position to solve: all {len(roots)} starts are over")
    if key is None and not hasattr(live[0], "key"):
        raise GameMismatch(
            algorithm,
            game.spec,
            "its states have no key()",
            "positions must be told apart: give them one, or name a key=",
        )
    graph = kernel_for(ReachableKernel, live[0])(poll, key, fresh, most)
    graph.explore(live)
    if graph.full:
        raise TooManyPositions(game, most)
    return graph


def sorted_hashes(keys: Iterable[Hashable]) -> tuple[Hashes, NDArray[np.intp]]:
    """Return the hashes of keys in rising order, and which key each is of.

    Raises `ValueError` if two keys share a hash.
    """
    hashes = np.array([position_hash(key) for key in keys], np.uint64)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    if len(hashes) > 1 and bool((hashes[1:] == hashes[:-1]).any()):
        raise ValueError("two positions share a hash of 64 bits: give another key=")
    return hashes, order


def place_of(state: Any, hashes: Hashes, key: Key | None) -> int | None:
    """Return where a position stands among sorted hashes; None if it is not there."""
    wanted = np.uint64(position_hash(state.key() if key is None else key(state)))
    at = int(np.searchsorted(hashes, wanted))
    return None if at == len(hashes) or hashes[at] != wanted else at
