"""People of a competition: the class list, codes to join, and the staff.

Staff needs a role in the competition (`plyhouse.server.accounts.roles`) and a token
with the scope ``organise``; the audit log records its actions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec.structs import replace

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import (
    LONGEST_WHY,
    Disqualification,
    Extension,
    Join,
    LostToken,
    NewCode,
    NewStaff,
    StudentLimit,
    StudentList,
    StudentName,
    Submitting,
    Withdrawal,
)
from plyhouse.protocol.api.competitions import (
    Code,
    Entry,
    Extended,
    Joining,
    Staff,
    Student,
)
from plyhouse.protocol.api.submissions import Version, VersionEntry
from plyhouse.server.accounts.registration import Registration
from plyhouse.server.accounts.roles import require
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competition_rules.class_list import read_students
from plyhouse.server.competition_rules.dates import milliseconds, read_time
from plyhouse.server.competition_rules.file import decoded, file_of
from plyhouse.server.competitions.baselines import BaselineState
from plyhouse.server.competitions.finals import told_delay
from plyhouse.server.competitions.overview import CompetitionView
from plyhouse.server.competitions.visible_boards import lateness
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import (
    address_of,
    authorise,
    secret_in,
    staff_acting,
    staff_for,
    token_of,
)
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import Name, service
from plyhouse.storage import (
    class_lists,
    competition_entries,
    competition_reruns,
    competition_sql,
    competition_staff,
    competition_students,
    join_codes,
    people_changes,
)
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionRow,
    CompetitionStudent,
)
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


def _time(text: str, row: CompetitionRow) -> int | None:
    """Read a time, which may be local to the zone of the competition; None for an empty text."""
    if not text.strip():
        return None
    return milliseconds(read_time(text, file_of(row).dates.named_zone))


async def _delayed(
    store: Store, row: CompetitionRow, of: Sequence[str], also: Mapping[str, int] | None = None
) -> str:
    """Return what the extensions of some students delay."""
    students = await store.read(competition_students.students_of, row.id)
    file = file_of(row)
    return told_delay(row, file, students, store.now(), of=of, also=also)


@serve(competition_calls.take_in)
async def take_in(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentList]
) -> list[Joining]:
    """Take a list of students in, all or none; new ones get a token, shown only here."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    people = await asyncio.to_thread(read_students, data.csv)  # a class may be large
    now, late_until = store.now(), _time(data.late_until, row)
    joined = await store.write(
        lambda connection: competition_students.take_in(
            connection,
            row.id,
            class_lists.with_older_accounts(connection, row.id, people),
            *(by, now, late_until, data.adopt),
        )
    )
    delays = ""
    if late_until is not None:
        delays = await _delayed(store, row, [each.account for each in joined])
    return [replace(each, delays=delays) for each in joined]


@serve(competition_calls.students)
async def students(state: State, request: Call, competition: FromPath[str]) -> list[Student]:
    """List the students, with the members of groups."""
    row, _ = await staff_for(request, competition, "see")
    return [
        student_row(each)
        for each in await service(state, Store).read(competition_students.students_of, row.id)
    ]


@serve(competition_calls.limit_students)
async def limit(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentLimit]
) -> None:
    """Let more, or fewer, students in than the file says."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    await store.write(competition_students.allow, row.id, data.students, by, store.now())


@serve(competition_calls.extend)
async def extend(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Extension]
) -> Extended:
    """Let one student submit until a later time than the freeze; answers what that delays."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    until = milliseconds(read_time(data.until, file_of(row).dates.named_zone))
    student = await store.write(
        competition_students.extend, row.id, data.student, until, by, store.now()
    )
    await service(state, AuditFollower).look()
    return Extended(student, until, await _delayed(store, row, [student]), row.zone)


