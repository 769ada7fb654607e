"""OpenSpiel's and easyAI's part of benchmarks/search.py: the same work with their own means.

Each function takes the seconds for a figure and returns it; it runs in a separate process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

RUNS = 5
DEPTH = 10
TARGET = 0.01


def rate(run: Callable[[], float], seconds: float) -> float:
    """Things per second of this process's own time: the median of a few short runs.

    ``run`` does some and says how many.
    """
    run()
    found = []
    for _ in range(RUNS):
        done, begun = 0.0, time.process_time()
        while True:
            done += run()
            if (taken := time.process_time() - begun) >= seconds / RUNS:
                break
        found.append(done / taken)
    return statistics.median(found)


def lasting(run: Callable[[], object], seconds: float) -> float:
    """Seconds that one run takes, as a median."""

    def once() -> float:
        run()
        return 1.0

    return 1.0 / rate(once, seconds)


@contextmanager
def counted_calls(module: Any, name: str) -> Iterator[list[int]]:
    """Count the calls of a module's function that calls itself: the nodes of a search."""
    inner = getattr(module, name)
    calls = [0]

    def counting(*args: Any, **named: Any) -> Any:
        calls[0] += 1
        return inner(*args, **named)

    setattr(module, name, counting)
    try:
        yield calls
    finally:
        setattr(module, name, inner)


# OpenSpiel


def spiel_start(name: str) -> tuple[Any, Any]:
    """A game, and its first state in which a player is to move."""
    import pyspiel  # type: ignore[import-not-found, import-untyped, unused-ignore]

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return game, state


def spiel_alpha_beta(seconds: float) -> float:
    from open_spiel.python.algorithms import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
        minimax,
    )

    game, _ = spiel_start("connect_four")

    def search() -> None:
        minimax.alpha_beta_search(game, value_function=lambda _: 0.0, maximum_depth=DEPTH)

    with counted_calls(minimax, "_alpha_beta") as calls:
        search()
    return calls[0] / lasting(search, seconds)


def spiel_to_depth(seconds: float) -> float:
    from open_spiel.python.algorithms import minimax

    game, _ = spiel_start("connect_four")
    return lasting(
        lambda: minimax.alpha_beta_search(game, value_function=lambda _: 0.0, maximum_depth=DEPTH),
        seconds,
    )


def spiel_solve(seconds: float) -> float:
    from open_spiel.python.algorithms import minimax

    game, _ = spiel_start("tic_tac_toe")
    return lasting(lambda: minimax.alpha_beta_search(game), seconds)


def spiel_expectiminimax(seconds: float) -> float:
    from open_spiel.python.algorithms import minimax

    _, state = spiel_start("pig")

    def search() -> None:
        minimax.expectiminimax(state, 6, lambda _: 0.0, 0)

    with counted_calls(minimax, "expectiminimax") as calls:
        search()
    return calls[0] / lasting(search, seconds)


def spiel_mcts(name: str, simulations: int) -> Callable[[float], float]:
    def measured(seconds: float) -> float:
        import pyspiel

        game, state = spiel_start(name)
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, False, 1, False)

        def search() -> float:
            bot.mcts_search(state)
            return simulations

        return rate(search, seconds)

    return measured


def spiel_cfr_plus(name: str) -> Callable[[float], float]:
    def measured(seconds: float) -> float:
        import pyspiel

        solver = pyspiel.CFRPlusSolver(pyspiel.load_game(name))

        def iterate() -> float:
            solver.evaluate_and_update_policy()
            return 1.0

        return rate(iterate, seconds)

    return measured


def spiel_cfr_plus_python(name: str) -> Callable[[float], float]:
    def measured(seconds: float) -> float:
        from open_spiel.python.algorithms import cfr

        game, _ = spiel_start(name)
        solver = cfr.CFRPlusSolver(game)

        def iterate() -> float:
            solver.evaluate_and_update_policy()
            return 1.0

        return rate(iterate, seconds)

    return measured


