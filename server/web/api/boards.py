"""The board of a competition, and its results as files."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Stream

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.boards import (
    Board,
    HeadToHead,
    Mean,
    MeanReturn,
    ProvenLine,
    SeatTerm,
)
from plyhouse.protocol.api.reports import Report
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.exports import FILES, MATCHES, STAFF_FILES, Exports
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.grades.board import Board as KnownBoard
from plyhouse.server.grades.board_statistics import BoardLine, Crossing, strength
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.luck import Adjusted
from plyhouse.server.web.api.access import authorise, staff_for, viewer_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service


def board_view(found: KnownBoard, *, crosses: bool) -> Board:
    """A board for programs."""
    fitted = found.statistics.fitted
    return Board(
        competition=found.row.id,
        name=found.row.name,
        status=found.row.status,
        board=found.file.board,
        matches=found.statistics.matches,
        repeated=found.statistics.repeated,
        lines=[
            _line(each, found.statistics.lucky, found.grades.get(each.standing.entrant.name, ""))
            for each in found.lines
        ],
        notes=list(found.notes),
        seats={}
        if fitted is None
        else {
            game: [SeatTerm(seat, *term) for seat, term in enumerate(terms)]
            for game, terms in fitted.seats.items()
        },
        draws={} if fitted is None else dict(fitted.draws),
        crosstab=cross_views(found.crosstab) if crosses else [],
        twins=list(found.duplicates),
        scoring={game: each.value for game, each in found.scoring.items()},
        any_time=found.file.until_certain,
    )


def cross_views(table: dict[tuple[str, str], Crossing]) -> list[HeadToHead]:
    """A crosstab, by the names of the two."""
    return [HeadToHead(*key, *cell[:4], _mean(cell.score)) for key, cell in sorted(table.items())]


def _line(line: BoardLine, lucky: frozenset[str], grade: str) -> ProvenLine:
    standing = line.standing
    who = standing.entrant
    return ProvenLine(
        rank=standing.rank,
        entry=who.name,
        student=who.student,
        status=who.status,
        baseline=who.baseline,
        score=standing.score,
        matches=standing.matches,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        forfeits=standing.forfeits,
        games=dict(standing.games),
        rating=strength(line.estimate),
        ahead=line.ahead,
        twin_of=who.twin_of,
        nash=line.nash,
        returns={game: _return(each, known=game in lucky) for game, each in line.returns.items()},
        place=standing.place,
        grade=grade,
        partners=[name for _, name in who.partners],
    )


def _return(found: Adjusted, *, known: bool) -> MeanReturn:
    adjusted, saved = (_mean(found.adjusted), found.saved) if known else (None, None)
    return MeanReturn(_mean(found.raw), adjusted, saved, *(found.watched or (None, None)))


def _mean(interval: Interval) -> Mean:
    finite = abs(interval.low) != float("inf")
    return Mean(
        interval.mean,
        interval.low if finite else None,
        interval.high if finite else None,
        interval.size,
    )


@serve(competition_calls.table)
async def table(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    crosstab: FromQuery[bool] = False,
) -> Board:
    """Show the standings with ratings, their intervals and what the results withhold.

    The answer has what you may see. docs/ratings.md explains the columns.
    """
    found = await service(state, Boards).board(competition, await viewer_of(request))
    return await asyncio.to_thread(board_view, found, crosses=crosstab)


@serve(competition_calls.report)
async def report(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    student: Annotated[str, QueryParameter(max_length=64)] = "",
) -> Report:
    """Report on one student: to itself with its own token, or to an organiser.

    ``student`` is an account; without it, your own.
    """
    identity = await authorise(request, "play", "organise")
    return await service(state, Reports).report(competition, student, identity)


Call = Request[Any, Any, Any]
BOM: Final = "\ufeff"
"""Without this mark, Excel does not read a CSV file as UTF-8."""


@serve(competition_calls.export_file, media_type="application/octet-stream")
async def file(
    state: State, request: Call, competition: FromPath[str], form: FromPath[str]
) -> Response[Any]:
    """Return a file of a competition.

    csv, md, html and json have the standings that you may see, and jsonl, pgn, sgf, pdn, mat and
    parquet the matches. Only staff may read grades, canvas, moodle and gradescope.
    """
    if form not in FILES:
        raise Problem("http/404", f"There is no format {form!r}; use {', '.join(FILES)}.", 404)
    name, media_type = FILES[form]
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
    }
    exports = service(state, Exports)
    content: str | bytes
    if form in STAFF_FILES:
        row, _ = await staff_for(request, competition, "see")
        if form == "grades":
            content = BOM + await exports.grades(row.id)
        elif form == "gradescope":
            content = await exports.gradescope(row.id)
        else:
            content = await exports.platform(row.id, form)
    else:
        viewer = await viewer_of(request)
        if form in MATCHES:
            parts = await exports.matches(competition, form, viewer)
            return Stream(parts, media_type=media_type, headers=headers)
        if form == "parquet":
            content = await exports.parquet(competition, viewer)
        elif form == "json":
            board = await service(state, Boards).board(competition, viewer)
            view = await asyncio.to_thread(board_view, board, crosses=True)
            plain = {"standings": msgspec.to_builtins(view.lines), **msgspec.to_builtins(view)}
            plain.pop("lines")
            content = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        else:
            content = await exports.standings(competition, form, viewer)
    return Response(content, media_type=media_type, headers=headers)


HANDLERS: Final[tuple[Any, ...]] = (
    table,
    report,
    file,
)
