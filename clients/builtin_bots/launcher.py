"""Start the built-in bots of ``plyhouse serve`` when someone wants to play against one.

The server imports no search and starts no bots, so this module is outside of it.  One process
runs all levels (`plyhouse.clients.builtin_bots.process`).  It starts with the first bot that is
needed, and again if it dies.  A bot without matches stops after `IDLE_SECONDS`.

A bot is needed if somebody asks for it, or if a running match waits for it.  That happens after a
restart of the server, and in a cluster under a new leader.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import Final

from plyhouse.protocol.api.bodies import MOST_OF_A_LEVEL
from plyhouse.server.accounts.builtin_bots import (
    NoBuiltinBot,
    builtin_player,
    builtin_token,
)
from plyhouse.server.competition_rules.reference_baselines import BUILTIN_LEVELS, level_of
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.jobs.periodic import Periodic

log = logging.getLogger("plyhouse.house_bots")

LEVELS: Final = BUILTIN_LEVELS
LABEL: Final = "bots of the house"
"""The token with which they log in."""
IDLE_SECONDS: Final = 900.0
"""How long a bot stays without a match."""
START_SECONDS: Final = 20.0
"""How long a bot may take to be there, on a machine that is busy."""
POLL: Final = 0.02
LOOK_SECONDS: Final = 1.0
"""Time between two looks for matches that wait for a bot."""
NUMBERS: Final = tuple([str(number) for number in range(2, MOST_OF_A_LEVEL + 1)])
"""Numbers that may follow the level in the name of a bot."""
PAUSES: Final = (0.2, 1.0, 5.0, 30.0)
"""Seconds between the death of the process and its next start, after each death in a row."""
WELL_SECONDS: Final = 60.0
"""A process that has lived for so long was all right."""
STOP_SECONDS: Final = 5.0


class StartedBots:
    """The process of the bots, and what was asked of it; a `BuiltinBots` of the server."""

    levels = LEVELS

    def __init__(self, hub: Hub, address: str) -> None:
        """``address`` is where bots connect to the server."""
        self._hub = hub
        self._address = address
        self._process: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._wanted: set[str] = set()
        self._starting = asyncio.Lock()
        self._player = ""
        self._token = ""
        self._closed = False
        self._looks = Periodic(self.look, LOOK_SECONDS, "look for waiting matches", log)

    @property
    def pid(self) -> int:
        """The process of the bots; 0 if there is none now."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else 0

    async def ready(self, level: str, number: int = 1) -> str:
        """See to it that a bot is connected, and return its name; raises `NoBuiltinBot`.

        ``number`` counts the bots of a level that sit at one table.
        """
        await self._begin()
        bot = level if number == 1 else f"{level}-{number}"
        name = f"{self._player}/{bot}"
        if self._hub.directory.find(name) is None:
            self._wanted.add(bot)
            until = time.monotonic() + START_SECONDS
            while self._hub.directory.find(name) is None:
                self._ask(bot)  # Again and again, because it may be about to leave.
                if time.monotonic() > until or self._closed:
                    raise NoBuiltinBot(f"{name} could not be started: the server's log says why.")
                await asyncio.sleep(POLL)
        return name

    def keep(self) -> None:
        """From now on, start the bots for which running matches wait."""
        self._looks.start()

    async def look(self) -> None:
        """Start the bots for which running matches wait."""
        if waited_for := await self._waited_for():
            await self._begin()
        for bot in waited_for:
            if bot not in self._wanted:
                log.info("built-in bot starts for a running match", extra={"bot": bot})
            self._wanted.add(bot)
            self._ask(bot)

    async def wake(self, names: Sequence[str]) -> None:
        """Start those of the named bots that are built-in ones; raises `NoBuiltinBot`."""
        for name in names:
            player, _, bot = name.casefold().partition("/")
            level, _, number = bot.partition("-")
            if level not in LEVELS or (number and number not in NUMBERS):
                continue
            if player == (await builtin_player(self._hub.store)).name.casefold():
                await self.ready(level, int(number or 1))

    async def close(self) -> None:
        """End the process, and with it the bots."""
        self._closed = True
        await self._looks.close()
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _waited_for(self) -> list[str]:
        """Return the names of the absent bots that hold a seat outside of competitions.

        Runners host the built-in bots of competitions.
        """
        directory = self._hub.directory
        if not directory.leads:
            return []
        absent = []
        for each in tuple(directory.presences.values()):
            matches = [directory.summary(match) for match in each.matches]
            if (
                not each.online
                and level_of(each.bot) in LEVELS
                and any(match is not None and match.tournament is None for match in matches)
                and await self._hub.registration.is_builtin(each.player_id)
            ):
                absent.append(each.bot)
        return absent

    async def _begin(self) -> None:
        """Start the process of the bots, unless it was started."""
        async with self._starting:
            if self._watcher is None and not self._closed:
                await self._prepare()
                self._watcher = asyncio.create_task(self._watch())

    async def _prepare(self) -> None:
        """Find or make the player of the bots, with a token that is good for this run."""
        row, self._token = await builtin_token(self._hub.store, LABEL)
        self._player = row.name

    def _ask(self, bot: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None and process.returncode is None:
            with contextlib.suppress(OSError):  # It has just died: ask the next one again.
                process.stdin.write(f"{bot}\n".encode())

    async def _watch(self) -> None:
        """Start the process, and again whenever it dies."""
        deaths = 0
        while True:
            began = time.monotonic()
            try:
                await self._live()
            except OSError as error:
                log.error("built-in bots not started", extra={"why": str(error)})
            if time.monotonic() - began > WELL_SECONDS:
                deaths = 0
            pause = PAUSES[min(deaths, len(PAUSES) - 1)]
            deaths += 1
            log.warning("built-in bots ended", extra={"again_s": pause})
            await asyncio.sleep(pause)

    async def _live(self) -> None:
        """One life of the process."""
        kept = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_TOKEN"}
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "plyhouse.clients.builtin_bots.process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=kept,
            # Ctrl-C is for the server, which ends its bots after it has told the players.
            start_new_session=True,
        )
        if process.stdin is None or process.stderr is None:
            raise RuntimeError("a pipe that was asked for is missing")
        # On standard input, where no other user of the machine can read the token.
        first = {"server": self._address, "token": self._token, "idle": IDLE_SECONDS}
        process.stdin.write(json.dumps(first).encode() + b"\n")
        for bot in sorted(self._wanted):
            self._ask(bot)
        while line := await process.stderr.readline():
            log.debug("%s", line.decode(errors="replace").rstrip())
        await process.wait()
