"""Run a bot as an engine: its process, and the controller's lines.

The bot runs as on a server (`plyhouse.bots.process.supervisor`): a search gets a limit, and when
time is out the best action that it has reported is the answer.  The shell sends the bot's output to
standard error, which controllers ignore or log.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from plyhouse.bots.client.timing import REAL_CLOCK, SECOND
from plyhouse.bots.loading import BotLoadError, check_spec
from plyhouse.bots.options import split_options
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.process.messages import Begin, Chosen, Failed, Loaded
from plyhouse.bots.process.supervisor import HANG_GRACE, Supervisor
from plyhouse.bots.serving.requests import (
    UNBOUNDED,
    Answer,
    Ask,
    Configure,
    Effect,
    Quit,
    Release,
    Say,
    Service,
    Stop,
)
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Event, MatchSnapshot, SeatInfo

__all__ = ["ServedBot", "lines_of_standard_input", "serve"]

GRACE: Final = 1.0
"""Seconds after its time in which a bot that has reported nothing may still answer."""


class ServedBot:
    """A bot in its process, asked outside of a server."""

    def __init__(
        self,
        spec: str,
        output: Callable[[str], None],
        launcher: Launcher = BARE,
    ) -> None:
        self._spec = check_spec(spec)
        self._launcher = launcher
        self._output = output
        self._supervisor: Supervisor | None = None
        self._ids = itertools.count(1)
        self._match = ""
        self._of: tuple[str, int] = ("", 0)
        """Game and seat of the match that the bot plays."""
        self._events: list[Event] = []
        self._stop = asyncio.Event()
        self._released = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        """Stops a bot whose question was released."""
        self.loaded: Loaded
        """Its description of itself; known after `start`."""

    async def start(self) -> Loaded:
        """Load the bot; raise `BotLoadError` if that fails."""
        log = AuthorLog("bot", terminal=self._output)
        supervisor = Supervisor(self._spec, log, launcher=self._launcher)
        self.loaded = await supervisor.start()
        log.name = self.loaded.name
        self._supervisor = supervisor
        return self.loaded

    async def configure(self, options: Iterable[tuple[str, str]]) -> None:
        """Restart the bot with these options added to those of its spec.

        Raises `BotLoadError` if it refuses them; then the bot stays as it was.
        """
        name, own = split_options(self._spec)
        kinds = {each[0]: each[1] for each in self.loaded.options}
        merged = {key: json.dumps(value) for key, value in own.items()}
        for key, value in options:
            merged[key] = json.dumps(value) if kinds.get(key) == "str" else value
        spec = f"{name}({', '.join([f'{key}={value}' for key, value in merged.items()])})"
        log = AuthorLog(self.loaded.name, terminal=self._output)
        supervisor = Supervisor(spec, log, launcher=self._launcher)
        await supervisor.start()
        before, self._supervisor = self._supervisor, supervisor
        self._match = ""
        if before is not None:
            await before.close()

    def stop(self) -> None:
        """Let the bot answer now."""
        self._stop.set()

    def release(self, after: int) -> None:
        """Let the bot answer when it has decided, or after nanoseconds."""
        self._released.set()
        if after < UNBOUNDED:
            self._timer = asyncio.get_running_loop().call_later(after / SECOND, self.stop)

    async def prepare(self, ask: Ask) -> None:
        """Let the bot prepare for a question, which then takes none of its time."""
        if self._supervisor is None:
            raise RuntimeError("the bot is not running")
        self._follow(self._supervisor, ask)
        await self._supervisor.settled(self._match)

    async def ask(self, ask: Ask) -> Answer:
        """Return the bot's answer in a position where a seat is to move."""
        supervisor = self._supervisor
        if supervisor is None:
            raise RuntimeError("the bot is not running")
        self._stop.clear()
        self._released.clear()
        now = REAL_CLOCK.now()
        self._follow(supervisor, ask)
        hard_at = now + ask.hard
        request = supervisor.think(
            self._match,
            ply=len(ask.actions),
            soft_at=now + ask.soft,
            hard_at=hard_at,
            flag_at=hard_at + round(GRACE * SECOND),
            observation={},
            clocks=(),
            depth=ask.depth,
            nodes=ask.nodes,
        )
        until = REAL_CLOCK.sleep(ask.hard / SECOND)
        await first_of_all(request.answer, until, self._stop.wait())
        if not request.answer.done() and request.best is None:
            # A search has an action after milliseconds, even if it was stopped before.
            await first_of_all(request.answer, request.reported.wait(), asyncio.sleep(GRACE))
        if ask.held:
            await first_of_all(self._stop.wait(), self._released.wait())
        if self._timer is not None:
            self._timer.cancel()
        took = REAL_CLOCK.now() - now
        if not request.answer.done():
            supervisor.stop(request, answered=request.best is not None)
            problem = "" if request.best else "the bot has found nothing in its time"
            return Answer(request.best or "", took, problem=problem)
        answer = request.answer.result()
        match answer:
            case Chosen():
                return Answer(
                    "" if answer.warning else answer.action,
                    took,
                    answer.info,
                    problem=answer.warning.partition("\n")[0],
                )
            case Failed():
                if answer.traceback:
                    self._output(answer.traceback.rstrip())
                return Answer("", took, problem=f"the bot failed: {answer.error}")
        return Answer("", took, resigns=True, problem="")

    def _follow(self, supervisor: Supervisor, ask: Ask) -> None:
        """Bring the match to the position; begin another one if this one did not come here."""
        game = get_game(ask.game, files=True)
        state = game.initial_state()
        events = []
        for ply, text in enumerate(ask.actions):
            events.append(Event(ply, state.to_move, text))
            state = state.after(game.parse(state, text))
        seat: int = state.to_move
        known = len(self._events)
        if self._match and self._of == (ask.game, seat) and events[:known] == self._events:
            self._events.extend(events[known:])
            return
        if self._match:
            supervisor.end(self._match, None)
        self._match, self._of, self._events = f"served-{next(self._ids)}", (ask.game, seat), events
        snapshot = MatchSnapshot(
            match=self._match,
            pairing="",
            game=ask.game,
            time_control="total:60",
            rated=False,
            seat=seat,
            players=[SeatInfo("controller") for _ in range(game.seats)],
            status="running",
            ply=len(events),
        )

        def begin() -> Begin:
            told = msgspec.structs.replace(snapshot, events=list(self._events))
            return Begin(told, told.match, files=True)

        supervisor.begin(self._match, begin, lambda: self._events)

    async def close(self) -> None:
        """End the bot's process, after a stopped turn if that ends soon."""
        if self._supervisor is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HANG_GRACE):
                    await self._supervisor.settled()
            await self._supervisor.close()


