"""A private match by a link and its QR code."""

from __future__ import annotations

import hashlib
import json

import pytest
from playwright.async_api import Browser

from .browser import Page, open_page
from .conftest import House

pytestmark = pytest.mark.browser

# Of texts with so many bytes as the versions of codes end and begin: the first digits of the
# SHA-256 of all modules in a row, as the Python package qrcode 8 makes them with mask 0 and error
# correction M.
CODES = {
    "a": "8ac8f40772e90e7a",
    "https://plyhouse.example/play?game=chess": "68d8fcb3f568eb50",
    "é" * 40: "ebbd8146cc635e9c",
    "x" * 121: "6b10cae179c75c7e",
    "x" * 122: "39fabad74b9daeba",
    "x" * 180: "81d47104c29942ba",
    "x" * 181: "8b64bab0afba9546",
    "x" * 213: "f673820bb5ccd3f0",
}


async def test_codes_are_those_of_another_encoder(house: House, page: Page) -> None:
    await page.go(f"{house.url}/account")
    found = await page.evaluate(
        "import('/web/qr.js').then(({ modules }) => "
        f"{json.dumps(list(CODES))}.map((text) => modules(text).flat().map(Number).join('')))"
    )
    hashes = [hashlib.sha256(code.encode()).hexdigest()[:16] for code in found]
    assert dict(zip(CODES, hashes, strict=True)) == CODES


async def test_whoever_opens_the_link_plays_the_one_who_made_it(
    house: House, page: Page, browser: Browser
) -> None:
    await page.go(f"{house.url}/play?game=connect_four")
    await page.until("document.body.dataset.ready && !document.querySelector('#chosen').hidden")
    await page.click("#invite")
    await page.until("document.querySelector('#waiting').dataset.asked")
    await page.until("document.querySelector('.invitation svg path')")
    link = await page.evaluate("document.querySelector('#invitation').value")
    # Nobody else learns of it.
    seeks = "fetch('/api/v1/seeks').then((answer) => answer.json())"
    assert await page.evaluate(seeks) == []
    assert len(house.hub.lobby) == 1
    async with open_page(browser) as friend:
        await friend.go(link)
        await friend.until("document.querySelector('#accept')")
        assert "invited to connect four" in (await friend.text("#waiting")).lower()
        await friend.click("#accept")
        await friend.until("location.pathname.startsWith('/matches/')")
        await page.until("location.pathname.startsWith('/matches/')")
        there = [await each.evaluate("location.pathname") for each in (page, friend)]
        assert there[0] == there[1]
        assert friend.errors == []
    assert page.errors == []
