"""Run tests whose processes stand still at random, as on a machine with much else to do.

    python -m tests.pauses -- .venv/bin/pytest -q -n 2 --tier=rest tests/cluster
    python -m tests.pauses --longest 9 --seed 2 -- .venv/bin/pytest -q -n 2 tests/web

What takes a pause for an answer fails.  The command and every process below it may be stopped, also
servers, bots and browsers: one every ``--each`` seconds on average, up to ``--longest`` seconds.
Processes that somebody else has stopped stay as they are, but one that is stopped during its pause
goes on after it: some tests of hosted bots and of frozen servers fail by that.  Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

LOOK_SECONDS = 0.05


def family(ancestor: int) -> dict[int, str]:
    """Return a process and all below it, each with its state (proc_pid_stat(5)): T for stopped."""
    states: dict[int, str] = {}
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent, *_ = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            states[int(folder.name)] = state
            children.setdefault(int(parent), []).append(int(folder.name))
    found = [ancestor]
    for each in found:
        found += children.get(each, [])
    return {each: states[each] for each in found if each in states}


def send(process: int, sign: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(OSError):
        os.kill(process, sign)


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=float, default=0.5)
    parser.add_argument("--longest", type=float, default=1.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    stopped: dict[int, float] = {}
    with subprocess.Popen(options.command) as command:
        try:
            while command.poll() is None:
                now = time.monotonic()
                for each in [each for each, until in stopped.items() if until <= now]:
                    send(each, signal.SIGCONT)
                    del stopped[each]
                if rng.random() < LOOK_SECONDS / options.each:
                    running = [each for each, state in family(command.pid).items() if state != "T"]
                    if running:
                        each = rng.choice(running)
                        send(each, signal.SIGSTOP)
                        stopped[each] = now + rng.uniform(0.1, 1.0) * options.longest
                time.sleep(LOOK_SECONDS)
        finally:
            for each in stopped:
                send(each, signal.SIGCONT)
    return command.returncode


if __name__ == "__main__":
    sys.exit(main())
