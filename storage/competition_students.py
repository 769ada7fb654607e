"""Students of a competition: taken in, withdrawn and disqualified; the SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from sqlalchemy import Connection, func, select

from plyhouse.protocol.api.competitions import IN_FINAL, Joining, Member
from plyhouse.protocol.api.people import PlayerAccount
from plyhouse.storage import audit
from plyhouse.storage.competition_rows import (
    CompetitionRow,
    CompetitionStudent,
    NewMember,
)
from plyhouse.storage.competition_sql import entries_of, find, still_open
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.locks import lock_names
from plyhouse.storage.models import (
    competition_entries,
    competition_games,
    competition_members,
    competition_students,
    competitions,
    guests,
    players,
    tokens,
    tournament_entries,
)
from plyhouse.storage.names import key_of, normal
from plyhouse.storage.people import (
    account_query,
    check_display,
    check_new_name,
    new_token,
    refuse_lookalikes,
)
from plyhouse.storage.rows import By
from plyhouse.storage.sessions import special_players
from plyhouse.storage.statements import parts

ALL = "*"
"""Represents all existing accounts; no account can have this name."""
SHOWN = 20
"""Names that a message lists."""


# ------------------------------------------------------------------------------ taken in


def _add_accounts(connection: Connection, people: Mapping[str, NewMember], now_ms: int) -> None:
    """Make an account for each key."""
    refuse_lookalikes(connection, [each.account for each in people.values()])
    connection.execute(
        players.insert(),
        [
            {
                "name": each.account,
                "name_key": key,
                "created_ms": now_ms,
                "display": check_display(each.display) or None,
            }
            for key, each in people.items()
        ],
    )


def take_in(
    connection: Connection,
    reference: str,
    people: Sequence[NewMember],
    by: By,
    now_ms: int,
    late_ms: int | None = None,
    adopt: Collection[str] = (),
) -> list[Joining]:
    """Take people in, all or none; doing so again makes no new tokens.

    Members who are in it already get the e-mail address, id and login that are given.
    After the freeze ``late_ms`` has to say until when they may submit.  An account that was there
    before the competition keeps its tokens, and none is made: its owner has one.  As that may be
    anybody who took the name, it has to be named in ``adopt`` (`ALL` for every one).
    """
    accounts: dict[str, NewMember] = {}
    for each in people:
        each = replace(each, account=normal(each.account))
        check_display(each.display)
        accounts.setdefault(key_of(each.account), each)
    known = players_of(connection, accounts)
    if len(known) < len(accounts):
        for key in accounts.keys() - known.keys():
            check_new_name(accounts[key].account)
        lock_names(connection)
        known = players_of(connection, accounts)
    row = find(connection, reference, lock=True)
    still_open(row, late_ms is not None, now_ms)
    inside = _statuses(connection, row.id)
    there = [known[key] for key in accounts if key in known and known[key].id not in inside]
    _refuse_own(connection, there)
    if ALL not in adopt:
        _refuse_strangers(there, adopt)
    new = sum(key not in known or known[key].id not in inside for key in accounts)
    if new:
        _refuse_too_many(row, inside, new)
    fresh = [key for key in accounts if key not in known]
    if fresh:
        _add_accounts(connection, {key: accounts[key] for key in fresh}, now_ms)
        known |= players_of(connection, fresh)
    joining = [known[key].id for key in accounts if known[key].id not in inside]
    if joining:
        values = {
            "competition_id": row.id,
            "status": "active",
            "joined_ms": now_ms,
            "extended_ms": late_ms,
        }
        connection.execute(
            competition_students.insert(), [{"player_id": player, **values} for player in joining]
        )
    joined = _add_members(connection, row, people, known, inside, set(fresh), now_ms)
    if joining:
        names = f"{len(joining)} into {row.name}"
        audit.add(connection, now_ms, by, "student.import", names, row.id)
    return joined


def _refuse_too_many(row: CompetitionRow, inside: dict[int, str], more: int) -> None:
    """Raise if a competition has no room for so many more; who was taken out needs none."""
    count = sum(status != "revoked" for status in inside.values()) + more
    if count > row.most_students:
        raise CompetitionRefusal(
            "competition/full",
            f"{row.name!r} is full: it would have {count} students, and its file allows "
            f"{row.most_students} (limits.students). Its organiser makes room: plyhouse student "
            "limit, or withdraw for who has left",
        )


def _refuse_own(connection: Connection, there: Sequence[PlayerAccount]) -> None:
    """Raise for accounts of the server: staff could reissue their tokens."""
    if not there:
        return
    guest = connection.execute(select(guests.c.player_id)).scalars()
    own = special_players(connection).union(guest)
    for each in there:
        if each.id in own:
            raise CompetitionRefusal(
                "competition/account_exists",
                f"{each.name} is an account of the server itself, or a guest: write another name "
                "in the list",
            )


def _refuse_strangers(there: Sequence[PlayerAccount], adopt: Collection[str]) -> None:
    """Raise for accounts that somebody else may have made under a student's name."""
    allowed = {key_of(name) for name in adopt}
    names = [each.name for each in there if key_of(each.name) not in allowed]
    if names:
        listed = ", ".join(names[:SHOWN]) + (" and others" if len(names) > SHOWN else "")
        raise CompetitionRefusal(
            "competition/account_exists",
            f"there {'is an account' if len(names) == 1 else 'are accounts'} {listed} already, "
            "perhaps of somebody else who took the name, and it would be let in with the tokens "
            f"that it has: if it is your student's, say so (--adopt {names[0]}, or --adopt-all); "
            "otherwise write another name in the list",
        )


