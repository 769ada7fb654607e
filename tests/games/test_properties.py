"""Laws on random plays, with parameters and choices found by hypothesis."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.games.random_positions import WRITERS, random_position

from plyhouse.games import (
    CHANCE,
    TERMINAL,
    Game,
    GameError,
    Information,
    State,
    Utility,
    get_game,
)
from plyhouse.games.counting import branches
from plyhouse.games.registry import BUILT_IN
from plyhouse.games.testing import check_notation

PLAYS = settings(max_examples=40, deadline=None)

specs = st.one_of(
    st.sampled_from(
        [
            "breakthrough",
            "checkers",
            "coins(coins=12)",
            "hexapawn(size=4)",
            "kalah",
            "nim",
            "othello",
        ]
    ),
    st.just("tic_tac_toe"),
    st.sampled_from(
        [
            'backgammon(position="6x5 3x2; 5x6 1; 1 62")',
            'battleship(columns=4,fleet="3,2,1",rows=5)',
            "einstein",
            "einstein(placement=free)",
            "leduc_poker",
            "liars_dice(dice=2,seats=3)",
            'matrix(payoffs="3,3 0,5; 5,0 1,1",rounds=3)',
            'matrix(columns="2,1,fold",payoffs="1 2 3; 3 2 1",rounds=2,rows="10,0")',
            "pacman(layout=duel)",
            "pacman(ghosts=random,layout=trapped)",
            "prisoners_dilemma(rounds=4)",
            "rock_paper_scissors",
        ]
    ),
    st.sampled_from(["chess", "chess(start=0)", "go(komi=0.0,size=5)"]),
    st.tuples(st.integers(2, 7), st.integers(2, 7)).map(
        lambda size: f"connect_four(columns={size[0]},rows={size[1]},connect={min(4, max(size))})"
    ),
    st.tuples(st.integers(2, 5), st.integers(2, 60), st.integers(2, 12)).map(
        lambda rules: f"pig(seats={rules[0]},target={rules[1]},sides={rules[2]})"
    ),
    st.sampled_from(["coin_guess", "coin_guess(variant=bag)"]),
    st.integers(2, 4).map(lambda seats: f"kuhn_poker(seats={seats})"),
)


def random_play(game: Game, rng: random.Random) -> list[tuple[State, Any]]:
    """States with what was done in them; the last has None."""
    state = game.initial_state()
    play: list[tuple[State, Any]] = []
    while state.to_move != TERMINAL:
        action = rng.choice(branches(state))
        play.append((state, action))
        state = state.after(action)
    return [*play, (state, None)]


@PLAYS
@given(specs, st.randoms(use_true_random=False))
def test_a_play_can_be_replayed_from_its_text(spec: str, rng: random.Random) -> None:
    game = get_game(spec)
    play = random_play(game, rng)
    state = game.initial_state()
    for recorded, action in play[:-1]:
        if recorded.to_move == CHANCE:
            text = game.format_chance(recorded, action)
            state = state.after(game.parse_chance(state, text))
        else:
            state = state.after(game.parse(state, game.format(recorded, action)))
    assert state.returns() == play[-1][0].returns()
    assert game.describe(state) == game.describe(play[-1][0])


@pytest.mark.parametrize("name", WRITERS)
@PLAYS
@given(seed=st.integers(0, 2**32))
def test_every_action_of_a_written_position_is_read_as_it_is_written(name: str, seed: int) -> None:
    rng = random.Random(seed)
    game, state = random_position(name, rng)
    check_notation(game, state)
    # Positions that are met from there are odd, too.
    for met, _ in random_play(game, rng)[1:6]:
        check_notation(game, met)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in WRITERS])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_action_of_a_random_position_is_read_as_it_is_written(name: str, seed: int) -> None:
    rng = random.Random(seed)
    game = get_game(name)
    states = [state for state, _ in random_play(game, rng)]
    # A play costs more than its checks, so look at many of its positions, most of them of seats.
    moves = [state for state in states if state.to_move >= 0]
    for met in rng.sample(moves, min(12, len(moves))) + rng.sample(states, 2):
        check_notation(game, met)


@PLAYS
@given(specs, st.randoms(use_true_random=False))
def test_observations_survive_the_wire(spec: str, rng: random.Random) -> None:
    game = get_game(spec)
    for state, _ in random_play(game, rng)[-12:]:
        for viewer in (*range(game.seats), None):
            seen = game.observe(state, viewer)
            fields = json.loads(json.dumps(seen.fields()))
            assert game.decode_observation(fields) == seen


@PLAYS
@given(specs, st.randoms(use_true_random=False))
def test_observations_of_perfect_information_do_not_grow(spec: str, rng: random.Random) -> None:
    game = get_game(spec)
    assume(game.info.information is Information.PERFECT)
    play = random_play(game, rng)
    sizes = [len(json.dumps(game.observe(state, None).fields())) for state, _ in play]
    # Numbers get more digits, "" becomes the last action; a place may stand where null was.
    assert max(sizes) <= 1.5 * sizes[0] + 40


@PLAYS
@given(specs, st.randoms(use_true_random=False))
def test_states_survive_pickling_and_play_on_the_same(spec: str, rng: random.Random) -> None:
    game = get_game(spec)
    for state, action in random_play(game, rng)[-8:]:
        copy = pickle.loads(pickle.dumps(state))
        assert game.describe(copy) == game.describe(state)
        if action is not None:
            assert game.describe(copy.after(action)) == game.describe(state.after(action))


@PLAYS
@given(specs, st.randoms(use_true_random=False))
def test_sampled_states_look_the_same_and_can_be_played_to_the_end(
    spec: str, rng: random.Random
) -> None:
    game = get_game(spec)
    state, _ = rng.choice(random_play(game, rng))
    for seat in range(game.seats):
        sampled = game.sample_state(game.observe(state, seat), rng)
        assert game.observe(sampled, seat) == game.observe(state, seat)
        while sampled.to_move != TERMINAL:
            sampled = sampled.after(rng.choice(branches(sampled)))
        if game.info.utility is Utility.ZERO_SUM:
            assert abs(sum(sampled.returns())) < 1e-9


@PLAYS
@given(specs, st.randoms(use_true_random=False), st.data())
def test_any_text_is_an_action_or_a_game_error(
    spec: str, rng: random.Random, data: st.DataObject
) -> None:
    game = get_game(spec)
    states: list[Any] = [state for state, _ in random_play(game, rng) if state.to_move >= 0]
    state = data.draw(st.sampled_from(states))
    # Texts of this state, or of another one, where they may be against the rules.
    other = data.draw(st.sampled_from(states))
    known = st.sampled_from([game.format(other, action) for action in other.actions()])
    changed = known.map(str.upper) | known.map(lambda name: name[:-1])
    text = data.draw(known | changed | st.text(max_size=12))
    legal = [game.format(state, action) for action in state.actions()]
    try:
        action = game.parse(state, text)
    except GameError:
        action = None
    if action is None:
        assert text not in legal
    else:
        assert action in state.actions()
