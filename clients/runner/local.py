"""The runner that ``plyhouse serve --hosted`` starts, so that one command is enough.

It is an ordinary ``plyhouse runner`` in its own process; you can add others.
It ends with the server, however that ends: its standard input is a pipe from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from typing import Final

from plyhouse.protocol.hosting.runner_messages import machine_name
from plyhouse.server.accounts.builtin_bots import builtin_token
from plyhouse.server.serve import RunningServer

log = logging.getLogger("plyhouse.local_runner")

LABEL: Final = "runner of the server itself"
"""The name of its token, which is valid for this run."""
LOCAL: Final = "local"
"""The name of the runner of a single server; begins those of a cluster."""
PAUSES: Final = (0.2, 2.0, 10.0, 60.0)
"""Seconds between the death of the process and its next start, after each death in a row."""
WELL_SECONDS: Final = 60.0
"""A process that has lived for so long was all right."""
LONGEST: Final = 16 << 10
"""Bytes of a line that are looked at."""
STOP_SECONDS: Final = 20.0


@contextlib.asynccontextmanager
async def local_runner(server: RunningServer) -> AsyncIterator[None]:
    """Run a server's own runner during the ``async with`` block."""
    keeping = asyncio.create_task(_keep(server))
    try:
        yield
    finally:
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeping


async def _keep(server: RunningServer) -> None:
    """Start the runner, and again whenever it ends."""
    _, token = await builtin_token(server.hub.store, LABEL, "runner")
    name = LOCAL
    if server.hub.config.cluster:  # each of its servers may have a runner
        name = machine_name(socket.gethostname(), f"{LOCAL}-{server.port}-")
    deaths = 0
    while True:
        began = time.monotonic()
        try:
            last = await _live(server.url, name, token)
        except (OSError, ValueError) as error:
            last = str(error)
        if time.monotonic() - began > WELL_SECONDS:
            deaths = 0
        pause = PAUSES[min(deaths, len(PAUSES) - 1)]
        deaths += 1
        log.error("runner ended", extra={"why": last or "no reason", "again_s": pause})
        await asyncio.sleep(pause)


async def _live(url: str, name: str, token: str) -> str:
    """One life of the process; returns the last that it said."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PLYHOUSE_")}
    if "PLYHOUSE_PURE" in os.environ:
        kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "plyhouse.clients.cli.main",
        "runner",
        "--server",
        url,
        "--name",
        name,
        "--while-stdin",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        # The environment of a process is its user's alone, other than its command line.
        env={**kept, "PLYHOUSE_TOKEN": token},
        # Ctrl-C is for the server, which ends its runner when the players have been told.
        start_new_session=True,
    )
    last = ""
    try:
        if process.stdout is None:
            raise RuntimeError("a pipe that was asked for is missing")
        async for line in lines_of(process.stdout):
            last = line
            log.debug("%s", last)
        await process.wait()
    finally:
        if process.returncode is None:
            await _end(process)
    return last


async def lines_of(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """The lines of a stream, of each `LONGEST` at most: bots have a word in what a runner says."""
    kept = b""
    while chunk := await stream.read(LONGEST):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            yield (kept + line)[:LONGEST].decode(errors="replace").rstrip()
            kept = b""
        kept = (kept + last)[:LONGEST]
    if kept:
        yield kept.decode(errors="replace").rstrip()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.communicate()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
