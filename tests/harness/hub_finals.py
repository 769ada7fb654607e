"""A competition on a hub without a network, and the bots that play it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Any

from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    MatchMessage,
    MatchSnapshot,
    Ok,
    Ready,
    Resign,
    SeatInfo,
    Welcome,
)
from plyhouse.server.competition_rules.formats import LineState
from plyhouse.server.competitions.finals import finals_of
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.grades.game_tables import GameFinal
from plyhouse.server.match.presence import PRIVATE
from plyhouse.storage import competition_sql, competition_students
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By, Identity

OLGA = By("olga")


ORGANISER = Identity(0, "olga", frozenset({"organise"}), 0)


FILE = 'name = "Cup"\ngames = ["pig"]\ntime_control = "total:60"\nentries_per_student = 2\n'


STAFF = '[[baselines]]\nbot = "staff/b0"\n[[baselines]]\nbot = "staff/b1"\nhidden = true\n'


def told(info: SeatInfo) -> str:
    """Return the name of a seat's bot; opponents do not see that of a hidden baseline."""
    return "staff/b1" if info.player == PRIVATE else f"{info.player}/{info.bot}"


class Course:
    """A server in this process, a class on it, and bots of which the first ones win."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.hub: Hub
        self.tokens: dict[str, str] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.begun: dict[str, MatchSnapshot] = {}
        """Every match that bots were told of, by its id, in order."""
        self.hold = False
        """True if bots do nothing but connect."""
        self.crashing: set[str] = set()
        self.max_matches = 8
        self.most = 0

    async def start(self) -> None:
        self.hub = await Hub.open(ServerConfig(database=self.url))

    async def stop(self) -> None:
        for name in list(self.tasks):
            await self.leave(name)
        await self.hub.close()

    async def restart(self, names: list[str]) -> None:
        """Stop in the middle of the matches, start again, and connect the students' bots."""
        self.hold = True
        await self.stop()
        self.hold = False
        await self.start()
        for name in names:
            await self.connect(name)

    async def open(self, text: str, students: int) -> list[str]:
        """Open a competition, take students in, and connect their bots."""
        if "baselines" in text:
            self.tokens["staff"] = await self._account("staff")
            for bot in ("b0", "b1"):
                await self.connect("staff", bot)
        await self.hub.competitions.open(text, OLGA)
        names = [f"s{number:02}" for number in range(students)]
        people = [NewMember(name, name) for name in names]
        for joined in await self.hub.store.write(
            competition_students.take_in, "Cup", people, OLGA, self.hub.store.now()
        ):
            self.tokens[joined.account] = joined.token
        for name in names:
            await self.connect(name)
        return names

    async def _account(self, name: str) -> str:
        await self.hub.store.add_player(name)
        return await self.hub.store.add_token(name)

    async def connect(self, player: str, bot: str = "bot", version: str = "1", **more: Any) -> None:
        client = BotClient(self.hub.connect(), MSGPACK)
        hello = {
            "games": ["pig", "bridge"],
            "version": version,
            "takeover": True,
            "max_matches": self.max_matches,
            **more,
        }
        welcome = await client.hello(self.tokens[player], bot, **hello)
        assert isinstance(welcome, Welcome), welcome
        name = f"{player}/{bot}"
        self.tasks[name] = asyncio.create_task(self._play(client, welcome, name))

    async def leave(self, name: str) -> None:
        task = self.tasks.pop(name)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def _play(self, client: BotClient, welcome: Welcome, name: str) -> None:
        """Be ready for every match at once; resign those that are this one's as they begin.

        Waiting for the other one of one match alone would leave that of another waiting: two who
        wait for each other would lose by not being ready.
        """
        waiting: list[tuple[Any, ...]] = []
        client.inbox[:0] = [MatchMessage(shown) for shown in welcome.matches]
        try:
            while True:
                if not client.inbox and not waiting:
                    client.inbox.append(await client.receive())
                while client.inbox:
                    message = client.inbox.pop(0)
                    if message is None:
                        return
                    if isinstance(message, MatchMessage):
                        self.most = max(self.most, len(self.hub.directory.own))
                        if resignation := await self._match(client, message.snapshot, name):
                            waiting.append(resignation)
                waiting = [
                    each for each in waiting if not await self._settled(client.ask(Resign, *each))
                ]
                if waiting:
                    await asyncio.sleep(0.01)
        finally:
            await client.close()

    async def _settled(self, answer: Awaitable[Any]) -> bool:
        """Return whether a match is over: the other one may not be ready yet."""
        told = await answer
        return isinstance(told, Ok) or told.code != "match/not_ready"

    async def _match(
        self, client: BotClient, shown: MatchSnapshot, name: str
    ) -> tuple[Any, ...] | None:
        """Be ready for a match; returns the fields of the resignation, if it is this one's."""
        self.begun[shown.match] = shown
        if self.hold or shown.outcome is not None:
            return None
        await client.ask(Ready, shown.match)
        names = {told(each) for each in shown.players}
        failing = self.crashing & names
        if name != max(failing or names):
            return None
        return (shown.match, *(("bot_crash", "it crashed") if failing else ()))

    async def until(self, enough: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await enough():  # noqa: ASYNC110 - the database is asked
                await asyncio.sleep(0.01)

    async def status(self) -> str:
        return (await self.hub.store.read(competition_sql.find, "Cup")).status

    async def finished(self) -> GameFinal:
        async def over() -> bool:
            return await self.status() == "finished"

        await self.until(over)
        (final,) = await finals_of(self.hub.boards, "Cup", ORGANISER)
        return final

    async def final(self) -> GameFinal:
        (final,) = await finals_of(self.hub.boards, "Cup", ORGANISER)
        return final

    async def run(self) -> None:
        await self.hub.store.write(
            competition_sql.move, "Cup", "freeze", OLGA, self.hub.store.now()
        )
        await self.hub.competitions.run("Cup", OLGA)


def places(final: GameFinal) -> dict[str, int | None]:
    return {final.names[line.entry]: line.place for line in final.table}


def states(final: GameFinal) -> set[LineState]:
    return {line.state for each in final.rounds for line in each.lines}
