"""Checks of submissions: which wait, what they are for, and what came of them; the SQL."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, case, exists, func, select, true

from plyhouse.protocol.api.competitions import NOT_OVER
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_students,
    competitions,
    submission_entries,
    submissions,
)
from plyhouse.storage.submission_rows import CheckedFor, WaitingCheck


def waiting(connection: Connection, limit: int = 1000) -> dict[int, WaitingCheck]:
    """Return the checks that wait, by submission: students' first, then those of baselines.

    The oldest of each player come before the second oldest of all others, so that no player fills
    the list.  A submission that is ready waits again if it is to play elsewhere in games that no
    check of it covered.
    """
    here, asked, entry = submissions.c, submission_entries.c, competition_entries.c
    pending = (
        select(func.min(asked.asked_ms))
        .where(asked.submission_id == here.id, asked.outcome == "")
        .scalar_subquery()
    )
    since = case((here.status == "waiting", here.submitted_ms), else_=pending).label("since")
    baseline = case(
        (exists().where(entry.bot_id == here.bot_id, entry.baseline.is_(True)), 1), else_=0
    ).label("baseline")
    found = (
        select(here.id, here.needs, baseline, bots.c.player_id, since)
        .join(bots, bots.c.id == here.bot_id)
        .where((here.status == "waiting") | ((here.status == "ready") & pending.is_not(None)))
        .subquery()
    ).c
    turn = func.row_number().over(
        partition_by=(found.baseline, found.player_id), order_by=(found.since, found.id)
    )
    query = select(*found).order_by(found.baseline, turn, found.since, found.id).limit(limit)
    return {
        row.id: WaitingCheck(row.needs, bool(row.baseline), row.player_id, row.since)
        for row in connection.execute(query)
    }


def checked_for(connection: Connection, identity: int) -> list[CheckedFor]:
    """Return the competitions that a submission is checked for.

    They are those that it waits to enter; without any, those of its bot and its player that are
    not over.
    """
    here, asked, entry = submissions.c, submission_entries.c, competition_entries.c
    course, student = competitions.c, competition_students.c
    baseline = exists().where(
        entry.competition_id == course.id, entry.bot_id == here.bot_id, entry.baseline.is_(True)
    )
    found = (
        select(course.parsed, baseline.label("baseline"))
        .select_from(submissions.join(bots, bots.c.id == here.bot_id).join(competitions, true()))
        .where(here.id == identity)
        .order_by(course.name_key)
    )
    asks = exists().where(
        asked.submission_id == here.id, asked.competition_id == course.id, asked.outcome == ""
    )
    rows = connection.execute(found.where(asks, course.status != "deleted")).all()
    if not rows:
        enters = exists().where(entry.competition_id == course.id, entry.bot_id == here.bot_id)
        learns = exists().where(
            student.competition_id == course.id,
            student.player_id == bots.c.player_id,
            student.status == "active",
        )
        here_too = found.where(enters | learns, course.status.in_(NOT_OVER))
        rows = connection.execute(here_too.where(course.rehearses.is_(None))).all()
    return [CheckedFor(row.parsed, bool(row.baseline)) for row in rows]


def games_checked(connection: Connection, player_id: int, digest: str) -> set[str]:
    """Return the games in which a package of a player has passed a check, as any of its bots."""
    here = submissions.c
    query = (
        select(here.games)
        .join(bots, bots.c.id == here.bot_id)
        .where(bots.c.player_id == player_id, here.digest == digest, here.status == "ready")
    )
    return {game for games in connection.execute(query).scalars() for game in json.loads(games)}


def games_for(connection: Connection, competition_id: str) -> dict[int, list[str]]:
    """Return the games of versions whose check covered a competition, by version.

    A check covers the games of the competitions that the submission asks to enter.
    """
    here, asked = submissions.c, submission_entries.c
    query = (
        select(here.version_id, here.games)
        .join(submission_entries, asked.submission_id == here.id)
        .where(
            asked.competition_id == competition_id,
            asked.outcome.in_(("entered", "games")),
            here.status == "ready",
        )
    )
    return {version: json.loads(games) for version, games in connection.execute(query)}


def rely_on(connection: Connection, identity: int, games: Collection[str], now_ms: int) -> None:
    """Make a submission ready by checks of the same package that it has passed before."""
    values: dict[str, Any] = {"status": "ready", "games": json.dumps(sorted(games))}
    here = submissions.c
    unchecked = submissions.update().where(here.id == identity, here.status == "waiting")
    text = "ok      the same package has passed the checks of these games before"
    connection.execute(unchecked.values(**values, report=text, checked_ms=now_ms))
