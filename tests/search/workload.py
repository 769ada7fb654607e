"""Deterministic work on every game and search, printed with every bit of every number.

    python workload.py PART

test_build_report.py runs each part in two processes, interpreted and compiled, and compares them.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from plyhouse.games import native
from plyhouse.games.base import CHANCE
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS, showdown_order
from plyhouse.games.playthrough import VARIANTS, playthrough
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.learning.limit_holdem import betting_tree, decisions, preflop_class
from plyhouse.learning.tuning import td_lambda
from plyhouse.search import (
    Limit,
    SearchResult,
    alpha_beta,
    best_response,
    cfr,
    cfr_plus,
    discounted_cfr,
    expectimax,
    expectiminimax,
    fitting_algorithms,
    fitting_solvers,
    flat_monte_carlo,
    ismcts,
    maxn,
    mccfr,
    mcts,
    minimax,
    paranoid,
    pimc,
    puct,
    random_action,
    retrograde,
    solve,
    team_search,
)
from plyhouse.search.evaluation.features import FEATURES
from plyhouse.search.evaluation.linear_evaluation import LinearEvaluation
from plyhouse.search.kernels.betting_walks import BettingKernel, fade
from plyhouse.search.policies import softmax_policy
from plyhouse.search.tables.checkers_endgames import solve_checkers
from plyhouse.search.tables.pig_solution import solve_pig
from plyhouse.search.tables.value_iteration import iterate_values

RULES = sorted({*BUILT_IN, *VARIANTS.values()})
"""Specs whose rules, notation, observations and scenes are compared."""
WALKS = {"scrabble": 2}
"""Random plays of specs with very many actions, with the facts of every position; others have 8."""
PLAYS = 3
"""Random plays of each spec, with every view of the first positions and of the last."""
PLAYOUTS = {"scrabble": 3}
"""Playouts of specs that take a third of a second each if interpreted; others have 50."""
GAMES = {
    "tic_tac_toe": 5,
    "connect_four": 4,
    "connect_four(columns=4,rows=5)": 5,
    "connect_four(columns=8,rows=6,connect=5)": 3,
    "pig": 6,
    "pig(seats=3,target=20)": 6,
    "coin_guess": 4,
    "coin_guess(variant=bag,pennies=0.3)": 4,
    "kuhn_poker": 5,
    "kuhn_poker(seats=3)": 5,
    "einstein": 1,
    "pacman(layout=duel,steps=20)": 4,
    "pacman(ghosts=random,layout=trapped,steps=20)": 4,
    "pacman(layout=trapped)": 4,
}
SEARCHES: dict[str, Any] = {
    "alpha_beta": alpha_beta,
    "minimax": minimax,
    "expectiminimax": expectiminimax,
    "expectimax": expectimax,
    "maxn": maxn,
    "paranoid": paranoid,
    "team_search": team_search,
    "random_action": random_action,
    "mcts": mcts,
    "puct": puct,
    "flat_monte_carlo": flat_monte_carlo,
    "ismcts": ismcts,
    "pimc": pimc,
}
VARIATIONS: dict[str, list[dict[str, Any]]] = {
    "expectiminimax": [
        {"pruning": "star1"},
        {"pruning": "star2"},
        {"chance_samples": 3},
        {"pruning": "star2", "chance_samples": 3},
    ],
    "expectimax": [{"opponents": softmax_policy(0.5)}, {"chance_samples": 2}],
    "maxn": [{"pruning": "shallow", "sum_bound": 10000.0}, {"chance_samples": 2}],
    "paranoid": [{"pruning": "star1"}],
    "team_search": [{"pruning": "star1", "chance_samples": 3}],
}
"""Options to try in addition to the defaults."""
MONTE_CARLO: dict[str, tuple[dict[str, Any], ...]] = {
    "mcts": ({}, {"rave": 50.0, "exploration": 0.5}, {"playouts": 3, "solve": False}),
    "puct": ({}, {"exploration": 3.0, "max_nodes": 60}),
    "flat_monte_carlo": ({}, {"allocation": "uniform"}),
    "ismcts": ({}, {"observers": "single", "choose": "sample"}),
    "pimc": ({"samples": 5}, {"combine": "vote", "samples": 3}),
}
"""Options of each Monte Carlo search: it is simulations that count, not depth."""
SOLVERS: dict[str, Any] = {
    "cfr": cfr,
    "cfr_plus": cfr_plus,
    "discounted_cfr": discounted_cfr,
    "mccfr": mccfr,
}

ALPHA_BETA: dict[str, dict[str, Any]] = {
    "all": {"deepen": True, "reductions": True, "futility": True},
    "small table": {"table_size": 50, "deepen": True},
    "quiescence": {"quiescence": True},
}
"""Options of alpha-beta, apart from those that a limit of nodes sets."""
NOISY = ("breakthrough(size=5)", "checkers", "chess", "go(size=5)", "kalah", "othello")
"""Games for alpha-beta alone: with noisy actions, or seats that move twice."""


class Wrapped:
    """A state seen through ordinary Python: what a user's own game is to a search."""

    __slots__ = ("inner", "to_move")

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.to_move = inner.to_move

    def actions(self) -> Any:
        return self.inner.actions()

    def after(self, action: Any) -> Wrapped:
        return type(self)(self.inner.after(action))

    def chance_outcomes(self) -> Any:
        return self.inner.chance_outcomes()

    def returns(self) -> Any:
        return self.inner.returns()


