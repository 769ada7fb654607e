"""A supervisor starts workers, starts them again when they end, and stops them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from tests.harness.nats import nats_server
from tests.harness.patience import PATIENCE
from tests.harness.processes import alive, children

from plyhouse.server.serve import CannotListen, shared_port
from plyhouse.server.worker import Worker

SUPERVISOR = """
import sys
from plyhouse.server import logs
from plyhouse.server.supervisor import Timing, supervise
from plyhouse.server.worker import Worker

logs.set_up("info")
count, command = int(sys.argv[1]), sys.argv[2:]
environments = [Worker(number, 0, "", "").environment() for number in range(1, count + 1)]
sys.exit(supervise(command, environments, timing=Timing(pause=0.01, most_pause=0.05, stop=60)))
"""

WORKER = """
import os, signal, sys, threading
from plyhouse.server.worker import Worker, end_with_supervisor

worker = Worker.take()
assert worker is not None and Worker.take() is None
stopped = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopped.set())
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
end_with_supervisor()
print(f'started {worker.number}', file=sys.stderr, flush=True)
print("Plyhouse is listening on http://127.0.0.1:1", flush=True)
while not stopped.wait(0.05):
    pass
print('{"event": "stopped"}', file=sys.stderr, flush=True)
"""

SERVERS = """
import sys
from plyhouse.server.supervisor import serve_workers

sys.exit(serve_workers(sys.argv[2:], int(sys.argv[1]), "127.0.0.1", 0))
"""

SERVER = """
import sys
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import serve
from plyhouse.server.web import metrics
from plyhouse.server.worker import Worker, end_with_supervisor

