"""Queries for reruns of finals after new submissions.

A rerun continues the tournaments of the final, one for each game.  Their entries become the present
entries of the class with their present versions, and their *run* is counted up.  Pairings of the
new run have ids of their own; those of earlier runs stay, and the matches among them whose versions
are all entered now still count (`plyhouse.storage.tournaments.of_present_versions`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, select

from plyhouse.storage import audit, competition_staff, entry_rule
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.competition_sql import create, entries_of, find
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_games,
    competition_students,
    competitions,
    players,
    tournament_entries,
    tournaments,
    versions,
)
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.statements import copy_rows
from plyhouse.storage.tournament_settings import Side, decoded, renewed_sides, settings
from plyhouse.storage.tournaments import change_settings, find_tournament


def played_entries(
    connection: Connection, competition_id: str, *, replaced: bool = False
) -> list[CompetitionEntry]:
    """The entries of a competition with the versions that the results of its final are of.

    A new submission after a final is entered for a rerun. Until then the entry's results are those
    of the earlier version; ``next_version`` names the new one.  ``replaced``: also the
    bots that were in the final and whose place another one has since; they are ``withdrawn``.
    Before the final this is what is entered.
    """
    side_of = {bot: side for side in sides(connection, competition_id) for bot in side}
    here = tournament_entries.c
    query = (
        select(
            here.bot_id,
            bots.c.player_id,
            players.c.name,
            bots.c.name,
            here.version_id,
            versions.c.label,
            versions.c.digest,
        )
        .distinct()
        .join(competition_games, competition_games.c.tournament_id == here.tournament_id)
        .join(bots, bots.c.id == here.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .outerjoin(versions, versions.c.id == here.version_id)
        .where(competition_games.c.competition_id == competition_id)
        .order_by(here.bot_id)
    )
    in_final = {row[0]: row for row in connection.execute(query)}
    found = []
    for each in entries_of(connection, competition_id):
        row = in_final.pop(each.bot_id, None)
        if row is not None and row[4] is not None and row[4] != each.version_id:
            each = replace(
                each,
                version_id=row[4],
                version=row[5] or "",
                digest=row[6] or "",
                next_id=each.version_id,
                next_version=each.version,
                next_digest=each.digest,
            )
        found.append(each)
    for bot, owner, player, name, version, label, digest in in_final.values() if replaced else ():
        which = version, label or "", digest or ""
        found.append(CompetitionEntry(bot, owner, player, name, *which, False, False, "withdrawn"))
    return [replace(each, side=side_of.get(each.bot_id, ())) for each in found]


def sides(connection: Connection, competition_id: str) -> tuple[Side, ...]:
    """Return the sides of a competition's final; empty before it begins, and without teams."""
    query = (
        select(tournaments.c.data)
        .join(competition_games, competition_games.c.tournament_id == tournaments.c.id)
        .where(competition_games.c.competition_id == competition_id)
        .order_by(competition_games.c.number)
        .limit(1)
    )
    return decoded(connection.execute(query).scalar_one_or_none()).sides


def rehearse(connection: Connection, row: CompetitionRow, bot_ids: Sequence[int], by: By) -> None:
    """Store a rehearsal with its games, entries and students.

    Raises `CompetitionRefusal` if its name is taken.
    """
    create(connection, row, (), by)
    if row.rehearses is not None:
        competition_staff.copy(connection, row.rehearses, row.id)
    entry, student = competition_entries.c, competition_students.c
    mine = (entry.competition_id == row.rehearses) & entry.bot_id.in_(bot_ids)
    copy_rows(connection, competition_entries, mine, competition_id=row.id)
    there = (student.competition_id == row.rehearses) & (student.status == "active")
    copy_rows(connection, competition_students, there, competition_id=row.id, extended_ms=None)


