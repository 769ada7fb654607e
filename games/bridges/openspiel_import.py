"""OpenSpiel's games as ours, named ``openspiel:GAME``: with clock, rating and a view as text.

A game must be sequential, with chance whose outcomes OpenSpiel lists, or none.  Specs come from
clients, and with some values OpenSpiel ends the process.  So only the parameters in `_CHOICES`,
whose values are tested, can be chosen.  Seats see OpenSpiel's texts, and act with buttons.

With perfect information an observation has the whole history, because OpenSpiel can make no state
from less.  With hidden information it has digests of what the seat has seen.  By them
`sample_state` searches for a history that fits, as far as `_BUDGET` goes.

    game = get_game("openspiel:hex(board_size=5)", files=True)
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import random
from collections.abc import Hashable
from typing import Any, ClassVar, Final, cast

import pyspiel

from plyhouse.games.base import (
    CHANCE,
    MOST_LISTED,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    ParameterValue,
    Scoring,
    Utility,
)
from plyhouse.games.errors import InvalidGameSource, InvalidObservation, InvalidParameter
from plyhouse.games.scene import Button, Scene, Text

__all__ = ["PREFIX", "OpenSpielGame", "OpenSpielState", "openspiel_class", "openspiel_names"]

PREFIX: Final = "openspiel:"
_CHOICES: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "breakthrough": {"columns": (4, 8), "rows": (5, 8)},
    "connect_four": {"columns": (4, 10), "rows": (4, 10)},
    "dark_hex": {"board_size": (2, 6)},
    "dots_and_boxes": {"num_cols": (1, 6), "num_rows": (1, 6)},
    "go": {"board_size": (3, 19)},
    "hex": {"board_size": (2, 15)},
    "kuhn_poker": {"players": (2, 10)},
    "leduc_poker": {"players": (2, 4)},
    "mnk": {"m": (3, 15), "n": (3, 15), "k": (3, 5)},
    "pig": {"players": (2, 6), "winscore": (10, 100)},
    "y": {"board_size": (5, 19)},
}
"""Least and greatest values of the parameters that can be chosen, by game."""
_BUDGET: Final = 20_000
"""States that `sample_state` looks at before it gives up."""


class OpenSpielState:
    """A state of OpenSpiel, which is never changed, and what the seats have seen on the way."""

    __slots__ = ("_texts", "game", "inner", "to_move", "traces")

    def __init__(
        self, game: OpenSpielGame, inner: Any, traces: tuple[tuple[int, ...], ...]
    ) -> None:
        self.game = game
        self.inner = inner
        if inner.is_terminal():
            self.to_move = TERMINAL
        else:
            self.to_move = CHANCE if inner.is_chance_node() else int(inner.current_player())
        self.traces = game.longer(traces, inner)
        self._texts: dict[int, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _replayed, (self.game, tuple(self.inner.history()))

    def actions(self) -> tuple[int, ...]:
        """Return OpenSpiel's numbers of the legal actions."""
        return tuple(self.inner.legal_actions()) if self.to_move >= 0 else ()

    def after(self, action: int) -> OpenSpielState:
        """Return the state after an action or an outcome."""
        traces = list(self.traces)
        if traces and self.to_move >= 0:  # its own action, which not all information states tell
            traces[self.to_move] = (*traces[self.to_move], -1 - action)
        return OpenSpielState(self.game, self.inner.child(action), tuple(traces))

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        """Return OpenSpiel's outcomes."""
        return tuple(self.inner.chance_outcomes()) if self.to_move == CHANCE else ()

    def returns(self) -> tuple[float, ...]:
        """Return what each seat has got."""
        return tuple(self.inner.returns())

    def texts(self) -> dict[int, str]:
        """Return the legal actions, or the outcomes of chance, as text by their numbers."""
        if not self._texts:
            inner = self.inner
            numbers, player = inner.legal_actions(), inner.current_player()
            texts = ["_".join(inner.action_to_string(player, each).split()) for each in numbers]
            if len({text.casefold() for text in texts}) < len(texts) or any(map(_is_number, texts)):
                texts = [str(number) for number in numbers]
            self._texts = dict(zip(numbers, texts, strict=True))
        return self._texts


def _replayed(game: OpenSpielGame, history: tuple[int, ...]) -> OpenSpielState:
    """Return the state that a history leads to."""
    state = game.initial_state()
    for action in history:
        state = state.after(action)
    return state


@dataclasses.dataclass(frozen=True)
class OpenSpielObservation(Observation):
    """A view of a game of OpenSpiel, for a seat or a spectator."""

    text: str
    """OpenSpiel's text: of the state, of the seat's observation, or "" for spectators of a game
    with hidden information."""
    known: str
    """With hidden information OpenSpiel's information state of the seat; otherwise ""."""
    actions: tuple[int, ...]
    """With perfect information all actions and outcomes so far, by OpenSpiel's numbers."""
    trace: tuple[int, ...]
    """With hidden information the digests of the seat's information states, one for each change,
    and its actions as negative numbers, -1 for action 0."""


