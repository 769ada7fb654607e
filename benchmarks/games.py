"""Random playouts and perft nodes per second of every game, pure and compiled, beside others.

The rivals run on the same machine in the same run, where they are installed
(``pip install 'plyhouse[bench]'``):

- OpenSpiel, where it has the game, twice: driven ply by ply through its Python interface, and by
  its own C++ rollouts (``RandomRolloutEvaluator`` within ``MCTSBot.mcts_search``, two simulations
  of many rollouts each, from the first decision on).
- python-chess, for the perft of chess.

Our playouts are the states' ``playout``, or, where a game has none, a loop over its interface;
"by loop" is always that loop.  A playout of pig holds at 20 instead of at random, and one of go
fills no own eyes; all others choose uniformly.  Rules that differ are named in the last column.

    python benchmarks/games.py
    python benchmarks/games.py --games chess othello --seconds 2
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

CHANCE, TERMINAL = -1, -2

RIVALS: dict[str, tuple[str, str]] = {
    "backgammon": ("backgammon", "plays the dice one by one"),
    "battleship": ("battleship", "50 shots each, repeated shots allowed"),
    "breakthrough": ("breakthrough", ""),
    "checkers": ("checkers", "jumps one by one"),
    "chess": ("chess", ""),
    "connect_four": ("connect_four", ""),
    "einstein": ("einstein_wurfelt_nicht", ""),
    "go": ("go(board_size=19)", "fills eyes, at most 722 plies"),
    "kalah": ("mancala", ""),
    "kuhn_poker": ("kuhn_poker", ""),
    "leduc_poker": ("leduc_poker", ""),
    "liars_dice": ("liars_dice", ""),
    "nim": ("nim(pile_sizes=3;4;5,is_misere=false)", ""),
    "othello": ("othello", ""),
    "pig": ("pig", "rolls or holds at random, at most 1000 plies"),
    "tic_tac_toe": ("tic_tac_toe", ""),
}
"""OpenSpiel's name of a game, and how its rules or choices differ."""

OURS = {"go": "go(size=19)"}
"""The game as it is compared, where it is not the default."""


def rate(run: Callable[[], int], seconds: float) -> float:
    """Things per second of this process's own time: ``run`` does some and says how many.

    So other load on the machine disturbs less; nothing here waits.
    """
    run()
    done, begun = 0, time.process_time()
    while (taken := time.process_time() - begun) < seconds:
        done += run()
    return done / taken


def play(state: Any, rng: random.Random) -> int:
    """Play at random through the public interface; the number of actions."""
    plies = 0
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            draw = rng.random()
            outcome = None
            for outcome, chance in state.chance_outcomes():  # noqa: B007
                draw -= chance
                if draw < 0:
                    break
            state = state.after(outcome)
        else:
            actions = state.actions()
            state = state.after(actions[int(rng.random() * len(actions))])
        plies += 1
    return plies


def measure(names: list[str], seconds: float) -> dict[str, dict[str, float]]:
    """Measure one of our variants, in this process."""
    from plyhouse.games import get_game
    from plyhouse.games.counting import perft

    found: dict[str, dict[str, float]] = {}
    for name in names:
        game = get_game(OURS.get(name, name))
        start: Any = game.initial_state()
        rng = random.Random(1)
        lengths = [play(start, rng) for _ in range(20)]

        def looped(start: Any = start, rng: random.Random = rng) -> int:
            play(start, rng)
            return 1

        def hooked(start: Any = start, rng: random.Random = rng) -> int:
            while start.to_move == CHANCE:  # from the first decision on, as OpenSpiel
                outcomes = start.chance_outcomes()
                start = start.after(outcomes[int(rng.random() * len(outcomes))][0])
            playout = start.playout
            for _ in range(100):
                playout(rng)
            return 100

        depth = 1
        begun = time.perf_counter()
        while depth < 9 and time.perf_counter() - begun < seconds / 10:
            begun = time.perf_counter()
            if perft(start, depth + 1) == 0:
                break  # every play is over by then
            depth += 1

        def counted(start: Any = start, depth: int = depth) -> int:
            return perft(start, depth)

        loop = rate(looped, seconds)
        found[name] = {
            "plies": sum(lengths) / len(lengths),
            "loop": loop,
            "playouts": rate(hooked, seconds) if hasattr(start, "playout") else loop,
            "hook": hasattr(start, "playout"),
            "perft": rate(counted, seconds) if perft(start, depth) else 0.0,
            "depth": depth,
        }
    return found


