"""Floods of frames, with and without a message in them: nobody else waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from time import monotonic_ns
from typing import Any

import pytest
from tests.attack.conftest import Raw, masked

from plyhouse.protocol.codec import JSON, SUBPROTOCOLS
from plyhouse.protocol.messages import Error, Ok, Register, Sync, Watch
from plyhouse.server.wire import direct
from plyhouse.server.wire.session import Session

OpenHouse = Callable[..., Awaitable[Any]]
Dial = Callable[..., Awaitable[Raw]]

NOISE = {
    "empty pongs": masked(0x8A),
    "empty pings": masked(0x89),
    "full pings": masked(0x89, 125 * b"x"),
    "empty pieces": masked(0x00),
}


def flood(kind: str, count: int) -> bytes:
    """``count`` frames without a message."""
    begin = masked(0x02) if kind == "empty pieces" else b""
    return begin + count * NOISE[kind]


@pytest.mark.parametrize("kind", NOISE)
async def test_frames_without_a_message_count_before_the_login(
    house: Any, dial: Dial, kind: str
) -> None:
    attacker, bot = await dial(house), await house.bot("alice")
    attacker.write(flood(kind, 2000))
    told = await attacker.until_closed()
    assert [(each.code, each.fatal) for each in told] == [("protocol/rate", True)]
    assert attacker.close_code == 4429
    assert isinstance(await bot.seek("pig"), Ok)


@pytest.mark.parametrize("kind", NOISE)
async def test_frames_without_a_message_count_after_the_login(
    open_house: OpenHouse, dial: Dial, kind: str
) -> None:
    house = await open_house(messages_per_second=500)
    attacker = await dial(house)
    await attacker.log_in(await house.token("mallory"))
    attacker.write(flood(kind, 5000))
    assert (await attacker.until_closed())[-1].code == "protocol/rate"
    assert attacker.close_code == 4429


async def test_spectators_keep_the_limits_of_strangers(house: Any, dial: Dial) -> None:
    attacker = await dial(house)
    await attacker.log_in("", "")
    attacker.write(flood("empty pongs", 2000))
    assert (await attacker.until_closed())[-1].code == "protocol/rate"


async def test_bots_may_send_more_than_strangers(house: Any, dial: Dial) -> None:
    bot = await dial(house)
    await bot.log_in(await house.token("alice"))
    bot.write(flood("empty pongs", 2000))
    bot.say(Sync(9, "m"))
    assert (await bot.answer(Error)).re == 9


async def test_one_turn_of_the_loop_is_short_whatever_was_read(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "SLICE_FRAMES", 8)
    turn = 0
    counted: Counter[int] = Counter()
    loop = asyncio.get_running_loop()

    def next_turn() -> None:
        nonlocal turn
        turn += 1
        if turn >= 0:
            loop.call_soon(next_turn)

    original = Session.counted

    def count(session: Session, stamp: int) -> None:
        counted[turn] += 1
        original(session, stamp)

    monkeypatch.setattr(Session, "counted", count)
    attacker = await dial(house)
    await attacker.log_in(await house.token("mallory"))
    next_turn()
    attacker.write(flood("empty pongs", 1000))
    attacker.say(Sync(9, "m"))
    assert (await attacker.answer(Error)).re == 9  # what came last is not forgotten
    turn = -1_000_000  # ends the counting of turns
    assert sum(counted.values()) == 1000
    assert max(counted.values()) <= 8


async def test_connections_of_one_account_share_a_turn_of_the_loop(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are, others wait for a few milliseconds of their work."""
    work = 3_000_000  # nanoseconds of each frame of the attacker
    monkeypatch.setattr(direct, "ACCOUNT_NS", 2 * work - 1)
    turn, now = 0, monotonic_ns()
    monkeypatch.setattr(direct, "monotonic_ns", lambda: now)
    seen: Counter[tuple[int, str]] = Counter()
    loop = asyncio.get_running_loop()

    def next_turn() -> None:
        nonlocal turn
        turn += 1
        if turn >= 0:
            loop.call_soon(next_turn)

    original = Session.received

    def received(session: Session, frame: Any, stamp: int) -> None:
        nonlocal now
        if session.name:
            seen[turn, session.name.partition("/")[0]] += 1
            now += work if session.name.startswith("mallory") else 0
        original(session, frame, stamp)

    token = await house.token("mallory")
    attackers = [await dial(house) for _ in range(9)]
    for number, each in enumerate(attackers):
        await each.log_in(token, f"bot{number}")
    bot = await dial(house)
    await bot.log_in(await house.token("alice"))
    monkeypatch.setattr(Session, "received", received)
    next_turn()
    for each in attackers:
        for number in range(4):
            each.say(Sync(9 + number, "m"))
    bot.say(Sync(9, "m"))
    assert (await bot.answer(Error)).re == 9
    for each in attackers:
        numbers = [(await each.answer(Error)).re for _ in range(4)]
        assert numbers == [9, 10, 11, 12], "in order, and none is lost"
    turn = -1_000_000  # ends the counting of turns
    mine = [count for (_, name), count in seen.items() if name == "mallory"]
    assert sum(mine) == 36
    assert max(mine) <= 3


