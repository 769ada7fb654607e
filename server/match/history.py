"""The course of a match: everything that its stored events determine.

The engine changes a `Course` by its methods while the match is played.  Each change that must
survive returns the row to store.  After a kill, `plyhouse.server.match.restore` makes the same
changes from the stored rows.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from plyhouse.games.base import CHANCE
from plyhouse.games.position import Position
from plyhouse.protocol.messages import CHANCE_SEAT, MatchStatus, Outcome
from plyhouse.server.match.chance import Chance
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.effects import Row
from plyhouse.server.match.events import end_row, event_row
from plyhouse.server.match.terms import Mark, MatchConfig, Played
from plyhouse.server.match.time_control import Ledger
from plyhouse.server.match.views import Views
from plyhouse.storage.causes import Cause
from plyhouse.storage.rows import EventRow


class Course:
    """The history and state of a match so far."""

    __slots__ = (
        "_chance",
        "_recent",
        "clock",
        "config",
        "nonces",
        "offered_at",
        "offers",
        "outcome",
        "plies",
        "position",
        "retries",
        "rows",
        "status",
        "views",
    )

    def __init__(self, config: MatchConfig) -> None:
        seats = config.game.seats
        self.config = config
        self.status: MatchStatus = "waiting"
        self.position = Position(config.game)
        self.clock = Clock(config.time_control, seats, config.lag)
        self.views = Views(config.game, seats)
        self.nonces: list[str | None] = [None] * seats
        self.plies: list[Played] = []
        """The actions of the seats."""
        self.offers: set[int] = set()
        """Seats that want the draw that is on offer."""
        self.offered_at = [-1] * seats
        """The ply in which each seat last offered a draw."""
        self.retries = 0
        """Illegal actions in the current ply."""
        self.rows = 0
        """Number of rows, and the index of the next one."""
        self.outcome: Outcome | None = None
        self._chance: Chance | None = None
        self._recent: deque[tuple[int, Any]] = deque(maxlen=2 * seats)

    def state_before(self, ply: int) -> Any | None:
        """Return the state before one of the last plies; None for an older one."""
        return next((state for number, state in self._recent if number == ply), None)

    # ---------------------------------------------------------------- what happens is noted

    def note(self, kind: str, seat: int, text: str = "") -> EventRow:
        """Return the next row."""
        row = event_row(self.config.match, self.rows, kind, self.position.ply, seat, text, None)
        self.rows += 1
        return row

    def ready(self, seat: int, nonce: str) -> EventRow:
        """Note that a seat is ready, with its nonce; the last one starts the match."""
        self.nonces[seat] = nonce
        row = self.note("ready", seat, nonce)
        if None not in self.nonces:
            self.status = "running"
        return row

    def act(self, seat: int, text: str) -> tuple[Any, Any]:
        """Play ``text`` for the seat to move; return the state before, and the action.

        Call `acted` afterwards.  Raises `GameError` for text that is no legal action; any other
        error is a fault of the game's rules.
        """
        before = self.position.state
        return before, self.position.apply(seat, text)

    def acted(
        self, before: Any, action: Any, seat: int, text: str, sent: str, ledger: Ledger
    ) -> EventRow:
        """Note the action just played.

        ``text`` is in the game's notation, ``sent`` as the seat wrote it.
        """
        ply = self.position.ply - 1
        row = event_row(self.config.match, self.rows, "action", ply, seat, text, ledger)
        self.rows += 1
        self.views.record(before, action, text, seat, ply, ledger.charged_ns)
        self.plies.append(Played(seat, text, sent, ledger))
        self._recent.append((ply, before))
        self.retries = 0
        return row

    def roll_once(self) -> EventRow:
        """Let chance act by the committed seed, where it is to move."""
        position = self.position
        before = position.state
        number = position.game.chance_number(before, position.draws)
        outcome = self.chance.draw(number, before.chance_outcomes())
        text = self.views.chance_text(before, outcome)
        position.play(outcome)
        self.views.record(before, outcome, text, CHANCE_SEAT, position.ply, None)
        return self.note("chance", CHANCE_SEAT, text)

    def roll(self, rows: list[Row]) -> None:
        """Let chance act until a seat is to move or the game is over; add the rows.

        It stops where the match has become too long: the engine then ends it.
        """
        position = self.position
        limit = position.game.info.max_plies
        while position.state.to_move == CHANCE and position.ply + position.draws < limit:
            rows.append(self.roll_once())

    def illegal(self, seat: int, text: str) -> EventRow:
        """Note text of a seat that is no legal action."""
        self.retries += 1
        return self.note("illegal", seat, text)

    def offer(self, seat: int) -> EventRow:
        """Note a seat's offer of a draw."""
        self.offers.add(seat)
        self.offered_at[seat] = self.position.ply
        return self.note("draw_offer", seat)

    def agree(self, seat: int) -> EventRow:
        """Note that a seat accepts the draw on offer."""
        self.offers.add(seat)
        return self.note("draw_accept", seat)

    def decline(self, seat: int) -> EventRow:
        """Note that the draw on offer is declined."""
        self.offers.clear()
        return self.note("draw_decline", seat)

    def lapse(self, seat: int) -> bool:
        """Withdraw the offers if ``seat`` is not among them; return whether that happened.

        The action of a seat that offered leaves its offer open for the others to answer.
        """
        if not self.offers or seat in self.offers:
            return False
        self.offers.clear()
        return True

    def end(
        self,
        outcome: Outcome,
        cause: Cause,
        ledger: Ledger | None,
        on_clock: int | None,
        detail: str,
    ) -> EventRow:
        """Note the end of the match, with the ledger of the ply under way."""
        self.outcome = outcome
        self.status = "finished"
        ply = self.position.ply
        row = end_row(self.config.match, self.rows, ply, outcome, cause, ledger, on_clock, detail)
        self.rows += 1
        return row

    # -------------------------------------------------------------------------- going back

    def mark(self) -> Mark:
        """Return a point to which `back` can return if the rules of the game fail."""
        position = self.position
        return Mark(
            position.state,
            position.ply,
            position.draws,
            self.rows,
            self.views.length,
            self.retries,
        )

    def back(self, mark: Mark) -> None:
        """Forget what was played and noted since the mark; clocks stay as they are."""
        position = self.position
        position.state, position.ply, position.draws = mark.state, mark.ply, mark.draws
        self.rows, self.retries = mark.rows, mark.retries
        self.views.rollback(mark.events)
        del self.plies[mark.ply :]
        while self._recent and self._recent[-1][0] >= mark.ply:
            self._recent.pop()

    @property
    def chance(self) -> Chance:
        """The match's rolls and deals; available when all seats have given their nonces."""
        if self._chance is None:
            nonces = [nonce or "" for nonce in self.nonces]
            self._chance = Chance(self.config.seed, self.config.chance_stream, nonces)
        return self._chance

    @chance.setter
    def chance(self, chance: Chance) -> None:
        self._chance = chance
