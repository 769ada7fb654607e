"""The table of positions: bounded, sound, and of use from one ply to the next."""

from __future__ import annotations

import dataclasses
import random
import threading
from typing import Any, ClassVar

import pytest

from plyhouse.games.base import TERMINAL, Game, GameInfo
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, TranspositionTable, alpha_beta
from plyhouse.search.kernels.transposition_table import EXACT, LOWER, NOTHING, UPPER, Table
from plyhouse.search.trees import transpositions


def test_a_table_never_holds_more_than_its_size() -> None:
    for size in (2, 3, 10, 64):
        table = Table(size)
        rng = random.Random(size)
        for _ in range(5000):
            key = rng.randrange(200)
            if rng.random() < 0.5:
                table.put(key, float(key), rng.randrange(9), EXACT, key)
            else:
                entry = table.get(key)
                assert entry is None or (entry.value, entry.action) == (float(key), key)
            assert table.count() <= size
        assert table.count() == size


def test_the_deeper_of_two_old_entries_survives() -> None:
    table = Table(100)
    for key in range(100):
        table.put(key, 0.0, 50 if key % 10 == 0 else 2, EXACT, NOTHING)
    for key in range(100, 150):
        table.put(key, 0.0, 1, EXACT, NOTHING)
    assert sum(table.get(key) is not None for key in range(0, 100, 10)) == 10
    assert sum(table.get(key) is not None for key in range(100)) == 50
    assert all(table.get(key) is not None for key in range(100, 150))


def test_what_is_asked_for_stays() -> None:
    table = Table(50)
    for key in range(1000):
        table.put(key, 0.0, 1, EXACT, NOTHING)
        kept = table.get(0)
        assert kept is not None


def test_a_deeper_result_is_not_replaced_by_a_lesser_one_of_its_kind() -> None:
    table = Table(10)
    table.put("key", 0.5, 6, EXACT, 1)
    table.put("key", 0.1, 2, EXACT, 2)
    entry = table.get("key")
    assert entry is not None
    assert (entry.value, entry.depth, entry.action) == (0.5, 6, 2)
    table.put("key", 0.2, 6, LOWER, 3)
    table.put("key", 0.3, 7, UPPER, NOTHING)
    entry = table.get("key")
    assert entry is not None
    assert (entry.value, entry.depth, entry.bound, entry.action) == (0.3, 7, UPPER, 3)


def test_keys_with_equal_hashes_are_kept_apart() -> None:
    table = Table(10)
    keys = [5 + k * (2**61 - 1) for k in range(4)]
    assert len({hash(key) for key in keys}) == 1
    for number, key in enumerate(keys):
        table.put(key, float(number), 1, EXACT, NOTHING)
    for number, key in enumerate(keys):
        entry = table.get(key)
        assert entry is not None
        assert entry.value == float(number)


def test_a_table_can_be_freed_little_by_little() -> None:
    table = Table(100)
    for key in range(160):
        table.put(key, 0.0, 1, EXACT, NOTHING)
    assert table.drop(30)
    assert table.count() == 70
    assert table.drop(60)
    assert not table.drop(60)
    assert table.count() == 0
    assert not table.drop(1)


def test_a_table_of_one_search_is_freed_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    drop_slowly = transpositions._drop_slowly

    def watched(table: Table) -> None:
        freed.append(table.count())
        drop_slowly(table)
        freed.append(table.count())

    monkeypatch.setattr(transpositions, "CHUNK", 100)
    monkeypatch.setattr(transpositions, "_drop_slowly", watched)
    before = set(threading.enumerate())
    game = get_game("connect_four(columns=8)")
    alpha_beta(game, game.initial_state(), Limit(nodes=20_000))
    for thread in set(threading.enumerate()) - before:
        thread.join()
    assert len(freed) == 2
    assert freed[0] > freed[1] == 0


@pytest.mark.parametrize("size", [0, 1, -5])
def test_a_table_needs_room(size: int) -> None:
    with pytest.raises(ValueError, match=f"size={size}.*at least 2 entries"):
        TranspositionTable(size)
    with pytest.raises(TypeError, match="whole number"):
        TranspositionTable(2.5)  # type: ignore[arg-type]


def test_a_table_kept_from_ply_to_ply_saves_nodes_and_changes_nothing() -> None:
    game = get_game("connect_four(columns=8)")
    table = TranspositionTable(50_000)
    state: Any = game.initial_state()
    kept = anew = 0
    while state.to_move >= 0:
        if state.to_move == 0:
            limit = Limit(depth=6)
            with_table = alpha_beta(game, state, limit, deepen=True, table=table, practical=False)
            fresh = alpha_beta(game, state, limit, deepen=True, practical=False)
            kept += with_table.nodes
            anew += fresh.nodes
            # Here a position tells its ply, so it was seen at most as deep as now, or solved.
            assert with_table.value == fresh.value
            state = state.after(with_table.action)
        else:
            state = state.after(state.actions()[-1])
    assert kept < anew
    assert len(table) <= table.size
    assert repr(table) == f"<TranspositionTable {len(table)} of 50000>"
    table.clear()
    assert len(table) == 0


def test_what_was_solved_is_known_at_once() -> None:
    game = get_game("connect_four(columns=4,rows=4)")
    state: Any = game.initial_state()
    table = TranspositionTable()
    first = alpha_beta(game, state, deepen=True, table=table)
    again = alpha_beta(game, state, deepen=True, table=table)
    assert (first.exact, again.exact) == (True, True)
    assert again.value == first.value
    assert again.nodes < first.nodes / 50


