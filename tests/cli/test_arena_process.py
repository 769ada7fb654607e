"""A process of the local arena, seen from the series that started it."""

from __future__ import annotations

import asyncio
import sys

from plyhouse.clients.arena import series
from plyhouse.clients.shared.program_settings import loop_factory


def test_a_process_that_has_just_left_is_not_an_error() -> None:
    """When time runs out just as it leaves, there is nothing to end any more."""

    async def leave() -> int | None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await series._end(process, 0.0)
        return process.returncode

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        assert runner.run(leave()) == 1
