"""The hub of matches on one machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    ClientMessage,
    Error,
    Hello,
    Ping,
    Register,
    Seek,
    ServerMessage,
    Watch,
    Welcome,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.wire.memory import MemoryClient


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[LocalHub, MemoryClient]]:
    async with LocalHub(ServerConfig()) as hub:
        yield hub, hub.connect()


async def ask(client: MemoryClient, message: ClientMessage) -> ServerMessage:
    client.send(MSGPACK.encode(message))
    while (frame := await client.recv()) is not None:
        answer = MSGPACK.decode_server(frame)
        if not isinstance(answer, Ping):
            return answer
    raise AssertionError("the connection was closed")


async def test_bot_logs_in_by_its_players_token() -> None:
    async with connected() as (hub, client):
        welcome = await ask(client, Hello(1, hub.add_player("ada"), "bot", games=["pig"]))
        assert isinstance(welcome, Welcome)
        assert (welcome.player, welcome.bot) == ("ada", "bot")
        assert hub.directory.online() == ["ada/bot"]


async def test_person_logs_in_without_a_bot() -> None:
    async with connected() as (hub, client):
        await ask(client, Hello(1, hub.add_player("ada"), "Ada"))
        assert hub.directory.online() == ["ada"]


async def test_bot_that_comes_back_keeps_its_id() -> None:
    async with connected() as (hub, client):
        token = hub.add_player("ada")
        await ask(client, Hello(1, token, "bot"))
        first = hub.directory.find("ada/bot")
        await ask(hub.connect(), Hello(1, token, "BOT", takeover=True))
        second = hub.directory.find("ada/bot")
        assert first is not None
        assert second is not None
        assert second.bot_id == first.bot_id


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Hello(1, "ply_unknown", "bot"), "auth/bad_token"),
        (Register(1, "ada"), "auth/registration_closed"),
    ],
)
async def test_stranger_is_refused(message: ClientMessage, code: str) -> None:
    async with connected() as (_, client):
        answer = await ask(client, message)
        assert isinstance(answer, Error)
        assert answer.code == code


async def test_bot_with_a_bad_name_is_refused() -> None:
    async with connected() as (hub, client):
        answer = await ask(client, Hello(1, hub.add_player("ada"), "a b"))
        assert isinstance(answer, Error)
        assert answer.code == "auth/bad_name"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Seek(2, "pig", "total:60"), "protocol/unexpected"),
        (Watch(2, "none"), "match/unknown"),
    ],
)
async def test_request_that_needs_a_lobby_is_refused(message: ClientMessage, code: str) -> None:
    async with connected() as (hub, client):
        await ask(client, Hello(1, hub.add_player("ada"), "bot"))
        answer = await ask(client, message)
        assert isinstance(answer, Error)
        assert (answer.code, answer.re) == (code, 2)
