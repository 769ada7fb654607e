"""A projector's view of a competition between matches: the table and the next pairings."""

from __future__ import annotations

from typing import Any

import pytest
from tests.harness.hosted_finals import HostedFinal, cup_file
from tests.harness.simulated_runner import SimulatedRunner

from .browser import Page

CUP = cup_file(game="pig(target=20)", time_control="total:600", rest='board = "public"\n')


@pytest.mark.parametrize(("screen", "board"), [("wall", ".tile svg"), ("projector", "#scene svg")])
async def test_screen_shows_table_until_a_match_runs(
    house: Any, page: Page, screen: str, board: str
) -> None:
    cup = await HostedFinal.begin(
        house, SimulatedRunner(house, tier="landlock"), ("ann", "ben"), CUP
    )
    await page.go(f"{house.url}/{screen}?competition={cup.cup}")
    await page.until("document.querySelector('#news table')")
    news = await page.text("#news")
    assert all(name in news for name in ("ann/mine", "ben/mine"))
    await cup.ready()
    await page.until(f"document.querySelector('{board}')")
    await page.until("document.querySelector('#news') === null")
    assert page.errors == []
