"""Retrograde analysis: perfect play, worked out backwards from all ends of a game.

T. Stroehlein, "Untersuchungen ueber kombinatorische Spiele" (1970); K. Thompson, "Retrograde
analysis of certain endgames", ICCA Journal 9 (1986); for checkers J. Schaeffer et al., "Checkers
is solved", Science 317 (2007), see `plyhouse.search.tables.checkers_endgames`.

Unlike a forward search it has no depth limit.  It finds the distance of every win, and values
endless play as a draw.  It needs room for every position.

>>> from plyhouse.games import get_game
>>> game = get_game("hexapawn")
>>> solve(game).probe(game.initial_state())  # the seat that moves first loses in 6 plies
Entry(value=-1.0, distance=6)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tables.endgame_table import EndgameTable, Entry
from plyhouse.search.tables.positions import (
    MOST,
    Hashes,
    Key,
    TooManyPositions,
    place_of,
    reachable,
    sorted_hashes,
)
from plyhouse.search.tables.table_file import InvalidTable, TableFile, read_table

__all__ = [
    "DRAW",
    "FARTHEST",
    "OPEN",
    "PositionTable",
    "TooManyPositions",
    "backwards",
    "retrograde",
    "solve",
]

Codes = NDArray[np.int16]
Numbers = NDArray[np.int32]

DRAW: Final = 0
FARTHEST: Final = 32_000
"""Most plies to a win that a code can hold."""
OPEN: Final = 32_767
"""Code of an unsolved position, given to `backwards`."""


def backwards(
    movers: NDArray[np.int8] | None,
    degrees: Numbers,
    targets: Numbers,
    codes: Codes,
    step: Callable[[int], None] | None = None,
) -> Codes:
    """Solve all positions whose code is `OPEN`; the others are known already.

    Position i has ``degrees[i]`` edges, which lie one position after the other in ``targets``.  A
    code is 0 for a draw, d + 1 for a win of seat 0 in d plies, and -(d + 1) for a win of seat 1.
    The winner takes the shortest way and the loser the longest.  A position that nobody can force
    to an end, such as one in a loop, is a draw.  Without ``movers`` the turn passes with every ply,
    and codes are those of the seat to move.  ``step`` is called with every distance done.

    Vectorised: a step handles all positions of one distance at once.  Three positions in a row, of
    which the last is lost for the seat to move, are won in 1 ply and lost in 2:

    >>> steps = np.array([1, 1, 0], np.int32), np.array([1, 2], np.int32)
    >>> backwards(None, *steps, np.array([OPEN, OPEN, -1], np.int16)).tolist()
    [-3, 2, -1]
    """
    count = len(codes)
    unsolved = codes == OPEN
    codes = np.where(unsolved, DRAW, codes).astype(np.int16)
    sources = np.repeat(np.arange(count, dtype=np.int32), degrees)
    order = np.argsort(targets, kind="stable")
    parents = sources[order]
    del sources, order
    begin = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(targets, minlength=count), out=begin[1:])
    left = degrees.astype(np.int32)
    known = np.flatnonzero(~unsolved & (codes != DRAW))
    distances = np.abs(codes[known].astype(np.int32)) - 1
    by_distance = np.argsort(distances, kind="stable")
    known, distances = known[by_distance], distances[by_distance]
    new = np.zeros(0, np.int64)
    distance = 0
    last = int(distances[-1]) if len(distances) else -1
    while len(new) or distance <= last:
        if distance >= FARTHEST:
            raise OverflowError(f"a win takes more than {FARTHEST} plies")
        low, high = np.searchsorted(distances, (distance, distance + 1))
        frontier = np.concatenate((new, known[low:high]))
        found = []
        for winner, sign in ((0, 1), (1, -1)):
            won = frontier[codes[frontier] * sign > 0]
            before = parents[_spans(begin[won], begin[won + 1])]
            before = before[unsolved[before]]
            own = np.full(len(before), sign < 0) if movers is None else movers[before] == winner
            choosing = np.unique(before[own])
            forced, edges = np.unique(before[~own], return_counts=True)
            left[forced] -= edges.astype(np.int32)
            decided = np.concatenate((choosing, forced[left[forced] == 0]))
            unsolved[decided] = False
            codes[decided] = (sign if movers is not None else -sign) * (distance + 2)
            found.append(decided)
        new = np.concatenate(found)
        if step is not None:
            step(distance)
        distance += 1
    return codes


def _spans(starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[np.int64]:
    """Return all numbers from each start up to its stop, one span after the other."""
    lengths = stops - starts
    total = int(lengths.sum())
    if total == 0:
        return np.zeros(0, np.int64)
    offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    spans: NDArray[np.int64] = offsets + np.arange(total)
    return spans


UNLIMITED = Limit()
KIND: Final = "endgame"


class PositionTable(EndgameTable):
    """A table of positions found by going through the game, looked up by their keys.

    Keys are kept as 64 bits (`position_hash`); `solve` makes sure that no two positions of
    the table share theirs.
    """

    def __init__(
        self,
        game: Game,
        hashes: Hashes,
        codes: NDArray[np.int16],
        worth: float,
        key: Key | None = None,
    ) -> None:
        super().__init__(game, worth)
        self.hashes = hashes
        self.codes = codes
        self.key = key

    def __len__(self) -> int:
        return len(self.hashes)

    def get(self, state: Any) -> Entry | None:
        """Return the value of the position; None if it is not in the table."""
        if state.to_move == TERMINAL:
            value = float(state.returns()[0]) + 0.0
            return Entry(value, 0 if value else None)
        at = place_of(state, self.hashes, self.key)
        return None if at is None else decoded(int(self.codes[at]), state.to_move, self.worth)

    def save(self, path: str | Path) -> None:
        """Write the table into a file, about 9 bytes for a position."""
        arrays: dict[str, NDArray[Any]] = {"hashes": self.hashes, "codes": self.codes}
        TableFile(KIND, self.game.spec, {"worth": self.worth}, arrays).save(path)

    @classmethod
    def load(cls, path: str | Path, game: Game, *, key: Key | None = None) -> PositionTable:
        """Read a table; ``key`` must be the one it was made with.

        Raises `InvalidTable` if the file is damaged or for another game, and `OSError`.
        """
        file = read_table(path, KIND, game)
        hashes, codes = file.arrays["hashes"], file.arrays["codes"]
        if len(hashes) != len(codes):
            raise InvalidTable(path, f"it has {len(hashes)} positions but {len(codes)} values")
        return cls(game, hashes, codes, float(file.facts["worth"]), key)


def decoded(code: int, seat: int, worth: float) -> Entry:
    """Return the entry of a code (see `backwards`) for the seat that is to move."""
    if code == DRAW:
        return Entry(0.0, None)
    won = (code > 0) == (seat == 0)
    return Entry(worth if won else -worth, abs(code) - 1)


def solve(
    game: Game,
    starts: Iterable[Any] | None = None,
    *,
    key: Key | None = None,
    fresh: Callable[[Any], Any] | None = None,
    most: int = MOST,
    limit: Limit = UNLIMITED,
    progress: Callable[[str], None] | None = None,
) -> PositionTable:
    """Solve every position that can follow the ``starts`` (by default, the whole game).

    ``key(state)`` identifies a position; the default is ``state.key()``.  If states remember their
    past, for instance for draws by repetition, give a ``key`` without it and a ``fresh(state)``
    that returns the same position without a past.  The table then values play under rules without
    counters, in which endless repetition is a draw.

    ``progress`` is called from time to time with a text about the progress.  Raises `GameMismatch`
    for a game that does not fit, `TooManyPositions` when there are more than ``most``, and
    `TimeoutError` when the limit's time or nodes do not suffice.
    """
    poll = Poll(limit)
    try:
        graph = reachable("retrograde", game, starts, key, fresh, most, poll)
        if progress is not None:
            progress(f"{len(graph.index):,} positions, {len(graph.targets):,} edges")
        worth = _worth(game, graph.results)
        hashes, order = sorted_hashes(graph.index)
        codes = _codes(graph, poll, progress)
    except SearchStopped:
        raise TimeoutError("the limit was reached before all positions were solved") from None
    return PositionTable(game, hashes, codes[order], worth, key)


def _worth(game: Game, results: list[float]) -> float:
    """Return of a win; raises `GameMismatch` if some wins are greater than others."""
    sizes = {abs(result) for result in results if result}
    if len(sizes) > 1:
        raise GameMismatch(
            "retrograde",
            game.spec,
            f"its returns differ in size ({', '.join(f'{size:g}' for size in sorted(sizes))})",
            "it solves games that are won, drawn or lost",
        )
    return sizes.pop() if sizes else float(game.info.max_return)


def _codes(
    graph: Any, poll: Callable[[int], int], progress: Callable[[str], None] | None
) -> NDArray[np.int16]:
    """Solve the graph; the results become nodes behind the positions."""
    count, ends = len(graph.index), len(graph.results)
    targets = np.frombuffer(graph.targets, np.int32).copy()
    over = targets < 0
    targets[over] = count - 1 - targets[over]
    movers = np.concatenate((np.frombuffer(graph.movers, np.int8), np.zeros(ends, np.int8)))
    degrees = np.concatenate((np.frombuffer(graph.degrees, np.int32), np.zeros(ends, np.int32)))
    codes = np.full(count + ends, OPEN, np.int16)
    codes[count:] = np.sign(graph.results)

    def step(distance: int) -> None:
        poll(graph.nodes)
        if progress is not None and distance % 10 == 9:
            progress(f"all that ends within {distance + 1} plies is solved")

    return backwards(movers, degrees, targets, codes, step)[:count]


def retrograde(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    table: EndgameTable | None = None,
    seed: int = 0,
    most: int = MOST,
) -> SearchResult:
    """Play perfectly: look the position up in ``table``, or solve all that can follow it.

    ``values`` has the exact value of every action.  The search picks the quickest of several wins
    and the slowest of several losses.  A ``seed`` other than 0 breaks ties at random, repeatably.
    When the limit is reached before everything is solved, the result is the first action with depth
    0 and the value 0: partial results say nothing.

    Raises `GameMismatch` for a game that does not fit, `TooManyPositions`, and `NotInTable`
    if the table given does not hold the position.
    """
    poll = Poll(limit)
    require_fit("retrograde", game, state)
    actions = list(state.actions())
    if seed:
        random.Random(seed).shuffle(actions)
    nodes = 1
    if table is None:
        try:
            table = solve(game, [state], most=most, limit=limit)
        except TimeoutError:
            return SearchResult(actions[0], 0.0, (actions[0],), 0, nodes, poll.seconds())
        nodes = len(table)
    known = table.values(state)
    action = table.best_of(state, {choice: known[choice] for choice in actions})
    line = [action]
    here = state.after(action)
    while here.to_move != TERMINAL and known[action].distance is not None:
        line.append(table.best_action(here))
        here = here.after(line[-1])
    result = SearchResult(
        action=action,
        value=known[action].value,
        pv=tuple(line),
        depth=len(line),
        nodes=nodes,
        time=poll.seconds(),
        values={choice: known[choice].value for choice in actions},
        exact=True,
        source="table",
    )
    if limit.report is not None:
        limit.report(result)
    return result