def spiel_exploitable(name: str) -> Callable[[float], float]:
    def measured(seconds: float) -> float:
        """Seconds of CFR+ until the average policy is good enough, the checks not counted."""
        import pyspiel

        game = pyspiel.load_game(name)
        begun = time.process_time()
        solver = pyspiel.CFRPlusSolver(game)
        spent = time.process_time() - begun
        while True:
            begun = time.process_time()
            for _ in range(10):
                solver.evaluate_and_update_policy()
            spent += time.process_time() - begun
            if pyspiel.exploitability(game, solver.average_policy()) <= TARGET:
                return spent

    return measured


def spiel_mccfr(name: str) -> Callable[[float], float]:
    def measured(seconds: float) -> float:
        import pyspiel

        solver = pyspiel.ExternalSamplingMCCFRSolver(pyspiel.load_game(name), 1)

        def iterate() -> float:
            for _ in range(10):
                solver.run_iteration()
            return 10.0

        return rate(iterate, seconds)

    return measured


# easyAI


def easy_connect_four() -> Any:
    """Connect four for easyAI, on sets of cells, with ``unmake_move``, its fast way."""
    from easyAI import TwoPlayerGame  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from plain_connect_four import BOTTOMS, COLUMNS, FULL, TOPS, wins

    class Game(TwoPlayerGame):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.players = [None, None]
            self.current_player = 1
            self.discs = [0, 0]
            self.lost = False
            self.made = 0

        def possible_moves(self) -> list[int]:
            taken = self.discs[0] | self.discs[1]
            return [column for column in range(COLUMNS) if not taken & TOPS[column]]

        def make_move(self, column: int) -> None:
            taken = self.discs[0] | self.discs[1]
            mover = self.current_player - 1
            self.discs[mover] |= (taken + BOTTOMS[column]) & ~taken
            self.lost = wins(self.discs[mover])
            self.made += 1

        def unmake_move(self, column: int) -> None:
            mover = self.current_player - 1
            height = TOPS[column] * 2 - BOTTOMS[column]
            cells = (self.discs[0] | self.discs[1]) & height
            self.discs[mover] ^= (cells + BOTTOMS[column]) >> 1
            self.lost = False

        def is_over(self) -> bool:
            return self.lost or (self.discs[0] | self.discs[1]) == FULL

        def scoring(self) -> float:
            return -100.0 if self.lost else 0.0

    return Game()


def easy_tic_tac_toe() -> Any:
    """Tic-tac-toe for easyAI, as its own example has it, but with ``unmake_move``."""
    from easyAI import TwoPlayerGame

    lines = ((1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7))

    class Game(TwoPlayerGame):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.players = [None, None]
            self.current_player = 1
            self.board = [0] * 10

        def possible_moves(self) -> list[int]:
            return [cell for cell in range(1, 10) if self.board[cell] == 0]

        def make_move(self, cell: int) -> None:
            self.board[cell] = self.current_player

        def unmake_move(self, cell: int) -> None:
            self.board[cell] = 0

        def lose(self) -> bool:
            other = self.opponent_index
            return any(all(self.board[cell] == other for cell in line) for line in lines)

        def is_over(self) -> bool:
            return 0 not in self.board[1:] or self.lose()

        def scoring(self) -> float:
            return -100.0 if self.lose() else 0.0

    return Game()


def easy_alpha_beta(seconds: float) -> float:
    from easyAI import Negamax

    game = easy_connect_four()
    search = Negamax(DEPTH)
    search(game)
    nodes = int(game.made) + 1
    return nodes / lasting(lambda: search(game), seconds)


def easy_to_depth(seconds: float) -> float:
    from easyAI import Negamax

    game, search = easy_connect_four(), Negamax(DEPTH)
    return lasting(lambda: search(game), seconds)


def easy_solve(seconds: float) -> float:
    from easyAI import Negamax

    game, search = easy_tic_tac_toe(), Negamax(9)
    return lasting(lambda: search(game), seconds)
