"""An author opens a bot on its page, and somebody else plays against it: in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness.hosted_server import PIG, hosted_server
from tests.harness.patience import PATIENCE
from tests.web.browser import Page, sign_in

pytestmark = pytest.mark.browser


async def test_a_bot_is_opened_on_its_page_and_started_for_who_plays_it(
    page: Page, tmp_path: Path
) -> None:
    async with hosted_server(tmp_path, ready_timeout=PATIENCE) as house:
        await house.submit("ada", PIG, "mine", "tic_tac_toe")
        url = house.server.url
        await page.go(f"{url}/bots/ada/mine")
        assert not await page.evaluate("Boolean(document.querySelector('#open, #against'))")
        await sign_in(page, await house.token("ada"))
        await page.go(f"{url}/bots/ada/mine")
        await page.click("#open")
        await page.until("document.querySelector('#state').textContent.includes('may play')")
        await sign_in(page, await house.token("zoe"))
        async with house.runner():
            await page.go(f"{url}/play")
            await page.click("#hosted a")
            await page.until("document.body.dataset.ready && location.search.includes('opponent')")
            await page.click("#play button")
            await page.until("location.pathname.startsWith('/matches/')")
            # When the runner stops, the match goes on for as long as its bot may be away.
            (live,) = house.hub.directory.own.values()
            assert {holder.name for holder in live.seats} == {"ada/mine", "zoe"}
