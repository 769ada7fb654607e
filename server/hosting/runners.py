"""Runner machines: their connections, their tasks, and bot tickets.

The server stores none of this.  Each runner calls again and again, reports what it has, and gets
what it should have (`Hosting.sync`).  Each call decides afresh who hosts what
(`plyhouse.server.hosting.placement`).  A runner that is silent for `LEASE_NS` loses its bots to
others.  After a crash the server learns everything again from the calls of its runners.

A hosted bot logs in with a ticket.  The ticket is unguessable, and good for one bot with one
version on one machine.  It is valid only while the server wants the bot there.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from plyhouse.protocol.hosting.runner_messages import (
    FlagFell,
    RunnerPlan,
    RunnerReport,
    Trouble,
)
from plyhouse.server.accounts.tickets import TICKET_PREFIX, Ticket, TicketOffice
from plyhouse.server.competitions.tournament_state import RunningTournament
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.hosting.check_queue import MAX_FAILURES, CheckQueue
from plyhouse.server.hosting.needed_bots import NeededBots, Wanted, priority_of
from plyhouse.server.hosting.placement import (
    Machine,
    Need,
    Place,
    Plan,
    Priority,
    RunnerFailures,
    decide,
    room_for_matches,
)
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.refunds import HostingRefunds
from plyhouse.storage import submission_sql
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow

log = logging.getLogger("plyhouse.server.hosting")

SECOND: Final = 1_000_000_000
LEASE_NS: Final = 8 * SECOND
"""How long a runner may be silent, in nanoseconds."""
RUNNER_HINT: Final = (
    "The operator starts one with `plyhouse runner`, or the server with --local-runner."
)
"""Advice for a server without a connected runner machine."""
CHECKS_TOLD: Final = 10
"""Most checks of a competition whose wait its status explains."""
EVERY_MS: Final = 1500
"""How often a runner calls, in milliseconds."""


class RunnerRefused(Exception):  # noqa: N818 - a condition, named by its code
    """A refusal of a runner; the message says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Runner:
    """A runner machine that has called."""

    report: RunnerReport
    owner: str
    heard: int
    """When it last called, in nanoseconds."""


