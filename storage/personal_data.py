"""Everything that is stored about one person, for that person to read; the SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import Connection, Select, select

from plyhouse.storage import audit, people
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_members,
    competition_students,
    competitions,
    match_seats,
    matches,
    outputs,
    passwords,
    regrades,
    sessions,
    submissions,
    tokens,
    versions,
)

SECRET = frozenset(("digest", "hash"))
"""Columns of tokens, sessions and passwords that nobody is shown."""


def personal_data(connection: Connection, account: str, *, reasons: bool = False) -> dict[str, Any]:
    """Return what the database holds about an account, table by table; raises `Unknown`.

    Left out are digests of secrets, and what is long and has its own download: packages, what bots
    printed, and the actions of matches, which are listed with their ids.  Times are milliseconds
    since 1970 (UTC).  Reasons in the audit log may name others: they are left out unless
    ``reasons``.
    """
    row = people.player(connection, account)
    own = bots.c.player_id == row.id
    hidden = () if reasons else ("why",)

    def rows(query: Select[Any], *hidden: str) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in found._mapping.items() if key not in hidden}
            for found in connection.execute(query)
        ]

    def of(table: Any, *hidden: str) -> list[dict[str, Any]]:
        return rows(select(table).where(table.c.player_id == row.id), *hidden, "player_id")

    return {
        "account": row.name,
        "display": row.display,
        "created_ms": row.created_ms,
        "disabled_ms": row.disabled_ms,
        "tokens": of(tokens, *SECRET),
        "sessions": of(sessions, *SECRET),
        "passwords": of(passwords, *SECRET),
        "members": _with_names(connection, of(competition_members)),
        "competitions": _with_names(connection, of(competition_students)),
        "entries": _with_names(connection, of(competition_entries)),
        "bots": rows(select(bots).where(own), "name_key", "player_id"),
        "versions": rows(select(versions).join(bots, versions.c.bot_id == bots.c.id).where(own)),
        "submissions": rows(
            select(submissions).join(bots, submissions.c.bot_id == bots.c.id).where(own)
        ),
        "outputs": rows(
            select(outputs.c.match_id, outputs.c.received_ms, outputs.c.bytes)
            .join(bots, outputs.c.bot_id == bots.c.id)
            .where(own)
        ),
        "regrades": _with_names(connection, of(regrades)),
        "matches": rows(
            select(
                matches.c.id,
                matches.c.game,
                matches.c.created_ms,
                matches.c.finished_ms,
                match_seats.c.seat,
                match_seats.c.bot_id,
                match_seats.c.version_id,
                match_seats.c.score,
                match_seats.c.result,
                matches.c.termination,
            )
            .join(match_seats, match_seats.c.match_id == matches.c.id)
            .join(bots, bots.c.id == match_seats.c.bot_id)
            .where(own)
            .order_by(matches.c.id)
        ),
        "audit": [
            {key: value for key, value in asdict(each).items() if key not in hidden}
            for each in audit.about(connection, row.id)
        ],
    }


def _with_names(connection: Connection, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the names of competitions in the place of their ids."""
    query = select(competitions.c.id, competitions.c.name)
    known = {identity: name for identity, name in connection.execute(query)}  # noqa: C416
    return [{"competition": known[each.pop("competition_id")], **each} for each in rows]
