"""The whole of a competition on this machine: a real server, real bots, and the API in between.

Nothing is asked of the server but what an organiser can ask: open, students, submissions, freeze,
run, status, export.  So every format is rehearsed that the server plays.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from plyhouse.clients.rehearsal.misbehaving_bots import misbehaves
from plyhouse.clients.rehearsal.outcome_check import RehearsalFacts, RehearsalMatch, opposing
from plyhouse.clients.rehearsal.participants import BROKEN, Cast, Event, Role
from plyhouse.clients.rehearsal.small_competition import SmallCompetition
from plyhouse.clients.shared.child_processes import Processes
from plyhouse.clients.shared.errors import EXIT_FAILED, CommandError
from plyhouse.clients.shared.http import ask
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import administration_calls, calls, competition_calls
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.routes import PAGE, Call
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.messages import VOID
from plyhouse.server.results.record import Record, read_record
from plyhouse.server.results.verify import verify

T = TypeVar("T")

ORGANISER: Final = "organiser"
SUSPEND_AFTER: Final = 3
"""Forfeits by which the rehearsal's server suspends a version: few, as it is short."""
SETTINGS: Final = (
    *("--host", "127.0.0.1", "--port", "0", "--log-level", "warning"),
    *("--disconnect-grace", "0.5", "--ready-timeout", "10"),
)
"""A short grace for the bot that is cut off."""
POLL: Final = 0.15
MOST: Final = 50
"""Matches of one bot that run at a time."""

Say = Callable[[str], None]


