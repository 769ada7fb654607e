"""Server processes of a cluster, and bots that play on whichever of them they reach."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.harness.patience import PATIENCE
from tests.harness.zygote import forked_command
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Finished,
    Hello,
    LedgerEntry,
    MatchMessage,
    MatchSnapshot,
    Ping,
    Pong,
    Ready,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.storage.store import Store

MODULE = ("-m", "plyhouse.clients.cli.main")
READY = b"Plyhouse is listening on "


@dataclass(eq=False)
class Process:
    """One server."""

    process: asyncio.subprocess.Process
    url: str
    reader: asyncio.Task[None]
    lines: list[str]
    forked: bool
    """True if `process` only passes signals on; it does so with SIGTSTP for SIGSTOP."""

    @property
    def ws_url(self) -> str:
        return self.url.replace("http://", "ws://") + "/ws"

    def send(self, number: signal.Signals) -> None:
        if self.forked and number == signal.SIGSTOP:
            number = signal.SIGTSTP
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


class Processes:
    """The servers of a cluster; those in `alive` may be connected to."""

    def __init__(
        self,
        database: str,
        nats: str,
        *options: str,
        pythons: Sequence[str] = (sys.executable,),
        forked: bool = False,
    ) -> None:
        """Without ``nats`` it is a single server.

        ``pythons`` are interpreters with the versions of Plyhouse to start in turn.  A ``forked``
        server starts in a tenth of the time.
        """
        self.alive: list[Process] = []
        self.all: list[Process] = []
        self._forked = forked
        commands = [forked_command()] if forked else [[each, *MODULE] for each in pythons]
        self._commands = itertools.cycle(commands)
        self._arguments = ["serve", "--port", "0", "--database", database, *options]
        self._arguments += ["--peer-timeout", "20", *(["--cluster", nats] if nats else [])]

    async def start(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            *next(self._commands),
            *self._arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=1 << 20,
        )
        assert process.stdout is not None
        lines: list[str] = []
        url = ""
        while not url:
            line = await process.stdout.readline()
            if not line:
                raise AssertionError("the server did not start:\n" + "".join(lines))
            lines.append(line.decode())
            if line.startswith(READY):
                url = line.removeprefix(READY).decode().strip()
        reader = asyncio.create_task(_read(process, lines))
        made = Process(process, url, reader, lines, self._forked)
        self.alive.append(made)
        self.all.append(made)
        return made

    async def stop(self, server: Process) -> int:
        """Stop a server as an operator does; return its exit code."""
        if server in self.alive:
            self.alive.remove(server)
        server.send(signal.SIGTERM)
        return await asyncio.wait_for(server.process.wait(), PATIENCE)

    async def kill(self, server: Process) -> None:
        if server in self.alive:
            self.alive.remove(server)
        server.send(signal.SIGKILL)
        await server.process.wait()

    async def close(self) -> None:
        for server in self.all:
            server.send(signal.SIGCONT)
            server.send(signal.SIGKILL)
            await server.process.wait()
            server.reader.cancel()


async def _read(process: asyncio.subprocess.Process, lines: list[str]) -> None:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        lines.append(line.decode(errors="replace"))


@dataclass
class Played:
    """What a bot knows of a match after it."""

    match: str
    seat: int
    actions: dict[int, str] = field(default_factory=dict)
    """Its accepted actions by ply."""
    ledgers: dict[int, LedgerEntry] = field(default_factory=dict)
    longest_wait: float = 0.0
    """Seconds between two messages about the match."""
    over: bool = False
    """True if the bot heard of the end, or if the match was over when it came back."""


class RestlessBot:
    """A bot that plays at random, and connects to another server after each loss."""

    def __init__(self, servers: Processes, token: str, name: str, seed: int) -> None:
        self.servers = servers
        self.token = token
        self.name = name
        self.random = random.Random(seed)
        self.key = ""
        self.played: dict[str, Played] = {}
        self.errors: list[Error] = []
        self.problems: list[str] = []
        self.charges: list[tuple[float, LedgerEntry]] = []
        """The time of each accepted ply, with the instant at which the bot heard of it."""
        self.logins = 0
        self.away: list[float] = []
        """Seconds between the loss of a connection and the next welcome."""
        self.done = asyncio.Event()
        """Set when all wanted matches are over."""
        self.wanted = 0
        self.seek: tuple[str, str] | None = None
        self.invitation = ""
        """A secret that the bot shares with its opponent; without it, it meets anybody."""
        self.think = 0.0
        self.stood_still = 0.0
        """Seconds for which this process had to wait for a processor, at most."""
        self.games: list[str] = []
        """The games that it offers to organisers."""
        self._numbers = itertools.count(1)
        self._wire: Any = None
        self._heard: dict[str, float] = {}
        self._waiting: dict[int, Any] = {}
        self._acts: dict[str, tuple[int, str]] = {}
        self._states: dict[str, MatchSnapshot | Turn] = {}
        self._games: dict[str, Any] = {}

    def choose(self, actions: Sequence[Any]) -> Any:
        """Return one of the legal actions."""
        return self.random.choice(actions)

    def over(self) -> int:
        return sum(each.over for each in self.played.values())

    async def run(self) -> None:
        """Play until cancelled."""
        watching = asyncio.create_task(self._watch())
        try:
            await self._stay_connected()
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            due = time.monotonic() + 0.05
            await asyncio.sleep(0.05)
            self.stood_still = max(self.stood_still, time.monotonic() - due)

    async def _stay_connected(self) -> None:
        lost: float | None = None
        while True:
            if not self.servers.alive:
                await asyncio.sleep(0.1)
                continue
            server = self.random.choice(self.servers.alive)
            try:
                async with connect(
                    server.ws_url,
                    subprotocols=[MSGPACK.subprotocol],  # type: ignore[list-item]
                    compression=None,
                    open_timeout=5,
                    close_timeout=1,
                ) as wire:
                    self._wire = wire
                    await self._converse(wire, lost)
            except (OSError, ConnectionClosed, InvalidHandshake, TimeoutError):
                pass
            if lost is None or self._welcomed:
                lost = time.monotonic()
            await asyncio.sleep(0.05 + 0.1 * self.random.random())

    _welcomed = False

    async def _converse(self, wire: Any, lost: float | None) -> None:
        self._welcomed = False
        hello = Hello(
            next(self._numbers),
            self.token,
            self.name,
            session=self.key,
            max_matches=8,
            takeover=True,
            games=self.games,
        )
        await wire.send(MSGPACK.encode(hello))
        while True:
            frame = await asyncio.wait_for(wire.recv(), PATIENCE)
            message = MSGPACK.decode_server(frame)
            if isinstance(message, Ping):
                await wire.send(MSGPACK.encode(Pong(message.id)))
            elif isinstance(message, Welcome):
                self._welcomed = True
                self.logins += 1
                if lost is not None:
                    self.away.append(time.monotonic() - lost)
                self.key = message.session
                for snapshot in message.matches:
                    await self._snapshot(wire, snapshot)
                here = {each.match for each in message.matches}
                for match, each in self.played.items():
                    each.over = each.over or match not in here
                if self.over() >= self.wanted:
                    self.done.set()
                await self._look_for_more(wire)
            else:
                await self._take(wire, message)

    async def _look_for_more(self, wire: Any) -> None:
        if self.seek is not None and len(self.played) < self.wanted:
            game, control = self.seek
            seek = Seek(next(self._numbers), game, control, count=1, invitation=self.invitation)
            await wire.send(MSGPACK.encode(seek))

    async def _take(self, wire: Any, message: Any) -> None:
        match = getattr(message, "match", None)
        if isinstance(message, MatchMessage):
            await self._snapshot(wire, message.snapshot)
        elif isinstance(message, Turn):
            self._note(message.match)
            await self._act(wire, message.match, message.ply, message)
        elif isinstance(message, Accepted):
            self._note(message.match)
            played = self.played[message.match]
            sent = self._acts.get(message.match)
            if message.duplicate:  # the answer to an action that was sent again
                pass
            elif sent is None or sent[0] != message.ply:
                self.problems.append(f"{message.match}: ply {message.ply} accepted unasked")
            else:
                before = played.actions.get(message.ply)
                if before is not None and before != sent[1]:
                    self.problems.append(f"{message.match}: ply {message.ply} accepted twice")
                played.actions[message.ply] = sent[1]
            if message.ledger is not None:
                played.ledgers[message.ply] = message.ledger
                self.charges.append((time.monotonic(), message.ledger))
        elif isinstance(message, Finished):
            self._note(message.match)
            self.played[message.match].over = True
            if self.over() >= self.wanted:
                self.done.set()
            await self._look_for_more(wire)
        elif isinstance(message, Error):
            self.errors.append(message)
            if match and message.code == "match/over" and match in self.played:
                self.problems.append(f"{match}: {message}")

    def _note(self, match: str) -> None:
        now = time.monotonic()
        played = self.played.get(match)
        if played is not None and match in self._heard:
            played.longest_wait = max(played.longest_wait, now - self._heard[match])
        self._heard[match] = now

    async def _snapshot(self, wire: Any, snapshot: MatchSnapshot) -> None:
        match = snapshot.match
        assert snapshot.seat is not None
        self.played.setdefault(match, Played(match, snapshot.seat))
        self._games[match] = get_game(snapshot.game)
        self._note(match)
        if snapshot.status == "waiting":
            ready = Ready(next(self._numbers), match, f"{self.random.getrandbits(64):016x}")
            await wire.send(MSGPACK.encode(ready))
        elif snapshot.your_turn:
            await self._act(wire, match, snapshot.ply, snapshot)

    async def _act(self, wire: Any, match: str, ply: int, turn: Turn | MatchSnapshot) -> None:
        sent = self._acts.get(match)
        if sent is not None and sent[0] == ply:
            action = sent[1]  # the same again: it may not have arrived
        else:
            game = self._games[match]
            state = game.sample_state(game.decode_observation(turn.observation), self.random)
            action = str(game.format(state, self.choose(state.actions())))
            self._acts[match] = ply, action
        if self.think:
            await asyncio.sleep(self.think * self.random.random())
        await wire.send(MSGPACK.encode(Act(next(self._numbers), match, ply, action)))


async def tokens(database: str, count: int) -> list[str]:
    """Make players and return a token of each."""
    async with await Store.open(database) as store:
        made = []
        for number in range(count):
            await store.add_player(f"player{number}")
            made.append(await store.add_token(f"player{number}"))
        return made
