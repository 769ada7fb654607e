"""Ways out: sockets of every kind, and what makes them."""

from __future__ import annotations

import ctypes
import socket
from typing import Any

from .base import Refused, attempt, call, closing

__all__: list[str] = []


@attempt("network", "connect to a TCP port of this machine")
def _tcp(to: dict[str, Any]) -> object:
    with socket.create_connection(("127.0.0.1", to["tcp"]), timeout=2) as end:
        return end.getpeername()


@attempt("network", "a TCP socket, version 6")
def _tcp6(_: dict[str, Any]) -> object:
    socket.socket(socket.AF_INET6).close()
    return "made"


@attempt("network", "listen on a TCP port")
def _listen(_: dict[str, Any]) -> object:
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        end.listen()
        return end.getsockname()


@attempt("network", "ask a name server (UDP)")
def _dns(to: dict[str, Any]) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        query = b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01"
        return end.sendto(query, ("127.0.0.1", to["udp"]))


@attempt("network", "a raw socket (ping)")
def _raw(_: dict[str, Any]) -> object:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()
    return "made"


@attempt("network", "sockets of every family")
def _families(_: dict[str, Any]) -> object:
    had = []
    for family in range(1, 46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue
            had.append((family, int(kind)))
    if not had:
        raise Refused("none of 45 families, four kinds each")
    return had


@attempt("network", "connect to a local socket in the file system")
def _unix(to: dict[str, Any]) -> object:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(to["unix"])
    return "connected"


@attempt("network", "connect to an abstract local socket")
def _abstract(to: dict[str, Any]) -> object:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect("\0" + to["abstract"])
    return "connected"


@attempt("network", "send from a socket pair to a local socket elsewhere (sendto)")
def _sendto(to: dict[str, Any]) -> object:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        return ours.sendto(b"hello", to["datagrams"])


@attempt("network", "connect a socket pair to a local socket elsewhere")
def _pair_connect(to: dict[str, Any]) -> object:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.connect(to["datagrams"])
        return "connected"


@attempt("network", "send from a socket pair to a local socket elsewhere (sendmsg)")
def _sendmsg(to: dict[str, Any]) -> object:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        return ours.sendmsg([b"hello"], [], 0, to["datagrams"])


@attempt("network", "io_uring, which makes sockets without system calls")
def _io_uring(_: dict[str, Any]) -> object:
    return closing(call("io_uring_setup", 4, (ctypes.c_uint32 * 30)()))
