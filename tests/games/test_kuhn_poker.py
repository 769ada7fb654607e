from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest
from tests.harness.counting import count_complete_games

from plyhouse.games import CHANCE, TERMINAL, State, get_game

GAME = get_game("kuhn_poker")
JACK, QUEEN, KING = range(3)

Policy = dict[Hashable, dict[int, Fraction]]


def deal(spec: str, *cards: str) -> State:
    game = get_game(spec)
    state = game.initial_state()
    for card in cards:
        state = state.after(game.parse_chance(state, card))
    return state


def act(spec: str, state: State, *moves: str) -> State:
    game = get_game(spec)
    for move in moves:
        state = state.after(game.parse(state, move))
    return state


def information_sets() -> dict[Hashable, list[State]]:
    found: dict[Hashable, list[State]] = defaultdict(list)

    def walk(state: State) -> None:
        if state.to_move >= 0:
            found[GAME.information_state(state, state.to_move)].append(state)
            for action in state.actions():
                walk(state.after(action))
        for outcome, _ in state.chance_outcomes():
            walk(state.after(outcome))

    walk(GAME.initial_state())
    return found


def value(state: State, policy: Policy) -> Fraction:
    """Exact expectation of seat 0."""
    if state.to_move == TERMINAL:
        return Fraction(state.returns()[0])
    if state.to_move == CHANCE:
        outcomes = state.chance_outcomes()
        return sum(value(state.after(card), policy) for card, _ in outcomes) / Fraction(
            len(outcomes)
        )
    chances = policy[GAME.information_state(state, state.to_move)]
    return sum((p * value(state.after(a), policy) for a, p in chances.items()), Fraction(0))


def best_response(policy: Policy, seat: int) -> Fraction:
    """The most ``seat`` can get against the policy, by trying every pure strategy."""
    sets = [key for key, states in information_sets().items() if states[0].to_move == seat]
    best: Fraction | None = None
    for code in range(2 ** len(sets)):
        mixed: Policy = dict(policy)
        for place, key in enumerate(sets):
            actions = information_sets_cache[key][0].actions()
            mixed[key] = {actions[code >> place & 1]: Fraction(1)}
        got = value(GAME.initial_state(), mixed) * (1 if seat == 0 else -1)
        best = got if best is None else max(best, got)
    assert best is not None
    return best


information_sets_cache = information_sets()


def policy_of(bets: dict[tuple[int, str], Fraction]) -> Policy:
    """Complete policy from the chances to bet or call, by own card and actions so far."""
    policy: Policy = {}
    for key, states in information_sets_cache.items():
        state: Any = states[0]
        fields = GAME.observe(state, state.to_move).fields()
        chance = bets["JQK".index(fields["card"]), " ".join(fields["bets"])]
        aggressive = 1 if state.actions()[0] == 0 else 3
        passive = 0 if aggressive == 1 else 2
        policy[key] = {passive: 1 - chance, aggressive: chance}
    return policy


def equilibrium(alpha: Fraction) -> Policy:
    """Kuhn's family: seat 0 bluffs with the jack with chance alpha, at most 1/3."""
    third = Fraction(1, 3)
    return policy_of(
        {
            (JACK, ""): alpha,
            (QUEEN, ""): Fraction(0),
            (KING, ""): 3 * alpha,
            (JACK, "check bet"): Fraction(0),
            (QUEEN, "check bet"): alpha + third,
            (KING, "check bet"): Fraction(1),
            (JACK, "check"): third,
            (QUEEN, "check"): Fraction(0),
            (KING, "check"): Fraction(1),
            (JACK, "bet"): Fraction(0),
            (QUEEN, "bet"): third,
            (KING, "bet"): Fraction(1),
        }
    )


def test_twelve_information_sets() -> None:
    assert len(information_sets_cache) == 12
    assert all(len(states) == 2 for states in information_sets_cache.values())


def test_thirty_terminal_histories() -> None:
    assert count_complete_games(GAME.initial_state()) == 30


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 6), Fraction(1, 3)])
def test_kuhns_equilibria_are_worth_a_loss_of_one_eighteenth(alpha: Fraction) -> None:
    policy = equilibrium(alpha)
    assert value(GAME.initial_state(), policy) == Fraction(-1, 18)
    assert best_response(policy, 0) == Fraction(-1, 18)
    assert best_response(policy, 1) == Fraction(1, 18)


def test_exploitability_of_uniform_play() -> None:
    half = Fraction(1, 2)
    uniform: Policy = {
        key: dict.fromkeys(states[0].actions(), half)
        for key, states in information_sets_cache.items()
    }
    gains = best_response(uniform, 0) + best_response(uniform, 1)
    assert gains / 2 == Fraction(11, 24)


@pytest.mark.parametrize(
    ("cards", "moves", "returns"),
    [
        ("KJ", "check check", (1.0, -1.0)),
        ("JK", "check check", (-1.0, 1.0)),
        ("JK", "bet fold", (1.0, -1.0)),
        ("JK", "bet call", (-2.0, 2.0)),
        ("QJ", "check bet call", (2.0, -2.0)),
        ("QJ", "check bet fold", (-1.0, 1.0)),
    ],
)
def test_who_wins_what(cards: str, moves: str, returns: tuple[float, ...]) -> None:
    assert act("kuhn_poker", deal("kuhn_poker", *cards), *moves.split()).returns() == returns


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        ("check check check", (-1.0, 2.0, -1.0)),
        ("bet call fold", (-2.0, 3.0, -1.0)),
        ("check bet fold call", (-2.0, 3.0, -1.0)),
        ("check check bet call fold", (3.0, -1.0, -2.0)),
        ("bet fold fold", (2.0, -1.0, -1.0)),
    ],
)
def test_three_seats(moves: str, returns: tuple[float, ...]) -> None:
    spec = "kuhn_poker(seats=3)"
    state = act(spec, deal(spec, "Q", "A", "J"), *moves.split())
    assert state.to_move == TERMINAL
    assert state.returns() == returns


def test_each_seat_sees_its_own_card_only() -> None:
    state = deal("kuhn_poker", "K", "J")
    assert GAME.observe(state, 0).fields()["card"] == "K"
    assert GAME.observe(state, 1).fields()["card"] == "J"
    assert GAME.observe(state, None).fields()["card"] is None
    start = GAME.initial_state()
    assert [GAME.visible(start, KING, viewer) for viewer in (0, 1, None)] == ["K", None, None]
    second = start.after(KING)
    assert [GAME.visible(second, JACK, viewer) for viewer in (0, 1, None)] == [None, "J", None]


def test_cards_are_shown_after_a_showdown_only() -> None:
    dealt = deal("kuhn_poker", "K", "J")
    folded = act("kuhn_poker", dealt, "bet", "fold")
    called = act("kuhn_poker", dealt, "bet", "call")
    assert GAME.observe(folded, 1).fields()["shown"] == (None, None)
    assert GAME.observe(called, None).fields()["shown"] == ("K", "J")


def test_folded_cards_stay_hidden_in_a_showdown_of_others() -> None:
    spec = "kuhn_poker(seats=3)"
    state = act(spec, deal(spec, "Q", "A", "J"), "bet", "fold", "call")
    assert get_game(spec).observe(state, 0).fields()["shown"] == ("Q", None, "J")
