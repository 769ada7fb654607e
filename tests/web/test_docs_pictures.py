"""The pictures of docs/ can be taken again, and none is missing or left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import docs_pictures
from .browser import Page
from .docs_pictures import PAGES, take

DOCS = Path(__file__).resolve().parents[2] / "docs"
MOST_BYTES = 1_500_000
FEWEST_BYTES = 2_000
"""What the smallest board takes; an empty picture takes less."""


def test_every_picture_is_shown_and_every_shown_picture_exists() -> None:
    shown = {
        (page.parent / name).resolve()
        for page in DOCS.rglob("*.md")
        for name in re.findall(r'[("]([\w./]+\.webp)[)"]', page.read_text(encoding="utf-8"))
    }
    pictures = {*(DOCS / "pictures").rglob("*.webp")}
    assert shown == pictures
    assert sum(each.stat().st_size for each in pictures) < MOST_BYTES


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}


@pytest.mark.browser
async def test_every_picture_can_be_taken_again(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two players, who look one ply ahead, instead of five with up to five plies.
    monkeypatch.setattr(docs_pictures, "PLAYERS", {"ada/minimax": 1, "ben/mybot": 1})
    await take(page, tmp_path, ["games/chess", "games/kuhn_poker", *PAGES])
    taken = files(tmp_path)
    assert set(taken) == {f"{name}.webp" for name in ("games/chess", "games/kuhn_poker", *PAGES)}
    for name, data in taken.items():
        assert data.startswith(b"RIFF")
        assert len(data) > FEWEST_BYTES, name
