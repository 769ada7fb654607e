"""The opponents of an examined bot: they answer at once with random legal actions, or give up."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.client.client import Client, ClientError, Introduction
from plyhouse.protocol.messages import Act, ClientMessage, MatchMessage, Ready, Resign, Turn

__all__ = ["ScriptedOpponent", "oppose"]


@dataclass(slots=True)
class ScriptedOpponent:
    """The behaviour of an opponent."""

    resigns: bool = False
    """Gives up at its first turn instead of playing."""
    rng: random.Random = field(default_factory=lambda: random.Random(20260101))


async def oppose(
    connector: Connector, token: str, name: str, script: Callable[[], ScriptedOpponent]
) -> None:
    """Play all matches by the current script, until cancelled."""
    client = Client(connector, Introduction(token, bot=name, max_matches=1000))
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async with aclosing(client.messages()) as messages:
        async for message, _ in messages:
            match message:
                case MatchMessage(snapshot=snapshot) if snapshot.status == "waiting":
                    spawn(_ask(client, partial(_ready, snapshot.match)))
                case Turn() if script().resigns:
                    spawn(_ask(client, partial(_resign, message.match)))
                case Turn(match=match, ply=ply, observation=seen):
                    action = script().rng.choice(seen["legal"])
                    spawn(_ask(client, partial(_act, match, ply, action)))
                case _:
                    pass


async def _ask(client: Client, build: Callable[[int], ClientMessage]) -> None:
    with contextlib.suppress(ClientError):  # the match may be over
        await client.request(build, repeat=True)


def _ready(match: str, number: int) -> Ready:
    return Ready(number, match)


def _resign(match: str, number: int) -> Resign:
    return Resign(number, match)


def _act(match: str, ply: int, action: str, number: int) -> Act:
    return Act(number, match, ply, action)
