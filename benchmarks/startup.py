"""How long `plyhouse --help` takes, and what commands cost before they do anything.

    python -m benchmarks.startup [RUNS] [--demo]

Goals, with compiled code: less than 0.3 s for `plyhouse --help`, 0.1 s for `plyhouse --version`,
0.25 s for the process of a bot, and 0.5 s until the processes of `plyhouse match` are ready.  The
commands alternate, so that a busy machine slows all of them.  The second table is seconds of the
processor, user and system, of a program and all that it starts: a busy machine hardly changes
them.  `--demo` adds `plyhouse demo`, most of which is bots that think.

The last table has each process of a command: the modules that it has loaded when it ends, how many
of them are ours, and its processor time, user and system, without that of other processes.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.harness.loaded import Loaded, loaded

GOAL = 0.3
READY = "Plyhouse is listening on "
PLYHOUSE = [sys.executable, "-m", "plyhouse.clients.cli.main"]
IMPORTED = (
    "plyhouse.bots.process.__main__",
    "plyhouse.server.gateway.local_hub",
    "plyhouse.server.serve",
)
PROCESSES = {
    "plyhouse.clients.arena.process": "its referee",
    "plyhouse.bots.process": "a bot's process",
}
MATCH = ["match", "random", "random", "--game", "tic_tac_toe", "--games", "2"]


def seconds(command: list[str]) -> float:
    """Wall-clock time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def of_children() -> float:
    """Return the processor time of processes that have ended, with their children."""
    times = os.times()
    return times.children_user + times.children_system


def run(command: list[str]) -> float:
    """Processor seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        before = of_children()
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return of_children() - before


def until_ready() -> float:
    """Processor seconds of a server with a new database, until it listens (Linux)."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/new.db"
        with subprocess.Popen(
            [*PLYHOUSE, "serve", "--port", "0", "--database", database],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdout is not None
            while not server.stdout.readline().startswith(READY):
                assert server.poll() is None, "the server did not start"
            fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
            server.send_signal(signal.SIGTERM)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(title: str, runs: int, programs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Run all programs in turn and print how long they took; returns the medians."""
    measured: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            measured[name].append(program())
    print(f"{title:44} {'median':>8} {'best':>8}   ({runs} runs, seconds)")
    for name, times in measured.items():
        print(f"{name:44} {statistics.median(times):8.3f} {min(times):8.3f}")
    return {name: statistics.median(times) for name, times in measured.items()}


def processes(name: str, arguments: list[str], runs: int, ready: str = "") -> None:
    """Print what each kind of process of a command has loaded, with its median seconds."""
    found: dict[str, list[Loaded]] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "bot.py").write_text("from plyhouse.bots import Bot\n")
            for process in loaded(arguments, Path(folder), ready=ready):
                kinds = [kind for part, kind in PROCESSES.items() if part in process.command]
                found.setdefault(kinds[0] if kinds else name, []).append(process)
    for kind, ended in found.items():
        seconds = statistics.median(each.seconds for each in ended)
        first = ended[0]
        print(f"{kind:44} {len(first.modules):8} {len(first.ours):8} {seconds:8.3f}")


def main() -> int:
    numbers = [argument for argument in sys.argv[1:] if argument.isdigit()]
    runs = int(numbers[0]) if numbers else 15
    helped: dict[str, Callable[[], float]] = {
        "python -c pass": partial(seconds, [sys.executable, "-c", "pass"]),
        "python -c 'import click'": partial(seconds, [sys.executable, "-c", "import click"]),
        "plyhouse --help": partial(seconds, [*PLYHOUSE, "--help"]),
        "plyhouse match --help": partial(seconds, [*PLYHOUSE, "match", "--help"]),
        "plyhouse serve --help": partial(seconds, [*PLYHOUSE, "serve", "--help"]),
    }
    median = table("elapsed", runs, helped)["plyhouse --help"]
    print(f"goal for plyhouse --help: {GOAL} s, {'met' if median < GOAL else 'MISSED'}\n")
    costs: dict[str, Callable[[], float]] = {
        f"import {name}": partial(run, [sys.executable, "-c", f"import {name}"])
        for name in IMPORTED
    }
    costs["plyhouse " + " ".join(MATCH)] = partial(run, [*PLYHOUSE, *MATCH])
    if Path("/proc/self/stat").exists():
        costs["plyhouse serve, until it listens"] = until_ready
    if "--demo" in sys.argv:
        costs["plyhouse demo"] = partial(run, [*PLYHOUSE, "demo"])
    table("processor", runs, costs)
    print(f"\n{'each process':44} {'modules':>8} {'ours':>8} {'seconds':>8}   ({runs} runs)")
    processes("plyhouse --version", ["--version"], runs)
    processes("plyhouse match random random", [*MATCH, "--jobs", "1"], runs)
    processes("plyhouse submit --help", ["submit", "--help"], runs)
    submit = ["submit", "bot.py", "--server", "http://127.0.0.1:9", "--token", "none"]
    processes("plyhouse submit, without a server", submit, runs)
    serve = ["serve", "--port", "0", "--database", "sqlite:///new.db"]
    processes("plyhouse serve, until it has stopped", serve, runs, READY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
