"""`Endings`: what a game knows about its last plies, exactly, for searches to ask.

Some games can solve their last plies faster than the general search, for instance by a table or in
one loop over machine words.  Such a game makes an object for each search by its states'
``endings(meter)``, one of the optional hooks of `plyhouse.games.base.State`.  Alpha-beta then asks
it at positions near the end instead of searching below them; how near is for the game to say.  The
value must be that of minimax to the end of the game, so that nothing but the speed changes.

>>> from plyhouse.games import get_game
>>> from plyhouse.games.endgames import Meter
>>> state = get_game("othello").initial_state()
>>> endings = state.endings(Meter())
>>> endings.value(state, 2, -1.0, 1.0) is None  # too far from the end for two plies
True
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["Endings", "Meter"]

NEVER: Final = 1 << 60
"""Positions after which a meter that nobody watches asks whether to go on."""


def go_on(nodes: int) -> int:
    """Return the watch of a meter without a limit."""
    return NEVER


@final
class Meter:
    """Counts positions for a search, and raises in the middle of one when its limit is reached.

    ``watch(nodes)`` is called at once, and then at each count of positions that its last call
    returned.  It returns the count at which to call it again, or raises.
    """

    __slots__ = ("due", "nodes", "watch")

    nodes: i64
    due: i64
    watch: Callable[[int], int]

    def __init__(self, watch: Callable[[int], int] = go_on) -> None:
        self.nodes = 0
        self.due = 0
        self.watch = watch

    def visit(self) -> None:
        """Count a position, before it is looked at; raises what ends the search."""
        if self.nodes >= self.due:
            self.due = self.watch(self.nodes)
        self.nodes += 1


@mypyc_attr(allow_interpreted_subclasses=True)
class Endings(metaclass=ABCMeta):
    """Solves positions near the end of one game, for one search; it may remember some."""

    hurries: ClassVar[bool] = False
    """True if ``best(state)`` returns the shortest win, and in a lost position the longest loss."""

    def source(self, state: Any) -> str:
        """Return where the value of a solved position comes from: "endings", or "book"."""
        return "endings"

    def best(self, state: Any) -> Any:
        """Return the action that seems best in a solved position, to be tried first; None if the
        game knows none.
        """
        return None

    @abstractmethod
    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        """Return the mover's value of ``state`` under best play to the end.  None if solving would
        cost more than looking ``depth`` plies ahead.

        Exact inside (alpha, beta), otherwise a bound, which may lie beyond them: as alpha-beta
        returns it.  Call `Meter.visit` for each position looked at, except ``state``.  Let its
        exceptions pass, and leave anything you remember correct when it raises.
        """
