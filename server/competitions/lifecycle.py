"""Competitions: opening from a file, freeze and final; students are optional.

`plyhouse.server.competitions.visible_boards` shows their results.

The database (`plyhouse.storage.competition_sql`) is the source of truth.  This module reads the
file, starts each phase on its date, and passes the games of a final to
`plyhouse.server.competitions.tournaments`.  After downtime it catches up on missed dates.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.competitions import BEFORE_FINAL, BEFORE_FREEZE, NOT_OVER, TAKES_ENTRIES
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition_rules.dates import milliseconds_of
from plyhouse.server.competition_rules.derived_files import rehearsal_name, rehearsal_text
from plyhouse.server.competition_rules.file import CompetitionFile, decoded, encoded, file_of
from plyhouse.server.competition_rules.file_reader import (
    InvalidCompetition,
    Mistake,
    read_competition,
)
from plyhouse.server.competitions import finals
from plyhouse.server.competitions.absence_reasons import bots_named
from plyhouse.server.competitions.absences import Absences
from plyhouse.server.competitions.baselines import Baselines
from plyhouse.server.competitions.overview import CompetitionView, overview
from plyhouse.server.competitions.practice import PracticeLadders
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.upcoming_pairings import some_of, unplayed
from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.periodic import LOOK_SECONDS, Periodic
from plyhouse.server.lobby.lobby import read_time_control
from plyhouse.server.table.directory import Directory
from plyhouse.storage import (
    competition_changes,
    competition_entries,
    competition_reruns,
    competition_sql,
    competition_students,
    submission_sql,
    suspensions,
)
from plyhouse.storage.competition_changes import Carry
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionGame,
    CompetitionRow,
)
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.rows import By, new_id
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.competitions.lifecycle")

CLOCK: Final = By("the clock", "its date has come")
CONNECTED: Final = "*"
"""Stands for all connected bots that play the games of a competition."""


def columns_of(file: CompetitionFile, text: str) -> dict[str, Any]:
    """Return the fields of a `CompetitionRow` that follow from its file."""
    freeze = milliseconds_of(file.dates.freeze)
    return {
        "file": text,
        "parsed": encoded(file),
        "format": file.format.name,
        "entries_each": file.entries_per_student,
        "most_students": file.limits.students,
        "opens_ms": milliseconds_of(file.dates.opening),
        "freezes_ms": freeze,
        "final_ms": milliseconds_of(file.dates.final),
        "late_ms": file.late.until(freeze, file.dates.zone),
        "games": tuple(CompetitionGame(at, game, None) for at, game in enumerate(file.games)),
    }


class Competitions:
    """The competitions of one server."""

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        tournaments: Tournaments,
        directory: Directory,
    ) -> None:
        self._config = config
        self._store = store
        self._tournaments = tournaments
        self._directory = directory
        self._follower = Periodic(self.look, LOOK_SECONDS, "dates of competitions", log)
        self._absences = Absences(tournaments)
        self.baselines = Baselines(config, store)
        self.beginning = asyncio.Lock()
        """A lock held while a final begins, so that its entries cannot change meanwhile."""
        self._practice = PracticeLadders(store, tournaments)

    # ---------------------------------------------------------------------------- opening

    async def check(self, text: str, *, of: CompetitionRow | None = None) -> CompetitionFile:
        """Read a competition file and check whether it could be opened here.

        ``of`` is the competition that gets the file, if it exists already: it may keep its name and
        its past dates.  Raises `InvalidCompetition` with all mistakes, including those that only a
        server can find.
        """
        file, mistakes = None, []
        try:
            # A long file takes tens of milliseconds, in which matches go on.
            now = self._now() if of is None else None
            file = await asyncio.to_thread(read_competition, text, now)
        except InvalidCompetition as error:
            mistakes = list(error.mistakes)
        if file is not None:
            mistakes += await self._mistakes_here(file, of)
        if file is None or mistakes:
            raise InvalidCompetition(mistakes)
        return file

    async def _mistakes_here(
        self, file: CompetitionFile, of: CompetitionRow | None
    ) -> list[Mistake]:
        found = []
        try:
            read_time_control(str(file.time_control), self._config)
        except ProtocolError as error:
            found.append(Mistake("competition/bad_value", "time_control", str(error)))
        for row in await self._store.read(competition_sql.list_all):
            if row.name.lower() == file.name.lower() and (of is None or row.id != of.id):
                text = f"there is a competition {row.name!r} already, which is {row.status}"
                found.append(
                    Mistake("competition/name_taken", "name", f"{text}; take another name")
                )
        if file.hosting_required and not self._config.hosted:
            text = "this server takes no submissions; start it with --hosted"
            found.append(Mistake("competition/not_hosted", "hosting.required", text))
        return found + await self.baselines.mistakes(file, of)

    async def open(
        self, text: str, by: By, *, entries: Sequence[str] = (), source: Carry | None = None
    ) -> CompetitionRow:
        """Open a competition by its file, now or at its opening date.

        ``source`` is another competition whose students are copied.  ``entries`` are the bots of a
        competition without students: names like ``player/bot``, or `CONNECTED`.  They may play with
        any version, and the final begins on its date; without one it begins at once, or as soon as
        the reference baselines are checked.  Raises `ProtocolError`, `InvalidCompetition` or
        `CompetitionRefusal`.
        """
        file = await self.check(text)
        bots = await self._bots_entered(file, entries) if entries else []
        provided = await self.baselines.provided(file)
        own = {name: bot.id for name, (bot, _) in provided.items()}
        known = await self.baselines.known(file) | own
        baselines = [known[each.bot.lower()] for each in file.baselines]
        row = CompetitionRow(
            id=new_id(),
            name=file.name,
            status="open" if file.dates.opening is None else "draft",
            created_ms=self._store.now(),
            **columns_of(file, text),
        )
        if entries:
            row = replace(row, status="frozen")
            if provided and row.final_ms is None:
                row = replace(row, final_ms=self._store.now())  # `look` begins it after the check
            taking_part = [*bots, *baselines]
            if len(set(taking_part)) != len(taking_part):
                raise ProtocolError("protocol/bad_field", "No schedule: an entry is listed twice.")
            finals.check_number(row, file, len(taking_part))
        await self._store.write(
            competition_changes.create, row, by, self._store.now(),
            baselines=baselines, provided=own.values(), bots=bots, source=source,
        )  # fmt: skip
        for bot, package in provided.values():
            await self.baselines.queue_check(row, bot, package)
        log.info("competition opened", extra={"competition": row.id, "title": row.name})
        if entries and row.final_ms is None:
            return await self.run(row.id, by)
        return await self._store.read(competition_sql.find, row.id)

    async def _bots_entered(self, file: CompetitionFile, entries: Sequence[str]) -> list[int]:
        """Return the bots that enter a competition without students."""
        if file.limits.students:
            text = "entries are named for a competition without students; write students = 0"
            raise InvalidCompetition([Mistake("competition/bad_value", "limits.students", text)])
        if CONNECTED not in entries:
            return await bots_named(self._store, entries)
        games = [get_game(each) for each in file.games]
        bots = [
            each.bot_id
            for each in self._directory.presences.values()
            if each.online and each.bot and not each.casual
            if all(each.accepts(game.info.name, game.spec) for game in games)
        ]
        seats = max(game.seats for game in games)
        if len(bots) < seats:
            raise ProtocolError(
                "game/unfit",
                f"Only {len(bots)} connected bots accept {', '.join(file.games)}, and {seats} "
                "have to play together: connect more, or name the entries.",
            )
        return bots

    # -------------------------------------------------------------------------- the final

    async def run(self, reference: str, by: By, *, anyway: bool = False) -> CompetitionRow:
        """Begin the final of a frozen competition.

        Raises `CompetitionRefusal` while students have an extension (unless ``anyway``), if nobody
        would play, or if the schedule is too long.
        """
        async with self.beginning:
            row = await self._store.read(competition_sql.find, reference)
            file = file_of(row)
            if row.status == "frozen":
                entered = await finals.entries_to_play(
                    self._store, self.baselines, row, file, anyway=anyway
                )
            else:
                entered = []  # Storage then raises the refusal with its reason.
            begun = await self._begin(row, file, entered, by)
        log.info(
            "final begun",
            extra={"competition": row.id, "title": row.name, "entries": len(entered)},
        )
        return begun

    async def _begin(
        self,
        row: CompetitionRow,
        file: CompetitionFile,
        entered: Sequence[CompetitionEntry],
        by: By,
    ) -> CompetitionRow:
        """Begin the tournaments of a final."""
        now, rehearsal = self._store.now(), row.rehearses is not None
        parts = await finals.parts(row, file, entered, self._store, now, rehearsal=rehearsal)
        bots = [(each.bot_id, each.version_id) for each in entered]
        begun = await self._store.write(competition_sql.begin, row.id, parts, bots, by, now)
        await self._tournaments.begun(parts)
        return begun

    async def rehearse(self, reference: str, by: By) -> tuple[CompetitionRow, list[str]]:
        """Rehearse the final of a competition with the bots submitted so far.

        A rehearsal is a competition of its own, called `rehearsal_name`.  It counts for nothing and
        yields to finals.  Only organisers and the authors of the bots see it.  Returns the
        rehearsal and the names of entries that are left out because they only connect.  Raises
        `CompetitionRefusal` if the final has begun, if nobody would play, or if there is a
        rehearsal already.
        """
        async with self.beginning:
            row = await self._store.read(competition_sql.find, reference)
            if row.rehearses is not None or row.status not in BEFORE_FINAL:
                why = "is a rehearsal itself" if row.rehearses else f"is {row.status}"
                raise CompetitionRefusal(
                    "competition/not_now", f"{row.name!r} {why}: there is nothing to rehearse"
                )
            suspended = await self._store.read(suspensions.suspended_in, row.id)
            shut = {each.version_id for each in suspended}
            active = [
                each
                for each in await self._store.read(competition_sql.entries_of, row.id)
                if each.status == "active" and each.version_id not in shut
            ]
            there = await self._store.read(submission_sql.entered, row.id)
            entered = [each for each in active if each.version_id and each.bot_id in there]
            left_out = [each.name for each in active if each not in entered]
            name = rehearsal_name(row.name)
            text = await asyncio.to_thread(rehearsal_text, row.file, name)
            file = await asyncio.to_thread(read_competition, text)
            missing = {each.bot.lower() for each in file.baselines} & {
                each.lower() for each in left_out
            }
            if missing:
                raise CompetitionRefusal(
                    "competition/missing_baseline",
                    f"no submission of {some_of(sorted(missing))} is ready, and "
                    "a rehearsal plays submissions only; submit it (plyhouse submit)",
                )
            entered = finals.with_partners(row, file, entered, anyway=True)
            finals.check(row, file, entered)
            copy = replace(
                row, id=new_id(), name=name, file=text, parsed=encoded(file), status="frozen",
                created_ms=self._store.now(),
                opens_ms=None, freezes_ms=None, final_ms=None, late_ms=None, started_ms=None,
                note=None,
                rehearses=row.id,
            )  # fmt: skip
            await self._store.write(
                competition_reruns.rehearse, copy, [each.bot_id for each in entered], by
            )
            begun = await self._begin(copy, file, entered, by)
        log.info("rehearsal begun", extra={"competition": copy.id, "title": name})
        return begun, left_out

    async def rerun(self, reference: str, by: By, *, anyway: bool = False) -> CompetitionRow:
        """Play a finished final again where its entries have changed.

        Raises `CompetitionRefusal` as `run` does.
        """
        async with self.beginning:
            row = await self._store.read(competition_sql.find, reference)
            # For any other status, storage raises the refusal with its reason.
            if row.status == "finished":
                await finals.entries_to_play(
                    self._store, self.baselines, row, file_of(row), anyway=anyway
                )
            begun, parts = await self._store.write(
                competition_reruns.rerun, row.id, by, self._store.now()
            )
            await self._tournaments.begun(parts)
        log.info("final begun again", extra={"competition": row.id, "title": row.name})
        return begun

    async def unplayed(self, reference: str) -> list[str]:
        """Return a sentence per game on the pairings that an end now would skip."""
        row = await self._store.read(competition_sql.find, reference)
        sentences = [
            unplayed(game.game, *self._tournaments.left(game.tournament_id))
            for game in row.games
            if game.tournament_id is not None
        ]
        return [each for each in sentences if each]

    async def changed(self, reference: str) -> None:
        """Follow an organiser's change in the database.

        ``reference`` is the id of a competition or of one of its tournaments.
        """
        try:
            row = await self._store.read(competition_sql.holding, reference)
        except Unknown:  # It was deleted.
            for running in self._tournaments.of_group(reference):
                await self._tournaments.changed(running)
            return
        for game in row.games:
            if game.tournament_id is not None:
                await self._tournaments.changed(game.tournament_id)
        leads = self._directory.leads  # the leader knows all connected bots
        if leads and row.status in TAKES_ENTRIES:
            await self._enter_connected(row)

    async def _enter_connected(self, row: CompetitionRow) -> None:
        """Enter bots that connected before they could be entered.

        Their students joined later, or the competition opened later.
        """
        here = {
            each.player_id
            for each in await self._store.read(competition_students.students_of, row.id)
            if each.status == "active"
        }
        entered = {
            each.bot_id: each for each in await self._store.read(competition_sql.entries_of, row.id)
        }
        full = Counter(each.player_id for each in entered.values() if not each.baseline)
        for bot in tuple(self._directory.presences.values()):
            own = entered.get(bot.bot_id)
            wanted = (
                full[bot.player_id] < row.entries_each
                if own is None
                else not own.chosen and own.version_id != bot.version_id
            )
            if wanted and bot.online and bot.bot and bot.player_id in here:
                await self._store.write(
                    competition_entries.enter_connected,
                    bot.player_id,
                    bot.bot_id,
                    bot.version_id,
                    self._store.now(),
                    bot.games,
                )

    # ------------------------------------------------------------------------------ dates

    async def start(self) -> None:
        """Catch up on dates that passed during downtime, then follow the dates."""
        await self.look()
        self._follower.start()

    async def close(self) -> None:
        """Stop following the dates."""
        await self._follower.close()

    async def look(self) -> None:
        """Move on the competitions that are due by the clock of the store.

        A failure in one competition does not delay the others; the first error is raised at the
        end.
        """
        if not self._directory.leads:
            return
        now = self._store.now()
        failed: Exception | None = None
        for row in await self._store.read(competition_sql.list_all, *NOT_OVER):
            if row.parsed is None:  # its note says why
                continue
            try:
                await self._move(row, now)
                if row.practice_of or row.status in BEFORE_FREEZE:
                    await self._practice.look(await self._store.read(competition_sql.find, row.id))
            except (CompetitionRefusal, GameError, InvalidCompetition) as error:
                text = str(error)
                if row.note != text:  # Log it once, although every look tries again.
                    log.warning("competition waits", extra={"competition": row.name, "why": text})
                    await self._store.write(competition_sql.note, row.id, text)
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed

    async def _move(self, row: CompetitionRow, now: int) -> None:
        status = row.status
        if status == "running" and all(game.status == "finished" for game in row.games):
            # It was paused when its last game ended.
            await self._store.write(competition_sql.finish_if_done, row.id, self._store.now())
        elif status == "running":
            minutes = decoded(row.parsed).limits.absent_minutes
            await self._absences.look(row.games, minutes, now)
        if status == "draft" and _due(row.opens_ms, now):
            status = (
                await self._store.write(
                    competition_sql.move, row.id, "open", CLOCK, self._store.now()
                )
            ).status
        if status == "open" and _due(row.freezes_ms, now):
            status = (
                await self._store.write(
                    competition_sql.move, row.id, "freeze", CLOCK, self._store.now()
                )
            ).status
        if status == "frozen" and _due(row.final_ms, now):
            await self.run(row.id, CLOCK)

    # ---------------------------------------------------------------------------- looking

    async def view(self, reference: str) -> CompetitionView:
        """Return a competition with everything that its organiser sees."""
        row = await self._store.read(competition_sql.find, reference)
        return await overview(
            row,
            self._store,
            self._tournaments,
            self._absences,
            self.baselines,
            self._directory.presences,
        )

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._store.now() / 1000, UTC)


def _due(when: int | None, now: int) -> bool:
    return when is not None and now >= when
