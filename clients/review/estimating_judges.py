"""Judges that look ahead so far, or sample: their values are estimates, and say so."""

from __future__ import annotations

import math
from typing import Any

from plyhouse.clients.review.judgement import Judgement
from plyhouse.games.base import CHANCE, TERMINAL, Game, Utility
from plyhouse.search import Limit, expectiminimax, ismcts, maxn, mcts
from plyhouse.search.game_requirements import fitting_algorithms
from plyhouse.search.limit import SearchResult

__all__ = ["FullWidthJudge", "InformationSetJudge", "SamplingJudge"]


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
