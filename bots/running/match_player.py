"""Play one match for the session: messages of the match in, actions out.

``hard`` is the latest time at which the action must leave this machine (`time_management`).  At
that time the session plays the best reported action, unless the bot has disabled this.  If the bot
has reported nothing, it keeps thinking: the session never plays an action that the bot did not
choose, and without an answer the flag falls.

The session sends illegal actions, too: the referee decides (``illegal_rule``), and the author sees
the legal actions.  With the rule ``retry``, the bot is asked again on the same clock.  If it gives
the same illegal answer `SAME_MISTAKES` times in a row, it counts as failed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from plyhouse.bots.client.client import Client, ClientError, ConnectionLost, RequestRefused
from plyhouse.bots.client.timing import MS, SECOND, Clock, first_of, until
from plyhouse.bots.process.author_log import AuthorLog, heading
from plyhouse.bots.process.messages import Begin, Chosen, Failed, Resigned
from plyhouse.bots.process.supervisor import Request, Supervisor
from plyhouse.bots.running.history import History
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.bots.running.time_management import (
    allot,
    expected_moves_left,
    parse_time_control,
    safety_margin,
)
from plyhouse.games.base import Game
from plyhouse.protocol.messages import (
    CHANCE_SEAT,
    Accepted,
    ClockState,
    Event,
    Finished,
    GiveUp,
    LedgerEntry,
    MatchSnapshot,
    Outcome,
    Ready,
    Resign,
    Sync,
    Turn,
)
from plyhouse.protocol.parts import LONGEST_DETAIL

__all__ = ["MatchPlayer", "Surroundings"]

SAME_MISTAKES: Final = 3
"""Refusals of the same answer after which the bot counts as failed."""

SURPRISE_MS: Final = 100
"""Milliseconds charged beyond the bot's own time from which the author sees a note."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The common environment of all matches of a run."""

    client: Client
    clock: Clock
    log: AuthorLog
    say: Callable[[str], None]
    nonce: Callable[[MatchSnapshot], str]
    seed: str
    spawn: Callable[[Coroutine[Any, Any, None]], object]
    """Runs something in the background."""
    opening_plies: int = 0
    """Plies at the start of a match that are drawn at random instead of chosen by the bot."""
    turn_seconds: float | None = None
    """Most seconds of a turn."""


