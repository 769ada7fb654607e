"""Kernel calls that Python lacks: Landlock, seccomp, capabilities, prctl.

Called by number through the C library, without a compiler.  All raise `OSError`.  Existing packages
do not fit, because a bot's process calls this between fork and its first instruction.  Several of
them need libseccomp, and none gives the number of a call on both architectures.  Landlock:
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
import struct
import time
from collections.abc import Iterable
from typing import Final

__all__ = [
    "CAP_DAC_READ_SEARCH",
    "EXECUTE",
    "READ_DIR",
    "READ_FILE",
    "WRITE_FILE",
    "close_others",
    "die_with_parent",
    "install_filter",
    "keep_capabilities",
    "keep_only",
    "landlock_version",
    "no_new_privileges",
    "restrict_files",
    "seccomp_works",
    "stand_back",
    "subreaper",
]

CAP_DAC_READ_SEARCH: Final = 2
"""Read any file: the only capability of root that a bot may keep."""

BEHIND: Final = 10
"""Niceness of bots: where the server wants the same processor it gets nine tenths of it."""

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_KEEPCAPS: Final = 8
_PR_SET_SECCOMP: Final = 22
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_GET_SECCOMP: Final = 21

_SECCOMP_MODE_FILTER: Final = 2

# The same numbers on all architectures.
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT_SELF: Final = 446

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
_OF_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE
"""Rights that a rule for a single file may give."""

_FS_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""By version of Landlock: how many rights on files there are (the low bits)."""

_NET_ALL: Final = 0b11
_SCOPE_ALL: Final = 0b11
"""Abstract sockets and signals stay among the bot's own."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, *arguments: int | ctypes.Array[ctypes.c_char], what: str) -> int:
    given = [
        ctypes.c_ulong(value) if isinstance(value, int) else ctypes.byref(value)
        for value in (*arguments, *[0] * (4 - len(arguments)))
    ]
    return _checked(_libc.prctl(option, *given), what)


def no_new_privileges() -> None:
    """From now on no program that is started gains anything by being setuid."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, what="no_new_privs")


def subreaper() -> None:
    """Processes below this one whose parents are gone become its children."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, what="PR_SET_CHILD_SUBREAPER")


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, 9, what="PR_SET_PDEATHSIG")


def stand_back(further: int = 0) -> None:
    """Let the server and the runner go first where they share a processor with the bots.

    ``further`` is added to `BEHIND`, and may be negative.  It is the same for all bots, so that
    none of them gains or loses.  Call it in a separate session, since Linux may weigh sessions
    against each other (autogroup) and apply niceness only within one.
    """
    niceness = min(BEHIND + further, 19)
    os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
    for _ in range(10):
        try:
            with open("/proc/self/autogroup", "w", encoding="ascii") as group:
                group.write(str(niceness))
        except BlockingIOError:  # of all that are not root the kernel takes ten a second
            time.sleep(0.1)
        except OSError:  # this kernel does not weigh sessions
            return
        else:
            return


def close_others(keep: Iterable[int]) -> None:
    """Close all descriptors but the standard streams and ``keep``."""
    low = 3
    for descriptor in sorted(set(keep)):
        if descriptor >= low:
            os.closerange(low, descriptor)
            low = descriptor + 1
    os.closerange(low, 1 << 16)


def keep_capabilities() -> None:
    """Keep what is permitted across the change of user that follows."""
    _prctl(_PR_SET_KEEPCAPS, 1, what="PR_SET_KEEPCAPS")


def keep_only(capability: int | None) -> None:
    """Give up all powers of root but one, or all; programs started keep no more either."""
    mask = 0 if capability is None else 1 << capability
    header = struct.pack("=Ii", 0x20080522, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    data = struct.pack("=6I", low, low, low, high, high, high)
    number = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
    for each in range(64):
        if each != capability:
            _libc.prctl(_PR_CAPBSET_DROP, each, 0, 0, 0)  # fails above the last, and without power
    _checked(_libc.syscall(number, header, data), "capset")
    if capability is not None:
        _prctl(_PR_CAP_AMBIENT, 2, capability, what="PR_CAP_AMBIENT")


def landlock_version() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none or it is switched off."""
    return max(0, int(_libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)))


def restrict_files(rules: Iterable[tuple[str, int]]) -> None:
    """Allow on each path, and below it, these rights (`READ_FILE` ...); nothing else on any.

    Paths that are not there are left out.  From version 4 on TCP is refused, from 6 on abstract
    sockets and signals to others; what a version lacks is not restricted here.
    """
    version = landlock_version()
    count = _FS_RIGHTS[max(known for known in _FS_RIGHTS if known <= version)]
    attributes = struct.pack(
        "=QQQ",
        (1 << count) - 1,
        _NET_ALL if version >= 4 else 0,
        _SCOPE_ALL if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(
        _libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset"
    )
    for path, rights in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if not os.path.isdir(path):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(_libc.syscall(_LANDLOCK_ADD_RULE, ruleset, 1, rule, 0), f"landlock: {path}")
        os.close(descriptor)
    _checked(_libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def seccomp_works() -> bool:
    """Return whether the kernel supports filters of system calls."""
    result: int = _libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)
    return result >= 0


def install_filter(program: bytes) -> None:
    """Filter the system calls of this thread and all it starts; needs `no_new_privileges`."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a count of 16 bits and a pointer, with room between
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    )
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, what="seccomp")
