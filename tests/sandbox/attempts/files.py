"""Files that are not the bot's, and everything that would be written."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from pathlib import Path
from typing import Any

from .base import HERE, Refused, attempt, call, closing

__all__: list[str] = []


# ------------------------------------------------------------------------ other files


@attempt("files", "read the token file")
def _token(to: dict[str, Any]) -> object:
    return Path(to["token"]).read_text("ascii")


@attempt("files", "read the token file by a relative path")
def _relative(to: dict[str, Any]) -> object:
    return Path(os.path.relpath(to["token"])).read_text("ascii")


@attempt("files", "read the token file through a folder opened by O_PATH")
def _by_folder(to: dict[str, Any]) -> object:
    folder = os.open(os.path.dirname(to["token"]), os.O_PATH)
    return os.read(os.open(os.path.basename(to["token"]), os.O_RDONLY, dir_fd=folder), 100)


@attempt("files", "read the token file through /proc/self/root")
def _by_root(to: dict[str, Any]) -> object:
    return Path("/proc/self/root" + to["token"]).read_text("ascii")


@attempt("files", "read the token file through the runner's /proc/PID/root")
def _by_runner(to: dict[str, Any]) -> object:
    return Path(f"/proc/{to['canary']}/root{to['token']}").read_text("ascii")


@attempt("files", "read the token file through a symbolic link of one's own")
def _by_link(to: dict[str, Any]) -> object:
    (HERE / "link").symlink_to(to["token"])
    return (HERE / "link").read_text("ascii")


@attempt("files", "read the token file through a hard link of one's own")
def _by_hard_link(to: dict[str, Any]) -> object:
    os.link(to["token"], HERE / "hard")
    return (HERE / "hard").read_text("ascii")


@attempt("files", "read the token file by a handle (open_by_handle_at)")
def _by_handle(to: dict[str, Any]) -> object:
    handle = (ctypes.c_uint32 * 8)(8, 1, 2, 0)
    here = os.open(HERE, os.O_RDONLY)
    try:
        return call("open_by_handle_at", here, handle, os.O_RDONLY)
    except OSError as error:
        if error.errno == errno.ESTALE:  # no such file, but we were let in
            return "handles can be opened"
        raise


@attempt("files", "read the other bot's program")
def _other(to: dict[str, Any]) -> object:
    return Path(to["other"]).read_text("ascii")


@attempt("files", "list the other bot's folder")
def _list_other(to: dict[str, Any]) -> object:
    return os.listdir(os.path.dirname(to["other"]))


@attempt("files", "list the folder of all submissions")
def _list_all(_: dict[str, Any]) -> object:
    found = os.listdir(HERE.parent)
    if found == [HERE.name]:
        raise Refused("there is nothing but its own")
    return found


@attempt("files", "read /etc/passwd")
def _passwd(_: dict[str, Any]) -> object:
    return Path("/etc/passwd").read_text("utf-8")[:20]


@attempt("files", "list a user's home")
def _home(to: dict[str, Any]) -> object:
    return os.listdir(to["home"])


@attempt("files", "list the root folder's /var")
def _var(_: dict[str, Any]) -> object:
    return os.listdir("/var")


@attempt("files", "read the kernel's log")
def _kmsg(_: dict[str, Any]) -> object:
    return closing(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))


@attempt("files", "watch the other bot's folder (inotify)")
def _inotify(_: dict[str, Any]) -> object:
    return closing(call("inotify_init1", 0))


@attempt("files", "watch the whole file system (fanotify)")
def _fanotify(_: dict[str, Any]) -> object:
    return closing(call("fanotify_init", 0, 0))


# ------------------------------------------------------------------------ writing


def _write(path: str | Path) -> str:
    Path(path).write_text("it was written", encoding="ascii")
    Path(path).unlink()
    return f"wrote {path}"


@attempt("writing", "write into one's own folder")
def _write_here(_: dict[str, Any]) -> object:
    return _write(HERE / "new.txt")


@attempt("writing", "write into /tmp")
def _write_tmp(to: dict[str, Any]) -> object:
    return _write(f"/tmp/{to['mark']}")


@attempt("writing", "write a cache file that the opponent reads (/dev/shm)")
def _write_shm(to: dict[str, Any]) -> object:
    return _write(f"/dev/shm/{to['mark']}")


@attempt("writing", "write into /var/tmp")
def _write_var(to: dict[str, Any]) -> object:
    return _write(f"/var/tmp/{to['mark']}")


@attempt("writing", "change one's own program")
def _change_self(_: dict[str, Any]) -> object:
    with (HERE / "bot.py").open("ab") as file:
        return file.write(b"\n")


@attempt("writing", "append to the other bot's program")
def _append(to: dict[str, Any]) -> object:
    with open(to["other"], "ab") as file:
        return file.write(b"\n")


@attempt("writing", "truncate the other bot's program")
def _truncate(to: dict[str, Any]) -> object:
    os.truncate(to["other"], 3)
    return "truncated"


@attempt("writing", "change the library that all bots share")
def _library(_: dict[str, Any]) -> object:
    return closing(os.open(os.__file__, os.O_RDWR))


@attempt("writing", "change modes")
def _chmod(_: dict[str, Any]) -> object:
    os.chmod(HERE / "bot.py", 0o644)
    return "changed"


@attempt("writing", "change times")
def _utime(_: dict[str, Any]) -> object:
    os.utime(HERE / "bot.py")
    return "changed"


@attempt("writing", "remove one's own file")
def _unlink(_: dict[str, Any]) -> object:
    os.unlink(HERE / "spare.txt")
    return "removed"


@attempt("writing", "rename one's own file")
def _rename(_: dict[str, Any]) -> object:
    os.rename(HERE / "spare.txt", HERE / "renamed.txt")
    return "renamed"


@attempt("writing", "make a folder")
def _mkdir(to: dict[str, Any]) -> object:
    os.mkdir(f"/tmp/{to['mark']}-folder")
    os.rmdir(f"/tmp/{to['mark']}-folder")
    return "made"


@attempt("writing", "make a named pipe to talk through")
def _mkfifo(to: dict[str, Any]) -> object:
    os.mkfifo(f"/tmp/{to['mark']}-pipe")
    os.unlink(f"/tmp/{to['mark']}-pipe")
    return "made"


@attempt("writing", "make a device")
def _mknod(to: dict[str, Any]) -> object:
    os.mknod(f"/tmp/{to['mark']}-null", 0o600 | 0o020000, os.makedev(1, 3))
    return "made"


@attempt("writing", "set an attribute that the opponent reads (setxattr)")
def _xattr(_: dict[str, Any]) -> object:
    os.setxattr(HERE / "bot.py", "user.mark", b"1")
    return "set"


@attempt("writing", "lock a shared file, for the opponent to notice (flock)")
def _flock(_: dict[str, Any]) -> object:
    with open(os.__file__, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "locked"


@attempt("writing", "lock a shared file, for the opponent to notice (fcntl)")
def _lock(_: dict[str, Any]) -> object:
    with open(os.__file__, "rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "locked"
