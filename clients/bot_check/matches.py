"""Plays the matches of a check: one bot, its opponents, and a connection that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]

from plyhouse.bots.client.channel import Channel, Connector
from plyhouse.bots.client.client import Client, ClientError
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.running.bot_session import BotSession
from plyhouse.bots.running.python_session import RunOptions
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.clients.arena.memory_server import PLAYER, connector_of, online
from plyhouse.games.base import Game
from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import (
    VOID,
    Accepted,
    Act,
    ClientMessage,
    Hello,
    MatchMessage,
    Notice,
    Ready,
    Resign,
    Turn,
)
from plyhouse.protocol.parts import ending_words
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.hosting.placement import LostTime
from plyhouse.server.match.terminations import TERMINATIONS
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl


@dataclass(slots=True)
class ScriptedOpponent:
    """The behaviour of an opponent."""

    resigns: bool = False
    """Gives up at its first turn instead of playing."""
    rng: random.Random = field(default_factory=lambda: random.Random(20260101))


async def oppose(
    connector: Connector, token: str, name: str, script: Callable[[], ScriptedOpponent]
) -> None:
    """Play all matches by the current script, until cancelled."""
    client = Client(connector, Hello(0, token, bot=name, max_matches=1000))
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async with aclosing(client.messages()) as messages:
        async for message, _ in messages:
            match message:
                case MatchMessage(snapshot=snapshot) if snapshot.status == "waiting":
                    spawn(_ask(client, partial(Ready, match=snapshot.match)))
                case Turn() if script().resigns:
                    spawn(_ask(client, partial(Resign, match=message.match)))
                case Turn(match=match, ply=ply, observation=seen):
                    action = script().rng.choice(seen["legal"])
                    spawn(_ask(client, partial(Act, match=match, ply=ply, action=action)))
                case _:
                    pass


async def _ask(client: Client, build: Callable[[int], ClientMessage]) -> None:
    with contextlib.suppress(ClientError):  # the match may be over
        await client.request(build, repeat=True)


@dataclass(slots=True)
class Faults:
    """The faults still to inject into a bot's connection; each one decrements its count."""

    noise: bool = False
    """True if each turn is followed by a duplicate and by messages of a later version."""
    cut_turns: int = 0
    """Number of turns to drop by breaking the connection instead of delivering them."""
    cut_acts: int = 0
    """Number of times to break the connection right after an action was sent."""


