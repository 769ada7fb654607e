"""Competition files that are made from the file of a competition: rehearsals and practice ladders.

Both are separate competitions.  The id of a practice ladder is derived from that of its
competition, so nothing else has to be stored.  All functions here are pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.protocol.parts import LONGEST_COMPETITION
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_table import read_document

REST_NS: Final = 5_000_000_000
LONGEST_REST_NS: Final = 600_000_000_000
TERMS: Final = ("games", "time_control", "mirrored", "scoring", "hosting_required")
"""Fields of the file that decide how matches of a practice ladder are played and scored."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
"""A key that needs no quotes."""


def rehearsal_name(name: str) -> str:
    """Return the name of a competition's rehearsal.

    >>> rehearsal_name("Autumn cup")
    'Autumn cup (rehearsal)'
    """
    return _with(name, " (rehearsal)")


def practice_name(name: str) -> str:
    """Return the name of a competition's practice ladder.

    >>> practice_name("Autumn cup")
    'Autumn cup (practice)'
    """
    return _with(name, " (practice)")


def _with(name: str, suffix: str) -> str:
    return name[: LONGEST_COMPETITION - len(suffix)].rstrip(" ,:&'+-(/") + suffix


def rehearsal_text(text: str, name: str) -> str:
    r"""Return the competition file of a rehearsal.

    It has another name and no dates.  Only organisers and the author of each bot see it, and runner
    machines run the bots.

    >>> print(rehearsal_text('name = "Cup"\ngames = ["pig"]\nboard = "public"', "Rehearsal"))
    name = "Rehearsal"
    games = ["pig"]
    board = "anonymous"
    [hosting]
    required = true
    """
    values: dict[str, Any] = read_document(text)
    for key in ("dates", "late"):
        values.pop(key, None)
    values["name"], values["board"] = name, "anonymous"
    values.setdefault("hosting", {})["required"] = True
    return toml(values)


def practice_rest(pairings: int) -> int:
    """Return how long a bot rests after a pairing, in nanoseconds.

    ``pairings`` is the number that its version has begun.  A new version is soon rated, and rated
    bots do not play all night.  A class of 200 plays some hundred thousand matches in two weeks,
    however fast its bots are.

    >>> [practice_rest(each) // 10**9 for each in (1, 10, 1000)]
    [5, 50, 600]
    """
    return min(REST_NS * pairings, LONGEST_REST_NS)


def practice_text(file: CompetitionFile, name: str) -> str:
    r"""Return the text of a practice ladder's file, by the file of its competition.

    Dates and grades are left out, and hidden baselines have no name.

    >>> from plyhouse.server.competition_rules.file_reader import read_competition
    >>> text = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n[practice]\nladder = true'
    >>> print(practice_text(read_competition(text), "Cup (practice)"))
    name = "Cup (practice)"
    games = ["pig"]
    time_control = "move:1"
    mirrored = true
    entries_per_student = 1
    board = "class"
    rules = "Practice for Cup: these matches count for no final and no grade."
    [format]
    name = "ladder"
    [hosting]
    required = false
    [limits]
    students = 200
    matches_at_a_time = 4
    """
    values: dict[str, Any] = {
        "name": name,
        "games": list(file.games),
        "time_control": str(file.time_control),
        "mirrored": file.mirrored,
        "entries_per_student": file.entries_per_student,
        "board": file.board,
        "rules": f"Practice for {file.name}: these matches count for no final and no grade.",
        "format": {"name": "ladder"},
        "hosting": {"required": file.hosting_required},
        "limits": {
            "students": file.limits.students,
            "matches_at_a_time": file.practice.matches_at_a_time,
        },
    }
    if file.scoring:
        values["scoring"] = {game: each.value for game, each in file.scoring.items()}
    # A hidden baseline that was on the ladder earlier must have no name there.
    named = [
        {"bot": each.bot, "hidden": True} if each.hidden else {"bot": each.bot}
        for each in file.originals
        if each.hidden or file.practice.baselines
    ]
    if named:
        values["baselines"] = named
    return toml(values)


def same_terms(one: CompetitionFile, other: CompetitionFile) -> bool:
    """Return whether two ladders play and score their matches alike."""
    return all(getattr(one, name) == getattr(other, name) for name in TERMS)


def toml(values: Mapping[str, Any], at: str = "") -> str:
    """Write a table as TOML: texts, numbers, flags, times, lists, tables and lists of tables.

    >>> print(toml({"name": "Cup", "format": {"name": "swiss"}, "baselines": [{"bot": "a/b"}]}))
    name = "Cup"
    [format]
    name = "swiss"
    [[baselines]]
    bot = "a/b"
    """
    lines, tables = [], []
    for key, value in values.items():
        key = key if _BARE.fullmatch(key) else _value(key)
        name = f"{at}.{key}" if at else key
        if isinstance(value, Mapping):
            tables.append(f"[{name}]\n{toml(value, name)}")
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            tables += [f"[[{name}]]\n{toml(one, name)}" for one in value]
        else:
            lines.append(f"{key} = {_value(value)}")
    return "\n".join([*lines, *tables])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, str):
        # JSON's escapes are valid in TOML; DEL is the one control character that JSON leaves
        # unescaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
