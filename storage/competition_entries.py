"""Queries for entries of students: their bots and the entered versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, func, or_, select

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.competitions import BEFORE_FREEZE, IN_FINAL, TAKES_ENTRIES
from plyhouse.storage import entry_rule, submission_checks
from plyhouse.storage.competition_rows import (
    PRACTICE,
    CompetitionEntry,
    CompetitionRow,
    Submission,
    VersionRow,
)
from plyhouse.storage.competition_sql import (
    entries_of,
    find,
    is_frozen,
    not_open,
    without_games,
)
from plyhouse.storage.competition_students import name_of, student_of
from plyhouse.storage.entry_rule import Candidate
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.locks import locking
from plyhouse.storage.models import (
    bots,
    competition_entries,
    competition_students,
    competitions,
    select_rows,
    submission_entries,
    versions,
)
from plyhouse.storage.models import submissions as handed_in
from plyhouse.storage.names import key_of
from plyhouse.storage.statements import parts
from plyhouse.storage.suspensions import suspended_in


def enter_connected(
    connection: Connection,
    player_id: int,
    bot_id: int,
    version_id: int,
    now_ms: int,
    games: Collection[str] = (),
) -> None:
    """Enter a connected bot, with this version, where its student may enter one more.

    ``games`` are those that it accepts, if it names them.  `entry_rule.obstacle` keeps it, or
    this version of it, out of a competition without any of them.  Also baselines play with what
    connected last, until the freeze.
    """
    entry = competition_entries.c
    if bot_id not in entry_rule.programs(connection, [bot_id]):
        return  # A person plays under its own name and is entered nowhere.
    in_time = select(entry.competition_id).where(
        entry.bot_id == bot_id,
        entry.baseline.is_(True),
        entry.competition_id.in_(_before_freeze(now_ms)),
    )
    for competition_id in (
        connection.execute(in_time.order_by(entry.competition_id)).scalars().all()
    ):
        if not entry_rule.obstacle(connection, find(connection, competition_id), bot_id, games):
            _play_with(connection, competition_id, bot_id, version_id)
    label = entry_rule.label_of(connection, version_id)
    came = connection.execute(
        select(handed_in.c.submitted_ms).where(handed_in.c.version_id == version_id)
    ).scalar_one_or_none()
    known = select(entry.competition_id).where(
        entry.bot_id == bot_id, entry.version_id == version_id
    )
    there = set(connection.execute(known).scalars())
    if there.issuperset(
        competition_id for competition_id, _ in _open_to(connection, player_id, now_ms)
    ):
        return  # most logins change nothing, and need not wait for each other
    for competition_id, most in _open_to(connection, player_id, now_ms, lock=True):
        mine = [
            each for each in entries_of(connection, competition_id) if each.player_id == player_id
        ]
        own = next((each for each in mine if each.bot_id == bot_id), None)
        if own and own.version_id and came and _came_later(connection, competition_id, own, came):
            continue  # It was submitted, and a later submission plays: let that one play on.
        row = find(connection, competition_id)
        if entry_rule.obstacle(connection, row, bot_id, games, label):
            continue
        if own is None:
            if _taken(mine) < most:
                entry_rule.add(connection, row, [Candidate(bot_id, version_id)], now_ms)
        elif not own.chosen and own.version_id != version_id:
            if own.status == "active":
                _play_with(connection, competition_id, bot_id, version_id)
            elif _taken(mine) < most and _was_suspended(connection, competition_id, own):
                _play_with(connection, competition_id, bot_id, version_id, status="active")


def changes(connection: Connection, bot: Bot, version_id: int, now_ms: int) -> bool:
    """Return whether a login with a version may have to write a row here."""
    package, entry = handed_in.c, competition_entries.c
    first = select(package.id).where(package.version_id == version_id, ~package.connected)
    plays = or_(entry.version_id.is_(None), entry.version_id != version_id)
    baseline = select(entry.competition_id).where(
        entry.bot_id == bot.id,
        entry.baseline,
        entry.competition_id.in_(_before_freeze(now_ms)),
        plays,
    )
    if any(connection.execute(query.limit(1)).first() for query in (first, baseline)):
        return True
    if not entry_rule.programs(connection, [bot.id]):
        return False
    entered = select(entry.competition_id).where(
        entry.bot_id == bot.id, entry.version_id == version_id
    )
    settled = set(connection.execute(entered).scalars())
    return any(each not in settled for each, _ in _open_to(connection, bot.player_id, now_ms))


def _was_suspended(connection: Connection, competition_id: str, entry: CompetitionEntry) -> bool:
    """Return whether the final from which an entry was withdrawn by a suspension is over."""
    return find(connection, competition_id).status == "finished" and any(
        each.bot_id == entry.bot_id
        for each in suspended_in(connection, competition_id, withdrawn=True)
    )


def _before_freeze(now_ms: int) -> Select[tuple[str]]:
    return select(competitions.c.id).where(_in_time(now_ms))


def _in_time(now_ms: int) -> ColumnElement[bool]:
    """Competitions before their freeze."""
    here = competitions.c
    deadline = func.coalesce(here.freezes_ms, now_ms + 1)
    return here.status.in_(BEFORE_FREEZE) & (deadline > now_ms)


def _open_to(
    connection: Connection, player_id: int, now_ms: int, *, lock: bool = False
) -> list[tuple[str, int]]:
    """The competitions to which a student may submit, and how many entries each takes.

    ``lock`` locks them, see `find`.
    """
    here = competitions.c
    query = _open(player_id, now_ms, here.id, here.entries_each).order_by(here.id)
    if lock:
        query = query.with_for_update(key_share=True, of=competitions)
    return [(row.id, row.entries_each) for row in connection.execute(query)]


def _open(player_id: int, now_ms: int, *columns: ColumnElement[Any]) -> Select[Any]:
    """Columns of the competitions to which a student may submit."""
    here, student = competitions.c, competition_students.c
    return (
        select(*columns)
        .join(competition_students, student.competition_id == here.id)
        .where(
            student.player_id == player_id,
            student.status == "active",
            here.status.in_(TAKES_ENTRIES),
            _in_time(now_ms) | (student.extended_ms > now_ms),
        )
    )


def _taken(mine: Sequence[CompetitionEntry]) -> int:
    """How many of a student's places are taken: a disqualification does not give one back."""
    return sum(each.status != "withdrawn" and not each.baseline for each in mine)


