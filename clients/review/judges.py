"""Judges of positions: exact ones, those that estimate, and the choice between them.

A judge gets a position in which a seat is to move, and the action that was played there.  It
answers what that action is worth to the seat, what the best action is worth, and how certain both
values are.  Games that can be solved get an exact judge; for the others the choice follows
`plyhouse.search.game_requirements.recommended`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final, Protocol

from plyhouse.games.base import CHANCE, TERMINAL, ChanceKind, Game, Utility
from plyhouse.games.errors import GameMismatch
from plyhouse.search import (
    Limit,
    TranspositionTable,
    alpha_beta,
    cfr_plus,
    expectiminimax,
    ismcts,
    maxn,
    mcts,
)
from plyhouse.search.game_requirements import fitting_algorithms
from plyhouse.search.limit import SearchResult
from plyhouse.search.tree_size import SOLVABLE


@dataclass(frozen=True, slots=True)
class Judgement:
    """The value of one ply for its seat, in the game's returns."""

    best_action: Any
    best: float
    played: float | None
    """None where nothing was played, or the judge never tried what was."""
    certainty: str
    """``exact``, ``depth 6``, ``sampled 4,000``: how it is known."""
    exact: bool
    """True if both values are those of perfect play."""
    error: float = inf
    """The largest likely error of the difference of the two: 0 if it is exact, two standard errors
    if it is sampled, and infinite for an estimate at a depth."""

    @property
    def drop(self) -> float:
        """The loss by the choice: never negative."""
        return 0.0 if self.played is None else max(0.0, self.best - self.played)


class Judge(Protocol):
    """Values what was played."""

    method: str
    """How it does so, in words for people."""

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge ``action`` (None: only the position) in about so many seconds."""
        ...


class FullWidthJudge:
    """Looks at every action to one depth: for dice, and for more seats than two."""

    def __init__(self, game: Game) -> None:
        self._game = game
        duel = "expectiminimax" in fitting_algorithms(game)
        self._search: Any = expectiminimax if duel else maxn
        # With several seats, the values are those of one equilibrium; another may differ.
        self._unique = duel or game.seats == 1 or game.info.utility is Utility.TEAM
        self.method = "expectiminimax, deepening" if duel else "max^n, deepening"

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action by the greatest depth to which all actions were looked at."""
        whole: SearchResult | None = None

        def completed(found: SearchResult) -> None:
            nonlocal whole
            # Told at the end of a depth, and in its middle with the depth before.
            if whole is None or found.depth > whole.depth:
                whole = found

        last = self._search(self._game, state, Limit(time=seconds, report=completed))
        found: SearchResult = last if whole is None else whole
        if not found.depth:  # out of time before every action was looked at once
            found = self._search(self._game, state, Limit(depth=1))
        values = found.values or {found.action: found.value}
        best = max(values, key=lambda each: values[each])
        if action is not None and values.get(action, -math.inf) >= values[best]:
            best = action
        played = None if action is None else values.get(action)
        exact = found.exact and self._unique
        error = 0.0 if exact else math.inf
        certainty = f"depth {found.depth}"
        if found.exact:
            certainty = "exact" if exact else "max^n to the end"
        return Judgement(best, values[best], played, certainty, exact, error)


class SamplingJudge:
    """Plays many matches on from the position, and from what was played."""

    method = "Monte Carlo tree search"

    def __init__(self, game: Game) -> None:
        self._game = game
        self._duel = game.seats == 2 and game.info.utility is Utility.ZERO_SUM

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action; what the tree has hardly tried is searched on its own."""
        seat = state.to_move
        found = mcts(self._game, state, Limit(time=seconds / 2), seed=1)
        best, tries = found.action, dict(found.visits)
        values = dict(found.values)
        values.setdefault(best, found.value)
        sure = found.exact
        if action is not None and action != best:
            child = state.after(action)
            few = tries.get(action, 0) < tries.get(best, 0) / 2
            if sure and found.value <= self._game.return_bounds[0]:
                values[action] = found.value  # every action loses
            elif child.to_move == TERMINAL:
                values[action], tries[action] = float(child.returns()[seat]), tries.get(best, 1)
            elif (few or sure) and self._duel and child.to_move != CHANCE:
                after = mcts(self._game, child, Limit(time=seconds / 2), seed=1)
                values[action] = after.value if child.to_move == seat else -after.value + 0.0
                tries[action] = after.simulations
                sure = sure and after.exact
            else:
                sure = False
        return _sampled(self._game, best, action, values, tries, found.simulations, sure)


class InformationSetJudge:
    """Guesses what the others hold, many times, from what the seat saw: from nothing else."""

    method = "information-set Monte Carlo tree search"

    def __init__(self, game: Game) -> None:
        self._game = game

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action by what its seat knew."""
        seen = self._game.observe(state, state.to_move)
        found = ismcts(self._game, seen, Limit(time=seconds), seed=1)
        values = dict(found.values)
        values.setdefault(found.action, found.value)
        return _sampled(
            self._game, found.action, action, values, found.visits, found.simulations, False
        )


