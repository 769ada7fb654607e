"""A wire to PostgreSQL that can be cut at the worst of moments."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sqlalchemy.engine import make_url


class Wire:
    """A proxy between clients and PostgreSQL, on its own port."""

    def __init__(self, host: str, port: int) -> None:
        self._there = host, port
        self.silent = False
        """True if the server's answers are held back."""
        self.stalls_at = b""
        """A client that sends this gets all further answers at once, when the server hangs up."""
        self._links: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self.port = 0
        self.lose_commits = 0
        """How many COMMITs will be carried out without the client hearing of it."""
        self.drop_commits = 0
        """How many COMMITs will not even arrive."""
        self.spared = 0
        """How many COMMITs pass unharmed before each of those."""
        self._passed = 0
        self.dead = False
        """True if connections are cut as soon as they are made."""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self.cut()
        self._server.close()
        await self._server.wait_closed()

    def cut(self) -> None:
        """Cut all connections."""
        for link in self._links:
            link.transport.abort()
        self._links.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.dead:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(*self._there)
        self._links += writer, far_writer
        lost, stalled = asyncio.Event(), asyncio.Event()

        async def back() -> None:
            late = b""
            with contextlib.suppress(OSError):
                while data := await far_reader.read(65536):
                    if lost.is_set():
                        break  # The answer to COMMIT: it is stored, and no client learns it.
                    if stalled.is_set():
                        late += data
                    elif not self.silent:
                        writer.write(data)
            writer.write(late)
            writer.transport.abort()

        answers = asyncio.create_task(back())
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if self.stalls_at and self.stalls_at in data:
                    self.stalls_at = b""
                    stalled.set()
                if _commits(data) and (self.drop_commits or self.lose_commits):
                    if self._passed < self.spared:
                        self._passed += 1
                    elif self.drop_commits:
                        self._passed = 0
                        self.drop_commits -= 1
                        break
                    else:
                        self._passed = 0
                        self.lose_commits -= 1
                        lost.set()
                far_writer.write(data)
        far_writer.transport.abort()
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await answers


def _commits(data: bytes) -> bool:
    """Return whether data of a client ends a transaction, or is one (`PostgresWriter`)."""
    return b"COMMIT" in data or (data[:1] == b"B" and b"\0store_events\0" in data[:40])


@contextlib.asynccontextmanager
async def wire_to(url: str) -> AsyncIterator[tuple[Wire, str]]:
    """A wire, and the URL of the same database at its end."""
    there = make_url(url)
    wire = Wire(there.host or "127.0.0.1", there.port or 5432)
    await wire.open()
    here = there.set(host="127.0.0.1", port=wire.port)
    try:
        yield wire, here.render_as_string(hide_password=False)
    finally:
        await wire.close()
