"""Organisers and students of a competition in the browser."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser
from tests.harness.finals import HERE, Course, weaker_resigns
from tests.harness.server import Server

from plyhouse.storage import audit as stored_audit
from plyhouse.storage import competition_sql, suspensions

from .browser import Page, open_page, sign_in

FILE = """
name = "Spring cup"
games = ["tic_tac_toe"]
time_control = "move:1"
board = "class"
"""
URL = "/competitions/spring%20cup"


@contextlib.asynccontextmanager
async def session(hall: Server, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """A browser without scripts, signed in."""
    headers = {"origin": hall.server.url}
    async with httpx.AsyncClient(base_url=hall.server.url, headers=headers) as web:
        answer = await web.post("/api/v1/session", json={"token": token})
        assert answer.status_code == 200, answer.text
        yield web


async def test_only_organisers_are_shown_what_organisers_do(hall: Server) -> None:
    cup = Course(hall, FILE, "spring cup")
    await cup.freeze("tic_tac_toe", "ada", "ben")
    seen = {}
    for who in ("", "eve", "ada", "olga"):
        async with cup.web(who) as web:
            seen[who] = (await web.get(URL)).text
    assert {who for who, text in seen.items() if 'id="staff"' in text} == {"olga"}
    assert {who for who, text in seen.items() if 'id="own"' in text} == {"ada"}
    for part in ('data-step="run"', "ben/bot", "report?student=ben", "export/gradescope"):
        assert part in seen["olga"]
    assert 'data-step="freeze"' not in seen["olga"], "it is frozen"
    assert "ben/bot" not in seen["ada"].partition('id="own"')[2].partition("</section>")[0]


async def test_a_student_chooses_its_version_until_the_freeze(hall: Server) -> None:
    cup = Course(hall, FILE, "spring cup")
    token = await hall.token("olga", "organise")
    async with session(hall, token) as olga:
        assert (await olga.post(HERE, json={"file": FILE})).status_code == 201
        code = (await olga.post(f"{cup.here}/codes", json={"uses": 2})).json()["code"]
        async with session(hall, await hall.token("ada")) as ada:
            joined = await ada.post("/api/v1/join", json={"code": code})
            assert (joined.status_code, joined.json()["account"]) == (200, "ada")
            assert joined.json()["token"] == "", "the account of the session joined"
            assert "Nothing is entered" in (await ada.get(URL)).text
            for version in ("1", "2"):
                bot = await hall.bot("ada", games=["tic_tac_toe"], version=version)
                await bot.close()
            open_page_text = (await ada.get(URL)).text
            body = {"bot": "bot", "version": "1"}
            chosen = await ada.post(f"{cup.here}/enter", json=body)
            assert chosen.json()["version"] == "1"
            assert "version 1, chosen" in (await ada.get(URL)).text
            assert 'id="enter-form"' in open_page_text
            assert (await olga.post(f"{cup.here}/freeze", json={})).status_code == 200
            assert 'id="enter-form"' not in (await ada.get(URL)).text
            late = {"student": "ada", "until": "2999-01-01T00:00:00Z"}
            assert (await olga.post(f"{cup.here}/extend", json=late)).status_code < 300
            assert 'id="enter-form"' in (await ada.get(URL)).text
        assert "Begin without waiting" in (await olga.get(URL)).text


async def test_a_session_joins_only_from_a_page_of_the_server(hall: Server) -> None:
    async with session(hall, await hall.token("olga", "organise")) as olga:
        await olga.post(HERE, json={"file": FILE})
        code = (await olga.post(f"{HERE}/spring cup/codes", json={"uses": 1})).json()["code"]
    async with session(hall, await hall.token("ada")) as ada:
        strange = {"origin": "https://elsewhere.example"}
        answer = await ada.post("/api/v1/join", json={"code": code}, headers=strange)
        assert (answer.status_code, answer.json()["code"]) == (403, "auth/other_page")
        named = await ada.post("/api/v1/join", json={"code": code, "player": "newcomer"})
        assert named.json()["account"] == "newcomer", "a name makes a new account"


async def test_a_file_is_checked_and_costed_before_it_is_opened(hall: Server) -> None:
    async with session(hall, await hall.token("olga", "organise")) as olga:
        wrong = FILE.replace("move:1", "soon").replace("board", "bord")
        refused = await olga.post("/api/v1/competition-files/preview", json={"file": wrong})
        assert refused.status_code == 400
        assert {each["key"] for each in refused.json()["mistakes"]} == {"time_control", "bord"}
        body = {"file": FILE, "entries": 30}
        cost = (await olga.post("/api/v1/competition-files/preview", json=body)).json()
        assert (cost["name"], cost["matches"], cost["endless"]) == ("Spring cup", 870, False)
        game = cost["games"][0]
        assert (game["source"], game["game"]) == ("sample", "tic_tac_toe")
        assert 5 <= game["seconds"] <= 10, "5 to 9 plies of a second each"
        assert cost["core_hours"] == pytest.approx(870 * game["seconds"] / 3600)
        assert game["typical_seconds"] is cost["typical_hours"] is cost["typical_end_ms"] is None
        assert any("No final of tic_tac_toe at move:1" in each for each in cost["notes"])
        few = await olga.post(
            "/api/v1/competition-files/preview", json={"file": FILE, "entries": 1}
        )
        assert few.status_code == 400
        ladder = FILE + '[format]\nname = "ladder"\n'
        assert (await olga.post("/api/v1/competition-files/preview", json={"file": ladder})).json()[
            "endless"
        ]
    async with session(hall, await hall.token("ada")) as ada:
        denied = await ada.post("/api/v1/competition-files/preview", json={"file": FILE})
        assert denied.status_code == 403
        assert 'id="file"' not in (await ada.get("/competitions/new")).text


async def test_a_report_is_for_its_student_and_organisers(hall: Server) -> None:
    cup = Course(hall, FILE, "spring cup")
    await cup.freeze("tic_tac_toe", "ada", "ben")
    status = {}
    for who in ("", "ada", "ben", "olga"):
        async with cup.web(who) as web:
            answer = await web.get(f"{URL}/report", params={"student": "ada"})
            status[who] = answer.status_code
            assert ("ada/bot" in answer.text) == (who in ("ada", "olga"))
    assert status == {"": 401, "ada": 200, "ben": 403, "olga": 200}
    async with cup.web("olga") as web:
        assert (await web.get(f"{URL}/report", params={"student": "nobody"})).status_code == 404
        assert (await web.get("/competitions/none/report")).status_code == 404


async def test_entries_of_a_finished_competition_need_no_connection(hall: Server) -> None:
    cup = Course(hall, FILE, "spring cup")
    await cup.freeze("tic_tac_toe", "ada", "ben")
    await cup.bots["ben"].close()
    async with cup.web("olga") as olga:
        assert "not connected" in (await olga.get(URL)).text
    cup.bots["ben"] = await hall.client()
    await cup.bots["ben"].hello(cup.tokens["ben"], "bot", games=["tic_tac_toe"], max_matches=50)
    await cup.play(weaker_resigns(["ada", "ben"]))
    await cup.bots["ben"].close()
    for who in ("olga", "ben"):
        async with cup.web(who) as web:
            page = (await web.get(URL)).text
            assert "ben/bot" in page
            assert "not connected" not in page


async def shown(page: Page, text: str) -> None:
    """Wait until the server's answer is said."""
    await page.until(f"document.querySelector('#state').textContent.includes({json.dumps(text)})")


