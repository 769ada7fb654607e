"""Scripts write time controls in the same words as the server."""

from __future__ import annotations

import json

import pytest

from plyhouse.server.web.pages.template_filters import pace

from .browser import Page
from .conftest import House

pytestmark = pytest.mark.browser

CONTROLS = ["total:300+5", "total:3000+0", "move:0.5", "bank:1+90", "byoyomi:60+5x10", "other"]


async def test_time_controls_are_written_as_on_the_server(house: House, page: Page) -> None:
    await page.go(f"{house.url}/matches/none")
    script = (
        f"import('/web/words.js').then((words) => {json.dumps(CONTROLS)}.map(words.timeInWords))"
    )
    assert await page.evaluate(script) == [pace(each) for each in CONTROLS]
