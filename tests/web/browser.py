"""A headless Chromium for the tests of the pages, driven by Playwright."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, ConsoleMessage, async_playwright
from playwright.async_api import Error as BrowserError
from playwright.async_api import Page as Tab
from tests.harness.patience import PATIENCE

NAMES = (
    "chromium-headless-shell",  # draws pages without a window around them, for less processor time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
OPTIONS = (
    "--no-sandbox",
    "--no-proxy-server",
    "--disable-gpu",
    "--disable-quic",
    # One process draws all that a tab shows; by default an empty tab, our page and a spare one
    # have a process each.
    "--disable-site-isolation-trials",
)


GIVES_UP = 10_000
"""Milliseconds after which a page gives up a connection that is not there yet (connection.js)."""
PATIENT = (
    "{ const later = setTimeout;"
    " globalThis.setTimeout = (then, wait = 0, ...given) =>"
    f" later(then, wait === {GIVES_UP} ? {PATIENCE * 1000:.0f} : wait, ...given); }}"
)
"""Run in a page before its scripts: browsers note given up connections as errors of the page."""


class PageError(AssertionError):
    """A page did not get where it should."""


def find_chromium() -> str | None:
    """The browser to use: PLYHOUSE_CHROMIUM, or what is on the path."""
    named = os.environ.get("PLYHOUSE_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextlib.asynccontextmanager
async def chromium(program: str) -> AsyncIterator[Browser]:
    """Run a browser with an empty profile."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=OPTIONS)
        try:
            yield browser
        finally:
            await browser.close()


