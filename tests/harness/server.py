"""Servers in this process, the clients that speak to them frame by frame, and a clock."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.patience import PATIENCE
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK, Codec
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Finished,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Ping,
    Pong,
    Ready,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import RunningServer
from plyhouse.server.wire.memory import MemoryClient

MessageT = TypeVar("MessageT")


class BotClient:
    """One connection; requests are answered in order, everything else waits in `inbox`."""

    def __init__(self, wire: ClientConnection | MemoryClient, codec: Codec) -> None:
        self.wire = wire
        self.codec = codec
        self.inbox: list[Any] = []
        self.last_id = 0
        self.closed = False
        self.session = ""

    async def send(self, message: Any) -> None:
        await self.send_raw(self.codec.encode(message))

    async def send_raw(self, frame: bytes | str) -> None:
        if isinstance(self.wire, MemoryClient):
            self.wire.send(frame)
        else:
            await self.wire.send(frame)

    async def receive(self) -> Any:
        """The next message from the wire, pings answered; None when the connection is closed."""
        while True:
            frame: Any
            if isinstance(self.wire, MemoryClient):
                frame = await self.wire.recv()
            else:
                try:
                    frame = await self.wire.recv()
                except ConnectionClosed:
                    frame = None
            if frame is None:
                self.closed = True
                return None
            message = self.codec.decode_server(frame)
            if isinstance(message, Ping):
                with contextlib.suppress(ConnectionClosed):
                    await self.send(Pong(message.id))
            else:
                return message

    async def next(self, kind: type[MessageT], **fields: Any) -> MessageT:
        """The next message of a kind (and with these fields), from the inbox or the wire."""

        def fits(message: Any) -> bool:
            return isinstance(message, kind) and all(
                getattr(message, name) == value for name, value in fields.items()
            )

        for index, message in enumerate(self.inbox):
            if fits(message):
                del self.inbox[index]
                return message  # type: ignore[no-any-return]
        async with asyncio.timeout(PATIENCE):
            while (message := await self.receive()) is not None:
                if fits(message):
                    return message  # type: ignore[no-any-return]
                self.inbox.append(message)
        why = "" if isinstance(self.wire, MemoryClient) else f" ({self.wire.close_reason})"
        raise AssertionError(f"closed{why} while waiting for {kind.__name__}; got {self.inbox}")

    async def ask(self, kind: type[Any], *args: Any, **fields: Any) -> Any:
        """Send a request and return its answer or error."""
        self.last_id += 1
        mine = self.last_id
        await self.send(kind(mine, *args, **fields))
        async with asyncio.timeout(PATIENCE):
            while (message := await self.receive()) is not None:
                if getattr(message, "re", None) == mine:
                    return message
                self.inbox.append(message)
        reason = getattr(self.wire, "close_reason", "")
        raise AssertionError(f"closed ({reason}) while waiting for an answer; got {self.inbox}")

    async def hello(self, token: str, bot: str = "", **fields: Any) -> Any:
        answer = await self.ask(Hello, token, bot, **fields)
        if isinstance(answer, Welcome):
            self.session = answer.session
        return answer

    async def seek(self, game: str, time_control: str = "total:60", **fields: Any) -> Any:
        return await self.ask(Seek, game, time_control, **fields)

    async def start(self) -> MatchSnapshot:
        """Wait for a match to be announced and say ready."""
        message = await self.next(MatchMessage)
        await self.ask(Ready, message.snapshot.match, "ab12")
        return message.snapshot

    async def until_closed(self) -> list[Any]:
        """Everything that comes until the server closes."""
        async with asyncio.timeout(PATIENCE):
            while (message := await self.receive()) is not None:
                self.inbox.append(message)
        return self.inbox

    async def close(self) -> None:
        if isinstance(self.wire, MemoryClient):
            self.wire.close()
        else:
            await self.wire.close()

    @property
    def close_code(self) -> int | None:
        return self.wire.close_code

    async def play(self, match: MatchSnapshot, seed: int = 0) -> Finished:
        """Play random legal actions until the match is over."""
        game = get_game(match.game)
        rng = random.Random(seed)
        told: Any = match if match.your_turn else None
        while True:
            message = told or await self.next_of(match.match)
            told = None
            if isinstance(message, Finished):
                return message
            if isinstance(message, Turn | MatchSnapshot):
                action = legal_action(message, game, rng)
                answer = await self.ask(Act, match.match, message.ply, action)
                assert isinstance(answer, Accepted), answer

    async def next_of(self, match: str) -> Any:
        for index, message in enumerate(self.inbox):
            if getattr(message, "match", None) == match:
                return self.inbox.pop(index)
        async with asyncio.timeout(PATIENCE):
            while (message := await self.receive()) is not None:
                if getattr(message, "match", None) == match:
                    return message
                self.inbox.append(message)
        raise AssertionError(f"closed in the middle of a match; got {self.inbox}")


def legal_action(turn: Turn | MatchSnapshot, game: Any, rng: random.Random) -> str:
    """A random legal action, chosen from what a bot can see."""
    state = game.sample_state(game.decode_observation(turn.observation), rng)
    return str(game.format(state, rng.choice(state.actions())))


class Server:
    """A running server with the means to fill it."""

    def __init__(
        self,
        server: RunningServer,
        stack: contextlib.AsyncExitStack,
        cluster: Sequence[RunningServer] = (),
    ) -> None:
        """Connections go to the servers of ``cluster`` in turn."""
        self.server = server
        self.urls = [each.url for each in cluster or [server]]
        """Addresses of all servers."""
        self._places = itertools.cycle([*cluster[1:], *cluster[:1]] or [server])
        self.hub: Hub = server.hub
        self._stack = stack
        self._players: set[str] = set()

    async def token(self, player: str, *scopes: str) -> str:
        if player not in self._players:
            self._players.add(player)
            await self.hub.store.add_player(player)
        return await self.hub.store.add_token(player, scopes or ("play",))

    async def client(self, codec: Codec = MSGPACK, **options: Any) -> BotClient:
        """A connection that has not said hello."""
        wire = await self._stack.enter_async_context(
            connect(
                next(self._places).ws_url,
                subprotocols=[codec.subprotocol],  # type: ignore[list-item]
                compression=None,
                # A busy machine may need more than the ten seconds of the library.
                **{"open_timeout": PATIENCE, **options},
            )
        )
        return BotClient(wire, codec)

    async def bot(
        self, player: str, bot: str = "bot", codec: Codec = MSGPACK, **hello: Any
    ) -> BotClient:
        """A connection that is logged in."""
        client = await self.client(codec)
        token = await self.token(player)
        welcome = await client.hello(token, bot, **hello)
        assert isinstance(welcome, Welcome), welcome
        return client

    async def pair(
        self, game: str, time_control: str = "total:60", **seek: Any
    ) -> tuple[list[BotClient], list[MatchSnapshot]]:
        """Two bots in a running match, in the order of their seats."""
        clients = [await self.bot("alice", "one"), await self.bot("bob", "two")]
        for client in clients:
            answer = await client.seek(game, time_control, **seek)
            assert not isinstance(answer, Error), answer
        snapshots = list(await asyncio.gather(*(client.start() for client in clients)))
        if snapshots[0].seat == 1:
            clients.reverse()
            snapshots.reverse()
        return clients, snapshots


def helped(house: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each function that a helper process carries out."""
    names: list[str] = []
    run = house.hub.helpers.run

    async def running(work: Any, *given: Any, **named: Any) -> Any:
        names.append(work.__name__)
        return await run(work, *given, **named)

    monkeypatch.setattr(house.hub.helpers, "run", running)
    return names


class MemoryServer:
    """A hub without a network."""

    def __init__(self, hub: Hub, clock: FakeClock) -> None:
        self.hub = hub
        self.clock = clock

    def move_to(self, now: int) -> None:
        """Let time pass in which the server was awake (a jump would count as a standstill)."""
        self.clock.now = now
        self.hub.watchdog.stop()
        self.hub.watchdog.start()

    async def bot(self, player: str, bot: str = "bot", **hello: Any) -> BotClient:
        await self.hub.store.add_player(player)
        token = await self.hub.store.add_token(player)
        client = BotClient(self.hub.connect(), MSGPACK)
        welcome = await client.hello(token, bot, **hello)
        assert isinstance(welcome, Welcome), welcome
        return client

    async def pair(
        self, game: str, time_control: str, bots: tuple[str, str] = ("one", "two")
    ) -> tuple[list[BotClient], list[MatchSnapshot]]:
        clients = [await self.bot("alice", bots[0]), await self.bot("bob", bots[1])]
        for client in clients:
            await client.seek(game, time_control)
        snapshots = list(await asyncio.gather(*(client.start() for client in clients)))
        if snapshots[0].seat == 1:
            clients.reverse()
            snapshots.reverse()
        return clients, snapshots
