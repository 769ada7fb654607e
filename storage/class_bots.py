"""What students enter: their bots, and which version of each plays; the SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, select

from plyhouse.storage.class_people import is_frozen, name_of, student_of
from plyhouse.storage.class_rows import ClassCompetition, ClassEntry, Submission, VersionRow
from plyhouse.storage.class_sql import entries_of, find
from plyhouse.storage.errors import ClassRefusal, Unknown
from plyhouse.storage.models import (
    bots,
    class_competitions,
    class_entries,
    class_students,
    versions,
)

__all__ = ["enter", "last_digests", "submissions", "submit", "versions_of"]


def submit(
    connection: Connection, player_id: int, bot_id: int, version_id: int, now_ms: int
) -> None:
    """A bot has connected: it is entered where its student may enter one more, with this version.

    Also baselines play with what connected last, until the freeze.
    """
    here, student, entry = class_competitions.c, class_students.c, class_entries.c
    deadline = func.coalesce(here.freezes_ms, now_ms + 1)
    in_time = here.status.in_(("draft", "open")) & (deadline > now_ms)
    connection.execute(
        class_entries.update()
        .where(
            entry.bot_id == bot_id,
            entry.baseline.is_(True),
            entry.class_id.in_(select(here.id).where(in_time)),
        )
        .values(version_id=version_id)
    )
    opened = here.status.in_(("open", "frozen", "finished"))
    query = (
        select(here.id, here.entries_each)
        .join(class_students, student.class_id == here.id)
        .where(
            student.player_id == player_id,
            student.status == "active",
            opened,
            in_time | (student.extended_ms > now_ms),
        )
    )
    for class_id, most in connection.execute(query).all():
        mine = [each for each in entries_of(connection, class_id) if each.player_id == player_id]
        own = next((each for each in mine if each.bot_id == bot_id), None)
        if own is None:
            active = [each for each in mine if each.status == "active" and not each.baseline]
            if len(active) < most:
                _enter(connection, class_id, player_id, bot_id, version_id, False, now_ms)
        elif own.status == "active" and not own.chosen and own.version_id != version_id:
            connection.execute(
                class_entries.update()
                .where(entry.class_id == class_id, entry.bot_id == bot_id)
                .values(version_id=version_id)
            )


def _enter(
    connection: Connection,
    class_id: str,
    player_id: int,
    bot_id: int,
    version_id: int | None,
    chosen: bool,
    now_ms: int,
) -> None:
    connection.execute(
        class_entries.insert().values(
            class_id=class_id,
            bot_id=bot_id,
            player_id=player_id,
            version_id=version_id,
            chosen=chosen,
            baseline=False,
            status="active",
            created_ms=now_ms,
        )
    )


def versions_of(connection: Connection, player_id: int, bot: str = "") -> list[VersionRow]:
    """Return the versions of a player's bots, the newest first; of one bot if it is named."""
    query = (
        select(
            *(versions.c.id, bots.c.id, bots.c.name, versions.c.label, versions.c.digest),
            versions.c.created_ms,
        )
        .join(bots, bots.c.id == versions.c.bot_id)
        .where(bots.c.player_id == player_id)
        .order_by(versions.c.created_ms.desc(), versions.c.id.desc())
    )
    if bot:
        query = query.where(bots.c.name_key == bot.lower())
    return [VersionRow(*row) for row in connection.execute(query)]


def last_digests(connection: Connection, bot_ids: Collection[int]) -> dict[int, str]:
    """What the files of the newest version of each bot hold; empty where its client did not say.

    Bots that have never connected are left out.
    """
    query = (
        select(versions.c.bot_id, versions.c.digest)
        .where(versions.c.bot_id.in_(bot_ids))
        .order_by(versions.c.bot_id, versions.c.created_ms, versions.c.id)
    )
    return {bot: digest or "" for bot, digest in connection.execute(query)}


def submissions(connection: Connection, player_id: int) -> list[Submission]:
    """Return what a student has entered, in all competitions that are listed."""
    here, entry = class_competitions.c, class_entries.c
    query = (
        select(here.name, here.status, entry.bot_id, entry.version_id, entry.chosen)
        .join(class_entries, entry.class_id == here.id)
        .where(entry.player_id == player_id, here.status != "deleted")
        .order_by(here.created_ms.desc(), entry.bot_id)
    )
    return [Submission(*row) for row in connection.execute(query)]


