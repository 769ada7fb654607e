"""People choose the game, its parameters and their side before a match."""

from __future__ import annotations

import json

import httpx
import pytest

from .browser import Page
from .conftest import House

CHOICES = """Promise.all([import('/web/choices.js'), import('/web/dom.js')]).then(([made, dom]) => {
  const place = dom.html('div');
  made.offerChoices(place, %s);
  place.querySelectorAll('input').forEach((input) => {
    if (input.value === '13' || input.value === 'true') input.checked = true;
    if (input.name === 'choice-komi') input.value = '0.5';
  });
  return ['go', 'go(seats=3)'].map((spec) => made.withChoices(spec, place));
})"""


async def test_games_are_in_the_order_of_their_popularity(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        text = (await web.get("/play")).text
    order = ["chess", "go", "checkers", "backgammon", "monopoly", "texas_holdem", "coins"]
    places = [text.index(f'data-game="{name}"') for name in order]
    assert places == sorted(places)


@pytest.mark.browser
async def test_choices_are_written_where_they_differ_from_the_standard(
    house: House, page: Page
) -> None:
    await page.go(f"{house.url}/play")
    choices = [
        ["size", "Size", "lines", 9, [9, 13], None, None],
        ["open", "Open", "", False, [True, False], None, None],
        ["komi", "Komi", "", 7.5, [], -200, 200],
    ]
    written = await page.evaluate(CHOICES % json.dumps(choices))
    assert written == [
        "go(size=13,open=true,komi=0.5)",
        "go(seats=3,size=13,open=true,komi=0.5)",
    ]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("game", "choice", "seats"),
    [
        ("go", "[data-choice=size][value='19']", "any, Black, White"),
        ("scrabble", "[data-choice=challenges][value=double]", ""),
        ("texas_holdem", "[data-choice=betting][value=fixed]", ""),
    ],
)
async def test_page_of_play_offers_parameters_and_sides(
    house: House, page: Page, game: str, choice: str, seats: str
) -> None:
    await page.go(f"{house.url}/play?game={game}")
    await page.until("document.body.dataset.ready")
    await page.click(f"#choices {choice}")
    sides = "[...document.querySelectorAll('#seat .option')].map((each) => each.innerText.trim())"
    assert ", ".join(await page.evaluate(sides)) == seats
    assert page.errors == []
