"""Check a bot before it may play rated matches: `check_bot`, behind ``plyhouse bot check``.

An ordinary session runs the bot, and the ordinary referee (a hub in memory) judges it.  Its
opponents follow a script, and a faulty connection sits between session and referee.

The bot plays a whole match for each game and seat.  In the longest game the check then breaks the
connection and replaces the bot's process during a match.  It also lets the opponent resign, plays
two matches at the same time, and shortens the clock.  It omits these for games in which the bot
failed a plain match.

Matches first use a shortened time control.  If the bot loses on time there, the check repeats the
match at the real time control, and only that result counts
(`plyhouse.clients.bot_check.time_controls`).  Otherwise the bot plays one more match at the time
control of each competition.

A check ends within `LIMIT` seconds, including imports.  It omits matches that do not begin or end
in time, with a warning.  A bot that finishes no match in that time fails.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.loading import BotLoadError, check_spec
from plyhouse.bots.running.bot_session import BotSession
from plyhouse.bots.running.python_session import PythonSession, RunOptions
from plyhouse.clients.arena.memory_server import local_hub
from plyhouse.clients.bot_check.matches import (
    CheckMatch,
    Examination,
    Faults,
    MachineBusyError,
    ScriptedOpponent,
    examination_of,
)
from plyhouse.clients.bot_check.time_controls import (
    DEFAULT,
    PRESSURE,
    Controls,
    Terms,
    seconds_per_ply,
)
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import game_names, get_game
from plyhouse.server.match.time_control import TimeControl

LIMIT: Final = 110.0
"""Seconds that a check takes at most. A runner gives it 120, with the start of its processes."""
LAST: Final = 20.0
"""Seconds before the end of a check in which no match begins."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    passed: bool
    explanation: str = ""
    """The fault with advice, or how it went."""
    said: str = ""
    """The last that a bot that failed has said before that, tracebacks included."""
    warning: bool = False
    """True for a fault that does not make the bot unfit to play."""


Note = Callable[[Finding], None]


def _missing(terms: Terms, claimed: Sequence[str]) -> list[Finding]:
    """Return a failed check for each game of a competition that a bot does not claim."""
    text = f"it does not play this game; it plays {', '.join(claimed)}"
    return [
        Finding(f"plays {game}", False, text)
        for game in terms.games
        if game not in claimed and _base(game) not in claimed
    ]


async def check_bot(
    spec: str,
    games: Sequence[str] | None = None,
    *,
    terms: Terms | None = None,
    default: TimeControl = DEFAULT,
    on_finding: Note | None = None,
    on_output: Callable[[str], None] | None = None,
    on_games: Callable[[Sequence[str], Sequence[str]], None] | None = None,
    make_session: Callable[[str, Connector, str, RunOptions], BotSession] = PythonSession,
    clock: Callable[[], float] = time.monotonic,
    seconds: float = LIMIT,
) -> list[Finding]:
    """Check a bot in each way; return the findings in order.

    ``games`` are checked instead of those the bot claims.  ``terms`` name games of competitions,
    and their time controls: then the bot is checked in those of them that it claims.  All other
    games are checked at ``default``.  ``make_session`` makes what plays the bot.
    ``on_finding`` gets each result as it comes, ``on_output`` what the bot prints and how it
    fails, ``on_games`` the games that it claims and those that it is checked in.  The check ends
    after so many ``seconds``.

    A bot that cannot be loaded is one failed check.  Raises `MachineBusyError` if this machine is
    too busy to check a bot, and errors of ours.
    """
    findings: list[Finding] = []
    terms = terms or Terms()
    run: _Checks | None = None
    ends = clock() + seconds - LAST

    def note(found: Finding) -> None:
        findings.append(found)
        if on_finding is not None:
            on_finding(found)

    def chosen(claimed: Sequence[str]) -> list[Game]:
        wanted = [game for game in terms.games if game in claimed or _base(game) in claimed]
        # A file would be run here, and not in the sandbox of a bot that somebody else wrote.
        files = games is not None or make_session is PythonSession
        return [get_game(game, files=files) for game in wanted or games or claimed]

    try:
        if make_session is PythonSession:
            spec = check_spec(spec)
        async with (
            asyncio.timeout(seconds) as limit,
            local_hub() as hub,
            examination_of(hub, spec, games, chosen, on_output, make_session) as examination,
        ):
            examination.flags_count = terms.flags_count
            claimed = examination.bot_session.games
            note(Finding("loads", True, _claims(claimed)))
            if on_games is not None:
                on_games(claimed, [game.spec for game in examination.games])
            missing = _missing(terms, claimed)
            if terms.must_play and missing:
                for each in missing:
                    note(each)
            else:
                run = _Checks(examination, terms, default, note, clock, ends)
                await run.all(len(claimed))
    except TimeoutError:
        if not limit.expired():
            raise
        note(_cut(run, seconds))
    except BotLoadError as error:
        note(Finding("loads", False, f"{error}\n{error.details}".rstrip()))
    except GameError as error:
        note(Finding("loads", False, f"its games: {error}"))
    return findings


