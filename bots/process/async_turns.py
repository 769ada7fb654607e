"""A bot whose ``choose`` is async, in its process: all its turns at once, in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from plyhouse.bots.api import Bot, Turn, TurnOver
from plyhouse.bots.process.child import Child, Seat, Wire, start_reader
from plyhouse.bots.process.messages import Begin, End, Quit, Stop, Think, ToChild

__all__ = ["run"]


def run(make: Callable[[], Bot], wire: Wire, *, prepares: bool = False) -> None:
    """Serve until told to quit."""
    endings = (TurnOver, asyncio.CancelledError)
    asyncio.run(_serve(Child(make, wire, endings, prepares=prepares)))


async def _serve(child: Child) -> None:
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[tuple[ToChild, int]] = asyncio.Queue()
    tasks: dict[int, asyncio.Task[None]] = {}

    def received(message: ToChild) -> None:
        if isinstance(message, Stop):
            child.stop(message.turn)  # at once, even if the loop is busy
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(inbox.put_nowait, (message, time.monotonic_ns()))

    start_reader(child.wire, received)
    while True:
        message, arrived = await inbox.get()
        match message:
            case Begin():
                child.begin(message)
            case Think():
                opened = child.open(message, arrived)
                if opened is not None:
                    task = asyncio.create_task(_answer(child, message, *opened))
                    tasks[message.turn] = task
                    task.add_done_callback(partial(_forget, tasks, message.turn))
            case Stop():
                running = tasks.get(message.turn)
                if running is not None:
                    running.cancel()
            case End():
                child.end(message)
            case Quit():
                return


async def _answer(child: Child, think: Think, seat: Seat, turn: Turn) -> None:
    try:
        result = child.bot(think, seat, turn).choose(turn)
        value = await result if inspect.isawaitable(result) else result
    except BaseException as error:
        problem = error  # names bound by "except" do not outlive it

        def run() -> Any:
            raise problem
    else:

        def run() -> Any:
            return value

    child.answer(think, turn, run)


def _forget(tasks: dict[int, asyncio.Task[None]], turn: int, _task: asyncio.Task[None]) -> None:
    tasks.pop(turn, None)
