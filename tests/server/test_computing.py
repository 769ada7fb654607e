"""Computing for visitors takes few threads, and a visitor with much of it keeps nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.harness.finals import Course

from plyhouse.server.jobs import fair_queue
from plyhouse.server.jobs.fair_queue import AT_ONCE, VISITOR, computed

FILE = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "public"
"""


async def test_visitor_with_much_to_compute_has_one_of_few_threads() -> None:
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    began: list[str] = []
    lock, go_on = threading.Lock(), threading.Event()

    def work(name: str) -> None:
        with lock:
            began.append(name)
            running[name] += 1
            most[name] = max(most[name], running[name])
            most["all"] = max(most["all"], sum(running.values()))
        go_on.wait()
        with lock:
            running[name] -= 1

    async def visit(name: str) -> None:
        VISITOR.set(name)
        await computed(work, name)

    tasks = [asyncio.create_task(visit("many")) for _ in range(20)]
    tasks += [asyncio.create_task(visit(name)) for name in ("one", "two")]
    while len(began) < AT_ONCE:  # noqa: ASYNC110 - threads tell nobody
        await asyncio.sleep(0)
    assert began == ["many", "one"]
    assert await asyncio.to_thread(lambda: "server") == "server", "it has threads of its own"
    go_on.set()
    await asyncio.gather(*tasks)
    assert most == {"many": 1, "one": 1, "two": 1, "all": AT_ONCE}
    assert began.index("two") <= 3


async def test_work_counts_for_the_account_and_without_one_for_the_address(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class behind one address does not wait for the one who asks again and again."""
    cup = Course(house, FILE)
    await cup.freeze("tic_tac_toe", "ada", "bob")
    seen: list[Any] = []
    real = fair_queue.computed_for

    async def noted(whom: Any, work: Callable[[], Any]) -> Any:
        seen.append(whom)
        return await real(whom, work)

    monkeypatch.setattr(fair_queue, "computed_for", noted)
    queue = house.hub.helpers.queue
    lines: list[Any] = []
    turn = queue.of

    def line(visitor: Any) -> Any:
        lines.append(visitor)
        return turn(visitor)

    monkeypatch.setattr(queue, "of", line)
    ids = {}
    for name in ("ada", "bob"):
        ids[name] = (await house.hub.store.authenticate(cup.tokens[name])).player_id
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        for headers, whom in (
            ({"authorization": f"Bearer {cup.tokens['ada']}"}, ids["ada"]),
            ({"authorization": f"Bearer {cup.tokens['bob']}"}, ids["bob"]),
            ({}, "127.0.0.1"),
        ):
            seen.clear()
            lines.clear()
            answer = await web.get("/api/v1/competitions/cup/table", headers=headers)
            assert answer.status_code == 200, answer.text
            assert seen
            assert set(seen) == {whom}
            await web.get("/api/v1/matches/0/replay", headers=headers)
            assert lines == [whom]
