"""Competitions with a class: opened, frozen, begun, and what came of them; students and codes.

What the staff of a competition does needs a role in it (`plyhouse.server.competition.staff`) and a
token with the scope ``organise``, and is kept in the audit log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import structs

from plyhouse.protocol.api.boards import BoardLine, GradeCertainty, GradeLine, Results
from plyhouse.protocol.api.classes import (
    ClassCompetition,
    ClassDetail,
    Code,
    EndedFinal,
    Entry,
    FinalGame,
    Joining,
    Measure,
    Member,
    Rehearsal,
    Student,
)
from plyhouse.protocol.api.submissions import Version, VersionEntry
from plyhouse.protocol.api.suspicions import Suspicions
from plyhouse.server.accounts.roles import require
from plyhouse.server.competition.file import (
    Baseline,
    CompetitionFile,
    InvalidCompetition,
    read_competition,
)
from plyhouse.server.competition.grade_book import GradeEntry, grades_csv
from plyhouse.server.competition.staff import Action
from plyhouse.server.competition.standings import Standing as EntryStanding
from plyhouse.server.competition.standings import standings_csv
from plyhouse.server.competition.students import read_students
from plyhouse.server.competition.times import milliseconds, read_time
from plyhouse.server.contests.baselines import BaselineState
from plyhouse.server.contests.board_visibility import Viewer, eyes_of
from plyhouse.server.contests.courses import only_handed_in
from plyhouse.server.contests.grade_books import grade_entries
from plyhouse.server.contests.suspicions import suspicions
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.results.scoring import scoring_words
from plyhouse.server.web.api.access import (
    address_of,
    authorise,
    first,
    secret_in,
    staff_for,
    token_of,
    viewer_of,
)
from plyhouse.server.web.api.class_types import (
    Disqualification,
    Extension,
    FileText,
    Join,
    LostToken,
    NewCode,
    Step,
    StudentLimit,
    StudentList,
    StudentName,
    Submitting,
)
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage import (
    class_bots,
    class_codes,
    class_finals,
    class_people,
    class_sql,
    class_tokens,
)
from plyhouse.storage.class_rows import ClassCompetition as ClassRow
from plyhouse.storage.class_rows import ClassEntry, ClassStudent, NewMember
from plyhouse.storage.class_rows import Code as CodeRow
from plyhouse.storage.rows import By

__all__ = ["HANDLERS", "HERE", "class_summary"]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/class/competitions"
MAX_LIST: Final = 2_000_000
"""Longest list of students that is read, in bytes."""
_SECURED: Final[dict[str, Any]] = {"tags": ["class"], "security": [{"token": []}]}
_DO: Final[dict[str, Any]] = {**_SECURED, "status_code": 200}
_ORGANISE: Final[dict[str, Any]] = {**_DO, "guards": [first("organise")]}


async def _by(
    request: Call, hub: Hub, competition: str, why: str, action: Action = "run"
) -> tuple[str, By]:
    """Return the id of a competition, and who does something in it; raises `NotStaff`."""
    row, identity = await staff_for(request, hub, competition, action)
    return row.id, By(identity.player, why, identity.player_id)


def _time(text: str) -> int | None:
    return milliseconds(read_time(text)) if text.strip() else None


# ---------------------------------------------------------------------- competitions


@post("/api/v1/class/check", **_ORGANISE)
async def check(state: State, request: Call, data: JSONBody[FileText]) -> list[Measure]:
    """Say whether a file could be opened here; answers how long matches of its games took."""
    hub = hub_of(state)
    await authorise(request, hub, "organise")
    file = await hub.courses.check(data.file)
    control = str(file.time_control)
    measures = [await hub.store.read(class_sql.measure, game, control) for game in file.games]
    return [Measure(**asdict(each)) for each in measures]


@post(HERE, **_SECURED, guards=[first("organise")])
async def open_file(state: State, request: Call, data: JSONBody[FileText]) -> ClassCompetition:
    """Open a competition by its file: at once, or at its date of opening."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "organise")
    by = By(identity.player, data.why, identity.player_id)
    return ClassCompetition(**_summary(await hub.courses.open(data.file, by)))


