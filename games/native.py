"""The base class of the built-in games' states, and whether they are compiled.

Compiled by mypyc, `NativeState` gives the search kernels fast virtual calls.  Games
written by users need no base class: `plyhouse.games.base.State` is a protocol.

It does not inherit from `abc.ABC`: mypyc gives children of an interpreted class room for weak
references, and frees those together with the object, although others still hold them.

In the modules of the games, states are final native classes; ``free_list_len`` lets a search
that makes one state after the other reuse the memory of the last.  `Game` subclasses may be
subclassed by interpreted code, which mypyc must be told (``allow_interpreted_subclasses``);
observations are dataclasses with an interpreted base, which it leaves alone when told so
(``native_class=False``).
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Final

__all__ = ["COMPILED", "BoardState", "NativeState"]

COMPILED: Final[bool] = not __file__.endswith(".py")
"""True when this module was loaded from machine code, False when interpreted."""


class NativeState(metaclass=ABCMeta):
    """A position of a built-in game; see `plyhouse.games.base.State` for what each part means."""

    __slots__ = ("to_move",)

    to_move: int

    @abstractmethod
    def actions(self) -> tuple[Any, ...]:
        """Legal actions of the seat to move, in a fixed order."""

    @abstractmethod
    def after(self, action: Any) -> NativeState:
        """Return the state after a legal ``action``."""

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Outcomes of a chance node with their probabilities; else empty, as by default."""
        return ()

    @abstractmethod
    def returns(self) -> tuple[float, ...]:
        """Final utilities, one per seat."""


class BoardState(NativeState):
    """A position of a game of perfect information that knows its key and an estimate.

    The hooks are optional, so `NativeState` has none; where a search knows that a state is
    of this class, its calls of them are C calls.
    """

    __slots__ = ()

    @abstractmethod
    def key(self) -> Any:
        """Return the key that identifies the position in transposition tables."""

    @abstractmethod
    def heuristic(self) -> tuple[float, ...]:
        """Return an estimate of the returns, one per seat."""
