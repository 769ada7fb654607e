"""Actions reserved for administrators, and resources that programs share without a file."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

from .base import HERE, attempt, call, closing, libc

__all__: list[str] = []


# ------------------------------------------------------------------------ the kernel


@attempt("kernel", "a user namespace (unshare)")
def _unshare(_: dict[str, Any]) -> object:
    return call("unshare", 0x10000000)


@attempt("kernel", "a network namespace (unshare)")
def _unshare_net(_: dict[str, Any]) -> object:
    return call("unshare", 0x40000000)


@attempt("kernel", "a process in a user namespace (clone)")
def _clone_user(_: dict[str, Any]) -> object:
    pid = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return f"process {pid}"


@attempt("kernel", "another's namespaces (setns)")
def _setns(to: dict[str, Any]) -> object:
    return call("setns", os.open(f"/proc/{to['canary']}/ns/net", os.O_RDONLY), 0)


@attempt("kernel", "mount a file system")
def _mount(_: dict[str, Any]) -> object:
    return call("mount", b"none", os.fsencode(HERE), b"tmpfs", 0, None)


@attempt("kernel", "unmount a file system")
def _umount(_: dict[str, Any]) -> object:
    return call("umount2", os.fsencode(HERE), 0)


@attempt("kernel", "another root (chroot)")
def _chroot(_: dict[str, Any]) -> object:
    os.chroot(HERE)
    return "changed"


@attempt("kernel", "another root (pivot_root)")
def _pivot(_: dict[str, Any]) -> object:
    return call("pivot_root", b".", b".")


@attempt("kernel", "become root")
def _root(_: dict[str, Any]) -> object:
    os.setresuid(0, 0, 0)
    return f"user {os.getuid()}"


@attempt("kernel", "load a program into the kernel (bpf)")
def _bpf(_: dict[str, Any]) -> object:
    return closing(call("bpf", 0, (ctypes.c_uint32 * 18)(2, 4, 4, 1), 72))


@attempt("kernel", "load a module")
def _module(_: dict[str, Any]) -> object:
    return call("init_module", b"", 0, b"")


@attempt("kernel", "load another kernel (kexec)")
def _kexec(_: dict[str, Any]) -> object:
    return call("kexec_load", 0, 99, None, 0)  # more segments than there may be: nothing happens


@attempt("kernel", "performance counters of others (perf_event_open)")
def _perf(_: dict[str, Any]) -> object:
    return closing(call("perf_event_open", (ctypes.c_uint32 * 32)(1, 128), -1, 0, -1, 0))


@attempt("kernel", "page faults under one's control (userfaultfd)")
def _userfault(_: dict[str, Any]) -> object:
    return closing(call("userfaultfd", 1))


@attempt("kernel", "the keyring of the user (keyctl)")
def _keyctl(_: dict[str, Any]) -> object:
    return call("keyctl", 0, -4, 1)


@attempt("kernel", "a key for the opponent to find (add_key)")
def _add_key(to: dict[str, Any]) -> object:
    return call("add_key", b"user", to["mark"].encode(), b"1", 1, -4)


@attempt("kernel", "another personality")
def _personality(_: dict[str, Any]) -> object:
    return call("personality", 0x0040000)


# ------------------------------------------------------------------------ shared memory


@attempt("sharing", "System V shared memory")
def _shmget(_: dict[str, Any]) -> object:
    number = call("shmget", 0, 4096, 0o1600)
    libc.shmctl(number, 0, None)  # removed again
    return number


@attempt("sharing", "System V semaphores")
def _semget(_: dict[str, Any]) -> object:
    number = call("semget", 0, 1, 0o1600)
    libc.semctl(number, 0, 0)
    return number


@attempt("sharing", "System V messages")
def _msgget(_: dict[str, Any]) -> object:
    number = call("msgget", 0, 0o1600)
    libc.msgctl(number, 0, None)
    return number


@attempt("sharing", "POSIX messages")
def _mq(to: dict[str, Any]) -> object:
    return closing(call("mq_open", f"{to['mark']}".encode(), os.O_RDWR | os.O_CREAT, 0o600, None))


@attempt("sharing", "a file in memory (memfd)")
def _memfd(_: dict[str, Any]) -> object:
    return closing(call("memfd_create", b"x", 0))