def open_spiel(names: list[str], seconds: float) -> dict[str, dict[str, float]]:
    """Playouts per second of OpenSpiel, from the same kind of start."""
    import pyspiel

    found: dict[str, dict[str, float]] = {}
    for name in names:
        game = pyspiel.load_game(RIVALS[name][0])
        rng = random.Random(1)

        def chance(state: Any, rng: random.Random = rng) -> None:
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, chances)[0])

        def loop(game: Any = game, rng: random.Random = rng) -> int:
            state = game.new_initial_state()
            plies = 0
            while not state.is_terminal():
                if state.is_chance_node():
                    chance(state)
                else:
                    actions = state.legal_actions()
                    state.apply_action(actions[int(rng.random() * len(actions))])
                plies += 1
            return plies

        lengths = [loop() for _ in range(20)]
        python = rate(lambda: int(loop() >= 0), seconds)
        rollouts = max(1, int(python * seconds / 4))
        bot = pyspiel.MCTSBot(
            game, pyspiel.RandomRolloutEvaluator(rollouts, 1), 2.0, 2, 100, False, 1, False
        )

        def native(game: Any = game, bot: Any = bot, rollouts: int = rollouts) -> int:
            state = game.new_initial_state()
            while state.is_chance_node():
                chance(state)
            bot.mcts_search(state)
            return 2 * rollouts

        found[name] = {
            "plies": sum(lengths) / len(lengths),
            "python": python,
            "native": rate(native, seconds),
        }
    return found


def chess_rivals(seconds: float) -> float:
    """Perft nodes per second of python-chess, in bulk at the last ply as ours."""
    import chess  # type: ignore[import-not-found, unused-ignore]

    def perft(board: Any, depth: int) -> int:
        if depth == 1:
            return int(board.legal_moves.count())
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += perft(board, depth - 1)
            board.pop()
        return total

    return rate(lambda: perft(chess.Board(), 3), seconds)


def elsewhere(part: str, names: list[str], seconds: float, **environ: str) -> Any:
    """Run a part of this script in a separate process."""
    command = [sys.executable, __file__, "--part", part, "--seconds", str(seconds), "--games"]
    done = subprocess.run(
        [*command, *names],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def main() -> None:
    from plyhouse.games import game_names
    from plyhouse.games.native import COMPILED

    parser = argparse.ArgumentParser(description="Playouts and perft of every game.")
    parser.add_argument("--games", nargs="*", default=list(game_names()))
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    parser.add_argument("--part", choices=("ours", "open_spiel", "chess"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    names, seconds = options.games, options.seconds
    if options.part == "ours":
        print(json.dumps(measure(names, seconds)))
        return
    if options.part == "open_spiel":
        print(json.dumps(open_spiel(names, seconds)))
        return
    if options.part == "chess":
        print(json.dumps(chess_rivals(seconds)))
        return
    rival = importlib.util.find_spec("pyspiel") is not None
    columns = ("playouts/s", "by loop", "pure", "OpenSpiel C++", "ratio", "by Python", "plies")
    print(f"{'game':20}" + "".join(f"{column:>14}" for column in columns) + "  their plies, rules")
    perfts: list[str] = []
    for name in names:
        # One after the other, so that what is compared ran at the same time of the day.
        fast = elsewhere("ours", [name], seconds)[name] if COMPILED else None
        pure = elsewhere("ours", [name], seconds, PLYHOUSE_PURE="1")[name]
        best = fast or pure
        other = elsewhere("open_spiel", [name], seconds) if rival and name in RIVALS else None
        cells = [
            number(best["playouts"]) + ("" if best["hook"] else "*"),
            number(best["loop"]),
            number(pure["playouts"]),
        ]
        note = ""
        if other is not None:
            spiel = other[name]
            cells += [number(spiel["native"]), f"{best['playouts'] / spiel['native']:.1f}x"]
            cells.append(number(spiel["python"]))
            note = f"  {spiel['plies']:.0f} plies; {RIVALS[name][1]}".rstrip("; ")
        else:
            cells += ["", "", ""]
        cells.append(number(best["plies"]))
        print(f"{name:20}" + "".join(f"{cell:>14}" for cell in cells) + note, flush=True)
        ratio = best["perft"] / pure["perft"] if pure["perft"] else 0.0
        line = f"{name:20}{number(best['perft']):>14}{number(pure['perft']):>14}{ratio:>9.1f}x"
        line += f"{best['depth']:>7}"
        if name == "chess" and importlib.util.find_spec("chess") is not None:
            nodes = elsewhere("chess", [name], seconds)
            line += f"  python-chess {number(nodes)}, ratio {best['perft'] / nodes:.1f}x"
        perfts.append(line)
    print("\n* no playout of its own: the loop")
    print(f"\n{'perft':20}{'nodes/s':>14}{'pure':>14}{'ratio':>10}{'depth':>7}")
    print("\n".join(perfts))
    if not COMPILED:
        print("\nThis installation is pure Python; see `plyhouse doctor`.")


if __name__ == "__main__":
    main()
