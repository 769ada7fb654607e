from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.harness.positions import position_after

from plyhouse.games import (
    CHANCE,
    TERMINAL,
    IllegalAction,
    InvalidAction,
    InvalidParameter,
    InvalidPosition,
    get_game,
)
from plyhouse.games.stochastic.pacman.maze import LAYOUTS, maze_of
from plyhouse.games.stochastic.pacman.rules import Pacman


def start(layout: str, **more: Any) -> tuple[Pacman, Any]:
    game = Pacman(layout=layout, **more)
    return game, game.initial_state()


def play(layout: str, text: str, **more: Any) -> Any:
    return position_after(Pacman(layout=layout, **more), text)


def legal(game: Pacman, state: Any) -> list[str]:
    return [game.format(state, action) for action in state.actions()]


def test_a_step_costs_one_and_a_dot_is_worth_ten() -> None:
    state = play("%%%%%%/%P. .%/%%%%%%", "east")
    assert state.score == 9
    assert play("%%%%%%/%P. .%/%%%%%%", "east west stop").score == 7


def test_clearing_is_worth_five_hundred() -> None:
    state = play("%%%%%%/%P. .%/%%%%%%", "east east east")
    assert state.to_move == TERMINAL
    assert state.returns() == (3 * -1 + 2 * 10 + 500,)


def test_being_caught_costs_five_hundred_whoever_walks_in() -> None:
    state = play("%%%%%%/%P G.%/%%%%%%", "east west")
    assert state.to_move == TERMINAL
    assert state.returns() == (-501.0, 501.0)
    state = play("%%%%%%/%PG .%/%%%%%%", "east")
    assert state.to_move == TERMINAL
    assert state.returns() == (-501.0, 501.0)


def test_the_last_dot_counts_before_the_ghost_on_it() -> None:
    state = play("%%%%%%%/%P .G %/%     %/%%%%%%%", "east west")
    assert state.to_move == 0
    over = state.after(2)
    assert over.to_move == TERMINAL
    assert over.returns() == (508.0, -508.0)


def test_ghosts_do_not_stop_and_turn_back_in_dead_ends_only() -> None:
    game, state = start("%%%%%%%%/%P.%   %/%. % G %/%    ..%/%%%%%%%%")
    state = state.after(game.parse(state, "stop"))
    assert legal(game, state) == ["north", "south", "east", "west"]
    state = state.after(game.parse(state, "north"))
    state = state.after(game.parse(state, "stop"))
    assert legal(game, state) == ["east", "west"], "not back south"
    with pytest.raises(IllegalAction):
        game.parse(state, "stop")
    game, state = start("%%%%%%%/%P..G %/%%%%%%%")
    for word in ("stop", "east", "stop"):
        state = state.after(game.parse(state, word))
    assert legal(game, state) == ["west"], "a dead end"


def test_pacman_may_stop() -> None:
    game, state = start("duel")
    assert legal(game, state) == ["north", "east", "stop"]


def test_random_ghosts_are_chance() -> None:
    game, state = start("duel", ghosts="random")
    assert game.seats == 1
    state = state.after(game.parse(state, "stop"))
    assert state.to_move == CHANCE
    assert sum(p for _, p in state.chance_outcomes()) == pytest.approx(1.0)
    as_seat = state.with_ghosts(False)
    assert as_seat.to_move == 1
    assert as_seat.actions() == tuple(way for way, _ in state.chance_outcomes())
    assert as_seat.with_ghosts(True).chance_outcomes() == state.chance_outcomes()


def test_ghosts_are_a_team() -> None:
    game = Pacman()
    assert game.seats == 3
    state: Any = game.initial_state()
    rng = random.Random(1)
    while state.to_move != TERMINAL:
        state = state.after(rng.choice(state.actions()))
    score = state.returns()[0]
    assert state.returns() == (score, -score, -score)


def test_the_match_ends_after_the_last_step_and_the_ghosts_answer() -> None:
    state = play("duel", "stop south stop", steps=2)
    assert state.to_move == 1
    state = state.after(state.actions()[0])
    assert state.to_move == TERMINAL
    assert state.returns() == (-2.0, 2.0)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_named_layouts_are_walled_in_and_can_be_cleared(name: str) -> None:
    maze = maze_of(LAYOUTS[name])
    rows = maze.text.split("/")
    assert set(rows[0]) == set(rows[-1]) == {"%"}
    assert all(row[0] == row[-1] == "%" for row in rows)
    assert len(maze.dots) >= 2


def test_distances_are_steps() -> None:
    maze = maze_of(LAYOUTS["trapped"])
    far = maze.distances(maze.pacman)
    assert far[maze.pacman] == 0
    assert far[maze.ghosts[0]] == 2
    assert far[maze.ghosts[1]] == 4


