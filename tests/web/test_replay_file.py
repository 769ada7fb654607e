"""The file that `plyhouse replay --html` writes, opened without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plyhouse.clients.replay.positions import import_map

from .browser import Page
from .pictures import boards_page, positions

pytestmark = pytest.mark.browser


async def test_a_page_with_the_modules_of_a_replay_file_draws_boards(
    page: Page, tmp_path: Path
) -> None:
    assert "plyhouse/scene" in json.loads(import_map())["imports"]
    file = tmp_path / "boards.html"
    file.write_text(boards_page(), encoding="utf-8")
    await page.go(file.as_uri())
    await page.until("window.ready")
    await page.evaluate(f"show({json.dumps(positions('chess', (4,)))}, 1)")
    assert await page.evaluate("document.querySelectorAll('.scene .board').length") == 2
    assert page.errors == []
