"""The search tree of a position, asked for on the page of its match."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest
from tests.harness.search_trees import explain_command
from tests.harness.zygote import forked_command

from plyhouse.server.serve import running_server

from .browser import Page
from .conftest import House, patient
from .test_accessibility import AXE, RUN

PERCENT = "\N{NO-BREAK SPACE}%"

pytestmark = pytest.mark.browser

ROWS = (
    "[...document.querySelectorAll('#explain [role=treeitem]')].filter((e) => e.checkVisibility())"
)
CHOSEN = "document.querySelector('#explain [aria-selected=true] > .row').textContent"


async def test_why_the_match_was_lost_is_three_presses_away(
    page: Page, pictures: Path | None
) -> None:
    commands = {
        "review_command": shlex.join([*forked_command(), "review", "-", "--json"]),
        "tree_command": explain_command(),
    }
    async with running_server(patient(**commands)) as server:
        house = House(server)
        match = await house.play("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
        await page.go(f"{house.url}/matches/{match}")
        await page.until("document.querySelector('#review button')")
        assert await page.evaluate("!document.querySelector('#explain button').checkVisibility()")
        await page.click("#review button")
        await page.until("document.querySelector('#review button[data-ply=\"1\"]')")
        await page.click("#review button[data-ply='1']")
        await page.until("document.querySelector('#where').textContent.startsWith('1 / ')")
        await page.click("#explain button")
        await page.until("document.querySelector('#explain [role=tree]')")
        told = await page.text("#explain")
        assert f"Played was b1, worth 0{PERCENT}; a1 is worth 50{PERCENT} (exact)." in told
        assert "alpha_beta to depth 3" in told
        await page.until("document.querySelector('#explain img').naturalWidth > 300")
        # A tall drawing is shown where its root is: at the middle of its left side.
        await page.until("document.querySelector('#explain .scroll').scrollTop > 100")
        alt = await page.evaluate("document.querySelector('#explain img').alt")
        assert "alpha_beta to depth 3: value" in alt

        # The list with keys alone, and without leaving the position.
        assert await page.evaluate("document.activeElement.getAttribute('role')") == "treeitem"
        await page.press("ArrowDown")
        first = await page.evaluate(CHOSEN)
        before = await page.evaluate(f"{ROWS}.length")
        await page.press("ArrowLeft")  # the best line is open
        await page.until(f"{ROWS}.length < {before}")
        await page.press("ArrowRight")
        await page.until(f"{ROWS}.length === {before}")
        assert await page.evaluate(CHOSEN) == first
        assert "chooses the least value" in await page.text("#explain .about")
        await page.until("document.querySelector('.node-board .grid svg')")  # its board
        assert await page.evaluate("document.querySelector('#explain pre.unseen') !== null")
        await page.press("Home")
        assert "This position" in await page.evaluate(CHOSEN)
        assert (await page.text("#where")).startswith("1 / ")
        assert await barriers(page) == []
        if pictures is not None:
            await page.show_as(1280, 1600)
            await page.screenshot(pictures / "explain.png")

        # From a position below, with another search, and back again.
        await page.press("ArrowDown")
        action = await page.evaluate(
            "document.querySelector('#explain [aria-selected=true] > .row b').textContent"
        )
        await page.evaluate(
            "[...document.querySelectorAll('#explain button')]"
            ".find((e) => e.textContent.startsWith('Go on')).click()"
        )
        await page.until(f"document.querySelector('#explain h2')?.textContent === 'After {action}'")
        await page.evaluate(
            "(() => { const chosen = document.querySelector('#explain select');"
            " chosen.value = 'minimax'; chosen.dispatchEvent(new Event('change')); })()"
        )
        await page.until("document.querySelector('#explain').textContent.includes('minimax to')")

        # An explanation belongs to its position.
        await page.click("#review button[data-ply='1']")
        await page.evaluate("location.hash = '#3'")
        await page.until("document.querySelector('#where').textContent.startsWith('3 / ')")
        assert await page.evaluate("!document.querySelector('#explain [role=tree]')")
        assert page.errors == []


async def test_actions_of_a_tree_are_written_as_people_and_as_bots_write_them(page: Page) -> None:
    async with running_server(patient(tree_command=explain_command())) as server:
        house = House(server)
        bots = await house.pair('chess(fen="7k/P7/8/8/8/8/8/K7 w - - 0 1")')
        await bots[0].act("a7a8q")
        bots[1].resign()
        await bots[0].finish()
        await page.go(f"{house.url}/matches/{bots[0].match}#0")
        await page.until("document.querySelector('#explain button')?.checkVisibility()")
        await page.click("#explain button")
        await page.until("document.querySelector('#explain [role=tree]')")
        rows = await page.evaluate(
            "[...document.querySelectorAll('#explain [role=treeitem] > .row')]"
            ".filter((row) => row.checkVisibility()).map((row) => ['b', 'code'].map((name) => {"
            " const node = row.querySelector(name);"
            " return node && [node.textContent, node.checkVisibility()]; }))"
        )
        for action, san in (("a7a8q", "a8=Q+"), ("a7a8n", "a8=N"), ("a1b2", "Kb2")):
            assert [[san, True], [action, True]] in rows
        title = "document.querySelector('#explain .row code').title"
        assert await page.evaluate(title) == "As bots write it"
        assert "Played was a8=Q+" in await page.text("#explain")
        assert page.errors == []


async def barriers(page: Page) -> list[str]:
    """Return axe-core's findings, light and dark; none if it is not installed."""
    if not AXE.exists():
        return []
    await page.evaluate(await asyncio.to_thread(AXE.read_text) + "\ntypeof axe.run")
    found: list[str] = []
    for dark in (False, True):
        await page.show_as(1280, 1600, dark=dark)
        found += await page.evaluate(RUN)
    return found


async def test_where_nothing_is_explained_the_page_says_why(page: Page) -> None:
    async with running_server(patient(tree_command=explain_command())) as server:
        house = House(server)
        bots = await house.pair("tic_tac_toe")  # rated
        await bots[0].act("b2")
        await page.go(f"{house.url}/matches/{bots[0].match}")
        await page.until("document.querySelector('#scene svg')")
        await page.until("document.querySelector('#explain').textContent.includes('counts')")
        assert await page.evaluate("!document.querySelector('#explain button').checkVisibility()")
        bots[0].resign()
        await page.until("document.querySelector('#explain button').checkVisibility()")
        cards = await house.pair("kuhn_poker")
        await page.go(f"{house.url}/matches/{cards[0].match}")
        await page.until("document.querySelector('#explain').textContent.includes('hidden')")
        assert page.errors == []
