"""Runner machines: who is there, what each shall do, and by which tickets its bots log in.

Nothing of this is stored.  A runner says again and again what it has and is told what it shall have
(`Hosting.sync`); who hosts what is decided anew each time (`plyhouse.server.competition.hosting`).
A runner that has been silent for `LEASE_NS` has lost its bots to others, and a server that was
killed knows everything again when its runners have called.

A bot of somebody else logs in by a ticket: unguessable, good for one bot with one version on one
machine, and only as long as the server wants it there.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from plyhouse.server.competition.hosting import (
    Machine,
    Need,
    Place,
    Plan,
    decide,
    room_for_matches,
)
from plyhouse.server.house.competitions import Competitions
from plyhouse.server.house.directory import Directory
from plyhouse.server.house.participants import Participant
from plyhouse.server.house.runner_messages import (
    BotWanted,
    CheckWanted,
    RunnerSays,
    RunnerTold,
    Trouble,
)
from plyhouse.server.house.running import Running
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import Identity, wall_ms
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow

__all__ = ["LEASE_NS", "TICKET_PREFIX", "Hosting", "RunnerRefused", "Ticket"]

log = logging.getLogger("plyhouse.server.hosting")

SECOND: Final = 1_000_000_000
LEASE_NS: Final = 8 * SECOND
"""How long a runner may be silent."""
EVERY_MS: Final = 1500
"""How often a runner calls."""
REST_NS: Final = 60 * SECOND
"""How long a machine is not asked again for what it could not do."""
GIVEN_UP: Final = 3
"""Troubles with a version after which its absence is its own."""
LONGEST_NS: Final = 600 * SECOND
"""How long the clock of a bot stands still whose machine is lost; in all, for a match."""
MOST_AT_ONCE: Final = 16
"""Matches that one hosted bot is asked to play at a time."""
TICKET_PREFIX: Final = "ticket_"
"""Of the tokens that are tickets: guesses of them are no wrong tokens of anybody's."""


class RunnerRefused(Exception):  # noqa: N818 - a condition, named by its code
    """A runner cannot be one now; the message says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket lets in."""

    secret: str
    machine: str
    bot: int
    player_id: int
    player: str
    name: str
    version: int
    label: str
    digest: str


@dataclass(slots=True)
class _Runner:
    """A machine that was heard of."""

    said: RunnerSays
    owner: str
    heard: int
    """When, in nanoseconds."""


@dataclass(slots=True)
class _Troubles:
    """What could not be done, where, and until when it is not asked for again."""

    until: dict[tuple[int, str], int] = field(default_factory=dict)
    """By what it is about, and the machine."""
    count: dict[int, int] = field(default_factory=dict)

    def note(self, what: int, machine: str, now: int) -> None:
        self.until[what, machine] = now + REST_NS
        self.count[what] = self.count.get(what, 0) + 1

    def machines(self, what: int, now: int) -> frozenset[str]:
        return frozenset(
            name for (each, name), until in self.until.items() if each == what and until > now
        )

    def tidy(self, now: int) -> None:
        self.until = {key: until for key, until in self.until.items() if until > now}


