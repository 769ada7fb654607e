"""People at browsers: their sessions, their passwords, and guests.

A session is a secret that a browser keeps in a cookie; only its digest is stored, like that of a
token.  It ends with its time, with a sign-out, with the token that it was begun with, and with its
player.

A token or password that somebody makes in a session depends on the token behind that session.  If
that token is revoked, because somebody else may have it, what was made with it ends, too
(`made_with`).

A guest is a player for a while.  Once its time is over, everything about it is deleted; what it
has played stays, under the name of one player that stands for all guests of the past
(`forget_guests`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, select, update

from plyhouse.protocol.api.people import PlayerAccount
from plyhouse.storage import leases, people, schema
from plyhouse.storage.errors import AlreadyExists, TokenRevoked
from plyhouse.storage.locks import lock_names, lock_row
from plyhouse.storage.models import (
    bots,
    guests,
    match_seats,
    meta,
    outputs,
    passwords,
    players,
    sessions,
    submissions,
    tokens,
    versions,
)
from plyhouse.storage.names import PAST_GUESTS
from plyhouse.storage.rows import Identity
from plyhouse.storage.statements import insert_into, parts
from plyhouse.storage.stored_packages import forget

MOST_OPEN: Final = 100
"""Sessions of an account that stay open; a group or a class may share one account."""
GUEST_SCOPE: Final = "guest"
"""The scope of a guest instead of ``play``: casual matches, one at a time."""
SECRET_BYTES: Final = 32
ROLE: Final = "player:"
"""Begins the name of the fact which player has a role in the house."""
AT_ONCE: Final = 500
"""Guests that are forgotten in one transaction; databases limit the number of parameters, too."""


# sessions


def begin(
    connection: Connection, player_id: int, lifetime_ms: int, now_ms: int, token_id: int = 0
) -> str:
    """Begin a session and return its secret, which cannot be shown again."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    connection.execute(
        sessions.insert().values(
            digest=_digest(secret),
            player_id=player_id,
            token_id=token_id or None,
            created_ms=now_ms,
            expires_ms=now_ms + lifetime_ms,
        )
    )
    return secret


def begin_by_password(
    connection: Connection, player_id: int, stored: str, lifetime_ms: int, now_ms: int
) -> str | None:
    """Begin a session if the hash ``stored`` is still that of the player's password.

    Otherwise a password that was changed while it was checked would let somebody in for long.
    """
    lock_row(connection, players.c.id, player_id)
    if _hash_of(connection, player_id) != stored:
        return None
    return begin(connection, player_id, lifetime_ms, now_ms)


