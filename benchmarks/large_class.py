"""A class of 200: joining, a gauntlet, a round robin, pages, and the server's memory.

A real server on a SQLite file in a separate process. The students' bots are connections of this
process and choose at random, so the load of the clients is small and the same for every version.

    python benchmarks/large_class.py
    python benchmarks/large_class.py --students 50 --plyhouse other/.venv/bin/plyhouse

``--plyhouse`` measures another installation with the same bots, to compare two versions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

BASELINES = 4
LOOKS = 7


async def play(socket: ClientConnection, token: str, name: str, welcomed: asyncio.Event) -> None:
    """Play every match of one bot at random, over the JSON subprotocol."""
    number = 1

    async def request(**fields: Any) -> None:
        nonlocal number
        number += 1
        await socket.send(json.dumps({"id": number, **fields}))

    await request(type="hello", token=token, bot=name, games=["tic_tac_toe"], max_matches=64)
    async for frame in socket:
        message = json.loads(frame)
        match message["type"]:
            case "welcome":
                welcomed.set()
            case "ping":
                await socket.send(json.dumps({"type": "pong", "re": message["id"]}))
            case "match" if message["snapshot"]["status"] == "waiting":
                nonce = secrets.token_hex(16)
                match_id = message["snapshot"]["match"]
                await request(type="ready", match=match_id, nonce=nonce)
            case "turn":
                action = random.choice(message["observation"]["legal"])
                ply = message.get("ply", 0)
                await request(type="act", match=message["match"], ply=ply, action=action)
            case "error" if message.get("fatal"):
                raise SystemExit(f"{name}: {message['code']}: {message['message']}")


def row(what: str, figure: str) -> None:
    """Print one figure."""
    print(f"{what:<34} {figure}", flush=True)


class Server:
    """A server on its own database, and the commands of its lecturer."""

    def __init__(self, plyhouse: str, folder: Path) -> None:
        self.plyhouse = plyhouse
        self.folder = folder
        self.database = f"sqlite:///{folder / 'class.db'}"
        self.environment = dict(os.environ)
        self.process: subprocess.Popen[str] | None = None

    def run(self, *command: str) -> str:
        """Run a command; exit with its complaint if it fails."""
        done = subprocess.run(
            [self.plyhouse, *command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            raise SystemExit(f"plyhouse {' '.join(command)}: {done.stderr}")
        return done.stdout

    def start(self) -> str:
        """Start the server and return its address."""
        self.process = subprocess.Popen(
            [self.plyhouse, "serve", "--port", "0", "--database", self.database],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "server.log").open("w"),
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "listening on " in line:
                return line.split()[-1]
        raise SystemExit((self.folder / "server.log").read_text()[-2000:])

    def memory(self) -> str:
        """Return the peak memory of the server."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        return f"{int(peak) / 1024:.0f} MiB"


async def looks(client: httpx.AsyncClient, name: str) -> None:
    """Print how long the pages of a competition take: the first look, then the median."""
    for what, path in (
        ("page", f"/competitions/{name}"),
        ("board", f"/api/v1/competitions/{name}/board"),
        ("status", f"/api/v1/competitions/{name}"),
    ):
        taken = []
        for _ in range(LOOKS):
            begin = time.perf_counter()
            answer = await client.get(path)
            answer.raise_for_status()
            taken.append(time.perf_counter() - begin)
        row(f"{what}, first look and median", f"{taken[0]:.2f} s, {statistics.median(taken):.2f} s")


async def final(server: Server, name: str, students: int) -> None:
    """Freeze, run and wait; print how long the final took."""
    begin = time.perf_counter()
    for step in ("freeze", "run"):
        await asyncio.to_thread(server.run, "competition", step, name)
    await asyncio.to_thread(server.run, "competition", "status", name, "--wait", "--json")
    took = time.perf_counter() - begin
    folder = name.replace(" ", "-")
    await asyncio.to_thread(server.run, "competition", "export", name, "--folder", folder)
    found = json.loads((server.folder / folder / "standings.json").read_text())
    lines = found["standings"] if isinstance(found, dict) else found
    played = sum(int(line["matches"]) for line in lines) // 2
    forfeits = sum(int(line["forfeits"]) for line in lines)
    row(f"{name} of {students} students", f"{took:.0f} s, {played:,} matches, {forfeits} forfeits")


async def measure(server: Server, students: int) -> None:
    """Hold both competitions and print the figures."""
    organiser = ("--scope", "play", "--scope", "organise", "--database", server.database)
    lecturer = server.run("admin", "player", "add", "lecturer", *organiser).strip()
    staff = server.run("admin", "player", "add", "staff", "--database", server.database).strip()
    address = server.start()
    server.environment |= {"PLYHOUSE_TOKEN": lecturer, "PLYHOUSE_SERVER": address}
    socket_address = address.replace("http", "ws", 1) + "/ws"
    headers = {"Authorization": f"Bearer {lecturer}"}
    tasks: set[asyncio.Task[None]] = set()

    async def join(token: str, name: str) -> None:
        socket = await connect(
            socket_address,
            subprotocols=[Subprotocol("plyhouse.v1+json")],
            compression=None,
            max_size=None,
        )
        welcomed = asyncio.Event()
        tasks.add(asyncio.create_task(play(socket, token, name, welcomed)))
        await welcomed.wait()

    for number in range(BASELINES):
        await join(staff, f"base-{number}")
    baselines = "".join(
        f'[[baselines]]\nbot = "staff/base-{number}"\n'
        f'grade = "{number}"\nat_least = 0.{number + 2}\n'
        for number in range(BASELINES)
    )
    head = 'games = ["tic_tac_toe"]\ntime_control = "move:10"\nboard = "public"\n'
    limits = f"[limits]\nstudents = {students}\nmatches_at_a_time = 64\n"
    (server.folder / "gauntlet.toml").write_text(
        f'name = "Gauntlet"\n{head}{limits}[format]\nname = "gauntlet"\n{baselines}'
    )
    (server.folder / "robin.toml").write_text(
        f'name = "Round robin"\n{head}{limits}[format]\nname = "round_robin"\n'
    )
    listed = "".join(f"student-{number}\n" for number in range(students))
    (server.folder / "students.csv").write_text(f"name\n{listed}")
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120) as client:
        begin = time.perf_counter()
        sheets = []
        for name, file in (("Gauntlet", "gauntlet.toml"), ("Round robin", "robin.toml")):
            await asyncio.to_thread(server.run, "competition", "open", file)
            command = ("student", "import", "students.csv", "--adopt-all", "--competition", name)
            sheets.append(await asyncio.to_thread(server.run, *command))
        for line in sheets[0].splitlines()[1:]:
            await join(line.rsplit(",", 1)[1], "bot")
        row(f"{students} students join", f"{time.perf_counter() - begin:.1f} s")
        for name in ("Gauntlet", "Round robin"):
            await final(server, name, students)
            await looks(client, name)
    row("memory of the server, at most", server.memory())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--plyhouse", default=str(Path(sys.executable).with_name("plyhouse")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.plyhouse, Path(folder))
        try:
            asyncio.run(measure(server, options.students))
        finally:
            if server.process is not None:
                server.process.terminate()
                server.process.wait(30)


if __name__ == "__main__":
    main()