async def fill(page: Page, selector: str, text: str) -> None:
    await page.evaluate(
        f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}"
    )


SMALL = """
[...document.querySelectorAll("button, summary, select, .button, input:not([type=checkbox])")]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44)
  .map((each) => each.outerHTML)
"""
"""Controls that are lower than a thumb is wide."""
SPARE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def picture(page: Page, pictures: Path | None, name: str) -> None:
    """Nothing is wider than the window, on a phone, too; a picture if they are wanted."""
    for size, width, height in (("phone", 390, 844), ("wide", 1280, 900)):
        for dark in (False, True) if pictures is not None else (False,):
            await page.show_as(width, height, dark=dark)
            assert await page.evaluate(SPARE) <= 0, (name, size)
            if pictures is not None:
                await page.screenshot(
                    pictures / f"staff-{name}-{size}-{'dark' if dark else 'light'}.png"
                )


@pytest.mark.browser
async def test_a_competition_is_run_in_the_browser(
    hall: Server, page: Page, browser: Browser, pictures: Path | None
) -> None:
    url = hall.server.url
    await page.go(f"{url}/account")
    await sign_in(page, await hall.token("olga", "organise"))

    # A file with two mistakes, corrected.
    await page.go(f"{url}/competitions/new")
    assert 'games = ["connect_four"]' in await page.evaluate(
        "document.querySelector('#file').value"
    )
    await fill(page, "#file", FILE.replace("move:1", "soon") + "colour = 1\n")
    await page.click("#check")
    await shown(page, "The file has mistakes.")
    keys = await page.evaluate(
        "[...document.querySelectorAll('#mistakes code')].map((each) => each.textContent).sort()"
    )
    assert keys == ["colour", "time_control"]
    await picture(page, pictures, "mistakes")
    await fill(page, "#file", FILE)
    await page.click("#check")
    await shown(page, "The file is valid.")
    assert await page.text("#mistakes") == ""
    assert "core-hours" in await page.text("#cost")
    await picture(page, pictures, "cost")
    await page.click("#file-form button.main")
    await page.until(
        "document.querySelector('#staff') && location.pathname !== '/competitions/new' "
        "&& document.readyState === 'complete'"
    )

    # A code, with which a student joins in another browser.
    await fill(page, "#uses", "2")
    await page.click("#code-form button")
    await shown(page, "The code is made.")
    code = await page.text("#code .code")
    async with open_page(browser) as other:
        await other.go(f"{url}/join?code={code}")
        await fill(other, "#join-player", "ada")
        await picture(other, pictures, "join")
        await other.click("#join-form button")
        await shown(other, "You are in.")
        token = await other.text("#joined .code")
        assert token.startswith("ply_")
        bot = await hall.client()
        await bot.hello(token, "bot", games=["tic_tac_toe"], version="1")
        await other.go(f"{url}{URL}")
        assert "ada/bot" in await other.text("#own-entries")
        assert await other.text("#staff") == ""
        await other.click("#own summary:has(+ #enter-form)")
        await other.evaluate("document.querySelector('#version').selectedIndex = 1")
        await other.click("#enter-form button")
        await shown(other, "ada/bot plays, version 1.")
        assert "chosen" in await other.text("#own-entries")
        await picture(other, pictures, "own")
        assert other.errors == []

    # The file is changed; students read of it.
    await page.evaluate("document.querySelector('#change').open = true")
    await fill(page, "#change-file", FILE.replace("move:1", "move:2") + "rounds = 2\n")
    await page.click("#change-form button")
    await shown(page, "Nothing is changed yet.")
    assert "rounds: 1 → 2" in await page.text("#changes")
    await picture(page, pictures, "change")
    await page.click("[data-change]")
    await page.press_again("[data-change]")
    await shown(page, "Spring cup is changed.")
    await page.until(
        "document.querySelector('#announced').textContent.includes('Time control: move:1')"
    )

    # A question that is not answered is forgotten.
    await page.evaluate("document.querySelector('[data-step=freeze]').focus()")
    await page.press("Enter")
    await shown(page, "Really freeze? Press again.")
    await page.press("Tab")
    await page.until("document.querySelector('[data-step=freeze]').textContent === 'Freeze'")

    # Freeze asks once more; a final with one entry does not begin, and says why.
    await page.click("[data-step=freeze]")
    assert "open" in await page.text("#facts")
    assert await page.press_again("[data-step=freeze]") == "Really freeze?"
    await shown(page, "Spring cup is frozen.")
    assert "ada/bot" in await page.text("#pupils"), "what has changed is there, too"

    # A suspended version is let in again, for a reason.
    store = hall.hub.store
    course = await store.read(competition_sql.find, "spring cup")
    (entry,) = await store.read(competition_sql.entries_of, course.id)
    assert entry.version_id is not None
    assert await store.write(
        suspensions.suspend, entry.version_id, "it forfeited too often", store.now()
    )
    await page.go(f"{url}{URL}")
    assert "it forfeited too often" in await page.text("#suspended")
    await page.click("[data-reinstate]")
    await shown(page, "needs a reason")
    await fill(page, "#suspended-why", "mended")
    await page.click("[data-reinstate]")
    await shown(page, "ada/bot is let in again.")
    assert (await page.text("#suspended")).strip() == ""

    await page.click("[data-step=run]")
    await page.press_again("[data-step=run]")
    await shown(page, "has 1 entries, baselines included: nobody could be compared")
    assert "competition/" not in await page.text("#state"), "in words"
    await picture(page, pictures, "staff")

    # To disqualify needs a reason, and a second press.
    await page.click("[data-choose=ada]")
    assert await page.evaluate("document.activeElement.id") == "student-why"
    await page.click("[data-student=disqualify]")
    await page.press_again("[data-student=disqualify]")
    await shown(page, "needs a reason")
    await fill(page, "#student-why", "not their own work")
    await page.click("[data-student=disqualify]")
    await page.press_again("[data-student=disqualify]")
    await shown(page, "ada is disqualified, with ada/bot.")
    assert "disqualified" in await page.text("#pupils tr.gone")
    audit = await hall.hub.store.read(stored_audit.latest)
    assert any("not their own work" in each.why for each in audit)
    assert [each for each in page.errors if "400" not in each and "409" not in each] == []


