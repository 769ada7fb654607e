"""Compute the book of early positions that connect four ships.

    python benchmarks/connect_four_book.py --values values.txt --book book.bin
    python benchmarks/connect_four_book.py --values values.txt --check 200

The work is done by connect_four_book.c, which is compiled here.  It writes each value to the file
of values as soon as it is known.  After an interruption the same command goes on from there.
`--check` solves that many random positions of the file by the solver of the game, without the book.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from plyhouse.games.deterministic.connect_four.book import ENTRY
from plyhouse.games.deterministic.connect_four.endgames import ConnectFourEndings
from plyhouse.games.deterministic.connect_four.rules import ConnectFourState
from plyhouse.games.endgames import Meter

SOURCE = Path(__file__).with_suffix(".c")
COLUMNS, ROWS = 7, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--values", metavar="FILE", required=True, help="text: a key and its value")
    parser.add_argument("--plies", type=int, default=12, help="most discs of a seat's own book")
    parser.add_argument("--all", type=int, default=2, help="most discs of any other position")
    parser.add_argument("--bits", type=int, default=28, help="of the table: 28 take 2 GB")
    parser.add_argument("--pack", metavar="FILE", help="only write the book of known values")
    parser.add_argument("--book", metavar="FILE", help="compute, then write the book")
    parser.add_argument("--check", type=int, default=0, help="positions to solve once more")
    parser.add_argument("--fewest", type=int, default=7, help="discs of these positions at least")
    options = parser.parse_args()
    values = Path(options.values)
    if options.book:
        compute(options)
    for target in (options.book, options.pack):
        if target:
            Path(target).write_bytes(packed(read(values)))
    if options.check:
        check(read(values), options.check, options.fewest)


def compute(options: argparse.Namespace) -> None:
    """Run the C program until it has all values."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("Install a C compiler: on Debian and Ubuntu, apt install gcc.")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "connect_four_book")
        subprocess.run([compiler, "-O3", "-march=native", "-o", program, SOURCE], check=True)
        numbers = [str(number) for number in (options.plies, options.all)]
        subprocess.run([program, *numbers, options.values, str(options.bits)], check=True)


def read(values: Path) -> dict[int, int]:
    """Return the values by key."""
    lines = [line.split() for line in values.read_text(encoding="utf-8").splitlines()]
    return {int(line[0]): int(line[1]) for line in lines if len(line) == 2}


def packed(values: dict[int, int]) -> bytes:
    """Return the bytes of the book, see `plyhouse.games.deterministic.connect_four.book`."""
    entries = sorted(key << 2 | value + 1 for key, value in values.items())
    return b"".join(entry.to_bytes(ENTRY, "big") for entry in entries)


def position(key: int) -> ConnectFourState:
    """Return the position of a key: in each column its highest bit marks the first empty cell."""
    mine = taken = 0
    for column in range(COLUMNS):
        bits = key >> column * (ROWS + 1) & (2 << ROWS) - 1
        height = bits.bit_length() - 1
        taken |= (1 << height) - 1 << column * (ROWS + 1)
        mine |= (bits ^ 1 << height) << column * (ROWS + 1)
    return ConnectFourState(taken.bit_count() % 2, mine, taken)


def check(values: dict[int, int], count: int, fewest: int) -> None:
    """Solve positions with at least so many discs; processor seconds."""
    states = {key: position(key) for key in values}
    some = [key for key in sorted(values) if int(states[key].taken).bit_count() >= fewest]
    spent = []
    for key in random.Random(1).sample(some, min(count, len(some))):
        endings = ConnectFourEndings(Meter(), COLUMNS, ROWS)
        endings.booked = False
        began = time.process_time()
        value = endings.value(states[key], 99, -1.0, 1.0)
        spent.append(time.process_time() - began)
        if value != values[key]:
            raise SystemExit(f"key {key}: {value}, in the file {values[key]}")
    print(f"{len(spent)} of {len(some)} positions with {fewest} or more discs agree;")
    print(f"{sum(spent):.1f} s, median {sorted(spent)[len(spent) // 2]:.2f}, most {max(spent):.1f}")


if __name__ == "__main__":
    main()
