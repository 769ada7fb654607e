"""Changes of players, bots and tokens that the audit log notes.

A change to the value that something has already is not noted: it could fill the disk.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from plyhouse.protocol.api.bodies import LONGEST_STORED_LABEL
from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.competitions import Joining
from plyhouse.protocol.api.people import PlayerAccount, Token
from plyhouse.storage import audit, people, sessions
from plyhouse.storage.competition_sql import find
from plyhouse.storage.competition_students import student_of
from plyhouse.storage.errors import AlreadyExists, CompetitionRefusal
from plyhouse.storage.locks import lock_names, lock_row
from plyhouse.storage.models import bots, competition_members, players, tokens
from plyhouse.storage.names import key_of
from plyhouse.storage.people import (
    bot_named,
    check_display,
    check_new_name,
    find_bot,
    find_player,
    new_token,
    player,
    refuse_lookalikes,
    refuse_taken_display,
)
from plyhouse.storage.rows import By
from plyhouse.storage.statements import parts


def disable_player(
    connection: Connection, name: str, by: By, now_ms: int, keep_matches: bool = False
) -> PlayerAccount:
    """Keep a player from logging in; end the matches, also later, unless ``keep_matches``."""
    row = player(connection, name)
    if row.disabled_ms is not None and keep_matches:
        return row
    if row.disabled_ms is None:
        _change_player(connection, row, disabled_ms=now_ms)
    audit.add(
        connection,
        now_ms,
        by,
        "player.disable",
        audit.ABOUT,
        row.id,
        keep_matches,
        player_id=row.id,
    )
    return player(connection, name)


def enable_player(connection: Connection, name: str, by: By, now_ms: int) -> PlayerAccount:
    """Let a player log in again."""
    row = player(connection, name)
    if row.disabled_ms is None:
        return row
    _change_player(connection, row, disabled_ms=None)
    audit.add(connection, now_ms, by, "player.enable", audit.ABOUT, row.id, player_id=row.id)
    return player(connection, name)


def rename_player(
    connection: Connection, name: str, new: str, by: By, now_ms: int
) -> PlayerAccount:
    """Give a player another name; the bot in which it plays itself goes by it as well."""
    lock_names(connection)
    row = player(connection, name)
    new = check_new_name(new)
    if new == row.name:
        return row
    if key_of(new) != key_of(row.name):
        refuse_lookalikes(connection, [new])
    other = find_player(connection, new)
    if other is not None and other.id != row.id:
        raise AlreadyExists(f"there is a player {other.name!r} already; choose another name")
    own = find_bot(connection, row.id, row.name)
    if own is not None:
        taken = find_bot(connection, row.id, new)
        if taken is not None and taken.id != own.id:
            raise AlreadyExists(
                f"{row.name} has a bot {taken.name!r}, which could not be told from its player; "
                "choose another name"
            )
        connection.execute(
            bots.update().where(bots.c.id == own.id).values(name=new, name_key=key_of(new))
        )
    audit.add(  # while `by` finds the account by its old name
        connection, now_ms, by, "player.rename", audit.ABOUT, row.id,
        player_id=row.id, old_name=row.name,
    )  # fmt: skip
    _change_player(connection, row, name=new, name_key=key_of(new))
    return player(connection, new)


def set_display(
    connection: Connection, name: str, display: str, by: By, now_ms: int
) -> PlayerAccount:
    """Set the name that is shown beside a player's own; empty for none.

    A player cannot take one that looks like somebody else's (`DisplayTaken`).  An organiser can
    give it, as people do have the same names.
    """
    row = player(connection, name)
    shown = check_display(display)
    if shown == row.display:
        return row
    if key_of(by.who) == key_of(row.name):
        lock_names(connection)
        refuse_taken_display(connection, shown, key_of(row.name))
    _change_player(connection, row, display=shown or None)
    audit.add(connection, now_ms, by, "player.display", audit.ABOUT, row.id, player_id=row.id)
    return player(connection, name)


def disable_bot(
    connection: Connection, owner: str, name: str, by: By, now_ms: int, keep_matches: bool = False
) -> Bot:
    """Keep a bot from logging in; end its matches, also later, unless ``keep_matches``."""
    row = bot_named(connection, owner, name)
    if row.disabled_ms is not None and keep_matches:
        return row
    if row.disabled_ms is None:
        connection.execute(bots.update().where(bots.c.id == row.id).values(disabled_ms=now_ms))
    what = "bot.disable"
    audit.add(connection, now_ms, by, what, audit.ABOUT, row.id, keep_matches, bot_id=row.id)
    return bot_named(connection, owner, name)


def enable_bot(connection: Connection, owner: str, name: str, by: By, now_ms: int) -> Bot:
    """Let a bot log in again."""
    row = bot_named(connection, owner, name)
    if row.disabled_ms is None:
        return row
    connection.execute(bots.update().where(bots.c.id == row.id).values(disabled_ms=None))
    audit.add(connection, now_ms, by, "bot.enable", audit.ABOUT, row.id, bot_id=row.id)
    return bot_named(connection, owner, name)


def revoke_token(
    connection: Connection, key: int | str, by: By, now_ms: int, *, keep_matches: bool = True
) -> Token:
    """Revoke a token by its id, its first characters or itself.

    A second revocation only ends its matches, unless ``keep_matches``.
    """
    found = people.find_token(connection, key)
    # Others who revoke or make tokens of this owner are done, or wait.
    lock_row(connection, players.c.id, found.player_id)
    found = people.find_token(connection, found.id)
    if found.revoked_ms is not None and keep_matches:
        return found
    row = people.revoke_token(connection, found.id, now_ms)
    _end_made_with(connection, row.id, row.prefix, row.player_id, by, now_ms, keep_matches)
    return row


def _end_made_with(
    connection: Connection,
    token_id: int,
    prefix: str,
    owner: int,
    by: By,
    now_ms: int,
    keep_matches: bool = True,
) -> None:
    """End all that was made with a revoked token, and note all revoked ones.

    A thief may have made tokens and a password, which must not outlast the stolen token.

    The caller has locked the owner, so that nobody makes anything with the token meanwhile.
    """
    made = sessions.made_with(connection, token_id)
    gone = [each.id for each in made]
    for part in parts(gone):
        some = tokens.c.id.in_(part)
        connection.execute(tokens.update().where(some).values(revoked_ms=now_ms))
    sessions.forget_password(connection, owner, [token_id, *gone])
    for each_id, shown in ((token_id, prefix), *((each.id, each.prefix) for each in made)):
        subject = f"{shown}... of {audit.ABOUT}"
        audit.add(
            connection, now_ms, by, "token.revoke", subject, each_id, keep_matches, player_id=owner
        )


def _change_player(connection: Connection, row: PlayerAccount, **values: object) -> None:
    connection.execute(players.update().where(players.c.id == row.id).values(**values))


def reissue_token(
    connection: Connection, reference: str, account: str, member: str, by: By, now_ms: int
) -> Joining:
    """Revoke the token that the class gave to a student, and return a new one.

    ``member`` names the person in a group; empty for an account with one member.  Raises
    `CompetitionRefusal` for an account that the class did not make: its token could open more
    than this competition.  Raises `Unknown` if there is no such student.
    """
    row = find(connection, reference)
    student = student_of(connection, row, account)
    # A copy of the competition has the same token, and may replace it at the same time.
    lock_row(connection, players.c.id, student.player_id)
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
        people.revoke_token(connection, old.id, now_ms)
        _end_made_with(connection, old.id, old.prefix, student.player_id, by, now_ms)
    token, values = new_token(
        student.player_id, ("play",), person.name[:LONGEST_STORED_LABEL], now_ms
    )
    connection.execute(tokens.insert().values(values))
    kept = competition_members.update().where(
        here.player_id == student.player_id,
        here.name_key == person.name_key,
        here.token == person.token,
    )
    connection.execute(kept.values(token=token[:12]))
    subject = f"{audit.ABOUT} in {row.name}"
    audit.add(
        connection, now_ms, by, "student.reissue-token", subject, row.id,
        player_id=student.player_id, old_name=person.name,
    )  # fmt: skip
    return Joining(person.name, str(student.name), token, "reissued")
