"""A runner machine: it repairs differences between its state and the server's assignment.

One request states everything that the machine has, and the answer everything that it should have.
So no message can be missed: the next answer repairs every failure.

All bots share one fork server and the processors.  If the fork server dies, all bots restart with
another one; if this program is killed, the fork server and all boxes end with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from plyhouse.bots.client.client import ClientError, Refused
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.bots.hosting.hosted_session import hosted_session
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLine, AuthorLog, heading
from plyhouse.bots.process.launcher import LauncherLost
from plyhouse.bots.process.messages import cut
from plyhouse.bots.process.output_limits import Allowance
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.running.run_options import RunOptions, SeatResult, counted
from plyhouse.bots.sandbox.box import Cores, SandboxError, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.kernel import BEHIND
from plyhouse.bots.sandbox.tiers import choose_tier
from plyhouse.clients.runner.output_queue import Batch, OutputQueue, Parcel, ReportQueue
from plyhouse.clients.runner.packages import KEEP, Packages, WrongPackageError
from plyhouse.clients.runner.submission_checks import check_package
from plyhouse.clients.shared.http import ask
from plyhouse.games.errors import GameError
from plyhouse.protocol.address import Address
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.hosting.package import Rules, SubmissionError
from plyhouse.protocol.hosting.runner_messages import (
    BotWanted,
    CheckDone,
    CheckWanted,
    FlagFell,
    Hosted,
    RunnerPlan,
    RunnerReport,
    Trouble,
)
from plyhouse.server.hosting.placement import MOST_LOST

ANSWER_SECONDS: Final = 10.0
FIRST_EVERY: Final = 1.0
"""Seconds between two calls until the server says how often it wants to hear."""
PAUSES: Final = (0.0, 1.0, 5.0, 30.0)
"""Seconds before a bot that ended is run again, after each end in a row."""
SAID_HOURLY: Final = 160_000
"""Characters that are said of one bot at once and in an hour, over all its runs."""
SAID_LINE: Final = 8000
"""Characters of one thing that is said of a bot."""
LAST_REPORTS: Final = 5.0
"""Seconds for the reports that the server has not taken, when this program ends."""
LAST_WORDS: Final = 3.0
"""Seconds for what bots have printed, when this program ends."""
UNWANTED: Final = (400, 404, 409, 413)
"""The server's refusal of something that it will never accept."""
REFUSED: Final = (401, 403)
"""Statuses for a token that is unknown or not a runner's."""
FINAL: Final = (400, 404, *REFUSED)
"""Statuses that end the runner if they are the first answer."""
UNFIT: Final = (400, 413)
"""The server's refusal of something unreadable or too large."""
PROGRAMS_EVERY: Final = 300.0
"""Seconds after which a machine looks again which programs it has."""
TIDY_EVERY: Final = 60.0
"""Seconds after which it is looked which packages may go."""
WELL: Final = 60.0
"""Seconds after which a bot that ends was all right before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The description of a machine."""

    server: str
    token: str
    name: str
    cores: int
    bots: int
    folder: Path
    """For packages and logs."""
    keep: int = KEEP
    """Bytes of packages that are kept there, apart from those in use."""
    nice: int = BEHIND
    """Niceness of bots that play finals; others step back further."""
    tier: Tier | None = None
    """None for the first that works of those that may be taken."""
    every: float | None = None
    """Seconds between two calls; None for what the server says."""
    say: Callable[[str], None] = print


@dataclass(slots=True, eq=False)
class _Run:
    """A bot that is run here."""

    wanted: BotWanted
    task: asyncio.Task[None]
    began: float


def in_words(costs: Sequence[CostOfPly]) -> str:
    """The cost of a match's plies, for the author of a bot.

    >>> in_words([CostOfPly("m", 0, 400_000_000, 390_000_000, 20_000_000)])
    '1 ply, 0.390 s of a processor in 0.400 s; for 5 % of that it was at work for others'
    """
    wall = sum(each.wall for each in costs)
    lost = sum(each.waited for each in costs)
    return (
        f"{counted(len(costs), 'ply', 'plies')}, {sum(each.cpu for each in costs) / 1e9:.3f} s of "
        f"a processor in {wall / 1e9:.3f} s; for {100 * lost / max(1, wall):.0f} % of that it was "
        "at work for others"
    )


