"""A competition, taken to its final over HTTP, with scripted bots that play it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from tests.harness.patience import PATIENCE

from plyhouse.protocol.messages import Error, MatchMessage, MatchSnapshot, Ready, Resign
from plyhouse.server.match.presence import PRIVATE

__all__ = ["HERE", "Course", "Play"]

HERE = "/api/v1/competitions"
Play = Callable[[Any, MatchSnapshot], Awaitable[None]]
"""Plays one match with a client."""


class Course:
    """A competition: its organiser olga, students with one bot each, and staff bots."""

    def __init__(self, house: Any, text: str, name: str = "cup") -> None:
        self.house = house
        self.here = f"{HERE}/{name}"
        self.text = text
        self.tokens: dict[str, str] = {"": ""}
        self.bots: dict[str, Any] = {}
        """Clients by the names of their players."""
        self.tasks: list[asyncio.Task[None]] = []
        self.digests: dict[str, str] = {}
        """The reports of some players' clients about their files."""

    def web(self, who: str = "") -> httpx.AsyncClient:
        """HTTP with the token of somebody."""
        token = self.tokens[who]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=self.house.server.url, headers=headers, timeout=PATIENCE)

    async def get(self, path: str, who: str = "", status: int = 200) -> Any:
        """Return the API's answer below the competition's address."""
        async with self.web(who) as web:
            answer = await web.get(f"{self.here}{path}")
        assert answer.status_code == status, answer.text
        return answer.json()

    async def freeze(self, game: str, *students: str, staff: tuple[str, ...] = ()) -> None:
        """Open it, let everybody connect, and freeze it."""
        self.tokens["olga"] = await self.house.token("olga", "organise")
        self.tokens["eve"] = await self.house.token("eve")
        for name in staff:
            self.tokens[name] = await self.house.token(name)
            await self._connect(name, game)
        async with self.web("olga") as api:
            made = await api.post(HERE, json={"file": self.text})
            assert made.status_code == 201, made.text
            csv = "\n".join(["name", *students])
            joined = await api.post(f"{self.here}/students", json={"csv": csv})
            self.tokens |= {each["name"]: each["token"] for each in joined.json()}
            for name in students:
                await self._connect(name, game)
            await api.post(f"{self.here}/freeze", json={})

    async def _connect(self, name: str, game: str) -> None:
        self.bots[name] = client = await self.house.client()
        fields = {"games": [game], "max_matches": 50, "digest": self.digests.get(name, "")}
        welcome = await client.hello(self.tokens[name], "bot", **fields)
        assert not isinstance(welcome, Error), welcome

    async def begin(self) -> None:
        """Begin the final."""
        async with self.web("olga") as api:
            begun = await api.post(f"{self.here}/run", json={})
            assert begun.status_code == 200, begun.text

    async def play(self, how: Callable[[str], Play] = lambda _: at_random) -> None:
        """Play the final to its end, one match of a bot after the other."""

        async def matches(name: str) -> None:
            client = self.bots[name]
            while True:
                snapshot = (await client.next(MatchMessage)).snapshot
                await client.ask(Ready, snapshot.match)
                await how(name)(client, snapshot)

        await self.begin()
        tasks = [asyncio.create_task(matches(name)) for name in self.bots]
        try:
            async with asyncio.timeout(PATIENCE):
                while (await self.get("", "olga"))["status"] != "finished":
                    for task in tasks:
                        if task.done():
                            task.result()
                    await asyncio.sleep(0.02)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def at_random(client: Any, snapshot: MatchSnapshot) -> None:
    """Play a match at random."""
    await client.play(snapshot, 1)


async def resign(client: Any, snapshot: MatchSnapshot) -> None:
    """Resign a match as soon as both bots are ready."""
    while isinstance(answer := await client.ask(Resign, snapshot.match), Error):
        assert answer.code == "match/not_ready", answer
        await asyncio.sleep(0.005)


def weaker_resigns(order: list[str]) -> Callable[[str], Play]:
    """The later one in the order resigns."""

    def how(name: str) -> Play:
        async def play(client: Any, snapshot: MatchSnapshot) -> None:
            # The name of hidden entries in these tests; players do not see it.
            names = [
                "secret" if each.player == PRIVATE else each.player for each in snapshot.players
            ]
            others = [order.index(each) for each in names]
            if order.index(name) == max(others):
                await resign(client, snapshot)

        return play

    return how
