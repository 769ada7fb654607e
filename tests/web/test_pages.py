"""Pages, replays and spectators without a browser: what the server hands out, and to whom."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

import httpx

from plyhouse.protocol.messages import Accepted, Act, Resign, Seek, Turn, Watch
from plyhouse.server.web.client import address

from .conftest import House

FOUR = "1 1 2 2 3 3 4"


async def test_pages_work_without_a_script_and_keep_to_a_strict_policy(house: House) -> None:
    match = await house.play("connect_four", FOUR)
    first, _ = await house.pair("pig")
    async with httpx.AsyncClient(base_url=house.url) as web:
        pages = {
            path: await web.get(path)
            for path in (
                *("/", "/matches", f"/matches/{match}", "/leaderboards/connect_four", "/api"),
                *("/games", "/games/connect_four"),
            )
        }
        missing = [
            await web.get(path) for path in ("/matches/none", "/leaderboards/none", "/games/none")
        ]
    for path, answer in pages.items():
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "<style" not in answer.text
        assert "style=" not in answer.text
    assert f'href="/matches/{first.match}"' in pages["/matches"].text
    assert f'href="/matches/{match}"' in pages["/"].text
    assert "alice/bot" in pages["/leaderboards/connect_four"].text
    assert "alice/bot" in pages[f"/matches/{match}"].text
    assert 'href="/games/connect_four"' in pages[f"/matches/{match}"].text
    assert "drops one disc into a column" in pages["/games/connect_four"].text
    assert "Click or tap a spot" in pages["/games/connect_four"].text
    assert f'href="/matches/{match}"' in pages["/games/connect_four"].text
    for answer in missing:
        assert (answer.status_code, answer.headers["content-type"]) == (
            404,
            "text/html; charset=utf-8",
        )


async def test_errors_are_pages_for_people_and_json_for_programs(house: House) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with httpx.AsyncClient(base_url=house.url) as web:
        for path, status in (("/nothing/here", 404), ("/leaderboards/pig?limit=x", 400)):
            person = await web.get(path, headers=browser)
            program = await web.get(path)
            assert (person.status_code, program.status_code) == (status, status)
            assert program.headers["content-type"] == "application/problem+json"
            assert person.headers["content-type"] == "text/html; charset=utf-8"
            assert program.json()["detail"] in unescape(person.text)
            assert '<a href="/play">' in person.text
        api = await web.get("/api/v1/nothing", headers=browser)
        posted = await web.post("/nothing/here", headers=browser)
    for answer in (api, posted):
        assert answer.headers["content-type"] == "application/problem+json"


async def test_every_link_and_file_that_a_page_names_is_there(house: House) -> None:
    await house.play("connect_four", FOUR)
    await house.pair("pig")
    asked, left = set[str](), ["/"]
    async with httpx.AsyncClient(base_url=house.url) as web:
        while left:
            asked.add(path := left.pop())
            answer = await web.get(path)
            assert answer.status_code == 200, path
            if answer.headers["content-type"].startswith("text/html"):
                named = re.findall(r'(?:href|src)="([^"#]+)"', answer.text)
                found = {urljoin(str(answer.url), unescape(each)) for each in named}
                left += {url.removeprefix(house.url) for url in found} - asked - set(left)
    assert {"/matches", "/play", "/api", address("plyhouse.css"), address("pages/play.js")} <= asked
    assert any(path.endswith("/record") for path in asked)


async def test_a_replay_comes_in_parts(house: House) -> None:
    match = await house.play("connect_four", FOUR)
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches") as web:
        whole = (await web.get(f"/{match}/replay")).json()
        part = (await web.get(f"/{match}/replay?first=3&limit=2")).json()
        beyond = await web.get(f"/{match}/replay?seat=2")
    assert [frame["ply"] for frame in whole["frames"]] == list(range(8))
    actions = [event["action"] for frame in whole["frames"] for event in frame["events"]]
    assert actions == FOUR.split()
    assert part["frames"] == whole["frames"][3:5]
    assert (part["plies"], part["open"]) == (7, True)
    assert beyond.status_code == 404


async def test_what_seats_saw_is_open_when_the_pairing_is_over(house: House) -> None:
    first, second = await house.pair("kuhn_poker")
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        running = (await web.get("/replay")).json()
        refused = await web.get("/replay?seat=0")
        await first.act("check")
        await second.act("check")
        await first.finish()
        seen = (await web.get("/replay?seat=0")).json()
    deal = running["frames"][0]["events"]
    assert [event.get("action") for event in deal] == [None, None]
    assert (refused.status_code, refused.json()["code"]) == (409, "match/not_over")
    own, other = (event.get("action") for event in seen["frames"][0]["events"])
    assert own in ("J", "Q", "K")
    assert other is None


async def test_without_an_account_one_may_watch_and_do_nothing_else(house: House) -> None:
    first, _ = await house.pair("pig")
    spectator = await house.spectator()
    assert (await spectator.ask(Watch, first.match)).snapshot.seat is None
    for kind, *fields in ((Seek, "pig", "move:1"), (Resign, first.match)):
        assert (await spectator.ask(kind, *fields)).code == "auth/required"


async def test_what_bots_thought_is_told_when_the_pairing_is_over(house: House) -> None:
    first, second = await house.pair("kuhn_poker")
    for bot, ply in ((first, 0), (second, 1)):
        if ply:
            async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches") as web:
                for path in ("/replay", ""):
                    assert "of mine" not in (await web.get(f"/{first.match}{path}")).text
                assert (await web.get(f"/{first.match}/record")).status_code == 409
        turn = await bot._next(Turn)
        said = {"value": -0.5, "text": f"card of mine {ply}"}
        bot.send(Act, bot.match, turn.ply, "check", said)
        await bot._next(Accepted)
    await first.finish()
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        seen = {
            seat: [
                frame["info"] and frame["info"]["text"]
                for frame in (await web.get(f"/replay{seat}")).json()["frames"]
            ]
            for seat in ("", "?seat=0", "?seat=1")
        }
        record = (await web.get("/record")).json()
    assert seen[""] == [None, "card of mine 0", "card of mine 1"]
    assert seen["?seat=0"] == [None, "card of mine 0", None]
    assert seen["?seat=1"] == [None, None, "card of mine 1"]
    told = [event["info"]["value"] for event in record["events"] if "info" in event]
    assert told == [-0.5, -0.5]
