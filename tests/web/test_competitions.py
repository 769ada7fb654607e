"""Pages of competitions: what they show, and to whom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.finals import Course, weaker_resigns
from tests.harness.server import Server

from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.storage import competition_sql
from plyhouse.storage.rows import By

from .browser import Page, sign_in

NAMES = [f"s{number}" for number in range(5)]
FILE = """
name = "Autumn cup"
games = ["connect_four"]
time_control = "total:60"
board = "{board}"
rules = "Be <b>fair</b>."
"""


async def course(hall: Server, board: str) -> Course:
    cup = Course(hall, FILE.format(board=board), "autumn cup")
    await cup.freeze("connect_four", *NAMES)
    return cup


async def test_the_list_and_the_page_of_a_competition(hall: Server) -> None:
    cup = await course(hall, "public")
    async with cup.web() as web:
        listed = await web.get("/competitions")
        before = await web.get("/competitions/autumn cup")
        home = await web.get("/")
    assert "Autumn cup</a>" in home.text
    assert (listed.status_code, before.status_code) == (200, 200)
    assert "Autumn cup</a>" in listed.text
    assert "frozen" in before.text
    await cup.play(weaker_resigns(NAMES))
    async with cup.web() as web:
        found = await web.get("/competitions/autumn cup")
        files = [await web.get(f"/api/v1/competitions/autumn cup/export/{form}")
                 for form in ("csv", "md", "html", "json", "jsonl")]  # fmt: skip
        missing = await web.get("/competitions/none")
        home = await web.get("/")
    assert "Autumn cup" not in home.text  # it is over
    assert found.status_code == 200
    assert found.headers["cache-control"] == "no-store"
    for part in ("s0/bot", "20 of 20 matches", "won everything", 'class="interval"', "heat-10",
                 "Be &lt;b&gt;fair&lt;/b&gt;.", "export/csv"):  # fmt: skip
        assert part in found.text, part
    assert {file.status_code for file in files} == {200}
    assert missing.status_code == 404


async def test_match_of_a_final_is_labelled_as_a_match_of_its_competition(hall: Server) -> None:
    cup = await course(hall, "public")
    await cup.play(weaker_resigns(NAMES))
    made = await hall.hub.store.read(competition_sql.find, "autumn cup")
    async with cup.web() as web:
        match, *_ = (await web.get("/api/v1/matches?limit=1")).json()
        one = (await web.get(f"/api/v1/matches/{match['match']}")).json()
        shown = (await web.get(f"/matches/{match['match']}")).text
    assert (match["kind"], one["kind"]) == ("competition", "competition")
    assert f'<a href="/competitions/{made.id}">{made.name}</a>' in shown
    assert "casual" not in shown
    store = hall.hub.store
    await store.write(competition_sql.move, made.id, "delete", By("olga", "a test"), store.now())
    async with cup.web() as web:
        shown = (await web.get(f"/matches/{match['match']}")).text
    assert made.name not in shown, "the name of a deleted competition is on no page"
    assert "/competitions/" + made.id not in shown


async def test_a_private_page_shows_each_what_it_may_see(hall: Server) -> None:
    cup = await course(hall, "anonymous")
    await cup.begin()
    seen = {}
    for who in ("", "eve", "s4", "olga"):
        async with cup.web(who) as web:
            answer = await web.get("/competitions/autumn cup")
            assert answer.status_code == 200
            seen[who] = answer.text
    for who in ("", "eve"):
        assert "/bot" not in seen[who]
        assert "is for its class" in seen[who]
        assert "Running" not in seen[who]
        assert "export/" not in seen[who]
    assert "s4/bot" in seen["s4"]
    others = [f"{name}/bot" for name in NAMES[:4]]
    running = seen["s4"].partition("Running")[2]
    board = seen["s4"].partition("Running")[0]
    assert not any(other in board for other in others), "neither in the table nor what waits"
    links = re.findall(r'<a href="/matches/[^"]+" aria-label="Watch: ([^"]+)">', running)
    assert links
    assert all("s4/bot" in link for link in links), "its own matches"
    assert all(other in seen["olga"] for other in others)
    async with httpx.AsyncClient(
        base_url=hall.server.url, headers={"Authorization": "Bearer nonsense"}
    ) as web:
        assert (await web.get("/competitions/autumn cup")).status_code == 401


async def test_competition_without_students_has_page_exports_and_owner(hall: Server) -> None:
    for name in ("one", "two"):
        await hall.bot("dora" if name == "one" else "emil", name, games=["pig"], max_matches=2)
    headers = {"Authorization": f"Bearer {await hall.token('olga', 'organise')}"}
    async with httpx.AsyncClient(base_url=hall.server.url, headers=headers) as web:
        text = round_robin_text("Open", "pig", "total:60", rounds=1, mirrored=True, rated=False)
        body = {"file": text, "entries": ["dora/one", "emil/two"]}
        made: Any = (await web.post("/api/v1/competitions", json=body)).json()
        listed = (await web.get("/competitions")).text
        page = await web.get(f"/competitions/{made['competition']}")
        again = await web.post("/api/v1/competitions", json=body)
        here = "/api/v1/competitions/Open"
        table = (await web.get(f"{here}/export/csv")).text
        staff = (await web.get(f"{here}/staff")).json()
        paused = await web.post(f"{here}/pause", json={})
        shown = (await web.get(here)).json()
    assert "Open</a>" in listed
    assert page.status_code == 200
    assert "dora/one" in page.text
    assert "Standings" in page.text
    assert (again.status_code, again.json()["code"]) == (400, "competition/invalid")
    assert "another name" in again.text
    assert "emil/two" in table
    assert [(each["player"], each["role"]) for each in staff] == [("olga", "owner")]
    assert (paused.json()["status"], shown["status"]) == ("paused", "paused")


@pytest.mark.browser
async def test_a_student_signs_in_and_sees_its_own_line(
    hall: Server, page: Page, pictures: Path | None
) -> None:
    cup = await course(hall, "anonymous")
    await cup.play(weaker_resigns(NAMES))
    url = f"{hall.server.url}/competitions/autumn%20cup"
    await page.go(url)
    assert "is for its class" in await page.text("#standings")
    await sign_in(page, cup.tokens["s4"])
    await page.go(url)
    await page.until("document.querySelector('#standings')?.innerText.includes('s4/bot')")
    text = await page.text("#standings")
    assert "s4/bot" in await page.text("#standings tr.own")
    assert "Place 5, score 0.000" in await page.text("#own-entries")
    assert "s0/bot" not in text
    assert text.count("another entry") >= 3
    # A link of its report leads to its own match, which others do not see.
    own = (await cup.get("/report", "s4"))["lost"][0]
    await page.go(f"{hall.server.url}{own['replay']}")
    await page.until("document.querySelector('#outcome')?.textContent.includes('wins')")
    assert [each for each in page.errors if "404" not in each] == []


@pytest.mark.browser
async def test_the_page_of_a_competition_fits_phone_and_projector(
    hall: Server, page: Page, pictures: Path | None
) -> None:
    cup = await course(hall, "public")
    await cup.play(weaker_resigns(NAMES))
    for size, width, height in (("phone", 390, 844), ("wide", 1440, 900)):
        for dark in (False, True):
            await page.show_as(width, height, dark=dark)
            await page.go(f"{hall.server.url}/competitions/autumn%20cup")
            await page.until("document.querySelector('.cross')")
            words = "document.querySelector('.progress progress + *')?.getClientRects().length"
            assert await page.evaluate(words) == 1, "how far it is stands in one line"
            spare = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert await page.evaluate(spare) <= 0, size
            lines = "[...document.querySelectorAll('#standings td a')].map(a => a.innerText ? "
            lines += "Math.round(a.clientHeight / parseFloat(getComputedStyle(a).lineHeight)) : 0)"
            assert set(await page.evaluate(lines)) == {1}, "no short name is broken"
            if pictures is not None:
                name = f"competition-{size}-{'dark' if dark else 'light'}.png"
                await page.screenshot(pictures / name)
    assert page.errors == []


OUTSIDE = """
[...document.querySelectorAll("main *")].filter((each) => each.checkVisibility()
    && !each.closest(".scroll:has(.cross)") && !each.closest("thead")
    && each.getBoundingClientRect().right > innerWidth)
  .map((each) => each.outerHTML.slice(0, 200))
