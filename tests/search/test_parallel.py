"""Root-parallel search: repeatable sums, dying workers, no processes left behind."""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.processes import alive

from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, SearchResult, mcts
from plyhouse.search.monte_carlo.parallel import ParallelSearch, WorkersLost, parallel_mcts

GAME = get_game("connect_four")


def dies(state: Any, seat: int) -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


def dies_first(note: Path, state: Any, seat: int) -> float:
    """End the first process that gets here, and only that."""
    try:
        note.touch(exist_ok=False)
    except FileExistsError:
        return 0.0
    return dies(state, seat)


def fails(state: Any, seat: int) -> float:
    raise ZeroDivisionError("no idea")


class OnlyHere:
    """Stands for an estimate whose module a worker cannot import."""

    def __call__(self, state: Any, seat: int) -> float:
        return 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, ("only_here",)


@pytest.fixture(scope="module", autouse=True)
def importable() -> Iterator[None]:
    """Let workers import this module, whose functions they are given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        yield


@pytest.fixture(scope="module")
def pair(importable: None) -> Iterator[ParallelSearch]:
    with ParallelSearch(2) as search:
        yield search


def told(result: SearchResult) -> list[Any]:
    return [
        result.action,
        result.value,
        result.pv,
        dict(result.values),
        dict(result.visits),
        result.simulations,
        result.nodes,
    ]


def test_visits_of_all_workers_are_added_up(pair: ParallelSearch) -> None:
    heard: list[SearchResult] = []
    state: Any = GAME.initial_state()
    result = pair.mcts(GAME, state, Limit(simulations=3001, report=heard.append), seed=5)
    assert result.simulations == sum(result.visits.values()) == 3001
    assert result.action == 4
    assert heard == [result]
    assert told(pair.mcts(GAME, state, Limit(simulations=3001), seed=5)) == told(result)
    assert told(pair.mcts(GAME, state, Limit(simulations=3001), seed=6)) != told(result)
    # Two different trees, not the same one twice.
    alone = mcts(GAME, state, Limit(simulations=1500), seed=5)
    assert result.visits != {action: 2 * count for action, count in alone.visits.items()}


def test_values_are_means_over_all_visits(pair: ParallelSearch) -> None:
    state: Any = GAME.initial_state()
    result = pair.mcts(GAME, state, Limit(simulations=2000), solve=False)
    assert set(result.values) == set(state.actions())
    assert any(0 < abs(value) < 1 for value in result.values.values())
    for action, value in result.values.items():
        total = value * result.visits[action]
        assert total == pytest.approx(round(total), abs=1e-6)  # every playout is -1, 0 or 1


def test_a_proven_result_is_passed_on(pair: ParallelSearch) -> None:
    state: Any = GAME.initial_state()
    for action in (4, 1, 4, 1, 4, 2):
        state = state.after(action)
    result = pair.mcts(GAME, state, Limit(simulations=1000))
    assert (result.action, result.value, result.exact) == (4, 1.0, True)


def test_time_limits_hold_for_all(pair: ParallelSearch) -> None:
    pair.start()
    seconds = 0.1
    while pair.mcts(GAME, GAME.initial_state(), Limit(time=seconds)).simulations <= 2:
        seconds *= 2  # the machine was busy
        assert seconds < PATIENCE
    assert pair.mcts(GAME, GAME.initial_state(), Limit(time=0)).action in range(1, 8)


def test_what_a_search_raises_reaches_the_caller(pair: ParallelSearch) -> None:
    with pytest.raises(ValueError, match="playouts=-1"):
        pair.mcts(GAME, GAME.initial_state(), Limit(simulations=10), playouts=-1)
    with pytest.raises(ZeroDivisionError, match="no idea"):
        pair.mcts(GAME, GAME.initial_state(), Limit(simulations=10), evaluate=fails)
    with pytest.raises(ModuleNotFoundError, match="only_here"):
        pair.mcts(GAME, GAME.initial_state(), Limit(simulations=10), evaluate=OnlyHere())
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pair.mcts(GAME, GAME.initial_state(), Limit(simulations=10), evaluate=lambda *_: 0.0)
    with pytest.raises(GameMismatch):
        pair.mcts(get_game("kuhn_poker"), get_game("kuhn_poker").initial_state())
    assert pair.mcts(GAME, GAME.initial_state(), Limit(simulations=10)).simulations == 10


def test_a_worker_that_dies_is_left_out_and_replaced(pair: ParallelSearch, tmp_path: Path) -> None:
    evaluate = functools.partial(dies_first, tmp_path / "somebody died")
    result = pair.mcts(GAME, GAME.initial_state(), Limit(simulations=100), evaluate=evaluate)
    assert result.simulations == 50
    assert len(pair._running) == 1
    again = pair.mcts(GAME, GAME.initial_state(), Limit(simulations=100))
    assert again.simulations == 100
    assert len(pair._running) == 2


def test_when_all_die_it_says_so() -> None:
    with ParallelSearch(1) as search:
        with pytest.raises(WorkersLost, match="exit codes are -9"):
            search.mcts(GAME, GAME.initial_state(), Limit(simulations=10), evaluate=dies)
        assert search.mcts(GAME, GAME.initial_state(), Limit(simulations=10)).simulations == 10


def test_once_and_no_process_is_left() -> None:
    before = set(multiprocessing.active_children())
    result = parallel_mcts(GAME, GAME.initial_state(), Limit(simulations=50), workers=1, seed=3)
    assert result.simulations == 50
    assert set(multiprocessing.active_children()) <= before


def test_workers_must_be_a_number() -> None:
    with pytest.raises(ValueError, match=r"ParallelSearch\(workers=0\): expected at least 1"):
        ParallelSearch(0)


def test_ctrl_c_ends_the_workers_and_raises(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            from plyhouse.games.registry import get_game
            from plyhouse.search import Limit
            from plyhouse.search.monte_carlo.parallel import ParallelSearch

            if __name__ == "__main__":
                game = get_game("connect_four")
                search = ParallelSearch(2)
                search.start()
                try:
                    print(*[worker.process.pid for worker in search._running], flush=True)
                    search.mcts(game, game.initial_state(), Limit(time=60))
                except KeyboardInterrupt:
                    print("interrupted", flush=True)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends the signal to the whole group
    )
    assert process.stdout is not None
    workers = [int(number) for number in process.stdout.readline().split()]
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert out == "interrupted\n", err
    assert "Traceback" not in err
    assert len(workers) == 2
    assert not any(alive(worker) for worker in workers)


def test_workers_end_when_their_master_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import time
            from plyhouse.search.monte_carlo.parallel import ParallelSearch

            if __name__ == "__main__":
                search = ParallelSearch(1)
                search.start()
                print(search._running[0].process.pid, flush=True)
                time.sleep(60)
            """
        )
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.kill()
    process.communicate()
    end = time.monotonic() + PATIENCE
    while alive(worker) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(worker)
