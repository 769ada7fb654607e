"""Players, their tokens, bots and versions: the SQL, as functions of a connection."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import Connection, Select, Table, func, select

from plyhouse.protocol.api.bodies import LONGEST_STORED_LABEL
from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.people import PlayerAccount, Token
from plyhouse.protocol.parts import LONGEST_DISPLAY, LONGEST_NAME
from plyhouse.storage.errors import (
    AlreadyExists,
    Disabled,
    DisplayTaken,
    InvalidName,
    InvalidScope,
    LimitReached,
    TokenRevoked,
    Unknown,
)
from plyhouse.storage.locks import lock_names, lock_row
from plyhouse.storage.models import bots, players, select_rows, tokens, versions
from plyhouse.storage.names import (
    RESERVED,
    character_text,
    key_of,
    lookalikes,
    looks,
    name_problem,
    normal,
    reserved,
    unseen,
)  # fmt: skip
from plyhouse.storage.rows import SCOPES, Identity
from plyhouse.storage.statements import insert_into, parts

TOKEN_PREFIX = "ply_"  # noqa: S105  (marks tokens, so that scanners for leaked secrets know them)
TOKEN_BYTES = 32
SHOWN = 12
"""How many characters of a token are kept to recognise it by: the prefix and 48 random bits."""


def check_name(name: str, what: str) -> str:
    """Return a name for a player or a bot in normal form C (``what`` says which), else raise."""
    made = normal(name)
    problem = name_problem(made)
    if problem:
        raise InvalidName(
            f"{name!r} cannot name a {what}: {problem}; use 1 to {LONGEST_NAME} letters of one "
            "script, digits, '_', '-' or '.'"
        )
    return made


def check_new_name(name: str) -> str:
    """Return the name of a new account in normal form C, else raise; some are the server's own."""
    made = check_name(name, "player")
    if reserved(made):
        raise InvalidName(
            f"{name!r} is reserved for guests, built-in bots, erased people or the server itself; "
            "choose another name"
        )
    return made


def check_display(text: str) -> str:
    """Return a display name in its normal form (NFC, no space around it), else raise.

    Letters of all scripts and marks, digits, punctuation, symbols and single spaces are fine.
    Control characters are not, nor those that are not seen and change how others are read or
    tell equal looks apart: direction marks, joiners, soft hyphens, tags, line breaks.
    """
    name = normal(text).strip()
    if len(name) > LONGEST_DISPLAY:
        raise InvalidName(
            f"a display name has {LONGEST_DISPLAY} characters at most, not {len(name)}"
        )
    for character in name:
        category = unicodedata.category(character)
        if unseen(character) or (category[0] == "Z" and character != " "):
            raise InvalidName(
                f"a display name cannot contain {character_text(character)}; "
                "use letters, digits, punctuation, symbols and spaces"
            )
    if name and unicodedata.category(name[0])[0] == "M":
        raise InvalidName("a display name cannot begin with a mark that belongs to a letter")
    return name


def _check_label(label: str, what: str) -> None:
    """Raise unless a text may label a token or a version: free, but of one line and not long."""
    if len(label) > LONGEST_STORED_LABEL or not label.isprintable():
        raise InvalidName(
            f"{label[:LONGEST_STORED_LABEL]!r} cannot label a {what}; "
            f"use up to {LONGEST_STORED_LABEL} printable characters"
        )


def add_player(
    connection: Connection, name: str, now_ms: int, display: str = "", *, own: bool = False
) -> PlayerAccount:
    """Make a player; names are unique regardless of case.

    ``own`` is true for an account of the server itself, whose name may be reserved.
    """
    name = check_name(name, "player") if own else check_new_name(name)
    shown = check_display(display) or None
    lock_names(connection)
    refuse_taken_display(connection, display, key_of(name))
    refuse_lookalikes(connection, [name])
    taken = connection.execute(
        select(players.c.name).where(players.c.name_key == key_of(name))
    ).scalar_one_or_none()
    if taken is not None:
        raise AlreadyExists(f"there is a player {taken!r} already; choose another name")
    values = {"name": name, "name_key": key_of(name), "created_ms": now_ms, "display": shown}
    connection.execute(players.insert().values(values))
    return player(connection, name)


