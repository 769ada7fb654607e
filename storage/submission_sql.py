"""Queries for submissions.

A package is stored once for all submissions of it, and as long as one that was not refused needs
it.  The server decides at its arrival where a submission will play, because its author does not
control the time of the check.  It enters the submission there after the check.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, Select, exists, func, select

from plyhouse.protocol.api.competitions import NOT_OVER
from plyhouse.storage import competition_entries, people, submission_checks
from plyhouse.storage.errors import SubmissionRefusal
from plyhouse.storage.locks import lock_row
from plyhouse.storage.models import (
    bots,
    competition_games,
    competitions,
    packages,
    players,
    select_rows,
    submission_entries,
    submissions,
    versions,
)
from plyhouse.storage.models import competition_entries as entry_table
from plyhouse.storage.statements import IDS_AT_ONCE, parts
from plyhouse.storage.stored_packages import complete, forget, sweep
from plyhouse.storage.submission_rows import MAX_REPORT, AskedEntry, SubmissionRow, no_submission

# ----------------------------------------------------------------------------- submitting


def _insert_new(
    connection: Connection,
    bot_id: int,
    label: str,
    digest: str,
    most_versions: int | None,
    now_ms: int,
    needs: str,
) -> int:
    """Insert a submission of a package that the bot has not had; return its id."""
    fresh = versions.c.bot_id == bot_id, versions.c.label == label, versions.c.digest == digest
    known = connection.execute(select(exists().where(*fresh))).scalar_one()
    version = people.ensure_version(connection, bot_id, label, now_ms, most_versions, digest)
    values = {
        "bot_id": bot_id,
        "version_id": version,
        "digest": digest,
        "submitted_ms": now_ms,
        "status": "waiting",
        "report": "",
        "games": "[]",
        "connected": known,
        "needs": needs,
    }
    return int(
        connection.execute(
            submissions.insert().values(values).returning(submissions.c.id)
        ).scalar_one()
    )


def insert(
    connection: Connection,
    bot_id: int,
    label: str,
    digest: str,
    size: int,
    competition: str,
    most_bytes: int | None,
    most_versions: int | None,
    now_ms: int,
    needs: str = "",
    games: Collection[str] | None = None,
    again: bool = False,
) -> SubmissionRow | None:
    """Insert a submission, or find that the bot has it; see `Submissions.add`.

    None, and nothing done, if the parts of the package are not there.
    """
    owner = people.bot(connection, bot_id).player_id
    lock_row(connection, players.c.id, owner)
    lock_row(connection, bots.c.id, bot_id)
    passed = submission_checks.games_checked(connection, owner, digest)
    covered = games is not None and not again and passed.issuperset(games)
    takers = (
        {competition_entries.taker(connection, competition, owner, bot_id, now_ms): ""}
        if competition
        else competition_entries.takers(connection, owner, bot_id, now_ms)
    )
    here = submissions.c
    query = select(here.id, here.status).where(here.bot_id == bot_id, here.digest == digest)
    found = connection.execute(query).first()
    needed = found is None or found.status == "refused"
    if needed and not _keep(connection, owner, digest, size, most_bytes, now_ms):
        return None
    if found is None:
        identity = _insert_new(connection, bot_id, label, digest, most_versions, now_ms, needs)
    else:
        identity = found.id
        if found.status == "refused":  # the house may have changed since
            fresh_start = {"status": "waiting", "report": "", "games": "[]", "checked_ms": None}
            connection.execute(
                submissions.update()
                .where(here.id == identity)
                .values(**fresh_start, submitted_ms=now_ms)
            )
    _ask(connection, identity, takers, bool(competition), now_ms)
    if covered:
        submission_checks.rely_on(connection, identity, passed, now_ms)
    row = find(connection, identity)
    if row.status == "ready" and (games is None or covered):
        _enter(connection, row)
        row = find(connection, identity)
    return row


def _keep(
    connection: Connection,
    player_id: int,
    digest: str,
    size: int,
    most_bytes: int | None,
    now_ms: int,
) -> bool:
    """Keep a package; False if its parts are not there."""
    mine = (
        select(packages.c.digest, packages.c.bytes)
        .join(submissions, submissions.c.digest == packages.c.digest)
        .join(bots, bots.c.id == submissions.c.bot_id)
        .where(bots.c.player_id == player_id)
        .distinct()
    )
    kept = {row.digest: int(row.bytes) for row in connection.execute(mine)}
    if most_bytes is not None and digest not in kept:
        total = sum(kept.values()) + size
        if total > most_bytes:
            raise SubmissionRefusal(
                "submission/quota",
                f"your submissions would take up {total:,} bytes here, and a player has "
                f"{most_bytes:,}: remove some with plyhouse submission remove ID",
            )
    return complete(connection, digest, size, now_ms)


def _ask(
    connection: Connection, identity: int, takers: Mapping[str, str], chosen: bool, now_ms: int
) -> None:
    """Note where it is to play, with outcomes; who named a competition once has named it."""
    here = submission_entries.c
    for competition_id, outcome in takers.items():
        key = here.submission_id == identity, here.competition_id == competition_id
        values: dict[str, object] = {"asked_ms": now_ms, "outcome": outcome}
        if chosen:
            values["chosen"] = True
        if not connection.execute(submission_entries.update().where(*key).values(values)).rowcount:
            connection.execute(
                submission_entries.insert().values(
                    submission_id=identity,
                    competition_id=competition_id,
                    **{"chosen": chosen, **values},
                )
            )


# ---------------------------------------------------------------------------- being checked


def waiting_for(connection: Connection, competition_id: str) -> list[SubmissionRow]:
    """Return what is to play in a competition once it is checked, the oldest first."""
    here, asked = submissions.c, submission_entries.c
    pending = exists().where(
        asked.submission_id == here.id, asked.competition_id == competition_id, asked.outcome == ""
    )
    query = _rows().where(here.status != "refused", pending).order_by(here.submitted_ms, here.id)
    return _with_entries(connection, connection.execute(query).all())


def check(
    connection: Connection, identity: int, ok: bool, report: str, games: Sequence[str], now_ms: int
) -> SubmissionRow:
    """Note what the check said; if all is well, enter the submission where it is to play.

    Nothing changes if it was checked already: two runners may have had it.  Raises `Unknown` if
    the submission was removed.
    """
    here = submissions.c
    lock_row(connection, bots.c.id, find(connection, identity).bot_id)
    before = find(connection, identity)
    if before.status == "ready" and not all(each.outcome for each in before.competitions):
        return _checked_again(connection, before, ok, report, games, now_ms)
    values = {
        "status": "ready" if ok else "refused",
        "report": _bounded(report),
        "games": json.dumps(list(games)),
        "checked_ms": now_ms,
    }
    changed = (
        submissions.update().where(here.id == identity, here.status == "waiting").values(values)
    )
    fresh = connection.execute(changed).rowcount
    row = find(connection, identity)
    if not fresh:
        return row  # another runner was quicker
    if ok:
        _enter(connection, row)
    else:
        asked = submission_entries.c.submission_id == identity
        connection.execute(submission_entries.update().where(asked).values(outcome="refused"))
        sweep(connection, [row.digest])
    return find(connection, identity)


def _checked_again(
    connection: Connection,
    row: SubmissionRow,
    ok: bool,
    report: str,
    games: Sequence[str],
    now_ms: int,
) -> SubmissionRow:
    """Note a check of more games of a submission that is ready, and stays so elsewhere."""
    values: dict[str, object] = {"report": _bounded(report), "checked_ms": now_ms}
    if ok:
        values["games"] = json.dumps(sorted({*row.games, *games}))
    connection.execute(submissions.update().where(submissions.c.id == row.id).values(values))
    if ok:
        _enter(connection, find(connection, row.id))
    else:
        asked = submission_entries.c
        pending = asked.submission_id == row.id, asked.outcome == ""
        connection.execute(submission_entries.update().where(*pending).values(outcome="refused"))
    return find(connection, row.id)


def _bounded(report: str) -> str:
    clean = report.replace("\0", "\N{REPLACEMENT CHARACTER}")
    clean = clean.encode("utf-8", "replace").decode("utf-8")  # no halves of surrogates
    if len(clean) <= MAX_REPORT:
        return clean
    return clean[: MAX_REPORT - 40] + "\n(the rest is left out)\n"


def _enter(connection: Connection, row: SubmissionRow) -> None:
    """Let it play wherever that was asked for and not done yet."""
    here = submission_entries.c
    # Locked in this order.
    for asked in sorted(row.competitions, key=lambda each: each.competition_id):
        if asked.outcome:
            continue
        key = here.submission_id == row.id, here.competition_id == asked.competition_id
        outcome = competition_entries.enter_checked(
            connection,
            asked.competition_id,
            row.player_id,
            row.bot_id,
            row.version_id,
            asked.chosen,
            asked.asked_ms,
            row.checked_ms or asked.asked_ms,
            row.games,
        )
        connection.execute(submission_entries.update().where(*key).values(outcome=outcome))


# --------------------------------------------------------------------------------- reading


def find(connection: Connection, identity: int) -> SubmissionRow:
    """Return a submission; raises `Unknown`."""
    row = connection.execute(_rows().where(submissions.c.id == identity)).first()
    if row is None:
        raise no_submission(identity)
    return _with_entries(connection, [row])[0]


def of(
    connection: Connection,
    *,
    bot_id: int | None = None,
    player_id: int | None = None,
    competition_id: str = "",
    limit: int | None = None,
    baselines: bool = False,
) -> list[SubmissionRow]:
    """Return submissions of a bot, a player or a competition, the newest first.

    ``baselines``: only of bots that are baselines of this competition.
    """
    query = _rows().order_by(submissions.c.submitted_ms.desc(), submissions.c.id.desc())
    if bot_id is not None:
        query = query.where(submissions.c.bot_id == bot_id)
    if player_id is not None:
        query = query.where(bots.c.player_id == player_id)
    if competition_id:
        asked = submission_entries.c
        here = asked.submission_id == submissions.c.id, asked.competition_id == competition_id
        query = query.where(exists().where(*here))
    if baselines:
        entry = entry_table.c
        mine = entry.competition_id == competition_id, entry.bot_id == submissions.c.bot_id
        query = query.where(exists().where(*mine, entry.baseline.is_(True)))
    if limit is not None:
        query = query.limit(limit)
    return _with_entries(connection, connection.execute(query).all())


def ready_version(
    connection: Connection, bot_id: int, version_id: int | None
) -> SubmissionRow | None:
    """Return the submission whose version that is if it is ready, or the newest ready one."""
    here = submissions.c
    query = _rows().where(here.bot_id == bot_id, here.status == "ready")
    if version_id is not None:
        query = query.where(here.version_id == version_id)
    row = connection.execute(
        query.order_by(here.submitted_ms.desc(), here.id.desc()).limit(1)
    ).first()
    return None if row is None else _with_entries(connection, [row])[0]


def ready_versions(
    connection: Connection, wanted: Collection[tuple[int, int | None]]
) -> dict[tuple[int, int | None], SubmissionRow]:
    """Return `ready_version` of several bots, without those that have none."""
    here = submissions.c
    order = here.submitted_ms.desc(), here.id.desc()
    found: dict[tuple[int, int | None], SubmissionRow] = {}
    for part in parts(sorted({bot for bot, _ in wanted})):
        some = here.bot_id.in_(part)
        query = _rows().where(some, here.status == "ready").order_by(*order)
        for row in _with_entries(connection, connection.execute(query).all()):
            found.setdefault((row.bot_id, None), row)
            found.setdefault((row.bot_id, row.version_id), row)
    return {each: found[each] for each in wanted if each in found}


def open_to_people(
    connection: Connection, limit: int = 200, bot_ids: Collection[int] | None = None
) -> list[SubmissionRow]:
    """Return what people may play against: of each open bot what came last and is ready.

    ``bot_ids``: of these bots only.
    """
    here, later = submissions.c, submissions.alias("later")
    newer = exists().where(
        later.c.bot_id == here.bot_id,
        later.c.status == "ready",
        (later.c.submitted_ms > here.submitted_ms)
        | ((later.c.submitted_ms == here.submitted_ms) & (later.c.id > here.id)),
    )
    query = (
        _rows()
        .where(here.status == "ready", bots.c.open_ms.is_not(None), bots.c.disabled_ms.is_(None))
        .where(players.c.disabled_ms.is_(None), ~newer)
        .order_by(players.c.name_key, bots.c.name_key)
        .limit(limit)
    )
    if bot_ids is not None:
        query = query.where(here.bot_id.in_(sorted(bot_ids)[:IDS_AT_ONCE]))
    return _with_entries(connection, connection.execute(query).all())


def set_open(connection: Connection, bot_id: int, open_ms: int | None) -> None:
    """Open a bot's submissions for play from a time on; None closes them."""
    connection.execute(bots.update().where(bots.c.id == bot_id).values(open_ms=open_ms))


