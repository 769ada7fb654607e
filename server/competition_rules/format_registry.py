"""Formats by their names, with their parameters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from plyhouse.server.competition_rules.double_elimination import DoubleElimination
from plyhouse.server.competition_rules.formats import Format, FormatError
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.groups import GroupsKnockout
from plyhouse.server.competition_rules.knockout import Knockout
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.competition_rules.round_robin import RoundRobin
from plyhouse.server.competition_rules.swiss import Swiss
from plyhouse.server.competition_rules.tables import Tables

FORMATS: Final[Mapping[str, tuple[type[Format | Ladder], Mapping[str, Any]]]] = {
    "round_robin": (RoundRobin, {}),
    "double_round_robin": (RoundRobin, {"laps": 2}),
    "swiss": (Swiss, {}),
    "tables": (Tables, {}),
    "knockout": (Knockout, {}),
    "double_elimination": (DoubleElimination, {}),
    "groups_knockout": (GroupsKnockout, {}),
    "gauntlet": (Gauntlet, {}),
    "ladder": (Ladder, {}),
}
"""The class of each format, and the parameters that its name fixes."""
BY_SCORE: Final = tuple(name for name, (made, _) in FORMATS.items() if made.by_score)
REPEATED: Final = tuple(name for name, (made, _) in FORMATS.items() if made.repeats)
"""Formats that take ``rounds``."""

_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "laps": (1, 1000),
    "number": (1, 100),
    "bye": (0, 1),
    "late": (0, 0.5),
    "best_of": (1, 99),
    "extra": (0, 99),
    "size": (2, 1000),
    "advance": (1, 50),
    "times": (1, 1000),
    "patience": (0, 3600),
    "error": (0.001, 0.5),
    "most": (1, 10_000),
}
"""The smallest and the largest value of numeric parameters."""
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"points": ("share", "result")}
"""The possible values of text parameters."""
_WORDS: Final[Mapping[type, str]] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a format other than seats and mirroring."""

    name: str
    default: Any
    """None if the default depends on the competition; the page of formats explains it."""
    kind: type
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The permitted values, in words."""
        if self.choices:
            return " or ".join(map(repr, self.choices))
        if self.least is None or self.most is None:
            return _WORDS[self.kind]
        return f"{_WORDS[self.kind]} from {self.least:g} to {self.most:g}"

    def fits(self, value: object) -> bool:
        """Return whether a value has the right type; integers are numbers, too."""
        if isinstance(value, bool) or self.kind is bool:
            return isinstance(value, bool) and self.kind is bool
        return isinstance(value, (int, float) if self.kind is float else self.kind)

    def within(self, value: Any) -> bool:
        """Return whether a value of the right type is permitted."""
        if self.choices:
            return value in self.choices
        return self.least is None or self.most is None or self.least <= value <= self.most


def described(name: str) -> tuple[Parameter, ...]:
    """Return a format's parameters with bounds, without seats and mirroring.

    >>> for each in described("gauntlet"):
    ...     print(f"{each.name}: {each.words}")
    times: a whole number from 1 to 1000
    until_certain: true or false
    error: a number from 0.001 to 0.5
    most: a whole number from 1 to 10000
    """
    made, fixed = _find(name)
    return tuple(
        Parameter(
            each.name,
            each.default,
            int if each.default is None else type(each.default),
            _BOUNDS[each.name][0] if each.name in _BOUNDS else None,
            _BOUNDS[each.name][1] if each.name in _BOUNDS else None,
            _CHOICES.get(each.name, ()),
        )
        for each in fields(made)
        if each.name not in ("seats", "mirrored", *fixed)
    )


def make_format(
    name: str, *, seats: int = 2, mirrored: bool = True, **given: Any
) -> Format | Ladder:
    """Return the format of this name.

    Raises `FormatError` for an unknown name or parameter, and for a value of the wrong type or out
    of range.  It also raises it if the format cannot pair a game with this number of seats.

    >>> make_format("swiss", number=5).count(30)
    150
    """
    made, fixed = _find(name)
    known = {each.name: each for each in described(name)}
    for key, value in given.items():
        if key not in known:
            listed = ", ".join(known) or "none"
            raise FormatError(f"{name} has no parameter {key!r}; it has: {listed}")
        if value is None and known[key].default is None:
            continue
        if not known[key].fits(value) or not known[key].within(value):
            raise FormatError(f"{key} must be {known[key].words}, not {value!r}")
    return made(seats=seats, mirrored=mirrored, **fixed, **given)


def _find(name: str) -> tuple[type[Format | Ladder], Mapping[str, Any]]:
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise FormatError(f"there is no format {name!r}{hint}; there are: {', '.join(FORMATS)}")
    return FORMATS[name]
