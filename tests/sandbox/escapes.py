"""Every promise of the sandbox, tried against the running kernel.

`try_promises` puts bots into boxes of a tier that try to break out, with something worth having
outside: a token file, another bot's program, a process to be signalled, listeners to be reached.
Reports that they cannot check themselves are checked from outside: that nothing is left behind.

``python -m tests.sandbox.escapes TIER`` prints the results as JSON, for tests that need another
user or other limits.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.sandbox import attempts
from tests.sandbox.attempts import ATTEMPTS

from plyhouse.bots.sandbox.box import Limits, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.probe_runner import UNENDED, run_program, write_program

__all__ = ["PROMISES", "Result", "Special", "kept", "try_promises"]

PROMISES: Final[dict[str, str]] = {
    "files": "it reads nothing but its own files, the interpreter and the libraries",
    "writing": "it writes, changes and locks no file",
    "network": "it reaches nobody, by any kind of socket",
    "processes": "it starts no process; its threads are bounded",
    "others": "it sees and touches no other process",
    "signals": "it signals nobody but itself",
    "kernel": "it has no use of what only an administrator may",
    "sharing": "it shares no memory, queue or semaphore",
    "memory": "its memory is bounded",
    "open files": "its open files are bounded",
    "limits": "it cannot lift its limits",
    "environment": "nothing of the runner's is in its environment, and it has no home",
    "output": "what it prints is bounded",
    "time": "its processor time and its life are bounded",
    "end": "nothing of it is left after the match",
}
"""By name, in the order in which they are shown."""

LIMITS: Final = Limits(memory=192 << 20, files=48, threads=32, output=1 << 20)

_ALL: Final = "from attempts import try_all\n\ntry_all()\n"


@dataclass(frozen=True, slots=True)
class Result:
    """One attempt."""

    name: str
    promise: str
    refused: bool
    """Or contained: it broke no promise."""
    how: str
    """The error that it met, or what it got."""


@dataclass(frozen=True, slots=True)
class Special:
    """A bot that tries one thing, and how the sandbox has to end it."""

    name: str
    promise: str
    program: str
    limits: Limits
    ends: str
    """Part of the reason of its end; empty if it must be asked to end."""


SPECIALS: Final = (
    Special(
        "print without end",
        "output",
        "while True:\n    print('x' * 1000)\n",
        Limits(output=64 << 10),
        "printed more",
    ),
    Special(
        "compute without end",
        "time",
        "while True:\n    pass\n",
        Limits(cpu_seconds=1),
        "processor time",
    ),
    Special(
        "sleep on after its time",
        "time",
        "import time\nwhile True:\n    time.sleep(60)\n",
        Limits(wall_seconds=0.5),
        "it ran for",
    ),
    Special(
        "a bomb of threads",
        "processes",
        "import resource, threading\nthreading.stack_size(65536)\nover = threading.Event()\n"
        "hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))\n"
        "try:\n    for number in range(400):\n"
        "        threading.Thread(target=over.wait, daemon=True).start()\n"
        "    over.wait(3)\n"
        "except (RuntimeError, MemoryError) as error:\n    print(error, 'after', number)\n"
        "over.set()\n",
        Limits(threads=32),
        "threads|can't start new thread",
    ),
    Special(
        "a bomb of processes",
        "processes",
        "import os, time\n"
        "try:\n    for number in range(400):\n"
        "        if os.fork() == 0:\n            time.sleep(30)\n            os._exit(0)\n"
        "    time.sleep(3)\n"
        "except OSError as error:\n    print(error, 'after', number)\n    time.sleep(0.3)\n",
        Limits(processes=16),
        "processes;|Operation not permitted",
    ),
    Special(
        "memory piece by piece",
        "memory",
        "kept = []\ntry:\n    while True:\n        kept.append(bytearray(1 << 20))\n"
        "except MemoryError:\n    print('MemoryError after', len(kept), 'MiB')\n",
        Limits(memory=192 << 20),
        "MemoryError|MiB of memory",
    ),
    Special(
        "stay when the match is over, deaf to signals",
        "end",
        "import signal, time\n"
        "for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\nwhile True:\n    time.sleep(60)\n",
        Limits(),
        "",
    ),
    Special(
        "leave a tree of processes behind, each in a session of its own",
        "end",
        "import os, time\n"
        "for number in range(6):\n"
        "    try:\n        if os.fork() == 0:\n            os.setsid()\n"
        "            if number % 2:\n                os.fork()\n            time.sleep(600)\n"
        "    except OSError as error:\n        print(error, flush=True)\n        break\n"
        "print('deaf', flush=True)\ntime.sleep(600)\n",
        Limits(),
        "",
    ),
)


def kept(results: list[Result]) -> dict[str, bool]:
    """Which promises hold: those that no attempt has broken."""
    return {
        promise: all(result.refused for result in results if result.promise == promise)
        for promise in PROMISES
    }


async def try_promises(fork_server: ForkServerClient, tier: Tier) -> list[Result]:
    """Try everything on one tier; it has to work here (`plyhouse.bots.sandbox.tiers.why_not`)."""
    with tempfile.TemporaryDirectory(prefix="plyhouse-sandbox-") as name:
        place = Path(name)
        async with _targets(place, fork_server) as targets:
            own = write_program(place, "own", _ALL)
            shutil.copytree(Path(attempts.__file__).parent, own / "attempts")
            (own / "targets.json").write_text(json.dumps(targets), "ascii")
            (own / "spare.txt").write_text("spare", "ascii")
            tried = await asyncio.gather(
                _all_attempts(fork_server, tier, own),
                *[_special(fork_server, tier, place, special) for special in SPECIALS],
            )
            results = [result for group in tried for result in group]
            results.append(_left_behind(place))
        order = list(PROMISES)
        return sorted(results, key=lambda result: order.index(result.promise))


async def _all_attempts(fork_server: ForkServerClient, tier: Tier, folder: Path) -> list[Result]:
    said, how = await run_program(fork_server, tier, folder, LIMITS)
    results = []
    for line in said.splitlines():
        with contextlib.suppress(ValueError):
            name, promise, refused, got = json.loads(line)
            results.append(Result(name, promise, refused, got))
    for name, (promise, _) in ATTEMPTS.items():
        if name not in {result.name for result in results}:
            results.append(Result(name, promise, False, f"it was not tried: {how}; {said[-300:]}"))
    return results


async def _special(
    fork_server: ForkServerClient, tier: Tier, place: Path, special: Special
) -> list[Result]:
    folder = write_program(place, special.name.replace(" ", "-"), special.program)
    said, how = await run_program(
        fork_server, tier, folder, special.limits, until="" if special.ends else "deaf"
    )
    if special.ends:
        told = f"{how}\n{said}"
        refused = any(end in told for end in special.ends.split("|"))
        broke = how if how != "exit code 0" else said[-200:].strip()
        return [Result(special.name, special.promise, refused, broke)]
    gone = how != UNENDED
    return [Result(special.name, special.promise, gone, how)]


def _left_behind(place: Path) -> Result:
    """Look for processes that still work in one of our folders."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd").startswith(str(place)):
                found.append(name)
    how = f"processes {', '.join(found)}" if found else "no process is left"
    return Result("processes after the match", "end", not found, how)


