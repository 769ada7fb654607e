"""A connection that misbehaves on purpose: frames come twice, lines break, the future speaks."""

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
    """The faults that the bot's connection still has to show; each one decrements its number."""

    noise: bool = False
    """Turns come twice, in between types and fields of a later version."""
    cut_turns: int = 0
    """So many turns get lost together with the line."""
    cut_acts: int = 0
    """The line breaks so many times right after an action was sent."""


class FaultyChannel:
    """A bot's connection on which the `Faults` of the moment happens.

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
        """WebSocket close code, once it is closed."""
        return self._inner.close_code

    @close_code.setter
    def close_code(self, value: int | None) -> None:
        self._inner.close_code = value

    @property
    def close_reason(self) -> str:
        """Why it was closed."""
        return self._inner.close_reason

    @close_reason.setter
    def close_reason(self, value: str) -> None:
        self._inner.close_reason = value

    def send(self, frame: Frame) -> None:
        """Pass a frame on; after an action the line may break."""
        self._inner.send(frame)
        disturbance = self._disturbance()
        if disturbance.cut_acts and _type(frame) == "act":
            disturbance.cut_acts -= 1
            self._cut()

    async def recv(self) -> Frame | None:
        """The next frame, or one that nobody asked for."""
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
        """Close it."""
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
    """The turn again, a message of a later version, an announcement, an answer to nothing."""
    return [
        turn,
        bytes(msgpack.packb({"type": "message_of_a_later_version", "match": "m"})),
        MSGPACK.encode(Notice("notice/check", "This is a check.")),
        MSGPACK.encode(Accepted(2**40, "nobody's", 3)),
    ]
