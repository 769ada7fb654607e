"""Which processor a box runs on: equal time begins with a processor of one's own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

__all__ = ["Cores"]


class Cores:
    """Gives out processors, always one of those that fewest boxes have.

    >>> cores = Cores([2, 3])
    >>> cores.take(), cores.take(), cores.take()
    (2, 3, 2)
    >>> cores.give_back(3); cores.take()
    3
    """

    def __init__(self, cores: Iterable[int]) -> None:
        self._used: Counter[int] = Counter(dict.fromkeys(cores, 0))

    @classmethod
    def of_this_machine(cls) -> Cores:
        """Return those that this process may use; of three and more the first is left to the
        runner.
        """
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return cls(cores[1:] if len(cores) > 2 else cores)

    def __len__(self) -> int:
        return len(self._used)

    @property
    def shared(self) -> bool:
        """True if some processor has more than one box now."""
        return any(count > 1 for count in self._used.values())

    def take(self) -> int | None:
        """Return a processor for a new box; None if there is none to name."""
        if not self._used:
            return None
        core = min(self._used, key=lambda each: (self._used[each], each))
        self._used[core] += 1
        return core

    def give_back(self, core: int) -> None:
        """A box is gone."""
        self._used[core] -= 1