def refuse_lookalikes(connection: Connection, names: Iterable[str]) -> None:
    """Raise `AlreadyExists` if a player has a name that looks like one of these new ones."""
    alike = {other: name for name in names for other in lookalikes(key_of(name))}
    here = players.c
    for part in parts(sorted(alike)):
        query = select(here.name, here.name_key).where(here.name_key.in_(part))
        for taken, key in connection.execute(query):
            raise AlreadyExists(
                f"there is a player {taken!r}, whose name looks like {alike[key]!r}; choose "
                "another name"
            )


def refuse_taken_display(connection: Connection, display: str, own_key: str) -> None:
    """Raise `DisplayTaken` if a display name looks like a name or display name of others.

    ``own_key`` is the key of the player's own name, to which it may be equal.
    """
    mine = looks(display)
    if not mine:
        return
    here = players.c
    query = select(here.name, here.display).where(here.name_key != own_key)
    own = [(name, None) for name in RESERVED]  # of the server, also before it has the account
    for name, other in (*own, *connection.execute(query)):
        for what, taken in (("name", name), ("display name", other or "")):
            if not mine.isdisjoint(looks(taken)):
                whose = "of a player" if what == "name" else f"of the player {name!r}"
                raise DisplayTaken(
                    f"the display name {display!r} looks like {taken!r}, the {what} {whose}; "
                    "add something that tells you apart"
                )


def player(connection: Connection, name: str) -> PlayerAccount:
    """Return the player of that name, ignoring case; raise `Unknown` if there is none."""
    found = find_player(connection, name)
    if found is None:
        raise Unknown(f"there is no player {name!r}; add one with: plyhouse admin player add NAME")
    return found


def find_player(connection: Connection, name: str) -> PlayerAccount | None:
    """Return the player of that name, ignoring case, or None."""
    found = connection.execute(account_query().where(players.c.name_key == key_of(name))).first()
    return None if found is None else PlayerAccount(*found)


def player_by_id(connection: Connection, player_id: int) -> PlayerAccount:
    """Return the player of that id; raise `Unknown` if there is none."""
    found = connection.execute(account_query().where(players.c.id == player_id)).first()
    if found is None:
        raise Unknown(f"there is no player with the id {player_id}")
    return PlayerAccount(*found)


def list_players(connection: Connection) -> list[PlayerAccount]:
    """Return all players by name."""
    return [
        PlayerAccount(*row)
        for row in connection.execute(account_query().order_by(players.c.name_key))
    ]


def account_query() -> Select[Any]:
    """Return the query of accounts, with the columns of `PlayerAccount`."""
    columns = players.c
    return select(
        columns.id,
        columns.name,
        columns.created_ms,
        func.coalesce(columns.display, ""),
        columns.disabled_ms,
    )


def add_token(
    connection: Connection, player_id: int, scopes: Sequence[str], label: str, now_ms: int
) -> str:
    """Make a token and return it; only its digest is kept, so it cannot be shown again.

    A plain SHA-256 is enough for the digest: 256 random bits cannot be guessed from it.
    """
    token, values = new_token(player_id, scopes, label, now_ms)
    connection.execute(tokens.insert().values(values))
    return token


