"""People at browsers: their sessions, their passwords, and guests.

A session is a secret that a browser keeps in a cookie; only its digest is stored, like that of a
token.  It ends with its time, with a sign-out, with the token that it was begun with, and with its
player.

A guest is a player for a while.  Once its time is over, everything about it is deleted; what it
has played stays, under the name of one player that stands for all guests of the past
(`Sessions.forget_guests`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from plyhouse.storage import people, schema
from plyhouse.storage.database import Database
from plyhouse.storage.errors import AlreadyExists, Disabled, TokenRevoked
from plyhouse.storage.locks import lock_names
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
from plyhouse.storage.package_retention import forget
from plyhouse.storage.rows import Identity, PlayerRow
from plyhouse.storage.statements import insert_into

__all__ = ["GUEST_SCOPE", "ROLE", "Sessions"]

GUEST_SCOPE: Final = "guest"
"""What a guest may do instead of ``play``: play casual matches, one at a time."""
SECRET_BYTES: Final = 32
ROLE: Final = "player:"
"""Begins the name of the fact which player has a role in the house."""
AT_ONCE: Final = 500
"""Guests that are forgotten in one transaction; databases limit the number of parameters, too."""


class Sessions:
    """The part of a store about people at browsers; `plyhouse.storage.store.Store.sessions`."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    # sessions

    async def begin(self, player_id: int, lifetime_ms: int, token_id: int = 0) -> str:
        """Begin a session and return its secret, which cannot be shown again."""
        now = self._clock()
        return await self._database.write(
            lambda c: _begin(c, player_id, now, now + lifetime_ms, token_id)
        )

    async def find(self, secret: str) -> Identity | None:
        """Return whose session this is; None if it is nobody's or over.

        Raises `TokenRevoked` if it was begun with a token that is revoked by now, or `Disabled`.
        """
        now = self._clock()
        return await self._database.read(lambda c: _find(c, secret, now))

    async def end(self, session_id: int) -> None:
        """End a session; nothing happens if it is over."""
        await self._database.write(
            lambda c: c.execute(delete(sessions).where(sessions.c.id == session_id))
        )

    async def end_others(self, player_id: int, session_id: int) -> list[int]:
        """End all sessions of a player but one; return their ids."""

        def work(connection: Connection) -> list[int]:
            others = sessions.c.player_id == player_id, sessions.c.id != session_id
            found = [row.id for row in connection.execute(select(sessions.c.id).where(*others))]
            connection.execute(delete(sessions).where(*others))
            return found

        return await self._database.write(work)

    async def sweep(self) -> int:
        """Delete the sessions whose time is over; return how many there were."""
        now = self._clock()
        return await self._database.write(
            lambda c: c.execute(delete(sessions).where(sessions.c.expires_ms <= now)).rowcount
        )

    # passwords

    async def password(self, name: str) -> tuple[PlayerRow, str] | None:
        """Return a player and the hash of its password, which is empty if it has none."""

        def work(connection: Connection) -> tuple[PlayerRow, str] | None:
            row = people.find_player(connection, name)
            if row is None:
                return None
            query = select(passwords.c.hash).where(passwords.c.player_id == row.id)
            return row, connection.execute(query).scalar_one_or_none() or ""

        return await self._database.read(work)

    async def set_password(self, player_id: int, hashed: str) -> None:
        """Store the hash of a player's password, instead of the one of before."""
        now = self._clock()
        await self._database.write(lambda c: _set_password(c, player_id, hashed, now))

    async def sign_up(self, name: str, display: str, hashed: str) -> PlayerRow:
        """Make a player with a password; raises `AlreadyExists` or `InvalidName`."""
        now = self._clock()

        def work(connection: Connection) -> PlayerRow:
            row = people.add_player(connection, name, now, display)
            _set_password(connection, row.id, hashed, now)
            return row

        return await self._database.write(work)

    # guests

    async def add_guest(self, names: Sequence[str], lifetime_ms: int) -> tuple[PlayerRow, str]:
        """Make a guest by the first of these names that is free; return it and its session.

        Raises `AlreadyExists` if none is.
        """
        now = self._clock()

        def work(connection: Connection) -> tuple[PlayerRow, str]:
            for name in names:
                if people.find_player(connection, name) is None:
                    break
            else:
                raise AlreadyExists("all names that were tried for the guest are taken; try again")
            row = people.add_player(connection, name, now)
            until = now + lifetime_ms
            connection.execute(
                guests.insert().values(player_id=row.id, created_ms=now, expires_ms=until)
            )
            return row, _begin(connection, row.id, now, until, 0)

        return await self._database.write(work)

    async def guests(self) -> int:
        """Return how many guests there are."""
        query = select(func.count()).select_from(guests)
        return await self._database.read(lambda c: int(c.execute(query).scalar_one()))

    async def expiring_guests(self, within_ms: int = 0) -> list[int]:
        """Return the guests whose time is over, or will be in so many ms, the first one first."""
        until = self._clock() + within_ms
        query = (
            select(guests.c.player_id)
            .where(guests.c.expires_ms <= until)
            .order_by(guests.c.expires_ms)
            .limit(AT_ONCE)
        )
        return await self._database.read(lambda c: [row[0] for row in c.execute(query)])

    async def extend_guests(self, player_ids: Sequence[int], by_ms: int) -> None:
        """Give guests, who are in the middle of a match, so much time from now on."""
        until = self._clock() + by_ms

        def work(connection: Connection) -> None:
            for table in (guests, sessions):
                connection.execute(
                    update(table)
                    .where(table.c.player_id.in_(player_ids), table.c.expires_ms < until)
                    .values(expires_ms=until)
                )

        await self._database.write(work)

    async def forget_guests(self, player_ids: Sequence[int]) -> None:
        """Delete guests with their names and sessions.

        The seats that they held in matches belong to the one player that stands for all guests of
        the past from now on.  They must not be playing.
        """
        now = self._clock()
        await self._database.write(lambda c: _forget(c, player_ids, now))

    # players that stand for something

    async def special(self, role: str, names: Sequence[str]) -> PlayerRow:
        """Return the player that has a role in the house, made at first by a name that is free.

        Who has the role is noted in the database, so that nobody gets it by the name.
        """
        now = self._clock()
        return await self._database.write(lambda c: _special(c, role, names, now))

    async def only_token(
        self, player_id: int, label: str, scopes: tuple[str, ...] = ("play",)
    ) -> str:
        """Make a token, and delete all earlier ones of the player by that label."""
        now = self._clock()

        def work(connection: Connection) -> str:
            old = tokens.c.player_id == player_id, tokens.c.label == label
            used = select(tokens.c.id).where(*old)
            connection.execute(delete(sessions).where(sessions.c.token_id.in_(used)))
            connection.execute(delete(tokens).where(*old))
            return people.add_token(connection, player_id, scopes, label, now)

        return await self._database.write(work)


