"""The search library: what a bot imports to choose an action.

Every search takes ``(game, state, limit)`` and returns a `SearchResult`; it is anytime under its
`Limit`, gives the same result for the same ``seed``, and can be interrupted. If a game does not
fit, it raises `plyhouse.games.errors.GameMismatch`, which names the algorithms that do.

>>> from plyhouse.games import get_game
>>> from plyhouse.search import Limit, alpha_beta
>>> game = get_game("tic_tac_toe")
>>> alpha_beta(game, game.initial_state(), Limit(depth=9)).value  # nobody can force a win
0.0

Import all public names from here. The module of an algorithm is loaded on first use, because
importing numpy takes longer than a bot's turn.

    trees         minimax, alpha-beta and their relatives: for chance, for many seats, for teams
    monte_carlo   searches that learn from random playouts, or from a model
    equilibria    games of imperfect information: policies, best responses, matrix games
    tables        games solved once and looked up: retrograde analysis, value iteration
    evaluation    estimates of positions; opening books
    teaching      recording and drawing of search trees
    kernels       the inner loops of all packages, compiled where a compiler is installed

Modules that these packages share, or that depend on none of them:

    limit, poll, garbage_collection     the budget of a search, and how it is kept
    game_requirements                   which algorithms fit a game, and which is best
    tree_size                           sizes of game trees, counted or guessed
    callback_types, policies            functions that callers give to searches; ready-made policies
    random_choice                       the random player, a baseline for all others
    files                               files of results, written atomically
    build_report                        whether compiled code runs, and why not
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if __name__ != "plyhouse.search":
    raise ImportError("import plyhouse.search, not search")

if TYPE_CHECKING:
    from plyhouse.search import policies
    from plyhouse.search.build_report import BuildInfo, build_info
    from plyhouse.search.callback_types import Evaluation, Policy
    from plyhouse.search.equilibria.best_response import (
        BestResponse,
        best_response,
        expected_returns,
        exploitability,
        nash_conv,
    )
    from plyhouse.search.equilibria.cfr import cfr, cfr_plus, discounted_cfr
    from plyhouse.search.equilibria.matrix_game import (
        MatrixSolution,
        NormalForm,
        dominated,
        matrix_game,
        matrix_of,
        pure_equilibria,
        undominated,
    )
    from plyhouse.search.equilibria.mccfr import mccfr
    from plyhouse.search.equilibria.resolving import (
        SubgameRoot,
        public_record,
        resolve_subgame,
        resolved_policy,
        subgame_roots,
        subgames,
    )
    from plyhouse.search.equilibria.solution import Progress, Solution
    from plyhouse.search.equilibria.tabular import TabularPolicy, load_policy
    from plyhouse.search.evaluation.features import FEATURES, FeatureSet, features_of
    from plyhouse.search.evaluation.linear_evaluation import LinearEvaluation
    from plyhouse.search.evaluation.opening_book import OpeningBook
    from plyhouse.search.evaluation.played_matches import InvalidMatch, PlayedMatch
    from plyhouse.search.game_requirements import (
        Choice,
        fitting_algorithms,
        fitting_solvers,
        recommended,
    )
    from plyhouse.search.limit import Limit, SearchResult
    from plyhouse.search.monte_carlo.flat_monte_carlo import flat_monte_carlo
    from plyhouse.search.monte_carlo.ismcts import ismcts
    from plyhouse.search.monte_carlo.mcts import MonteCarloTree, mcts
    from plyhouse.search.monte_carlo.parallel import ParallelSearch, parallel_mcts
    from plyhouse.search.monte_carlo.pimc import pimc
    from plyhouse.search.monte_carlo.puct import Evaluator, puct
    from plyhouse.search.random_choice import random_action
    from plyhouse.search.tables.checkers_endgames import solve_checkers
    from plyhouse.search.tables.endgame_table import EndgameTable
    from plyhouse.search.tables.pig_solution import PigSolution, solve_pig
    from plyhouse.search.tables.positions import TooManyPositions
    from plyhouse.search.tables.retrograde import PositionTable, retrograde, solve
    from plyhouse.search.tables.value_iteration import ValueTable, iterate_values, value_iteration
    from plyhouse.search.teaching.drawable_tree import Explanation
    from plyhouse.search.teaching.explain import explain
    from plyhouse.search.trees.alpha_beta import alpha_beta
    from plyhouse.search.trees.many_seats import maxn, paranoid, team_search
    from plyhouse.search.trees.minimax import expectimax, expectiminimax, minimax
    from plyhouse.search.trees.transpositions import TranspositionTable

__all__ = [
    "FEATURES",
    "BestResponse",
    "BuildInfo",
    "Choice",
    "EndgameTable",
    "Evaluation",
    "Evaluator",
    "Explanation",
    "FeatureSet",
    "InvalidMatch",
    "Limit",
    "LinearEvaluation",
    "MatrixSolution",
    "MonteCarloTree",
    "NormalForm",
    "OpeningBook",
    "ParallelSearch",
    "PigSolution",
    "PlayedMatch",
    "Policy",
    "PositionTable",
    "Progress",
    "SearchResult",
    "Solution",
    "SubgameRoot",
    "TabularPolicy",
    "TooManyPositions",
    "TranspositionTable",
    "ValueTable",
    "alpha_beta",
    "best_response",
    "build_info",
    "cfr",
    "cfr_plus",
    "discounted_cfr",
    "dominated",
    "expected_returns",
    "expectimax",
    "expectiminimax",
    "explain",
    "exploitability",
    "features_of",
    "fitting_algorithms",
    "fitting_solvers",
    "flat_monte_carlo",
    "ismcts",
    "iterate_values",
    "load_policy",
    "matrix_game",
    "matrix_of",
    "maxn",
    "mccfr",
    "mcts",
    "minimax",
    "nash_conv",
    "parallel_mcts",
    "paranoid",
    "pimc",
    "policies",
    "public_record",
    "puct",
    "pure_equilibria",
    "random_action",
    "recommended",
    "resolve_subgame",
    "resolved_policy",
    "retrograde",
    "solve",
    "solve_checkers",
    "solve_pig",
    "subgame_roots",
    "subgames",
    "team_search",
    "undominated",
    "value_iteration",
]

_HOME: Final = {
    name: module
    for module, names in {
        "build_report": "build_info BuildInfo",
        "callback_types": "Evaluation Policy",
        "equilibria.best_response": (
            "best_response BestResponse expected_returns exploitability nash_conv"
        ),
        "equilibria.cfr": "cfr cfr_plus discounted_cfr",
        "equilibria.matrix_game": (
            "dominated matrix_game matrix_of MatrixSolution NormalForm pure_equilibria undominated"
        ),
        "equilibria.mccfr": "mccfr",
        "equilibria.resolving": (
            "public_record resolve_subgame resolved_policy subgame_roots SubgameRoot subgames"
        ),
        "equilibria.solution": "Progress Solution",
        "equilibria.tabular": "load_policy TabularPolicy",
        "evaluation.features": "FEATURES features_of FeatureSet",
        "evaluation.linear_evaluation": "LinearEvaluation",
        "evaluation.opening_book": "OpeningBook",
        "evaluation.played_matches": "InvalidMatch PlayedMatch",
        "game_requirements": "Choice fitting_algorithms fitting_solvers recommended",
        "limit": "Limit SearchResult",
        "monte_carlo.flat_monte_carlo": "flat_monte_carlo",
        "monte_carlo.ismcts": "ismcts",
        "monte_carlo.mcts": "mcts MonteCarloTree",
        "monte_carlo.parallel": "parallel_mcts ParallelSearch",
        "monte_carlo.pimc": "pimc",
        "monte_carlo.puct": "Evaluator puct",
        "random_choice": "random_action",
        "tables.checkers_endgames": "solve_checkers",
        "tables.endgame_table": "EndgameTable",
        "tables.pig_solution": "PigSolution solve_pig",
        "tables.positions": "TooManyPositions",
        "tables.retrograde": "PositionTable retrograde solve",
        "tables.value_iteration": "iterate_values value_iteration ValueTable",
        "teaching.drawable_tree": "Explanation",
        "teaching.explain": "explain",
        "trees.alpha_beta": "alpha_beta",
        "trees.many_seats": "maxn paranoid team_search",
        "trees.minimax": "expectimax expectiminimax minimax",
        "trees.transpositions": "TranspositionTable",
    }.items()
    for name in names.split()
}
"""The module below this one that holds each name."""


if not TYPE_CHECKING:  # a checker would take any name for one that is loaded on demand

    def __getattr__(name: str) -> Any:
        """Load what is asked for first; then it is an ordinary attribute."""
        if name == "policies":
            return importlib.import_module("plyhouse.search.policies")
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