@pytest.mark.browser
async def test_organiser_page_on_a_phone_begins_with_the_next_step_and_folds_its_forms(
    hall: Server, page: Page
) -> None:
    cup = Course(hall, FILE, "spring cup")
    await cup.freeze("tic_tac_toe", "ada", "ben")
    await page.go(f"{hall.server.url}/account")
    await sign_in(page, cup.tokens["olga"])
    for size in ((360, 640), (390, 844)):
        await page.show_as(*size)
        await page.go(hall.server.url + URL)
        step = "document.querySelector('button.main').dataset.step"
        assert await page.evaluate(step) == "run"
        assert await page.evaluate(
            "document.querySelector('[data-step=run]').getBoundingClientRect().bottom < innerHeight"
        )
        shown = "[...document.querySelectorAll('#staff form')].filter((each) => each"
        shown += ".checkVisibility()).map((each) => each.id)"
        assert await page.evaluate(shown) == ["steps-form"]
        assert await page.evaluate(SMALL) == []
        assert await page.evaluate(SPARE) <= 0
        seen = "[...document.querySelectorAll('#pupils tr')].every((each) =>"
        seen += " each.getBoundingClientRect().right <= innerWidth)"
        assert await page.evaluate(seen)
    # Without a mouse: the form opens with Enter, and the list of students leads to it.
    await page.evaluate("document.querySelector('[data-choose=ben]').focus()")
    await page.press("Enter")
    await page.until("document.activeElement.id === 'student-why'")
    assert await page.evaluate(SMALL) == []
    await page.evaluate("document.querySelector('#staff summary:has(+ #code-form)').focus()")
    await page.press("Enter")
    await page.until("document.querySelector('#code-form').checkVisibility()")
    assert page.errors == []


