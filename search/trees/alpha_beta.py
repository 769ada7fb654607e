"""Alpha-beta: the value of minimax without looking at what cannot change it.

Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975);
iterative deepening and aspiration windows after Slate and Atkin, "CHESS 4.5", in: Chess
Skill in Man and Machine (1977); Russell and Norvig, AIMA, 4th ed., section 5.2 and 5.3.  The
sources of the other options are in `plyhouse.search.kernels.alpha_beta_full`.

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("(3 12 8) (2 4 6) (14 5 2)")  # MAX moves, then MIN
>>> result = alpha_beta(game, game.initial_state())
>>> result.action, result.value, result.nodes  # minimax visits 13
('1', 3.0, 11)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.trees import TreeGame
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.kernels.alpha_beta import AlphaBetaKernel
from plyhouse.search.kernels.alpha_beta_full import FullAlphaBetaKernel, successor
from plyhouse.search.kernels.transposition_table import EXACT, NOTHING, SOLVED, Table
from plyhouse.search.limit import MAX_DEPTH, UNLIMITED, Limit, SearchResult
from plyhouse.search.poll import Poll
from plyhouse.search.trees.iterative_deepening import Root, deepened, steered
from plyhouse.search.trees.transpositions import TranspositionTable

__all__ = ["alpha_beta"]

ASPIRATION = 0.01
"""Half the width of the first aspiration window, as a share of the range of returns."""

LATE, LATE_DEPTH = 4, 4
"""Actions of the root that reductions leave alone, and the depth from which on the others lose a
ply, or two beyond three times as many."""

ASKED = 3
"""Depth from which the next positions are searched by more than a look at their actions, so that
the game can be asked about them."""

WIDER = 4.0
"""How much wider the window is made when the value was outside of it."""


def alpha_beta(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    heuristic: bool = True,
    seed: int = 0,
    deepen: bool | None = None,
    table: TranspositionTable | bool | None = None,
    table_size: int | None = None,
    ordering: bool | None = None,
    null_windows: bool | None = None,
    aspiration: bool | None = None,
    quiescence: bool | None = None,
    reductions: bool = False,
    null_moves: bool = False,
    futility: bool = False,
    endings: bool | None = None,
    practical: bool | None = None,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum, deterministic game of perfect information.

    Under a time or node limit it plays as strongly as it can.  Without one and without options it
    is the plain algorithm, whose value is that of `plyhouse.search.trees.minimax.minimax` at the
    same depth.  ``values`` holds upper bounds for the actions that are not best: the search does
    not need to know how bad they are.

    Nothing is better than the greatest return of the game (`Game.return_bounds`).  After a seat has
    found a win, the search skips its other actions and greater depths.  ``values`` then lacks the
    actions of the root that were skipped.  ``exact`` is True for a proven win or loss, at any
    depth.  A written tree (`plyhouse.games.trees.tree_game`) is searched as in a textbook, where
    nobody knows the best leaf beforehand.

    ``deepen`` searches the depths 1, 2, ... in turn, the best line of the previous one first.  It
    is the default under a time or node limit, where there must be a result at any moment.
    ``evaluate(state, seat)`` values positions at the depth limit, within the bounds of the game's
    returns; without it the state's ``heuristic()`` does (unless ``heuristic`` is False), or else
    they count 0.  The state's ``order(actions)`` sorts actions, best first, where it has one.  A
    ``seed`` other than 0 tries the actions of the root in another order.  So the search chooses
    among equally good ones at random, but always the same for the same seed.

    The other options are on if ``deepen`` is, off if not, where they are not given:

    - ``table``: remember positions, by the state's ``key()`` where it has one.  True makes a
      table for this search, of ``table_size`` entries; better give a `TranspositionTable`
      that lives as long as the match.
    - ``ordering``: try first what was best or cut off in other positions (the table's
      action, killers, history), before the game's own order.
    - ``null_windows``: principal variation search: later actions are only asked whether they
      are better than the best so far, and searched again if they are.
    - ``aspiration``: each depth expects a value near that of the depth before; needs ``deepen``
      and ``null_windows``.
    - ``quiescence``: at the depth limit, play on with the state's ``noisy_actions()``, where it has
      them and an estimate, until they are over or the mover would rather stop.  This changes
      values: it sees a piece taken back.  Where all actions are noisy the mover cannot stop.
    - ``reductions``: look less deeply at actions late in the order that are not noisy, and at
      positions of which no good action is known yet.  Look a ply deeper at positions whose states
      say that they are ``forced()``.  Off unless asked for: it may overlook something at a given
      depth to reach a greater one.
    - ``null_moves``: where a seat would stand well even if it passed, do not look at its actions.
      For games whose states have ``passed()``: the state after a pass, or None where passing could
      be better than all actions.  Off unless asked for.
    - ``futility``: at most six plies above the depth limit, trust an estimate that is far outside
      the window.  Skip actions that are not noisy and hopeless or late in the order.  From two
      plies above it on, keep those that force a seat (``forced()``).  Keep those that end the game,
      too, unless the state has ``forces()``.  Without ``quiescence`` or ``quiet_margin()`` nothing
      changes.  That margin is the most that a skipped action is likely to add to the estimate.  An
      ``evaluate`` must have the scale of ``heuristic()``.  Off unless asked for.
    - ``endings``: near the end, ask what the game itself knows of its last plies (the state's
      ``endings(meter)``, see `plyhouse.games.endgames`), where it has that.  Values are those
      of a search to the end; the principal variation may stop where the game was asked.  Off with
      an ``evaluate``, and with states of a subclass that has its own ``heuristic()`` or
      ``order()``, unless asked for: its author wants to see what it is worth.
    - ``practical``: in a solved position, take the shortest win or the longest resistance that an
      ordinary search finds.  That search takes a quarter of the limit, and in a lost position the
      rest.

    With a table, a position may have a value from a search that looked deeper below it.  Such a
    value is better, but differs from that of minimax at the same depth.  ``exact`` results are the
    same with all options.  Only in games whose keys leave out history (see
    `plyhouse.games.base.GameInfo.complete_keys`) may repetitions be judged wrongly.

    Raises `GameMismatch` for a game that does not fit, `ValueError` when no seat is to move,
    an estimate is out of bounds or options contradict each other.
    """
    poll = Poll(limit)
    if deepen is None:
        deepen = limit.time is not None or limit.nodes is not None
    options = Options(
        table=deepen if table is None and table_size is None else table is not False,
        ordering=deepen if ordering is None else ordering,
        null_windows=deepen if null_windows is None else null_windows,
        aspiration=deepen and null_windows is not False if aspiration is None else aspiration,
        quiescence=deepen if quiescence is None else quiescence,
        reductions=reductions,
        null_moves=null_moves and hasattr(state, "passed"),
        futility=futility and hasattr(state, "quiet_margin"),
        endings=(
            deepen and evaluate is None and not own_estimate(state) if endings is None else endings
        ),
    )
    if options.aspiration and not (deepen and options.null_windows):
        raise ValueError(
            "aspiration=True needs deepen=True and null_windows=True: "
            "its window is set by the depth before"
        )
    if table is False and table_size is not None:
        raise ValueError(f"table=False contradicts table_size={table_size}: leave one out")
    require_fit("alpha_beta", game, state)
    given = isinstance(table, TranspositionTable)
    if isinstance(table, TranspositionTable):
        if table_size is not None:
            raise ValueError(f"table_size={table_size}: the table given has its own size")
        memory: TranspositionTable | None = table
    elif options.table and hasattr(state, "key"):
        memory = TranspositionTable() if table_size is None else TranspositionTable(table_size)
    else:
        memory = None
    root = AlphaBetaRoot(game, state, limit, poll, evaluate, heuristic, seed, options)
    if practical is None:
        practical = deepen

    def run() -> SearchResult:
        found = deepened(root, limit, deepen=deepen)
        if not (practical and root.relies_on_knowledge()):
            return found
        steered(root, limit, ordinary, root.keeps_value)
        return root.result()

    def ordinary(actions: list[Any], within: Limit, poll: Poll) -> Root:
        plain = replace(options, endings=False)
        other = AlphaBetaRoot(game, state, within, poll, evaluate, heuristic, seed, plain)
        other.actions = [action for action in other.actions if action in actions]
        other.line = other.actions[:1]
        if memory is not None:
            other.use(Table(memory.size))
        return other

    if memory is None or root.plain or not hasattr(state, "key"):
        return run()
    selective = (options.quiescence, options.reductions, options.null_moves, options.futility)
    context = (game, root.seat, evaluate, heuristic, *selective)
    root.use(memory.open(context))
    try:
        return run()
    finally:
        root.learnt()
        memory.close()
        if not given:
            memory.discard()


