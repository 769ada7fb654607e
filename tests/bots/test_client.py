"""Staying connected, and losing nothing when the connection is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bots.conftest import FakeServer, ManualClock, settle
from tests.harness.patience import PATIENCE

from plyhouse.bots.client.channel import NotAServer, Unreachable
from plyhouse.bots.client.client import (
    CannotConnect,
    Client,
    ClientError,
    Connected,
    ConnectionLost,
    Disconnected,
    Refused,
    Replaced,
    RequestRefused,
)
from plyhouse.bots.client.timing import Backoff
from plyhouse.bots.client.websocket import WebSocketChannel, websocket_connector
from plyhouse.protocol.address import Address
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Bye,
    Error,
    Hello,
    Notice,
    Ok,
    Ready,
    Seek,
)

NO_JITTER = Backoff(jitter=0.0)


class Listener:
    """Collects what a client hears in the background."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: list[Any] = []
        self.error: BaseException | None = None
        self.task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        try:
            async with aclosing(self.client.messages()) as messages:
                async for message, _ in messages:
                    self.heard.append(message)
        except ClientError as error:
            self.error = error

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.heard if isinstance(message, kind)]


@asynccontextmanager
async def listening(
    server: FakeServer, clock: ManualClock, **more: Any
) -> AsyncIterator[tuple[Client, Listener]]:
    client = Client(
        server.connect,
        Hello(0, "ply_secret", bot="mybot", games=["pig"]),
        clock=clock,
        rng=random.Random(1),
        backoff=NO_JITTER,
        **more,
    )
    listener = Listener(client)
    yield client, listener
    listener.task.cancel()
    await asyncio.gather(listener.task, return_exceptions=True)


# ------------------------------------------------------------------------- back-off


def test_waits_double_up_to_the_longest() -> None:
    rng = random.Random(0)
    waits = [NO_JITTER.delay(failures, rng) for failures in range(1, 10)]
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


@given(st.integers(1, 10_000), st.integers(0, 100))
def test_jitter_only_shortens_and_at_most_by_its_share(failures: int, seed: int) -> None:
    wait = Backoff().delay(failures, random.Random(seed))
    full = NO_JITTER.delay(failures, random.Random(seed))
    assert full / 2 <= wait <= full


def test_jitter_spreads_those_who_come_back() -> None:
    rng = random.Random(3)
    assert len({Backoff().delay(4, rng) for _ in range(20)}) == 20


# ------------------------------------------------------------------------- connecting


async def test_hello_says_who_we_are(server: FakeServer, clock: ManualClock) -> None:
    async with listening(server, clock) as (client, listener):
        hello = await server.welcome()
        await settle()
        assert (hello.token, hello.bot, hello.games) == ("ply_secret", "mybot", ["pig"])
        assert (hello.session, hello.takeover) == ("", False)
        assert client.connected
        assert listener.of(Connected)[0].again is False


async def test_the_first_connection_is_tried_a_few_times(
    server: FakeServer, clock: ManualClock
) -> None:
    server.unreachable = 99
    async with listening(server, clock, first_attempts=4) as (_, listener):
        await clock.advance(60)
        assert server.attempts == 4
        assert clock.slept == [0.25, 0.5, 1.0]
        assert isinstance(listener.error, CannotConnect)
        assert "nothing listens there" in str(listener.error)


async def test_a_lost_connection_is_replaced_with_backoff_for_as_long_as_it_takes(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome(session="key-1")
        await settle()
        server.unreachable = 10
        assert server.channel is not None
        server.channel.cut()
        await settle()
        assert not client.connected
        await clock.advance(91)
        waits = [each.retry_in for each in listener.of(Disconnected)]
        assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0, 15.0, 15.0]
        hello = await server.welcome()
        assert (hello.session, hello.takeover) == ("key-1", True)
        await settle()
        assert listener.of(Connected)[-1].again is True


async def test_success_makes_the_waits_short_again(server: FakeServer, clock: ManualClock) -> None:
    async with listening(server, clock) as (_, listener):
        for _ in range(3):
            await server.welcome()
            await settle()
            assert server.channel is not None
            server.channel.cut()
            await clock.advance(1)
        assert {each.retry_in for each in listener.of(Disconnected)} == {0.25}


async def test_a_silent_server_is_given_up(server: FakeServer, clock: ManualClock) -> None:
    async with listening(server, clock) as (_, listener):
        await server.welcome(heartbeat_ms=4000)
        await settle()
        channel = server.channel
        assert channel is not None
        channel.send = lambda frame: None  # type: ignore[method-assign]  # pings get lost
        await clock.advance(8.9)
        assert not listener.of(Disconnected)
        await clock.advance(0.2)
        assert "nothing was heard" in listener.of(Disconnected)[0].reason


