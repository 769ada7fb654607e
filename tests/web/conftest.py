"""A server with scripted bots, a wire to it that can be cut, and a browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from tests.harness.chances import repeat_dice
from tests.harness.patience import PATIENCE
from tests.harness.ports import kept_port
from tests.harness.server import Server

from plyhouse.games import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Finished,
    Hello,
    MatchMessage,
    Ping,
    Pong,
    Ready,
    Resign,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.server.accounts.browser_sessions import cookie_name
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import RunningServer, running_server
from plyhouse.server.wire.memory import MemoryClient

from .browser import Page, chromium, find_chromium, open_page

MessageT = TypeVar("MessageT")


def unavailable(reason: str) -> NoReturn:
    if os.environ.get("PLYHOUSE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"PLYHOUSE_REQUIRE_BROWSER is set, but {reason}")
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of the pages on one event loop, to which their one browser belongs."""
    here = str(Path(__file__).parent) + os.sep
    for item in items:
        if str(item.path).startswith(here) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    program = find_chromium()
    if program is None:
        unavailable("no Chromium is installed (PLYHOUSE_CHROMIUM can name one)")
    async with chromium(program) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with open_page(browser) as opened:
        yield opened


class Bot:
    """A bot that plays what the test says, in the process of the server."""

    def __init__(self, client: MemoryClient, name: str) -> None:
        self.client = client
        self.name = name
        self.seat = -1
        self.match = ""
        self._last = 0

    async def _next(self, *kinds: type[MessageT]) -> MessageT:
        async with asyncio.timeout(PATIENCE):
            while (frame := await self.client.recv()) is not None:
                message = MSGPACK.decode_server(frame)
                if isinstance(message, Ping):
                    self.client.send(MSGPACK.encode(Pong(message.id)))
                assert not isinstance(message, Error), message
                if isinstance(message, kinds):
                    return message
        names = " or ".join(kind.__name__ for kind in kinds)
        raise AssertionError(f"closed while waiting for {names}")

    def send(self, kind: type[Any], *args: Any, **fields: Any) -> None:
        self._last += 1
        self.client.send(MSGPACK.encode(kind(self._last, *args, **fields)))

    async def ask(self, kind: type[Any], *args: Any, **fields: Any) -> Any:
        """Send a request and return its answer, also an error."""
        self.send(kind, *args, **fields)
        async with asyncio.timeout(PATIENCE):
            while (frame := await self.client.recv()) is not None:
                message = MSGPACK.decode_server(frame)
                if getattr(message, "re", None) == self._last:
                    return message
        raise AssertionError("closed while waiting for an answer")

    async def welcomed(self) -> None:
        await self._next(Welcome)

    async def begin(self) -> None:
        """Wait for a match and be ready."""
        found = (await self._next(MatchMessage)).snapshot
        self.match, self.seat = found.match, -1 if found.seat is None else found.seat
        self.send(Ready, self.match)

    async def act(self, action: str) -> None:
        """Play when it is this bot's turn; the ply is sent and durable on return."""
        turn = await self._next(Turn)
        self.send(Act, self.match, turn.ply, action)
        await self._next(Accepted)

    async def turn(self) -> Turn | None:
        """Wait for this bot's turn; None once the match is over."""
        message = await self._next(Turn, Finished)
        return message if isinstance(message, Turn) else None

    def play(self, turn: Turn, action: str) -> None:
        """Play an action of a turn; the match may end before it arrives."""
        self.send(Act, self.match, turn.ply, action)

    async def finish(self) -> None:
        """Wait for the end of the match."""
        await self._next(Finished)

    def resign(self) -> None:
        self.send(Resign, self.match)


