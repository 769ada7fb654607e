"""Practice ladders beside competitions; the SQL.

A ladder is a separate competition (`CompetitionRow.practice_of`), whose students, staff and entries
follow those of its parent competition.  As in every final, only matches between
versions that are entered now count (`plyhouse.storage.tournaments.of_present_versions`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, select

from plyhouse.protocol.api.competitions import IN_FINAL, CompetitionStatus
from plyhouse.storage import audit
from plyhouse.storage.competition_rows import PRACTICE, CompetitionRow
from plyhouse.storage.competition_sql import begin, create, find, move, note
from plyhouse.storage.locks import lock_row
from plyhouse.storage.models import (
    competition_entries,
    competition_games,
    competition_staff,
    competition_students,
    competitions,
    tournament_entries,
    tournaments,
)
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.tournaments import find_tournament


def status(connection: Connection, practice_id: str) -> CompetitionStatus | None:
    """Return the status of a ladder, ``deleted`` too; None if it never was there."""
    here = competitions.c
    query = select(here.status).where(here.id == practice_id)
    return connection.execute(query).scalar_one_or_none()


def begin_practice(
    connection: Connection,
    row: CompetitionRow,
    parts: Sequence[TournamentRow],
    by: By,
    now_ms: int,
) -> CompetitionRow:
    """Store a ladder and its games, and begin it; nobody is entered yet.

    Raises `CompetitionRefusal` if its name is taken.
    """
    create(connection, row, (), by)
    return begin(connection, row.id, parts, (), by, now_ms)


def resume_practice(
    connection: Connection, practice_id: str, by: By, now_ms: int
) -> list[TournamentRow]:
    """Let a ladder that is over go on where it was; return its games, none if it is not over."""
    row = find(connection, practice_id, lock=True)
    if row.status != "finished":
        return []
    over = {"status": "running", "finished_ms": None}
    here = competitions
    connection.execute(here.update().where(here.c.id == row.id).values(**over, note=None))
    parts = [game.tournament_id for game in row.games if game.tournament_id is not None]
    connection.execute(tournaments.update().where(tournaments.c.id.in_(parts)).values(over))
    audit.add(connection, now_ms, by, "competition.resume", row.name, row.id)
    return [find_tournament(connection, each) for each in parts]


def end_practice(connection: Connection, practice_id: str, by: By, now_ms: int) -> None:
    """End a ladder and note why, unless it is over.

    `resume_practice` is for ladders with this note, so a second end must not replace it.
    """
    if find(connection, practice_id, lock=True).status in IN_FINAL:
        move(connection, practice_id, "finish", by, now_ms)
        note(connection, practice_id, by.why)


def is_behind(connection: Connection, practice_id: str, bots: Collection[int]) -> bool:
    """Return whether a ladder differs from its competition; ``bots`` are to play there."""
    return bool(_changes(connection, practice_id, bots))


def follow(connection: Connection, practice_id: str, bots: Collection[int], now_ms: int) -> None:
    """Give a ladder the students and entries of its competition; ``bots`` play there."""
    lock_row(connection, competitions.c.id, practice_id)
    for table, key, values in _changes(connection, practice_id, bots):
        where = [table.c[name] == value for name, value in key.items()]
        if values is None:
            connection.execute(table.delete().where(*where))
        elif not connection.execute(table.update().where(*where).values(values)).rowcount:
            fresh = {"created_ms": now_ms, **key, **values}
            known = {name: value for name, value in fresh.items() if name in table.c}
            connection.execute(table.insert().values(known))


_Change = tuple[Any, dict[str, Any], dict[str, Any] | None]
"""A table, the key of a row, and its values; None for a row that goes."""


def _changes(connection: Connection, practice_id: str, bots: Collection[int]) -> list[_Change]:
    source = practice_id.removesuffix(PRACTICE)
    found: list[_Change] = []
    for table, names in (
        (competition_students, ("status", "joined_ms")),
        (competition_staff, ("role", "since_ms")),
    ):
        people = {
            player: {name: row[name] for name in names}
            for player, row in _rows(connection, table, "player_id", source).items()
        }
        here = _rows(connection, table, "player_id", practice_id)
        found += _between(table, {"competition_id": practice_id}, "player_id", here, people)
    entered = _rows(connection, competition_entries, "bot_id", source)
    here = _rows(connection, competition_entries, "bot_id", practice_id)
    wanted = {}
    for bot, row in entered.items():
        if bot not in bots and bot not in here:
            continue
        gone = "disqualified" if row["status"] == "disqualified" else "withdrawn"
        same = ("player_id", "version_id", "chosen", "baseline")
        wanted[bot] = {
            **{name: row[name] for name in same},
            "status": "active" if bot in bots else gone,
        }
    found += _between(competition_entries, {"competition_id": practice_id}, "bot_id", here, wanted)
    games = select(competition_games.c.tournament_id).where(
        competition_games.c.competition_id == practice_id
    )
    for part in connection.execute(games).scalars():
        query = select(tournament_entries).where(tournament_entries.c.tournament_id == part)
        here = {row["bot_id"]: dict(row) for row in connection.execute(query).mappings()}
        plays = {
            bot: {
                "version_id": values["version_id"],
                "status": "active" if values["status"] == "active" else "withdrawn",
            }
            for bot, values in wanted.items()
        }
        found += _between(tournament_entries, {"tournament_id": part}, "bot_id", here, plays)
    return found


def _rows(
    connection: Connection, table: Any, key: str, competition_id: str
) -> dict[int, dict[str, Any]]:
    query = select(table).where(table.c.competition_id == competition_id)
    return {row[key]: dict(row) for row in connection.execute(query).mappings()}


def _between(
    table: Any,
    owner: dict[str, str],
    key: str,
    here: dict[int, dict[str, Any]],
    wanted: dict[int, dict[str, Any]],
) -> list[_Change]:
    """Return what makes the rows of an owner as they are wanted, by the column ``key``."""
    found: list[_Change] = [
        (table, {**owner, key: each}, None) for each in here if each not in wanted
    ]
    found += [
        (table, {**owner, key: each}, values)
        for each, values in wanted.items()
        if not _same(here.get(each), values)
    ]
    return found


def _same(row: dict[str, Any] | None, values: dict[str, Any]) -> bool:
    return row is not None and all(row[name] == value for name, value in values.items())
