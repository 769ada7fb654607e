"""Several server processes on one machine: started, started again when they end, and stopped.

Each worker runs the same command.  The supervisor passes its output on: lines of the log with the
number of the worker, lines for people once.  A worker learns from its standard
input that the supervisor has ended, however that happened (`plyhouse.server.worker`).

- SIGTERM and SIGINT stop all workers at once.  A second SIGINT kills them.
- SIGHUP restarts them one after the other, each when the one before it is ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.gateway.membership import ClusterError
from plyhouse.server.serve import shared_port
from plyhouse.server.worker import Worker

log = logging.getLogger("plyhouse.server.supervisor")

READY: Final = "Plyhouse is listening on "
"""Beginning of the line on standard output that says that a worker is ready."""
ATTEMPTS: Final = 3
"""How often a worker may fail before all of them were ready once."""
LOOK_S: Final = 0.5
"""Time between two looks at the NATS server."""
LINE_BYTES: Final = 1024 * 1024
"""Longest line of a worker that is passed on in one piece."""
REST_S: Final = 1.0
"""Time for the last output of a worker that ended: what it started may keep its pipes open."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a supervisor waits, in seconds."""

    pause: float = 0.5
    """Before a worker that ended is started again; it doubles."""
    most_pause: float = 15.0
    """Limit of this doubling."""
    well: float = 30.0
    """A worker that lives longer than this begins with the first pause again."""
    stop: float = 60.0
    """For a worker to end after SIGTERM, before it is killed."""


def serve_workers(
    command: Sequence[str], count: int, host: str, port: int, cluster: str = ""
) -> int:
    """Run a command as ``count`` workers on one port until a signal; return the exit code.

    The command calls `plyhouse.server.worker.Worker.take` and serves with what that returns.
    Without the address of a NATS server in ``cluster`` this starts one for the time.  Raises
    `CannotListen` if the port is in use, `ClusterError` if NATS cannot be started.
    """
    with contextlib.ExitStack() as stack:
        number = stack.enter_context(shared_port(host, port))
        nats = None if cluster else stack.enter_context(LocalNats())
        url = nats.url if nats is not None else cluster
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="plyhouse-"))
        environments = [
            Worker(each, number, url, folder).environment() for each in range(1, count + 1)
        ]
        return supervise(command, environments, nats=nats)


def supervise(
    command: Sequence[str],
    environments: Sequence[Mapping[str, str]],
    *,
    nats: LocalNats | None = None,
    timing: Timing | None = None,
) -> int:
    """Run a command once for each environment until a signal stops them; return the exit code.

    The environments are added to that of this process.  ``nats`` is a started NATS server, which
    is started again if it ends; the caller stops it.  The code is 0 after a signal.  If a worker
    fails `ATTEMPTS` times before all were ready once, it is the code of that worker.
    """
    return asyncio.run(_Supervisor(command, environments, nats, timing or Timing()).run())


class _Worker:
    """One process, and those before it."""

    def __init__(self, number: int, environment: Mapping[str, str]) -> None:
        self.number = number
        self.environment = environment
        self.process: asyncio.SubprocessTransport | None = None
        self.ready = asyncio.Event()
        self.was_ready = False
        """True once any of its processes was ready."""
        self.restarting = False
        """True if its process should end so that another takes its place."""
        self.failures = 0
        """Ends in a row that were not asked for."""