class Hosting(TicketOffice):
    """The hosted bots and their machines."""

    def __init__(
        self,
        store: Store,
        directory: Directory,
        tournaments: Tournaments,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._directory = directory
        self._tournaments = tournaments
        self._now = now
        self._runners: dict[str, _Runner] = {}
        self._plan = Plan()
        self._tickets: dict[str, Ticket] = {}
        self._ticket_of: dict[int, Ticket] = {}
        self._bots = RunnerFailures()
        self._checks = CheckQueue(store)
        self.needed = NeededBots(store, directory, tournaments, lambda: self.cores)
        self.people_waiting: Callable[[str], int] | None = None
        """Counts the people who wait for a processor of a machine."""
        self.on_flags: Callable[[str, Sequence[FlagFell]], Awaitable[None]] | None = None
        """Gets the flag falls that a machine reports."""
        self._refunds = HostingRefunds(
            directory=directory,
            now=now(),
            ended=self._has_ended,
            given_up=self._is_given_up,
            placed=lambda each: self.holds(each.bot_id),
        )

    # ------------------------------------------------------------------------ runners

    async def sync(self, identity: Identity, report: RunnerReport) -> RunnerPlan:
        """Take a runner's report, and return what it should host and check.

        Raises `RunnerRefused` if another runner of this name is connected.
        """
        now = self._now()
        known = self._runners.get(report.name)
        fresh = known is None or known.report.instance != report.instance
        if known is not None and fresh and now - known.heard < LEASE_NS:
            raise RunnerRefused(
                "runner/name_taken",
                f"Another runner called {report.name!r} was heard "
                f"{(now - known.heard) / SECOND:.0f} s ago: give this one another --name, or wait "
                "until that one counts as gone.",
            )
        await self._checks.heard(report, now)
        if report.leaving:
            self._runners.pop(report.name, None)
            log.info("runner left", extra={"runner": report.name})
        else:
            self._runners[report.name] = _Runner(report, identity.player, now)
            if fresh:
                self._forget(report.name)
                log.info(
                    "runner came",
                    extra={"runner": report.name, "cores": report.cores, "tier": report.tier},
                )
        if report.flags and self.on_flags is not None:
            await self.on_flags(report.name, report.flags)
        for trouble in report.troubles:
            if self._bots.is_new(trouble.id):
                self._note(report.name, trouble, now)
        await self._decide(now, report)
        return await self._answer(report)

    def _forget(self, machine: str) -> None:
        """Forget what a machine had, because its runner was restarted."""
        bots = {bot: place for bot, place in self._plan.bots.items() if place.machine != machine}
        checks = {each: name for each, name in self._plan.checks.items() if name != machine}
        self._plan = replace(self._plan, bots=bots, checks=checks)

    def _note(self, machine: str, trouble: Trouble, now: int) -> None:
        log.warning(
            "runner in trouble",
            extra={"runner": machine, "why": trouble.why, "bot": trouble.bot,
                   "submission": trouble.submission},
        )  # fmt: skip
        if trouble.bot:
            self._bots.note(trouble.version, machine, now)

    # ----------------------------------------------------------------------- deciding

    async def _decide(self, now: int, report: RunnerReport) -> None:
        """Decide who hosts what.

        From `NeededBots.find` on nothing waits: a match that began before bots have their new
        tickets would be disturbed.
        """
        waiting = await self._checks.waiting(now)
        wanted = await self.needed.find(self._plan.bots)
        self._bots.tidy(now)
        machines = self._machines(now)
        # A new server has no plan yet: leave the bots of a machine where they are.
        before = dict(self._plan.bots)
        for each in report.hosts:
            before.setdefault(each.bot, Place(report.name, each.version))
        playing = self.needed.in_matches()
        needs = [
            Need(
                bot=bot,
                version=version,
                priority=need.priority,
                not_on=self._bots.machines(version, now) | self._without(need.row.needs),
                idle=self._is_idle(bot),
                playing=bot in playing,
                turn=need.turn,
            )
            for bot, need in wanted.items()
            if (version := need.row.version_id)
        ]
        unfit = {
            each: self._checks.unfit(each, now) | self._without(check.needs)
            for each, check in waiting.items()
        }
        later = {each for each, check in waiting.items() if check.baseline}
        old = self._plan
        self._plan = decide(
            machines=machines,
            needs=needs,
            checks=list(waiting),
            before=replace(old, bots=before),
            unfit=unfit,
            later=later,
        )
        self._renew_tickets(wanted)
        if replace(self._plan, checks=old.checks, waiting=old.waiting) != old:
            self._tournaments.advance_soon()

    def _is_idle(self, bot: int) -> bool:
        """Return whether a bot could move to another machine without disturbing a match."""
        here = self._directory.presences.get(bot)
        return here is None or not here.matches

    def _without(self, program: str) -> frozenset[str]:
        """Return the machines that lack a program; none if ``program`` is empty."""
        if not program:
            return frozenset()
        return frozenset(
            name for name, each in self._runners.items() if program not in each.report.languages
        )

    def lacks(self, program: str) -> bool:
        """Return whether runners are connected and none of them has this program."""
        here = {name for name in self._runners if self._hears(name)}
        return bool(program) and bool(here) and here <= self._without(program)

    def why_unchecked(self, row: SubmissionRow) -> str:
        """Return why a submission waits, in sentences; or ""."""
        if row.status == "refused":
            return ""
        if not self.machines:
            what = "checks" if row.unchecked else "runs"
            return f"No runner machine is connected, so nothing {what} it. {RUNNER_HINT}"
        if not self.lacks(row.needs):
            return self._checks.progress(row.id) if row.unchecked else ""
        return (
            f"It is started with {row.needs}, which no runner machine here has: it waits until one "
            "comes that has it."
        )

    async def waiting_checks(self, competition_id: str) -> list[str]:
        """Return why submissions for a competition wait for their checks, in queue order."""
        rows = await self._store.read(submission_sql.waiting_for, competition_id)
        if rows and not self.machines:
            some = f"{len(rows)} submissions wait" if len(rows) > 1 else f"{rows[0].name} waits"
            return [f"{some} for a check, and no runner machine is connected. {RUNNER_HINT}"]
        order = self._checks.order()
        rows.sort(key=lambda row: order.get(row.id, len(order)))
        told = [
            f"{row.name} waits for its check. {self.why_unchecked(row)}".rstrip()
            for row in rows[:CHECKS_TOLD]
        ]
        more = len(rows) - len(told)
        return told + ([f"{more} more wait for their checks."] if more else [])

    @property
    def programs(self) -> frozenset[str]:
        """The languages and programs that at least one machine has."""
        return frozenset(
            each
            for name, runner in self._runners.items()
            if self._hears(name)
            for each in runner.report.languages
        )

    def absence_of(self, bot: int, version: int | None, only_hosted: bool) -> str:
        """Return why a bot is not online.

        The text is the rest of a sentence that begins with the bot's name.

        ``only_hosted`` means that only a runner may run it.  Empty if no runner is connected, or if
        no runner has to run the bot.
        """
        row = self.needed.row(bot, version)
        if not self.machines or (row is None and not only_hosted):
            return ""
        if row is not None and self.lacks(row.needs):
            return f"is started with {row.needs}, and waits for a runner machine that has it."
        place = self._plan.bots.get(bot)
        if place is not None and self._hears(place.machine):
            return f"is being started on the runner machine {place.machine}."
        if row is not None and bot in self._plan.waiting:
            if self._bots.count.get(row.version_id):
                return "could not be started on the runner machines: their logs say why."
            return "waits for room on a runner machine: those that are connected have none left."
        return "is about to be started on a runner machine."

    def _machines(self, now: int) -> list[Machine]:
        gone = [name for name, each in self._runners.items() if now - each.heard >= LEASE_NS]
        for name in gone:
            log.warning("runner lost", extra={"runner": name})
            del self._runners[name]
        return [self._machine(name) for name in sorted(self._runners)]

    def _machine(self, name: str) -> Machine:
        return self._with_busy(name, Priority.LADDER)

    def _with_busy(self, name: str, purpose: Priority) -> Machine:
        """Return a machine, and how busy it is for a new match.

        It is busy with the matches for which one of priority ``purpose`` has to wait.
        """
        report = self._runners[name].report
        return Machine(name, report.cores, report.bots, self._busy(name, purpose))

    def _busy(self, machine: str, purpose: Priority) -> int:
        """Return the processors that a machine's matches need.

        A match needs one processor if its seats move in turn, and one per hosted bot otherwise.
        """
        turns: set[str] = set()
        at_once = 0
        for each in self._directory.presences.values():
            if each.hosted != machine:
                continue
            for identifier in each.matches:
                match = self._directory.summary(identifier)
                if match is not None and not purpose.has_to_wait_for(self._priority(match)):
                    continue
                if match is not None and match.simultaneous:
                    at_once += 1
                else:
                    turns.add(identifier)
        return len(turns) + at_once

    def _priority(self, match: MatchSummary) -> Priority:
        """Return the priority of a match."""
        if match.tournament is None:
            return Priority.INTERACTIVE
        running = self._tournaments.running(match.tournament)
        return Priority.FINAL if running is None else priority_of(running)

    async def _answer(self, report: RunnerReport) -> RunnerPlan:
        bots = [each.wanted for each in self._ticket_of.values() if each.machine == report.name]
        checks = []
        for each in [each for each, name in self._plan.checks.items() if name == report.name]:
            check = await self._checks.wanted(each)
            # The check may be gone, or on another machine, since the database was read.
            if check is not None and self._plan.checks.get(each) == report.name:
                self._checks.give(each, report)
                checks.append(check)
        return RunnerPlan(EVERY_MS, LEASE_NS // 1_000_000, checks, bots)

    # ------------------------------------------------------------------------ tickets

    def _renew_tickets(self, wanted: Mapping[int, Wanted]) -> None:
        fresh: dict[int, Ticket] = {}
        for bot, place in self._plan.bots.items():
            need, kept = wanted[bot], self._ticket_of.get(bot)
            if kept is None or kept != Ticket(place.machine, need.described(kept.wanted.ticket)):
                secret = TICKET_PREFIX + secrets.token_urlsafe(32)
                kept = Ticket(place.machine, need.described(secret))
            fresh[bot] = kept
        self._ticket_of = fresh
        self._tickets = {each.wanted.ticket: each for each in fresh.values()}

    def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket with this secret; None if it is not valid."""
        found = self._tickets.get(secret)
        return found if found is not None and self._hears(found.machine) else None

    def holds(self, bot: int) -> bool:
        """Return whether a runner hosts a bot now, so that its author has to wait."""
        found = self._ticket_of.get(bot)
        return found is not None and self._hears(found.machine)

    def _hears(self, machine: str) -> bool:
        runner = self._runners.get(machine)
        return runner is not None and self._now() - runner.heard < LEASE_NS

    # ----------------------------------------------------------------------- capacity

    @property
    def cores(self) -> int:
        """Processors of all connected runners."""
        return sum(each.report.cores for name, each in self._runners.items() if self._hears(name))

    @property
    def machines(self) -> int:
        """Number of connected runners."""
        return sum(map(self._hears, self._runners))

    def rooms(self, running: RunningTournament) -> Callable[[Presence], int]:
        """Return a function that returns how many matches a hosted bot may begin.

        It counts matches of this competition.

        Its answers hold until a match begins or ends.
        """
        free: dict[str, int] = {}

        def room(bot: Presence) -> int:
            machine = bot.hosted
            if machine not in free:
                free[machine] = self._free(machine, running)
            if not free[machine] or not self.runs_for(bot, priority_of(running)):
                return 0
            matches = [self._directory.summary(each) for each in bot.matches]
            played = sum(each is None or each.tournament is not None for each in matches)
            allowed = self.needed.at_once(running, bot.bot_id)
            return min(max(0, allowed - played), free[machine])

        return room

    def runs_for(self, bot: Presence, priority: Priority) -> bool:
        """Return whether a bot runs as matches of this priority need it.

        It does not if its runner is about to move or restart it, so that no match is disturbed.
        """
        ticket = self._ticket_of.get(bot.bot_id)
        if bot.bot_id in self._plan.yielding:
            return False
        if (
            ticket is None
            or ticket.wanted.ticket != bot.ticket
            or self.needed.is_outdated(bot.bot_id)
        ):
            return False
        return self.needed.priority(bot.bot_id) == priority

    def _free(self, name: str, running: RunningTournament) -> int:
        """Return how many matches of a competition may begin on a machine."""
        priority = priority_of(running)
        if not self._hears(name) or self._is_hungry(name, priority):
            return 0
        machine = self._with_busy(name, priority)
        held = self._plan.held.get(name, 0)
        if priority > Priority.INTERACTIVE and self.people_waiting is not None:
            machine = replace(machine, busy=machine.busy + self.people_waiting(name))
        game = running.terms.game
        # All seats may be on one machine.
        each = game.seats if game.info.simultaneous else 1
        at_once = running.queue.at_once
        return room_for_matches(machine, held, cores_each=each, at_once=at_once)

    def _is_hungry(self, machine: str, priority: Priority) -> bool:
        """Return whether a processor would let a match of higher priority begin."""
        for running in self._tournaments.played():
            if priority_of(running) < priority and self._tournaments.starter.could_begin(running):
                for bot in running.waiting():
                    place = self._plan.bots.get(bot)
                    if place is not None and place.machine == machine and self._comes(bot, place):
                        return True
        return False

    def _comes(self, bot: int, place: Place) -> bool:
        """Return whether a hosted bot can begin a match, now or once it runs."""
        here = self._directory.presences.get(bot)
        if here is not None and here.online and not self.needed.is_outdated(bot):
            return here.free > 0
        return self._bots.count.get(place.version, 0) < MAX_FAILURES

    def machine_of(self, bot: int) -> str | None:
        """Return the machine that should host a bot; None while there is no room for it."""
        place = self._plan.bots.get(bot)
        return None if place is None else place.machine

    def room_to_play(self, machine: str) -> int:
        """Return how many matches with people may begin on a machine.

        They must not delay any other match.
        """
        if not self._hears(machine) or self._is_hungry(machine, Priority.INTERACTIVE):
            return 0
        here = self._machine(machine)
        return max(0, here.cores - here.busy - self._plan.held.get(machine, 0))

    # ------------------------------------------------------------------------- matches

    def played(self, seats: Iterable[Presence], culprit: Presence | None) -> None:
        """Forget the failures of the bots in a match that counts, except the culprit's."""
        for each in seats:
            if each.hosted and each is not culprit:
                self._bots.played(each.version_id)

    def refund(self, now: int) -> None:
        """Give bots back the time in which no machine ran them; see `HostingRefunds`."""
        self._refunds.give(now)

    def _has_ended(self, bot: Presence) -> bool:
        """Return whether the machine of a bot reports that its program exited."""
        runner = self._runners.get(bot.hosted)
        gone = (bot.bot_id, bot.version_id)
        return runner is not None and any(
            (each.bot, each.version) == gone for each in runner.report.ended
        )

    def _is_given_up(self, bot: Presence) -> bool:
        """Return whether the bot has failed `MAX_FAILURES` times."""
        return self._bots.count.get(bot.version_id, 0) >= MAX_FAILURES
