"""Boards of competitions: standings and their statistics.

`plyhouse.server.competitions.final_results` computes the results that they show.

Viewers of a competition, and the entries that each viewer may see.

The same rules hold for boards, tables and rounds:

* Organisers see everything.
* Everybody else sees no hidden baselines, neither their lines nor their names.
* On an anonymous board a student sees by name only its own entries and the baselines.  It also
  sees the lines of the `AHEAD` entries just ahead of its best one, without their names.  It sees
  only its own pairings.

`plyhouse.server.accounts.privacy` decides which matches a viewer may watch.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from cachetools import LRUCache

from plyhouse.games.base import Scoring
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import stored_competition
from plyhouse.server.competitions.absence_reasons import gone_texts, withdrawn_texts
from plyhouse.server.competitions.final_results import FinalResults, Results, entrants_of
from plyhouse.server.competitions.game_finals import GameFinal, GameFinals
from plyhouse.server.grades.board_statistics import (
    BoardLine,
    Crossing,
    DuplicateBaseline,
    Statistics,
    lines,
    told,
    twins,
)
from plyhouse.server.grades.missing_games import left_words, missing_words
from plyhouse.server.grades.standings import BY_SCORE, Entrant, Standing, standings, with_places
from plyhouse.server.grades.student_grades import Grade, grades
from plyhouse.server.match.private_name import PRIVATE
from plyhouse.storage import (
    competition_entries,
    competition_messages,
    competition_reruns,
    competition_sql,
    competition_students,
    suspensions,
    tournaments,
)
from plyhouse.storage.competition_messages import Announcement
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

AHEAD: Final = 3
"""Number of entries that an anonymous board shows ahead of the viewer's own."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who looks at a competition."""

    organiser: bool = False
    student: str = ""
    """The viewer's account if it is a student who was not removed; otherwise empty."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The entries of a competition that one viewer sees, by bot id."""

    anonymous: bool
    """True if the viewer sees names only for its own entries and baselines."""
    own: frozenset[int]
    staff: frozenset[int]
    """The baselines that the viewer sees."""
    hidden: frozenset[int]
    """The baselines that the viewer does not see."""

    def named(self, bot: int) -> bool:
        """Return whether the viewer may know the name of an entry."""
        if bot in self.hidden:
            return False
        return not self.anonymous or bot in self.own or bot in self.staff

    def name(self, bot: int, name: str) -> str:
        """Return the name under which the viewer sees an entry."""
        return name if self.named(bot) else PRIVATE

    def lines(self, ordered: Sequence[int]) -> list[int]:
        """Return the table lines that the viewer sees, given all in order."""
        seen = [bot for bot in ordered if bot not in self.hidden]
        if not self.anonymous:
            return seen
        first = next((place for place, bot in enumerate(seen) if bot in self.own), 0)
        ahead = [bot for bot in seen[:first] if not self.named(bot)][-AHEAD:]
        return [bot for bot in seen if self.named(bot) or bot in ahead]

    def meets(self, players: Collection[int]) -> bool:
        """Return whether the viewer sees a pairing between these entries."""
        return not self.anonymous or not self.own.isdisjoint(players)


def eyes_of(file: CompetitionFile, viewer: Viewer, entrants: Sequence[Entrant]) -> Visibility:
    """Return which of these entries a viewer sees."""
    own = frozenset(
        each.bot_id
        for each in entrants
        if viewer.student and each.student.lower() == viewer.student.lower() and not each.baseline
    )
    staff = frozenset(each.bot_id for each in entrants if each.baseline)
    if viewer.organiser:
        return Visibility(False, own, staff, frozenset())
    shown = file.shown
    hidden = frozenset(
        each.bot_id
        for each in entrants
        if each.baseline and any(name.lower() not in shown for name in each.bots.values())
    )
    return Visibility(file.board == "anonymous", own, staff - hidden, hidden)


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


KEPT: Final = 16
"""Finals whose grades are kept."""
ANY_TIME: Final = (
    "Pairings are played until grades are certain, so every interval here is an any-time one: it "
    "holds however often you look."
)


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one viewer may see it."""

    row: CompetitionRow
    file: CompetitionFile
    lines: tuple[BoardLine, ...]
    notes: tuple[str, ...]
    statistics: Statistics
    crosstab: dict[tuple[str, str], Crossing]
    """Scores between the entries of the lines; empty where they have no names."""
    duplicates: tuple[DuplicateBaseline, ...] = ()
    """The twins among the lines."""
    scoring: Mapping[str, Scoring] = field(default_factory=dict)
    """The scoring of matches, by game."""
    grades: Mapping[str, str] = field(default_factory=dict)
    """The grades that the viewer may see, by entry: all for staff, a student's own otherwise."""


