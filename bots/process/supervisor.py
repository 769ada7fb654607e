"""Keep a bot's process alive: ask it for actions, and replace it when it hangs or dies.

Every turn ends in one of these ways:

* the bot answers: `Request.answer` is the `Chosen`;
* it raises, or calls ``resign``: `Failed` or `Resigned`;
* its process dies (``os._exit``, a crash in C code, out of memory): if it is clear which turn
  it was working on, that turn is `Failed`.  An async bot may have been at several: each is
  asked again in a new process, and only a second death fails it;
* the runner no longer wants the answer (`Supervisor.stop`): a boxed process without another turn is
  frozen at once and ends this turn when it next runs.  If a bot does not end the turn within
  `HANG_GRACE` seconds, the supervisor reads its traceback and ends the process.  It asks the other
  turns of that process again in a new one.

A new process receives every match again (`Begin`) and rebuilds the positions.  A boxed bot gets its
new process in its next turn only: importing its file earlier would be a chance to compute while its
opponent is to act.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec

from plyhouse.bots.client.timing import REAL_CLOCK, Clock
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLog, AuthorOutput, heading
from plyhouse.bots.process.bot_process import IMPORT_TIMEOUT, BotProcess
from plyhouse.bots.process.launcher import BARE, Launcher, LauncherLost
from plyhouse.bots.process.messages import (
    Begin,
    Best,
    Chosen,
    Doing,
    End,
    Failed,
    FromChild,
    Loaded,
    LoadFailed,
    Prepared,
    Resigned,
    Stop,
    Stopped,
    Think,
)
from plyhouse.bots.process.ply_cost import CostOfPly, Stopwatch
from plyhouse.bots.process.tracker import position_of
from plyhouse.games.registry import anywhere
from plyhouse.protocol.messages import ClockState, Event, Outcome

__all__ = ["HANG_GRACE", "Request", "Supervisor"]

HANG_GRACE: Final = 0.25
"""Seconds within which a bot must end a stopped turn."""

RENEW_GRACE: Final = 0.5
"""Seconds that a process may take to end when it is replaced between matches."""

SLOW_START: Final = 200_000_000
"""Nanoseconds on the clock after which a slow ``__init__`` or ``start`` is reported."""

MOST_DEATHS: Final = 5
"""Processes in a row that may end without an answer before the supervisor gives up."""

TurnAnswer = Chosen | Resigned | Failed


@dataclass(eq=False)
class Request:
    """One turn that a bot is asked to think about; times are instants of the supervisor's clock."""

    match: str
    number: int
    ply: int
    soft_at: int
    hard_at: int
    flag_at: int
    observation: dict[str, Any]
    clocks: Sequence[ClockState]
    retry: bool
    answer: asyncio.Future[TurnAnswer]
    depth: int | None = None
    nodes: int | None = None
    best: str | None = None
    """Best action reported so far, as text."""
    reported: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set while there is a `best`."""
    stage: str = "choose"
    """Current stage of the bot: ``__init__``, ``start`` or ``choose``."""
    stage_since: int = 0
    stopped: bool = False
    deaths: int = 0
    dispatched: bool = field(default=False, repr=False)
    position: Callable[[], str] = field(default=str, repr=False)
    """Returns the position in words; empty if unknown."""
    stopwatch: Stopwatch | None = field(default=None, repr=False)
    """Measures the cost of the ply, if someone asked for it."""


@dataclass
class _Match:
    begin: Callable[[], Begin]
    events: Callable[[], Sequence[Event]]
    told: int = 0
    prepared: bool = False
    """True once the current process has prepared for it."""


def _position(entry: _Match, told: int, request: Request) -> str:
    """Return the position after ``told`` events in words; empty if that fails."""
    with contextlib.suppress(Exception):  # what it goes with must be told all the same
        begin = entry.begin()
        snapshot = msgspec.structs.replace(
            begin.snapshot, events=list(begin.snapshot.events[:told])
        )
        begin = msgspec.structs.replace(begin, snapshot=snapshot)
        return position_of(begin, request.ply, request.observation)
    return ""


class Supervisor:
    """Runs a bot in a process, and replaces the process when necessary."""

    def __init__(
        self,
        spec: str,
        log: AuthorLog,
        *,
        clock: Clock = REAL_CLOCK,
        hang_grace: float = HANG_GRACE,
        import_timeout: float = IMPORT_TIMEOUT,
        launcher: Launcher = BARE,
        on_cost: Callable[[CostOfPly], None] | None = None,
        on_lost: Callable[[LauncherLost], None] | None = None,
    ) -> None:
        self.spec = spec
        self.log = log
        self._launcher = launcher
        self._on_cost = on_cost
        self._on_lost = on_lost
        self.restarts = 0
        """Processes started after the first."""
        self._clock = clock
        self._hang_grace = hang_grace
        self._import_timeout = import_timeout
        self._numbers = itertools.count(1)
        self._matches: dict[str, _Match] = {}
        self._ended: deque[str] = deque(maxlen=64)
        """Matches that are over; a bot may still fail in ``finish``."""
        self._open: dict[int, Request] = {}
        self._process: BotProcess | None = None
        self._voice = AuthorOutput()
        """Output of the latest process."""
        self._life: asyncio.Task[None] | None = None
        self._timers: set[asyncio.Task[None]] = set()
        self._graces: dict[int, asyncio.Task[None]] = {}
        """Tasks that end hanging stopped requests, by number; none while the process is frozen."""
        self._shown: set[int] = set()
        """Requests whose hang has been reported."""
        self._broken = ""
        self._deaths = 0
        self._slow_starts = 0
        self._killed = False
        self._renewing = False
        """True while the current process is being replaced."""
        self._freezes = False
        """True for a bot whose process runs in its turns only: it prepares on its clock."""
        self._closing = False
        self._change: asyncio.Future[None] | None = None
        self._settling = 0
        """Matches that wait for a process in `settled`."""
        self._wanted = asyncio.Event()
        """Set when a process may be needed and there is none."""
        self.loaded: Loaded
        """The bot's description of itself, from its import."""

    async def start(self) -> Loaded:
        """Load the bot; raise `BotLoadError` if that fails."""
        process = await self._new_process()
        self.loaded = process.loaded
        self._life = asyncio.create_task(self._live(process))
        await asyncio.sleep(0)  # let it begin: `close` ends what lives only
        return self.loaded

    @property
    def matches(self) -> int:
        """Number of current matches."""
        return len(self._matches)

    @property
    def pid(self) -> int | None:
        """Id of the current process; None while there is none."""
        return self._process.pid if self._process is not None else None

    def begin(
        self, match: str, begin: Callable[[], Begin], events: Callable[[], Sequence[Event]]
    ) -> None:
        """Begin a match.

        ``begin`` returns everything known about it, for each new process.  ``events`` returns all
        events so far; the list only grows until `begin` is called again.
        """
        self._matches[match] = entry = _Match(begin, events)
        if self._process is not None and not self._renewing:
            self._tell(self._process, entry)

    async def settled(self, match: str = "") -> None:
        """Wait for a process that is not busy with a stopped turn, and is prepared for ``match``.

        A match should not begin while the bot still hangs in the previous one.
        """
        self._settling += 1
        self._wanted.set()
        try:
            while not self._broken and not self._closing and not self._is_settled(match):
                if self._process is not None and not self._renewing:
                    self._work(self._process)
                self._change = self._change or asyncio.get_running_loop().create_future()
                await asyncio.shield(self._change)
        finally:
            self._settling -= 1

    def think(
        self,
        match: str,
        *,
        ply: int,
        soft_at: int,
        hard_at: int,
        flag_at: int,
        observation: dict[str, Any],
        clocks: Sequence[ClockState],
        retry: bool = False,
        depth: int | None = None,
        nodes: int | None = None,
    ) -> Request:
        """Ask for an action; the answer arrives in ``Request.answer``."""
        request = Request(
            match=match,
            number=next(self._numbers),
            ply=ply,
            soft_at=soft_at,
            hard_at=hard_at,
            flag_at=flag_at,
            observation=observation,
            clocks=clocks,
            retry=retry,
            depth=depth,
            nodes=nodes,
            answer=asyncio.get_running_loop().create_future(),
        )
        if self._broken:
            self._fail(request, self._broken)
            return request
        self._open[request.number] = request
        self._wanted.set()
        if self._process is not None and not self._renewing:
            self._dispatch(self._process, request)
        return request

    def stop(self, request: Request, *, answered: bool = False) -> None:
        """Stop a request whose answer is no longer wanted.

        ``answered`` is true if the best reported action was played.
        """
        if request.stopped or request.number not in self._open:
            return
        request.stopped = True
        self._note_cost(request, answered=answered)
        if not request.dispatched:
            del self._open[request.number]
            return
        if self._process is not None:
            self._process.send(Stop(request.match, request.number))
            if not self._rest_if_done(self._process):
                self._give_grace()

    def restart(self) -> None:
        """Replace the process; the new one receives the open requests again."""
        if self._process is not None:
            self._killed = True
            self._process.kill()

    def renew(self) -> None:
        """Replace the process by a fresh one between matches; `settled` waits for it.

        The old process may exit on its own first.
        """
        process = self._process
        if process is not None and not self._renewing:
            self._killed = self._renewing = True
            timer = asyncio.create_task(process.quit(RENEW_GRACE))
            self._timers.add(timer)
            timer.add_done_callback(self._timers.discard)

    def end(self, match: str, outcome: Outcome | None) -> None:
        """End a match and stop its requests."""
        for request in [asked for asked in self._open.values() if asked.match == match]:
            self.stop(request)
        entry = self._matches.pop(match, None)
        self._ended.append(match)
        self._wanted.set()
        if entry is not None and self._process is not None:
            if match == self._voice.match and not self._open:
                self._voice.ply = None  # later output comes from `finish`
            events = list(entry.events()[entry.told :])
            self._process.send(End(match, outcome, events))
            if self._prepares_for(entry) and not self._renewing:
                self.restart()  # it would keep the next match waiting

    async def close(self) -> None:
        """End the process, gently if it is not busy."""
        self._closing = True
        self._changed()
        process = self._process
        if process is not None:
            if self._open:
                process.work()  # a frozen process cannot write its traceback
                now = self._clock.now()
                # A turn whose time is not over was cut short by this end, so it is no hang.
                for request in [each for each in self._open.values() if each.stopped]:
                    if now >= request.hard_at:
                        await self._show_hang(request, process)
                process.kill()
            else:
                await process.quit()
        if self._life is not None:
            if process is None:
                self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)
        timers = [*self._timers, *self._graces.values()]
        for timer in timers:
            timer.cancel()
        await asyncio.gather(*timers, return_exceptions=True)
        for request in list(self._open.values()):
            request.answer.cancel()
        self._open.clear()

    # The lives of the process

    async def _new_process(self) -> BotProcess:
        self._voice = voice = AuthorOutput()
        return await BotProcess.start(
            self.spec,
            on_output=lambda lines: voice.printed(self.log, lines),  # which may be replaced later
            import_timeout=self._import_timeout,
            clock=self._clock,
            launcher=self._launcher,
        )

    async def _live(self, process: BotProcess) -> None:
        """Serve one process after the other until closed."""
        while True:
            self._process = process
            self._renewing = False
            self._changed()
            for entry in self._matches.values():
                self._tell(process, entry)
            for request in list(self._open.values()):
                self._dispatch(process, request)
            self._rest_if_done(process)
            while (message := await process.receive()) is not None:
                self._received(message)
                self._rest_if_done(process)
                self._changed()
            self._process = None
            process.kill()
            how, where = await process.closed()
            if self._closing:
                return
            if process.lost:
                self._lost(LauncherLost(process.lost))
                return
            self._died(how, where)
            if self._deaths >= MOST_DEATHS:
                self._give_up(f"the bot's process ended {self._deaths} times in a row ({how})")
                return
            if process.rest():  # one of ours in a box
                await self._until_wanted()
            try:
                process = await self._new_process()
            except LauncherLost as error:
                self._lost(error)
                return
            except BotLoadError as error:
                self._give_up(f"the bot could not be started again: {error}")
                return
            self.restarts += 1

    async def _until_wanted(self) -> None:
        """Return when a process may run: in a turn, for a new match, or between matches."""
        while self._matches and not self._settling and not self._has_turn():
            self._wanted.clear()
            await self._wanted.wait()

    def _has_turn(self) -> bool:
        return any(not request.stopped for request in self._open.values())

    def _rest_if_done(self, process: BotProcess) -> bool:
        """Freeze a process without a turn; return whether it is frozen."""
        if self._renewing or self._has_turn():
            return False
        self._freezes = process.rest()
        if not self._freezes:
            return False
        for grace in self._graces.values():
            grace.cancel()
        self._graces.clear()
        return True

    def _work(self, process: BotProcess) -> None:
        process.work()
        self._give_grace()

    def _give_grace(self) -> None:
        """Give stopped turns time to end."""
        self._graces = {number: each for number, each in self._graces.items() if not each.done()}
        for request in self._open.values():
            if request.stopped and request.number not in self._graces:
                grace = asyncio.create_task(self._end_if_hung(request))
                self._graces[request.number] = grace

    def _is_settled(self, match: str) -> bool:
        return (
            self._process is not None
            and not self._renewing
            and not any(request.stopped for request in self._open.values())
            and not self._prepares_for(self._matches.get(match))
        )

    def _prepares_for(self, entry: _Match | None) -> bool:
        """Return whether the bot still prepares for a match."""
        waited = entry is not None and not entry.prepared
        return waited and self.loaded.prepares and not self._freezes

    def _changed(self) -> None:
        change, self._change = self._change, None
        if change is not None and not change.done():
            change.set_result(None)

    def _tell(self, process: BotProcess, entry: _Match) -> None:
        begin = entry.begin()
        if self._launcher is not BARE:  # a box starts in a folder of its own
            game = anywhere(begin.snapshot.game)
            snapshot = msgspec.structs.replace(begin.snapshot, game=game)
            begin = msgspec.structs.replace(begin, snapshot=snapshot, file=anywhere(begin.file))
        process.send(begin)
        entry.told = len(entry.events())
        entry.prepared = False
        self._voice.begin(self.log, begin.snapshot.match)

    def _dispatch(self, process: BotProcess, request: Request) -> None:
        entry = self._matches[request.match]
        events = entry.events()
        fresh, entry.told = list(events[entry.told :]), len(events)
        request.stage_since = now = self._clock.now()
        request.dispatched = True
        request.position = partial(_position, entry, len(events), request)
        self._work(process)
        self._voice.match, self._voice.ply = request.match, request.ply
        if self._on_cost is not None:
            request.stopwatch = Stopwatch(process.pid, max(0, request.flag_at - now))
        process.send(
            Think(
                match=request.match,
                turn=request.number,
                ply=request.ply,
                soft=max(0, request.soft_at - now),
                hard=max(0, request.hard_at - now),
                left=max(0, request.flag_at - now),
                events=fresh,
                observation=request.observation,
                clocks=list(request.clocks),
                retry=request.retry,
                depth=request.depth,
                nodes=request.nodes,
            )
        )

    def _received(self, message: FromChild) -> None:
        match message:
            case Best():
                request = self._open.get(message.turn)
                if request is not None and not request.stopped:
                    request.best = message.action
                    request.reported.set()
            case Chosen() | Resigned() | Failed():
                request = self._open.pop(message.turn, None)
                if request is not None:  # answers that nobody asked for prove nothing
                    self._deaths = 0
                self._note_cost(request)
                if request is not None and not request.stopped and not request.answer.done():
                    request.answer.set_result(message)
                elif isinstance(message, Failed):
                    self.log.crash(
                        match=self._known(message.match),
                        error=message.error,
                        traceback=message.traceback,
                        position=message.position,
                        ply=request.ply if request is not None else None,
                    )
            case Doing():
                self._note_stage(message)
            case Stopped():
                self._open.pop(message.turn, None)
            case Prepared():
                if message.match in self._matches:
                    self._matches[message.match].prepared = True
            case Loaded() | LoadFailed():
                pass  # only ever the first message of a process

    def _known(self, match: str) -> str:
        """Return the match that a process names, or its latest one if it names an unknown one."""
        known = match in self._matches or match in self._ended
        return match if known else self._voice.match

    def _note_cost(self, request: Request | None, *, answered: bool = True) -> None:
        if request is not None and request.stopwatch is not None and self._on_cost is not None:
            cost = request.stopwatch.cost(request.match, request.ply, answered=answered)
            request.stopwatch = None  # work after the turn is not part of the ply
            if cost is not None:
                self._on_cost(cost)

    def _note_stage(self, message: Doing) -> None:
        """Follow the creation of the bot's object in its first turn; report it if it is slow."""
        request = self._open.get(message.turn)
        if request is None:
            return
        now = self._clock.now()
        spent, done = now - request.stage_since, request.stage
        request.stage, request.stage_since = message.what, now
        if done != message.what and message.what != "__init__" and spent >= SLOW_START:
            self._slow_starts += 1
            if self._slow_starts == 1:
                self.log.note(
                    f"match {request.match}: {done} took {spent / 1e9:.1f} s of the clock. It runs "
                    "in every match: load what is large once, at the top of the file",
                    request.match,
                    request.ply,
                )

    def _died(self, how: str, where: str) -> None:
        """Handle the end of the process: fail the turn that caused it, ask the others again."""
        ours, self._killed = self._killed, False
        if not ours:
            self._deaths += 1
            self._blame(how, where)
        for request in list(self._open.values()):
            request.dispatched = False
            request.reported.clear()
            request.best = None  # played at the deadline, it would let the import go on after it
            if request.stopped:
                del self._open[request.number]

    def _blame(self, how: str, where: str) -> None:
        at_work = [request for request in self._open.values() if request.dispatched]
        if not self.loaded.concurrent:
            at_work = at_work[:1]  # it works on one after the other
        blamed = [request for request in at_work if not request.stopped]
        for request in at_work:
            request.deaths += 2 if len(at_work) == 1 else 1
        for request in blamed:
            if request.deaths >= 2:
                del self._open[request.number]
                during = "this turn" if request.stage == "choose" else request.stage
                why = f"the bot's process ended ({how}) during {during}"
                self._fail(request, why, where)

    def _lost(self, error: LauncherLost) -> None:
        """Stop answering after a failure of the launcher; the caller of the supervisor ends."""
        self.log.note(str(error), self._voice.match, self._voice.ply)
        if self._on_lost is not None:
            self._on_lost(error)

    def _give_up(self, why: str) -> None:
        self._broken = why
        self._changed()
        self.log.note(why, self._voice.match, self._voice.ply)
        for request in list(self._open.values()):
            self._fail(request, why)
        self._open.clear()

    def _fail(self, request: Request, why: str, where: str = "") -> None:
        if not request.answer.done():
            request.answer.set_result(
                Failed(request.match, request.number, why, where, request.position())
            )

    async def _end_if_hung(self, request: Request) -> None:
        await self._clock.sleep(self._hang_grace)
        gone = self._open.get(request.number) is not request
        if gone or self._closing or self._process is None:  # `close` ends the process itself
            return
        process = self._process
        await self._show_hang(request, process)
        if self._process is process:
            self._killed = True
            process.kill()

    async def _show_hang(self, request: Request, process: BotProcess) -> None:
        """Show the author the traceback of a bot that does not end its turn."""
        if request.number in self._shown:
            return
        self._shown.add(request.number)
        where = await process.where()
        successor = "" if self._closing else "; a new one takes over"
        parts = [
            f"{heading(request.match, request.ply)}: the bot did not come back after its turn "
            f"had ended, so its process was stopped{successor}"
        ]
        if where:
            at = "" if request.stage == "choose" else f" (in {request.stage})"
            parts.append(f"it stood here{at}, latest line last:\n{where}")
        if position := request.position():
            parts.append(f"the position was:\n{position.rstrip()}")
        self.log.note("\n".join(parts), request.match, request.ply)
