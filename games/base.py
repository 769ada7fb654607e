"""Game, state and observation: the interface that rules, searches and referees share.

A `Game` is a factory with static facts (`GameInfo`) and validated parameters; a
*state* is an immutable position.  States are duck-typed: `State` is a protocol, so
a game written in plain Python needs no base class of ours.

Words used throughout (see docs/): a *seat* is the index of a participant, and a *ply* is one action
of one seat.  A *chance node* is a state whose ``to_move`` is `CHANCE`.

>>> from plyhouse.games import get_game
>>> game = get_game('nim(heaps="1,2")')
>>> state = game.initial_state()
>>> state.to_move, [game.format(state, action) for action in state.actions()]
(0, ['1:1', '2:1', '2:2'])
>>> state = state.after(game.parse(state, "1:1")).after(game.parse(state, "2:2"))
>>> state.to_move == TERMINAL, state.returns()
(True, (-1.0, 1.0))
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    runtime_checkable,
)

from plyhouse.games.errors import (
    AmbiguousAction,
    IllegalAction,
    InvalidAction,
    InvalidObservation,
    InvalidParameter,
)
from plyhouse.games.info import (
    MOST_LISTED,
    ChanceKind,
    GameInfo,
    Information,
    Parameter,
    ParameterValue,
    Scoring,
    Utility,
    spec_value,
)
from plyhouse.games.scene import Scene

if TYPE_CHECKING:
    import random

    from typing_extensions import TypeVar
else:
    from typing import TypeVar

__all__ = [
    "CHANCE",
    "MOST_LISTED",
    "TERMINAL",
    "Action",
    "ChanceKind",
    "Game",
    "GameInfo",
    "Information",
    "Observation",
    "Parameter",
    "ParameterValue",
    "Scoring",
    "State",
    "Utility",
    "spec_value",
]

CHANCE: Final = -1
"""``State.to_move`` at a chance node: the referee rolls or deals."""

TERMINAL: Final = -2
"""``State.to_move`` when the game is over and `State.returns` is defined."""

Action = Hashable
"""An action of a seat or an outcome of chance: small, hashable, typed per game (usually an int)."""


@runtime_checkable
class State(Protocol):
    """A position: immutable, a plain slotted class, never serialised as a whole.

    Searches use these optional methods if a state has them.  ``key() -> Hashable`` is equal for
    positions with equal futures, for transpositions.  ``heuristic() -> tuple[float, ...]`` has one
    estimate per seat, within the game's return bounds.  ``playout(rng) -> tuple[float, ...]`` plays
    to the end at random.  ``call_down() -> tuple[float, ...]`` are the returns that seats may
    expect if all go on by a fixed rule, as the exact mean over chance; luck adjustment takes it.
    ``noted_playout(rng, first)`` does the same as ``playout`` and notes who played each
    action first, and ``priors(actions)`` says what is known of actions before any is tried: see
    docs/search/monte-carlo.md.  ``order(actions)`` sorts actions, best first.
    ``noisy_actions()`` are those that quiescence tries.  ``forced()`` says whether quiescence has
    to try all actions, as when in check; ``forces(action)`` says it of the state after an action,
    which need not be made for it.  ``passed()`` is the state after a pass, or None where a
    pass could be better than all actions.  ``quiet_margin()`` is the most that an action that is
    not noisy is likely to add to the mover's estimate, the same in all states.  ``endings(meter)``
    is an object that solves the last plies exactly, or None; see `plyhouse.games.endgames`.
    """

    to_move: int
    """Seat to move, `CHANCE` or `TERMINAL`: a plain attribute, never a property."""

    def actions(self) -> tuple[Any, ...]:
        """Legal actions of the seat to move, in a fixed order; empty unless a seat moves.

        A function of the mover's information state: it must not leak what is hidden.
        """
        ...

    def after(self, action: Any) -> Self:
        """Return the state after ``action``; pure.  Trusts that the action is legal."""
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

    It is sent with every turn, so its size must not grow with the match.  It holds the board, not
    its history, which the events of the match hold.  Only where a seat could not choose without it
    (the bids of a round) is history part of it.

    Games subclass it and add fields one by one (an allow-list): only ``None``, bool, int,
    float, str and (nested) tuples of these, so that the wire form is exact.
    """

    seat: int | None
    """Seat that observes; None for a spectator."""
    to_move: int
    """Seat to move; -1 (`CHANCE`) while chance is to act, -2 (`TERMINAL`) when the game is over."""
    legal: tuple[str, ...]
    """Legal actions, as they are written, when it is the observer's turn, 1,024 at most; otherwise
    empty."""

    @property
    def seat_to_move(self) -> int | None:
        """The seat to move; None at a chance node and after the end.

        >>> Observation(seat=None, to_move=CHANCE, legal=()).seat_to_move is None
        True
        """
        return self.to_move if self.to_move >= 0 else None

    def fields(self) -> dict[str, Any]:
        """Name and value of every field, in the order of definition; tuples stay tuples."""
        kind = type(self)
        layout = _LAYOUTS.get(kind) or _layout(kind)
        values = self.__dict__
        if len(values) == len(layout.names):  # asked for with every ply: this is the short way
            return values.copy()
        return {name: getattr(self, name) for name in layout.names}


