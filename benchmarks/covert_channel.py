"""How many bits a hosted bot can leave in the kernel for a bot of the next match.

    python benchmarks/covert_channel.py [--matches 10] [--bits 128]

A writer in a box leaves random bits in the state of library files, one a file. When its process has
ended, a reader in another box of the same tier says which bits it sees. Before each match the files
are as an adversary likes them best: out of the page cache, last read two days ago.

*right* is the part of all bits that the reader names correctly, *capacity* the bits that arrive in
a match: that of a binary symmetric channel with this error rate, times the bits that were sent.
*refused* is what stopped the writer or the reader. The last rows say what counts: what one match
knows of the dice of another one, in bits of each roll.

Capacity in bits per match of 2026-11-23, two busy cores, Linux 6.18, ext4 with relatime; before and
after the filter refused what asks about the page cache (3 and 2 matches each):

    channel                                    landlock          bubblewrap
    evict by fadvise, look by RWF_NOWAIT       128.0 -> 0        128.0 -> 0
    evict by fadvise, look by mincore            0.0 -> 0        124.7 -> 0
    evict by fadvise, look by time of pread      4.0 -> 0         48.8 -> 0
    fetch by readahead, look by RWF_NOWAIT     128.0 -> 0        128.0 -> 0
    read cold files, look by RWF_NOWAIT        128.0 -> 0        128.0 -> 0
    read cold files, look by cachestat           0.0 -> 0          0.0 -> 0
    read cold files, look by time of pread      50.4 -> 128.0     43.3 -> 123.3
    read cold files, look by page faults       128.0 -> 128.0    128.0 -> 128.0
    access times (atime)                       128.0 -> 128.0      0.1
    size of a log in the runner's folder         0                 0
    size of a log whose path it knows           14.0               0

The time of pread depends on the load of the machine. The dice of a mirrored match: 0.000 bits of
each roll on a server, 2.585 of 2.585 with one stream.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import socket
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from plyhouse.bots.sandbox.box import Box, Limits, SandboxError, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import Output, reader_of
from plyhouse.bots.sandbox.tiers import why_not
from plyhouse.clients.runner.packages import private_folder
from plyhouse.server.match.chance import SHARED_STREAM, Chance

DAY_NS: Final = 86_400 * 10**9
LARGE: Final = 8 << 10
"""Bytes that a library file has at least: two pages."""

CHANNELS: Final = {
    "evict by fadvise, look by RWF_NOWAIT": ("fadvise", "nowait"),
    "evict by fadvise, look by mincore": ("fadvise", "mincore"),
    "evict by fadvise, look by time of pread": ("fadvise", "time"),
    "fetch by readahead, look by RWF_NOWAIT": ("readahead", "nowait"),
    "read cold files, look by RWF_NOWAIT": ("read", "nowait"),
    "read cold files, look by cachestat": ("read", "cachestat"),
    "read cold files, look by time of pread": ("read", "time"),
    "read cold files, look by page faults": ("read", "faults"),
    "access times (atime)": ("read", "atime"),
    "size of a log in the runner's folder": ("log", "log"),
    "size of a log whose path it knows": ("log", "known log"),
}

BOT: Final = """
import ctypes, json, mmap, os, resource, sys, time

to = json.load(open("to.json"))
files, bits = to["files"], to["bits"]
libc = ctypes.CDLL(None, use_errno=True)


