"""What a game is: the vocabulary every rule set, search and referee shares.

A `Game` is a factory with static facts (`GameInfo`) and validated parameters; a
*state* is an immutable position.  States are duck-typed: `State` is a protocol, so
a game written in plain Python needs no base class of ours.

Words used throughout (see docs/): a *seat* is the index of a participant, a *ply* is
one action of one seat, a *chance node* is a state whose ``to_move`` is `CHANCE`.
"""

from __future__ import annotations

import dataclasses
import enum
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable

from plyhouse.games.errors import AmbiguousAction, IllegalAction, InvalidAction
from plyhouse.games.scene import Scene

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Action",
    "ChanceKind",
    "Game",
    "GameInfo",
    "Information",
    "Observation",
    "Parameter",
    "ParameterValue",
    "State",
    "Utility",
]

CHANCE: Final = -1
"""``State.to_move`` at a chance node: the referee rolls or deals."""

TERMINAL: Final = -2
"""``State.to_move`` when the game is over and `State.returns` is defined."""

Action = Hashable
"""What a seat or chance does: small, hashable, typed per game (usually an int)."""

ParameterValue = int | float | str | bool


class ChanceKind(enum.StrEnum):
    """Whether a game has chance nodes."""

    DETERMINISTIC = "deterministic"
    STOCHASTIC = "stochastic"


class Information(enum.StrEnum):
    """Whether every seat sees the whole state."""

    PERFECT = "perfect"
    IMPERFECT = "imperfect"


class Utility(enum.StrEnum):
    """How the returns of the seats relate."""

    ZERO_SUM = "zero_sum"
    CONSTANT_SUM = "constant_sum"
    GENERAL_SUM = "general_sum"
    TEAM = "team"


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One named, ranged parameter of a game; the type is that of ``default``."""

    name: str
    default: ParameterValue
    description: str
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[ParameterValue, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class GameInfo:
    """Static facts of a game, by which algorithms and hosts decide whether it fits.

    ``min_return``/``max_return`` bound every seat's final utility and ``max_plies`` the
    number of actions of seats and chance in one match, both over all allowed parameters.
    """

    name: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    chance: ChanceKind
    information: Information
    utility: Utility
    min_return: float
    max_return: float
    max_plies: int
    parameters: tuple[Parameter, ...] = ()
    seat_names: tuple[str, ...] = ()
    draw_offers: bool = False
    simultaneous: bool = False
    """True where seats commit at the same time (modelled as hidden, sequential commits)."""


@runtime_checkable
class State(Protocol):
    """A position: immutable, a plain slotted class, never serialised as a whole.

    Optional hooks, used where present: ``key() -> Hashable`` (equal for positions with
    equal futures, for transpositions), ``heuristic() -> tuple[float, ...]`` (one estimate
    per seat, within the game's return bounds), ``playout(rng) -> tuple[float, ...]``,
    ``noisy_actions()`` (for quiescence), ``order(actions)`` (best first).
    """

    to_move: int
    """Seat to move, `CHANCE` or `TERMINAL`: a plain attribute, never a property."""

    def actions(self) -> tuple[Any, ...]:
        """Legal actions of the seat to move, in a fixed order; empty unless a seat moves.

        A function of the mover's information state: it must not leak what is hidden.
        """
        ...

    def after(self, action: Any) -> Self:
        """The state after ``action``; pure.  Trusts that the action is legal."""
        ...

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """At a chance node, the outcomes with their probabilities (sum 1); else empty."""
        ...

    def returns(self) -> tuple[float, ...]:
        """Final utilities, one per seat, at a terminal state."""
        ...


@dataclasses.dataclass(frozen=True)
class Observation:
    """All that one seat, or a spectator, may see now.

    Games subclass it and add fields one by one (an allow-list): only ``None``, bool, int,
    float, str and (nested) tuples of these, so that the wire form is exact.
    """

    seat: int | None
    """Who observes; None is a spectator."""
    to_move: int
    """Seat to move, `CHANCE` or `TERMINAL`."""
    legal: tuple[str, ...]
    """Legal actions as text when it is the observer's turn; otherwise empty."""


class Game(ABC):
    """A rule set with chosen parameters: makes initial states, reads and writes actions,
    and decides what each seat may see.

    Subclasses set ``info`` and ``observation_type`` and implement the abstract methods.
    Construct with parameters by keyword: ``ConnectFour(rows=5)``; unknown names, wrong
    types and values out of range raise `InvalidParameter`.
    """

    info: ClassVar[GameInfo]
    observation_type: ClassVar[type[Observation]]
