"""Which processes run, as the operating system lists them in /proc."""

from __future__ import annotations

from pathlib import Path

__all__ = ["alive", "children", "processes_with"]


def _fields(pid: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` after the name: state, parent and so on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return _fields(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int(_fields(int(process.name))[1]) == pid:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def processes_with(name: str, value: str | Path) -> list[str]:
    """Command lines of the processes that were started with this variable of the environment."""
    wanted = f"{name}={value}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found
