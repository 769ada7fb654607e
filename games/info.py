"""The static facts of a game, by which searches, referees and people see whether it fits.

>>> size = Parameter("size", 8, "squares along each side", 4, 10)
>>> size.expected()
'a whole number from 4 to 10'
>>> Parameter("misere", True, "whether the last one loses").checked("nim", 1)
Traceback (most recent call last):
plyhouse.games.errors.InvalidParameter: nim cannot have misere='1': it must be true or false.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from typing import Final

from plyhouse.games.errors import InvalidParameter

__all__ = [
    "MOST_LISTED",
    "OTHER_NAMES",
    "ChanceKind",
    "GameInfo",
    "Information",
    "Parameter",
    "ParameterValue",
    "Scoring",
    "Utility",
    "spec_value",
]

MOST_LISTED: Final = 1024
"""Most legal actions that an observation lists."""
OTHER_NAMES: Final = "renamed"
"""Parameter of the games that `plyhouse.games.renaming` gives other names: the seed of these."""

ParameterValue = int | float | str | bool


class ChanceKind(enum.StrEnum):
    """Presence of chance in a game."""

    DETERMINISTIC = "deterministic"
    STOCHASTIC = "stochastic"


class Information(enum.StrEnum):
    """Perfect or hidden information."""

    PERFECT = "perfect"
    IMPERFECT = "imperfect"


class Utility(enum.StrEnum):
    """How the returns of the seats relate."""

    ZERO_SUM = "zero_sum"
    CONSTANT_SUM = "constant_sum"
    GENERAL_SUM = "general_sum"
    TEAM = "team"
    """Seats of a team (`Game.team`) have equal returns; where there are two teams, those of
    one are the opposite of the other's."""


class Scoring(enum.StrEnum):
    """How ratings and tables read the returns of a match."""

    WINS = "wins"
    """Only who got more: a narrow win counts as much as a high one."""
    RETURNS = "returns"
    """How much was won: a match scores by the difference of the returns."""


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One named, ranged parameter of a game; the type is that of ``default``."""

    name: str
    default: ParameterValue
    description: str
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[ParameterValue, ...] | None = None

    def expected(self) -> str:
        """Describe the allowed values in words: "a whole number from 3 to 10"."""
        if self.choices is not None:
            return "one of " + ", ".join(spec_value(choice) for choice in self.choices)
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, str):
            return "a text"
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        if self.minimum is not None and self.maximum is not None:
            return f"{kind} from {self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"{kind} of at least {self.minimum:g}"
        if self.maximum is not None:
            return f"{kind} of at most {self.maximum:g}"
        return kind

    def checked(self, game: str, value: object) -> ParameterValue:
        """Return the value as the parameter's own type, or `InvalidParameter`."""
        good: ParameterValue | None = None
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                good = value
        elif isinstance(self.default, str):
            if isinstance(value, str):
                good = value
        elif isinstance(value, int) and not isinstance(value, bool):
            good = value if isinstance(self.default, int) else float(value)
        elif isinstance(value, float) and isinstance(self.default, float):
            good = value
        if good is not None and self.choices is not None and good not in self.choices:
            good = None
        if isinstance(good, int | float) and not isinstance(good, bool):
            # "not low <= x" rather than "x < low", so that NaN is refused too.
            too_low = self.minimum is not None and not self.minimum <= good
            too_high = self.maximum is not None and not good <= self.maximum
            if too_low or too_high:
                good = None
        if good is None:
            raise InvalidParameter(game, self.name, value, f"it must be {self.expected()}")
        return good


def spec_value(value: ParameterValue) -> str:
    """Return a parameter value as it is written in a spec: ``5``, ``0.25``, ``true``, ``bag``.

    >>> [spec_value(value) for value in (5, True, "bag", "3,4,5")]
    ['5', 'true', 'bag', '"3,4,5"']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", value) and value not in ("true", "false")
        return value if plain else json.dumps(value)
    return repr(value)


@dataclasses.dataclass(frozen=True, slots=True)
class GameInfo:
    """Static facts of a game, by which algorithms and hosts decide whether it fits.

    ``min_return``/``max_return`` bound every seat's final utility and ``max_plies`` the
    number of actions of seats and chance in one match, both over all allowed parameters.
    Where chance could prolong a match for ever (pig), ``max_plies`` is a number that play
    of any sense reaches with negligible probability: a referee aborts the match there.
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
    complete_keys: bool = True
    """False if the states' `key` leaves out history that the rules use, such as repetitions or
    counters of plies. Searches then do not treat a result for a key as certain in every position
    with that key."""
    scoring: Scoring = Scoring.WINS
    """True if ratings and tables go by wins, or by the size of the returns."""
    most_actions: int = MOST_LISTED
    """Most legal actions of any position.  Above `MOST_LISTED`, observations and errors list some
    of them, and `Game.parse` has to judge an action without writing out all."""
    returns_unit: str = ""
    """Unit of the returns for tables, as in "bb/100"; "" for points."""
