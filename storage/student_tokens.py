"""Tokens of students that are lost: revoked, and replaced by new ones; the SQL."""

from __future__ import annotations

from sqlalchemy import Connection, select

from plyhouse.storage import audit
from plyhouse.storage.competition_rows import Joined
from plyhouse.storage.competition_sql import find
from plyhouse.storage.competition_students import student_of
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_members, tokens
from plyhouse.storage.names import key_of
from plyhouse.storage.people import new_token
from plyhouse.storage.rows import By

__all__ = ["reissue_token"]


def reissue_token(
    connection: Connection, reference: str, account: str, member: str, by: By, now_ms: int
) -> Joined:
    """Revoke the token that the class gave to a student, and return a new one.

    ``member`` names the person in a group; empty for an account with one member.  Raises
    `CompetitionRefusal` for an account that the class did not make: its token could open more
    than this competition.  Raises `Unknown` if there is no such student.
    """
    row = find(connection, reference, lock=True)
    student = student_of(connection, row, account)
    here = competition_members.c
    mine = (here.competition_id == row.id) & (here.player_id == student.player_id)
    found = connection.execute(select(here.name, here.name_key, here.token).where(mine)).all()
    names = ", ".join(sorted(each.name for each in found))
    wanted = [each for each in found if not member or each.name_key == key_of(member)]
    if len(wanted) != 1:
        problem = f"has no member {member!r}" if member else "is a group"
        raise CompetitionRefusal(
            "competition/which_member",
            f"{student.name} {problem}: name one of its members with --member: {names}",
        )
    (person,) = wanted
    if not person.token:
        raise CompetitionRefusal(
            "competition/own_account",
            f"{student.name} had its account before it joined {row.name!r}, so only an "
            "administrator gives it a token: plyhouse token create NAME",
        )
    old = connection.execute(
        select(tokens.c.id, tokens.c.prefix, tokens.c.revoked_ms).where(
            tokens.c.player_id == student.player_id, tokens.c.prefix == person.token
        )
    ).first()
    if old is not None and old.revoked_ms is None:
        connection.execute(tokens.update().where(tokens.c.id == old.id).values(revoked_ms=now_ms))
        audit.add(connection, now_ms, by, "token.revoke", f"{old.prefix}... of {student.name}",
                  old.id)  # fmt: skip
    token, values = new_token(student.player_id, ("play",), person.name[:100], now_ms)
    connection.execute(tokens.insert().values(values))
    kept = competition_members.update().where(
        here.player_id == student.player_id,
        here.name_key == person.name_key,
        here.token == person.token,
    )
    connection.execute(kept.values(token=token[:12]))
    subject = f"{person.name} in {row.name}"
    audit.add(connection, now_ms, by, "student.reissue-token", subject, row.id)
    return Joined(person.name, str(student.name), token, "reissued")
