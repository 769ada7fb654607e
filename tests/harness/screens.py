"""Waiting for what a screen shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.harness.patience import PATIENCE
from textual.pilot import Pilot


async def until(pilot: Pilot[None], fact: Callable[[], bool]) -> None:
    """Let everything go on until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not fact():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.002)
    await pilot.pause()