class Boards:
    """The boards of one server."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self.results = FinalResults(store, clock)
        self.games = GameFinals(store, clock)
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
        file = stored_competition(row.file)
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
        return row, entrants, eyes_of(file, viewer, entrants)

    async def board(self, reference: str, identity: Identity | None) -> Board:
        """Return a board as the identity may see it.

        Organisers see everything, others no hidden baselines.  On an anonymous board a student sees
        its own entries, the baselines, and without names the three entries ahead of its best one.
        Raises `ProtocolError` if the identity may see nothing.
        """
        row, file, viewer = await self.admitted(reference, identity)
        found = await self.results.of(row)
        finals = await self.games.of(row, state=found.state)
        board = await asyncio.to_thread(_board, found, viewer, finals)
        gone = await self._gone(row, board.lines)
        stopped = [ANY_TIME] if file.until_certain else []
        secret = file.board == "anonymous" and not viewer.organiser
        rules = _rules(finals, secret=secret)
        left = _left_out(found, board.lines)
        notes = (*rules, *stopped, *board.notes, *left, *gone)
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
        marks = await asyncio.to_thread(
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


def _left_out(found: Results, shown: Sequence[BoardLine]) -> list[str]:
    """Return which games the named entries left, and what that costs."""
    told: list[str] = []
    for line in (each.standing for each in shown):
        lacks = [game for game in found.file.games if line.counts.get(game) == 0]
        if lacks:
            told.append(f"{line.entrant.name} is {missing_words(lacks, len(found.file.games))}.")
        if line.lost:
            told.append(f"{line.entrant.name} {left_words(line.lost, line.counts)}.")
    return told


def standings_for(found: Results, eyes: Visibility, finals: Sequence[GameFinal]) -> list[Standing]:
    """Return the standings by place, without baselines hidden from the viewer."""
    shown: Sequence[Standing] = found.standings
    if eyes.hidden:
        kept = [each.entrant for each in shown if each.entrant.bot_id not in eyes.hidden]
        shown = standings(kept, found.results, by_opponent=found.rules.by_opponent, left=found.left)
    return with_places(shown, [each.table for each in finals], found.file.format.name)


def _rules(finals: Sequence[GameFinal], *, secret: bool) -> list[str]:
    """Return the rule that decides the places, and the seed of the lot.

    ``secret`` leaves out the seed.  Anyone with the seed and the names of the class could repeat
    the lot, and the order of the seeds reveals who plays whom.
    """
    if not finals:
        return []
    [rule] = {each.decided_by for each in finals}
    if len(finals) == 1:
        told = [f"Places are decided by {rule}."]
    elif finals[0].format in BY_SCORE:
        told = ["Places are decided by the mean score over the games."]
    else:
        told = [f"Places are decided by the mean place over the games; in a game by {rule}."]
    told += [
        f"Entries without a rating in {each.game} were seeded by lot with the seed {each.lot}."
        for each in finals
        if each.lot and not secret
    ]
    return told


def _board(found: Results, viewer: Viewer, finals: Sequence[GameFinal]) -> Board:
    """Return the part of the results that one viewer sees."""
    eyes = eyes_of(found.file, viewer, found.entrants)
    shown = standings_for(found, eyes, finals)
    inside = set(eyes.lines([each.entrant.bot_id for each in shown]))
    seen = [
        line if eyes.named(line.standing.entrant.bot_id) else _masked(line)
        for line in lines(shown, found.statistics, any_time=found.file.until_certain)
        if line.standing.entrant.bot_id in inside
    ]
    names = {line.standing.entrant.name for line in seen}
    secret = {each.name for each in found.entrants} - names
    table = {key: each for key, each in found.crosstab.items() if names.issuperset(key)}
    pairs = tuple(twins([each.standing for each in seen], found.statistics))
    return Board(
        found.row,
        found.file,
        tuple(seen),
        (*found.statistics.told(secret), *map(told, pairs)),
        found.statistics,
        table,
        pairs,
        found.rules.scoring,
    )


def _masked(line: BoardLine) -> BoardLine:
    """Return a line without names, versions, forfeits, shares and returns."""
    nobody = Entrant(0, PRIVATE, PRIVATE, line.standing.entrant.status)
    masked = replace(line.standing, entrant=nobody, forfeits=0)
    estimate = line.estimate and line.estimate._replace(name=PRIVATE)
    return BoardLine(masked, estimate, line.ahead, None, {})
