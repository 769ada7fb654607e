"""Play a bot on a server: `run_bot`, which ``plyhouse bot run`` and the local arena use.

`run_bot` loads the bot in a separate process, connects, opens the requested seeks, plays the
matches that come, and prints progress.  It returns when it has played enough, has been idle for
long enough, or is interrupted.  It raises `BotLoadError` (the bot cannot be used), `GameError` (an
unknown game) or `ClientError` (a problem with the server).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.client.client import (
    Client,
    ClientError,
    Connected,
    ConnectionLost,
    Disconnected,
    RequestRefused,
)
from plyhouse.bots.loading import check_spec
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.launcher import BARE
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.running.bot_session import BotSession
from plyhouse.bots.running.digest import bot_digest
from plyhouse.bots.running.match_player import MatchPlayer, Surroundings
from plyhouse.bots.running.run_options import (
    AcceptedGames,
    Challenger,
    RunOptions,
    RunSummary,
    SeatResult,
    SeekRequest,
    counted,
    on_signals,
)
from plyhouse.games.errors import listed
from plyhouse.games.registry import game_names, get_game
from plyhouse.protocol.messages import (
    Accepted,
    Answer,
    ChallengeClosed,
    Challenged,
    ClientMessage,
    DeclineDraw,
    DrawOffered,
    Finished,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Ok,
    Resign,
    Seek,
    ServerMessage,
    Sync,
    Turn,
    Unseek,
    Update,
)
from plyhouse.protocol.parts import LONGEST_LABEL
from plyhouse.protocol.text import trimmed_token

__all__ = ["STOP_GRACE", "PythonSession", "RunOptions", "RunSummary", "SeekRequest", "run_bot"]

CONCURRENT_MATCHES: Final = 16
"""Matches at once that an async bot accepts unless told otherwise."""

STOP_GRACE: Final = 10.0
"""Seconds for which a stopping bot waits for a lost server, to finish its matches."""


async def run_bot(
    spec: str,
    server: str,
    token: str,
    options: RunOptions | None = None,
    *,
    connector: Connector | None = None,
    handle_signals: bool = False,
) -> RunSummary:
    """Play ``spec`` (see `plyhouse.bots.loading`) on ``server`` and return a summary.

    ``connector`` replaces the websocket, e.g. by an in-memory connection.  ``handle_signals``:
    the first Ctrl-C lets running matches finish, the second leaves.
    """
    asked = options or RunOptions()
    if connector is None:
        from plyhouse.bots.client.websocket import websocket_connector  # for networks only

        connector = websocket_connector(server, asked.codec)
    bot_session = PythonSession(check_spec(spec), connector, token, asked)
    with on_signals(bot_session.interrupt) if handle_signals else contextlib.nullcontext():
        return await bot_session.run()


class PythonSession(BotSession):
    """One run of a bot over connections that ``connector`` makes; see `run_bot`."""

    _matches: dict[str, MatchPlayer]

    def __init__(self, spec: str, connector: Connector, token: str, options: RunOptions) -> None:
        super().__init__("", options)
        self._spec = spec
        self._connector = connector
        self._token = trimmed_token(token)
        self._seeks = tuple(options.seeks)
        self._challenger: Challenger | None = None
        self._supervisors: list[Supervisor] = []
        self._begun: Counter[tuple[str, str]] = Counter()
        self._open_seeks: dict[str, SeekRequest] = {}
        self._stopping = False
        self._idle: asyncio.Task[None] | None = None
        self._online = False
        self._away: asyncio.Task[None] | None = None
        """Ends a stopping run, unless the server comes back in time."""
        self._around: Surroundings
        self._games = AcceptedGames(())

    @property
    def games(self) -> tuple[str, ...]:
        """The accepted games; known once the bot is loaded."""
        return self._games.specs

    def interrupt(self) -> None:
        """Ctrl-C: let running matches finish, if the server is there; the second time, leave."""
        self._summary.interrupted = True
        if self._stopping or not self._matches:
            self._leave_matches()
            return
        self._stopping = True
        self._say(
            f"{counted(len(self._matches), 'match is', 'matches are')} running: finishing, then "
            "leaving (Ctrl-C again leaves now)"
        )
        self._spawn(self._unseek())
        self._watch_server()

    def restart_processes(self) -> None:
        """Replace the bot's processes, also during matches."""
        for supervisor in self._supervisors:
            supervisor.restart()

    # Setting up

    def _client_for(self, hello: Hello) -> Client:
        return Client(
            self._connector,
            hello,
            codec=self._options.codec,
            clock=self._clock,
            first_attempts=self._options.first_attempts,
        )

    async def _begin(self) -> None:
        on_line = self._options.on_line
        log = AuthorLog(self._options.bot or "bot", terminal=self._say, on_line=on_line)
        first = await self._new_supervisor(log)
        loaded = first.loaded
        name = self._options.bot if self._options.bot is not None else loaded.name
        log.name = name or loaded.name
        if self._options.log_folder is not None:
            # Its name is known only now; what was printed while importing was shown already.
            folder = self._options.log_folder
            self._replace_log(
                AuthorLog(log.name, folder=folder, terminal=self._say, on_line=on_line)
            )
            log = first.log
        self._summary.bot = name
        named = bool(self._options.games)  # by the user who runs it
        self._games = AcceptedGames(
            self._options.games or loaded.games or game_names(),
            files=named or self._options.launcher is BARE,
        )
        if beyond := _unclaimed(self._options.games or (), loaded.games):
            log.note(
                f"this bot's `games` has only {listed(loaded.games)}: "
                f"it may not know how to play {listed(beyond)}"
            )
        name_of = self._games.named
        self._seeks = tuple([replace(seek, game=name_of(seek.game)) for seek in self._seeks])
        if (challenge := self._options.challenge) is not None:
            challenge = replace(challenge, game=name_of(challenge.game))
            self._challenger = Challenger(challenge, self._say, self._fail)
        # The matches of a mirrored pairing are played at the same time.
        at_once = [get_game(seek.game, files=True).seats for seek in self._seeks if seek.mirrored]
        shared = loaded.concurrent and not self._options.forgetful
        needed = max(self._options.workers, 1 if shared else max(at_once, default=1))
        await asyncio.gather(*[self._new_supervisor(log) for _ in range(needed - 1)])
        room = CONCURRENT_MATCHES if shared else len(self._supervisors)
        hello = Hello(
            id=0,
            token=self._token,
            bot=name,
            games=list(self._games.offered),
            version=self._version(loaded.label),
            digest=self._digest(),
            max_matches=self._options.max_matches or room,
            takeover=self._options.takeover,
        )
        self._client = self._client_for(hello)
        self._around = Surroundings(
            client=self._client,
            clock=self._clock,
            log=log,
            say=self._say,
            nonce=self._nonce,
            seed=str(secrets.randbits(63) if self._options.seed is None else self._options.seed),
            spawn=self._spawn,
            opening_plies=self._options.opening_plies,
            turn_seconds=self._options.turn_seconds,
        )
        self._watch_idle()

    async def _new_supervisor(self, log: AuthorLog) -> Supervisor:
        supervisor = Supervisor(
            self._spec,
            log,
            clock=self._clock,
            hang_grace=self._options.hang_grace,
            import_timeout=self._options.import_timeout,
            launcher=self._options.launcher,
            on_cost=self._options.on_cost,
            on_lost=self._fail,
        )
        await supervisor.start()
        self._supervisors.append(supervisor)
        return supervisor

    def _version(self, label: str) -> str:
        """Return the label of the author with that of the bot, which may state its level of help.

        A hosted bot has the label of its submission.
        """
        own = self._options.version
        if not own or not label or self._options.launcher is not BARE:
            return own or label
        # What is cut off distinguishes nothing: the digest is another one for other options.
        room = max(0, LONGEST_LABEL - len(label) - 2)
        return f"{own[:room]}, {label}" if room else label

    def _digest(self) -> str:
        known = self._options.digest
        return bot_digest(self._spec) if known is None else known

    def _replace_log(self, log: AuthorLog) -> None:
        for supervisor in self._supervisors:
            supervisor.log = log

    def _nonce(self, snapshot: MatchSnapshot) -> str:
        if self._options.seed is None:
            return secrets.token_hex(16)
        rng = random.Random(f"{self._options.seed}/nonce/{snapshot.commitment}/{snapshot.seat}")
        return rng.randbytes(16).hex()

    # Serving

    def _handle(self, message: ServerMessage | Connected | Disconnected, arrived: int) -> None:
        match message:
            case Connected():
                self._connected(message, arrived)
            case Disconnected():
                self._online = False
                if self._challenger is not None:
                    self._challenger.lost()
                self._say(message.text)
                self._watch_server()
            case MatchMessage():
                self._snapshot(message.snapshot, arrived)
            case Turn():
                play = self._matches.get(message.match)
                if play is not None:
                    play.on_turn(message, arrived)
            case Accepted():
                play = self._matches.get(message.match)
                if play is not None:
                    play.on_accepted(message)
            case Update():
                play = self._matches.get(message.match)
                if play is not None:
                    play.on_events(message.events)
            case Finished():
                play = self._matches.get(message.match)
                if play is not None:
                    self._finished(play, play.on_finished(message))
            case DrawOffered():
                play = self._matches.get(message.match)
                if play is not None and message.seat != play.seat:
                    self._decline_draw(play)
            case Challenged():
                self._challenged(message)
            case ChallengeClosed():
                if self._challenger is not None:
                    self._challenger.closed(message)
            case Notice(code="notice/seek_waits"):
                if not self._stopping:
                    self._say(f"still seeking. {message.message}")
            case Notice():
                self._say(f"server: {message.message}")
            case _:
                pass  # the callers have their answers

    def _connected(self, connected: Connected, arrived: int) -> None:
        self._online = True
        self._watch_server()
        welcome = connected.welcome
        who = f"{welcome.player}/{welcome.bot}" if welcome.bot else welcome.player
        if connected.again:
            self._say(f"connected again as {who}")
        else:
            self._say(f"connected to {welcome.server} as {who}")
            if self._options.seed is None:
                # Store the seed with the output: `plyhouse bot ask` needs it.
                self._around.log.note(f"turn.rng comes from --seed {self._around.seed}")
        running = {snapshot.match for snapshot in welcome.matches}
        for match in [match for match in self._matches if match not in running]:
            self._spawn(self._ask_how_it_ended(self._matches[match]))
        for snapshot in welcome.matches:
            self._snapshot(snapshot, arrived)
        if not self._stopping:
            self._spawn(self._open_all_seeks(again=connected.again))
            self._challenge()

    def _snapshot(self, snapshot: MatchSnapshot, arrived: int) -> None:
        if snapshot.seat is None or snapshot.match in self._over:
            return
        play = self._matches.get(snapshot.match)
        if play is None:
            if snapshot.outcome is not None:
                return
            play = self._new_play(snapshot)
            if play is None:
                return
        play.on_snapshot(snapshot, arrived)
        if play.outcome is not None:
            self._finished(play, play.result(play.outcome))
        elif any(seat != play.seat for seat in snapshot.draw_offers):
            self._decline_draw(play)  # offered while we were away

    def _decline_draw(self, play: MatchPlayer) -> None:
        self._request(partial(DeclineDraw, match=play.match))

    def _new_play(self, snapshot: MatchSnapshot) -> MatchPlayer | None:
        match = snapshot.match
        game, files = self._games.game(snapshot.game)
        if game is None:
            self._say(f"match {match}: resigned, because {snapshot.game} is not known here")
            self._request(
                lambda number: Resign(number, match, "resignation", "the game is not known here")
            )
            self._over.add(match)
            return None
        supervisor = min(self._supervisors, key=lambda each: each.matches)
        file = self._games.file(game.info.name)
        play = MatchPlayer(snapshot, game, supervisor, self._around, files=files, file=file)
        self._matches[match] = play
        self._begun[(snapshot.game, snapshot.time_control)] += 1
        if self._challenger is not None:
            self._challenger.begun()
        self._watch_idle()
        opponents = " and ".join(play.opponents) or "nobody"
        self._say(
            f"match {match}: {snapshot.game}, {snapshot.time_control}, as "
            f"{game.seat_name(play.seat)} (turn.seat {play.seat}) against {opponents}"
            + ("" if snapshot.ply == 0 else f", resumed at ply {snapshot.ply + 1}")
            + (f": {self._options.pages}{match}" if self._options.pages else "")
        )
        if self._enough(self._count()) and self._open_seeks:
            self._spawn(self._unseek())
        return play

    def _finished(self, play: MatchPlayer, result: SeatResult) -> None:
        if self._options.forgetful:
            play.forget()
        self._record(play.match, result)
        self._watch_idle()
        done = self._enough(len(self._summary.results))
        if done or (self._stopping and not self._matches):
            self._leave()
        else:
            self._challenge()

    async def _ask_how_it_ended(self, play: MatchPlayer) -> None:
        """A match ended while we were away: its snapshot tells the result (see `_snapshot`)."""
        try:
            await self._client.request(partial(Sync, match=play.match), repeat=True)
        except RequestRefused:
            self._forget(play)
        except ClientError:
            pass  # we are leaving

    def _forget(self, play: MatchPlayer) -> None:
        """Forget a match that ended while we were disconnected."""
        self._say(f"match {play.match}: ended while the connection was lost")
        self._spawn(play.close())
        self._matches.pop(play.match, None)
        self._over.add(play.match)
        for supervisor in self._supervisors:
            supervisor.end(play.match, None)
        if self._options.forgetful:
            play.forget()
        self._watch_idle()
        if self._stopping and not self._matches:
            self._leave()

    def _challenged(self, challenged: Challenged) -> None:
        game, _ = self._games.game(challenged.game)
        reason = ""
        if self._stopping or self._enough(self._count()):
            reason = "the bot is leaving"
        elif game is None or not self._games.accepts(challenged.game):
            reason = f"the bot does not play {challenged.game}"
        elif challenged.rated and challenged.time_control != self._options.rated:
            with_own = f"rated challenges with {self._options.rated} only"
            reason = f"the bot accepts {with_own if self._options.rated else 'no rated challenges'}"
        challenge = challenged.challenge
        self._request(lambda number: Answer(number, challenge, not reason, reason))

    def _count(self) -> int:
        return len(self._summary.results) + len(self._matches)

    # Seeks and challenges

    def _challenge(self) -> None:
        """Challenge the opponents, unless a match runs."""
        if self._challenger is not None and not self._stopping and not self._matches:
            self._spawn(self._challenger.challenge(self._client))

    async def _open_all_seeks(self, *, again: bool) -> None:
        """Enter the pools; after a reconnect those that the server has forgotten."""
        for seek in self._seeks:
            left = seek.count
            if again and seek.count:
                left = max(0, seek.count - self._begun[(seek.game, seek.time_control)])
                if left == 0:
                    continue
            await self._open_seek(seek, left, again=again)

    async def _open_seek(self, seek: SeekRequest, count: int, *, again: bool) -> None:
        try:
            answer = await self._client.request(
                lambda number: Seek(
                    number,
                    seek.game,
                    seek.time_control,
                    seek.rated,
                    count,
                    seek.mirrored,
                    help=seek.help,
                )
            )
        except RequestRefused as error:
            if again and error.code == "seek/duplicate":
                return  # the server has kept it
            self._fail(error)
        except ConnectionLost:
            return  # asked again after the reconnect
        except ClientError as error:
            self._fail(error)
        else:
            if isinstance(answer, Ok) and answer.seek:
                self._open_seeks[answer.seek] = seek
                self._say(f"seeking {seek.words(count)}")

    async def _unseek(self) -> None:
        if self._challenger is not None:
            await self._challenger.withdraw(self._client)
        seeks, self._open_seeks = list(self._open_seeks), {}
        for seek in seeks:
            with contextlib.suppress(ClientError):  # it may be used up
                await self._client.request(partial(Unseek, seek=seek))

    # Ending

    def _watch_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._options.idle_exit is not None and not self._matches:
            self._idle = asyncio.create_task(self._idle_out(self._options.idle_exit))

    async def _idle_out(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._say(f"no match for {seconds:g} s: leaving")
        self._leave()

    def _watch_server(self) -> None:
        """Limit the time for which a stopping bot waits for a lost server."""
        if self._online:
            if self._away is not None:
                self._away.cancel()
                self._away = None
        elif self._stopping and self._away is None:
            self._away = asyncio.create_task(self._give_up())

    async def _give_up(self) -> None:
        await self._clock.sleep(STOP_GRACE)
        self._leave_matches(f"the server has been away for {STOP_GRACE:g} s: ")

    def _leave_matches(self, why: str = "") -> None:
        self._summary.left_running = len(self._matches)
        if self._matches:
            self._say(
                f"{why}leaving {counted(len(self._matches), 'running match', 'running matches')}; "
                "nothing is resigned, but their clocks run on: start the bot again soon"
            )
        self._leave()

    def _leave(self) -> None:
        self._stopping = True
        super()._leave()

    def _request(self, build: Callable[[int], ClientMessage]) -> None:
        async def run() -> None:
            try:
                await self._client.request(build, repeat=True)
            except RequestRefused as error:
                self._say(f"server: {error}")
            except ClientError:
                pass

        self._spawn(run())

    async def _shut_down(self) -> None:
        for timer in (self._idle, self._away):
            if timer is not None:
                timer.cancel()
        for play in list(self._matches.values()):
            await play.close()
        await self._cancel_tasks()
        await asyncio.gather(
            *(supervisor.close() for supervisor in self._supervisors), return_exceptions=True
        )


def _unclaimed(wanted: Sequence[str], claimed: Sequence[str]) -> list[str]:
    """Return the wanted games that a bot does not claim; () claims every game.

    >>> _unclaimed(["pig(target=50)", "nim"], ["pig"])
    ['nim']
    """
    names = {spec.partition("(")[0] for spec in claimed}
    if not names or any(".py" in name for name in names):  # a file has several spellings
        return []
    return [spec for spec in wanted if get_game(spec, files=True).info.name not in names]
