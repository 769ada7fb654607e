"""Finished matches for what learns from them: from files of records, or from a database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import own_name
from plyhouse.clients.shared.output import counted, note
from plyhouse.storage import match_lists, match_reads

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.search import PlayedMatch

__all__ = ["played_matches", "stored_matches"]


def played_matches(game: Game, files: Sequence[Path], database: str | None) -> list[PlayedMatch]:
    """The finished matches of the game in these files and this database.

    Says how many there are, and how many of other games were left out.  Raises `CommandError`
    if there are none, or nothing was named to look in.
    """
    from plyhouse.clients.replay.record_files import records_in

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
