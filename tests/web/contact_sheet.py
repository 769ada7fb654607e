"""One sheet with pictures of all games and pages: light, dark, and on a phone, upright and not.

``python -m tests.web.contact_sheet sheet.html`` plays a few plies of each game as a person,
opens every page of a populated server, and writes one file; ``sheet.png`` writes it as one picture.
``--only games/chess front`` takes some.  It needs Chromium (PLYHOUSE_CHROMIUM can name one).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import html
import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.async_api import Browser

from plyhouse.games.registry import BUILT_IN
from plyhouse.server.serve import running_server

from .browser import Page, chromium, find_chromium, open_page, sign_in
from .conftest import House, patient
from .person import opponent, play_on
from .populated import populated

__all__ = ["LOOKS", "Row", "take", "write"]

LOOKS: Final = {
    "light": ((1366, 768), False),
    "dark": ((1366, 768), True),
    "phone": ((390, 664), False),
    "landscape": ((844, 390), False),
}
"""Sizes of windows, and whether it is dark."""
PRESSES: Final = 9
"""Clicks of the person before a game is pictured."""
FRAMES: Final = """new Promise((next) => {
  let left = 12;
  const frame = () => (left-- ? requestAnimationFrame(frame) : next());
  frame();
})"""
"""Some frames of the browser, in which the wall fits its boards into a new size."""
STYLE: Final = """
body { margin: 1rem; font: 16px sans-serif; color: #111; background: #ddd; }
section { display: flex; gap: 1rem; align-items: start; margin: 0 0 2rem; }
img { height: 420px; border: 1px solid #888; }
"""


@dataclass(frozen=True)
class Row:
    """A game or page, with its picture (WebP) by look."""

    name: str
    pictures: dict[str, bytes]


async def _row(page: Page, name: str, settle: str) -> Row:
    """Take a page as it is shown, in every look; ``settle`` is true when it is drawn."""
    pictures = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.webp"
        for look, (size, dark) in LOOKS.items():
            await page.show_as(*size, dark=dark)
            await page.evaluate("scrollTo(0, 0)")
            await page.until(settle)
            await page.evaluate(FRAMES)
            await page.evaluate("document.getAnimations().forEach((each) => each.finish())")
            await page.screenshot(file, whole=False)
            pictures[look] = await asyncio.to_thread(file.read_bytes)
    return Row(name, pictures)


async def _games(browser: Browser, only: Sequence[str]) -> AsyncIterator[Row]:
    names = [game for game in sorted(BUILT_IN) if not only or f"games/{game}" in only]
    for game in names:
        rng = random.Random(game)
        async with running_server(patient()) as server, open_page(browser) as page:
            await page.show_as(1366, 768)
            async with opponent(House(server), page, game, rng):
                await play_on(page, rng, PRESSES)
                yield await _row(page, f"games/{game}", "document.querySelector('#scene .scene')")


async def _pages(browser: Browser, only: Sequence[str]) -> AsyncIterator[Row]:
    async with populated() as at, open_page(browser) as page:
        url = at.house.server.url
        for pages in (at.pages, at.staff):
            if pages is at.staff:
                await page.go(f"{url}/account")
                await sign_in(page, at.token)
            for name, path in pages.items():
                if only and name not in only:
                    continue
                await page.go(url + path)
                await page.tab.wait_for_load_state("networkidle")
                yield await _row(page, name, "document.readyState === 'complete'")


async def take(browser: Browser, only: Sequence[str] = ()) -> list[Row]:
    """Take all pictures, or those of the named games and pages."""
    rows = [row async for row in _games(browser, only)]
    if not only or any(not name.startswith("games/") for name in only):
        rows += [row async for row in _pages(browser, only)]
    missing = set(only) - {row.name for row in rows}
    if missing:
        raise SystemExit(f"No game or page is called {', '.join(sorted(missing))}.")
    return rows


def _page(rows: Sequence[Row]) -> str:
    parts = []
    for row in rows:
        shown = "".join(
            f'<img alt="{html.escape(f"{row.name}, {look}")}" '
            f'src="data:image/webp;base64,{base64.b64encode(data).decode()}">'
            for look, data in row.pictures.items()
        )
        parts.append(f"<h2>{html.escape(row.name)}</h2><section>{shown}</section>")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Contact sheet</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n"
    )


async def write(browser: Browser, rows: Sequence[Row], out: Path) -> None:
    """Write the sheet as HTML, or as a picture if the name ends with .png or .webp."""
    if out.suffix == ".html":
        await asyncio.to_thread(out.write_text, _page(rows), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "sheet.html"
        await asyncio.to_thread(sheet.write_text, _page(rows), encoding="utf-8")
        async with open_page(browser) as page:
            await page.show_as(1800, 1000)
            await page.go(sheet.as_uri())
            await page.screenshot(out, "body")


async def _main(program: str, out: Path, only: list[str]) -> None:
    async with chromium(program) as browser:
        await write(browser, await take(browser, only), out)


def main() -> None:
    """Write the sheet that the command line asks for."""
    parser = argparse.ArgumentParser(description="Pictures of all games and pages on one sheet.")
    parser.add_argument("out", type=Path, help="a name that ends with .html, .png or .webp")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    options = parser.parse_args()
    if options.out.suffix not in (".html", ".png", ".webp"):
        parser.error(f"{options.out} ends with none of .html, .png, .webp")
    program = find_chromium()
    if program is None:
        parser.error("no Chromium is installed (PLYHOUSE_CHROMIUM can name one)")
    asyncio.run(_main(program, options.out, options.only))


if __name__ == "__main__":
    main()
