"""The scale of each game: engines, exact values, or exploitability.

Stockfish announces its levels as ratings (``UCI_Elo``), which its authors fitted to a list of chess
programs at longer time controls.  CGOS, the server of computer go for 9x9, rates GNU Go 3.8 at
level 10 with about 1946.  Pachi with 10,000 playouts and no network has between 2150 and 2350.
The usual reference of backgammon is gnubg without a look-ahead ("0 plies").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.games.base import ChanceKind, Game, Information
from plyhouse.search.game_requirements import zero_sum


@dataclass(frozen=True, slots=True)
class Opponent:
    """An engine at one level."""

    name: str
    spec: str
    """The bot that plays by it, see `plyhouse.bots.loading`."""
    rating: float | None = None
    """Its rating; None if nobody states one."""
    engine: str = ""
    """Its command, if it may be missing while others are there."""


@dataclass(frozen=True, slots=True)
class Engines:
    """Matches against engines."""

    opponents: tuple[Opponent, ...]
    ratings: str = ""
    """The source of their ratings; empty: none, and the result against each is in points."""
    opening_plies: int = 0
    """Random plies at the start of a pair, for bots that would repeat their matches."""
    patience: float = 0.0
    """Seconds that an engine has for each move, if the bot has fewer.  An engine that makes a fixed
    number of playouts has the same rating however long they take."""


@dataclass(frozen=True, slots=True)
class Exact:
    """Choices in random positions, compared with values that are known exactly."""

    last_plies: int | None = None
    """Number of last plies of a random match from which positions come; None for all."""


@dataclass(frozen=True, slots=True)
class Exploitability:
    """The gain of best responses against the policy that the bot computes in its time."""


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Matches against an equilibrium, and best responses to answers in all information states."""


Scale = Engines | Exact | Exploitability | Equilibrium


def _stockfish(level: int) -> Opponent:
    options = f"UCI_LimitStrength=true; UCI_Elo={level}; Hash=16; Threads=1"
    return Opponent(
        f"Stockfish at {level}", f'uci(engine="stockfish", options="{options}")', float(level)
    )


def _go(name: str, engine: str, rating: float) -> Opponent:
    return Opponent(name, f'gtp(engine="{engine}")', rating, engine)


CHESS: Final = Engines(
    tuple([_stockfish(level) for level in range(1400, 2801, 200)]), "Stockfish's levels", 4
)
BACKGAMMON: Final = Engines(
    (Opponent("gnubg at 0 plies", 'gnubg(options="plies=0", points=true)'),)
)
GO: Final = Engines(
    (
        _go("GNU Go at level 10", "gnugo --level 10", 1946.0),
        _go("Pachi with 10,000 playouts", "pachi -d 0 --nodcnn -t =10000 threads=1", 2250.0),
    ),
    "CGOS",
    2,
    patience=30.0,
)
LAST: Final = {"connect_four": 14, "othello": 14}
"""Plies at the end of these games that can be solved in a moment."""
MOST_SEATS: Final = 2


def scale_of(game: Game, *, solvable: bool, computes: bool = True) -> Scale | None:
    """Return the scale of a game; None if there is none.

    ``solvable`` is True if all its positions, or all its information states, can be computed, and
    ``computes`` if the bot plays a policy that it computes itself.
    """
    name = game.info.name
    if game.spec == "chess":
        return CHESS
    if name == "backgammon" and not game.parameters.get("position"):
        return BACKGAMMON
    if game.spec == "go":
        return GO
    if game.info.information is Information.IMPERFECT:
        if not solvable or not zero_sum(game) or game.seats != MOST_SEATS:
            return None
        return Exploitability() if computes else Equilibrium()
    if game.seats != MOST_SEATS or game.chance_kind is not ChanceKind.DETERMINISTIC:
        return None
    if name in LAST:
        return Exact(LAST[name])
    return Exact() if solvable else None
