"""Erasing a person: what names somebody is replaced by a pseudonym or deleted; the SQL.

Matches stay, as the results of others depend on them.  Seats, scores, clocks, why matches ended and
the audit log refer to accounts by number.  Texts of people that name the person are rewritten:
reasons that they gave, notes and announcements.  Texts of the person are deleted: packages, output,
thoughts that its bots told, refused actions, requests.

`COLUMNS` says of every column that can hold a text what becomes of it; a test compares it with the
models, so that a new column cannot be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection, Table, delete, exists, func, select

from plyhouse.protocol.api.competitions import NOT_OVER
from plyhouse.protocol.api.people import ErasedPlayer, PlayerAccount
from plyhouse.storage import audit as audit_log
from plyhouse.storage import people
from plyhouse.storage.causes import WRITTEN, decoded
from plyhouse.storage.competition_students import withdraw
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import (
    announcements,
    audit,
    bots,
    competition_entries,
    competition_games,
    competition_members,
    competition_staff,
    competition_students,
    competitions,
    events,
    guests,
    match_seats,
    matches,
    outputs,
    passwords,
    players,
    regrades,
    sessions,
    submissions,
    suspensions,
    tokens,
    tournament_entries,
    tournaments,
    versions,
)
from plyhouse.storage.names import ERASED_PREFIX
from plyhouse.storage.personal_data import Names, member_texts
from plyhouse.storage.rows import UNFINISHED, By
from plyhouse.storage.sessions import special_players
from plyhouse.storage.stored_packages import forget

ERASED: Final = "(erased)"
"""Stands where a text was that somebody wrote."""
AT_ONCE: Final = 200
"""Matches that are rewritten in one transaction: others wait for the database meanwhile."""
SAID: Final = ("gone", "suspended")
"""Texts of people in a competition: why a bot was withdrawn, or the final stopped."""
STAFF_SCOPES: Final = frozenset(("organise", "admin", "runner"))

COLUMNS: Final[dict[str, str]] = {
    "announcements": "rewritten: who, text. kept: kind",
    "audit": "rewritten: why. emptied: old_name. kept: who, what, subject, subject_id",
    "bots": "replaced: name, name_key. kept: kind",
    "competition_codes": "kept: code",
    "competitions": "rewritten: note. kept: name, name_key, file, parsed, format, status, "
    "rehearses",
    "competition_entries": "kept: status",
    "competition_games": "kept: game",
    "competition_members": "replaced: name, name_key. emptied: email, token, institution_id, login",
    "competition_staff": "kept: role",
    "competition_students": "kept: status",
    "cluster_batches": "deleted: data",
    "tournaments": "rewritten: data. kept: name, game, time_control, format, status",
    "tournament_entries": "kept: status",
    "events": "rewritten: data. emptied: text of refused actions. kept: kind",
    "leaders": "kept: role",
    "leases": "kept: holder, address, version",
    "match_seats": "kept: result",
    "matches": "rewritten: void_reason. kept: game, time_control, illegal_rule, stream, nonces, "
    "status, termination, reason, data",
    "meta": "kept: name, value",
    "outputs": "deleted: part, data",
    "package_parts": "deleted: digest, part",
    "packages": "deleted: digest",
    "pair_results": "kept: game",
    "pairings": "kept: game, time_control, seed, commitment",
    "passwords": "deleted: hash",
    "players": "replaced: name, name_key, display",
    "rating_snapshots": "kept: game",
    "regrades": "deleted: text, answer, answered_by",
    "sessions": "deleted: digest",
    "standings": "kept: game",
    "submission_entries": "deleted: outcome",
    "submissions": "deleted: digest, status, report, games, needs",
    "suspensions": "rewritten: reason",
    "tokens": "deleted: prefix, digest, scopes, label",
    "versions": "replaced: label. emptied: digest",
}
"""Table by table, what becomes of the columns that can hold a text.

