"""Requests that a server of a cluster answers or passes on, while leaders come and go."""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from litestar.routes import HTTPRoute
from tests.harness.patience import PATIENCE
from tests.server.routes import get_paths

from plyhouse.server.web import forwarding
from plyhouse.server.web.application import create_api
from plyhouse.server.web.forwarding import Answerer, Forwarder, answerer
from plyhouse.server.wire.websocket import Message


@dataclass
class Leader:
    """An HTTP server that answers with its name, or closes the connection without a word."""

    name: str
    address: str = ""
    silent: bool = False
    cookie: bytes = b""
    seen: list[bytes] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        length = 4 if b"content-length: 4" in head.lower() else 0
        self.seen.append(head.split(b" ", 1)[0] + b" " + await reader.readexactly(length))
        if not self.silent:
            body = self.name.encode()
            more = b"set-cookie: %s\r\n" % self.cookie if self.cookie else b""
            size = b"content-length: %d\r\n" % len(body)
            writer.write(b"HTTP/1.1 200 OK\r\n%s%s\r\n%s" % (more, size, body))
            await writer.drain()
        writer.close()


@asynccontextmanager
async def listening(leader: Leader) -> AsyncIterator[Leader]:
    async with await asyncio.start_server(leader.serve, "127.0.0.1", 0) as server:
        leader.address = f"http://x:secret@127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield leader


@asynccontextmanager
async def frozen() -> AsyncIterator[str]:
    """The address of a server that accepts connections and does nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://x:secret@127.0.0.1:{server.getsockname()[1]}"


class Cluster:
    """The leaders that a server sees, one after the other; it stays with the last."""

    def __init__(self, *leaders: str) -> None:
        self._leaders = list(leaders)
        self._forwarder = Forwarder(self._next)

    def _next(self) -> str:
        return self._leaders.pop(0) if len(self._leaders) > 1 else self._leaders[0]

    async def ask(self, method: str, body: bytes = b"", path: str = "/p") -> tuple[int, str]:
        """Return the status and text of the answer to a request; then close the connections."""
        try:
            return await self.ask_again(method, body, path)
        finally:
            await self._forwarder.close()

    async def ask_again(self, method: str, body: bytes = b"", path: str = "/p") -> tuple[int, str]:
        """Return the status and text of the answer to a request, one of several."""
        size = [(b"content-length", str(len(body)).encode())] if body else []
        headers = [(b"host", b"games.example.org"), *size]
        scope = {"method": method, "path": path, "headers": headers, "scheme": "http"}
        sent: list[Message] = []
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if asked:  # as servers do while the visitor stays
                await asyncio.Event().wait()
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._forwarder(scope, receive, send)
        text = b"".join(each.get("body", b"") for each in sent)
        return sent[0]["status"], text.decode()


@pytest.fixture
async def dead() -> str:
    """The address of a server that has stopped."""
    async with listening(Leader("gone")) as leader:
        return leader.address


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_requests_wait_for_the_next_leader(method: str, dead: str) -> None:
    async with listening(Leader("new")) as new:
        cluster = Cluster("", dead, "", new.address)
        body = b"" if method == "GET" else b"body"
        assert await cluster.ask(method, body) == (200, "new")
        assert new.seen == [method.encode() + b" " + body]


async def test_a_page_is_asked_for_again_when_the_leader_dies() -> None:
    async with listening(Leader("old", silent=True)) as old, listening(Leader("new")) as new:
        assert await Cluster(old.address, new.address).ask("GET") == (200, "new")


async def test_a_page_is_asked_for_again_when_another_leader_follows_a_frozen_one() -> None:
    async with frozen() as old, listening(Leader("new")) as new:
        cluster = Cluster(old, old, new.address)
        async with asyncio.timeout(PATIENCE):
            assert await cluster.ask("GET") == (200, "new")


async def test_a_change_that_the_leader_has_got_is_not_sent_again() -> None:
    async with listening(Leader("old", silent=True)) as old, listening(Leader("new")) as new:
        status, text = await Cluster(old.address, new.address).ask("POST", b"body")
        assert (status, new.seen) == (503, [])
        assert "The leader of the cluster does not answer. Try again in a few seconds." in text


async def test_a_cluster_without_a_leader_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "WAIT_SECONDS", 0.0)
    status, text = await Cluster("").ask("GET")
    assert status == 503
    assert "The cluster has no leader yet. Try again in a few seconds." in text


async def test_cookies_of_one_visitor_are_not_sent_for_another() -> None:
    cookie = b"plyhouse=secret; HttpOnly; Max-Age=60; Path=/; SameSite=Lax"
    async with listening(Leader("new", cookie=cookie)) as leader:
        cluster = Cluster(leader.address)
        assert await cluster.ask_again("POST", b"body") == (200, "new")
        assert await cluster.ask("GET") == (200, "new")
    assert b"cookie" not in leader.heads[1].lower()


async def test_a_request_reaches_the_leader_with_the_headers_of_its_client_only() -> None:
    async with listening(Leader("new")) as leader:
        assert await Cluster(leader.address).ask("GET") == (200, "new")
    (head,) = leader.heads
    lines = [line.split(b":")[0].lower() for line in head.strip().split(b"\r\n")[1:]]
    assert sorted(lines) == [
        b"host",
        b"x-plyhouse-client",
        b"x-plyhouse-cluster",
        b"x-plyhouse-scheme",
    ]


@pytest.mark.parametrize("path", ["*", "http://elsewhere.example/p", "/" + 70_000 * "a"])
async def test_paths_that_are_no_part_of_an_address_are_not_found(path: str) -> None:
    async with listening(Leader("new")) as leader:
        status, text = await Cluster(leader.address).ask("GET", path=path)
    assert (status, leader.seen) == (404, [])
    assert "There is no such page" in text


@dataclass
class Wire:
    """A leader that notes all bytes, and answers the head with endless data if it ``talks``."""

    talks: bool = False
    got: bytes = b""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.got = await reader.readuntil(b"\r\n\r\n")
        self.asked.set()
        try:
            if self.talks:
                writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while self.talks:
                writer.write(b"4\r\nmore\r\n")
                await writer.drain()
                await asyncio.sleep(0)
            self.got += await reader.read()
        except OSError:
            pass
        finally:
            self.closed.set()
            writer.close()


async def forward(wire: Wire, *received: Message, headers: list[tuple[bytes, bytes]]) -> None:
    """Pass on a request of a visitor from whom this is received.

    The visitor leaves when the leader has got the head of the request.
    """
    messages = [*received]

    async def receive() -> Message:
        if messages:
            return messages.pop(0)
        await wire.asked.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        """Drop the message, as a server does after the visitor has gone."""

    async with await asyncio.start_server(wire.serve, "127.0.0.1", 0) as server:
        address = f"http://x:secret@127.0.0.1:{server.sockets[0].getsockname()[1]}"
        forwarder = Forwarder(lambda: address)
        scope = {"method": "POST" if received else "GET", "path": "/p", "headers": headers}
        async with asyncio.timeout(PATIENCE):
            await forwarder(scope, receive, send)
            await wire.closed.wait()
        await forwarder.close()


async def test_body_that_its_sender_cut_off_does_not_look_whole() -> None:
    wire = Wire()
    part = {"type": "http.request", "body": b"half", "more_body": True}
    await forward(wire, part, headers=[(b"transfer-encoding", b"chunked")])
    assert b"half" in wire.got
    assert not wire.got.endswith(b"0\r\n\r\n")


async def test_answer_ends_at_the_leader_when_the_visitor_has_gone() -> None:
    """Otherwise the leader would make whole data sets for nobody."""
    wire = Wire(talks=True)
    await forward(wire, headers=[])
    assert wire.closed.is_set()


@pytest.mark.parametrize("body", [b"", b"body"])
async def test_leader_is_not_waited_for_when_the_visitor_has_gone(body: bytes) -> None:
    """A leader may work on an answer for minutes, and each request keeps a connection to it."""
    wire = Wire()
    part = {"type": "http.request", "body": body, "more_body": False}
    size = [(b"content-length", b"%d" % len(body))] if body else []
    await forward(wire, part, headers=size)
    assert wire.got.endswith(b"\r\n\r\n" + body)


async def test_no_leader_is_waited_for_when_the_visitor_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise requests of visitors who try again pile up while the servers elect a leader."""
    monkeypatch.setattr(forwarding, "WAIT_SECONDS", 2 * PATIENCE)
    forwarder = Forwarder(lambda: "")

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    async with asyncio.timeout(PATIENCE):
        await forwarder({"method": "GET", "path": "/p", "headers": []}, receive, send)
    await forwarder.close()


