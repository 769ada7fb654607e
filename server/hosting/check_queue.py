"""The queue of checks of submissions.

The queue serves players in turn.  A check waits since its submission, or since the last check of
its player ended, whichever is later; the one that waits longest is next.  The queue keeps the times
of ended checks in memory, so a player gains nothing by deleting submissions.

A verdict or a failure counts only from the machine that got the check last.  After `MAX_FAILURES`
failures the server refuses the submission, so that it cannot keep a competition from starting.  A
failure counts only if its machine could check a bot of its own right afterwards
(`Trouble.machine_works`), so that a broken machine refuses nobody.

`terms_of` returns the games and time controls of a check, from the competitions of the submission.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.hosting.runner_messages import (
    LONGEST_CHECK,
    CheckDone,
    CheckTerms,
    CheckWanted,
    RunnerReport,
    Trouble,
)
from plyhouse.server.accounts.builtin_bots import builtin_player
from plyhouse.server.competition_rules.file import decoded
from plyhouse.server.hosting.placement import RunnerFailures
from plyhouse.storage import submission_checks, submission_sql
from plyhouse.storage.errors import Unknown
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import CheckedFor, WaitingCheck

log = logging.getLogger("plyhouse.server.hosting")


def terms_of(competitions: Iterable[CheckedFor]) -> tuple[list[CheckTerms], bool]:
    """Return the games to check, and whether it must play all of them.

    A submission that is only a baseline must play all: a competition waits for its baselines.
    """
    asked = list(competitions)
    terms = {
        (game, str(file.time_control))
        for file in [decoded(each.parsed) for each in asked]
        for game in file.games
        if _installed(game)
    }
    must_play = bool(terms) and all(each.baseline for each in asked)
    return [CheckTerms(*each) for each in sorted(terms)], must_play


def _installed(game: str) -> bool:
    try:
        get_game(game)
    except GameError:
        return False
    return True


MAX_FAILURES: Final = 3
"""Failures after which a submission is refused and its flag falls count, or a bot is given up."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A machine that was given a check."""

    machine: str
    instance: str
    player_id: int
    since_ms: int


