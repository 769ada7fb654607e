"""A match that did not end by the rules: the public view, and the author's."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from plyhouse.protocol.messages import Resign
from plyhouse.server.results.voiding import void_match
from plyhouse.storage.rows import By

from .browser import Page, sign_in
from .conftest import Bot, House
from .test_play import challenged

TRACEBACK = "Traceback ...\nmybot.py, line 7, in choose\nZeroDivisionError: division <by> zero"
OLGA = By("olga", "wrong <rules>")


async def crashed(house: House) -> tuple[Bot, Bot]:
    """A match of tic_tac_toe that the bot of the first seat has lost by failing."""
    first, second = await house.pair("tic_tac_toe")
    await first.act("a1")
    await second.act("b2")
    first.send(Resign, first.match, "bot_crash", TRACEBACK)
    await first.finish()
    return first, second


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize("game", ["tic_tac_toe", "kuhn_poker", "battleship", "pig"])
async def test_the_last_position_of_a_resigned_match_has_nobody_to_move(
    house: House, game: str
) -> None:
    first, _ = await house.pair(game)
    first.resign()
    await first.finish()
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        for seat in ("", "?seat=0", "?seat=1"):
            frames = (await web.get(f"/replay{seat}")).json()["frames"]
            last = frames[-1]["scene"]
            assert last.get("seat_to_move") is None
            assert last["status"] == "The match is over"
            assert not re.search(r'"action": "', json.dumps(last)), "nothing can be done any more"


async def test_the_positions_before_it_still_have_somebody_to_move(house: House) -> None:
    first, _ = await crashed(house)
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        frames = (await web.get("/replay")).json()["frames"]
        part = (await web.get("/replay?first=0&limit=2")).json()["frames"]
    assert [each["scene"].get("seat_to_move") for each in frames] == [0, 1, None]
    assert part == frames[:2]


async def test_a_page_shows_that_nobody_is_to_move(house: House, page: Page) -> None:
    first, _ = await crashed(house)
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('#where')?.textContent === '2 / 2'")
    assert "The match is over" in await page.evaluate(
        "document.querySelector('.status').textContent"
    )
    assert not await page.evaluate("document.querySelector('#seats [aria-current=true]') !== null")


async def test_what_a_crashed_bot_left_is_for_its_author_alone(house: House) -> None:
    first, second = await crashed(house)
    player, opponent = (bot.name.partition("/")[0] for bot in (first, second))
    await house.hub.store.add_player("olga")
    organiser = await house.hub.store.add_token("olga", ["organise"])
    path = f"/api/v1/matches/{first.match}/detail"
    async with httpx.AsyncClient(base_url=house.url) as web:
        own = await web.get(path, headers=bearer(await house.token(player)))
        assert own.status_code == 200, own.text
        assert own.json() == {
            "match": first.match,
            "ply": 2,
            "seat": 0,
            "termination": "bot_crash",
            "reason": own.json()["reason"],
            "detail": TRACEBACK,
        }
        assert own.headers["cache-control"] == "no-store"
        answers = [
            await web.get(path),
            await web.get(path, headers=bearer("ply_wrong")),
            await web.get(path, headers=bearer(await house.token(opponent))),
            await web.get(path, headers=bearer(organiser)),
        ]
        assert [(each.status_code, each.json()["code"]) for each in answers] == [
            (401, "auth/required"),
            (401, "auth/bad_token"),
            (403, "match/not_yours"),
            (403, "auth/scope"),
        ]
        public = [f"/api/v1/matches/{first.match}{part}" for part in ("", "/record", "/replay")]
        for shown in (*public, f"/matches/{first.match}"):
            assert "ZeroDivisionError" not in (await web.get(shown)).text, shown


async def test_who_caused_nothing_and_who_asks_too_early_is_told_so(house: House) -> None:
    first, second = await house.pair("tic_tac_toe")
    player = first.name.partition("/")[0]
    async with httpx.AsyncClient(
        base_url=house.url, headers=bearer(await house.token(player))
    ) as web:
        early = await web.get(f"/api/v1/matches/{first.match}/detail")
        second.resign()
        await first.finish()
        late = await web.get(f"/api/v1/matches/{first.match}/detail")
        unknown = await web.get("/api/v1/matches/nope/detail")
    assert (early.status_code, early.json()["code"]) == (409, "match/not_over")
    assert (late.status_code, late.json()["code"]) == (403, "match/not_yours")
    assert unknown.status_code == 404


async def test_an_author_who_is_signed_in_sees_it_on_the_page(house: House, page: Page) -> None:
    first, second = await crashed(house)
    await page.go(f"{house.url}/matches/{first.match}")
    for bot, seen in ((second, False), (first, True)):
        token = await house.token(bot.name.partition("/")[0])
        await sign_in(page, token)
        await page.go(f"{house.url}/matches/{first.match}")
        await page.until("document.querySelector('#where')?.textContent === '2 / 2'")
        await page.until("document.querySelector('#detail')?.dataset.asked === '1'")
        shown = await page.evaluate("document.querySelector('#detail').textContent")
        assert ("division <by> zero" in shown) is seen


async def void(house: House) -> tuple[str, httpx.Response, dict[str, Any]]:
    match = await house.play("tic_tac_toe", "a1 a2 b1 b2 c1")
    await void_match(house.hub.store, match, OLGA)
    async with httpx.AsyncClient(base_url=house.url) as web:
        shown = await web.get(f"/matches/{match}")
        record = (await web.get(f"/api/v1/matches/{match}/record")).json()
    return match, shown, record


async def test_a_match_made_void_says_why_on_its_page_and_in_its_record(house: House) -> None:
    _, shown, record = await void(house)
    assert "Void, it counts nowhere: wrong &lt;rules&gt;" in shown.text
    assert record["void_reason"] == "wrong <rules>"


async def test_a_page_with_a_script_says_so_too(house: House, page: Page) -> None:
    match, _, _ = await void(house)
    await page.go(f"{house.url}/matches/{match}")
    await page.until("document.querySelector('#outcome')?.textContent !== ''")
    told = await page.evaluate("document.querySelector('#outcome').textContent")
    assert "Void, it counts nowhere: wrong <rules>" in told
    assert "wins" in told


async def test_a_void_match_is_marked_in_every_list_and_others_are_not(house: House) -> None:
    match, _, _ = await void(house)
    good = await house.play("tic_tac_toe", "a1 a2 b1 b2 c1")
    async with httpx.AsyncClient(base_url=house.url) as web:
        for path in ("/", "/matches"):
            text = (await web.get(path)).text
            rows = {
                each: re.search(rf"<tr>(?:(?!</tr>).)*{each}.*?</tr>", text, re.DOTALL)
                for each in (match, good)
            }
            voided, counted = rows[match], rows[good]
            assert voided is not None, path
            assert "<s>+1 : \N{MINUS SIGN}1</s> void" in voided[0]
            assert counted is not None, path
            assert "void" not in counted[0]


async def test_why_a_match_ended_is_a_sentence_of_its_own(house: House, page: Page) -> None:
    first, _ = await crashed(house)
    async with httpx.AsyncClient(base_url=house.url) as web:
        plain = (await web.get(f"/matches/{first.match}")).text
    assert re.search(r"<p>Bot crash\. Seat 1 \([^)]*\) failed at ply 3\.</p>", plain)
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('#outcome')?.textContent !== ''")
    told = await page.evaluate("document.querySelector('#outcome').textContent")
    assert re.search(r"as the other's bot failed\. Seat 1 \(", told), told


def held(frames: list[dict[str, Any]]) -> list[str | None]:
    """The cards before the seats in the last of these positions."""
    hands = [each for each in frames[-1]["scene"]["elements"] if each["kind"] == "hand"]
    return [card["text"] for each in hands if "seat" in each for card in each["cards"]]


async def test_hands_of_all_seats_are_open_together_after_the_end_only(house: House) -> None:
    first, second = await house.pair("kuhn_poker")
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        await first.act("bet")
        early = await web.get("/replay?all_hands=true")
        assert (early.status_code, early.json()["code"]) == (409, "match/not_over")
        await second.act("fold")
        await first.finish()
        hidden = (await web.get("/replay")).json()["frames"]
        own = [(await web.get(f"/replay?seat={seat}")).json()["frames"] for seat in (0, 1)]
        shown = (await web.get("/replay?all_hands=true")).json()["frames"]
        mine = (await web.get("/replay?seat=1&all_hands=true")).json()["frames"]
    assert held(hidden) == [None, None]
    cards = [held(own[0])[0], held(own[1])[1]]
    assert None not in cards
    assert held(shown) == held(mine) == cards
    assert mine[-1]["scene"]["viewer"] == 1
    dealt = [event["action"] for event in shown[0]["events"]]
    assert dealt == cards, "chance dealt them in the order of the seats"
    assert not any(event.get("action") for event in hidden[0]["events"])


async def test_ships_of_both_seats_are_open_after_the_end(house: House) -> None:
    first, _ = await house.pair("battleship")
    await first.act("a1-a5")
    first.resign()
    await first.finish()
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{first.match}") as web:
        seen = (await web.get("/replay?seat=1")).json()["frames"][-1]["scene"]
        shown = (await web.get("/replay?seat=1&all_hands=true")).json()["frames"][-1]["scene"]

    def ships(scene: dict[str, Any]) -> int:
        return sum(
            cell["shape"] == "ship"
            for grid in scene["elements"]
            if grid["kind"] == "grid"
            for row in grid["rows"]
            for cell in row
        )

    assert (ships(seen), ships(shown)) == (0, 5)


async def test_a_loser_keeps_the_own_cards_and_may_see_all(house: House, page: Page) -> None:
    bot = await challenged(house, page, "leduc_poker", seat=1)
    cards = "[...document.querySelectorAll('.table-top .hand')].map((each) => each.textContent)"
    await page.until("document.querySelector('.near .rank')")
    own = await page.text(".near .rank")
    await page.click('[data-request="resign"]')
    asked = await page.press_again('[data-request="resign"]')
    assert asked == "Really resign? You lose 13 points"
    await bot.finish()
    lost = "You lose by resignation."
    await page.until(f"document.querySelector('#outcome').textContent === {json.dumps(lost)}")
    await page.until("document.querySelector('[data-hands]')")
    for again in (False, True):
        if again:
            await page.tab.reload()
            await page.until("document.querySelector('[data-hands]')")
        assert await page.text(".near .rank") == own, await page.evaluate(cards)
        assert await page.text(".places .rank") == ""
        assert await page.text("#outcome") == lost
    await page.click("[data-hands]")
    await page.until("document.querySelector('.places .rank')")
    assert await page.text(".near .rank") == own
    await page.click("[data-hands]")
    await page.until("!document.querySelector('.places .rank')")
    assert page.errors == []
