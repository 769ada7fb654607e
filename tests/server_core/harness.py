"""A table at which tests play matches with time in their own hands, and games made for it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, ClassVar

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.scene import Scene
from plyhouse.protocol.messages import SeatInfo
from plyhouse.server.match.effects import Effects, Finish, Send, Started
from plyhouse.server.match.engine import Match, MatchConfig
from plyhouse.server.match.restore import restore
from plyhouse.server.match.time_control import SECOND, LagPolicy, TimeControl
from plyhouse.storage.rows import EventRow

SEED = bytes(range(32))


class HeapState:
    """How many coins are left, and whose turn it is."""

    __slots__ = ("left", "seats", "to_move")

    def __init__(self, left: int, seats: int, mover: int) -> None:
        self.left = left
        self.seats = seats
        self.to_move = mover if left else TERMINAL

    def actions(self) -> tuple[int, ...]:
        return tuple(range(1, min(2, self.left) + 1))

    def after(self, action: int) -> HeapState:
        mover = (self.to_move + 1) % self.seats
        return HeapState(self.left - action, self.seats, mover)

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * self.seats


@dataclass(frozen=True)
class HeapObservation(Observation):
    left: int


class Heap(Game):
    """Take one coin or two; nobody wins.  The game for tests of everything but rules."""

    info: ClassVar[GameInfo] = GameInfo(
        name="heap",
        title="Heap",
        summary="Take coins.",
        min_seats=2,
        max_seats=4,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-3.0,
        max_return=3.0,
        max_plies=200,
        parameters=(
            Parameter("seats", 2, "seats", 2, 4),
            Parameter("coins", 12, "coins", 1, 500),
        ),
        draw_offers=True,
    )
    observation_type = HeapObservation
    action_pattern = r"\d+"

    def initial_state(self) -> Any:
        return HeapState(self.int_parameter("coins"), self.seats, 0)

    def observe(self, state: Any, seat: int | None) -> HeapObservation:
        legal = tuple(str(action) for action in state.actions()) if state.to_move == seat else ()
        return HeapObservation(seat, state.to_move, legal, state.left)

    def sample_state(self, observation: Any, rng: random.Random) -> Any:
        return HeapState(observation.left, self.seats, observation.to_move)

    def scene(self, observation: Any) -> Scene:
        return Scene((), f"{observation.left} left", observation.to_move)

    def describe(self, state: Any) -> str:
        return f"{state.left} left"

    def information_state(self, state: Any, seat: int) -> Any:
        return state.left


class BrokenState(HeapState):
    """Fails when the third coin is taken."""

    __slots__ = ()

    def after(self, action: int) -> BrokenState:
        if self.left - action < 10:
            raise ZeroDivisionError("the secret of the rules")
        return BrokenState(self.left - action, self.seats, (self.to_move + 1) % self.seats)


class Broken(Heap):
    """A game whose rules have a fault."""

    def initial_state(self) -> Any:
        return BrokenState(12, self.seats, 0)


class Table:
    """Drives a match as the shell would: keeps rows, delivers messages, starts clocks."""

    def __init__(
        self,
        game: Game,
        control: str = "total:60+0",
        *,
        ready: bool = True,
        write_turns: bool = True,
        now: int = 0,
        **settings: Any,
    ) -> None:
        players = tuple(SeatInfo(f"player{seat}", "bot") for seat in range(game.seats))
        waits = {"ready_timeout_ns": 10 * SECOND, "disconnect_grace_ns": 30 * SECOND}
        settings = {"seed": SEED, **waits, **settings}
        self.config = MatchConfig(
            match="m1",
            pairing="p1",
            game=game,
            time_control=TimeControl.parse(control),
            players=players,
            **settings,
        )
        self.now = now
        self.write_turns = write_turns
        self.rows: list[EventRow] = []
        self.inbox: list[list[Any]] = [[] for _ in range(game.seats)]
        self.broadcasts: list[Any] = []
        self.finish: Finish | None = None
        self.requests = 100
        self.match = Match(self.config, now)
        self.do(self.match.announce(now))
        if ready:
            for seat in range(game.seats):
                self.do(self.match.ready(seat, f"{seat:02x}", now, re=1))

    def do(self, effects: Effects) -> Effects:
        milestones = False
        for row in effects.rows:
            if isinstance(row, Finish):
                assert self.finish is None, "a match ends once"
                self.finish = row
            elif not isinstance(row, Started):
                assert row.index == len(self.rows)
                self.rows.append(row)
                continue
            milestones = True
        assert effects.milestone is milestones
        for outgoing in effects.messages:
            if isinstance(outgoing, Send):
                self.inbox[outgoing.seat].append(outgoing.message)
                if outgoing.turn_ply >= 0 and self.write_turns:
                    self.match.turn_written(outgoing.seat, outgoing.turn_ply, self.now)
            else:
                self.broadcasts.append(outgoing.message)
        return effects

    def act(
        self,
        text: str,
        *,
        seat: int | None = None,
        think: int = SECOND,
        stall_ns: int = 0,
        **more: Any,
    ) -> Any:
        """Play for the seat to move after thinking; returns the last answer to that seat.

        ``stall_ns`` of the thinking, at its end, are a stall of the server.
        """
        self.now += think
        if stall_ns:
            self.match.server_stalled(self.now - stall_ns, self.now)
        mover = self.match.seat_to_move if seat is None else seat
        assert mover is not None
        self.requests += 1
        ply = more.pop("ply", self.match.ply)
        self.do(self.match.act(mover, ply, text, self.now, re=self.requests, **more))
        return self.answer(mover, self.requests)

    def answer(self, seat: int, re: int) -> Any:
        found = [each for each in self.inbox[seat] if getattr(each, "re", None) == re]
        assert len(found) == 1, f"one answer to request {re}, not {found}"
        return found[0]

    def ask(self, name: str, seat: int, *rest: Any) -> Any:
        """Send any other request of a seat; returns the answer."""
        self.requests += 1
        self.do(getattr(self.match, name)(seat, *rest, self.now, re=self.requests))
        return self.answer(seat, self.requests)

    def play_randomly(self, rng: random.Random, plies: int = 1000) -> None:
        match = self.match
        while match.status == "running" and plies:
            plies -= 1
            action = rng.choice(match.state.actions())
            self.act(match.game.format(match.state, action), think=rng.randrange(SECOND // 10))

    @property
    def outcome(self) -> Any:
        assert self.match.outcome is not None, "the match is not over"
        return self.match.outcome

    def restored(self, rows: list[EventRow] | None = None, now: int = 0) -> Match:
        return restore(self.config, self.rows if rows is None else rows, now)


NO_LAG = LagPolicy(0, 0)
