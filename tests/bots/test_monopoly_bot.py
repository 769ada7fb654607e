"""``monopoly`` plays by rules and by simulation, and makes offers step by step."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.bots.reference.monopoly_bot import MonopolyBot, candidates
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.registry import get_game
from plyhouse.games.stochastic.monopoly.board import CODES
from plyhouse.games.stochastic.monopoly.legal import BUILD, BUY, ROLL
from plyhouse.games.stochastic.monopoly.position import BUYING
from plyhouse.games.stochastic.monopoly.state import MonopolyState

GAME: Any = get_game("monopoly")
THREE: Any = get_game("monopoly(seats=3)")


def owned(game: Any, **owners: int) -> MonopolyState:
    """The first position, with owners by name."""
    start = game.initial_state()
    return MonopolyState(
        rules=start.rules,
        cash=start.cash,
        places=start.places,
        jailed=start.jailed,
        fallen=start.fallen,
        owners=tuple([owners.get(code, -1) for code in CODES]),
    )


def test_bot_is_loaded_by_name_and_refuses_unknown_methods() -> None:
    assert load_bot("monopoly") is MonopolyBot
    with pytest.raises(ValueError, match="method=luck is unknown"):
        MonopolyBot("luck")
    with pytest.raises(ValueError, match="simulations=0 is not positive"):
        MonopolyBot(simulations=0)


def test_candidates_before_a_roll_leave_out_sales_mortgages_and_offers() -> None:
    state = owned(GAME, boardwalk=0, park_place=0, baltic=1)
    tried = [GAME.format(state, action) for action in candidates(state, ROLL)]
    assert tried == ["roll", "build park_place", "build boardwalk"]


def test_simulation_builds_on_a_group_and_buys_what_completes_one() -> None:
    bot = MonopolyBot(simulations=64)
    state = owned(GAME, tennessee=0, st_james=0, new_york=0)
    state.places = (0, 10)  # the next roll of the other seat is likely to end there
    action = bot.choose(turn_at(GAME, state, rng=random.Random(1)))
    assert BUILD <= action < BUILD + len(CODES)
    state = owned(GAME, park_place=0)
    state.places = (39, 0)
    state.phase = BUYING
    assert bot.choose(turn_at(GAME, state, rng=random.Random(1))) == BUY


def test_offer_is_made_step_by_step() -> None:
    bot = MonopolyBot("rules")
    state: Any = owned(THREE, park_place=0, boardwalk=1, mediterranean=1, baltic=0, reading=2)
    texts: list[str] = []
    while state.to_move != CHANCE:
        action = bot.choose(turn_at(THREE, state, rng=random.Random(1)))
        assert action in state.actions()
        texts.append(THREE.format(state, action))
        state = state.after(action)
    assert [text.partition(" ")[0] for text in texts[:3]] == ["trade", "ask", "give"]
    assert texts[4] == "accept"
    assert texts[-1] == "roll"
    assert 0 in {state.owners[CODES.index(code)] for code in ("boardwalk", "mediterranean")}


def test_without_trades_it_makes_no_offer() -> None:
    bot = MonopolyBot("rules", trades=False)
    state = owned(THREE, park_place=0, boardwalk=1, mediterranean=1, baltic=0, reading=2)
    assert bot.choose(turn_at(THREE, state, rng=random.Random(1))) == ROLL


@pytest.mark.parametrize("seats", [2, 6])
def test_it_plays_whole_matches_of_legal_actions(seats: int) -> None:
    game: Any = get_game(f"monopoly(rounds=4,seats={seats})")
    bot = MonopolyBot(simulations=4)
    rng = random.Random(seats)
    state = game.initial_state()
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        action = bot.choose(turn_at(game, state, rng=rng))
        assert action in state.actions()
        state = state.after(action)
    assert sum(state.returns()) == pytest.approx(0)
