"""The bot's own processes, and those of others: reading, tracing, signalling."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from .base import Refused, attempt, call, closing

__all__: list[str] = []


# ------------------------------------------------------------------------ other processes


@attempt("processes", "fork")
def _fork(_: dict[str, Any]) -> object:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return f"process {pid}"


@attempt("processes", "clone3")
def _clone3(_: dict[str, Any]) -> object:
    call("clone3", (ctypes.c_uint64 * 8)(), 64 * 0 + 1)  # a size that no kernel takes: EINVAL
    return "cloned"


@attempt("processes", "run another program (subprocess)")
def _subprocess(_: dict[str, Any]) -> object:
    return subprocess.run(["/bin/true"], check=True).returncode


@attempt("processes", "run another program (posix_spawn)")
def _spawn(_: dict[str, Any]) -> object:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    return os.waitpid(pid, 0)


@attempt("processes", "leave a daemon behind (double fork)")
def _daemon(to: dict[str, Any]) -> object:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.waitpid(pid, 0)
    return to["mark"]


# ------------------------------------------------------------------------ looking at others


@attempt("others", "see other processes in /proc")
def _proc(to: dict[str, Any]) -> object:
    return Path(f"/proc/{to['canary']}/cmdline").read_bytes()


@attempt("others", "ask for another's priority")
def _niceness(to: dict[str, Any]) -> object:
    return os.getpriority(os.PRIO_PROCESS, to["canary"])


@attempt("others", "read another's environment in /proc")
def _environ(to: dict[str, Any]) -> object:
    return Path(f"/proc/{to['canary']}/environ").read_bytes()


@attempt("others", "read the supervisor's memory in /proc")
def _mem(to: dict[str, Any]) -> object:
    return closing(os.open(f"/proc/{to['fork_server']}/mem", os.O_RDONLY))


@attempt("others", "read one's supervisor's open files in /proc")
def _fds(_: dict[str, Any]) -> object:
    if os.getppid() == 0:
        raise Refused("it has no parent that it could name")
    return os.listdir(f"/proc/{os.getppid()}/fd")


@attempt("others", "trace another process (ptrace)")
def _ptrace(to: dict[str, Any]) -> object:
    return call("ptrace", 0x4206, to["canary"], 0, 0)


def _into(pid: int, name: str) -> object:
    ours = ctypes.create_string_buffer(16)
    here = (ctypes.c_uint64 * 2)(ctypes.addressof(ours), 16)
    there = (ctypes.c_uint64 * 2)(4096, 16)
    try:
        return call(name, pid, here, 1, there, 1, 0)
    except OSError as error:
        if error.errno == errno.EFAULT:  # nothing lies there, but we were let in
            return "let in"
        raise


@attempt("others", "read another's memory (process_vm_readv)")
def _readv(to: dict[str, Any]) -> object:
    return _into(to["canary"], "process_vm_readv")


@attempt("others", "write another's memory (process_vm_writev)")
def _writev(to: dict[str, Any]) -> object:
    return _into(to["canary"], "process_vm_writev")


@attempt("others", "take a descriptor of another process (pidfd_getfd)")
def _pidfd(to: dict[str, Any]) -> object:
    return closing(call("pidfd_getfd", call("pidfd_open", to["canary"], 0), 0, 0))


@attempt("others", "compare with another process (kcmp)")
def _kcmp(to: dict[str, Any]) -> object:
    return call("kcmp", os.getpid(), to["canary"], 0, 0, 0)


@attempt("others", "time the opponent by its processor clock")
def _clock(to: dict[str, Any]) -> object:
    return time.clock_gettime_ns((~to["canary"] << 3) | 2)


@attempt("others", "lower another's limits (prlimit)")
def _prlimit(to: dict[str, Any]) -> object:
    return resource.prlimit(to["canary"], resource.RLIMIT_NOFILE)


@attempt("others", "take another's priority away")
def _priority(to: dict[str, Any]) -> object:
    os.setpriority(os.PRIO_PROCESS, to["canary"], 19)
    return "changed"


@attempt("others", "move another off its processor")
def _affinity(to: dict[str, Any]) -> object:
    os.sched_setaffinity(to["canary"], os.sched_getaffinity(0))
    return "moved"


@attempt("others", "take all processors")
def _cores(to: dict[str, Any]) -> object:
    os.sched_setaffinity(0, range(to["processors"]))
    got = len(os.sched_getaffinity(0))
    if got <= 1:
        raise Refused("one remains")
    return f"{got} processors"


@attempt("others", "a better place at the disk (ioprio_set)")
def _ioprio(to: dict[str, Any]) -> object:
    return call("ioprio_set", 1, to["canary"], 3 << 13)


# ------------------------------------------------------------------------ signals


@attempt("signals", "stop another process (kill)")
def _kill(to: dict[str, Any]) -> object:
    os.kill(to["canary"], signal.SIGUSR1)
    return "sent"


@attempt("signals", "signal the supervisor")
def _kill_fork_server(to: dict[str, Any]) -> object:
    os.kill(to["fork_server"], 0)
    return "could be sent"


@attempt("signals", "signal one's own supervisor")
def _kill_box_supervisor(_: dict[str, Any]) -> object:
    if os.getppid() == 0:
        raise Refused("it has no parent that it could name")
    os.kill(os.getppid(), 0)
    return "could be sent"


@attempt("signals", "signal everybody (kill -1)")
def _kill_all(_: dict[str, Any]) -> object:
    os.kill(-1, 0)
    return "could be sent"


@attempt("signals", "signal a thread of another (tgkill)")
def _tgkill(to: dict[str, Any]) -> object:
    return call("tgkill", to["canary"], to["canary"], 0)


@attempt("signals", "queue a signal for another")
def _queue(to: dict[str, Any]) -> object:
    return call("rt_sigqueueinfo", to["canary"], 0, (ctypes.c_int * 32)(0, 0, -1))


@attempt("signals", "signal another through a descriptor (pidfd)")
def _pidfd_signal(to: dict[str, Any]) -> object:
    return call("pidfd_send_signal", call("pidfd_open", to["canary"], 0), 0, None, 0)


@attempt("signals", "have the kernel signal another (F_SETOWN)")
def _set_owner(to: dict[str, Any]) -> object:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fcntl.fcntl(ours, fcntl.F_SETOWN, to["canary"])
        return "set"