def rehearse(small: SmallCompetition, cast: Cast, minutes: float, say: Say) -> RehearsalFacts:
    """Play it in at most ``minutes``; no process and no file is left, also after an error."""
    deadline = time.monotonic() + 60 * minutes
    with TemporaryDirectory(prefix="plyhouse-rehearsal-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        stage = _Stage(small, cast, folder, deadline, say)
        stack.callback(stage.processes.close)
        return stage.play()


class _Stage:
    """The server, the bots and where they are."""

    def __init__(
        self, small: SmallCompetition, cast: Cast, folder: Path, deadline: float, say: Say
    ) -> None:
        self.small = small
        self.cast = cast
        self.folder = folder
        self.deadline = deadline
        self.say = say
        self.processes = Processes(folder)
        self.tokens: dict[str, str] = {}
        self.codes: dict[str, int | None] = {}
        self.cut_off: set[tuple[str, str]] = set()
        """Entries whose runner was killed in a match, with the match."""
        self.server = ""
        games = [get_game(spec) for spec in small.file.games]
        self.workers = max(game.seats for game in games) if small.file.mirrored else 1

    # ------------------------------------------------------------------- from open to export

    def play(self) -> RehearsalFacts:
        """From opening to export."""
        database = f"sqlite:///{self.folder / 'rehearsal.db'}"
        staff = [role for role in self.cast if role.baseline]
        self.tokens = asyncio.run(_accounts(database, sorted({role.name for role in staff})))
        suspend = ("--suspend-after", str(SUSPEND_AFTER))
        self.server = self.processes.start_server([*SETTINGS, *suspend, "--database", database])
        for role in staff:
            self._start(role)
        for role in staff:
            self._until(partial(self._said, role, "connected to "), f"{role.entry} to connect")
        self.ask(competition_calls.open_competition(self.small.text))
        students = [role for role in self.cast if not role.baseline]
        for joined in self.ask(competition_calls.take_in(self.name, csv=_sheet(students))):
            self.tokens[joined.account] = joined.token
        (self.folder / "broken.py").write_text(BROKEN, encoding="utf-8")
        for role in students:
            self._start(role)
        present = {role.entry for role in self.cast if role.event is not Event.ABSENT}
        self._until(lambda: present <= self._connected(), "all bots to connect")
        if self.small.file.teams:
            self._add_partners(students)
        self._note_absent()
        self.ask(competition_calls.step_competition(self.name, "freeze"))
        self.ask(competition_calls.step_competition(self.name, "run", anyway=True))
        self.say(f"The final of {self.small.file.name} has begun.")
        over = self._final()
        return self._facts(over)

    @property
    def name(self) -> str:
        """The name of the competition."""
        return self.small.file.name

    def ask(self, call: Call[T]) -> T:
        """Make a call as the organiser, who sees all matches with every setting of ``board``."""
        return ask(self.server, call, self.tokens[ORGANISER])

    def _final(self) -> bool:
        """Play the final with the planned events; return False if it took too long."""
        befalls = [
            self._twice(role) if role.event is Event.TWICE else self._cut(role)
            for role in self.cast
            if role.event in (Event.TWICE, Event.CUT)
        ]
        while time.monotonic() < self.deadline:
            for each in befalls:
                next(each, None)
            self._check()
            if self.ask(competition_calls.competition(self.name)).status == "finished":
                return True
            time.sleep(POLL)
        return False

    # --------------------------------------------------------------------------- what befalls

    def _cut(self, role: Role) -> Iterator[None]:
        """Kill a runner in the middle of a match; start it again when the match is over.

        That match may have ended by play before the server knew; then take the next one.
        """
        forfeited = False
        while not forfeited:
            while not (hit := [each for each in self._playing(role) if _in_middle(each)]):
                yield
            self.processes.kill(role.entry.replace("/", "-"))
            held = {match.match for match in self._playing(role)} | {hit[0].match}
            self.cut_off |= {(role.entry, match) for match in held}
            self.say(f"{role.entry} was cut off in {len(held)} of its matches.")
            while any(self._match(match).status != "finished" for match in held):
                yield
            forfeited = any(_forfeited(role, self._match(match)) for match in held)
            self._start(role)

    def _twice(self, role: Role) -> Iterator[None]:
        """Start a second runner of a bot while it plays."""
        while not self._playing(role):
            yield
        second = self._start(role, name=f"{role.name}-second")
        while second.poll() is None:
            yield
        self.codes[role.entry] = second.returncode
        del self.processes.running[f"{role.name}-second"]

    def _note_absent(self) -> None:
        """How the runners of those ended that cannot play."""
        for role in self.cast:
            if role.event is Event.ABSENT:
                process = self.processes.running.pop(role.entry.replace("/", "-"))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=max(1.0, self.deadline - time.monotonic()))
                self.codes[role.entry] = process.poll()
                if process.poll() is None:
                    process.kill()

    # -------------------------------------------------------------------------------- looking

    def _playing(self, role: Role) -> Rows[Match]:
        return self.ask(calls.page_of_matches(player=role.name, status="running", limit=MOST))

    def _match(self, match: str) -> Match:
        return self.ask(calls.match(match))

    def _connected(self) -> set[str]:
        view = self.ask(competition_calls.competition(self.name))
        return {each.entry for each in view.entries if each.connected}

    def _said(self, role: Role, text: str) -> bool:
        return text in self.processes.log(role.entry.replace("/", "-"))

    def _until(self, done: Callable[[], bool], what: str) -> None:
        while not done():
            self._check()
            if time.monotonic() > self.deadline:
                raise CommandError(
                    f"Waited too long for {what}; --minutes gives more.", EXIT_FAILED
                )
            time.sleep(POLL)

    def _check(self) -> None:
        """Raise if a process has ended that should not have."""
        absent = {r.entry.replace("/", "-") for r in self.cast if r.event is Event.ABSENT}
        for name, process in self.processes.running.items():
            code = process.poll()
            if code is not None and name not in absent and not name.endswith("-second"):
                tail = "\n".join(self.processes.log(name).strip().splitlines()[-5:])
                raise CommandError(f"{name} ended with code {code}:\n{tail}", EXIT_FAILED)

    def _add_partners(self, students: list[Role]) -> None:
        """Start the other bots of each student's side, which play at random."""
        partners = [
            replace(role, bot=f"{role.bot}-{number}", spec="random", event=Event.NOTHING)
            for role in students
            if role.event is not Event.ABSENT
            for number in range(2, self.small.file.side_size + 1)
        ]
        for partner in partners:
            self._start(partner)
        names = {partner.entry for partner in partners}
        self._until(lambda: names <= self._connected(), "all partners to connect")

    def _start(self, role: Role, name: str = "") -> subprocess.Popen[bytes]:
        spec = str(self.folder / role.spec) if role.event is Event.ABSENT else role.spec
        arguments = ["bot", "run", spec, "--server", self.server, "--name", role.bot]
        arguments += ["--workers", "1" if name else str(self.workers)]
        for game in self.small.file.games:
            arguments += ["--game", game]
        extra = {"PLYHOUSE_TOKEN": self.tokens[role.name]}
        return self.processes.start(name or role.entry.replace("/", "-"), arguments, extra)

    # ----------------------------------------------------------------------------- the facts

    def _facts(self, over: bool) -> RehearsalFacts:
        view = self.ask(competition_calls.competition(self.name))
        export = self.ask(competition_calls.export(self.name))
        names = {f"{role.name}/{role.bot}".lower(): role.entry for role in self.cast}
        matches = [
            self._played(match, names)
            for game in view.progress
            for match in self._matches(game.tournament)
        ]
        suspended = self.ask(administration_calls.suspensions())
        return RehearsalFacts(
            over,
            [each for game in view.progress for each in game.waiting_for],
            matches,
            export.standings,
            export.grades,
            {role.entry: self.processes.log(role.entry.replace("/", "-")) for role in self.cast},
            self.codes,
            {f"{each.player}/{each.bot}": each.reason for each in suspended},
            SUSPEND_AFTER,
        )

    def _matches(self, competition: str) -> Iterator[Match]:
        pages = calls.matches(competition=competition, status="finished")
        had = 0
        call: Call[Rows[Match]] | None = pages.call(PAGE)
        while call is not None:
            page = self.ask(call)
            yield from page
            had += len(page)
            call = pages.after(page, had, PAGE, PAGE)

    def _played(self, match: Match, names: dict[str, str]) -> RehearsalMatch:
        record = read_record(self.ask(calls.record(match.match)).text)
        entries = tuple(
            names.get(name.lower(), name)
            for name in (f"{seat.player}/{seat.bot}" for seat in record.seats)
        )
        outcome = record.outcome
        if outcome is None:
            return RehearsalMatch(record.match, record.game, entries, match.termination)
        culprit = "" if outcome.seat is None else entries[outcome.seat]
        returns = () if outcome.termination in VOID else tuple(outcome.returns)
        game = get_game(record.game)
        acted = [each for each in record.events if each.kind == "action"]
        tried = {entries[each.seat] for each in acted if misbehaves(game, each.ply)}
        for role in self.cast:
            # With more than two seats, others may end the match before its next turn.
            cut_off = game.seats == 2 and (role.entry, record.match) in self.cut_off
            if role.event is Event.CUT and not cut_off:
                tried.discard(role.entry)
        return RehearsalMatch(
            match=record.match,
            game=record.game,
            entries=entries,
            termination=outcome.termination,
            culprit=culprit,
            returns=returns,
            tried=frozenset(tried),
            fault=_fault(record),
        )


def _in_middle(match: Match) -> bool:
    return misbehaves(get_game(match.game), match.ply)


def _forfeited(role: Role, match: Match) -> bool:
    """Return whether a match ended as was promised of a bot, and its side alone lost."""
    seat = [each.player for each in match.seats].index(role.name)
    own = match.seats[seat].returned
    others = opposing(match.game, seat, [each.returned for each in match.seats])
    lost = own is not None and all(other is not None and own < other for other in others)
    return match.termination in role.forfeits and lost


def _fault(record: Record) -> str:
    report = verify(record)
    return "" if report.ok else next(str(check) for check in report.checks if not check.ok)


def _sheet(students: list[Role]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([["name"], *([role.name] for role in students)])
    return text.getvalue()


async def _accounts(database: str, staff: list[str]) -> dict[str, str]:
    """Make the organiser and the staff; their tokens by name."""
    from plyhouse.storage.store import Store

    tokens = {}
    async with await Store.open(database) as store:
        for name in [ORGANISER, *staff]:
            row = await store.add_player(name)
            scopes = ["play", "organise"] if name == ORGANISER else ["play"]
            tokens[name] = await store.add_token(row, scopes, "rehearsal")
    return tokens