@get(HERE, tags=["class"])
async def list_all(state: State) -> list[ClassCompetition]:
    """List the competitions with a class, newest first."""
    return [
        ClassCompetition(**_summary(row))
        for row in await hub_of(state).store.read(class_sql.list_all)
    ]


@get(HERE + "/{competition:str}", **_SECURED)
async def status(state: State, request: Call, competition: FromPath[str]) -> ClassDetail:
    """Show a competition with its students, entries and progress."""
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "see")
    view = await hub.courses.view(row.id)
    return ClassDetail(
        **_summary(view.row, view.file),
        note=view.row.note or "",
        warnings=list(view.warnings),
        file=view.row.file,
        students=[_student(each) for each in view.students],
        entries=[
            _entry(hub, each, view.baselines.get(each.name), view.late_of(each))
            for each in view.entries
        ],
        progress=[
            FinalGame(
                game=each.game,
                competition=each.competition_id,
                planned=each.planned,
                finished=each.finished,
                waiting_for=list(each.waiting_for),
                absent=list(each.absent),
                unplayed=each.unplayed,
                scoring=each.scoring.value,
            )
            for each in view.games
        ],
    )


async def _move(
    state: State, request: Call, competition: str, step: str, data: Step
) -> ClassCompetition:
    hub = hub_of(state)
    row, identity = await staff_for(request, hub, competition, "run")
    if step == "delete" and row.rehearses is None:
        await require(hub.store, row, identity, "change")
    by = By(identity.player, data.why, identity.player_id)
    row = await hub.store.write(class_sql.move, row.id, step, by, hub.store.now())
    await hub.audit_follower.look()
    return ClassCompetition(**_summary(row))


