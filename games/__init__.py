"""Games: rules, notation, observations and scenes.

``get_game("connect_four(rows=5)")`` gives a `Game`; its `Game.initial_state` a `State`.
"""

if __name__ != "plyhouse.games":
    raise ImportError("import plyhouse.games, not games")

from plyhouse.games import _build, _pure

if not _pure.install():  # before anything that may be compiled
    _build.warn_if_stale()

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    Action,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    ParameterValue,
    Scoring,
    State,
    Utility,
)
from plyhouse.games.errors import (
    AmbiguousAction,
    DuplicateGame,
    GameError,
    GameMismatch,
    IllegalAction,
    InvalidAction,
    InvalidGameSource,
    InvalidObservation,
    InvalidParameter,
    InvalidPosition,
    InvalidSpec,
    InvalidTree,
    UnknownGame,
)
from plyhouse.games.registry import (
    add_game_file,
    game_class,
    game_names,
    get_game,
    load_game_class,
    parse_spec,
)

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Action",
    "AmbiguousAction",
    "ChanceKind",
    "DuplicateGame",
    "Game",
    "GameError",
    "GameInfo",
    "GameMismatch",
    "IllegalAction",
    "Information",
    "InvalidAction",
    "InvalidGameSource",
    "InvalidObservation",
    "InvalidParameter",
    "InvalidPosition",
    "InvalidSpec",
    "InvalidTree",
    "Observation",
    "Parameter",
    "ParameterValue",
    "Scoring",
    "State",
    "UnknownGame",
    "Utility",
    "add_game_file",
    "game_class",
    "game_names",
    "get_game",
    "load_game_class",
    "parse_spec",
]
