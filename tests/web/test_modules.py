"""Pages have one script, which holds all modules of the client and runs those of the page."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from plyhouse.clients.terminal.followed_match import PHRASES
from plyhouse.clients.terminal.screens import replay_control
from plyhouse.protocol.parts import MOST_GAMES
from plyhouse.server.web.bundle import script
from plyhouse.server.web.client import FOLDER

from .browser import GIVES_UP, Page
from .conftest import House

MODULES = {path.name: path.read_text() for path in FOLDER.glob("*.js")}
RUN = """new Promise((done) => {
  const script = document.createElement('script');
  script.src = "/web/made.js";
  script.onload = () => done(globalThis.found ?? null);
  document.head.append(script);
})"""


def test_bundle_understands_every_import_and_export() -> None:
    made = script(MODULES, sorted(MODULES))
    assert not re.findall(r"^(?:import|export)\b.*", made, re.MULTILINE)


def test_bundle_has_what_is_needed_and_no_more() -> None:
    made = script(MODULES, ["play.js"])
    assert '"backoff.js"() {' in made, "which another module imports"
    assert '"qr.js"() {' in made, "which is loaded when a person wants it"
    assert '"scene.js"() {' not in made


def constant(module: str, name: str) -> Any:
    """Return the number, list or object that a module calls ``name``."""
    found = re.search(rf"^(?:export )?const {name} = (.+?);", MODULES[module], re.MULTILINE)
    assert found, f"{module} has no constant {name}"
    return json.loads(re.sub(r"(\w+):", r'"\1":', found[1]))


def test_constants_are_those_of_the_protocol_and_of_the_terminal_client() -> None:
    assert constant("play.js", "MOST_GAMES") == MOST_GAMES
    assert constant("pace.js", "SPEEDS") == list(replay_control.SPEEDS)
    assert constant("pace.js", "LEAST") == replay_control.LEAST / 1_000_000
    assert constant("pace.js", "TOO_MANY") == replay_control.TOO_MANY
    assert constant("phrases.js", "PHRASES") == PHRASES


def test_patience_of_pages_that_tests_lengthen_is_that_of_connections() -> None:
    assert f"this.patience = {GIVES_UP:_};" in MODULES["connection.js"]


@pytest.mark.browser
async def test_modules_of_a_bundle_run_once_and_when_they_are_needed(
    house: House, page: Page
) -> None:
    made = script(
        {
            "one.js": 'import { add, twice as two } from "./two.js"; // why\n\n'
            "/** A @param {number} n\n * line */\nadd(two(1));\nglobalThis.found = two.list;\n",
            "two.js": "export const list = [];\nexport function add(n) { list.push(n); }\n"
            "export async function later() {}\nexport class Kind {}\n"
            "export const twice = Object.assign((n) => 2 * n, { list });\n",
            "idle.js": "throw new Error('nobody asked for this');",
            "last.js": 'import { add } from "./two.js";\n'
            'const text = "// no comment";\nadd(text);\n',
        },
        ["one.js", "last.js"],
    )
    await page.go(f"{house.url}/play")
    await page.tab.route("**/made.js", lambda route: route.fulfill(body=made))
    assert await page.evaluate(RUN) == [2, "// no comment"]
    assert page.errors == []


@pytest.mark.browser
@pytest.mark.parametrize(
    "path", ["/", "/play", "/account", "/wall", "/matches", "/competitions/new"]
)
async def test_a_page_makes_few_requests_and_keeps_what_it_loads(
    house: House, page: Page, path: str
) -> None:
    asked: list[str] = []
    page.tab.on("request", lambda each: asked.append(each.url.removeprefix(house.url)))
    await page.go(house.url + path)
    files = [each for each in asked if each.startswith("/web/") and not each.endswith(".webp")]
    assert len(files) == 3, "a sheet, a script and the icon"
    assert page.errors == []


async def test_pages_name_what_browsers_keep(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        text = (await web.get("/play")).text
        named = re.findall(r'(?:src|href)="(/web/[^"]+)"', text)
        kept = {(await web.get(each)).headers["cache-control"] for each in named}
        (versioned,) = {each for each in named if each.endswith("/pages/play.js")}
        other = re.sub("v-[0-9a-f]+", "v-0000000000000000", versioned)
        of_another = await web.get(other)
        alone = await web.get("/web/match.js")
        missing = await web.get("/web/v-0000000000000000/none.js")
    assert kept == {"public, max-age=31536000, immutable"}
    assert (of_another.status_code, of_another.headers["cache-control"]) == (200, "no-cache")
    assert alone.headers["cache-control"] == "no-cache"
    assert missing.status_code == 404
