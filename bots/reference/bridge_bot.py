"""``double_dummy``: bridge by a natural system and sampled deals, as the program GIB plays.

Ginsberg, "GIB: imperfect information in a computationally challenging game", JAIR 14 (2001).  The
bot calls by `plyhouse.games.hidden.bridge.bidding`.  For a card it draws deals, keeps those that
fit the auction best, and takes the card with the most points on average.  With few cards left each
deal is solved with all hands open; before that, each is played out by rules of thumb.
"""

from __future__ import annotations

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
from plyhouse.search.poll import Poll

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
SHARE: Final = 0.5
"""Part of a turn's time after which no further deal is begun."""


class DoubleDummyBot(Bot):
    """Calls by rules of thumb, and plays the card that is best on average in sampled deals.

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
        limit = turn.limit
        poll = Poll(limit)
        for state in self.deals(turn, calls):
            solved = False
            if len(seen.cards) <= SOLVED:
                solved = add_solved(state, totals)
            if not solved:
                add_playouts(state, totals, turn.rng)
            if limit.time is not None and poll.seconds() > SHARE * limit.time:
                break
        sign = -1 if seen.to_move % 2 else 1
        best = max(order, key=lambda card: sign * totals[card])
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

        drawn = [game.sample_state(seen, turn.rng) for _ in range(DRAWN * self.samples)]
        return sorted(drawn, key=missed)[: self.samples]


def points_of(state: BridgeState, tricks: int) -> int:
    """Return the points of North and South if they take ``tricks`` more tricks from a state."""
    side = state.declarer % 2
    left = 13 - len(state.plays) // 4
    more = left - tricks if side else tricks
    points = contract_points(
        state.bid, state.risk, state.is_vulnerable(state.declarer), state.tricks + more
    )
    return -points if side else points


def add_solved(state: BridgeState, totals: dict[int, float]) -> bool:
    """Add the points of each card with best play of all; return False if that takes too long."""
    held = tuple([state.held(seat) for seat in range(4)])
    solver = DoubleDummy(held, state.bid % 5, MOST_NODES)
    values = solver.card_values(state.trick(), state.leader)
    if solver.stopped():
        return False
    for card, tricks in values.items():
        totals[card] += points_of(state, tricks)
    return True


def add_playouts(state: BridgeState, totals: dict[int, float], rng: Any) -> None:
    """Add the mean points of each card when all play on by rules of thumb."""
    for card in totals:
        after = state.after(card)
        totals[card] += sum([after.playout(rng)[0] for _ in range(PLAYOUTS)]) / PLAYOUTS
