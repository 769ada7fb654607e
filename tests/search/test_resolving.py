"""Subgames solved again: their roots, what the gadget guarantees, and what fails without it."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from plyhouse.games import Game, GameMismatch, get_game
from plyhouse.games.hidden.leduc_poker import CALL, CARDS, RAISE
from plyhouse.search import (
    Limit,
    SubgameRoot,
    TabularPolicy,
    cfr_plus,
    expected_returns,
    nash_conv,
    resolve_subgame,
    resolved_policy,
    subgame_roots,
    subgames,
)
from plyhouse.search.equilibria.sequence_form import sequence_form
from plyhouse.search.policies import uniform_policy

LEDUC = get_game("leduc_poker")
DICE = get_game("liars_dice(faces=4)")


def second_round(seen: Any) -> bool:
    return seen.board is not None


def after_two_bids(seen: Any) -> bool:
    return len(seen.bids) == 2


GAMES = [(LEDUC, second_round), (DICE, after_two_bids)]


def shown(root: SubgameRoot) -> tuple[Any, ...]:
    return LEDUC.describe(root.state), root.chance, root.reach


def random_policy(game: Game, seed: int) -> TabularPolicy:
    """Probabilities drawn at random; about a third of the actions are never taken."""
    rng = random.Random(seed)
    choices = []
    for own in sequence_form(game).sets:
        for info in own:
            weights = [max(0.0, rng.random() - 0.3) for _ in info.slots]
            weights[rng.randrange(len(weights))] += 0.1
            choices.append((info.state, [weight / sum(weights) for weight in weights]))
    return TabularPolicy.of_states(game, choices)


def test_second_round_of_leduc_poker_has_30_subgames() -> None:
    found = subgames(LEDUC, uniform_policy, second_round)
    assert len(found) == 30, "five ways of betting, six cards on the table"
    for record, roots in found.items():
        assert len(roots) == 20
        assert record[:2] == ((-1, None), (-1, None)), "the hands are hidden"
        assert len({LEDUC.observe(root.state, None) for root in roots}) == 1
        again = subgame_roots(LEDUC, uniform_policy, record)
        assert list(map(shown, again)) == list(map(shown, roots))


@pytest.mark.parametrize(("game", "begins"), GAMES)
def test_roots_are_as_likely_as_the_blueprint_makes_them(game: Game, begins: Any) -> None:
    policy = random_policy(game, 1)

    def likely(state: Any) -> float:
        """The probability that a match from this state comes to a subgame."""
        if state.to_move == -2:
            return 0.0
        if begins(game.observe(state, None)):
            return 1.0
        choices = state.chance_outcomes() if state.to_move == -1 else policy(state)
        return sum(share * likely(state.after(action)) for action, share in choices)

    roots = [root for each in subgames(game, policy, begins).values() for root in each]
    total = sum(root.chance * root.reach[0] * root.reach[1] for root in roots)
    assert total == pytest.approx(likely(game.initial_state()))


@pytest.mark.parametrize(("game", "begins"), GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_resolved_policy_is_not_more_exploitable(game: Game, begins: Any, seed: int) -> None:
    blueprint = random_policy(game, seed)
    resolved = resolved_policy(game, blueprint, begins, iterations=300)
    assert nash_conv(game, resolved) < nash_conv(game, blueprint)


@pytest.mark.parametrize(("game", "begins"), GAMES)
def test_equilibrium_survives_only_with_the_gadget(game: Game, begins: Any) -> None:
    blueprint = cfr_plus(game, iterations=1000).policy
    assert nash_conv(game, blueprint) < 0.001
    safe = resolved_policy(game, blueprint, begins, iterations=250)
    assert nash_conv(game, safe) < 0.005
    alone = resolved_policy(game, blueprint, begins, iterations=250, gadget=False)
    assert nash_conv(game, alone) > 0.05
    # Both play as well as ever against an opponent that plays the blueprint itself.
    assert expected_returns(game, alone) == pytest.approx(
        expected_returns(game, blueprint), abs=0.05
    )


def test_policy_of_one_seat_in_one_subgame() -> None:
    record = ((-1, None), (-1, None), (0, "check"), (1, "raise"), (0, "call"), (-1, "Qs"))
    roots = subgame_roots(LEDUC, uniform_policy, record)
    policy = resolve_subgame(LEDUC, uniform_policy, roots, 1, iterations=50)
    assert policy.iterations == 50
    ours = [root.state.after(CALL) for root in roots]
    assert all(policy.covers(state) for state in ours)
    assert not any(policy.covers(root.state) for root in roots), "that is the other seat's turn"
    before = LEDUC.initial_state().after(0).after(3).after(1)
    assert not policy.covers(before)
    queen = next(state for state in ours if state.second == CARDS.index("Qh"))
    assert dict(policy(queen))[RAISE] > 0.5, "a pair raises"


def test_policy_that_leaves_out_actions_is_a_blueprint() -> None:
    """The opponent may take them nevertheless, so that they lead to roots."""

    def checks(state: Any) -> list[tuple[Any, float]]:
        return [(CALL, 1.0)]

    found = subgames(LEDUC, checks, second_round)
    assert len(found) == 30
    record = ((-1, None), (-1, None), (0, "raise"), (1, "call"), (-1, "Qs"))
    roots = found[record]
    assert {root.reach for root in roots} == {(0.0, 1.0)}
    assert len(resolve_subgame(LEDUC, checks, roots, 1, iterations=10)) > 0
    with pytest.raises(ValueError, match="the blueprint of seat 0 never reaches"):
        resolve_subgame(LEDUC, checks, roots, 0, iterations=10)


def test_limits_bound_the_solver() -> None:
    roots = next(iter(subgames(LEDUC, uniform_policy, second_round).values()))
    assert resolve_subgame(LEDUC, uniform_policy, roots, 0, Limit(simulations=7)).iterations == 7
    assert resolve_subgame(LEDUC, uniform_policy, roots, 0).iterations == 1000
    stopped = resolve_subgame(LEDUC, uniform_policy, roots, 0, Limit(nodes=5000))
    assert 0 < stopped.iterations < 100


def test_without_time_the_blueprint_is_the_result() -> None:
    blueprint = random_policy(LEDUC, 3)
    roots = next(iter(subgames(LEDUC, blueprint, second_round).values()))
    policy = resolve_subgame(LEDUC, blueprint, roots, 0, Limit(time=0.0))
    assert policy.iterations == 0
    assert policy.table == {key: blueprint.table[key] for key in policy.table}


def test_roots_may_be_an_iterator() -> None:
    roots = next(iter(subgames(LEDUC, uniform_policy, second_round).values()))
    tables = [
        resolve_subgame(LEDUC, uniform_policy, each, 0, iterations=20).table
        for each in (roots, iter(roots))
    ]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("spec", ["liars_dice(seats=3)", "prisoners_dilemma", "tic_tac_toe"])
def test_other_games_do_not_fit(spec: str) -> None:
    game = get_game(spec)
    with pytest.raises(GameMismatch, match="resolve_subgame"):
        subgames(game, uniform_policy, lambda _: True)
    with pytest.raises(GameMismatch, match="resolve_subgame"):
        resolve_subgame(game, uniform_policy, [], 0)


def test_invalid_arguments_are_named() -> None:
    roots = next(iter(subgames(LEDUC, uniform_policy, second_round).values()))
    with pytest.raises(ValueError, match="seat=2: expected 0 or 1"):
        resolve_subgame(LEDUC, uniform_policy, roots, 2)
    with pytest.raises(ValueError, match="roots is empty"):
        resolve_subgame(LEDUC, uniform_policy, [], 0)
    with pytest.raises(ValueError, match="iterations=0: expected a whole number"):
        resolve_subgame(LEDUC, uniform_policy, roots, 0, iterations=0)
    with pytest.raises(GameMismatch, match="the subgame has more than 100 nodes"):
        resolve_subgame(LEDUC, uniform_policy, roots, 0, max_nodes=100)
    with pytest.raises(ValueError, match="9 is not legal"):
        subgames(LEDUC, lambda _: [(9, 1.0)], second_round)
    with pytest.raises(ValueError, match="add up to nan"):
        subgames(LEDUC, lambda _: [(CALL, math.nan)], second_round)
    with pytest.raises(ValueError, match=r"add up to 0\.5"):
        resolve_subgame(LEDUC, lambda _: [(CALL, 0.5)], roots, 0)
    with pytest.raises(ValueError, match="no match of leduc_poker has the public record"):
        subgame_roots(LEDUC, uniform_policy, ((-1, "Js"),))