async def test_pongs_keep_the_connection_and_measure_the_way(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await clock.advance(120)
        assert client.connected
        assert not listener.of(Disconnected)
        assert client.round_trip == 0  # answered in the same instant of this clock


# --------------------------------------------------------------- what is not tried again


@pytest.mark.parametrize(
    ("code", "fatal", "kind"),
    [
        ("auth/bad_token", True, Refused),
        ("auth/revoked", True, Refused),
        ("auth/already_connected", True, Refused),
        ("auth/bad_name", False, Refused),
        ("auth/replaced", True, Replaced),
        ("protocol/rate", True, Refused),
    ],
)
async def test_a_refusal_ends_it(
    server: FakeServer, clock: ManualClock, code: str, fatal: bool, kind: type
) -> None:
    async with listening(server, clock) as (_, listener):
        hello = await server.heard(Hello)
        server.say(Error(code, "No.", re=hello.id, fatal=fatal))
        await clock.advance(60)
        assert type(listener.error) is kind
        assert server.attempts == 1
        assert str(listener.error) == "No."


@pytest.mark.parametrize(
    "code", ["server/shutting_down", "server/overloaded", "server/slow_consumer", "auth/timeout"]
)
async def test_a_server_in_trouble_is_asked_again(
    server: FakeServer, clock: ManualClock, code: str
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        server.say(Error(code, "Later.", fatal=True))
        await clock.advance(1)
        assert listener.error is None
        await server.welcome()
        await settle()
        assert client.connected


@pytest.mark.parametrize("code", ["server/storage", "server/overloaded", "auth/rate"])
async def test_bot_that_cannot_come_back_at_once_tries_again(
    server: FakeServer, clock: ManualClock, code: str
) -> None:
    """While a server had no database or a cluster no leader, it gave up, and forfeited."""
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(1)
        for _ in range(3):
            hello = await server.heard(Hello)
            server.say(Error(code, "Later.", re=hello.id))
            await settle()
            assert listener.of(Disconnected)[-1].reason == "Later."
            await clock.advance(3)
        await server.welcome()
        await settle()
        assert listener.error is None
        assert client.connected


async def test_being_replaced_later_ends_it_too(server: FakeServer, clock: ManualClock) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await settle()
        waiting = asyncio.create_task(client.act("m", 0, "4"))
        await settle()
        server.say(Error("auth/replaced", "A newer one took over.", fatal=True))
        await clock.advance(60)
        assert isinstance(listener.error, Replaced)
        assert server.attempts == 1
        with pytest.raises(ConnectionLost):
            await waiting


# --------------------------------------------------------------------------- requests


async def test_an_action_is_sent_again_until_it_is_answered(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, _):
        await server.welcome()
        await settle()
        acting = asyncio.create_task(client.act("m1", 3, "4"))
        first = await server.heard(Act)
        for _ in range(2):
            assert server.channel is not None
            server.channel.cut()
            await clock.advance(1)
            await server.welcome()
            again = await server.heard(Act)
            assert (again.match, again.ply, again.action) == ("m1", 3, "4")
        assert first.id > 0
        server.say(Accepted(again.id, "m1", 3, duplicate=True))
        assert (await acting).duplicate


async def test_an_action_decided_while_away_goes_out_on_return(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, _):
        await server.welcome()
        await settle()
        assert server.channel is not None
        server.channel.cut()
        await settle()
        acting = asyncio.create_task(client.act("m1", 0, "b2"))
        await clock.advance(1)
        await server.welcome()
        act = await server.heard(Act)
        server.say(Accepted(act.id, "m1", 0))
        await acting


async def test_a_request_that_may_not_be_repeated_goes_down_with_the_connection(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, _):
        await server.welcome()
        await settle()
        seeking = asyncio.create_task(client.request(lambda number: Seek(number, "pig", "move:1")))
        await server.heard(Seek)
        assert server.channel is not None
        server.channel.cut()
        with pytest.raises(ConnectionLost):
            await seeking
        with pytest.raises(ConnectionLost):
            await client.request(lambda number: Seek(number, "pig", "move:1"))


async def test_a_refused_request_names_what_is_legal(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await settle()
        acting = asyncio.create_task(client.act("m1", 0, "9"))
        act = await server.heard(Act)
        server.say(Error("action/illegal", "No.", re=act.id, match="m1", legal=["1", "2"]))
        with pytest.raises(RequestRefused) as error:
            await acting
        assert (error.value.code, error.value.legal) == ("action/illegal", ("1", "2"))
        assert client.connected
        assert listener.error is None


async def test_an_action_that_cannot_be_sent_is_the_callers_error(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, _):
        await server.welcome()
        await settle()
        with pytest.raises(ClientError, match="longer than"):
            await client.act("m1", 0, "x" * 100_000)
        assert client.connected


async def test_frames_that_make_no_sense_are_passed_over(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        assert server.channel is not None
        server.channel.deliver(b"\xc1 nonsense")
        server.channel.deliver(b"\x81\xa4type\xaafrom_later")
        server.say(Ok(re=77))
        server.say(Notice("notice/hello", "Still here."))
        await settle()
        assert [notice.message for notice in listener.of(Notice)] == ["Still here."]
        assert client.connected


# ---------------------------------------------------------------------------- leaving


async def test_leaving_says_bye_and_waits_for_the_farewell(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await settle()
        leaving = asyncio.create_task(client.leave())
        bye = await server.heard(Bye)
        server.say(Ok(bye.id))
        await leaving
        await listener.task
        assert listener.error is None
        assert server.channel is not None
        assert server.channel.close_code == 1000
        with pytest.raises(ConnectionLost):
            await client.request(lambda number: Ready(number, "m1"), repeat=True)


async def test_leaving_does_not_wait_for_a_server_that_says_nothing(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await settle()
        leaving = asyncio.create_task(client.leave())
        await server.heard(Bye)
        await clock.advance(2.1)
        await leaving
        await listener.task


async def test_leaving_while_waiting_to_reconnect_ends_at_once(
    server: FakeServer, clock: ManualClock
) -> None:
    async with listening(server, clock) as (client, listener):
        await server.welcome()
        await settle()
        assert server.channel is not None
        server.channel.cut()
        await settle()
        await client.leave()
        await asyncio.wait_for(listener.task, PATIENCE)


# -------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("http://127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("https://games.example.org/", "wss://games.example.org/ws"),
        ("ws://localhost:1/ws", "ws://localhost:1/ws"),
        ("wss://[::1]:1/ws/", "wss://[::1]:1/ws"),
    ],
)
def test_addresses_are_taken_as_people_write_them(text: str, url: str) -> None:
    assert Address.read(text).websocket == url


@pytest.mark.parametrize("text", ["", "ftp://x", "http://", "http://x:port", "http://x:99999"])
def test_other_addresses_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write one like http://127"):
        websocket_connector(text)


async def test_nobody_listening_is_unreachable(unused_tcp_port: int) -> None:
    with pytest.raises(Unreachable, match="Nothing listens at"):
        await websocket_connector(f"127.0.0.1:{unused_tcp_port}")()


async def test_something_else_listening_is_no_server() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(NotAServer, match="no Plyhouse server"):
            await websocket_connector(f"http://127.0.0.1:{port}")()


async def test_a_websocket_server_of_another_kind_is_no_server() -> None:
    from websockets.asyncio.server import ServerConnection, serve

    async def echo(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serve(echo, "127.0.0.1", 0) as other:
        port = next(iter(other.sockets)).getsockname()[1]
        with pytest.raises(NotAServer, match=r"does not speak plyhouse\.v1"):
            await websocket_connector(f"http://127.0.0.1:{port}")()


async def test_frames_cross_a_websocket_in_order_and_its_end_is_seen() -> None:
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.typing import Subprotocol

    async def echo(socket: ServerConnection) -> None:
        async for frame in socket:
            await socket.send(frame)
            if frame == b"stop":
                await socket.close(4401, "enough")

    protocol = Subprotocol("plyhouse.v1+msgpack")
    async with serve(echo, "127.0.0.1", 0, subprotocols=[protocol]) as other:
        port = next(iter(other.sockets)).getsockname()[1]
        channel = await websocket_connector(f"127.0.0.1:{port}")()
        assert isinstance(channel, WebSocketChannel)
        frames = [str(number).encode() for number in range(100)]
        for frame in [*frames, b"stop"]:
            channel.send(frame)
        assert [await channel.recv() for _ in range(101)] == [*frames, b"stop"]
        assert await channel.recv() is None
        assert (channel.close_code, channel.close_reason) == (4401, "enough")


def test_lost_connection_is_told_in_one_sentence() -> None:
    lost = Disconnected("Nothing listens at http://x: give another address.", 0.25)
    assert lost.text == "Nothing listens at http://x: give another address; trying again in 0.2 s"
