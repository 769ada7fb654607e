"""The process in which the built-in bots are run: ``python -m`` this module.

It reads its orders from standard input. The first line has the server's address, the token and the
time that a bot without matches stays, as JSON. Then follows a line for each bot, with its level, or
its level and a number: ``easy``, ``easy-2``.
This process ends with its standard input, so it ends with the server, also after a crash.

The bots run as with ``plyhouse bot run``: over websockets, each in its own process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any, Final

from plyhouse.bots.client.client import ClientError
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.bots.loading import check_spec
from plyhouse.bots.running.python_session import PythonSession, RunOptions
from plyhouse.server.competition_rules.reference_baselines import BUILTIN_LEVELS, level_of

NICENESS: Final = 5
"""How much these bots step back behind everything else on the machine."""


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class _Runs:
    """The bots that are running."""

    def __init__(self, server: str, token: str, idle: float) -> None:
        self._server = server
        self._token = token
        self._idle = idle
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, bot: str) -> None:
        """Run a bot, unless it is running."""
        running = self._tasks.get(bot)
        if running is None or running.done():
            self._tasks[bot] = asyncio.create_task(self._run(bot))

    async def _run(self, bot: str) -> None:
        options = RunOptions(
            bot=bot,
            idle_exit=self._idle,
            takeover=True,
            say=lambda line: _say(f"{bot}: {line}"),
        )
        connector = websocket_connector(self._server, options.codec)
        spec = check_spec(level_of(bot))
        bot_session = PythonSession(spec, connector, self._token, options)
        try:
            await bot_session.run()
        except ClientError as error:  # the server is gone, or knows the token no more
            _say(f"{bot}: {error}")
            os._exit(1)  # The parent starts another process.

    async def stop(self) -> None:
        """End all bots, with the processes in which they think."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    first: dict[str, Any] = json.loads(await reader.readline())
    runs = _Runs(first["server"], first["token"], float(first["idle"]))
    while line := await reader.readline():
        bot = line.decode().strip()
        if level_of(bot) in BUILTIN_LEVELS:
            runs.start(bot)
    await runs.stop()


def main() -> None:
    """Run until standard input ends."""
    with contextlib.suppress(AttributeError, OSError):  # what is rated goes before
        os.nice(NICENESS)
    asyncio.run(_serve())


if __name__ == "__main__":
    main()
