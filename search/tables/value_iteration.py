"""Value iteration: optimal play of games with dice, for all positions at once.

Shapley, "Stochastic games", PNAS 39 (1953); Russell & Norvig, AIMA 4th ed., section 16.2.  For
pig Neller and Presser, "Optimal play of the dice game Pig", The UMAP Journal 25 (2004); see
`plyhouse.search.tables.pig_solution`, which solves the whole game in a second.

Two bounds are iterated side by side, one from the least return and one from the greatest.  The true
value always lies between them, so the error is known.  Source: Haddad and Monmege, "Interval
iteration algorithm for MDPs and IMDPs", Theoretical Computer Science 735, 2018.

>>> from plyhouse.games import get_game
>>> game = get_game("pig(target=10)")
>>> table = iterate_values(game)
>>> round(table.probe(game.initial_state()), 4)  # what seat 0 may expect, from -1 to 1
0.4188
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tables.endgame_table import NotInTable
from plyhouse.search.tables.positions import (
    MOST,
    Hashes,
    Key,
    place_of,
    reachable,
    sorted_hashes,
)
from plyhouse.search.tables.table_file import InvalidTable, TableFile, read_table

__all__ = ["PositionValues", "ValueTable", "iterate_values", "value_iteration"]

UNLIMITED = Limit()
KIND: Final = "values"
Floats = NDArray[np.float64]


class ValueTable(ABC):
    """The value of every position of a game with dice, for seat 0, under optimal play."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def get(self, state: Any) -> float | None:
        """Expected return of seat 0; None if the table does not hold the position."""

    def probe(self, state: Any, seat: int = 0) -> float:
        """Expected return of a seat under optimal play; raises `NotInTable`."""
        value = self.get(state)
        if value is None:
            raise NotInTable(
                f"the table of {self.game.spec} does not hold this position: "
                f"{self.game.describe(state)}"
            )
        return value if seat == 0 else -value + 0.0

    def values(self, state: Any) -> dict[Any, float]:
        """Return the value of every action for the seat that chooses; raise `NotInTable`."""
        return {
            action: self.probe(state.after(action), state.to_move) for action in state.actions()
        }

    def best_action(self, state: Any) -> Any:
        """Return the action worth most, the first of equals; raises `NotInTable`."""
        values = self.values(state)
        return max(values, key=lambda action: values[action])

    def evaluate(self, state: Any, seat: int) -> float:
        """Return the same as `probe`, to be given to a search as its ``evaluate``."""
        return self.probe(state, seat)


class PositionValues(ValueTable):
    """A table of positions found by going through the game, looked up by their keys."""

    def __init__(
        self,
        game: Game,
        hashes: Hashes,
        found: Floats,
        error: float,
        sweeps: int,
        key: Key | None = None,
    ) -> None:
        super().__init__(game)
        self.hashes = hashes
        self.found = found
        self.error = error
        """No value is farther from the true one than this."""
        self.sweeps = sweeps
        """Number of sweeps over all values."""
        self.key = key

    def __len__(self) -> int:
        return len(self.hashes)

    def get(self, state: Any) -> float | None:
        """Expected return of seat 0; None if the table does not hold the position."""
        if state.to_move == TERMINAL:
            return float(state.returns()[0]) + 0.0
        at = place_of(state, self.hashes, self.key)
        return None if at is None else float(self.found[at])

    def save(self, path: str | Path) -> None:
        """Write the table into a file, about 16 bytes for a position."""
        facts = {"error": self.error, "sweeps": self.sweeps}
        arrays: dict[str, NDArray[Any]] = {"hashes": self.hashes, "values": self.found}
        TableFile(KIND, self.game.spec, facts, arrays).save(path)

    @classmethod
    def load(cls, path: str | Path, game: Game, *, key: Key | None = None) -> PositionValues:
        """Read a table; ``key`` must be the one it was made with.

        Raises `InvalidTable` if the file is damaged or for another game, and `OSError`.
        """
        file = read_table(path, KIND, game)
        hashes, found = file.arrays["hashes"], file.arrays["values"]
        if len(hashes) != len(found):
            raise InvalidTable(path, f"it has {len(hashes)} positions but {len(found)} values")
        return cls(game, hashes, found, file.facts["error"], file.facts["sweeps"], key)


