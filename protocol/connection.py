"""A connection of protocol v1 without the network: frames in, frames out, time as an argument.

Rules
-----
1. A connection passes through the states GREETING, AUTHENTICATING, OPEN, LEAVING and CLOSED. The
   tables in `plyhouse.protocol.transitions` alone decide which input is allowed in which state.
2. The client speaks first: ``hello`` within 10 s (``register`` may precede it).
3. Every request has an id above 0 that no other open request of this connection has. Exactly one
   message answers it, with that id in ``re``; then the id is free again. Each side numbers its
   pings separately.
4. Either side may send ``ping``; the other answers at once with ``pong``. The server pings when the
   connection opens and with every heartbeat (4 s); lag refunds use the round trips that these pings
   measure. A side closes the connection if it has read nothing for 9 s, so it notices a dead peer
   within 10 s.
5. The server answers a malformed or untimely frame with ``error`` and changes nothing else. Only
   errors marked fatal end the connection; after one, neither side reads or sends anything. A client
   has no ``error`` message: it records and drops such frames.
6. Too many frames, or too many mistakes, end the connection with ``protocol/rate``. Every frame of
   the transport counts, including frames without a message. Every refused request counts as a
   mistake. The limits are narrower until the client has logged in (`trust`).
7. A mistake of our own program raises `LocalProtocolError` at once; nothing is sent and the state
   does not change. A mistake of the peer never raises: it is returned as `Rejected`.

The caller passes every frame with the time at which it was read, then writes the frames that
`outgoing` returns. It calls `tick` when `next_deadline` is reached, and closes the transport when
`closing` is set. A frame read exactly at a deadline is in time if it is passed before the tick.
All times are integer nanoseconds of one monotonic clock.

`plyhouse.protocol.side` has the common part; `plyhouse.protocol.server_side` and
`plyhouse.protocol.client_side` have the two sides.
"""

from __future__ import annotations

from plyhouse.protocol.client_side import ClientConnection
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.server_side import ServerConnection
from plyhouse.protocol.side import Closing, Rejected
from plyhouse.protocol.transitions import State

__all__ = [
    "ClientConnection",
    "Closing",
    "ConnectionLimits",
    "Rejected",
    "ServerConnection",
    "State",
]