def entered(connection: Connection, competition_id: str) -> set[int]:
    """Return the entered bots whose version is a ready submission."""
    here, entry = submissions.c, entry_table.c
    same = (here.bot_id == entry.bot_id) & (here.version_id == entry.version_id)
    query = (
        select(entry.bot_id)
        .join(submissions, same)
        .where(entry.competition_id == competition_id, here.status == "ready")
    )
    return set(connection.execute(query).scalars())


def _rows() -> Select[Any]:
    here = submissions.c
    return (
        select_rows(
            SubmissionRow,
            submissions,
            bots,
            size=func.coalesce(packages.c.bytes, 0),
            open=bots.c.open_ms.is_not(None),
        )
        .join(bots, bots.c.id == here.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .join(versions, versions.c.id == here.version_id)
        .outerjoin(packages, packages.c.digest == here.digest)
    )


def _with_entries(connection: Connection, rows: Sequence[Row[Any]]) -> list[SubmissionRow]:
    here, entry = submission_entries.c, entry_table.c
    asked: dict[int, list[AskedEntry]] = {}
    versions_of = {row.id: row.version_id for row in rows}
    games: dict[str, list[str]] = {}
    for some in parts(versions_of):
        theirs = competition_games.c.competition_id.in_(
            select(here.competition_id).where(here.submission_id.in_(some))
        )
        played = select(competition_games.c.competition_id, competition_games.c.game).where(theirs)
        for competition_id, game in connection.execute(played.order_by(competition_games.c.number)):
            if game not in games.setdefault(competition_id, []):
                games[competition_id].append(game)
        query = (
            select(
                here.submission_id,
                entry.version_id,
                here.competition_id,
                competitions.c.name,
                here.chosen,
                here.asked_ms,
                here.outcome,
            )
            .join(competitions, competitions.c.id == here.competition_id)
            .join(submissions, submissions.c.id == here.submission_id)
            .outerjoin(
                entry_table,
                (entry.competition_id == here.competition_id)
                & (entry.bot_id == submissions.c.bot_id),
            )
            .where(here.submission_id.in_(some))
            .order_by(competitions.c.name_key)
        )
        for identity, playing, *rest in connection.execute(query):
            one = replace(AskedEntry(*rest), games=tuple(games.get(rest[0], ())))
            if one.outcome == "entered" and playing != versions_of[identity]:
                one = replace(one, outcome="replaced")
            asked.setdefault(identity, []).append(one)
    return [
        SubmissionRow(
            **{**row._mapping, "games": tuple(json.loads(row.games))},
            competitions=tuple(asked.get(row.id, ())),
        )
        for row in rows
    ]


# -------------------------------------------------------------------------------- forgetting


def remove(connection: Connection, identity: int) -> None:
    """Remove a submission that plays nowhere; raises `SubmissionRefusal` where it does."""
    row = find(connection, identity)
    lock_row(connection, bots.c.id, row.bot_id)
    entry, course = entry_table.c, competitions.c
    query = (
        select(course.name)
        .join(entry_table, entry.competition_id == course.id)
        .where(
            entry.version_id == row.version_id,
            entry.status == "active",
            course.status.in_(NOT_OVER),
        )
        .order_by(course.name_key)
    )
    plays = list(connection.execute(query).scalars())
    if plays:
        raise SubmissionRefusal(
            "submission/entered",
            f"submission {identity} plays in {', '.join(plays)}, and stays until that is over or "
            "another version of its bot plays there",
        )
    forget(connection, [identity])