def test_the_heuristic_sees_dots_and_ghosts() -> None:
    calm = start("%%%%%%%%%/%P.     %/%%%%%%%%%")[1].heuristic()[0]
    far = start("%%%%%%%%%/%P     .%/%%%%%%%%%")[1].heuristic()[0]
    near_ghost = start("%%%%%%%%%/%P. G   %/%%%%%%%%%")[1].heuristic()
    assert calm > far
    assert near_ghost[0] < calm
    assert near_ghost[1] == -near_ghost[0]


def looked_ahead(state: Any, depth: int, evaluate: Callable[[Any], float]) -> float:
    """Value for Pacman: ghosts that are seats do their worst, others are averaged."""
    if state.to_move == TERMINAL:
        return float(state.returns()[0])
    if depth == 0:
        return evaluate(state)
    if state.to_move == CHANCE:
        return math.fsum(
            p * looked_ahead(state.after(way), depth - 1, evaluate)
            for way, p in state.chance_outcomes()
        )
    values: list[float] = [
        looked_ahead(state.after(a), depth - 1, evaluate) for a in state.actions()
    ]
    return max(values) if state.turn == 0 else min(values)


def hungry(state: Any) -> float:
    """The score, less for dots left and the way to the nearest; trouble is left to the search."""
    far = state.maze.distances(state.pacman)
    left = [far[cell] for cell in state.maze.dots if state.dots & state.maze.bits[cell]]
    return float(state.score - 3 * len(left) - min(left))


def closeness(state: Any) -> float:
    """The value that an adversarial ghost minimises."""
    return float(state.maze.distances(state.pacman)[state.ghosts[0]])


def contest(expects_chance: bool, random_ghost: bool, seed: int) -> float:
    """One match in the room "gamble": Pacman looks 4 plies ahead, the ghost 2."""
    rng = random.Random(seed)
    state = start("gamble", steps=60)[1]
    while state.to_move != TERMINAL:
        actions = state.actions()
        if state.turn == 0:
            believed = state.with_ghosts(expects_chance)
            values = [looked_ahead(believed.after(a), 3, hungry) for a in actions]
        elif random_ghost:
            values = [0.0] * len(actions)
        else:
            values = [-looked_ahead(state.after(a), 1, closeness) for a in actions]
        best = max(values)
        good = [a for a, value in zip(actions, values, strict=True) if value > best - 1e-9]
        state = state.after(rng.choice(good))
    return float(state.returns()[0])


def test_assumptions_and_reality() -> None:
    """The course's two by two: who expects chance and meets an adversary is caught."""
    games = 20
    scores = {
        (expects, meets): [contest(expects, meets, seed) for seed in range(games)]
        for expects in (False, True)
        for meets in (False, True)
    }
    won = {key: sum(score > 0 for score in values) for key, values in scores.items()}
    mean = {key: sum(values) / games for key, values in scores.items()}
    assert won[False, False] == games, "minimax against the adversary it expects"
    assert won[False, True] == games, "minimax against chance"
    assert won[True, False] <= games // 5, "expectimax against an adversary"
    assert mean[True, False] < -300
    assert won[True, True] >= games * 4 // 5, "expectimax against the chance it expects"
    best = [max(values) for values in scores.values()]
    assert max(best) == max(scores[True, True]), "nobody is quicker where the gamble is right"


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("%%%%/%P.%/%%%", "row 3 has 3 cells, but row 1 has 4"),
        ("%%%%%/%P.P%/%%%%%", "2 Pacmen"),
        ("%%%/%.%/%%%", "0 Pacmen"),
        ("%%%%/%P %/%%%%", "no dot"),
        ("%%%%/%Px%/%%%%", "'x' in row 2"),
        ("%%%%%%/%P%.G%/%%%%%%", "cannot get to the dot in row 2, column 4"),
        ("%%%%%%/%P.%G%/%%%%%%", "the ghost in row 2, column 5 cannot move"),
        ("%%%%%%%%%/%P.GGGGG%/%%%%%%%%%", "5 ghosts"),
        ("P." + " " * 800, "more than 800"),
        ("nowhere", "is not %"),
    ],
)
def test_impossible_layouts_are_refused(layout: str, words: str) -> None:
    with pytest.raises(InvalidPosition) as caught:
        start(layout)
    assert words in str(caught.value)


def test_bad_input() -> None:
    game, state = start("duel")
    with pytest.raises(IllegalAction):
        game.parse(state, "west")
    with pytest.raises(InvalidAction):
        game.parse(state, "up")
    with pytest.raises(InvalidParameter):
        get_game("pacman(steps=0)")
    with pytest.raises(InvalidParameter, match="one of adversary, random"):
        get_game("pacman(ghosts=clever)")
