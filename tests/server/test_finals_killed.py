"""A server that is killed in the middle of a Swiss and a knockout, over real sockets."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.course_server import PATIENCE, Bot, CourseServer, account
from tests.harness.zygote import Zygote

HERE = "/api/v1/competitions"
FILE = """
name = "{name}"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "public"
[limits]
matches_at_a_time = 6
[format]
name = "{name}"
"""
PLAYED = {"swiss": 3 * 3 * 2, "knockout": 5 * 2}
"""Matches of six entries, at least."""


@pytest.fixture
async def house(tmp_path: Path, zygote: Zygote) -> AsyncIterator[CourseServer]:
    made = CourseServer(tmp_path, zygote)
    made.start()
    yield made
    made.end(signal.SIGKILL)


async def test_a_swiss_and_a_knockout_survive_a_kill(house: CourseServer) -> None:
    olga = await account(house, "olga", "play", "organise")
    headers = {"Authorization": f"Bearer {olga}"}
    names = [f"s{number}" for number in range(6)]
    tokens: dict[str, str] = {}
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as client:

        async def post(path: str, **body: Any) -> Any:
            answer = await client.post(HERE + path, json=body)
            assert answer.status_code < 300, answer.text
            return answer.json()

        for name in PLAYED:
            await post("", file=FILE.format(name=name))
            for each in await post(
                f"/{name}/students", csv="\n".join(["name", *names]), adopt=["*"]
            ):
                tokens.setdefault(each["account"], each["token"])
        bots = [await Bot(house, tokens[name], "bot", "1", "a").begin() for name in names]
        for name in PLAYED:
            await post(f"/{name}/freeze")
            await post(f"/{name}/run")

    async def progress() -> dict[str, Any]:
        return {name: await house.get(f"{HERE}/{name}", olga) for name in PLAYED}

    async def until(enough: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not enough(await progress()):  # noqa: ASYNC110 - the server is asked
                await asyncio.sleep(0.02)

    def under_way(shown: dict[str, Any]) -> bool:
        return all(view["progress"][0]["finished"] >= 2 for view in shown.values())

    await until(under_way)
    house.end(signal.SIGKILL)
    house.start()
    await until(lambda shown: all(view["status"] == "finished" for view in shown.values()))
    for name, least in PLAYED.items():
        (final,) = await house.get(f"{HERE}/{name}/rounds")
        lines = [line for each in final["rounds"] for line in each["lines"]]
        assert {line["state"] for line in lines} <= {"finished", "bye"}, name
        counted = sum(line["matches"] for line in lines)
        assert counted >= least, name
        view = await house.get(f"{HERE}/{name}", olga)
        listed, before = [], ""
        while page := await house.get(
            f"/api/v1/matches?competition={final['tournament']}&limit=100{before}", olga
        ):
            listed += page
            before = f"&before={page[-1]['match']}"
        assert view["progress"][0]["finished"] == len(listed)
        per_pairing = Counter(each["pairing"] for each in listed)
        assert counted == len(listed), "nothing was played twice"
        assert per_pairing == {line["pairing"]: 2 for line in lines if line["pairing"]}
        assert next(line["place"] for line in final["table"]) == 1
    for bot in bots:
        await bot.stop()
