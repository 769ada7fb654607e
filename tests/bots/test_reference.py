"""The house's optimal bots are optimal: exact values over their stated strategies."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.bots.reference.kuhn_bot import STRATEGY
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.registry import get_game
from plyhouse.search import Limit


def kuhn_value(state: Any, game: Any, strategy: tuple[Any, Any]) -> float:
    """Expected return of seat 0 when both seats play by behaviour strategies."""
    if state.to_move == TERMINAL:
        return float(state.returns()[0])
    if state.to_move == CHANCE:
        branches = list(state.chance_outcomes())
    else:
        seen = game.observe(state, state.to_move)
        branches = [
            (action, strategy[state.to_move](seen.card, seen.bets, game.format(state, action)))
            for action in state.actions()
        ]
    value: float = sum(
        chance * kuhn_value(state.after(action), game, strategy)
        for action, chance in branches
        if chance
    )
    return value


def equilibrium(card: str, bets: tuple[str, ...], action: str) -> float:
    often, _, table = STRATEGY[bets]
    share: float = table[card]
    return share if action == often else 1 - share


def test_the_equilibrium_is_worth_minus_one_eighteenth() -> None:
    game = get_game("kuhn_poker")
    value = kuhn_value(game.initial_state(), game, (equilibrium, equilibrium))
    assert value == pytest.approx(-1 / 18)


def test_no_pure_answer_does_better_against_the_equilibrium() -> None:
    game = get_game("kuhn_poker")
    root = game.initial_state()
    for seat in (0, 1):
        spots = [(card, bets) for card in "JQK" for bets in STRATEGY if len(bets) % 2 == seat]
        best = float("-inf")
        for choice in itertools.product((0, 1), repeat=len(spots)):
            plan = dict(zip(spots, choice, strict=True))

            def pure(card: str, bets: tuple[str, ...], action: str, plan: Any = plan) -> float:
                return float(action == STRATEGY[bets][plan[card, bets]])

            pair = (pure, equilibrium) if seat == 0 else (equilibrium, pure)
            value = kuhn_value(root, game, pair)
            best = max(best, value if seat == 0 else -value)
        assert best == pytest.approx(-1 / 18 if seat == 0 else 1 / 18)


def coin_choices(spec: str, seat: int, count: int = 3000) -> dict[str, float]:
    game = get_game(spec)
    state: Any = game.initial_state()
    if state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    elif seat == 1:
        state = state.after(state.actions()[0])
    bot = load_bot("coin_guess_optimal")()
    seen: dict[str, float] = {}
    for number in range(count):
        turn = turn_at(game, state, seat=seat, rng=random.Random(number))
        choice = str(bot.choose(turn))
        seen[choice] = seen.get(choice, 0) + 1 / count
    return seen


def test_the_coin_is_hidden_five_times_in_six() -> None:
    assert coin_choices("coin_guess", 0)["penny"] == pytest.approx(5 / 6, abs=0.03)


def test_both_faces_are_named_equally_often() -> None:
    assert coin_choices("coin_guess", 1)["lincoln"] == pytest.approx(1 / 2, abs=0.03)


@pytest.mark.parametrize(("pennies", "guess"), [(0.5, "jefferson"), (0.9, "lincoln")])
def test_against_a_bag_the_better_face_is_named(pennies: float, guess: str) -> None:
    spec = f"coin_guess(pennies={pennies},variant=bag)"
    assert coin_choices(spec, 1, count=5) == {guess: pytest.approx(1.0)}


def test_a_search_bot_claims_what_its_algorithm_fits() -> None:
    claims = load_bot("alpha_beta").claims()
    assert {"chess", "othello", "tic_tac_toe"} <= set(claims)
    assert not {"pig", "kuhn_poker"} & set(claims)
    assert load_bot("random").claims() == ()


def test_the_tighter_of_option_and_clock_bounds_a_search() -> None:
    from plyhouse.bots.search_bot import SearchBot

    game = get_game("tic_tac_toe")
    state = game.initial_state()

    def limit(bot: SearchBot) -> Limit:
        turn = turn_at(
            game,
            state,
            soft=2_000_000_000,
            hard=3_000_000_000,
            clock_ns=lambda: 1_000_000_000,
        )
        return bot.limit(turn)

    assert limit(SearchBot(time=0.25, depth=3)).time == pytest.approx(0.25)
    assert limit(SearchBot(time=2.0, depth=3)).time == pytest.approx(1.0)
    assert limit(SearchBot(depth=3, simulations=7)).depth == 3
    assert limit(SearchBot(simulations=7)).simulations == 7
    with pytest.raises(ValueError, match="depth=0"):
        SearchBot(depth=0)
