"""The late entries of a competition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import stored_competition
from plyhouse.storage import competition_entries, competition_sql, competition_students
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.store import Store

__all__ = ["days_late", "lateness"]


async def days_late(
    store: Store, row: CompetitionRow, file: CompetitionFile, entries: Iterable[CompetitionEntry]
) -> dict[int, int]:
    """Return the days by which entries were late, by bot id."""
    if not file.late.days or row.freezes_ms is None:
        return {}
    played = [each for each in entries if each.version_id is not None and not each.baseline]
    seen = await store.read(
        competition_entries.first_seen, [each.version_id for each in played if each.version_id]
    )
    until = {
        each.player_id: each.extended_ms
        for each in await store.read(competition_students.students_of, row.id)
    }
    found = {}
    for each in played:
        came = seen.get(each.version_id or 0, 0)
        days = file.late.days_late(came, row.freezes_ms, until.get(each.player_id), file.dates.zone)
        if days:
            found[each.bot_id] = days
    return found


async def lateness(store: Store, competition_id: str, bot_id: int) -> tuple[int, float]:
    """Return the days by which what a bot plays next is late, and the penalty in percent."""
    row = await store.read(competition_sql.find, competition_id)
    file = stored_competition(row.file)
    entries = await store.read(competition_sql.entries_of, row.id)
    own = [
        replace(each, version_id=each.next_id or each.version_id)
        for each in entries
        if each.bot_id == bot_id
    ]
    days = (await days_late(store, row, file, own)).get(bot_id, 0)
    return days, file.late.penalty(days)
