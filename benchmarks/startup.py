"""How long `plyhouse --help` takes, beside a Python that does nothing.

    python benchmarks/startup.py [RUNS]

Goal: less than 0.3 s. The two commands alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

GOAL = 0.3


def seconds(command: list[str]) -> float:
    """Wall-clock time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    module = [sys.executable, "-m", "plyhouse.clients.cli.main"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import click'": [sys.executable, "-c", "import click"],
        "plyhouse --help": [*module, "--help"],
        "plyhouse match --help": [*module, "match", "--help"],
        "plyhouse serve --help": [*module, "serve", "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds(command))
    print(f"{'command':26} {'median':>8} {'best':>8}   ({runs} runs, seconds)")
    for name, measured in times.items():
        print(f"{name:26} {statistics.median(measured):8.3f} {min(measured):8.3f}")
    met = statistics.median(times["plyhouse --help"]) < GOAL
    print(f"goal for plyhouse --help: {GOAL} s, {'met' if met else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
