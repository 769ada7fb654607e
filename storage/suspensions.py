"""Queries for versions that are suspended after repeated forfeits.

A reinstated version keeps its row with the time: earlier forfeits no longer count.  The audit log
notes every change, and a running server follows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from plyhouse.protocol.api.bots import Suspension
from plyhouse.protocol.api.competitions import IN_FINAL
from plyhouse.storage import audit
from plyhouse.storage.errors import Unknown
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_games,
    competitions,
    match_seats,
    matches,
    pairings,
    players,
    select_rows,
    suspensions,
    tournament_entries,
    versions,
)
from plyhouse.storage.people import bot_named
from plyhouse.storage.rows import By
from plyhouse.storage.statements import insert_into

SUSPENDER = "the house"
"""The actor of suspensions in the audit log."""


@dataclass(frozen=True, slots=True)
class EndedMatch:
    """The end of a match, as seen by one version that played it."""

    match_id: str
    ended_ms: int
    termination: str
    guilty: bool
    """True if the version caused the end, such as by a flag fall."""
    data: str | None = None
    """`plyhouse.storage.rows.MatchRow.data` of the match."""


def _listed(connection: Connection, *where: object) -> list[Suspension]:
    query = (
        select_rows(Suspension, suspensions, versions, bot_id=bots.c.id)
        .join(versions, versions.c.id == suspensions.c.version_id)
        .join(bots, bots.c.id == versions.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .where(suspensions.c.lifted_ms.is_(None), *where)  # type: ignore[arg-type]
        .order_by(suspensions.c.since_ms.desc(), versions.c.id)
    )
    return [Suspension(*row) for row in connection.execute(query)]


def suspended(connection: Connection, player_id: int | None = None) -> list[Suspension]:
    """Return the suspended versions, of all players or of one, the latest first."""
    return _listed(connection, *(() if player_id is None else (bots.c.player_id == player_id,)))


def reason_of(connection: Connection, version_id: int) -> str:
    """Return why a version is suspended; empty if it is not."""
    found = _listed(connection, suspensions.c.version_id == version_id)
    return found[0].reason if found else ""


def ended(
    connection: Connection, match_id: str, seat: int, limit: int
) -> tuple[int, list[EndedMatch]]:
    """Return the version that held a seat, and its latest matches that count, newest first.

    Matches from before the version was reinstated are not among them.
    """
    bot_id, version_id = connection.execute(
        select(match_seats.c.bot_id, match_seats.c.version_id).where(
            match_seats.c.match_id == match_id, match_seats.c.seat == seat
        )
    ).one()
    lifted = select(func.coalesce(func.max(suspensions.c.lifted_ms), 0)).where(
        suspensions.c.version_id == version_id
    )
    since = connection.execute(lifted).scalar_one()
    rehearsed = (
        select(pairings.c.id)
        .join(competition_games, competition_games.c.tournament_id == pairings.c.tournament_id)
        .join(competitions, competitions.c.id == competition_games.c.competition_id)
        .where(competitions.c.rehearses.is_not(None))
    )
    query = (
        select(
            matches.c.id,
            matches.c.finished_ms,
            matches.c.termination,
            matches.c.culprit == match_seats.c.seat,
            matches.c.data,
        )
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .where(
            match_seats.c.bot_id == bot_id,
            match_seats.c.version_id == version_id,
            match_seats.c.result.is_not(None),
            matches.c.void_reason.is_(None),
            matches.c.created_ms > since,
            matches.c.pairing_id.not_in(rehearsed),
        )
        .order_by(match_seats.c.match_id.desc())
        .limit(limit)
    )
    return version_id, [
        EndedMatch(match, ended, why, bool(guilty), data)
        for match, ended, why, guilty, data in connection.execute(query)
    ]


def suspended_in(
    connection: Connection, competition_id: str, *, withdrawn: bool = False
) -> list[Suspension]:
    """Return the suspended versions that are entered in a competition.

    Only those of active entries, or with ``withdrawn`` only those of withdrawn ones.
    """
    entered = select(competition_entries.c.version_id).where(
        competition_entries.c.competition_id == competition_id,
        competition_entries.c.status == ("withdrawn" if withdrawn else "active"),
    )
    return _listed(connection, suspensions.c.version_id.in_(entered))


def withdraw_suspended(
    connection: Connection, by: By, now_ms: int, version_id: int | None = None
) -> None:
    """Withdraw suspended versions, or only the given one, from running finals.

    Finished matches stay, and so do baselines: without them there are no grades, so their pairings
    wait until the staff acts.
    """
    here, course = competition_entries.c, competitions.c
    query = (
        select(here.competition_id, here.bot_id, course.name)
        .join(competitions, course.id == here.competition_id)
        .join(suspensions, suspensions.c.version_id == here.version_id)
        .where(
            here.status == "active",
            here.baseline.is_(False),
            suspensions.c.lifted_ms.is_(None),
            course.status.in_(IN_FINAL),
        )
    )
    if version_id is not None:
        query = query.where(here.version_id == version_id)
    for competition_id, bot_id, title in connection.execute(query).all():
        connection.execute(
            competition_entries.update()
            .where(here.competition_id == competition_id, here.bot_id == bot_id)
            .values(status="withdrawn")
        )
        parts = select(competition_games.c.tournament_id).where(
            competition_games.c.competition_id == competition_id
        )
        connection.execute(
            tournament_entries.update()
            .where(
                tournament_entries.c.tournament_id.in_(parts), tournament_entries.c.bot_id == bot_id
            )
            .values(status="withdrawn")
        )
        subject = f"{audit.ABOUT} from {title}"
        audit.add(
            connection, now_ms, by, "competition.withdraw", subject, competition_id, bot_id=bot_id
        )


def suspend(connection: Connection, version_id: int, reason: str, now_ms: int) -> bool:
    """Suspend a version and withdraw it from running finals; False if it already is."""
    values = {"since_ms": now_ms, "reason": reason, "lifted_ms": None}
    here = suspensions.c
    again = suspensions.update().where(here.version_id == version_id, here.lifted_ms.is_not(None))
    if not connection.execute(again.values(values)).rowcount:
        # Matches may end at once, and another session have been quicker.
        new = insert_into(suspensions, connection.dialect).values(version_id=version_id, **values)
        if not connection.execute(new.on_conflict_do_nothing()).rowcount:
            return False
    by = By(SUSPENDER, reason)
    what = "version.suspend"
    audit.add(connection, now_ms, by, what, audit.ABOUT, version_id, version_id=version_id)
    withdraw_suspended(connection, by, now_ms, version_id)
    return True


def reinstate(
    connection: Connection, owner: str, bot: str, by: By, now_ms: int, version: str = ""
) -> list[Suspension]:
    """Reinstate the suspended versions of a bot; only one if you give its label or digest.

    Earlier forfeits no longer count.  Raises `Unknown` if no such version is suspended.
    """
    row = bot_named(connection, owner, bot)
    of_bot = _listed(connection, versions.c.bot_id == row.id)
    found = [
        each
        for each in of_bot
        if not version
        or each.version == version
        or (len(version) >= 4 and each.digest.startswith(version))
    ]
    if not found:
        listed = ", ".join(_subject(each) for each in of_bot) or "no version of it is"
        what = f"{row.player}/{row.name}" + (f" version {version}" if version else "")
        raise Unknown(f"{what} is not suspended; suspended: {listed}")
    for each in found:
        connection.execute(
            suspensions.update()
            .where(suspensions.c.version_id == each.version_id)
            .values(lifted_ms=now_ms)
        )
        what, version_id = "version.reinstate", each.version_id
        audit.add(connection, now_ms, by, what, audit.ABOUT, version_id, version_id=version_id)
    return found


def _subject(row: Suspension) -> str:
    version = f" version {row.version}" if row.version else ""
    return f"{row.player}/{row.bot}{version}" + (f" ({row.digest[:12]})" if row.digest else "")