def _sampled(
    game: Game,
    best: Any,
    action: Any | None,
    values: dict[Any, float],
    tries: Any,
    simulations: int,
    exact: bool,
) -> Judgement:
    """The judgement of samples; no return is farther from its mean than half their range."""
    played = None if action is None else values.get(action)
    if played is not None and played > values[best]:
        best = action
    if exact:
        return Judgement(best, values[best], played, "exact", True, 0.0)
    low, high = game.return_bounds
    counts = (tries.get(best, 0), tries.get(best if action is None else action, 0))
    error = math.inf
    if min(counts):
        error = 2 * (high - low) / 2 * math.sqrt(sum(1 / count for count in counts))
    certainty = f"sampled {simulations:,}"
    if action is not None and action != best:
        certainty += f" ({counts[1]:,} of what was played)"
    return Judgement(best, values[best], played, certainty, False, error)


TOLERANCE: Final = 1e-6
"""How far values of a table with dice may be off."""
TREMBLE: Final = 1e-4
"""How often others do something else than in equilibrium, as far as guessing what they hold goes:
so that there is an answer to what nobody should have played, too."""


class TableJudge:
    """Looks perfect play up."""

    def __init__(
        self, method: str, values: Callable[[Any], Mapping[Any, float]], error: float = 0.0
    ) -> None:
        self.method = method
        self._values = values
        self._error = error

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action; takes no time to speak of."""
        values = self._values(state)
        best = max(values, key=lambda each: values[each])
        if action is not None and values[action] >= values[best]:
            best = action
        played = None if action is None else values[action]
        return Judgement(best, values[best], played, "exact", True, self._error)


def exact_judge(game: Game, seconds: float) -> Judge | None:
    """A judge with a table of all positions, where there are few enough; else None."""
    from plyhouse.search import TooManyPositions, iterate_values, solve, solve_pig

    limit = Limit(time=seconds)
    try:
        if game.chance_kind is ChanceKind.DETERMINISTIC:
            table = solve(game, most=SOLVABLE, limit=limit)
            return TableJudge(
                f"a table of all {len(table):,} positions",
                lambda state: {act: entry.value for act, entry in table.values(state).items()},
            )
        if game.info.name == "pig" and game.seats == 2:
            return TableJudge("the solution of pig", solve_pig(game).values, TOLERANCE)
        valued = iterate_values(game, tolerance=TOLERANCE, most=SOLVABLE, limit=limit)
        return TableJudge(f"a table of all {len(valued):,} positions", valued.values, TOLERANCE)
    except (GameMismatch, TooManyPositions, TimeoutError):
        return None


class AlphaBetaJudge:
    """Deepens until the position is solved or the time is up, and looks what was played up to the
    same depth.
    """

    method = "alpha-beta, deepening"

    def __init__(self, game: Game) -> None:
        self._game = game
        # A table holds what positions are worth to one seat.
        self._tables = [TranspositionTable() for _ in range(game.seats)]

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action; half of the time goes to the position, half to what was played."""
        seat = state.to_move
        found = self._search(state, Limit(time=seconds / 2))
        best_action, best, exact, depth = found.action, found.value, found.exact, found.depth
        if action is None or action == best_action:
            return _judgement(best_action, best, None if action is None else best, exact, depth)
        if exact and best <= self._game.return_bounds[0]:
            return _judgement(action, best, best, exact, depth)  # every action loses
        played, sure, deep = self._after(state.after(action), seat, found, seconds / 2)
        if played > best:  # seen later is seen better
            best_action, best = action, played
        # A proof holds at every depth: the other value has the depth of the search.
        looked = deep if exact else depth if sure else min(depth, deep)
        return _judgement(best_action, best, played, exact and sure, looked)

    def _after(
        self, child: Any, seat: int, found: SearchResult, seconds: float
    ) -> tuple[float, bool, int]:
        """Return a position's value for the seat, whether it is exact, and the depth."""
        if child.to_move == TERMINAL:
            return float(child.returns()[seat]), True, found.depth
        most = None if found.exact else max(1, found.depth - 1)
        answer = self._search(child, Limit(time=seconds, depth=most))
        value = answer.value if child.to_move == seat else -answer.value + 0.0
        return value, answer.exact, answer.depth + 1

    def _search(self, state: Any, limit: Limit) -> SearchResult:
        table = self._tables[state.to_move]
        found = alpha_beta(self._game, state, limit, table=table, practical=False)
        if found.depth or found.exact:
            return found
        # Out of time before every action was looked at once, so that nothing is known: one ply is.
        return alpha_beta(self._game, state, Limit(depth=1), table=table, deepen=True)