@post(HERE + "/{competition:str}/open", **_ORGANISE)
async def open_now(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Open a competition before its date of opening."""
    return await _move(state, request, competition, "open", data)


@post(HERE + "/{competition:str}/freeze", **_ORGANISE)
async def freeze(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Let the versions that play change no more; practice goes on."""
    return await _move(state, request, competition, "freeze", data)


@post(HERE + "/{competition:str}/run", **_ORGANISE)
async def run(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Begin the final."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    row = await hub.courses.run(competition, by, anyway=data.anyway)
    return ClassCompetition(**_summary(row))


@post(HERE + "/{competition:str}/rehearse", **_ORGANISE)
async def rehearse(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> Rehearsal:
    """Play the final as it would be now, with what was handed in so far; it counts for nothing.

    It is a competition of its own, which can be looked at and deleted like any other.
    """
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    row, left_out = await hub.courses.rehearse(competition, by)
    return Rehearsal(**_summary(row), left_out=left_out)


@post(HERE + "/{competition:str}/rerun", **_ORGANISE)
async def rerun(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Play a final that is over again, as far as what is entered has changed."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    row = await hub.courses.rerun(competition, by, anyway=data.anyway)
    return ClassCompetition(**_summary(row))


@post(HERE + "/{competition:str}/pause", **_ORGANISE)
async def pause(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Begin no more matches of the final; those that run are played on."""
    return await _move(state, request, competition, "pause", data)


@post(HERE + "/{competition:str}/resume", **_ORGANISE)
async def resume(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> ClassCompetition:
    """Let a paused final go on."""
    return await _move(state, request, competition, "resume", data)


@post(HERE + "/{competition:str}/finish", **_ORGANISE)
async def finish(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> EndedFinal:
    """End a final as it stands, a ladder above all; matches that run are played on.

    Answers whose pairings are left out.
    """
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "run")
    unplayed = await hub.courses.unplayed(row.id)
    summary = await _move(state, request, competition, "finish", data)
    return EndedFinal(**structs.asdict(summary), unplayed=unplayed)


@delete(HERE + "/{competition:str}", **_SECURED)
async def remove(
    state: State,
    request: Call,
    competition: FromPath[str],
    why: Annotated[str, QueryParameter(max_length=1000)] = "",
) -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""
    await _move(state, request, competition, "delete", Step(why))


@get(HERE + "/{competition:str}/board", **_SECURED)
async def board(state: State, request: Call, competition: FromPath[str]) -> list[BoardLine]:
    """Show the standings, as far as whoever asks may see them."""
    hub = hub_of(state)
    viewer = await viewer_of(request, hub)
    found = await hub.boards.board(competition, viewer)
    return [_line(each.standing) for each in found.lines]


@get(HERE + "/{competition:str}/export", **_SECURED)
async def export(state: State, request: Call, competition: FromPath[str]) -> Results:
    """Work out standings and grades anew from what is stored."""
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "see")
    found = await hub.boards.results(row)
    placed = await hub.boards.placed(found, eyes_of(found.file, Viewer(True), found.entrants))
    baselines = found.file.originals
    entries = await grade_entries(hub.store, hub.boards, found)
    scoring = scoring_words(found.rules.scoring)
    return Results(
        found.row.name,
        found.row.status,
        [_line(each) for each in placed],
        [_grade_line(each, baselines, scoring) for each in entries],
        standings_csv(placed, found.file.games),
        grades_csv(
            entries=entries,
            baselines=baselines,
            scoring=scoring,
            certain=found.file.until_certain,
            late=found.file.late.days > 0,
        ),
    )


@get(HERE + "/{competition:str}/suspicious", **_SECURED)
async def suspicious(
    state: State,
    request: Call,
    competition: FromPath[str],
    level: Annotated[float, QueryParameter(gt=0, lt=1)] = 0.05,
) -> Suspicions:
    """Name pairs of owners with unlikely results, and bots that choose alike: a reason to look,
    no proof.  Of what is named the part ``level`` is expected to be there by accident.
    """
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "see")
    return await suspicions(hub.store, row.id, level)


# -------------------------------------------------------------------------- students


@post(HERE + "/{competition:str}/students", **_ORGANISE, request_max_body_size=MAX_LIST)
async def take_in(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentList]
) -> list[Joining]:
    """Take a list of students in, all or none; new ones get a token, shown only here."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    people = [
        NewMember(
            name=each.name,
            account=each.account,
            display=each.display,
            email=each.email,
            line=each.line,
            institution_id=each.institution_id,
        )
        for each in read_students(data.csv)
    ]
    joined = await hub.store.write(
        class_people.take_in,
        competition,
        people,
        by,
        hub.store.now(),
        _time(data.late_until),
        adopt=data.adopt,
    )
    return [Joining(**asdict(each)) for each in joined]


@get(HERE + "/{competition:str}/students", **_SECURED)
async def students(state: State, request: Call, competition: FromPath[str]) -> list[Student]:
    """List the students, with the members of groups."""
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "see")
    return [_student(each) for each in await hub.store.read(class_people.students_of, row.id)]


@post(HERE + "/{competition:str}/limit", **_ORGANISE)
async def limit(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentLimit]
) -> None:
    """Let more, or fewer, students in than the file says."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    await hub.store.write(class_people.allow, competition, data.students, by, hub.store.now())


@post(HERE + "/{competition:str}/extend", **_ORGANISE)
async def extend(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Extension]
) -> None:
    """Let one student submit until a later time than the freeze."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    until = milliseconds(read_time(data.until))
    await hub.store.write(
        class_people.extend, competition, data.student, until, by, hub.store.now()
    )
    await hub.audit_follower.look()


@post(HERE + "/{competition:str}/disqualify", **_ORGANISE)
async def disqualify(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Disqualification]
) -> list[Entry]:
    """Disqualify a student or an entry; answers the entries that leave."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    _, gone = await hub.store.write(
        class_people.disqualify, competition, data.who, by, hub.store.now()
    )
    await hub.audit_follower.look()
    return await _entries(hub, competition, gone)


@post(HERE + "/{competition:str}/revoke", **_ORGANISE)
async def revoke(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentName]
) -> list[Entry]:
    """Take a student out of a competition; answers the entries that leave."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    _, gone = await hub.store.write(
        class_people.leave, competition, data.student, by, hub.store.now()
    )
    await hub.audit_follower.look()
    return await _entries(hub, competition, gone)


