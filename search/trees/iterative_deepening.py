"""Iterative deepening at the root of every tree search, with reports and the result.

The kernels (`plyhouse.search.kernels`) search below the root.  Once the value of a position is
proven, `steered` chooses among the actions that keep it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.sampling import Sampler
from plyhouse.search.limit import MAX_DEPTH, Limit, SearchResult
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["Root", "deepened", "remaining", "steered", "tree_search"]


def tree_search(
    algorithm: str,
    kernel: type[Any],
    game: Game,
    state: Any,
    limit: Limit,
    *,
    evaluate: Evaluation | None,
    seed: int,
    extra: tuple[Any, ...] = (),
    bounds: tuple[float, float] | None = None,
    sampler: Sampler | None = None,
    forced: bool = True,
) -> SearchResult:
    """Search from a state in which a seat is to move.

    Under a limit of time or nodes, the search goes through the depths 1, 2, ... until the limit is
    reached or the outcome is certain. Otherwise it searches only the last depth.

    ``extra`` are further arguments of the kernel, and ``bounds`` of all values replace those that
    the game declares. A value that a ``sampler`` took part in is not exact. ``forced`` says that a
    value at a bound cannot change with the depth, as no choice of others can undo a won game.
    """
    poll = Poll(limit)
    require_fit(algorithm, game, state)
    root = Root(game, state, limit, poll, kernel, evaluate, seed, extra, bounds, sampler, forced)
    return deepened(root, limit, deepen=limit.time is not None or limit.nodes is not None)


def deepened(root: Root, limit: Limit, *, deepen: bool) -> SearchResult:
    """Run the iterations of a search until its limit; see `tree_search`."""
    depth_limit = MAX_DEPTH if limit.depth is None else min(limit.depth, MAX_DEPTH)
    try:
        with no_full_collections():
            root.told()  # the first depth may take long, and any action is better than none
            for depth in range(1 if deepen else depth_limit, depth_limit + 1):
                root.iterate(depth)
                if root.settled():
                    break
    except SearchStopped:
        pass
    return root.result()


class Root:
    """The root of one search, and the best found so far."""

    def __init__(
        self,
        game: Game,
        state: Any,
        limit: Limit,
        poll: Poll,
        kernel: type[Any],
        evaluate: Evaluation | None,
        seed: int,
        extra: tuple[Any, ...] = (),
        bounds: tuple[float, float] | None = None,
        sampler: Sampler | None = None,
        forced: bool = True,
        *,
        heuristic: bool = True,
    ) -> None:
        self.state = state
        self.seat: int = state.to_move
        self.report = limit.report
        self.poll = poll
        low, high = map(float, bounds or game.return_bounds)
        self.leaves = Leaves(evaluate, heuristic and hasattr(state, "heuristic"), low, high)
        order = hasattr(state, "order")
        self.extra = extra
        self.kernel = self.make_kernel(kernel_for(kernel, state), order)
        actions = state.actions()
        self.actions: list[Any] = list(state.order(actions) if order else actions)
        if seed:
            random.Random(seed).shuffle(self.actions)
        # Before anything is searched, the best known action is the first.
        self.line: list[Any] = self.actions[:1]
        self.value = 0.0
        self.values: dict[Any, float] = {}
        self.depth = 0
        self.exact = False
        self.bounds = (low, high) if forced else ()
        # Expected returns of all seats, from kernels that compute them.
        self.vector: tuple[float, ...] = ()
        self.sampler = sampler

    def make_kernel(self, kernel: type[Any], order: bool) -> Any:
        """Make what searches below the root."""
        return kernel(self.poll, self.leaves, order, MAX_DEPTH, *self.extra)

    def iterate(self, depth: int) -> None:
        """Search all actions to a depth, the best of the previous iteration first.

        When the limit is reached halfway, the best action found by then stands. The previous best
        was searched first, so another action replaced it only by beating it at the greater depth.
        """
        head = self.line[0]
        followed = self.depth > 0
        actions = [head, *[action for action in self.actions if action != head]]
        self.kernel.begin(list(self.line) if followed else [])
        best = float("-inf")
        for action in actions if followed else self.actions:
            value = self.kernel.child_value(
                self.state.after(action), self.seat, depth, best, followed and action == head
            )
            value = float(value) + 0.0  # no "-0.0" in results, nor the ints of a game's returns
            self.values[action] = value
            if value > best:
                best = value
                self.value = value
                self.line = [action, *self.kernel.line()]
                self.vector = tuple(getattr(self.kernel, "vector", ()))
                if not followed or action != head:
                    self.told()
        self.depth = depth
        sampled = self.sampler is not None and self.sampler.used
        self.exact = (not self.leaves.used or self.proven()) and not sampled
        self.told()

    def settled(self) -> bool:
        """Return whether looking deeper could not change the choice.

        True if no line was cut off, or if the game is won or lost for certain.
        """
        return not self.leaves.used or self.proven()

    def proven(self) -> bool:
        """Return whether the value is that of a won or lost game, not of an estimate as good
        or bad as that.

        No estimate lies at the bounds of the returns then, so the value comes from ends of the game
        only. These follow one action at each turn of the winner, and all actions of the loser.
        """
        return self.value in self.bounds and not self.leaves.claimed

    def told(self) -> None:
        """Report the best action so far."""
        if self.report is not None:
            self.report(self.result())

    def result(self) -> SearchResult:
        """Put together what is known now."""
        return SearchResult(
            action=self.line[0],
            value=self.value,
            pv=tuple(self.line),
            depth=self.depth,
            nodes=int(self.kernel.nodes),
            time=self.poll.seconds(),
            values=dict(self.values),
            exact=self.exact,
            vector=self.vector,
        )


SHARE: Final = 0.25
"""Part of the limit for the choice in a position that is not lost."""


def steered(
    root: Root,
    limit: Limit,
    ordinary: Callable[[list[Any], Limit, Poll], Root],
    keeps: Callable[[Any], bool],
) -> None:
    """Let an ordinary search choose among the actions that keep the proven value of a root.

    ``ordinary`` makes the root of a search of some actions within a limit.  ``keeps`` says whether
    the value is kept by an action; nobody asks it where all is lost.

    A solver says that a position is lost, and then all actions look alike to it: the next one may
    lose in two plies, another in twenty.  Opponents err, so the choice matters.  An ordinary
    search, which does not ask the solver and remembers nothing, sees wins and losses by their
    distance.  It prefers what is not yet lost within its depth, and finds the shortest win that it
    can reach.  Its choice counts if it keeps the proven value.
    """
    lost = root.value == root.leaves.low
    actions = list(root.actions)
    within = remaining(root, limit, 1.0 if lost else SHARE)
    while within is not None and len(actions) > 1:
        other = ordinary(actions, within, Poll(within))
        deepened(other, within, deepen=True)
        root.kernel.nodes += other.kernel.nodes
        if other.depth == 0:
            return
        action = other.line[0]
        try:
            if action == root.line[0] or lost or keeps(action):
                root.line = list(other.line)
                root.values[action] = root.value
                root.told()
                return
        except SearchStopped:
            return
        actions.remove(action)
        within = remaining(root, limit, SHARE)


def remaining(root: Root, limit: Limit, share: float) -> Limit | None:
    """Return what a further search may take of a limit; None if that is nothing.

    Without a bound a search takes as long as the proof that it is to spare, so it is not made.
    """
    time, nodes = limit.time, limit.nodes
    if time is None and nodes is None and limit.depth is None:
        return None
    if time is not None:
        time = min(time - root.poll.seconds(), share * time)
        if time <= 0:
            return None
    if nodes is not None:
        nodes = min(nodes - int(root.kernel.nodes), round(share * nodes))
        if nodes < 1:
            return None
    return replace(limit, time=time, nodes=nodes, report=None)
