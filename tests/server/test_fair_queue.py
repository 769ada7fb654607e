"""Long work goes one piece at a time, and a visitor with many pieces keeps others little."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import played
from tests.harness.server import Server

from plyhouse.server.jobs.fair_queue import FairQueue


async def test_one_of_each_visitor_stands_in_line() -> None:
    turns, done = FairQueue(), list[str]()

    async def piece(visitor: str) -> None:
        async with turns.of(visitor):
            await asyncio.sleep(0)
            done.append(visitor)

    many = [asyncio.create_task(piece("many")) for _ in range(50)]
    await asyncio.sleep(0)
    other = asyncio.create_task(piece("other"))
    given_up = asyncio.create_task(piece("other"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(*many, other, given_up, return_exceptions=True)
    assert done.index("other") <= 2
    assert len(done) == 51
    assert not turns._lines
    assert not turns._waiting


@pytest.mark.parametrize("what", ["chances", "replay"])
async def test_long_matches_are_gone_through_one_after_the_other(
    house: Server, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = await played(house, "pig(target=30)")
    real, inside, most = house.hub.helpers.run, 0, 0

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        try:
            return await real(*args, **more)
        finally:
            inside -= 1

    monkeypatch.setattr(house.hub.helpers, "run", counted)
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as web:
        path = f"/api/v1/matches/{match}/{what}"
        answers = await asyncio.gather(*[web.get(path) for _ in range(12)])
    assert {answer.status_code for answer in answers} == {200}
    assert most == 1
