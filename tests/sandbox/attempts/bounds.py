"""More than its share, and what the runner might have left lying about."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import resource
import socket
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from .base import Refused, attempt, call, libc

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


def _raised(kind: int) -> bool:
    """Raise a limit of one's own as far as it goes; return whether that was any further."""
    soft, hard = resource.getrlimit(kind)
    for most in (resource.RLIM_INFINITY, hard):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            continue
        break
    reached = resource.getrlimit(kind)[0]
    spare = 1 if kind == resource.RLIMIT_CPU else 0  # at the soft limit it is ended all the same
    if soft == resource.RLIM_INFINITY:
        return False
    return reached == resource.RLIM_INFINITY or reached > soft + spare


def _opened(to: dict[str, Any], take: Callable[[], Iterable[int]]) -> object:
    """Open until it is refused, with the limit raised as far as it goes."""
    _raised(resource.RLIMIT_NOFILE)
    had: list[int] = []
    try:
        while len(had) <= to["files"]:
            had += take()
    except OSError as error:
        raise Refused(f"{error.strerror}, after {len(had)}") from None
    finally:
        for descriptor in had:
            os.close(descriptor)
    return f"{len(had)} descriptors; {to['files']} are allowed"


@attempt("open files", "all file descriptors")
def _descriptors(to: dict[str, Any]) -> object:
    return _opened(to, lambda: [os.open(os.__file__, os.O_RDONLY)])


@attempt("open files", "pairs of sockets that are full of data")
def _pairs(to: dict[str, Any]) -> object:
    def pair() -> Iterator[int]:
        for end in socket.socketpair():
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(bytes(65536))
            yield end.detach()

    return _opened(to, pair)


@attempt("limits", "raise one's own limits")
def _raise(_: dict[str, Any]) -> object:
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    raised = [name for name in names if _raised(getattr(resource, name))]
    if not raised:
        raise Refused(f"none of {len(names)} could be raised")
    return raised


@attempt("limits", "live on when the box supervisor dies (PR_SET_PDEATHSIG)")
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
