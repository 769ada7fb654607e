"""Files of competitions without `hosting.shared_chance`, which competitions do not have any more.

Revision ID: 0015
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_classes = sa.table("class_competitions", sa.column("id"), sa.column("file"))
_KEY = re.compile(
    r"^[ \t]*(?:hosting[ \t]*\.[ \t]*)?shared_chance[ \t]*=[ \t]*(?:true|false)[ \t]*(?:#.*)?\n?"
    r"|shared_chance[ \t]*=[ \t]*(?:true|false)[ \t]*,[ \t]*"
    r"|(?:,[ \t]*)?shared_chance[ \t]*=[ \t]*(?:true|false)",
    re.MULTILINE,
)


def without_shared_chance(text: str) -> str:
    """Return a competition file without the key; as it is if that is not possible.

    Words like it in comments and texts stay.

    >>> without_shared_chance("hosting = {required = true, shared_chance = true}")
    'hosting = {required = true}'
    """
    wanted = _values(text)
    if "shared_chance" not in wanted.get("hosting", {}):
        return text
    wanted["hosting"].pop("shared_chance")
    for found in _KEY.finditer(text):
        made = text[: found.start()] + text[found.end() :]
        values = _values(made)
        if values.pop("hosting", {}) == wanted["hosting"] and values == {
            key: value for key, value in wanted.items() if key != "hosting"
        }:
            return made
    return text


def _values(text: str) -> dict[str, Any]:
    """Return what a file says; nothing if it cannot be read."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def upgrade() -> None:
    """Take the key out of stored files: a server refuses files that have it."""
    connection = op.get_bind()
    here = _classes.c
    rows = connection.execute(
        sa.select(here.id, here.file).where(here.file.contains("shared_chance"))
    )
    for identifier, text in rows.all():
        made = without_shared_chance(text)
        if made != text:
            connection.execute(_classes.update().where(here.id == identifier).values(file=made))
