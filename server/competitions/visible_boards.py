"""Boards and grades of competitions, as their viewers may see them.

`plyhouse.server.competitions.results_cache` has the results that they show, and
`plyhouse.server.grades.visible_entries` says who sees which of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from cachetools import LRUCache

from plyhouse.protocol.api.competitions import Announcement
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.file import CompetitionFile, file_of
from plyhouse.server.competitions.absence_reasons import gone_texts, withdrawn_texts
from plyhouse.server.competitions.game_finals import GameFinals
from plyhouse.server.competitions.results_cache import ResultsCache
from plyhouse.server.grades.board import (
    Board,
    board_for,
    left_out_notes,
    rules_of_places,
    standings_for,
)
from plyhouse.server.grades.board_statistics import BoardLine
from plyhouse.server.grades.final_results import Results, entrants_of
from plyhouse.server.grades.standings import Entrant, Standing
from plyhouse.server.grades.student_grades import Grade, grades
from plyhouse.server.grades.visible_entries import Viewer, Visibility, visible_entries
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.storage import (
    competition_entries,
    competition_messages,
    competition_reruns,
    competition_sql,
    competition_students,
    suspensions,
    tournaments,
)
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store


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
    file = file_of(row)
    entries = await store.read(competition_sql.entries_of, row.id)
    own = [
        replace(each, version_id=each.next_id or each.version_id)
        for each in entries
        if each.bot_id == bot_id
    ]
    days = (await days_late(store, row, file, own)).get(bot_id, 0)
    return days, file.late.penalty(days)


KEPT: Final = 16
"""Finals whose grades are kept."""
PRACTICE: Final = (
    "A practice score is the mean of the games that an entry has played. In the final, a game that "
    "it leaves out counts as 0."
)
ANY_TIME: Final = (
    "Pairings are played until grades are certain, so every interval here is an any-time one: it "
    "holds however often you look."
)


class Boards:
    """The boards of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.results = ResultsCache(store)
        self.games = GameFinals(store)
        """The same finals with the tables and rounds of their formats."""
        self._grades: LRUCache[str, tuple[Results, list[Grade]]] = LRUCache(KEPT)
        """The grades of each final, valid for these results."""

    def forget(self) -> None:
        """Clear the cache, because entries have other names."""
        self.results.forget()
        self.games.forget()
        self._grades.clear()

    # ---------------------------------------------------------------------------- viewers

    async def admitted(
        self, reference: str, identity: Identity | None
    ) -> tuple[CompetitionRow, CompetitionFile, Viewer]:
        """Return a competition with its file, and what the identity is in it.

        Raises `Unknown`, and `ProtocolError` if the identity may see nothing of the board.
        """
        row = await self._store.read(competition_sql.find, reference)
        file = file_of(row)
        viewer = Viewer(organiser=await role_in(self._store, row.id, identity) is not None)
        if identity is not None and not viewer.organiser:
            for each in await self._store.read(competition_students.students_of, row.id):
                if each.player_id == identity.player_id and each.status != "revoked":
                    viewer = Viewer(student=each.player)
        if not (viewer.organiser or viewer.student or file.board == "public"):
            code = "auth/required" if identity is None else "auth/scope"
            raise ProtocolError(code, f"The board of {row.name!r} is for its class.")
        return row, file, viewer

    async def eyes(
        self, reference: str, identity: Identity | None
    ) -> tuple[CompetitionRow, tuple[Entrant, ...], Visibility]:
        """Return a competition with its entries, and which of them the identity sees.

        Raises as `admitted` does.
        """
        row, file, viewer = await self.admitted(reference, identity)
        played = await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        entrants = entrants_of(played, file)
        return row, entrants, visible_entries(file, viewer, entrants)

    async def board(self, reference: str, identity: Identity | None) -> Board:
        """Return a board as the identity may see it.

        Organisers see everything, others no hidden baselines.  On an anonymous board a student sees
        its own entries, the baselines, and without names the three entries ahead of its best one.
        Raises `ProtocolError` if the identity may see nothing.
        """
        row, file, viewer = await self.admitted(reference, identity)
        found = await self.results.of(row)
        finals = await self.games.of(row, state=found.state)
        board = await computed(board_for, found, viewer, finals)
        gone = await self._gone(row, board.lines)
        stopped = [ANY_TIME] if file.until_certain else []
        secret = file.board == "anonymous" and not viewer.organiser
        rules = rules_of_places(finals, secret=secret)
        left = left_out_notes(found, board.lines)
        practised = [PRACTICE] if row.practice_of and len(file.games) > 1 else []
        notes = (*rules, *stopped, *practised, *board.notes, *left, *gone)
        return replace(board, notes=notes, grades=await self._seen_grades(found, viewer))

    async def _seen_grades(self, found: Results, viewer: Viewer) -> dict[str, str]:
        """Return the grades that a viewer may see, by entry; none before the first match."""
        if not found.file.graded or not found.results or not (viewer.organiser or viewer.student):
            return {}
        kept = self._grades.get(found.row.id)
        if kept is None or kept[0] is not found:
            kept = self._grades[found.row.id] = found, await self.grades(found)
        mine = viewer.student.lower()
        return {
            each.entry: each.grade
            for each in kept[1]
            if each.entry and (viewer.organiser or each.student.lower() == mine)
        }

    async def placed(self, found: Results, eyes: Visibility) -> list[Standing]:
        """Return the standings that a viewer sees, with places and in their order."""
        return standings_for(found, eyes, await self.games.of(found.row, state=found.state))

    async def _gone(self, row: CompetitionRow, shown: Sequence[BoardLine]) -> list[str]:
        """Return which bots of the named entries were withdrawn, and why."""
        names = {bot: name for line in shown for bot, name in line.standing.entrant.bots.items()}
        suspended = await self._store.read(suspensions.suspended_in, row.id, withdrawn=True)
        return withdrawn_texts(suspended, names) + [
            text
            for game in row.games
            if game.tournament_id is not None
            for text in gone_texts(
                await self._store.read(tournaments.find_tournament, game.tournament_id), names
            )
        ]

    async def announcements(self, reference: str, identity: Identity | None) -> list[Announcement]:
        """Return the announcements of a competition, newest first; raises as `admitted` does."""
        row, _, _ = await self.admitted(reference, identity)
        return await self._store.read(competition_messages.list_of, row.id)

    # ----------------------------------------------------------------------------- grades

    async def grades(self, found: Results) -> list[Grade]:
        """Return the grades of all students who were not removed, by name."""
        students = [
            each.player
            for each in await self._store.read(competition_students.students_of, found.row.id)
            if each.status != "revoked"
        ]
        marks = await computed(
            functools.partial(
                grades,
                students,
                found.entrants,
                found.results,
                found.file.originals,
                every_lower=found.rules.every_lower,
                by_opponent=found.rules.by_opponent,
                left=found.left,
            )
        )
        late = await self._late(found)
        return [
            replace(
                each, days_late=late[each.entry], penalty=found.file.late.penalty(late[each.entry])
            )
            if each.entry in late
            else each
            for each in marks
        ]

    async def _late(self, found: Results) -> dict[str, int]:
        """Return the late entries of a final with the days that each was late.

        The latest bot of a side decides.
        """
        entries = await self._store.read(competition_reruns.played_entries, found.row.id)
        late = await days_late(self._store, found.row, found.file, entries)
        days = {each.name: max(late.get(bot, 0) for bot in each.bots) for each in found.entrants}
        return {name: most for name, most in days.items() if most}