@asynccontextmanager
async def _targets(place: Path, fork_server: ForkServerClient) -> AsyncIterator[dict[str, Any]]:
    """The targets outside of the box."""
    secret, mark = secrets.token_hex(8), f"plyhouse-{secrets.token_hex(4)}"
    (place / "token").write_text(f"ply_{secret}", "ascii")
    (place / "home").mkdir()
    (place / "home" / "thesis.txt").write_text("not yet", "ascii")
    other = write_program(place, "other", "SECRET = 'the opening of the other bot'\n")
    canary = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        "trap '' USR1; while :; do sleep 60; done",
        env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PLYHOUSE_TOKEN": secret},
        start_new_session=True,
    )
    with contextlib.ExitStack() as open_ones:
        listeners = {
            "tcp": socket.create_server(("127.0.0.1", 0)),
            "udp": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "unix": socket.socket(socket.AF_UNIX),
            "datagrams": socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
            "abstract": socket.socket(socket.AF_UNIX),
        }
        for each in listeners.values():
            open_ones.enter_context(each)
        listeners["udp"].bind(("127.0.0.1", 0))
        listeners["unix"].bind(str(place / "unix"))
        listeners["unix"].listen()
        listeners["datagrams"].bind(str(place / "datagrams"))
        listeners["abstract"].bind("\0" + mark)
        listeners["abstract"].listen()
        for path in (place / "unix", place / "datagrams"):
            path.chmod(0o777)
        try:
            yield {
                "token": str(place / "token"),
                "other": str(other / "bot.py"),
                "home": str(place / "home"),
                "canary": canary.pid,
                "fork_server": fork_server.pid,
                "tcp": listeners["tcp"].getsockname()[1],
                "udp": listeners["udp"].getsockname()[1],
                "unix": str(place / "unix"),
                "datagrams": str(place / "datagrams"),
                "abstract": mark,
                "mark": mark,
                "secret": secret,
                "memory": LIMITS.memory,
                "files": LIMITS.files,
                "processors": os.cpu_count() or 1,
            }
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(canary.pid, signal.SIGKILL)
            await canary.wait()
            for shared in (Path("/dev/shm"), Path(tempfile.gettempdir())):
                for path in shared.glob(f"{mark}*"):
                    path.unlink(missing_ok=True)


async def _report(tier: Tier) -> None:
    fork_server = await ForkServerClient.start()
    try:
        results = await try_promises(fork_server, tier)
    finally:
        await fork_server.close()
    sys.stdout.write(json.dumps([asdict(result) for result in results]))


if __name__ == "__main__":
    asyncio.run(_report(Tier(sys.argv[1])))
