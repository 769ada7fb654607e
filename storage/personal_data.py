"""Everything that is stored about one person, and the names by which it is known; the SQL.

A person reads the former.  Erasure puts a pseudonym in the place of the latter, also in texts of
people.  Texts of the server are stored without names (`plyhouse.storage.causes`,
`plyhouse.storage.audit`).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import Column, Connection, Select, String, Table, select

from plyhouse.storage import audit as audit_log
from plyhouse.storage import people
from plyhouse.storage.models import (
    audit,
    bots,
    competition_entries,
    competition_members,
    competition_students,
    competitions,
    match_seats,
    matches,
    outputs,
    passwords,
    players,
    regrades,
    sessions,
    submissions,
    tokens,
    versions,
)
from plyhouse.storage.names import ERASED_PREFIX

SECRET = frozenset(("digest", "hash"))
"""Columns of tokens, sessions and passwords that nobody is shown."""


def _seats() -> Select[Any]:
    """Return the query of seats with their matches."""
    return (
        select(
            matches.c.id,
            matches.c.game,
            matches.c.created_ms,
            matches.c.finished_ms,
            match_seats.c.seat,
            match_seats.c.bot_id,
            match_seats.c.version_id,
            match_seats.c.score,
            match_seats.c.result,
            matches.c.termination,
        )
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .join(bots, bots.c.id == match_seats.c.bot_id)
        .order_by(matches.c.id)
    )


def personal_data(connection: Connection, account: str, *, reasons: bool = False) -> dict[str, Any]:
    """Return what the database holds about an account, table by table; raises `Unknown`.

    Left out are digests of secrets, and what is long and has its own download: packages, what bots
    printed, and the actions of matches, which are listed with their ids.  Times are milliseconds
    since 1970 (UTC).  Reasons in the audit log may name others: they are left out unless
    ``reasons``.
    """
    row = people.player(connection, account)
    own = bots.c.player_id == row.id
    hidden = () if reasons else ("why",)

    def rows(query: Select[Any], *hidden: str) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in found._mapping.items() if key not in hidden}
            for found in connection.execute(query)
        ]

    def of(table: Any, *hidden: str) -> list[dict[str, Any]]:
        return rows(select(table).where(table.c.player_id == row.id), *hidden, "player_id")

    [columns] = rows(select(players).where(players.c.id == row.id), "id", "name", "name_key")
    return {
        "account": row.name,
        **columns,
        "display": row.display,
        "tokens": of(tokens, *SECRET),
        "sessions": of(sessions, *SECRET),
        "passwords": of(passwords, *SECRET),
        "members": _with_names(connection, of(competition_members)),
        "competitions": _with_names(connection, of(competition_students)),
        "entries": _with_names(connection, of(competition_entries)),
        "bots": rows(select(bots).where(own), "name_key", "player_id"),
        "versions": rows(select(versions).join(bots, versions.c.bot_id == bots.c.id).where(own)),
        "submissions": rows(
            select(submissions).join(bots, submissions.c.bot_id == bots.c.id).where(own)
        ),
        "outputs": rows(
            select(outputs.c.match_id, outputs.c.received_ms, outputs.c.bytes)
            .join(bots, outputs.c.bot_id == bots.c.id)
            .where(own)
        ),
        "regrades": _with_names(connection, of(regrades)),
        "matches": rows(_seats().where(own)),
        "audit": [
            {key: value for key, value in asdict(each).items() if key not in hidden}
            for each in audit_log.about(connection, row.id)
        ],
    }


def _with_names(connection: Connection, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the names of competitions in the place of their ids."""
    query = select(competitions.c.id, competitions.c.name)
    known = {identity: name for identity, name in connection.execute(query)}  # noqa: C416
    return [{"competition": known[each.pop("competition_id")], **each} for each in rows]


