"""Every page in dark, light and on a phone: axe-core finds nothing wrong, and it is not heavy."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from .browser import Page, sign_in
from .conftest import unavailable
from .populated import populated

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = {"light": (1280, 800, False), "dark": (1280, 800, True), "phone": (390, 844, True)}
THERE = (
    "!document.querySelector('#match') || document.querySelector('#scene svg')"
    " || document.body.innerText.includes('Waiting')"
)
"""Return whether a page shows what its script draws."""
MOST_BYTES = 200 * 1024
"""What a page may transfer, compressed, with its scripts, styles and pictures."""
WITH_PICTURES = """
(() => {
  for (const each of document.images) each.loading = "eager";
  return [...document.images].every((each) => each.complete);
})()
"""
"""Ask for pictures further down as well, and return whether all are there."""
WEIGHT = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.encodedBodySize, 0)
"""
RUN = """
axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.flatMap(
  ({id, help, nodes}) => nodes.map(({target, failureSummary}) =>
    `${id}: ${help}: ${target.join(" ")}: ${failureSummary.replace(/\\s+/g, " ")}`)))
"""
RUN_ON_COLOURS = RUN.replace(
    "{", '{runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}, ', 1
)
"""Only the rules that look at colours: in the same window, all others find what they found."""


async def look(page: Page, script: str, name: str, url: str) -> list[str]:
    found: list[str] = []
    for shade, (width, height, dark) in LOOKS.items():
        await page.show_as(width, height, dark=dark)
        if shade == "light":
            await page.go(url)
            await page.until(THERE)
            await page.until(WITH_PICTURES)
            bytes_of_page = await page.evaluate(WEIGHT)
            if not 0 < bytes_of_page <= MOST_BYTES:
                found.append(f"{name}: {bytes_of_page} bytes")
            await page.evaluate(script)
        await page.evaluate("document.getAnimations().forEach((each) => each.finish())")
        said: list[str] = await page.evaluate(RUN_ON_COLOURS if shade == "dark" else RUN)
        found += [f"{name}, {shade}: {each}" for each in said]
    return found


async def test_no_page_keeps_anybody_out(page: Page) -> None:
    if not AXE.exists():
        if os.environ.get("PLYHOUSE_REQUIRE_NODE") == "1":
            pytest.fail("PLYHOUSE_REQUIRE_NODE is set, but axe-core is not there: npm ci")
        unavailable("axe-core is not installed: npm ci")
    source: str = await asyncio.to_thread(AXE.read_text)
    script = source + "\ntypeof axe.run"
    found: dict[str, Any] = {}
    async with populated() as house:
        url = house.house.server.url
        for name, path in house.pages.items():
            found[name] = await look(page, script, name, url + path)
        await page.go(f"{url}/account")
        await sign_in(page, house.token)
        for name, path in house.staff.items():
            found[name] = await look(page, script, name, url + path)
    assert [each for said in found.values() for each in said] == []
