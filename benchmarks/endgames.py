"""How long solving takes: all positions of small games, and endings of othello and connect four.

    python benchmarks/endgames.py --pieces 4
    python benchmarks/endgames.py --pieces 4 --save checkers4.table
    python benchmarks/endgames.py --only tables --pieces 4 --pack endgames.bin
    python benchmarks/endgames.py --only othello --problems 40 41
    python benchmarks/endgames.py --only connect_four --positions 200
    python benchmarks/endgames.py --only connect_four --positions 20 --plies 8 8
    python benchmarks/endgames.py --only connect_four --positions 1 --plies 0 0 --no-book

The endings of othello are the problems 40 to 44 of the French federation (FFO), beside the nodes
that Egaroucid publishes for one thread, and beside a plain C program without a table
(plain_othello.c, compiled here if there is a compiler; it may take minutes each, see --patience).
Those of connect four are random positions, by default of 16 to 24 plies, in which nobody can win at
once.

Chess here is without the draws by counting.  Published: king and rook win in 16 moves at most
(31 plies, 32 with the weaker side to move), king and queen in 10 (19 and 20); the numbers of
placements of checkers are Schaeffer's.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from plyhouse.games.deterministic.chess.rules import ChessState
from plyhouse.games.deterministic.connect_four.book import book_values
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta, build_info, solve, solve_checkers

SMALL = ("tic_tac_toe", "hexapawn(size=4)", "connect_four(columns=4,rows=4)")
CHESS = {
    "king and rook": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
    "king and queen": "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1",
}

PLAIN = Path(__file__).with_name("plain_othello.c")
FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O", -12),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O", -14),
}
"""Positions and published scores."""
EGAROUCID = {40: 10.4, 41: 11.1, 42: 14.4, 43: 39.6, 44: 6.8}
"""Millions of nodes that Egaroucid (T. Yamana) publishes for one thread."""


def timed(name: str, make: Any, longest: Any) -> Any:
    """Run, print a line and return what was made."""
    began = time.perf_counter()
    table = make()
    seconds = time.perf_counter() - began
    print(f"{name:<32}{len(table):>12,}{longest(table):>9}{seconds:>9.2f} s")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = {"tables": tables, "othello": othello, "connect_four": connect_four}
    parser.add_argument("--only", choices=parts, help="one part of three")
    parser.add_argument("--pieces", type=int, default=3, choices=(2, 3, 4), help="of checkers")
    parser.add_argument("--save", metavar="FILE", help="keep the table of checkers")
    parser.add_argument("--pack", metavar="FILE", help="write the table that checkers ships")
    parser.add_argument("--chess", action="store_true", help="also three pieces of chess (slow)")
    parser.add_argument("--problems", type=int, nargs="+", choices=FFO, default=list(FFO))
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for plain C, each")
    parser.add_argument("--positions", type=int, default=200, help="of connect four")
    parser.add_argument(
        "--plies", type=int, nargs=2, default=(16, 24), help="fewest and most plies of connect four"
    )
    parser.add_argument("--no-book", action="store_true", help="solve connect four without it")
    options = parser.parse_args()
    print(build_info())
    for name, part in parts.items():
        if options.only in (None, name):
            print()
            part(options)


def tables(options: argparse.Namespace) -> None:
    """Solve whole games."""
    print(f"{'game':<32}{'positions':>12}{'longest':>9}{'time':>11}")
    for spec in SMALL:
        timed(spec, lambda spec=spec: solve(get_game(spec)), farthest)
    for pieces in range(2, options.pieces + 1):
        table = timed(
            f"checkers, up to {pieces} pieces",
            lambda pieces=pieces: solve_checkers(pieces),
            lambda table: max(table.longest().values()),
        )
    if options.save:
        table.save(options.save)
    if options.pack:
        Path(options.pack).write_bytes(table.pack())
    for name, fen in CHESS.items() if options.chess else ():
        game = get_game(f'chess(fen="{fen}")')
        timed(
            f"chess, {name} against king",
            lambda game=game: solve(game, key=lambda state: state.position, fresh=without_past),
            farthest,
        )


def othello(options: argparse.Namespace) -> None:
    """Solve the problems of the French federation; processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        columns = f"{'FFO':<6}{'score':>6}{'nodes':>16}{'time':>10}{'Egaroucid':>14}{'nodes':>9}"
        print(f"{columns}{'plain C':>18}{'time':>10}{'nodes':>9}")
        for number in options.problems:
            position, published = FFO[number]
            game = get_game(f'othello(score=true,position="{position}")')
            began = time.process_time()
            result = alpha_beta(game, game.initial_state(), deepen=True)
            seconds = time.process_time() - began
            if not result.exact or result.value != published:
                raise SystemExit(f"FFO {number}: {result.value:g}, published {published}")
            line = f"{number:<6}{published:>+6}{result.nodes:>16,}{seconds:>8.1f} s"
            other = round(1e6 * EGAROUCID[number])
            line += f"{other:>14,}{result.nodes / other:>8.2f}x"
            if program is not None:
                line += beside(program, position, published, options.patience, result.nodes)
            print(line, flush=True)


def compiled(folder: Path) -> Path | None:
    """The plain program, or None where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        print("no C compiler: nothing to compare with")
        return None
    program = folder / "plain_othello"
    subprocess.run([compiler, "-O3", "-o", program, PLAIN], check=True)
    return program


def beside(program: Path, position: str, published: int, patience: float, nodes: int) -> str:
    """Return the plain program's cost for the same, and our nodes as a multiple of its nodes."""
    before = os.times().children_user
    try:
        done = subprocess.run(
            [program, *position.split()],
            capture_output=True,
            check=True,
            text=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        return f"{'not solved in':>18}{patience:>8.0f} s"
    score, plain = map(int, done.stdout.split())
    if score != published:
        raise SystemExit(f"plain C: {score}, published {published}")
    seconds = os.times().children_user - before
    return f"{plain:>18,}{seconds:>8.1f} s{nodes / plain:>8.2f}x"


def connect_four(options: argparse.Namespace) -> None:
    """Solve random positions; processor seconds of each."""
    game = get_game("connect_four")
    if options.no_book:
        book_values().clear()
    rng = random.Random(1)
    spent: list[float] = []
    nodes: list[int] = []
    while len(spent) < options.positions:
        state: Any = game.initial_state()
        for _ in range(rng.randint(*options.plies)):
            state = state.after(rng.choice(state.actions()))
            if any(state.after(action).to_move < 0 for action in state.actions()):
                break
        else:
            began = time.process_time()
            result = alpha_beta(game, state, Limit(time=60.0))
            spent.append(time.process_time() - began)
            nodes.append(result.nodes)
            if not result.exact:
                raise SystemExit(f"not solved in a minute:\n{game.describe(state)}")
    print(f"connect_four, {len(spent)} positions: {sum(spent):.2f} s, at most {max(spent):.3f} s,")
    print(f"{sum(nodes):,} nodes, {max(nodes):,} at most; {sum(s < 1.0 for s in spent)} below 1 s")


def farthest(table: Any) -> int:
    """Plies of the longest win."""
    return int(abs(table.codes).max()) - 1


def without_past(state: Any) -> Any:
    """The position of chess as if it were the first."""
    return ChessState(state.position)


if __name__ == "__main__":
    main()
