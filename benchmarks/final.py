"""The final of a class, as its lecturer would hold it: wall time, matches per second, forfeits.

A real server on a SQLite file, real bots in separate processes over websockets on this machine, and
only the command line in between: students are imported, bots connect, the
competition is frozen and run, its results are exported.  The bots choose at random, so that what
is measured is the house; a forfeit of any of them is wrongful.

    python benchmarks/final.py
    python benchmarks/final.py --bots 12 --games tic_tac_toe --at-a-time 4
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PLYHOUSE = Path(sys.executable).with_name("plyhouse")
GAMES = ("connect_four", "pig", "kuhn_poker")
NAME = "The final"


class House:
    """The server and the bots of one final, in a folder of their own."""

    def __init__(self, folder: Path, synchronous: str) -> None:
        self.folder = folder
        self.database = f"sqlite:///{folder / 'final.db'}?synchronous={synchronous}"
        self.environment = dict(os.environ)
        self.processes: list[subprocess.Popen[str]] = []

    def run(self, *command: str) -> str:
        """Run a command to its end and return what it printed; exit with its complaint."""
        done = subprocess.run(
            [PLYHOUSE, *command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            raise SystemExit(f"plyhouse {' '.join(command)}: {done.stderr}")
        return done.stdout

    def start(self, *command: str, name: str) -> Path:
        """Start a command that stays, and return the file of what it prints."""
        log = self.folder / f"{name}.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [PLYHOUSE, *command],
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
        self.processes.append(process)
        return log

    def close(self) -> None:
        """End all processes."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def await_text(log: Path, text: str, seconds: float = 60.0) -> str:
    """Wait until a log has a line with a text, and return the line."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for line in log.read_text().splitlines():
            if text in line:
                return line
        time.sleep(0.05)
    raise SystemExit(f"{log.name} does not say {text!r}: {log.read_text()[-2000:]}")


def seconds_of(text: str) -> str:
    """Processor time that a process has used, and its peak memory, from the proc file system."""
    pid = int(text)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return f"{spent:.1f} s of processor time, {int(peak) / 1024:.0f} MB at most"


def measure(house: House, options: argparse.Namespace) -> None:
    """Hold the final and print what it took."""
    organiser = ("--scope", "play", "--scope", "organise")
    add = ("admin", "player", "add", "lecturer", *organiser, "--database", house.database)
    house.environment["PLYHOUSE_TOKEN"] = house.run(*add).strip()
    log = house.start("serve", "--port", "0", "--database", house.database, name="server")
    address = await_text(log, "Plyhouse is listening on ").split()[-1]
    house.environment["PLYHOUSE_SERVER"] = address
    games = ", ".join(json.dumps(game) for game in options.games)
    (house.folder / "final.toml").write_text(
        f'name = "{NAME}"\ngames = [{games}]\ntime_control = "{options.time_control}"\n'
        f"[limits]\nmatches_at_a_time = {options.at_a_time}\n"
    )
    house.run("competition", "open", "final.toml")
    names = "".join(f"student-{number}\n" for number in range(options.bots))
    (house.folder / "students.csv").write_text(f"name\n{names}")
    sheet = house.run("student", "import", "students.csv", "--competition", NAME)
    begin = time.monotonic()
    logs = []
    for row in csv.DictReader(sheet.splitlines()):
        wanted = [part for game in options.games for part in ("--game", game)]
        command = ("bot", "run", "random", "--name", "bot", *wanted, "--token", row["token"])
        logs.append(house.start(*command, name=row["account"]))
    for each in logs:
        await_text(each, "connected to", 120.0)
    connected = time.monotonic() - begin
    house.run("competition", "freeze", NAME)
    begin = time.monotonic()
    house.run("competition", "run", NAME)
    house.run("competition", "status", NAME, "--wait")
    took = time.monotonic() - begin
    spent = seconds_of(str(house.processes[0].pid))
    house.run("competition", "export", NAME, "--folder", "results")
    found = json.loads((house.folder / "results" / "standings.json").read_text())
    lines = found["standings"] if isinstance(found, dict) else found
    forfeits = sum(int(line["forfeits"]) for line in lines)
    played = sum(int(line["matches"]) for line in lines) // 2
    listed = Counter(line["matches"] for line in lines)
    print(
        f"{options.bots} bots, {len(options.games)} games ({', '.join(options.games)}), "
        f"{options.time_control}, {options.at_a_time} matches at a time, {os.cpu_count()} cores"
    )
    print(f"connecting   {connected:.1f} s")
    print(f"the final    {took:.1f} s for {played:,} matches: {played / took:.1f} a second")
    print(f"forfeits     {forfeits} (each would be wrongful)")
    print(f"matches each {', '.join(f'{number} ({many} bots)' for number, many in listed.items())}")
    print(f"the server   {spent}")
    if forfeits:
        raise SystemExit("A bot that chooses at random has forfeited.")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--bots", type=int, default=30)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--time-control", default="move:1")
    parser.add_argument("--at-a-time", type=int, default=16)
    parser.add_argument("--synchronous", choices=("full", "normal"), default="full")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder), options.synchronous)
        try:
            measure(house, options)
        finally:
            house.close()


if __name__ == "__main__":
    main()