def _begin(
    connection: Connection, player_id: int, now_ms: int, expires_ms: int, token_id: int
) -> str:
    secret = secrets.token_urlsafe(SECRET_BYTES)
    connection.execute(
        sessions.insert().values(
            digest=_digest(secret),
            player_id=player_id,
            token_id=token_id or None,
            created_ms=now_ms,
            expires_ms=expires_ms,
        )
    )
    return secret


def _find(connection: Connection, secret: str, now_ms: int) -> Identity | None:
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
    if row.revoked_ms is not None:
        raise TokenRevoked(f"the token {row.prefix}... was revoked; ask for a new one")
    if row.disabled_ms is not None:
        raise Disabled(f"the player {row.name} was disabled by an organiser")
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


def _set_password(connection: Connection, player_id: int, hashed: str, now_ms: int) -> None:
    values = {"hash": hashed, "changed_ms": now_ms}
    insert = insert_into(passwords, connection.dialect).values(player_id=player_id, **values)
    connection.execute(
        insert.on_conflict_do_update(index_elements=[passwords.c.player_id], set_=values)
    )


def _forget(connection: Connection, player_ids: Sequence[int], now_ms: int) -> None:
    gone = list(player_ids)
    if not gone:
        return
    theirs = select(bots.c.id).where(bots.c.player_id.in_(gone))
    played = select(match_seats.c.match_id).where(match_seats.c.bot_id.in_(theirs)).limit(1)
    if connection.execute(played).first() is not None:
        past = _special(connection, "guests", ("guest", "guests-of-the-past"), now_ms)
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


def _special(connection: Connection, role: str, names: Sequence[str], now_ms: int) -> PlayerRow:
    key = ROLE + role
    lock_names(connection)
    noted = connection.execute(select(meta.c.value).where(meta.c.name == key)).scalar_one_or_none()
    if noted is not None:
        return people.player_by_id(connection, int(noted))
    for name in names:
        if people.find_player(connection, name) is None:
            row = people.add_player(connection, name, now_ms)
            schema.put_meta(connection, key, str(row.id))
            return row
    raise AlreadyExists(f"the names {', '.join(names)} are all taken; rename one of those players")


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
