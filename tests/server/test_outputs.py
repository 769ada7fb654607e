"""The output of hosted bots: runners send it, and only authors read it, after the match."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from tests.harness.server import BotClient, Server

from plyhouse.clients.cli.main import main
from plyhouse.protocol.api import calls
from plyhouse.protocol.messages import Finished, Resign
from plyhouse.server.web.request_limits import MAX_BODY

RUNNER = "/api/v1/runner/output"


def told(match: str, bot: int, *lines: Any, **more: Any) -> dict[str, Any]:
    return {"match": match, "bot": bot, "part": "abc-1", "lines": list(lines), **more}


class Web:
    """The API as somebody uses it."""

    def __init__(self, client: httpx.AsyncClient, token: str) -> None:
        self.client = client
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def tell(self, body: Any) -> int:
        return (await self.client.post(RUNNER, json=body, headers=self.headers)).status_code

    async def read(self, match: str) -> Any:
        """Return the text, or the code of the refusal."""
        target = f"/api/v1/matches/{match}/output"
        answer = await self.client.get(target, headers=self.headers)
        found = answer.json()
        return found if answer.status_code == 200 else found["code"]


@pytest.fixture
async def house(open_house: Callable[..., Awaitable[Server]]) -> Server:
    return await open_house(hosted=True)


async def begun(house: Server) -> tuple[str, BotClient, BotClient, list[int]]:
    """A match of alice's bot against bob's, with their ids; the first is to move."""
    clients, snapshots = await house.pair("tic_tac_toe", "total:60")
    names = [info.player for info in snapshots[0].players]
    bots = {each.player: each.bot_id for each in house.hub.directory.presences.values()}
    first, second = clients if names[0] == "alice" else clients[::-1]
    return snapshots[0].match, first, second, [bots["alice"], bots["bob"]]


async def test_only_the_author_reads_it_and_only_after_the_match(house: Server) -> None:
    async with httpx.AsyncClient(base_url=house.server.url) as client:
        match, one, two, (mine, theirs) = await begun(house)
        runner = Web(client, await house.token("lab", "runner"))
        alice, bob = [Web(client, await house.token(name)) for name in ("alice", "bob")]
        staff = Web(client, await house.token("olga", "play", "organise"))
        admin = Web(client, await house.token("root", "admin"))
        cost = [0, 3_000_000, 2_000_000, 500_000]
        lines = [None, "print", "loaded"], [0, "print", "I see X"], [0, "crash", "KeyError: 1"]
        # It moved in the middle of the match: its earlier output was sent already.
        assert await runner.tell(told(match, mine, *lines, costs=[cost], cut=9, cut_at=1)) == 204
        assert await runner.tell(told(match, theirs, [1, "print", "bob's secret"])) == 204
        assert await alice.read(match) == "match/not_over"
        assert await admin.read(match) == "match/not_over"

        await two.send(Resign(7, match))
        await one.next(Finished)
        (found,) = await alice.read(match)
        assert (found["bot"], found["cut"], found["cut_at"]) == ("alice/one", 9, 1)
        assert [tuple(line.values()) for line in found["lines"]] == [tuple(each) for each in lines]
        assert found["costs"] == [{"ply": 0, "wall_ms": 3.0, "cpu_ms": 2.0, "waited_ms": 0.5}]
        assert [line["text"] for line in (await bob.read(match))[0]["lines"]] == ["bob's secret"]
        assert await staff.read(match) == "match/not_yours"
        assert await Web(client, "").read(match) == "auth/required"
        assert len(await admin.read(match)) == 2
        assert await alice.read("nowhere") == "storage/unknown"
        # Told again, and from another machine.
        assert await runner.tell(told(match, mine, *lines)) == 204
        assert len(await alice.read(match)) == 1
        assert await runner.tell(told(match, mine, *lines, part="def-1")) == 204
        assert len(await alice.read(match)) == 2

        listed = (await client.get("/api/v1/outputs", headers=alice.headers)).json()
        assert [(each["match"], each["crashes"], each["result"]) for each in listed] == [
            (match, 2, "W")
        ]
        assert (await client.get("/api/v1/outputs", headers=staff.headers)).json() == []


async def test_from_the_command_line(house: Server, capsys: pytest.CaptureFixture[str]) -> None:
    match, one, two, (mine, _) = await begun(house)
    given = ["--server", house.server.url, "--token", await house.token("alice")]

    async def plyhouse(*arguments: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(main, ["submission", "logs", *arguments, *given])
        return code, *capsys.readouterr()

    async with httpx.AsyncClient(base_url=house.server.url) as client:
        runner = Web(client, await house.token("lab", "runner"))
        lines = (
            [None, "print", "loaded"],
            [0, "print", "red \x1b[31m"],
            [2, "crash", "KeyError: 1\nthe position was:\n. X ."],
        )
        costs = [[0, 3_000_000, 2_000_000, 0], [2, 1_000_000, 1_000_000, 500_000], [4, 1, 1, 0]]
        body = told(match, mine, *lines, costs=costs, cut=77, cut_at=2)
        assert await runner.tell(body) == 204
    code, out, err = await plyhouse(match)
    assert (code, "when it is over" in err) == (4, True)
    code, out, err = await plyhouse()
    assert (code, "Nothing is kept" in err) == (0, True)
    await two.send(Resign(7, match))
    await one.next(Finished)
    code, out, err = await plyhouse(match)
    assert (code, out.splitlines()) == (
        0,
        [
            "alice/one, seat " + out.splitlines()[0][-1],
            "outside of its plies:",
            "  loaded",
            "ply 0: 3.0 ms, 2.0 ms of the processor",
            "  red \\x1b[31m",
            "[... 77 bytes are left out ...]",
            "ply 2: 1.0 ms, 1.0 ms of the processor, 0.5 ms it waited for one",
            "  !! KeyError: 1",
            "  !! the position was:",
            "  !! . X .",
            "ply 4: 0.0 ms, 0.0 ms of the processor",
        ],
    )
    code, out, err = await plyhouse()
    assert match in out
    assert "won" in out
    code, out, err = await plyhouse("--json", "--bot", "ONE")
    assert [(each["match"], each["crashes"]) for each in json.loads(out)] == [(match, 1)]
    code, out, err = await plyhouse(match, "--bot", "another")
    assert (code, out, "Nothing is kept" in err) == (0, "", True)


async def test_what_is_told_of_it_is_checked(house: Server) -> None:
    async with httpx.AsyncClient(base_url=house.server.url) as client:
        match, _, _, bots = await begun(house)
        runner = Web(client, await house.token("lab", "runner"))
        other = Web(client, await house.token("eve"))
        fine = told(match, bots[0], [0, "print", "x"])
        assert await other.tell(fine) == 403
        assert await Web(client, "").tell(fine) == 401
        for body, status in (
            (told("nowhere", bots[0]), 404),
            (told(match, 999_999), 404),
            (told(match, bots[0], [-1, "print", "x"]), 400),
            (told(match, bots[0], [0, "shout", "x"]), 400),
            (told(match, bots[0], part="../x"), 400),
            (told(match, bots[0], *([0, "print", "x" * 15_000] for _ in range(20))), 413),
        ):
            assert await runner.tell(body) == status, body
        assert await runner.tell(fine) == 204


async def test_body_that_is_too_long_is_refused_with_the_limit_of_its_route(
    house: Server,
) -> None:
    headers = {"authorization": f"Bearer {await house.token('lab', 'runner')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        details = {}
        for path in ("/api/v1/runner/sync", "/api/v1/runner/output", "/api/v1/players"):
            answer = await client.post(path, content=b" " * 3_000_000)
            details[path] = answer.status_code, answer.json()["detail"]
    limits = (calls.runner_sync.longest, calls.runner_output.longest, MAX_BODY)
    for (path, detail), most in zip(details.items(), limits, strict=True):
        assert detail == (413, f"The body is too long: at most {most} bytes are read."), path
