"""``double_dummy`` calls by its system and plays what is best in deals that fit the auction."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.bots.reference import bridge_bot
from plyhouse.bots.reference.bridge_bot import DoubleDummyBot, add_solved, points_of
from plyhouse.games.base import CHANCE
from plyhouse.games.hidden.bridge.bidding import shortfall, shown_by
from plyhouse.games.hidden.bridge.cards import call_number, card_number, hand_bits
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.bridge.state import BridgeState

GAME = Bridge(boards=1)


def dealt(rng: random.Random) -> BridgeState:
    state = GAME.initial_state()
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    return state


def ending(strain: str) -> BridgeState:
    """Two tricks before the end, South leads as declarer: DK is high, and HA takes what it can."""
    left = [hand_bits(tuple(text.split())) for text in ("C2 C3", "C4 C5", "DK S3", "SA HA")]
    every = (1 << 52) - 1
    gone = tuple([card for card in range(52) if (every ^ sum(left)) >> card & 1])
    played = every ^ sum(left)
    calls = tuple([call_number(text) for text in (strain, "Pass", "Pass", "Pass")])
    bid = call_number(strain) - call_number("1C")
    return BridgeState(
        2, 1, 1, 0, 0, (), 52, tuple(left), calls, bid, 1, 2, 2, 2, 6, played, gone
    )  # fmt: skip


def test_high_card_is_cashed_before_the_lead_is_lost() -> None:
    state = ending("1NT")
    totals = {card_number("DK"): 0.0, card_number("S3"): 0.0}
    assert add_solved(state, totals, lambda: False)
    assert totals == {card_number("DK"): 90.0, card_number("S3"): -50.0}


def test_points_count_tricks_of_the_side_that_declares() -> None:
    state = ending("1NT")
    assert [points_of(state, tricks) for tricks in (0, 1, 2)] == [-50, 90, 120]
    state.declarer = 1
    assert [points_of(state, tricks) for tricks in (0, 1, 2)] == [-120, -90, 50]


def test_deals_that_fit_the_auction_come_first() -> None:
    rng = random.Random(3)
    bot = DoubleDummyBot(samples=20)
    state = dealt(rng)
    for text in ("1S", "Pass", "4S", "Pass", "Pass", "Pass"):
        state = state.after(GAME.parse(state, text))
    turn = turn_at(GAME, state, rng=rng)
    seen: Any = turn.observation
    calls = state.calls
    shown = shown_by(calls)
    chosen = bot.deals(turn, calls)
    assert len(chosen) == 20
    plain = [GAME.sample_state(seen, rng) for _ in range(20)]
    fits = [
        sum(shortfall(each.hands[seat], shown[seat]) for each in deals for seat in (0, 2))
        for deals in (chosen, plain)
    ]
    assert fits[0] < 0.8 * fits[1]
    assert all(each.hands[1] == state.hands[1] for each in chosen)


def test_it_makes_points_against_random_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    # A few playouts and small endings suffice against chance.
    monkeypatch.setattr(bridge_bot, "PLAYOUTS", 2)
    monkeypatch.setattr(bridge_bot, "MOST_NODES", 300)
    rng = random.Random(5)
    bot = load_bot("double_dummy(samples=1)")()
    state = dealt(rng)
    while state.to_move >= 0:
        choice: Any = rng.choice(state.actions())
        if state.to_move % 2 == 0:
            text: Any = bot.choose(turn_at(GAME, state, rng=rng))
            choice = GAME.parse(state, text)
        elif state.declarer < 0:
            choice = call_number("Pass")
        state = state.after(choice)
    assert state.returns()[0] > 0


def test_number_of_samples_must_be_positive() -> None:
    with pytest.raises(ValueError, match="samples=0 is not positive"):
        DoubleDummyBot(samples=0)
