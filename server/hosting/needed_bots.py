"""Which bots must be hosted now, with which version, and for which competition.

A runner restarts a bot whose description changes.  So a bot in a competition match stays hosted
unchanged until the match ends, even if the competition is paused, finished or deleted.  If the
description must change, the bot begins no other match before that (`NeededBots.is_outdated`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from plyhouse.protocol.hosting.runner_messages import BotWanted
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.competitions.tournament_state import RunningTournament
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.hosting.placement import Place, Priority
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.table.directory import Directory
from plyhouse.storage import submission_sql
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow

MOST_AT_ONCE: Final = 16
"""Most matches that one hosted bot plays at a time."""
PAIRINGS_A_TURN: Final = 4
"""Pairings that a bot plays in a ladder before it leaves its place to a waiting bot."""
PLAY_MATCHES: Final = 2
"""Most matches with people that one hosted bot plays at a time."""


def priority_of(running: RunningTournament) -> Priority:
    """Return the priority of a tournament's matches."""
    if running.settings.rehearsal:
        return Priority.REHEARSAL
    return Priority.LADDER if isinstance(running.queue, LadderQueue) else Priority.FINAL


def _players(running: RunningTournament) -> list[int]:
    """Return the bots that a tournament needs now.

    A ladder always needs all of its bots.
    """
    if isinstance(running.queue, LadderQueue):
        return running.queue.bots
    return [bot for bot in running.waiting() if bot not in running.gone]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A bot that must be hosted, and its purpose."""

    row: SubmissionRow
    priority: Priority
    matches: int
    """How many matches it plays at a time."""
    games: tuple[str, ...]
    why: str
    """The purpose in words, for people."""
    turn: int = 0
    """See `plyhouse.server.hosting.placement.Need`."""

    def described(self, ticket: str) -> BotWanted:
        """Return the description of the bot for its runner."""
        row = self.row
        return BotWanted(
            bot=row.bot_id,
            version=row.version_id,
            player=row.player,
            name=row.bot,
            label=row.label,
            digest=row.digest,
            ticket=ticket,
            matches=self.matches,
            games=list(self.games),
            competition=self.why,
            nice=self.priority.nice,
        )

    def serves(self, other: Wanted) -> bool:
        """Return whether this covers what ``other`` asks for, without a restart."""
        return (
            self.row.version_id == other.row.version_id
            and self.priority == other.priority
            and self.matches >= other.matches
            and set(self.games) >= set(other.games)
        )


class NeededBots:
    """Finds the bots that must be hosted.

    ``cores`` returns how many processors all runners have together.
    """

    def __init__(
        self,
        store: Store,
        directory: Directory,
        tournaments: Tournaments,
        cores: Callable[[], int],
    ) -> None:
        self._store = store
        self._directory = directory
        self._tournaments = tournaments
        self._cores = cores
        self._known: dict[tuple[int, int | None], SubmissionRow] = {}
        self._extra: dict[int, int] = {}
        """Matches with people that bots hosted for a competition may play beside it, by bot."""
        self._last: dict[int, Wanted] = {}
        """The last answer of `find`."""
        self._outdated: set[int] = set()
        self.wanted_by_people: Callable[[], Awaitable[list[Wanted]]] | None = None
        """Returns bots to host for people, if no competition needs them."""

    async def find(self, placed: Mapping[int, Place]) -> dict[int, Wanted]:
        """Return the bots to host, by id; ``placed`` says where they are hosted now."""
        found = await self._due(placed)
        as_it_is: dict[int, Wanted | None] = {}
        # Other matches may begin while the database is read.
        while begun := {
            bot: match for bot, match in self.in_matches().items() if bot not in as_it_is
        }:
            for bot, match in begun.items():
                as_it_is[bot] = await self._as_it_is(bot, match)
        outdated = set()
        for bot, kept in as_it_is.items():
            fresh = found.pop(bot, None)
            if kept is not None and fresh is not None:
                kept = replace(kept, turn=fresh.turn)
                if not kept.serves(fresh):
                    outdated.add(bot)
            if kept is not None:
                found[bot] = kept
        self._last, self._outdated = found, outdated
        self._extra = {bot: extra for bot, extra in self._extra.items() if bot in found}
        return found

    def is_outdated(self, bot: int) -> bool:
        """Return whether a bot has to be restarted before it begins another match."""
        return bot in self._outdated

    def priority(self, bot: int) -> Priority | None:
        """Return the priority with which a bot is hosted; None if it is not hosted."""
        wanted = self._last.get(bot)
        return None if wanted is None else wanted.priority

    def is_for_competition(self, bot: int) -> bool:
        """Return whether a bot is hosted for a competition other than a ladder."""
        return self.priority(bot) in (Priority.FINAL, Priority.REHEARSAL)

    def row(self, bot: int, version: int | None) -> SubmissionRow | None:
        """Return the submission by which a bot is hosted; None if it is not hosted."""
        return self._known.get((bot, version))

    def at_once(self, running: RunningTournament, bot: int) -> int:
        """Return how many matches a bot plays at a time.

        Baselines play more, because they meet everybody.
        """
        pairs = (
            max(1, self._cores() // running.queue.at_once)
            if bot in running.settings.needed_baselines
            else 1
        )
        return min(MOST_AT_ONCE, running.queue.at_once * pairs)

    # ------------------------------------------------------------------ in a running match

    def in_matches(self) -> dict[int, MatchSummary]:
        """Return the bots in competition matches, each with one match.

        Bots that their authors run are missing.  A bot that is offline counts: after a restart the
        server knows only its matches.
        """
        return {
            each.bot_id: match
            for match in self._directory.summaries()
            if match.tournament is not None
            for each in match.seats
            if each.hosted or not each.online
        }

    async def _as_it_is(self, bot: int, match: MatchSummary) -> Wanted | None:
        """Return how a bot in a match stays hosted.

        None if its version was never submitted.
        """
        version = next(each.version_id for each in match.seats if each.bot_id == bot)
        last = self._last.get(bot)
        if last is not None and last.row.version_id == version:
            return last
        row = await self._store.read(submission_sql.ready_version, bot, version)
        if row is None or row.version_id != version:
            return None
        running = self._tournaments.running(match.tournament or "")
        if running is not None:
            return self._for(running, row)
        matches = max(1, match.bots.count(bot))
        return Wanted(row, Priority.FINAL, matches, (match.game,), "its last matches")

    # --------------------------------------------------------------------- what is to come

    async def _due(self, placed: Mapping[int, Place]) -> dict[int, Wanted]:
        """Return the bots that have pairings to play, and those for people."""
        found: dict[int, Wanted] = {}
        known: dict[tuple[int, int | None], SubmissionRow] = {}
        people = {
            each.row.bot_id: each
            for each in (await self.wanted_by_people() if self.wanted_by_people else [])
        }
        for running in sorted(self._tournaments.played(), key=priority_of):
            if priority_of(running) > Priority.INTERACTIVE:
                found = people | found
            rows = await self._submitted(running, placed, {*_players(running)} - found.keys())
            for row in rows.values():
                if self._is_needed(running, row):
                    found[row.bot_id] = self._for(running, row)
            known |= rows
        self._known = known
        return people | found

    async def _submitted(
        self, running: RunningTournament, placed: Mapping[int, Place], bots: Iterable[int]
    ) -> dict[tuple[int, int | None], SubmissionRow]:
        """Return the existing submissions of bots, with the versions that play."""
        wanted = []
        for bot in bots:
            version = running.versions.get(bot)
            if version is None and bot in placed:
                version = placed[bot].version  # keep the version that is hosted
            wanted.append((bot, version))
        rows = {each: row for each in wanted if (row := self._known.get(each)) is not None}
        unknown = [each for each in wanted if each not in rows]
        if unknown:
            rows |= await self._store.read(submission_sql.ready_versions, unknown)
        return rows

    def _for(self, running: RunningTournament, row: SubmissionRow) -> Wanted:
        work = running.queue
        turn = work.played(row.bot_id) // PAIRINGS_A_TURN if isinstance(work, LadderQueue) else 0
        # Keep the first number: a change would restart the bot.
        extra = self._extra.setdefault(row.bot_id, PLAY_MATCHES if row.open else 0)
        return Wanted(
            row=row,
            priority=priority_of(running),
            matches=self.at_once(running, row.bot_id) + extra,
            games=(running.terms.game.spec,),
            why=running.row.name,
            turn=turn,
        )

    def _is_needed(self, running: RunningTournament, row: SubmissionRow) -> bool:
        """Return whether the server must run a bot instead of its author."""
        here = self._directory.presences.get(row.bot_id)
        if here is None or here.hosted or not here.online:
            return True
        if running.is_for_runners(row.bot_id):
            return True
        pinned = running.versions.get(row.bot_id)
        return pinned is not None and here.version_id != pinned
