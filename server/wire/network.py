"""The kernel's round trip times, which no remote program can delay.

Linux measures them from its own acknowledgements (``tcp_info`` in ``linux/tcp.h``, tcp(7)).  They
do not cover the path behind a proxy or a tunnel that ends here.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from typing import Final

from plyhouse.protocol.liveness import NetworkTrip

__all__ = ["network_trip"]

_RECENT: Final = 68
"""Offset of ``tcpi_rtt``: the smoothed round trip, in microseconds."""
_LEAST: Final = 148
"""Offset of ``tcpi_min_rtt``: the least of the last five minutes, since Linux 4.6."""
_UNKNOWN: Final = 0xFFFF_FFFF
_NUMBER: Final = struct.Struct("=I")


def network_trip(transport: asyncio.BaseTransport) -> NetworkTrip | None:
    """Return the round trips of a TCP connection.

    None where the kernel does not report them.
    """
    wire: socket.socket | None = transport.get_extra_info("socket")
    if wire is None or sys.platform != "linux":
        return None
    try:
        info = wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LEAST + 4)
    except OSError:  # gone, or not a TCP socket
        return None
    if len(info) < _RECENT + 4:
        return None
    (recent,) = _NUMBER.unpack_from(info, _RECENT)
    least = _UNKNOWN
    if len(info) >= _LEAST + 4:
        (least,) = _NUMBER.unpack_from(info, _LEAST)
    return NetworkTrip(recent * 1000, 0 if least == _UNKNOWN else min(least, recent) * 1000)
