"""Pictures of every registered game as people see it, for somebody to look at.

``python -m tests.web.pictures FOLDER`` plays a seeded match of each game and draws a few of its
positions with the web client's own modules: light and dark, on a phone, a desk and a projector.
``--game`` names some games or specs (``--game go "go(size=19)"``), ``--sheet`` puts all pictures of
one size into few large ones.  It needs Chromium (PLYHOUSE_CHROMIUM can name one).
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import math
import random
import sys
from collections.abc import Container
from pathlib import Path
from typing import Any, Final

from plyhouse.clients.replay.positions import import_map, styles
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import game_names, get_game
from plyhouse.games.scene import scene_fields

from .browser import Page, chromium, find_chromium, open_page

__all__ = ["SIZES", "boards_page", "positions"]

SIZES: Final = {"phone": (390, 844), "desk": (1280, 800), "projector": (1920, 1080)}
PLIES: Final = (0, 7)
"""So many plies were played where a picture is taken; the end of the match is the last one."""
SEED: Final = 4
HOLDERS: Final = ("alice/easy", "bob/hard", "carol/mcts", "dave/bot", "erin/bot", "frank/bot")

_PAGE: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Pictures</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}
#places {{ display: grid; gap: 1rem; padding-top: 1rem; }}
#places.sheet {{ grid-template-columns: repeat(var(--across), minmax(0, 1fr)); }}
h2 {{ margin: 0 0 .5rem; font-size: 1rem; }}
</style>
<script type="importmap">{imports}</script></head>
<body><main id="places"></main>
<script type="module">
import {{ drawScene }} from "plyhouse/scene";
window.show = (pictures, across) => {{
  const places = document.getElementById("places");
  places.className = across > 1 ? "sheet" : "";
  places.style.setProperty("--across", across);
  places.replaceChildren(...pictures.map(({{ name, scene, before, acts, holders }}) => {{
    const part = document.createElement("section");
    const title = document.createElement("h2");
    title.textContent = name;
    part.append(title, drawScene(scene, before, acts ? () => {{}} : null, {{ holders }}));
    return part;
  }}));
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}};
window.ready = true;
</script></body></html>
"""


def _scene(game: Game, state: Any, viewer: int | None) -> dict[str, Any]:
    """The scene as a server sends it."""
    names = tuple(game.seat_name(seat) for seat in range(game.seats))
    scene = game.scene(game.observe(state, viewer))
    return scene_fields(dataclasses.replace(scene, seats=names, viewer=viewer))


def positions(spec: str, plies: Container[int] = PLIES, seed: int = SEED) -> list[dict[str, Any]]:
    """Positions of a seeded match, each as the seat to move sees it, and the last one."""
    game, rng = get_game(spec), random.Random(seed)
    state, ply, found = game.initial_state(), 0, []
    before = state
    while True:
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            weights = [weight for _, weight in outcomes]
            state = state.after(rng.choices([each for each, _ in outcomes], weights)[0])
            continue
        over = state.to_move == TERMINAL
        if over or ply in plies:
            viewer = None if over else state.to_move
            found.append(
                {
                    "name": f"{spec}, {'end' if over else f'ply {ply}'}",
                    "scene": _scene(game, state, viewer),
                    "before": _scene(game, before, viewer),
                    "acts": not over,
                    "holders": HOLDERS[: game.seats],
                }
            )
        if over:
            return found
        before, ply = state, ply + 1
        state = state.after(rng.choice(state.actions()))


def boards_page() -> str:
    """Return a page whose function ``show`` draws positions."""
    return _PAGE.format(style=styles(), imports=import_map())


async def _take(page: Page, folder: Path, pictures: list[Any], name: str, across: int) -> None:
    wide = await page.evaluate(f"show({json.dumps(pictures)}, {across})")
    if wide > 0:
        print(f"{name}: {wide} pixels wider than the window", file=sys.stderr)
    await page.screenshot(folder / f"{name}.png")


async def _all(program: str, folder: Path, specs: list[str], sizes: list[str], sheet: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    html = folder / "pictures.html"
    html.write_text(boards_page(), encoding="utf-8")
    shown = [picture for spec in specs for picture in positions(spec)]
    async with chromium(program) as browser, open_page(browser) as page:
        await page.go(html.resolve().as_uri())
        await page.until("window.ready")
        for size in sizes:
            width, height = SIZES[size]
            for dark in (False, True):
                look = f"{size}-{'dark' if dark else 'light'}"
                if sheet:
                    across = sheet
                    each = 3 * across
                    await page.show_as(max(600, width * across), height, dark=dark)
                    for part in range(math.ceil(len(shown) / each)):
                        some = shown[part * each : (part + 1) * each]
                        await _take(page, folder, some, f"sheet-{look}-{part}", across)
                    continue
                await page.show_as(width, height, dark=dark)
                for picture in shown:
                    name = picture["name"].replace(", ", "-").replace(" ", "")
                    await _take(page, folder, [picture], f"{name}-{look}", 1)
        if page.errors:
            print("\n".join(page.errors), file=sys.stderr)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description="Pictures of every game, to be looked at.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", nargs="+", default=list(game_names()), metavar="SPEC")
    parser.add_argument("--size", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--sheet", type=int, default=0, metavar="ACROSS", help="pictures in a row")
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        parser.error("no Chromium is installed (PLYHOUSE_CHROMIUM can name one)")
    asyncio.run(_all(program, options.folder, options.game, options.size, options.sheet))


if __name__ == "__main__":
    main()
