"""Runs programs in boxes to see what a sandbox denies them on this machine.

`probe_tier` runs each of `plyhouse.bots.sandbox.probes` in a separate box, beside a file, a
listener and a process that it must not reach. `plyhouse doctor sandbox` shows the results; the
tests of the sandbox try more than a hundred further ways.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.bots.sandbox.box import Box, Limits, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import Output, reader_of
from plyhouse.bots.sandbox.probes import PROBES, REFUSED, TARGET, WORKED

__all__ = ["UNENDED", "ProbeResult", "probe_tier", "run_program", "write_program"]

PATIENCE: Final = 300.0
"""Seconds after which `run_program` gives up; a busy machine leaves bots little time."""

UNENDED: Final = "it did not end"
"""How a program ended that `run_program` had to give up."""

_PROGRAM: Final = "from plyhouse.bots.sandbox.probes import run_probe\n\nrun_probe({name!r})\n"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How one probe went on one tier."""

    name: str
    sentence: str
    holds: bool
    answer: str
    """Answer of the kernel or the box supervisor, or the result that the bot got."""


async def probe_tier(
    fork_server: ForkServerClient, tier: Tier, files: Sequence[Path] = ()
) -> list[ProbeResult]:
    """Run all probes on a tier that works here (`plyhouse.bots.sandbox.tiers.why_not`).

    ``files`` are files of the server that a bot must not read, beside one that this function
    writes.
    """
    with tempfile.TemporaryDirectory(prefix="plyhouse-sandbox-") as name:
        place = Path(name)
        async with _target(place, files) as target:
            return list(
                await asyncio.gather(
                    *[_probe(fork_server, tier, place, name, target) for name in PROBES]
                )
            )


async def _probe(
    fork_server: ForkServerClient, tier: Tier, place: Path, name: str, target: Mapping[str, object]
) -> ProbeResult:
    probe = PROBES[name]
    folder = write_program(place, name, _PROGRAM.format(name=name))
    (folder / TARGET).write_text(json.dumps(target), "ascii")
    said, how = await run_program(fork_server, tier, folder, probe.limits)
    answers = [line for line in said.splitlines() if line.startswith((REFUSED, WORKED))]
    if answers:
        holds, answer = answers[0].startswith(REFUSED), answers[0].partition(": ")[2]
    elif how == UNENDED or how.startswith("exit code"):  # a probe that fails shows nothing
        holds, answer = False, f"{how}: {said[-300:].strip()}"
    else:
        holds, answer = True, how
    return ProbeResult(name, probe.sentence, holds, answer)


@asynccontextmanager
async def _target(place: Path, files: Sequence[Path]) -> AsyncIterator[dict[str, object]]:
    """Things outside of the box: a file, a listener and a process."""
    private = place / "private"
    private.write_text("a token of the server", "ascii")
    process = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            yield {
                "files": [str(path.resolve()) for path in (private, *files)],
                "places": [str(Path(folder) / place.name) for folder in _writable(place)],
                "port": listener.getsockname()[1],
                "process": process.pid,
            }
    finally:
        process.kill()
        await process.wait()


def _writable(place: Path) -> list[str]:
    return [".", tempfile.gettempdir(), "/dev/shm", str(place)]  # noqa: S108 - the box must refuse it


def write_program(place: Path, name: str, program: str) -> Path:
    """Write a submission of one file below ``place``; return its folder."""
    folder = place / "submissions" / name
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(program, "ascii")
    return folder


async def run_program(
    fork_server: ForkServerClient, tier: Tier, folder: Path, limits: Limits, *, until: str = ""
) -> tuple[str, str]:
    """Run the ``bot.py`` of a folder until it ends, or end it once it prints ``until``.

    Returns what it printed, and how it ended.
    """
    ours, theirs = socket.socketpair()
    stand_read, stand_write = os.pipe()
    read_end, write_end = os.pipe()
    cores = sorted(os.sched_getaffinity(0))
    box = Box(
        tier=tier,
        folder=str(folder),
        bot=str(folder / "bot.py"),
        limits=limits,
        core=cores[0] if cores else None,
    )
    with ours, theirs:
        try:
            process = await fork_server.launch(box, (theirs.fileno(), stand_write, write_end))
        finally:
            os.close(write_end)
            os.close(stand_write)
            os.close(stand_read)
        theirs.close()
        reader, transport = await reader_of(read_end)
        output = Output(reader, transport, process)
        said = b""
        try:
            async with asyncio.timeout(PATIENCE):
                while piece := await output.read(65536):
                    said += piece
                    if until and until.encode() in said:
                        process.kill()
                        break
                ending = await process.wait()
            how = output.flooded or ending.why or f"exit code {ending.code}"
        except TimeoutError:
            process.kill()
            how = UNENDED
        finally:
            transport.close()
    return said.decode(errors="replace"), how
