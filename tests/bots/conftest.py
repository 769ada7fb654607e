"""A clock moved by hand, a scripted server end in memory, and bots as files."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.bots.client.channel import Unreachable
from plyhouse.bots.process import traceback_reader
from plyhouse.protocol.codec import MSGPACK, Codec, Frame
from plyhouse.protocol.messages import (
    ClientMessage,
    ClockState,
    Event,
    Hello,
    MatchSnapshot,
    Message,
    Ping,
    Pong,
    SeatInfo,
    Welcome,
)

Said = TypeVar("Said", bound=Message)


class ManualClock:
    """Time moves only when a test advances it."""

    def __init__(self) -> None:
        self.time = 1_000_000_000
        self.slept: list[float] = []
        self._sleepers: list[tuple[int, asyncio.Future[None]]] = []

    def now(self) -> int:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        wake = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.time + round(seconds * 1e9), wake))
        await wake

    async def advance(self, seconds: float) -> None:
        """Advance the time, wake the due sleepers in order, and let everything settle."""
        end = self.time + round(seconds * 1e9)
        await settle()
        while due := [entry for entry in self._sleepers if entry[0] <= end]:
            entry = min(due, key=lambda each: each[0])
            self._sleepers.remove(entry)
            self.time = max(self.time, entry[0])
            if not entry[1].done():
                entry[1].set_result(None)
            await settle()
        self.time = end


async def settle() -> None:
    """Let every task run that can."""
    for _ in range(50):
        await asyncio.sleep(0)


class FakeChannel:
    """The client's end of a scripted connection."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self.open = True
        self.close_code: int | None = None
        self.close_reason = ""

    def send(self, frame: Frame) -> None:
        if self.open:
            self._server.take(self._server.codec.decode_client(frame))

    async def recv(self) -> Frame | None:
        return await self._frames.get()

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.cut(code, reason)

    def deliver(self, frame: Frame) -> None:
        self._frames.put_nowait(frame)

    def cut(self, code: int = 1006, reason: str = "") -> None:
        if self.open:
            self.open = False
            self.close_code, self.close_reason = code, reason
            self._frames.put_nowait(None)


class FakeServer:
    """A server that says what the test tells it to; pings are answered."""

    def __init__(self, codec: Codec = MSGPACK) -> None:
        self.codec = codec
        self.said: asyncio.Queue[ClientMessage] = asyncio.Queue()
        self.unreachable = 0
        """Attempts to connect that fail from now on."""
        self.attempts = 0
        self.channel: FakeChannel | None = None
        self.hellos: list[Hello] = []

    async def connect(self) -> FakeChannel:
        self.attempts += 1
        if self.unreachable > 0:
            self.unreachable -= 1
            raise Unreachable("nothing listens there")
        self.channel = FakeChannel(self)
        return self.channel

    def take(self, message: ClientMessage) -> None:
        if isinstance(message, Ping):
            self.say(Pong(message.id))
        elif not isinstance(message, Pong):
            self.said.put_nowait(message)

    def say(self, message: Any) -> None:
        assert self.channel is not None
        self.channel.deliver(self.codec.encode(message))

    async def heard(self, kind: type[Said]) -> Said:
        """The next message, which must be of this kind."""
        message = await asyncio.wait_for(self.said.get(), PATIENCE)
        assert isinstance(message, kind), message
        return message

    async def welcome(
        self, *matches: MatchSnapshot, heartbeat_ms: int = 4000, session: str = "key"
    ) -> Hello:
        hello = await self.heard(Hello)
        self.hellos.append(hello)
        self.say(
            Welcome(
                hello.id, "anna", hello.bot, session, "1", "fake", 0, heartbeat_ms,
                matches=list(matches),
            )
        )  # fmt: skip
        return hello


def snapshot(
    game: str = "connect_four",
    *,
    match: str = "m1",
    seat: int = 0,
    status: Any = "running",
    events: tuple[Event, ...] = (),
    deadline_ms: int | None = None,
    time_control: str = "move:1",
    ply: int | None = None,
    **more: Any,
) -> MatchSnapshot:
    """A match between anna/mybot and bert/rival."""
    return MatchSnapshot(
        match=match,
        pairing="p1",
        game=game,
        time_control=time_control,
        rated=False,
        seat=seat,
        players=[SeatInfo("anna", "mybot"), SeatInfo("bert", "rival")],
        status=status,
        ply=sum(event.seat >= 0 for event in events) if ply is None else ply,
        commitment="c0ffee",
        events=list(events),
        clocks=[ClockState(0, 1000), ClockState(1, 1000)],
        your_turn=deadline_ms is not None,
        deadline_ms=deadline_ms,
        **more,
    )


def played(*columns: str) -> tuple[Event, ...]:
    """Events of actions by seats 0 and 1 in turn."""
    return tuple([Event(ply, ply % 2, action) for ply, action in enumerate(columns)])


@pytest.fixture(autouse=True)
def patient_with_hanging_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine may take long to run a process that was asked where it stands."""
    monkeypatch.setattr(traceback_reader, "PATIENCE", 60.0)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    yield server
    if server.channel is not None:
        server.channel.cut()


BotFile = Callable[..., str]


@pytest.fixture
def bot_file(tmp_path: Path) -> BotFile:
    """Writes a bot file and returns its path."""

    def write(body: str, name: str = "mybot.py", header: str = "") -> str:
        path = tmp_path / name
        start = "import asyncio, os, time\nfrom plyhouse.bots import *\n"
        path.write_text(start + header + textwrap.dedent(body), encoding="utf-8")
        return str(path)

    return write
