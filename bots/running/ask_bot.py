"""Ask a bot to choose in one recorded position, in a real process with the time that it had.

The bot starts as after a replacement of its process during a match: a new object of its class, with
the whole match in ``turn.history``.  Time is managed as on a server: searches have the same limit,
and at the deadline the best reported action is played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from plyhouse.bots.client.timing import MS, REAL_CLOCK, SECOND, Clock, first_of, until
from plyhouse.bots.loading import check_spec
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.process.messages import Begin, Chosen, Failed, Resigned
from plyhouse.bots.process.supervisor import Request, Supervisor
from plyhouse.bots.running.history import History
from plyhouse.bots.running.time_management import (
    allot,
    expected_moves_left,
    parse_time_control,
    safety_margin,
)
from plyhouse.games.base import Game
from plyhouse.protocol.messages import MatchSnapshot

__all__ = ["Asked", "ask_bot"]

AFTER_FLAG = 1.0
"""Seconds after flag fall during which an answer is awaited, to report how late it was."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer of a bot."""

    how: str
    """``chosen``; ``best``: reported so far when time was nearly out; ``resigned``; ``failed``;
    ``late``: after its flag; ``nothing``."""
    action: str
    """As text; empty if there is none."""
    seconds: float
    """Until it answered, its start in this match included."""
    allowed: float
    """Seconds until its flag fell."""
    advised: float
    """Seconds advised for its searches."""
    warning: str = ""
    """Why the referee would refuse the action."""
    error: str = ""
    """The exception, in one line."""
    details: str = ""
    """The traceback, and the position."""


async def ask_bot(
    spec: str,
    snapshot: MatchSnapshot,
    game: Game,
    *,
    game_file: str = "",
    seed: str = "",
    left_ns: int | None = None,
    output: Callable[[str], None],
    launcher: Launcher = BARE,
    clock: Clock = REAL_CLOCK,
) -> Asked:
    """Ask ``spec`` (see `plyhouse.bots.loading`) what it plays in a position where it is to move.

    ``game_file`` is the file of a game that goes by its own name.  ``seed`` is that of the run
    (``--seed``), from which ``turn.rng`` follows as in the match.  ``left_ns`` replaces the time
    until its flag falls.  ``output`` gets each line that the bot prints, and what is noted of it.
    ``launcher`` starts its process.  Raises `BotLoadError` if it cannot be loaded.
    """
    if snapshot.seat is None:
        raise ValueError("a spectator has no seat to play")
    log = AuthorLog("bot", terminal=output)
    supervisor = Supervisor(check_spec(spec), log, launcher=launcher, clock=clock)
    loaded = await supervisor.start()
    supervisor.log.name = loaded.name
    try:
        history = History(snapshot.seat, snapshot.events)
        told = msgspec.structs.replace(snapshot, events=history.events, scene=None)
        begin = Begin(
            told, f"{seed}/{snapshot.commitment or snapshot.match}", files=False, file=game_file
        )
        supervisor.begin(snapshot.match, lambda: begin, lambda: history.events)
        await supervisor.settled(snapshot.match)
        left = (snapshot.deadline_ms or 0) * MS if left_ns is None else left_ns
        mine = [each.periods for each in snapshot.clocks if each.seat == snapshot.seat]
        allotment = allot(
            parse_time_control(snapshot.time_control),
            left,
            margin=safety_margin(left),
            periods=mine[0] if mine else None,
            moves_left=expected_moves_left(history.own, -(-game.info.max_plies // game.seats)),
        )
        arrived = clock.now()
        request = supervisor.think(
            snapshot.match,
            ply=snapshot.ply,
            soft_at=arrived + allotment.soft,
            hard_at=arrived + allotment.hard,
            flag_at=arrived + left,
            observation=snapshot.observation,
            clocks=snapshot.clocks,
        )
        how, action, warning, failed = await _answer(supervisor, request, clock)
        took = clock.now() - arrived
        if failed is not None:
            await supervisor.settled()  # a process that died has a successor, which must end, too
        return Asked(
            how,
            action,
            took / SECOND,
            left / SECOND,
            allotment.soft / SECOND,
            warning,
            failed.error if failed else "",
            f"{failed.traceback.rstrip()}\n{failed.position}".strip() if failed else "",
        )
    finally:
        await supervisor.close()


async def _answer(
    supervisor: Supervisor, request: Request, clock: Clock
) -> tuple[str, str, str, Failed | None]:
    """How it answered, the action, a warning, and how it failed."""
    if not await first_of(request.answer, until(clock, request.hard_at)):
        if request.best is not None and supervisor.loaded.best_at_deadline:
            supervisor.stop(request)
            return "best", request.best, "", None
        last = request.flag_at + round(AFTER_FLAG * SECOND)
        if not await first_of(request.answer, until(clock, last)):
            supervisor.stop(request)
            return "nothing", "", "", None
    answer = await request.answer
    late = clock.now() > request.flag_at
    match answer:
        case Chosen():
            return "late" if late else "chosen", answer.action, answer.warning, None
        case Resigned():
            return "resigned", "", "", None
        case Failed():
            return "failed", "", "", answer
