"""Ports of servers that have to be known before they start, or that stop and start again."""

from __future__ import annotations

import atexit
import secrets
import socket
from pathlib import Path
from typing import Final

__all__ = ["kept_port"]

RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Has the ports that the system gives to those who ask for any port."""
CHOICE: Final = 10_000
"""Number of ports below them to choose from."""


def kept_port() -> int:
    """Return a port of this machine that no other test takes before this process ends.

    A port that the system has chosen is free for others as soon as nobody listens on it: beside
    many other tests, one of them may get it while a server restarts.
    """
    first = int(RANGE.read_text("ascii").split()[0]) if RANGE.exists() else 32_768
    while True:
        port = first - 1 - secrets.randbelow(min(CHOICE, first - 1024))
        lock = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                if RANGE.exists():  # only Linux has such addresses
                    lock.bind(f"\0plyhouse-tests-port-{port}")
                probe.bind(("127.0.0.1", port))
            except OSError:  # another test has it, or another program
                lock.close()
                continue
        atexit.register(lock.close)
        return port