ANSWERERS = {
    Answerer.ANY: "/account /api /api/openapi.json /api/v1/cluster /api/v1/games "
    "/api/v1/submissions/rules /cluster /docs /games /games/x/example /healthz /join /metrics "
    "/readyz /wall /web /web/x",
    Answerer.DATABASE: "/api/v1/bots/x/x/matches /api/v1/competitions /api/v1/competitions/x/table "
    "/api/v1/leaderboards /api/v1/leaderboards/x /api/v1/matches /api/v1/matches/x "
    "/api/v1/matches/x/chances /api/v1/matches/x/notation /api/v1/matches/x/record "
    "/api/v1/matches/x/replay /competitions /competitions/x /embed/x /games/x "
    "/leaderboards /leaderboards/x /matches/x /projector",
    Answerer.SUBSTITUTE: "/ /api/v1/session /bots/x/x /matches /players/x",
}
"""The addresses that need no leader: before you add one, see `docs/growing.md`."""


def test_answers_that_need_no_leader_are_those_that_were_looked_at() -> None:
    app, found = create_api(), defaultdict[Answerer, set[str]](set)
    values = defaultdict[str, list[str]](lambda: ["x"], submission=["1"])
    for path in get_paths(values):
        found[answerer(app, {"method": "GET", "path": path})].add(path)
    for who, paths in ANSWERERS.items():
        assert found[who] == set(paths.split()), who


def test_changes_and_unknown_paths_are_left_to_the_leader() -> None:
    """An older server must not say that there is no such route: the leader may have it."""
    app = create_api()
    for route in app.routes:
        assert isinstance(route, HTTPRoute)
        for method in route.methods - {"GET"}:
            scope = {"method": method, "path": route.path_format}
            assert answerer(app, scope) is Answerer.LEADER, scope
    for path in ("/no/such", "/mcp", "/api/v2/games"):
        assert answerer(app, {"method": "GET", "path": path}) is Answerer.LEADER
    assert answerer(app, {"method": "NONE", "path": "/games"}) is Answerer.LEADER
    assert answerer(app, {"method": "GET", "path": "//games/"}) is Answerer.ANY