def _play_with(
    connection: Connection, competition_id: str, bot_id: int, version_id: int, **more: object
) -> None:
    entry = competition_entries.c
    connection.execute(
        competition_entries.update()
        .where(entry.competition_id == competition_id, entry.bot_id == bot_id)
        .values(version_id=version_id, **more)
    )


# A submission enters in two steps: acceptance is decided when it arrives, and it plays once its
# check is over.


def takers(connection: Connection, player_id: int, bot_id: int, now_ms: int) -> dict[str, str]:
    """Return the competitions that a submission of a bot asks, with the outcome if that is known.

    The outcome is ``full`` where other bots of the student have all places, and otherwise empty.
    """
    entry = competition_entries.c
    baseline = (
        select(entry.competition_id)
        .join(competitions, competitions.c.id == entry.competition_id)
        .where(entry.bot_id == bot_id, entry.baseline.is_(True), _in_time(now_ms))
    )
    found = dict.fromkeys(connection.execute(baseline).scalars(), "")
    for competition_id, most in _open_to(connection, player_id, now_ms):
        mine = [
            each for each in entries_of(connection, competition_id) if each.player_id == player_id
        ]
        own = next((each for each in mine if each.bot_id == bot_id), None)
        if own is None:
            found[competition_id] = "" if _taken(mine) < most else "full"
        elif own.status == "active":
            found[competition_id] = ""
    return dict(sorted(found.items()))


def taker(connection: Connection, reference: str, player_id: int, bot_id: int, now_ms: int) -> str:
    """Return the id of the competition for which a bot is submitted.

    Raises `Unknown`, or `CompetitionRefusal` if it would not take the bot now.
    """
    row = find(connection, reference)
    entries = entries_of(connection, row.id)
    own = next((each for each in entries if each.bot_id == bot_id), None)
    if own is not None and own.baseline:
        _may_submit(row, None, now_ms, baseline=True)
        return row.id
    _student_may_submit(connection, row, player_id, now_ms)
    if own is not None:
        if own.status != "active":
            raise CompetitionRefusal(
                "competition/revoked", f"{own.name} is {own.status} in {row.name!r}"
            )
        return row.id
    mine = [each for each in entries if each.player_id == player_id]
    if _taken(mine) >= row.entries_each:
        there = [each.bot for each in mine if not each.baseline and each.status != "withdrawn"]
        raise CompetitionRefusal(
            "competition/entry_limit",
            f"{row.name!r} takes {row.entries_each} of each student, and yours has "
            f"{', '.join(there)}; submit it as another version of that bot (--bot {there[0]}), or "
            "without a competition, and after its check let it take the place: "
            f"plyhouse bot enter NAME --replace {there[0]}",
        )
    return row.id