class FaultyChannel:
    """A bot's connection that injects the faults that ``disturbance`` returns.

    ``on_accepted`` is called whenever the server has taken an action of the bot.
    """

    def __init__(
        self,
        inner: Channel,
        disturbance: Callable[[], Faults],
        on_accepted: Callable[[], None],
    ) -> None:
        self._inner = inner
        self._disturbance = disturbance
        self._on_accepted = on_accepted
        self._extra: deque[Frame] = deque()

    @property
    def close_code(self) -> int | None:
        """The WebSocket close code; None while the connection is open."""
        return self._inner.close_code

    @close_code.setter
    def close_code(self, value: int | None) -> None:
        self._inner.close_code = value

    @property
    def close_reason(self) -> str:
        """The reason for closing the connection."""
        return self._inner.close_reason

    @close_reason.setter
    def close_reason(self, value: str) -> None:
        self._inner.close_reason = value

    def send(self, frame: Frame) -> None:
        """Send a frame; after an action the connection may break."""
        self._inner.send(frame)
        disturbance = self._disturbance()
        if disturbance.cut_acts and _type(frame) == "act":
            disturbance.cut_acts -= 1
            self._cut()

    async def recv(self) -> Frame | None:
        """Return the next frame, real or injected; None once the connection is closed."""
        if self._extra:
            return self._extra.popleft()
        frame = await self._inner.recv()
        if frame is None:
            return None
        disturbance = self._disturbance()
        kind = _type(frame)
        if kind == "accepted":
            self._on_accepted()
        if kind == "turn":
            if disturbance.cut_turns:
                disturbance.cut_turns -= 1
                self._cut()
                return None
            if disturbance.noise:
                self._extra.extend(_noise(frame))
                return _with_field(frame)
        return frame

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection with a WebSocket close code."""
        self._inner.close(code, reason)

    def _cut(self) -> None:
        self._extra.clear()
        self._inner.close(1006, "the examiner cut the line")


def _type(frame: Frame) -> str:
    return str(msgpack.unpackb(frame).get("type", ""))


def _with_field(frame: Frame) -> Frame:
    fields = msgpack.unpackb(frame)
    fields["field_of_a_later_version"] = {"any": [1, 2.5, None]}
    return bytes(msgpack.packb(fields))


def _noise(turn: Frame) -> list[Frame]:
    """Return the turn again, an unknown message, a notice and an answer to no request."""
    return [
        turn,
        bytes(msgpack.packb({"type": "message_of_a_later_version", "match": "m"})),
        MSGPACK.encode(Notice("notice/check", "This is a check.")),
        MSGPACK.encode(Accepted(2**40, "nobody's", 3)),
    ]


MATCH_SECONDS = 60.0
"""Seconds after which the opponents give up, so that a check ends."""
MOST_TRIES: Final = 3
"""How often matches are played in which the machine was too busy for the bot."""
PATIENCE: Final = 1.0
"""Seconds after which the referee is asked whether the matches still run."""

BOT: Final = "checked"
SEED: Final = 20260101


class MachineBusyError(Exception):
    """A bot cannot be checked now; the message says why."""


@dataclass(frozen=True, slots=True)
class CheckMatch:
    """How a bot did in the matches of one check."""

    passed: bool
    explanation: str
    """The faults with advice, or the lengths of the matches."""
    late: bool = False
    """True if its only fault is that its flag fell."""


class Examination:
    """One bot on one hub, with opponents enough for its games."""

    def __init__(self, hub: LocalHub) -> None:
        self.hub = hub
        self.games: list[Game] = []
        self.disturbance = Faults()
        self.script = ScriptedOpponent()
        self.results: dict[str, SeatResult] = {}
        self.said: deque[str] = deque(maxlen=40)
        self.costs: dict[str, list[CostOfPly]] = {}
        """Costs of the plies of the bot, by match."""
        self.news = asyncio.Event()
        self.restart_at_next_act = False
        self.flags_count = False
        """True to count flag falls even if the machine was busy."""
        self.excused = 0
        """Matches that count for nothing, because the machine was too busy."""
        self.bot_session: BotSession
        self.run: asyncio.Task[Any]
        self.bot: int
        self.opponents: list[int] = []
        self.opposing: list[asyncio.Task[None]] = []

    async def plays(
        self,
        game: Game,
        seats: Sequence[int],
        *,
        control: TimeControl,
        disturbance: Faults | None = None,
        script: ScriptedOpponent | None = None,
        restart: bool = False,
    ) -> CheckMatch:
        """Play a match for each of ``seats``, all at once, and say whether the bot did well.

        Matches in which the bot's flag fell because the machine was busy are played again.  Raises
        `MachineBusyError` if that happens too often.
        """
        for _ in range(MOST_TRIES):
            results, stopped = await self._play(
                game, seats, control, disturbance or Faults(), script or ScriptedOpponent(), restart
            )
            if not any(self._excused(result, control) for result in results):
                return self._judge(results, stopped)
            self.excused += 1
        raise MachineBusyError(
            f"In {MOST_TRIES} matches of {game.spec} the bot's flag fell while this machine was at "
            "work for others. Check it on a machine with less to do."
        )

    async def _play(
        self,
        game: Game,
        seats: Sequence[int],
        control: TimeControl,
        disturbance: Faults,
        script: ScriptedOpponent,
        restart: bool,
    ) -> tuple[list[SeatResult], bool]:
        """Play these matches; return their results, and whether they were stopped."""
        self.disturbance = replace(disturbance)  # it is counted down
        self.script = script
        self.restart_at_next_act = restart
        self.said.clear()
        self.costs.clear()
        stopped, loop = False, asyncio.get_running_loop()
        until = loop.time() + MATCH_SECONDS
        terms = Terms(game, control, rated=False)
        await online(self.hub, f"{PLAYER}/{BOT}", self.check_runs)  # its line may have been cut
        wanted: list[str] = []
        for seat in seats:
            order = [*self.opponents[: game.seats - 1]]
            order.insert(seat, self.bot)
            wanted.extend(self.hub.live_matches.begin(terms, [order]).open)
        while missing := [match for match in wanted if match not in self.results]:
            self.news.clear()
            news = asyncio.create_task(self.news.wait())
            await asyncio.wait(
                {news, self.run}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED
            )
            news.cancel()
            for match in missing:
                self._ask_the_referee(match, game, seats[wanted.index(match)])
            if self.run.done():
                self.run.result()
                raise RuntimeError("the bot left before its matches were over")
            if not stopped and missing and loop.time() >= until:
                stopped, self.script = True, ScriptedOpponent(resigns=True)
        return [self.results[match] for match in wanted], stopped

    def _excused(self, result: SeatResult, control: TimeControl) -> bool:
        """Return whether the machine, and not the bot, lost a match on time."""
        if self.flags_count:
            return False
        outcome, costs = result.outcome, self.costs.get(result.match, [])
        if outcome.termination != "flag_fall" or outcome.seat != result.seat:
            return False
        if not costs or costs[-1].ply != result.plies:
            return False
        last = costs[-1]
        time = LostTime(
            allowed=last.allowed,
            lost=last.lost,
            match_wall=sum(each.wall for each in costs),
            match_lost=sum(each.lost for each in costs),
            slept=last.slept,
        )
        return time.excuses(kept=control.kind != "move")

    def _ask_the_referee(self, match: str, game: Game, seat: int) -> None:
        """A match may have ended while the line was cut, so that the bot was never told."""
        if match in self.hub.directory.live or match in self.bot_session.matches:
            return
        live = self.hub.directory.match(match)
        outcome = None if live is None else live.summary().outcome
        if live is not None and outcome is not None:
            self.results[match] = SeatResult(match, game.spec, seat, (), outcome, live.ply, 0)

    def _judge(self, results: Sequence[SeatResult], stopped: bool) -> CheckMatch:
        told: list[str] = []
        late = 0
        for result in results:
            outcome = result.outcome
            ended = ending_words(outcome.termination)
            if outcome.seat == result.seat and outcome.termination != "normal":
                advice = result.advice or TERMINATIONS[outcome.termination].remedy
                told.append(f"{ended}: {outcome.reason.rstrip('.')}{advice and '; '}{advice}")
                late += outcome.termination == "flag_fall"
            elif outcome.termination in VOID:
                told.append(f"{ended}: {outcome.reason}")
        if told:
            return CheckMatch(False, "\n".join(told), late == len(told))
        plies = ", ".join([f"{result.plies} plies" for result in results])
        return CheckMatch(True, plies + (f", stopped after {MATCH_SECONDS:g} s" if stopped else ""))

    def say(self, line: str) -> None:
        """Keep what the bot and its failures say, for `Finding.said`."""
        if line.startswith("["):
            self.said.append(line)

    def check_runs(self) -> None:
        """Raise the error that ended the run of the bot or an opponent; without one, none ends."""
        for task in (self.run, *self.opposing):
            if task.done():
                task.result()
                raise RuntimeError("a bot has left the examination")

    def cost(self, each: CostOfPly) -> None:
        """Note what a ply of the bot cost."""
        self.costs.setdefault(each.match, []).append(each)

    def finished(self, result: SeatResult) -> None:
        """A match of the bot is over."""
        self.results[result.match] = result
        self.news.set()

    def acted(self) -> None:
        """The bot has acted."""
        if self.restart_at_next_act:
            self.restart_at_next_act = False
            self.bot_session.restart_processes()


@asynccontextmanager
async def examination_of(
    hub: LocalHub,
    spec: str,
    games: Sequence[str] | None,
    choose: Callable[[Sequence[str]], Sequence[Game]],
    on_output: Callable[[str], None] | None,
    make_session: Callable[[str, Connector, str, RunOptions], BotSession],
) -> AsyncIterator[Examination]:
    """Load a bot and connect it, with opponents for the games that ``choose`` picks.

    ``games`` take the place of those that the bot claims.  Raises `BotLoadError`, `GameError`.
    """
    token = hub.add_player(PLAYER)
    examination = Examination(hub)

    def say(line: str) -> None:
        examination.say(line)
        if on_output is not None and line.startswith("["):
            on_output(line)

    async def connect() -> Channel:
        return FaultyChannel(hub.connect(), lambda: examination.disturbance, examination.acted)

    examination.bot_session = make_session(
        spec,
        connect,
        token,
        RunOptions(
            bot=BOT,
            games=games,
            workers=2,
            seed=SEED,
            say=say,
            on_result=examination.finished,
            on_cost=examination.cost,
        ),
    )
    examination.run = asyncio.create_task(examination.bot_session.run())

    try:
        examination.bot = await online(hub, f"{PLAYER}/{BOT}", examination.check_runs)
        examination.games = list(choose(examination.bot_session.games))
        for number in range(1, max((game.seats for game in examination.games), default=1)):
            name = f"opponent-{number}"
            task = asyncio.create_task(
                oppose(connector_of(hub), token, name, lambda: examination.script)
            )
            examination.opposing.append(task)
            examination.opponents.append(
                await online(hub, f"{PLAYER}/{name}", examination.check_runs)
            )
        yield examination
    finally:
        tasks = [examination.run, *examination.opposing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