def _add_members(
    connection: Connection,
    row: CompetitionRow,
    people: Sequence[NewMember],
    known: dict[str, PlayerAccount],
    inside: dict[int, str],
    fresh: set[str],
    now_ms: int,
) -> list[Joining]:
    """Note the persons behind the accounts, with a token each where the account is the class's."""
    members = competition_members.c
    query = select(members.player_id, members.name_key, members.token).where(
        members.competition_id == row.id
    )
    there: set[tuple[int, str]] = set()
    owned: set[int] = set()
    """Accounts that the class has made: further members get tokens."""
    for player, key, token in connection.execute(query):
        there.add((player, key))
        if token:
            owned.add(player)
    joined: list[Joining] = []
    new_members: list[dict[str, Any]] = []
    new_tokens: list[dict[str, Any]] = []
    for each in people:
        key = key_of(each.account)
        player = known[key]
        if inside.get(player.id) not in (None, "active"):
            joined.append(Joining(each.name, player.name, "", "revoked"))
            continue
        if (player.id, key_of(each.name)) in there:
            _update_member(connection, row.id, player.id, each)
            joined.append(Joining(each.name, player.name, "", "present"))
            continue
        token = ""
        if key in fresh or player.id in owned:
            token, values = new_token(player.id, ("play",), each.name[:100], now_ms)
            new_tokens.append(values)
        new_members.append(
            {
                "competition_id": row.id,
                "player_id": player.id,
                "name_key": key_of(each.name),
                "name": each.name,
                "email": each.email,
                "token": token[:12],
                "institution_id": each.institution_id or None,
                "login": each.login or None,
            }
        )
        joined.append(Joining(each.name, player.name, token, "new" if token else "known"))
    if new_tokens:
        connection.execute(tokens.insert(), new_tokens)
    if new_members:
        connection.execute(competition_members.insert(), new_members)
    return joined


def _update_member(
    connection: Connection, competition_id: str, player_id: int, given: NewMember
) -> None:
    """Take over the address, id and login that a list gives somebody who is there."""
    names = ("email", "institution_id", "login")
    values = {name: value for name in names if (value := getattr(given, name))}
    here = competition_members.c
    if values:
        connection.execute(
            competition_members.update()
            .where(
                here.competition_id == competition_id,
                here.player_id == player_id,
                here.name_key == key_of(given.name),
            )
            .values(**values)
        )


def players_of(connection: Connection, keys: Iterable[str]) -> dict[str, PlayerAccount]:
    """Return the accounts of these names, which are in small letters, by them."""
    found: dict[str, PlayerAccount] = {}
    key = players.c.name_key
    for part in parts(sorted(keys)):
        chosen = account_query().where(key.in_(part))
        rows = connection.execute(chosen.add_columns(key))
        found |= {name: PlayerAccount(*account) for *account, name in rows}
    return found


