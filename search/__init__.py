"""The search library: what a bot imports to choose an action.

Every search takes ``(game, state, limit)`` and returns a `SearchResult`; it is anytime
under its `Limit`, gives the same result for the same ``seed``, can be interrupted, and
refuses a game that does not fit with a `plyhouse.games.errors.GameMismatch` that names
what would.  One module per algorithm; the inner loops are in `plyhouse.search.kernels`,
compiled where the installation found a C compiler (see `build_info`).
"""

if __name__ != "plyhouse.search":
    raise ImportError("import plyhouse.search, not search")

# Each function has the name of its module, so it must be bound here, after its module.
from plyhouse.search.equilibria.best_response import (
    BestResponse,
    best_response,
    expected_returns,
    exploitability,
    nash_conv,
)
from plyhouse.search.equilibria.cfr import cfr
from plyhouse.search.equilibria.cfr_plus import cfr_plus
from plyhouse.search.equilibria.discounted_cfr import discounted_cfr
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
from plyhouse.search.equilibria.solution import Progress, Solution
from plyhouse.search.equilibria.tabular import TabularPolicy, load_policy
from plyhouse.search.fitness import fitting_algorithms, fitting_solvers
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.monte_carlo.flat_monte_carlo import flat_monte_carlo
from plyhouse.search.monte_carlo.ismcts import ismcts
from plyhouse.search.monte_carlo.mcts import MonteCarloTree, mcts
from plyhouse.search.monte_carlo.parallel import ParallelSearch, parallel_mcts
from plyhouse.search.monte_carlo.pimc import pimc
from plyhouse.search.monte_carlo.puct import puct
from plyhouse.search.random_choice import random_action
from plyhouse.search.tables.retrograde import retrograde, solve
from plyhouse.search.tables.value_iteration import value_iteration
from plyhouse.search.teaching.explain import explain
from plyhouse.search.trees.alpha_beta import alpha_beta
from plyhouse.search.trees.expectimax import expectimax
from plyhouse.search.trees.expectiminimax import expectiminimax
from plyhouse.search.trees.maxn import maxn
from plyhouse.search.trees.minimax import minimax
from plyhouse.search.trees.paranoid import paranoid
from plyhouse.search.trees.team_search import team_search
from plyhouse.search.trees.transpositions import TranspositionTable
from plyhouse.search.variant import BuildInfo, build_info

__all__ = [
    "BestResponse",
    "BuildInfo",
    "Limit",
    "MatrixSolution",
    "MonteCarloTree",
    "NormalForm",
    "ParallelSearch",
    "Progress",
    "SearchResult",
    "Solution",
    "TabularPolicy",
    "TranspositionTable",
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
    "fitting_algorithms",
    "fitting_solvers",
    "flat_monte_carlo",
    "ismcts",
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
    "puct",
    "pure_equilibria",
    "random_action",
    "retrograde",
    "solve",
    "team_search",
    "undominated",
    "value_iteration",
]
