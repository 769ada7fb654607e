"""Named features of positions, ready-made for the games of the course.

C. Shannon, "Programming a computer for playing chess", Philosophical Magazine 41 (1950), on
evaluation by weighted features; A. Samuel, "Some studies in machine learning using the game of
checkers", IBM Journal 3 (1959), on tuning them.

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> features = features_of("tic_tac_toe")
>>> state = game.initial_state().after(game.parse(game.initial_state(), "b2"))
>>> dict(zip(features.names, features.values(state, 0), strict=True))
{'open_lines': 0.5, 'threats': 0.0, 'centre': 1.0, 'turn': -1.0}
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.games.errors import GameMismatch
from plyhouse.search.kernels import features as kernels

__all__ = ["FEATURES", "FeatureSet", "features_of"]


@dataclass(frozen=True)
class FeatureSet:
    """Features of an evaluation: names, and numbers for a state and a seat.

    A feature should be about as good for one seat as its negative is for the other.  It should lie
    roughly between -1 and 1, so that weights can be compared and tuned.
    """

    names: tuple[str, ...]
    values: Callable[[Any, int], Sequence[float]]
    """``values(state, seat)``: a number for each name."""
    meanings: tuple[str, ...] = ()
    """Description of each feature."""
    default: tuple[float, ...] = ()
    """Weights to begin with, where there are some that are known to make sense."""

    @classmethod
    def of(cls, functions: Mapping[str, Callable[[Any, int], float]]) -> FeatureSet:
        """Make a set of functions ``feature(state, seat)`` by name.

        >>> FeatureSet.of({"coins": lambda state, seat: state.coins / 10}).names
        ('coins',)
        """
        chosen = tuple(functions.values())

        def values(state: Any, seat: int) -> tuple[float, ...]:
            return tuple([function(state, seat) for function in chosen])

        return cls(tuple(functions), values)

    def check_names(self, names: Sequence[str]) -> None:
        """Raise `ValueError` unless these are the names of the set, in any order."""
        for name in names:
            if name not in self.names:
                near = difflib.get_close_matches(name, self.names, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.names)}"
                raise ValueError(f"there is no feature {name!r}; {hint}")
        missing = [name for name in self.names if name not in names]
        if missing:
            raise ValueError(f"there is no weight for {', '.join(missing)}")


def by_sign(vector: Callable[[Any], tuple[float, ...]]) -> Callable[[Any, int], Sequence[float]]:
    """Features that are for seat 1 the negative of what they are for seat 0."""

    def values(state: Any, seat: int) -> Sequence[float]:
        found = vector(state)
        return found if seat == 0 else [-number for number in found]

    return values


def _set(
    vector: Callable[[Any], tuple[float, ...]], *features: tuple[str, str, float]
) -> FeatureSet:
    names, meanings, default = zip(*features, strict=True)
    return FeatureSet(names, by_sign(vector), meanings, default)


TURN: Final = ("turn", "1 for the seat to move, -1 for the other", 0.0)

FEATURES: Final[Mapping[str, FeatureSet]] = {
    "tic_tac_toe": _set(
        kernels.tic_tac_toe,
        ("open_lines", "lines without a mark of the other, mine less theirs, in eighths", 1.6),
        ("threats", "lines that lack one mark", 0.0),
        ("centre", "the mark in the centre", 0.0),
        TURN,
    ),
    "connect_four": _set(
        kernels.connect_four,
        ("ones", "lines with one disc, none of the other's, in tenths", 1.0),
        ("twos", "lines with two discs, in fifths", 2.0),
        ("threes", "lines that lack one disc or few, in halves", 2.0),
        ("middle", "discs in the middle column, in sixths", 1.0),
        TURN,
    ),
    "othello": _set(
        kernels.othello,
        ("discs", "discs, in 32nds", 1.0),
        ("corners", "corners, in halves", 1.0),
        ("slanting", "discs slanting from an empty corner, in halves", 0.0),
        ("beside", "discs beside an empty corner on the edge, in quarters", 0.0),
        ("edges", "discs on the edges away from corners, in eighths", 0.0),
        ("mobility", "squares to place a disc on, in tenths", 1.0),
        TURN,
    ),
    "checkers": _set(
        kernels.checkers,
        ("men", "men, in quarters", 4.0),
        ("kings", "kings, in quarters", 6.0),
        ("advance", "rows the men have gone, in twentieths", 0.5),
        ("home", "men on the home row, in quarters", 0.0),
        ("mobility", "actions if it were the seat's turn, in tenths", 0.0),
        TURN,
    ),
    "chess": _set(  # A. Turing's values, and mobility as in his rules
        kernels.chess,
        ("pawns", "pawns, in quarters", 4.0),
        ("knights", "knights, in halves", 6.0),
        ("bishops", "bishops, in halves", 7.0),
        ("rooks", "rooks, in halves", 10.0),
        ("queens", "queens", 10.0),
        ("mobility", "legal moves if it were the seat's turn, in twentieths", 1.0),
        TURN,
    ),
    "breakthrough": _set(
        kernels.breakthrough,
        ("pawns", "pawns, as a share of the board's width", 4.0),
        ("advance", "ranks the pawns have gone, as a share of the squares", 1.0),
        ("foremost", "rank of the foremost pawn, as a share of the ranks", 0.0),
        ("beyond", "pawns beyond the middle, as a share of the width", 0.0),
        TURN,
    ),
}
"""By name of the game.  Weights are log-odds: 1 means about 73 % against 27."""


def features_of(game: str) -> FeatureSet:
    """Return the ready-made features of a game, by its name; raises `GameMismatch`."""
    if game not in FEATURES:
        raise GameMismatch(
            "the ready-made evaluation",
            game,
            "there are no features for it",
            f"there are for {', '.join(FEATURES)}; make others by FeatureSet.of",
        )
    return FEATURES[game]