def _cut(run: _Checks | None, seconds: float) -> Finding:
    """Return what a check says that had to end; raises `MachineBusyError`."""
    if run is not None and run.judged:
        text = f"the check had taken {seconds:g} s: {', '.join([*run.left_out, run.doing])}"
        return Finding("left out", True, text, warning=True)
    if run is not None and run.excused:
        raise MachineBusyError(
            f"In {seconds:g} s the bot finished no match, while this machine was at work for "
            "others. Check it on a machine with less to do."
        )
    doing = run.doing if run is not None else "loads"
    text = (
        f"it finished no match in {seconds:g} s, which is all that a check may take, and was at "
        f"{doing!r}; make imports and the first action of a match faster"
    )
    return Finding("ends in time", False, text)


def _base(game: str) -> str:
    """The name of a game without its parameters."""
    return game.partition("(")[0]


def _claims(games: Sequence[str]) -> str:
    if list(games) == list(game_names()):
        return f"all {len(games)} games, because the bot's `games` is empty"
    return f"{len(games)} {'game' if len(games) == 1 else 'games'} claimed"


class _Checks:
    """The checks of one bot, one after the other."""

    def __init__(
        self,
        examination: Examination,
        terms: Terms,
        default: TimeControl,
        note: Note,
        clock: Callable[[], float],
        ends: float,
    ) -> None:
        self._examination = examination
        self._terms = terms
        self._default = Controls(default)
        self._note = note
        self._clock = clock
        self._ends = ends
        self._slow = False
        """True once it has lost on time at a shortened time control."""
        self.left_out: list[str] = []
        self.doing = "loads"
        """The name of the check that is being made."""
        self.judged = False
        """True once the bot has finished a match."""

    @property
    def excused(self) -> int:
        """Matches that count for nothing, because the machine was too busy."""
        return self._examination.excused

    async def all(self, claimed: int) -> None:
        """Do all that is to be done."""
        examination = self._examination
        self._note(Finding("time control", True, self._stated(claimed)))
        # In the longest game there is most time for things to go wrong.
        longest = max(examination.games, key=lambda game: game.info.max_plies)
        able = True
        for game in examination.games:
            for seat in range(game.seats):
                name = f"plays {game.spec} as {game.seat_name(seat)}"
                played = await self._plays(name, game, [seat], disturbance=Faults(noise=True))
                able = able and (played or game is not longest)
        if able:
            await self._extras(longest)
            for game in examination.games:
                await self._at_its_own_control(game)
        if self.left_out:
            text = f"the check had taken too long: {', '.join(self.left_out)}"
            self._note(Finding("left out", True, text, warning=True))

    async def _extras(self, game: Game) -> None:
        """Play the matches that are not about time, at clocks that leave time to reconnect."""
        own = self._controls(game).played
        clocks = Controls().quick, max(own, DEFAULT, key=seconds_per_ply)
        last = game.seats - 1
        cut = Faults(cut_turns=1, cut_acts=1)
        for name, seats, how in (
            ("survives a lost connection", [0], {"disturbance": cut}),
            ("goes on in a new process", [0], {"restart": True}),
            ("survives a resigning opponent", [0], {"script": ScriptedOpponent(resigns=True)}),
            ("plays two matches at once", [0, last], {}),
        ):
            await self._plays(name, game, seats, clocks, **how)
        if not self._slow and seconds_per_ply(own) > seconds_per_ply(PRESSURE):
            await self._warns("keeps to the clock when it is short", game, PRESSURE)

    async def _at_its_own_control(self, game: Game) -> None:
        """Play at the time controls of competitions that no match was played at yet."""
        controls = self._controls(game)
        if game.spec in self._terms.games and not self._slow and controls.quick != controls.played:
            name = f"plays {game.spec} at {controls.played}"
            if not self._over_budget(name):
                found = await self._examination.plays(game, [0], control=controls.played)
                self._tell(name, found)
        for control in controls.shorter:
            await self._warns(f"keeps to the clock of {game.spec}", game, control)

    async def _plays(
        self,
        name: str,
        game: Game,
        seats: Sequence[int],
        clocks: tuple[TimeControl, TimeControl] | None = None,
        **how: Any,
    ) -> bool:
        """Play at a shortened time control if the bot can, or else at the one that decides.

        ``clocks`` are these two, if not those of the game.
        """
        if self._over_budget(name):
            return True
        controls, examination = self._controls(game), self._examination
        quick, decides = clocks or (controls.quick, controls.played)
        if not self._slow and quick != decides:
            found = await examination.plays(game, seats, control=quick, **how)
            if not found.late:
                return self._tell(name, found)
            self._slow = True
            text = f"{found.explanation}\nThe check goes on at {decides}, which decides."
            self._note(Finding(f"keeps to {quick}", True, text, self._said(), warning=True))
        return self._tell(name, await examination.plays(game, seats, control=decides, **how))

    async def _warns(self, name: str, game: Game, control: TimeControl) -> None:
        """Play at a shorter time control; to lose on time there is no reason to refuse."""
        name = f"{name} ({control})"
        if self._over_budget(name):
            return
        found = await self._examination.plays(game, [game.seats - 1], control=control)
        if found.late:
            self._note(Finding(name, True, found.explanation, self._said(), warning=True))
        else:
            self._tell(name, found)

    def _tell(self, name: str, found: CheckMatch) -> bool:
        said = "" if found.passed else self._said()
        self._note(Finding(name, found.passed, found.explanation, said))
        self.judged = True
        return found.passed

    def _said(self) -> str:
        return "\n".join(self._examination.said)

    def _over_budget(self, name: str) -> bool:
        if not self.judged or self._clock() < self._ends:
            self.doing = name
            return False
        self.left_out.append(name)
        return True

    def _controls(self, game: Game) -> Controls:
        return self._terms.games.get(game.spec, self._default)

    def _stated(self, claimed: int) -> str:
        """Say at which time controls it is checked, and in which games."""
        games = self._examination.games
        controls: dict[str, Controls] = {}
        for game in games:
            each = self._controls(game)
            controls.setdefault(str(each.deciding), each)
        here = [game.spec for game in games if game.spec in self._terms.games]
        told = ", ".join(
            f"{each.deciding}"
            + (f" (begun at {each.quick} to be quick)" if each.quick != each.deciding else "")
            for each in controls.values()
        )
        if not here:
            return f"{told}, as no competition says otherwise"
        more = claimed - len(here)
        others = f"; {more} other claimed not checked" if more > 0 else ""
        return f"{told}, of its competitions, in {', '.join(here)}{others}"
