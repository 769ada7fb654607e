"""The cost of the niceness of hosted bots on a machine with other work.

    python benchmarks/niceness.py [--seconds 4]

A program computes all the time on one processor, with the niceness of hosted bots or another one.
Beside it runs nothing, a program that works for 30 % of the time, or one that never rests.  The
table shows which part of the processor the first one gets.

Figures of 2026-11-23, two cores of a machine with a load of 8 from other work, commit 0b4d25f:

    niceness   alone   beside 30 %   beside 100 %
           0    0.47          0.46           0.36
          10    0.05          0.04           0.04
          19    0.20          0.05           0.01

So on a busy machine a bot with niceness 10 gets a tenth of what it would get with niceness 0, and
its flag falls far more often (``plyhouse runner --nice 0``).  On an idle machine it costs nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

PROGRAM = """
import os, sys, time
from plyhouse.bots.sandbox.kernel import BEHIND, stand_back
niceness, share, seconds, core = map(float, sys.argv[1:])
os.sched_setaffinity(0, {int(core)})
if niceness:
    stand_back(int(niceness) - BEHIND)
end = time.monotonic() + seconds
used = time.process_time()
while time.monotonic() < end:
    until = time.monotonic() + 0.01 * share
    while time.monotonic() < until:
        pass
    if share < 1:
        time.sleep(0.01 * (1 - share))
print((time.process_time() - used) / seconds)
"""


def share_of_first(*programs: tuple[int, float], seconds: float) -> float:
    """Run programs with these nicenesses and loads together; return what the first one gets."""
    core = max(os.sched_getaffinity(0))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(niceness), str(load), str(seconds), str(core)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for niceness, load in programs
    ]
    shares = [float(each.communicate()[0]) for each in running]
    return shares[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds for each cell")
    seconds = parser.parse_args().seconds
    print("niceness   alone   beside 30 %   beside 100 %")
    for niceness in (0, 10, 19):
        alone = share_of_first((niceness, 1), seconds=seconds)
        some = share_of_first((niceness, 1), (0, 0.3), seconds=seconds)
        full = share_of_first((niceness, 1), (0, 1), seconds=seconds)
        print(f"{niceness:8}{alone:8.2f}{some:14.2f}{full:15.2f}")


if __name__ == "__main__":
    main()
