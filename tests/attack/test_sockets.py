"""Sockets that are held: unfinished requests, unread answers, closes that are never answered."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.attack.conftest import Raw, masked
from tests.harness.patience import PATIENCE

from plyhouse.protocol.messages import (
    Act,
    Bye,
    Error,
    Hello,
    MatchMessage,
    Notice,
    Ok,
    Sync,
    Turn,
    Watch,
    Welcome,
)
from plyhouse.server.gateway import entrance, match_requests
from plyhouse.server.wire.direct import DirectProtocol
from plyhouse.server.wire.http import LEAST_TAKEN, PunctualHttp
from plyhouse.server.wire.limits import Backlog, Door, Full, Places, Rate, raise_file_limit

OpenHouse = Callable[..., Awaitable[Any]]
Dial = Callable[..., Awaitable[Raw]]

HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"


async def answered(raw: Raw) -> bytes:
    """The head of an answer; its body is read, too."""
    async with asyncio.timeout(PATIENCE):
        head = await raw.reader.readuntil(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                await raw.reader.readexactly(int(line.partition(b":")[2]))
    return head


@pytest.mark.parametrize(
    "beginning", [b"G", b"GET / HTTP/1.1\r\nX-", b"\r\n", b"POST /api/v1/players HTTP/1.1\r\n"]
)
async def test_a_second_request_that_never_ends_is_given_up(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(PunctualHttp, "patience", 0.1)
    raw = await dial(house, websocket=False)
    raw.write(HEALTH)
    assert b" 200 " in await answered(raw)
    raw.write(beginning)
    await raw.gone()


def deaf(raw: Raw) -> None:
    """Take nothing from now on, and have little room for it."""
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    wire = raw.writer.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (what is waited for has no event)
            await asyncio.sleep(0.01)


async def test_answers_that_nobody_reads_are_thrown_away(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PunctualHttp, "patience", 0.2)
    lost = []
    original = PunctualHttp.connection_lost

    def connection_lost(self: PunctualHttp, exc: Exception | None) -> None:
        lost.append(self)
        original(self, exc)

    monkeypatch.setattr(PunctualHttp, "connection_lost", connection_lost)
    raw = await dial(house, websocket=False)
    deaf(raw)
    raw.write(2000 * b"GET /api/v1/games HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(lambda: bool(lost))
    assert isinstance(await (await house.bot("alice")).seek("pig"), Ok)


async def test_long_answers_that_nobody_reads_take_bounded_memory(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be as long as a replay, and one address may have hundreds of connections."""
    made, lost = [], []
    original_made, original_lost = PunctualHttp.connection_made, PunctualHttp.connection_lost

    def connection_made(self: PunctualHttp, transport: Any) -> None:
        wire = transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)
        made.append(self)
        original_made(self, transport)

    def connection_lost(self: PunctualHttp, exc: Exception | None) -> None:
        lost.append(self)
        original_lost(self, exc)

    monkeypatch.setattr(PunctualHttp, "connection_made", connection_made)
    monkeypatch.setattr(PunctualHttp, "connection_lost", connection_lost)
    backlog = house.hub.connections.backlog
    backlog.most = 1_000_000
    for _ in range(12):
        raw = await dial(house, websocket=False)
        deaf(raw)
        raw.write(b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(lambda: bool(lost) and len(made) == 12)
    assert 0 < backlog.size <= backlog.most
    assert isinstance(await (await house.bot("alice")).seek("pig"), Ok)


def test_slowest_connection_of_the_address_with_the_most_is_cut_off() -> None:
    gone: list[str] = []

    class Reader:
        def __init__(self, name: str, address: str) -> None:
            self.name = name
            self.address = address
            self.waiting = 0

        def unread(self) -> int:
            return self.waiting

        def cut_off(self) -> None:
            gone.append(self.name)
            backlog.note(self, self.address, 0)

        def note(self, size: int) -> None:
            self.waiting = size
            backlog.note(self, self.address, size)

    backlog = Backlog(100)
    one, two = Reader("one", "192.0.2.1"), Reader("two", "192.0.2.1")
    honest = Reader("honest", "192.0.2.9")
    honest.note(50)
    one.note(20)
    two.note(30)
    assert (gone, backlog.size) == ([], 100)
    one.waiting = 5  # it has read what it was sent, which nobody has noted
    two.note(40)
    assert (gone, backlog.size) == ([], 95)
    one.note(35)
    assert (gone, backlog.size) == (["two"], 85)
    honest.note(0)
    one.note(0)
    assert backlog.size == 0
    assert not backlog._waiting


@pytest.mark.parametrize("goodbye", ["close frame", "fatal error", "end of stream"])
async def test_whoever_says_goodbye_and_never_reads_is_cut_off(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch, goodbye: str
) -> None:
    monkeypatch.setattr(DirectProtocol, "close_seconds", 0.2)
    lost = []
    original = DirectProtocol.connection_lost

    def connection_lost(self: DirectProtocol, exc: Exception | None) -> None:
        lost.append(self)
        original(self, exc)

    monkeypatch.setattr(DirectProtocol, "connection_lost", connection_lost)
    raw = await dial(house)
    await raw.log_in("", "")
    (session,) = house.hub.sessions
    deaf(raw)
    size = 0
    while not session._transport.pending():
        session.send(Notice("notice/test", 100_000 * "x"))
        size += 1
        assert size < 500
        await asyncio.sleep(0)
    if goodbye == "close frame":
        raw.write(masked(0x88, b"\x03\xe8"))
    elif goodbye == "fatal error":
        raw.write(masked(0x81, b"{}"))
    else:
        raw.writer.write_eof()
    await until(lambda: bool(lost))
    assert not house.hub.sessions


async def test_goodbye_to_a_socket_that_its_client_just_closed_raises_nothing(
    house: Any, dial: Dial
) -> None:
    raw = await dial(house)
    await raw.log_in("", "")
    raw.writer.transport.abort()
    await asyncio.sleep(0)  # the client's socket is closed, and the server has not read that yet
    (session,) = house.hub.sessions
    session._transport.close(1001, "server/shutting_down")
    await until(lambda: not house.hub.sessions)


async def test_two_lengths_of_one_request_are_refused(house: Any, dial: Dial) -> None:
    raw = await dial(house, websocket=False)
    raw.write(
        b"POST /api/v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HEALTH
    )
    async with asyncio.timeout(PATIENCE):
        said = await raw.reader.read()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1


async def test_lines_of_the_log_cannot_be_made_by_paths(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(house.hub.store, "read", broken)
    raw = await dial(house, websocket=False)
    forged = b"2026-01-01 ERROR all tokens follow"
    raw.write(
        b"GET /api/v1/matches/x%0A" + forged.replace(b" ", b"%20") + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    assert b" 500 " in await answered(raw)
    lines = [line for record in caplog.records for line in record.getMessage().split("\n")]
    assert not [line for line in lines if line.startswith(forged.decode())]


# --------------------------------------------------------------------------------- places


async def test_spectators_cannot_shut_out_bots(open_house: OpenHouse, dial: Dial) -> None:
    house = await open_house(max_connections=8)
    for _ in range(4):
        spectator = await dial(house)
        await spectator.log_in("", "")
    one_more = await dial(house)
    one_more.say(Hello(1, "", ""))
    refused = await one_more.answer(Error)
    assert (refused.code, refused.fatal) == ("server/overloaded", True)
    for name in ("alice", "bob", "carol", "dave"):
        await house.bot(name)
    late = await dial(house)
    assert [each.code for each in await late.until_closed()] == ["server/overloaded"]


async def test_strangers_give_way_to_whoever_comes(open_house: OpenHouse, dial: Dial) -> None:
    house = await open_house(max_connections=4)
    strangers = [await dial(house) for _ in range(12)]
    bots = [await house.bot(name) for name in ("alice", "bob", "carol")]
    assert len(house.hub.sessions) == 4
    told = await strangers[0].until_closed()
    assert [each.code for each in told] == ["server/overloaded"]
    assert isinstance(await bots[0].seek("pig"), Ok)


async def test_bot_comes_back_to_its_match_although_its_account_has_its_share(
    open_house: OpenHouse,
) -> None:
    house = await open_house(max_connections=40)
    (one, two), (match, _) = await house.pair("tic_tac_toe", count=1)
    for number in range(8):
        await house.bot("alice", f"more{number}")
    token = await house.token("alice")
    refused = await (await house.client()).hello(token, "late")
    assert refused.code == "server/overloaded", "a quarter of all, and more than a tenth"
    await (one if match.players[0].player == "alice" else two).close()
    await until(lambda: len(house.hub.directory.online()) == 9)
    await house.bot("bob", "more")
    back = await (await house.client()).hello(token, "one")
    assert isinstance(back, Welcome), back
    assert [each.match for each in back.matches] == [match.match]


async def test_server_that_passes_requests_on_has_no_share_of_its_own(
    open_house: OpenHouse, dial: Dial
) -> None:
    """Otherwise one visitor of a server could use up the sockets of all its visitors."""
    house = await open_house(max_connections_per_address=2)
    house.hub.secret = "secret"
    raws = [await dial(house, websocket=False) for _ in range(2)]
    member = b"\r\nX-Plyhouse-Cluster: secret\r\nX-Plyhouse-Client: 192.0.2.1\r\n\r\n"
    for raw, request in zip(raws, (HEALTH, HEALTH.replace(b"\r\n\r\n", member)), strict=True):
        raw.write(request)
        assert b" 200 " in await answered(raw)
    for _ in range(3):
        raw = await dial(house, websocket=False)
        raw.write(HEALTH)
        assert b" 200 " in await answered(raw)


async def test_an_address_has_its_share_of_the_sockets(open_house: OpenHouse, dial: Dial) -> None:
    house = await open_house(max_connections_per_address=5)
    raws = [await dial(house, websocket=False) for _ in range(5)]
    for raw in raws:
        raw.write(HEALTH)
        assert b" 200 " in await answered(raw)
    refused = await dial(house, websocket=False)
    await refused.gone()
    raws[0].writer.close()
    await raws[0].gone()
    for _ in range(100):  # until the server has seen the end
        raw = await dial(house, websocket=False)
        raw.write(HEALTH)
        try:
            head = await answered(raw)
        except (asyncio.IncompleteReadError, ConnectionError):
            continue
        break
    assert b" 200 " in head
    raws[1].writer.close()
    websocket = None
    for _ in range(100):
        try:
            websocket = await dial(house)
        except (asyncio.IncompleteReadError, ConnectionError):
            continue
        break
    assert websocket is not None


def test_the_door_counts_and_forgets(caplog: pytest.LogCaptureFixture) -> None:
    door = Door(4, 2, ["10.0.0.9"])
    assert [door.enter("a") for _ in range(20)] == [True, True] + 18 * [False]
    assert len(caplog.records) == 5, "a flood of refusals is no flood of lines"
    assert [door.enter("10.0.0.9") for _ in range(3)] == [True, True, False]
    door.leave("a")
    assert door.enter("10.0.0.8")
    assert not door.enter("10.0.0.7"), "four are inside"
    for address in ("a", "10.0.0.9", "10.0.0.9"):
        door.leave(address)
    assert door.inside == 1
    assert all(record.levelno == logging.WARNING for record in caplog.records)


def test_addresses_of_one_network_share_sockets_and_places() -> None:
    door = Door(9, 2)
    places = Places(9, spectators=1, per_address=2, strangers_per_address=1)
    addresses = [f"2001:db8::{number}" for number in range(3)]
    assert [door.enter(each) for each in addresses] == [True, True, False]
    for each in addresses[:2]:
        door.leave(each)
    assert not door._inside
    assert [places.enter(each, each) for each in addresses] == [None, *addresses[:2]]
    assert places.enter("another", "2001:db8:0:1::") is None


def test_places_are_shared_by_addresses() -> None:
    places = Places(6, spectators=9, per_address=4, strangers_per_address=2)
    assert [places.enter(who, "a") for who in "123"] == [None, None, "1"]
    for who in "23":
        places.play(who)
    assert [places.enter(who, "a") for who in "45"] == [None, None]
    assert places.enter("6", "a") == "4"
    places.play("5")
    places.play("6")
    with pytest.raises(Full, match="address"):
        places.enter("7", "a")
    assert [places.enter(who, "b") for who in "89"] == [None, None]
    assert places.enter("10", "c") == "8", "of the address with the most strangers"
    places.watch("9")
    places.watch("9")
    places.play("10")
    with pytest.raises(Full, match="server"):
        places.enter("11", "d")
    for who in [*"235689", "10", "10", "never"]:
        places.leave(who)
    assert len(places) == 0
    assert not places._of_address
    assert not places._strangers
    assert not places._watching


def test_connections_of_this_process_are_of_no_address() -> None:
    places = Places(10, spectators=1, per_address=1, strangers_per_address=1)
    assert [places.enter(who, "") for who in range(10)] == 10 * [None]


def test_the_limit_of_files_is_raised_as_far_as_it_goes() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert raise_file_limit(300) == 300
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        assert raise_file_limit(200) == 300, "never lowered"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_snapshots_have_a_rate(house: Any, dial: Dial) -> None:
    (mover, _), (match, _) = await house.pair("tic_tac_toe")
    await mover.next(Turn)
    attacker = await dial(house)
    await attacker.log_in("", "")
    for number in range(2, 390):
        attacker.say(Watch(number, match.match))
    told = await attacker.until_closed()
    assert sum(isinstance(each, MatchMessage) for each in told) <= 200
    refused = [each for each in told if isinstance(each, Error)]
    assert {(each.code, each.fatal) for each in refused} == {
        ("match/too_many_snapshots", False),
        ("protocol/rate", True),
    }
    for number in range(1000, 1150):
        await mover.send(Sync(number, match.match))
    assert (await mover.next(Error)).code == "match/too_many_snapshots"
    answer = await mover.ask(Act, match.match, 0, "a1")
    assert not isinstance(answer, Error)


async def test_snapshots_of_long_matches_have_a_lower_rate(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of pig may have 200,000 events, which take the server a fifth of a second."""
    monkeypatch.setattr(match_requests, "PLIES_PER_VIEW", 1)
    bots, starts = await house.pair("tic_tac_toe")
    for ply, action in enumerate(("a1", "b1", "a2", "b2")):
        mover = bots[starts[0].seat != ply % 2]
        assert not isinstance(await mover.ask(Act, starts[0].match, ply, action), Error)
    attacker = await dial(house)
    await attacker.log_in("", "")
    for number in range(2, 82):
        attacker.say(Watch(number, starts[0].match))
    attacker.say(Bye(90))
    told = await attacker.until_closed()
    assert any(isinstance(each, MatchMessage) for each in told)
    refused = [each for each in told if isinstance(each, Error)]
    assert {each.code for each in refused} == {"match/too_many_snapshots"}


async def test_logins_with_long_matches_have_a_rate(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A welcome with 32 matches of 10,000 plies takes the server a fifth of a second."""
    monkeypatch.setattr(entrance, "PLIES_PER_WELCOME", 1)
    house.hub._entrance._welcomes = Rate(5, 0.001, house.hub.now)
    bots, starts = await house.pair("tic_tac_toe")
    for ply, action in enumerate(("a1", "b1", "a2", "b2")):
        mover = bots[starts[0].seat != ply % 2]
        assert not isinstance(await mover.ask(Act, starts[0].match, ply, action), Error)
    token = await house.token("alice")
    again = await house.client()
    assert isinstance(await again.hello(token, "one", takeover=True), Welcome)
    refused = await (await house.client()).hello(token, "one", takeover=True)
    assert refused.code == "auth/rate"
    assert isinstance(await again.seek("pig"), Ok), "the connection that it has stays"


def test_a_long_body_may_take_its_time_as_long_as_it_comes() -> None:
    protocol: Any = PunctualHttp.__new__(PunctualHttp)
    protocol.transport = SimpleNamespace(is_closing=lambda: False)
    protocol.cycle = SimpleNamespace(response_complete=False, more_body=True)
    first = protocol._debt()
    protocol._received += LEAST_TAKEN - 1
    assert protocol._debt() == first is not None, "a few bytes are no progress"
    protocol._received += 1
    assert protocol._debt() != first
    protocol.cycle.more_body = False
    assert protocol._debt() is None