def own_estimate(state: Any) -> bool:
    """Return whether a subclass replaces estimates or order of the states that know endings."""
    classes = type(state).__mro__

    def place(name: str) -> int:
        return next((at for at, each in enumerate(classes) if name in vars(each)), len(classes))

    return min(place("heuristic"), place("order")) < place("endings")


@dataclass(frozen=True, slots=True)
class Options:
    """Switches of a search."""

    table: bool
    ordering: bool
    null_windows: bool
    aspiration: bool
    quiescence: bool
    reductions: bool
    null_moves: bool
    futility: bool
    endings: bool


class AlphaBetaRoot(Root):
    """The root of an alpha-beta search: windows, and the order of its actions."""

    def __init__(
        self,
        game: Game,
        state: Any,
        limit: Limit,
        poll: Poll,
        evaluate: Evaluation | None,
        heuristic: bool,
        seed: int,
        options: Options,
    ) -> None:
        self.options = options
        self.estimates = evaluate is not None or (heuristic and hasattr(state, "heuristic"))
        self.noisy = hasattr(state, "noisy_actions")
        self.loud = state.noisy_actions() if self.noisy and options.reductions else ()
        self.textbook = isinstance(game, TreeGame)
        self.keeps = game.info.complete_keys
        self.table: Table | None = None
        self.sizes: dict[Any, int] = {}  # nodes below each action at the last depth
        self.remembers = False  # whether the table held positions when the search began
        self.endings = options.endings and hasattr(state, "endings")
        self.plain = not (
            (options.table and hasattr(state, "key"))
            or options.ordering
            or options.null_windows
            or (options.quiescence and self.noisy and self.estimates)
            or options.reductions
            or options.null_moves
            or options.futility
            or self.endings
        )
        kernel = AlphaBetaKernel if self.plain else FullAlphaBetaKernel
        super().__init__(game, state, limit, poll, kernel, evaluate, seed, heuristic=heuristic)

    def make_kernel(self, kernel: type[Any], order: bool) -> Any:
        """Make what searches below the root."""
        if self.textbook:
            self.leaves.least, self.leaves.most = -math.inf, math.inf
        if self.plain:
            return kernel(self.poll, self.leaves, order, MAX_DEPTH)
        options = self.options
        quiescence = options.quiescence and self.noisy and self.estimates
        full = kernel(
            self.poll,
            self.leaves,
            order,
            MAX_DEPTH,
            self.keeps,
            options.ordering,
            options.null_windows,
            quiescence,
            options.reductions,
            self.noisy,
            hasattr(self.state, "forced"),
            hasattr(self.state, "forces"),
            options.null_moves and self.estimates,
            self.state.quiet_margin() if options.futility and quiescence else 0.0,
        )
        if self.endings:
            full.endings = self.state.endings(full.meter)
            self.endings = full.endings is not None
        return full

    def use(self, table: Table) -> None:
        """Remember positions there."""
        self.table = table
        self.remembers = table.count() > 0
        self.kernel.table = table

    def learnt(self) -> None:
        """Note what the table has to know of the estimates it holds."""
        if self.table is not None and self.leaves.claimed:
            self.table.claimed = True

    def iterate(self, depth: int) -> None:
        """Search all actions to a depth, the best of the previous iteration first.

        When the limit is reached halfway, the best action found by then stands.  The previous best
        was searched first, so another action replaced it only by beating it at the greater depth.
        """
        low, high = -math.inf, math.inf
        least, most = self.leaves.low, self.leaves.high
        width = ASPIRATION * (most - least)
        if self.options.aspiration and self.depth > 1 and width > 0.0:
            low, high = self.value - width, self.value + width
        expected = self.value
        self.learnt()
        known = self.solved(depth)
        hint = NOTHING
        if known is not None:
            hint = self.hint()
            # What is left to find is the action: any window that holds the value will do.
            low, high = -successor(-known), successor(known)
        while True:
            value = self.sweep(depth, low, high, hint, known)
            if low < value < high:
                break
            width *= WIDER
            if value <= low:
                low = expected - width if expected - width > least else -math.inf
            else:
                high = expected + width if expected + width < most else math.inf
        self.depth = depth
        self.exact = not self.leaves.used or self.proven()
        self.complete_line(depth)
        self.told()

    def relies_on_knowledge(self) -> bool:
        """Return whether the value is proven by more than this search: by the game's own knowledge,
        or by the table of earlier searches.  Then it does not say how near the end is.
        """
        if self.plain or not (self.exact or self.won_or_lost()):
            return False
        if self.endings and self.kernel.endings.hurries:
            return False
        if self.value == self.leaves.low:
            return bool(self.kernel.asked or self.remembers)
        # A book lasts only while it is followed.  And where positions come again, an ordinary
        # search may give up a win that it cannot see.
        if not self.keeps or (self.endings and self.hint() is not NOTHING):
            return False
        return bool(self.kernel.asked or (self.remembers and self.value == self.leaves.high))

    def keeps_value(self, action: Any) -> bool:
        """Return whether an action certainly has the proven value of the root."""
        value, child = self.value, self.state.after(action)
        self.kernel.begin([])
        window = -successor(-value), successor(value)
        depth = max(self.depth, ASKED)
        found = self.kernel.child_value(child, self.seat, depth, *window, False)
        return bool(float(found) >= value and (not self.leaves.used or self.won_or_lost()))

    def solved(self, depth: int) -> float | None:
        """Return the value if the game can solve the position, else None."""
        if not self.endings or depth < ASKED:
            return None
        key = None if self.table is None else self.state.key()
        if self.table is not None and self.keeps:
            entry = self.table.get(key)
            if entry is not None and entry.depth == SOLVED and entry.bound == EXACT:
                return entry.value
        value: float | None = self.kernel.ending(self.state, depth, -math.inf, math.inf)
        if self.table is not None and value is not None:
            self.table.put(key, value, SOLVED, EXACT, NOTHING)
        return value

    def hint(self) -> Any:
        """Return the action that the game expects to be best in the position it has solved."""
        best = self.kernel.endings.best(self.state)
        return NOTHING if best is None else best

    def sweep(
        self, depth: int, low: float, high: float, hint: Any, known: float | None = None
    ) -> float:
        """Search all actions within a window, ``hint`` first if it is one; the value is a bound if
        it is not inside.  Where the game has solved the position, stop at an action of its value.
        """
        enough = self.leaves.most if known is None else known
        head = self.line[0]
        followed = self.depth > 0
        actions = [head, *[action for action in self.actions if action != head]]
        if not followed:
            actions = self.actions
        elif self.reduces(depth):  # what is hard to refute comes first
            actions[1:] = sorted(actions[1:], key=lambda each: -self.sizes.get(each, 0))
        if hint in actions:
            actions = [hint, *[action for action in actions if action != hint]]
        self.kernel.begin(list(self.line) if followed else [])
        child_value = self.kernel.child_value
        narrow = self.options.null_windows
        best = -math.inf
        for place, action in enumerate(actions):
            child = self.state.after(action)
            first = followed and action == head
            floor = max(low, best)
            before = self.kernel.nodes
            if narrow and floor > -math.inf and best > -math.inf:
                near = successor(floor)
                less = self.reduction(action, child, depth, place)
                value = child_value(child, self.seat, depth - less, floor, near, first)
                if less and value > floor:
                    value = child_value(child, self.seat, depth, floor, near, first)
                if floor < value < high:
                    value = child_value(child, self.seat, depth, floor, high, first)
            else:
                value = child_value(child, self.seat, depth, floor, high, first)
            self.sizes[action] = self.kernel.nodes - before
            value = float(value) + 0.0  # no "-0.0" in results, nor the ints of a game's returns
            self.values[action] = value
            if value > best:
                best = value
                if value > low:
                    self.value = value
                    self.line = [action, *(self.kernel.line() if value < high else ())]
                    if value >= enough:
                        self.exact = self.proven()
                        self.forget_after(actions, action)
                    if not followed or action != head:
                        self.complete_line(depth)
                        self.told()
                if value >= high or value >= enough:
                    break
        return best

    def reduces(self, depth: int) -> bool:
        """Return whether late actions are searched less deeply."""
        return self.options.reductions and depth >= LATE_DEPTH

    def reduction(self, action: Any, child: Any, depth: int, place: int) -> int:
        """Return how many plies less deeply to search an action first."""
        if place < LATE or not self.reduces(depth) or child.to_move == TERMINAL:
            return 0
        if action in self.loud:
            return 0
        forced = hasattr(child, "forced") and child.forced()
        return 0 if forced else 1 if place < 3 * LATE else 2

    def forget_after(self, actions: list[Any], action: Any) -> None:
        """Drop what lesser depths thought of the actions that a win spares to look at."""
        for other in actions[actions.index(action) + 1 :]:
            self.values.pop(other, None)

    def result(self) -> SearchResult:
        """Put together what is known now, and where the value comes from."""
        found = super().result()
        if not (self.endings and self.kernel.asked):
            return found
        return replace(found, source=self.kernel.endings.source(self.state))

    def settled(self) -> bool:
        """Return whether looking deeper could not change the choice, see `Root.settled`."""
        return self.exact or self.won_or_lost()

    def proven(self) -> bool:
        """Return whether the game is won or lost regardless of its history, see `Root.proven`."""
        relied = self.table is not None and self.kernel.relied
        return self.won_or_lost() and not relied

    def won_or_lost(self) -> bool:
        """Return whether the value is that of a won or lost game, not of an estimate."""
        return super().proven() and not (self.table is not None and self.table.claimed)

    def complete_line(self, depth: int) -> None:
        """Make the line longer by what the table knows, where a position found there cut it
        short.
        """
        if self.table is None:
            return
        state = self.state
        for action in self.line:
            state = state.after(action)
        while len(self.line) < depth and state.to_move >= 0:
            entry = self.table.get(state.key())
            action = NOTHING if entry is None or entry.bound != EXACT else entry.action
            if action is NOTHING and self.won_or_lost():
                action = self.last_action(state)
            if action is NOTHING or action not in state.actions():
                return
            self.line.append(action)
            state = state.after(action)

    def last_action(self, state: Any) -> Any:
        """Return an action that ends the game with the value found, if there is one: the table
        holds nothing of the last positions of a line.
        """
        for action in state.actions():
            child = state.after(action)
            if child.to_move == TERMINAL and child.returns()[self.seat] == self.value:
                return action
        return NOTHING