class Page:
    """One tab and what the tests do in it.

    ``tab`` is Playwright's page, for everything that has no method here.
    """

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.errors: list[str] = []
        """The errors and warnings in the page's console, exceptions included."""
        tab.set_default_timeout(PATIENCE * 1000)
        tab.on("console", self._note)
        tab.on("pageerror", lambda error: self.errors.append(error.stack or error.message))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} {message.location.get('url', '')}")

    async def shorten(self, wait: int) -> None:
        """Divide the page's timers of ``wait`` ms by ten, from the next page on."""
        await self.tab.add_init_script(
            "{ const later = setTimeout;"
            " globalThis.setTimeout = (then, wait = 0, ...given) =>"
            f" later(then, wait === {wait} ? {wait // 10} : wait, ...given); }}"
        )

    async def go(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        try:
            await self.tab.goto(url)
        except BrowserError as error:
            # The page was opening an address by itself, such as that of its new match.
            if "ERR_ABORTED" not in str(error) and "interrupted" not in str(error):
                raise
            await self.tab.goto(url)

    async def leave_for(self, url: str) -> None:
        """Open an address, without waiting for more than its first bytes."""
        await self.tab.goto(url, wait_until="commit")

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        return await self.tab.evaluate(expression)

    async def until(self, condition: str) -> Any:
        """Wait until a JavaScript expression is true, looking once per frame; returns it."""
        script = (
            "new Promise((resolve) => { const look = () => { let found = null;"
            f"try {{ found = ({condition}); }} catch {{ found = null; }}"
            "if (found) resolve(found); else requestAnimationFrame(look); }; look(); })"
        )
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        return await self.evaluate(script)
                    except BrowserError as error:  # another page was opened meanwhile: look there
                        if "context" not in str(error) and "navigat" not in str(error):
                            raise
        except TimeoutError:
            seen = await self.evaluate("location.href + '\\n' + document.body.innerText")
            raise PageError(f"never came true: {condition}\n{seen}\n{self.errors}") from None

    async def text(self, selector: str) -> str:
        """The text of the first element that a selector finds; empty if there is none."""
        found = json.dumps(selector)
        return str(await self.evaluate(f"document.querySelector({found})?.textContent ?? ''"))

    async def click(self, selector: str, *, disabled: bool = False) -> None:
        """Click with the mouse on an element, once it can be seen and has stopped moving.

        ``disabled`` also clicks where the page says that a click has no effect.
        """
        await self.tab.click(selector, force=disabled)

    async def press_again(self, selector: str) -> str:
        """Answer a button that asks once more; return its question.

        The button forgets its first press after four seconds, and a busy machine may need longer:
        then both presses are made here, within one task of the page.
        """
        node = f"document.querySelector({json.dumps(selector)})"
        return str(
            await self.evaluate(
                f"(() => {{ const node = {node}; if (!node.dataset.armed) node.click();"
                " const asked = node.textContent; node.click(); return asked; })()"
            )
        )

    async def drag(self, start: str, end: str, *, touch: bool = False) -> None:
        """Drag with the mouse, or a finger, from the middle of one element to that of another."""
        if not touch:
            await self.tab.drag_and_drop(start, end)
            return
        middle = "({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 })"
        here, there = [
            await self.evaluate(
                f"({middle})(document.querySelector({json.dumps(each)}).getBoundingClientRect())"
            )
            for each in (start, end)
        ]
        tools = await self.tab.context.new_cdp_session(
            self.tab
        )  # Playwright has no fingers that move
        for kind, points in (
            ("touchStart", [here]),
            ("touchMove", [{"x": here["x"] + 9, "y": here["y"] - 9}]),
            ("touchMove", [there]),
            ("touchEnd", []),
        ):
            await tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await tools.detach()

    async def press(self, key: str) -> None:
        """Press and release a key, as the keyboard does: ``ArrowLeft``, ``Home``, ``Tab`` ..."""
        await self.tab.keyboard.press(key)

    async def show_as(self, width: int, height: int, *, dark: bool = False) -> None:
        """Use a window of this size, and a colour scheme."""
        await self.tab.set_viewport_size({"width": width, "height": height})
        await self.tab.emulate_media(color_scheme="dark" if dark else "light")
        await self.until(f"innerWidth === {width} && innerHeight === {height}")

    async def screenshot(
        self,
        path: Path,
        selector: str = "",
        *,
        whole: bool = True,
        scale: float = 1,
        quality: int = 85,
    ) -> None:
        """Write a picture of the page, or of an element; ``path`` ends with its format.

        ``scale`` makes the picture of an element smaller or larger.  Without ``whole``, the
        picture ends where the window does.  ``quality`` of a WebP is 0 to 100.
        """
        options: dict[str, Any] = {"format": path.suffix[1:], "captureBeyondViewport": whole}
        if selector:
            box = await self.evaluate(
                f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()"
            )
            edges = {edge: box[edge] for edge in ("x", "y", "width", "height")}
            options["clip"] = {**edges, "scale": scale}
        if path.suffix == ".webp":
            options["quality"] = quality
        tools = await self.tab.context.new_cdp_session(self.tab)  # Playwright writes no WebP
        shot = await tools.send("Page.captureScreenshot", options)
        await tools.detach()
        data = base64.b64decode(shot["data"])
        await asyncio.to_thread(path.write_bytes, data)


@contextlib.asynccontextmanager
async def open_page(
    browser: Browser, *, beside: Page | None = None, touch: bool = False
) -> AsyncIterator[Page]:
    """A new tab of a running browser; ``beside`` is one with which it shares its cookies.

    With ``touch`` it has a touch screen, as a phone does.
    """
    if beside is not None:
        yield Page(await beside.tab.context.new_page())  # closed with the context
        return
    context = await browser.new_context(has_touch=touch)
    try:
        await context.add_init_script(PATIENT)
        yield Page(await context.new_page())
    finally:
        await context.close()


async def sign_in(page: Page, token: str) -> None:
    """Begin a session in the page's browser, as the page of the account does."""
    answer = await page.evaluate(
        "fetch('/api/v1/session', {method: 'POST', headers: {'content-type': 'application/json'},"
        f"body: JSON.stringify({{token: {json.dumps(token)}}})}}).then((answer) => answer.status)"
    )
    assert answer == 200
