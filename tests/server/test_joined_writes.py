"""Writes to a socket in one piece, and the start of clocks after them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.protocol.codec import JSON, MSGPACK, Codec
from plyhouse.protocol.messages import Error, Finished, Notice
from plyhouse.server.match.engine import Match
from plyhouse.server.wire.direct import DirectTransport


def listen(session: Any, heard: list[tuple[str, Any]]) -> None:
    """Note every write of a session's, beside making it."""
    transport = session._transport
    assert isinstance(transport, DirectTransport)
    write = transport._write

    def noted(data: Any) -> None:
        heard.append(("write", (transport, bytes(data))))
        write(data)

    transport._write = noted


@pytest.mark.parametrize("codec", [MSGPACK, JSON])
async def test_an_answer_and_the_next_turn_of_the_same_seat_are_one_write(
    house: Any, monkeypatch: pytest.MonkeyPatch, codec: Codec
) -> None:
    clients = [await house.bot("alice", "one", codec), await house.bot("bob", "two", codec)]
    heard: list[tuple[str, Any]] = []
    for session in house.hub.sessions:
        listen(session, heard)
    original = Match.turn_written

    def turn_written(self: Match, seat: int, ply: int, *args: Any, **kwargs: Any) -> None:
        heard.append(("clock", ply))
        original(self, seat, ply, *args, **kwargs)

    monkeypatch.setattr(Match, "turn_written", turn_written)
    for client in clients:
        await client.seek("pig(target=20)")
    starts = await asyncio.gather(*(client.start() for client in clients))
    ends = await asyncio.gather(
        *(client.play(start) for client, start in zip(clients, starts, strict=True))
    )
    assert all(isinstance(end, Finished) for end in ends)

    turn, accepted = (
        (b"\xa4type\xa4turn", b"\xa4type\xa8accepted")
        if codec is MSGPACK
        else (b'"type":"turn"', b'"type":"accepted"')
    )
    writes = [told for kind, told in heard if kind == "write"]
    assert any(turn in data and accepted in data for _, data in writes)
    last: dict[DirectTransport, bytes] = {}
    for transport, data in writes:
        # A turn follows a separately written answer only if the other seat has played in between.
        assert not (turn in data and accepted not in data and last.get(transport) == accepted)
        for each in last:
            last[each] = b""
        last[transport] = accepted if accepted in data and turn not in data else b""
    for (kind, _), (before, told) in zip(heard[1:], heard, strict=False):
        if kind == "clock":  # it starts when the turn has been written, and not before
            assert before == "write"
            assert turn in told[1]


async def test_what_was_kept_back_is_written_before_the_close(house: Any) -> None:
    client = await house.bot("alice")
    (session,) = house.hub.sessions
    session._transport.cork()
    session.send(Notice("notice/test", "kept"))
    session.fail("server/fault")
    told = await client.until_closed()
    assert [type(each) for each in told] == [Notice, Error]
    assert client.close_code == 1011


async def test_a_session_that_is_gone_is_told_nothing(house: Any) -> None:
    client = await house.bot("alice")
    (session,) = house.hub.sessions
    await client.close()
    async with asyncio.timeout(PATIENCE):
        while house.hub.sessions:  # noqa: ASYNC110 (it has no event)
            await asyncio.sleep(0.01)
    session.send_together((Notice("notice/test", "a"), Notice("notice/test", "b")))