def lowest(state: Any, seat: int) -> float:
    return -0.5


def highest(state: Any, seat: int) -> float:
    return 0.5


def test_values_of_another_view_are_forgotten() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    other: Any = state.after(4)
    limit = Limit(depth=4)
    table = TranspositionTable()
    for where, options in (
        (state, {}),
        (other, {}),  # the other seat searches
        (state, {"evaluate": lowest}),
        (state, {"evaluate": highest}),
        (state, {"heuristic": False}),
        (state, {}),
    ):
        fresh = alpha_beta(game, where, limit, deepen=True, **options)
        shared = alpha_beta(game, where, limit, deepen=True, table=table, **options)
        assert (shared.value, shared.nodes) == (fresh.value, fresh.nodes), options
    small = get_game("connect_four(columns=5)")
    fresh = alpha_beta(small, small.initial_state(), limit, deepen=True)
    shared = alpha_beta(small, small.initial_state(), limit, deepen=True, table=table)
    assert (shared.value, shared.nodes) == (fresh.value, fresh.nodes)


def test_a_table_belongs_to_one_search_at_a_time() -> None:
    game = get_game("connect_four")
    table = TranspositionTable()

    def nested(result: Any) -> None:
        with pytest.raises(ValueError, match="in use by another search"):
            alpha_beta(game, game.initial_state(), Limit(nodes=100), table=table)
        with pytest.raises(ValueError, match="clear it when that is over"):
            table.clear()
        raise RuntimeError("seen")

    with pytest.raises(RuntimeError, match="seen"):
        alpha_beta(game, game.initial_state(), Limit(nodes=500, report=nested), table=table)
    # After an exception, it is free again.
    assert alpha_beta(game, game.initial_state(), Limit(nodes=500), table=table).depth > 0


def test_an_estimate_like_a_win_is_not_taken_for_one_later() -> None:
    game = get_game("connect_four(columns=4,rows=4)")
    state: Any = game.initial_state()
    table = TranspositionTable()

    def boastful(state: Any, seat: int) -> float:
        return 1.0

    for depth in (3, 5, 16):
        result = alpha_beta(
            game,
            state,
            Limit(depth=depth),
            deepen=True,
            table=table,
            evaluate=boastful,
            endings=False,
        )
    assert (result.depth, result.exact, result.value) == (16, True, 0.0)


class Hike:
    """Seat 0 walks on a line and may turn back; seat 1 only waits.  Being at the end wins,
    and after 60 plies it is a draw.  The key is the place alone, as in games whose keys
    leave out counters.
    """

    __slots__ = ("place", "ply", "to_move")

    def __init__(self, place: int, ply: int) -> None:
        self.place = place
        self.ply = ply
        self.to_move = TERMINAL if place == 8 or ply >= 60 else ply % 2

    def actions(self) -> tuple[int, ...]:
        return (-1, 1) if self.to_move == 0 else (0,)

    def after(self, action: int) -> Hike:
        return Hike(max(self.place + action, 0), self.ply + 1)

    def returns(self) -> tuple[float, float]:
        return (100.0, -100.0) if self.place == 8 else (0.0, 0.0)

    def key(self) -> tuple[int, int]:
        return (self.place, self.to_move)


def test_a_win_known_from_the_table_is_also_reached(tree: Any) -> None:
    game: Game = tree(0.0)[0]

    class Walk(type(game)):  # type: ignore[misc]
        info: ClassVar[GameInfo] = dataclasses.replace(game.info, complete_keys=False)

    table = TranspositionTable()
    state = Hike(1, 0)
    while state.to_move != TERMINAL:
        action = 0
        if state.to_move == 0:
            result = alpha_beta(Walk(), state, Limit(depth=16), deepen=True, table=table)
            assert result.value == 100.0
            action = result.action
        state = state.after(action)
    assert state.ply == 13


def test_a_third_repetition_in_chess_is_a_draw_whatever_the_table_says() -> None:
    game = get_game('chess(fen="7k/8/8/8/8/8/1R6/K7 w - - 0 1")')
    state: Any = game.initial_state()
    table = TranspositionTable()
    for text in ("b2b3", "h8g8", "b3b2", "g8h8") * 2:
        if state.to_move == 0:
            alpha_beta(game, state, Limit(depth=3), deepen=True, table=table)
        action = game.parse(state, text)
        before, state = state, state.after(action)
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)
    # Black, who is losing, repeats; the table knows the position after it as lost.
    table = TranspositionTable()
    alpha_beta(game, before, Limit(depth=4), deepen=True, table=table)
    result = alpha_beta(game, before, Limit(depth=4), deepen=True, table=table)
    assert game.format(before, result.action) == "g8h8"
    assert result.value == 0.0


def test_keys_of_chess_tell_repetitions_and_the_end_of_the_fifty_moves() -> None:
    game = get_game('chess(fen="7k/8/8/8/8/8/1R6/K7 w - - 0 1")')
    start: Any = game.initial_state()
    state = start
    for text in ("b2b3", "h8g8", "b3b2", "g8h8"):
        state = state.after(game.parse(state, text))
    assert state.position == start.position
    assert state.key() != start.key()
    late: Any = get_game('chess(fen="7k/8/8/8/8/8/1R6/K7 w - - 90 80")').initial_state()
    later: Any = get_game('chess(fen="7k/8/8/8/8/8/1R6/K7 w - - 92 81")').initial_state()
    assert late.key() != later.key() != start.key()
    early: Any = get_game('chess(fen="7k/8/8/8/8/8/1R6/K7 w - - 20 80")').initial_state()
    assert early.key() == start.key()