metrics.PATIENCE = 120.0  # a busy machine may let the other worker wait for seconds
worker = Worker.take()
assert "@127.0.0.1:" in worker.cluster
end_with_supervisor()
config = ServerConfig(port=worker.port, database="sqlite:///:memory:", builtin_bots=False)
serve(config, worker=worker)
"""


class Supervised:
    """A supervisor with its workers, and what it wrote."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.shown: list[str] = []
        self.logged: list[str] = []

    @property
    def workers(self) -> list[int]:
        return children(self.process.pid)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    async def all_started(self, lives: int = 1, workers: int = 2) -> None:
        await self.until(
            lambda: all(
                self.logged.count(f"[worker {number}] started {number}") >= lives
                for number in range(1, workers + 1)
            )
        )

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def supervised(program: str, *command: str, workers: int = 2) -> AsyncIterator[Supervised]:
    """Run a Python program that supervises."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        str(workers),
        *(command or (sys.executable, "-c", WORKER)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    found = Supervised(process)

    async def read(stream: asyncio.StreamReader | None, lines: list[str]) -> None:
        assert stream is not None
        while line := await stream.readline():
            lines.append(line.decode().rstrip("\n"))

    reading = [
        asyncio.create_task(read(process.stdout, found.shown)),
        asyncio.create_task(read(process.stderr, found.logged)),
    ]
    try:
        yield found
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await asyncio.gather(*reading)  # ends with the last worker


def listeners(port: int) -> int:
    """Sockets that listen on a port of 127.0.0.1."""
    return Path("/proc/net/tcp").read_text().count(f"0100007F:{port:04X} 00000000:0000 0A")


async def gone(processes: list[int]) -> bool:
    async with asyncio.timeout(PATIENCE):
        while any(map(alive, processes)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return True


async def test_workers_start_and_stop_with_the_supervisor() -> None:
    async with supervised(SUPERVISOR) as found:
        await found.all_started()
        await found.until(lambda: bool(found.shown))
        found.process.terminate()
        assert await found.ended() == 0
    assert found.shown == ["Plyhouse is listening on http://127.0.0.1:1"]
    stopped = [json.loads(line) for line in found.logged if line.startswith("{")]
    assert sorted(each["worker"] for each in stopped) == [1, 2]
    assert {each["event"] for each in stopped} == {"stopped"}


async def test_dead_worker_is_started_again() -> None:
    async with supervised(SUPERVISOR) as found:
        await found.all_started()
        await found.until(lambda: bool(found.shown))
        first, second = found.workers
        os.kill(first, signal.SIGKILL)
        os.kill(second, signal.SIGUSR1)
        await found.all_started(lives=2)
        found.process.send_signal(signal.SIGINT)
        assert await found.ended() == 0
    text = "\n".join(found.logged)
    ends = re.findall(r"worker ended .* worker=(\d) how='(.*)' again_s=0.01", text)
    assert sorted(number for number, _ in ends) == ["1", "2"]
    assert sorted(how for _, how in ends) == ["by SIGKILL", "with exit code 7"]


async def test_workers_that_never_start_end_the_supervisor_with_their_code() -> None:
    failing = "import sys; sys.exit('the database is gone' if sys.argv[1:] else 3)"
    async with supervised(SUPERVISOR, sys.executable, "-c", failing) as found:
        assert await found.ended() == 3
    assert found.shown == []
    assert any("all workers stop" in line for line in found.logged)


async def test_command_that_cannot_be_run_ends_the_supervisor() -> None:
    async with supervised(SUPERVISOR, "/nowhere/plyhouse") as found:
        assert await found.ended() == 1


async def test_hangup_restarts_workers_one_after_the_other() -> None:
    async with supervised(SUPERVISOR) as found:
        await found.all_started()
        await found.until(lambda: bool(found.shown))
        before = set(found.workers)
        found.process.send_signal(signal.SIGHUP)
        await found.all_started(lives=2)
        await found.until(lambda: len(set(found.workers) - before) == 2)
        found.process.terminate()
        assert await found.ended() == 0
    lines = [each for each in found.logged if "worker restarts" in each or "] started" in each]
    assert [re.split("worker[= ]", each)[-1] for each in lines[2:]] == [
        "1",
        "1] started 1",
        "2",
        "2] started 2",
    ]
    assert not any("worker ended" in each for each in found.logged)


async def test_workers_end_when_the_supervisor_is_killed() -> None:
    async with supervised(SUPERVISOR) as found:
        await found.all_started()
        workers = found.workers
        found.process.kill()
        await found.process.wait()
        assert await gone(workers)


async def test_worker_that_does_not_stop_is_killed() -> None:
    deaf = WORKER.replace("stopped.set()", "None")
    program = SUPERVISOR.replace("stop=60", "stop=0.2")
    async with supervised(program, sys.executable, "-c", deaf) as found:
        await found.all_started()
        found.process.terminate()
        assert await found.ended() == 0
    assert sum("worker killed" in line for line in found.logged) == 2


async def test_output_held_open_by_a_grandchild_does_not_delay_the_restart() -> None:
    holding = (
        "import subprocess, sys; "
        "held = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        "print('Plyhouse is listening on x', flush=True); "
        "print(held.pid, file=sys.stderr)"
    )
    async with supervised(SUPERVISOR, sys.executable, "-c", holding, workers=1) as found:
        await found.until(lambda: sum("[worker 1] " in line for line in found.logged) >= 2)
        found.process.terminate()
        assert await found.ended() == 0
        for line in found.logged:
            if line.startswith("[worker 1] "):
                os.kill(int(line.rpartition(" ")[2]), signal.SIGKILL)


async def test_dead_nats_server_is_started_again() -> None:
    with nats_server():
        pass  # skips where there is none
    program = SUPERVISOR.replace(
        "sys.exit(supervise(command, environments, ",
        "from plyhouse.server.cluster.nats_server import LocalNats\n"
        "nats = LocalNats()\n"
        "nats.start()\n"
        "print(nats.pid, file=sys.stderr, flush=True)\n"
        "sys.exit(supervise(command, environments, nats=nats, ",
    )
    async with supervised(program) as found:
        await found.all_started()
        watcher = int(found.logged[0])
        (nats,) = children(watcher)
        os.kill(nats, signal.SIGKILL)
        await found.until(lambda: any("NATS ended" in line for line in found.logged))
        await found.until(lambda: len(found.workers) == 3 and watcher not in found.workers)
        found.process.terminate()
        assert await found.ended() == 0


async def test_servers_share_a_port() -> None:
    with nats_server():
        pass  # skips where there is none
    async with supervised(SERVERS, sys.executable, "-c", SERVER) as found:
        await found.until(lambda: bool(found.shown))
        url = found.shown[0].rpartition(" ")[2]
        port = int(url.rpartition(":")[2])
        assert len(found.workers) == 3  # with the NATS server
        with pytest.raises(CannotListen, match=f"Port {port} .*in use"):
            shared_port("127.0.0.1", port).__enter__()
        async with httpx.AsyncClient() as client:
            assert (await client.get(url)).status_code == 200
            for _ in range(4):  # whichever is asked
                plies = re.findall(
                    r'^plyhouse_plies_total{worker="(.)"} 0.0$',
                    (await client.get(f"{url}/metrics")).text,
                    re.M,
                )
                assert plies == ["1", "2"]
        assert listeners(port) == 2
        found.process.terminate()
        assert await found.ended() == 0


def test_shared_port_is_free_for_servers_that_share_it() -> None:
    with shared_port("127.0.0.1", 0) as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        for _ in range(2):
            with socket.socket() as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(("127.0.0.1", port))
                one.listen()


def test_worker_reads_its_part_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Worker(3, 8765, "nats://token@127.0.0.1:4222", "/run/x")
    for name, value in part.environment().items():
        monkeypatch.setenv(name, value)
    assert Worker.take() == part
    assert Worker.take() is None
