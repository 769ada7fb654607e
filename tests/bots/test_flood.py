"""A bot that floods its runner leaves the runner's other bots their turns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from plyhouse.bots.process.bot_process import read_output
from plyhouse.bots.process.output_limits import AT_ONCE


class Printed:
    """Bytes that are available at once."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = list(chunks)

    async def read(self, size: int, /) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""


@pytest.mark.parametrize("chunk", [b"\n" * 65536, b"a\n" * 32768])
async def test_others_have_their_turns_while_a_flood_of_lines_is_read(chunk: bytes) -> None:
    read: list[int] = []
    others = 0

    async def other() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    def on_output(lines: Sequence[str]) -> None:
        read.append(len(lines))

    beside = asyncio.create_task(other())
    await read_output(Printed(chunk), on_output)
    beside.cancel()
    assert sum(read) == chunk.count(b"\n")
    assert max(read) <= AT_ONCE
    assert others >= len(read) - 1
