"""A competition for every tournament that has none.

Revision ID: 0016
"""

from __future__ import annotations

import json
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

NAME = 64
"""Characters of the longest name."""

_competitions = sa.table(
    "class_competitions",
    *map(sa.column, ("id", "name", "name_key", "file", "format", "status", "entries_each")),
    *map(sa.column, ("most_students", "created_ms", "started_ms", "finished_ms")),
)
_games = sa.table("class_games", *map(sa.column, ("class_id", "number", "game", "competition_id")))


def upgrade() -> None:
    """Make competitions without students; every organiser steers them, as they have no owner."""
    connection = op.get_bind()
    taken = set(connection.execute(sa.select(_competitions.c.name_key)).scalars())
    alone = sa.text(
        "SELECT * FROM competitions WHERE status <> 'deleted' AND id NOT IN"
        " (SELECT competition_id FROM class_games WHERE competition_id IS NOT NULL)"
        " ORDER BY created_ms, id"
    )
    for row in connection.execute(alone).mappings().all():
        name = _free(row["name"], taken)
        taken.add(_key(name))
        connection.execute(
            _competitions.insert().values(
                id=row["id"],
                name=name,
                name_key=_key(name),
                file=_file(row, name),
                format="round_robin",
                status=row["status"] if row["status"] in ("paused", "finished") else "running",
                entries_each=1,
                most_students=0,
                created_ms=row["created_ms"],
                started_ms=row["started_ms"],
                finished_ms=row["finished_ms"],
            )
        )
        connection.execute(
            _games.insert().values(
                class_id=row["id"], number=0, game=row["game"], competition_id=row["id"]
            )
        )
        connection.execute(
            sa.text(
                "INSERT INTO class_entries (class_id, bot_id, player_id, version_id, chosen,"
                " baseline, status, created_ms)"
                " SELECT entries.competition_id, bots.id, bots.player_id, entries.version_id, :no,"
                " :no, 'active', entries.created_ms"
                " FROM entries JOIN bots ON bots.id = entries.bot_id"
                " WHERE entries.competition_id = :id"
            ),
            {"id": row["id"], "no": False},
        )


def _free(name: str, taken: set[str]) -> str:
    """Return a name that a competition file may have and that no competition has."""
    kept = "".join(
        each if each.isalnum() or each in " .,:()&'+-_" else "-"
        for each in unicodedata.normalize("NFC", name)
    )
    plain = " ".join(kept.split()).lstrip(" .,:()&'+-_").rstrip(" ,:(&'+-") or "Round robin"
    found, number = plain[:NAME].rstrip(" ,:(&'+-"), 1
    while _key(found) in taken:
        number += 1
        found = f"{plain[: NAME - 8].rstrip(' ,:(&+-')} {number}"
    return found


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name.lower())


def _file(row: sa.RowMapping, name: str) -> str:
    values = {
        "name": name,
        "games": [row["game"]],
        "time_control": row["time_control"],
        "mirrored": bool(row["mirrored"]),
        "rounds": row["rounds"],
        "rated": bool(row["rated"]),
        "board": "public",
    }
    lines = [f"{key} = {json.dumps(each, ensure_ascii=False)}" for key, each in values.items()]
    limits = ["[limits]", "students = 0", "matches_at_a_time = 1024", "absent_minutes = 0"]
    return "\n".join([*lines, *limits])