def _statuses(connection: Connection, competition_id: str) -> dict[int, str]:
    here = competition_students.c
    query = select(here.player_id, here.status).where(here.competition_id == competition_id)
    return {player: status for player, status in connection.execute(query)}  # noqa: C416


def name_of(connection: Connection, player_id: int) -> str:
    """Return the name of an account."""
    query = select(players.c.name).where(players.c.id == player_id)
    return str(connection.execute(query).scalar_one())


# -------------------------------------------------------------------------- the students


def students_of(connection: Connection, reference: str) -> list[CompetitionStudent]:
    """Return the students by name, with their members."""
    row = find(connection, reference)
    members: dict[int, list[Member]] = {}
    here = competition_members.c
    query = select(
        here.player_id,
        here.name,
        here.email,
        func.coalesce(here.institution_id, ""),
        func.coalesce(here.login, ""),
    ).where(here.competition_id == row.id)
    for player, *rest in connection.execute(query.order_by(here.name_key)):
        members.setdefault(player, []).append(Member(*rest))
    student = competition_students.c
    found = (
        select(
            student.player_id,
            players.c.name,
            func.coalesce(players.c.display, ""),
            student.status,
            student.joined_ms,
            student.extended_ms,
        )
        .join(players, players.c.id == student.player_id)
        .where(student.competition_id == row.id)
        .order_by(players.c.name_key)
    )
    return [
        CompetitionStudent(*each, members=tuple(members.get(each[0], ())))
        for each in connection.execute(found)
    ]


def student_of(connection: Connection, row: CompetitionRow, account: str) -> Any:
    """Return the row of a student by its account; raise `Unknown` if it is not in the class."""
    here = competition_students.c
    query = (
        select(competition_students, players.c.name)
        .join(players, players.c.id == here.player_id)
        .where(here.competition_id == row.id, players.c.name_key == key_of(account))
    )
    found = connection.execute(query).first()
    if found is None:
        raise Unknown(f"there is no student {account!r} in {row.name!r}; see plyhouse student list")
    return found


def _set_student(
    connection: Connection, row: CompetitionRow, player_id: int, **values: object
) -> None:
    here = competition_students.c
    mine = here.competition_id == row.id, here.player_id == player_id
    connection.execute(competition_students.update().where(*mine).values(**values))


def extend(
    connection: Connection, reference: str, account: str, until_ms: int, by: By, now_ms: int
) -> str:
    """Let one student submit until a later time than the freeze; return its account.

    When the final is over: for a rerun of it.
    """
    row = find(connection, reference, lock=True)
    student = student_of(connection, row, account)
    if row.status in IN_FINAL:
        raise CompetitionRefusal(
            "competition/begun",
            f"{row.name!r} is {row.status}: an extension comes too late, or too early: when the "
            "final is over it lets a student submit for a rerun",
        )
    if until_ms <= now_ms:
        raise CompetitionRefusal("competition/date_past", "an extension ends in the future")
    if student.status != "active":
        raise CompetitionRefusal("competition/revoked", f"{student.name} is {student.status}")
    if student.extended_ms == until_ms:
        return str(student.name)
    _set_student(connection, row, student.player_id, extended_ms=until_ms)
    subject, who = f"{audit.ABOUT} in {row.name}", student.player_id
    audit.add(connection, now_ms, by, "competition.extend", subject, row.id, player_id=who)
    return str(student.name)


def allow(connection: Connection, reference: str, most: int, by: By, now_ms: int) -> str:
    """Let a competition have so many students instead of what its file says; return its name."""
    row = find(connection, reference, lock=True)
    inside = sum(status != "revoked" for status in _statuses(connection, row.id).values())
    if most < inside:
        raise CompetitionRefusal("competition/full", f"{row.name!r} has {inside} students already")
    if most == row.most_students:
        return row.name
    here = competitions.c.id == row.id
    connection.execute(competitions.update().where(here).values(most_students=most))
    audit.add(connection, now_ms, by, "student.limit", f"{most} in {row.name}", row.id)
    return row.name


