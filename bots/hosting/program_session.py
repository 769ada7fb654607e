"""Bots in other languages: programs in boxes that speak protocol v1 as lines of JSON.

One message is one line, on standard input and standard output; standard error is the author's log.
The program says ``hello`` and everything after it as on a websocket, so a bot that was written for
one needs only another way to read and write.  Between it and the server stands `ProgramSession`:

* every match has a separate process, which gets its own ``welcome`` and no messages of other
  matches; all share one connection, and `ProgramSession` handles its tokens, pings, breaks and
  sessions;
* a process is stopped while others are to move, and ends after its match;
* messages that a bot plays with go through, the rest is refused: no seeks, no challenges;
* a process that ends when it is to move loses its match, as any bot; otherwise another one takes
  over, says ``hello``, and finds the match in ``welcome``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.client.client import (
    Client,
    ClientError,
    Connected,
    ConnectionLost,
    Disconnected,
    RequestRefused,
)
from plyhouse.bots.client.timing import MS
from plyhouse.bots.hosting.build import Built
from plyhouse.bots.hosting.program_match import InMatch, ProgramMatch, Surroundings
from plyhouse.bots.hosting.program_process import HELLO_WITHIN, Program
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.supervisor import MOST_DEATHS, RENEW_GRACE
from plyhouse.bots.running.bot_session import BotSession
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.sandbox.box import Box, Cores
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.games.registry import game_names
from plyhouse.protocol.messages import (
    Accepted,
    Answer,
    Challenged,
    ClientMessage,
    DrawDeclined,
    DrawOffered,
    Error,
    Finished,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Resign,
    ServerMessage,
    Sync,
    Turn,
    Welcome,
)

__all__ = ["ProgramSession"]

FAREWELL: Final = RENEW_GRACE
"""Seconds that a process has after its match, to read how it ended and to write its last words."""


class ProgramSession(BotSession):
    """One run of a program."""

    _matches: dict[str, ProgramMatch]

    def __init__(
        self,
        built: Built,
        connector: Connector,
        token: str,
        options: RunOptions,
        *,
        fork_server: ForkServerClient,
        box: Box,
        cores: Cores,
        hello_within: float = HELLO_WITHIN,
    ) -> None:
        name = options.bot or built.manifest.name or "program"
        super().__init__(name, options)
        self._fork_server = fork_server
        self._cores = cores
        self._hello_within = hello_within
        self._box = box
        self._games = tuple(options.games or built.manifest.games)
        self._log = AuthorLog(
            name, folder=options.log_folder, terminal=options.say, on_line=options.on_line
        )
        self._at_once = options.max_matches or options.workers
        self._client = Client(
            connector,
            Hello(
                id=0,
                token=token,
                bot=name,
                games=list(self._games),
                client="plyhouse-hosted-program",
                version=options.version,
                digest=built.digest,
                max_matches=self._at_once,
                takeover=options.takeover,
            ),
            codec=options.codec,
            clock=options.clock,
            first_attempts=options.first_attempts,
        )
        self._around = Surroundings(
            welcome=self._last_welcome,
            ask=self._ask,
            sync=self._sync,
            resign=self._resign,
            restart=self._replace,
            on_cost=options.on_cost,
        )
        self._without: asyncio.Queue[ProgramMatch] = asyncio.Queue()
        """Matches that have no process yet."""
        self._programs: set[Program] = set()
        self._born: dict[Program, int] = {}
        """Which one it was, of all that were started."""
        self._starts = 0
        self._plays: dict[Program, ProgramMatch] = {}
        """The match of a process, until it has come to its end."""
        self._knows: dict[str, int] = {}
        """By pairing how many processes had been started when the last one ended that has played
        a match of it: those after them have seen nothing of it."""
        self._replaced: set[Program] = set()
        """Those that end because we want it."""
        self._asked: dict[int, tuple[ProgramMatch, InMatch]] = {}
        """Requests of programs that are open on this connection, by our numbers for them."""
        self._connected_at = 0
        self._deaths = 0

    @property
    def games(self) -> tuple[str, ...]:
        """What it accepts."""
        return self._games

    def restart_processes(self) -> None:
        """End all processes; new ones take over their matches at once."""
        for program in self._programs:
            self._replace(program)

    def interrupt(self) -> None:
        """Leave at once; running matches go on at the server."""
        self._summary.interrupted = True
        self._leave()

    async def _begin(self) -> None:
        first = await asyncio.gather(
            *[self._new_program() for _ in range(self._at_once)], return_exceptions=True
        )
        for each in first:
            if isinstance(each, BaseException):
                raise each
            if not self._games:  # a command without a package: its ``hello`` says what it plays
                self._games = tuple(each.hello.games) or game_names()
                self._client.hello = replace(self._client.hello, games=list(self._games))
            self._spawn(self._slot(each)).add_done_callback(self._slot_ended)

    # Processes: so many as there may be matches at once, each replaced after its match

    async def _new_program(self) -> Program:
        self._starts += 1
        number = self._starts
        program = await Program.start(
            self._box,
            fork_server=self._fork_server,
            cores=self._cores,
            clock=self._clock,
            log=self._log,
            hello_within=self._hello_within,
        )
        self._programs.add(program)
        self._born[program] = number
        self._up(True)
        return program

    def _up(self, up: bool) -> None:
        """Report whether there is a process, or the last one has exited."""
        if self._options.on_up is not None:
            self._options.on_up(up)

    async def _slot(self, program: Program) -> None:
        """One process after the other, for one match after the other."""
        match: ProgramMatch | None = None
        while True:
            over = asyncio.create_task(program.over())
            try:
                match = match or await self._next_match(over)
                if match is not None and await self._may_know(program, match):
                    over.cancel()
                    await self._leave_behind(program)
                    program = await self._new_program()
                    over = asyncio.create_task(program.over())
                if match is not None:
                    self._plays[program] = match
                    match.attach(program)
                    await _either(over, match.over.wait())
            finally:
                over.cancel()
            match = await self._part(program, match)
            program = await self._new_program()

    def _slot_ended(self, slot: asyncio.Task[None]) -> None:
        error = None if slot.cancelled() else slot.exception()
        if error is not None:
            self._fail(error)

    async def _next_match(self, over: asyncio.Task[None]) -> ProgramMatch | None:
        """Return the next match without a process; None if ours ends while it waits."""
        following = asyncio.create_task(self._without.get())
        await asyncio.wait({following, over}, return_when="FIRST_COMPLETED")
        if following.done():
            return following.result()
        following.cancel()
        return None

    async def _part(self, program: Program, match: ProgramMatch | None) -> ProgramMatch | None:
        """See the process to its end; return the match if another process is to go on with it."""
        how = await program.end(FAREWELL)
        ours = self._gone(program)
        if match is not None:
            match.detach()
            if match.over.is_set():
                return None
        if ours:
            return match
        self._deaths += 1
        self._log.note(f"the program ended: {how}", program.voice.match, program.voice.ply)
        self._up(False)
        if match is not None and match.to_move:
            match.failed(how)
            match = None
        if self._deaths >= MOST_DEATHS:
            raise BotLoadError(f"the program ended {self._deaths} times in a row ({how})")
        if match is None:
            return None
        await match.wanted.wait()  # until its hello, a process could compute in the opponent's turn
        return None if match.over.is_set() else match

    async def _may_know(self, program: Program, match: ProgramMatch) -> bool:
        """Return whether a process may know anything of an earlier match of the same pairing.

        Their dice may be the same.  A process that is still ending that match could signal to this
        one by keeping the machine busy, so it is waited for.  A process that has waited since
        before knows how long that match took.
        """
        for other, played in tuple(self._plays.items()):
            if played.pairing == match.pairing and played.over.is_set():
                await other.ended()  # within `FAREWELL`
                self._knows[match.pairing] = self._starts
        return self._born[program] <= self._knows.get(match.pairing, 0)

    async def _leave_behind(self, program: Program) -> None:
        await program.end()
        self._gone(program)

    def _gone(self, program: Program) -> bool:
        """Forget a process that has ended; return whether that was our wish."""
        ours = program in self._replaced
        self._replaced.discard(program)
        self._programs.discard(program)
        self._born.pop(program, None)
        played = self._plays.pop(program, None)
        if played is not None and played.over.is_set() and played.pairing:
            self._knows[played.pairing] = self._starts
        return ours

    def _replace(self, program: Program) -> None:
        self._replaced.add(program)
        if (played := self._plays.get(program)) is not None:
            played.detach()  # until the kill takes effect, it could still get turns and act
        program.kill()

    # Messages from the server

    def _handle(self, message: ServerMessage | Connected | Disconnected, arrived: int) -> None:
        match message:
            case Connected():
                self._connected(message)
                return
            case Disconnected():
                self._asked.clear()  # they are asked again, by other numbers
                self._say(message.text)
                return
            case Challenged():
                self._decline(message)
                return
            case Notice():
                self._say(f"server: {message.message}")
        number = getattr(message, "re", None)
        asked = self._asked.pop(number, None) if number is not None else None
        if asked is not None:
            asked[0].on_answer(asked[1], message)
            self._settle(asked[0])
            return
        match message:
            case MatchMessage():
                self._snapshot(message.snapshot)
            case Turn() | Finished() | DrawOffered() | DrawDeclined():
                match = self._matches.get(message.match)
                if match is not None:
                    self._told(match, message)
            case _:
                pass  # answers to what we asked ourselves

    def _told(
        self, match: ProgramMatch, message: Turn | Finished | DrawOffered | DrawDeclined
    ) -> None:
        match message:
            case Turn():
                match.on_turn(message)
            case Finished():
                match.on_finished(message)
                self._settle(match)
            case _:
                match.tell(message)

    def _connected(self, connected: Connected) -> None:
        welcome = connected.welcome
        self._connected_at = self._clock.now()
        self._say(f"connected{' again' if connected.again else ''} as {welcome.player}")
        running = {snapshot.match for snapshot in welcome.matches}
        for match in set(self._matches) - running:
            self._sync(match)  # over while we were away: how did it end?
        for snapshot in welcome.matches:
            self._snapshot(snapshot)

    def _snapshot(self, snapshot: MatchSnapshot) -> None:
        if snapshot.seat is None or snapshot.match in self._over:
            return
        match = self._matches.get(snapshot.match)
        if match is not None:
            match.on_snapshot(snapshot)
            self._settle(match)
        elif snapshot.outcome is None:
            match = self._matches[snapshot.match] = ProgramMatch(snapshot, self._around)
            self._without.put_nowait(match)

    def _settle(self, match: ProgramMatch) -> None:
        """Count a match that is over, once."""
        if match.outcome is None or match.match not in self._matches:
            return
        self._record(match.match, match.result(match.outcome))
        if self._enough(len(self._summary.results)):
            self._leave()

    def _decline(self, challenged: Challenged) -> None:
        reason = "a hosted program plays the matches that it is given"
        challenge = challenged.challenge
        self._request(lambda number: Answer(number, challenge, False, reason))

    # Messages to the server

    def _last_welcome(self) -> Welcome:
        if self._client.welcome is None:
            raise RuntimeError("a match without a connection")
        since = (self._clock.now() - self._connected_at) // MS
        welcome = self._client.welcome
        return msgspec.structs.replace(welcome, time_ms=welcome.time_ms + since)

    def _ask(self, match: ProgramMatch, request: InMatch) -> None:
        def build(number: int) -> ClientMessage:
            self._asked[number] = match, request
            return msgspec.structs.replace(request, id=number)

        def unsendable(error: ClientError) -> None:
            match.on_answer(request, Error("protocol/bad_field", str(error), request.id))

        self._request(build, failed=unsendable)

    def _sync(self, match: str) -> None:
        def gone(error: RequestRefused) -> None:
            """It ended while we were away, and the server does not know it any more."""
            known = self._matches.pop(match, None)
            if known is not None:
                self._say(f"match {match}: ended while the connection was lost ({error})")
                self._over.add(match)
                known.over.set()
                known.wanted.set()

        self._request(lambda number: Sync(number, match), gone)

    def _resign(self, match: str, why: str) -> None:
        self._say(f"match {match}: resigned, because {why}")
        self._request(lambda number: Resign(number, match, "bot_crash", why))

    def _request(
        self,
        build: Callable[[int], ClientMessage],
        refused: Callable[[RequestRefused], None] | None = None,
        failed: Callable[[ClientError], None] | None = None,
    ) -> None:
        async def run() -> None:
            try:
                answer = await self._client.request(build, repeat=True)
            except RequestRefused as error:
                if refused is not None:
                    refused(error)
            except ConnectionLost:
                pass  # we are leaving
            except ClientError as error:
                if failed is not None:
                    failed(error)  # the program gets the error and may pass it on
                else:
                    self._log.note(str(error))
            else:
                if isinstance(answer, Accepted):
                    self._deaths = 0

        self._spawn(run())

    # Ending

    async def _shut_down(self) -> None:
        self._summary.left_running = len(self._matches)
        await self._cancel_tasks()
        ends = [program.end(FAREWELL) for program in self._programs]
        await asyncio.gather(*ends, return_exceptions=True)


async def _either(task: asyncio.Task[None], other: Coroutine[Any, Any, Any]) -> None:
    """Return when the first of the two is done; the other one is given up."""
    waiting = asyncio.create_task(other)
    try:
        await asyncio.wait({task, waiting}, return_when="FIRST_COMPLETED")
    finally:
        waiting.cancel()