def _judgement(
    action: Any, best: float, played: float | None, exact: bool, depth: int
) -> Judgement:
    if exact:
        return Judgement(action, best, played, "exact", True, 0.0)
    return Judgement(action, best, played, f"depth {depth}", False)


class EquilibriumJudge:
    """Knows an equilibrium of the whole game, and what every action is worth in it.

    An action's value is the seat's mean return if it plays that action here and all play the
    equilibrium before and after it. The mean is over everything that the others may hold, as far as
    the seat knows. Where the equilibrium mixes, all actions that it plays are worth the same.
    """

    def __init__(self, game: Game, seconds: float) -> None:
        self._game = game
        low, high = game.return_bounds
        solution = cfr_plus(game, Limit(time=seconds), target=1e-4 * (high - low))
        self._policy = solution.policy
        gap = solution.nash_conv()
        duel = game.seats == 2 and game.info.utility in (Utility.ZERO_SUM, Utility.CONSTANT_SUM)
        self._error = gap
        self._certainty = (
            f"equilibrium within {gap:.1g}" if duel else f"policy within {gap:.1g} of equilibrium"
        )
        self.method = f"CFR+, {solution.iterations:,} iterations"

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge an action by what its seat knew; the walk over the tree takes what it takes."""
        seat = state.to_move
        totals = dict.fromkeys(state.actions(), 0.0)
        key = self._game.information_state(state, seat)
        weight = self._walk(self._game.initial_state(), seat, key, 1.0, totals)
        values = {each: total / weight for each, total in totals.items()}
        best = max(values, key=lambda each: values[each])
        if action is not None and values[action] >= values[best] - self._error:
            best = action  # as good as any, as far as can be told: it may be one of a mixture
        played = None if action is None else values[action]
        return Judgement(best, values[best], played, self._certainty, False, self._error)

    def _walk(
        self, state: Any, seat: int, key: Any, reach: float, totals: dict[Any, float]
    ) -> float:
        """Add what every action is worth, weighted by how likely the others brought us here."""
        if state.to_move == TERMINAL:
            return 0.0
        if state.to_move == CHANCE:
            return sum(
                self._walk(state.after(outcome), seat, key, reach * chance, totals)
                for outcome, chance in state.chance_outcomes()
            )
        if state.to_move == seat:
            if self._game.information_state(state, seat) == key:
                for action in totals:
                    totals[action] += reach * self._value(state.after(action), seat)
                return reach
            return sum(
                self._walk(state.after(action), seat, key, reach, totals)
                for action in state.actions()
            )
        choices = self._policy(state)
        even = TREMBLE / len(choices)
        return sum(
            self._walk(
                state.after(action), seat, key, reach * ((1 - TREMBLE) * share + even), totals
            )
            for action, share in choices
        )

    def _value(self, state: Any, seat: int) -> float:
        """Return the seat's mean return if all play the policy from here on."""
        if state.to_move == TERMINAL:
            return float(state.returns()[seat])
        choices = state.chance_outcomes() if state.to_move == CHANCE else self._policy(state)
        return sum(share * self._value(state.after(each), seat) for each, share in choices if share)


def judge_for(game: Game, seconds: float) -> Judge:
    """The judge that knows most about a game; preparing it may take so many seconds."""
    from plyhouse.games.base import Information
    from plyhouse.search.game_requirements import recommended
    from plyhouse.search.tree_size import histories

    if game.info.information is Information.IMPERFECT:
        if histories(game) <= SOLVABLE:
            return EquilibriumJudge(game, seconds)
        return InformationSetJudge(game)
    solved = exact_judge(game, seconds)
    if solved is not None:
        return solved
    chosen = recommended(game).algorithm
    if chosen == "mcts":
        return SamplingJudge(game)
    if chosen == "alpha_beta" and chosen in fitting_algorithms(game):
        return AlphaBetaJudge(game)
    return FullWidthJudge(game)
