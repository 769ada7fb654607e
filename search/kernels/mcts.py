"""Monte Carlo tree search with UCT, RAVE and proven values; any number of seats, and chance.

UCT is by Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006. The four steps
follow Browne et al., "A survey of Monte Carlo tree search methods", IEEE TCIAIG 4 (2012). RAVE is
by Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go",
Artificial Intelligence 175 (2011). Proven values follow Winands, Bjornsson and Saito, "Monte-Carlo
tree search solver", Computers and Games 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.mcts_tree import (
    Node,
    back_up_noted,
    back_up_rave,
    count_nodes,
    open_all,
    option_of,
    place_of,
    selected_rave,
    settled,
)
from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.playouts import noted_playout, sample_outcome, uniform_playout

if TYPE_CHECKING:
    import random

    from mypy_extensions import i64

__all__ = ["MctsKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")

HOOK: Final = 1
ESTIMATE: Final = 2


@final
class MctsKernel:
    """One tree and its simulations."""

    def __init__(
        self,
        poll: Callable[[int], int],
        leaves: Leaves,
        rng: random.Random,
        seats: int,
        mode: int,
        playouts: int,
        exploration: float,
        rave: float,
        best_return: float,
        two_sided: bool,
        solve: bool,
        max_nodes: int,
        max_plies: int,
        action_count: int,
        priors: bool,
        patience: int,
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.rng = rng
        self.draw: Callable[[], float] = rng.random
        self.seats: i64 = seats
        self.mode: i64 = mode
        self.playouts: i64 = playouts
        self.exploration: float = exploration
        self.rave: float = rave
        self.best_return: float = best_return
        self.two_sided: bool = two_sided
        self.solve: bool = solve
        self.max_nodes: i64 = max_nodes
        self.max_plies: i64 = max_plies
        self.action_count: i64 = action_count
        """Number of actions of states with ``noted_playout``; 0 for states without."""
        self.priors: bool = priors
        """Whether states have ``priors``, and RAVE uses them."""
        self.patience: float = float(patience)
        """Visits after which RAVE opens a node other than the root."""
        self.max_depth: i64 = 0
        self.node_limit: i64 = 0
        self.simulations: i64 = 0
        self.due: i64 = 0
        self.nodes: i64 = 1
        self.size: i64 = 0
        self.depth: i64 = 0
        self.seat: i64 = 0
        self.root: Node | None = None
        self.garbage: list[Node] = []

    # The tree, for those who hold it

    def plant(self, state: Any) -> None:
        """Begin a new tree with this root."""
        self.discard()
        root = Node(state.to_move, -1, 0)
        root.state = state
        self.root = root
        self.size = 1

    def begin(
        self, poll: Callable[[int], int], leaves: Leaves, max_depth: int, node_limit: int
    ) -> None:
        """Begin a search from the root: counters at 0; ``node_limit`` 0 is none."""
        self.poll = poll
        self.leaves = leaves
        self.max_depth = max_depth
        self.node_limit = node_limit
        self.simulations = 0
        self.due = 0
        self.nodes = 1
        self.depth = 0
        if self.root is not None:
            self.seat = self.root.mover

    def descend(self, option: Any) -> bool:
        """Make the child after this action or outcome the root; False if there is none."""
        root = self.root
        if root is None or root.count < 0:
            return False
        state: NodeState = root.state
        state = state.after(option)
        wanted: i64 = -1
        for place in range(len(root.options)):
            if option_of(root, place) == option:
                wanted = place
        before: Node | None = None
        child = root.first
        while child is not None and child.index != wanted:
            before = child
            child = child.next
        if child is None or child.visits == 0.0:
            return False
        if child.state is None:
            child.state = state
        if before is None:
            root.first = child.next
        else:
            before.next = child.next
        child.next = None
        self.discard()
        child.owner = -1
        self.root = child
        self.size = count_nodes(child)
        return True

    def discard(self) -> None:
        """Forget the tree."""
        if self.root is not None:
            self.garbage.append(self.root)
        self.root = None
        self.size = 0

    def discarded(self) -> list[Node]:
        """Hand out what was forgotten since the last call, for `release`."""
        garbage = self.garbage
        self.garbage = []
        return garbage

    def children(self) -> list[Node]:
        """Visited children of the root in the order of its actions."""
        found: list[Node] = []
        root = self.root
        if root is not None:
            child = root.first
            while child is not None:
                if child.visits > 0.0:
                    found.append(child)
                child = child.next
        found.sort(key=place_of)
        return found

    # Simulations

    def run(self, until: int) -> bool:
        """Simulate until there were so many; False when there is no need for more."""
        target: i64 = until
        root = self.root
        if root is None:
            return False
        while self.simulations < target:
            if self.simulations >= self.due:
                self.due = self.poll(self.simulations)
            if self.rave > 0.0:
                self.simulate_rave(root)
            else:
                self.simulate(root)
            self.simulations += 1
            if root.worth is not None:
                return False
            if self.node_limit != 0 and self.nodes >= self.node_limit:
                return False
        return True

    def simulate(self, root: Node) -> None:
        """Selection, expansion, playout, backing up."""
        path: list[Node] = []
        node: Node = root
        result: tuple[float, ...]
        depth: i64 = 0
        fresh: bool = False
        while True:
            path.append(node)
            known = node.worth
            if known is not None:
                result = known
                break
            if node.count < 0:
                self.open(node, path)
            if depth >= self.max_depth:
                result = self.value_of(node.state)
                break
            pick: i64 = -1
            child: Node | None
            if node.mover == CHANCE:
                pick = sample_outcome(node.options, self.draw)
                child = node.first
                while child is not None and child.index != pick:
                    child = child.next
            elif node.tried < node.count and self.size < self.max_nodes:
                pick = node.offset + node.tried
                if pick >= node.count:
                    pick -= node.count
                child = None
            else:
                child = self.selected(node)
            if child is not None:
                node = child
                depth += 1
                continue
            state: NodeState = node.state
            if pick >= 0:
                state = state.after(option_of(node, pick))
            if self.size >= self.max_nodes:
                # The tree is full: what lies beyond it is left to the playout.
                result = state.returns() if state.to_move == TERMINAL else self.value_of(state)
                break
            mover: i64 = state.to_move
            child = Node(mover, node.mover, pick)
            child.next = node.first
            node.first = child
            node.tried += 1
            self.size += 1
            depth += 1
            path.append(child)
            if mover == TERMINAL:
                result = state.returns()
                self.finish(child, result)
                fresh = True
            else:
                result = self.value_of(state)
            break
        self.nodes += depth
        if depth > self.depth:
            self.depth = depth
        self.back_up(path, result)
        if fresh and self.solve:
            self.prove(path)

    def open(self, node: Node, path: list[Node]) -> None:
        """At the second visit, learn what can happen in the node that ends the path.

        Most nodes are visited once, and their positions need not be kept until then.
        """
        state = self.state_of(path)
        node.state = state
        if node.mover == CHANCE:
            node.options = tuple(state.chance_outcomes())
        else:
            node.options = tuple(state.actions())
            node.offset = int(self.draw() * float(len(node.options)))
        node.count = len(node.options)

    def state_of(self, path: list[Node]) -> NodeState:
        """Return the state of the node that ends the path; nodes visited once keep none."""
        node: Node = path[len(path) - 1]
        kept: NodeState
        if node.state is not None:
            kept = node.state
            return kept
        before: Node = path[len(path) - 2]
        parent: NodeState = before.state
        return parent.after(option_of(before, node.index))

    def finish(self, node: Node, worth: tuple[float, ...]) -> None:
        """Note what a node is worth for certain."""
        node.worth = worth
        if self.solve and node.owner >= 0:
            node.mean = worth[node.owner]
            node.width = 0.0

    def selected(self, node: Node) -> Node | None:
        """Return the child with the highest upper confidence bound (UCB1); None for a leaf."""
        best: Node | None = node.first
        if best is None:
            return None
        scale: float = self.exploration * sqrt(log(node.visits))
        child = node.first
        highest: float = -INFINITY
        while child is not None:
            score: float = child.mean + scale * child.width
            if score > highest:
                highest = score
                best = child
            child = child.next
        return best

    def value_of(self, state: Any) -> tuple[float, ...]:
        """Return the returns of all seats from here: by playouts or by an evaluation."""
        if self.mode == HOOK and self.playouts == 1:
            quick: tuple[float, ...] = state.playout(self.rng)
            return quick
        if self.mode == ESTIMATE:
            return self.estimate(state)
        if self.playouts == 1:
            return uniform_playout(state, self.draw, self.max_plies, self.seats)
        sums: list[float] = [0.0] * self.seats
        place: i64
        for _ in range(self.playouts):
            result: tuple[float, ...]
            if self.mode == HOOK:
                result = state.playout(self.rng)
            else:
                result = uniform_playout(state, self.draw, self.max_plies, self.seats)
            place = 0
            while place < self.seats:
                sums[place] += result[place]
                place += 1
        place = 0
        while place < self.seats:
            sums[place] /= float(self.playouts)
            place += 1
        return tuple(sums)

    def estimate(self, state: Any) -> tuple[float, ...]:
        """Return the evaluation of a position instead of a playout."""
        if self.two_sided:
            value: float = self.leaves.value(state, self.seat)
            return (value, -value) if self.seat == 0 else (-value, value)
        values: list[float] = []
        for seat in range(self.seats):
            values.append(self.leaves.value(state, seat))  # noqa: PERF401 - no closure
        return tuple(values)

    def back_up(self, path: list[Node], result: tuple[float, ...]) -> None:
        """Add the result of a simulation to the nodes it went through."""
        first: float = result[0]
        second: float = result[1] if self.seats > 1 else 0.0
        for node in path:
            visits: float = node.visits + 1.0
            node.visits = visits
            owner: i64 = node.owner
            if owner < 0:
                continue
            value: float
            if owner == 0:
                value = first
            elif owner == 1:
                value = second
            else:
                value = result[owner]
            total: float = node.total + value
            node.total = total
            if node.width != 0.0:
                node.mean = total / visits
                node.width = 1.0 / sqrt(visits)

    def prove(self, path: list[Node]) -> None:
        """Carry a proven value upwards as far as it decides."""
        place: i64 = len(path) - 1
        while place > 0:
            child: Node = path[place]
            place -= 1
            node: Node = path[place]
            worth = child.worth
            if worth is None:
                return
            if node.mover == CHANCE or worth[node.mover] < self.best_return:
                best = settled(node, self.seats)
                if best is None:
                    return
                worth = best
            self.finish(node, worth)

    # RAVE

    def simulate_rave(self, root: Node) -> None:
        """A simulation that also remembers which actions were played, by whom."""
        path: list[Node] = []
        first: list[int] = [0] * self.action_count
        played: list[set[Any]] = []
        if self.action_count == 0:
            for _ in range(self.seats):
                played.append(set())  # noqa: PERF401 - no closure
        node: Node = root
        result: tuple[float, ...]
        depth: i64 = 0
        fresh: bool = False
        while True:
            path.append(node)
            known = node.worth
            if known is not None:
                result = known
                break
            full: bool = False
            if node.count < 0:
                if node.visits < self.patience and depth > 0 and node.mover != CHANCE:
                    result = self.noted_value(self.state_of(path), first, played)
                    break
                full = self.size >= self.max_nodes
                self.open(node, path)
                if full:
                    node.count = -1
                elif node.mover != CHANCE:
                    self.open_all(node)
            if full or depth >= self.max_depth:
                result = self.noted_value(node.state, first, played)
                break
            child: Node | None
            if node.mover == CHANCE:
                pick: i64 = sample_outcome(node.options, self.draw)
                child = node.first
                while child is not None and child.index != pick:
                    child = child.next
                if child is None:
                    child = Node(0, CHANCE, pick)
                    child.next = node.first
                    node.first = child
                    self.size += 1
            else:
                child = selected_rave(node, self.exploration, self.rave)
            depth += 1
            if child.visits > 0.0:
                node = child
                continue
            before: NodeState = node.state
            state: NodeState = before.after(option_of(node, child.index))
            child.mover = state.to_move
            node.tried += 1
            path.append(child)
            if child.mover == TERMINAL:
                result = state.returns()
                self.finish(child, result)
                fresh = True
            else:
                result = self.noted_value(state, first, played)
            break
        self.nodes += depth
        if depth > self.depth:
            self.depth = depth
        self.back_up(path, result)
        if self.action_count > 0:
            back_up_noted(path, result, first)
        else:
            back_up_rave(path, result, played)
        if fresh and self.solve:
            self.prove(path)

    def open_all(self, node: Node) -> None:
        """Make all children of a node of a seat, with the priors of the state."""
        if self.priors:
            state: Any = node.state
            visits: list[float]
            means: list[float]
            visits, means = state.priors(node.options)
            open_all(node, visits, means)
        else:
            open_all(node, None, None)
        self.size += node.count

    def noted_value(
        self, state: Any, first: list[int], played: list[set[Any]]
    ) -> tuple[float, ...]:
        """Return the result of `value_of`, and note the actions of the playout."""
        if self.mode == ESTIMATE:
            return self.estimate(state)
        if self.action_count > 0:
            result: tuple[float, ...] = state.noted_playout(self.rng, first)
            return result
        return noted_playout(state, played, self.draw, self.max_plies)
