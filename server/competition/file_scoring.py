"""The key ``scoring`` of a competition file: the scoring of each game."""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition.file_table import Table

__all__ = ["read_scoring"]


def read_scoring(table: Table, games: Sequence[str]) -> dict[str, Scoring]:
    """Return the scoring that a file gives its games, by canonical spec.

    ``scoring`` is a text for all games, or a table with a text for some of them.  Games that the
    file does not mention are left out: their default applies.  Mistakes are noted in the table.
    """
    example = 'scoring = "wins", or scoring = { kuhn_poker = "returns" }'
    value = table.take("scoring", object, "a text or a table", example)
    if value is None:
        return {}
    if isinstance(value, str):
        each = _one_scoring(table, "scoring", value)
        return {} if each is None else dict.fromkeys(games, each)
    if not isinstance(value, dict):
        table.wrong("bad_type", "scoring", f"must be a text or a table; write it like {example}")
        return {}
    found: dict[str, Scoring] = {}
    for spec, given in value.items():
        at = f"scoring.{spec}"
        try:
            canonical = get_game(spec).spec
        except GameError as error:
            table.wrong("unknown_game", at, str(error))
            continue
        if canonical not in games:
            known = ", ".join(games)
            table.wrong("bad_value", at, f"{canonical} is not in games, which has {known}")
            continue
        chosen = _one_scoring(table, at, given)
        if chosen is not None:
            found[canonical] = chosen
    return found


def _one_scoring(table: Table, at: str, value: object) -> Scoring | None:
    """Return a value of `Scoring`; note a mistake and return None for others."""
    if isinstance(value, str) and value in [each.value for each in Scoring]:
        return Scoring(value)
    known = " or ".join(repr(each.value) for each in Scoring)
    table.wrong("bad_value", at, f"must be {known}, not {value!r}")
    return None
