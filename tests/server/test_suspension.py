"""Versions that forfeit again and again, over real sockets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import legal_action

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import (
    Act,
    Answer,
    Challenge,
    Challenged,
    Error,
    Finished,
    MatchMessage,
    Notice,
    Ok,
    Ready,
    Turn,
)
from plyhouse.server.config import ConfigError, ServerConfig

FILE = 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\nmirrored = false\n'
HERE = "/api/v1/competitions"
GAME = {"games": ["tic_tac_toe"], "max_matches": 4}


def api(house: Any, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=house.server.url, headers=headers)


async def test_forfeits_in_a_row_suspend_until_an_organiser_or_a_new_version(
    open_house: Any,
) -> None:
    house = await open_house(suspend_after=2, suspend_window=2)
    bad, good = [await house.bot(name, version="1", max_matches=1) for name in ("ada", "bob")]
    for client in (bad, good):
        await client.seek("tic_tac_toe", count=0)
    playing = [asyncio.create_task(_keep(bad, "ada")), asyncio.create_task(_keep(good, "bob"))]
    async with api(house, await house.token("olga", "organise")) as olga:
        listed = await until(olga, "/api/v1/suspensions", lambda found: len(found) > 0)
    assert [each["player"] for each in listed] == ["ada"]
    for task in playing:
        task.cancel()
    await asyncio.gather(*playing, return_exceptions=True)
    notice = await bad.next(Notice, code="auth/suspended")
    assert "it forfeited its last 2 matches: 2 times it played an illegal action" in notice.message
    assert len(house.hub.lobby) == 1, "its seek is withdrawn"
    refused = await bad.seek("tic_tac_toe")
    assert isinstance(refused, Error)
    assert refused.code == "auth/suspended"
    async with api(house, await house.token("ada")) as ada:
        (mine,) = (await ada.get("/api/v1/suspensions")).json()
        assert (mine["player"], mine["version"]) == ("ada", "1")
        path = "/api/v1/players/ada/bots/bot/reinstate"
        assert (await ada.post(path, json={"why": "please"})).status_code == 403
    async with api(house, await house.token("bob")) as bob:
        assert (await bob.get("/api/v1/suspensions")).json() == []
    again = await house.client()
    await bad.close()
    await again.hello(await house.token("ada"), "bot", version="1")
    await again.next(Notice, code="auth/suspended")
    await again.close()
    mended = await house.client()
    await mended.hello(await house.token("ada"), "bot", version="2")
    assert not isinstance(await mended.seek("tic_tac_toe"), Error)
    await mended.close()
    back = await house.client()
    await back.hello(await house.token("ada"), "bot", version="1")
    async with api(house, await house.token("olga", "organise")) as olga:
        assert len((await olga.get("/api/v1/suspensions")).json()) == 1
        assert (await olga.post(path, json={"why": "a bad network"})).status_code == 200
        assert (await olga.post(path, json={"why": "twice"})).status_code == 404
    await back.next(Notice, code="notice/reinstated")
    assert not isinstance(await back.seek("tic_tac_toe"), Error)


async def test_forfeits_of_challenges_suspend_nobody(open_house: Any) -> None:
    """A challenger chooses the clock, and could suspend a rival by one of a millisecond."""
    house = await open_house(suspend_after=2, suspend_window=2)
    victim = await house.bot("ada", **GAME)
    rival = await house.bot("bob")
    for _ in range(3):
        await rival.ask(Challenge, "ada/bot", "tic_tac_toe", "total:0.001", seat=1)
        asked = await victim.next(Challenged)
        # It may be answered at once after a forfeit: a bot answers a challenge only once.
        assert isinstance(await victim.ask(Answer, asked.challenge, True), Ok)
        match = (await victim.next(MatchMessage)).snapshot.match
        await asyncio.gather(*(client.ask(Ready, match) for client in (victim, rival)))
        finished = await victim.next(Finished)
        assert (finished.outcome.termination, finished.outcome.seat) == ("flag_fall", 0)
        rival.inbox.clear()
    for client in (victim, rival):
        assert isinstance(await client.seek("tic_tac_toe", count=0), Ok)
    tasks = [asyncio.create_task(_keep(victim, "ada")), asyncio.create_task(_keep(rival, "bob"))]
    async with api(house, await house.token("olga", "organise")) as olga:
        [found] = await until(olga, "/api/v1/suspensions", lambda found: len(found) > 0)
    for task in tasks:
        task.cancel()
    assert found["reason"] == "it forfeited its last 2 matches: 2 times it played an illegal action"


async def test_in_a_final_a_suspended_student_is_withdrawn_and_the_others_play_on(
    open_house: Any,
) -> None:
    house = await open_house(suspend_after=2, suspend_window=2)
    async with api(house, await house.token("olga", "organise")) as olga:
        await olga.post(HERE, json={"file": FILE})
        names = ["ada", "bob", "cy", "dee", "eve", "fay"]
        answer = await olga.post(f"{HERE}/cup/students", json={"csv": "\n".join(["name", *names])})
        tokens = {each["name"]: each["token"] for each in answer.json()}
        clients = {}
        for name in names:
            clients[name] = await house.client()
            await clients[name].hello(tokens[name], "bot", **{**GAME, "max_matches": 1})
        await olga.post(f"{HERE}/cup/freeze", json={})
        tasks = [asyncio.create_task(_keep(client, name)) for name, client in clients.items()]
        await olga.post(f"{HERE}/cup/run", json={})
        view = await until(olga, f"{HERE}/cup", lambda found: found["status"] == "finished")
        for task in tasks:
            task.cancel()
        statuses = {each["entry"]: each["status"] for each in view["entries"]}
        assert statuses["ada/bot"] == "withdrawn"
        assert set(statuses.values()) == {"active", "withdrawn"}
        lines = {each["entry"]: each for each in (await olga.get(f"{HERE}/cup/board")).json()}
        played = lines["ada/bot"]["matches"]
        assert lines["ada/bot"]["forfeits"] == played
        assert played == 2
        assert {lines[f"{name}/bot"]["forfeits"] for name in names[1:]} == {0}
        assert view["progress"][0]["finished"] == 10 + played, "its other pairings are dropped"
        why = (
            "ada/bot was withdrawn from the final, as it is suspended: "
            "it forfeited its last 2 matches: 2 times it played an illegal action."
        )
        assert why in view["warnings"]
        assert why in (await olga.get(f"{HERE}/cup/table")).json()["notes"]
    async with api(house, tokens["ada"]) as ada:
        assert why in (await ada.get(f"{HERE}/cup/report")).json()["notes"]
    async with api(house, await house.token("olga", "organise")) as olga:
        until_later = {"student": "ada", "until": "2999-01-01T00:00:00Z", "why": "once more"}
        assert (await olga.post(f"{HERE}/cup/extend", json=until_later)).status_code < 300
        mended = await house.client()
        await mended.hello(tokens["ada"], "bot", **{**GAME, "version": "2"})
        view = (await olga.get(f"{HERE}/cup")).json()
        (entry,) = [each for each in view["entries"] if each["entry"] == "ada/bot"]
        assert (entry["status"], entry["next_version"]) == ("active", "2"), "a rerun plays with it"


async def test_status_names_entries_that_were_suspended_before_the_final(open_house: Any) -> None:
    house = await open_house(suspend_after=2, suspend_window=2)
    file = FILE + 'board = "public"\n[[baselines]]\nbot = "ada/bot"\ngrade = "pass"\n'
    async with api(house, await house.token("olga", "organise")) as olga:
        clients = {"ada": await house.bot("ada", max_matches=1)}
        await olga.post(HERE, json={"file": file})
        answer = await olga.post(f"{HERE}/cup/students", json={"csv": "name\nbob\ncy\ndee"})
        for row in answer.json():
            clients[row["name"]] = await house.client()
            await clients[row["name"]].hello(row["token"], "bot", **{**GAME, "max_matches": 1})
        for client in clients.values():
            await client.seek("tic_tac_toe", count=0)
        tasks = [
            asyncio.create_task(_keep(client, "ada" if name in ("ada", "dee") else name))
            for name, client in clients.items()
        ]
        view = await until(olga, f"{HERE}/cup", lambda found: len(found["warnings"]) == 2)
        for task in tasks:
            task.cancel()
    baseline, student = sorted(view["warnings"])
    assert baseline.startswith("ada/bot is suspended: it forfeited its last 2 matches")
    assert "The final does not begin without it" in baseline
    assert student.startswith("dee/bot is suspended: it forfeited its last 2 matches")
    assert "The final begins without it" in student


async def until(client: httpx.AsyncClient, path: str, done: Callable[[Any], bool]) -> Any:
    """Return the value at a path once it is as expected."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await client.get(path)).json()
            if done(found):
                return found
            await asyncio.sleep(0.02)


async def _keep(client: Any, name: str) -> None:
    """Play every match: ada breaks the rules, the others play at random."""
    game, rng = get_game("tic_tac_toe"), random.Random(name)
    while True:
        match = (await client.next(MatchMessage)).snapshot
        await client.ask(Ready, match.match)
        while not isinstance(message := await client.next_of(match.match), Finished):
            if isinstance(message, Turn):
                action = "zz" if name == "ada" else legal_action(message, game, rng)
                await client.ask(Act, match.match, message.ply, action)


def test_a_window_that_is_too_small_is_no_setting() -> None:
    with pytest.raises(ConfigError, match="suspend_window"):
        ServerConfig(suspend_after=5, suspend_window=4)