def enter_checked(
    connection: Connection,
    competition_id: str,
    player_id: int,
    bot_id: int,
    version_id: int,
    chosen: bool,
    asked_ms: int,
    now_ms: int,
    games: Collection[str] = (),
) -> str:
    """Let a version play that was submitted at ``asked_ms``, if the competition accepted it then.

    ``games`` are those that it plays; none stand for all.
    Returns the outcome, one of `plyhouse.storage.submission_rows.OUTCOMES`.  If its author had
    ``chosen`` the competition, it stays with this version until another is chosen.
    """
    row = find(connection, competition_id, lock=True)
    entries = entries_of(connection, competition_id)
    own = next((each for each in entries if each.bot_id == bot_id), None)
    if row.status in IN_FINAL:
        return "begun"
    baseline = own is not None and own.baseline
    label = None if baseline else entry_rule.label_of(connection, version_id)
    obstacle = entry_rule.obstacle(connection, row, bot_id, games, label)
    if obstacle:
        return obstacle
    student = competition_students.c
    active = exists().where(
        student.competition_id == competition_id,
        student.player_id == player_id,
        student.status == "active",
    )
    if not baseline and not connection.execute(select(active)).scalar_one():
        return "out"
    if own is not None and own.status != "active":
        return "out"
    if own is not None and own.version_id not in (None, version_id):
        if _came_later(connection, competition_id, own, asked_ms):
            return "newer"
        if own.chosen and not chosen:
            return "pinned"
    if baseline:
        _play_with(connection, competition_id, bot_id, version_id)
    elif own is not None:
        _play_with(connection, competition_id, bot_id, version_id, chosen=chosen or own.chosen)
    elif _taken([each for each in entries if each.player_id == player_id]) >= row.entries_each:
        return "full"
    else:
        candidate = Candidate(bot_id, version_id, chosen)
        entry_rule.add(connection, row, [candidate], now_ms)
    return "entered"


def _came_later(
    connection: Connection, competition_id: str, entry: CompetitionEntry, asked_ms: int
) -> bool:
    """Return whether the version that an entry plays with came after that time."""
    version = versions.c
    asked = (
        select(func.max(submission_entries.c.asked_ms))
        .join(handed_in, handed_in.c.id == submission_entries.c.submission_id)
        .where(
            handed_in.c.version_id == entry.version_id,
            submission_entries.c.competition_id == competition_id,
        )
        .scalar_subquery()
    )
    query = select(func.coalesce(asked, version.created_ms) > asked_ms).where(
        version.id == entry.version_id
    )
    return bool(connection.execute(query).scalar_one())


def mark_connected(connection: Connection, version_id: int) -> None:
    """Note that a version has connected: it may play after any result of a check."""
    here = handed_in.c
    connection.execute(
        handed_in.update()
        .where(here.version_id == version_id, here.connected.is_(False))
        .values(connected=True)
    )


def versions_of(connection: Connection, player_id: int, bot: str = "") -> list[VersionRow]:
    """Return the versions of a player's bots, the newest first; of one bot if it is named."""
    query = (
        select_rows(VersionRow, versions)
        .join(bots, bots.c.id == versions.c.bot_id)
        .where(bots.c.player_id == player_id)
        .order_by(versions.c.created_ms.desc(), versions.c.id.desc())
    )
    # A version that was only submitted, and is not ready, cannot play.
    query = query.where(
        ~exists().where(
            handed_in.c.version_id == versions.c.id,
            handed_in.c.status != "ready",
            handed_in.c.connected.is_(False),
        )
    )
    if bot:
        query = query.where(bots.c.name_key == key_of(bot))
    return [VersionRow(*row) for row in connection.execute(query)]


def first_seen(connection: Connection, version_ids: Collection[int]) -> dict[int, int]:
    """Return when the server saw each of these versions first, in ms."""
    here = versions.c
    found: dict[int, int] = {}
    for part in parts(sorted(version_ids)):
        query = select(here.id, here.created_ms).where(here.id.in_(part))
        found |= {version: seen for version, seen in connection.execute(query)}  # noqa: C416
    return found


