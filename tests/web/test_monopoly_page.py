"""The page of a Monopoly match: the board, the property of each seat, offers, and a log."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.scene import scene_fields

from .browser import Page
from .conftest import House
from .person import opponent, play_on
from .pictures import boards_page
from .test_card_tables import answering, play
from .test_play import challenged_by_all

pytestmark = pytest.mark.browser

SHOW = """
import("plyhouse/scene").then(({{ drawScene }}) => {{
  window.played = [];
  window.scene = {scene};
  const play = (action) => window.played.push(action);
  const drawn = drawScene(window.scene, null, play, {{ holders: ["ann", "bob/bot"] }});
  document.body.replaceChildren(drawn);
  window.drawn = true;
}})
"""
OWNED = {"mediterranean": (0, 3), "baltic": (0, 5), "boardwalk": (0, -1), "reading": (1, 0)}


async def shown(page: Page, folder: Path, **fields: Any) -> None:
    """Show a position in which the first seat is to move."""
    game = get_game("monopoly")
    start: Any = game.observe(game.initial_state(), 0)
    properties = tuple((name, *OWNED.get(name, (None, 0))) for name, _, _ in start.properties)
    seen = dataclasses.replace(start, properties=properties, **fields)
    scene = dataclasses.replace(game.scene(seen), seats=("seat 1", "seat 2"), viewer=0)
    html = folder / "page.html"
    html.write_text(boards_page(), encoding="utf-8")
    await page.show_as(1366, 768)
    await page.go(html.resolve().as_uri())
    await page.until("window.ready")
    await page.evaluate(SHOW.format(scene=json.dumps(scene_fields(scene))))
    await page.until("window.drawn")


def texts(selector: str) -> str:
    return f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)"


async def test_fields_have_names_prices_rents_and_buildings(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path)
    names = await page.evaluate(texts(".circuit .deed-name"))
    assert {"Mediterranean", "Pennsylvania", "Boardwalk", "Marvin", "Go to Jail"} <= set(names)
    notes = await page.evaluate(texts(".circuit .deed-note"))
    assert {"$350", "pay $200", "rent 90", "rent 450", "rent 25", "mortgaged"} <= set(notes)
    assert "$60" not in notes, "both have owners"
    assert await page.evaluate("document.querySelectorAll('.circuit .house').length") == 3
    assert await page.evaluate("document.querySelectorAll('.circuit .hotel').length") == 1
    await page.show_as(390, 844)
    await shown_again(page)
    assert "MED" in await page.evaluate(texts(".circuit .deed-name")), "short names on a phone"


async def shown_again(page: Page) -> None:
    """Draw the same scene in a window of another size."""
    await page.evaluate(
        "import('plyhouse/scene').then(({ drawScene }) => {"
        " document.body.replaceChildren(drawScene(window.scene, null, null, {})); })"
    )


async def test_offer_is_two_lists_from_which_one_chooses(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, phase="ask", partner=1, legal=("ask reading", "cancel"))
    heads = await page.evaluate(texts(".prompt .grid.table thead th"))
    assert heads == ["ann gives", "bob/bot gives"]
    rows = texts(".prompt .grid.table tbody td")
    assert await page.evaluate(rows) == ["Boardwalk", "Reading Railroad"]
    await page.click(".prompt .grid.table button")
    assert await page.evaluate("window.played") == ["ask reading"]
    fields = {"asked": "reading", "given": "boardwalk", "price": 100}
    await shown(page, tmp_path, phase="reply", partner=1, legal=("accept", "reject"), **fields)
    chosen = await page.evaluate(texts(".prompt .grid.table td.mark"))
    assert chosen == ["Boardwalk", "Reading Railroad", "$100"]


async def test_log_in_the_middle_tells_where_tokens_went_and_who_paid(
    house: House, page: Page
) -> None:
    """A first roll may lead to no property, or by a card back to Go, so that nothing has moved."""
    await page.show_as(1366, 768)
    log = "document.querySelector('.inside .log')?.textContent"
    buy = "#match [data-action='buy']"
    deeds = "document.querySelectorAll('.seats .below .small-deed').length"
    bots = await challenged_by_all(house, page, "monopoly")
    async with answering(bots, rolling):
        assert await page.text(".seats .below .score strong") == "$1500"
        while not await page.evaluate(f'document.querySelector("{buy}")'):
            assert await play(page, rolling)
        assert "\N{RIGHTWARDS ARROW} " in await page.evaluate(log)
        before = await page.evaluate(deeds)
        await page.click(buy)
        await page.until(f"{deeds} === {before} + 1")
        assert "Buy " in await page.evaluate(log)
    assert page.errors == []


def rolling(legal: list[str]) -> str:
    """Return an action of a player who owns nothing."""
    return next((each for each in ("roll", "auction", "pass", "reject") if each in legal), legal[0])


DEEDS = """JSON.stringify([...document.querySelectorAll("#seats .deeds svg")].map((node) => {
  const { width, height } = node.getBoundingClientRect();
  return Math.min(width, height);
}))"""


async def test_deeds_of_four_seats_are_large_enough_to_be_read(house: House, page: Page) -> None:
    rng = random.Random(1)
    async with opponent(house, page, "monopoly(seats=4)", rng):
        while len(json.loads(await page.evaluate(DEEDS))) < 3:
            assert not await play_on(page, rng, 1)
        for size in ((1366, 768), (844, 390), (390, 664)):
            await page.show_as(*size)
            assert min(json.loads(await page.evaluate(DEEDS))) >= 28, size
    assert page.errors == []
