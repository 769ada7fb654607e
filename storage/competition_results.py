"""Queries for the matches of a final, for its board and reports.

Callers read events and plies of many matches in parts, each with its own query, so that the writes
of running matches never wait long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, select

from plyhouse.storage.models import (
    audit,
    competition_games,
    events,
    match_seats,
    matches,
    pairings,
    select_rows,
    tournament_entries,
    tournaments,
)
from plyhouse.storage.tournaments import of_present_versions

RUNNER: Final = "runner "
"""How the names of runner machines begin in the audit log."""


class State(NamedTuple):
    """State of a final; everything derived from its matches is valid while it is unchanged."""

    finished: int
    void: int
    versions: int
    """The sum of the ids of the versions that are entered: a rerun changes it."""
    withdrawn: int
    """The number of entries that were withdrawn from a game."""
    over: int
    """The number of games that are over."""


class Extent(NamedTuple):
    """Numbers of matches in one tournament."""

    begun: int
    finished: int
    void: int


class FinalSeat(NamedTuple):
    """A seat of a finished match of a final."""

    match: str
    pairing: str
    game: str
    seat: int
    bot_id: int
    version_id: int
    score: float | None
    """None in a match that does not count; ``result`` and ``returned`` are None there, too."""
    result: str | None
    returned: float | None
    termination: str
    culprit: int | None
    ply: int
    finished_ms: int


class PlyTime(NamedTuple):
    """A ply with the times thought, charged and left on the clock."""

    match: str
    game: str
    ply: int
    text: str
    thought_ns: int
    charged_ns: int
    remaining_ns: int


def state(connection: Connection, competition_id: str) -> State:
    """Return the state of a final."""
    query = (
        select(func.count(matches.c.finished_ms), func.count(matches.c.void_reason))
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(competition_games, competition_games.c.tournament_id == pairings.c.tournament_id)
        .where(competition_games.c.competition_id == competition_id)
    )
    versions = (
        select(func.coalesce(func.sum(tournament_entries.c.version_id), 0))
        .join(
            competition_games,
            competition_games.c.tournament_id == tournament_entries.c.tournament_id,
        )
        .where(competition_games.c.competition_id == competition_id)
    )
    over = (
        select(func.count())
        .select_from(competition_games)
        .join(tournaments, tournaments.c.id == competition_games.c.tournament_id)
        .where(
            competition_games.c.competition_id == competition_id, tournaments.c.status == "finished"
        )
    )
    finished, void = connection.execute(query).one()
    return State(
        int(finished),
        int(void),
        int(connection.execute(versions).scalar_one()),
        len(withdrawn(connection, competition_id)),
        int(connection.execute(over).scalar_one()),
    )


def withdrawn(connection: Connection, competition_id: str) -> list[tuple[str, int]]:
    """Return the games from which bots were withdrawn, with the bots."""
    query = (
        select(competition_games.c.game, tournament_entries.c.bot_id)
        .join(
            tournament_entries,
            tournament_entries.c.tournament_id == competition_games.c.tournament_id,
        )
        .where(
            competition_games.c.competition_id == competition_id,
            tournament_entries.c.status == "withdrawn",
        )
        .order_by(competition_games.c.number, tournament_entries.c.bot_id)
    )
    return [(game, bot) for game, bot in connection.execute(query)]


def extent(connection: Connection, tournament_id: str) -> Extent:
    """Count the matches of one tournament that have begun, ended and become void."""
    query = (
        select(
            func.count(),
            func.count(matches.c.finished_ms),
            func.count(matches.c.void_reason),
        )
        .select_from(matches)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(pairings.c.tournament_id == tournament_id)
    )
    return Extent(*map(int, connection.execute(query).one()))


def voided_by(connection: Connection, tournament_id: str) -> dict[str, int]:
    """Count the matches that are void because a machine was too busy, by machine."""
    query = (
        select(audit.c.who, func.count())
        .select_from(matches)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(audit, audit.c.subject_id == matches.c.id)
        .where(
            pairings.c.tournament_id == tournament_id,
            matches.c.void_reason.is_not(None),
            audit.c.what == "match.void",
            audit.c.who.startswith(RUNNER),
        )
        .group_by(audit.c.who)
        .order_by(audit.c.who)
    )
    return {who.removeprefix(RUNNER): int(count) for who, count in connection.execute(query)}


def excused(connection: Connection, tournament_id: str, version_id: int) -> bool:
    """Return whether a match of a version is void because its machine was too busy."""
    query = (
        select(matches.c.id)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(audit, audit.c.subject_id == matches.c.id)
        .join(
            match_seats,
            (match_seats.c.match_id == matches.c.id) & (match_seats.c.seat == matches.c.culprit),
        )
        .where(
            pairings.c.tournament_id == tournament_id,
            match_seats.c.version_id == version_id,
            matches.c.void_reason.is_not(None),
            audit.c.what == "match.void",
            audit.c.who.startswith(RUNNER),
        )
        .limit(1)
    )
    return connection.execute(query).first() is not None


def played(connection: Connection, competition_id: str) -> list[FinalSeat]:
    """Return the seats of all finished matches of a final, void ones too, by time of ending.

    Matches from before a rerun are included if their versions are still entered.
    """
    query = (
        select_rows(
            FinalSeat, matches, match_seats, match=matches.c.id, pairing=matches.c.pairing_id
        )
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(competition_games, competition_games.c.tournament_id == pairings.c.tournament_id)
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .where(
            competition_games.c.competition_id == competition_id,
            matches.c.finished_ms.is_not(None),
            of_present_versions(),
        )
        .order_by(matches.c.finished_ms, matches.c.id, match_seats.c.seat)
    )
    return [FinalSeat._make(row) for row in connection.execute(query)]


def match_events(
    connection: Connection, match_ids: Sequence[str]
) -> dict[str, list[tuple[str, int, str]]]:
    """Return the actions and chance events of matches in order: kind, seat and text."""
    found: dict[str, list[tuple[str, int, str]]] = {each: [] for each in match_ids}
    query = (
        select(events.c.match_id, events.c.kind, events.c.seat, events.c.text)
        .where(events.c.match_id.in_(match_ids), events.c.kind.in_(("action", "chance")))
        .order_by(events.c.match_id, events.c.idx)
    )
    for match_id, *event in connection.execute(query):
        found[match_id].append((event[0], event[1], event[2]))
    return found


def slowest(
    connection: Connection, competition_id: str, bot_ids: Sequence[int], most: int
) -> list[PlyTime]:
    """Return the plies of a final on which these bots thought longest, at most ``most``."""
    query = (
        select_rows(PlyTime, events, match=matches.c.id, game=matches.c.game)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(competition_games, competition_games.c.tournament_id == pairings.c.tournament_id)
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .join(events, events.c.match_id == matches.c.id)
        .where(
            competition_games.c.competition_id == competition_id,
            matches.c.finished_ms.is_not(None),
            of_present_versions(),
            match_seats.c.bot_id.in_(bot_ids),
            events.c.seat == match_seats.c.seat,
            events.c.kind == "action",
        )
        .order_by(events.c.thought_ns.desc(), matches.c.id, events.c.ply)
        .limit(most)
    )
    return [PlyTime._make(row) for row in connection.execute(query)]