@post(HERE + "/{competition:str}/restore", **_ORGANISE)
async def restore(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[StudentName]
) -> None:
    """Let a student back in that was taken out."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    await hub.store.write(class_people.restore, competition, data.student, by, hub.store.now())
    await hub.audit_follower.look()


@post(HERE + "/{competition:str}/reissue-token", **_ORGANISE)
async def reissue_token(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[LostToken]
) -> Joining:
    """Revoke the token that a student lost, and answer a new one, shown only here."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    made = await hub.store.write(
        class_tokens.reissue_token, competition, data.student, data.member, by, hub.store.now()
    )
    await hub.audit_follower.look()
    return Joining(**asdict(made))


@post(HERE + "/{competition:str}/codes", **_ORGANISE)
async def new_code(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewCode]
) -> Code:
    """Make a code by which students join."""
    hub = hub_of(state)
    competition, by = await _by(request, hub, competition, data.why)
    code = await hub.store.write(
        class_codes.add_code,
        competition,
        by,
        hub.store.now(),
        uses=data.uses,
        expires_ms=_time(data.expires),
        group=data.group,
        late_ms=_time(data.late_until),
    )
    return _code(code)


@get(HERE + "/{competition:str}/codes", **_SECURED)
async def codes(state: State, request: Call, competition: FromPath[str]) -> list[Code]:
    """List the codes of a competition."""
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "run")
    return [_code(each) for each in await hub.store.read(class_codes.codes_of, row.id)]


@delete("/api/v1/class/codes/{code:str}", **_SECURED)
async def revoke_code(state: State, request: Call, code: FromPath[str]) -> None:
    """Let nobody in by a code any more."""
    hub = hub_of(state)
    await authorise(request, hub, "organise")
    competition = await hub.store.read(class_codes.class_of, code)
    _, by = await _by(request, hub, competition, "")
    await hub.store.write(class_codes.revoke_code, code, by, hub.store.now())


# --------------------------------------------------------------- what students do


@post("/api/v1/class/join", **_DO)
async def join(state: State, request: Call, data: JSONBody[Join]) -> Joining:
    """Join a competition by a code; ``name`` of the answer is the competition's.

    The account of the token joins, or that of who is signed in at the browser if no ``player`` is
    named; otherwise a new account of that name is made.
    """
    hub = hub_of(state)
    token, member = token_of(request), None
    if not token and not data.player and secret_in(request):
        member = await authorise(request, hub, "play")
    row, joined = await hub.registration.join(
        data.code, data.player, token, address_of(request), member
    )
    return Joining(row.name, joined.account, joined.token, joined.outcome)


@get("/api/v1/class/versions", **_SECURED)
async def versions(
    state: State, request: Call, bot: Annotated[str, QueryParameter(max_length=64)] = ""
) -> list[Version]:
    """List the versions of one's bots, newest first, and where each is entered."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    store = hub.store
    entered: dict[int | None, list[VersionEntry]] = {}
    for each in await store.read(class_bots.submissions, identity.player_id):
        left_out = not each.handed_in and only_handed_in(each.file)
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
        for each in await store.read(class_bots.versions_of, identity.player_id, bot)
    ]


@post(HERE + "/{competition:str}/enter", **_DO, guards=[first("play")])
async def enter(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Submitting]
) -> Entry:
    """Choose which bot and version of one's own plays, until the freeze."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    entry = await hub.store.write(
        class_bots.enter,
        competition,
        identity.player_id,
        data.bot,
        data.version,
        data.replace,
        hub.store.now(),
    )
    return _entry(hub, entry)