HOOKS = ("heuristic", "order", "key", "noisy_actions", "forced", "quiet_margin")


def full(state: Any) -> type[Wrapped]:
    """The same with every hook of the state, as a class to wrap it in."""

    def passed_on(hook: str) -> Any:
        return lambda self, *arguments: getattr(self.inner, hook)(*arguments)

    hooks: dict[str, Any] = {hook: passed_on(hook) for hook in HOOKS if hasattr(state, hook)}
    if hasattr(state, "endings"):

        def endings(self: Wrapped, meter: Meter) -> Endings | None:
            found = self.inner.endings(meter)
            if found is None:
                return None
            # A class of its own, because whether they hurry is a fact of a class.
            kind: type[Unwrapping] = type("Unwrapping", (Unwrapping,), {"hurries": found.hurries})
            return kind(found)

        hooks["endings"] = endings
    return type("Full", (Wrapped,), {"__slots__": (), **hooks})


class Unwrapping(Endings):
    """The game's endings, for wrapped states."""

    def __init__(self, inner: Endings) -> None:
        self.inner = inner

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        return self.inner.value(state.inner, depth, alpha, beta)

    def source(self, state: Any) -> str:
        return self.inner.source(state.inner)

    def best(self, state: Any) -> Any:
        return self.inner.best(state.inner)


