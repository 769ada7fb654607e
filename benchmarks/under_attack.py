"""How late the plies of others are while bots try to break out of the sandbox on the same machine.

A server hosts paced matches between clients that answer at once.  In turn it has the machine for
itself, shares it with bots that only compute (as many as there are processors), and with the whole
escape suite, over and over: bombs of threads and processes, floods of output, all of memory.  The
bots are in boxes of their own, as the local runner of ``plyhouse serve --hosted`` has them.

    python benchmarks/under_attack.py
    python benchmarks/under_attack.py --rounds 5 --tier bubblewrap
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hosting import hosted  # noqa: E402
from tests.sandbox.escapes import try_promises  # noqa: E402

from plyhouse.bots.sandbox.box import TIERS, Box, Tier  # noqa: E402
from plyhouse.bots.sandbox.client import ForkServerClient  # noqa: E402
from plyhouse.bots.sandbox.launcher import SandboxLauncher  # noqa: E402
from plyhouse.bots.sandbox.tiers import choose_tier  # noqa: E402

MATCHES, PACE = 20, 0.1
FIGURES = ("p50", "p95", "p99")
BUSY = """
from plyhouse.bots import Bot
class Busy(Bot):
    games = ("connect_four",)
    def choose(self, turn):
        return turn.legal[0]
import threading
def turn_round():
    while True:
        pass
threading.Thread(target=turn_round, daemon=True).start()
"""


async def attack(tier: Tier | None) -> None:
    """Try every way out, again and again; tells how often once it is interrupted."""
    fork_server = await ForkServerClient.start()
    chosen = await choose_tier(fork_server, only=tier)
    print("begun", flush=True)
    while True:
        results = await try_promises(fork_server, chosen)
        out = [result.name for result in results if not result.refused]
        if out:
            print(f"WORKED: {', '.join(out)}", file=sys.stderr)


async def compute(tier: Tier | None) -> None:
    """One bot per processor that computes all the time."""
    fork_server = await ForkServerClient.start()
    launcher = SandboxLauncher(fork_server, Box(tier=await choose_tier(fork_server, only=tier)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "busy.py"
        file.write_text(BUSY)
        from plyhouse.bots.process.bot_process import BotProcess

        for _ in os.sched_getaffinity(0):
            await BotProcess.start(str(file), on_output=lambda _: None, launcher=launcher)
        print("begun", flush=True)
        await asyncio.Event().wait()


@contextlib.contextmanager
def beside(role: str, tier: str) -> Iterator[None]:
    """Have something else run on this machine."""
    if role == "alone":
        yield
        return
    child = subprocess.Popen(
        [sys.executable, __file__, "--role", role, "--tier", tier], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    if child.stdout.readline() != b"begun\n":
        raise SystemExit("nothing was begun beside the server")
    try:
        yield
    finally:
        child.send_signal(signal.SIGINT)  # It ends its own processes.
        child.wait()
        time.sleep(1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--tier", choices=["", *[tier.value for tier in TIERS]], default="")
    parser.add_argument("--role", choices=["main", "attacked", "computing"], default="main")
    asked = parser.parse_args()
    tier = Tier(asked.tier) if asked.tier else None
    if asked.role != "main":
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(attack(tier) if asked.role == "attacked" else compute(tier))
        return
    measured: dict[str, list[dict[str, float]]] = {"alone": [], "computing": [], "attacked": []}
    for _ in range(asked.rounds):
        for role, results in measured.items():
            with beside(role, asked.tier):
                results.append(hosted("connect_four", MATCHES, asked.seconds, PACE, "normal"))
    print(f"{MATCHES} matches, {1 / PACE:g} plies/s each; milliseconds from an act to its telling")
    print(f"{'the machine':<12} {'plies/s':>8} {'p50':>14} {'p95':>14} {'p99':>14}")
    alone = {key: statistics.median(x[key] for x in measured["alone"]) for key in FIGURES}
    for role, results in measured.items():
        cells = []
        for key in FIGURES:
            value = statistics.median(each[key] for each in results)
            cells.append(f"{value:7.2f} {value / alone[key]:5.1f}x")
        rate = statistics.median(each["rate"] for each in results)
        print(f"{role:<12} {rate:>8,.0f} {' '.join(cells)}")


if __name__ == "__main__":
    main()