def syscall(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(how):
    if how == "log":
        return print("x" * bits[0], end="")
    for name, bit in zip(files, bits):
        file = os.open(name, os.O_RDONLY)
        if how == "fadvise":
            os.pread(file, 1 << 20, 0)
            if not bit:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        elif bit and how == "readahead":
            syscall(187, file, ctypes.c_size_t(0), ctypes.c_size_t(1 << 16))
        elif bit:
            os.pread(file, 1 << 20, 0)
        os.close(file)
    if how == "readahead":
        time.sleep(0.2)


def look(how, name):
    if how in ("log", "known log"):
        return os.stat(name).st_size
    file = os.open(name, os.O_RDONLY)
    try:
        if how == "nowait":
            try:
                return int(os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT) == 1)
            except BlockingIOError:
                return 0
        if how == "atime":
            return int(os.fstat(file).st_atime_ns > to["since"])
        if how == "time":
            before = time.perf_counter_ns()
            os.pread(file, 1, 0)
            return time.perf_counter_ns() - before
        if how == "cachestat":
            span, found = (ctypes.c_uint64 * 2)(0, 4096), (ctypes.c_uint64 * 5)()
            syscall(451, file, span, found, 0)
            return int(found[0] > 0)
        size = mmap.PAGESIZE
        pages = mmap.mmap(file, size, mmap.MAP_SHARED, mmap.PROT_READ)
        if how == "faults":
            before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
            pages[0]
            return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before)
        libc.mmap.restype = ctypes.c_void_p
        integer, size_t = ctypes.c_int, ctypes.c_size_t
        libc.mmap.argtypes = [ctypes.c_void_p, size_t, integer, integer, integer, ctypes.c_long]
        place, found = libc.mmap(None, size, 1, 1, file, 0), (ctypes.c_ubyte * 1)()
        syscall(27, ctypes.c_void_p(place), ctypes.c_size_t(size), found)
        return found[0] & 1
    finally:
        os.close(file)


try:
    if to["write"]:
        write(to["how"])
    else:
        found = [look(to["how"], name) for name in files]
        if to["how"] == "time":  # the widest gap between two times parts what is cached
            order = sorted(found)
            gaps = [(math_gap, at) for at, math_gap in enumerate(
                b / max(1, a) for a, b in zip(order, order[1:]))]
            edge = order[max(gaps)[1]] if gaps else 0
            found = [int(each <= edge) for each in found]
        print("BITS", json.dumps(found))
except OSError as error:
    print("REFUSED", error.strerror, flush=True)
