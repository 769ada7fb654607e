"""Evaluation by a weighted sum of features, which can be shown, saved and tuned.

Shannon (1950), Samuel (1959); Russell & Norvig, AIMA 4th ed., section 6.3.1.

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> evaluate = LinearEvaluation(game)
>>> state = game.initial_state()
>>> print(evaluate.contributions(state.after(game.parse(state, "b2")), 0))
feature        value    weight   product
open_lines     0.500     1.600     0.800
threats        0.000     0.000     0.000
centre         1.000     0.000     0.000
turn          -1.000     0.000    -0.000
sum                                0.800
estimate                           0.380
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.search.evaluation.features import FeatureSet, features_of
from plyhouse.search.files import InvalidFile, write_atomically

__all__ = ["Contribution", "Contributions", "InvalidWeights", "LinearEvaluation"]

FORMAT: Final = "plyhouse-weights-1"
INSIDE: Final = 0.999_999
"""Estimates stay this share inside of the bounds: only the end of the game is certain."""


class InvalidWeights(InvalidFile):
    """A file that does not hold weights for this game and these features; ``str()`` says why."""


@dataclass(frozen=True)
class Contribution:
    """Contribution of one feature to the sum."""

    name: str
    value: float
    weight: float

    @property
    def product(self) -> float:
        """Value times weight."""
        return self.value * self.weight


@dataclass(frozen=True)
class Contributions:
    """Why a position is valued as it is; ``str()`` makes a table of it."""

    rows: tuple[Contribution, ...]
    total: float
    """The sum of all products, in log-odds."""
    estimate: float
    """The evaluation, in returns of the game."""

    def __str__(self) -> str:
        width = max([len(row.name) for row in self.rows] + [8])
        lines = [f"{'feature':<{width}}  {'value':>8}  {'weight':>8}  {'product':>8}"]
        lines += [
            f"{row.name:<{width}}  {row.value:8.3f}  {row.weight:8.3f}  {row.product:8.3f}"
            for row in self.rows
        ]
        lines.append(f"{'sum':<{width}}  {'':8}  {'':8}  {self.total:8.3f}")
        lines.append(f"{'estimate':<{width}}  {'':8}  {'':8}  {self.estimate:8.3f}")
        return "\n".join(lines)


class LinearEvaluation:
    """An evaluation for searches: ``alpha_beta(game, state, limit, evaluate=evaluation)``.

    The weighted sum z is read as log-odds of winning: a win has the probability 1 / (1 + exp(-z)).
    The estimate is the expected return, tanh(z / 2), scaled to the bounds of the game's returns.

    ``features`` is a `FeatureSet`, or functions ``feature(state, seat)`` by name; by default
    the ready-made ones of the game.  ``weights`` are by name, or in the order of the names;
    by default those the features come with.  Raises `ValueError` for names that do not fit.
    """

    def __init__(
        self,
        game: Game,
        features: FeatureSet | Mapping[str, Callable[[Any, int], float]] | None = None,
        weights: Mapping[str, float] | Sequence[float] | None = None,
        *,
        tuned: str = "",
    ) -> None:
        if features is None:
            features = features_of(game.info.name)
        elif not isinstance(features, FeatureSet):
            features = FeatureSet.of(features)
        if weights is None:
            weights = features.default or (0.0,) * len(features.names)
        if isinstance(weights, Mapping):
            features.check_names(tuple(weights))
            weights = [weights[name] for name in features.names]
        if len(weights) != len(features.names):
            raise ValueError(
                f"{len(weights)} weights for {len(features.names)} features "
                f"({', '.join(features.names)})"
            )
        for name, weight in zip(features.names, weights, strict=True):
            if not math.isfinite(weight):
                raise ValueError(f"the weight of {name} is {weight}: expected a finite number")
        self.game = game
        self.features = features
        self.weights = tuple([float(weight) for weight in weights])
        self.tuned = tuned
        """How the weights came about, in words."""
        low, high = game.return_bounds
        self.middle = (high + low) / 2
        self.half = (high - low) / 2 * INSIDE

    def __call__(self, state: Any, seat: int) -> float:
        """Expected return of the seat, strictly within the bounds of the game."""
        return self.middle + self.half * math.tanh(self.log_odds(state, seat) / 2)

    def log_odds(self, state: Any, seat: int) -> float:
        """Return the weighted sum itself."""
        total = 0.0
        for weight, value in zip(self.weights, self.features.values(state, seat), strict=True):
            total += weight * value
        return total

    def contributions(self, state: Any, seat: int | None = None) -> Contributions:
        """Return the contribution of each feature, for a seat or the seat to act."""
        chosen = max(state.to_move, 0) if seat is None else seat
        numbers = self.features.values(state, chosen)
        rows = tuple(
            [
                Contribution(name, float(value), weight)
                for name, value, weight in zip(
                    self.features.names, numbers, self.weights, strict=True
                )
            ]
        )
        return Contributions(rows, self.log_odds(state, chosen), self(state, chosen))

    def with_weights(self, weights: Sequence[float], tuned: str = "") -> LinearEvaluation:
        """Return the same features with other weights, in the order of the names."""
        return LinearEvaluation(self.game, self.features, weights, tuned=tuned)

    def save(self, path: str | Path) -> None:
        """Write the weights as TOML, in one step."""
        lines = [f'format = "{FORMAT}"', f"game = {_quoted(self.game.spec)}"]
        if self.tuned:
            lines.append(f"tuned = {_quoted(self.tuned)}")
        lines += ["", "[weights]"]
        meanings = self.features.meanings or ("",) * len(self.weights)
        for name, weight, meaning in zip(self.features.names, self.weights, meanings, strict=True):
            comment = f"  # {meaning}" if meaning else ""
            lines.append(f"{_quoted(name)} = {weight!r}{comment}")
        write_atomically(path, ("\n".join(lines) + "\n").encode())

    @classmethod
    def load(
        cls,
        path: str | Path,
        game: Game,
        features: FeatureSet | Mapping[str, Callable[[Any, int], float]] | None = None,
    ) -> LinearEvaluation:
        """Read weights; raises `InvalidWeights` if they do not fit, and `OSError`.

        They fit any parameters of the game they are for.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidWeights(path, f"it is not TOML: {error}") from None
        if content.get("format") != FORMAT:
            raise InvalidWeights(path, f"its format is {content.get('format')!r}, not {FORMAT!r}")
        named = str(content.get("game", ""))
        if named.partition("(")[0] != game.spec.partition("(")[0]:
            raise InvalidWeights(path, f"it is for {named or 'no game'}, not for {game.spec}")
        weights = content.get("weights")
        if not isinstance(weights, dict):
            raise InvalidWeights(path, "it has no table [weights]")
        for name, weight in weights.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float):
                raise InvalidWeights(path, f"the weight of {name} is {weight!r}, not a number")
        try:
            return cls(game, features, weights, tuned=str(content.get("tuned", "")))
        except ValueError as error:
            raise InvalidWeights(path, str(error)) from None


def _quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
    )
