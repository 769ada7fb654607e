"""The base of everything that runs a bot on a server: its connection, matches and results."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

from plyhouse.bots.client.client import Client, Connected, Disconnected
from plyhouse.bots.running.run_options import RunOptions, RunSummary, SeatResult, verdict
from plyhouse.protocol.messages import ServerMessage

__all__ = ["BotSession"]


class BotSession(ABC):
    """One run of a bot on a server.

    A subclass makes `_client` and its processes in `_begin`, and plays the matches in `_matches` by
    the messages that `_handle` gets.
    """

    _client: Client

    def __init__(self, bot: str, options: RunOptions) -> None:
        self._options = options
        self._say = options.say
        self._clock = options.clock
        self._matches: dict[str, Any] = {}
        """The current matches by id."""
        self._over: set[str] = set()
        self._summary = RunSummary(bot)
        self._error: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    @abstractmethod
    def games(self) -> tuple[str, ...]:
        """The accepted games; for a Python bot, known once it is loaded."""

    @property
    def matches(self) -> tuple[str, ...]:
        """Ids of the current matches."""
        return tuple(self._matches)

    @abstractmethod
    def interrupt(self) -> None:
        """Let running matches finish, or leave."""

    @abstractmethod
    def restart_processes(self) -> None:
        """Replace the bot's processes, also during matches."""

    async def run(self) -> RunSummary:
        """Play until enough is played or `interrupt` is called.

        Raises `BotLoadError` if the bot cannot be started or ends again and again, and
        `ClientError` if the server does not let it in.
        """
        try:
            await self._begin()
            async with aclosing(self._client.messages()) as messages:
                async for message, arrived in messages:
                    self._handle(message, arrived)
                    if self._error is not None:
                        break
        finally:
            await self._shut_down()
        if self._error is not None:
            raise self._error
        return self._summary

    @abstractmethod
    async def _begin(self) -> None:
        """Start the processes."""

    @abstractmethod
    def _handle(self, message: ServerMessage | Connected | Disconnected, arrived: int) -> None:
        """Take a message of the server, or a change of the connection."""

    @abstractmethod
    async def _shut_down(self) -> None:
        """End the tasks and the processes."""

    def _record(self, match: str, result: SeatResult) -> None:
        """Note the result of a match, which is over."""
        self._matches.pop(match, None)
        self._over.add(match)
        self._summary.results.append(result)
        self._say(f"match {match}: {verdict(result)}")
        if self._options.on_result is not None:
            self._options.on_result(result)

    def _enough(self, count: int) -> bool:
        """Return whether the run is to end after so many matches."""
        return self._options.matches is not None and count >= self._options.matches

    def _leave(self) -> None:
        self._spawn(self._client.leave())

    def _fail(self, error: BaseException) -> None:
        """Leave; the run raises the first error that it meets."""
        self._error = self._error or error
        self._leave()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _cancel_tasks(self) -> None:
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