class _Layout(NamedTuple):
    """The fields of an observation type, which are asked for with every ply."""

    names: tuple[str, ...]
    required: frozenset[str]


_LAYOUTS: Final[dict[type[Any], _Layout]] = {}


def _layout(kind: type[Any]) -> _Layout:
    """Return the layout of an observation type, kept for the next time."""
    fields = dataclasses.fields(kind)
    names = tuple([field.name for field in fields])
    required = frozenset([field.name for field in fields if field.default is dataclasses.MISSING])
    made = _LAYOUTS[kind] = _Layout(names, required)
    return made


class GameType(ABCMeta):
    """Type of game classes: abstract methods as ever, and `isinstance` by inheritance alone.

    Compiled classes share the cache of `ABCMeta` with their base, so that its answer for one of
    them would be given for all.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls, subclass)


if TYPE_CHECKING:
    # The defaults make a plain `Game` right, in annotations as for a base class.  Python 3.13
    # has them; what runs needs only the names, so that nothing must be installed for this.
    StateT_co = TypeVar("StateT_co", bound=State, default=State, covariant=True)
    ActionT_co = TypeVar("ActionT_co", bound=Action, default=Any, covariant=True)
    ObservationT_co = TypeVar(
        "ObservationT_co", bound=Observation, default=Observation, covariant=True
    )
else:
    StateT_co = TypeVar("StateT_co", covariant=True)
    ActionT_co = TypeVar("ActionT_co", covariant=True)
    ObservationT_co = TypeVar("ObservationT_co", covariant=True)


class Game(Generic[StateT_co, ActionT_co, ObservationT_co], metaclass=GameType):
    """A rule set with chosen parameters: makes initial states, reads and writes actions,
    and decides what each seat may see.

    Subclasses set ``info`` and ``observation_type`` and implement the abstract methods.
    Construct with parameters by keyword: ``ConnectFour(rows=5)``; unknown names, wrong
    types and values out of range raise `InvalidParameter`.

    For type checkers, a game may name its own types of states, actions and observations:
    ``class ConnectFour(Game[ConnectFourState, int, ConnectFourObservation])``; a plain
    ``class ConnectFour(Game)`` runs the same.  They are the types of a game's
    results.  Its arguments are `Any` here, because only its own values make sense to it.  So its
    methods may name their types, and every game is a `Game`.

    Games of imperfect information must also override `information_state`, and `visible`
    if seats or spectators are to learn of actions: what is not shown is hidden.
    """

    info: ClassVar[GameInfo]
    observation_type: ClassVar[type[Observation]]

    action_pattern: ClassVar[str] = ""
    """Regular expression of every text that is an action in some position (in lower case);
    other texts are `InvalidAction`.  Empty: only what is legal can be read."""

    action_notation: str = "a legal action"
    """Description of an action's notation, for messages: "a column number like 4"."""

    display_is_public: ClassVar[bool] = False
    """True if `display` says only what all may know, as points of a word do.  Then the server shows
    it in games of imperfect information, too, to those who see the whole action."""

    exploration_scale: ClassVar[float] = 1.0
    """Share of the range of returns by which results usually differ.  Searches over information
    sets scale their exploration by it."""

    source: str = ""
    """File and class the game was loaded from (``mygame.py:MyGame``); "" for named games."""

    def __init__(self, **parameters: ParameterValue) -> None:
        known = {parameter.name: parameter for parameter in self.info.parameters}
        for name, value in parameters.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                if not known:
                    expected = "the game has no parameters"
                elif near:
                    expected = f"there is no such parameter, the nearest is {near[0]}"
                else:
                    expected = f"there is no such parameter, it has {', '.join(known)}"
                raise InvalidParameter(self.info.name, name, value, expected)
        self._parameters: Mapping[str, ParameterValue] = MappingProxyType(
            {
                name: parameter.checked(self.info.name, parameters.get(name, parameter.default))
                for name, parameter in known.items()
            }
        )
        self.check_parameters()

    def check_parameters(self) -> None:
        """Raise `InvalidParameter` for values that do not go together; by default all do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self._parameters), self.source)

    def __repr__(self) -> str:
        return f"<Game {self.spec}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return type(self) is type(other) and dict(self._parameters) == dict(other._parameters)

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._parameters.items())))

    # Parameters

    @property
    def parameters(self) -> Mapping[str, ParameterValue]:
        """All parameters, defaults filled in; read-only."""
        return self._parameters

    def int_parameter(self, name: str) -> int:
        """Return the value of a whole-number parameter."""
        value = self._parameters[name]
        if not isinstance(value, int):
            raise TypeError(f"parameter {name} of {self.info.name} is not an int: {value!r}")
        return value

    def float_parameter(self, name: str) -> float:
        """Return the value of a numeric parameter."""
        value = self._parameters[name]
        if not isinstance(value, int | float):
            raise TypeError(f"parameter {name} of {self.info.name} is not a number: {value!r}")
        return float(value)

    def text_parameter(self, name: str) -> str:
        """Return the value of a text parameter."""
        value = self._parameters[name]
        if not isinstance(value, str):
            raise TypeError(f"parameter {name} of {self.info.name} is not a text: {value!r}")
        return value

    @property
    def seats(self) -> int:
        """Number of seats in a match: the parameter "seats", else the most the game has."""
        if "seats" in self._parameters:
            return self.int_parameter("seats")
        return self.info.max_seats

    @property
    def chance_kind(self) -> ChanceKind:
        """True if there are chance nodes with these parameters.

        By default what ``info`` says, which holds for all parameters.  A game that has chance
        nodes only with some of them overrides it, so that searches for deterministic games
        play the others.
        """
        return self.info.chance

    def team(self, seat: int) -> int:
        """Return the team of a seat, as the least seat of that team: by default everyone plays
        alone.

        In a game with ``Utility.TEAM`` the seats of a team have equal returns.  With two teams, the
        returns of one are the negatives of the other's.  `check_game` checks both.
        """
        return seat

    @property
    def return_bounds(self) -> tuple[float, float]:
        """The least and the greatest return of a seat with these parameters.

        By default those of ``info``, which hold for all parameters.  Games scored by returns
        override it where parameters change the stakes: the score of a match is the difference
        of two returns as a share of this range.
        """
        return self.info.min_return, self.info.max_return

    @property
    def spec(self) -> str:
        """Canonical text of the game, as `plyhouse.games.registry.get_game` reads it.

        Only values that are not the default are written, sorted by name.

        >>> from plyhouse.games import get_game
        >>> get_game("pig(target=100, sides=8)").spec
        'pig(sides=8)'
        """
        name = self.source or self.info.name
        changed = self._changed
        return f"{name}({changed})" if changed else name

    @cached_property
    def _changed(self) -> str:
        """The part of `spec` in parentheses."""
        return ",".join(
            f"{parameter.name}={spec_value(self._parameters[parameter.name])}"
            for parameter in sorted(self.info.parameters, key=lambda item: item.name)
            if self._parameters[parameter.name] != parameter.default
        )

    def seat_name(self, seat: int) -> str:
        """Return the name of a seat: that in ``info.seat_names``, else "seat 1" and so on."""
        names = self.info.seat_names
        return names[seat] if seat < len(names) else f"seat {seat + 1}"

    # Rules

    @abstractmethod
    def initial_state(self) -> StateT_co:
        """Return the position in which a match starts; may be a chance node."""

    def chance_number(self, state: Any, drawn: int) -> int:
        """Return the number of a chance node in its match, from which its outcome follows.

        Two nodes of a match never have the same.  By default it is ``drawn``, the number of chance
        nodes before this one.  A game of several deals overrides it if actions decide how many
        cards a deal needs.  Then all matches of a mirrored pairing have the same deals.
        """
        return drawn

    # Notation

    def format(self, state: Any, action: Any) -> str:
        """Text of an action of a seat; reading it back gives the action."""
        return str(action)

    def parse(self, state: Any, text: str) -> ActionT_co:
        """Return the legal action that ``text`` means.

        Blanks around it are ignored, and so is case where that leaves one meaning.  Raises
        `InvalidAction`, `IllegalAction` or `AmbiguousAction`.  The referee plays what this returns.
        A game with more legal actions than anybody could list may override it to accept all of
        them, while `State.actions` returns those that make sense.

        >>> from plyhouse.games import get_game
        >>> game = get_game("tic_tac_toe")
        >>> game.parse(game.initial_state(), " B2 ")
        4
        """
        actions: tuple[ActionT_co, ...] = state.actions() if state.to_move >= 0 else ()
        wanted = text.strip()
        for action in self.likely(state, wanted, actions):
            if self.format(state, action) == wanted:
                return action
        if len(actions) > MOST_LISTED:
            actions = actions[:MOST_LISTED]
        legal = [self.format(state, action) for action in actions]
        folded = self.folded(wanted)
        close = [index for index, written in enumerate(legal) if written.casefold() == folded]
        if len(close) == 1:
            return actions[close[0]]
        if close:
            raise AmbiguousAction(text, self.describe(state), [legal[index] for index in close])
        self.check_form(text)
        rule = self.broken_rule(state, wanted) if state.to_move >= 0 else ""
        raise IllegalAction(text, self.describe(state), legal, rule)

    @staticmethod
    def folded(text: str) -> str:
        """Return a text without the difference between capitals and small letters.

        A Kelvin sign is no K: games look up the letters of a text without folding it.
        """
        folded = text.casefold()
        return text if folded.isascii() and not text.isascii() else folded

    def check_form(self, text: str) -> None:
        """Raise `InvalidAction` unless a text has the form of an action (`action_pattern`)."""
        wanted = text.strip()
        if self.action_pattern and not re.fullmatch(self.action_pattern, self.folded(wanted)):
            reason = "it cannot be read" if wanted else "there is nothing in it"
            raise InvalidAction(text, reason, self.action_notation)

    def listed_actions(self, state: Any) -> Sequence[ActionT_co]:
        """Return up to `MOST_LISTED` legal actions, for observations and errors.

        By default the first ones.  A game with very many overrides it so as not to make them all,
        because referees call it between the messages of other matches.
        """
        actions: tuple[ActionT_co, ...] = state.actions()
        return actions if len(actions) <= MOST_LISTED else actions[:MOST_LISTED]

    def lists_all(self, state: Any) -> bool:
        """Return whether `listed_actions` has all legal actions.

        If not, a seat may try again after an illegal action, as it could not know better.
        """
        return self.info.most_actions <= MOST_LISTED or len(state.actions()) <= MOST_LISTED

    def some_action(self, state: Any) -> ActionT_co:
        """Return a legal action, for a seat that has no time to look at more.

        The first one, unless a game with many actions finds another one faster.
        """
        action: ActionT_co = state.actions()[0]
        return action

    def random_action(
        self, state: Any, rng: random.Random, stop: Callable[[], bool] | None = None
    ) -> ActionT_co:
        """Draw a legal action; all are equally likely.

        A game with very many actions draws among those that it has found when ``stop`` is true.
        """
        action: ActionT_co = rng.choice(state.actions())
        return action

    def broken_rule(self, state: Any, text: str) -> str:
        """Return the rule that an illegal action breaks, for errors; "" if there is nothing to say.

        ``text`` has the form of an action, without blanks around it.  With imperfect information,
        say only what the seat to move knows.
        """
        return ""

    def likely(self, state: Any, text: str, actions: tuple[Any, ...]) -> Sequence[ActionT_co]:
        """Return those of the legal ``actions`` that may be written as ``text``: all, unless a game
        with many of them knows better.

        Only for speed: `parse` writes out these first, and the others only if none fits.
        """
        return actions

    def display(self, state: Any, action: Any) -> str:
        """Return an action of a seat, or an outcome of chance, as people write it.

        By default as `format` and `format_chance` do.  Override it where people write something
        else than programs: ``Nf3`` for ``g1f3``, or the faces of dice.  It need not be readable by
        `parse`.  In games of imperfect information the server shows it only if `display_is_public`.
        """
        if state.to_move == CHANCE:
            return self.format_chance(state, action)
        return self.format(state, action)

    def display_part(self, seen: str) -> str:
        """Return as people write it what a viewer sees who may not see the whole action.

        ``seen`` is the text of `visible`, such as ``-4`` for an exchange of four tiles.
        """
        return seen

    def format_chance(self, state: Any, outcome: Any) -> str:
        """Return a chance outcome as text, e.g. "4" for a die or "K" for a card."""
        return str(outcome)

    def parse_chance(self, state: Any, text: str) -> Any:
        """Return the possible chance outcome that ``text`` means; raises `IllegalAction`."""
        possible: list[str] = []
        for outcome, _ in state.chance_outcomes():
            written = self.format_chance(state, outcome)
            if written == text:
                return outcome
            possible.append(written)
        raise IllegalAction(text, self.describe(state), possible)

    # Views

    @abstractmethod
    def observe(self, state: Any, seat: int | None) -> ObservationT_co:
        """Return all that ``seat`` may see now; None is a spectator.  Built field by field."""

    def decode_observation(self, fields: Mapping[str, Any]) -> ObservationT_co:
        """Return the observation with these fields: the inverse of `Observation.fields`.

        Lists are read as tuples; unknown fields are ignored, so that newer hosts can talk
        to older bots.  Raises `InvalidObservation`.

        >>> from plyhouse.games import get_game
        >>> game = get_game("nim")
        >>> fields = game.observe(game.initial_state(), 0).fields()
        >>> game.decode_observation({**fields, "heaps": [3, 0, 5], "colour": "red"}).heaps
        (3, 0, 5)
        """
        kind: Any = self.observation_type
        layout = _LAYOUTS.get(kind) or _layout(kind)
        values: dict[str, Any] = {}
        for name in layout.names:
            if name in fields:
                values[name] = _as_tuples(self.info.name, fields[name])
            elif name in layout.required:
                raise InvalidObservation(self.info.name, f"{name!r} is missing")
        decoded: ObservationT_co = kind(**values)
        return decoded

    def information_state(self, state: Any, seat: int) -> Hashable:
        """Return all that ``seat`` has seen so far (perfect recall), as one hashable value.

        With perfect information the position itself tells a seat all that matters.
        """
        if self.info.information is Information.IMPERFECT:
            raise TypeError(
                f"{type(self).__name__} has imperfect information and must define "
                "information_state(state, seat)"
            )
        return self.observe(state, seat)

    def visible(self, state: Any, action: Any, viewer: int | None) -> str | None:
        """Text of an action taken in ``state`` as ``viewer`` may see it; None if hidden.

        ``state`` may be a chance node; a viewer of None is a spectator.  With perfect information
        every action is visible.  Otherwise an action is hidden unless the game overrides this
        method.
        """
        if self.info.information is Information.IMPERFECT:
            return None
        if state.to_move == CHANCE:
            return self.format_chance(state, action)
        return self.format(state, action)

    @abstractmethod
    def sample_state(self, observation: Any, rng: random.Random) -> StateT_co:
        """Return a full state consistent with what the observer knows.

        With perfect information this is the observed state, except for earlier positions, on which
        rules about repetition depend.  Observations leave these out so as not to grow with the
        match.  If you have followed the match, use the state you have tracked instead
        (`plyhouse.games.position`).
        """

    def abstraction(self) -> Game:
        """Return the game in which searches over information sets look for an action.

        By default this game.  A game with very many actions may return one with fewer.  That game
        takes observations of this one, and its actions are legal here.
        """
        return self

    def can_win(self, state: Any, seat: int) -> bool:
        """Return False if a seat cannot win from here, however the others play.

        In a game of two, it then draws if the other's time runs out.  By default always True.
        """
        return True

    def restarted(self, state: Any, seat: int) -> Game | None:
        """Return the game that begins in a position, without its past, with ``seat`` to move.

        The position may be one in which a rule ended the match although seats can still act, like
        a third repetition.  Return None if no game begins there: by default always.
        """
        return None

    @abstractmethod
    def scene(self, observation: Any) -> Scene:
        """How a person sees the observation, and what can be chosen where."""

    @abstractmethod
    def describe(self, state: Any) -> str:
        """Return the full position as text, for referees and authors, including hidden parts."""

    def legal_text(self, state: Any, seat: int | None) -> tuple[str, ...]:
        """`listed_actions` as text when it is ``seat``'s turn; else empty.  For `observe`."""
        if seat is None or state.to_move != seat:
            return ()
        return tuple(map(self.format, repeat(state), self.listed_actions(state)))


def _rebuild(kind: type[Game], parameters: dict[str, ParameterValue], source: str) -> Game:
    """Make a game again from what `Game.__reduce__` kept."""
    game = kind(**parameters)
    if source:
        game.source = source
    return game


_ATOMS: Final = frozenset([str, int, float, bool, type(None)])


def _as_tuples(game: str, value: Any) -> Any:
    """Plain data with every list as a tuple."""
    if type(value) in _ATOMS:
        return value
    if isinstance(value, list | tuple):
        # Texts and numbers, the most of it, without a call for each.
        return tuple([item if type(item) in _ATOMS else _as_tuples(game, item) for item in value])
    if isinstance(value, int | float | str):
        return value
    raise InvalidObservation(game, f"{type(value).__name__} is not plain data")
