"""Our games registered with OpenSpiel, as ``plyhouse_GAME``.

    register_games()
    game = pyspiel.load_game("plyhouse_connect_four(rows=5,columns=6)")

Parameters are those of the game.  OpenSpiel has no commas in texts: write ``fleet=3|2|1``.
Outcomes of chance are numbered in the order of the game's list.  An information state is what the
seat has seen so far; with perfect information it is the history.  Observations have the tensors of
`plyhouse.games.bridges.encoding`; information states have none.
"""

from __future__ import annotations

import functools
import random
from typing import Any, Final

import numpy as np
import pyspiel

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    Information,
    ParameterValue,
    Utility,
)
from plyhouse.games.bridges.encoding import Encoding
from plyhouse.games.bridges.numbering import numbering_of
from plyhouse.games.registry import BUILT_IN, game_class

__all__ = ["register_game_class", "register_games"]

_registered: Final[dict[str, type[Game]]] = {}

_UTILITIES: Final = {
    Utility.ZERO_SUM: pyspiel.GameType.Utility.ZERO_SUM,
    Utility.CONSTANT_SUM: pyspiel.GameType.Utility.CONSTANT_SUM,
}
_PLAYS: Final = 20
"""Random plays that show how many outcomes chance may have."""


def register_games(*names: str) -> tuple[str, ...]:
    """Register the built-in games of these names, by default all; return OpenSpiel's names."""
    return tuple([register_game_class(game_class(name)) for name in names or BUILT_IN])


def register_game_class(kind: type[Game]) -> str:
    """Register a game with OpenSpiel, once; return the name that it has there."""
    info = kind.info
    name = f"plyhouse_{info.name}"
    if _registered.get(name) is kind:
        return name
    stochastic = info.chance is ChanceKind.STOCHASTIC
    perfect = info.information is Information.PERFECT
    modes, informations = pyspiel.GameType.ChanceMode, pyspiel.GameType.Information
    game_type = pyspiel.GameType(
        short_name=name,
        long_name=info.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=modes.EXPLICIT_STOCHASTIC if stochastic else modes.DETERMINISTIC,
        information=(
            informations.PERFECT_INFORMATION if perfect else informations.IMPERFECT_INFORMATION
        ),
        utility=_UTILITIES.get(info.utility, pyspiel.GameType.Utility.GENERAL_SUM),
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=info.max_seats,
        min_num_players=info.min_seats,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={each.name: _written(each.default) for each in info.parameters},
    )

    class RegisteredGame(_OpenSpielGame):
        """A game that OpenSpiel makes from parameters alone."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            params = params or {}
            values = {name: _read(value) for name, value in params.items()}
            super().__init__(kind(**values), game_type, params)

    pyspiel.register_game(game_type, RegisteredGame)
    _registered[name] = kind
    return name


def _written(value: ParameterValue) -> ParameterValue:
    """Return a parameter for OpenSpiel, which separates parameters by commas and has no quotes."""
    return value.replace(",", "|") if isinstance(value, str) else value


def _read(value: ParameterValue) -> ParameterValue:
    """Return the parameter that `_written` wrote."""
    return value.replace("|", ",") if isinstance(value, str) else value


class _OpenSpielGame(pyspiel.Game):  # type: ignore[misc] # without the library, its class is Any
    """One of our games in the interface of OpenSpiel's Python games."""

    def __init__(self, game: Game, game_type: Any, params: dict[str, Any]) -> None:
        self.game = game
        self.numbering = numbering_of(game)
        self.encoding, outcomes, total = _facts(game)
        low, high = game.return_bounds
        constant = game.info.utility in _UTILITIES
        facts = pyspiel.GameInfo(
            num_distinct_actions=self.numbering.size,
            max_chance_outcomes=outcomes,
            num_players=game.seats,
            min_utility=low,
            max_utility=high,
            utility_sum=total if constant else None,
            max_game_length=game.info.max_plies,
        )
        super().__init__(game_type, facts, params)

    def new_initial_state(self) -> _OpenSpielState:
        """Return the state at the start."""
        return _OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """Return an observer, which shows states to players."""
        if params:
            raise ValueError(f"Observers of Plyhouse's games have no parameters, not {params}.")
        return _Observer(self, iig_obs_type)


