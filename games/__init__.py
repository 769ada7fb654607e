"""Games: rules, notation, observations and scenes.

>>> game = get_game("connect_four(rows=5)")
>>> state = game.initial_state()
>>> game.legal_text(state, 0)
('1', '2', '3', '4', '5', '6', '7')

The framework is the modules at this level.  The interface of every game:

    base           what a game, a state and an observation are
    info           the static facts of a game: seats, chance, information, parameters
    scene          how people see an observation, and where they choose what
    scene_text     a scene as lines of text; `scene_svg` as a picture
    rules          the rules in words, and how people enter actions
    errors         the tree of errors, with their codes
    renaming       games under other names, against memorised ones
    registry       finding games by name, entry point or file
    plugins        the entry points of installed packages

Tools for games of any kind:

    position            a match in progress, and the one way to apply an event to it
    testing             `check_game`: the laws for authors; `notation_laws`: on one position
    playthrough         one whole play as text, for golden files
    counting            perft, whose counts prove rules
    trees               games that are a written tree; `tree_notation` reads the text
    values              values as people read them: chances of winning, or returns with a unit
    observation_fields  the fields of observations, as their authors describe them

Helpers of the built-in games, which your own games do not need:

    native         the base class of compiled states
    boards, bits   boards of squares; sets of cells in a machine word
    dice           faces of dice as text
    playing_cards  names and sets of cards, random deals
    endgames       what a game knows about its last plies, for searches

The games themselves are in three rooms; the framework does not import them (`registry` knows
where they are, and loads one when it is asked for):

    deterministic  of skill alone, such as tic-tac-toe, chess and go
    stochastic     with dice or other chance that everybody sees, such as pig and backgammon
    hidden         of imperfect information, such as Kuhn poker and battleship

Other libraries know our games, and we know some of theirs, by `plyhouse.games.bridges`.
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