class Hosting:
    """What is hosted, and where."""

    def __init__(
        self,
        store: Store,
        directory: Directory,
        competitions: Competitions,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._directory = directory
        self._competitions = competitions
        self._now = now
        self._runners: dict[str, _Runner] = {}
        self._plan = Plan()
        self._tickets: dict[str, Ticket] = {}
        self._ticket_of: dict[int, Ticket] = {}
        self._bots, self._checks = _Troubles(), _Troubles()
        self._known: dict[tuple[int, int | None], SubmissionRow] = {}
        self._credited = now()
        self._away: dict[int, int] = {}
        """Since when a bot that should be hosted is away with matches of its own."""
        self._given: dict[tuple[str, int], int] = {}
        """For how long the clock of a seat of a match has stood still, in nanoseconds."""

    # ------------------------------------------------------------------------ runners

    async def sync(self, identity: Identity, said: RunnerSays) -> RunnerTold:
        """Hear a runner, and tell it what it shall do.

        Raises `RunnerRefused` if another one of this name is there.
        """
        now = self._now()
        known = self._runners.get(said.name)
        fresh = known is None or known.said.instance != said.instance
        if known is not None and fresh and now - known.heard < LEASE_NS:
            raise RunnerRefused(
                "runner/name_taken",
                f"Another runner called {said.name!r} was heard {(now - known.heard) / SECOND:.0f} "
                "s ago: give this one another --name, or wait until that one counts as gone.",
            )
        for done in said.checked:
            await self._checked(said.name, done.submission, done.ok, done.report, done.games)
        if said.leaving:
            self._runners.pop(said.name, None)
            log.info("runner left", extra={"runner": said.name})
        else:
            self._runners[said.name] = _Runner(said, identity.player, now)
            if fresh:
                self._forget(said.name)
                log.info(
                    "runner came",
                    extra={"runner": said.name, "cores": said.cores, "tier": said.tier},
                )
        for trouble in said.troubles:
            self._note(said.name, trouble, now)
        wanted = await self._decide(now, said)
        return await self._told(said.name, wanted)

    def _forget(self, machine: str) -> None:
        """A program has begun anew: what it had before it has no more."""
        bots = {bot: place for bot, place in self._plan.bots.items() if place.machine != machine}
        checks = {each: name for each, name in self._plan.checks.items() if name != machine}
        self._plan = replace(self._plan, bots=bots, checks=checks)

    async def _checked(
        self, machine: str, submission: int, ok: bool, report: str, games: Iterable[str]
    ) -> None:
        try:
            row = await self._store.submissions.checked(submission, ok, report, games, wall_ms())
        except Unknown:
            return  # removed meanwhile
        log.info(
            "submission checked",
            extra={"submission": submission, "bot": f"{row.player}/{row.bot}", "status": row.status,
                   "runner": machine},
        )  # fmt: skip

    def _note(self, machine: str, trouble: Trouble, now: int) -> None:
        log.warning(
            "runner in trouble",
            extra={"runner": machine, "why": trouble.why, "bot": trouble.bot,
                   "submission": trouble.submission},
        )  # fmt: skip
        if trouble.submission:
            self._checks.note(trouble.submission, machine, now)
        elif trouble.bot:
            self._bots.note(trouble.version, machine, now)

    # ----------------------------------------------------------------------- deciding

    async def _decide(self, now: int, said: RunnerSays) -> dict[int, tuple[SubmissionRow, Running]]:
        """Decide what shall be, and return the submission of every bot that is needed."""
        wanted = await self._wanted()
        waiting = await self._store.submissions.waiting()
        self._bots.tidy(now)
        self._checks.tidy(now)
        machines = self._machines(now)
        # What a machine has that nobody has decided about (this server is new) stays there.
        before = dict(self._plan.bots)
        for each in said.hosts:
            before.setdefault(each.bot, Place(said.name, each.version))
        needs = [
            Need(bot, row.version_id, not_on=self._bots.machines(row.version_id, now))
            for bot, (row, _) in wanted.items()
        ]
        unfit = {each: self._checks.machines(each, now) for each in waiting}
        old = self._plan
        self._plan = decide(machines, needs, waiting, replace(old, bots=before), unfit=unfit)
        self._renew_tickets({bot: row for bot, (row, _) in wanted.items()})
        if self._plan.held != old.held or self._plan.bots != old.bots:
            self._competitions.advance_soon()
        return wanted

    async def _wanted(self) -> dict[int, tuple[SubmissionRow, Running]]:
        """The bots that have to be hosted, with what is hosted of each."""
        found: dict[int, tuple[SubmissionRow, Running]] = {}
        known: dict[tuple[int, int | None], SubmissionRow] = {}
        for running in self._competitions.played():
            at_work = {
                bot
                for bot in running.names
                if (here := self._directory.participants.get(bot)) is not None
                and here.hosted
                and here.matches
            }
            for bot in {*running.waiting(), *at_work} - running.gone - found.keys():
                version = running.versions.get(bot)
                if version is None and bot in self._plan.bots:
                    version = self._plan.bots[bot].version  # not another in the middle
                row = self._known.get((bot, version))
                if row is None:
                    row = await self._store.submissions.ready_version(bot, version)
                if row is not None:
                    known[bot, version] = row
                    if self._is_needed(running, row):
                        found[bot] = row, running
        self._known = known
        return found

    def _is_needed(self, running: Running, row: SubmissionRow) -> bool:
        """Whether its author does not run it, or may not."""
        participant = self._directory.participants.get(row.bot_id)
        if participant is None or participant.hosted or not participant.online:
            return True
        if running.is_for_runners(row.bot_id):
            return True
        pinned = running.versions.get(row.bot_id)
        return pinned is not None and participant.version_id != pinned

    def _machines(self, now: int) -> list[Machine]:
        gone = [name for name, each in self._runners.items() if now - each.heard >= LEASE_NS]
        for name in gone:
            log.warning("runner lost", extra={"runner": name})
            del self._runners[name]
        return [self._machine(name) for name in sorted(self._runners)]

    def _machine(self, name: str) -> Machine:
        said = self._runners[name].said
        return Machine(name, said.cores, said.bots, self._busy(name))

    def _busy(self, machine: str) -> int:
        """Processors that the matches of its bots need: one where seats move in turn."""
        turns: set[str] = set()
        at_once = 0
        for each in self._directory.participants.values():
            if each.hosted != machine:
                continue
            for match in each.matches:
                live = self._directory.live.get(match)
                if live is not None and live.match.game.info.simultaneous:
                    at_once += 1
                else:
                    turns.add(match)
        return len(turns) + at_once

    async def _told(
        self, machine: str, wanted: Mapping[int, tuple[SubmissionRow, Running]]
    ) -> RunnerTold:
        bots = []
        for bot, place in self._plan.bots.items():
            if place.machine != machine:
                continue
            row, running = wanted[bot]
            ticket = self._ticket_of[bot]
            bots.append(
                BotWanted(
                    *(bot, row.version_id, row.player, row.bot, row.label, row.digest),
                    ticket.secret,
                    self._at_once(running, bot),
                    [running.terms.game.spec],
                    running.row.name,
                )
            )
        checks = []
        for each, name in self._plan.checks.items():
            if name == machine:
                row = await self._store.submissions.get(each)
                checks.append(CheckWanted(each, row.digest))
        return RunnerTold(EVERY_MS, LEASE_NS // 1_000_000, checks, bots)

    def _at_once(self, running: Running, bot: int) -> int:
        """How many matches it plays at a time: everybody meets baselines, so they play more."""
        pairs = max(1, self.cores // running.work.at_once) if bot in running.baselines else 1
        return min(MOST_AT_ONCE, running.work.at_once * pairs)

    # ------------------------------------------------------------------------ tickets

    def _renew_tickets(self, rows: Mapping[int, SubmissionRow]) -> None:
        fresh: dict[int, Ticket] = {}
        for bot, place in self._plan.bots.items():
            row, old = rows[bot], self._ticket_of.get(bot)
            if old is None or (old.machine, old.version) != (place.machine, place.version):
                old = Ticket(
                    TICKET_PREFIX + secrets.token_urlsafe(32),
                    *(place.machine, bot, row.player_id, row.player, row.bot),
                    *(row.version_id, row.label, row.digest),
                )
            fresh[bot] = old
        self._ticket_of = fresh
        self._tickets = {each.secret: each for each in fresh.values()}

    def ticket(self, secret: str) -> Ticket | None:
        """What a ticket lets in; None if it is not, or no longer, good."""
        found = self._tickets.get(secret)
        return found if found is not None and self._hears(found.machine) else None

    def holds(self, bot: int) -> bool:
        """Whether a bot is to be hosted now, and its author has to wait."""
        found = self._ticket_of.get(bot)
        return found is not None and self._hears(found.machine)

    def _hears(self, machine: str) -> bool:
        runner = self._runners.get(machine)
        return runner is not None and self._now() - runner.heard < LEASE_NS

    # ----------------------------------------------------------------------- capacity

    @property
    def cores(self) -> int:
        """Processors of all runners that are there."""
        return sum(each.said.cores for name, each in self._runners.items() if self._hears(name))

    @property
    def machines(self) -> int:
        """How many runners are there."""
        return sum(map(self._hears, self._runners))

    def room(self, participant: Participant, running: Running) -> int:
        """Matches that a hosted bot may begin now, as far as its machine's processors go."""
        if not self._hears(participant.hosted):
            return 0
        machine = self._machine(participant.hosted)
        held = self._plan.held.get(machine.id, 0)
        game = running.terms.game
        # All seats may be on one machine.
        each = game.seats if game.info.simultaneous else 1
        return room_for_matches(machine, held, cores_each=each, at_once=running.work.at_once)

    # -------------------------------------------------------------------- lost machines

    def credit(self, now: int) -> None:
        """Let no time pass for bots that are away because their machine is: the house lost them.

        A bot that ends by itself again and again is away by its own doing.
        """
        begin, self._credited = self._credited, now
        away: dict[int, int] = {}
        for each in self._directory.participants.values():
            if not each.hosted or each.online or not each.matches:
                continue
            since = away[each.bot_id] = self._away.get(each.bot_id, begin)
            if now - since > LONGEST_NS or self._bots.count.get(each.version_id, 0) >= GIVEN_UP:
                continue
            for live, seat in self._directory.matches_of(each):
                if live.match.seat_to_move == seat:
                    lost, given = max(begin, since), self._given.get((live.id, seat), 0)
                    until = min(now, lost + LONGEST_NS - given)
                    if until > lost:
                        live.match.server_stalled(lost, until)
                        live.set_alarm()
                        self._given[live.id, seat] = given + until - lost
        self._away = away
        self._given = {
            place: given for place, given in self._given.items() if place[0] in self._directory.live
        }