@serve(competition_calls.withdraw)
async def withdraw(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Withdrawal]
) -> list[Entry]:
    """Withdraw a student or an entry; staff any, players an entry of their own."""
    store = service(state, Store)
    identity = await authorise(request, "play", "organise")
    row = await store.read(competition_sql.find, competition)
    player, _, bot = data.who.partition("/")
    if not bot or key_of(player) != key_of(identity.player):
        await require(store, row, identity, "run")
    else:
        service(state, Registration).may_change(identity)
    by = By(identity.player, data.why, identity.player_id)
    return await _taken_out(state, competition_students.withdraw, row.id, data.who, by)


@serve(competition_calls.disqualify)
async def disqualify(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Disqualification]
) -> list[Entry]:
    """Disqualify a student or an entry; answers the entries that leave."""
    row, by = await staff_acting(request, competition, data.why)
    return await _taken_out(state, competition_students.disqualify, row.id, data.who, by)


async def _taken_out(
    state: State,
    take_out: Callable[..., tuple[str, list[int]]],
    competition: str,
    who: str,
    by: By,
) -> list[Entry]:
    store = service(state, Store)
    _, gone = await store.write(take_out, competition, who, by, store.now())
    await service(state, AuditFollower).look()
    return await _entries(store, service(state, Directory), competition, gone)


@serve(competition_calls.restore)
async def restore(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentName]
) -> None:
    """Let a student back in that was taken out."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    await store.write(competition_students.restore, row.id, data.student, by, store.now())
    await service(state, AuditFollower).look()


@serve(competition_calls.reissue_token)
async def reissue_token(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[LostToken]
) -> Joining:
    """Revoke the token that a student lost, and answer a new one, shown only here."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    made = await store.write(
        people_changes.reissue_token, row.id, data.student, data.member, by, store.now()
    )
    await service(state, AuditFollower).look()
    return made


@serve(competition_calls.new_code)
async def new_code(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewCode]
) -> Code:
    """Make a code by which students join."""
    store = service(state, Store)
    row, by = await staff_acting(request, competition, data.why)
    code = await store.write(
        join_codes.add_code,
        row.id,
        by,
        store.now(),
        uses=data.uses,
        expires_ms=_time(data.expires, row),
        group=data.group,
        late_ms=_time(data.late_until, row),
    )
    delays = ""
    if code.late_ms is not None:
        who = "students who join by this code"
        delays = await _delayed(store, row, [who], {who: code.late_ms})
    return replace(code, delays=delays)


@serve(competition_calls.codes)
async def codes(state: State, request: Call, competition: FromPath[str]) -> list[Code]:
    """List the codes of a competition."""
    row, _ = await staff_for(request, competition, "run")
    return await service(state, Store).read(join_codes.codes_of, row.id)


@serve(competition_calls.revoke_code)
async def revoke_code(state: State, request: Call, code: FromPath[str]) -> None:
    """Let nobody in by a code any more."""
    store = service(state, Store)
    await authorise(request, "organise")
    competition = await store.read(join_codes.competition_of, code)
    _, by = await staff_acting(request, competition, "")
    await store.write(join_codes.revoke_code, code, by, store.now())


# --------------------------------------------------------------- what students do


@serve(competition_calls.join)
async def join(state: State, request: Call, data: JSONBody[Join]) -> Joining:
    """Join a competition by a code; ``name`` of the answer is the competition's.

    The account of the token joins, or that of who is signed in at the browser if no ``player`` is
    named; otherwise a new account of that name is made.
    """
    token, member = token_of(request), None
    if not token and not data.player and secret_in(request):
        member = await authorise(request, "play")
    row, joined = await service(state, Registration).join(
        data.code, data.player, token, address_of(request), member
    )
    return replace(joined, name=row.name)


@serve(competition_calls.versions)
async def versions(state: State, request: Call, bot: Name = "") -> list[Version]:
    """List the versions of one's bots, newest first, and where each is entered."""
    identity = await authorise(request, "play")
    store = service(state, Store)
    entered: dict[int | None, list[VersionEntry]] = {}
    for each in await store.read(competition_entries.submissions, identity.player_id):
        left_out = not each.handed_in and decoded(each.parsed).hosting_required
        entered.setdefault(each.version_id, []).append(
            VersionEntry(each.competition, each.status, each.chosen, left_out)
        )
    return [
        Version(
            bot=each.bot,
            version=each.label,
            digest=each.digest,
            created_ms=each.created_ms,
            entered=entered.get(each.id, []),
        )
        for each in await store.read(competition_entries.versions_of, identity.player_id, bot)
    ]