def last_digests(connection: Connection, bot_ids: Collection[int]) -> dict[int, str]:
    """Digest of the newest version of each bot; empty if its client reported none.

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
    here, entry = competitions.c, competition_entries.c
    ready = exists().where(
        handed_in.c.version_id == entry.version_id, handed_in.c.status == "ready"
    )
    query = (
        select_rows(
            Submission,
            competitions,
            competition_entries,
            competition=here.name,
            handed_in=ready | entry.baseline,
        )
        .join(competition_entries, entry.competition_id == here.id)
        .where(entry.player_id == player_id, here.status != "deleted")
        .where(~here.id.endswith(PRACTICE))  # what plays there follows from the competition
        .order_by(here.created_ms.desc(), entry.bot_id)
    )
    return [Submission(*row) for row in connection.execute(query)]


def _refuse_version(
    connection: Connection,
    row: CompetitionRow,
    chosen: VersionRow,
    games: Mapping[int, Collection[str]],
) -> None:
    """Raise `CompetitionRefusal` if a version cannot play in a competition.

    ``games`` are those that connected bots accept, by bot id; a check of the version says more.
    """
    checked = submission_checks.games_for(connection, row.id).get(chosen.id)
    claimed = checked or games.get(chosen.bot_id, ())
    obstacle = entry_rule.obstacle(connection, row, chosen.bot_id, claimed, chosen.label)
    if obstacle == "person":
        raise entry_rule.not_a_bot(connection, row, chosen.bot_id)
    if obstacle == "unreadable":
        raise entry_rule.unreadable(row)
    if obstacle == "help":
        raise CompetitionRefusal(
            "help/required", entry_rule.unhelped(row, chosen.bot, chosen.label)
        )
    if obstacle:
        raise CompetitionRefusal(
            "competition/other_games",
            f"{chosen.bot} plays {', '.join(claimed)}, and {row.name!r} is of "
            f"{', '.join(each.game for each in row.games)}",
        )


def _replace(
    connection: Connection,
    row: CompetitionRow,
    mine: list[CompetitionEntry],
    replaces: str,
    chosen: VersionRow,
) -> None:
    """Delete the entry whose place a version takes, also from ``mine``."""
    old = next((each for each in mine if key_of(each.bot) == key_of(replaces)), None)
    if old is None:
        listed = ", ".join(each.bot for each in mine) or "none"
        raise Unknown(f"{replaces!r} is not entered, and cannot be replaced; entered: {listed}")
    _not_disqualified(row, old)
    if old.bot_id != chosen.bot_id:
        here = competition_entries.c
        connection.execute(
            competition_entries.delete().where(
                here.competition_id == row.id, here.bot_id == old.bot_id
            )
        )
        mine.remove(old)


def _needs_place(row: CompetitionRow, mine: Sequence[CompetitionEntry], bot: str) -> None:
    """Raise `CompetitionRefusal` if a student has as many entries as it may have."""
    if _taken(mine) >= row.entries_each:
        there = [each.bot for each in mine if each.status != "withdrawn"]
        raise CompetitionRefusal(
            "competition/entry_limit",
            f"{row.name!r} takes {row.entries_each} of each student, and yours has "
            f"{', '.join(there)}; --replace {there[0]} gives its place to {bot}",
        )


def _versions_named(
    connection: Connection, player_id: int, player: str, bot: str
) -> list[VersionRow]:
    """Return the versions of a bot; raises `Unknown` if it has never connected."""
    known = versions_of(connection, player_id, bot)
    if not known:
        have = sorted({each.bot for each in versions_of(connection, player_id)})
        raise Unknown(
            f"{player} has no bot {bot!r} that has connected; connected have: "
            f"{', '.join(have) or 'none yet'}"
        )
    return known


def enter(
    connection: Connection,
    reference: str,
    player_id: int,
    bot: str,
    version: str,
    replaces: str,
    now_ms: int,
    games: Mapping[int, Collection[str]] | None = None,
) -> CompetitionEntry:
    """Let a student choose which of its bots and versions plays; until its freeze.

    ``version`` is a label or the beginning of a digest (four characters at least); empty: the
    last one that came, also in future.  ``replaces`` names the bot whose place it takes.
    ``games`` are those that connected bots accept, by bot id; a check of the version says more.
    """
    connection.execute(
        locking(select(bots.c.id).where(bots.c.player_id == player_id).order_by(bots.c.id))
    )
    row = find(connection, reference, lock=True)
    player = _student_may_submit(connection, row, player_id, now_ms)
    chosen = _version(_versions_named(connection, player_id, player, bot), version)
    _refuse_version(connection, row, chosen, games or {})
    mine = [
        each
        for each in entries_of(connection, row.id)
        if each.player_id == player_id and not each.baseline
    ]
    if replaces:
        _replace(connection, row, mine, replaces, chosen)
    # An earlier submission that waits for its check is too late now.
    theirs = select(handed_in.c.id).where(handed_in.c.bot_id == chosen.bot_id)
    asked = submission_entries.c
    connection.execute(
        submission_entries.update()
        .where(asked.competition_id == row.id, asked.outcome == "", asked.submission_id.in_(theirs))
        .values(outcome="pinned")
    )
    own = next((each for each in mine if each.bot_id == chosen.bot_id), None)
    # A withdrawn entry needs a place again, which another bot may have by now.
    if own is None or own.status == "withdrawn":
        _needs_place(row, mine, chosen.bot)
    if own is not None:
        _not_disqualified(row, own)
        here = competition_entries.c
        connection.execute(
            competition_entries.update()
            .where(here.competition_id == row.id, here.bot_id == chosen.bot_id)
            .values(version_id=chosen.id, chosen=bool(version), status="active")
        )
    else:
        candidate = Candidate(chosen.bot_id, chosen.id, bool(version))
        entry_rule.add(connection, row, [candidate], now_ms)
    return next(each for each in entries_of(connection, row.id) if each.bot_id == chosen.bot_id)


def unhelped(connection: Connection, bot: Bot, label: str, now_ms: int) -> list[str]:
    """Return why the label of a bot's version keeps it out of open competitions, as sentences."""
    here = competitions.c
    rows = without_games(connection, here.id.in_(_open(bot.player_id, now_ms, here.id)))
    name = f"{bot.player}/{bot.name}"
    return [f"{why}." for row in rows if (why := entry_rule.unhelped(row, name, label))]


