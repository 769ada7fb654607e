"""Alpha-beta with all that makes it fast: table, move ordering, null windows, quiescence.

Each part is an option.  Sources:

- fail-soft alpha-beta: see `plyhouse.search.kernels.alpha_beta`;
- transposition table: see `plyhouse.search.kernels.transposition_table`;
- killers: Akl and Newborn, "The principal continuation and the killer heuristic", ACM
  Annual Conference (1977); history: Schaeffer, "The history heuristic", ICCA Journal 6 (1983);
  with reductions, it also counts failures: Winands, van der Werf, van den Herik and Uiterwijk,
  "The relative history heuristic", Computers and Games (2004);
- principal variation search: Marsland and Campbell, "Parallel search of strongly ordered
  game trees", ACM Computing Surveys 14 (1982);
- quiescence with standing pat: Shannon, "Programming a computer for playing chess" (1950);
  Harris, "The heuristic search and the game of chess", IJCAI (1975);
- reductions of late moves, and of positions without a known best action: as in Romstad, Costalba
  and Kiiski, Stockfish (2008), and its successors of 2020;
- null moves: Donninger, "Null move and deep search", ICCA Journal 16 (1993);
- futility: Schaeffer, "Experiments in search and knowledge", University of Waterloo (1986); Heinz,
  "Extended futility pruning", ICCA Journal 21 (1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.endgames import Meter
from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.transposition_table import EXACT, LOWER, NOTHING, SOLVED, UPPER, Table

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["FullAlphaBetaKernel", "successor"]

TERMINAL: Final = -2
INFINITY: Final = float("inf")

QUIET_PLIES: Final = 32
"""Noisy plies in a row that quiescence follows at most."""

PASSED_DEPTH: Final = 3
"""Depth from which on the mover may try to pass."""
PASSED_REDUCTION: Final = 3
"""Plies by which the search after a pass is less deep, and one more for each four of depth."""

UNKNOWN_DEPTH: Final = 4
"""Depth from which on reductions take a ply from a position without a known best action."""

FUTILE_DEPTH: Final = 6
"""Depth up to which an estimate far outside of the window is believed."""
MOST_TRIED: Final[tuple[int, ...]] = (0, 5, 7, 10, 15, 22, 30)
"""By depth, from 1 on: actions tried in a null window before quiet ones are skipped."""


def _reductions() -> list[int]:
    """Return how many plies to search an action less deeply, at 64 times the depth plus its place.

    Both are at most 63.  It grows with the product of the logarithms.
    """
    found = [0] * 4096
    for depth in range(1, 64):
        for place in range(1, 64):
            found[64 * depth + place] = int(0.4 + math.log(depth) * math.log(place) / 2.2)
    return found


_REDUCTIONS: Final[list[int]] = _reductions()

FIRST: Final = 1 << 40
"""Score of the action tried first; those of noisy actions and killers are below."""
NOISY: Final = 1 << 39
KILLER: Final = 1 << 38
HISTORY: Final = 1 << 20
"""History bonus of a cutoff at the root; it halves with each ply below."""
MOST_HISTORY: Final = 16384
"""Bound of a history score with reductions."""
PLACES: Final = 4096
"""More actions than that in one position are sorted as they come."""


def successor(value: float) -> float:
    """Return a float just above: the next one, or the one after that near a power of two.

    (Rump, Zimmermann, Boldo and Melquiond, "Computing predecessor and successor in rounding
    to nearest", BIT 49 (2009).)  A window of (value, successor) holds next to nothing.
    """
    size: float = -value if value < 0.0 else value
    return value + (size * 1.1102230246251568e-16 + 5e-324)


@final
class FullAlphaBetaKernel:
    """One search: its counters, its principal variation, and what it learnt about moves."""

    def __init__(
        self,
        poll: Callable[[int], int],
        leaves: Leaves,
        order: bool,
        max_depth: int,
        keeps: bool,
        learn: bool,
        null_windows: bool,
        quiescence: bool,
        reductions: bool,
        noisy: bool,
        forces: bool,
        foresees: bool,
        null_moves: bool,
        margin: float,
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.least: float = leaves.least
        self.most: float = leaves.most
        self.order: bool = order
        self.table: Table | None = None
        # The history that the game counts; see `ending`.
        self.endings: Any = None
        self.meter: Meter = Meter(poll)
        # True if the game has solved a position of this search.
        self.asked: bool = False
        # True if equal keys mean equal futures, so that solved positions stay solved.
        self.keeps: bool = keeps
        self.learn: bool = learn
        self.null_windows: bool = null_windows
        self.quiescence: bool = quiescence
        self.reductions: bool = reductions
        self.noisy: bool = noisy
        self.forces: bool = forces
        self.foresees: bool = foresees
        self.null_moves: bool = null_moves
        # The most that a quiet action is likely to add to the estimate; 0 turns futility off.
        self.margin: float = margin
        # True if the last ply above quiescence is searched as all others are, with its table.
        self.whole: bool = reductions and quiescence
        # The ply that a pass has just led to: nobody passes twice in a row.
        self.passed_ply: i64 = -1
        # Forced positions are searched deeper up to this ply.
        self.deepest: i64 = 0
        self.nodes: i64 = 1
        self.due: i64 = 0
        self.seat: i64 = 0
        self.follow: bool = False
        self.previous: list[Any] = []
        self.lines: list[list[Any]] = []
        self.killers: list[Any] = []
        for _ in range(max_depth + 1):
            self.lines.append([])
            self.killers.append(NOTHING)
            self.killers.append(NOTHING)
        self.history: list[dict[Any, int]] = [{}, {}]
        # True if a won or lost value came from the table although the past may change it.
        self.relied: bool = False

    def begin(self, previous: list[Any]) -> None:
        """Start an iteration; ``previous`` is the principal variation to try first."""
        self.previous = previous
        self.relied = False
        self.leaves.reset()
        fading: i64 = 2 if self.reductions else 8
        score: i64
        for scores in self.history:
            for action in scores:
                score = scores[action]
                scores[action] = score // fading

    def child_value(
        self, child: Any, seat: int, depth: int, alpha: float, beta: float, first: bool
    ) -> float:
        """Value for ``seat``, who moved from the root to ``child``: exact inside of (alpha,
        beta), otherwise a bound.

        ``depth`` counts the plies from the root; ``first`` says that the action is the
        head of the previous principal variation.
        """
        state: NodeState = child
        self.seat = seat
        self.lines[1] = []
        self.deepest = 2 * depth if 2 * depth < len(self.lines) else len(self.lines) - 1
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        mover: i64 = state.to_move
        value: float
        if mover == TERMINAL:
            value = state.returns()[seat]
            return value
        self.follow = first
        mine: bool = mover == seat
        if depth <= 1:
            if not self.quiescence:
                return self.leaves.value(state, seat)
            if mine:
                return self.quiesce(state, alpha, beta, QUIET_PLIES)
            return -self.quiesce(state, -beta, -alpha, QUIET_PLIES)
        if mine:
            return self.search(state, depth - 1, alpha, beta, 1)
        return -self.search(state, depth - 1, -beta, -alpha, 1)

    def line(self) -> list[Any]:
        """Return the expected play after the root action valued last, inside its window."""
        return self.lines[1]

    def search(self, state: NodeState, depth: i64, alpha: float, beta: float, ply: i64) -> float:
        """Return the value for the mover: exact inside (alpha, beta), otherwise a bound."""
        # NodeState has no optional hooks, so they are called by name.
        hooks: Any = state
        if depth < 1:
            self.lines[ply] = []
            self.follow = False
            return self.quiesce(state, alpha, beta, QUIET_PLIES)
        forced: bool = False
        if self.forces and (self.reductions or (self.margin > 0.0 and depth <= FUTILE_DEPTH)):
            forced = hooks.forced()
            if forced and self.reductions and depth + ply < self.deepest:
                depth += 1
        leaves = self.leaves
        prunable: bool = (
            self.margin > 0.0
            and depth <= FUTILE_DEPTH
            and not forced
            and leaves.low < alpha
            and beta < leaves.high
        )
        estimate: float = 0.0
        slack: float = self.margin * float(depth)
        # True if a value depends on an estimate, so that it holds for this depth only.
        used_before: bool = leaves.used
        if depth == 1:
            if prunable:
                estimate = self.estimated(state)
                if estimate + slack <= alpha or estimate - slack >= beta:
                    self.lines[ply] = []
                    self.follow = False
                    if estimate - slack >= beta:
                        return estimate - slack
                    # Quiet actions may add as much as the margin.
                    return max(self.quiesce(state, alpha, beta, QUIET_PLIES), estimate + slack)
                leaves.used = used_before
            if not self.whole:
                return self.frontier(state, alpha, beta, ply)
        mover: i64 = state.to_move
        value: float
        known: Any = NOTHING
        key: Any = None
        table = self.table
        if table is not None:
            key = hooks.key()
            entry = table.get(key)
            if entry is not None:
                known = entry.action
                if entry.depth >= depth and (
                    self.keeps or self.lasts(entry.value, entry.depth, depth)
                ):
                    value = entry.value
                    bound: i64 = entry.bound
                    if (
                        bound == EXACT
                        or (bound == LOWER and value >= beta)
                        or (bound == UPPER and value <= alpha)
                    ):
                        if entry.depth != SOLVED:
                            leaves.used = True
                        if not self.keeps and (value <= leaves.low or value >= leaves.high):
                            self.relied = True
                        self.lines[ply] = [] if known is NOTHING else [known]
                        self.follow = False
                        return value
        if self.reductions and known is NOTHING and depth >= UNKNOWN_DEPTH and not self.follow:
            depth -= 1
        if self.endings is not None:
            solved: Any = self.ending(state, depth, alpha, beta)
            if solved is not None:
                value = solved
                if table is not None:
                    if value >= beta:
                        table.put(key, value, SOLVED, LOWER, NOTHING)
                    elif value <= alpha:
                        table.put(key, value, SOLVED, UPPER, NOTHING)
                    else:
                        table.put(key, value, SOLVED, EXACT, NOTHING)
                self.lines[ply] = []
                self.follow = False
                return value
        narrow: float = successor(alpha)
        hopeless: bool = False
        if prunable:
            if depth > 1:
                estimate = self.estimated(state)
            if estimate - slack >= beta and beta <= narrow:
                self.lines[ply] = []
                self.follow = False
                return estimate - slack
            hopeless = estimate + slack <= alpha
            leaves.used = used_before
        if (
            self.null_moves
            and depth >= PASSED_DEPTH
            and ply != self.passed_ply
            and leaves.low < alpha
            and beta < leaves.high
            and beta <= narrow
            and self.passing_holds(state, depth, beta, ply)
        ):
            self.lines[ply] = []
            return beta
        used_before = leaves.used
        leaves.used = False
        actions: tuple[Any, ...] = tuple(state.actions())
        if self.follow and known is NOTHING and ply < len(self.previous):
            known = self.previous[ply]
        sorts_noisy: bool = self.noisy and (depth > 2 or prunable or self.whole)
        noisy: tuple[Any, ...] = ()
        # The best known action often suffices, so the others are put in order after it.
        unordered: tuple[Any, ...] = ()
        if len(actions) > 1:
            if known is not NOTHING and known in actions:
                unordered = actions
                actions = (known,)
            else:
                if sorts_noisy:
                    noisy = tuple(hooks.noisy_actions())
                actions = self.ordered(state, actions, noisy, known, mover, ply, hopeless)
                self.follow = False
        open_window: bool = self.null_windows and (alpha == -INFINITY or successor(alpha) < beta)
        floor: float = alpha
        best: float = -INFINITY
        best_action: Any = NOTHING
        # Number of actions after which quiet ones are skipped.
        enough: i64 = max(len(actions), len(unordered))
        if hopeless:
            enough = 1
        elif prunable and beta <= narrow:
            enough = MOST_TRIED[depth]
        skipped: bool = False
        tried: i64 = 0
        while True:
            if tried == len(actions):
                if len(unordered) == 0:
                    break
                if sorts_noisy:
                    noisy = tuple(hooks.noisy_actions())
                actions = self.ordered(state, unordered, noisy, known, mover, ply, hopeless)
                unordered = ()
            action = actions[tried]
            if self.nodes >= self.due:
                self.due = self.poll(self.nodes)
            tried += 1
            if tried > enough and best > leaves.low and self.skips(state, action, noisy):
                leaves.used = True
                skipped = True
                continue
            child: NodeState = state.after(action)
            to_move: i64 = child.to_move
            self.nodes += 1
            if to_move == TERMINAL:
                value = child.returns()[mover]
            else:
                less: i64 = 1
                if (
                    self.reductions
                    and tried > 3
                    and depth > 2
                    and best > -INFINITY
                    and action not in noisy
                ):
                    less = 1 + _REDUCTIONS[64 * min(depth, 63) + min(tried, 63)]
                    if open_window and less > 2:
                        less -= 1
                    if less >= depth:
                        less = depth - 1
                if tried > 1 and (open_window or less > 1) and alpha > -INFINITY:
                    # Only ask whether it is better than the best so far.
                    narrow = successor(alpha)
                    if to_move == mover:
                        value = self.search(child, depth - less, alpha, narrow, ply + 1)
                    else:
                        value = -self.search(child, depth - less, -narrow, -alpha, ply + 1)
                    if value > alpha and (less > 1 or value < beta):
                        if to_move == mover:
                            value = self.search(child, depth - 1, alpha, beta, ply + 1)
                        else:
                            value = -self.search(child, depth - 1, -beta, -alpha, ply + 1)
                elif to_move == mover:
                    value = self.search(child, depth - 1, alpha, beta, ply + 1)
                else:
                    value = -self.search(child, depth - 1, -beta, -alpha, ply + 1)
            self.follow = False
            if value > best:
                best = value
                if value > alpha:
                    best_action = action
                    if value >= beta:
                        if sorts_noisy and len(unordered) > 0:
                            noisy = tuple(hooks.noisy_actions())
                        if self.learn and not (len(noisy) > 0 and action in noisy):
                            self.remember(action, mover, ply)
                            if self.reductions:
                                self.compare(actions, tried, noisy, mover, depth)
                        break
                    alpha = value
                    line: list[Any] = [action]
                    if to_move != TERMINAL:
                        line.extend(self.lines[ply + 1])
                    self.lines[ply] = line
                    if value >= self.most:
                        break
        if skipped:
            # What was skipped may be worth as much as the reason to skip it allows.
            best = max(best, estimate + slack if hopeless else floor)
        if table is not None:
            valid: i64 = depth
            if self.keeps and (
                not leaves.used
                or (
                    not leaves.claimed
                    and not table.claimed
                    and (best >= leaves.high or best <= leaves.low)
                )
            ):
                valid = SOLVED
            if best >= self.most:
                table.put(key, best, valid, EXACT, best_action)
            elif best <= self.least:
                # Nothing saves the mover: the line shows the first action as well as another.
                table.put(key, best, valid, EXACT, actions[0])
            elif best >= beta:
                table.put(key, best, valid, LOWER, best_action)
            elif best > floor:
                table.put(key, best, valid, EXACT, best_action)
            else:
                table.put(key, best, valid, UPPER, NOTHING)
        if used_before:
            leaves.used = True
        return best

    def skips(self, state: NodeState, action: Any, noisy: tuple[Any, ...]) -> bool:
        """Return whether an action may be skipped: not if it is noisy or forces the next seat.

        An action that ends the game is not skipped either, unless the state answers for actions.
        """
        if action in noisy:
            return False
        hooks: Any = state
        if self.foresees:
            return not hooks.forces(action)
        child: Any = state.after(action)
        return child.to_move != TERMINAL and not (self.forces and child.forced())

    def ending(self, state: Any, depth: i64, alpha: float, beta: float) -> Any:
        """Return the return that the game declares for the mover, or None: see
        `plyhouse.games.endgames`.

        The game counts on from the nodes of this search, and stops at its limit.
        """
        meter = self.meter
        meter.nodes = self.nodes
        meter.due = self.due
        try:
            value: Any = self.endings.value(state, depth, alpha, beta)
            if value is not None:
                self.asked = True
            return value
        finally:
            self.nodes = meter.nodes
            self.due = meter.due

    def passing_holds(self, state: NodeState, depth: i64, beta: float, ply: i64) -> bool:
        """Return whether a seat that may pass would still have ``beta`` in a shallower search.

        Most actions are better than to pass, so that one of them has as much.
        """
        leaves = self.leaves
        used: bool = leaves.used
        value: float = self.estimated(state)
        if value >= beta:
            hooks: Any = state
            child: Any = hooks.passed()
            if child is not None and child.to_move != TERMINAL:
                after: NodeState = child
                self.nodes += 1
                self.follow = False
                before: i64 = self.passed_ply
                self.passed_ply = ply + 1
                left: i64 = depth - PASSED_REDUCTION - depth // 4
                narrow: float = successor(-beta)
                if left >= 1:
                    value = -self.search(after, left, -beta, narrow, ply + 1)
                elif self.quiescence:
                    value = -self.quiesce(after, -beta, narrow, QUIET_PLIES)
                else:
                    value = -self.estimated(after)
                self.passed_ply = before
                if value >= beta:
                    return True
        leaves.used = used
        return False

    def estimated(self, state: NodeState) -> float:
        """Return the estimate for the mover."""
        value: float = self.leaves.value(state, self.seat)
        return value if state.to_move == self.seat else -value

    def lasts(self, value: float, found: i64, depth: i64) -> bool:
        """Return whether an entry may be used in a game that can return to a position.

        In such a game, a win in the table exists but may not come nearer by playing the stored
        action.  So an entry that is won or lost is used only if its depth is the current one.
        """
        return found == depth or self.leaves.low < value < self.leaves.high

    def ordered(
        self,
        state: Any,
        actions: tuple[Any, ...],
        noisy: tuple[Any, ...],
        known: Any,
        mover: i64,
        ply: i64,
        hopeless: bool,
    ) -> tuple[Any, ...]:
        """Sort the actions: the best known one, noisy ones, killers, then by success in
        other positions, and as the game orders them.

        Where quiet actions are hopeless, they are left as they are, because they are skipped.
        """
        if self.order:
            actions = tuple(state.order(actions))
        if not self.learn or hopeless or len(actions) > PLACES:
            if known is NOTHING or known not in actions:
                return actions
            front: list[Any] = [known]
            for action in actions:
                if action != known:
                    front.append(action)  # noqa: PERF401 - no closure when compiled
            return tuple(front)
        killer: Any = self.killers[2 * ply]
        second: Any = self.killers[2 * ply + 1]
        scores = self.history[mover]
        special: dict[Any, int] = {}
        special[second] = KILLER
        special[killer] = KILLER + 1
        for action in noisy:
            special[action] = NOISY
        special[known] = FIRST
        ranks: list[int] = []
        place: i64 = 0
        score: i64
        for action in actions:
            score = special[action] if action in special else scores.get(action, 0)
            ranks.append((FIRST - score) * PLACES + place)
            place += 1  # noqa: SIM113 - enumerate makes boxed numbers
        ranks.sort()
        result: list[Any] = []
        for rank in ranks:
            result.append(actions[rank % PLACES])  # noqa: PERF401 - no closure when compiled
        return tuple(result)

    def remember(self, action: Any, mover: i64, ply: i64) -> None:
        """Note a quiet action that was too good to be allowed."""
        if self.killers[2 * ply] != action:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = action
        if self.reductions:
            return  # see `compare`
        scores = self.history[mover]
        # Weigh by the distance to the root, because without a depth limit the remaining depth says
        # nothing about a node.
        weight: i64 = HISTORY >> ply if ply < 20 else 1
        score: i64 = scores.get(action, 0) + weight
        scores[action] = score if score < KILLER else KILLER - 1

    def compare(
        self, actions: tuple[Any, ...], tried: i64, noisy: tuple[Any, ...], mover: i64, depth: i64
    ) -> None:
        """Raise the score of the action that was tried last, and lower those of the quiet ones
        before it, which were in vain.
        """
        scores = self.history[mover]
        bonus: i64 = min(16 * depth * depth, MOST_HISTORY // 10)
        score: i64
        place: i64 = 0
        for action in actions:
            place += 1
            if place > tried:
                break
            if len(noisy) > 0 and action in noisy:
                continue
            score = scores.get(action, 0)
            # The nearer to its bound, the less it changes.
            if place == tried:
                score += bonus - score * bonus // MOST_HISTORY
            else:
                score -= bonus + score * bonus // MOST_HISTORY
            scores[action] = score

    def frontier(self, state: NodeState, alpha: float, beta: float, ply: i64) -> float:
        """Do the work of `search` one ply above the depth limit: no table, and the game's order
        only where quiescence makes nodes expensive.
        """
        mover: i64 = state.to_move
        mine: bool = mover == self.seat
        quiescence: bool = self.quiescence
        actions: tuple[Any, ...] = tuple(state.actions())
        if quiescence and self.order:
            hooks: Any = state
            actions = tuple(hooks.order(actions))
        best: float = -INFINITY
        value: float
        self.follow = False
        for action in actions:
            if self.nodes >= self.due:
                self.due = self.poll(self.nodes)
            child: NodeState = state.after(action)
            self.nodes += 1
            to_move: i64 = child.to_move
            if to_move == TERMINAL:
                value = child.returns()[mover]
            elif quiescence:
                if to_move == mover:
                    value = self.quiesce(child, alpha, beta, QUIET_PLIES)
                else:
                    value = -self.quiesce(child, -beta, -alpha, QUIET_PLIES)
            else:
                value = self.leaves.value(child, self.seat)
                if not mine:
                    value = -value
            if value > best:
                best = value
                if value >= beta:
                    break
                if value > alpha:
                    alpha = value
                    self.lines[ply] = [action]
                    if value >= self.most:
                        break
        return best

    def quiesce(self, state: NodeState, alpha: float, beta: float, left: i64) -> float:
        """Return the value for the mover, who may be content with the estimate or play on
        with noisy actions; where all actions are noisy there is no choice.
        """
        mover: i64 = state.to_move
        hooks: Any = state
        best: float = -INFINITY
        value: float
        actions: tuple[Any, ...]
        if left > 0 and self.forces and hooks.forced():
            actions = tuple(state.actions())
        else:
            best = self.leaves.value(state, self.seat)
            if mover != self.seat:
                best = -best
            if best >= beta or best >= self.most or left == 0:
                return best
            if best > alpha:
                alpha = best
            actions = tuple(hooks.noisy_actions())
        if self.order and len(actions) > 1:
            actions = tuple(hooks.order(actions))
        for action in actions:
            if self.nodes >= self.due:
                self.due = self.poll(self.nodes)
            child: NodeState = state.after(action)
            self.nodes += 1
            to_move: i64 = child.to_move
            if to_move == TERMINAL:
                value = child.returns()[mover]
            elif to_move == mover:
                value = self.quiesce(child, alpha, beta, left - 1)
            else:
                value = -self.quiesce(child, -beta, -alpha, left - 1)
            if value > best:
                best = value
                if value >= beta or value >= self.most:
                    break
                if value > alpha:
                    alpha = value
        return best
