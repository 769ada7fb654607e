"""The cost of a match without its plies: pairing, storing, starting and ending it.

    python benchmarks/matches.py [--seconds 1.0]

Part one stores whole rated matches of two seats without a ply: pairing and match, start, end,
each a submission of its own that waits for the one before, as the server does it, with so many
matches at a time.  ``us/match`` is processor time (user and system, all threads).  Part two makes
pairings of seeks: when everybody has room at once, and when all but the last two are playing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from plyhouse.server.lobby.matchmaking import Matchmaker, Seek
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import (
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
from plyhouse.storage.writer import Writer

AT_ONCE = (1, 5, 25)
SEEKERS = 200
BOTS = 20


class Playing:
    """Plays one match after the other until the time is over."""

    def __init__(self, writer: Writer, seats: Sequence[SeatRow], end: float) -> None:
        self.writer = writer
        self.seats = tuple(seats)
        self.end = end
        self.matches = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.steps: list[list[Op]] = []

    def begin(self) -> None:
        """Make the operations of the next match."""
        pairing, match = new_id(), new_id()
        row = PairingRow(pairing, "pig", "move:1", True, bytes(32), "0" * 64, 1, 0)
        header = MatchRow(
            *(match, pairing, "pig", "move:1", True, "forfeit", "0", "0" * 64, bytes(32)),
            *(self.seats, 0),
        )
        returns = (1.0, -1.0)
        end = FinishMatch(match, "normal", returns, 40, 2, scores=match_scores(returns))
        self.steps = [
            [end, FinishPairing(pairing, 2)],
            [StartMatch(match, ("00", "11"), 1)],
            [NewPairing(row), NewMatch(header)],
        ]
        self.next(None)

    def next(self, error: StorageError | None) -> None:
        """Submit the next step, or begin the next match."""
        if error is not None:
            self.over.set_exception(error)
        elif self.steps:
            self.writer.submit_then(self.steps.pop(), self.next)
        else:
            self.matches += 1
            if time.perf_counter() < self.end:
                self.begin()
            else:
                self.over.set_result(None)


async def store(url: str, at_once: int, seconds: float) -> tuple[float, float]:
    """Matches per second, and processor time per match in microseconds."""
    async with await Store.open(url) as opened:
        bots = []
        for number in range(BOTS):
            player = await opened.add_player(f"player{number}")
            bot = await opened.ensure_bot(player.id, "")
            version = await opened.ensure_version(bot.id, "1")
            bots.append((player.name, bot.name, "1", player.id, bot.id, version))
        writer = Writer(opened)
        wall, process = time.perf_counter(), time.process_time()
        playing = [
            Playing(
                writer,
                [SeatRow(0, *bots[n % BOTS]), SeatRow(1, *bots[(n * 7 + 3) % BOTS])],
                wall + seconds,
            )
            for n in range(at_once)
        ]
        for each in playing:
            each.begin()
        await asyncio.gather(*(each.over for each in playing))
        wall, process = time.perf_counter() - wall, time.process_time() - process
        await writer.close()
    matches = sum(each.matches for each in playing)
    return matches / wall, process / matches * 1e6


def pair(pools: int, *, busy: bool, seconds: float) -> float:
    """Microseconds per pairing."""
    matchmaker = Matchmaker()
    names = [f"player{number}/bot" for number in range(SEEKERS)]
    for number, name in enumerate(names):
        player, _, bot = name.partition("/")
        game = f"pig(target={number % pools + 10})"
        matchmaker.add(Seek(name, player, bot, game, "move:1", rated=True, count=0))
    free = dict.fromkeys(names, 1)
    matchmaker.pair(free.__getitem__)
    proposals = 0
    spent = 0.0
    turn = 0
    while spent < seconds:
        free = dict.fromkeys(names, 0 if busy else 1)
        freed = names
        if busy:
            freed = [names[(turn + step * pools) % SEEKERS] for step in (0, 1)]
            free.update(dict.fromkeys(freed, 1))
            turn += 1
        begun = time.process_time()
        proposals += len(matchmaker.pair(free.__getitem__, freed))
        spent += time.process_time() - begun
    return spent / proposals * 1e6


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="per figure")
    options = parser.parse_args()
    print(f"{'stored':<22}{'at once':>8}{'matches/s':>11}{'us/match':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for sync in ("normal", "full"):
            for at_once in AT_ONCE:
                url = f"sqlite:///{Path(folder)}/{sync}-{at_once}.db?synchronous={sync}"
                rate, cost = uvloop.run(store(url, at_once, options.seconds))
                print(f"SQLite {sync:<15}{at_once:>8}{rate:>11,.0f}{cost:>10.0f}", flush=True)
    print(f"\n{'paired':<22}{'pools':>8}{'us/pairing':>21}")
    for busy in (False, True):
        for pools in (1, 20):
            cost = pair(pools, busy=busy, seconds=options.seconds)
            print(f"{'all but two play' if busy else 'all have room':<22}{pools:>8}{cost:>21.1f}")


if __name__ == "__main__":
    main()
