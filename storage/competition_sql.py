"""Competitions: made, moved on, and what came of them; the SQL.

Every change is noted in the audit log within its transaction, which a running server follows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, exists, func, select

from plyhouse.protocol.api.competitions import (
    BEFORE_FINAL,
    BEFORE_FREEZE,
    FINAL_BEGUN,
    IN_FINAL,
    TAKES_LATE,
    CompetitionStatus,
)
from plyhouse.storage import audit, entry_rule, tournaments
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionGame,
    CompetitionRow,
)
from plyhouse.storage.entry_rule import Candidate
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.locks import locking
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_games,
    competition_staff,
    competitions,
    players,
    select_rows,
    submission_entries,
    submissions,
    versions,
)
from plyhouse.storage.models import tournaments as tournament_table
from plyhouse.storage.names import key_of, nearest
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.statements import insert_into
from plyhouse.storage.stored_packages import forget_competition
from plyhouse.storage.suspensions import withdraw_suspended

_COLUMNS = tuple(competitions.c)

_MOVES: Final[dict[str, tuple[tuple[CompetitionStatus, ...], CompetitionStatus]]] = {
    "open": (("draft",), "open"),
    "freeze": (BEFORE_FREEZE, "frozen"),
    "run": (("frozen",), "running"),
    "pause": (("running",), "paused"),
    "resume": (("paused",), "running"),
    "finish": (IN_FINAL, "finished"),
    "delete": ((*BEFORE_FINAL, *FINAL_BEGUN), "deleted"),
}
"""Steps with the statuses that allow them, and the resulting status."""

_HINTS: Final[dict[tuple[str, CompetitionStatus], str]] = {
    ("freeze", "frozen"): "it is frozen already",
    ("run", "draft"): "freeze it first: plyhouse competition freeze",
    ("run", "open"): "freeze it first: plyhouse competition freeze",
    ("run", "paused"): "it has begun: plyhouse competition resume lets it go on",
    ("run", "running"): "it is running already",
    ("run", "finished"): "its final is over; open a new one for another",
    ("freeze", "running"): "its final has begun, and nothing changes any more",
}


def create(
    connection: Connection,
    row: CompetitionRow,
    baselines: Sequence[int],
    by: By,
    provided: Collection[int] = (),
    bots: Sequence[int] = (),
) -> None:
    """Store a competition with its games and baselines, in a bounded number of statements.

    ``baselines`` are bots; each plays with its last version until the freeze, or with what waits
    for its check.  Those that are ``provided`` have no version yet: the server hands one in.
    ``bots`` enter a competition without students, and may play with any version.
    The account in ``by`` becomes the owner.  Raises `CompetitionRefusal` if there is one of
    that name.
    """
    key = key_of(row.name)
    values = {name: value for name, value in asdict(row).items() if name != "games"}
    insert = insert_into(competitions, connection.dialect).values(**values, name_key=key)
    if not connection.execute(insert.on_conflict_do_nothing(index_elements=["name_key"])).rowcount:
        taken = select(competitions.c.status).where(competitions.c.name_key == key)
        raise CompetitionRefusal(
            "competition/name_taken",
            f"there is a competition {row.name!r} already, which is "
            f"{connection.execute(taken).scalar_one()}; give this one another name, or delete "
            "that one",
        )
    connection.execute(
        competition_games.insert(),
        [
            {"competition_id": row.id, "number": each.number, "game": each.game}
            for each in row.games
        ],
    )
    if by.player_id is not None:
        owner = {"player_id": by.player_id, "role": "owner", "since_ms": row.created_ms}
        connection.execute(competition_staff.insert().values(competition_id=row.id, **owner))
    add_baselines(connection, row, baselines, row.created_ms, provided)
    entry_rule.add(connection, row, [Candidate(each) for each in bots], row.created_ms)
    audit.add(connection, row.created_ms, by, "competition.open", row.name, row.id)


def add_baselines(
    connection: Connection,
    row: CompetitionRow,
    baselines: Sequence[int],
    now_ms: int,
    provided: Collection[int] = (),
) -> None:
    """Enter bots as baselines, each with its last version or with what waits for its check.

    Those that are ``provided`` have no version yet: the server hands one in.
    """
    if not baselines:
        return
    last = _last_versions(connection, set(baselines).difference(provided))
    entered = [Candidate(each, last.get(each)) for each in baselines]
    entry_rule.add(connection, row, entered, now_ms, baseline=True)
    waiting = select(submissions.c.id).where(
        submissions.c.bot_id.in_(set(baselines).difference(provided)),
        submissions.c.status == "waiting",
    )
    asked = {"competition_id": row.id, "asked_ms": now_ms, "chosen": False, "outcome": ""}
    wishes = [{"submission_id": each} | asked for each in connection.scalars(waiting)]
    if wishes:
        connection.execute(submission_entries.insert(), wishes)


def _last_versions(connection: Connection, bot_ids: Collection[int]) -> dict[int, int]:
    """Return the newest version of each bot that can play, if it has one."""
    unfit = exists().where(
        submissions.c.version_id == versions.c.id,
        submissions.c.status != "ready",
        submissions.c.connected.is_(False),
    )
    query = (
        select(versions.c.bot_id, versions.c.id)
        .where(versions.c.bot_id.in_(bot_ids), ~unfit)
        .order_by(versions.c.created_ms, versions.c.id)
    )
    return dict(connection.execute(query).all())


def find(connection: Connection, reference: str, *, lock: bool = False) -> CompetitionRow:
    """Return a competition by its name in any case, or its id; raise `Unknown` if there is none.

    ``lock`` makes other transactions that lock it wait until this one ends.  Use it if you check a
    status or a limit and then write.
    """
    here = competitions.c
    query = select(*_COLUMNS).where(
        (here.name_key == key_of(reference)) | (here.id == reference), here.status != "deleted"
    )
    row = connection.execute(locking(query) if lock else query).first()
    if row is None:
        names = connection.execute(select(here.name).where(here.status != "deleted")).scalars()
        listed = sorted(names)
        near = nearest(reference, listed)
        some = listed[:3] if near is None else [near]
        hint = f"there is {', '.join(map(repr, some))}" if some else "there is none yet"
        raise Unknown(f"there is no competition {reference!r}; {hint}")
    return _with_games(connection, [_row(row)])[0]


def holding(connection: Connection, reference: str) -> CompetitionRow:
    """Return a competition by its name or id, or by the id of a tournament of it."""
    try:
        return find(connection, reference)
    except Unknown:
        competition_id = competition_of(connection, reference)
        if competition_id is None:
            raise
        return find(connection, competition_id)


def list_all(connection: Connection, *statuses: CompetitionStatus) -> list[CompetitionRow]:
    """Return all competitions, newest first, of these statuses if any are given."""
    here = competitions.c
    query = select(*_COLUMNS).where(here.status != "deleted")
    if statuses:
        query = query.where(here.status.in_(statuses))
    rows = connection.execute(query.order_by(here.created_ms.desc(), here.id.desc())).all()
    return _with_games(connection, [_row(row) for row in rows]) if rows else []


def names(connection: Connection, limit: int) -> list[str]:
    """Return the names of competitions alone, newest first: their files are long."""
    here = competitions.c
    query = select(here.name).where(here.status != "deleted")
    newest = query.order_by(here.created_ms.desc(), here.id.desc()).limit(limit)
    return list(connection.execute(newest).scalars())


def without_games(connection: Connection, which: ColumnElement[bool]) -> list[CompetitionRow]:
    """Return competitions in the order of their ids, without their games."""
    query = select(*_COLUMNS).where(which).order_by(competitions.c.id)
    return [_row(row) for row in connection.execute(query)]


def _row(row: object) -> CompetitionRow:
    values = dict(row._mapping)  # type: ignore[attr-defined]
    values.pop("name_key")
    return CompetitionRow(**values)


def _with_games(connection: Connection, rows: Sequence[CompetitionRow]) -> list[CompetitionRow]:
    query = (
        select(
            competition_games.c.competition_id,
            competition_games.c.number,
            competition_games.c.game,
            competition_games.c.tournament_id,
            tournament_table.c.status,
        )
        .outerjoin(tournament_table, tournament_table.c.id == competition_games.c.tournament_id)
        .where(competition_games.c.competition_id.in_([row.id for row in rows]))
        .order_by(competition_games.c.number)
    )
    games: dict[str, list[CompetitionGame]] = {}
    for competition_id, number, game, tournament, status in connection.execute(query):
        games.setdefault(competition_id, []).append(
            CompetitionGame(number, game, tournament, status or "")
        )
    return [replace(row, games=tuple(games.get(row.id, ()))) for row in rows]


def move(connection: Connection, reference: str, step: str, by: By, now_ms: int) -> CompetitionRow:
    """Take a competition a step on; raise `CompetitionRefusal` if it cannot.

    Its running tournaments follow in the same transaction.
    """
    row = find(connection, reference, lock=True)
    before, after = _MOVES[step]
    if row.status not in before:
        hint = _HINTS.get((step, row.status), f"it would have to be {' or '.join(before)}")
        raise CompetitionRefusal(
            "competition/not_now",
            f"{row.name!r} is {row.status}, and cannot be "
            f"{'begun' if step == 'run' else after}: {hint}",
        )
    values: dict[str, object] = {"status": after, "note": None}
    if step == "run":
        values["started_ms"] = now_ms
    if step == "finish":
        values["finished_ms"] = now_ms
    if step == "delete":
        values["name_key"] = f"/{row.id}"  # the name is free again
        forget_competition(connection, row.id)
    _update(connection, row.id, values)
    parts = [game.tournament_id for game in row.games if game.tournament_id is not None]
    if parts and step in ("pause", "resume", "finish", "delete"):
        tournaments.follow(connection, parts, step, now_ms)
    audit.add(connection, now_ms, by, f"competition.{step}", row.name, row.id)
    return find(connection, row.id) if step != "delete" else replace(row, status=after)


def _update(connection: Connection, competition_id: str, values: dict[str, object]) -> None:
    here = competitions
    connection.execute(here.update().where(here.c.id == competition_id).values(values))


def note(connection: Connection, competition_id: str, text: str | None) -> None:
    """Keep why an automatic step failed; None: all is well."""
    _update(connection, competition_id, {"note": text})


def begin(
    connection: Connection,
    competition_id: str,
    rows: Sequence[TournamentRow],
    entered: Sequence[tuple[int, int | None]],
    by: By,
    now_ms: int,
) -> CompetitionRow:
    """Begin the final: one tournament for each game, in their order, with all entries.

    ``entered`` are bots with their versions.  One transaction of a bounded number of statements.
    """
    row = move(connection, competition_id, "run", by, now_ms)
    tournaments.create(connection, rows, entered)
    for game, each in zip(row.games, rows, strict=True):
        connection.execute(
            competition_games.update()
            .where(
                competition_games.c.competition_id == competition_id,
                competition_games.c.number == game.number,
            )
            .values(tournament_id=each.id)
        )
    withdraw_suspended(connection, by, now_ms)
    begun = find(connection, competition_id)
    entry_rule.leave_out(connection, begun, by, now_ms)
    return begun


def finish_game(connection: Connection, tournament_id: str, now_ms: int) -> bool:
    """Note that a game of a competition is over; return whether the competition is, too.

    Raises `Unknown` for a deleted game.
    """
    competition_id = competition_of(connection, tournament_id)
    if competition_id is not None:
        find(connection, competition_id, lock=True)  # first, as `move` does
    tournaments.finish(connection, tournament_id, now_ms)
    return competition_id is not None and finish_if_done(connection, competition_id, now_ms)


def finish_if_done(connection: Connection, competition_id: str, now_ms: int) -> bool:
    """Note that a running competition is finished, if all of its games are."""
    row = find(connection, competition_id, lock=True)
    if row.status != "running" or any(game.status != "finished" for game in row.games):
        return False
    _update(connection, competition_id, {"status": "finished", "finished_ms": now_ms})
    return True


def competition_of(connection: Connection, tournament_id: str) -> str | None:
    """Return the id of the competition that has this tournament, if one has."""
    query = select(competition_games.c.competition_id).where(
        competition_games.c.tournament_id == tournament_id
    )
    return connection.execute(query).scalar_one_or_none()


def name_of(connection: Connection, competition_id: str) -> str | None:
    """Return the name of a competition alone; None if there is none, or if it is deleted."""
    here = competitions.c
    query = select(here.name).where(here.id == competition_id, here.status != "deleted")
    return connection.execute(query).scalar_one_or_none()


def entries_of(connection: Connection, competition_id: str) -> list[CompetitionEntry]:
    """Return the entries in the order they were made, baselines first."""
    here = competition_entries.c
    query = (
        select_rows(
            CompetitionEntry,
            competition_entries,
            version=func.coalesce(versions.c.label, ""),
            digest=func.coalesce(versions.c.digest, ""),
        )
        .join(bots, bots.c.id == here.bot_id)
        .join(players, players.c.id == here.player_id)
        .outerjoin(versions, versions.c.id == here.version_id)
        .where(here.competition_id == competition_id)
        .order_by(here.baseline.desc(), here.created_ms, here.bot_id)
    )
    return [CompetitionEntry(*row) for row in connection.execute(query)]


def still_open(row: CompetitionRow, late: bool, now_ms: int) -> None:
    """Raise unless students can be taken in."""
    if row.status in IN_FINAL:
        raise CompetitionRefusal(
            "competition/begun",
            f"{row.name!r} is {row.status}: its final has begun, and nobody can join any more",
        )
    if is_frozen(row, now_ms) and not late:
        status = row.status if row.status == "finished" else "frozen"
        raise CompetitionRefusal(
            "competition/frozen",
            f"{row.name!r} is {status}: a student can join only with a late date, which an "
            "organiser sets with --late-until TIME",
        )


def not_open(row: CompetitionRow) -> CompetitionRefusal:
    """Make the refusal for a competition that opens later: it says when."""
    if row.opens_ms is None:
        when = "its organiser has yet to open it"
    else:
        opens = datetime.fromtimestamp(row.opens_ms / 1000, ZoneInfo(row.zone))
        when = f"it opens on {opens:%Y-%m-%d at %H:%M} {row.zone}"
    return CompetitionRefusal("competition/not_open", f"{row.name!r} is not open yet: {when}")


def is_frozen(row: CompetitionRow, now_ms: int) -> bool:
    """Return whether entries no longer change, except by extensions; also if only the date is past.

    After the final, a student with an extension submits for a rerun.
    """
    return row.status in TAKES_LATE or (row.freezes_ms is not None and now_ms >= row.freezes_ms)