class _Process(asyncio.SubprocessProtocol):
    """Splits the output of a process into lines, and notes its end.

    ``show`` is given the number of the stream, 1 or 2, and a line.
    """

    def __init__(self, show: Callable[[int, str], None]) -> None:
        self._show = show
        self._begun = {1: b"", 2: b""}
        """The beginning of a line, for each open stream."""
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        """Set when both streams have ended."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Show the lines that are complete."""
        *lines, rest = (self._begun[fd] + data).split(b"\n")
        if len(rest) > LINE_BYTES:
            lines, rest = [*lines, rest], b""
        self._begun[fd] = rest
        for line in lines:
            self._show(fd, line.decode(errors="replace").rstrip("\r"))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Show the last line, even if it has no end."""
        if rest := self._begun.pop(fd, b""):
            self._show(fd, rest.decode(errors="replace"))
        if not self._begun:
            self.drained.set()

    def process_exited(self) -> None:
        """Wake up the supervisor."""
        self.exited.set()


class _Supervisor:
    def __init__(
        self,
        command: Sequence[str],
        environments: Sequence[Mapping[str, str]],
        nats: LocalNats | None,
        timing: Timing,
    ) -> None:
        self._command = command
        self._workers = [_Worker(*each) for each in enumerate(environments, start=1)]
        self._nats = nats
        self._timing = timing
        self._stopping = asyncio.Event()
        self._code = 0
        self._restarts = asyncio.Event()
        self._announced: dict[str, None] = {}
        """Lines for people, in order, until all workers are ready; then those that were shown."""
        self._all_ready = False

    async def run(self) -> int:
        """Run the workers until they have ended; return the exit code."""
        others = [asyncio.create_task(self._restart_when_asked())]
        if self._nats is not None:
            others.append(asyncio.create_task(self._keep_nats(self._nats)))
        try:
            with self._signals():
                await asyncio.gather(*map(self._keep, self._workers))
        finally:
            for each in others:
                each.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        return self._code

    # one worker

    async def _keep(self, worker: _Worker) -> None:
        """Run a worker, again and again."""
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._live(worker)
            if self._stopping.is_set():
                return
            if worker.restarting:
                worker.restarting = False
                continue
            if loop.time() - began > self._timing.well:
                worker.failures = 0
            worker.failures += 1
            if not self._all_ready and worker.failures >= ATTEMPTS:
                log.error(
                    "all workers stop", extra={"worker": worker.number, "why": "it does not start"}
                )
                self._code = code if code > 0 else 1
                self._stop()
                return
            pause = min(self._timing.pause * 2 ** (worker.failures - 1), self._timing.most_pause)
            log.error(
                "worker ended",
                extra={"worker": worker.number, "how": _how(code), "again_s": pause},
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()

    async def _live(self, worker: _Worker) -> int:
        """One process of a worker; return its exit code."""
        worker.ready.clear()

        def show(descriptor: int, line: str) -> None:
            if descriptor == 1:
                self._announce(worker, line)
            else:
                _log_line(worker, line)

        try:
            worker.process, process = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Process(show),
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **worker.environment},
                start_new_session=True,  # Ctrl-C must reach it through the supervisor only.
            )
        except OSError as error:
            log.error("worker not started", extra={"worker": worker.number, "why": str(error)})
            return 1
        if self._stopping.is_set():  # The signal came while it was being started.
            self._end(worker)
        await process.exited.wait()
        code = worker.process.get_returncode()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_S):
                await process.drained.wait()
        worker.process.close()
        worker.process = None
        return code or 0

    def _announce(self, worker: _Worker, line: str) -> None:
        """Show a line for people once, when all workers are ready."""
        shown = line in self._announced
        self._announced[line] = None
        if line.startswith(READY):
            worker.ready.set()
            worker.was_ready = True
        if self._all_ready:
            if not shown:
                _show(line)
        elif all(each.was_ready for each in self._workers):
            self._all_ready = True
            for each in self._announced:
                _show(each)

    # all workers

    async def _restart_when_asked(self) -> None:
        """Restart the workers one after the other at each SIGHUP."""
        while True:
            await self._restarts.wait()
            self._restarts.clear()
            for worker in self._workers:
                if worker.process is None or not worker.ready.is_set():
                    continue  # It is being started anyway.
                log.info("worker restarts", extra={"worker": worker.number})
                worker.ready.clear()
                worker.restarting = True
                self._end(worker)
                await worker.ready.wait()

    async def _keep_nats(self, nats: LocalNats) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if not nats.running and not self._stopping.is_set():
                log.error("NATS ended")
                try:
                    await asyncio.to_thread(nats.start)
                except ClusterError as error:
                    log.error("NATS not started", extra={"why": str(error)})

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            if self._stopping.is_set() and number == signal.SIGINT:
                for worker in self._workers:
                    _send(worker, signal.SIGKILL)
            self._stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._restarts.set)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            for worker in self._workers:
                self._end(worker)

    def _end(self, worker: _Worker) -> None:
        """Tell a worker to end, and kill it if it does not."""
        process = worker.process
        _send(worker, signal.SIGTERM)

        def kill() -> None:
            if worker.process is process:
                log.error("worker killed", extra={"worker": worker.number, "why": "no end in time"})
                _send(worker, signal.SIGKILL)

        if process is not None:
            asyncio.get_running_loop().call_later(self._timing.stop, kill)


def _show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _log_line(worker: _Worker, line: str) -> None:
    """Pass on a line of a worker's log with its number."""
    if line.startswith("{"):
        line = f'{{"worker": {worker.number}, {line[1:]}'
    else:
        line = f"[worker {worker.number}] {line}"
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _send(worker: _Worker, number: signal.Signals) -> None:
    if worker.process is not None:
        with contextlib.suppress(ProcessLookupError):
            worker.process.send_signal(number)


def _how(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
