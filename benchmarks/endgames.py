"""How long solving all positions takes: positions, longest win, seconds, and published numbers.

    python benchmarks/endgames.py --pieces 4
    python benchmarks/endgames.py --pieces 4 --save checkers4.table

Chess here is without the draws by counting.  Published: king and rook win in 16 moves at most
(31 plies, 32 with the weaker side to move), king and queen in 10 (19 and 20); the numbers of
placements of checkers are Schaeffer's.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from plyhouse.games.deterministic.chess.rules import ChessState
from plyhouse.games.registry import get_game
from plyhouse.search import build_info, solve, solve_checkers
from plyhouse.search.tables.checkers_endgames import count_placements

SMALL = ("tic_tac_toe", "hexapawn(size=4)", "connect_four(columns=4,rows=4)")
CHESS = {
    "king and rook": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
    "king and queen": "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1",
}


def timed(name: str, make: Any, longest: Any, note: str = "") -> Any:
    """Run, print a line and return what was made."""
    began = time.perf_counter()
    table = make()
    seconds = time.perf_counter() - began
    print(f"{name:<32}{len(table):>12,}{longest(table):>9}{seconds:>9.2f} s  {note}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pieces", type=int, default=3, choices=(2, 3, 4), help="of checkers")
    parser.add_argument("--save", metavar="FILE", help="keep the table of checkers")
    parser.add_argument("--chess", action="store_true", help="also three pieces of chess (slow)")
    options = parser.parse_args()
    print(f"{build_info()}\n")
    print(f"{'game':<32}{'positions':>12}{'longest':>9}{'time':>11}")
    for spec in SMALL:
        timed(spec, lambda spec=spec: solve(get_game(spec)), farthest)
    for pieces in range(2, options.pieces + 1):
        note = f"{count_placements(pieces):,} placements"
        table = timed(
            f"checkers, up to {pieces} pieces",
            lambda pieces=pieces: solve_checkers(pieces),
            lambda table: max(table.longest().values()),
            note,
        )
    if options.save:
        table.save(options.save)
    for name, fen in CHESS.items() if options.chess else ():
        game = get_game(f'chess(fen="{fen}")')
        timed(
            f"chess, {name} against king",
            lambda game=game: solve(game, key=lambda state: state.position, fresh=without_past),
            farthest,
        )


def farthest(table: Any) -> int:
    """Plies of the longest win."""
    return int(abs(table.codes).max()) - 1


def without_past(state: Any) -> Any:
    """The position of chess as if it were the first."""
    return ChessState(state.position)


if __name__ == "__main__":
    main()
