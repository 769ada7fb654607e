"""A headless Chromium driven through its DevTools protocol, with nothing but `websockets`."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 90.0
"""Seconds after which a page that does not get there has failed."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--no-proxy-server",
    "--no-first-run",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Its address bar draws suggestions as two more pages for every window: three quarters of a
    # window's cost. And a tab would have one process when it is empty, another
    # for our page, and a third in reserve: here one does for all that it shows.
    "--disable-site-isolation-trials",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,"
    "IsolateOrigins,site-per-process,SpareRendererForSitePerProcess",
    "--remote-debugging-port=0",
)


class PageError(AssertionError):
    """A page did not get where it should, or a script failed."""


def find_chromium() -> str | None:
    """The browser to use: PLYHOUSE_CHROMIUM, or what is on the path."""
    named = os.environ.get("PLYHOUSE_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextlib.contextmanager
def chromium(program: str, profile: Path) -> Iterator[str]:
    """Run a browser with an empty profile; gives the address of its DevTools."""
    process = subprocess.Popen(
        [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    assert process.stderr is not None
    try:
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            _, found, address = line.partition("DevTools listening on ")
            if found:
                break
        else:
            raise PageError(f"{program} did not start: {''.join(said)[-2000:]}")
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        drain.start()
        yield address.strip()
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if "drain" in locals():
            drain.join(10)
        process.stderr.close()


class Page:
    """One tab, in its own browser context (cookies, cache)."""

    def __init__(self, wire: ClientConnection) -> None:
        self._wire = wire
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session: str | None = None
        self.errors: list[str] = []
        """The errors in the page's console, exceptions included."""
        self.listeners: list[Callable[[str, dict[str, Any]], None]] = []
        """Told of every event of the DevTools, by its name and parameters."""
        self.context = ""
        """The browser context, which tabs may share: the same cookies."""

    async def read(self) -> None:
        """Take in what the browser says, until it leaves."""
        async for frame in self._wire:
            message = json.loads(frame)
            future = self._answers.pop(message.get("id", -1), None)
            if future is not None and not future.done():
                future.set_result(message)
            self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, method: str, params: dict[str, Any]) -> None:
        for each in self.listeners if method else ():
            each(method, params)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", "")
            self.errors.append(f"{details['text']} {thrown}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(" ".join(str(each.get("value", each)) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a DevTools command and return its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._wire.send(json.dumps(message))
        async with asyncio.timeout(PATIENCE):
            answer = await future
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    async def open(self, context: str = "") -> None:
        """Open the tab, in a new context unless one is named."""
        if not context:
            context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        self.context = context
        made = await self.call("Target.createTarget", url="about:blank", browserContextId=context)
        target = made["targetId"]
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")

    async def close(self) -> None:
        """Close all tabs of its context."""
        self._session = None
        await self.call("Target.disposeBrowserContext", browserContextId=self.context)

    async def hurry(self, wait: int) -> None:
        """Let what pages do every so many ms, from the next one on, be done ten times as often."""
        script = (
            "{ const later = setTimeout;"
            " globalThis.setTimeout = (then, wait = 0, ...given) =>"
            f" later(then, wait === {wait} ? {wait // 10} : wait, ...given); }}"
        )
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def go(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        here = f"location.href.split('#')[0] === {json.dumps(url)}"
        await self.call("Page.navigate", url=url)
        await self.until(f"document.readyState === 'complete' && {here}")

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", details["text"])
            raise PageError(f"{expression}: {thrown}")
        return answer["result"].get("value")

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
                    except PageError as error:  # another page was opened meanwhile: look there
                        if "context" not in str(error) and "navigated" not in str(error):
                            raise
        except TimeoutError:
            seen = await self.evaluate("location.href + '\\n' + document.body.innerText")
            raise PageError(f"never came true: {condition}\n{seen}\n{self.errors}") from None

    async def text(self, selector: str) -> str:
        """The text of the first element that a selector finds; empty if there is none."""
        found = json.dumps(selector)
        return str(await self.evaluate(f"document.querySelector({found})?.textContent ?? ''"))

    async def click(self, selector: str) -> None:
        """Click on an element."""
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    async def point(self, selector: str) -> None:
        """Press the mouse on the middle of an element, once it has stopped moving."""
        found = json.dumps(selector)
        place = await self.evaluate(
            "(async () => { let before = []; for (let frame = 0; frame < 120; frame++) {"
            f"const node = document.querySelector({found});"
            "node.scrollIntoView({block: 'center'});"
            "const box = node.getBoundingClientRect();"
            "const here = [box.x + box.width / 2, box.y + box.height / 2];"
            "if (here[0] === before[0] && here[1] === before[1]) return here; before = here;"
            "for (const _ of [1, 2]) await new Promise((next) => requestAnimationFrame(next)); }"
            f"throw new Error('it never stands still: ' + {found}); }})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=place[0],
                y=place[1],
                button="left",
                clickCount=1,
            )

    async def drag(self, start: str, end: str) -> None:
        """Drag with the mouse from the middle of one element to that of another."""
        script = (
            "(() => [{}, {}].map((each) => { const box ="
            " document.querySelector(each).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; }))()"
        )
        script = script.replace("{}", json.dumps(start), 1).replace("{}", json.dumps(end), 1)
        (x, y), (to_x, to_y) = await self.evaluate(script)
        way = [("mousePressed", x, y), ("mouseMoved", (x + to_x) / 2, (y + to_y) / 2)]
        for kind, at_x, at_y in (*way, ("mouseMoved", to_x, to_y), ("mouseReleased", to_x, to_y)):
            await self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=at_x,
                y=at_y,
                button="left",
                buttons=1,
                clickCount=1,
            )

    async def press(self, key: str) -> None:
        """Press and release a key, as the keyboard does: ``ArrowLeft``, ``Home``, ``Tab`` ..."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36}
        code |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("keyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code.get(key, 0),
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    async def show_as(self, width: int, height: int, *, dark: bool = False) -> None:
        """Use a window of this size, and a colour scheme."""
        phone = width < 600
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def screenshot(self, path: Path, selector: str = "", *, whole: bool = True) -> None:
        """Write a picture of the page, or of an element; ``path`` ends with its format.

        Without ``whole``, the picture ends where the window does.
        """
        options: dict[str, Any] = {"format": path.suffix[1:], "captureBeyondViewport": whole}
        if selector:
            box = await self.evaluate(
                f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()"
            )
            edges = {edge: box[edge] for edge in ("x", "y", "width", "height")}
            options["clip"] = {**edges, "scale": 1}
        if path.suffix == ".webp":
            options["quality"] = 85
        shot = await self.call("Page.captureScreenshot", **options)
        data = base64.b64decode(shot["data"])
        await asyncio.to_thread(path.write_bytes, data)


@contextlib.asynccontextmanager
async def open_page(devtools: str, *, beside: Page | None = None) -> AsyncIterator[Page]:
    """A new tab of a running browser; ``beside`` is one with which it shares its cookies."""
    async with connect(devtools, max_size=None, compression=None, proxy=None) as wire:
        page = Page(wire)
        reader = asyncio.create_task(page.read())
        try:
            await page.open("" if beside is None else beside.context)
            yield page
            if beside is None:  # else it would go on beside all pages that come later
                await page.close()
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader


async def sign_in(page: Page, token: str) -> None:
    """Begin a session in the page's browser, as the page of the account does."""
    answer = await page.evaluate(
        "fetch('/api/v1/session', {method: 'POST', headers: {'content-type': 'application/json'},"
        f"body: JSON.stringify({{token: {json.dumps(token)}}})}}).then((answer) => answer.status)"
    )
    assert answer == 200
