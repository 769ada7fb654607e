"""How long bots wait when the server of a cluster that has all connections is killed.

Pairs of bots play go on the leader of two servers.  SIGKILL ends it, and the bots connect to the
other server.  The wait of a bot is the time from the kill to its next accepted action, with its
thinking time of up to 0.2 s and that of its opponent.  Needs PostgreSQL and a NATS server.

    python -m benchmarks.takeover --pairs 8 100
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from tests.harness.cluster import Processes, RestlessBot, tokens
from tests.harness.postgres import POSTGRES, schema

from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage.store import Store

LONGEST_S = 60.0


def accepted(bot: RestlessBot) -> int:
    return sum(len(each.actions) for each in bot.played.values())


async def waits(database: str, nats: str, pairs: int) -> list[float]:
    """Return the wait of each bot in seconds; without those that wait for `LONGEST_S`."""
    async with await Store.open(database):
        pass
    limits = ("--max-connections-per-address", str(8 * pairs), "--connections-per-second", "0")
    servers = Processes(database, nats, *limits)
    running: list[asyncio.Task[None]] = []
    try:
        leader, other = await servers.start(), await servers.start()
        servers.alive.remove(other)
        bots = []
        for number, token in enumerate(await tokens(database, 2 * pairs)):
            bot = RestlessBot(servers, token, "bot", number)
            bot.wanted, bot.seek, bot.think = 1_000_000, ("go", "move:60"), 0.2
            bot.invitation = f"{number // 2:016d}"
            bots.append(bot)
            running.append(asyncio.create_task(bot.run()))
        async with asyncio.timeout(LONGEST_S):
            while not all(map(accepted, bots)):  # noqa: ASYNC110 (bots tell nobody)
                await asyncio.sleep(0.1)
        servers.alive.append(other)
        killed = time.monotonic()
        await servers.kill(leader)
        before = [accepted(bot) for bot in bots]
        back: dict[int, float] = {}
        while len(back) < len(bots) and time.monotonic() < killed + LONGEST_S:
            await asyncio.sleep(0.01)
            for number, bot in enumerate(bots):
                if number not in back and accepted(bot) > before[number]:
                    back[number] = time.monotonic() - killed
        return sorted(back.values())
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await servers.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="*", default=[8, 100])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'bots':>6}  {'back':>6}  {'first s':>8}  {'median s':>8}  {'last s':>8}")
    with LocalNats() as nats:
        for pairs in given.pairs:
            for _ in range(given.rounds):
                with schema() as name:
                    found = asyncio.run(waits(f"{POSTGRES}?schema={name}", nats.url, pairs))
                times = f"{found[0]:8.2f}  {statistics.median(found):8.2f}  {found[-1]:8.2f}"
                print(f"{2 * pairs:>6}  {len(found):>6}  {times}", flush=True)


if __name__ == "__main__":
    main()
