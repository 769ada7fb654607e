"""The examples of the guide for other languages are what a server really sends.

A client that knows nothing but the guide goes its way over a socket: it sends the guide's own
frames, with the token and the ids of this server put in, and what comes is held against the
guide's next frame: the same fields, and the same values where the game decides them.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.harness.guide_examples import examples
from tests.harness.patience import PATIENCE
from websockets.asyncio.client import ClientConnection, connect

from plyhouse.protocol.codec import JSON
from plyhouse.protocol.messages import Act, Turn

GUIDE = list(examples())


def shown(kind: str, **fields: Any) -> dict[str, Any]:
    """The guide's first example of a message with these fields."""
    return next(
        each
        for each in GUIDE
        if each["type"] == kind and all(each.get(name) == fields[name] for name in fields)
    )


def shape(value: Any) -> Any:
    """Names of fields and types of values, however many a list has."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        found: list[Any] = []
        for inner in map(shape, value):
            if inner not in found:
                found.append(inner)
        return sorted(found, key=str)
    return "number" if isinstance(value, int | float) and value is not True else type(value)


class Stranger:
    """Sends JSON unchanged and answers pings, without our code."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire
        self.requests = 0

    async def ask(self, frame: dict[str, Any], **own: Any) -> Any:
        await self.wire.send(json.dumps({**frame, **own}))
        answer = await self.next()
        assert answer["re"] == frame["id"]
        return answer

    async def next(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = json.loads(await self.wire.recv())
                if frame["type"] != "ping":
                    return frame
                assert shape(frame) == shape(shown("ping"))
                await self.wire.send(json.dumps({**shown("pong"), "re": frame["id"]}))


def without_times(frame: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that the game decides: not the match's id, nor times of day."""
    events = [{**event, "ms": 0} for event in frame["events"]]
    clocks = [{**clock, "remaining_ms": 0} for clock in frame["clocks"]]
    same = ("type", "ply", "observation")
    return {name: frame[name] for name in same if name in frame} | {
        "events": events,
        "clocks": clocks,
    }


async def test_the_guide_shows_what_is_sent(house: Any) -> None:
    token = await house.token("ada")
    async with connect(house.server.ws_url, subprotocols=["plyhouse.v1+json"]) as wire:  # type: ignore[list-item]
        me = Stranger(wire)
        welcome = await me.ask(shown("hello"), token=token)
        assert shape(welcome) == shape(shown("welcome"))
        same = ("type", "re", "player", "bot", "protocol", "heartbeat_ms", "limits")
        assert {name: welcome[name] for name in same} == {
            name: shown("welcome")[name] for name in same
        }
        answer = await me.ask(shown("seek"))
        assert shape(answer) == shape(shown("ok", re=2))
        bob = await house.bot("bob", "random")
        await bob.seek("connect_four", "move:2")
        announced = await me.next()
        example = shown("match")
        assert shape(announced) == shape(example)
        for name in ("game", "time_control", "seat", "players", "status", "observation", "clocks"):
            assert announced["snapshot"][name] == example["snapshot"][name]
        match = announced["snapshot"]["match"]
        assert await me.ask(shown("ready"), match=match) == shown("ok", re=3)
        await bob.start()

        turn = await me.next()
        act = shown("act")
        await me.ask({**act, "ply": turn["ply"], "action": "4"}, match=match)
        await reply(bob, match, "4")
        turn = await me.next()
        assert shape(turn) == shape(shown("turn"))
        assert without_times(turn) == without_times(shown("turn"))
        accepted = await me.ask(act, match=match)
        assert shape(accepted) == shape(shown("accepted"))
        assert without_times(accepted) == without_times(shown("accepted"))
        ledger = accepted["ledger"]
        parts = ledger["stall_ms"] + ledger["lag_refunded_ms"] + ledger["charged_ms"]
        assert parts == ledger["thought_ms"]

        for column in ("2", "1"):
            await reply(bob, match, "7")
            turn = await me.next()
            await me.ask({**act, "ply": turn["ply"], "action": column}, match=match)
        finished = await me.next()
        assert shape(finished) == shape(shown("finished"))
        assert finished["outcome"] == shown("finished")["outcome"]
        assert await me.ask(shown("bye")) == shown("ok", re=9)
        await wire.wait_closed()
        assert wire.close_code == 1000


async def reply(bot: Any, match: str, action: str) -> None:
    turn = await bot.next(Turn)
    await bot.ask(Act, match, turn.ply, action)


def test_the_ledger_of_the_guide_adds_up() -> None:
    ledger = shown("accepted")["ledger"]
    parts = ledger["stall_ms"] + ledger["lag_refunded_ms"] + ledger["charged_ms"]
    assert parts == ledger["thought_ms"]
    assert shown("accepted")["events"][0]["ms"] == ledger["charged_ms"]


@pytest.mark.parametrize("kind", ["ping", "watch", "match"])
def test_the_other_examples_are_read(kind: str) -> None:
    frame = json.dumps(shown(kind))
    assert (JSON.decode_client if kind != "match" else JSON.decode_server)(frame)
