"""Competition files for rehearsals of hosted finals; functions are pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.server.competition_rules.file_table import read_document

SUFFIX: Final = " (rehearsal)"
LONGEST: Final = 64
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
"""A key that needs no quotes."""


def rehearsal_name(name: str) -> str:
    """Return the name of a competition's rehearsal.

    >>> rehearsal_name("Autumn cup")
    'Autumn cup (rehearsal)'
    """
    return name[: LONGEST - len(SUFFIX)].rstrip(" ,:&'+-(") + SUFFIX


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
