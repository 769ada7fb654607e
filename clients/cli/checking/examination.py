"""Checks a bot before it may play rated matches: `check_bot`, behind ``plyhouse check``.

The bot is run by the ordinary runner and judged by the ordinary referee (a hub in memory); its
opponents follow a script, and between runner and referee sits a connection that misbehaves.

Per game and seat a whole match is played; then, in the longest game, the line is cut, the bot's
process is replaced in mid-match, its opponent resigns, two matches are played at once, and the
clock is short.  These are left out for a bot that failed in the plain matches of that game.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.bots.client.channel import Channel, Connector
from plyhouse.bots.hosting.host import Runner
from plyhouse.bots.loading import BotLoadError, check_spec
from plyhouse.bots.running.runner import BotRunner, RunOptions
from plyhouse.bots.running.summary import SeatResult
from plyhouse.clients.cli.arena.local import PLAYER, connector_of, local_hub, online
from plyhouse.clients.cli.checking.disturbed import Disturbance, DisturbedChannel
from plyhouse.clients.cli.checking.opponent import Script, oppose
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import VOID
from plyhouse.server.house.hub import Hub
from plyhouse.server.house.matches import Terms
from plyhouse.server.house.participants import Participant
from plyhouse.server.match.time_control import TimeControl

__all__ = ["Finding", "check_bot"]

TIME_CONTROL: Final = "total:6+0.1"
"""Time control of the ordinary matches."""

PRESSURE: Final = "move:0.25"
"""Time control of the match that is short of time."""

PATIENCE: Final = 1.0
"""Seconds after which the referee is asked whether the matches still run."""

BOT: Final = "checked"
SEED: Final = 20260101


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    passed: bool
    explanation: str = ""
    """What went wrong and what would be right, or how it went."""
    said: str = ""
    """The last that a bot that failed has said before that, tracebacks included."""


async def check_bot(
    spec: str,
    games: Sequence[str] | None = None,
    *,
    on_finding: Callable[[Finding], None] | None = None,
    on_output: Callable[[str], None] | None = None,
    on_games: Callable[[Sequence[str]], None] | None = None,
    make_runner: Callable[[str, Connector, str, RunOptions], Runner] = BotRunner,
) -> list[Finding]:
    """Look at everything; return what was found, in order.

    ``games`` are checked instead of those the bot claims; ``make_runner`` makes what plays it.
    ``on_finding`` gets each result as it comes, ``on_output`` what the bot prints and how it
    fails, ``on_games`` what it is checked in.  A bot that cannot be loaded is one failed check;
    errors of ours are raised.
    """
    findings: list[Finding] = []

    def note(name: str, passed: bool, explanation: str = "", said: str = "") -> None:
        findings.append(Finding(name, passed, explanation, said))
        if on_finding is not None:
            on_finding(findings[-1])

    try:
        if make_runner is BotRunner:
            spec = check_spec(spec)
        async with (
            local_hub() as hub,
            _examination(hub, spec, games, on_output, make_runner) as examination,
        ):
            note("loads", True, _games(len(examination.games)))
            if on_games is not None:
                on_games([game.spec for game in examination.games])
            await _examine(examination, TimeControl.parse(TIME_CONTROL), note)
    except BotLoadError as error:
        note("loads", False, f"{error}\n{error.details}".rstrip())
    except GameError as error:
        note("loads", False, f"its games: {error}")
    return findings


def _games(count: int) -> str:
    return f"{count} {'game' if count == 1 else 'games'} claimed"


async def _examine(
    examination: Examination, control: TimeControl, note: Callable[[str, bool, str, str], None]
) -> None:
    async def plays(name: str, game: Game, seats: Sequence[int], **how: Any) -> bool:
        passed, explanation = await examination.plays(game, seats, **{"control": control, **how})
        note(name, passed, explanation, "" if passed else "\n".join(examination.said))
        return passed

    # In the longest game there is most time for things to go wrong.
    longest = max(examination.games, key=lambda game: game.info.max_plies)
    able = True
    for game in examination.games:
        for seat in range(game.seats):
            name = f"plays {game.spec} as {game.seat_name(seat)}"
            played = await plays(name, game, [seat], disturbance=Disturbance(noise=True))
            able = able and (played or game is not longest)
    if not able:
        return  # the rest would fail for the same reason
    game = longest
    last = game.seats - 1
    await plays(
        "survives a lost connection", game, [0], disturbance=Disturbance(cut_turns=1, cut_acts=1)
    )
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
        self.disturbance = Disturbance()
        self.script = Script()
        self.results: dict[str, SeatResult] = {}
        self.said: deque[str] = deque(maxlen=40)
        self.news = asyncio.Event()
        self.restart_at_next_act = False
        self.runner: Runner
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
        disturbance: Disturbance | None = None,
        script: Script | None = None,
        restart: bool = False,
    ) -> tuple[bool, str]:
        """Play a match for each of ``seats``, all at once; say whether the bot did well."""
        self.disturbance = disturbance or Disturbance()
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
        if match in self.hub.directory.live or match in self.runner.matches:
            return
        live = self.hub.directory.match(match)
        if live is not None and live.match.outcome is not None:
            outcome = live.match.outcome
            self.results[match] = SeatResult(match, game.spec, seat, (), outcome, live.match.ply, 0)

    def _judge(self, results: Sequence[SeatResult]) -> tuple[bool, str]:
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
            return False, "\n".join(told)
        return True, ", ".join([f"{result.plies} plies" for result in results])

    def say(self, line: str) -> None:
        """Keep what the bot and its failures say, for `Finding.said`."""
        if line.startswith("["):
            self.said.append(line)

    def check_runs(self) -> None:
        """Raise what ended the run of the bot or of an opponent; none ends by itself."""
        for task in (self.run, *self.opposing):
            if task.done():
                task.result()
                raise RuntimeError("a bot has left the examination")

    def finished(self, result: SeatResult) -> None:
        """A match of the bot is over."""
        self.results[result.match] = result
        self.news.set()

    def acted(self) -> None:
        """The bot has acted."""
        if self.restart_at_next_act:
            self.restart_at_next_act = False
            self.runner.restart_processes()


_ADVICE: Final = {
    "flag_fall": "; use turn.limit for searches, or turn.report the best action so far",
    "illegal_action": "; choose one of turn.legal",
    "bot_crash": "; see the traceback and the position",
    "disconnect": "; the bot was gone for too long",
}


@asynccontextmanager
async def _examination(
    hub: Hub,
    spec: str,
    games: Sequence[str] | None,
    on_output: Callable[[str], None] | None,
    make_runner: Callable[[str, Connector, str, RunOptions], Runner],
) -> AsyncIterator[Examination]:
    player = await hub.store.add_player(PLAYER)
    token = await hub.store.add_token(player.id, ["play"])
    examination = Examination(hub, [get_game(game, files=True) for game in games or ()])

    def say(line: str) -> None:
        examination.say(line)
        if on_output is not None and line.startswith("["):
            on_output(line)

    async def connect() -> Channel:
        return DisturbedChannel(hub.connect(), lambda: examination.disturbance, examination.acted)

    examination.runner = make_runner(
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
            # A file would be run here, and not in the sandbox of a bot that somebody else wrote.
            files = make_runner is BotRunner
            examination.games = [get_game(game, files=files) for game in examination.runner.games]
        for number in range(1, max(game.seats for game in examination.games)):
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