class MatchPlayer:
    """A match with its bot; the session passes every message about it."""

    def __init__(
        self,
        snapshot: MatchSnapshot,
        game: Game,
        supervisor: Supervisor,
        around: Surroundings,
        *,
        files: bool,
        file: str = "",
    ) -> None:
        if snapshot.seat is None:
            raise ValueError("a spectator has no seat to play")
        self.seat: int = snapshot.seat
        self.game = game
        self.snapshot = snapshot
        self.history = History(snapshot.seat)
        self.outcome: Outcome | None = None
        self._supervisor = supervisor
        self._around = around
        self._files = files
        self._file = file
        self._rule = parse_time_control(snapshot.time_control)
        self._request: Request | None = None
        self._task: asyncio.Task[None] | None = None
        self._sent: tuple[int, str] | None = None
        self._mistakes = 0
        self._charged = 0
        self._ledger: LedgerEntry | None = None
        self._asked = (0, 0, 0)
        """Ply of our last turn, the milliseconds it had, and when it came."""
        self._given_up = False
        self._started = False

    @property
    def match(self) -> str:
        """Id of the match."""
        return self.snapshot.match

    @property
    def opponents(self) -> tuple[str, ...]:
        """The others, as ``player/bot``."""
        return tuple(
            [
                f"{info.player}/{info.bot}" if info.bot else info.player
                for seat, info in enumerate(self.snapshot.players)
                if seat != self.seat
            ]
        )

    # Messages from the server

    def on_snapshot(self, snapshot: MatchSnapshot, arrived: int) -> None:
        """The match begins, or stands like this after a reconnect or `sync`."""
        if self.outcome is not None:
            return
        self.snapshot = snapshot
        if self._started and self.history.is_start_of(snapshot.events):
            self.history.extend(snapshot.events[len(self.history.events) :])
        else:
            self.history = History(self.seat, snapshot.events)
            self._supervisor.begin(self.match, self._begin, lambda: self.history.events)
            self._started = True
        if snapshot.status == "waiting":
            self._around.spawn(self._get_ready(self._around.nonce(snapshot)))
        elif snapshot.outcome is not None:
            self.outcome = snapshot.outcome
            self._end()
        elif snapshot.your_turn and snapshot.deadline_ms is not None:
            self._my_turn(
                snapshot.ply,
                snapshot.deadline_ms,
                snapshot.observation,
                snapshot.clocks,
                arrived,
                retry=False,
            )
        elif self._request is not None and snapshot.ply > self._request.ply:
            self._drop()  # what we were thinking about has been settled without us

    def on_turn(self, turn: Turn, arrived: int) -> None:
        """It is our turn."""
        if self.outcome is not None:
            return
        if turn.ply < self.history.plies or (self._busy_with(turn.ply) and not turn.retry):
            return  # said before
        if turn.retry and self._repeats_itself():
            return
        self.history.extend(turn.events)
        if self.history.plies != turn.ply:
            # A message was lost: request a snapshot.
            self._send(lambda number: Sync(number, self.match))
            return
        self._my_turn(
            turn.ply, turn.deadline_ms, turn.observation, turn.clocks, arrived, retry=turn.retry
        )

    def on_accepted(self, accepted: Accepted) -> None:
        """Our action was played."""
        if accepted.duplicate or self.history.plies > accepted.ply:
            return
        self.history.extend(accepted.events)
        if accepted.ledger is not None:
            self._note_ledger(accepted.ledger)

    def on_events(self, events: Sequence[Event]) -> None:
        """Something else happened."""
        last = _last_ply(events)
        if last is not None and last >= self.history.plies:
            self.history.extend(events)

    def on_finished(self, finished: Finished) -> SeatResult:
        """The match is over."""
        self.history.extend(finished.events)
        self.outcome = finished.outcome
        self._end()
        if finished.outcome.termination == "flag_fall" and finished.outcome.seat == self.seat:
            self._explain_flag()
        return self.result(finished.outcome)

    def result(self, outcome: Outcome) -> SeatResult:
        """How it went."""
        return SeatResult(
            match=self.match,
            game=self.snapshot.game,
            seat=self.seat,
            opponents=self.opponents,
            outcome=outcome,
            plies=self.history.plies,
            charged_ms=self._charged,
        )

    def forget(self) -> None:
        """After the match: let nothing of it be remembered."""
        self._supervisor.renew()

    async def close(self) -> None:
        """Stop playing on our side only; the match itself may go on."""
        task = self._task
        self._drop()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    # Thinking

    def _my_turn(
        self,
        ply: int,
        deadline_ms: int,
        observation: dict[str, Any],
        clocks: Sequence[ClockState],
        arrived: int,
        *,
        retry: bool,
    ) -> None:
        if self._given_up or (self._busy_with(ply) and not retry):
            return  # the client repeats a pending action
        if retry:
            self._request = self._task = None  # it is settled; let it tell the author
        self._drop()
        if ply < self._around.opening_plies and not retry:
            # The seed's commitment is that of the pairing: its matches open alike.
            rng = random.Random(f"{self.snapshot.commitment}/opening/{ply}")
            self._around.spawn(self._act(ply, rng.choice(observation["legal"]), arrived))
            return
        client = self._around.client
        self._asked = (ply, deadline_ms, arrived)
        left = deadline_ms * MS
        if self._around.turn_seconds is not None:
            left = min(left, round(self._around.turn_seconds * SECOND))
        margin = safety_margin(left, client.round_trip, client.jitter)
        mine = [state for state in clocks if state.seat == self.seat]
        allotment = allot(
            self._rule,
            left,
            margin=margin,
            periods=mine[0].periods if mine else None,
            moves_left=expected_moves_left(
                self.history.own, -(-self.game.info.max_plies // self.game.seats)
            ),
        )
        self._request = self._supervisor.think(
            self.match,
            ply=ply,
            soft_at=arrived + allotment.soft,
            hard_at=arrived + allotment.hard,
            flag_at=arrived + left,
            observation=observation,
            clocks=clocks,
            retry=retry,
        )
        self._task = asyncio.create_task(self._take_turn(self._request, arrived))

    async def _take_turn(self, request: Request, arrived: int) -> None:
        answer = await self._answer(request)
        match answer:
            case Chosen():
                if answer.warning:
                    self._note(answer.warning, request.ply)
                info = None if answer.info is None else msgspec.to_builtins(answer.info)
                await self._act(request.ply, answer.action, arrived, info)
            case Resigned(no_answer=""):
                await self._give_up(f"match {self.match}: the bot resigns at ply {request.ply + 1}")
            case Resigned(no_answer=why):
                self._note(why, request.ply)
                await self._give_up(f"match {self.match}: no legal action", "no_answer", why)
            case Failed():
                self._around.log.crash(
                    self.match, answer.error, answer.traceback, answer.position, request.ply
                )
                await self._give_up(
                    f"match {self.match}: resigned, because the bot failed: {answer.error}",
                    reason="bot_crash",
                    detail=_kept(answer),
                )
            case str():
                self._note(
                    f"time nearly out, playing the best action reported so far: {answer}",
                    request.ply,
                )
                self._supervisor.stop(request, answered=True)
                await self._act(request.ply, answer, arrived)

    async def _answer(self, request: Request) -> Chosen | Resigned | Failed | str:
        """Return the bot's answer, or at the deadline its best report."""
        clock = self._around.clock
        if not await first_of(request.answer, until(clock, request.hard_at)):
            if request.best is not None and self._supervisor.loaded.best_at_deadline:
                return request.best
            self._note(
                "time nearly out and nothing to play: "
                + (
                    f"the bot is still in {request.stage}"
                    if request.stage != "choose"
                    else "the bot has reported no action so far; use turn.limit for searches, "
                    "or turn.report the best action so far"
                    if self._supervisor.loaded.best_at_deadline
                    else "play_best_at_deadline is off"
                ),
                request.ply,
            )
        return await request.answer

    async def _act(
        self, ply: int, action: str, arrived: int, info: dict[str, Any] | None = None
    ) -> None:
        took = (self._around.clock.now() - arrived) // MS
        self._mistakes = self._mistakes + 1 if self._sent == (ply, action) else 1
        self._sent = (ply, action)
        try:
            accepted = await self._around.client.act(self.match, ply, action, info)
        except RequestRefused as error:
            self._refused(error, action, ply)
        except ClientError as error:
            if not isinstance(error, ConnectionLost):
                self._note(str(error), ply)
        else:
            if accepted.info_refused:
                self._note(
                    "the action counts, and what the bot said of it is not kept: "
                    f"{accepted.info_refused}",
                    ply,
                )
            self._compare(accepted, took)

    def _refused(self, error: RequestRefused, action: str, ply: int) -> None:
        if error.code.startswith("action/"):
            legal = f" Legal are {', '.join(error.legal)}." if error.legal else ""
            self._note(f"the server refused {action!r}: {error}{legal}", ply)
        elif error.code not in (
            "match/over",
            "match/stale_ply",
            "match/unknown",
            "match/not_yours",
        ):
            self._note(f"{error.code}: {error}", ply)
            if self.outcome is None:
                self._send(lambda number: Sync(number, self.match))

    def _repeats_itself(self) -> bool:
        """Asked again: give up if the bot keeps giving the one answer that is refused."""
        if self._sent is None or self._mistakes < SAME_MISTAKES:
            return False
        action = self._sent[1]
        self._around.spawn(
            self._give_up(
                f"match {self.match}: resigned, because the bot repeats an action that is not "
                f"legal: {action!r}",
                reason="bot_crash",
                detail=f"{action!r} was refused {self._mistakes} times",
            )
        )
        return True

    async def _give_up(self, why: str, reason: GiveUp = "resignation", detail: str = "") -> None:
        if self._given_up or self.outcome is not None:
            return
        self._given_up = True
        self._around.say(why)
        try:
            await self._around.client.request(
                lambda number: Resign(number, self.match, reason, detail[:LONGEST_DETAIL]),
                repeat=True,
            )
        except ClientError as error:
            self._note(f"could not resign: {error}")

    # Helpers

    def _note(self, text: str, ply: int | None = None) -> None:
        self._around.log.note(f"{heading(self.match, ply)}: {text}", self.match, ply)

    def _tell(self, text: str, ply: int | None = None) -> None:
        """Tell the author something that is not about the bot's play, so not in its log file."""
        self._around.say(f"{heading(self.match, ply)}: {text}")
        self._around.log.tell(text, self.match, ply)

    def _begin(self) -> Begin:
        return Begin(
            msgspec.structs.replace(self.snapshot, events=self.history.events, scene=None),
            f"{self._around.seed}/{self.snapshot.commitment or self.match}",
            self._files,
            self._file,
        )

    def _busy_with(self, ply: int) -> bool:
        """Return whether the bot is thinking about this ply, or its action is on its way."""
        return (
            self._request is not None
            and self._request.ply == ply
            and self._task is not None
            and not self._task.done()
        )

    def _drop(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self._supervisor.stop(request)
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def _end(self) -> None:
        self._drop()
        self._supervisor.end(self.match, self.outcome)

    async def _get_ready(self, nonce: str) -> None:
        await self._supervisor.settled(self.match)
        if self.outcome is None:
            self._send(lambda number: Ready(number, self.match, nonce))

    def _send(self, build: Callable[[int], Any]) -> None:
        """Make a request whose answer comes as a message, or does not matter."""

        async def run() -> None:
            try:
                await self._around.client.request(build, repeat=True)
            except ClientError as error:
                if self.outcome is None and not isinstance(error, ConnectionLost):
                    self._note(str(error))

        self._around.spawn(run())

    def _note_ledger(self, ledger: LedgerEntry) -> None:
        self._ledger = ledger
        self._charged += ledger.charged_ms

    def _compare(self, accepted: Accepted, took: int) -> None:
        """Tell the author of time that went somewhere else than into the bot."""
        ledger = accepted.ledger
        if ledger is not None and ledger.charged_ms > took + SURPRISE_MS:
            why = f"charged {ledger.charged_ms} ms, though the bot took {took} ms"
            self._tell(f"{why}: {_ledger(ledger)}", ledger.ply)

    def _explain_flag(self) -> None:
        ply, left, arrived = self._asked
        trip = self._around.client.round_trip // MS
        took = (self._around.clock.now() - arrived) // MS
        parts = [f"{self.snapshot.time_control}, round trip {trip} ms"]
        if ply == self.history.plies:
            parts.append(f"{left} ms were left when the turn came here, {took} ms ago")
        if self._ledger is not None:
            # No frame tells a seat the ledger of the ply at which its flag fell; the record does.
            parts.append(
                f"our ply before that was ply {self._ledger.ply + 1}: {_ledger(self._ledger)}"
            )
        self._tell(f"lost on time at ply {self.history.plies + 1} ({'; '.join(parts)})")


def _kept(failed: Failed) -> str:
    """Return a failure as it is stored for the author: of a long traceback, the end says most."""
    room = max(0, LONGEST_DETAIL - len(failed.error) - len(failed.position) - 10)
    traceback = failed.traceback.rstrip()
    if len(traceback) > room:
        traceback = f"...\n{traceback[-room:]}" if room else ""
    return "\n".join(part for part in (failed.error, traceback, failed.position) if part)


def _last_ply(events: Sequence[Event]) -> int | None:
    plies = [event.ply for event in events if event.seat != CHANCE_SEAT]
    return plies[-1] if plies else None


def _ledger(entry: LedgerEntry) -> str:
    return (
        f"thought {entry.thought_ms} ms, lag refunded {entry.lag_refunded_ms} ms, server stall "
        f"{entry.stall_ms} ms, charged {entry.charged_ms} ms, {entry.remaining_ms} ms left"
    )