async def first_of_all(*events: Awaitable[Any]) -> None:
    """Wait for one of several events; stop waiting for the others."""
    tasks = [asyncio.ensure_future(event) for event in events]
    waiters = [task for task, event in zip(tasks, events, strict=True) if task is not event]
    try:
        await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
    finally:
        for waiter in waiters:
            waiter.cancel()
        await asyncio.gather(*waiters, return_exceptions=True)


async def serve(
    bot: ServedBot,
    service: Service,
    lines: asyncio.Queue[str | None],
    write: Callable[[str], None],
) -> None:
    """Serve a controller until it quits or its lines end with None.

    Lines after a `Stop` wait until the answer is written, because they belong to the next turn.
    The end of the lines ends a turn that only a line could end, and any turn of a service that is
    `Service.one_by_one`.
    """
    asked: asyncio.Task[Answer] | None = None
    endless = stopping = False
    reading = asyncio.create_task(lines.get())
    ended = False
    try:
        while True:
            waited: set[asyncio.Task[Any]] = set()
            if asked is not None:
                waited.add(asked)
            waits = asked is not None and (service.one_by_one or stopping)
            if not ended and not (waits and reading.done()):
                waited.add(reading)
            if not waited:
                return
            await asyncio.wait(waited, return_when="FIRST_COMPLETED")
            effects: Sequence[Effect] = ()
            if asked is not None and asked.done():
                effects, asked = service.answered(asked.result()), None
            elif reading.done():
                line = reading.result()
                if line is None:
                    ended = True
                    if endless or service.one_by_one:
                        bot.stop()
                    continue
                if waits and not service.at_once(line):
                    continue
                effects = service.receive(line)
                reading = asyncio.create_task(lines.get())
            for effect in effects:
                match effect:
                    case Say(text):
                        write(text)
                    case Ask():
                        endless, stopping = effect.endless, False
                        asked = asyncio.create_task(bot.ask(effect))
                    case Stop():
                        stopping = True
                        bot.stop()
                    case Release(hard):
                        endless = hard >= UNBOUNDED
                        bot.release(hard)
                    case Configure(options):
                        try:
                            await bot.configure(options)
                        except BotLoadError as error:
                            write(f"info string {str(error).splitlines()[0]}")
                    case Quit():
                        return
    finally:
        for task in (asked, reading):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def lines_of_standard_input() -> asyncio.Queue[str | None]:
    """Return the lines of standard input as they come; None at the end.

    Bytes that are no UTF-8 are replaced in any locale.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def put(line: str | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        for line in sys.stdin.buffer:
            put(line.decode("utf-8", "replace").rstrip("\r\n"))
        put(None)

    threading.Thread(target=read, name="controller", daemon=True).start()
    return lines
