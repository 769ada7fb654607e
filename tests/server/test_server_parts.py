"""The small parts of the shell: watchdog, frames, ratings, and the plain ASGI way."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.log_lines import log_text
from tests.harness.patience import PATIENCE

from plyhouse.protocol.codec import MSGPACK, SUBPROTOCOLS
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.messages import Error, Hello, Ok, Seek, Welcome
from plyhouse.server.app import create_app
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.entrance import Connections
from plyhouse.server.table.watchdog import INTERVAL_NS, TOLERANCE_NS, Watchdog
from plyhouse.server.wire.direct import (
    WHOLE_BINARY,
    WHOLE_TEXT,
    DirectProtocol,
    websocket_protocol,
)
from plyhouse.server.wire.frames import frame_header
from plyhouse.server.wire.websocket import websocket_endpoint


def test_settings_of_connections_have_the_defaults_of_the_protocol() -> None:
    assert Connections(ServerConfig(), lambda: 0).limits == ConnectionLimits()


def test_watchdog_reports_only_what_is_beyond_its_tolerance(clock: FakeClock) -> None:
    stalls: list[tuple[int, int]] = []
    watchdog = Watchdog(clock, lambda begin, end, busy: stalls.append((begin, end)))
    clock.now += INTERVAL_NS + TOLERANCE_NS
    assert watchdog.ongoing(clock.now) == 0
    watchdog.beat()
    assert stalls == []
    expected = clock.now + INTERVAL_NS
    clock.now = expected + TOLERANCE_NS + 1
    assert watchdog.ongoing(clock.now) == TOLERANCE_NS + 1
    watchdog.beat()
    assert stalls == [(expected, clock.now)]
    assert watchdog.ongoing(clock.now) == 0
    assert watchdog.total_ns == watchdog.longest_ns == TOLERANCE_NS + 1


def test_time_without_the_processor_is_not_that_of_a_connection(clock: FakeClock) -> None:
    """The machine stops the process for 5 s while it reads a frame: 2 ms of that are work."""
    worked = 0
    found: list[dict[object, int]] = []
    watchdog = Watchdog(clock, lambda *_: found.append(dict(watchdog.spent)), lambda: worked)
    watchdog.note("a", 3_000_000_000)
    watchdog.note("b", 1_000_000_000)
    worked = 2_000_000
    clock.now += 5_000_000_000
    watchdog.beat()
    assert found == [{"a": 1_500_000, "b": 500_000}]
    assert watchdog.busiest() == (None, 0)
    watchdog.note("a", 40_000_000)
    worked += 90_000_000
    clock.now += 100_000_000
    watchdog.beat()
    assert found[1] == {"a": 40_000_000}


async def test_watchdog_beats_while_the_loop_runs() -> None:
    beats = asyncio.Event()
    watchdog = Watchdog(lambda: 0, lambda begin, end, busy: None)
    watchdog.beat = lambda now=None: beats.set()  # type: ignore[method-assign]
    watchdog.start()
    async with asyncio.timeout(PATIENCE):
        await beats.wait()
    watchdog.stop()


@pytest.mark.parametrize(
    ("length", "header"),
    [
        (0, b"\x82\x00"),
        (125, b"\x82\x7d"),
        (126, b"\x82\x7e\x00\x7e"),
        (65535, b"\x82\x7e\xff\xff"),
        (65536, b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"),
    ],
)
def test_frame_headers(length: int, header: bytes) -> None:
    assert frame_header(WHOLE_BINARY, length) == header
    assert frame_header(WHOLE_TEXT, length) == b"\x81" + header[1:]


class FakeWire:
    """An ASGI connection of another server than ours."""

    def __init__(self, **scope: Any) -> None:
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/ws",
            "subprotocols": list(SUBPROTOCOLS),
            "client": ("10.0.0.1", 5),
            **scope,
        }
        self.inbox: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.outbox: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.inbox.put_nowait({"type": "websocket.connect"})

    async def send(self, event: MutableMapping[str, Any]) -> None:
        await self.outbox.put(event)

    def say(self, message: Any) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "bytes": MSGPACK.encode(message)})

    async def heard(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            event = await self.outbox.get()
        return MSGPACK.decode_server(event["bytes"]) if "bytes" in event else event


async def test_plain_asgi_servers_can_carry_the_protocol_too(house: Any) -> None:
    wire = FakeWire()
    endpoint = websocket_endpoint(SUBPROTOCOLS, house.hub.attach)
    task = asyncio.create_task(endpoint(wire.scope, wire.inbox.get, wire.send))
    assert await wire.heard() == {"type": "websocket.accept", "subprotocol": SUBPROTOCOLS[0]}
    wire.say(Hello(1, await house.token("alice"), "bot"))
    assert isinstance(await wire.heard(), Welcome)
    await wire.heard()  # the first ping
    wire.say(Seek(2, "pig", "move:1"))
    assert isinstance(await wire.heard(), Ok)
    wire.inbox.put_nowait({"type": "websocket.disconnect", "code": 1006})
    async with asyncio.timeout(PATIENCE):
        await task
    assert not house.hub.directory.online()


async def test_plain_asgi_servers_are_told_to_close_after_a_fatal_error(house: Any) -> None:
    wire = FakeWire()
    endpoint = websocket_endpoint(SUBPROTOCOLS, house.hub.attach)
    task = asyncio.create_task(endpoint(wire.scope, wire.inbox.get, wire.send))
    await wire.heard()
    wire.say(Hello(1, "ply_wrong", "bot"))
    error = await wire.heard()
    assert isinstance(error, Error)
    assert (await wire.heard())["code"] == 4401
    async with asyncio.timeout(PATIENCE):
        await task


async def test_websockets_elsewhere_are_refused_also_without_http_answers() -> None:
    wire = FakeWire(path="/elsewhere")
    await create_app()(wire.scope, wire.inbox.get, wire.send)
    assert (await wire.heard())["code"] == 4404


async def test_frames_arrive_whole_however_the_network_cuts_them(house: Any) -> None:
    import base64
    import os

    host, port = house.server.host, house.server.port
    reader, writer = await asyncio.open_connection(host, port)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {SUBPROTOCOLS[0]}\r\n\r\n".encode()
    )
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")

    def masked(first: int, payload: bytes | str) -> bytes:
        assert isinstance(payload, bytes)
        mask = b"\x11\x22\x33\x44"
        size = len(payload)
        head = (
            bytes((first, 128 | size))
            if size < 126
            else bytes((first, 254)) + size.to_bytes(2, "big")
        )
        return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))

    async def answer(kind: type[Any]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while True:
                first, length = await reader.readexactly(2)
                if length == 126:
                    length = int.from_bytes(await reader.readexactly(2), "big")
                data = await reader.readexactly(length)
                if first == WHOLE_BINARY and isinstance(
                    message := MSGPACK.decode_server(data), kind
                ):
                    return message

    hello = masked(
        WHOLE_BINARY, MSGPACK.encode(Hello(1, await house.token("alice"), "b", client="x" * 60))
    )
    for byte in hello:
        writer.write(bytes((byte,)))
        await writer.drain()
    assert isinstance(await answer(Welcome), Welcome)
    seek = MSGPACK.encode(Seek(2, "pig", "move:1"))
    assert isinstance(seek, bytes)
    ping = masked(0x89, b"hi")
    writer.write(ping + masked(0x02, seek[:5]) + ping + masked(0x80, seek[5:]))
    assert (await answer(Ok)).re == 2
    writer.write(masked(WHOLE_BINARY, MSGPACK.encode(Seek(3, "tic_tac_toe", "move:1"))))
    assert (await answer(Ok)).re == 3
    writer.write(b"\x82\x05hello")  # not masked: against the rules of websockets
    async with asyncio.timeout(PATIENCE):
        assert await reader.read(-1) is not None
    writer.close()
    assert not house.hub.directory.online()


def test_the_installed_uvicorn_has_what_the_short_way_needs() -> None:
    assert websocket_protocol() is DirectProtocol


def test_a_uvicorn_without_what_the_short_way_needs_serves_on_the_longer_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("plyhouse.server.wire.direct.NEEDED", ("gone_since",))
    protocol = websocket_protocol()
    assert not issubclass(protocol, DirectProtocol)
    assert "gone_since" in log_text(caplog)
