"""The sequence form of a game: its whole tree, walked once, as the solvers need it.

Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized strategies in
game trees", STOC 1994.

>>> from plyhouse.games import get_game
>>> form = sequence_form(get_game("kuhn_poker"))
>>> [len(own) for own in form.sets]  # information states of each seat
[6, 6]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Final

from plyhouse.games.base import Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.game_requirements import EQUILIBRIUM_SOLVERS
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.kernels.unfold import UnfoldKernel
from plyhouse.search.limit import MAX_DEPTH, UNLIMITED
from plyhouse.search.poll import Poll
from plyhouse.search.tree_size import HUGE, MAX_NODES, is_larger, probed_sizes

__all__ = ["SequenceForm", "sequence_form"]

FIRST_TRY: Final = 20_000
"""Nodes walked before the size of the tree is guessed."""


def sequence_form(
    game: Game,
    *,
    algorithm: str = "sequence_form",
    max_nodes: int = MAX_NODES,
    poll: Callable[[int], int] | None = None,
) -> SequenceForm:
    """Walk the tree of a game of perfect recall once.

    Raises `GameMismatch` if the tree of the game has more than ``max_nodes`` nodes or is deeper
    than 256 plies, or if a seat forgets what it knew or did.  The message estimates the number of
    nodes.  ``algorithm`` is who asks, for the message.
    """
    if isinstance(max_nodes, bool) or not isinstance(max_nodes, int) or max_nodes < 1:
        raise ValueError(f"max_nodes={max_nodes!r}: expected a whole number from 1")
    beat = poll or Poll(UNLIMITED)
    state = game.initial_state()
    fault = ""
    # Looking for garbage in what is made here takes as long as the rest.
    with no_full_collections():
        for nodes in sorted({min(FIRST_TRY, max_nodes), max_nodes}):
            kernel = kernel_for(UnfoldKernel, state)(
                beat, game.information_state, game.seats, nodes, MAX_DEPTH
            )
            form: SequenceForm = kernel.build(state)
            fault = kernel.fault
            if not fault:
                return form
            if fault != "nodes" or is_larger(sizes := probed_sizes(game), max_nodes):
                break
    if fault == "nodes":
        size = statistics.mean(sizes)
        guess = f"about {size:.0e}" if size < HUGE else f"more than {HUGE:.0e} by the look of it"
        reason = f"its tree has more than {max_nodes:,} nodes, {guess}"
        samples = algorithm in EQUILIBRIUM_SOLVERS and algorithm != "mccfr"
        fits = "it solves games whose whole tree fits into memory: choose smaller parameters, " + (
            "raise max_nodes, or use mccfr, which samples" if samples else "or raise max_nodes"
        )
    elif fault == "depth":
        reason = f"its tree is deeper than {MAX_DEPTH} plies"
        fits = "it solves games whose whole tree can be walked: choose smaller parameters"
    else:
        reason = fault
        fits = "it solves games of perfect recall: information_state must tell all a seat has seen"
    raise GameMismatch(algorithm, game.spec, reason, fits)
