"""Coming in, staying in, coming back, and being thrown out."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import msgpack  # type: ignore[import-untyped]
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from plyhouse.games.registry import game_names
from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Bye,
    Error,
    Finished,
    Hello,
    Notice,
    Ok,
    Ready,
    Register,
    Registered,
    Seek,
    Sync,
    Turn,
    Watch,
    Welcome,
)
from plyhouse.server.gateway.logins import GAMES_READ
from plyhouse.server.wire.http import PunctualHttp
from plyhouse.server.wire.websocket import MAX_WEBSOCKET_FRAME
from plyhouse.storage import people

OpenHouse = Callable[..., Awaitable[Any]]


async def test_wrong_revoked_and_unfit_tokens_have_their_own_errors(house: Any) -> None:
    good = await house.token("alice")
    revoked = await house.token("alice")
    await house.hub.store.write(people.revoke_token, revoked, house.hub.store.now())
    organiser = await house.token("olga", "organise")
    answers = []
    for token in ("ply_nonsense", revoked, organiser):
        client = await house.client()
        answers.append(await client.hello(token, "bot"))
    assert [answer.code for answer in answers] == ["auth/bad_token", "auth/revoked", "auth/scope"]
    assert [answer.fatal for answer in answers] == [True, True, False]
    # The last connection survives and may try again.
    assert isinstance(await client.hello(good, "bot"), Welcome)


async def test_nothing_is_possible_before_hello(house: Any) -> None:
    client = await house.client()
    answer = await client.ask(Seek, "pig", "move:1")
    assert (answer.code, answer.fatal) == ("auth/required", False)


async def test_bad_bot_names_are_refused(house: Any) -> None:
    client = await house.client()
    assert (await client.hello(await house.token("alice"), "no spaces")).code == "auth/bad_name"


async def test_unknown_subprotocol_is_refused_with_a_reason(house: Any) -> None:
    for offered in (["chess"], None):
        with pytest.raises(InvalidStatus) as caught:
            async with connect(house.server.ws_url, subprotocols=offered):  # type: ignore[arg-type]
                pass
        body = json.loads(caught.value.response.body)
        assert body["code"] == "protocol/version"
        assert "plyhouse.v1+msgpack" in body["detail"]


@pytest.mark.parametrize(("path", "status"), [("/ws", 400), ("/elsewhere", 404)])
async def test_refused_websockets_are_no_errors_of_the_server(
    house: Any, caplog: pytest.LogCaptureFixture, path: str, status: int
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(house.server.ws_url.replace("/ws", path), compression=None):
            pass
    assert refused.value.response.status_code == status
    await house.client()  # by now the refusal has been dealt with
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    # The server logs when a busy machine delays it.
    assert not [record for record in told if record.msg != "server stalled"]


async def test_websockets_live_at_one_place(house: Any) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(house.server.url.replace("http", "ws") + "/elsewhere"):
            pass
    assert caught.value.response.status_code == 404


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\xc1", "protocol/malformed"),
        (b"", "protocol/malformed"),
        (msgpack.packb({"type": "dance", "id": 9}), "protocol/unknown_type"),
        (msgpack.packb({"type": "act", "id": 9, "match": "m", "ply": -1}), "protocol/bad_field"),
        (msgpack.packb([1, 2, 3]), "protocol/malformed"),
    ],
)
async def test_malformed_frames_are_answered_and_survived(
    house: Any, frame: bytes, code: str
) -> None:
    client = await house.bot("alice")
    await client.send_raw(frame)
    error = await client.next(Error)
    assert (error.code, error.fatal) == (code, False)
    assert isinstance(await client.seek("pig"), Ok)


async def test_oversized_frame_is_told_and_ends_the_connection(house: Any) -> None:
    client = await house.bot("alice")
    await client.send_raw(b"\xc0" * 70_000)
    error = await client.next(Error)
    assert (error.code, error.fatal) == ("protocol/oversized", True)
    await client.until_closed()
    assert client.close_code == 1009


async def test_a_frame_beyond_all_measure_is_not_even_read(house: Any) -> None:
    client = await house.bot("alice")
    await client.send_raw(b"\xc0" * (MAX_WEBSOCKET_FRAME + 1))
    await client.until_closed()
    assert client.close_code == 1009
    assert isinstance(await (await house.bot("bob")).seek("pig"), Ok)


async def test_text_on_the_binary_subprotocol_ends_the_connection(house: Any) -> None:
    client = await house.bot("alice")
    await client.send_raw("{}")
    assert (await client.next(Error)).code == "protocol/wrong_frame"
    await client.until_closed()


async def test_a_flood_of_mistakes_ends_the_connection_and_no_other(
    open_house: OpenHouse,
) -> None:
    house = await open_house(mistakes_per_second=1)
    client, other = await house.bot("alice"), await house.bot("bob")
    for _ in range(20):
        await client.send_raw(b"\xc1")
    codes = [each.code for each in await client.until_closed()]
    assert codes[-1] == "protocol/rate"
    assert isinstance(await other.seek("pig"), Ok)


async def test_second_login_of_a_bot_is_refused_unless_it_takes_over(house: Any) -> None:
    first = await house.bot("alice", "bot")
    token = await house.token("alice")
    refused = await (await house.client()).hello(token, "bot")
    assert (refused.code, refused.fatal) == ("auth/already_connected", True)
    assert "UTC" in refused.message
    assert "takeover" in refused.message
    second = await house.client()
    assert isinstance(await second.hello(token, "bot", takeover=True), Welcome)
    told = await first.until_closed()
    assert told[-1].code == "auth/replaced"
    third = await house.client()
    assert isinstance(await third.hello(token, "bot", session=second.session), Welcome)
    wrong = await (await house.client()).hello(token, "bot", session="guess")
    assert wrong.code == "auth/already_connected"


async def test_other_bots_of_a_player_log_in_beside_each_other(house: Any) -> None:
    await house.bot("alice", "one")
    await house.bot("alice", "two")
    await house.bot("alice", "")
    assert sorted(house.hub.directory.online()) == ["alice", "alice/one", "alice/two"]


async def test_resume_gives_the_full_state_with_true_clocks(house: Any) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe", "total:30")
    await mover.next(Turn)
    await mover.ask(Act, match.match, 0, "b2")
    await other.next(Turn)
    mine = match.players[1]
    await other.close()
    back = await house.client()
    welcome = await back.hello(await house.token(mine.player), mine.bot)
    assert isinstance(welcome, Welcome)
    (snapshot,) = welcome.matches
    assert snapshot.match == match.match
    assert snapshot.your_turn
    assert snapshot.seat == 1
    assert [event.action for event in snapshot.events] == ["b2"]
    assert snapshot.deadline_ms is not None
    assert 25_000 < snapshot.deadline_ms <= 30_000
    assert [clock.running for clock in snapshot.clocks] == [False, True]
    answer = await back.ask(Act, match.match, snapshot.ply, "a1")
    assert isinstance(answer, Accepted)
    assert isinstance(await mover.next(Turn), Turn)


async def test_action_sent_again_after_a_reconnect_is_not_played_twice(house: Any) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    await mover.next(Turn)
    await mover.send(Act(77, match.match, 0, "b2"))
    await other.next(Turn)
    await mover.close()
    me = match.players[0]
    back = await house.client()
    await back.hello(await house.token(me.player), me.bot)
    again = await back.ask(Act, match.match, 0, "b2")
    assert isinstance(again, Accepted)
    assert again.duplicate
    assert house.hub.directory.own[match.match].match.ply == 1


async def test_turn_that_falls_into_an_absence_is_in_the_welcome(house: Any) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    await mover.next(Turn)
    mine = match.players[1]
    await other.close()
    await mover.ask(Act, match.match, 0, "b2")
    back = await house.client()
    welcome = await back.hello(await house.token(mine.player), mine.bot)
    (snapshot,) = welcome.matches
    assert snapshot.your_turn
    assert snapshot.ply == 1
    assert isinstance(await back.ask(Act, match.match, 1, "a1"), Accepted)


async def test_a_bot_that_stays_away_forfeits(open_house: OpenHouse) -> None:
    house = await open_house(disconnect_grace=0.1)
    (mover, other), _ = await house.pair("tic_tac_toe")
    await mover.close()
    end = await other.next(Finished)
    assert (end.outcome.termination, end.outcome.seat) == ("disconnect", 0)


async def test_a_bot_may_ask_how_the_match_ended_that_it_lost_while_away(
    open_house: OpenHouse,
) -> None:
    house = await open_house(disconnect_grace=0.1)
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    await mover.close()
    end = await other.next(Finished)
    async with asyncio.timeout(PATIENCE):
        while house.hub.directory.live:  # noqa: ASYNC110 (the leader of a cluster hears of it later)
            await asyncio.sleep(0.01)
    mine = match.players[0]
    back = await house.client()
    assert (await back.hello(await house.token(mine.player), mine.bot)).matches == []
    told = await back.ask(Sync, match.match)
    assert not isinstance(told, Error), told
    assert (told.snapshot.seat, told.snapshot.outcome) == (0, end.outcome)
    late = await back.ask(Act, match.match, 0, "a1")
    assert (type(late), late.code) == (Error, "match/over")


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /ws HTTP/1.1\r\nHost: x\r\nX-",
        b"POST /api/v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
    ],
    ids=["nothing", "part of a head", "part of a body"],
)
async def test_requests_that_never_become_complete_are_given_up(
    house: Any, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(PunctualHttp, "patience", 0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", house.server.port)
    writer.write(beginning)
    async with asyncio.timeout(PATIENCE):
        assert await reader.read() == b""
    writer.close()


async def test_websockets_and_connections_between_requests_are_not_hurried(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted: list[PunctualHttp] = []
    connection_made = PunctualHttp.connection_made

    def noted(self: PunctualHttp, transport: Any) -> None:
        accepted.append(self)
        connection_made(self, transport)

    def lose_patience() -> None:
        for each in accepted:
            if each._late is not None:
                each._late.cancel()
            each._look()

    monkeypatch.setattr(PunctualHttp, "connection_made", noted)
    bot = await house.bot("alice")
    async with httpx.AsyncClient(base_url=house.server.url) as client:
        for _ in range(5):
            assert (await client.get("/api/v1/health")).status_code == 200
            lose_patience()
            assert not accepted[-1].transport.is_closing()
        before = len(accepted)
        reader, writer = await asyncio.open_connection("127.0.0.1", house.server.port)
        async with asyncio.timeout(PATIENCE):
            while len(accepted) == before:  # noqa: ASYNC110 (the server tells nobody)
                await asyncio.sleep(0.001)
            lose_patience()
            assert await reader.read() == b""  # it has sent nothing
        writer.close()
    assert isinstance(await bot.ask(Bye), Ok)


async def test_bye_withdraws_seeks_and_closes(house: Any) -> None:
    client = await house.bot("alice")
    await client.seek("pig")
    assert isinstance(await client.ask(Bye), Ok)
    await client.until_closed()
    assert client.close_code == 1000
    assert len(house.hub.lobby) == 0


async def test_silent_connections_are_given_up(open_house: OpenHouse) -> None:
    house = await open_house(heartbeat=0.2, peer_timeout=1.0)
    loop = asyncio.get_running_loop()
    token = await house.token("alice")
    client = await house.client()
    await client.hello(token, "bot")
    gone = loop.create_future()
    live = house.hub.directory.presences
    original = house.hub.left

    def left(session: Any) -> None:
        original(session)
        if not gone.done():
            gone.set_result(None)

    house.hub.left = left
    assert live
    async with asyncio.timeout(PATIENCE):
        await gone  # nobody reads the client's socket, so no ping is answered
    assert not house.hub.directory.online()


async def test_connections_without_a_login_are_closed(open_house: OpenHouse) -> None:
    house = await open_house(auth_timeout=0.1)
    client = await house.client()
    told = await client.until_closed()
    assert told[-1].code == "auth/timeout"


async def test_a_full_server_says_so(open_house: OpenHouse) -> None:
    house = await open_house(max_connections=1)
    await house.bot("alice")
    told = await (await house.client()).until_closed()
    assert (told[-1].code, told[-1].fatal) == ("server/overloaded", True)


async def test_slow_consumer_is_dropped_and_nobody_waits_for_it(open_house: OpenHouse) -> None:
    house = await open_house(max_queue=4096)
    (one, two), (match, other) = await house.pair("pig", "total:60", count=1)
    token = await house.token("carol")
    slow = await house.client(max_queue=1)
    slow.wire.transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVBUF, 2048
    )
    await slow.hello(token, "slow")
    await slow.ask(Watch, match.match)
    session = next(s for s in house.hub.sessions if s.name.endswith("slow"))
    slow.wire.transport.pause_reading()
    loop = asyncio.get_running_loop()
    gone = loop.create_future()
    original = house.hub.left

    def left(session_: Any) -> None:
        original(session_)
        if session_ is session and not gone.done():
            gone.set_result(None)

    house.hub.left = left
    big = Notice("notice/test", "x" * 60_000)
    for _ in range(400):
        if gone.done():
            break
        session.send(big)
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await gone
    assert session not in house.hub.sessions
    ends = await asyncio.gather(one.play(match, 1), two.play(other, 2))
    assert ends[0].outcome.termination == "normal"
    slow.wire.transport.abort()


async def test_message_longer_than_the_queue_arrives_with_what_follows(
    open_house: OpenHouse,
) -> None:
    """A bot with many long matches could not come back: its welcome counted as its slowness."""
    house = await open_house(max_queue=4096)
    client = await house.client(max_size=None)
    await client.hello(await house.token("alice"), "bot")
    (session,) = house.hub.sessions
    session.send(Notice("notice/test", "x" * 7_000_000))
    assert session._transport.pending() > 4096
    session.send(Notice("notice/next", "y"))
    assert len((await client.next(Notice)).message) == 7_000_000
    assert (await client.next(Notice)).code == "notice/next"


async def test_spectators_share_the_bytes_of_a_frame(house: Any) -> None:
    """With a copy for each, a thousand that read slowly took a gigabyte."""
    bots, starts = await house.pair("tic_tac_toe")
    for _ in range(2):
        viewer = await house.client()
        await viewer.hello("", "")
        await viewer.ask(Watch, starts[0].match)
    written: list[bytes] = []
    for session in house.hub.sessions:
        if session.watching:
            session._transport._write = written.append
    mover = bots[starts[0].seat]
    await mover.ask(Act, starts[0].match, 0, "a1")
    one, two = [each for each in written if b"a1" in each]
    assert one is two


async def test_slow_readers_together_have_a_limit(open_house: OpenHouse) -> None:
    house = await open_house()
    house.hub.connections.backlog.most = 9_000_000
    clients = [await house.client() for _ in range(3)]
    for each in clients:
        await each.hello("", "")
        each.wire.transport.pause_reading()
    for session in tuple(house.hub.sessions):
        session.send(Notice("notice/test", "x" * 8_000_000))
    assert 0 < len(house.hub.sessions) < 3
    assert 0 < house.hub.connections.backlog.size <= 9_000_000
    for each in clients:
        each.wire.transport.abort()
    async with asyncio.timeout(PATIENCE):
        while house.hub.sessions:  # noqa: ASYNC110 (what is waited for has no event)
            await asyncio.sleep(0.01)
    assert house.hub.connections.backlog.size == 0


async def test_what_is_sent_while_logging_in_waits_its_turn(house: Any) -> None:
    token = await house.token("alice")
    client = await house.client(JSON)
    for message in (Hello(1, token, "bot"), Seek(2, "pig", "move:1"), Seek(3, "pig", "move:1")):
        await client.send(message)
    early = [await client.receive() for _ in range(3)]
    # Before the welcome nothing but hello is allowed, and it is answered at once.
    assert sorted(type(each).__name__ for each in early) == ["Error", "Error", "Welcome"]


async def test_registration_is_closed_unless_the_host_opens_it(
    house: Any, open_house: OpenHouse
) -> None:
    client = await house.client()
    assert (await client.ask(Register, "alice")).code == "auth/registration_closed"
    open_one = await open_house(registration="open")
    client = await open_one.client()
    made = await client.ask(Register, "alice")
    assert isinstance(made, Registered)
    assert (await client.ask(Register, "Alice")).code == "auth/name_taken"
    assert (await client.ask(Register, "a b")).code == "auth/bad_name"
    assert isinstance(await client.hello(made.token, "bot"), Welcome)


async def test_games_that_are_not_known_here_are_pointed_out(house: Any) -> None:
    client = await house.bot("alice", games=["pig", "connect_for"])
    notice = await client.next(Notice)
    assert notice.code == "game/unknown"
    assert "connect_four" in notice.message


async def test_many_unknown_games_are_not_all_looked_up(house: Any) -> None:
    """Each is compared with the names of all games: 256 took 20 ms of every login."""
    client = await house.bot("alice", games=[f"tic_tac_to{number}" for number in range(256)])
    await client.seek("pig")
    notices = [each for each in client.inbox if isinstance(each, Notice)]
    assert len(notices) == GAMES_READ > len(game_names())


async def test_a_connection_in_memory_speaks_the_same_protocol(house: Any) -> None:
    client = BotClient(house.hub.connect(), MSGPACK)
    assert (await client.hello("ply_wrong", "bot")).code == "auth/bad_token"
    assert await client.receive() is None
    assert client.close_code == 4401
    client = BotClient(house.hub.connect(JSON), JSON)
    assert isinstance(await client.hello(await house.token("alice"), "bot"), Welcome)
    await client.close()
    assert not house.hub.directory.online()
    await client.send(Ready(5, "m"))  # after the end: ignored
