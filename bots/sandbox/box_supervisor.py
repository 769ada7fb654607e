"""The process between the fork server and one bot: it starts the bot, watches it and cleans up.

It adopts the orphaned processes of its box, so nothing outlives the box.  It runs unconfined, holds
a leash (a socket) to the fork server and nothing else, and never reads what the bot sends.  When
the fork server ends, the leash closes, and the supervisor ends the box.

In the tier of bubblewrap, its command gives the bot separate namespaces.  Everything is unshared:
files, processes, network, IPC, users, host name, cgroups.  Files that the bot may read are bound
read-only in their usual places; nothing can be written.  Inside, `confine` sets the same limits and
the same filter of system calls as elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Final, NoReturn

import msgspec

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import (
    Box,
    BoxExit,
    Ended,
    Refused,
    SandboxError,
    Started,
    Tier,
    packet,
)
from plyhouse.bots.sandbox.confine import ENVIRONMENT, enter, libraries

__all__ = ["bubblewrap_command", "guard", "inner_process"]


def bubblewrap_command(box: Box, keep: tuple[int, ...], info: int) -> list[str]:
    """Return the command that runs ``box``; raises `SandboxError` if there is no bubblewrap.

    ``keep`` are descriptors that the bot is served by, ``info`` that on which bubblewrap says
    which process is the bot (`inner_process`).
    """
    program = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if program is None:
        raise SandboxError("bubblewrap is not installed (Debian, Fedora: the package bubblewrap)")
    wanted = [*libraries(), *box.readable, box.folder, *_program(box)]
    command = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
    command += ["--uid", "65534", "--gid", "65534", "--cap-drop", "ALL", "--as-pid-1"]
    command += ["--info-fd", str(info), "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    for path in _outermost(wanted):
        command += ["--ro-bind", path, path]
    # An environment's python is a link; the path that it is called by says which environment.
    command += ["--ro-bind", os.path.realpath(sys.executable), sys.executable]
    # These are links on most systems.
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
    command += ["--dev-bind", "/dev/null", "/dev/null", "--ro-bind", "/dev/urandom", "/dev/urandom"]
    command += ["--proc", "/proc", "--remount-ro", "/", "--chdir", box.folder]
    inner = msgspec.structs.replace(box, uid=None)
    return [
        *command,
        "--",
        sys.executable,
        "-I",  # nothing of the folder, the user or the environment changes what is imported
        "-u",
        "-m",
        "plyhouse.bots.sandbox.confine",
        msgspec.json.encode(inner).decode(),
        *[str(descriptor) for descriptor in keep],
    ]


def _program(box: Box) -> list[str]:
    """Return the file of a program that is no part of the submission, as ``node``."""
    if not box.command or "/" in box.command[0]:
        return []
    place = shutil.which(box.command[0])
    if place is None:
        return []
    # /bin may be a link to /usr/bin; the link is made below, so nothing may lie in it before
    return [
        os.path.realpath(place),
        os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place)),
    ]


def _outermost(paths: list[str]) -> list[str]:
    """Return the existing paths that lie in none of the others."""
    there = [path for path in dict.fromkeys(paths) if os.path.lexists(path)]
    real = [path for path in there if not os.path.islink(path) or os.path.isfile(path)]
    return [
        path
        for path in real
        if not any(path != other and path.startswith(other.rstrip("/") + "/") for other in real)
    ]


def inner_process(info: int) -> int | None:
    """Read which process bubblewrap has started; None if it has started none."""
    with os.fdopen(info, "rb") as file:
        text = file.read()
    with contextlib.suppress(ValueError, KeyError):
        return int(json.loads(text)["child-pid"])
    return None


LOOK_EVERY: Final = 0.1
"""Seconds between two looks at what a box uses."""

CLEANING: Final = 10.0
"""Seconds to be rid of what a box has left behind."""

_MIB: Final = 1 << 20


def guard(number: int, box: Box, descriptors: list[int], leash: socket.socket) -> NoReturn:
    """Be the supervisor of one box until it is gone; runs in a separate process."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kernel.close_others([*descriptors, leash.fileno()])
        kernel.subreaper()
        _guard(number, box, descriptors, leash)
    except Exception as error:  # there is nobody else to tell
        with contextlib.suppress(OSError):
            leash.send(packet(Refused(number, f"{type(error).__name__}: {error}")))
    finally:
        _clean()
        os._exit(0)