def rerun(
    connection: Connection, reference: str, by: By, now_ms: int
) -> tuple[CompetitionRow, list[TournamentRow]]:
    """Let the final of a finished competition run again with what is entered now.

    Returns the games, in their order.  Raises `CompetitionRefusal` unless it is finished.
    """
    row = find(connection, reference, lock=True)
    if row.status != "finished":
        raise CompetitionRefusal(
            "competition/not_now",
            f"{row.name!r} is {row.status}: only a final that is over runs again",
        )
    connection.execute(
        competitions.update()
        .where(competitions.c.id == row.id)
        .values(status="running", finished_ms=None, note=None)
    )
    here = competition_entries.c
    columns = here.bot_id, here.version_id, here.status, here.player_id, here.baseline
    query = select(*columns).where(here.competition_id == row.id)
    wanted, owners = {}, {}
    for bot, version, status, *owner in connection.execute(query):
        wanted[bot], owners[bot] = (version, status), tuple(owner)
    parts = []
    begun = [game.tournament_id for game in row.games if game.tournament_id is not None]
    # Without students an entry has no version, and plays with any.
    plays = {
        bot: version
        for bot, (version, status) in wanted.items()
        if status == "active" and (version is not None or not row.most_students)
    }
    for part in begun:
        _again(connection, part, plays, owners, now_ms)
    entry_rule.leave_out(connection, row, by, now_ms)
    parts += [find_tournament(connection, part) for part in begun]
    audit.add(connection, now_ms, by, "competition.rerun", row.name, row.id)
    return find(connection, row.id), parts


def _set_versions(
    connection: Connection,
    tournament_id: str,
    known: Collection[int],
    plays: Mapping[int, int | None],
    now_ms: int,
) -> None:
    """Let bots play with these versions; ``known`` are those that have an entry."""
    stay = [{"bot": bot, "version": version} for bot, version in plays.items() if bot in known]
    if stay:
        renewed = tournament_entries.update().where(
            tournament_entries.c.tournament_id == tournament_id,
            tournament_entries.c.bot_id == bindparam("bot"),
        )
        values = {"version_id": bindparam("version"), "status": "active"}
        connection.execute(renewed.values(values), stay)
    new = [
        {
            "tournament_id": tournament_id,
            "bot_id": bot,
            "version_id": version,
            "status": "active",
            "created_ms": now_ms,
        }
        for bot, version in plays.items()
        if bot not in known
    ]
    if new:
        connection.execute(tournament_entries.insert(), new)


def _again(
    connection: Connection,
    tournament_id: str,
    plays: Mapping[int, int | None],
    owners: Mapping[int, object],
    now_ms: int,
) -> None:
    """Renew the entries of one game, and let it run.

    ``plays`` has the versions of the bots that play, and ``owners`` all bots that are entered.
    """
    mine = tournament_entries.c.tournament_id == tournament_id
    known = set(connection.execute(select(tournament_entries.c.bot_id).where(mine)).scalars())
    gone = [bot for bot in known if bot not in owners]
    if gone:  # another bot of the student has its place: what it played counts no more
        connection.execute(
            tournament_entries.delete().where(mine, tournament_entries.c.bot_id.in_(gone))
        )
    out = [bot for bot in owners if bot in known and bot not in plays]
    if out:  # with the version that they had: the results of others against it stay
        left = tournament_entries.update().where(mine, tournament_entries.c.bot_id.in_(out))
        connection.execute(left.values(status="withdrawn"))
    _set_versions(connection, tournament_id, known, plays, now_ms)
    row = find_tournament(connection, tournament_id, lock=True)
    kept = settings(row)
    together = tuple(renewed_sides(kept.sides, owners, plays)) if kept.teams else ()
    captains = {bot: side[0] for side in together for bot in side}
    # Bots that were withdrawn from this game only are in it again.
    change_settings(
        connection,
        row,
        run=kept.run + 1,
        gone={},
        left=dict.fromkeys([captains.get(bot, bot) for bot in out], 0),
        sides=together,
    )
    connection.execute(
        tournaments.update()
        .where(tournaments.c.id == tournament_id)
        .values(status="running", finished_ms=None)
    )