def bits(value: Any) -> Any:
    """Plain data with floats written exactly, bools kept apart from ints."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return [[bits(key), bits(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    return f"{type(value).__name__} {value}" if not isinstance(value, str | None) else value


def moves(state: Any) -> list[Any]:
    """Actions of a seat or outcomes of chance."""
    if state.to_move == CHANCE:
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.actions())


def perft(state: Any, depth: int) -> int:
    """Number of lines of so many plies; a finished game counts as one."""
    choices = moves(state) if depth else []
    if not choices:
        return 1
    return sum(perft(state.after(move), depth - 1) for move in choices)


def facts(state: Any) -> list[Any]:
    """All that a state says of itself."""
    known = [state.to_move, moves(state), state.chance_outcomes()]
    if state.to_move == -2:
        known.append(state.returns())
    hooks = [hook for hook in ("key", "heuristic") if hasattr(state, hook)]
    known.extend(getattr(state, hook)() for hook in hooks)
    if hasattr(state, "order") and state.to_move >= 0:
        known.append(state.order(state.actions()))
    return known


def walks(state: Any, count: int) -> list[Any]:
    """Facts along random games."""
    rng = random.Random(7)
    seen = []
    for _ in range(count):
        here = state
        seen.append(facts(here))
        while choices := moves(here):
            here = here.after(choices[int(rng.random() * len(choices))])
            seen.append(facts(here))
    return seen


def told(result: SearchResult) -> list[Any]:
    """Everything about a result but its time."""
    return [
        result.action,
        result.value,
        result.pv,
        result.depth,
        result.nodes,
        dict(result.values),
        result.vector,
        result.exact,
        dict(result.visits),
        result.simulations,
    ]


def searches(spec: str, only: str | None = None) -> dict[str, Any]:
    """Every search that fits, on the native state and on one in ordinary Python."""
    game = get_game(spec)
    state: Any = game.initial_state()
    if state.to_move == CHANCE:
        state = state.after(moves(state)[0])
        while state.to_move == CHANCE:
            state = state.after(moves(state)[-1])
    wrapped = full(state)
    results = {}
    for name in fitting_algorithms(game) if only is None else (only,):
        search = SEARCHES[name]
        if name == "random_action":
            results[name] = [told(search(game, state, seed=seed)) for seed in range(5)]
            continue
        if name in MONTE_CARLO:
            ordinary = wrapped if name == "puct" else Wrapped
            for options in MONTE_CARLO[name]:
                for limit in (Limit(simulations=100), Limit(nodes=300, depth=3)):
                    label = f"{name} {options} {limit}"
                    if name in ("ismcts", "pimc"):
                        seen = game.observe(state, state.to_move)
                        results[label] = told(search(game, seen, limit, seed=2, **options))
                        continue
                    if name == "puct" and not hasattr(state, "heuristic"):
                        continue
                    results[label] = told(search(game, state, limit, seed=2, **options))
                    results[f"{label} wrapped"] = told(
                        search(game, ordinary(state), limit, seed=2, **options)
                    )
            continue
        for seed in (0, 3):
            for limit in (Limit(depth=4 if only is None else 3), Limit(nodes=1000)):
                label = f"{name} seed {seed} depth {limit.depth}"
                native_result = told(search(game, state, limit, seed=seed))
                results[label] = native_result
                assert told(search(game, wrapped(state), limit, seed=seed)) == native_result, label
        for options in VARIATIONS.get(name, []):
            label = f"{name} {sorted(options)} {options.get('pruning')}"
            results[label] = told(search(game, state, Limit(depth=3), seed=5, **options))
            assert (
                told(search(game, wrapped(state), Limit(depth=3), seed=5, **options))
                == (results[label])
            ), label
        if name == "alpha_beta":
            for label, keywords in ALPHA_BETA.items():
                deep = Limit(depth=4 if spec in GAMES else 3)
                native_result = told(search(game, state, deep, **keywords))
                results[f"{name} {label}"] = native_result
                assert told(search(game, wrapped(state), deep, **keywords)) == native_result, label
        plain = told(search(game, Wrapped(state), Limit(depth=4)))
        results[f"{name} without heuristic"] = plain
    return results


def solutions(spec: str) -> dict[str, Any]:
    """Policies and their numbers by every solver that fits."""
    game = get_game(spec)
    results: dict[str, Any] = {}
    for name in fitting_solvers(game):
        solution = SOLVERS[name](game, iterations=200)
        answer = best_response(game, solution.policy, 1)
        results[name] = [
            {key: dict(shares) for key, shares in solution.policy.table.items()},
            solution.nodes,
            solution.nash_conv(),
            [solution.value(seat) for seat in range(game.seats)],
            answer.value,
            {key: dict(shares) for key, shares in answer.policy.table.items()},
        ]
    return results


def solved() -> dict[str, Any]:
    """Tables of all positions, and weights that were learned."""
    results: dict[str, Any] = {}
    for spec in ("hexapawn(size=4)", "tic_tac_toe", 'nim(heaps="3,4,5")'):
        game = get_game(spec)
        table = solve(game)
        results[spec] = [table.hashes.tolist(), table.codes.tolist()]
        results[f"{spec}: line"] = told(retrograde(game, game.initial_state(), table=table))[:5]
    results["checkers"] = solve_checkers(2).codes.tolist()
    results["pig"] = iterate_values(get_game("pig(target=10)")).found.tolist()
    results["pig: starts"] = solve_pig(get_game("pig(target=30)")).starts.tolist()
    for spec, features in FEATURES.items():
        rng = random.Random(3)
        state: Any = get_game(spec).initial_state()
        seen: list[list[float]] = []
        while state.to_move >= 0 and len(seen) < 40:
            seen.append(list(features.values(state, 0)))
            state = state.after(rng.choice(state.actions()))
        results[f"{spec}: features"] = seen
    for spec in ("tic_tac_toe", "breakthrough(size=5)"):
        results[f"{spec}: tuned"] = td_lambda(LinearEvaluation(get_game(spec)), 5, seed=1).weights
    return results


def holdem_walks() -> list[Any]:
    """Regrets and totals of a few deals of limit hold'em, with buckets by the number of a pair."""
    root = betting_tree((169, 2, 3, 4))
    kernel = BettingKernel(root)
    first, second = [one for one, _ in PAIRS], [other for _, other in PAIRS]
    rows = [[preflop_class(*pair) for pair in PAIRS]]
    rows += [[number % parts for number in range(len(PAIRS))] for parts in (2, 3, 4)]
    for seed, board in enumerate(((0, 5, 10, 15, 20), (3, 17, 31, 44, 51))):
        kernel.run(first, second, showdown_order(board), rows, 30, seed)
    fade(root, 0.5)
    return [[node.regrets, node.totals] for node in decisions(root)]


