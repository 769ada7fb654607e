"""One match of a program: messages from the server in, messages of the program out.

Every match has a separate process.  It gets ``welcome``, ``match`` and ``turn`` as the protocol
says, as if it had its own connection.  It never notices that the real connection is shared by all
matches of the bot, or that it breaks.

From its ``act`` until its next ``turn`` the process is stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from plyhouse.bots.client.timing import MS
from plyhouse.bots.hosting.program_process import Program
from plyhouse.bots.process.ply_cost import CostOfPly, Stopwatch
from plyhouse.bots.running.history import History
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.protocol.codec import refusal
from plyhouse.protocol.messages import (
    AcceptDraw,
    Accepted,
    Act,
    Bye,
    ClientMessage,
    DeclineDraw,
    Error,
    Event,
    Finished,
    Limits,
    MatchMessage,
    MatchSnapshot,
    OfferDraw,
    Ok,
    Outcome,
    Ready,
    Resign,
    ServerMessage,
    Sync,
    Turn,
    Welcome,
)
from plyhouse.protocol.parts import LONGEST_DETAIL

__all__ = ["ALLOWED", "InMatch", "ProgramMatch", "Surroundings"]

InMatch: TypeAlias = Ready | Act | Resign | OfferDraw | AcceptDraw | DeclineDraw | Sync

ALLOWED: Final = (Ready, Act, Resign, OfferDraw, AcceptDraw, DeclineDraw, Sync)
"""Messages that a program may send about its match, beside ``hello``, ``ping``, ``pong`` and
``bye``.
"""

MOST_OPEN: Final = 64
"""Requests of a program that wait for the server: while the connection is away, they are kept."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The common environment of all matches of a run."""

    welcome: Callable[[], Welcome]
    """The server's last one."""
    ask: Callable[[ProgramMatch, InMatch], None]
    """Sends a request of the program; its answer comes to `ProgramMatch.on_answer`."""
    sync: Callable[[str], None]
    """Asks the server how a match stands; the answer comes to `ProgramMatch.on_snapshot`."""
    resign: Callable[[str, str], None]
    """Gives up a match whose program has failed, and says why."""
    restart: Callable[[Program], None]
    """Has another process take over, which is no fault of this one."""
    on_cost: Callable[[CostOfPly], None] | None


