"""The bubblewrap tier: the command that gives a bot separate namespaces.

Everything is unshared: files, processes, network, IPC, users, host name, cgroups.  Files that the
bot may read are bound read-only in their usual places; nothing can be written.  Inside, `confine`
sets the same limits and the same filter of system calls as elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys

import msgspec

from plyhouse.bots.sandbox.box import Box, SandboxError
from plyhouse.bots.sandbox.confine import ENVIRONMENT, libraries

__all__ = ["bubblewrap_command", "inner_process"]


def bubblewrap_command(box: Box, keep: tuple[int, ...], info: int) -> list[str]:
    """Return the command that runs ``box``; raises `SandboxError` if there is no bubblewrap.

    ``keep`` are descriptors that the bot is served by, ``info`` that on which bubblewrap says
    which process is the bot (`inner_process`).
    """
    program = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if program is None:
        raise SandboxError("bubblewrap is not installed (Debian, Fedora: the package bubblewrap)")
    wanted = [*libraries(), *box.readable, box.folder, *_program(box)]
    command = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
    command += ["--uid", "65534", "--gid", "65534", "--cap-drop", "ALL", "--as-pid-1"]
    command += ["--info-fd", str(info), "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    for path in _outermost(wanted):
        command += ["--ro-bind", path, path]
    # An environment's python is a link; the path that it is called by says which environment.
    command += ["--ro-bind", os.path.realpath(sys.executable), sys.executable]
    # These are links on most systems.
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
    command += ["--dev-bind", "/dev/null", "/dev/null", "--ro-bind", "/dev/urandom", "/dev/urandom"]
    command += ["--proc", "/proc", "--remount-ro", "/", "--chdir", box.folder]
    inner = msgspec.structs.replace(box, uid=None)
    return [
        *command,
        "--",
        sys.executable,
        "-I",  # nothing of the folder, the user or the environment changes what is imported
        "-u",
        "-m",
        "plyhouse.bots.sandbox.confine",
        msgspec.json.encode(inner).decode(),
        *[str(descriptor) for descriptor in keep],
    ]


def _program(box: Box) -> list[str]:
    """Return the file of a program that is no part of the submission, as ``node``."""
    if not box.command or "/" in box.command[0]:
        return []
    place = shutil.which(box.command[0])
    if place is None:
        return []
    # /bin may be a link to /usr/bin; the link is made below, so nothing may lie in it before
    return [
        os.path.realpath(place),
        os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place)),
    ]


def _outermost(paths: list[str]) -> list[str]:
    """Return the existing paths that lie in none of the others."""
    there = [path for path in dict.fromkeys(paths) if os.path.lexists(path)]
    real = [path for path in there if not os.path.islink(path) or os.path.isfile(path)]
    return [
        path
        for path in real
        if not any(path != other and path.startswith(other.rstrip("/") + "/") for other in real)
    ]


def inner_process(info: int) -> int | None:
    """Read which process bubblewrap has started; None if it has started none."""
    with os.fdopen(info, "rb") as file:
        text = file.read()
    with contextlib.suppress(ValueError, KeyError):
        return int(json.loads(text)["child-pid"])
    return None