def _not_disqualified(row: CompetitionRow, entry: CompetitionEntry) -> None:
    if entry.status == "disqualified":
        raise CompetitionRefusal(
            "competition/revoked", f"{entry.name} is disqualified in {row.name!r}, and stays so"
        )


def _student_may_submit(
    connection: Connection, row: CompetitionRow, player_id: int, now_ms: int
) -> str:
    """Return the name of a student who may submit now; raise `CompetitionRefusal` otherwise."""
    player = name_of(connection, player_id)
    student = student_of(connection, row, player)
    if student.status != "active":
        raise CompetitionRefusal(
            "competition/revoked", f"{player} is {student.status} in {row.name!r}"
        )
    _may_submit(row, student.extended_ms, now_ms)
    return player


def _may_submit(
    row: CompetitionRow, extended_ms: int | None, now_ms: int, *, baseline: bool = False
) -> None:
    if row.status == "draft" and not baseline:
        raise not_open(row)
    early = baseline and row.status == "draft"
    late = extended_ms is not None and extended_ms > now_ms
    if row.status not in TAKES_ENTRIES and not early:
        more = late or (row.late_ms is not None and now_ms < row.late_ms)
        then = "; submit again when it is over, for a rerun" if more else ""
        raise CompetitionRefusal(
            "competition/begun", f"{row.name!r} is {row.status}: what plays changes no more{then}"
        )
    if row.late_ms is not None and now_ms < row.late_ms:
        return  # late, with the penalty that the file says
    # Staff replace a baseline that cannot play whenever they notice it.
    if is_frozen(row, now_ms) and not late and not baseline:
        raise CompetitionRefusal(
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
        raise CompetitionRefusal(
            "competition/version_unclear",
            f"{len(labelled)} versions have the label {wanted!r}; say which by the beginning of "
            f"its digest: {listed}",
        )
    fitting = digests or labelled
    if len({each.digest for each in fitting}) > 1:
        raise CompetitionRefusal(
            "competition/version_unclear", f"several digests begin with {wanted!r}: give more of it"
        )
    if not fitting:
        listed = ", ".join(
            f"{each.label or '(no label)'} {each.digest[:12]}" for each in known[:10]
        )
        raise Unknown(f"{known[0].bot} has no version {wanted!r}; it has: {listed}")
    return fitting[0]