"""
"""What a window cuts off; a crosstable scrolls inside itself."""
CARDS = """
[...document.querySelectorAll("#standings tbody tr")].map((row) =>
  [".name a", ".score", ".interval"].map((part) => {
    const { left, right, width } = row.querySelector(part).getBoundingClientRect();
    return left >= 0 && right <= innerWidth && width > 0;
  }))
"""
"""True for each part of a line that the window shows whole."""


@pytest.mark.browser
@pytest.mark.parametrize("size", [(360, 640), (390, 844)])
async def test_standings_on_a_phone_are_cards_with_name_score_and_interval(
    hall: Server, page: Page, size: tuple[int, int]
) -> None:
    cup = await course(hall, "public")
    await cup.play(weaker_resigns(NAMES))
    await page.show_as(*size)
    await page.go(f"{hall.server.url}/competitions/autumn%20cup")
    await page.until("document.querySelector('.cross')")
    assert await page.evaluate(OUTSIDE) == []
    assert await page.evaluate(CARDS) == [[True] * 3] * len(NAMES)
    assert await page.text("#standings .score") == "1.000"
    heads = "[...document.querySelectorAll('#standings th')].map((head) => head.textContent)"
    assert "rating (95 %)" in await page.evaluate(heads), "the interval is not one of the score"
    # The other columns come with the details, which a key opens.
    played = "document.querySelector('#standings [data-head=played]').checkVisibility()"
    assert not await page.evaluate(played)
    await page.evaluate("document.querySelector('#standings .columns summary').focus()")
    await page.press("Enter")
    await page.until(played)
    assert await page.evaluate(OUTSIDE) == []
    # The names stay beside the crosstable when it scrolls.
    moved = await page.evaluate(
        """(() => {
        const table = document.querySelector(".scroll:has(.cross)");
        table.scrollLeft = 60;
        const inner = document.querySelector(".cross tbody th").getBoundingClientRect().left;
        return [table.scrollLeft > 0, Math.round(inner - table.getBoundingClientRect().left)];
        })()"""
    )
    assert moved == [True, 1], "one pixel of frame"
    assert page.errors == []


@pytest.mark.browser
async def test_returns_have_a_table_of_their_own_that_fits_phones_and_laptops(
    hall: Server, page: Page
) -> None:
    text = FILE.format(board="public").replace("connect_four", "kuhn_poker")
    names = ["ada", "the.longest.name.of.them.all"]
    cup = Course(hall, text, "autumn cup")
    await cup.freeze("kuhn_poker", *names)
    await cup.play(weaker_resigns(names))
    for size in ((360, 640), (390, 844), (1366, 768)):
        await page.show_as(*size)
        await page.go(f"{hall.server.url}/competitions/autumn%20cup")
        assert "kuhn_poker without luck" in await page.text("#standings h3 + .scroll")
        assert await page.evaluate(OUTSIDE) == [], size
        cut = "[...document.querySelectorAll('#standings .scroll')].filter((each) =>"
        cut += " each.scrollWidth > each.clientWidth).length"
        assert await page.evaluate(cut) == 0, size
    assert page.errors == []
