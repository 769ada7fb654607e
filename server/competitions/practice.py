"""Practice ladders, played from a competition's opening to its freeze.

Their matches count for nothing.  A ladder is a competition of its own beside the one
it belongs to.  So boards, matches, reports and visibility work as in every final.  Its entries
follow those of the competition.  A new version replaces the old one at once, and the matches of the
old one no longer count.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Final

from plyhouse.protocol.api.competitions import IN_FINAL
from plyhouse.server.competition_rules.derived_files import practice_name, practice_text, same_terms
from plyhouse.server.competition_rules.file import CompetitionFile, decoded, encoded, file_of
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competitions import finals
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.storage import competition_changes, competition_sql, practice_ladders, suspensions
from plyhouse.storage.competition_changes import Changed
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.competitions.practice")

OPENED: Final = By("the clock", "practice begins")
ENDED: Final = By("the clock", "practice ends with the freeze")
OTHER_TERMS: Final = By("the clock", "practice ends: its matches would be played otherwise now")
LEAST: Final = 2
"""The smallest number of entries with which a ladder begins."""


class PracticeLadders:
    """The practice ladders of one server."""

    def __init__(self, store: Store, tournaments: Tournaments) -> None:
        self._store = store
        self._tournaments = tournaments

    async def look(self, row: CompetitionRow) -> None:
        """Begin, update or end the ladder of a competition, or a ladder itself.

        Raises `CompetitionRefusal` if a ladder cannot begin.
        """
        if row.practice_of:
            await self._end_without(row)
        elif row.status == "open" and decoded(row.parsed).practice.ladder:
            await self._follow(row)

    async def _follow(self, row: CompetitionRow) -> None:
        """Update the ladder to the current entries and versions."""
        status = await self._store.read(practice_ladders.status, row.practice_id)
        if status == "deleted" or (status == "finished" and not await self._resume(row)):
            return
        file = file_of(row)
        bots = await self._bots(row, file)
        if status is None:
            if len(bots) < LEAST:
                return
            await self._begin(row, file)
        elif not await self._change(row, file):
            return
        if await self._store.read(practice_ladders.is_behind, row.practice_id, bots):
            await self._store.write(
                practice_ladders.follow, row.practice_id, bots, self._store.now()
            )
            for game in (await self._store.read(competition_sql.find, row.practice_id)).games:
                await self._tournaments.renewed(game.tournament_id or "")

    async def _bots(self, row: CompetitionRow, file: CompetitionFile) -> frozenset[int]:
        """Return the bots that play, without hidden baselines and suspended bots."""
        suspended = {
            each.version_id for each in await self._store.read(suspensions.suspended_in, row.id)
        }
        shown = {
            each.bot.lower()
            for each in file.originals
            if file.practice.baselines and not each.hidden
        }
        return frozenset(
            each.bot_id
            for each in await self._store.read(competition_sql.entries_of, row.id)
            if each.status == "active"
            and each.version_id is not None
            and each.version_id not in suspended
            and (not each.baseline or each.name.lower() in shown)
        )

    async def _begin(self, row: CompetitionRow, of: CompetitionFile) -> None:
        name = practice_name(row.name)
        text = practice_text(of, name)
        file = await asyncio.to_thread(read_competition, text)
        now = self._store.now()
        ladder = replace(
            row, id=row.practice_id, name=name, file=text, parsed=encoded(file), format="ladder",
            status="frozen", created_ms=now, opens_ms=None, freezes_ms=None, final_ms=None,
            late_ms=None, started_ms=None, note=None,
            games=tuple(replace(each, tournament_id=None) for each in row.games),
        )  # fmt: skip
        parts = await finals.parts(ladder, file, (), self._store, now, practice=True)
        await self._store.write(
            practice_ladders.begin_practice, ladder, parts, OPENED, self._store.now()
        )
        await self._tournaments.begun(parts)
        log.info("practice begun", extra={"competition": row.id, "title": row.name})

    async def _change(self, row: CompetitionRow, of: CompetitionFile) -> bool:
        """Apply a change of the competition's file; False if it ends the ladder."""
        ladder = await self._store.read(competition_sql.find, row.practice_id)
        text = practice_text(of, ladder.name)
        if text == ladder.file:
            return True
        old, new = file_of(ladder), await asyncio.to_thread(read_competition, text)
        if not same_terms(old, new):
            await self._store.write(
                competition_sql.move, ladder.id, "finish", OTHER_TERMS, self._store.now()
            )
            for game in ladder.games:
                await self._tournaments.changed(game.tournament_id or "")
            return False
        limit = new.limits.matches_at_a_time
        changed = Changed(
            replace(ladder, file=text, parsed=encoded(new), most_students=row.most_students), (),
            settings={"at_a_time": limit},
        )  # fmt: skip
        await self._store.write(
            competition_changes.apply,
            ladder,
            changed,
            By(OPENED.who, "its competition has changed"),
            self._store.now(),
        )
        return True

    async def _resume(self, row: CompetitionRow) -> bool:
        """Resume a ladder that the freeze ended; return False for any other."""
        ladder = await self._store.read(competition_sql.find, row.practice_id)
        if ladder.note != ENDED.why:
            return False
        parts = await self._store.write(
            practice_ladders.resume_practice, ladder.id, OPENED, self._store.now()
        )
        await self._tournaments.begun(parts, resumed=True)
        return True

    async def _end_without(self, ladder: CompetitionRow) -> None:
        """End a ladder if its competition is not open or wants no ladder."""
        try:
            row = await self._store.read(competition_sql.find, ladder.practice_of)
        except Unknown:
            await self._store.write(
                competition_sql.move, ladder.id, "delete", ENDED, self._store.now()
            )
            return
        if ladder.status in IN_FINAL and (
            row.status != "open" or not decoded(row.parsed).practice.ladder
        ):
            await self._store.write(
                practice_ladders.end_practice, ladder.id, ENDED, self._store.now()
            )
            for game in ladder.games:
                await self._tournaments.changed(game.tournament_id or "")
