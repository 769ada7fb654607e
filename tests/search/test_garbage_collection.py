"""Full garbage collections are suspended while searches run, and come back."""

from __future__ import annotations

import gc
import threading

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.games.registry import get_game
from plyhouse.search import Limit, SearchResult, alpha_beta, mcts
from plyhouse.search.garbage_collection import NEVER, no_full_collections


def test_young_garbage_is_still_collected_and_the_threshold_restored() -> None:
    before = gc.get_threshold()
    with no_full_collections():
        assert gc.get_threshold() == (*before[:2], NEVER)
        assert gc.isenabled()
        with no_full_collections():
            assert gc.get_threshold()[2] == NEVER
        assert gc.get_threshold()[2] == NEVER, "the outer one still runs"
    assert gc.get_threshold() == before


def test_searches_in_threads_may_overlap() -> None:
    before = gc.get_threshold()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with no_full_collections():
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(PATIENCE)
    with no_full_collections():
        pass
    assert gc.get_threshold()[2] == NEVER
    leave.set()
    thread.join()
    assert gc.get_threshold() == before


@pytest.mark.parametrize("search", [mcts, alpha_beta])
def test_a_search_suspends_them_and_restores_them_however_it_ends(search: object) -> None:
    assert callable(search)
    before = gc.get_threshold()
    game = get_game("connect_four")
    seen: list[int] = []

    def report(result: SearchResult) -> None:
        seen.append(gc.get_threshold()[2])
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        search(game, game.initial_state(), Limit(time=PATIENCE, report=report))
    assert seen[0] == NEVER
    assert gc.get_threshold() == before
