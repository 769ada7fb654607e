"""Codes by which students join a competition; the SQL."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, func, select

from plyhouse.protocol.api.competitions import Code, Joining
from plyhouse.storage import audit
from plyhouse.storage.competition_rows import CompetitionRow, NewMember
from plyhouse.storage.competition_sql import find, not_open, still_open
from plyhouse.storage.competition_students import (
    name_of,
    players_of,
    student_of,
    take_in,
)
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.locks import lock_names
from plyhouse.storage.models import competition_codes, players, select_rows
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By

CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No letters that are taken for digits, or for each other."""
CODE_LENGTH = 8
HINT = 4
"""Characters of a code that its entry in the audit log has."""


def add_code(
    connection: Connection,
    reference: str,
    by: By,
    now_ms: int,
    *,
    uses: int,
    expires_ms: int | None = None,
    group: str = "",
    late_ms: int | None = None,
) -> Code:
    """Make a code by which ``uses`` people can join, with ``group`` that group's account."""
    row = find(connection, reference, lock=True)
    still_open(row, late_ms is not None, now_ms)
    player_id = student_of(connection, row, group).player_id if group else None
    code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
    connection.execute(
        competition_codes.insert().values(
            code=code,
            competition_id=row.id,
            uses=uses,
            used=0,
            expires_ms=expires_ms,
            player_id=player_id,
            late_ms=late_ms,
            created_ms=now_ms,
        )
    )
    # Servers write the audit log to their logs, and anyone with the code may join.
    subject = f"{code[:HINT]}-*** for {row.name}"
    audit.add(connection, now_ms, by, "student.code", subject, row.id)
    return Code(_shown(code), uses, 0, expires_ms, group, late_ms, None)


def codes_of(connection: Connection, reference: str) -> list[Code]:
    """Return all codes of a competition, the newest first."""
    row = find(connection, reference)
    here = competition_codes.c
    query = (
        select_rows(Code, competition_codes, group=func.coalesce(players.c.name, ""))
        .outerjoin(players, players.c.id == here.player_id)
        .where(here.competition_id == row.id)
        .order_by(here.created_ms.desc(), here.code)
    )
    return [Code(_shown(code), *rest) for code, *rest in connection.execute(query)]


def competition_of(connection: Connection, text: str) -> str:
    """Return the id of the competition of a code; raise `Unknown` if there is no such code."""
    query = select(competition_codes.c.competition_id).where(
        competition_codes.c.code == _plain(text)
    )
    found = connection.execute(query).scalar_one_or_none()
    if found is None:
        raise Unknown(f"there is no valid code {text!r}; see plyhouse code list")
    return str(found)


def revoke_code(connection: Connection, text: str, by: By, now_ms: int) -> None:
    """Let nobody in by a code any more; who came in stays."""
    code = _plain(text)
    found = connection.execute(
        competition_codes.update()
        .where(competition_codes.c.code == code, competition_codes.c.revoked_ms.is_(None))
        .values(revoked_ms=now_ms)
    )
    if not found.rowcount:
        raise Unknown(f"there is no valid code {text!r}; see plyhouse code list")
    audit.add(connection, now_ms, by, "student.revoke-code", _shown(code), code)


def join(
    connection: Connection, text: str, name: str, player_id: int | None, now_ms: int
) -> tuple[CompetitionRow, Joining]:
    """Join by a code: with the account ``player_id``, or with a new one called ``name``.

    Raises `CompetitionRefusal`, with a separate code for each reason.
    """
    here = competition_codes.c
    found = connection.execute(select(*here).where(here.code == _plain(text))).first()
    if found is None:
        raise CompetitionRefusal(
            "competition/code_unknown",
            f"there is no code {text!r}: check it for typing errors, or ask for a new one",
        )
    row = find(connection, found.competition_id)
    if found.revoked_ms is not None:
        raise CompetitionRefusal(
            "competition/code_revoked", "this code was revoked: ask for a new one"
        )
    if found.expires_ms is not None and now_ms >= found.expires_ms:
        raise CompetitionRefusal(
            "competition/code_expired", "this code has expired: ask for a new one"
        )
    if found.used >= found.uses:
        raise CompetitionRefusal(
            "competition/code_used_up",
            f"this code was for {found.uses}, and all have come: ask for a new one",
        )
    if row.status == "draft" and row.opens_ms is not None and now_ms < row.opens_ms:
        raise not_open(row)
    still_open(row, found.late_ms is not None, now_ms)
    joined = _join(connection, row, found, name, player_id, now_ms)
    if joined.outcome != "present":
        changed = connection.execute(
            competition_codes.update()
            .where(
                here.code == found.code,
                here.competition_id == row.id,
                here.used < here.uses,
                here.revoked_ms.is_(None),
            )
            .values(used=here.used + 1)
        )
        if not changed.rowcount:  # somebody was quicker; the transaction is rolled back
            raise CompetitionRefusal(
                "competition/code_used_up",
                f"the code {_shown(found.code)} has just been used up or revoked: ask for a new "
                "one",
            )
    return row, joined


def _join(
    connection: Connection,
    row: CompetitionRow,
    code: Any,
    name: str,
    player_id: int | None,
    now_ms: int,
) -> Joining:
    by = By(name or "student", f"by the code {_shown(code.code)}")
    if code.player_id is not None:
        if not name:
            raise CompetitionRefusal(
                "competition/name_needed",
                "this code is for a group: give your name, in a terminal with --player NAME",
            )
        group = name_of(connection, code.player_id)
        people = [NewMember(name, group)]
    elif player_id is not None:
        account = name_of(connection, player_id)
        people = [NewMember(account, account)]
    else:
        if not name:
            raise CompetitionRefusal(
                "competition/name_needed",
                "your new account needs a name: give it, in a terminal with --player NAME",
            )
        lock_names(connection)
        if players_of(connection, [key_of(name)]):
            raise CompetitionRefusal(
                "competition/account_taken",
                f"there is an account {name!r} already: take another name, or join with its token",
            )
        people = [NewMember(name, name)]
    # Whose token this is has shown that the account is theirs; a group is in already.
    adopt = [each.account for each in people]
    (joined,) = take_in(connection, row.id, people, by, now_ms, code.late_ms, adopt)
    if joined.outcome == "revoked":
        raise CompetitionRefusal(
            "competition/revoked", f"{joined.account} was taken out of {row.name!r}: ask why"
        )
    if joined.outcome == "present" and code.player_id is not None:
        raise CompetitionRefusal(
            "competition/account_taken", f"{name!r} is in the group already: give another name"
        )
    return joined


def _plain(code: str) -> str:
    return code.strip().upper().replace("-", "").replace(" ", "")


def _shown(code: str) -> str:
    """``K7QF-M2XP``."""
    return f"{code[:4]}-{code[4:]}"
