"""A server in its own process, with a course that bots play."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
from tests.cli.conftest import Zygote, clean_environment, command
from tests.harness.ports import kept_port
from tests.harness.server import BotClient, legal_action
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Act,
    Error,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Ready,
    Turn,
    Welcome,
)

PATIENCE = 150.0


class CourseServer:
    """A server in its own process, always at the same address."""

    def __init__(self, folder: Path, zygote: Zygote) -> None:
        self.folder = folder
        self.zygote = zygote
        self.port = kept_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str]

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*command(), "serve", "--port", str(self.port), "--database", "sqlite:///course.db",
             "--log-level", "error"],
            cwd=self.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("Plyhouse is listening")

    def end(self, sign: signal.Signals) -> None:
        self.process.send_signal(sign)
        self.process.communicate(timeout=100)

    async def do(self, *arguments: str, token: str, code: int = 0) -> str:
        """Run a command as somebody; what it prints on standard output, or its error."""
        environment = clean_environment({"PLYHOUSE_SERVER": self.url, "PLYHOUSE_TOKEN": token})
        done = await asyncio.to_thread(self.zygote.run, arguments, self.folder, environment)
        assert done.code == code, (arguments, done.out, done.err)
        assert "Traceback" not in done.err, done.err
        return done.err if code else done.out

    async def get(self, path: str, token: str = "") -> Any:
        async with httpx.AsyncClient(base_url=self.url) as client:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = await client.get(path, headers=headers, timeout=PATIENCE)
            assert answer.status_code == 200, answer.text
            return answer.json()


class Bot:
    """A bot that plays every match at random, and reconnects after a disconnect."""

    def __init__(
        self, house: CourseServer, token: str, name: str, version: str, digest: str
    ) -> None:
        self.house = house
        self.hello: dict[str, Any] = {
            "token": token,
            "bot": name,
            "version": version,
            "digest": digest * 64,
            "games": ["tic_tac_toe", "kuhn_poker"],
            "max_matches": 4,
            "takeover": True,
        }
        self.random = random.Random(f"{name}{version}")
        self.connected = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def begin(self) -> Bot:
        self.task = asyncio.create_task(self._stay())
        async with asyncio.timeout(PATIENCE):
            await self.connected.wait()
        return self

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task

    async def _stay(self) -> None:
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError, EOFError):
                address = f"ws://127.0.0.1:{self.house.port}/ws"
                protocols: Any = [MSGPACK.subprotocol]
                async with connect(address, subprotocols=protocols, compression=None) as wire:
                    await self._play(BotClient(wire, MSGPACK))
            await asyncio.sleep(0.05)

    async def _play(self, client: BotClient) -> None:
        await client.send(Hello(1, **self.hello))
        number = 1
        games: dict[str, Any] = {}
        while (message := await client.receive()) is not None:
            if isinstance(message, Error) and message.re == 1:
                raise AssertionError(message)
            shown: list[Any] = []
            if isinstance(message, Welcome):
                self.connected.set()
                shown = list(message.matches)
            elif isinstance(message, MatchMessage):
                shown = [message.snapshot]
            elif isinstance(message, Turn):
                shown = [message]
            for each in shown:
                if isinstance(each, MatchSnapshot):
                    games[each.match] = get_game(each.game)
                    number += 1
                    await client.send(Ready(number, each.match, "ab"))
                if isinstance(each, Turn) or each.your_turn:
                    action = legal_action(each, games[each.match], self.random)
                    number += 1
                    await client.send(Act(number, each.match, each.ply, action))


async def account(house: CourseServer, name: str, *scopes: str) -> str:
    options = [option for scope in scopes for option in ("--scope", scope)]
    database = ("--database", "sqlite:///course.db")
    return (await house.do("admin", "player", "add", name, *options, *database, token="")).strip()
