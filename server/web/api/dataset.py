"""Data sets: many matches in one file, for training and statistics.

A match is in it when its whole pairing is over.  Then its record is public to those who see the
match (`plyhouse.server.accounts.privacy`), with what its seats saw.

The file is made while it is sent, a few matches at a time.  Each time it waits for its turn among
the replays and records of others.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal, cast

from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream
from msgspec.structs import replace

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import DATASET_MATCHES, Match
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.jobs.fair_queue import FairQueue
from plyhouse.server.jobs.helper_jobs import LOWEST, NotWorkedOut, Reviews, environment
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.lobby.match_search import Words, filter_of
from plyhouse.server.results.dataset import (
    FORMS,
    has_parquet,
    json_lines,
    ply_lines,
)
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import sight_of, visitor_of
from plyhouse.server.web.api.matches import with_live_ply
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.match_reads import stored_matches
from plyhouse.storage.rows import StoredMatch
from plyhouse.storage.store import Store

PART: Final = 50
"""Matches that are read at once."""
EVENTS: Final = 500
"""Events after which a helper is given no further match at once; a replay shows 200."""
FILES: Final = FairQueue(4)
"""Parquet files at once: each takes a process of about 100 MB while its client reads."""
STALLED: Final = 60.0
"""Seconds after which a Parquet file is given up that nobody reads."""

Milliseconds = Annotated[int | None, QueryParameter(ge=0, lt=1 << 53)]


@serve(calls.dataset, "matches", media_type="application/octet-stream")
async def dataset(
    state: State,
    request: Request[Any, Any, Any],
    rows: FromQuery[Literal["matches", "plies"]] = "plies",
    form: FromQuery[Literal["jsonl", "parquet"]] = "jsonl",
    game: FromQuery[str] = "",
    player: FromQuery[str] = "",
    bot: FromQuery[str] = "",
    competition: FromQuery[str] = "",
    since_ms: Milliseconds = None,
    until_ms: Milliseconds = None,
    limit: Annotated[
        int | None, QueryParameter(ge=1, lt=1 << 53, description="Most matches.")
    ] = None,
) -> Response[Any]:
    """Give finished matches as a file, the last to end first.

    It has a row for each match, as in the list of matches, or for each ply, with the position as
    the moving seat saw it.  ``game``, ``player``, ``bot`` and ``competition`` are those of the
    list of matches.  ``since_ms`` and ``until_ms`` limit when a match ended.  A match is in it once
    its whole pairing is over.  The header ``plyhouse-matches`` has their number when you ask.
    """
    if form == "parquet" and not has_parquet():
        raise Problem(
            "dataset/no_parquet",
            "Parquet needs pyarrow on the server (pip install 'plyhouse[parquet]'); form=jsonl "
            "needs nothing.",
            409,
        )
    visitor = await visitor_of(request)
    if form == "parquet" and FILES.busy(visitor):
        text = "The server makes other Parquet files: ask again in a while, or for form=jsonl."
        raise NotWorkedOut("server/overloaded", text, 10)
    privacy = service(state, Privacy)
    sight = await sight_of(request)
    words = Words(game=game, player=player, bot=bot, competition=competition)
    found = await filter_of(service(state, Store), privacy, sight, words)
    wanted = replace(found.wanted, by_end=True, over=True, since_ms=since_ms, until_ms=until_ms)
    count = await privacy.count(sight, wanted)
    if limit is not None:
        count = min(count, limit)
    lines = _lines(state, visitor, sight, wanted, limit, rows)
    return Stream(
        lines if form == "jsonl" else _parquet(lines, rows, visitor),
        media_type=FORMS[form],
        headers={
            "content-disposition": f'attachment; filename="{rows}.{form}"',
            "cache-control": "no-store",
            DATASET_MATCHES: str(count),
        },
    )


async def _lines(
    state: State, visitor: Hashable, sight: Sight, wanted: MatchFilter, limit: int | None, kind: str
) -> AsyncIterator[bytes]:
    """Yield the rows of matches, at most ``limit`` of them, as JSON Lines."""
    privacy = service(state, Privacy)
    before = None
    left = sys.maxsize if limit is None else limit
    while left > 0:
        part = await privacy.matches(sight, wanted, limit=min(PART, left), before=before)
        if not part:
            return
        left -= len(part)
        before = part[-1].match
        if kind == "matches":
            yield json_lines([with_live_ply(service(state, Directory), each) for each in part])
            continue
        async for lines in _plies(state, visitor, part):
            yield lines


async def _plies(state: State, visitor: Hashable, part: Sequence[Match]) -> AsyncIterator[bytes]:
    """Yield the plies of a few matches, each time as many as a helper works out in a moment."""
    found = await service(state, Store).read(stored_matches, [each.match for each in part])
    reviews = service(state, Reviews)
    for some in _in_parts(found):
        kept = [
            await asyncio.to_thread(reviews.kept, each.header.id, len(each.header.seats))
            for each in some
        ]
        async with service(state, Helpers).queue.of(visitor):
            lines = await service(state, Helpers).run(ply_lines, list(zip(some, kept, strict=True)))
        if lines:
            yield lines


def _in_parts(found: Sequence[StoredMatch]) -> Iterator[list[StoredMatch]]:
    """Yield matches in lists that have about `EVENTS` events."""
    some: list[StoredMatch] = []
    for each in found:
        some.append(each)
        if sum(len(one.events) for one in some) >= EVENTS:
            yield some
            some = []
    if some:
        yield some


async def _parquet(
    lines: AsyncIterator[bytes], kind: str, visitor: Hashable
) -> AsyncIterator[bytes]:
    """Yield the same rows as a Parquet file, which another process makes."""
    parts: asyncio.Queue[bytes] = asyncio.Queue(1)
    making = asyncio.create_task(_make(lines, kind, visitor, parts))
    taking: asyncio.Task[bytes] | None = None
    try:
        while not (making.done() and parts.empty()):
            taking = asyncio.create_task(parts.get())
            await asyncio.wait({taking, making}, return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
            taking.cancel()
        making.result()
    finally:
        making.cancel()
        if taking is not None:
            taking.cancel()
        await asyncio.gather(making, return_exceptions=True)


async def _make(
    lines: AsyncIterator[bytes], kind: str, visitor: Hashable, parts: asyncio.Queue[bytes]
) -> None:
    """Put the parts of a Parquet file into a queue, as fast as its reader takes them.

    Raises `NotWorkedOut` for a reader that takes nothing for `STALLED` seconds.
    """
    async with FILES.of(visitor):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "plyhouse.server.results.dataset", kind),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must reach only the server
            env=environment(),
        )
        feeding = asyncio.create_task(_feed(process, lines))
        try:
            with contextlib.suppress(OSError, AttributeError):
                os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST)
            while data := await cast(asyncio.StreamReader, process.stdout).read(1 << 16):
                async with asyncio.timeout(STALLED):
                    await parts.put(data)
            await feeding
            if await process.wait():
                raise NotWorkedOut("server/overloaded", "The Parquet file could not be made.", 10)
        except TimeoutError as error:
            text = f"The Parquet file was not read for {STALLED:g} s."
            raise NotWorkedOut("server/overloaded", text, 10) from error
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            # What nobody read would keep the pipe open.
            await cast(asyncio.StreamReader, process.stdout).read()
            await process.wait()


async def _feed(process: asyncio.subprocess.Process, lines: AsyncIterator[bytes]) -> None:
    given = cast(asyncio.StreamWriter, process.stdin)
    try:
        async for each in lines:
            given.write(each)
            await given.drain()
    except BaseException:
        process.kill()  # a part must not look like the whole file
        raise
    given.close()


HANDLERS: Final[tuple[Any, ...]] = (dataset,)
