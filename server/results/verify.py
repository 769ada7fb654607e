"""Verification of a record without trust in the server that made it.

`verify` replays the match and recomputes everything that the record claims.  It lists each check
with its result.  Differences name the ply at which they were found; the first of them is
`VerifyReport.first_ply`.  The checks:

==============  ======================================================================
``game``        the game is known and has as many seats as the record
``commitment``  the SHA-256 of the seed is what was told before the match
``start``       every seat was ready, with the nonce that the record lists
``order``       plies count up, and every action is of the seat to move
``chance``      every roll and deal is what seed, stream, nonces and counter give; none is left out
``actions``     every action is legal and written in the game's notation
``refusals``    every action that was refused as illegal really was
``clocks``      every ledger adds up, within the caps, the time control and its flag
``outcome``     the termination fits the events, and the returns follow from it
==============  ======================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, Game, Utility
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.match import terminations
from plyhouse.server.match.chance import CHANCE_VERSION, SEED_BYTES, Chance, commitment
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.events import MAX_TRIED
from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl
from plyhouse.server.results.record import Record, RecordEvent

CHECKS = (
    "game",
    "commitment",
    "start",
    "order",
    "chance",
    "actions",
    "refusals",
    "clocks",
    "outcome",
)
"""The names of the checks, in order."""

_NAMED_GAME = re.compile(r"(openspiel:)?[A-Za-z0-9_-]+(\(.*\))?", re.DOTALL)


@dataclass(slots=True)
class Check:
    """One line of a report."""

    name: str
    count: int = 0
    """The number of items checked."""
    problems: list[str] = field(default_factory=list)
    """The differences, in order."""
    skipped: str = ""
    """The reason why nothing could be checked; empty if it could."""

    @property
    def ok(self) -> bool:
        """True if nothing differs; a skipped check found nothing."""
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            return f"FAILED   {self.name}: {self.problems[0]}{more}"
        if self.skipped:
            return f"skipped  {self.name}: {self.skipped}"
        return f"ok       {self.name}: {self.count} checked"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of `verify`."""

    match: str
    checks: tuple[Check, ...]
    first_ply: int | None
    """The first ply with a difference; None if there is none, or not at a ply."""

    @property
    def ok(self) -> bool:
        """True if every check passed or was skipped."""
        return all(check.ok for check in self.checks)

    def check(self, name: str) -> Check:
        """Return the line of a check by its name."""
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        where = "" if self.first_ply is None else f" at ply {self.first_ply}"
        end = "The record is sound." if self.ok else f"The record does not hold{where}."
        return "\n".join([*map(str, self.checks), end])


def verify(record: Record, game: Game | None = None) -> VerifyReport:
    """Recompute a record; its contents never make this raise.

    Give ``game`` if the record's game was loaded from a file: a record must not name a file to run.
    """
    return _Verifier(record, game).run()


