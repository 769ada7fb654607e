"""The fork server: a small single-threaded program that starts boxes, each from a fork of itself.

It has already imported the modules that every Python bot needs.  So a bot starts in the time of two
forks, and all bots share one copy of the library in memory.  It holds no secret: its environment is
empty, and all it knows is what a `Launch` says.  Nothing of a bot is read or run in it.

Run as ``python -m plyhouse.bots.sandbox.fork_server FD``; FD is one end of a pair of local sockets
(see `plyhouse.bots.sandbox.client`).  When the other end is closed, all boxes end, and so does it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys
from typing import Final

import msgspec

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import (
    PACKET,
    Box,
    BoxExit,
    Ended,
    Kill,
    Launch,
    Refused,
    decode_from_fork_server,
    decode_to_fork_server,
    packet,
)
from plyhouse.bots.sandbox.box_supervisor import guard
from plyhouse.bots.sandbox.confine import FIRST_UID, libraries

__all__ = ["ForkServer", "main", "prepare", "spare_users"]

DESCRIPTORS: Final = 3
"""File descriptors sent with a `Launch`."""


def spare_users(uid_map: str) -> range:
    """Users of this (container's) user namespace that nobody is likely to be.

    >>> spare_users("0 0 4294967295")
    range(1879048192, 2147483647)
    >>> spare_users("0 100000 65536")
    range(49152, 65533)
    >>> len(spare_users("0 1000 1"))
    0
    """
    first, last = 0, 0
    for line in uid_map.splitlines():
        start, _, count = map(int, line.split())
        if count > last - first:
            first, last = start, start + count
    if last > FIRST_UID:
        return range(FIRST_UID, min(last, 0x7FFFFFFF))
    return range(first + (last - first) * 3 // 4, max(first, last - 3)) if last > 16 else range(0)


class ForkServer:
    """The boxes of one client."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._leashes: dict[int, socket.socket] = {}
        self._box_supervisors: dict[int, int] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._users = range(0)
        if os.geteuid() == 0:
            with open("/proc/self/uid_map", encoding="ascii") as file:
                self._users = spare_users(file.read())
        self._next = int.from_bytes(os.urandom(4), "big")

    def run(self) -> None:
        """Serve until the client is gone."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    if not self._asked():
                        return
                elif key.data in self._leashes:
                    self._told(key.data)

    def _asked(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, PACKET, DESCRIPTORS)
        except ConnectionError:  # the client was killed before it had read everything
            return False
        if not data:
            return False
        try:
            message = decode_to_fork_server(data)
        except msgspec.MsgspecError as error:
            sys.stderr.write(f"fork server: {error}\n")
            return False
        match message:
            case Launch():
                self._launch(message.id, message.box, descriptors)
            case Kill():
                leash = self._leashes.get(message.id)
                if leash is not None:
                    with contextlib.suppress(OSError):
                        leash.send(b"k")
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _launch(self, number: int, box: Box, descriptors: list[int]) -> None:
        if len(descriptors) != DESCRIPTORS:
            self._say(packet(Refused(number, "descriptors are missing")))
            return
        if len(self._users):
            self._next += 1
            box = msgspec.structs.replace(box, uid=self._users[self._next % len(self._users)])
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            pid = os.fork()
        except OSError as error:
            ours.close()
            theirs.close()
            self._say(packet(Refused(number, f"no process for it: {error}")))
            return
        if pid == 0:
            guard(number, box, descriptors, theirs)
        theirs.close()
        self._leashes[number] = ours
        self._box_supervisors[number] = pid
        self._selector.register(ours, selectors.EVENT_READ, number)

    def _told(self, number: int) -> None:
        """Pass on what a box supervisor says; at its end, bury it."""
        leash = self._leashes[number]
        try:
            data = leash.recv(PACKET)
        except OSError:
            data = b""
        if data:
            self._say(data)
            if not isinstance(decode_from_fork_server(data), Ended | Refused):
                return
        else:  # Only the kernel can have killed it, short of memory, and its bot ended with it.
            ending = BoxExit(code=-signal.SIGKILL, why="its box supervisor was ended")
            self._say(packet(Ended(number, ending)))
        self._selector.unregister(leash)
        leash.close()
        del self._leashes[number]
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._box_supervisors.pop(number), 0)

    def _say(self, data: bytes) -> None:
        self._control.setblocking(True)
        with contextlib.suppress(OSError):  # the client is gone: the next read tells
            self._control.send(data)


def prepare() -> None:
    """Import what bots need."""
    import plyhouse.bots
    import plyhouse.bots.process.__main__
    import plyhouse.search  # noqa: F401 - shared by all bots
    from plyhouse.bots.process.tracker import get_ready
    from plyhouse.games.registry import BUILT_IN

    get_ready(BUILT_IN)  # not the games of others: none of their code runs in here
    libraries()


def main() -> None:
    """Import what bots need, and keep boxes until the client is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which then tells us
    os.environ.clear()
    kernel.subreaper()
    prepare()
    gc.collect()
    gc.freeze()
    gc.disable()
    ForkServer(control).run()
    os._exit(0)  # the leashes end with us, and with them the boxes


if __name__ == "__main__":
    main()
