"""Checks a bot before it may play rated matches: `check_bot`, behind ``plyhouse check``.

The bot is run by the ordinary runner and judged by the ordinary referee (a hub in memory); its
opponents are scripted and answer at once with random legal actions.  Between runner and referee
sits a connection that misbehaves on purpose: frames come twice, have fields and types of a later
version, and the line is cut in the middle of a match.

Per game and seat a whole match is played; then, in the longest game, the line is cut, the bot's
process is replaced in mid-match, its opponent resigns, two matches are played at once, and the
clock is short.  These are left out for a bot that failed in the plain matches of that game.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]

from plyhouse.bots.client.channel import Channel
from plyhouse.bots.client.client import Client, ClientError, Identity
from plyhouse.bots.loading import BotLoadError, check_spec
from plyhouse.bots.running.play import MatchResult
from plyhouse.bots.running.runner import BotRunner, RunOptions
from plyhouse.clients.cli.local import PLAYER, connector_of, local_hub, online
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import (
    VOID,
    Accepted,
    Act,
    ClientMessage,
    MatchMessage,
    Notice,
    Ready,
    Resign,
    Turn,
)
from plyhouse.server.house.hub import Hub
from plyhouse.server.house.matches import Terms
from plyhouse.server.house.participants import Participant
from plyhouse.server.match.clock import TimeControl
from plyhouse.server.wire.memory import MemoryClient

__all__ = ["PRESSURE", "TIME_CONTROL", "Check", "check_bot"]

TIME_CONTROL: Final = "total:6+0.1"
"""Time control of the ordinary matches."""

PRESSURE: Final = "move:0.25"
"""Time control of the match that is short of time."""

PATIENCE: Final = 1.0
"""Seconds after which the referee is asked whether the matches still run."""

BOT: Final = "checked"
SEED: Final = 20260101


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    passed: bool
    explanation: str = ""
    """What went wrong and what would be right, or how it went."""


@dataclass(slots=True)
class Trouble:
    """What the connection of the bot does wrong; counted down as it happens."""

    noise: bool = False
    """Turns come twice, in between types and fields of a later version."""
    cut_turns: int = 0
    """So many turns get lost together with the line."""
    cut_acts: int = 0
    """The line breaks so many times right after an action was sent."""
    happened: int = 0


@dataclass(slots=True)
class Script:
    """What an opponent does."""

    resigns: bool = False
    """Gives up at its first turn instead of playing."""
    rng: random.Random = field(default_factory=lambda: random.Random(SEED))


async def check_bot(
    spec: str,
    games: Sequence[str] | None = None,
    *,
    time_control: str = TIME_CONTROL,
    on_check: Callable[[Check], None] | None = None,
    on_output: Callable[[str], None] | None = None,
) -> list[Check]:
    """Look at everything; return what was found, in order.

    ``games`` are checked instead of those the bot claims.  ``on_check`` gets each result as it
    comes, ``on_output`` what the bot prints and how it fails.  A bot that cannot be loaded is
    one failed check; errors of ours are raised.
    """
    checks: list[Check] = []

    def note(name: str, passed: bool, explanation: str = "") -> None:
        checks.append(Check(name, passed, explanation))
        if on_check is not None:
            on_check(checks[-1])

    try:
        spec = check_spec(spec)
        async with local_hub() as hub, _examination(hub, spec, games, on_output) as examination:
            note("loads", True, f"{len(examination.games)} games claimed")
            await _examine(examination, TimeControl.parse(time_control), note)
    except BotLoadError as error:
        note("loads", False, f"{error}\n{error.details}".rstrip())
    except GameError as error:
        note("loads", False, f"its games: {error}")
    return checks


async def _examine(
    examination: Examination, control: TimeControl, note: Callable[[str, bool, str], None]
) -> None:
    async def plays(name: str, game: Game, seats: Sequence[int], **how: Any) -> bool:
        passed, explanation = await examination.plays(game, seats, **{"control": control, **how})
        note(name, passed, explanation)
        return passed

    # In the longest game there is most time for things to go wrong.
    longest = max(examination.games, key=lambda game: game.info.max_plies)
    able = True
    for game in examination.games:
        for seat in range(game.seats):
            name = f"plays {game.spec} as {game.seat_name(seat)}"
            played = await plays(name, game, [seat], trouble=Trouble(noise=True))
            able = able and (played or game is not longest)
    if not able:
        return  # the rest would fail for the same reason
    game = longest
    last = game.seats - 1
    await plays("survives a lost connection", game, [0], trouble=Trouble(cut_turns=1, cut_acts=1))
    await plays("goes on in a new process", game, [0], restart=True)
    await plays("survives a resigning opponent", game, [0], script=Script(resigns=True))
    await plays("plays two matches at once", game, [0, last])
    await plays(
        f"keeps to the clock when it is short ({PRESSURE})",
        game,
        [last],
        control=TimeControl.parse(PRESSURE),
    )


class Examination:
    """One bot on one hub, with opponents enough for its games."""

    def __init__(self, hub: Hub, games: Sequence[Game]) -> None:
        self.hub = hub
        self.games = list(games)
        self.trouble = Trouble()
        self.script = Script()
        self.results: dict[str, MatchResult] = {}
        self.said: deque[str] = deque(maxlen=40)
        self.news = asyncio.Event()
        self.restart_at_next_act = False
        self.runner: BotRunner
        self.run: asyncio.Task[Any]
        self.bot: Participant
        self.opponents: list[Participant] = []
        self.opposing: list[asyncio.Task[None]] = []

    async def plays(
        self,
        game: Game,
        seats: Sequence[int],
        *,
        control: TimeControl,
        trouble: Trouble | None = None,
        script: Script | None = None,
        restart: bool = False,
    ) -> tuple[bool, str]:
        """Play a match for each of ``seats``, all at once; say whether the bot did well."""
        self.trouble = trouble or Trouble()
        self.script = script or Script()
        self.restart_at_next_act = restart
        self.said.clear()
        terms = Terms(game, control, rated=False)
        # After a cut line the hub may know it anew.
        self.bot = await online(self.hub, f"{PLAYER}/{BOT}", self.check_runs)
        wanted: list[str] = []
        for seat in seats:
            order = [*self.opponents[: game.seats - 1]]
            order.insert(seat, self.bot)
            wanted.extend(self.hub.runner.begin(terms, [order]).open)
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
        return self._judge([self.results[match] for match in wanted])

    def _ask_the_referee(self, match: str, game: Game, seat: int) -> None:
        """A match may have ended while the line was cut, so that the bot was never told."""
        if match in self.hub.runner.live or match in self.runner.matches:
            return
        live = self.hub.runner.find(match)
        if live is not None and live.match.outcome is not None:
            outcome = live.match.outcome
            self.results[match] = MatchResult(
                match, game.spec, seat, (), outcome, live.match.ply, 0
            )

    def _judge(self, results: Sequence[MatchResult]) -> tuple[bool, str]:
        told: list[str] = []
        for result in results:
            outcome = result.outcome
            ended = outcome.termination.replace("_", " ")
            if outcome.seat == result.seat and outcome.termination != "normal":
                advice = _ADVICE.get(outcome.termination, "")
                told.append(f"{ended}: {outcome.reason.rstrip('.')}{advice}")
            elif outcome.termination in VOID:
                told.append(f"{ended}: {outcome.reason}")
        if told:
            return False, "\n".join([*told, *self.said])
        return True, ", ".join([f"{result.plies} plies" for result in results])

    def say(self, line: str) -> None:
        """Keep what the bot and its failures say, for the explanation."""
        if line.startswith("["):
            self.said.append(line)

    def check_runs(self) -> None:
        """Raise what ended the run of the bot or of an opponent; none ends by itself."""
        for task in (self.run, *self.opposing):
            if task.done():
                task.result()
                raise RuntimeError("a bot has left the examination")

    def finished(self, result: MatchResult) -> None:
        """A match of the bot is over."""
        self.results[result.match] = result
        self.news.set()

    def acted(self) -> None:
        """The bot has acted."""
        if self.restart_at_next_act:
            self.restart_at_next_act = False
            self.runner.restart_workers()


_ADVICE: Final = {
    "flag_fall": "; use turn.limit for searches, or turn.report the best action so far",
    "illegal_action": "; choose one of turn.legal",
    "bot_crash": "; the traceback and the position are below",
    "disconnect": "; the bot was gone for too long",
}


@asynccontextmanager
async def _examination(
    hub: Hub, spec: str, games: Sequence[str] | None, on_output: Callable[[str], None] | None
) -> AsyncIterator[Examination]:
    player = await hub.store.add_player(PLAYER)
    token = await hub.store.add_token(player.id, ["play"])
    examination = Examination(hub, [get_game(game, files=True) for game in games or ()])

    def say(line: str) -> None:
        examination.say(line)
        if on_output is not None and line.startswith("["):
            on_output(line)

    async def connect() -> Channel:
        return TroubledChannel(hub.connect(), examination)

    examination.runner = BotRunner(
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
        ),
    )
    examination.run = asyncio.create_task(examination.runner.run())

    try:
        examination.bot = await online(hub, f"{PLAYER}/{BOT}", examination.check_runs)
        if not examination.games:
            examination.games = [get_game(game, files=True) for game in examination.runner.games]
        for number in range(1, max(game.seats for game in examination.games)):
            name = f"opponent-{number}"
            task = asyncio.create_task(_oppose(hub, token, name, examination))
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


async def _oppose(hub: Hub, token: str, name: str, examination: Examination) -> None:
    """Play whatever matches come: at once, at random, or as the script says."""
    client = Client(connector_of(hub), Identity(token, bot=name, max_matches=1000))
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async with aclosing(client.messages()) as messages:
        async for message, _ in messages:
            match message:
                case MatchMessage(snapshot=snapshot) if snapshot.status == "waiting":
                    spawn(_ask(client, partial(_ready, snapshot.match)))
                case Turn() if examination.script.resigns:
                    spawn(_ask(client, partial(_resign, message.match)))
                case Turn(match=match, ply=ply, observation=seen):
                    action = examination.script.rng.choice(seen["legal"])
                    spawn(_ask(client, partial(_act, match, ply, action)))
                case _:
                    pass


async def _ask(client: Client, build: Callable[[int], ClientMessage]) -> None:
    with contextlib.suppress(ClientError):  # the match may be over
        await client.request(build, repeat=True)


def _ready(match: str, number: int) -> Ready:
    return Ready(number, match)


def _resign(match: str, number: int) -> Resign:
    return Resign(number, match)


def _act(match: str, ply: int, action: str, number: int) -> Act:
    return Act(number, match, ply, action)


class TroubledChannel:
    """A connection of the bot on which the `Trouble` of the examination happens."""

    def __init__(self, inner: MemoryClient, examination: Examination) -> None:
        self._inner = inner
        self._examination = examination
        self._extra: deque[Frame] = deque()

    @property
    def close_code(self) -> int | None:
        """WebSocket close code, once it is closed."""
        return self._inner.close_code

    @close_code.setter
    def close_code(self, value: int | None) -> None:
        self._inner.close_code = value

    @property
    def close_reason(self) -> str:
        """Why it was closed."""
        return self._inner.close_reason

    @close_reason.setter
    def close_reason(self, value: str) -> None:
        self._inner.close_reason = value

    def send(self, frame: Frame) -> None:
        """Pass a frame on; after an action the line may break."""
        self._inner.send(frame)
        trouble = self._examination.trouble
        if trouble.cut_acts and _type(frame) == "act":
            trouble.cut_acts -= 1
            self._cut()

    async def recv(self) -> Frame | None:
        """The next frame, or one that nobody asked for."""
        if self._extra:
            return self._extra.popleft()
        frame = await self._inner.recv()
        if frame is None:
            return None
        trouble = self._examination.trouble
        kind = _type(frame)
        if kind == "accepted":
            self._examination.acted()
        if kind == "turn":
            if trouble.cut_turns:
                trouble.cut_turns -= 1
                self._cut()
                return None
            if trouble.noise:
                self._extra.extend(_noise(frame))
                return _with_field(frame)
        return frame

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close it."""
        self._inner.close(code, reason)

    def _cut(self) -> None:
        self._examination.trouble.happened += 1
        self._extra.clear()
        self._inner.close(1006, "the examiner cut the line")


def _type(frame: Frame) -> str:
    return str(msgpack.unpackb(frame).get("type", ""))


def _with_field(frame: Frame) -> Frame:
    fields = msgpack.unpackb(frame)
    fields["field_of_a_later_version"] = {"any": [1, 2.5, None]}
    return bytes(msgpack.packb(fields))


def _noise(turn: Frame) -> list[Frame]:
    """The turn again, a message of a later version, an announcement, an answer to nothing."""
    return [
        turn,
        bytes(msgpack.packb({"type": "message_of_a_later_version", "match": "m"})),
        MSGPACK.encode(Notice("notice/check", "This is a check.")),
        MSGPACK.encode(Accepted(2**40, "nobody's", 3)),
    ]
