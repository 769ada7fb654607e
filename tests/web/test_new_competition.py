"""The form of a new competition, and the file that it makes."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from typing import Any

import httpx
import pytest

from plyhouse.server.competition_rules.format_registry import FORMATS

from .browser import Page, sign_in
from .conftest import House

FILE = "document.querySelector('#file').value"


async def organiser(house: House) -> str:
    await house.hub.store.add_player("olga")
    return await house.hub.store.add_token("olga", scopes=["organise"])


def file_of(text: str) -> dict[str, Any]:
    """The file that the page shows, read as TOML."""
    found = re.search(r"<textarea id=\"file\"[^>]*>\n(.*?)</textarea>", text, re.DOTALL)
    assert found is not None
    return tomllib.loads(unescape(found[1]))


async def test_form_makes_the_file_without_a_script(house: House) -> None:
    headers = {"Authorization": f"Bearer {await organiser(house)}"}
    form = {
        "name": "Autumn / 2",
        "game": ["go(size=13)", "", "chess"],
        "time": "total:60+1",
        "form": "swiss",
        "freeze": "2027-01-31T18:00",
        "final": "2027-02-01T09:00",
        "zone": "Europe/Berlin",
    }
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        answer = await web.get("/competitions/new", params=form)
    assert "form-action 'self'" in answer.headers["content-security-policy"]
    made = file_of(answer.text)
    assert made["games"] == ["go(size=13)", "chess"]
    assert (made["time_control"], made["format"]["name"]) == ("total:60+1", "swiss")
    dates = made["dates"]
    assert dates["zone"] == "Europe/Berlin"
    assert dates["freeze"].isoformat() == "2027-01-31T18:00:00+01:00"
    assert dates["final"].isoformat() == "2027-02-01T09:00:00+01:00"


async def test_what_is_wrong_is_said_at_its_field(house: House) -> None:
    headers = {"Authorization": f"Bearer {await organiser(house)}"}
    form = {"game": ["chss"], "time": "soon", "freeze": "tomorrow", "zone": "Mars/Base"}
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        text = (await web.get("/competitions/new", params=form)).text
    said = dict(re.findall(r'id="(\w+)-wrong">([^<]+)<', text))
    assert set(said) == {"game", "time", "freeze", "zone"}
    assert "chess" in said["game"]
    assert file_of(text)["games"] == ["connect_four"]


@pytest.mark.parametrize("form", FORMATS)
async def test_every_format_makes_a_valid_file(house: House, form: str) -> None:
    headers = {"Authorization": f"Bearer {await organiser(house)}"}
    await house.bot("staff", "easy")  # the baseline of the file
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        text = (await web.get("/competitions/new", params={"form": form})).text
        found = re.search(r"<textarea id=\"file\"[^>]*>\n(.*?)</textarea>", text, re.DOTALL)
        assert found is not None
        body = {"file": unescape(found[1])}
        checked = await web.post("/api/v1/competition-files/check", json=body)
    assert checked.status_code == 200, checked.text


@pytest.mark.browser
async def test_file_follows_the_form_until_it_is_changed_by_hand(house: House, page: Page) -> None:
    await house.bot("staff", "easy", games=["connect_four", "go"])
    await page.go(house.url)
    await sign_in(page, await organiser(house))
    await page.go(f"{house.url}/competitions/new")
    zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
    assert await page.evaluate(f"document.querySelector('#make-zone').value === {zone}")
    await page.evaluate("document.querySelector('#add').open = true")
    await page.tab.select_option("#add-game", "go")
    await page.click("#add-choices [data-choice=size][value='19']")
    await page.click("#add-button")
    await page.until(f'{FILE}.includes(\'["connect_four", "go(size=19)"]\')')
    await page.until("document.querySelector('#cost').textContent.includes('core-hours')")
    await page.tab.fill("#file", "# mine")
    await page.tab.fill("#make-name", "Other")
    await page.tab.dispatch_event("#make-name", "change")
    await page.until("document.querySelector('#mistakes').textContent.includes('by hand')")
    assert await page.evaluate(FILE) == "# mine"
    await page.click("#make-button")
    await page.until(f"{FILE}.includes('name = \"Other\"')")
    assert page.errors == []
