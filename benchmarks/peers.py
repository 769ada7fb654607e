"""The same matches of connect four on boardgame.io, Colyseus and Plyhouse, in the same run.

    make peers          # installs the peers, and then runs:
    python benchmarks/peers.py --matches 400 --tables 25 --rounds 5

Every server plays the same random matches, checks every move, and has to name the same winner; the
run ends otherwise.  All of them stay up from the first round to the last, and are measured in turn;
figures are medians of the rounds.  The players are one process of node (``peers/players.mjs``) and
use websockets: with msgpack for Plyhouse, JSON for boardgame.io, by its own client for Colyseus.

* *plies /s*: the players answer at once.  Matches are made, joined and left within this time, as
  are connections where each match needs its own (Colyseus).
* *us /ply*: processor time of the server's process (user and system, all threads) meanwhile.
* *p50*, *p99*: milliseconds from the sending of an action until the opponent hears of it, while
  each match waits ``--pace`` ms between plies.
* *bytes /ply*: what all matches have added to the disk when the server is about to stop.

boardgame.io runs twice: with its store in memory, the default, and with files, which it writes
after it has told of an action, and does not flush.  Plyhouse runs with SQLite and both settings of
``synchronous``: ``full``, the default, waits for the disk before anyone hears of an action, and
``normal`` does not.  Colyseus sends each patch at once (``patchRate = null``); by default patches
wait for up to 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hosting import interpreter, make_token, processor_time

from plyhouse.games import TERMINAL, get_game
from plyhouse.server.match import engine

HERE: Final = Path(__file__).with_suffix("")
"""The servers and the players that are programs of node."""
WARM_UP: Final = 50
"""Matches that each server plays first, while node compiles."""
URL: Final = re.compile(r"http://[\d.]+:\d+")

Played = dict[str, Any]
"""A match: the columns of its ``moves``, and its ``winner``."""


@dataclass
class Server:
    """A server that is measured."""

    name: str
    peer: str
    """The kind of its players."""
    stores: str
    """The parts of a match that it keeps."""
    command: tuple[str, ...]
    folder: Path | None = None
    """Where it stores matches."""
    token: str = ""
    process: subprocess.Popen[str] | None = None
    url: str = ""
    empty: int = 0
    """Bytes on the disk before the first match."""
    plies: int = 0
    """Plies that were played on it."""
    figures: dict[str, list[float]] = field(default_factory=dict)
    """For each figure the values of the rounds."""

    def start(self) -> None:
        """Start it, and wait for its address."""
        self.process = subprocess.Popen(
            self.command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := URL.search(line):
                self.url = found[0]
                return
        raise SystemExit(f"{self.name} does not start: {' '.join(self.command)}")

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def play(self, matches: Sequence[Played], tables: int, pace: float = 0.0) -> dict[str, Any]:
        """Let the players play; return their figures with ``spent``, the server's own seconds."""
        assert self.process is not None
        settings: dict[str, Any] = {"peer": self.peer, "url": self.url, "token": self.token}
        settings |= {"tables": tables, "pace": pace, "matches": list(matches)}
        with subprocess.Popen(
            ["node", HERE / "players.mjs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as players:
            assert players.stdin is not None
            assert players.stdout is not None
            players.stdin.write(json.dumps(settings))
            players.stdin.close()
            players.stdout.readline()  # they are connected
            before = processor_time(self.process.pid)
            line = players.stdout.readline()
        if not line:
            raise SystemExit(f"the players of {self.name} have failed")
        found: dict[str, Any] = json.loads(line)
        self.plies += found["plies"]
        found["spent"] = processor_time(self.process.pid) - before
        return found

    def size(self) -> int:
        """Return the bytes on the disk."""
        files = self.folder.rglob("*") if self.folder else ()
        return sum(each.stat().st_size for each in files if each.is_file())

    def note(self, **figures: float) -> None:
        """Keep the figures of a round."""
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        """Return the median of a figure."""
        return statistics.median(self.figures[name])


def servers(folder: Path) -> list[Server]:
    """Return all servers, which store under a folder."""
    files = folder / "boardgame"
    boardgame, colyseus = ("node", "boardgame_server.mjs"), ("node", "colyseus_server.mjs")
    state = "state and log, a JSON file each, rewritten after each ply"
    found = [
        Server("boardgame.io, memory", "boardgame", "nothing", boardgame),
        Server("boardgame.io, files", "boardgame", state, (*boardgame, str(files)), files),
        Server("Colyseus", "colyseus", "nothing", colyseus),
    ]
    rows = "a row for each ply with its clock, before anyone hears of it"
    serve = (sys.executable, "-m", "plyhouse", "serve", "--port", "0", "--database")
    for synchronous in ("normal", "full"):
        own = folder / synchronous
        own.mkdir()
        url = f"sqlite:///{own / 'plyhouse.db'}?synchronous={synchronous}"
        token = asyncio.run(make_token(url))
        name = f"Plyhouse, {synchronous}"
        found.append(Server(name, "plyhouse", rows, (*serve, url), own, token))
    return found


def random_matches(count: int, seed: int) -> list[Played]:
    """Return matches between players who choose a column at random."""
    game, rng = get_game("connect_four"), random.Random(seed)
    found: list[Played] = []
    for _ in range(count):
        state, moves = game.initial_state(), []
        while state.to_move != TERMINAL:
            action = rng.choice(state.actions())
            moves.append(int(game.format(state, action)) - 1)
            state = state.after(action)
        first, second = state.returns()
        winner = None if first == second else int(second > first)
        found.append({"moves": moves, "winner": winner})
    return found


@contextlib.contextmanager
def running(found: Sequence[Server]) -> Iterator[None]:
    """Run servers."""
    try:
        for each in found:
            each.start()
        yield
    finally:
        for each in found:
            each.stop()


def measure(server: Server, matches: Sequence[Played], tables: int, pace: float) -> None:
    """Measure a server once."""
    quick = server.play(matches, tables)
    # Few matches wait for their plies most of the time, so that no queue is measured.
    paced = server.play(matches[: 2 * tables], tables, pace)
    late = sorted(paced["latencies"])
    server.note(
        rate=quick["plies"] / quick["seconds"],
        cost=quick["spent"] / quick["plies"] * 1e6,
        p50=statistics.median(late),
        p99=late[int(len(late) * 0.99)],
    )


def versions() -> str:
    """Return the versions of what is measured."""
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    core = "compiled" if not hasattr(engine.Match.act, "__code__") else "interpreted"
    return (
        f"{interpreter()}; Plyhouse is {core}\nnode {node.strip()}, boardgame.io "
        f"{wanted['boardgame.io']}, @colyseus/core {wanted['@colyseus/core']}"
    )


def table(found: Sequence[Server]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        f"{'server':<22} {'plies /s':>9} {'us /ply':>8} {'p50 ms':>7} {'p99 ms':>7} "
        f"{'bytes /ply':>10}  what it stores of a match"
    )
    for each in found:
        size = (each.size() - each.empty) / each.plies
        yield (
            f"{each.name:<22} {each.median('rate'):>9,.0f} {each.median('cost'):>8,.0f} "
            f"{each.median('p50'):>7.2f} {each.median('p99'):>7.2f} {size:>10,.0f}  {each.stores}"
        )


def main() -> None:
    """Measure all servers, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--matches", type=int, default=400, help="matches of a round")
    parser.add_argument("--tables", type=int, default=25, help="matches at a time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pace", type=float, default=100.0, help="ms between plies, for latency")
    options = parser.parse_args()
    if shutil.which("node") is None or not (HERE / "node_modules").is_dir():
        sys.exit("The peers are not installed: `make peers` does that, with node 20 and npm")
    matches = random_matches(options.matches, 1)
    print(versions())
    print(
        f"{options.rounds} rounds of {options.matches} matches, {options.tables} at a time, "
        f"{statistics.mean(len(each['moves']) for each in matches):.1f} plies each\n"
    )
    with tempfile.TemporaryDirectory() as name:
        found = servers(Path(name))
        with running(found):
            for each in found:
                each.empty = each.size()
                each.play(matches[:WARM_UP], options.tables)
            for _ in range(options.rounds):
                for each in found:
                    measure(each, matches, options.tables, options.pace)
        print("\n".join(table(found)))


if __name__ == "__main__":
    main()
