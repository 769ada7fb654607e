"""Nonces stay secret until every seat has given its own."""

from __future__ import annotations

import asyncio

import httpx
from tests.harness.server import Server

from plyhouse.protocol.messages import MatchMessage, Ready, Turn
from plyhouse.server.results.record import read_record

FIRST, LAST = "deadbeef01", "feedface02"


async def test_record_of_a_waiting_match_hides_the_nonces(house: Server) -> None:
    early, late = await house.bot("alice"), await house.bot("bob")
    for client in (early, late):
        await client.seek("pig")
    match = (await early.next(MatchMessage)).snapshot.match
    await early.ask(Ready, match, FIRST)
    paths = [f"/api/v1/matches/{match}{part}" for part in ("", "/record", "/replay", "/chances")]
    paths += [f"/matches/{match}", f"/embed/{match}"]
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        for path in paths:
            for who in ("", "bob"):
                token = await house.token(who) if who else ""
                headers = {"Authorization": f"Bearer {token}"} if who else {}
                assert FIRST not in (await web.get(path, headers=headers)).text, path
        record = read_record((await web.get(paths[1])).text)
        assert [each.kind for each in record.events] == ["ready"], "who is ready is no secret"
        await late.ask(Ready, match, LAST)
        await asyncio.wait(
            [asyncio.ensure_future(each.next(Turn)) for each in (early, late)],
            return_when=asyncio.FIRST_COMPLETED,
        )
        record = read_record((await web.get(paths[1])).text)
    assert sorted(record.chance.nonces) == [FIRST, LAST]
