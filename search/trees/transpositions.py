"""`TranspositionTable`: what alpha-beta keeps of positions, also from one ply to the next.

>>> from plyhouse.games import get_game
>>> from plyhouse.search import Limit, alpha_beta
>>> game = get_game("connect_four")
>>> table = TranspositionTable(100_000)
>>> first = alpha_beta(game, game.initial_state(), Limit(depth=7), table=table)
>>> again = alpha_beta(game, game.initial_state(), Limit(depth=7), table=table)
>>> first.value == again.value, again.nodes < first.nodes / 100
(True, True)
"""

from __future__ import annotations

import threading
import time
from typing import Any, Final

from plyhouse.search.kernels.transposition_table import Table

__all__ = ["DEFAULT_SIZE", "TranspositionTable"]

CHUNK: Final = 4000
"""Entries freed at a time, in less than a millisecond."""

DEFAULT_SIZE: Final = 1 << 18
"""Entries of a table of which nothing else is said: about 50 MB where keys are numbers."""


class TranspositionTable:
    """Memory of at most ``size`` positions, for `plyhouse.search.alpha_beta`.

    Give the same table to the searches of one match: what the last one found is then known
    from the start.  The table serves one search at a time and holds values of one seat, by one
    evaluation and set of options.  A search that differs in any of these empties it first.  (So
    give ``evaluate`` as the same function each time, not as a new ``lambda``.)

    An entry takes about 180 bytes with a number as the key (connect four), and 220 to 290 with
    tuples of a few numbers or the bytes of chess.  The table allocates memory as it fills.  Raises
    `ValueError` for a size below 2, `TypeError` for one that is no whole number.
    """

    def __init__(self, size: int = DEFAULT_SIZE) -> None:
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"TranspositionTable(size={size!r}): expected a whole number")
        if size < 2:
            raise ValueError(f"TranspositionTable(size={size}): expected at least 2 entries")
        self.size = size
        self._table = Table(size)
        self._context: tuple[Any, ...] = ()
        self._searching = False

    def __len__(self) -> int:
        return self._table.count()

    def __repr__(self) -> str:
        return f"<TranspositionTable {len(self)} of {self.size}>"

    def clear(self) -> None:
        """Forget everything; raise `ValueError` while a search uses the table."""
        if self._searching:
            raise ValueError("a search is using this table: clear it when that is over")
        self._table.clear()

    def open(self, context: tuple[Any, ...]) -> Table:
        """Begin a search whose values mean what ``context`` says; for the searches only.

        Raises `ValueError` while another search uses the table.
        """
        if self._searching:
            raise ValueError(
                "this table is in use by another search: give each thread a table of its own"
            )
        if context != self._context:
            self._table.clear()
            self._context = context
        self._searching = True
        return self._table

    def discard(self) -> None:
        """Free the memory of a table that nobody will use again, in the background.

        At once it would take tens of milliseconds, and a search has to answer in time.
        """
        table = self._table
        self._table = Table(self.size)
        if table.drop(CHUNK):
            threading.Thread(target=_drop_slowly, args=(table,), daemon=True).start()

    def close(self) -> None:
        """End the search that called `open`."""
        self._searching = False


def _drop_slowly(table: Table) -> None:
    while table.drop(CHUNK):
        time.sleep(0.001)
