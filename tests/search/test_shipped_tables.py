"""Tables of checkers and kalah, and the book of connect four, against searches without them."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from tests.search.test_checkers_endgames import some

from plyhouse.games.base import TERMINAL
from plyhouse.games.deterministic.checkers.endgames import preference
from plyhouse.games.deterministic.checkers.rules import CheckersState
from plyhouse.games.deterministic.connect_four.book import book_values
from plyhouse.games.deterministic.kalah import KalahState
from plyhouse.games.endgames import Meter
from plyhouse.games.native import COMPILED
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta, minimax, solve_checkers

WIDEST = (-math.inf, math.inf)


def test_checkers_table_equals_a_fresh_solution() -> None:
    pieces = 3 if COMPILED else 2
    table = solve_checkers(pieces)
    for state in [*some(2, 500), *some(pieces, 2000)]:
        value, distance = table.probe(state)
        expected = 0 if distance is None else int(value) * (distance + 1)
        assert state.endings(Meter()).code(state) == expected


def test_checkers_entries_of_four_pieces_follow_from_their_successors() -> None:
    codes = set()
    for state in some(4, 2000):
        endings = state.endings(Meter())
        after = [endings.after(state, action) for action in state.actions()]
        assert endings.code(state) == max(after, key=preference)
        assert endings.after(state, endings.best(state)) == endings.code(state)
        codes.add(endings.code(state))
    assert max(codes) > 40
    assert min(codes) < -40
    assert 0 in codes


def test_checkers_endings_with_counters_equal_minimax() -> None:
    known = unknown = 0
    for number, state in enumerate(some(3, 500)):
        limit = 1 + number % 4
        # So few quiet plies that minimax to the end of the game is short.
        counted = CheckersState(
            state.to_move, state.black, state.white, state.kings, state.past, -1, limit
        )
        value = counted.endings(Meter()).value(counted, 99, *WIDEST)
        if value is None:
            unknown += 1
            continue
        deep = Limit(depth=limit + 6)
        found = minimax(get_game("checkers"), counted, deep, evaluate=lambda state, seat: 0.0)
        if found.exact:
            known += 1
            assert found.value == value
    assert known > 30
    assert unknown > 40


def test_checkers_win_that_a_third_repetition_may_spoil_is_left_to_the_search() -> None:
    state: Any = get_game('checkers(position="B:WK32:BK1,K5")').initial_state()
    assert state.endings(Meter()).value(state, 9, *WIDEST) == 1.0
    for move in ("1-6", "32-27", "6-1", "27-32") * 2:
        values = [state.endings(Meter()).value(state, 9, *WIDEST)]
        state = state.after(get_game("checkers").parse(state, move))
        if state.to_move == TERMINAL:
            break
    assert state.winner == -1
    assert values == [None]


@pytest.mark.parametrize("pieces", [3, 4])
def test_checkers_search_wins_what_the_table_wins(pieces: int) -> None:
    game = get_game("checkers")
    won = 0
    for state in some(pieces, 40):
        here: Any = state
        code = here.endings(Meter()).code(here)
        if not 1 < code <= 80:
            continue
        plies = 0
        while here.to_move != TERMINAL:
            if here.to_move == state.to_move:
                action = alpha_beta(game, here, Limit(nodes=300)).action
            else:
                action = here.endings(Meter()).best(here)
            here = here.after(action)
            plies += 1
        assert here.winner == state.to_move
        assert plies == code - 1
        won += 1
    assert won > 8


def few_seeds(seed: int, most: int) -> KalahState:
    """A position after random play with at most so many seeds in the houses."""
    rng = random.Random(seed)
    state: Any = get_game("kalah").initial_state()
    while sum(state.pits) - state.pits[6] - state.pits[13] > most:
        state = state.after(rng.choice(state.actions()))
        if state.to_move == TERMINAL:
            return few_seeds(seed + 1000, most)
    # Even stores, so that the seeds in the houses decide.
    left, right = state.pits[:6], state.pits[7:13]
    return KalahState(state.to_move, (*left, 0, *right, 0))


def lead(state: Any, known: dict[Any, int]) -> int:
    """Seeds that the mover gets more than the other from here, by plain minimax."""
    key = state.key()
    if key not in known:
        best = -99
        for action in state.actions():
            child = state.after(action)
            if child.to_move == TERMINAL:
                gain = (child.pits[6] - child.pits[13]) * (1 - 2 * state.to_move)
            else:
                gain = lead(child, known) * (1 if child.to_move == state.to_move else -1)
            best = max(best, gain)
        known[key] = best
    return known[key]


def test_kalah_table_equals_minimax() -> None:
    leads = set()
    for seed in range(60):
        state = few_seeds(seed, 7)
        best = lead(state, {})
        endings: Any = state.endings(Meter())
        assert endings.value(state, 99, *WIDEST) == (best > 0) - (best < 0)
        child = state.after(endings.best(state))
        if child.to_move == TERMINAL:
            reached = (child.pits[6] - child.pits[13]) * (1 - 2 * state.to_move)
        else:
            reached = lead(child, {}) * (1 if child.to_move == state.to_move else -1)
        assert reached == best
        leads.add(best)
    assert len(leads) > 5


@pytest.mark.parametrize("houses", [2, 3, 10])
def test_kalah_table_fits_other_boards(houses: int) -> None:
    game = get_game(f"kalah(houses={houses},seeds=1)")
    state: Any = game.initial_state()
    if houses == 10:
        state = KalahState(0, (*[0] * 8, 1, 1, 0, 2, *[0] * 9, 0))
    plain = minimax(game, state, Limit(depth=40))
    assert plain.exact
    assert state.endings(Meter()).value(state, 99, *WIDEST) == plain.value


def test_kalah_search_with_and_without_the_table_agree() -> None:
    game = get_game("kalah")
    for seed in range(12):
        state = few_seeds(seed, 10)
        found = [
            alpha_beta(game, state, Limit(nodes=300_000), endings=endings)
            for endings in (True, False)
        ]
        assert found[0].exact
        if found[1].exact:
            assert found[0].value == found[1].value


def test_connect_four_book_answers_the_first_plies_at_once() -> None:
    game = get_game("connect_four")
    for seed in range(30):
        rng = random.Random(seed)
        state: Any = game.initial_state()
        value = -1.0
        for ply in range(12):
            if ply % 2 == seed % 2:
                found = alpha_beta(game, state, Limit(nodes=500))
                assert found.exact
                assert found.value >= value
                value = found.value
                action = found.action
            else:
                action = rng.choice(state.actions())
            state = state.after(action)
            if state.to_move == TERMINAL:
                break
        else:
            assert value == 1.0 or seed % 2 == 1


def test_connect_four_book_follows_from_its_successors() -> None:
    values = book_values()
    game = get_game("connect_four")
    checked = 0
    waiting: list[Any] = [game.initial_state()]
    seen = set()
    while waiting:
        state = waiting.pop()
        endings = state.endings(Meter())
        key = endings.merged(state.mine, state.taken)
        if state.to_move == TERMINAL or key in seen or key not in values:
            continue
        seen.add(key)
        children = [state.after(action) for action in state.actions()]
        known = [endings.merged(child.mine, child.taken) for child in children]
        after = [-values[each] for each in known if each in values]
        assert all(each <= values[key] for each in after)
        if len(after) == len(children):
            assert max(after) == values[key]
            checked += 1
        waiting += children
    assert checked > 3
    assert values[min(seen, key=int.bit_count)] == 1


@pytest.mark.skipif(not COMPILED, reason="millions of positions want the compiled game")
def test_connect_four_book_equals_the_solver() -> None:
    game = get_game("connect_four")
    values = book_values()
    checked: set[int] = set()
    for seed in range(40):
        rng = random.Random(seed)
        state: Any = game.initial_state()
        endings = state.endings(Meter())
        while len(checked) < 2 and state.to_move != TERMINAL:
            known = values.get(endings.merged(state.mine, state.taken))
            if state.taken.bit_count() == 8 and known is not None and known not in checked:
                endings.booked = False
                assert endings.value(state, 99, *WIDEST) == known
                checked.add(known)
            children = [state.after(action) for action in state.actions()]
            written = [values.get(endings.merged(each.mine, each.taken)) for each in children]
            best = [
                child
                for child, value in zip(children, written, strict=True)
                if value is not None and value == min(v for v in written if v is not None)
            ]
            # One seat follows the book.
            follows = state.to_move == seed % 2 and best
            state = rng.choice(best if follows else children)
            if state.to_move != TERMINAL and state.taken.bit_count() > 8:
                break
    assert len(checked) == 2
