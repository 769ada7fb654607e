"""Alpha-beta through chance nodes: Star1 and Star2 pruning of expectiminimax.

Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial
Intelligence 21 (1983); Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", in:
Computers and Games (2004).

Every seat is either on the side of the seat that searches or against it. So the same kernel plays
two seats, two teams, and one seat against a coalition of all others (paranoid). Without chance
nodes it is alpha-beta.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.sampling import Sampler

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["StarKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")
MARGIN: Final = 1e-8
"""Share of the range of values by which a bound must be passed before it cuts. Windows at chance
nodes are sums of rounded numbers, and probabilities may sum to 1 but for 1e-9. Rounding must not
change a value."""


@final
class StarKernel:
    """One search: its counters and its principal variation.

    ``ours[seat]`` says who maximises, ``low`` to ``high`` bound all values, ``probe`` chooses
    Star2 instead of Star1.
    """

    def __init__(
        self,
        poll: Callable[[int], int],
        leaves: Leaves,
        order: bool,
        max_depth: int,
        ours: list[bool],
        low: float,
        high: float,
        probe: bool,
        sampler: Sampler | None,
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.order: bool = order
        self.ours: list[bool] = ours
        self.low: float = low
        self.high: float = high
        self.margin: float = MARGIN * (high - low)
        self.probe: bool = probe
        self.sampler: Sampler | None = sampler
        self.nodes: i64 = 1
        self.due: i64 = 0
        self.seat: i64 = 0
        # For the next call of search: what to try first, and its value where that is known.
        self.hint: Any = None
        self.known: bool = False
        self.known_value: float = 0.0
        # lines[ply] is the principal variation from that ply on; no list is ever changed.
        self.empty: list[Any] = []
        self.lines: list[list[Any]] = []
        # replies[ply][i] is the best answer found last to outcome i of a chance node there.
        self.replies: list[dict[int, Any]] = []
        # killers[ply] is the action that cut a node there last.
        self.killers: list[Any] = []
        for _ in range(max_depth + 2):
            self.lines.append([])
            self.replies.append({})
            self.killers.append(None)

    def begin(self, previous: list[Any]) -> None:
        """Start an iteration; good answers of the previous one are still known."""
        self.leaves.reset()

    def child_value(self, child: Any, seat: int, depth: int, alpha: float, first: bool) -> float:
        """Value for ``seat``, who moved from the root to ``child``; a bound if below alpha.

        ``depth`` counts the plies from the root.
        """
        state: NodeState = child
        self.seat = seat
        if alpha < self.low:
            alpha = self.low
        if alpha > self.high - self.margin:
            alpha = self.high - self.margin
        self.hint = None
        return self.search(state, depth - 1, alpha, self.high, 1)

    def line(self) -> list[Any]:
        """Return the expected play after the root action valued last."""
        return self.lines[1]

    def final(self, state: NodeState) -> float:
        """Return the value of a finished game; raises `ValueError` if it is out of bounds."""
        value: float = state.returns()[self.seat]
        if value < self.low or value > self.high:
            raise ValueError(
                f"a return of {value} is outside of the bounds {self.low} to {self.high} "
                "by which the search prunes: widen them"
            )
        return value

    def arranged(self, state: Any, actions: tuple[Any, ...], head: Any) -> tuple[Any, ...]:
        """Return the actions in the order of the game, and ``head`` before them if it is one."""
        if self.order:
            actions = tuple(state.order(actions))
        if head is None or head not in actions or head == actions[0]:
            return actions
        arranged: list[Any] = [head]
        for action in actions:
            if action != head:
                arranged.append(action)  # noqa: PERF401 - no closure when compiled
        return tuple(arranged)

    def search(self, state: NodeState, depth: i64, alpha: float, beta: float, ply: i64) -> float:
        """Return the value for our side: exact inside (alpha, beta), otherwise a bound."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        self.lines[ply] = self.empty
        head: Any = self.hint
        self.hint = None
        known: bool = self.known
        self.known = False
        mover: i64 = state.to_move
        if mover == TERMINAL:
            return self.final(state)
        if depth == 0:
            return self.leaves.value(state, self.seat)
        if mover == CHANCE:
            outcomes: tuple[Any, ...] = tuple(state.chance_outcomes())
            sampler: Sampler | None = self.sampler
            if sampler is not None:
                outcomes = sampler.outcomes(outcomes, ply)
            if self.probe and depth > 1:
                return self.probed(state, outcomes, depth, alpha, beta, ply)
            return self.chance(state, outcomes, depth, alpha, beta, ply)
        actions: tuple[Any, ...] = tuple(state.actions())
        if depth > 1 or known:
            if head is None:
                head = self.killers[ply]
            if self.order or head is not None:
                actions = self.arranged(state, actions, head)
        mine: bool = self.ours[mover]
        best: float = -INFINITY if mine else INFINITY
        for action in actions:
            value: float
            if known:
                known = False
                value = self.known_value
                self.lines[ply + 1] = self.empty
            else:
                value = self.search(state.after(action), depth - 1, alpha, beta, ply + 1)
            if value > best if mine else value < best:
                best = value
                line: list[Any] = [action]
                line.extend(self.lines[ply + 1])
                self.lines[ply] = line
                if mine:
                    if value > alpha:
                        alpha = value
                elif value < beta:
                    beta = value
                if alpha >= beta:
                    self.killers[ply] = action
                    break
        return best

    def chance(
        self,
        state: NodeState,
        outcomes: tuple[Any, ...],
        depth: i64,
        alpha: float,
        beta: float,
        ply: i64,
    ) -> float:
        """Star1: the mean of the outcomes, or a bound of it outside of (alpha, beta)."""
        too_low: float = alpha - self.margin
        too_high: float = beta + self.margin
        low: float = self.low
        high: float = self.high
        replies: dict[int, Any] = self.replies[ply]
        mean: float = 0.0
        rest: float = 1.0
        for index, (outcome, probability) in enumerate(outcomes):
            weight: float = probability
            if weight > 0.0:
                rest -= weight
                # Value that the outcome needs for the mean to enter the window.
                down: float = (too_low - mean - rest * high) / weight
                up: float = (too_high - mean - rest * low) / weight
                if depth > 1:
                    self.hint = replies.get(index)
                value: float = self.search(
                    state.after(outcome),
                    depth - 1,
                    down if down > low else low,
                    up if up < high else high,
                    ply + 1,
                )
                if depth > 1 and len(self.lines[ply + 1]) > 0:
                    replies[index] = self.lines[ply + 1][0]
                mean += weight * value
                if value <= down:
                    return mean + rest * high
                if value >= up:
                    return mean + rest * low
        self.lines[ply] = self.empty
        return mean

    def probed(
        self,
        state: NodeState,
        outcomes: tuple[Any, ...],
        depth: i64,
        alpha: float,
        beta: float,
        ply: i64,
    ) -> float:
        """Star2: the same, after a look at one answer to each outcome."""
        count: i64 = len(outcomes)
        children: list[Any] = []
        weights: list[float] = []
        # Bounds of every outcome and of the mean.
        least: list[float] = []
        most: list[float] = []
        answer: list[Any] = []
        worth: list[float] = []
        done: list[bool] = []
        floor: float = 0.0
        ceiling: float = 0.0
        for outcome, probability in outcomes:
            share: float = probability
            weights.append(share)
            children.append(state.after(outcome))
            least.append(self.low)
            most.append(self.high)
            answer.append(None)
            worth.append(0.0)
            done.append(False)
            floor += share * self.low
            ceiling += share * self.high
        too_low: float = alpha - self.margin
        too_high: float = beta + self.margin
        index: i64 = 0
        value: float
        weight: float
        down: float
        up: float
        replies: dict[int, Any] = self.replies[ply]
        # One answer to an outcome bounds it from one side.
        while index < count:
            child: NodeState = children[index]
            mover: i64 = child.to_move
            weight = weights[index]
            if mover >= 0 and weight > 0.0:
                answers: tuple[Any, ...] = tuple(child.actions())
                if self.order or index in replies:
                    answers = self.arranged(child, answers, replies.get(index))
                only: bool = len(answers) == 1
                down = (too_low - ceiling) / weight + self.high
                up = (too_high - floor) / weight + self.low
                mine: bool = self.ours[mover]
                if mine and not only:
                    down = self.low
                elif not mine and not only:
                    up = self.high
                start: float = down if down > self.low else self.low
                stop: float = up if up < self.high else self.high
                value = self.search(child.after(answers[0]), depth - 2, start, stop, ply + 2)
                answer[index] = answers[0]
                worth[index] = value
                if (mine or only) and value > start:
                    floor += weight * (value - least[index])
                    least[index] = value
                if (not mine or only) and value < stop:
                    ceiling += weight * (value - most[index])
                    most[index] = value
                if (only and start < value < stop) or least[index] == most[index]:
                    done[index] = True
                if floor >= too_high:
                    return floor
                if ceiling <= too_low:
                    return ceiling
            index += 1
        index = 0
        while index < count:
            weight = weights[index]
            if not done[index] and weight > 0.0:
                down = (too_low - ceiling) / weight + most[index]
                up = (too_high - floor) / weight + least[index]
                # Windows only shrink, so the value of the answer looked at still stands.
                self.hint = replies.get(index) if answer[index] is None else answer[index]
                self.known = answer[index] is not None
                self.known_value = worth[index]
                value = self.search(
                    children[index],
                    depth - 1,
                    down if down > self.low else self.low,
                    up if up < self.high else self.high,
                    ply + 1,
                )
                if len(self.lines[ply + 1]) > 0:
                    replies[index] = self.lines[ply + 1][0]
                if value <= down:
                    return ceiling + weight * (value - most[index])
                if value >= up:
                    return floor + weight * (value - least[index])
                ceiling += weight * (value - most[index])
                floor += weight * (value - least[index])
                least[index] = value
            index += 1
        self.lines[ply] = self.empty
        # Summed in the order of the game, so that the mean is the same without pruning.
        mean: float = 0.0
        index = 0
        while index < count:
            mean += weights[index] * least[index]
            index += 1
        return mean
