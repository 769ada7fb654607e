"""Finding games: built-in ones, installed plug-ins, and files.

A game is named by a *spec*: ``pig``, ``pig(target=50)``, or, where files are allowed,
``mygame.py:MyGame(size=4)`` or, for a game of OpenSpiel, ``openspiel:hex``.  Plug-ins are entry
points of the group `ENTRY_POINTS`:
``my_game = "my_package.rules:MyGame"``.  Nothing is imported before it is asked for.

>>> get_game("pig(target=50)").parameters["target"]
50
>>> get_game("pigs")
Traceback (most recent call last):
plyhouse.games.errors.UnknownGame: There is no game named 'pigs'; did you mean pig?
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from plyhouse.games._compiled import module_name, spec_of
from plyhouse.games.base import Game, ParameterValue
from plyhouse.games.errors import DuplicateGame, InvalidGameSource, InvalidSpec, UnknownGame
from plyhouse.games.info import OTHER_NAMES
from plyhouse.games.plugins import entry_points

__all__ = [
    "ENTRY_POINTS",
    "add_game_file",
    "added_game_files",
    "game_class",
    "game_file",
    "game_names",
    "get_game",
    "load_game_class",
    "parse_spec",
]

ENTRY_POINTS: Final = "plyhouse.games"
"""Entry-point group in which other packages announce their games."""

BUILT_IN: Final[dict[str, str]] = {
    "backgammon": "plyhouse.games.stochastic.backgammon.rules:Backgammon",
    "battleship": "plyhouse.games.hidden.battleship.rules:Battleship",
    "breakthrough": "plyhouse.games.deterministic.breakthrough:Breakthrough",
    "bridge": "plyhouse.games.hidden.bridge.rules:Bridge",
    "checkers": "plyhouse.games.deterministic.checkers.rules:Checkers",
    "chess": "plyhouse.games.deterministic.chess.rules:Chess",
    "coin_guess": "plyhouse.games.hidden.coin_guess:CoinGuess",
    "coins": "plyhouse.games.deterministic.coins:Coins",
    "connect_four": "plyhouse.games.deterministic.connect_four.rules:ConnectFour",
    "einstein": "plyhouse.games.stochastic.einstein:Einstein",
    "go": "plyhouse.games.deterministic.go.rules:Go",
    "hearts": "plyhouse.games.hidden.hearts.rules:Hearts",
    "hexapawn": "plyhouse.games.deterministic.hexapawn:Hexapawn",
    "kalah": "plyhouse.games.deterministic.kalah:Kalah",
    "kuhn_poker": "plyhouse.games.hidden.kuhn_poker:KuhnPoker",
    "leduc_poker": "plyhouse.games.hidden.leduc_poker:LeducPoker",
    "liars_dice": "plyhouse.games.hidden.liars_dice:LiarsDice",
    "matrix": "plyhouse.games.hidden.matrix:Matrix",
    "monopoly": "plyhouse.games.stochastic.monopoly.rules:Monopoly",
    "nim": "plyhouse.games.deterministic.nim:Nim",
    "othello": "plyhouse.games.deterministic.othello.rules:Othello",
    "pacman": "plyhouse.games.stochastic.pacman.rules:Pacman",
    "pig": "plyhouse.games.stochastic.pig:Pig",
    "prisoners_dilemma": "plyhouse.games.hidden.prisoners_dilemma:PrisonersDilemma",
    "rock_paper_scissors": "plyhouse.games.hidden.rock_paper_scissors:RockPaperScissors",
    "scrabble": "plyhouse.games.hidden.scrabble.rules:Scrabble",
    "texas_holdem": "plyhouse.games.hidden.texas_holdem.rules:TexasHoldem",
    "tic_tac_toe": "plyhouse.games.deterministic.tic_tac_toe:TicTacToe",
}

_FILE: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[A-Za-z_]\w*))?")
_OPENSPIEL: Final = re.compile(r"openspiel:(?P<name>\w+)")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_PARAMETER: Final = re.compile(
    r"\s*([A-Za-z_]\w*)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|[^\s,()\"]+)\s*(,|$)"
)
_LONGEST_SPEC: Final = 1000


def _read_value(text: str) -> ParameterValue:
    """Return a value of a spec: a whole number, a number, true, false, or else a text."""
    if text.startswith('"'):
        return str(json.loads(text))
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def parse_spec(text: str) -> tuple[str, dict[str, ParameterValue]]:
    """Split a spec into the name (or file) and the parameters; raises `InvalidSpec`.

    >>> parse_spec("connect_four(columns=5, rows=4)")
    ('connect_four', {'columns': 5, 'rows': 4})
    """
    spec = text.strip()
    if len(spec) > _LONGEST_SPEC:
        raise InvalidSpec(text, f"it is longer than {_LONGEST_SPEC} characters")
    name, inside = spec, ""
    if spec.endswith(")"):
        # Folders may have parentheses in their names: the list belongs to the last "name(".
        found = re.search(
            r"(?<=[A-Za-z0-9_.-])\s*\((?P<inside>(?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)$", spec
        )
        if found is None:
            raise InvalidSpec(text, "its parentheses do not match")
        name, inside = spec[: found.start()], found["inside"].strip()
    if not (_NAME.fullmatch(name) or _FILE.fullmatch(name) or _OPENSPIEL.fullmatch(name)):
        if not name:
            reason = "it is empty"
        elif "(" in name:
            reason = "its parentheses do not match"
        elif name == spec:  # which the message quotes already
            reason = "a name has letters, digits, _, . and - only"
        else:
            reason = f"{name!r} is not a name"
        raise InvalidSpec(text, reason)
    parameters: dict[str, ParameterValue] = {}
    at = 0
    while at < len(inside):
        match = _PARAMETER.match(inside, at)
        if match is None:
            raise InvalidSpec(text, f"{inside[at:].strip()!r} is not of the form name=value")
        key = match[1]
        if key in parameters:
            raise InvalidSpec(text, f"{key} is given twice")
        try:
            parameters[key] = _read_value(match[2])
        except ValueError:
            raise InvalidSpec(text, f"{match[2]} is not a well-formed text") from None
        at = match.end()
        if match[3] == "," and not inside[at:].strip():
            raise InvalidSpec(text, "it ends in a comma")
    return name, parameters


_added: Final[dict[str, type[Game]]] = {}
_files: Final[dict[str, str]] = {}
"""Games of files that have been made known by name."""


@functools.cache
def _sources() -> dict[str, str]:
    """Return every known name with its ``module:Class``; two sources of one name are an error."""
    sources = dict(BUILT_IN)
    for name, source in entry_points(ENTRY_POINTS):
        first = sources.setdefault(name, source)
        if first != source:
            raise DuplicateGame(name, first, source)
    return sources


def added_game_files() -> tuple[str, ...]:
    """Return the sources of all games that `add_game_file` added to this process."""
    return tuple(source for name, source in _files.items() if name in _added)


def add_game_file(source: str) -> str:
    """Make the game of a file, or of OpenSpiel, known by its name in this process; return the name.

    Hosts call it for the files they serve, so that the wire and the records show the game's name
    instead of a path.  Runs the file.  Raises `InvalidGameSource` or `DuplicateGame`.
    """
    found = load_game_class(source)
    name = found.info.name
    known = _added[name].__module__ if name in _added else _sources().get(name)
    if known is not None and _added.get(name) is not found:
        raise DuplicateGame(name, known, source)
    _added[name] = found
    _files[name] = source
    return name


def game_names() -> tuple[str, ...]:
    """Names of all built-in and installed games, and of added files, sorted.

    >>> game_names()[:3]
    ('backgammon', 'battleship', 'breakthrough')
    """
    return tuple(sorted({*_sources(), *_added}))


@functools.cache
def game_class(name: str) -> type[Game]:
    """Return the class of a built-in or installed game.

    Raises `UnknownGame`, which names near matches, `DuplicateGame` or `InvalidGameSource`.
    """
    if name in _added:
        return _added[name]
    sources = _sources()
    if name not in sources:
        known = game_names()
        near = difflib.get_close_matches(name.lower().replace("-", "_"), known, n=3)
        raise UnknownGame(name, near, known)
    source = sources[name]
    place, _, attribute = source.partition(":")
    try:
        module = importlib.import_module(place)
    except Exception as error:  # a plug-in may raise anything on import
        raise InvalidGameSource(source, f"{type(error).__name__}: {error}") from error
    found = getattr(module, attribute, None)
    if found is None:
        raise InvalidGameSource(source, f"the module has no {attribute}")
    return _checked_class(found, source)


def _checked_class(found: object, source: str) -> type[Game]:
    """``found`` if it is a complete game class; else `InvalidGameSource`."""
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise InvalidGameSource(
            source, "it is not a game; make it a subclass of plyhouse.games.Game"
        )
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    missing += [name for name in ("info", "observation_type") if not hasattr(found, name)]
    if missing:
        raise InvalidGameSource(source, f"class {found.__name__} must define {', '.join(missing)}")
    return found


def _load_module(path: Path, source: str) -> ModuleType:
    """Run a Python file as a separate module."""
    if not path.is_file():
        raise InvalidGameSource(source, f"there is no file {path}")
    name = module_name(path)  # it tells where it is from, so that states can be pickled
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_of(path)
    if spec is None or spec.loader is None:
        raise InvalidGameSource(source, "it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file may raise anything
        del sys.modules[name]
        where = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        raise InvalidGameSource(source, f"{type(error).__name__}: {error}{where}") from error
    return module


def game_file(source: str) -> Path:
    """Return the file that a source like ``mygame.py:MyGame`` names; raises `InvalidGameSource`."""
    return Path(_file_and_class(source)[0])


def anywhere(spec: str) -> str:
    """Return a spec that names its file, if any, by a path that holds in every folder.

    >>> anywhere("nim(heaps='3,4')"), anywhere("/games/../chomp.py(rows=3)")
    ("nim(heaps='3,4')", '/chomp.py(rows=3)')
    """
    name = spec.partition("(")[0]
    return os.path.abspath(name) + spec[len(name) :] if _FILE.fullmatch(name) else spec


def _file_and_class(source: str) -> tuple[str, str | None]:
    match = _FILE.fullmatch(source)
    if match is None:
        raise InvalidGameSource(source, "write a file and a class, like mygame.py:MyGame")
    return match["path"], match["name"]


def load_game_class(source: str) -> type[Game]:
    """Return the game class of a file: ``mygame.py:MyGame``, or ``mygame.py`` if it has only one.

    Runs the file.  ``openspiel:hex`` is the class of a game of OpenSpiel.  Raises
    `InvalidGameSource`.
    """
    if of_openspiel := _OPENSPIEL.fullmatch(source):
        return _openspiel_class(of_openspiel["name"])
    path, wanted = _file_and_class(source)
    module = _load_module(Path(path), source)
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Game)
        and value.__module__ == module.__name__
        and not inspect.isabstract(value)
    }
    if wanted is not None:
        if hasattr(module, wanted):
            return _checked_class(getattr(module, wanted), source)
        near = difflib.get_close_matches(wanted, own, n=1) or sorted(own)
        hint = f", it has {' and '.join(near)}" if near else " nor any other game"
        raise InvalidGameSource(source, f"the file has no class {wanted}{hint}")
    if not own:
        unfinished = [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Game)
            and value.__module__ == module.__name__
        ]
        if len(unfinished) == 1:
            return _checked_class(unfinished[0], source)  # it names what is missing
        raise InvalidGameSource(
            source, "it defines no game; define a subclass of plyhouse.games.Game"
        )
    if len(own) > 1:
        raise InvalidGameSource(
            source, f"it defines {' and '.join(sorted(own))}; say which, like mygame.py:MyGame"
        )
    return _checked_class(next(iter(own.values())), source)


def _openspiel_class(name: str) -> type[Game]:
    try:
        bridge = importlib.import_module("plyhouse.games.bridges.openspiel_import")
    except ImportError as error:
        raise InvalidGameSource(
            f"openspiel:{name}", f"{error}; install OpenSpiel: pip install 'plyhouse[openspiel]'"
        ) from error
    found: type[Game] = bridge.openspiel_class(name)
    return found


@functools.lru_cache(maxsize=256)  # bounded: specs come from clients
def _named_game(spec: str) -> Game:
    name, parameters = parse_spec(spec)
    kind = game_class(name)
    if OTHER_NAMES in parameters and OTHER_NAMES not in [
        each.name for each in kind.info.parameters
    ]:
        from plyhouse.games.renaming import renamed  # programs seldom need it

        kind = renamed(kind)
    return kind(**parameters)


@functools.lru_cache(maxsize=256)
def _file_game(spec: str) -> Game:
    name, parameters = parse_spec(spec)
    game = load_game_class(name)(**parameters)
    game.source = name
    return game


def get_game(spec: str, *, files: bool = False) -> Game:
    """Return the game that a spec names; the same object for the same text.

    A spec that names a file runs that file, and specs arrive from clients.  So files are refused
    unless the caller vouches that ``spec`` comes from somebody who may run code here.  So are games
    of OpenSpiel that `add_game_file` has not added.

    Raises `InvalidSpec`, `UnknownGame`, `InvalidParameter`, `DuplicateGame` or
    `InvalidGameSource`.
    """
    name, _ = parse_spec(spec)
    if _FILE.fullmatch(name):
        if not files:
            raise InvalidGameSource(name, "files are not allowed here; use the name of a game")
        return _file_game(spec)
    if _OPENSPIEL.fullmatch(name) and name not in _added:
        if not files:
            raise UnknownGame(name, (), game_names())
        return _file_game(spec)
    return _named_game(spec)
