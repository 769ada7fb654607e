"""Bots in other languages: a program in a box that speaks protocol v1 as lines of JSON.

One message is one line, on standard input and standard output; standard error is the author's log.
The program says ``hello`` and everything after it as on a websocket, so a bot that was written for
one needs only another way to read and write.  Between it and the server stands `ProgramRunner`:

* it fills in who the bot is: a program knows no token and needs none;
* it answers pings, also while the program thinks;
* it lets through what a bot plays with (`ALLOWED`) and refuses the rest: no seeks, no challenges;
* when the connection or the program ends, it begins again: the program is started anew, says
  ``hello``, and finds its running matches in ``welcome``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]
import msgspec

from plyhouse.bots.client.backoff import Backoff
from plyhouse.bots.client.channel import Channel, Connector, Unreachable
from plyhouse.bots.hosting.build import Built
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author import AuthorLog
from plyhouse.bots.process.launching import LauncherLost, ending_in_words
from plyhouse.bots.process.ledger import Stopwatch
from plyhouse.bots.process.spawn import read_output
from plyhouse.bots.process.supervisor import MOST_DEATHS
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.summary import RunSummary, SeatResult, verdict
from plyhouse.bots.sandbox.box import Box, Limits, SandboxError, Tier
from plyhouse.bots.sandbox.client import GONE, BoxProcess, KeeperClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import MOST_FRAMES, Output, reader_of
from plyhouse.protocol.codec import JSON, MAX_CLIENT_FRAME, MSGPACK, Frame
from plyhouse.protocol.errors import ProtocolError, RemoteProtocolError
from plyhouse.protocol.messages import (
    AcceptDraw,
    Act,
    Answer,
    Bye,
    ClientMessage,
    DeclineDraw,
    Finished,
    Hello,
    MatchMessage,
    MatchSnapshot,
    OfferDraw,
    Ping,
    Pong,
    Ready,
    Resign,
    ServerMessage,
    Sync,
    Turn,
    Welcome,
)

__all__ = ["ALLOWED", "ProgramRunner"]

ALLOWED: Final = (
    Hello, Ready, Act, Resign, OfferDraw, AcceptDraw, DeclineDraw, Answer, Sync, Ping, Bye,
)  # fmt: skip
"""What a program may say; its pongs are swallowed, because they have been said for it."""

UNREAD: Final = 16 << 20
"""Bytes that may wait for a program that does not read, before it is ended."""

HELLO_WITHIN: Final = 8.0
"""Seconds in which a program has to say ``hello``: the server gives ten."""


class ProgramRunner:
    """One run of a program; the same face as `plyhouse.bots.running.runner.BotRunner`."""

    def __init__(
        self,
        built: Built,
        connector: Connector,
        token: str,
        options: RunOptions,
        *,
        keeper: KeeperClient,
        tier: Tier,
        limits: Limits | None = None,
        cores: Cores | None = None,
    ) -> None:
        self._built = built
        self._connector = connector
        self._token = token
        self._options = options
        self._keeper = keeper
        self._tier = tier
        self._limits = limits or Limits()
        self._cores = cores or Cores.of_this_machine()
        name = options.bot or built.manifest.name or "program"
        self._log = AuthorLog(name, folder=options.log_folder, terminal=options.say)
        self._summary = RunSummary(name)
        self._matches: dict[str, MatchSnapshot] = {}
        self._over: set[str] = set()
        self._session = ""
        self._welcomed = False
        self._let_in = False
        self._deaths = 0
        self._leaving = False
        self._replacing = False
        self._box: BoxProcess | None = None
        self._channel: Channel | None = None
        self._stopwatches: dict[str, tuple[int, Stopwatch]] = {}
        self._last_plies: dict[str, int] = {}

    @property
    def games(self) -> tuple[str, ...]:
        """What it accepts."""
        return tuple(self._options.games or self._built.manifest.games)

    @property
    def matches(self) -> tuple[str, ...]:
        """Ids of the matches it is playing now."""
        return tuple(self._matches)

    def restart_processes(self) -> None:
        """End the program; a new one takes over in the middle of whatever is played."""
        if self._box is not None:
            self._replacing = True
            self._box.kill()

    def interrupt(self) -> None:
        """Leave at once; running matches go on at the server."""
        self._summary.interrupted = True
        self._leave()

    async def run(self) -> RunSummary:
        """Play until enough is played or `interrupt` is called.

        Raises `BotLoadError` if the program cannot be started or ends again and again.
        """
        backoff, failures = Backoff(), 0
        while not self._leaving:
            try:
                self._channel = await self._connector()
            except Unreachable as error:
                failures += 1
                wait = backoff.delay(failures, random.Random())
                self._options.say(f"{error}; trying again in {wait:.1f} s")
                await self._options.clock.sleep(wait)
                continue
            failures = 0
            await self._one_life(self._channel)
        self._summary.left_running = len(self._matches)
        return self._summary

    # One connection and one process, which begin and end together

    async def _one_life(self, channel: Channel) -> None:
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        core = self._cores.take()
        box = Box(
            tier=self._tier,
            folder=str(self._built.folder),
            command=self._built.manifest.run,
            limits=self._limits,
            core=core,
        )
        out, out_transport = await reader_of(stdout_read)
        err, err_transport = await reader_of(stderr_read)
        try:
            process = await self._keeper.launch(box, (stdin_read, stdout_write, stderr_write))
        except SandboxError as error:
            os.close(stdin_write)
            channel.close()
            out_transport.close()
            err_transport.close()
            if core is not None:
                self._cores.give_back(core)
            if self._keeper.gone:
                raise LauncherLost(GONE) from error
            raise BotLoadError(f"the program could not be started: {error}") from error
        finally:
            for descriptor in (stdin_read, stdout_write, stderr_write):
                os.close(descriptor)
        self._box = process
        transport, writer = await _writer_of(stdin_write)
        output = Output(err, err_transport, process)
        printing = asyncio.create_task(read_output(output, self._log.printed))
        talking = asyncio.create_task(self._from_program(out, writer, channel, process))
        hearing = asyncio.create_task(self._to_program(channel, writer, process))
        self._let_in = False
        ended = False
        try:
            await asyncio.wait({talking, hearing}, return_when=asyncio.FIRST_COMPLETED)
            # Otherwise the line broke, which is none of its doing once it has been let in.
            ended = talking.done() or not self._let_in
        finally:
            process.kill()
            channel.close()
            ending = await process.wait()
            self._box = None
            self._stopwatches.clear()
            if core is not None:
                self._cores.give_back(core)
            transport.close()
            for task in (talking, hearing):
                task.cancel()
            results = await asyncio.gather(talking, hearing, return_exceptions=True)
            await asyncio.wait({printing}, timeout=1)
            printing.cancel()
            await asyncio.gather(printing, return_exceptions=True)
            out_transport.close()
            err_transport.close()
        for result in results:
            if isinstance(result, Exception):
                raise result
        if process.keeper_gone and not self._leaving:
            raise LauncherLost(GONE)
        replaced, self._replacing = self._replacing, False
        if ended and not self._leaving and not replaced:
            why = output.flooded or ending.why
            how = f"the sandbox ended it: {why}" if why else ending_in_words(ending.code)
            said = talking.result() if not talking.cancelled() else "the server did not let it in"
            self._died(said or how)

    def _died(self, how: str) -> None:
        self._deaths += 1
        self._log.note(f"the program ended: {how}")
        if self._deaths >= MOST_DEATHS:
            raise BotLoadError(f"the program ended {self._deaths} times in a row ({how})")

    async def _to_program(self, channel: Channel, writer: _Writer, process: BoxProcess) -> None:
        """Pass on what the server says, until the connection ends."""
        while (frame := await channel.recv()) is not None:
            fields = _fields(frame)
            try:
                message: ServerMessage | None = MSGPACK.decode_server(frame)
            except RemoteProtocolError:
                message = None  # of a later version: the program may know it
            if isinstance(message, Ping):
                channel.send(MSGPACK.encode(Pong(message.id)))
                continue
            if message is not None:
                self._note(message, process)
            writer.write(msgspec.json.encode(fields) + b"\n")
            if writer.waiting > UNREAD:
                self._log.note("the program does not read what it is told, and is ended")
                return

    async def _from_program(
        self, out: asyncio.StreamReader, writer: _Writer, channel: Channel, process: BoxProcess
    ) -> str:
        """Pass on what the program says, until it ends; returns why we end it, if we do."""
        clock, began, count = self._options.clock, self._options.clock.now(), 0
        try:
            async with asyncio.timeout(HELLO_WITHIN):
                line = await out.readline()
        except TimeoutError:
            return f"it said no hello within {HELLO_WITHIN:g} s"
        while line:
            count += 1
            if len(line) > MAX_CLIENT_FRAME:
                return f"a line of more than {MAX_CLIENT_FRAME} bytes"
            if count > MOST_FRAMES * (1 + (clock.now() - began) / 1e9):
                return f"more than {MOST_FRAMES} lines a second"
            if line.strip():
                self._said(line, writer, channel)
            try:
                line = await out.readline()
            except ValueError:
                return f"a line of more than {MAX_CLIENT_FRAME} bytes"
        return ""

    def _said(self, line: bytes, writer: _Writer, channel: Channel) -> None:
        try:
            message: ClientMessage = JSON.decode_client(_with_token(line))
        except ProtocolError as error:
            self._log.note(f"the program said what cannot be read: {error}: {_start(line)}")
            number = getattr(error, "re", None)
            self._refuse(writer, number, "protocol/malformed", str(error))
            return
        if isinstance(message, Pong):
            return
        if not isinstance(message, ALLOWED):
            kind = msgspec.structs.asdict(message)
            self._log.note(f"a hosted program does not say this: {_start(line)}")
            self._refuse(
                writer,
                kind.get("id"),
                "auth/scope",
                "a hosted program plays the matches that it is given: it says hello, ready, act, "
                "resign, draws, answer, sync and bye",
            )
            return
        if isinstance(message, Hello):
            message = self._introduced(message)
        elif isinstance(message, Act):
            self._deaths = 0
            self._acted(message)
        channel.send(MSGPACK.encode(message))

    def _refuse(self, writer: _Writer, number: Any, code: str, text: str) -> None:
        answer: dict[str, Any] = {"type": "error", "code": code, "message": text}
        if isinstance(number, int):
            answer["re"] = number
        writer.write(msgspec.json.encode(answer) + b"\n")

    def _introduced(self, hello: Hello) -> Hello:
        options = self._options
        return msgspec.structs.replace(
            hello,
            token=self._token,
            bot=options.bot or self._summary.bot,
            games=list(self.games),
            session=self._session,
            takeover=self._welcomed or options.takeover,
            version=options.version,
            digest=self._built.digest,
            max_matches=min(hello.max_matches, options.max_matches or hello.max_matches),
        )

    # What is going on

    def _note(self, message: ServerMessage, process: BoxProcess) -> None:
        match message:
            case Welcome():
                again, self._welcomed, self._session = self._welcomed, True, message.session
                self._let_in = True
                self._options.say(f"connected{' again' if again else ''} as {message.player}")
                running = {snapshot.match for snapshot in message.matches}
                for match in set(self._matches) - running:
                    # Over while we were away: the server is asked how it ended.
                    if self._channel is not None:
                        number = secrets.randbelow(2**20) + 2**40
                        self._channel.send(MSGPACK.encode(Sync(number, match)))
                for snapshot in message.matches:
                    self._snapshot(snapshot, process)
            case MatchMessage():
                self._snapshot(message.snapshot, process)
            case Turn():
                self._last_plies[message.match] = message.ply
                self._watch(message.match, message.ply, process)
            case Finished():
                self._last_plies[message.match] = max(
                    [self._last_plies.get(message.match, 0), *[e.ply + 1 for e in message.events]]
                )
                self._finished(message.match, message)
            case _:
                pass

    def _snapshot(self, snapshot: MatchSnapshot, process: BoxProcess) -> None:
        if snapshot.seat is None or snapshot.match in self._over:
            return
        self._last_plies[snapshot.match] = snapshot.ply
        if snapshot.outcome is None:
            self._matches[snapshot.match] = snapshot
            if snapshot.your_turn:
                self._watch(snapshot.match, snapshot.ply, process)
        elif snapshot.match in self._matches:
            self._finished(snapshot.match, Finished(snapshot.match, snapshot.outcome))

    def _watch(self, match: str, ply: int, process: BoxProcess) -> None:
        if self._options.on_cost is not None:
            self._stopwatches[match] = (ply, Stopwatch(process.pid))

    def _acted(self, act: Act) -> None:
        ply, stopwatch = self._stopwatches.pop(act.match, (None, None))
        if stopwatch is not None and ply is not None and self._options.on_cost is not None:
            cost = stopwatch.cost(act.match, ply)
            if cost is not None:
                self._options.on_cost(cost)

    def _finished(self, match: str, finished: Finished) -> None:
        snapshot = self._matches.pop(match, None)
        self._over.add(match)
        if snapshot is None or snapshot.seat is None:
            return
        opponents = [
            f"{info.player}/{info.bot}" if info.bot else info.player
            for seat, info in enumerate(snapshot.players)
            if seat != snapshot.seat
        ]
        result = SeatResult(
            match=match,
            game=snapshot.game,
            seat=snapshot.seat,
            opponents=tuple(opponents),
            outcome=finished.outcome,
            plies=self._last_plies.pop(match, snapshot.ply),
            charged_ms=0,
        )
        self._summary.results.append(result)
        self._options.say(f"match {match}: {verdict(result)}")
        if self._options.on_result is not None:
            self._options.on_result(result)
        enough = self._options.matches
        if enough is not None and len(self._summary.results) >= enough:
            self._leave()
        elif self._options.forgetful and not self._matches:
            self.restart_processes()

    def _leave(self) -> None:
        self._leaving = True
        if self._channel is not None:
            self._channel.close()


class _Writer:
    """Standard input of a program; what does not fit waits here."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport

    def write(self, data: bytes) -> None:
        """Queue a line; lost without notice if the program has ended."""
        if not self._transport.is_closing():
            self._transport.write(data)

    @property
    def waiting(self) -> int:
        """Bytes that it has not read yet, beyond what the pipe holds."""
        return self._transport.get_write_buffer_size()


async def _writer_of(descriptor: int) -> tuple[asyncio.BaseTransport, _Writer]:
    file = os.fdopen(descriptor, "wb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, file)
    return transport, _Writer(transport)


def _fields(frame: Frame) -> Any:
    """What a frame says, as it came: a later version may say more than we know."""
    if isinstance(frame, str):
        return msgspec.json.decode(frame)
    with contextlib.suppress(ValueError):
        return msgpack.unpackb(frame)
    return {}


def _start(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace").rstrip()


def _with_token(line: bytes) -> str:
    """A program's ``hello`` has no token; the place where one goes is filled in later."""
    text = line.decode("utf-8", "replace")
    with contextlib.suppress(msgspec.DecodeError):
        fields = msgspec.json.decode(text)
        if isinstance(fields, dict) and fields.get("type") == "hello":
            return msgspec.json.encode({"token": "", **fields}).decode()
    return text
