"""The parts of attempts: a registry, system calls by name, and the form of a refusal."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

__all__ = ["ATTEMPTS", "BOUND", "HERE", "Attempt", "Refused", "attempt", "call", "closing", "libc"]

Attempt = Callable[[dict[str, Any]], object]
"""Raises if it is refused; otherwise returns what it got."""

ATTEMPTS: Final[dict[str, tuple[str, Attempt]]] = {}
"""By name: the promise that it would break, and what it does."""

BOUND: Final = 400
"""Most processes or threads that a bomb of ours makes."""

HERE: Final = Path.cwd()
"""The folder of the box."""

NUMBERS: Final[dict[str, tuple[int, int]]] = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "clone3": (435, 435),
    "fork": (57, -1),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "rt_sigqueueinfo": (129, 138),
    "setns": (308, 268),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "tgkill": (234, 131),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "ioprio_set": (251, 30),
    "mlock": (149, 228),
    "personality": (135, 92),
    "clone": (56, 220),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "acct": (163, 89),
}
"""System calls: x86_64, aarch64."""

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class Refused(Exception):  # noqa: N818 - a state of affairs
    """The attempt failed without an error of the system."""


def attempt(promise: str, name: str) -> Callable[[Attempt], Attempt]:
    """Register a function."""

    def register(function: Attempt) -> Attempt:
        ATTEMPTS[name] = (promise, function)
        return function

    return register


def call(name: str, *arguments: object) -> int:
    """A system call; raises `OSError`."""
    number = NUMBERS[name][0 if os.uname().machine == "x86_64" else 1]
    if number < 0:
        raise Refused("this architecture does not have it")
    result = int(libc.syscall(number, *arguments))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def closing(descriptor: int) -> int:
    """Close it, and return it: it could be had."""
    os.close(descriptor)
    return descriptor