def enter(
    connection: Connection,
    reference: str,
    player_id: int,
    bot: str,
    version: str,
    replaces: str,
    now_ms: int,
) -> ClassEntry:
    """Let a student choose which of its bots and versions plays; until its freeze.

    ``version`` is a label or the beginning of a digest (four characters at least); empty: the
    last one that came, also in future.  ``replaces`` names the bot whose place it takes.
    """
    row = find(connection, reference)
    player = name_of(connection, player_id)
    student = student_of(connection, row, player)
    if student.status != "active":
        raise ClassRefusal("competition/revoked", f"{player} is {student.status} in {row.name!r}")
    _may_submit(row, student.extended_ms, now_ms)
    known = versions_of(connection, player_id, bot)
    if not known:
        have = sorted({each.bot for each in versions_of(connection, player_id)})
        raise Unknown(
            f"{player} has no bot {bot!r} that has connected; connected have: "
            f"{', '.join(have) or 'none yet'}"
        )
    chosen = _version(known, version)
    mine = [
        each
        for each in entries_of(connection, row.id)
        if each.player_id == player_id and not each.baseline
    ]
    here = class_entries.c
    if replaces:
        old = next((each for each in mine if each.bot.lower() == replaces.lower()), None)
        if old is None:
            listed = ", ".join(each.bot for each in mine) or "none"
            raise Unknown(f"{replaces!r} is not entered, and cannot be replaced; entered: {listed}")
        if old.bot_id != chosen.bot_id:
            connection.execute(
                class_entries.delete().where(here.class_id == row.id, here.bot_id == old.bot_id)
            )
            mine.remove(old)
    if any(each.bot_id == chosen.bot_id for each in mine):
        connection.execute(
            class_entries.update()
            .where(here.class_id == row.id, here.bot_id == chosen.bot_id)
            .values(version_id=chosen.id, chosen=bool(version), status="active")
        )
    elif len(mine) >= row.entries_each:
        listed = ", ".join(each.bot for each in mine)
        raise ClassRefusal(
            "competition/entry_limit",
            f"{row.name!r} takes {row.entries_each} of each student, and yours has {listed}; "
            f"--replace {mine[0].bot} gives its place to {chosen.bot}",
        )
    else:
        _enter(connection, row.id, player_id, chosen.bot_id, chosen.id, bool(version), now_ms)
    return next(each for each in entries_of(connection, row.id) if each.bot_id == chosen.bot_id)


def _may_submit(row: ClassCompetition, extended_ms: int | None, now_ms: int) -> None:
    if row.status == "draft":
        raise ClassRefusal("competition/not_open", f"{row.name!r} has not opened yet")
    if row.status not in ("open", "frozen", "finished"):
        raise ClassRefusal(
            "competition/begun", f"{row.name!r} is {row.status}: what plays changes no more"
        )
    if is_frozen(row, now_ms) and not (extended_ms is not None and extended_ms > now_ms):
        raise ClassRefusal(
            "competition/frozen",
            f"{row.name!r} is frozen: what plays changes no more; practice goes on",
        )


def _version(known: Sequence[VersionRow], wanted: str) -> VersionRow:
    """The newest version of that label, or of that beginning of a digest."""
    if not wanted:
        return known[0]
    labelled = [each for each in known if each.label == wanted]
    digests = [each for each in known if len(wanted) >= 4 and each.digest.startswith(wanted)]
    if len(labelled) > 1 and not digests:
        listed = ", ".join(each.digest[:12] or "(no digest)" for each in labelled)
        raise ClassRefusal(
            "competition/version_unclear",
            f"{len(labelled)} versions have the label {wanted!r}; say which by the beginning of "
            f"its digest: {listed}",
        )
    fitting = digests or labelled
    if len({each.digest for each in fitting}) > 1:
        raise ClassRefusal(
            "competition/version_unclear", f"several digests begin with {wanted!r}: give more of it"
        )
    if not fitting:
        listed = ", ".join(
            f"{each.label or '(no label)'} {each.digest[:12]}" for each in known[:10]
        )
        raise Unknown(f"{known[0].bot} has no version {wanted!r}; it has: {listed}")
    return fitting[0]