def iterate_values(
    game: Game,
    starts: Iterable[Any] | None = None,
    *,
    tolerance: float = 1e-9,
    key: Key | None = None,
    most: int = MOST,
    limit: Limit = UNLIMITED,
    progress: Callable[[int, float], None] | None = None,
) -> PositionValues:
    """Value every position that can follow the ``starts`` (by default, the whole game).

    Stops when the two bounds of every value are less than ``tolerance`` apart; the table's
    ``error`` is what is left.  If a seat can keep a game going forever, the bounds never meet.
    Iteration then ends when they no longer change, and ``error`` shows the gap (`retrograde.solve`
    is for such games, if they have no dice).  ``key(state)`` identifies a position; the default is
    ``state.key()``.  ``progress(sweeps, error)`` is called after every sweep.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` for a bad tolerance.
    Raises `TooManyPositions` if there are more than ``most``, and `TimeoutError` if the limit's
    time or nodes do not suffice.
    """
    if not 1e-14 <= tolerance <= 1:
        raise ValueError(f"tolerance={tolerance!r}: expected a number from 1e-14 to 1")
    poll = Poll(limit)
    try:
        graph = reachable("value_iteration", game, starts, key, None, most, poll)
        low, high, sweeps = _iterate(game, graph, tolerance, poll, progress)
    except SearchStopped:
        raise TimeoutError("the limit was reached before all positions were valued") from None
    hashes, order = sorted_hashes(graph.index)
    middle = (low + high)[order] / 2
    return PositionValues(game, hashes, middle, float((high - low).max()) / 2, sweeps, key)


def _iterate(
    game: Game,
    graph: Any,
    tolerance: float,
    poll: Callable[[int], int],
    progress: Callable[[int, float], None] | None,
) -> tuple[Floats, Floats, int]:
    """Compute lower and upper bounds of all positions until they meet."""
    count = len(graph.index)
    results = np.array(graph.results, np.float64)
    targets = np.frombuffer(graph.targets, np.int32).astype(np.int64)
    targets[targets < 0] = count - 1 - targets[targets < 0]
    weights = np.frombuffer(graph.weights, np.float64)
    movers = np.frombuffer(graph.movers, np.int8)
    degrees = np.frombuffer(graph.degrees, np.int32)
    # One group of edges for each kind of position: maximiser, minimiser, chance.
    groups = []
    for mover, reduce in ((0, np.maximum), (1, np.minimum), (CHANCE, np.add)):
        nodes = np.flatnonzero(movers == mover)
        edges = np.flatnonzero(np.repeat(movers == mover, degrees))
        if len(nodes):
            spans = np.cumsum(degrees[nodes]) - degrees[nodes]
            shares = weights[edges] if mover == CHANCE else None
            groups.append((nodes, targets[edges], spans, shares, reduce))
    values = np.empty((2, count + len(results)))
    values[0, :count], values[1, :count] = game.return_bounds
    values[:, count:] = results
    sweeps = 0
    while True:
        change = 0.0
        for row in values:
            old = row[:count].copy()
            for nodes, children, spans, shares, reduce in groups:
                found = row[children]
                if shares is not None:
                    found = found * shares
                row[nodes] = reduce.reduceat(found, spans)
            change = max(change, float(np.abs(row[:count] - old).max()))
        sweeps += 1
        poll(graph.nodes)
        error = float((values[1, :count] - values[0, :count]).max())
        if progress is not None:
            progress(sweeps, error / 2)
        if error <= tolerance or change <= tolerance * 1e-3:
            return values[0, :count], values[1, :count], sweeps


def value_iteration(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    table: ValueTable | None = None,
    tolerance: float = 1e-9,
    seed: int = 0,
    most: int = MOST,
) -> SearchResult:
    """Play optimally: look the position up in ``table``, or value all that can follow it.

    ``values`` has the value of every action.  A ``seed`` other than 0 chooses at random, but
    repeatably, among actions worth the same.  When the limit is reached before everything is
    valued, the result is the first action with depth 0 and the value 0.

    Raises `GameMismatch` for a game that does not fit, `TooManyPositions`, and `NotInTable` if
    the table given does not hold the position.
    """
    poll = Poll(limit)
    require_fit("value_iteration", game, state)
    actions = list(state.actions())
    if seed:
        random.Random(seed).shuffle(actions)
    nodes = 1
    if table is None:
        try:
            found = iterate_values(game, [state], tolerance=tolerance, most=most, limit=limit)
        except TimeoutError:
            return SearchResult(actions[0], 0.0, (actions[0],), 0, nodes, poll.seconds())
        table, nodes = found, len(found)
    known = table.values(state)
    action = max(actions, key=lambda choice: known[choice])
    result = SearchResult(
        action=action,
        value=known[action],
        pv=(action,),
        depth=1,
        nodes=nodes,
        time=poll.seconds(),
        values={choice: known[choice] for choice in actions},
        exact=True,
    )
    if limit.report is not None:
        limit.report(result)
    return result
