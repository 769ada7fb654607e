"""Tournaments that are being played.

`plyhouse.server.competitions.pairing_starts` begins a pairing when its bots are connected and have
room.  The format decides which pairings may begin (`plyhouse.server.competition_rules.progress`).
Its answer follows from the entries and the results, and the id of a pairing names its place in the
format (`plyhouse.server.competitions.tournament_state`).  The database therefore holds all that a
restart needs (`plyhouse.server.competitions.tournament_restore`).

The server counts the matches of a schedule before it builds the schedule.  A thread builds
schedules, and also draws the rounds that depend on results.  Creating or restoring a tournament
takes a few statements, however many pairings it has.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import VOID
from plyhouse.server.competition_rules.formats import Pairing
from plyhouse.server.competition_rules.progress import Progress, look
from plyhouse.server.competitions.absence_reasons import HostedAbsence, Missing, missed, missing
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.competitions.pairing_starts import PairingStarter
from plyhouse.server.competitions.tournament_restore import rebuilt
from plyhouse.server.competitions.tournament_state import PairingId, RunningTournament
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.match.time_control import InvalidTimeControl
from plyhouse.server.results.scoring import game_scores
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.storage import competition_sql, tournaments
from plyhouse.storage.errors import RETRY_SECONDS as RETRIES
from plyhouse.storage.errors import NotNow, StorageError, StoreClosed, Unknown
from plyhouse.storage.rows import UNFINISHED, By, PlayedSeat, TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import settings
from plyhouse.storage.tournaments import TournamentView, reason

log = logging.getLogger("plyhouse.server.competitions.tournaments")

LADDER_SECONDS: Final = 1.0
"""Seconds between looks at a ladder while bots wait for another opponent."""
PRACTICE_REST_NS: Final = 5_000_000_000
"""Nanoseconds for which a bot with no match to spare rests after a practice pairing."""
RETRY_SECONDS: Final = 1.0
"""Seconds before another attempt after the database failed."""


class Tournaments:
    """The tournaments of a server that are not over."""

    def __init__(
        self,
        store: Store,
        live_matches: LiveMatches,
        directory: Directory,
        *,
        hidden_in: Callable[[str], Awaitable[Collection[str]]] | None = None,
    ) -> None:
        """Take the store, the match runner and the directory of bots and matches.

        ``hidden_in`` returns the entries of a tournament without a name, as ``player/bot`` in
        lower case.
        """
        self._store = store
        self._live_matches = live_matches
        self._directory = directory
        self._presences = directory.presences
        self._running: dict[str, RunningTournament] = {}
        self._later: asyncio.TimerHandle | None = None
        self._early: list[tuple[MatchSummary, bool]] | None = None
        """Matches that end while tournaments are being restored; None at other times."""
        self._hidden_in = hidden_in
        self.hosted_absence: HostedAbsence | None = None
        """Says why a hosted bot is absent; None without hosting."""
        self._soon = False
        self._freed: set[int] | None = set()
        """Bots that may have room since the last look; None if any bot may."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.starter = PairingStarter(
            running=self._running,
            live_matches=live_matches,
            directory=directory,
            look_later=self._look_later,
        )

    def __len__(self) -> int:
        return len(self._running)

    async def restore(self) -> None:
        """Continue the tournaments that were running when the server stopped.

        A tournament that cannot continue (its game's file is missing, it has too few entries) is
        suspended with the reason.  The next start tries it again.  If it was paused before its
        suspension, it stays paused.
        """
        self._early = []
        for row in await self._store.read(tournaments.list_all):
            if row.status not in UNFINISHED:
                continue
            try:
                if row.status == "suspended":
                    row = await self._store.write(tournaments.resume, row.id)
                await self._take_up(row, await self._store.read(tournaments.played_seats, row.id))
            except Exception as error:  # An error in one tournament must not stop the others.
                await self._suspend(row.id, error)
        for match, void in self._early:
            self._note(match, void=void)
        self._early = None

    async def _suspend(self, identifier: str, error: Exception) -> None:
        """Note why a tournament cannot go on."""
        self._running.pop(identifier, None)
        known = isinstance(error, GameError | InvalidTimeControl | ValueError)
        log.error(
            "tournament suspended",
            exc_info=None if known else error,
            extra={"tournament": identifier, "why": str(error)},
        )
        why = f"It cannot go on: {error}"
        await self._insist(
            identifier, lambda: self._store.write(tournaments.suspend, identifier, why)
        )

    async def begun(self, rows: Iterable[TournamentRow], *, resumed: bool = False) -> None:
        """Play tournaments that were just stored or begun again, in their order.

        ``resumed`` means that they were over and continue where they ended.
        """
        for row in rows:
            again = resumed or settings(row).run > 1
            await self._take_up(
                row, await self._store.read(tournaments.played_seats, row.id) if again else ()
            )

    async def _take_up(self, row: TournamentRow, seats: Sequence[PlayedSeat]) -> None:
        """Play a tournament; ``seats`` are those of all its stored matches."""
        running = await rebuilt(
            row, seats, self._store, self._live_matches, self._presences, self._hidden_in
        )
        self._running[row.id] = running
        self._go_on(running)
        self.advance_soon()

    def played(self) -> list[RunningTournament]:
        """Return the tournaments that are being played and not paused."""
        return [each for each in self._running.values() if not each.paused]

    def waits_for(self, bot: int) -> bool:
        """Return whether a bot has matches left in a final, which waits while it plays others."""
        return any(
            bot in each.waiting() and bot not in each.gone
            for each in self.played()
            if not isinstance(each.queue, LadderQueue)
        )

    def running(self, identifier: str) -> RunningTournament | None:
        """Return a tournament that this server plays, or None."""
        return self._running.get(identifier)

    def of_group(self, group: str) -> list[str]:
        """Return the ids of the running tournaments of a final.

        Settings of a competition without students from before 0.2.0 lack its id, which is that of
        its tournament.
        """
        return [
            each.row.id
            for each in self._running.values()
            if group in (each.row.id, each.settings.competition)
        ]

    def run_of(self, identifier: str) -> int:
        """Return which run of a tournament is played, from 1; 0 if none is played here."""
        running = self._running.get(identifier)
        return 0 if running is None else running.settings.run

    def missed(self, identifier: str) -> dict[int, Missing] | None:
        """Return the bots that a tournament waits for.

        Returns None for a ladder and for a tournament that this server does not play.
        """
        running = self._running.get(identifier)
        if running is None or isinstance(running.queue, LadderQueue):
            return None
        return missed(running, self._presences, self.hosted_absence)

    def upcoming(
        self, identifier: str, limit: int, of: Collection[int] | None = None
    ) -> list[Pairing[int]]:
        """Return the next known pairings of a tournament; see `RunningTournament.upcoming`.

        The list is empty for a tournament that this server does not play.
        """
        running = self._running.get(identifier)
        return [] if running is None else running.upcoming(limit, of)

    def left(self, identifier: str) -> tuple[int, list[str]]:
        """Return how many known pairings have not begun, and their bots' names.

        Withdrawn bots are not included.  The result is empty for a tournament that this server
        does not play.
        """
        running = self._running.get(identifier)
        if running is None or not running.left:
            return 0, []
        return running.left, sorted(running.names[bot] for bot in running.waiting())

    # -------------------------------------------------------------- while it is played

    async def withdraw(self, identifier: str, bot_id: int, by: By) -> None:
        """Withdraw a bot from the pairings of one game not yet begun; raises `Unknown`.

        Everybody who sees the board sees the reason.
        """
        await self._store.write(tournaments.withdraw, identifier, bot_id, by, self._store.now())
        await self.changed(identifier)

    async def changed(self, identifier: str) -> None:
        """Follow an organiser's change of a tournament in the database."""
        running = self._running.get(identifier)
        if running is None:
            return
        try:
            found = await self._store.read(tournaments.overview, identifier)
        except Unknown:  # The tournament was deleted.
            self._running.pop(identifier, None)
            return
        if found.row.status == "finished":  # An organiser has ended it early.
            self._running.pop(identifier, None)
            return
        running.row = found.row
        running.paused = found.row.status == "paused"
        running.names = {each.bot_id: f"{each.player}/{each.bot}" for each in found.entries}
        running.settings = settings(found.row)
        for entry in found.entries:
            if entry.status == "withdrawn":
                running.withdraw(entry.bot_id)
        self._go_on(running)
        self.advance_soon()

    async def renewed(self, identifier: str) -> None:
        """Pair the current entries of a ladder after they changed in the database."""
        running = self._running.get(identifier)
        if running is None or not isinstance(running.queue, LadderQueue):
            return
        entries = await self._store.read(tournaments.list_entries, identifier)
        for bot in running.names.keys() - {entry.bot_id for entry in entries}:
            running.withdraw(bot)
        for entry in entries:
            if entry.status == "withdrawn" or entry.version_id is None:
                running.withdraw(entry.bot_id)
                continue
            known = running.versions.get(entry.bot_id)
            running.names[entry.bot_id] = f"{entry.player}/{entry.bot}"
            running.versions[entry.bot_id] = entry.version_id
            running.gone.discard(entry.bot_id)
            running.queue.enter(entry.bot_id, fresh=known != entry.version_id)
        self.advance_soon()

    # ------------------------------------------------------------------------- playing

    def advance_soon(self, freed: Iterable[int] | None = None) -> None:
        """Begin all possible pairings once the current event is handled.

        ``freed`` are the bots that may have room since the last time; None means any bot.
        """
        if freed is None or self._freed is None:
            self._freed = None
        else:
            self._freed.update(freed)
        if not self._running or self._soon:
            return
        if self._directory.leads:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._advance)
        else:  # A new leader restores tournaments before it leads.
            self._look_later()

    def _advance(self) -> None:
        self._soon = False
        if not self._directory.leads:
            return
        freed, self._freed = self._freed, set()
        for identifier, running in list(self._running.items()):
            if running.queue.stale:
                self._go_on(running)
            if running.paused:
                continue
            planned = running.queue.planned
            try:
                whole = self.starter.begin(running, freed)
            except Exception:  # The other tournaments continue, and this one is tried again.
                log.exception("pairings not begun", extra={"tournament": running.row.id})
                self._look_later()
            else:
                if not whole:
                    self.advance_soon(freed)
                if running.queue.planned > planned:
                    # Ladders plan as they begin, without end: next, the others come before them.
                    self._running[identifier] = self._running.pop(identifier)

    def _look_later(self) -> None:
        """Look again after `LADDER_SECONDS`: bots may repeat opponents, or this server leads."""
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(LADDER_SECONDS, self._late)

    def _late(self) -> None:
        self._later = None
        self.advance_soon()

    def over(self, match: MatchSummary, *, void: bool = False) -> None:
        """Count a match that is over, and begin what its bots are free for.

        ``void`` means that the match does not count, however it ended.

        Void matches of the pairing are repeated at most `MAX_AGAIN` times: a cause that lasts so
        long (rules that fail, two bots that never connect) would make every repetition void.
        """
        if self._early is not None:
            self._early.append((match, void))
        else:
            self._note(match, void=void)
        self.advance_soon(match.bots)

    def _note(self, match: MatchSummary, *, void: bool = False) -> None:
        """Count a match for the tournament that it belongs to."""
        running = self._running.get(match.tournament or "")
        if running is None:
            return
        bots = running.sides.captain_order(match.bots)
        outcome = match.outcome
        scores, guilty = None, None
        missed = outcome is not None and outcome.termination == "aborted" and not match.began
        if outcome is not None and outcome.termination not in VOID and not void:
            counted = game_scores(running.terms.game, outcome.returns, running.terms.scoring)
            scores = [counted.seats[match.bots.index(bot)][0] for bot in bots]
            if outcome.seat is not None and outcome.termination in FORFEITS:
                guilty = running.sides.captain(match.bots[outcome.seat])
        if running.settings.practice:
            until = self._live_matches.now() + PRACTICE_REST_NS
            running.rests |= dict.fromkeys(bots, until)
        name = PairingId.parse(match.pairing, running.row.id)
        running.match_over(name, match.id, bots, scores, guilty, missed=missed)
        self._go_on(running)

    def _go_on(self, running: RunningTournament) -> None:
        """Ask the format again or finish, after facts of a tournament changed."""
        if running.queue.stale and not running.asking:
            if not self._is_running(running):
                self._look_later()
                return
            running.asking = True
            self._spawn(self._ask(running))
        elif not running.asking:
            self._finish_if_done(running)

    async def _ask(self, running: RunningTournament) -> None:
        """Ask the format for pairings until its answer covers all facts."""
        work = running.queue
        try:
            while isinstance(work, Progress) and work.stale and self._is_running(running):
                answer = await asyncio.to_thread(look, work.format, work.facts(), work.pool)
                if answer.left:
                    await self._store.write(tournaments.note_left, running.row.id, answer.left)
                if work.accept(answer):
                    running.cut = False
                    self.advance_soon()
        except StorageError as error:
            log.error("tournament not stored", extra={"why": str(error)})
            await asyncio.sleep(RETRY_SECONDS)
            running.asking = False
            self._go_on(running)
        except Exception as error:  # A format that fails must not stop the other tournaments.
            await self._suspend(running.row.id, error)
        else:
            running.asking = False
            self._go_on(running)

    def _is_running(self, running: RunningTournament) -> bool:
        """Return whether this server still plays a tournament."""
        here = self._running.get(running.row.id) is running
        return here and self._directory.leads

    def _finish_if_done(self, running: RunningTournament) -> None:
        if running.over and self._running.pop(running.row.id, None) is not None:
            log.info("tournament finished", extra={"tournament": running.row.id})
            self._spawn(self._finish(running))

    async def _finish(self, running: RunningTournament) -> None:
        """Store the end of a tournament, and that of its final if it was the last game."""
        identifier = running.row.id

        async def finish() -> None:
            if await self._store.write(competition_sql.finish_game, identifier, self._store.now()):
                log.info("final over", extra={"competition": running.settings.competition})

        await self._insist(identifier, finish)

    async def _insist(self, identifier: str, write: Callable[[], Awaitable[None]]) -> None:
        """Repeat a write to a tournament that has ended until it is stored.

        Give up if the tournament was deleted or begun again meanwhile, or if the server stops.
        The next start then repeats the write.
        """
        failures = 0
        while True:
            try:
                await write()
            except (Unknown, NotNow, StoreClosed):
                return
            except StorageError as error:
                if not failures:
                    log.error(
                        "tournament not stored, tried again",
                        extra={"tournament": identifier, "why": str(error)},
                    )
            else:
                return
            delay = RETRIES[min(failures, len(RETRIES) - 1)]
            failures += 1
            await asyncio.sleep(delay)
            if identifier in self._running or not self._directory.leads:
                return

    # ------------------------------------------------------------------------- looking

    async def view(self, identifier: str) -> TournamentView:
        """Return a tournament with its entries and progress; raises `Unknown`."""
        running = self._running.get(identifier)
        found = await self._store.read(tournaments.overview, identifier)
        if running is None:
            return replace(found, waiting_for=list(filter(None, [reason(found.row)])))
        absent = missing(
            running=running,
            presences=self._presences,
            own=self._played(running),
            hosted_absence=self.hosted_absence,
        )
        # A match that has just begun may not be stored yet, so prefer the count in memory.
        return replace(found, planned=running.planned, waiting_for=absent)

    def _played(self, running: RunningTournament) -> set[str]:
        """Return the running matches of all games of a tournament's final."""
        group = [
            each
            for each in self._running.values()
            if each.settings.competition
            and each.settings.competition == running.settings.competition
        ]
        return {
            match
            for each in (*group, running)
            for open_ in each.playing.values()
            for match in open_
        }

    # --------------------------------------------------------------------------- ending

    async def close(self) -> None:
        """Wait until all pending writes are stored."""
        while self._tasks:  # one may begin another
            await asyncio.wait(self._tasks)
        if self._later is not None:
            self._later.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except StorageError as error:
                log.error("tournament not stored", extra={"why": str(error)})

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
