"""Keys and clicks on screens in tests, and waiting for what a screen shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.harness.patience import PATIENCE
from textual.pilot import Pilot

QUIET = 3
"""Rounds without a message after which a screen has handled all that a key has caused."""


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each when the screen has handled the one before."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def until(pilot: Pilot[None], fact: Callable[[], bool]) -> None:
    """Let everything go on until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not fact():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.002)
    await pilot.pause()
    await settled(pilot)


async def settled(pilot: Pilot[None]) -> None:
    """Let the app handle all its messages, and those that they cause.

    Textual waits until this process uses little time of the processor.  That is also so while a
    machine with other work to do lets it stand still in the middle of a message.
    """
    quiet = 0
    async with asyncio.timeout(PATIENCE):
        while quiet < QUIET:
            app = pilot.app
            widgets = app.screen.walk_children(with_self=True) if app.screen_stack else []
            pumps = [app, *widgets]
            busy = any(each.message_queue_size for each in pumps)
            quiet = 0 if busy else quiet + 1
            await pilot._wait_for_screen(PATIENCE)
