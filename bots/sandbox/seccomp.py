"""The filter of system calls: a program for the kernel, assembled here.

Classic BPF as in "The BSD Packet Filter" (McCanne and Jacobson, 1993), run by the kernel on the
number and arguments of each system call (``seccomp(2)``).  It is an allow list; what may be called
is in `plyhouse.bots.sandbox.syscalls`, and the rules for arguments are here:

* ``clone`` makes threads only, so that a bot is one process for all its life, and no namespaces;
* ``kill`` and its kin reach the own process only; ``prlimit64`` and clocks neither any other;
* ``sendto`` takes no address and ``socketpair`` only the local family: no new connection is made;
* ``mmap`` shares no memory without a file, so that the limit of private memory bounds it all;
* ``fcntl`` neither locks files (bots that read the same file could signal by that) nor names
  processes; ``ioctl`` asks what pipes and terminals are, and types nothing into them;
* ``prctl`` names threads; ``execve`` is for programs (not for Python bots) and gains nothing.

This module does no I/O: it makes bytes.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from plyhouse.bots.sandbox.syscalls import ABSENT, NEWEST, PLAIN, RULED

__all__ = ["ARCHITECTURES", "filter_program"]

ARCHITECTURES: Final[dict[str, tuple[int, int]]] = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
"""By `os.uname().machine`: the column of the tables, and the kernel's number of it."""

Instruction = tuple[int, int, int, int]

# Instructions: load a word of the call's data, jump on it, return.
_LOAD: Final = 0x20
_AND: Final = 0x54
_EQUAL: Final = 0x15
_GREATER: Final = 0x25
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | errno.EPERM
_NOT_THERE: Final = 0x00050000 | errno.ENOSYS

# Where the kernel puts what: number, architecture, and six arguments of 8 bytes (low word first).
_NUMBER: Final = 0
_ARCHITECTURE: Final = 4

_CLONE_THREAD: Final = 0x00010000
_CLONE_NAMESPACES: Final = 0x7E020080
_MAP_SHARED_ANONYMOUS: Final = 0x21
_AF_UNIX: Final = 1
_CLOCKS: Final = 15
"""Fixed clocks have numbers up to this one; those above belong to a process or a device."""

_FCNTL: Final = (0, 1, 2, 3, 4, 1030, 1032)
"""Duplicate, flags, and the size of a pipe."""
_IOCTL: Final = (0x541B, 0x5421, 0x5450, 0x5451, 0x5401, 0x5413)
"""FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS, TIOCGWINSZ."""
_PRCTL: Final = (3, 15, 16, 38, 39, 0x53564D41)
"""Dumpable?, the thread's name, no_new_privs, a name for memory."""


def filter_program(machine: str, own: int, *, programs: bool) -> bytes:
    """Return the filter for the process ``own`` on this machine, as the kernel takes it.

    ``programs`` allows ``execve``.  Raises `ValueError` for a machine whose numbers are not known.
    """
    if machine not in ARCHITECTURES:
        raise ValueError(
            f"there is no table of system calls for {machine}; there are {', '.join(ARCHITECTURES)}"
        )
    column, audit = ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),  # a call by the table of another architecture
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, NEWEST),  # those of x32 have high numbers, too
        (_RETURN, 0, 0, _NOT_THERE),
    ]
    for table, verdict in ((PLAIN, _ALLOW), (ABSENT, _NOT_THERE)):
        for numbers in table.values():
            number = numbers[column]
            if number is not None:
                program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, verdict)]
    for name, numbers in RULED.items():
        number = numbers[column]
        if number is not None:
            body = list(_rule(name, own, programs))
            program += [(_EQUAL, 0, len(body), number), *body]
    program.append((_RETURN, 0, 0, _REFUSE))
    return b"".join([struct.pack("=HBBI", *instruction) for instruction in program])


def _rule(name: str, own: int, programs: bool) -> Iterator[Instruction]:
    """Instructions that end in a verdict on the arguments of one call."""
    match name:
        case "clone":
            yield from (
                _argument(0),
                (_AND, 0, 0, _CLONE_THREAD | _CLONE_NAMESPACES),
                *_if_among([_CLONE_THREAD]),
            )
        case "getpriority":
            yield from (_argument(1), *_if_among([own, 0]))
        case "kill":
            yield from (_argument(0), *_if_among([own, 0]))
        case "tgkill":
            yield from (_argument(0), *_if_among([own]))
        case "tkill":
            yield from (_argument(0), *_if_among([own]))
        case "prlimit64":
            yield from (_argument(0), *_if_among([own, 0]))
        case "clock_gettime" | "clock_nanosleep":
            yield from (_argument(0), (_GREATER, 1, 0, _CLOCKS))
            yield from ((_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE))
        case "prctl":
            yield from (_argument(0), *_if_among(_PRCTL))
        case "ioctl":
            yield from (_argument(1), *_if_among(_IOCTL))
        case "fcntl":
            yield from (_argument(1), *_if_among(_FCNTL))
        case "socketpair":
            yield from (_argument(0), *_if_among([_AF_UNIX]))
        case "sendto":
            yield from (
                _argument(4),
                (_EQUAL, 1, 0, 0),
                (_RETURN, 0, 0, _REFUSE),
                _argument(4, high=True),
                *_if_among([0]),
            )
        case "mmap":
            yield from (
                _argument(3),
                (_AND, 0, 0, _MAP_SHARED_ANONYMOUS),
                (_EQUAL, 0, 1, _MAP_SHARED_ANONYMOUS),
                (_RETURN, 0, 0, _REFUSE),
                (_RETURN, 0, 0, _ALLOW),
            )
        case "execve":
            yield (_RETURN, 0, 0, _ALLOW if programs else _REFUSE)
        case _:
            raise KeyError(name)


def _argument(index: int, *, high: bool = False) -> Instruction:
    """Load the low or the high half of an argument (little-endian, as both machines are)."""
    return (_LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


def _if_among(values: Sequence[int]) -> Iterator[Instruction]:
    """Allow if what was loaded is one of these."""
    for value in values:
        yield (_EQUAL, 0, 1, value)
        yield (_RETURN, 0, 0, _ALLOW)
    yield (_RETURN, 0, 0, _REFUSE)