class ProgramMatch:
    """A match with, most of the time, its process."""

    def __init__(self, snapshot: MatchSnapshot, around: Surroundings) -> None:
        if snapshot.seat is None:
            raise ValueError("a spectator has no seat to play")
        self.match = snapshot.match
        self.pairing = snapshot.pairing
        self.seat: int = snapshot.seat
        self.outcome: Outcome | None = None
        self.over = asyncio.Event()
        """Set when the match is."""
        self.wanted = asyncio.Event()
        """Set unless a process would have to be stopped."""
        self.wanted.set()
        self._snapshot = snapshot
        self._history = History(self.seat, snapshot.events)
        self._around = around
        self._told = 0
        self._begun = snapshot.status != "waiting"
        self._program: Program | None = None
        self._welcomed = False
        self._open = 0
        """Its requests that the server has not answered."""
        self._is_ready = False
        """True if the server knows that this seat is set up, and may begin without another word."""
        self._owes_ready = False
        """True if the program is to set the match up, and may run for that."""
        self._owes: int | None = None
        """The ply for which the program has to act."""
        self._acting: int | None = None
        """The ply whose action is on its way."""
        self._heard: int | None = None
        """The ply of the last turn from the server."""
        self._stopwatch: Stopwatch | None = None
        self._charged = 0
        self._advice = ""

    @property
    def to_move(self) -> bool:
        """True if the program has been told that it is its turn, and has not acted."""
        return self._owes is not None

    # Its process

    def attach(self, program: Program) -> None:
        """Have a process play from here on."""
        self._program, self._welcomed = program, False
        self._owes_ready, self._owes, self._stopwatch = False, None, None
        program.on_message = self._said
        program.plays(self.match)
        if self.outcome is None and not self._begun:
            self._welcome(program, self._snapshot)
        else:
            self._around.sync(self.match)  # what we have may be old

    def detach(self) -> None:
        """The process is gone."""
        self._program = None

    def failed(self, how: str) -> None:
        """Handle the exit of the process: if it was to move, resign, as for any bot."""
        if self._owes is not None and self.outcome is None:
            self._around.resign(
                self.match, f"the program ended ({how}) when it was to move"[:LONGEST_DETAIL]
            )

    def _welcome(self, program: Program, snapshot: MatchSnapshot) -> None:
        self._welcomed = True
        self._told = len(self._history.events)
        running = snapshot.status == "running"
        to_move = running and snapshot.your_turn
        set_up = not running and not self._is_ready
        if to_move or set_up:
            program.work()
        if to_move:
            self._begin_ply(program, snapshot.ply, snapshot.deadline_ms or 0)
        program.write(
            msgspec.structs.replace(
                self._around.welcome(),
                re=program.hello.id,
                session="",  # the connection is not the program's
                limits=Limits(max_matches=1),
                matches=[snapshot] if running else [],
            )
        )
        if not running:
            # A process that replaces a ready one gets the match, but no time to set up, because the
            # opponent's clock may be running.
            self._owes_ready = set_up
            program.write(MatchMessage(snapshot))

    # Messages from the server

    def on_snapshot(self, snapshot: MatchSnapshot) -> None:
        """Handle the current position of the match, after a reconnect or on request."""
        if self.outcome is not None:
            return
        self._snapshot = snapshot
        self._begun = self._begun or snapshot.status != "waiting"
        if snapshot.outcome is not None:
            self.on_finished(Finished(self.match, snapshot.outcome))
            return
        same = self._history.is_start_of(snapshot.events)
        if same:
            self._history.extend(snapshot.events[len(self._history.events) :])
        else:
            self._history = History(self.seat, snapshot.events)
        program = self._program
        if program is None:
            if snapshot.your_turn:
                self.wanted.set()
            return
        if not self._welcomed:
            self._welcome(program, snapshot)
        elif not same:
            self._around.restart(program)  # its view of the match is outdated
        elif snapshot.status == "waiting":
            pass  # it knows the match since its start, and its answer is on its way
        elif snapshot.your_turn and not self._busy_with(snapshot.ply):
            self._turn(
                Turn(
                    self.match,
                    snapshot.ply,
                    observation=snapshot.observation,
                    clocks=snapshot.clocks,
                    deadline_ms=snapshot.deadline_ms or 0,
                )
            )

    def on_turn(self, turn: Turn) -> None:
        """It is our turn."""
        if self.outcome is not None or turn.ply < self._history.plies:
            return
        if turn.ply == self._heard and not turn.retry:
            return  # said before
        self._begun, self._heard = True, turn.ply
        self._history.extend(turn.events)
        if self._history.plies != turn.ply:
            self._around.sync(self.match)  # something was lost on the way
        elif turn.retry or not self._busy_with(turn.ply):
            self._acting = None
            self._turn(turn)

    def on_answer(self, request: InMatch, answer: ServerMessage) -> None:
        """The server has answered what the program asked."""
        number = request.id
        self._open -= 1
        match answer:
            case Accepted():
                self._acting = None
                if not answer.duplicate and answer.ply >= self._history.plies:
                    self._history.extend(answer.events)
                if answer.ledger is not None:
                    self._charged += answer.ledger.charged_ms
                answer = msgspec.structs.replace(answer, re=number, events=self._untold())
            case MatchMessage():
                self.on_snapshot(answer.snapshot)
                self._told = len(self._history.events)
                answer = msgspec.structs.replace(answer, re=number)
            case Error() | Ok():
                if isinstance(answer, Error) and self._program is not None:
                    self._program.refused()
                if isinstance(answer, Error) and isinstance(request, Act):
                    self._refused(request.ply)
                elif isinstance(request, Ready):
                    self._set_up(isinstance(answer, Ok))
                answer = msgspec.structs.replace(answer, re=number)
        self.tell(answer)

    def on_finished(self, finished: Finished) -> None:
        """The match is over."""
        self._history.extend(finished.events)
        self.outcome = finished.outcome
        if finished.outcome.seat == self.seat:
            self._explain(finished.outcome)
        self._end_ply(answered=False)
        if self._program is not None:
            self._program.voice.ply = None  # what it prints now are its last words
        self.tell(msgspec.structs.replace(finished, events=self._untold()))
        self.over.set()
        self.wanted.set()

    def _explain(self, outcome: Outcome) -> None:
        """Find out whether the server never got what the program has said."""
        if outcome.termination == "flag_fall":
            self._advice = "keep to the deadline_ms of the turn, and flush the output"
        if self._program is not None and (unfinished := self._program.unfinished):
            self._advice = unfinished
            self._program.note(unfinished)

    def tell(self, message: ServerMessage) -> None:
        """Pass on a message that needs no answer; a stopped process reads it later."""
        if self._program is not None and self._welcomed:
            self._program.write(message)

    def result(self, outcome: Outcome) -> SeatResult:
        """Return the result of the match for this seat."""
        opponents = [
            f"{info.player}/{info.bot}" if info.bot else info.player
            for seat, info in enumerate(self._snapshot.players)
            if seat != self.seat
        ]
        return SeatResult(
            match=self.match,
            game=self._snapshot.game,
            seat=self.seat,
            opponents=tuple(opponents),
            outcome=outcome,
            plies=self._history.plies,
            charged_ms=self._charged,
            advice=self._advice,
        )

    def _turn(self, turn: Turn) -> None:
        self.wanted.set()
        if self._program is None or not self._welcomed:
            return  # the new process asks for the position of the match
        self._owes_ready = False  # it has begun: from now on it runs for its plies only
        self._program.work()
        self._begin_ply(self._program, turn.ply, turn.deadline_ms)
        self._program.write(msgspec.structs.replace(turn, events=self._untold()))

    def _set_up(self, done: bool) -> None:
        """The server has heard that it is ready, or wants to hear it in other words."""
        self._is_ready = self._is_ready or done
        if not self._is_ready:
            self.wanted.set()
        elif self._owes is None:
            self.wanted.clear()
        if done and self._owes_ready:  # another process had said it before this one took over
            self._owes_ready = False
            if self._owes is None and self._program is not None:
                self._program.rest()
        if not self._is_ready and not self._begun and self._program is not None:
            self._owes_ready = True
            self._program.work()

    def _refused(self, ply: int) -> None:
        """An action was refused: until the server says more, the program may try another one."""
        if self._acting != ply:
            return
        self._acting = None
        self.wanted.set()
        if self.outcome is None and self._history.plies == ply and self._program is not None:
            self._program.work()
            self._begin_ply(self._program, ply)

    def _untold(self) -> list[Event]:
        """Return the events since the last message to the program."""
        events = self._history.events[self._told :]
        self._told = len(self._history.events)
        return events

    def _busy_with(self, ply: int) -> bool:
        return ply in (self._owes, self._acting)

    # Messages from the program

    def _said(self, message: ClientMessage) -> None:
        program = self._program
        if program is None:
            return
        if isinstance(message, Bye):
            program.write(Ok(message.id))
        elif not isinstance(message, ALLOWED):
            what = type(message).__struct_config__.tag
            program.note(f"a hosted program does not say {what}")
            program.write(
                refusal(
                    message,
                    "auth/scope",
                    "a hosted program plays the match that it is given: it says hello, ready, act, "
                    "resign, draws, sync and bye",
                )
            )
        elif message.match != self.match:
            program.write(
                refusal(message, "match/unknown", f"this process plays the match {self.match}")
            )
        elif not self._welcomed:
            program.write(refusal(message, "auth/required", "wait for welcome"))
        else:
            self._pass_on(program, message)

    def _pass_on(self, program: Program, message: InMatch) -> None:
        if self._open >= MOST_OPEN:
            text = f"{MOST_OPEN} requests wait for their answers: this one is not sent"
            program.write(refusal(message, "protocol/rate", text))
            return
        if isinstance(message, Act) and message.ply == self._owes:
            self._end_ply()
            self._acting = message.ply
            self.wanted.clear()
        elif isinstance(message, Ready):
            self._owes_ready = False
        if self._owes is None and not self._owes_ready:
            program.rest()
        if isinstance(message, Ready) and self._is_ready:
            program.write(Ok(message.id))  # by the word of another process, or said twice
            return
        self._open += 1
        self._around.ask(self, message)

    # Cost of a ply

    def _begin_ply(self, program: Program, ply: int, allowed_ms: int = 0) -> None:
        self._owes = program.voice.ply = ply
        if self._around.on_cost is not None:
            self._stopwatch = Stopwatch(program.pid, allowed_ms * MS)

    def _end_ply(self, *, answered: bool = True) -> None:
        """Note what the ply has cost, also if no action came of it."""
        ply, self._owes = self._owes, None
        stopwatch, self._stopwatch = self._stopwatch, None
        if ply is not None and stopwatch is not None and self._around.on_cost is not None:
            cost = stopwatch.cost(self.match, ply, answered=answered)
            if cost is not None:
                self._around.on_cost(cost)
