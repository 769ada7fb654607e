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
from plyhouse.search.alpha_beta import alpha_beta
from plyhouse.search.best_response import (
    BestResponse,
    best_response,
    expected_returns,
    exploitability,
    nash_conv,
)
from plyhouse.search.cfr import cfr
from plyhouse.search.cfr_plus import cfr_plus
from plyhouse.search.discounted_cfr import discounted_cfr
from plyhouse.search.expectimax import expectimax
from plyhouse.search.expectiminimax import expectiminimax
from plyhouse.search.explain import explain
from plyhouse.search.fitness import fitting_algorithms, fitting_solvers
from plyhouse.search.flat_monte_carlo import flat_monte_carlo
from plyhouse.search.ismcts import ismcts
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.matrix_game import (
    MatrixSolution,
    NormalForm,
    dominated,
    matrix_game,
    matrix_of,
    pure_equilibria,
    undominated,
)
from plyhouse.search.maxn import maxn
from plyhouse.search.mccfr import mccfr
from plyhouse.search.mcts import MonteCarloTree, mcts
from plyhouse.search.minimax import minimax
from plyhouse.search.parallel import ParallelSearch, parallel_mcts
from plyhouse.search.paranoid import paranoid
from plyhouse.search.pimc import pimc
from plyhouse.search.puct import puct
from plyhouse.search.random_choice import random_action
from plyhouse.search.retrograde import retrograde, solve
from plyhouse.search.solution import Progress, Solution
from plyhouse.search.tabular import TabularPolicy, load_policy
from plyhouse.search.team_search import team_search
from plyhouse.search.transpositions import TranspositionTable
from plyhouse.search.value_iteration import value_iteration
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
