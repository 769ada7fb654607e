"""The cost of hosting a bot: start, memory and every ply, beside a bot that is not confined.

    python benchmarks/hosted.py [--starts 20] [--plies 400]

Start: from the request to the bot that has been imported. Ply: from the request to the answer of a
bot that plays at once, so it is all overhead. Memory: what each further bot adds, by proportional
set size (pages that are shared count in parts), read from the kernel.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.bot_process import BotProcess
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.process.messages import Begin
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.sandbox.box import TIERS, Box
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import SandboxLauncher
from plyhouse.bots.sandbox.tiers import why_not
from plyhouse.protocol.messages import ClockState, MatchSnapshot, SeatInfo

BOT = """
from plyhouse.bots import Bot
class First(Bot):
    games = ("connect_four",)
    def choose(self, turn):
        return turn.legal[0]
"""
ALIVE = 12
SECOND = 1_000_000_000


async def start(spec: str, launcher: Launcher) -> BotProcess:
    return await BotProcess.start(spec, on_output=lambda _: None, launcher=launcher)


async def stop(process: BotProcess) -> None:
    await process.quit()
    await process.closed()


async def starts(spec: str, launcher: Launcher, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        process = await start(spec, launcher)
        took.append((time.perf_counter() - began) * 1e3)
        await stop(process)
    return took


def memory_of(pid: int) -> int:
    """Proportional set size of a process and, in a box, of its box supervisor."""
    total = 0
    for each in (pid, parent(pid)):
        text = Path(f"/proc/{each}/smaps_rollup").read_text()
        total += next(int(x.split()[1]) for x in text.splitlines() if x.startswith("Pss:"))
    return total


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def own_memory(pid: int) -> float:
    """The same without the parent, for a bare bot, whose parent is the runner."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(x.split()[1]) for x in text.splitlines() if x.startswith("Pss:")) / 1024


async def memory(spec: str, launcher: Launcher) -> float:
    processes = [await start(spec, launcher) for _ in range(ALIVE)]
    boxed = launcher is not BARE
    each = [
        memory_of(process.pid) / 1024 if boxed else own_memory(process.pid) for process in processes
    ]
    for process in processes:
        await stop(process)
    return statistics.mean(each)


def snapshot() -> MatchSnapshot:
    return MatchSnapshot(
        match="m",
        pairing="p",
        game="connect_four",
        time_control="move:10",
        rated=False,
        seat=0,
        players=[SeatInfo("a", "first"), SeatInfo("b", "second")],
        status="running",
        ply=0,
        commitment="c",
        events=[],
        clocks=[ClockState(0, 10_000), ClockState(1, 10_000)],
    )


async def plies(
    spec: str, launcher: Launcher, count: int, on_cost: Callable[[CostOfPly], None] | None
) -> list[float]:
    supervisor = Supervisor(spec, AuthorLog("bench"), launcher=launcher, on_cost=on_cost)
    await supervisor.start()
    await supervisor.settled()
    supervisor.begin("m", lambda: Begin(snapshot(), "seed"), list)
    took = []
    for _ in range(count):
        now = time.monotonic_ns()
        began = time.perf_counter()
        request = supervisor.think(
            "m",
            ply=0,
            soft_at=now + 5 * SECOND,
            hard_at=now + 9 * SECOND,
            flag_at=now + 10 * SECOND,
            observation={},
            clocks=[ClockState(0, 10_000), ClockState(1, 10_000)],
        )
        answer = await request.answer
        took.append((time.perf_counter() - began) * 1e6)
        if type(answer).__name__ != "Chosen":
            raise RuntimeError(f"the bot did not play: {answer}")
    await supervisor.close()
    return took[count // 10 :]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--plies", type=int, default=400)
    asked = parser.parse_args()
    fork_server = await ForkServerClient.start()
    print("            start, ms          ply, us            ply with ledger     memory per bot")
    print("            median     90%     median     90%     median     90%      MiB")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "first.py"
        file.write_text(BOT)
        launchers: dict[str, Launcher] = {"bare": BARE}
        for tier in TIERS:
            if problem := await why_not(fork_server, tier):
                print(f"{tier.value}: not here: {problem}")
            else:
                launchers[tier.value] = SandboxLauncher(fork_server, Box(tier=tier))
        for name, launcher in launchers.items():
            spec = str(file)
            begun = await starts(spec, launcher, asked.starts)
            plain = await plies(spec, launcher, asked.plies, None)
            noted = await plies(spec, launcher, asked.plies, lambda _: None)
            size = await memory(spec, launcher)
            cells = [f"{statistics.median(x):7.1f} {ninth(x):7.1f}" for x in (begun, plain, noted)]
            print(f"{name:10} {'    '.join(cells)}   {size:7.1f}")
    await fork_server.close()


def ninth(values: list[float]) -> float:
    return statistics.quantiles(values, n=10)[-1]


if __name__ == "__main__":
    asyncio.run(main())
