"""Actions of organisers on competitions, with entries in the audit log.

A running server reads the log every second and carries out new entries.  So its API and the command
line on the database have the same effect.
"""

from __future__ import annotations

from sqlalchemy import Connection

from plyhouse.storage import audit, competition_sql, tournaments
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import By, EntryRow, TournamentRow


def steer(
    connection: Connection, reference: str, step: str, by: By, now_ms: int
) -> CompetitionRow | TournamentRow:
    """Let a competition ``pause``, ``resume`` or ``delete`` it, by its name or id.

    The id of a tournament does the same to one game.  A deleted competition is listed nowhere;
    its matches stay in the record and on the leaderboard.  Raises `Unknown`, or a refusal
    where its present status does not allow the step.
    """
    try:
        return competition_sql.move(connection, reference, step, by, now_ms)
    except Unknown:
        row = tournaments.change_status(connection, reference, step, now_ms)
    audit.add(connection, now_ms, by, f"competition.{step}", row.name, row.id)
    return row


def withdraw(
    connection: Connection,
    tournament_id: str,
    bot_id: int,
    by: By,
    now_ms: int,
    *,
    tell: bool = False,
) -> EntryRow:
    """Take a bot out of what is still to be played of a tournament; raises `Unknown`.

    ``tell`` shows the reason to everybody who sees the board.
    """
    row = tournaments.find_tournament(connection, tournament_id)
    entry = tournaments.withdraw(connection, tournament_id, bot_id, by.why * tell)
    subject = f"{audit.ABOUT} from {row.name}"
    audit.add(connection, now_ms, by, "competition.withdraw", subject, row.id, bot_id=entry.bot_id)
    return entry
