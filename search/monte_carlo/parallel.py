"""Root-parallel Monte Carlo tree search: independent trees in several processes, added up.

Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", Computers and Games
2008.  Threads would not help: a search holds the interpreter lock.

Each worker searches with a different seed, and the visits and values of the root's actions are
added up.  Two trees of n simulations know less than one of 2 n, but need half of the time.

The workers are fresh interpreters (``spawn``), so a script that searches in parallel needs the
usual ``if __name__ == "__main__":``, and an ``evaluate`` must be a function of a module.  A worker
that dies is left out of the result and replaced at the next search.  Ctrl-C reaches the caller
only: it ends the workers and then raises `KeyboardInterrupt`.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Self

from plyhouse.games.base import Game
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.limit import Limit, SearchResult, part_of
from plyhouse.search.monte_carlo.mcts import mcts
from plyhouse.search.monte_carlo.simulating import checked_whole, most_simulations

__all__ = ["ParallelSearch", "WorkersLost", "parallel_mcts"]

UNLIMITED: Final = Limit()
EARLY: Final = 0.01
"""Seconds before the deadline at which workers stop, for their answers to arrive."""
GRACE: Final = 0.05
"""Seconds after the deadline until answers that are still missing are done without."""
CHECK: Final = 0.25
"""Seconds between two looks at whether the workers live."""


class WorkersLost(RuntimeError):  # noqa: N818 - it names what happened
    """Every worker process ended without an answer; the message has their exit codes."""


@dataclass
class _Worker:
    process: Any
    pipe: Connection


def parallel_mcts(
    game: Game, state: Any, limit: Limit = UNLIMITED, *, workers: int, seed: int = 0, **options: Any
) -> SearchResult:
    """Search once with so many processes; `ParallelSearch` keeps them for the next search.

    Starting the processes takes some tenths of a second, within the time of the limit.
    """
    started = limit.clock()
    with ParallelSearch(workers) as search:
        search.start()
        if limit.time is not None:
            passed = (limit.clock() - started) / 1e9
            limit = replace(limit, time=max(0.0, limit.time - passed))
        return search.mcts(game, state, limit, seed=seed, **options)


class ParallelSearch:
    """Processes that search the same position; a context manager, which ends them."""

    def __init__(self, workers: int) -> None:
        self.workers = checked_whole("ParallelSearch", "workers", workers, 1)
        self._context = multiprocessing.get_context("spawn")
        self._running: list[_Worker] = []
        self._asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def start(self) -> None:
        """Start the workers that do not run, and wait until they are ready."""
        self._running = [worker for worker in self._running if worker.process.is_alive()]
        fresh = []
        try:
            while len(self._running) < self.workers:
                ours, theirs = self._context.Pipe()
                process = self._context.Process(target=_work, args=(theirs,), daemon=True)
                worker = _Worker(process, ours)
                process.start()
                theirs.close()  # so that its end is heard
                self._running.append(worker)
                fresh.append(worker)
            for worker in fresh:
                worker.pipe.recv()
        except EOFError:
            codes = _exit_codes(fresh)
            self.close()
            raise WorkersLost(
                f"a worker process ended while it started (exit codes {codes}); a script needs "
                'if __name__ == "__main__": around what it does'
            ) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the workers, busy or not."""
        running, self._running = getattr(self, "_running", []), []
        for worker in running:
            worker.pipe.close()
            worker.process.terminate()
        for worker in running:
            worker.process.join(1.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()

    def mcts(
        self, game: Game, state: Any, limit: Limit = UNLIMITED, *, seed: int = 0, **options: Any
    ) -> SearchResult:
        """As `plyhouse.search.monte_carlo.mcts.mcts`, with its options, by all workers together.

        ``simulations`` and ``nodes`` are shared out between the workers, and the same seed gives
        the same result under a limit of simulations.  ``limit.report`` is called once, at the end.

        Raises what the searches raise, and `WorkersLost` if no worker is left to answer.
        """
        started = time.monotonic()
        require_fit("mcts", game, state)
        try:
            self.start()
            answers = self._ask(game, state, limit, seed, options, started)
        except BaseException:
            self.close()  # what still runs would answer the next question with this one's
            raise
        result = _merged(state, answers, time.monotonic() - started)
        if limit.report is not None:
            limit.report(result)
        return result

    def _ask(
        self,
        game: Game,
        state: Any,
        limit: Limit,
        seed: int,
        options: dict[str, Any],
        started: float,
    ) -> list[SearchResult]:
        """Send the task to all workers and gather what comes back."""
        simulations = most_simulations(limit)
        rng = random.Random(seed)
        self._asked += 1
        waiting: dict[Connection, int] = {}
        lost: list[_Worker] = []
        for place, worker in enumerate(self._running):
            left = None
            if limit.time is not None:
                left = max(0.0, limit.time - EARLY - (time.monotonic() - started))
            share = Limit(
                time=left,
                depth=limit.depth,
                nodes=part_of(limit.nodes, self.workers, place),
                simulations=part_of(simulations, self.workers, place),
            )
            own_seed = rng.getrandbits(62)
            task = pickle.dumps((game, state, share, own_seed, options))
            try:
                worker.pipe.send((self._asked, task))
                waiting[worker.pipe] = place
            except (BrokenPipeError, ConnectionResetError):
                lost.append(worker)
        answers: dict[int, SearchResult] = {}
        while waiting:
            seconds = CHECK
            if limit.time is not None:
                seconds = limit.time + GRACE - (time.monotonic() - started)
                if seconds <= 0 and answers:
                    break
                seconds = min(CHECK, max(seconds, 0.001))
            for ready in wait(list(waiting), seconds):
                pipe = next(pipe for pipe in waiting if pipe is ready)
                place = waiting[pipe]
                try:
                    number, answer = pipe.recv()
                except (EOFError, ConnectionResetError):
                    lost.append(self._running[place])
                    del waiting[pipe]
                    continue
                if number != self._asked:
                    continue  # it came too late for the question before
                del waiting[pipe]
                if isinstance(answer, BaseException):
                    raise answer
                answers[place] = answer
        if not answers:
            raise WorkersLost(f"no worker answered; their exit codes are {_exit_codes(lost)}")
        for worker in lost:
            self._running.remove(worker)
            worker.process.join(1.0)
        return [answers[place] for place in sorted(answers)]


def _exit_codes(workers: list[_Worker]) -> str:
    for worker in workers:
        worker.process.join(1.0)
    return ", ".join(str(worker.process.exitcode) for worker in workers)


def _work(pipe: Connection) -> None:
    """Run a worker: answer requests until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides
    master = os.getppid()

    def only_for_the_living(result: SearchResult) -> None:
        if os.getppid() != master:
            os._exit(1)

    pipe.send("ready")
    while True:
        try:
            number, task = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Any
        try:
            # Decode here, so that failed imports in this process are reported, too.
            game, state, limit, seed, options = pickle.loads(task)  # noqa: S301 - our own parent's
            answer = mcts(
                game, state, replace(limit, report=only_for_the_living), seed=seed, **options
            )
        except Exception as error:  # told to the caller, who raises it
            answer = error
        try:
            pipe.send((number, answer))
        except (BrokenPipeError, ConnectionResetError):
            return


def _merged(state: Any, answers: list[SearchResult], seconds: float) -> SearchResult:
    """Add up the searches: visits as they are, values by their visits."""
    visits: dict[Any, int] = {}
    values: dict[Any, float] = {}
    for action in state.actions():
        counts = [answer.visits.get(action, 0) for answer in answers]
        if sum(counts):
            visits[action] = sum(counts)
            parts = zip(answers, counts, strict=True)
            values[action] = sum(
                answer.values[action] * count for answer, count in parts if count
            ) / sum(counts)
    proven = next((answer for answer in answers if answer.exact), None)
    best = answers[0].action
    if proven is not None:
        best = proven.action
    elif visits:
        # A worker leaves proven losses alone, however often it had tried them before.
        chosen = {answer.action for answer in answers}
        best = max(
            [action for action in visits if action in chosen],
            key=lambda action: (visits[action], values[action]),
        )
    leader = proven or max(
        [answer for answer in answers if answer.action == best],
        key=lambda answer: answer.visits.get(best, 0),
    )
    return SearchResult(
        action=best,
        value=leader.value if proven is not None else values.get(best, 0.0),
        pv=leader.pv,
        depth=max(answer.depth for answer in answers),
        nodes=1 + sum(answer.nodes - 1 for answer in answers),
        time=seconds,
        values=values,
        exact=proven is not None,
        visits=visits,
        simulations=sum(answer.simulations for answer in answers),
    )
