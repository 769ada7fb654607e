"""``double_dummy``: bridge by Standard American and sampled deals, as the program GIB plays.

Ginsberg, "GIB: imperfect information in a computationally challenging game", JAIR 14 (2001).  The
bot calls by `plyhouse.games.hidden.bridge.bidding`.  For a card it draws deals, keeps those that
fit the auction best, and takes the card with the most points on average.  With few cards left each
deal is solved with all hands open; before that, each is played out by rules of thumb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.hidden.bridge.bidding import best_call, shortfall, shown_by
from plyhouse.games.hidden.bridge.cards import (
    CALL_NAMES,
    CARD_NAMES,
    PASS,
    call_number,
    card_number,
    hand_bits,
)
from plyhouse.games.hidden.bridge.double_dummy import DoubleDummy
from plyhouse.games.hidden.bridge.rules import OneBoard
from plyhouse.games.hidden.bridge.scoring import contract_points
from plyhouse.games.hidden.bridge.state import BridgeState

__all__ = ["DoubleDummyBot"]

SAMPLES: Final = 30
DRAWN: Final = 8
"""Deals drawn for each one that is kept."""
PLAYOUTS: Final = 20
"""Playouts of each card and deal, where deals are not solved."""
SOLVED: Final = 8
"""Cards in a hand up to which deals are solved."""
MOST_NODES: Final = 10_000
"""Positions of a deal after which it is played out by rules of thumb instead."""
DRAWING: Final = 0.25
"""Part of a turn's time after which no further deal is drawn."""


class DoubleDummyBot(Bot):
    """Calls by a natural system, and plays the card that is best on average in sampled deals.

    It takes calls of the others to mean what they mean in its own system.
    """

    name = "double_dummy"
    games = ("bridge",)

    def __init__(self, samples: int = SAMPLES) -> None:
        if samples < 1:
            raise ValueError(f"samples={samples} is not positive: give the deals of a turn.")
        self.samples = samples

    def choose(self, turn: Turn) -> Any:
        """Return the call of the system, or the card that is best on average."""
        seen: Any = turn.observation
        calls = tuple([call_number(text) for text in seen.calls])
        if seen.turn is None:
            return CALL_NAMES[best_call(hand_bits(seen.cards), calls) - PASS]
        if len(seen.legal) == 1:
            return seen.legal[0]
        totals = dict.fromkeys([card_number(text) for text in seen.legal], 0.0)
        # Play the lowest of equal cards.
        order = sorted(totals, key=lambda card: (card % 13, card))
        sign = -1 if seen.to_move % 2 else 1
        best = order[0]
        turn.report(CARD_NAMES[best])
        stop = turn.stopper()
        for state in self.deals(turn, calls):
            if len(seen.cards) > SOLVED or not add_solved(state, totals, stop):
                add_playouts(state, totals, turn.rng, stop)
            best = max(order, key=lambda card: sign * totals[card])
            if stop():
                break
            turn.report(CARD_NAMES[best])
        return CARD_NAMES[best]

    def deals(self, turn: Turn, calls: tuple[int, ...]) -> list[BridgeState]:
        """Return states that fit what is seen, those first that fit the auction best."""
        seen: Any = turn.observation
        game = OneBoard(**turn.game.parameters)
        shown = shown_by(calls)
        known = {seen.seat, (seen.declarer + 2) % 4 if seen.dummy else seen.seat}
        hidden = [seat for seat in range(4) if seat not in known]

        def missed(state: BridgeState) -> int:
            return sum(
                shortfall(state.hands[seat], shown[(seat - seen.dealer) % 4]) for seat in hidden
            )

        samples = min(self.samples, turn.limit.simulations or self.samples)
        stop = turn.stopper(DRAWING)
        drawn: list[tuple[int, int, BridgeState]] = []
        for number in range(DRAWN * samples):
            state = game.sample_state(seen, turn.rng)
            drawn.append((missed(state), number, state))
            if stop():
                break
        return [state for _, _, state in sorted(drawn)[:samples]]


def points_of(state: BridgeState, tricks: int) -> int:
    """Return the points of North and South if they take ``tricks`` more tricks from a state."""
    side = state.declarer % 2
    left = 13 - len(state.plays) // 4
    more = left - tricks if side else tricks
    points = contract_points(
        state.bid, state.risk, state.is_vulnerable(state.declarer), state.tricks + more
    )
    return -points if side else points


def add_solved(state: BridgeState, totals: dict[int, float], stop: Callable[[], bool]) -> bool:
    """Add the points of each card with best play of all; return False if that takes too long."""
    held = tuple([state.held(seat) for seat in range(4)])
    solver = DoubleDummy(held, state.bid % 5, MOST_NODES, stop)
    values = solver.card_values(state.trick(), state.leader)
    if solver.stopped():
        return False
    for card, tricks in values.items():
        totals[card] += points_of(state, tricks)
    return True


def add_playouts(
    state: BridgeState, totals: dict[int, float], rng: Any, stop: Callable[[], bool]
) -> None:
    """Add the mean points of each card when all play on by rules of thumb."""
    after = {card: state.after(card) for card in totals}
    for _ in range(PLAYOUTS):
        points = {card: then.playout(rng)[0] for card, then in after.items()}
        if stop():
            return  # not all of the cards may have as many playouts
        for card, each in points.items():
            totals[card] += each / PLAYOUTS