``replaced``: the pseudonym, or a number, stands there.  ``emptied``: nothing does.  ``rewritten``:
the names in it are replaced.  ``deleted``: the whole row is.  ``kept``: holds nothing that the
person wrote and nothing that names it, but for what the staff wrote in a competition file.
"""


def competitions_of(connection: Connection, account: str) -> list[str]:
    """Return the ids of the competitions that an account is a student of."""
    here = competition_students.c
    query = (
        select(here.competition_id)
        .join(competitions, competitions.c.id == here.competition_id)
        .where(
            here.player_id == people.player(connection, account).id,
            competitions.c.status != "deleted",
        )
    )
    return list(connection.execute(query).scalars())


def makers(connection: Connection, account: str) -> list[str]:
    """Return the ids of the competitions, also deleted ones, that made an account or took it over.

    Empty for an account that existed before.
    """
    here = competition_members.c
    mine = here.player_id == people.player(connection, account).id
    query = select(here.competition_id).where(mine, here.token != "").distinct()
    return list(connection.execute(query).scalars())


# ---------------------------------------------------------------------------- the first step


def begin(connection: Connection, account: str, by: By, now_ms: int) -> PlayerAccount:
    """Disable an account, so that nothing more of it begins; the first step.

    Deletes its tokens, sessions and password.  Raises `Unknown`, or `CompetitionRefusal` with the
    code ``erasure/playing`` while it plays, ``erasure/staff`` if it is no student's, or
    ``erasure/done``.
    """
    row = people.player(connection, account)
    _refuse_staff(connection, row)
    _refuse_playing(connection, row.id, row.name)
    own = players.c.id == row.id
    connection.execute(players.update().where(own).values(disabled_ms=now_ms))
    theirs = select(tokens.c.id).where(tokens.c.player_id == row.id)
    mine = (sessions.c.player_id == row.id) | sessions.c.token_id.in_(theirs)
    connection.execute(delete(sessions).where(mine))
    for table in (tokens, passwords):
        connection.execute(delete(table).where(table.c.player_id == row.id))
    audit_log.add(
        connection, now_ms, By(by.who), "player.disable", audit_log.ABOUT, row.id, False,
        player_id=row.id,
    )  # fmt: skip
    return people.player_by_id(connection, row.id)


def _refuse_staff(connection: Connection, row: PlayerAccount) -> None:
    """Raise for accounts on which others depend by name, and for what is erased already."""
    if row.name.startswith(ERASED_PREFIX) and row.disabled_ms is not None:
        raise CompetitionRefusal("erasure/done", f"{row.name} is erased already")
    held = select(tokens.c.scopes).where(
        tokens.c.player_id == row.id, tokens.c.revoked_ms.is_(None)
    )
    scopes = {each for text in connection.execute(held).scalars() for each in text.split(",")}
    baseline = exists().where(
        competition_entries.c.competition_id == competitions.c.id,
        competition_entries.c.player_id == row.id,
        competition_entries.c.baseline.is_(True),
    )
    named = select(competitions.c.name).where(competitions.c.status != "deleted", baseline)
    needed = connection.execute(named.limit(1)).scalar()
    why = ""
    role = select(competition_staff.c.role).where(competition_staff.c.player_id == row.id)
    if connection.execute(role.limit(1)).first() is not None:
        why = "is on the staff of a competition: remove it there first"
    elif scopes & STAFF_SCOPES:
        why = "has a token of the staff: revoke it first (plyhouse token revoke)"
    elif needed is not None:
        why = f"owns a baseline of {needed!r}: delete that competition first"
    elif row.id in special_players(connection):
        why = "is an account of the server itself"
    elif connection.execute(select(guests.c.player_id).where(guests.c.player_id == row.id)).first():
        why = "is a guest, who is deleted without anybody's doing"
    if why:
        raise CompetitionRefusal("erasure/staff", f"{row.name} cannot be erased: it {why}")


def _refuse_playing(connection: Connection, player_id: int, name: str) -> None:
    query = (
        select(func.count(func.distinct(matches.c.id)))
        .select_from(_seats())
        .where(bots.c.player_id == player_id, matches.c.finished_ms.is_(None))
    )
    running = int(connection.execute(query).scalar_one())
    if running:
        raise CompetitionRefusal(
            "erasure/playing",
            f"{name} plays {'a match' if running == 1 else f'{running} matches'} now: wait until "
            "they are over, or let the account forfeit them (plyhouse admin player disable "
            f"{name} --forfeit-matches), then erase it",
        )


def _seats() -> Any:
    return match_seats.join(bots, bots.c.id == match_seats.c.bot_id).join(
        matches, matches.c.id == match_seats.c.match_id
    )


# --------------------------------------------------------------------------- the second step


def played(connection: Connection, player_id: int) -> list[str]:
    """Return the ids of the matches of an account."""
    query = select(match_seats.c.match_id).join(bots, bots.c.id == match_seats.c.bot_id)
    query = query.where(bots.c.player_id == player_id).distinct()
    return sorted(connection.execute(query).scalars())


def rewrite_matches(
    connection: Connection, player_id: int, ids: Sequence[str], names: Names
) -> None:
    """Rewrite what was said in matches: refused actions, thoughts, and how they ended."""
    seat, here = match_seats.c, events.c
    held = (
        select(seat.match_id, seat.seat)
        .join(bots, bots.c.id == seat.bot_id)
        .where(bots.c.player_id == player_id, seat.match_id.in_(ids))
    )
    own: dict[int, list[str]] = {}
    for match, number in connection.execute(held):
        own.setdefault(number, []).append(match)
    for number, where in own.items():
        mine = here.match_id.in_(where), here.seat == number
        said = events.update().where(*mine, here.kind == "action", here.data.is_not(None))
        connection.execute(said.values(data=None))
        connection.execute(events.update().where(*mine, here.kind == "illegal").values(text=ERASED))
    seats = {(match, number) for number, where in own.items() for match in where}
    told = select(here.match_id, here.idx, here.kind, here.seat, here.data).where(
        here.match_id.in_(ids), here.data.is_not(None)
    )
    for match, index, kind, number, data in connection.execute(told).all():
        if kind == "end":
            new = _rewritten_end(data, names, own=(match, number) in seats)
        else:
            new = names.rewrite_json(data) if names.names(data) else data
        if new != data:
            key = here.match_id == match, here.idx == index
            connection.execute(events.update().where(*key).values(data=new))


def _rewritten_end(data: str, names: Names, *, own: bool) -> str:
    """Rewrite what the author of a bot may read of the end of its match."""
    old = json.loads(data)
    new = dict(old)
    if own:
        new.pop("detail", None)
    elif "detail" in new:
        new["detail"] = names.rewrite(new["detail"])
    return data if new == old else json.dumps(new, ensure_ascii=False, separators=(",", ":"))


def _rewrite_causes(connection: Connection, names: Names) -> None:
    """Rewrite why organisers made matches void, in their words."""
    here = matches.c
    query = select(here.id, here.void_reason).where(here.void_reason.is_not(None))
    for match, text in connection.execute(query).all():
        cause = decoded(text)
        if cause.code == WRITTEN:
            words = tuple([names.rewrite(each) for each in cause.words])
            if words != cause.words:
                new = replace(cause, words=words).encoded()
                connection.execute(matches.update().where(here.id == match).values(void_reason=new))


def _rewrite(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    names: Names,
) -> None:
    """Rewrite the texts of some columns where they name the person; see `Names.rewrite`."""
    keys = list(table.primary_key.columns)
    for name in columns:
        column = table.c[name]
        query = select(*keys, column).where(column.is_not(None), column != "")
        for *key, text in connection.execute(query).all():
            if not names.names(text):
                continue
            new = names.rewrite(text)
            row = [one == value for one, value in zip(keys, key, strict=True)]
            limit = getattr(column.type, "length", None)
            connection.execute(table.update().where(*row).values({name: new[:limit]}))


def finish(
    connection: Connection, player_id: int, names: Names, by: By, now_ms: int
) -> ErasedPlayer:
    """Erase everything of a disabled account but its matches; the last step, which may be repeated.

    Raises `CompetitionRefusal` (``erasure/playing``) if it has begun a match since `begin`.
    """
    row = people.player_by_id(connection, player_id)
    _refuse_playing(connection, player_id, row.name)
    by = By(by.who, names.rewrite(by.why))
    left = _leave(connection, row, by, now_ms)
    theirs = select(bots.c.id).where(bots.c.player_id == player_id)
    handed_in = select(submissions.c.id).where(submissions.c.bot_id.in_(theirs))
    forget(connection, list(connection.execute(handed_in).scalars()))
    connection.execute(delete(outputs).where(outputs.c.bot_id.in_(theirs)))
    connection.execute(delete(regrades).where(regrades.c.player_id == player_id))
    _replace_names(connection, row, names, now_ms)
    connection.execute(audit.update().where(audit.c.player_id == player_id).values(old_name=None))
    _rewrite(connection, audit, ("why",), names)
    _rewrite(connection, competitions, ("note",), names)
    _rewrite_settings(connection, names)
    _rewrite(connection, announcements, ("text",), names)
    _rewrite(connection, regrades, ("text", "answer"), names)
    for written, by_whom in ((announcements, "who"), (regrades, "answered_by")):
        _rewrite_author(connection, written, by_whom, names)
    _rewrite(connection, suspensions, ("reason",), names)
    _rewrite_causes(connection, names)
    matches_played = len(played(connection, player_id))
    audit_log.add(
        connection, now_ms, by, "player.erase", audit_log.ABOUT, player_id, False,
        player_id=player_id,
    )  # fmt: skip
    return ErasedPlayer(names.pseudonym, matches_played, left)


def _rewrite_author(connection: Connection, table: Table, column: str, names: Names) -> None:
    """Rewrite a column that holds the name of an account, or what the server calls itself."""
    here = table.c[column]
    for who in connection.execute(select(here).where(here != "").distinct()).scalars().all():
        if names.is_account(who):
            known = {column: names.pseudonym}
            connection.execute(table.update().where(here == who).values(known))


def _rewrite_settings(connection: Connection, names: Names) -> None:
    """Rewrite why entries left finals; the settings beside them are words of the server."""
    here = tournaments.c
    query = select(here.id, here.data).where(here.data.is_not(None))
    for identity, data in connection.execute(query).all():
        if not names.names(data):
            continue
        document = json.loads(data)
        for key in SAID:
            if key in document:
                document[key] = json.loads(names.rewrite_json(json.dumps(document[key])))
        new = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        connection.execute(tournaments.update().where(here.id == identity).values(data=new))


def _leave(connection: Connection, row: PlayerAccount, by: By, now_ms: int) -> list[str]:
    """Take the account out of what is not over."""
    here = competition_students.c
    query = (
        select(competitions.c.id, competitions.c.name)
        .join(competition_students, here.competition_id == competitions.c.id)
        .where(
            here.player_id == row.id,
            here.status == "active",
            competitions.c.status.in_(NOT_OVER),
        )
        .order_by(competitions.c.name_key)
    )
    found = connection.execute(query).all()
    for competition_id, _ in found:
        withdraw(connection, competition_id, row.name, by, now_ms)
    theirs = select(bots.c.id).where(bots.c.player_id == row.id)
    alone = (  # competitions without students
        select(tournaments.c.id, tournaments.c.name)
        .join(tournament_entries, tournament_entries.c.tournament_id == tournaments.c.id)
        .where(
            tournament_entries.c.bot_id.in_(theirs),
            tournament_entries.c.status == "active",
            tournaments.c.status.in_(UNFINISHED),
            exists().where(competition_games.c.competition_id == tournaments.c.id),
        )
        .distinct()
    )
    others = connection.execute(alone).all()
    for identity, name in others:
        mine = (
            tournament_entries.c.bot_id.in_(theirs),
            tournament_entries.c.tournament_id == identity,
        )
        connection.execute(tournament_entries.update().where(*mine).values(status="withdrawn"))
        subject = f"{audit_log.ABOUT} from {name}"
        audit_log.add(
            connection, now_ms, by, "competition.withdraw", subject, identity, player_id=row.id
        )
    return [name for _, name in (*found, *others)]


def _replace_names(connection: Connection, row: PlayerAccount, names: Names, now_ms: int) -> None:
    """Let the account, its bots, their versions and its members go by other names."""
    new = names.pseudonym
    values = {"name": new, "name_key": new, "display": None, "disabled_ms": now_ms}
    connection.execute(players.update().where(players.c.id == row.id).values(values))
    owned = select(bots.c.id, bots.c.name).where(bots.c.player_id == row.id).order_by(bots.c.id)
    renamed = [
        (bot, names.bots.get(old.lower(), f"bot-{bot}")) for bot, old in connection.execute(owned)
    ]
    for bot, _ in renamed:  # first out of the way: one may have had the new name of another
        key = bots.c.id == bot
        connection.execute(bots.update().where(key).values(name=f"{bot}", name_key=f"/{bot}"))
    for bot, name in renamed:
        known = {"name": name, "name_key": name, "disabled_ms": now_ms, "open_ms": None}
        connection.execute(bots.update().where(bots.c.id == bot).values(known))
        built = select(versions.c.id).where(versions.c.bot_id == bot).order_by(versions.c.id)
        ids = list(connection.execute(built).scalars())
        for stage in ("/", ""):
            for number, version in enumerate(ids, start=1):
                label = {"label": f"{stage}{number}", "digest": ""}
                connection.execute(versions.update().where(versions.c.id == version).values(label))
    here = competition_members.c
    counted: dict[str, int] = {}
    members = select(here.competition_id, here.name_key).where(here.player_id == row.id)
    for competition_id, key in connection.execute(members).all():
        counted[competition_id] = number = counted.get(competition_id, 0) + 1
        name = new if number == 1 else f"{new}-{number}"
        empty = {
            each: None if competition_members.c[each].nullable else "" for each in member_texts()
        }
        connection.execute(
            competition_members.update()
            .where(
                here.competition_id == competition_id,
                here.player_id == row.id,
                here.name_key == key,
            )
            .values({"name": name, "name_key": name, **empty})
        )