class OpenSpielGame(Game[OpenSpielState, int, OpenSpielObservation]):
    """A game of OpenSpiel; `openspiel_class` makes the class of each."""

    observation_type: ClassVar[type[Observation]] = OpenSpielObservation
    spiel_name: ClassVar[str]
    action_notation: str = "an action as OpenSpiel writes it, with _ for blanks"

    @property
    def rules_in_words(self) -> str:
        """Where people find the rules."""
        return (
            f"{self.info.title} is a game of OpenSpiel, whose documentation has the rules of "
            f"{self.spiel_name}.\n\nWrite actions as OpenSpiel does, with _ for blanks."
        )

    def check_parameters(self) -> None:
        """Let OpenSpiel make the game."""
        changed = {
            each.name: self.parameters[each.name]
            for each in self.info.parameters
            if self.parameters[each.name] != each.default
        }
        try:
            self.spiel = pyspiel.load_game(self.spiel_name, changed)
            self.start = self.spiel.new_initial_state()
        except pyspiel.SpielError as error:
            name, value = next(iter(changed.items()), ("", ""))
            raise InvalidParameter(self.info.name, name, value, f"OpenSpiel: {error}") from None
        self.action_count = int(self.spiel.num_distinct_actions())
        kind = self.spiel.get_type()
        self.hidden = self.info.information is Information.IMPERFECT
        self.observes = bool(kind.provides_observation_string)

    @property
    def seats(self) -> int:
        """Number of seats with these parameters."""
        return int(self.spiel.num_players())

    @property
    def return_bounds(self) -> tuple[float, float]:
        """OpenSpiel's bounds with these parameters."""
        return float(self.spiel.min_utility()), float(self.spiel.max_utility())

    def initial_state(self) -> OpenSpielState:
        """Return OpenSpiel's initial state."""
        return OpenSpielState(self, self.start.clone(), ((),) * self.seats)

    def longer(
        self, traces: tuple[tuple[int, ...], ...], inner: Any
    ) -> tuple[tuple[int, ...], ...]:
        """Return the traces of the seats with the information states of one more state."""
        if not self.hidden:
            return ()
        longer = []
        for seat, trace in enumerate(traces):
            digest = _digest(inner.information_state_string(seat))
            longer.append(trace if trace[-1:] == (digest,) else (*trace, digest))
        return tuple(longer)

    def format(self, state: OpenSpielState, action: int) -> str:
        """Return OpenSpiel's text without blanks, or its number where texts are not distinct."""
        return state.texts()[action]

    def format_chance(self, state: OpenSpielState, outcome: int) -> str:
        """Return OpenSpiel's text of an outcome, or its number."""
        return state.texts()[outcome]

    def observe(self, state: OpenSpielState, seat: int | None) -> OpenSpielObservation:
        """Return OpenSpiel's texts; to spectators of hidden information, none."""
        inner = state.inner
        text, known = "", ""
        actions: tuple[int, ...] = ()
        trace: tuple[int, ...] = ()
        if not self.hidden:
            text, actions = str(inner), tuple(inner.history())
        elif seat is not None:
            known, trace = inner.information_state_string(seat), state.traces[seat]
            text = inner.observation_string(seat) if self.observes else known
        legal = self.legal_text(state, seat)
        return OpenSpielObservation(seat, state.to_move, legal, text, known, actions, trace)

    def information_state(self, state: OpenSpielState, seat: int) -> Hashable:
        """Return what the seat has seen; with perfect information, the position."""
        return self.observe(state, seat)

    def visible(self, state: OpenSpielState, action: int, viewer: int | None) -> str | None:
        """Show actions to all or, with hidden information, to the seat itself."""
        if self.hidden and (viewer is None or viewer != state.to_move):
            return None
        return self.format(state, action)

    def sample_state(self, observation: Any, rng: random.Random) -> OpenSpielState:
        """Replay the history, or search for one that fits; raises `InvalidObservation`.

        The search takes branches in random order; it does not weigh them by their chances.
        """
        if not self.hidden:
            return _replayed(self, observation.actions)
        seat, trace = observation.seat, observation.trace
        if seat is None:
            raise InvalidObservation(self.info.name, "a spectator knows too little to sample")
        waiting = [self.initial_state()]
        for _ in range(_BUDGET):
            if not waiting:
                break
            state = waiting.pop()
            seen = state.traces[seat]
            if seen != trace[: len(seen)]:
                continue
            if len(seen) == len(trace) and self.observe(state, seat) == observation:
                return state
            branches = [outcome for outcome, _ in state.chance_outcomes()] or list(state.actions())
            rng.shuffle(branches)
            waiting += [state.after(branch) for branch in branches]
        raise InvalidObservation(self.info.name, f"no history found in {_BUDGET} states fits")

    def scene(self, observation: Any) -> Scene:
        """Return the text line by line, and a button for each legal action."""
        lines = [Text(line) for line in observation.text.splitlines() if line.strip()]
        buttons = [Button(text, text) for text in observation.legal]
        mover = observation.seat_to_move
        if mover is not None:
            status = f"{self.seat_name(mover)} to move"
        else:
            status = "The match is over" if observation.to_move == TERMINAL else "Chance is to act"
        return Scene((*lines, *buttons), status, mover)

    def describe(self, state: OpenSpielState) -> str:
        """Return OpenSpiel's text of the state."""
        return str(state.inner)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")