def _guard(number: int, box: Box, descriptors: list[int], leash: socket.socket) -> None:
    began = time.monotonic()
    read_end, write_end = os.pipe()  # what went wrong before the bot took over
    info: int | None = None
    info_end: int | None = None
    if box.tier is Tier.BUBBLEWRAP:
        info, info_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(box, descriptors, write_end, info_end)
    for descriptor in (*descriptors, write_end, *([info_end] if info_end is not None else [])):
        os.close(descriptor)
    with os.fdopen(read_end, "rb") as report:
        problem = report.read()
    if problem:
        os.waitpid(pid, 0)
        leash.send(packet(Refused(number, problem.decode(errors="replace"))))
        return
    bot = pid
    if info is not None:
        bot = inner_process(info) or pid
    leash.send(packet(Started(number, bot)))
    why = _watch(box, pid, leash, began)
    if why is not None:
        _kill_all()
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if box.tier is Tier.BUBBLEWRAP and code > 128:
        code = 128 - code  # as a shell tells of signals
    cpu = usage.ru_utime + usage.ru_stime
    # The kernel's first word at the limit, and its last a second later.
    spent = code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu >= box.limits.cpu_seconds)
    if why is None and spent:
        why = f"it used up its {box.limits.cpu_seconds} s of processor time"
    if why is None and code == -signal.SIGSYS:
        why = "it used system calls of another architecture"
    _clean()
    with contextlib.suppress(OSError):
        leash.send(packet(Ended(number, BoxExit(code=code, why=why or ""))))


def _become(box: Box, descriptors: list[int], report: int, info: int | None) -> NoReturn:
    """In the child: take the descriptors' places, be confined, be the bot."""
    try:
        # In this order none lands where another still waits to be moved from: all are above 2.
        if box.command:
            for place, descriptor in enumerate(descriptors):
                os.dup2(descriptor, place)
            keep: tuple[int, ...] = ()
        else:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(descriptors[2], 1)
            os.dup2(descriptors[2], 2)
            keep = (descriptors[0], descriptors[1])
        os.setsid()
        kernel.stand_back(box.nice)
        if info is None:
            enter(box, keep, report)
        for descriptor in (*keep, info):
            os.set_inheritable(descriptor, True)
        kernel.die_with_parent()
        command = bubblewrap_command(box, keep, info)
        kernel.close_others((*keep, info, report))
        os.execve(command[0], command, ENVIRONMENT)  # noqa: S606
    except (OSError, SandboxError) as error:
        os.write(report, str(error).encode())
    except BaseException as error:
        os.write(report, f"{type(error).__name__}: {error}".encode())
    finally:
        sys.stdout = sys.stderr = None
        os._exit(1)


def _watch(box: Box, pid: int, leash: socket.socket, began: float) -> str | None:
    """Return when the program has ended (None) or has to be ended, and why (empty: asked)."""
    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(leash, select.POLLIN)
    try:
        while True:
            ready = [descriptor for descriptor, _ in poll.poll(LOOK_EVERY * 1000)]
            if ended in ready:
                return None
            if ready:
                # Unread data at our end would displace our last message.
                with contextlib.suppress(OSError):
                    leash.recv(16)
                return ""  # told to, or the fork server is gone
            if time.monotonic() - began > box.limits.wall_seconds:
                return f"it ran for more than {box.limits.wall_seconds:g} s"
            if broken := _broken(box):
                return broken
    finally:
        os.close(ended)


def _broken(box: Box) -> str:
    """Return which limit the processes of this box break together; empty if none."""
    memory = threads = processes = 0
    for pid in _family(os.getpid()):
        used, count = _use(pid)
        memory, threads, processes = memory + used, threads + count, processes + 1
    limits = box.limits
    if memory > limits.memory and processes > 1:
        memory = sum(map(_share, _family(os.getpid())))
    # bubblewrap's own two processes have a thread each
    spare = 2 if box.tier is Tier.BUBBLEWRAP else 0
    if memory > limits.memory:
        return f"it used {memory // _MIB} MiB of memory; {limits.memory // _MIB} are allowed"
    if threads > limits.threads + limits.processes * (box.tier is Tier.RLIMITS) + spare:
        return f"it had {threads} threads; {limits.threads} are allowed"
    if box.tier is Tier.RLIMITS and processes > limits.processes:
        return f"it had {processes} processes; {limits.processes} are allowed"
    return ""


def _use(pid: int) -> tuple[int, int]:
    """Bytes of memory that a process uses and shares with no file, and its threads."""
    memory = threads = 0
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            name, _, value = line.partition(b":")
            if name in (b"RssAnon", b"RssShmem"):
                memory += int(value.split()[0]) * 1024
            elif name == b"Threads":
                threads = int(value)
    return memory, threads


def _share(pid: int) -> int:
    """Bytes of memory of a process, of what it shares with others after a fork only its part."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            name, _, value = line.partition(b":")
            if name == b"Pss_Anon":
                return int(value.split()[0]) * 1024
    return 0


def _family(pid: int) -> Iterator[int]:
    """Return all processes below this one."""
    for child in _children(pid):
        yield child
        yield from _family(child)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        return found
    return found or _children_by_parents(pid)


def _children_by_parents(pid: int) -> list[int]:
    """Return the same on kernels that keep no list of children."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == pid:
                    found.append(int(name))
    return found


def _kill_all() -> None:
    for pid in list(_family(os.getpid())):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _clean() -> None:
    """Be rid of all that is left below us."""
    until = time.monotonic() + CLEANING
    while time.monotonic() < until:
        _kill_all()
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not pid:
            time.sleep(0.001)
