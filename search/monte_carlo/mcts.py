"""Monte Carlo tree search: UCT, with RAVE and proven values, for any number of seats.

Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006.  Browne et al., "A survey of
Monte Carlo tree search methods", IEEE TCIAIG 4 (2012).  Gelly and Silver, "Monte-Carlo tree search
and rapid action value estimation in computer Go", Artificial Intelligence 175 (2011).  Winands,
Bjornsson and Saito, "Monte-Carlo tree search solver", Computers and Games 2008.  Russell and
Norvig, AIMA 4th ed., section 6.4.

Memory: a node takes about 200 bytes (compiled), and from its second visit on its position;
altogether 230 to 260 bytes per node in connect four and othello.  ``max_nodes`` bounds the nodes; a
full tree grows no further, but its values still become better.

>>> from plyhouse.games import get_game
>>> game = get_game("connect_four")
>>> result = mcts(game, game.initial_state(), Limit(simulations=1000), seed=1)
>>> result.action, sum(result.visits.values())
(4, 1000)
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.game_requirements import require_fit, require_game
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.mcts import MctsKernel
from plyhouse.search.kernels.mcts_tree import release
from plyhouse.search.limit import MAX_DEPTH, Limit, SearchResult
from plyhouse.search.monte_carlo.simulating import (
    SimulationPoll,
    checked_number,
    checked_whole,
    is_two_sided,
    most_simulations,
    rounds,
)
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["EXPLORATION", "MAX_NODES", "MonteCarloTree", "mcts"]

UNLIMITED: Final = Limit()
EXPLORATION: Final = 0.7
"""Default weight of what has been tried little, for returns scaled to 0..1 (UCB1 has sqrt(2))."""
RAVE: Final = 2000.0
"""Default of ``rave`` for states with ``noted_playout``."""
RAVE_EXPLORATION: Final = 0.0
"""Default of ``exploration`` with it: RAVE and priors explore enough (Gelly and Silver)."""
PATIENCE: Final = 6
"""Visits after which these states get children, all at once: a board has many."""
MAX_NODES: Final = 1_000_000
"""Default bound of a tree: about 240 MB in connect four."""
CHUNK: Final = 10_000
"""Nodes freed at a time, in about 2 ms; a larger tree is freed in the background."""
SEARCHED_PLIES: Final = 6
LOOKED_AT: Final = 10_000
"""How deep, and among how many nodes, a tree looks for the position of a new search."""


def mcts(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    exploration: float | None = None,
    playouts: int = 1,
    rave: float | None = None,
    solve: bool = True,
    max_nodes: int = MAX_NODES,
) -> SearchResult:
    """Find a good action of a game of perfect information by simulating many matches.

    Plays games with any number of seats, with or without chance nodes.  Each simulation descends
    the tree by UCB1, every seat for its own return (max^n), and adds one position.  Then it plays
    on at random, by the state's ``playout(rng)`` if it has one.  With ``rave``, that is
    ``noted_playout(rng, first)``, and the state's ``priors(actions)`` give virtual visits.  The
    action simulated most often is chosen.  A ``limit`` bounds time, ``simulations``, or ``nodes``:
    positions visited within the tree over all simulations, checked after each simulation.  Without
    any of these there are 1000 simulations.  ``limit.depth`` bounds the depth of the tree.

    * ``exploration``: weight of actions tried little, relative to the range of the game's
      returns; by default 0 for states with ``noted_playout``, and 0.7 for others.
    * ``playouts``: playouts from each new position, whose mean is one result; 0 takes the
      state's ``heuristic()`` instead.
    * ``evaluate(state, seat)``: an estimate instead of a playout, within the bounds of the game's
      returns.  It is called for the seat that searches, or for each seat unless the game is
      zero-sum with two seats.
    * ``rave``: also credits actions in simulations that play them later.  From this number of
      visits on, such credits weigh less than true visits (0 is off; try 300 where an action means
      much the same at any time).  By default 2000 for states with ``noted_playout``, else 0.
    * ``solve``: carries won and lost ends of games upwards as proven values, and stops when
      the root is proven (two-seat, zero-sum games only).
    * ``max_nodes``: bound of the tree in memory, see the module.

    ``values`` are mean returns and ``visits`` counts per root action.  The same ``seed`` gives
    the same result.  `MonteCarloTree` keeps the tree for the next ply.

    Raises `GameMismatch` for a game that does not fit.  Raises `ValueError` or `TypeError` for
    options out of range, if no seat is to move, or if an estimate is out of bounds.
    """
    tree = MonteCarloTree(
        game,
        evaluate=evaluate,
        seed=seed,
        exploration=exploration,
        playouts=playouts,
        rave=rave,
        solve=solve,
        max_nodes=max_nodes,
    )
    return tree.search(state, limit)


class MonteCarloTree:
    """A Monte Carlo search tree that is kept from ply to ply; options as for `mcts`.

    ``search(state, limit)`` simulates from a position and, if it lies in the tree a few plies
    below the last one, reuses its subtree.  `advance` names the new position explicitly.
    """

    def __init__(
        self,
        game: Game,
        *,
        evaluate: Evaluation | None = None,
        seed: int = 0,
        exploration: float | None = None,
        playouts: int = 1,
        rave: float | None = None,
        solve: bool = True,
        max_nodes: int = MAX_NODES,
    ) -> None:
        require_game("mcts", game)
        self.game = game
        self.evaluate = evaluate
        one = playouts == 1 and evaluate is None
        noted = one and hasattr(game.initial_state(), "noted_playout")
        if rave is None:
            rave = RAVE if noted else 0.0
        if exploration is None:
            exploration = RAVE_EXPLORATION if noted and rave > 0 else EXPLORATION
        self.exploration = checked_number("mcts", "exploration", exploration)
        self.playouts = checked_whole("mcts", "playouts", playouts, 0)
        self.rave = checked_number("mcts", "rave", rave)
        self.solve = bool(solve)
        self.max_nodes = checked_whole("mcts", "max_nodes", max_nodes, 1)
        self._rng = random.Random(seed)
        self._kernel: Any = None

    def __del__(self) -> None:
        self.clear()

    @property
    def size(self) -> int:
        """Nodes in memory."""
        return int(self._kernel.size) if self._kernel is not None else 0

    def clear(self) -> None:
        """Forget everything.  A large tree is freed little by little by a thread."""
        kernel = getattr(self, "_kernel", None)
        if kernel is not None:
            kernel.discard()
            _free(kernel)

    def advance(self, action: Any) -> bool:
        """Advance the root by an action or a chance outcome, and keep only its subtree.

        Returns whether anything is known of that position.
        """
        if self._kernel is not None and self._kernel.descend(action):
            _free(self._kernel)
            return True
        self.clear()
        return False

    def search(self, state: Any, limit: Limit = UNLIMITED) -> SearchResult:
        """Simulate from the position until the limit is reached."""
        poll = SimulationPoll(limit)
        self._plant(state)
        return self._search(limit, poll)

    def _plant(self, state: Any) -> None:
        """Make the state the root: the same node as before where it can be found."""
        require_fit("mcts", self.game, state)
        if self._kernel is not None and self.size:
            path = _path_to(self.game, self._kernel.root, state)
            if path is not None:
                for option in path:
                    self._kernel.descend(option)
                _free(self._kernel)
                return
            self.clear()
        self._kernel = self._new_kernel(state)
        self._kernel.plant(state)

    def _new_kernel(self, state: Any) -> Any:
        game = self.game
        low, high = game.return_bounds
        two_sided = is_two_sided(game)
        return kernel_for(MctsKernel, state)(
            int,
            Leaves(None, False, low, high),
            self._rng,
            game.seats,
            self._mode(state),
            max(1, self.playouts),
            self.exploration * (high - low),
            self.rave,
            high,
            two_sided,
            self.solve and two_sided,
            self.max_nodes,
            game.info.max_plies,
            state.action_count() if self.rave > 0 and hasattr(state, "noted_playout") else 0,
            self.rave > 0 and hasattr(state, "priors"),
            PATIENCE if hasattr(state, "noted_playout") else 1,
        )

    def _mode(self, state: Any) -> int:
        """How leaves are valued; see the kernel."""
        if self.evaluate is not None:
            return 2
        if self.playouts == 0:
            if not hasattr(state, "heuristic"):
                raise ValueError(
                    f"mcts(playouts=0): the states of {self.game.spec} have no heuristic(); "
                    "give evaluate, or at least one playout"
                )
            return 2
        return 1 if hasattr(state, "playout") else 0

    def _search(self, limit: Limit, poll: Poll) -> SearchResult:
        kernel = self._kernel
        low, high = self.game.return_bounds
        leaves = Leaves(self.evaluate, self.playouts == 0, low, high)
        depth = MAX_DEPTH if limit.depth is None else min(limit.depth, MAX_DEPTH)
        kernel.begin(poll, leaves, depth, limit.nodes or 0)
        most = most_simulations(limit)
        more = kernel.root.worth is None
        try:
            with no_full_collections():
                while more and (most is None or kernel.simulations < most):
                    more = kernel.run(rounds(kernel.simulations, most))
                    if limit.report is not None and more and kernel.simulations != most:
                        limit.report(self._result(poll))
        except SearchStopped:
            more = False
        except BaseException:
            self.clear()  # the last simulation was not completed
            raise
        finally:
            kernel.poll = int  # the poll may know the tree: no circle of references
        result = self._result(poll)
        if limit.report is not None:
            limit.report(result)
        return result

    def _result(self, poll: Poll) -> SearchResult:
        """Put together what is known now."""
        kernel = self._kernel
        root = kernel.root
        values: dict[Any, float] = {}
        visits: dict[Any, int] = {}
        for child in kernel.children():
            action = root.options[child.index]
            values[action] = child.mean + 0.0
            visits[action] = int(child.visits)
        line = self._line(root)
        if not line:
            line = [root.state.actions()[0]]
        return SearchResult(
            action=line[0],
            value=values.get(line[0], 0.0),
            pv=tuple(line),
            depth=int(kernel.depth),
            nodes=int(kernel.nodes),
            time=poll.seconds(),
            values=values,
            exact=root.worth is not None,
            visits=visits,
            simulations=int(kernel.simulations),
        )

    def _line(self, root: Any) -> list[Any]:
        """Return the play expected from a node, up to a chance node or where nothing is known."""
        low, high = self.game.return_bounds
        line: list[Any] = []
        node = root
        while node is not None and node.mover != CHANCE:
            best = None
            best_rank: tuple[float, ...] = ()
            child = node.first
            while child is not None:
                # A proven win before all, a proven loss after all; else the robust child.
                proven = 0
                if child.worth is not None and self.solve:
                    proven = (child.mean >= high) - (child.mean <= low)
                if node.worth is not None and self.solve:
                    # An end at once before a later win; the longest resistance in a lost position.
                    rank: tuple[float, ...] = (
                        child.mean if child.worth else low - 1.0,
                        child.mover == TERMINAL,
                        child.visits,
                    )
                else:
                    rank = (float(proven), child.visits, child.mean, -float(child.index))
                if child.visits > 0 and (best is None or rank > best_rank):
                    best, best_rank = child, rank
                child = child.next
            if best is not None:
                line.append(node.options[best.index])
            node = best
        return line


def _free(kernel: Any) -> None:
    """Free what a kernel has discarded: a little at once, the rest in the background.

    A million nodes take about 0.2 s, and a search has to answer in time.
    """
    garbage = kernel.discarded()
    if release(garbage, CHUNK):
        threading.Thread(target=_free_slowly, args=(garbage,), daemon=True).start()


def _free_slowly(garbage: list[Any]) -> None:
    while release(garbage, CHUNK):
        time.sleep(0.001)


def _path_to(game: Game, root: Any, state: Any) -> list[Any] | None:
    """Actions and outcomes that lead from the root to the same position, if it is near."""
    has_key = hasattr(state, "key") and hasattr(root.state, "key")
    wanted = state.key() if has_key else game.observe(state, None)
    level: list[tuple[Any, Any, list[Any]]] = [(root, root.state, [])]
    looked_at = 0
    for _ in range(SEARCHED_PLIES + 1):
        following: list[tuple[Any, Any, list[Any]]] = []
        for node, here, path in level:
            looked_at += 1
            if looked_at > LOOKED_AT:
                return None
            if here.to_move == state.to_move:
                found = here.key() if has_key else game.observe(here, None)
                if found == wanted:
                    return path
            child = node.first
            while child is not None:
                if child.visits > 0:
                    option = node.options[child.index]
                    if node.mover == CHANCE:
                        option = option[0]
                    following.append((child, here.after(option), [*path, option]))
                child = child.next
        level = following
    return None