def rules(spec: str) -> dict[str, Any]:
    """Whole plays with every view and notation, facts along random walks, and playouts."""
    game = get_game(spec)
    state: Any = game.initial_state()
    report: dict[str, Any] = {
        "plays": [playthrough(game, seed, views_until=8).splitlines() for seed in range(PLAYS)],
        "walks": walks(state, WALKS.get(spec, 8)),
    }
    if spec in GAMES:
        report["perft"] = [perft(state, plies) for plies in range(GAMES[spec] + 1)]
    if hasattr(state, "playout"):
        rng = random.Random(11)
        report["playouts"] = [state.playout(rng) for _ in range(PLAYOUTS.get(spec, 50))]
        report["after the playouts"] = rng.random()
    samples = random.Random(5)
    for seat in range(game.seats):
        sampled = game.sample_state(game.observe(state, seat), samples)
        report[f"sampled for seat {seat}"] = game.describe(sampled).splitlines()
    return report


PARTS: dict[str, dict[str, Callable[[], Any]]] = {
    "rules": {spec: partial(rules, spec) for spec in sorted({*RULES, *GAMES})},
    "searches": {
        **{spec: partial(searches, spec) for spec in GAMES},
        **{spec: partial(searches, spec, only="alpha_beta") for spec in NOISY},
    },
    "solutions": {
        **{spec: partial(solutions, spec) for spec in GAMES},
        "leduc_poker": lambda: cfr_plus(get_game("leduc_poker"), iterations=10).nash_conv(),
        "tables": solved,
        "texas_holdem": holdem_walks,
    },
}


def main() -> None:
    """Print which variant ran, and on the next line the results of a part as JSON."""
    report = {name: bits(work()) for name, work in PARTS[sys.argv[1]].items()}
    sys.stdout.write("compiled\n" if native.COMPILED else "pure\n")
    sys.stdout.write(json.dumps(report))  # `json.dump` encodes in Python, several times slower


if __name__ == "__main__":
    main()
