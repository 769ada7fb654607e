"""A connection of protocol v1 without the network: frames in, frames out, time as an argument.

Rules
-----
1. A connection goes GREETING, AUTHENTICATING, OPEN, LEAVING, CLOSED; which input is allowed where
   is written down in `plyhouse.protocol.transitions` and nowhere else.
2. The client speaks first: ``hello`` within 10 s (``register`` may come before it).
3. Every request has an id above 0 that no other open request of this connection has. It is answered
   exactly once, by a message with that id in ``re``; then the id is free again. Pings are numbered
   apart, on each side.
4. Either side may ``ping``; the other answers at once with ``pong``. The server does so when the
   connection opens and every heartbeat (4 s), and the round trips measured thereby are what lag
   refunds are made of. A peer of which nothing was read for 9 s is given up: every dead peer is
   noticed within 10 s.
5. A frame that is wrong in itself or comes at the wrong moment is answered with ``error`` and
   changes nothing else. Only errors marked fatal end the connection; after a fatal one nothing is
   read or sent. A client, which has no ``error`` to send, notes and drops such frames.
6. Too many frames, or too many wrong ones, end the connection with ``protocol/rate``. Every frame
   of the transport counts, also those that carry no message; a request that is refused counts as
   wrong, whoever refuses it. Before a client has logged in its limits are narrower (`trust`).
7. What our own program does wrong is a `LocalProtocolError`, raised at once, with nothing sent and
   no change of state. What the peer does wrong is never raised: it is returned as `Rejected`.

A shell hands in every frame with the time at which it was read, and afterwards writes what
`outgoing` returns; calls `tick` when `next_deadline` is reached; and closes the transport when
`closing` is set. A frame read exactly at a deadline is in time if it is handed in before the tick.
All times are integer nanoseconds of one monotonic clock.

What both sides share is in `plyhouse.protocol.side`; the sides themselves are in
`plyhouse.protocol.server_side` and `plyhouse.protocol.client_side`.
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
