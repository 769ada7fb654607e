"""From inside: a process confines itself for good, then becomes the bot.

The order matters.  Steps that need privileges (the processor, limits, another user) come before
``no_new_privs``; the filter of system calls is last, because the steps before it would not pass.

Run as a program, ``python -m plyhouse.bots.sandbox.confine BOX FD FD``, it is what bubblewrap
starts; elsewhere the fork server's child calls `enter` right after the fork.
"""

from __future__ import annotations

import functools
import gc
import os
import resource
import shutil
import signal
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import Box, SandboxError, Tier
from plyhouse.bots.sandbox.seccomp import filter_program

__all__ = ["ENVIRONMENT", "FIRST_UID", "LIMITS", "enter", "libraries", "needs_power_to_read"]

FIRST_UID: Final = 0x70000000
"""Where the users of boxes begin: far from those of people and of containers."""

ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENSSL_CONF": "/dev/null",  # node ends if it may not read the machine's
    # Equal time for all: one processor each, so no library is to think that it has more.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "UV_THREADPOOL_SIZE": "1",
}
"""All that a bot's environment holds."""

_SPARE: Final = 4 << 30
"""Address space beyond the memory: some interpreters reserve much that they never use."""

LIMITS: Final = tuple(
    sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
)
"""All limits of resources that this system has."""

_SYSTEM: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_SETTINGS: Final = "java-*"
"""Folders of `/etc` to which Debian links from those of a program: Java needs its own to start."""


@functools.cache
def libraries() -> tuple[str, ...]:
    """Return the files and folders of Python and of our packages, which a bot has to read."""
    import plyhouse.bots
    import plyhouse.games
    import plyhouse.learning
    import plyhouse.protocol
    import plyhouse.search

    packages = (
        *(plyhouse.bots, plyhouse.games, plyhouse.learning),
        *(plyhouse.protocol, plyhouse.search),
    )
    wanted = [
        *[sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")],
        # The fork server is run isolated, so these are the interpreter's and those of .pth files.
        *[path for path in sys.path if os.path.isabs(path)],
        *[next(iter(package.__path__)) for package in packages],
        sys.executable,
        os.path.realpath(sys.executable),
        os.path.join(sys.prefix, "pyvenv.cfg"),
        *Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent").glob("libpython*.so*"),
        *_SYSTEM,
        *Path("/etc").glob(_SETTINGS),
    ]
    return tuple(dict.fromkeys([os.path.realpath(str(path)) for path in wanted]))


def needs_power_to_read(paths: Iterable[str]) -> bool:
    """Return whether reading one of the paths needs privileges (a home closed to others)."""
    for path in paths:
        place = Path(path)
        for folder in place.parents:
            if folder.exists() and not folder.stat().st_mode & 0o001:
                return True
    return False


def enter(box: Box, keep: tuple[int, ...], report: int | None = None) -> NoReturn:
    """Confine this process and become the bot; ``keep`` are the descriptors it is served by.

    For a Python bot these are its pipe and the pipe on which it reports its position; their numbers
    must not change.  ``report`` is closed when the bot takes over.  Raises `OSError` or
    `SandboxError` if any step fails: then nothing of the bot was run.
    """
    command = _found(box)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    os.umask(0o077)
    kernel.close_others(keep if report is None else (*keep, report))
    if box.core is not None:
        os.sched_setaffinity(0, {box.core})
    readable = (*libraries(), *box.readable, box.folder)
    os.chdir(box.folder)
    _limit(box)
    if box.uid is not None:
        _become(box.uid, needs_power_to_read(readable))
    kernel.die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    kernel.no_new_privileges()
    if box.tier is Tier.LANDLOCK:
        read = kernel.READ_FILE | kernel.READ_DIR
        if command:
            read |= kernel.EXECUTE
        kernel.restrict_files(
            [
                *[(path, read) for path in readable],
                *[(path, read) for path in command[:1]],
                ("/dev/null", kernel.READ_FILE | kernel.WRITE_FILE),
                ("/dev/urandom", kernel.READ_FILE),
            ]
        )
    if box.tier is not Tier.RLIMITS:
        machine = os.uname().machine
        kernel.install_filter(filter_program(machine, os.getpid(), programs=bool(command)))
    if command:
        os.execve(command[0], [box.command[0], *command[1:]], ENVIRONMENT)  # noqa: S606
    if report is not None:
        os.close(report)
    _serve(box.bot, keep)


def _found(box: Box) -> list[str]:
    """Return the command with the program's place; empty for a bot by our API."""
    if not box.command:
        return []
    first = box.command[0]
    place = os.path.join(box.folder, first) if "/" in first else shutil.which(first)
    if place is None or not os.path.isfile(place):
        raise SandboxError(f"there is no program {first} here")
    return [os.path.realpath(place), *box.command[1:]]


def _limit(box: Box) -> None:
    """Set all limits, the hard ones with the soft ones: a bot may raise its own up to those."""
    limits = box.limits
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_STACK: 8 << 20,
        resource.RLIMIT_NOFILE: limits.files,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_DATA: limits.memory,
        resource.RLIMIT_AS: limits.memory + _SPARE,
    }
    if box.uid is not None or box.tier is Tier.BUBBLEWRAP:
        # It counts all processes of a user, so it fits only one who has no others here.
        wanted[resource.RLIMIT_NPROC] = limits.processes + limits.threads
    for kind in LIMITS:
        soft, inherited = resource.getrlimit(kind)
        most = wanted.get(kind, soft)
        if inherited != resource.RLIM_INFINITY:
            most = min(most, inherited) if most != resource.RLIM_INFINITY else inherited
        # One more second than that of the signal which ends it, so that the ending tells.
        extra = 1 if kind == resource.RLIMIT_CPU and inherited != most else 0
        resource.setrlimit(kind, (most, most + extra))


def _become(uid: int, power_to_read: bool) -> None:
    """Leave root behind for a user who owns nothing, with at most the power to read.

    Where that power is kept Landlock says what may be read; see `needs_power_to_read`.
    """
    kernel.keep_capabilities()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    kernel.keep_only(kernel.CAP_DAC_READ_SEARCH if power_to_read else None)


def _serve(bot: str, keep: tuple[int, ...]) -> NoReturn:
    from plyhouse.bots.process.__main__ import main

    gc.enable()
    sys.argv = ["bot", str(keep[0]), str(keep[1]), bot]
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    try:
        main()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # never back into the box supervisor's code


def main() -> NoReturn:
    """The program that bubblewrap starts."""
    _, text, *descriptors = sys.argv
    try:
        enter(msgspec.json.decode(text, type=Box), tuple([int(each) for each in descriptors]))
    except (OSError, SandboxError) as error:
        sys.stderr.write(f"the sandbox could not be entered: {error}\n")
        sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    main()