HANDLERS: Final[tuple[Any, ...]] = (
    *(check, open_file, list_all, status, open_now, freeze, run, rehearse, rerun, pause, resume),
    *(finish, remove),
    *(board, export, suspicious, take_in, students, limit, extend, disqualify, revoke, restore),
    *(reissue_token, new_code, codes, revoke_code, join, versions, enter),
)


def class_summary(row: ClassRow) -> ClassCompetition:
    """Return a competition as lists and answers show it."""
    return ClassCompetition(**_summary(row))


def _summary(row: ClassRow, file: CompetitionFile | None = None) -> dict[str, Any]:
    if file is None:
        try:
            file = read_competition(row.file)
        except InvalidCompetition:  # a game's file is missing: the others are listed all the same
            file = None
    return {
        "competition": row.id,
        "name": row.name,
        "status": row.status,
        "games": [each.game for each in row.games],
        "time_control": "" if file is None else str(file.time_control),
        "format": row.format,
        "board": "" if file is None else file.board,
        "rules": "" if file is None else file.rules,
        "entries_per_student": row.entries_each,
        "opens_ms": row.opens_ms,
        "freezes_ms": row.freezes_ms,
        "final_ms": row.final_ms,
        "finished_ms": row.finished_ms,
        "rehearsal": row.rehearses is not None,
        "practice": file is not None and file.practice.ladder,
        "practice_of": row.practice_of,
    }


async def _entries(hub: Hub, competition: str, bots: list[int]) -> list[Entry]:
    row = await hub.store.read(class_sql.find, competition)
    found = await hub.store.read(class_finals.played_entries, row.id)
    return [_entry(hub, each) for each in found if each.bot_id in bots]


def _entry(
    hub: Hub,
    entry: ClassEntry,
    baseline: BaselineState | None = None,
    late: tuple[int, float] = (0, 0.0),
) -> Entry:
    here = hub.directory.participants.get(entry.bot_id)
    wanted = entry.next_id or entry.version_id
    connected = here is not None and here.online and here.version_id == wanted
    return Entry(
        *(entry.name, entry.version, entry.digest, entry.chosen, entry.baseline),
        *(entry.status, connected, entry.next_version, entry.next_digest),
        *((baseline.check, baseline.text) if baseline is not None else ("", "")),
        *late,
    )


def _grade_line(entry: GradeEntry, baselines: Sequence[Baseline], scoring: str) -> GradeLine:
    grade = entry.grade
    return GradeLine(
        student=grade.student,
        grade=grade.grade,
        score=grade.score,
        entry=grade.entry,
        against={b.bot: score for b, score in zip(baselines, grade.against, strict=True)},
        scoring=scoring,
        matches={b.bot: count for b, count in zip(baselines, grade.matches, strict=True)},
        standard_error={b.bot: error for b, error in zip(baselines, grade.errors, strict=True)},
        points=entry.points,
        group=entry.group,
        members=[Member(*each) for each in entry.people],
        certainty={
            name: GradeCertainty(each.low, each.high, each.pairs, each.state.value)
            for name, each in entry.certainty.items()
        },
        days_late=grade.days_late,
        penalty=grade.penalty,
    )


def _student(student: ClassStudent) -> Student:
    return Student(
        student.player,
        student.display,
        student.status,
        student.extended_ms,
        [Member(each.name, each.email, each.institution_id) for each in student.members],
    )


def _code(code: CodeRow) -> Code:
    return Code(**asdict(code))


def _line(line: EntryStanding) -> BoardLine:
    who = line.entrant
    return BoardLine(
        rank=line.rank,
        entry=who.name,
        student=who.student,
        status=who.status,
        baseline=who.baseline,
        score=line.score,
        matches=line.matches,
        wins=line.wins,
        draws=line.draws,
        losses=line.losses,
        forfeits=line.forfeits,
        games=dict(line.games),
        version=who.version,
        digest=who.digest,
        place=line.place,
    )
