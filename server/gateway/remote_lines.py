"""Connections whose sockets another server of the cluster holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import ServerMessage
from plyhouse.server.gateway.member_messages import Expel, MemberMessage, ToLine, TurnSent

__all__ = ["PATIENCE_NS", "RemoteLine"]

PATIENCE_NS: Final = 500_000_000
"""How long a flag waits for an action that the server with the socket read in time."""
SILENCE_NS: Final = 1_000_000_000
"""After this long without a message from that server, its flags wait until it is heard again."""


class RemoteLine:
    """A `plyhouse.server.table.participants.Line` to a socket of another server.

    Thinking times are measured where the socket is.  ``anchors`` has, for each match, the ply of
    the last turn and the instant at which its write was reported here.
    """

    __slots__ = (
        "__weakref__",
        "_post",
        "_silence",
        "anchors",
        "codec",
        "connection",
        "epoch",
        "far",
        "floor_ns",
        "holding",
        "lag_ns",
        "remote",
        "scenes",
        "watching",
    )

    def __init__(
        self,
        epoch: int,
        connection: int,
        post: Callable[[int, MemberMessage], None],
        silence: Callable[[int], int],
    ) -> None:
        """``post`` sends a message to a server; ``silence`` says for how long it was silent."""
        self.epoch = epoch
        self.connection = connection
        self._post = post
        self._silence = silence
        self.codec = MSGPACK
        self.far = True
        self.remote = True
        self.holding = False
        self.scenes = False
        self.watching: set[str] = set()
        self.lag_ns = 0
        self.floor_ns = 0
        self.anchors: dict[str, tuple[int, int]] = {}

    def __repr__(self) -> str:
        return f"<connection {self.connection} of server {self.epoch}>"

    @property
    def patience_ns(self) -> int:
        """How long an action may take from the server with the socket, in nanoseconds."""
        silent = self._silence(self.epoch)
        return PATIENCE_NS if silent < SILENCE_NS else PATIENCE_NS + silent

    def tell_turn(self, match: str, seat: int, ply: int) -> None:
        """Have the server with the socket report when it has written the turn sent last."""
        self._post(self.epoch, TurnSent(self.connection, match, seat, ply))

    def after(self, call: Callable[[], None]) -> None:
        """Run ``call``; the server with the socket keeps the order of messages."""
        call()

    def send(self, message: ServerMessage) -> None:
        """Send a message; it is lost if the socket closes before."""
        self._post(self.epoch, ToLine(self.connection, message))

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece."""
        for message in messages:
            self.send(message)

    def send_frame(self, frame: Frame) -> None:
        """Never called, because `far` is True."""
        raise AssertionError("the socket has another codec")

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""
        self._post(self.epoch, Expel(self.connection, code, text))