class _OpenSpielState(pyspiel.State):  # type: ignore[misc] # as above
    """A match in progress."""

    def __init__(self, parent: _OpenSpielGame) -> None:
        super().__init__(parent)
        self.position: Any = parent.game.initial_state()

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's numbers of chance and of the end."""
        mover: int = self.position.to_move
        if mover == CHANCE:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if mover == TERMINAL else mover

    def _legal_actions(self, player: int) -> list[int]:
        if player != self.position.to_move:
            return []
        return self.get_game().numbering.legal(self.position)  # type: ignore[no-any-return]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes by their places in the game's list, with probabilities."""
        outcomes = self.position.chance_outcomes()
        return [(number, chance) for number, (_, chance) in enumerate(outcomes)]

    def _meant(self, number: int) -> Any:
        if self.position.to_move == CHANCE:
            return self.position.chance_outcomes()[number][0]
        return self.get_game().numbering.action(self.position, number)

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(self._meant(action))

    def _action_to_string(self, player: int, action: int) -> str:
        game: Game = self.get_game().game
        written = game.format_chance if player == pyspiel.PlayerId.CHANCE else game.format
        return written(self.position, self._meant(action))

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return bool(self.position.to_move == TERMINAL)

    def returns(self) -> list[float]:
        """Return what each seat has got: nothing before the end."""
        if self.position.to_move != TERMINAL:
            return [0.0] * self.num_players()
        return [float(value) for value in self.position.returns()]

    def __str__(self) -> str:
        return str(self.get_game().game.describe(self.position))


class _Observer:
    """Views of states for players, as text and, without perfect recall, as a tensor."""

    def __init__(self, parent: _OpenSpielGame, kind: Any) -> None:
        self._game, self._encoding = parent.game, parent.encoding
        self._recall = bool(kind is not None and kind.perfect_recall)
        self._public = bool(kind is not None and kind.private_info == pyspiel.PrivateInfoType.NONE)
        self.tensor = np.zeros(0 if self._recall else parent.encoding.size, np.float32)
        self.dict = {} if self._recall else {"observation": self.tensor}

    def _seen(self, state: _OpenSpielState, player: int) -> Any:
        return self._game.observe(state.position, None if self._public else player)

    def set_from(self, state: _OpenSpielState, player: int) -> None:
        """Write what a player sees to the tensor."""
        if not self._recall:
            self.tensor[:] = self._encoding.encode(self._seen(state, player))

    def string_from(self, state: _OpenSpielState, player: int) -> str:
        """Return what a player sees now or, with perfect recall, has seen so far."""
        if not self._recall:
            return repr(self._seen(state, player).fields())
        if self._game.info.information is Information.PERFECT:
            return f"seat {player}: {state.history_str()}"
        return repr(self._game.information_state(state.position, player))


@functools.lru_cache(maxsize=32)  # OpenSpiel makes a game again for each text that it reads
def _facts(game: Game) -> tuple[Encoding, int, float]:
    """Return the encoding, the most outcomes of chance, and the sum of the returns of a play."""
    rng = random.Random(0)
    most, total = 0, 0.0
    for _ in range(_PLAYS if game.chance_kind is ChanceKind.STOCHASTIC else 1):
        state: Any = game.initial_state()
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                choices = tuple([outcome for outcome, _ in state.chance_outcomes()])
                most = max(most, len(choices))
            else:
                choices = state.actions()
            state = state.after(choices[int(rng.random() * len(choices))])
        total = sum(state.returns())
    return Encoding(game), most, total