@serve(competition_calls.enter)
async def enter(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Submitting]
) -> Entry:
    """Choose which bot and version of one's own plays, until the freeze."""
    store = service(state, Store)
    directory = service(state, Directory)
    identity = await authorise(request, "play")
    entry = await store.write(
        competition_entries.enter,
        competition,
        identity.player_id,
        data.bot,
        data.version,
        data.replace,
        store.now(),
        {each.bot_id: each.games for each in directory.presences.values() if each.online},
    )
    late = await lateness(store, competition, entry.bot_id)
    row = await store.read(competition_sql.find, competition)
    playing = await store.read(competition_reruns.played_entries, row.id)
    (shown,) = [each for each in playing if each.bot_id == entry.bot_id]
    return entry_row(directory, shown, late=late)


async def _entries(
    store: Store, directory: Directory, competition: str, bots: list[int]
) -> list[Entry]:
    row = await store.read(competition_sql.find, competition)
    found = await store.read(competition_reruns.played_entries, row.id)
    return [entry_row(directory, each) for each in found if each.bot_id in bots]


def entry_row(
    directory: Directory,
    entry: CompetitionEntry,
    baseline: BaselineState | None = None,
    late: tuple[int, float] = (0, 0.0),
    *,
    hosted: bool = False,
    missing: Sequence[str] = (),
) -> Entry:
    """Return an entry as the API shows it.

    ``late`` has the days by which it was submitted late, and the penalty.
    """
    here = directory.presences.get(entry.bot_id)
    wanted = entry.next_id or entry.version_id
    connected = here is not None and here.online and here.version_id == wanted
    return Entry(
        *(entry.name, entry.version, entry.digest, entry.chosen, entry.baseline),
        *(entry.status, connected, entry.next_version, entry.next_digest),
        *((baseline.check, baseline.text) if baseline is not None else ("", "")),
        *late,
        hosted=hosted,
        missing=list(missing),
    )


def entry_in(view: CompetitionView, directory: Directory, entry: CompetitionEntry) -> Entry:
    """Return an entry with all that its organiser sees of it."""
    return entry_row(
        directory,
        entry,
        baseline=view.baselines.get(entry.name),
        late=view.late_of(entry),
        hosted=entry.bot_id in view.hosted,
        missing=view.missing.get(entry.bot_id, ()),
    )


def student_row(student: CompetitionStudent) -> Student:
    """Return a student as the API shows it."""
    return Student(
        student.player,
        student.display,
        student.status,
        student.extended_ms,
        list(student.members),
    )


@serve(competition_calls.staff)
async def staff(state: State, request: Call, competition: FromPath[str]) -> list[Staff]:
    """List the staff of a competition, owners first; empty where every organiser is an owner."""
    row, _ = await staff_for(request, competition, "see")
    return await service(state, Store).read(competition_staff.staff_of, row.id)


@serve(competition_calls.add_staff)
async def add_staff(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewStaff]
) -> Staff:
    """Give a player a role, in the place of the one that it had."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "change")
    by = By(identity.player, data.why)
    return await store.write(competition_staff.add, row.id, data.player, data.role, by, store.now())


@serve(competition_calls.remove_staff)
async def remove_staff(
    state: State,
    request: Call,
    competition: FromPath[str],
    player: FromPath[str],
    why: Annotated[str, QueryParameter(max_length=LONGEST_WHY)] = "",
) -> None:
    """Take a player's role away; at least one owner stays."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "change")
    await store.write(
        competition_staff.remove, row.id, player, By(identity.player, why), store.now()
    )


HANDLERS: Final[tuple[Any, ...]] = (
    *(take_in, students, limit, extend, withdraw, disqualify, restore, reissue_token),
    *(new_code, codes, revoke_code, join, versions, enter),
    staff,
    add_staff,
    remove_staff,
)