class CheckQueue:
    """The submissions that wait for their checks; see the module."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._troubles = RunnerFailures()
        self._failures: Counter[int] = Counter()
        """Failures on machines that work, by submission."""
        self._waiting: Mapping[int, WaitingCheck] = {}
        self._given: dict[int, _Given] = {}
        """The machine that has each check, by submission."""
        self._served: dict[int, int] = {}
        """When the last check of each player ended, in ms."""

    async def waiting(self, now: int) -> dict[int, WaitingCheck]:
        """Return the checks that wait or are running, in the order in which they are due."""
        given = tuple(self._given)
        found = await self._store.read(submission_checks.waiting)
        self._troubles.tidy(now)
        for submission in given:
            if submission not in found:  # its check ended, or its author removed it
                self._end(submission)
        for submission in self._troubles.count.keys() - found.keys():
            self._troubles.played(submission)
            del self._failures[submission]
        before: Counter[tuple[bool, int]] = Counter()
        order: dict[int, tuple[bool, int, int]] = {}
        for submission, check in found.items():
            player = check.baseline, check.player_id
            since = max(check.since_ms, self._served.get(check.player_id, 0))
            order[submission] = check.baseline, before[player], since
            before[player] += 1
        self._waiting = {each: found[each] for each in sorted(order, key=lambda one: order[one])}
        return dict(self._waiting)

    def unfit(self, submission: int, now: int) -> frozenset[str]:
        """Return the machines that failed this check lately and do not get it now."""
        return self._troubles.machines(submission, now)

    async def wanted(self, submission: int) -> CheckWanted | None:
        """Describe a check to a machine; None if its author removed the submission."""
        try:
            row = await self._store.read(submission_sql.find, submission)
        except Unknown:
            return None
        terms, must_play = terms_of(
            await self._store.read(submission_checks.checked_for, submission)
        )
        flags_count = self._troubles.count.get(submission, 0) >= MAX_FAILURES
        return CheckWanted(submission, row.digest, terms, must_play, flags_count)

    def give(self, submission: int, report: RunnerReport) -> None:
        """Note that a machine gets a check; reports of other machines on it stop counting."""
        check, before = self._waiting.get(submission), self._given.get(submission)
        if before is not None and (before.machine, before.instance) == (
            report.name,
            report.instance,
        ):
            return
        if check is not None:
            now = self._store.now()
            self._given[submission] = _Given(report.name, report.instance, check.player_id, now)

    def order(self) -> dict[int, int]:
        """Return the place of each submission in the queue, running checks included."""
        return {each: place for place, each in enumerate(self._waiting)}

    def progress(self, submission: int) -> str:
        """Return in a sentence how far a check is; empty if the queue does not have it."""
        if submission not in self._waiting:
            return ""
        given = self._given.get(submission)
        if given is None:
            before = itertools.takewhile(lambda each: each != submission, self._waiting)
            number = sum(each not in self._given for each in before)
            are = "check is" if number == 1 else "checks are"
            told = f"{number} {are} before it." if number else "It is the next to be checked."
        else:
            minutes = max(0, self._store.now() - given.since_ms) // 60_000
            told = f"Runner {given.machine} is checking it, for {minutes} min so far."
        told += f" A check takes at most {LONGEST_CHECK:g} s"
        tries = self._troubles.count.get(submission, 0)
        again = f"; {tries} ended without a result, because the machine was too busy or failed"
        return f"{told}{again if tries else ''}."

    async def heard(self, report: RunnerReport, now: int) -> None:
        """Store the results of a machine's own checks, and count its failures."""
        for done in report.checked:
            if (given := self._given_to(report, done.submission)) is not None:
                games = await self._games(done, given.player_id)
                await self._store_verdict(report.name, done.submission, done.ok, done.report, games)
        for trouble in report.troubles:
            if trouble.submission and self._given_to(report, trouble.submission) is not None:
                await self._failed(report.name, trouble, now)

    def _given_to(self, report: RunnerReport, submission: int) -> _Given | None:
        given = self._given.get(submission)
        if given is not None and (given.machine, given.instance) == (report.name, report.instance):
            return given
        log.warning(
            "a report on a check that this runner was not given",
            extra={"runner": report.name, "submission": submission},
        )
        return None

    async def _games(self, done: CheckDone, player_id: int) -> list[str]:
        """Return the games that a submission plays.

        For a built-in bot, return the games in which it was checked.
        """
        owner = await builtin_player(self._store)
        return done.checked if player_id == owner.id and done.checked else done.games

    async def _failed(self, machine: str, trouble: Trouble, now: int) -> None:
        submission = trouble.submission
        self._end(submission)
        self._troubles.note(submission, machine, now)
        self._failures[submission] += trouble.machine_works
        if self._failures[submission] >= MAX_FAILURES:
            report = (
                f"FAILED  can be checked: {MAX_FAILURES} checks of this package ended without a "
                f"result, while the runner machine could check another bot. The last one: "
                f"{trouble.why}\nChange the package, or ask whoever runs the server; submit it "
                "again for another check."
            )
            await self._store_verdict(machine, submission, False, report, [])

    async def _store_verdict(
        self, machine: str, submission: int, ok: bool, report: str, games: list[str]
    ) -> None:
        store = self._store
        try:
            row = await store.write(
                submission_sql.check, submission, ok, report, games, self._store.now()
            )
        except Unknown:
            return  # its author removed it
        log.info(
            "submission checked",
            extra={"submission": row.id, "bot": f"{row.player}/{row.bot}", "status": row.status,
                   "runner": machine},
        )  # fmt: skip

    def _end(self, submission: int) -> None:
        """End a check for now: its player waits behind all who wait already."""
        given = self._given.pop(submission, None)
        if given is not None:
            self._served[given.player_id] = self._store.now()
