"""The contact sheet shows games and pages in every look."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser

from .contact_sheet import LOOKS, take, write

pytestmark = [pytest.mark.browser]

FEWEST_BYTES = 2_000
"""An empty picture takes less."""


async def test_contact_sheet_has_a_picture_of_each_look(browser: Browser, tmp_path: Path) -> None:
    rows = await take(browser, ["games/kuhn_poker", "leaderboard", "report"])
    assert [row.name for row in rows] == ["games/kuhn_poker", "leaderboard", "report"]
    for row in rows:
        assert set(row.pictures) == set(LOOKS)
        assert len(set(row.pictures.values())) == len(LOOKS), "looks differ"
        assert min(map(len, row.pictures.values())) > FEWEST_BYTES
    page, picture = tmp_path / "sheet.html", tmp_path / "sheet.png"
    await write(browser, rows, page)
    assert page.read_text(encoding="utf-8").count("<img ") == len(rows) * len(LOOKS)
    await write(browser, rows, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


async def test_contact_sheet_of_an_unknown_page_names_it(browser: Browser) -> None:
    with pytest.raises(SystemExit, match="No game or page is called nothing"):
        await take(browser, ["nothing"])
