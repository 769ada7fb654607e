"""Why matches end or are void, and what the audit log is about, without names.

Reasons had names of bots in their sentences.  They become causes (`plyhouse.storage.causes`): the
same sentences, with seats in the places of the names.  Entries of the audit log get the ids of the
accounts, bots and versions that their texts named.

Revision ID: 0024
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_AT_ONCE: Final = 500
"""Matches that are rewritten at a time."""
_LABEL: Final = re.compile(r"\bseat (\d+) \((\([^()]*\)|[^()]*)\)", re.IGNORECASE)
"""A seat with its holder in a sentence of the server, who may be ``(another entry)``."""
_PERSONAL: Final = (
    *("staff.", "regrade.", "competition.extend", "competition.withdraw", "competition.restore"),
    "competition.disqualify",
)
"""Actions whose entries name an account or a bot at the beginning of the subject."""
_SUBJECT: Final = re.compile(r"(\d+ of )?([^\s/]+)(?:/(\S+))?( .*)", re.DOTALL)

_audit = sa.table(
    "audit",
    *map(sa.column, ("id", "who", "who_id", "what", "subject", "subject_id", "old_name")),
    *map(sa.column, ("player_id", "bot_id", "version_id")),
)
_bots = sa.table("bots", *map(sa.column, ("id", "player_id", "name", "name_key")))
_events = sa.table("events", *map(sa.column, ("match_id", "idx", "kind", "data")))
_matches = sa.table("matches", *map(sa.column, ("id", "reason", "void_reason")))
_members = sa.table("competition_members", *map(sa.column, ("competition_id", "player_id", "name")))
_players = sa.table("players", *map(sa.column, ("id", "name", "name_key")))
_seats = sa.table("match_seats", *map(sa.column, ("match_id", "seat", "bot_id")))
_tokens = sa.table("tokens", *map(sa.column, ("id", "player_id")))
_versions = sa.table("versions", *map(sa.column, ("id", "bot_id")))


def upgrade() -> None:
    """Add the columns of the log, and rewrite log, matches and events."""
    for name in ("who_id", "player_id", "bot_id", "version_id"):
        op.add_column("audit", sa.Column(name, sa.BigInteger(), nullable=True))
    op.create_index("ix_audit_player_id", "audit", ["player_id"])
    connection = op.get_bind()
    accounts = _Accounts(connection)
    _rewrite_matches(connection, accounts)
    _rewrite_log(connection, accounts)


class _Accounts:
    """The accounts by the names that they have, and had before they were renamed."""

    def __init__(self, connection: sa.Connection) -> None:
        rows = connection.execute(sa.select(_players.c.id, _players.c.name)).all()
        self.now: dict[str, int] = {name.lower(): identity for identity, name in rows}
        self.before: dict[str, list[tuple[int, int]]] = {}
        """By a former name: the renames that ended it, with the account."""
        self.former: dict[int, list[str]] = {identity: [name] for identity, name in rows}
        """All names of an account."""
        here = _audit.c
        renames = sa.select(here.id, here.subject, here.subject_id, here.old_name)
        renames = renames.where(here.what == "player.rename").order_by(here.id)
        for entry, subject, subject_id, old_name in connection.execute(renames).all():
            name = old_name or subject.partition(" to ")[0]
            if subject_id.isdigit() and int(subject_id) in self.former:
                self.before.setdefault(name.lower(), []).append((entry, int(subject_id)))
                self.former[int(subject_id)].append(name)
        self.bots: dict[tuple[int, str], int] = {
            (player, key): identity
            for identity, player, key in connection.execute(
                sa.select(_bots.c.id, _bots.c.player_id, _bots.c.name_key)
            )
        }

        self.members: dict[str, list[tuple[str, int]]] = {}
        """Names of members, the longest first, with their accounts, by competition."""
        member = _members.c
        people = sa.select(member.competition_id, member.name, member.player_id)
        for competition, name, player in connection.execute(people).all():
            self.members.setdefault(competition, []).append((name, player))
        for each in self.members.values():
            each.sort(key=lambda found: -len(found[0]))

    def named(self, name: str, entry: int) -> int | None:
        """Return the account that had a name when an entry of the log was written."""
        later = (player for at, player in self.before.get(name.lower(), ()) if at >= entry)
        return next(later, self.now.get(name.lower()))


# ---------------------------------------------------------------------------------- matches


def _rewrite_matches(connection: sa.Connection, accounts: _Accounts) -> None:
    for ids in _told(connection):
        names = _names_of_seats(connection, accounts, ids)
        here = _matches.c
        rows = sa.select(here.id, here.reason, here.void_reason).where(here.id.in_(ids))
        for match, reason, void in connection.execute(rows).all():
            values = {"reason": cause(reason, names.get(match, {}), labels=True)}
            if void is not None:
                values["void_reason"] = cause(void, names.get(match, {}), labels=False)
            connection.execute(_matches.update().where(here.id == match).values(values))
        event = _events.c
        ends = sa.select(event.match_id, event.idx, event.data).where(
            event.match_id.in_(ids), event.kind == "end", event.data.is_not(None)
        )
        for match, index, data in connection.execute(ends).all():
            new = _end(data, names.get(match, {}))
            key = event.match_id == match, event.idx == index
            connection.execute(_events.update().where(*key).values(data=new))


def _told(connection: sa.Connection) -> Iterator[list[str]]:
    """Yield the matches with a reason, some at a time."""
    here, last = _matches.c, ""
    while True:
        query = sa.select(here.id).where(
            here.id > last, (here.reason != "") | here.void_reason.is_not(None)
        )
        ids = list(connection.execute(query.order_by(here.id).limit(_AT_ONCE)).scalars())
        if not ids:
            return
        yield ids
        last = ids[-1]


def _names_of_seats(
    connection: sa.Connection, accounts: _Accounts, ids: list[str]
) -> dict[str, dict[str, int]]:
    """Return the seats of matches by all names of their bots, in small letters."""
    query = (
        sa.select(_seats.c.match_id, _seats.c.seat, _bots.c.player_id, _bots.c.name)
        .join_from(_seats, _bots, _bots.c.id == _seats.c.bot_id)
        .where(_seats.c.match_id.in_(ids))
        .order_by(_seats.c.seat.desc())
    )
    found: dict[str, dict[str, int]] = {}
    for match, seat, player, bot in connection.execute(query).all():
        for name in accounts.former.get(player, ()):
            found.setdefault(match, {})[f"{name}/{bot}".lower()] = seat
    return found


def cause(text: str, seats: Mapping[str, int], *, labels: bool) -> str:
    r"""Return a text as a stored cause, in which bots on seats are seats.

    ``labels``: the server wrote the text, so the holder behind a number is that of the seat.

    >>> cause("seat 2 ((another entry)) was away.", {}, labels=True)
    '{"code":"written","seats":[1],"words":["seat 2 (",") was away."]}'
    """
    if not text:
        return ""
    found = [(each.span(2), int(each[1]) - 1) for each in _LABEL.finditer(text) if labels]
    known = "|".join(map(re.escape, sorted(seats, key=len, reverse=True))) or "(?!)"
    for each in re.finditer(rf"(?<![\w.-])(?:{known})(?![\w-]|\.\w)", text, re.IGNORECASE):
        if not any(start <= each.start() < end for (start, end), _ in found):
            found.append((each.span(), seats[each[0].lower()]))
    words, numbers, last = [], [], 0
    for (start, end), seat in sorted(found):
        words.append(text[last:start])
        numbers.append(seat)
        last = end
    words.append(text[last:])
    told: dict[str, Any] = {"code": "written", "seats": numbers, "words": words}
    if not numbers:
        del told["seats"]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _end(data: str, seats: Mapping[str, int]) -> str:
    try:
        document = json.loads(data)
    except ValueError:
        return data
    reason = document.pop("reason", "")
    if reason:
        document["cause"] = json.loads(cause(reason, seats, labels=True))
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


# -------------------------------------------------------------------------------------- log


def _rewrite_log(connection: sa.Connection, accounts: _Accounts) -> None:
    owners = {
        kind: {row[0]: row[1] for row in connection.execute(sa.select(table.c.id, column))}
        for kind, table, column in (
            ("bot", _bots, _bots.c.player_id),
            ("token", _tokens, _tokens.c.player_id),
            ("version", _versions, _versions.c.bot_id),
        )
    }
    here = _audit.c
    query = sa.select(here.id, here.who, here.what, here.subject, here.subject_id, here.old_name)
    for entry, who, what, subject, subject_id, old_name in connection.execute(query).all():
        values: dict[str, Any] = {}
        who_id = accounts.named(who, entry)
        if who_id is not None:
            values |= {"who": "", "who_id": who_id}
        values |= about(what, subject, subject_id, entry, accounts, owners)
        if what == "player.rename" and old_name is None and "player_id" in values:
            values["old_name"] = subject.partition(" to ")[0]
        if values:
            connection.execute(_audit.update().where(here.id == entry).values(values))


def about(
    what: str,
    subject: str,
    subject_id: str,
    entry: int,
    accounts: _Accounts,
    owners: Mapping[str, Mapping[int, int]],
) -> dict[str, Any]:
    """Return the ids of what an entry is about, and its text without the name; else nothing."""
    kind, number = what.partition(".")[0], int(subject_id) if subject_id.isdigit() else -1
    if kind == "player" and number in accounts.former:
        return {"player_id": number, "subject": "{}"}
    if kind == "bot" and number in owners["bot"]:
        return {"bot_id": number, "player_id": owners["bot"][number], "subject": "{}"}
    if kind == "version" and number in owners["version"]:
        bot = owners["version"][number]
        ids = {"version_id": number, "bot_id": bot, "player_id": owners["bot"].get(bot)}
        return {**ids, "subject": "{}"}
    if kind == "token" and number in owners["token"]:
        start = subject.rpartition(" of ")[0]
        return {"player_id": owners["token"][number], "subject": f"{start} of {{}}"}
    if what == "student.reissue-token":
        for member, holder in accounts.members.get(subject_id, ()):
            if subject.startswith(f"{member} in "):
                rest = subject.removeprefix(member)
                return {"player_id": holder, "old_name": member, "subject": f"{{}}{rest}"}
        return {}
    parts = _SUBJECT.fullmatch(subject)
    if parts is None or not what.startswith(_PERSONAL):
        return {}
    before, account, name, after = parts.groups()
    player = accounts.named(account, entry)
    if player is None:
        return {}
    values: dict[str, Any] = {"player_id": player, "subject": f"{before or ''}{{}}{after}"}
    if name is not None:
        if (player, name.lower()) not in accounts.bots:
            return {}
        values["bot_id"] = accounts.bots[player, name.lower()]
    return values
