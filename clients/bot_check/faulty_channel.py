"""A connection with injected faults: duplicate frames, lost connections, unknown messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgpack  # type: ignore[import-untyped]

from plyhouse.bots.client.channel import Channel
from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import Accepted, Notice

__all__ = ["Faults", "FaultyChannel"]


@dataclass(slots=True)
class Faults:
    """The faults still to inject into a bot's connection; each one decrements its count."""

    noise: bool = False
    """True if each turn is followed by a duplicate and by messages of a later version."""
    cut_turns: int = 0
    """Number of turns to drop by breaking the connection instead of delivering them."""
    cut_acts: int = 0
    """Number of times to break the connection right after an action was sent."""


class FaultyChannel:
    """A bot's connection that injects the faults that ``disturbance`` returns.

    ``on_accepted`` is called whenever the server has taken an action of the bot.
    """

    def __init__(
        self,
        inner: Channel,
        disturbance: Callable[[], Faults],
        on_accepted: Callable[[], None],
    ) -> None:
        self._inner = inner
        self._disturbance = disturbance
        self._on_accepted = on_accepted
        self._extra: deque[Frame] = deque()

    @property
    def close_code(self) -> int | None:
        """The WebSocket close code; None while the connection is open."""
        return self._inner.close_code

    @close_code.setter
    def close_code(self, value: int | None) -> None:
        self._inner.close_code = value

    @property
    def close_reason(self) -> str:
        """The reason for closing the connection."""
        return self._inner.close_reason

    @close_reason.setter
    def close_reason(self, value: str) -> None:
        self._inner.close_reason = value

    def send(self, frame: Frame) -> None:
        """Send a frame; after an action the connection may break."""
        self._inner.send(frame)
        disturbance = self._disturbance()
        if disturbance.cut_acts and _type(frame) == "act":
            disturbance.cut_acts -= 1
            self._cut()

    async def recv(self) -> Frame | None:
        """Return the next frame, real or injected; None once the connection is closed."""
        if self._extra:
            return self._extra.popleft()
        frame = await self._inner.recv()
        if frame is None:
            return None
        disturbance = self._disturbance()
        kind = _type(frame)
        if kind == "accepted":
            self._on_accepted()
        if kind == "turn":
            if disturbance.cut_turns:
                disturbance.cut_turns -= 1
                self._cut()
                return None
            if disturbance.noise:
                self._extra.extend(_noise(frame))
                return _with_field(frame)
        return frame

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection with a WebSocket close code."""
        self._inner.close(code, reason)

    def _cut(self) -> None:
        self._extra.clear()
        self._inner.close(1006, "the examiner cut the line")


def _type(frame: Frame) -> str:
    return str(msgpack.unpackb(frame).get("type", ""))


def _with_field(frame: Frame) -> Frame:
    fields = msgpack.unpackb(frame)
    fields["field_of_a_later_version"] = {"any": [1, 2.5, None]}
    return bytes(msgpack.packb(fields))


def _noise(turn: Frame) -> list[Frame]:
    """Return the turn again, an unknown message, a notice and an answer to no request."""
    return [
        turn,
        bytes(msgpack.packb({"type": "message_of_a_later_version", "match": "m"})),
        MSGPACK.encode(Notice("notice/check", "This is a check.")),
        MSGPACK.encode(Accepted(2**40, "nobody's", 3)),
    ]
