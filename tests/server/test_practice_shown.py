"""Where a practice ladder shows: on the page, at the command line and in the API."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.harness.finals import HERE, Course
from tests.harness.patience import PATIENCE

from plyhouse.clients.cli.main import main
from plyhouse.protocol.messages import MatchMessage, Ready

FILE = """
name = "Cup"
games = ["tic_tac_toe", "nim"]
time_control = "total:60"
board = "anonymous"
[practice]
ladder = true
"""


async def until(text: str, look: Callable[[], Awaitable[str]]) -> str:
    """Return the page once it contains a text."""
    async with asyncio.timeout(PATIENCE):
        while text not in (shown := await look()):  # noqa: ASYNC110 - a page is asked again
            await asyncio.sleep(0.05)
    return shown


async def plays(client: Any) -> None:
    while True:
        snapshot = (await client.next(MatchMessage)).snapshot
        await client.ask(Ready, snapshot.match)
        await client.play(snapshot, 1)


async def test_students_and_staff_see_the_ladder_while_it_is_played(
    house: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = Course(house, FILE)
    cup.tokens["olga"] = await house.token("olga", "organise")
    cup.tokens["eve"] = await house.token("eve")

    async def plyhouse(*arguments: str, who: str = "olga") -> str:
        given = ["--server", house.server.url, "--token", cup.tokens[who]]
        code = await asyncio.to_thread(main, ["competition", *arguments, *given])
        shown = capsys.readouterr()
        return f"{code} {shown.out} {shown.err}"

    async with cup.web("olga") as api:
        assert (await api.post(HERE, json={"file": FILE})).status_code == 201
        joined = await api.post(f"{cup.here}/students", json={"csv": "name\nada\nbob\n"})
        cup.tokens |= {each["name"]: each["token"] for each in joined.json()}
        assert "begins when two entries are there" in await plyhouse("status", "Cup")
        said = await plyhouse("standings", "Cup", "--practice")
        assert said.startswith("2 ")
        assert "has no practice ladder" in said
        assert "begins when two entries" in (await api.get("/competitions/Cup")).text
        for name in ("ada", "bob"):
            await cup._connect(name, "tic_tac_toe")
        tasks = [asyncio.create_task(plays(client)) for client in cup.bots.values()]
        try:
            said = await until("matches played", lambda: plyhouse("status", "Cup"))
            assert "Practice ladder: running" in said
            assert "standings 'Cup' --practice" in said
            said = await until("bob/bot", lambda: plyhouse("standings", "Cup", "--practice"))
            assert "Cup (practice)" in said
            assert "In the final, a game that it leaves out counts as 0." in said
            listed = {each["name"]: each for each in (await api.get(HERE)).json()}
            assert listed["Cup"]["practice"] is True
            ladder = listed["Cup (practice)"]
            assert ladder["practice_of"] == listed["Cup"]["competition"]
            async with cup.web("ada") as web:

                async def page_of_ada() -> str:
                    return (await web.get("/competitions/Cup")).text

                page = await until("is in place", page_of_ada)
                assert "ada/bot is in place" in page
                assert "its rank by rating is 1" in page, "places of several games follow no rating"
                assert "All of the ladder" in page
                own = await plyhouse("standings", "Cup", "--practice", who="ada")
            assert "ada/bot" in own
            assert "bob/bot" not in own, "the board is anonymous"
            async with cup.web("eve") as web:
                page = (await web.get("/competitions/Cup")).text
                assert "ada/bot" not in page
                assert "All of the ladder" not in page
        finally:
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)
        frozen = await api.post(f"{cup.here}/freeze", json={})
        assert frozen.status_code == 200, frozen.text
        await until("Practice ladder: finished", lambda: plyhouse("status", "Cup"))
        assert "Practice is over" in (await api.get("/competitions/Cup")).text