def new_token(
    player_id: int,
    scopes: Sequence[str],
    label: str,
    now_ms: int,
    made_with: int | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return a token and the row that keeps its digest.

    ``made_with`` is the token behind the session in which it is made; revoking that revokes both.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InvalidScope(
            f"a token needs scopes out of {', '.join(SCOPES)}; "
            f"{', '.join(map(repr, unknown)) if unknown else 'none'} was given"
        )
    _check_label(label, "token")
    token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    return token, {
        "player_id": player_id,
        "prefix": token[:SHOWN],
        "digest": _digest(token),
        "scopes": ",".join(scope for scope in SCOPES if scope in scopes),
        "label": label,
        "created_ms": now_ms,
        "made_with": made_with,
    }


def list_tokens(connection: Connection, player_id: int) -> list[Token]:
    """Return a player's tokens, the revoked ones too, oldest first."""
    query = _tokens().where(tokens.c.player_id == player_id).order_by(tokens.c.id)
    return [_token(row) for row in connection.execute(query)]


def find_token(connection: Connection, key: int | str) -> Token:
    """Return a token by its id, its prefix or itself; raise `Unknown` if none or several fit."""
    query = _tokens()
    if isinstance(key, int):
        query = query.where(tokens.c.id == key)
    else:
        query = query.where(tokens.c.prefix.startswith(key[:SHOWN], autoescape=True))
        if len(key) > SHOWN:
            query = query.where(tokens.c.digest == _digest(key))
    found = [_token(row) for row in connection.execute(query)]
    shown = key if isinstance(key, int) else f"{key[:SHOWN]}..."
    # A mark that all tokens share names none of them, even if there is only one.
    vague = isinstance(key, str) and len(key) <= len(TOKEN_PREFIX)
    if len(found) != 1 or vague:
        how = "no token fits" if not found else "more than one token may fit"
        raise Unknown(
            f"{how} {shown}; give the whole token, or the beginning of it that "
            "'plyhouse token list NAME' shows"
        )
    return found[0]


def revoke_token(connection: Connection, key: int | str, now_ms: int) -> Token:
    """Revoke a token that `find_token` finds; nothing happens if it is revoked already."""
    row = find_token(connection, key)
    if row.revoked_ms is None:
        connection.execute(tokens.update().where(tokens.c.id == row.id).values(revoked_ms=now_ms))
    return find_token(connection, row.id)


def check_allowed(row: Any) -> None:
    """Raise `TokenRevoked`, or `Disabled` if the player of a token may not come in."""
    if row.revoked_ms is not None:
        raise TokenRevoked(f"the token {row.prefix}... was revoked; ask for a new one")
    if row.disabled_ms is not None:
        raise Disabled(f"the player {row.name} was disabled by an organiser")


def authenticate(connection: Connection, token: str) -> tuple[Identity, int | None] | None:
    """Return whose token this is and when it was last used, or None if it is nobody's.

    Raises `TokenRevoked`, or `Disabled` if its player may not come in.
    """
    query = (
        select(
            tokens.c.id,
            tokens.c.player_id,
            players.c.name,
            tokens.c.scopes,
            tokens.c.prefix,
            tokens.c.revoked_ms,
            tokens.c.last_used_ms,
            players.c.disabled_ms,
        )
        .join(players, players.c.id == tokens.c.player_id)
        .where(tokens.c.digest == _digest(token))
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    check_allowed(row)
    scopes = frozenset(row.scopes.split(","))
    return Identity(row.player_id, row.name, scopes, row.id), row.last_used_ms


def touch_token(connection: Connection, token_id: int, now_ms: int) -> None:
    """Note that a token was used."""
    connection.execute(tokens.update().where(tokens.c.id == token_id).values(last_used_ms=now_ms))


def _tokens() -> Select[Any]:
    return select_rows(Token, tokens)


def _token(row: Sequence[Any]) -> Token:
    return structs.replace(Token(*row), scopes=tuple(row[3].split(",")))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def ensure_bot(
    connection: Connection,
    player_id: int,
    name: str,
    kind: str,
    now_ms: int,
    limit: int | None = None,
) -> Bot:
    """Return the player's bot of that name, made now if need be.

    The empty name stands for the player's own name.  Raises `LimitReached` rather than to make
    more than ``limit`` bots of one player.
    """
    if not name:
        own = connection.execute(select(players.c.name).where(players.c.id == player_id))
        name = own.scalar_one_or_none() or ""
    name = check_name(name, "bot")
    found = find_bot(connection, player_id, name)
    if found is None:
        lock_row(connection, players.c.id, player_id)
        found = find_bot(connection, player_id, name)
    if found is None:
        mine = select(func.count()).select_from(bots).where(bots.c.player_id == player_id)
        if limit is not None and connection.execute(mine).scalar_one() >= limit:
            raise LimitReached(
                f"a player has {limit} bots here at most; use the name of one of them"
            )
        values = {
            "player_id": player_id,
            "name": name,
            "name_key": key_of(name),
            "kind": kind,
            "created_ms": now_ms,
        }
        insert_unless_there(connection, bots, values)
        found = find_bot(connection, player_id, name)
        assert found is not None  # noqa: S101 (for the type checker)
    return found


def bot(connection: Connection, bot_id: int) -> Bot:
    """Return a bot by its id."""
    found = connection.execute(_bots().where(bots.c.id == bot_id)).first()
    if found is None:
        raise Unknown(f"there is no bot with the id {bot_id}; take one from the list of bots")
    return Bot(*found)


def find_bot(connection: Connection, player_id: int, name: str) -> Bot | None:
    """Return a player's bot of that name, ignoring case, or None."""
    query = _bots().where(bots.c.player_id == player_id, bots.c.name_key == key_of(name))
    found = connection.execute(query).first()
    return None if found is None else Bot(*found)


def bot_named(connection: Connection, owner: str, name: str) -> Bot:
    """Return a bot by its player's name and its own, which if empty is the player's."""
    row = player(connection, owner)
    found = find_bot(connection, row.id, name or row.name)
    if found is None:
        known = ", ".join(each.name for each in list_bots(connection, row.id)) or "none yet"
        raise Unknown(f"there is no bot {row.name}/{name}; bots of {row.name}: {known}")
    return found


def list_bots(connection: Connection, player_id: int | None = None) -> list[Bot]:
    """Return a player's bots, or everyone's, by name."""
    query = _bots().order_by(players.c.name_key, bots.c.name_key)
    if player_id is not None:
        query = query.where(bots.c.player_id == player_id)
    return [Bot(*row) for row in connection.execute(query)]


def bots_of(connection: Connection, names: Iterable[str]) -> list[Bot]:
    """Return all bots of the players of these names in any case; unknown ones have none."""
    found: list[Bot] = []
    for part in parts(sorted({key_of(name) for name in names})):
        query = _bots().where(players.c.name_key.in_(part))
        found += [Bot(*row) for row in connection.execute(query)]
    return found


def _bots() -> Select[Any]:
    return select_rows(Bot, bots).join(players, players.c.id == bots.c.player_id)


def ensure_version(
    connection: Connection,
    bot_id: int,
    label: str,
    now_ms: int,
    limit: int | None = None,
    digest: str = "",
) -> int:
    """Return the id of a bot's version of that label and digest, made now if need be.

    The digest is of the bot's files: the same label with another one is another version, so that
    a version never changes what it is.  Raises `LimitReached` rather than to make more than
    ``limit`` versions of one bot.
    """
    found = find_version(connection, bot_id, label, digest)
    if found is None:
        lock_row(connection, bots.c.id, bot_id)
        found = find_version(connection, bot_id, label, digest)
    if found is None:
        mine = select(func.count()).select_from(versions).where(versions.c.bot_id == bot_id)
        if limit is not None and connection.execute(mine).scalar_one() >= limit:
            raise LimitReached(f"a bot has {limit} versions here at most; use a label it has had")
        values = {"bot_id": bot_id, "label": label, "created_ms": now_ms, "digest": digest}
        insert_unless_there(connection, versions, values)
        found = find_version(connection, bot_id, label, digest)
        assert found is not None  # noqa: S101 (for the type checker)
    return found


def find_version(connection: Connection, bot_id: int, label: str, digest: str) -> int | None:
    """Return the id of a bot's version of that label and digest, or None.

    Raises `InvalidName` for a label that no version can have.
    """
    _check_label(label, "version")
    query = select(versions.c.id).where(
        versions.c.bot_id == bot_id, versions.c.label == label, versions.c.digest == digest
    )
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else int(found)


def insert_unless_there(connection: Connection, table: Table, values: dict[str, object]) -> None:
    """Insert a row; do nothing when another session has just made it."""
    insert = insert_into(table, connection.dialect).values(values)
    connection.execute(insert.on_conflict_do_nothing())