class _Verifier:
    """One replay of a record."""

    def __init__(self, record: Record, game: Game | None) -> None:
        self.record = record
        self.given = game
        self.checks = {name: Check(name) for name in CHECKS}
        self.first: int | None = None
        self.chance: Chance | None = None
        self.state: Any = None
        self.ply = 0
        self.draws = 0
        self.lost = False
        """True if the position is unknown, because an event could not be replayed."""
        self.agreed: set[int] = set()
        self.refused: dict[int, int] = {}
        """Refused actions in the current ply, by seat."""
        self.ended: RecordEvent | None = None

    def fail(self, name: str, problem: str, ply: int | None = None) -> None:
        where = "" if ply is None else f"ply {ply}: "
        self.checks[name].problems.append(where + problem)
        if ply is not None and (self.first is None or ply < self.first):
            self.first = ply

    def run(self) -> VerifyReport:
        game = self._game()
        if game is not None:
            self._seed()
            self._start()
            self._replay(game)
            if not self.lost or self.ended is not None:
                self._outcome(game)
        else:
            for name in CHECKS[1:]:
                self.checks[name].skipped = "the game is not known here"
        return VerifyReport(self.record.match, tuple(self.checks.values()), self.first)

    def _game(self) -> Game | None:
        """Return the record's game if it is available and fits."""
        record = self.record
        game = self.given
        if game is None and not _NAMED_GAME.fullmatch(record.game):
            self.fail("game", f"{record.game!r} was loaded from a file: name the file to trust")
            return None
        try:
            if game is None:
                game = get_game(record.game)
            self.clock = Clock(TimeControl.parse(record.time_control), game.seats, record.lag)
        except (GameError, InvalidTimeControl) as error:
            self.fail("game", str(error).rstrip("."))
            return None
        if dict(game.parameters) != record.parameters:
            self.fail("game", f"{game.spec} has other parameters than the record")
        if game.seats != len(record.seats):
            self.fail("game", f"{game.spec} has {game.seats} seats, not {len(record.seats)}")
            return None
        self.checks["game"].count = 1
        return game

    def _seed(self) -> None:
        check, chance = self.checks["commitment"], self.record.chance
        if chance.version != CHANCE_VERSION:
            check.skipped = self.checks["chance"].skipped = (
                f"version {chance.version} of the chance scheme is not known here"
            )
        elif chance.seed is None:
            check.skipped = self.checks["chance"].skipped = "the seed is not revealed yet"
        else:
            check.count = 1
            try:
                seed = bytes.fromhex(chance.seed)
                self.chance = Chance(seed, chance.stream, chance.nonces)
            except ValueError as error:
                self.fail("commitment", f"seed or stream cannot be read: {error}")
                return
            if commitment(seed) != chance.commitment:
                self.fail("commitment", "the seed's SHA-256 is not the commitment")
            if len(seed) < SEED_BYTES:
                self.fail("commitment", f"the seed has {len(seed)} bytes, not {SEED_BYTES}")

    def _start(self) -> None:
        """Compare the nonces listed with those of the ready events."""
        seats = len(self.record.seats)
        said: dict[int, str] = {}
        for event in self.record.events:
            if event.kind == "ready":
                said[event.seat] = event.text
        self.checks["start"].count = seats
        started = any(event.kind in ("chance", "action") for event in self.record.events)
        missing = sorted(set(range(seats)) - set(said))
        if started and missing:
            self.fail("start", f"seat {missing[0]} was never ready")
        if [said.get(seat, "") for seat in range(seats)] != self.record.chance.nonces:
            self.fail("start", "the nonces are not those of the ready events")

    def _replay(self, game: Game) -> None:
        try:
            self.state = game.initial_state()
            for event in self.record.events:
                self._event(game, event)
        except Exception as error:  # Rules that fail on a damaged record must not fail the report.
            self.lost = True
            self.fail("actions", f"the rules failed: {type(error).__name__}: {error}", self.ply)

    def _event(self, game: Game, event: RecordEvent) -> None:
        if self.ended is not None:
            self.fail("order", f"{event.kind} after the end", event.ply)
            return
        if event.kind == "ready":
            return
        if event.ply != self.ply:
            self.fail("order", f"{event.kind} is numbered {event.ply}", self.ply)
        if event.kind == "end":
            self.ended = event
            if event.on_clock >= 0:
                self._ledger(event, event.on_clock, flagged=event.text == "flag_fall")
        elif event.kind == "chance":
            self._chance(game, event)
        elif event.kind == "action":
            self._action(game, event)
        elif event.kind == "illegal":
            self._illegal(game, event)
        elif event.kind in ("draw_offer", "draw_accept"):
            self.agreed.add(event.seat)
        elif event.kind == "draw_decline":
            self.agreed.clear()
        else:
            self.fail("order", f"unknown kind of event {event.kind!r}", self.ply)

    def _chance(self, game: Game, event: RecordEvent) -> None:
        check = self.checks["chance"]
        if self.lost:
            return
        if self.state.to_move != CHANCE:
            self.fail("order", "chance acts where it has nothing to do", self.ply)
            self.lost = True
            return
        check.count += 1
        if self.chance is not None:
            number = game.chance_number(self.state, self.draws)
            drawn = self.chance.draw(number, self.state.chance_outcomes())
            text = game.format_chance(self.state, drawn)
            if text != event.text:
                self.fail(
                    "chance",
                    f"roll {self.draws} is {event.text!r}, the seed gives {text!r}",
                    self.ply,
                )
        self.draws += 1
        try:
            self.state = self.state.after(game.parse_chance(self.state, event.text))
        except GameError:
            self.fail("chance", f"{event.text!r} is not a possible outcome", self.ply)
            self.lost = True

    def _action(self, game: Game, event: RecordEvent) -> None:
        self.checks["actions"].count += 1
        self.checks["order"].count += 1
        if not self.lost:
            mover = self.state.to_move
            if mover != event.seat:
                turn = f"seat {mover} is" if mover >= 0 else "no seat is"
                self.fail("order", f"seat {event.seat} acts where {turn} to move", self.ply)
                self.lost = True
        if not self.lost:
            try:
                action = game.parse(self.state, event.text)
                written = game.format(self.state, action)
                if written != event.text:
                    self.fail("actions", f"{event.text!r} should be {written!r}", self.ply)
                self.state = self.state.after(action)
            except GameError as error:
                self.fail("actions", str(error).rstrip("."), self.ply)
                self.lost = True
        if 0 <= event.seat < self.clock.seats:
            self._ledger(event, event.seat)
        if event.seat not in self.agreed:
            self.agreed.clear()
        self.refused.clear()
        self.ply += 1

    def _illegal(self, game: Game, event: RecordEvent) -> None:
        self.checks["refusals"].count += 1
        self.refused[event.seat] = self.refused.get(event.seat, 0) + 1
        if self.lost or len(event.text) >= MAX_TRIED:
            return  # Only the beginning of a longer text is known.
        if self.state.to_move != event.seat:
            self.fail("order", f"seat {event.seat} is not to move", self.ply)
        try:
            game.parse(self.state, event.text)
        except GameError:
            return
        self.fail("refusals", f"{event.text!r} is legal, yet it was refused", self.ply)

    def _ledger(self, event: RecordEvent, seat: int, *, flagged: bool = False) -> None:
        self.checks["clocks"].count += 1
        parts = (event.thought_ns, event.lag_ns, event.stall_ns, event.charged_ns)
        if min(parts) < 0:
            self.fail("clocks", "a time is negative", self.ply)
        if event.charged_ns != event.thought_ns - event.lag_ns - event.stall_ns:
            self.fail(
                "clocks",
                f"charged {event.charged_ns} ns, but thought {event.thought_ns} - lag "
                f"{event.lag_ns} - stall {event.stall_ns} is "
                f"{event.thought_ns - event.lag_ns - event.stall_ns} ns",
                self.ply,
            )
        had = self.clock.available(seat)
        if flagged and event.charged_ns <= had:
            self.fail("clocks", f"the flag fell at {event.charged_ns} ns of {had} ns", self.ply)
        try:
            left = self.clock.replay(seat, event.charged_ns, event.lag_ns, flagged=flagged)
        except ValueError as error:
            self.fail("clocks", str(error), self.ply)
            return
        if left != event.remaining_ns:
            problem = f"seat {seat} has {left} ns left, not {event.remaining_ns} ns"
            self.fail("clocks", problem, self.ply)

    def _outcome(self, game: Game) -> None:
        outcome, end = self.record.outcome, self.ended
        check = self.checks["outcome"]
        if outcome is None or end is None:
            if outcome is not None or end is not None:
                self.fail("outcome", "only one of the outcome and the end event is there", self.ply)
            else:
                check.skipped = "the match was not finished"
            return
        check.count = 1
        self._rolled_out(outcome.termination)
        why = outcome.termination
        guilty = -1 if outcome.seat is None else outcome.seat
        if end.text != why or end.seat != guilty:
            self.fail("outcome", "the end event says otherwise", self.ply)
        seats = game.seats
        expected: tuple[float, ...]
        if why == "normal":
            if self.lost:
                return
            if self.state.to_move != TERMINAL:
                self.fail("outcome", "the game is not over in the last position", self.ply)
                return
            expected = tuple(float(value) for value in self.state.returns())
        elif why == "draw_agreed":
            if self.agreed != set(range(seats)) or not game.info.draw_offers:
                self.fail("outcome", "not every seat agreed on a draw", self.ply)
            expected = terminations.draw_returns(game)
        elif why in terminations.VOID:
            expected = terminations.void_returns(seats)
        elif 0 <= guilty < seats:
            self._forfeit(why, guilty)
            expected = terminations.forfeit_returns(game, guilty)
            former = former_team_returns(game, guilty)
            if why == "flag_fall" and not self.lost:
                former = former or expected  # up to version 0.2.0, every flag fall was a loss
                expected = terminations.flag_returns(game, self.state, guilty)
            if former and outcome.returns == list(former):
                return
        else:
            self.fail("outcome", f"{why} without a seat that caused it", self.ply)
            return
        if list(expected) != outcome.returns:
            self.fail("outcome", f"returns {outcome.returns} should be {list(expected)}", self.ply)

    def _rolled_out(self, why: str) -> None:
        """Check that chance did everything required before the end.

        Chance acts at once, before any seat can resign or lose on time.  Only a match that never
        began, or that the server itself ended, can end with a roll still to come.
        """
        ready = {event.seat for event in self.record.events if event.kind == "ready"}
        begun = len(ready) >= len(self.record.seats)
        if self.lost or not begun or why in terminations.VOID:
            return
        if self.state.to_move == CHANCE:
            self.fail("chance", f"roll {self.draws} is missing: the match ended after it", self.ply)

    def _forfeit(self, why: str, guilty: int) -> None:
        """Check that the events support the stated forfeit."""
        end = self.ended
        if why == "flag_fall" and (end is None or end.on_clock != guilty):
            self.fail("outcome", f"the clock of seat {guilty} did not run", self.ply)
        if why == "illegal_action":
            retries = self.record.max_retries if self.record.illegal_rule == "retry" else 0
            if self.refused.get(guilty, 0) != retries + 1:
                tries = self.refused.get(guilty, 0)
                problem = f"seat {guilty} tried {tries} illegal actions, {retries + 1} forfeit"
                self.fail("outcome", problem, self.ply)
        if why in ("resignation", "disconnect", "no_show", "bot_crash", "no_answer"):
            self.checks["outcome"].count += 1


def former_team_returns(game: Game, guilty: int) -> tuple[float, ...]:
    """Return the returns of a forfeit up to version 0.2.0, where partners did not lose with it.

    Empty for games without teams.

    >>> from plyhouse.games.registry import get_game
    >>> former_team_returns(get_game("pacman"), 1)
    (8500.0, -8500.0, 8500.0)
    """
    if game.info.utility is not Utility.TEAM:
        return ()
    least, most = game.return_bounds
    return tuple(least if seat == guilty else most for seat in range(game.seats))
