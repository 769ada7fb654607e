"""The sequence form of a game: its whole tree, walked once, as the solvers need it.

Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized strategies in
game trees", STOC 1994.

>>> from plyhouse.games import get_game
>>> form = sequence_form(get_game("kuhn_poker"))
>>> [len(own) for own in form.sets]  # information states of each seat
[6, 6]
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import MAX_DEPTH, kernel_for
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.kernels.unfold import UnfoldKernel
from plyhouse.search.limit import UNLIMITED
from plyhouse.search.poll import Poll

__all__ = ["MAX_NODES", "SequenceForm", "probed_sizes", "sequence_form"]

MAX_NODES: Final = 2_000_000
"""Largest tree that is unfolded unless the caller allows more.  A node takes about 150
bytes: liar's dice with one die each (294,883 nodes) fits easily, with two each it does not."""

FIRST_TRY: Final = 20_000
"""Nodes walked before the size of the tree is guessed."""

HUGE: Final = 1e30
"""Trees larger than this are not told apart."""


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
        fits = (
            "it solves games whose whole tree fits into memory: choose smaller parameters, raise "
            "max_nodes, or use mccfr, which samples"
        )
    elif fault == "depth":
        reason = f"its tree is deeper than {MAX_DEPTH} plies"
        fits = "it solves games whose whole tree can be walked: choose smaller parameters"
    else:
        reason = fault
        fits = "it solves games of perfect recall: information_state must tell all a seat has seen"
    raise GameMismatch(algorithm, game.spec, reason, fits)


def is_larger(sizes: Sequence[float], nodes: int) -> bool:
    """Return whether guesses of a tree's size say beyond doubt that it has more nodes.

    As they are right on average, at most every k-th exceeds k times the true number (Markov's
    inequality); these bounds are more than nine standard deviations beyond that.
    """
    return any(
        sum(size > factor * nodes for size in sizes) > share * len(sizes)
        for factor, share in ((10, 0.2), (100, 0.04), (1000, 0.015))
    )


def probed_sizes(game: Game) -> list[float]:
    """Guess the number of nodes of a game's tree a thousand times.

    Each guess is from one random play: the sum of the products of the numbers of choices
    down to each of its positions.  Their mean is right on average: Knuth, "Estimating the
    efficiency of backtrack programs", Mathematics of Computation 29 (1975).
    """
    rng = random.Random(0)
    sizes = []
    for _ in range(1000):
        state: Any = game.initial_state()
        width = 1.0
        size = 1.0
        for _ in range(MAX_DEPTH):
            if state.to_move == TERMINAL or size > HUGE:
                break
            if state.to_move == CHANCE:
                choices = [outcome for outcome, _ in state.chance_outcomes()]
            else:
                choices = list(state.actions())
            width *= len(choices)
            size += width
            state = state.after(rng.choice(choices))
        sizes.append(size)
    return sizes