def withdraw(
    connection: Connection, reference: str, who: str, by: By, now_ms: int
) -> tuple[str, list[int]]:
    """Withdraw a student with all entries, or one entry ``player/bot``; the results stay.

    Returns the name, and the bots that leave.
    """
    return _take_out(connection, reference, who, "withdrawn", by, now_ms)


def disqualify(
    connection: Connection, reference: str, who: str, by: By, now_ms: int
) -> tuple[str, list[int]]:
    """Disqualify a student with all entries, or one entry ``player/bot``.

    Results of others against it stay; it has no rank and no grade.  Returns the name, and the bots
    that leave.
    """
    return _take_out(connection, reference, who, "disqualified", by, now_ms)


def restore(connection: Connection, reference: str, account: str, by: By, now_ms: int) -> str:
    """Let a withdrawn or disqualified student back in, before the final begins.

    Disqualified entries stay disqualified, unless the student as a whole was.
    """
    row = find(connection, reference, lock=True)
    student = student_of(connection, row, account)
    still_open(row, True, now_ms)
    if student.status == "revoked":
        _refuse_too_many(row, _statuses(connection, row.id), 1)
    _set_student(connection, row, student.player_id, status="active")
    which = competition_entries.c.player_id == student.player_id
    if student.status == "revoked":
        which &= competition_entries.c.status == "withdrawn"
    if not _set_entries(connection, row, which, "active") and student.status == "active":
        return str(student.name)
    subject, who = f"{audit.ABOUT} to {row.name}", student.player_id
    audit.add(connection, now_ms, by, "competition.restore", subject, row.id, player_id=who)
    return str(student.name)


_AUDITED: Final = {"withdrawn": "competition.withdraw", "disqualified": "competition.disqualify"}
"""Actions of the audit log by the status of entries that leave."""


def _take_out(
    connection: Connection,
    reference: str,
    who: str,
    status: Literal["withdrawn", "disqualified"],
    by: By,
    now_ms: int,
) -> tuple[str, list[int]]:
    row = find(connection, reference, lock=True)
    player, _, bot = who.partition("/")
    if not bot:
        student = student_of(connection, row, player)
        left = "revoked" if status == "withdrawn" else status
        _set_student(connection, row, student.player_id, status=left)
        which, name = competition_entries.c.player_id == student.player_id, str(student.name)
        about, out = {"player_id": student.player_id}, student.status == left
    else:
        fitting = [
            each for each in entries_of(connection, row.id) if key_of(each.name) == key_of(who)
        ]
        if not fitting:
            known = ", ".join(each.name for each in entries_of(connection, row.id)[:20])
            raise Unknown(f"{who} is not entered in {row.name!r}; entered: {known or 'nobody yet'}")
        which, name = competition_entries.c.bot_id == fitting[0].bot_id, fitting[0].name
        about, out = {"bot_id": fitting[0].bot_id}, True
    gone = _set_entries(connection, row, which, status)
    if out and not gone:
        return name, gone
    subject, what = f"{audit.ABOUT} from {row.name}", _AUDITED[status]
    audit.add(connection, now_ms, by, what, subject, row.id, **about)
    return name, gone


def _set_entries(connection: Connection, row: CompetitionRow, which: Any, status: str) -> list[int]:
    """Set the status of entries here and in what is played; return the bots that had another."""
    here = competition_entries.c
    mine = [here.competition_id == row.id, which, here.baseline.is_(False), here.status != status]
    if status == "withdrawn":  # who is disqualified stays so
        mine.append(here.status == "active")
    found = list(connection.execute(select(here.bot_id).where(*mine)).scalars())
    if not found:
        return []
    connection.execute(competition_entries.update().where(*mine).values(status=status))
    game, entry = competition_games.c, tournament_entries.c
    parts = select(game.tournament_id).where(game.competition_id == row.id)
    connection.execute(
        tournament_entries.update()
        .where(entry.tournament_id.in_(parts), entry.bot_id.in_(found))
        .values(status="active" if status == "active" else "withdrawn")
    )
    return found