async def test_list_of_a_large_class_is_closed_and_counts_missing_entries(hall: Server) -> None:
    cup = Course(hall, FILE, "spring cup")
    cup.tokens["olga"] = await hall.token("olga", "organise")
    async with cup.web("olga") as web:
        assert (await web.post(HERE, json={"file": FILE})).status_code == 201
        for number, opened in ((12, True), (13, False)):
            names = "\n".join(["name", *(f"s{each}" for each in range(number))])
            await web.post(f"{cup.here}/students", json={"csv": names})
            pupils = (await web.get(URL)).text.partition('id="pupils"')[2]
            assert ('<details class="fold" open>' in pupils) == opened
            assert f"{number} students, {number} without an entry" in pupils
        await web.post(f"{cup.here}/withdraw", json={"who": "s0", "why": "left"})
        assert "12 students, 12 without an entry" in (await web.get(URL)).text


@pytest.mark.browser
async def test_student_page_on_a_phone_begins_with_the_own_entry(hall: Server, page: Page) -> None:
    cup = Course(hall, FILE, "spring cup")
    await cup.freeze("tic_tac_toe", "ada", "ben")
    await cup.play(weaker_resigns(["ada", "ben"]))
    await page.go(f"{hall.server.url}/account")
    await sign_in(page, cup.tokens["ben"])
    for size in ((360, 640), (390, 844)):
        await page.show_as(*size)
        await page.go(hall.server.url + URL)
        report = "document.querySelector('#own .button.main').getBoundingClientRect().bottom"
        assert await page.evaluate(report) < size[1]
        assert await page.evaluate(SMALL) == []
        await page.go(f"{hall.server.url}{URL}/report")
        cut = "[...document.querySelectorAll('main td')].filter((each) =>"
        cut += " each.getBoundingClientRect().right > innerWidth).length"
        assert await page.evaluate(cut) == 0
    async with cup.web("olga") as web:
        next_steps = (await web.get(URL)).text.partition('id="steps"')[2]
        main = next_steps.partition('class="button main" href="')[2].partition('"')[0]
        assert (await web.get(main)).headers["content-type"].startswith("text/csv")
    assert page.errors == []