sys.stdout.flush()
os._exit(0)
"""


def library(bits: int) -> list[str]:
    """Files that every bot may read and none is likely to."""
    top = Path(sysconfig.get_path("stdlib"))
    found = [path for path in sorted(top.rglob("*.py")) if path.stat().st_size >= LARGE]
    random.Random(1).shuffle(found)
    return [str(path) for path in found[:bits]]


def make_cold(files: list[str], now: int) -> None:
    """Put files out of the page cache, last read two days ago."""
    for name in files:
        stat = os.stat(name)
        os.utime(name, ns=(now - 2 * DAY_NS, stat.st_mtime_ns))
        file = os.open(name, os.O_RDONLY | os.O_NOATIME)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


async def run(fork_server: ForkServerClient, tier: Tier, folder: Path, **to: object) -> str:
    """Run a box to its end; return what it printed."""
    (folder / "to.json").write_text(json.dumps(to), "ascii")
    box = Box(tier=tier, folder=str(folder), bot=str(folder / "bot.py"), limits=Limits())
    ours, theirs = socket.socketpair()
    said, null = os.pipe(), os.open(os.devnull, os.O_RDWR)
    with ours, theirs:
        process = await fork_server.launch(box, (theirs.fileno(), null, said[1]))
        for descriptor in (null, said[1]):
            os.close(descriptor)
        reader, transport = await reader_of(said[0])
        output = Output(reader, transport, process)
        text = b""
        while data := await output.read(65536):
            text += data
        await process.wait()
    return text.decode(errors="replace")


def capacity(wrong: int, sent: int) -> float:
    """Bits that arrive of a bit that is sent, over a binary symmetric channel."""
    rate = wrong / sent if sent else 0.5
    if rate in (0.0, 1.0):
        return 1.0
    return 1 + rate * math.log2(rate) + (1 - rate) * math.log2(1 - rate)


async def measure(
    fork_server: ForkServerClient, tier: Tier, top: Path, name: str, matches: int, bits: int
) -> str:
    """Return the line of one channel."""
    write_how, look_how = CHANNELS[name]
    for role in ("writer", "reader"):
        (top / role).mkdir(exist_ok=True)
        (top / role / "bot.py").write_text(BOT, "ascii")
    files, rng = library(bits), random.Random(2)
    logs = private_folder(top / "runner") / "logs"
    logs.mkdir(exist_ok=True)
    guess = logs if look_how == "known log" else top / "runner" / "logs"
    wrong = sent = 0
    refused = ""
    for _ in range(matches):
        message = [rng.randrange(2) for _ in files]
        if write_how == "log":
            message = [rng.randrange(1, 1 << 14)]
        now = os.stat(top).st_ctime_ns
        since = now - DAY_NS
        make_cold(files, now)
        said = await run(fork_server, tier, top / "writer", write=True, how=write_how, bits=message,
                         files=files, since=since)  # fmt: skip
        (logs / "writer.log").write_text(said, "utf-8")
        looked = [str(guess / "writer.log")] if write_how == "log" else files
        answer = await run(fork_server, tier, top / "reader", write=False, how=look_how, bits=[],
                           files=looked, since=since)  # fmt: skip
        refused = next(
            (
                f"{role}: {line.removeprefix('REFUSED ')}"
                for role, text in (("writer", said), ("reader", answer))
                for line in text.splitlines()
                if line.startswith("REFUSED")
            ),
            "",
        )
        found: list[int] = next(
            (json.loads(line[5:]) for line in answer.splitlines() if line.startswith("BITS ")), []
        )
        if write_how == "log":
            expected, got = message[0], found[0] if found else rng.randrange(1 << 14)
            wrong += ((expected ^ got) & ((1 << 14) - 1)).bit_count()
            sent += 14
            continue
        found = found or [rng.randrange(2) for _ in message]
        wrong += sum(one != other for one, other in zip(message, found, strict=True))
        sent += len(message)
    each = sent / matches
    return (
        f"{tier.value:11} {name:42} {each:5.0f} {1 - wrong / sent:6.3f} "
        f"{0.0 if refused else each * capacity(wrong, sent):9.1f}  {refused}"
    )


def known(first: str, second: str, rolls: int) -> float:
    """Bits that a roll of one match tells of the same roll of the other (mutual information)."""
    seed, die = random.Random(3).randbytes(32), [(face, 1 / 6) for face in range(1, 7)]
    one, other = Chance(seed, first, ("aa", "bb")), Chance(seed, second, ("cc", "dd"))
    pairs = Counter((one.draw(n, die), other.draw(n, die)) for n in range(rolls))
    left = Counter({face: sum(n for (a, _), n in pairs.items() if a == face) for face in range(7)})
    right = Counter({face: sum(n for (_, b), n in pairs.items() if b == face) for face in range(7)})
    total = sum(n * math.log2(n * rolls / (left[a] * right[b])) for (a, b), n in pairs.items())
    return total / rolls


async def main() -> None:
    """Measure every channel of every tier."""
    parser = argparse.ArgumentParser(description="Measure covert channels between matches.")
    parser.add_argument("--matches", type=int, default=10)
    parser.add_argument("--bits", type=int, default=128)
    options = parser.parse_args()
    fork_server = await ForkServerClient.start()
    try:
        print(f"{'tier':11} {'channel':42} {'bits':>5} {'right':>6} {'capacity':>9}  refused")
        for tier in (Tier.LANDLOCK, Tier.BUBBLEWRAP):
            if problem := await why_not(fork_server, tier):
                print(f"{tier.value:11} {problem}")
                continue
            for name in CHANNELS:
                with tempfile.TemporaryDirectory(prefix="plyhouse-channel-") as folder:
                    os.chmod(folder, 0o755)
                    try:
                        print(await measure(fork_server, tier, Path(folder), name, options.matches,
                                            options.bits), flush=True)  # fmt: skip
                    except SandboxError as error:
                        print(f"{tier.value:11} {name:42} {error}")
    finally:
        await fork_server.close()
    print("\nwhat a match knows of a roll of its mirrored match, in bits (of 2.585)")
    print(f"  on a server, a stream each:    {known('match:a', 'match:b', 60_000):.3f}")
    print(f"  in plyhouse match, one stream: {known(SHARED_STREAM, SHARED_STREAM, 60_000):.3f}")


if __name__ == "__main__":
    asyncio.run(main())
