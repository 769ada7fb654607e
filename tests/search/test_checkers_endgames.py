"""Checkers endgame tables against looking ahead, Schaeffer's counts, and their own laws."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from math import comb
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games.base import TERMINAL
from plyhouse.games.deterministic.checkers.moves import SQUARE_BIT, can_act
from plyhouse.games.deterministic.checkers.rules import Checkers, CheckersState
from plyhouse.games.native import COMPILED
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta, minimax, retrograde, solve
from plyhouse.search.tables.checkers_endgames import CheckersTable, solve_checkers
from plyhouse.search.tables.retrograde import PositionTable
from plyhouse.search.tables.table_file import InvalidTable

PIECES = 3 if COMPILED else 2


@pytest.fixture(scope="module")
def table() -> CheckersTable:
    return solve_checkers(PIECES)


def bare(state: Any) -> Any:
    """The position without what has stood before."""
    return CheckersState(state.to_move, state.black, state.white, state.kings)


def bare_key(state: Any) -> Any:
    return (state.to_move, state.black, state.white, state.kings)


def all_pairs() -> Iterator[Any]:
    """Every position with one piece each."""
    for mover, black, white in itertools.product((0, 1), range(1, 33), range(1, 33)):
        for black_king, white_king in itertools.product((False, True), repeat=2):
            if black == white or (black > 28 and not black_king) or (white < 5 and not white_king):
                continue
            first, second = SQUARE_BIT[black], SQUARE_BIT[white]
            kings = first * black_king | second * white_king
            own, enemy = (first, second) if mover == 0 else (second, first)
            if can_act(mover, own, enemy, kings):
                yield CheckersState(mover, first, second, kings)


def some(pieces: int, count: int) -> Iterator[Any]:
    """Random positions with so many pieces."""
    rng = random.Random(pieces)
    while count:
        squares = rng.sample(range(1, 33), pieces)
        split = rng.randint(1, pieces - 1)
        sides = [squares[:split], squares[split:]]
        kings = [s for s in squares if rng.random() < 0.5]
        kings += [s for s in sides[0] if s > 28] + [s for s in sides[1] if s < 5]
        black, white = (sum(SQUARE_BIT[s] for s in side) for side in sides)
        crowned = sum(SQUARE_BIT[s] for s in set(kings))
        mover = rng.randrange(2)
        own, enemy = (black, white) if mover == 0 else (white, black)
        if can_act(mover, own, enemy, crowned):
            count -= 1
            yield CheckersState(mover, black, white, crowned)


def placements(men: int, kings: int, enemy_men: int, enemy_kings: int) -> int:
    """Ways to place this material: men keep off the row where they would be kings."""
    return sum(
        # Black men on White's home row: so many of White's men find no room there.
        comb(4, back)
        * comb(24, men - back)
        * comb(28 - (men - back), enemy_men)
        * comb(32 - men - enemy_men, kings)
        * comb(32 - men - enemy_men - kings, enemy_kings)
        for back in range(min(men, 4) + 1)
    )


def count_placements(pieces: int) -> int:
    """Return how many ways there are to place so many pieces, of either side, on the board."""
    kinds = itertools.product(range(pieces + 1), repeat=4)
    return sum(placements(*each) for each in kinds if sum(each) == pieces)


def test_there_are_as_many_placements_as_published() -> None:
    assert [count_placements(n) for n in (1, 2, 3, 4)] == [120, 6972, 261_224, 7_092_774]


def test_the_table_holds_every_position(table: CheckersTable) -> None:
    # The placements in which both sides have a piece, each with either side to move.
    one_sided = 2 * (comb(28, 2) + 28 * 31 + comb(32, 2))
    won, drawn, lost = table.counts()[2]
    assert won + drawn + lost == count_placements(2) - one_sided
    assert len(table) == 2 * sum(sum(kinds) for kinds in table.counts().values())
    assert len(list(all_pairs())) <= 2 * (won + drawn + lost)
    assert all(state in table for state in all_pairs())


def test_the_general_analysis_says_the_same(table: CheckersTable) -> None:
    game = get_game("checkers")
    starts = list(all_pairs())
    general = solve(game, starts, key=bare_key, fresh=bare)
    assert isinstance(general, PositionTable)
    for state in starts:
        assert general.probe(state) == table.probe(state)


def test_every_entry_follows_from_its_successors(table: CheckersTable) -> None:
    states = list(some(PIECES, 2000)) + list(some(2, 500))
    for state in states:
        value, distance = table.probe(state)
        after = table.values(state).values()
        assert value == max(entry.value for entry in after)
        if value > 0:
            assert distance == min(e.distance or 0 for e in after if e.value > 0)
        elif value < 0:
            assert distance == max(e.distance or 0 for e in after)
        else:
            assert distance is None


def test_turning_the_board_changes_nothing(table: CheckersTable) -> None:
    def around(cells: int) -> int:
        return sum(SQUARE_BIT[33 - s] for s in range(1, 33) if cells & SQUARE_BIT[s])

    for state in some(PIECES, 300):
        other = CheckersState(
            1 - state.to_move, around(state.white), around(state.black), around(state.kings)
        )
        assert table.probe(other) == table.probe(state)


def test_short_wins_are_found_by_looking_ahead_and_no_others(table: CheckersTable) -> None:
    game = get_game("checkers")
    depth = 5
    short = 0
    for state in some(PIECES, 150):
        value, distance = table.probe(state)
        found = minimax(game, state, Limit(depth=depth), evaluate=lambda position, seat: 0.0).value
        if distance is not None and distance <= depth:
            short += 1
            assert found == value
        else:
            assert found == 0.0
    assert short > 10


def test_best_play_wins_in_as_many_plies_as_the_table_says(table: CheckersTable) -> None:
    game = get_game("checkers")
    longest = 0
    for state in some(PIECES, 60):
        value, distance = table.probe(state)
        result = retrograde(game, state, table=table)
        assert result.value == value
        if distance is None:
            continue
        assert len(result.pv) == distance
        here, winner = state, state.to_move if value > 0 else 1 - state.to_move
        for action in result.pv:
            here = here.after(action)
        assert here.to_move == TERMINAL
        assert here.returns()[winner] == 1.0
        longest = max(longest, distance)
    assert longest > (25 if PIECES == 3 else 4)


@pytest.mark.skipif(not COMPILED, reason="needs the table of three pieces")
def test_a_shallow_search_wins_two_kings_against_one_with_the_table(table: CheckersTable) -> None:
    game = get_game('checkers(position="B:WK32:BK1,K5")')
    state: Any = game.initial_state()
    entry = table.probe(state)
    assert entry.value == 1.0
    plies = 0
    while state.to_move != TERMINAL:
        if state.to_move == 0:
            limit = Limit(depth=2)
            action = alpha_beta(game, state, limit, evaluate=table.evaluate()).action
        else:
            action = table.best_action(state)
        state = state.after(action)
        plies += 1
    assert state.returns()[0] == 1.0
    assert plies == entry.distance


def test_a_table_is_the_same_after_being_saved(table: CheckersTable, tmp_path: Path) -> None:
    path = tmp_path / "checkers.table"
    table.save(path)
    loaded = CheckersTable.load(path)
    assert loaded.pieces == PIECES
    assert loaded.counts() == table.counts()
    for state in some(PIECES, 200):
        assert loaded.probe(state) == table.probe(state)
    with pytest.raises(InvalidTable, match="it holds 'checkers endgames', not 'endgame'"):
        PositionTable.load(path, Checkers())


def test_more_pieces_are_not_in_the_table(table: CheckersTable) -> None:
    start = get_game("checkers").initial_state()
    assert start not in table
    assert next(some(PIECES + 1, 1)) not in table


def test_wrong_wishes_are_told() -> None:
    with pytest.raises(ValueError, match="pieces=5: expected a whole number from 2 to 4"):
        solve_checkers(5)
    with pytest.raises(TimeoutError, match="with 4 pieces"):
        solve_checkers(4, limit=Limit(nodes=500))
