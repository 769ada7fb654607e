"""More than its share, and what the runner might have left lying about."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import stat
from pathlib import Path
from typing import Any

from plyhouse.bots.sandbox.attempts.base import Refused, attempt, call, libc

__all__: list[str] = []


# ------------------------------------------------------------------------ bounds


@attempt("memory", "more memory than allowed")
def _memory(to: dict[str, Any]) -> object:
    kept = [bytearray(4 << 20) for _ in range((to["memory"] >> 22) + 8)]
    return f"{len(kept) * 4} MiB"


@attempt("memory", "more shared memory than allowed")
def _shared_memory(to: dict[str, Any]) -> object:
    try:
        with mmap.mmap(-1, to["memory"] + (8 << 20)) as area:
            return f"{len(area)} bytes of address space"
    except ValueError as error:
        raise Refused(str(error)) from None


@attempt("memory", "memory that is never swapped (mlock)")
def _mlock(_: dict[str, Any]) -> object:
    area = ctypes.create_string_buffer(1 << 20)
    return call("mlock", ctypes.addressof(area), len(area))


@attempt("open files", "all file descriptors")
def _descriptors(_: dict[str, Any]) -> object:
    had: list[int] = []
    try:
        for _index in range(4096):
            had.append(os.open(os.__file__, os.O_RDONLY))  # noqa: PERF401 - kept if one fails
    except OSError as error:
        raise Refused(f"{error.strerror}, after {len(had)}") from None
    finally:
        for descriptor in had:
            os.close(descriptor)
    return f"{len(had)} files"


@attempt("limits", "raise one's own limits")
def _raise(_: dict[str, Any]) -> object:
    most = resource.RLIM_INFINITY
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except ValueError as error:
        raise Refused(str(error)) from None
    return "raised"


@attempt("limits", "live on when the warden dies (PR_SET_PDEATHSIG)")
def _outlive(_: dict[str, Any]) -> object:
    if libc.prctl(1, 0, 0, 0, 0) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "set"


# ------------------------------------------------------------------------ environment


@attempt("environment", "secrets in the environment")
def _environment(to: dict[str, Any]) -> object:
    found = [name for name, value in os.environ.items() if to["secret"] in value]
    if not found:
        raise Refused(f"{len(os.environ)} variables, none of the runner's")
    return found


@attempt("environment", "secrets in the environment that the process began with")
def _first_environment(to: dict[str, Any]) -> object:
    if to["secret"] in Path("/proc/self/environ").read_text("utf-8", "replace"):
        return "there it is"
    raise Refused("nothing of the runner's")


@attempt("environment", "the home of a user")
def _own_home(_: dict[str, Any]) -> object:
    return os.listdir(os.path.expanduser("~"))


@attempt("environment", "descriptors left open by the runner")
def _inherited(_: dict[str, Any]) -> object:
    had = []
    of_its_own = [stat.S_ISSOCK, stat.S_ISFIFO]  # one of each: its pipe, and where it stands
    for descriptor in range(3, 256):
        try:
            mode = os.fstat(descriptor).st_mode
        except OSError:
            continue
        for kind in of_its_own:
            if kind(mode):
                of_its_own.remove(kind)
                break
        else:
            had.append((descriptor, stat.filemode(mode)))
    if not had:
        raise Refused("none but its own")
    return had
