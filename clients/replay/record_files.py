"""Read files of match records."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import own_name
from plyhouse.clients.shared.output import counted, note
from plyhouse.protocol.text import decoded
from plyhouse.storage import match_lists, match_reads

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.search import PlayedMatch
    from plyhouse.server.results.record import Record

MATCH_ID: Final = re.compile("[0-9a-z]{14}")


def records_in(file: Path) -> Iterator[Record]:
    """Yield the records of a file; raise `CommandError` if it cannot be read."""
    try:
        data = file.read_bytes()
    except OSError as error:
        if not file.exists() and MATCH_ID.fullmatch(str(file)):
            raise CommandError(
                f"There is no file {file}. If that is a match, save its record first: "
                f"plyhouse record {file} -o {file}.json",
                EXIT_USAGE,
            ) from error
        if not file.exists():
            raise CommandError(
                f"There is no file {file}. Give a file of records. `plyhouse record MATCH -o FILE` "
                "writes one for a match of a server; MATCH is its id of 14 digits and letters. "
                "`plyhouse match --save FILE` writes one for matches on your machine.",
                EXIT_USAGE,
            ) from error
        reason = (error.strerror or "cannot be read").lower()
        raise CommandError(f"{file}: {reason}.", EXIT_USAGE) from error
    yield from records_of(data, str(file))


def records_of(data: bytes, file: str) -> Iterator[Record]:
    """Yield the records of a file with this content; raise `CommandError` if it has others."""
    from plyhouse.server.results.record import RecordError, read_record

    try:  # a redirected command writes UTF-16 in some shells
        data = decoded(data).encode()
    except ValueError as error:
        raise CommandError(f"{file} has no records: {error}.", EXIT_FAILED) from None
    # A single record is indented over many lines; in a series, each record has one line.
    lines = data.splitlines()
    series = len(lines) > 1 and lines[0].rstrip().endswith(b"}")
    for number, text in enumerate(lines if series else [data], 1):
        if not text.strip():
            continue
        try:
            yield read_record(text)
        except RecordError as error:
            place = f"{file}, line {number}" if series else file
            raise CommandError(f"{place}: {error}", EXIT_FAILED) from error


def played_matches(game: Game, files: Sequence[Path], database: str | None) -> list[PlayedMatch]:
    """The finished matches of the game in these files and this database.

    Says how many there are, and how many of other games were left out.  Raises `CommandError`
    if there are none, or nothing was named to look in.
    """
    if not files and database is None:
        raise CommandError(
            "Name files of records (plyhouse match --save), or a --database.", EXIT_USAGE
        )
    found: list[PlayedMatch] = []
    others = 0
    for file in files:
        for record in records_in(file):
            if own_name(record.game) != game.spec or record.outcome is None:
                others += 1
                continue
            returns = record.outcome.returns
            match = _match(record.events, returns, f"{file}: match {record.match}")
            if match is None:
                others += 1
            else:
                found.append(match)
    if database is not None:
        found += asyncio.run(stored_matches(database, game.spec))
    places = [*map(str, files), *([database] if database is not None else [])]
    if not found:
        raise CommandError(f"There is no finished match of {game.spec} in {', '.join(places)}.")
    verb = "was" if others == 1 else "were"
    left_out = f"; {counted(others, 'other')} {verb} left out" if others else ""
    note(f"{counted(len(found), 'match', 'matches')} of {game.spec}{left_out}.")
    return found


def _match(events: Iterable[Any], returns: Sequence[float], name: str) -> PlayedMatch | None:
    """Return actions and chance outcomes, from events or rows; None without a result."""
    from plyhouse.search import PlayedMatch

    if not returns:
        return None
    texts = [event.text for event in events if event.kind in ("action", "chance")]
    return PlayedMatch(texts, tuple(returns), name)


async def stored_matches(url: str, spec: str) -> list[PlayedMatch]:
    """All finished matches of a game in a database, newest first."""
    from plyhouse.storage.store import Store

    found: list[PlayedMatch] = []
    async with await Store.open(url, create=False) as store:
        before: str | None = None
        while page := await store.read(
            match_lists.list_matches,
            match_lists.MatchFilter(game=spec, status="finished"),
            limit=200,
            before=before,
        ):
            before = page[-1].id
            for header in page:
                stored = await store.read(match_reads.stored_match, header.id)
                match = _match(stored.events, header.returns, f"match {header.id}")
                if match is not None:
                    found.append(match)
    return found
