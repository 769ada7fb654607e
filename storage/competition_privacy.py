"""Matches that are not public, for one viewer: the SQL.

Competitions say in their file who sees what is played in their finals.  Deleted ones
count as well: their matches stay, and stay as private as they were.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, or_, select

from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_games,
    competition_students,
    competitions,
    match_seats,
    matches,
    pairings,
    players,
)
from plyhouse.storage.statements import parts


class Finals(NamedTuple):
    """The competitions whose finals have begun, and a viewer's place in them."""

    begun: frozenset[str]
    to_come: frozenset[str]
    """Competitions with baselines whose finals have not begun."""
    parsed: dict[str, str | None]
    """The values of the competition files of those that the caller did not know yet."""
    baselines: dict[str, frozenset[str]]
    """All baselines of the same ones, ``player/bot`` in small letters."""
    member_of: frozenset[str]
    """Those in which the viewer is a student that was not taken out."""


def finals(connection: Connection, player_id: int | None, known: Collection[str]) -> Finals:
    """Return the finals that have begun; ``known`` are those whose files are not needed."""
    here = competition_games.c
    query = select(here.competition_id).where(here.tournament_id.is_not(None)).distinct()
    begun = frozenset(connection.execute(query).scalars())
    baselines = (
        select(competition_entries.c.competition_id)
        .join(competitions, competitions.c.id == competition_entries.c.competition_id)
        .where(competition_entries.c.baseline, competitions.c.status != "deleted")
        .distinct()
    )
    to_come = frozenset(connection.execute(baselines).scalars()) - begun
    parsed: dict[str, str | None] = {}
    fresh = sorted((begun | to_come).difference(known))
    for part in parts(fresh):
        rows = select(competitions.c.id, competitions.c.parsed).where(competitions.c.id.in_(part))
        parsed.update((row.id, row.parsed) for row in connection.execute(rows))
    staff: dict[str, set[str]] = {}
    entry = competition_entries.c
    for part in parts(fresh):
        named = (
            select(entry.competition_id, players.c.name, bots.c.name)
            .join(bots, bots.c.id == entry.bot_id)
            .join(players, players.c.id == bots.c.player_id)
            .where(entry.competition_id.in_(part), entry.baseline)
        )
        for competition_id, player, bot in connection.execute(named):
            staff.setdefault(competition_id, set()).add(f"{player}/{bot}".lower())
    member_of: frozenset[str] = frozenset()
    if player_id is not None and begun:
        student = competition_students.c
        own = select(student.competition_id).where(
            student.player_id == player_id, student.status != "revoked"
        )
        member_of = frozenset(connection.execute(own).scalars())
    named_baselines = {competition_id: frozenset(names) for competition_id, names in staff.items()}
    return Finals(begun, to_come, parsed, named_baselines, member_of)


def visible(closed: Collection[str], player_id: int | None) -> ColumnElement[bool]:
    """The matches that are shown to somebody for whom these competitions are closed: all that
    belong to none of them, and those in which the viewer holds a seat.

    ``Sight.sees`` of the server has the same rule for a match that is in memory.
    """
    parts = part_of(closed)
    open_to_all = or_(pairings.c.tournament_id.is_(None), pairings.c.tournament_id.not_in(parts))
    if player_id is None:
        return open_to_all
    own = select(match_seats.c.match_id).where(
        match_seats.c.bot_id.in_(select(bots.c.id).where(bots.c.player_id == player_id))
    )
    return or_(open_to_all, matches.c.id.in_(own))


def part_of(competition_ids: Collection[str]) -> Select[Any]:
    """The ids of the tournaments of these competitions, which have a class."""
    return select(competition_games.c.tournament_id).where(
        competition_games.c.competition_id.in_(sorted(competition_ids)),
        competition_games.c.tournament_id.is_not(None),
    )
