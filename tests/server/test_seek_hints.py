"""Bots that seek learn why no opponent is found."""

from __future__ import annotations

import itertools
from typing import Any

import httpx
import pytest

from plyhouse.protocol.messages import Challenge, MatchMessage, Notice, Unseek
from plyhouse.server.lobby import lobby
from plyhouse.server.web.api import people
from plyhouse.server.wire.limits import Rate


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeks are looked over without delay."""
    monkeypatch.setattr(lobby, "TELL_SECONDS", 0.0)


async def why(client: Any) -> str:
    notice = await client.next(Notice)
    assert notice.code == "notice/seek_waits"
    return str(notice.message)


async def test_who_seeks_alone_is_told_so_and_what_others_seek(house: Any) -> None:
    one = await house.bot("alice")
    await one.seek("pig", "move:1", rated=True)
    assert await why(one) == (
        "Nobody is found yet for pig, move:1, rated: nobody else seeks anything, and no other "
        "bot is connected."
    )
    two = await house.bot("bob")
    await two.seek("kuhn_poker", "move:2")
    other = await why(two)
    assert "nobody else seeks kuhn_poker; others seek pig, move:1, rated" in other
    assert "nobody else seeks pig; others seek kuhn_poker, move:2, casual" in await why(one)
    three = await house.bot("carol")
    await three.seek("pig", "move:9", rated=True)
    told = await why(three)
    assert "others seek pig only otherwise: pig, move:1, rated" in told
    assert told.startswith("Nobody is found yet for pig, move:9, rated: ")


async def test_own_seeks_of_other_games_are_not_those_of_others(house: Any) -> None:
    one = await house.bot("alice")
    await one.seek("pig", "move:1")
    await why(one)
    await one.seek("nim", "move:1")
    assert "Nobody is found yet for nim, move:1, casual: nobody else seeks anything" in await why(
        one
    )


async def test_own_bots_and_seats_that_are_missing_are_named(house: Any) -> None:
    one, two = await house.bot("alice", "one"), await house.bot("alice", "two")
    await one.seek("pig", "move:1", rated=True)
    await why(one)
    await two.seek("pig", "move:1", rated=True)
    assert "only bots of alice seek this" in await why(two)
    assert "only bots of alice seek this" in await why(one)
    three, four = await house.bot("bob"), await house.bot("carol")
    await three.seek("pig(seats=3)", "move:1")
    await why(three)
    await four.seek("pig(seats=3)", "move:1")
    assert "it takes 3 bots, and 2 are there" in await why(four)


async def test_who_waits_for_others_that_are_busy_is_told_who(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob")
    for client in (one, two):
        await client.seek("pig", "move:60", count=0)
    await one.next(MatchMessage)
    await two.next(MatchMessage)
    three = await house.bot("carol")
    await three.seek("pig", "move:60")
    assert "play as many matches as they take: alice/bot, bob/bot" in await why(three)


async def test_what_has_been_told_is_not_told_again(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob")
    await one.seek("pig", "move:1")
    await why(one)
    for _ in range(3):
        made = await two.seek("kuhn_poker", "move:2")
        await two.ask(Unseek, made.seek)
    await two.seek("pig", "move:1")
    await one.next(MatchMessage)
    told = [each.message for each in one.inbox if isinstance(each, Notice)]
    assert all(first != second for first, second in itertools.pairwise(told))


async def test_seeks_of_one_player_leave_lines_of_the_list_to_others(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "MAX_SEEKS", 3)
    eve, ann = await house.bot("eve"), await house.bot("ann")
    for number in range(1, 6):
        await eve.seek("pig", f"total:{number}")
    await ann.seek("chess")
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        found = (await web.get("/api/v1/seeks")).json()
    assert [each["player"] for each in found] == ["eve/bot", "eve/bot", "ann/bot"]


async def test_hints_at_names_are_limited_for_each_player(house: Any) -> None:
    """Each compares the names of all who are connected, in the event loop."""
    eve, ann = await house.bot("eve"), await house.bot("ann")
    house.hub.lobby._unwanted = Rate(2, 1e-6, house.hub.now)

    async def hinted(client: Any) -> bool:
        answer = await client.ask(Challenge, "anne/bot", "pig", "total:60")
        assert answer.code == "challenge/offline"
        return "Did you mean ann/bot?" in answer.message

    assert [await hinted(eve) for _ in range(3)] == [True, True, False]
    assert await hinted(ann)