class House:
    """A running server."""

    def __init__(self, server: RunningServer) -> None:
        self.hub: Hub = server.hub
        self.url = server.url
        self.port = server.port
        self._tokens: dict[str, str] = {}

    async def token(self, player: str) -> str:
        """The token of a player, who has an account from now on."""
        if player not in self._tokens:
            await self.hub.store.add_player(player)
            self._tokens[player] = await self.hub.store.add_token(player)
        return self._tokens[player]

    def know(self, before: House) -> None:
        """Take over the tokens of an earlier server of the same database."""
        self._tokens = before._tokens

    async def bot(self, player: str, name: str = "bot", **fields: Any) -> Bot:
        """A bot of a player; with the name of the player it is the player in person."""
        bot = Bot(self.hub.connect(), f"{player}/{name}")
        bot.send(Hello, await self.token(player), name, takeover=True, **fields)
        await bot.welcomed()
        return bot

    async def spectator(self) -> Bot:
        """A spectator without an account."""
        spectator = Bot(self.hub.connect(), "")
        spectator.send(Hello, "", scenes=True)
        await spectator.welcomed()
        return spectator

    async def pair(self, game: str, time_control: str = "total:300") -> list[Bot]:
        """A bot for each seat of a running match, in the order of the seats; often two."""
        names = ("alice", "bob", "carol", "dave", "erin", "frank")[: get_game(game).seats]
        bots = [await self.bot(name) for name in names]
        for bot in bots:
            bot.send(Seek, game, time_control, rated=True)
        await asyncio.gather(*(bot.begin() for bot in bots))
        return sorted(bots, key=lambda bot: bot.seat)

    async def play(self, game: str, actions: str) -> str:
        """A whole match: the actions in order, by turns; returns its id."""
        bots = await self.pair(game)
        for ply, action in enumerate(actions.split()):
            await bots[ply % 2].act(action)
        await bots[0].finish()
        await self.hub.ratings.settle()
        return bots[0].match


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let dice and cards be the same in every run: the look of a page may depend on them.

    With ``PLYHOUSE_TEST_LUCK=1`` they are not, to look for positions that a page cannot show.
    """
    if os.environ.get("PLYHOUSE_TEST_LUCK") != "1":
        repeat_dice(monkeypatch)


def patient(**settings: Any) -> ServerConfig:
    """Settings of a server that waits as long as tests do.

    A busy machine may need longer than people are given until a page has logged in and is ready
    for its match, or until a review is there, for which a process of the lowest priority has to
    get its turn. Bots of tests answer pings only while a test waits for their messages.
    """
    limits = ("peer_timeout", "auth_timeout", "ready_timeout", "review_seconds", "tree_seconds")
    waits = dict.fromkeys(limits, PATIENCE)
    return ServerConfig(**{"port": 0, "database": "sqlite:///:memory:", **waits, **settings})


@pytest_asyncio.fixture(loop_scope="session")
async def house() -> AsyncIterator[House]:
    async with running_server(patient()) as server:
        yield House(server)


@pytest_asyncio.fixture(loop_scope="session")
async def hall() -> AsyncIterator[Server]:
    async with running_server(patient()) as server, contextlib.AsyncExitStack() as stack:
        yield Server(server, stack)


async def sign_in_before(page: Page, house: House, player: str) -> None:
    """Give the page's browser a session of a player, before it opens its first address."""
    token = await house.token(player)
    entry = await house.hub.browser_sessions.sign_in_by_token(token, "127.0.0.1")
    name = cookie_name(f"127.0.0.1:{house.port}", secure=False)
    await page.tab.context.add_cookies([{"name": name, "value": entry.secret, "url": house.url}])


class Wire:
    """A connection to the server that can be cut and restored; browsers use `url`."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = kept_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def mend(self) -> None:
        self._listener = await asyncio.start_server(self._carry, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Nobody gets through any more, and nobody can connect."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for writer in tuple(self._open):
            writer.transport.abort()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        there, onward = await asyncio.open_connection("127.0.0.1", self._to)
        if self._listener is None:  # cut while this one was on its way
            writer.transport.abort()
            onward.transport.abort()
            return
        self._open |= {writer, onward}
        try:
            await asyncio.gather(self._pump(reader, onward), self._pump(there, writer))
        finally:
            self._open -= {writer, onward}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def wire(house: House) -> AsyncIterator[Wire]:
    made = Wire(house.port)
    await made.mend()
    yield made
    await made.cut()


@pytest.fixture
def pictures() -> Path | None:
    """Where to put screenshots, if PLYHOUSE_PICTURES names a folder."""
    named = os.environ.get("PLYHOUSE_PICTURES")
    return Path(named) if named else None
