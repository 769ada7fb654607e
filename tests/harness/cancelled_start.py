"""The start of a boxed program that is cancelled at any step, and what must be left of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from plyhouse.bots.sandbox.box import Cores
from plyhouse.bots.sandbox.client import ForkServerClient


async def cancelled_start_leaves_nothing(
    fork_server: ForkServerClient,
    start: Callable[[Cores], Coroutine[Any, Any, object]],
    *,
    steps: int,
    started: bool = True,
) -> None:
    """Cancel a start some steps of the loop after its launch has begun, or its box has started.

    Fails unless the box has ended and its descriptors and processor are free at once.
    """
    cores = Cores([0, 1])
    before = set(os.listdir("/proc/self/fd"))
    starting = asyncio.create_task(start(cores))
    while not fork_server.boxes:  # noqa: ASYNC110 - no event tells that the launch has begun
        await asyncio.sleep(0)
    if started:
        (box,) = fork_server._boxes.values()
        await box.started
    for _ in range(steps):
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert fork_server.boxes == 0
    await asyncio.sleep(0)  # transports close their files in the loop's next round
    assert set(os.listdir("/proc/self/fd")) <= before
    assert [cores.take(), cores.take()] == [0, 1]