class Names:
    """Names of a person, and their replacements.

    ``accounts`` are names of the account, ``words`` other texts such as a display name, and
    ``bot_names`` the new names of bots by the old ones in small letters.  Names are found as whole
    words in any case, a bot only behind the name of its account.

    >>> names = Names("erased-1", ["ada"], {"deep": "bot-1"}, ["Ada Lovelace"])
    >>> names.rewrite("Seat 1 (ada/deep) beat adam/deep; ADA LOVELACE asked.")
    'Seat 1 (erased-1/bot-1) beat adam/deep; erased-1 asked.'
    >>> Names("erased-1", ["ada-l"], {}, ["Ada", "ada.l@example.org"]).rewrite(
    ...     "ADA (ada.l@example.org) is ada-l, not ada-lou; ada-l/other."
    ... )
    'erased-1 (erased-1) is erased-1, not erased-1-lou; erased-1/bot.'
    """

    def __init__(
        self,
        pseudonym: str,
        accounts: Iterable[str],
        bot_names: dict[str, str],
        words: Iterable[str],
    ) -> None:
        self.pseudonym = pseudonym
        self.bots = bot_names
        self._accounts = {each.lower() for each in accounts}
        others = {each.lower() for each in words if each.strip()} - self._accounts
        # The longest name first: one may be the beginning of another.
        parts = [
            rf"(?<![\w.-]){re.escape(each)}(?:/[\w.-]*[\w-])?(?![\w-]|\.\w)"
            if each in self._accounts
            else rf"(?<!\w){re.escape(each)}(?!\w)"
            for each in sorted({*self._accounts, *others}, key=len, reverse=True)
        ]
        self._pattern = re.compile("|".join(parts), re.IGNORECASE)

    def names(self, text: str) -> bool:
        """Return whether a text names the person."""
        return self._pattern.search(text) is not None

    def is_account(self, text: str) -> bool:
        """Return whether a text is the name of the account, and nothing else."""
        return text.lower() in self._accounts

    def rewrite(self, text: str) -> str:
        """Return a text with the pseudonym in the place of every name."""

        def put(found: re.Match[str]) -> str:
            account, _, bot = found[0].lower().partition("/")
            if not bot or account not in self._accounts:
                return self.pseudonym
            return f"{self.pseudonym}/{self.bots.get(bot, 'bot')}"

        return self._pattern.sub(put, text)

    def rewrite_json(self, text: str) -> str:
        """Rewrite the texts in a JSON document; one that cannot be read is rewritten as a text."""
        try:
            document = json.loads(text)
        except ValueError:
            return self.rewrite(text)
        return json.dumps(self._walk(document), ensure_ascii=False, separators=(",", ":"))

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.rewrite(value)
        if isinstance(value, list):
            return [self._walk(each) for each in value]
        if isinstance(value, dict):
            return {key: self._walk(each) for key, each in value.items()}
        return value


def known_names(connection: Connection, player_id: int) -> Names:
    """All names by which a person is known here, with a new pseudonym."""
    row = people.player_by_id(connection, player_id)
    renamed = select(audit.c.old_name).where(
        audit.c.what == "player.rename",
        audit.c.subject_id == str(player_id),
        audit.c.old_name.is_not(None),
    )
    accounts = {row.name, *connection.execute(renamed).scalars()}
    others = _taken(connection, player_id)
    accounts = {each for each in accounts if each.lower() not in others}
    words = {row.display}
    here = competition_members.c
    for member in connection.execute(
        select(competition_members).where(here.player_id == player_id)
    ):
        words |= {str(member._mapping[each]) for each in member_texts() if member._mapping[each]}
        words.add(member.name)
    pseudonym = ERASED_PREFIX + secrets.token_hex(4)
    while people.find_player(connection, pseudonym) is not None:
        pseudonym = ERASED_PREFIX + secrets.token_hex(4)
    bot_names: dict[str, str] = {}
    owned = select(bots.c.name).where(bots.c.player_id == player_id).order_by(bots.c.id)
    for name in connection.execute(owned).scalars():
        own = name.lower() == row.name.lower()
        bot_names[name.lower()] = pseudonym if own else f"bot-{len(bot_names) + 1}"
    return Names(
        pseudonym, accounts, bot_names, {each for each in words if each.lower() not in others}
    )


def _taken(connection: Connection, player_id: int) -> set[str]:
    """Names of other accounts: where these stand, those are meant."""
    others = select(players.c.name_key).where(players.c.id != player_id)
    return set(connection.execute(others).scalars())


def member_texts() -> list[str]:
    """All texts about a member except the name."""
    kept = ("competition_id", "name", "name_key")
    return [each.name for each in _texts(competition_members) if each.name not in kept]


def _texts(table: Table) -> list[Column[Any]]:
    return [each for each in table.c if isinstance(each.type, String)]
