"""Check whether two copies of one hosted bot get the same time, while four other bots play beside
them.

    python benchmarks/equal_time.py [--matches 200] [--ms 10]

Every bot is busy for a fixed time by the wall and plays then.  The benchmark compares the processor
time that the kernel gave to either copy in that time; matches run at the same time as the server
would let them: one for each processor, at most as many as there are pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import tempfile
import time
from pathlib import Path

from plyhouse.bots.hosting.build import build
from plyhouse.bots.hosting.hosted_session import hosted_session
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.sandbox.box import Cores, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.tiers import choose_tier
from plyhouse.clients.arena.memory_server import PLAYER, connector_of, local_hub, online
from plyhouse.games.registry import get_game
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

BOT = """
import time
from plyhouse.bots import Bot

class Busy(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn):
        end = time.monotonic() + {seconds}
        while time.monotonic() < end:
            pass
        return turn.legal[turn.ply * 7 % len(turn.legal)]
"""
PAIRS = (("copy1", "copy2"), ("other1", "other2"), ("other3", "other4"))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--ms", type=float, default=10.0)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    usable = sorted(os.sched_getaffinity(0))[: args.cores]
    cores = Cores(usable)
    costs: dict[str, list[CostOfPly]] = {name: [] for pair in PAIRS for name in pair}
    fork_server = await ForkServerClient.start()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = Path(folder) / "mybot.py"
        file.write_text(BOT.format(seconds=args.ms / 1000), "utf-8")
        built = build(read_package(file), Path(folder) / "store")
        tier: Tier = await choose_tier(fork_server)
        async with local_hub() as hub:
            token = hub.add_player(PLAYER)
            runs = []
            for name, noted in costs.items():
                options = RunOptions(
                    bot=name, forgetful=True, say=lambda _: None, on_cost=noted.append
                )
                bot_session = hosted_session(
                    *(built, connector_of(hub), token, options),
                    fork_server=fork_server,
                    tier=tier,
                    cores=cores,
                )
                runs.append(asyncio.create_task(bot_session.run()))
            for name in costs:
                await online(hub, f"{PLAYER}/{name}", lambda: None)
            await played(hub, args.matches, len(usable))
            for run in runs:
                run.cancel()
            await asyncio.gather(*runs, return_exceptions=True)
    await fork_server.close()
    took = time.monotonic() - began
    show(costs, args, tier, took)


async def played(hub: LocalHub, matches: int, at_a_time: int) -> None:
    """Let the copies play so many matches, the others beside them."""
    terms = Terms(get_game("tic_tac_toe"), TimeControl.parse("total:60"), rated=False)
    stop = asyncio.Event()

    async def one(pair: tuple[str, str]) -> None:
        seated = [await online(hub, f"{PLAYER}/{name}", lambda: None) for name in pair]
        pairing = hub.live_matches.begin(terms, [seated])
        while pairing.open:  # noqa: ASYNC110 - a hub tells its own parts only
            await asyncio.sleep(0.002)

    async def beside(which: int) -> None:
        rest = itertools.cycle(PAIRS[1:])
        for pair in itertools.islice(rest, which, None, max(1, at_a_time - 1)):
            if stop.is_set():
                return
            await one(pair)

    lanes = min(at_a_time - 1, len(PAIRS) - 1)
    others = [asyncio.create_task(beside(which)) for which in range(lanes)]
    for number in range(matches):
        pair = PAIRS[0]
        await one(pair if number % 2 == 0 else (pair[1], pair[0]))
    stop.set()
    await asyncio.gather(*others)


def show(
    costs: dict[str, list[CostOfPly]], args: argparse.Namespace, tier: Tier, took: float
) -> None:
    print(f"{args.matches} matches of the copies, {tier.value}, {args.cores} cores, {took:.0f} s")
    print("bot        plies   cpu ms a ply   wall ms a ply   waited")
    mean = {}
    for name, noted in costs.items():
        if not noted:
            continue
        cpu, wall = sum(each.cpu for each in noted), sum(each.wall for each in noted)
        waited = sum(each.waited for each in noted)
        mean[name] = cpu / len(noted)
        print(
            f"{name:8} {len(noted):7}   {cpu / len(noted) / 1e6:12.3f}   "
            f"{wall / len(noted) / 1e6:13.3f}   {100 * waited / max(1, wall):5.1f} %"
        )
    difference = abs(mean["copy1"] - mean["copy2"]) / max(mean["copy1"], mean["copy2"])
    print(f"the copies' thinking time by ply differs by {100 * difference:.2f} %")


if __name__ == "__main__":
    asyncio.run(main())