def _is_number(text: str) -> bool:
    return text.lstrip("+-").isdigit()


def _fits(kind: Any) -> str:
    """Return why a type of OpenSpiel's games cannot be hosted; "" if it can."""
    modes, informations = pyspiel.GameType.ChanceMode, pyspiel.GameType.Information
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        return "its seats do not act in turn"
    if kind.chance_mode == modes.SAMPLED_STOCHASTIC:
        return "it samples chance without listing the outcomes"
    if kind.max_num_players < 2:
        return "it has one seat only"
    if not kind.default_loadable:
        return "OpenSpiel cannot make it without parameters"
    hidden = kind.information != informations.PERFECT_INFORMATION
    if hidden and not kind.provides_information_state_string:
        return "it has no information_state_string"
    if kind.short_name.startswith("plyhouse_"):
        return "it is a game of Plyhouse"
    return ""


def openspiel_names() -> tuple[str, ...]:
    """Return the names of OpenSpiel's games that can be hosted."""
    found = [kind.short_name for kind in pyspiel.registered_games() if not _fits(kind)]
    return tuple(sorted(found))


@functools.cache
def openspiel_class(name: str) -> type[OpenSpielGame]:
    """Return the class of the game that OpenSpiel calls ``name``; raises `InvalidGameSource`."""
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        raise InvalidGameSource(PREFIX + name, "OpenSpiel has no game of this name")
    kind = kinds[name]
    if reason := _fits(kind):
        raise InvalidGameSource(PREFIX + name, reason)
    utility, modes = pyspiel.GameType.Utility, pyspiel.GameType.ChanceMode
    utilities = {utility.ZERO_SUM: Utility.ZERO_SUM, utility.CONSTANT_SUM: Utility.CONSTANT_SUM}
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    parameters = _parameters(name, kind.parameter_specification)
    low, high, plies, most = _extremes(name, parameters)
    info = GameInfo(
        name=PREFIX + name,
        title=kind.long_name,
        summary=f"{kind.long_name}, as OpenSpiel has it.",
        min_seats=kind.min_num_players,
        max_seats=kind.max_num_players,
        chance=(
            ChanceKind.DETERMINISTIC
            if kind.chance_mode == modes.DETERMINISTIC
            else ChanceKind.STOCHASTIC
        ),
        information=Information.PERFECT if perfect else Information.IMPERFECT,
        utility=utilities.get(kind.utility, Utility.GENERAL_SUM),
        min_return=low,
        max_return=high,
        max_plies=plies,
        parameters=parameters,
        most_actions=most,
        scoring=Scoring.WINS if high == 1 else Scoring.RETURNS,
    )
    body = {"info": info, "spiel_name": name, "__module__": __name__, "__doc__": info.summary}
    made = type(f"OpenSpiel_{name}", (OpenSpielGame,), {**body, "__reduce__": _reduced})
    return cast("type[OpenSpielGame]", made)


def _reduced(game: OpenSpielGame) -> tuple[Any, ...]:
    return _remade, (game.spiel_name, dict(game.parameters), game.source)


def _remade(name: str, parameters: dict[str, ParameterValue], source: str) -> OpenSpielGame:
    game = openspiel_class(name)(**parameters)
    game.source = source
    return game


def _parameters(name: str, specification: dict[str, Any]) -> tuple[Parameter, ...]:
    """Return those parameters that clients may choose."""
    return tuple(
        [
            Parameter(each, specification[each], "as in OpenSpiel", least, most)
            for each, (least, most) in _CHOICES.get(name, {}).items()
        ]
    )


def _extremes(name: str, parameters: tuple[Parameter, ...]) -> tuple[float, float, int, int]:
    """Return the bounds of returns, plies and actions over the ends of all parameters."""
    games = [pyspiel.load_game(name)]
    ends = [((each.name, each.minimum), (each.name, each.maximum)) for each in parameters]
    games += [pyspiel.load_game(name, dict(chosen)) for chosen in itertools.product(*ends)]
    plies = [each.max_game_length() + each.max_chance_nodes_in_history() for each in games]
    low, high = (
        min(each.min_utility() for each in games),
        max(each.max_utility() for each in games),
    )
    most = max(each.num_distinct_actions() for each in games)
    return float(low), float(high), max(plies), max(most, MOST_LISTED)