def disturbed(costs: Sequence[CostOfPly]) -> list[CostOfPly]:
    """The plies for which the machine was not the bot's for more than a lost flag allows."""
    return [each for each in costs if each.allowed and each.lost > MOST_LOST * each.allowed]


def flag_fell(bot: int, result: SeatResult, costs: Sequence[CostOfPly]) -> FlagFell | None:
    """Return the report of a match that a bot has lost on time; None of all others.

    Without figures of the last ply the bot had no time that anybody knows of: the flag counts.
    """
    lost = result.outcome.termination == "flag_fall" and result.outcome.seat == result.seat
    if not lost:
        return None
    unknown = CostOfPly(result.match, result.plies, 0, 0, 0)
    last = costs[-1] if costs and costs[-1].ply == result.plies else unknown
    return FlagFell(
        match=result.match,
        bot=bot,
        ply=last.ply,
        allowed=last.allowed,
        wall=last.wall,
        cpu=last.cpu,
        lost=last.lost,
        slept=last.slept,
        match_wall=sum(each.wall for each in costs),
        match_lost=sum(each.lost for each in costs),
    )


class Machine:
    """A machine, for as long as `run` runs."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._instance = secrets.token_hex(16)
        self._url = Address.read(setup.server)
        self._packages = Packages(setup.folder, self._fetch, self._rules, keep=setup.keep)
        self._tidying: asyncio.Task[Any] | None = None
        self._tidy_at = 0.0
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._cores = Cores(usable[-setup.cores :])
        self._fork_server: ForkServerClient | None = None
        self._tier: Tier | None = None
        self._runs: dict[int, _Run] = {}
        self._checks: dict[int, asyncio.Task[None]] = {}
        self._deaths: dict[tuple[int, int], int] = {}
        self._not_before: dict[tuple[int, int], float] = {}
        self._news = ReportQueue()
        self._soon = asyncio.Event()
        self._every = setup.every or FIRST_EVERY
        self._reached: bool | None = None
        self._answered = False
        """True once the server has answered a call."""
        self._programs: frozenset[str] = frozenset()
        """The commands with which packages may start and that are installed here."""
        self._look_again = 0.0
        self._ended_itself: set[tuple[int, int]] = set()
        """Bots and versions whose program has exited and is not back yet."""
        self._outbox = OutputQueue(self._packages.private / "outbox")
        self._telling: asyncio.Task[None] | None = None
        self._said_of: dict[int, Allowance] = {}
        """Characters that may still be said about each bot."""
        self._silent: set[int] = set()
        """Bots of which nothing more is said for now."""

    async def run(self, stop: asyncio.Event) -> None:
        """Host until ``stop`` is set.

        Raises `SandboxError` if there is no sandbox here, and `ApiError` if the token is refused.
        """
        ended = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await self._have_fork_server()
                await self._look_for_programs()
                told = await self._sync()
                if told is not None:
                    await self._reconcile(told)
                    self._tell()
                    self._tidy(told)
                soon = asyncio.create_task(self._soon.wait())
                await asyncio.wait(
                    {ended, soon}, timeout=self._every, return_when=asyncio.FIRST_COMPLETED
                )
                soon.cancel()
                self._soon.clear()
        finally:
            ended.cancel()
            await self._leave()

    # ------------------------------------------------------------------------- calling

    async def _sync(self) -> RunnerPlan | None:
        """Report the machine's state and return the assignment; None without an answer."""
        batch = self._news.batch()
        try:
            told = await asyncio.to_thread(self._call, self._says(batch))
        except (Unreachable, ApiError) as error:
            if isinstance(error, ApiError) and error.status in UNFIT and batch:
                # A failure caused by a bot must not end all hosted bots.
                self._refused(batch, error)
                self._soon.set()
                return None
            # Not heard, perhaps: sent again, which does no harm.
            # Once a server has answered, 400 and 404 are about one report or one package, and a
            # proxy may answer anything: neither must end the runner.
            if isinstance(error, ApiError) and (
                error.code.startswith("auth/") and error.status in REFUSED
                if self._answered
                else error.status in FINAL
            ):
                raise
            if self._reached is not False:
                self._setup.say(f"{error} Trying again.")
            self._reached = False
            return None
        self._news.taken(batch)
        if len(self._news):
            self._soon.set()
        if not self._reached:
            self._setup.say(
                f"{self._setup.name} hosts for {self._url.base}: {self._setup.cores} cores, "
                f"{self._tier.value if self._tier is not None else 'no sandbox'}"
            )
        self._reached = self._answered = True
        if self._setup.every is None:
            self._every = told.every_ms / 1000
        return told

    def _refused(self, batch: Batch, error: ApiError) -> None:
        dropped = self._news.refused(batch)
        if dropped is None:
            return
        said = cut(f"{error} {dropped}", 500)
        self._setup.say(f"the server does not take a report, which is dropped: {said}")
        if isinstance(dropped, CheckDone):  # without a verdict it would be checked for ever
            why = f"the server does not take the report of this check: {error}"
            self._news.add(
                Trouble(cut(why, 2000), submission=dropped.submission, machine_works=True)
            )

    def _says(self, batch: Batch, *, leaving: bool = False) -> RunnerReport:
        setup = self._setup
        return RunnerReport(
            name=setup.name,
            instance=self._instance,
            cores=setup.cores,
            bots=setup.bots,
            tier=self._tier.value if self._tier is not None else "",
            languages=["python", "program", *sorted(self._programs)],
            hosts=[Hosted(bot, run.wanted.version) for bot, run in self._runs.items()],
            ended=[Hosted(*each) for each in sorted(self._ended_itself)],
            checked=batch.checked,
            troubles=batch.troubles,
            flags=batch.flags,
            leaving=leaving,
        )

    def _call(self, says: RunnerReport, seconds: float = ANSWER_SECONDS) -> RunnerPlan:
        wanted = replace(calls.runner_sync(says), timeout=seconds)
        return ask(self._setup.server, wanted, self._setup.token)

    def _fetch(self, digest: str) -> bytes:
        return ask(self._setup.server, calls.package(digest), self._setup.token)

    def _rules(self) -> Rules:
        """The server's rules for packages; what they name must be installed here."""
        try:
            answer = ask(self._setup.server, replace(calls.submission_rules(), timeout=5.0))
        except ApiError as error:
            if error.code != "submission/not_hosted":
                raise
            return Rules()  # nothing new is submitted, and earlier submissions are played on
        return Rules.from_answer(answer, installed=True)

    async def _look_for_programs(self) -> None:
        """Look which programs are here of those that packages may be started with."""
        now = time.monotonic()
        if now < self._look_again:
            return
        with contextlib.suppress(Unreachable, ApiError):
            rules = await asyncio.to_thread(self._rules)
            found = frozenset(each for each in rules.runtimes if shutil.which(each))
            if found != self._programs and rules.runtimes - found:
                missing = ", ".join(sorted(rules.runtimes - found))
                self._setup.say(f"not here: {missing}; bots that need it go to other machines")
            self._programs, self._look_again = found, now + PROGRAMS_EVERY

    # --------------------------------------------------------------------- reconciling

    async def _have_fork_server(self) -> None:
        """Make sure that a fork server runs, and restart the bots of one that has ended."""
        if self._fork_server is not None and not self._fork_server.gone:
            return
        if self._fork_server is not None:
            self._setup.say("the fork server of the boxes has ended; another one takes over")
            await self._end(list(self._runs))
            await self._fork_server.close()
        self._fork_server = await ForkServerClient.start()
        self._tier = await choose_tier(self._fork_server, only=self._setup.tier)

    async def _reconcile(self, told: RunnerPlan) -> None:
        wanted = {each.bot: each for each in told.bots}
        await self._end([bot for bot, run in self._runs.items() if wanted.get(bot) != run.wanted])
        for bot, run in tuple(self._runs.items()):
            if run.task.done():
                del self._runs[bot]
                self._ended(run)
        self._ended_itself &= {(each.bot, each.version) for each in told.bots}
        now = time.monotonic()
        for bot, each in wanted.items():
            key = bot, each.version
            if bot not in self._runs and self._not_before.get(key, 0.0) <= now:
                task = asyncio.create_task(self._host(each))
                task.add_done_callback(lambda _: self._soon.set())
                self._runs[bot] = _Run(each, task, now)
        checks = {each.submission: each for each in told.checks}
        for submission, task in tuple(self._checks.items()):
            if submission not in checks:
                task.cancel()
                del self._checks[submission]
        for submission, check in checks.items():
            known = self._checks.get(submission)
            if known is None or known.done():
                self._checks[submission] = asyncio.create_task(self._check(check))

    async def _end(self, bots: list[int]) -> None:
        wanted = [self._runs[bot].wanted for bot in bots]
        self._ended_itself -= {(each.bot, each.version) for each in wanted}
        tasks = [self._runs.pop(bot).task for bot in bots]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, run: _Run) -> None:
        """Restart a bot that has exited, later each time."""
        key, now = (run.wanted.bot, run.wanted.version), time.monotonic()
        deaths = 0 if now - run.began > WELL else self._deaths.get(key, 0)
        self._deaths[key] = deaths + 1
        self._not_before[key] = now + PAUSES[min(deaths, len(PAUSES) - 1)]

    # ---------------------------------------------------------------------------- bots

    async def _host(self, wanted: BotWanted) -> None:
        name = f"{wanted.player}/{wanted.name}"

        def say(line: str) -> None:
            self._say_of(wanted.bot, f"{name}: {line}")

        def trouble(why: str) -> None:
            say(why)
            said = cut(f"{name}: {why}", 2000)
            self._news.add(Trouble(said, bot=wanted.bot, version=wanted.version))

        fork_server, tier = self._fork_server, self._tier
        if fork_server is None or tier is None:
            return
        try:
            built = await asyncio.to_thread(self._packages.built, wanted.digest)
            logs = self._packages.private / "logs" / wanted.player
            log = AuthorLog(wanted.name, folder=logs)  # the same file as its runner's
            costs: dict[str, list[CostOfPly]] = {}

            def cost(each: CostOfPly) -> None:
                costs.setdefault(each.match, []).append(each)
                self._outbox.cost(wanted.bot, each)

            def over(result: SeatResult) -> None:
                self._over(wanted.bot, result, costs.pop(result.match, []), log)
                self._outbox.over(wanted.bot, result.match)

            options = RunOptions(
                bot=wanted.name,
                version=wanted.label,
                workers=wanted.matches,
                max_matches=wanted.matches,
                forgetful=True,
                takeover=True,
                log_folder=logs,
                say=say,
                on_cost=cost,
                on_up=lambda up: self._up(wanted, up),
                on_line=lambda line: self._outbox.line(wanted.bot, line),
                on_result=over,
            )
            connector = websocket_connector(self._url.websocket, options.codec)
            nice = self._setup.nice - BEHIND + wanted.nice
            await hosted_session(
                built, connector, wanted.ticket, options,
                fork_server=fork_server, tier=tier, cores=self._cores, nice=nice,
            ).run()  # fmt: skip
        except LauncherLost as error:
            say(str(error))
        except BotLoadError as error:
            trouble(f"{error}\n{error.details}".rstrip())
        except (SubmissionError, WrongPackageError, GameError, OSError, SandboxError) as error:
            trouble(str(error))
        except (Unreachable, ApiError, ClientError) as error:
            if isinstance(error, Refused) and error.code.startswith("protocol/"):
                self._up(wanted, False)  # what it sent: no time is given back for that
            say(str(error))  # the next answer of the server says what to do
        finally:
            self._outbox.left(wanted.bot)

    def _say_of(self, bot: int, line: str) -> None:
        """Say something about a bot, at most `SAID_HOURLY` characters an hour for each."""
        line = cut(line, SAID_LINE)
        allowance = self._said_of.get(bot)
        if allowance is None:
            allowance = self._said_of[bot] = Allowance(SAID_HOURLY, seconds=3600.0)
        if allowance.take(len(line)):
            self._silent.discard(bot)
            self._setup.say(line)
        elif bot not in self._silent:
            self._silent.add(bot)
            self._setup.say(f"{line[:80]}... a lot is said of this bot; its own log has the rest")

    def _up(self, wanted: BotWanted, up: bool) -> None:
        """Report at once that a program has exited, or was logged in."""
        key = wanted.bot, wanted.version
        if up:
            self._ended_itself.discard(key)
        else:
            self._ended_itself.add(key)
            self._soon.set()

    # -------------------------------------------------------------------------- tidying

    def _tidy(self, told: RunnerPlan) -> None:
        """Once a minute, let packages go that are wanted no more, beside the rest."""
        now = time.monotonic()
        if now >= self._tidy_at and (self._tidying is None or self._tidying.done()):
            self._tidy_at = now + TIDY_EVERY
            used = {each.digest for each in told.bots} | {each.digest for each in told.checks}
            self._tidying = asyncio.create_task(asyncio.to_thread(self._packages.tidy, used))

    # -------------------------------------------------------------------------- output

    def _tell(self) -> None:
        """Send what was printed in matches that are over, one after the other, beside the rest."""
        if self._telling is None or self._telling.done():
            self._outbox.take_over()
            parcels = self._outbox.due()
            if parcels:
                self._telling = asyncio.create_task(self._tell_all(parcels))

    async def _tell_all(self, parcels: list[Parcel]) -> None:
        for parcel in parcels:
            try:
                await asyncio.to_thread(self._send, parcel)
            except Unreachable:
                return  # tried again
            except ApiError as error:
                if error.status not in UNWANTED:
                    return
                self._setup.say(f"the server does not take what a bot printed: {error}")
            self._outbox.done(parcel)

    def _send(self, parcel: Parcel) -> None:
        output = parcel.read()
        if output is not None and (output.lines or output.costs):
            ask(self._setup.server, calls.runner_output(output), self._setup.token)

    def _over(
        self, bot: int, result: SeatResult, costs: Sequence[CostOfPly], log: AuthorLog
    ) -> None:
        """Note the cost of a finished match of our bot, and report a flag fall."""
        log.note(f"match {result.match}: {in_words(costs)}")
        for each in disturbed(costs):
            said = (
                f"for {each.lost / 1e6:.0f} of {each.allowed / 1e6:.0f} ms the machine was not the "
                "bot's"
            )
            log.note(f"{heading(result.match, each.ply)}: {said}")
            self._outbox.line(bot, AuthorLine(result.match, each.ply, "note", said))
        flag = flag_fell(bot, result, costs)
        if flag is not None:
            self._news.add(flag)
            self._soon.set()

    # -------------------------------------------------------------------------- checks

    async def _check(self, wanted: CheckWanted) -> None:
        submission, core = wanted.submission, self._cores.take()
        try:
            rules = await asyncio.to_thread(self._rules)
            done = await check_package(
                wanted=wanted,
                packages=self._packages,
                folder=self._setup.folder,
                tier=self._tier,
                rules=rules,
                core=core,
            )
        except (Unreachable, ApiError):
            return  # asked for again, unless its author has removed it
        finally:
            if core is not None:
                self._cores.give_back(core)
        self._news.add(done)
        word = "in trouble" if isinstance(done, Trouble) else "fit" if done.ok else "refused"
        self._setup.say(f"submission {submission}: {word}")
        self._soon.set()

    # -------------------------------------------------------------------------- ending

    async def _leave(self) -> None:
        """Give everything back, and leave nothing running."""
        for task in self._checks.values():
            task.cancel()
        await asyncio.gather(*self._checks.values(), return_exceptions=True)
        await self._end(list(self._runs))
        for beside in (self._telling, self._tidying):
            if beside is not None:
                beside.cancel()
                await asyncio.gather(beside, return_exceptions=True)
        with contextlib.suppress(Unreachable, ApiError, TimeoutError):
            async with asyncio.timeout(LAST_REPORTS):
                while await self._say_goodbye():
                    pass
        # The next program of this folder sends the rest.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._tell_all(self._outbox.due(everything=True))
        self._outbox.close()
        if self._fork_server is not None:
            await self._fork_server.close()

    async def _say_goodbye(self) -> bool:
        """Send a batch of the last reports; return whether there are more."""
        batch = self._news.batch()
        last = len(batch) == len(self._news)
        try:
            await asyncio.to_thread(self._call, self._says(batch, leaving=last), 3.0)
        except ApiError as error:
            if error.status not in UNFIT or not batch:
                raise
            self._refused(batch, error)
            return True
        self._news.taken(batch)
        return not last
