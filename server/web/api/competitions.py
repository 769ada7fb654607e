"""Competitions: their steps, boards and exports.

Staff needs a role in the competition (`plyhouse.server.accounts.roles`) and a token
with the scope ``organise``; the audit log records its actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import structs

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import (
    LONGEST_WHY,
    FileText,
    NewCompetition,
    Step,
)
from plyhouse.protocol.api.competitions import (
    Competition,
    CompetitionDetail,
    EndedFinal,
    Measure,
    Rehearsal,
)
from plyhouse.protocol.api.reports import Suspicions
from plyhouse.protocol.api.standings import BoardLine, GradeCertainty, GradeLine, Results
from plyhouse.server.accounts.roles import require
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competition_rules.file import Baseline, decoded
from plyhouse.server.competitions.exports import grade_entries, grade_table
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.suspicions import suspicions
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.grades.grade_files import GradeEntry
from plyhouse.server.grades.standings import Standing as EntryStanding
from plyhouse.server.grades.standings_files import standings_csv
from plyhouse.server.grades.visible_entries import Viewer, visible_entries
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.results.scoring import scoring_words
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import (
    authorise,
    staff_acting,
    staff_for,
    viewer_of,
)
from plyhouse.server.web.api.competition_people import entry_in, student_row
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import FROM_DATABASE
from plyhouse.server.web.parameters import service
from plyhouse.storage import (
    competition_sql,
    measures,
)
from plyhouse.storage.competition_rows import (
    CompetitionRow,
)
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


# ---------------------------------------------------------------------- competitions


@serve(competition_calls.check_competition)
async def check(state: State, request: Call, data: JSONBody[FileText]) -> list[Measure]:
    """Say whether a file could be opened here; answers what its games cost here."""
    await authorise(request, "organise")
    file = await service(state, Competitions).check(data.file)
    control = str(file.time_control)
    return [
        await service(state, Store).read(
            measures.measure, game, control, hosted=file.hosting_required
        )
        for game in file.games
    ]


@serve(competition_calls.open_competition)
async def open_file(state: State, request: Call, data: JSONBody[NewCompetition]) -> Competition:
    """Open a competition by its file; needs a token with the scope ``organise``."""
    identity = await authorise(request, "organise")
    by = By(identity.player, data.why, identity.player_id)
    made = await service(state, Competitions).open(data.file, by, entries=data.entries)
    return competition_summary(made)


@serve(competition_calls.competitions, opt=FROM_DATABASE)
async def list_all(state: State) -> list[Competition]:
    """List the competitions, newest first."""
    return [
        competition_summary(row)
        for row in await service(state, Store).read(competition_sql.list_all)
    ]


@serve(competition_calls.competition)
async def status(state: State, request: Call, competition: FromPath[str]) -> CompetitionDetail:
    """Show a competition with its students, entries and progress."""
    row, _ = await staff_for(request, competition, "see")
    if row.parsed is None and row.note:
        raise Problem("competition/unreadable", row.note)
    view = await service(state, Competitions).view(row.id)
    return CompetitionDetail(
        **_summary(view.row),
        note=view.row.note or "",
        warnings=list(view.warnings),
        checks=await service(state, Hosting).waiting_checks(row.id),
        file=view.row.file,
        students=[student_row(each) for each in view.students],
        entries=[entry_in(view, service(state, Directory), each) for each in view.entries],
        progress=list(view.games),
    )


async def _move(
    state: State, request: Call, competition: str, step: str, data: Step
) -> Competition:
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    if step == "delete" and row.rehearses is None:
        await require(store, row, identity, "change")
    by = By(identity.player, data.why, identity.player_id)
    row = await store.write(competition_sql.move, row.id, step, by, store.now())
    await service(state, AuditFollower).look()
    return competition_summary(row)


def _step(step: str, does: str) -> HTTPRouteHandler:
    """Return the route of a step that only changes the status of a competition."""

    @serve(competition_calls.step_competition, step=step, description=does)
    async def handler(
        state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
    ) -> Competition:
        return await _move(state, request, competition, step, data)

    return handler


STEPS: Final = (
    _step("open", "Open a competition before its opening date."),
    _step("freeze", "Freeze the versions that play in the final; practice continues."),
    _step("pause", "Start no more matches of the final; running ones continue."),
    _step("resume", "Continue a paused final."),
)


@serve(competition_calls.step_competition, step="run")
async def run(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> Competition:
    """Begin the final."""
    row, by = await staff_acting(request, competition, data.why)
    row = await service(state, Competitions).run(row.id, by, anyway=data.anyway)
    return competition_summary(row)


@serve(competition_calls.rehearse_competition)
async def rehearse(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> Rehearsal:
    """Play the final with the submissions so far; its results do not count.

    It is a separate competition, which you can view and delete like any other.
    """
    row, by = await staff_acting(request, competition, data.why)
    row, left_out = await service(state, Competitions).rehearse(row.id, by)
    return Rehearsal(**_summary(row), left_out=left_out)


@serve(competition_calls.step_competition, step="rerun")
async def rerun(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> Competition:
    """Play a final that is over again, as far as what is entered has changed."""
    row, by = await staff_acting(request, competition, data.why)
    row = await service(state, Competitions).rerun(row.id, by, anyway=data.anyway)
    return competition_summary(row)


@serve(competition_calls.finish_competition)
async def finish(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Step]
) -> EndedFinal:
    """End a final with its current table, above all a ladder; running matches are finished.

    Answers whose pairings are left out.
    """
    row, _ = await staff_for(request, competition, "run")
    unplayed = await service(state, Competitions).unplayed(row.id)
    summary = await _move(state, request, competition, "finish", data)
    return EndedFinal(**structs.asdict(summary), unplayed=unplayed)


@serve(competition_calls.delete_competition)
async def remove(
    state: State,
    request: Call,
    competition: FromPath[str],
    why: Annotated[str, QueryParameter(max_length=LONGEST_WHY)] = "",
) -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""
    await _move(state, request, competition, "delete", Step(why))


@serve(competition_calls.board)
async def board(state: State, request: Call, competition: FromPath[str]) -> list[BoardLine]:
    """Show the standings that you may see."""
    viewer = await viewer_of(request)
    found = await service(state, Boards).board(competition, viewer)
    return [_line(each.standing) for each in found.lines]


@serve(competition_calls.export)
async def export(state: State, request: Call, competition: FromPath[str]) -> Results:
    """Compute standings and grades from the stored results."""
    boards = service(state, Boards)
    row, _ = await staff_for(request, competition, "see")
    found = await boards.results.of(row)
    placed = await boards.placed(found, visible_entries(found.file, Viewer(True), found.entrants))
    baselines = found.file.originals
    entries = await grade_entries(service(state, Store), boards, found)
    scoring = scoring_words(found.rules.scoring)
    return Results(
        found.row.name,
        found.row.status,
        [_line(each) for each in placed],
        [_grade_line(each, baselines, scoring) for each in entries],
        standings_csv(placed, found.file.games),
        grade_table(found, entries),
    )


@serve(competition_calls.suspicions)
async def suspicious(
    state: State,
    request: Call,
    competition: FromPath[str],
    level: Annotated[float, QueryParameter(gt=0, lt=1)] = 0.05,
) -> Suspicions:
    """Name pairs of owners with unlikely results, and bots that choose alike: a reason to look,
    no proof.  The share ``level`` of the named pairs is expected to be named by accident.
    """
    row, _ = await staff_for(request, competition, "see")
    return await suspicions(service(state, Store), row.id, level)


HANDLERS: Final[tuple[Any, ...]] = (
    *(check, open_file, list_all, status, *STEPS, run, rehearse, rerun, finish, remove),
    *(board, export, suspicious),
)


def competition_summary(row: CompetitionRow) -> Competition:
    """Return a competition as lists and answers show it."""
    return Competition(**_summary(row))


def _summary(row: CompetitionRow) -> dict[str, Any]:
    file = decoded(row.parsed)
    return {
        "competition": row.id,
        "name": row.name,
        "status": row.status,
        "games": [each.game for each in row.games],
        "time_control": str(file.time_control) if file.games else "",
        "format": row.format,
        "board": file.board,
        "rules": file.rules,
        "entries_per_student": row.entries_each,
        "opens_ms": row.opens_ms,
        "freezes_ms": row.freezes_ms,
        "final_ms": row.final_ms,
        "finished_ms": row.finished_ms,
        "rehearsal": row.rehearses is not None,
        "practice": file.practice.ladder,
        "practice_of": row.practice_of,
        "zone": row.zone,
    }


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
        members=list(entry.people),
        certainty={
            name: GradeCertainty(each.low, each.high, each.pairs, each.state.value)
            for name, each in entry.certainty.items()
        },
        days_late=grade.days_late,
        penalty=grade.penalty,
    )


def _line(line: EntryStanding) -> BoardLine:
    who = line.entrant
    return BoardLine(
        **structs.asdict(line.shown), version=who.version, digest=who.digest, place=line.place
    )
