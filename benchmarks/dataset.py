"""Rows a second and memory of a data set: ``plyhouse export`` from a server on SQLite.

    python benchmarks/dataset.py [--matches 10000] [--game connect_four] [--folder FOLDER]

Fills a database with finished matches, whose actions are those of a few random ones, then starts
a server on it and exports all of them, as JSON Lines and as Parquet.  Rows are those of plies and
matches.  Peak memory is that of single processes: of the command, of the server, and of the
largest helper process of the server.  The server's before the first export is printed, too.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from plyhouse.games import CHANCE, Game, get_game
from plyhouse.games.position import Position
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    PairingRow,
    SeatRow,
    StartMatch,
    new_id,
)
from plyhouse.storage.store import Store

DIFFERENT = 50
"""Matches that are played at random; the others repeat them."""
AT_ONCE = 500


def events(game: Game, rng: random.Random) -> list[EventRow]:
    """Play a match at random; return its events without the id of the match."""
    position = Position(game)
    found: list[EventRow] = []
    while position.mover >= CHANCE:
        state, seat = position.state, position.mover
        if seat == CHANCE:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            text = game.format_chance(state, rng.choices(outcomes, weights)[0])
        else:
            text = game.format(state, rng.choice(state.actions()))
        kind = "chance" if seat == CHANCE else "action"
        thought = rng.randrange(10**6, 10**9)
        found.append(
            EventRow("", len(found), kind, position.ply, seat, text, thought, 0, 0, thought, 10**10)
        )
        position.apply(seat, text)
    return found


async def fill(url: str, spec: str, count: int) -> int:
    """Store finished matches; return the number of their plies."""
    game, rng = get_game(spec), random.Random(1)
    played = [events(game, rng) for _ in range(min(DIFFERENT, count))]
    plies = 0
    async with await Store.open(url) as store:
        seats = []
        for seat in range(game.seats):
            player = await store.add_player(f"player{seat}")
            bot = await store.ensure_bot(player.id, "bot")
            version = await store.ensure_version(bot.id, "1")
            seats.append(SeatRow(seat, f"player{seat}", "bot", "1", player.id, bot.id, version))
        seed = secrets.token_bytes(32)
        commitment = hashlib.sha256(seed).hexdigest()
        terms = (game.spec, "total:60", False)
        for first in range(0, count, AT_ONCE):
            ops: list[Op] = []
            for number in range(first, min(first + AT_ONCE, count)):
                pairing, match, rows = new_id(), new_id(), played[number % len(played)]
                last = sum(row.kind == "action" for row in rows)
                plies += last
                returns = (0.0,) * game.seats
                ops += [
                    NewPairing(PairingRow(pairing, *terms, seed, commitment, 1, number)),
                    NewMatch(
                        MatchRow(
                            *(match, pairing, *terms, "forfeit", "0", commitment, seed),
                            *(tuple(seats), number),
                        )
                    ),
                    StartMatch(match, ("",) * game.seats, number),
                    *(replace(row, match_id=match) for row in rows),
                    FinishMatch(match, "normal", returns, last, number),
                    FinishPairing(pairing, number),
                ]
            await store.apply(ops)
    return plies


def peaks(server: int) -> list[float]:
    """Return the peak memory of the server and of its largest helper so far, in MB."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    found = [_peak(int(each)) for each in children]
    return [_peak(server), max(found, default=0.0)]


def _peak(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return 0.0 if found is None else int(found[1]) / 1024


def export(url: str, form: str, folder: Path, rows: int, server: int) -> None:
    """Export everything in a format, and print the figures."""
    command = (sys.executable, "-m", "plyhouse", "export", "--server", url)
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--format", form, "--to", str(folder)], stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begun
    if process.returncode:
        sys.exit(f"plyhouse export ended with {process.returncode}")
    size = sum(each.stat().st_size for each in folder.glob(f"*.{form}")) / 1e6
    own, helper = peaks(server)
    print(
        f"{form:<10}{seconds:>9.1f}{rows / seconds:>10,.0f}{size:>10.1f}"
        f"{used.ru_maxrss / 1024:>10.0f}{own:>10.0f}{helper:>10.0f}",
        flush=True,
    )


def main() -> None:
    """Fill a database and export it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--folder", help="where to put the files (default: temporary)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        database = f"sqlite:///{folder / 'matches.db'}"
        plies = asyncio.run(fill(database, options.game, options.matches))
        rows = plies + options.matches
        serve = (sys.executable, "-m", "plyhouse", "serve", "--port", "0")
        server = subprocess.Popen(
            [*serve, "--database", database],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().rpartition(" ")[2].strip()
            print(f"{options.matches:,} matches of {options.game}: {rows:,} rows")
            print(f"peak of the server before: {peaks(server.pid)[0]:.0f} MB\n")
            print(
                f"{'format':<10}{'seconds':>9}{'rows/s':>10}{'MB':>10}"
                f"{'command':>10}{'server':>10}{'helper':>10}"
            )
            for form in ("jsonl", "parquet"):
                export(url, form, folder, rows, server.pid)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
