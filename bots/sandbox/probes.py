"""Ways in which a bot tries to break out, run inside of its box.

Each function returns what it got, or raises `OSError` or `MemoryError` if it was refused.  Limits
that the box supervisor enforces end the bot instead.  Nothing here harms the machine if an attempt
succeeds.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plyhouse.bots.sandbox.box import Limits

__all__ = ["PROBES", "REFUSED", "TARGET", "WORKED", "Probe", "run_probe"]

TARGET: Final = "target.json"
"""The file in the folder of the box that says what to try to reach."""

REFUSED: Final = "refused: "
WORKED: Final = "worked: "

_ORDINARY: Final = Limits()
_MEMORY: Final = 192 << 20
_PROCESSES: Final = 16
_WATCHED: Final = 1.0
"""Seconds that a probe stays above a limit; the box supervisor looks ten times a second."""


def _read_files(target: dict[str, Any]) -> object:
    return _first(target["files"], lambda path: path if Path(path).read_bytes() else "empty")


def _write_files(target: dict[str, Any]) -> object:
    def write(path: str) -> str:
        Path(path).touch(exist_ok=False)
        Path(path).unlink()
        return path

    return _first(target["places"], write)


def _first(paths: list[str], attempt: Callable[[str], str]) -> str:
    """Return what the first path yields that works; raise the last refusal if none does."""
    refusal: OSError | None = None
    for path in paths:
        try:
            return attempt(path)
        except OSError as error:
            refusal = error
    raise refusal or ValueError("a probe needs paths")


def _connect(target: dict[str, Any]) -> object:
    with socket.create_connection(("127.0.0.1", target["port"]), timeout=30) as connection:
        return connection.getpeername()


def _reach_process(target: dict[str, Any]) -> object:
    try:
        return Path(f"/proc/{target['process']}/cmdline").read_bytes()
    except OSError:
        os.kill(target["process"], 0)
        return f"process {target['process']} can be signalled"


def _fill_memory(_: dict[str, Any]) -> object:
    kept = [bytearray(4 << 20) for _ in range((_MEMORY >> 22) + 8)]
    time.sleep(_WATCHED)
    return f"{4 * len(kept)} MiB"


def _compute(_: dict[str, Any]) -> object:
    while time.process_time() < 10:
        pass
    return "10 seconds"


def _start_processes(_: dict[str, Any]) -> object:
    for _number in range(2 * _PROCESSES):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    time.sleep(_WATCHED)
    return f"{2 * _PROCESSES} processes"


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that a bot tries."""

    sentence: str
    """Statement that holds if the box refuses it."""
    attempt: Callable[[dict[str, Any]], object]
    limits: Limits = _ORDINARY


PROBES: Final[dict[str, Probe]] = {
    "files": Probe("A bot cannot read the server's database or other private files.", _read_files),
    "writing": Probe("A bot cannot write files.", _write_files),
    "network": Probe("A bot cannot connect to anything, not even this machine.", _connect),
    "others": Probe("A bot cannot see or signal processes of others.", _reach_process),
    "memory": Probe(
        "A bot cannot use more memory than its limit.", _fill_memory, Limits(memory=_MEMORY)
    ),
    "processor": Probe(
        "A bot cannot use more processor time than its limit.", _compute, Limits(cpu_seconds=1)
    ),
    "processes": Probe(
        "A bot cannot start processes beyond its limit.",
        _start_processes,
        Limits(processes=_PROCESSES),
    ),
}
"""By name, in the order in which `plyhouse doctor sandbox` shows them."""


def run_probe(name: str) -> None:
    """Run one probe and print how it went, on a line that starts with `REFUSED` or `WORKED`."""
    target = json.loads(Path(TARGET).read_text("ascii"))
    try:
        said = f"{WORKED}{PROBES[name].attempt(target)}"
    except (MemoryError, OSError) as error:
        said = f"{REFUSED}{str(error) or type(error).__name__}"
    sys.stdout.write(said + "\n")
    sys.stdout.flush()
