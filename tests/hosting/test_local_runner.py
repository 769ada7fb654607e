"""The reports of a server's own runner."""

from __future__ import annotations

import asyncio

import pytest

from plyhouse.clients.runner.local import LONGEST, lines_of


@pytest.mark.parametrize("end", [b"\n", b""])
async def test_a_line_of_any_length_ends_nothing(end: bytes) -> None:
    """A bot that raises with a long text has the runner say it in one line."""
    stream = asyncio.StreamReader()
    stream.feed_data(b"first\n" + b"x" * 300_000 + b"\nthen\n\nlast" + end)
    stream.feed_eof()
    found = [line async for line in lines_of(stream)]
    assert [line[:5] for line in found] == ["first", "xxxxx", "then", "", "last"]
    assert len(found[1]) == LONGEST
