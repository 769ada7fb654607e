"""Pages name the modules that their scripts import: all of them, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from plyhouse.server.web import templates
from plyhouse.server.web.client import imported_by

from .browser import Page
from .conftest import House

SCRIPTS = sorted(
    {
        name
        for path in Path(templates.__file__).parent.glob("*.html")
        for name in re.findall(r'set script = "([^"]+)"', path.read_text())
    }
)
LOADED = """new Promise((done) => {
  const script = document.createElement('script');
  script.type = 'module';
  script.src = '/web/%s';
  script.onload = script.onerror = () => done(JSON.stringify(
    performance.getEntriesByType('resource').map((each) => new URL(each.name).pathname)));
  document.head.append(script);
})"""


@pytest.mark.browser
@pytest.mark.parametrize("script", SCRIPTS)
async def test_what_is_named_is_what_a_browser_loads(house: House, page: Page, script: str) -> None:
    # On a page with the script of all pages alone: the browser goes from import to import.
    await page.go(f"{house.url}/matches/none")
    there = json.loads(await page.evaluate(LOADED % script))
    loaded = [each.removeprefix("/web/") for each in there if each.endswith(".js")]
    everywhere = ["times.js", *imported_by("times.js")]
    assert sorted(loaded) == sorted({script, *imported_by(script), *everywhere})


async def test_pages_name_them(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        text = (await web.get("/play")).text
    named = re.findall(r'<link rel="modulepreload" href="/web/([^"]+)">', text)
    assert named == list(imported_by("play.js"))
    assert "backoff.js" in named, "which another module imports"