def find(connection: Connection, secret: str, now_ms: int) -> Identity | None:
    """Return whose session this is; None if it is nobody's or over.

    Raises `TokenRevoked` if the token that it was begun with is revoked, or `Disabled`.
    """
    query = (
        select(
            sessions.c.id,
            sessions.c.expires_ms,
            sessions.c.token_id,
            players.c.id.label("player_id"),
            players.c.name,
            players.c.disabled_ms,
            tokens.c.scopes,
            tokens.c.prefix,
            tokens.c.revoked_ms,
            guests.c.player_id.label("guest_id"),
        )
        .join(players, players.c.id == sessions.c.player_id)
        .outerjoin(tokens, tokens.c.id == sessions.c.token_id)
        .outerjoin(guests, guests.c.player_id == sessions.c.player_id)
        .where(sessions.c.digest == _digest(secret), sessions.c.expires_ms > now_ms)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    people.check_allowed(row)
    guest = row.guest_id is not None
    scopes = {GUEST_SCOPE} if guest else set((row.scopes or "play").split(","))
    return Identity(
        row.player_id,
        row.name,
        frozenset(scopes),
        row.token_id or 0,
        session_id=row.id,
        guest=guest,
        expires_ms=row.expires_ms,
    )


def end(connection: Connection, session_id: int) -> None:
    """End a session; nothing happens if it is over."""
    connection.execute(delete(sessions).where(sessions.c.id == session_id))


def ended(connection: Connection, session_ids: Iterable[int]) -> set[int]:
    """Return which of these sessions are not stored any more."""
    missing = set(session_ids)
    for part in parts(sorted(missing)):
        query = select(sessions.c.id).where(sessions.c.id.in_(part))
        missing.difference_update(connection.execute(query).scalars())
    return missing


def end_others(connection: Connection, player_id: int, session_id: int) -> list[int]:
    """End all sessions of a player but one; return their ids."""
    others = delete(sessions).where(sessions.c.player_id == player_id, sessions.c.id != session_id)
    return list(connection.execute(others.returning(sessions.c.id)).scalars())


def end_oldest(connection: Connection, player_id: int) -> list[int]:
    """End the oldest sessions of a player beyond `MOST_OPEN`; return their ids."""
    mine = select(sessions.c.id).where(sessions.c.player_id == player_id)
    older = delete(sessions).where(
        sessions.c.id.in_(mine.order_by(sessions.c.id.desc()).offset(MOST_OPEN))
    )
    return list(connection.execute(older.returning(sessions.c.id)).scalars())


def sweep(connection: Connection, now_ms: int) -> int:
    """Delete the sessions whose time is over; return their number."""
    return connection.execute(delete(sessions).where(sessions.c.expires_ms <= now_ms)).rowcount


# passwords


def password(connection: Connection, name: str) -> tuple[PlayerAccount, str] | None:
    """Return a player and the hash of its password, which is empty if it has none."""
    row = people.find_player(connection, name)
    if row is None:
        return None
    return row, _hash_of(connection, row.id)


def set_password(
    connection: Connection, player_id: int, hashed: str, now_ms: int, token_id: int = 0
) -> None:
    """Store the hash of a player's password, in place of an earlier one.

    ``token_id`` is the token that the session was begun with, if there is one.
    """
    origin = token_behind(connection, player_id, token_id)
    values = {"hash": hashed, "changed_ms": now_ms, "made_with": origin}
    insert = insert_into(passwords, connection.dialect).values(player_id=player_id, **values)
    connection.execute(
        insert.on_conflict_do_update(index_elements=[passwords.c.player_id], set_=values)
    )


def change_password(
    connection: Connection, identity: Identity, stored: str, hashed: str, now_ms: int
) -> list[int] | None:
    """Store a new hash in place of ``stored``, and end the player's other sessions.

    Returns their ids, or None if another hash is stored meanwhile.  ``stored`` is empty if there
    was none.  Raises `TokenRevoked`.
    """
    lock_row(connection, players.c.id, identity.player_id)
    _refuse_revoked(connection, identity.token_id)
    if _hash_of(connection, identity.player_id) != stored:
        return None
    set_password(connection, identity.player_id, hashed, now_ms, identity.token_id)
    return end_others(connection, identity.player_id, identity.session_id)


def renew_hash(connection: Connection, player_id: int, stored: str, renewed: str) -> bool:
    """Store another hash of the same password; return False if the password was changed."""
    mine = passwords.c.player_id == player_id, passwords.c.hash == stored
    return bool(connection.execute(update(passwords).where(*mine).values(hash=renewed)).rowcount)


def _refuse_revoked(connection: Connection, token_id: int) -> None:
    """Raise `TokenRevoked` if a session's token was revoked while its request was under way."""
    query = select(tokens.c.prefix).where(tokens.c.id == token_id, tokens.c.revoked_ms.is_not(None))
    prefix = connection.execute(query).scalar_one_or_none()
    if prefix is not None:
        raise TokenRevoked(f"the token {prefix}... was revoked; ask for a new one")


def _hash_of(connection: Connection, player_id: int) -> str:
    query = select(passwords.c.hash).where(passwords.c.player_id == player_id)
    return connection.execute(query).scalar_one_or_none() or ""


def token_behind(connection: Connection, player_id: int, token_id: int) -> int | None:
    """Return the token by which somebody came in: that of the session, or of the password."""
    if token_id:
        return token_id
    query = select(passwords.c.made_with).where(passwords.c.player_id == player_id)
    return connection.execute(query).scalar_one_or_none()


def make_token(connection: Connection, identity: Identity, label: str, now_ms: int) -> str:
    """Make a token that allows to play, in a session; raises `TokenRevoked`."""
    lock_row(connection, players.c.id, identity.player_id)
    _refuse_revoked(connection, identity.token_id)
    origin = token_behind(connection, identity.player_id, identity.token_id)
    token, values = people.new_token(identity.player_id, ("play",), label, now_ms, origin)
    connection.execute(tokens.insert().values(values))
    return token


def made_with(connection: Connection, token_id: int) -> list[Row[Any]]:
    """Return id and prefix of all valid tokens made with a token, or with one of these.

    All have the same owner.
    """
    found: dict[int, Row[Any]] = {}
    look = [token_id]
    while look:
        query = select(tokens.c.id, tokens.c.prefix, tokens.c.revoked_ms).where(
            tokens.c.made_with.in_(look[:AT_ONCE])
        )
        fresh = {row.id: row for row in connection.execute(query) if row.id not in found}
        found |= fresh
        look = [*look[AT_ONCE:], *fresh]
    return [row for row in found.values() if row.revoked_ms is None]


def forget_password(connection: Connection, player_id: int, token_ids: Sequence[int]) -> None:
    """Delete a player's password if it was set with one of these tokens, and its sessions."""
    mine = passwords.c.player_id == player_id
    set_with = select(passwords.c.made_with).where(mine)
    if connection.execute(set_with).scalar_one_or_none() in token_ids:
        connection.execute(delete(passwords).where(mine))
        by_password = sessions.c.player_id == player_id, sessions.c.token_id.is_(None)
        connection.execute(delete(sessions).where(*by_password))


def sign_up(
    connection: Connection, name: str, display: str, hashed: str, now_ms: int
) -> PlayerAccount:
    """Make a player with a password; raises `AlreadyExists` or `InvalidName`."""
    row = people.add_player(connection, name, now_ms, display)
    set_password(connection, row.id, hashed, now_ms)
    return row


# guests


def add_guest(
    connection: Connection, names: Sequence[str], lifetime_ms: int, now_ms: int
) -> tuple[PlayerAccount, str]:
    """Make a guest by the first of these names that is free; return it and its session.

    Raises `AlreadyExists` if none is.
    """
    name = next((each for each in names if people.find_player(connection, each) is None), None)
    if name is None:
        raise AlreadyExists("all names that were tried for the guest are taken; try again")
    row = people.add_player(connection, name, now_ms, own=True)
    connection.execute(
        guests.insert().values(player_id=row.id, created_ms=now_ms, expires_ms=now_ms + lifetime_ms)
    )
    return row, begin(connection, row.id, lifetime_ms, now_ms)


def guest_ids(connection: Connection) -> list[int]:
    """Return the guests."""
    return list(connection.execute(select(guests.c.player_id)).scalars())


def expiring_guests(connection: Connection, now_ms: int, within_ms: int = 0) -> list[int]:
    """Return the guests whose time ends within so many ms, the earliest first."""
    query = (
        select(guests.c.player_id)
        .where(guests.c.expires_ms <= now_ms + within_ms)
        .order_by(guests.c.expires_ms)
        .limit(AT_ONCE)
    )
    return list(connection.execute(query).scalars())


def extend_guests(
    connection: Connection, player_ids: Sequence[int], by_ms: int, now_ms: int
) -> None:
    """Let guests stay for at least so many ms from now on."""
    until = now_ms + by_ms
    for table in (guests, sessions):
        connection.execute(
            update(table)
            .where(table.c.player_id.in_(player_ids), table.c.expires_ms < until)
            .values(expires_ms=until)
        )


def forget_guests(connection: Connection, player_ids: Sequence[int], now_ms: int) -> None:
    """Delete guests with their names and sessions; they must not be playing.

    Their seats in matches pass to the one player that stands for all guests of the past.
    """
    gone = list(player_ids)
    if not gone:
        return
    theirs = select(bots.c.id).where(bots.c.player_id.in_(gone))
    played = select(match_seats.c.match_id).where(match_seats.c.bot_id.in_(theirs)).limit(1)
    if connection.execute(played).first() is not None:
        past = special(connection, "guests", PAST_GUESTS, now_ms)
        bot = people.ensure_bot(connection, past.id, past.name, "human", now_ms)
        version = people.ensure_version(connection, bot.id, "", now_ms)
        connection.execute(
            match_seats.update()
            .where(match_seats.c.bot_id.in_(theirs))
            .values(bot_id=bot.id, version_id=version)
        )
    handed_in = select(submissions.c.id).where(submissions.c.bot_id.in_(theirs))
    forget(connection, connection.execute(handed_in).scalars())
    connection.execute(delete(outputs).where(outputs.c.bot_id.in_(theirs)))
    connection.execute(delete(versions).where(versions.c.bot_id.in_(theirs)))
    for table in (bots, sessions, guests):
        connection.execute(delete(table).where(table.c.player_id.in_(gone)))
    connection.execute(delete(players).where(players.c.id.in_(gone)))


# players that stand for something


def holder(connection: Connection, role: str) -> int:
    """Return the id of the player that `special` made for a role; 0 if there is none."""
    query = select(meta.c.value).where(meta.c.name == ROLE + role)
    return int(connection.execute(query).scalar_one_or_none() or 0)


def special(connection: Connection, role: str, names: Sequence[str], now_ms: int) -> PlayerAccount:
    """Return the player with a role on this server; make it first by a name that is free.

    The database notes the player of each role, so that nobody gets the role by the name.
    """
    lock_names(connection)
    if known := holder(connection, role):
        return people.player_by_id(connection, known)
    for name in names:
        if people.find_player(connection, name) is None:
            row = people.add_player(connection, name, now_ms, own=True)
            schema.put_meta(connection, ROLE + role, str(row.id))
            return row
    raise AlreadyExists(f"the names {', '.join(names)} are all taken; rename one of those players")


def special_players(connection: Connection) -> set[int]:
    """Return the ids of the players that `special` made."""
    roles = select(meta.c.value).where(meta.c.name.startswith(ROLE))
    return {int(each) for each in connection.execute(roles).scalars()}


def only_token(
    connection: Connection,
    player_id: int,
    label: str,
    now_ms: int,
    epoch: int,
    scopes: tuple[str, ...] = ("play",),
) -> str:
    """Make a server's token, and delete those of servers that are gone by the same label.

    ``epoch`` is that of the server's lease, which the stored label ends with; 0 without a lease.
    """
    others = {f"{label} {each}" for each in leases.running(connection) if each != epoch}
    query = select(tokens.c.id, tokens.c.label).where(
        tokens.c.player_id == player_id, tokens.c.label.startswith(label, autoescape=True)
    )
    old = [row.id for row in connection.execute(query) if row.label not in others]
    connection.execute(delete(sessions).where(sessions.c.token_id.in_(old)))
    connection.execute(delete(tokens).where(tokens.c.id.in_(old)))
    label = f"{label} {epoch}" if epoch else label
    return people.add_token(connection, player_id, scopes, label, now_ms)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