async def test_after_a_fatal_error_nothing_is_heard(
    house: Any, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = []
    original = Session.received

    def received(session: Session, frame: Any, stamp: int) -> None:
        heard.append(frame)
        original(session, frame, stamp)

    monkeypatch.setattr(Session, "received", received)
    monkeypatch.setattr(direct.DirectProtocol, "close_seconds", 0.2)
    attacker = await dial(house)
    attacker.write(masked(0x81, b"{}") + 50 * masked(0x82, b"\xc1"))
    attacker.write(2000 * masked(0x82, b"\xc1"))
    told = await attacker.until_closed()
    assert [each.code for each in told] == ["protocol/wrong_frame"]
    for _ in range(20):  # Data for as long as the socket accepts it.
        attacker.write(100_000 * b"\xff")
        await asyncio.sleep(0)
    await attacker.gone()
    assert len(heard) == 1
    assert not house.hub.sessions


async def test_pings_of_a_client_that_does_not_read_are_not_all_answered(
    house: Any, dial: Dial
) -> None:
    attacker = await dial(house)
    await attacker.log_in(await house.token("mallory"))
    (session,) = house.hub.sessions
    protocol: Any = session._transport._protocol
    protocol.pause_writing()  # as the loop does when the client does not read
    size = protocol.transport.get_write_buffer_size()
    attacker.write(flood("full pings", 3000) + masked(0x89, b"last"))
    attacker.say(Sync(9, "m"))
    assert (await attacker.answer(Error)).re == 9
    assert protocol.transport.get_write_buffer_size() <= size + 4096
    protocol.resume_writing()
    assert await attacker.frame() == (0x8A, b"last")


async def test_requests_before_the_login_is_answered_have_an_end_and_no_traceback(
    open_house: OpenHouse, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    house = await open_house(registration="open")
    attacker = await dial(house, websocket=False)
    await attacker.upgrade(SUBPROTOCOLS[1])
    for number in range(1, 300):
        attacker.say(Register(number, "a b"), JSON)
    told = await attacker.until_closed(JSON)
    assert told[-1].code == "protocol/rate"
    assert not [record for record in caplog.records if record.exc_info]


async def test_requests_that_the_house_refuses_count_as_mistakes(
    open_house: OpenHouse, dial: Dial
) -> None:
    house = await open_house(mistakes_per_second=1)
    attacker, other = await dial(house), await house.bot("bob")
    await attacker.log_in(await house.token("mallory"))
    for number in range(2, 40):
        attacker.say(Watch(number, "no-such-match"))
    told = await attacker.until_closed()
    assert told[-1].code == "protocol/rate"
    assert sum(each.code == "match/unknown" for each in told if isinstance(each, Error)) <= 11
    assert isinstance(await other.seek("pig"), Ok)


async def test_text_that_is_no_text_is_no_news(
    house: Any, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    for begin in (masked(0x81, b"\xff"), masked(0x01, b"\xc3") + masked(0x80, b"\x28")):
        attacker = await dial(house)
        attacker.write(begin)
        assert await attacker.until_closed() == []
        assert attacker.close_code == 1007
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    # The server logs when a busy machine delays it.
    assert not [record for record in told if record.msg != "server stalled"]
    assert not house.hub.sessions


async def test_session_keys_need_not_be_ascii(house: Any, caplog: pytest.LogCaptureFixture) -> None:
    await house.bot("alice", "bot")
    client = await house.client(JSON)
    refused = await client.hello(await house.token("alice"), "bot", session="gehëim")
    assert refused.code == "auth/already_connected"
    assert not [record for record in caplog.records if record.exc_info]
