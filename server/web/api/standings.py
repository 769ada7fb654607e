"""Leaderboards of games, boards of competitions, rounds of finals, and results as files."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

import msgspec
from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Stream
from msgspec import structs

from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.api.standings import (
    BaselineCertainty,
    Board,
    GameRounds,
    HeadToHead,
    Leaderboard,
    Mean,
    MeanReturn,
    NextPairing,
    Place,
    ProvenLine,
    Round,
    RoundPairing,
    SeatTerm,
)
from plyhouse.server.competition_rules.formats import RoundLine
from plyhouse.server.competitions.exports import FILES, MATCHES, STAFF_FILES, Exports
from plyhouse.server.competitions.finals import finals_of
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.upcoming_pairings import SHOWN, upcoming
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.grades.board import Board as KnownBoard
from plyhouse.server.grades.board_statistics import BoardLine, Crossing, strength
from plyhouse.server.grades.game_tables import Decider, GameFinal
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.leaderboards import board, scoring_of
from plyhouse.server.results.luck import Adjusted
from plyhouse.server.web.api.access import authorise, staff_for, viewer_of, visitor_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import FROM_DATABASE, leave_to_leader
from plyhouse.server.web.parameters import Limit, Name, Offset, Reference, service
from plyhouse.storage import competition_sql
from plyhouse.storage import leaderboards as stored_leaderboards
from plyhouse.storage.store import Store


def board_view(found: KnownBoard, *, crosses: bool) -> Board:
    """A board for programs."""
    fitted = found.statistics.fitted
    by_grade = found.decided_by == "grade"
    return Board(
        competition=found.row.id,
        name=found.row.name,
        status=found.row.status,
        board=found.file.board,
        matches=found.statistics.matches,
        repeated=found.statistics.repeated,
        lines=[
            _line(
                each, found.statistics.lucky, grade, why._replace(value=grade) if by_grade else why
            )
            for each, why in zip(found.lines, found.deciders, strict=True)
            for grade in [found.grades.get(each.standing.entrant.name, "")]
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
        decided_by=found.decided_by,
    )


def cross_views(table: dict[tuple[str, str], Crossing]) -> list[HeadToHead]:
    """A crosstab, by the names of the two."""
    return [HeadToHead(*key, *cell[:4], _mean(cell.score)) for key, cell in sorted(table.items())]


def _line(line: BoardLine, lucky: frozenset[str], grade: str, why: Decider) -> ProvenLine:
    standing = line.standing
    who = standing.entrant
    return ProvenLine(
        **structs.asdict(standing.shown),
        rating=strength(line.estimate),
        ahead=line.ahead,
        twin_of=who.twin_of,
        nash=line.nash,
        returns={game: _return(each, known=game in lucky) for game, each in line.returns.items()},
        place=standing.place,
        grade=grade,
        partners=[name for _, name in who.partners],
        decider=why.value,
        tie_break=why.tie_break,
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


@serve(competition_calls.table, opt=FROM_DATABASE)
async def table(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    crosstab: FromQuery[bool] = False,
) -> Board:
    """Show the standings with ratings, their intervals and what the results withhold.

    The answer has what you may see. docs/ratings.md explains the columns.
    """
    row = await service(state, Store).read(competition_sql.find, competition)
    if row.status != "finished":
        leave_to_leader(request.scope)
    found = await service(state, Boards).board(row.id, await viewer_of(request))
    return await computed(board_view, found, crosses=crosstab)


@serve(competition_calls.report)
async def report(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    student: Name = "",
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
            parts = await exports.matches(competition, form, viewer, await visitor_of(request))
            return Stream(parts, media_type=media_type, headers=headers)
        if form == "parquet":
            content = await exports.parquet(competition, viewer)
        elif form == "json":
            board = await service(state, Boards).board(competition, viewer)
            view = await computed(board_view, board, crosses=True)
            plain = {"standings": msgspec.to_builtins(view.lines), **msgspec.to_builtins(view)}
            plain.pop("lines")
            content = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        else:
            content = await exports.standings(competition, form, viewer)
    return Response(content, media_type=media_type, headers=headers)


@serve(competition_calls.rounds)
async def rounds(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    game: Reference = "",
) -> list[GameRounds]:
    """Show the rounds and the table of each game of a final, or of one game.

    Everybody who may see the board sees this; on an anonymous board students see their own
    pairings.
    """
    viewer = await viewer_of(request)
    found = await finals_of(service(state, Boards), competition, viewer)
    return [_game_rounds(each) for each in found if game in ("", each.game)]


@serve(competition_calls.certainty)
async def certainty(
    state: State, request: Request[Any, Any, Any], competition: FromPath[str]
) -> list[BaselineCertainty]:
    """Show how sure grades are in a gauntlet that goes on until they are certain.

    Everybody who may see the board sees this; on an anonymous board students see their own.
    """
    identity = await viewer_of(request)
    return [
        BaselineCertainty(
            game=final.game,
            entry=final.names[each.entry],
            baseline=final.names[each.baseline],
            pairs=each.decision.pairs,
            mean=each.decision.mean,
            low=each.decision.low,
            high=each.decision.high,
            state=each.decision.state.value,
            reached=each.reached,
        )
        for final in await finals_of(service(state, Boards), competition, identity)
        for each in final.certainty
    ]


@serve(competition_calls.next_pairings)
async def following(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = SHOWN,
) -> list[NextPairing]:
    """Show the pairings of each game that come next, as far as they are known; one's own first.

    Everybody who may see the board sees them; on an anonymous board students see their own.
    A ladder draws when two bots have room, and knows none before.
    """
    viewer = await viewer_of(request)
    return await upcoming(
        boards=service(state, Boards),
        tournaments=service(state, Tournaments),
        reference=competition,
        identity=viewer,
        limit=limit,
    )


def _game_rounds(final: GameFinal) -> GameRounds:
    return GameRounds(
        game=final.game,
        tournament=final.tournament_id,
        format=final.format,
        tie_breaks=list(final.tie_breaks),
        table=[
            Place(
                place=row.place,
                entry=final.names[row.entry],
                points=row.points,
                played=row.played,
                tie_breaks=list(row.tie_breaks),
                withdrawn=row.withdrawn,
                baseline=row.baseline,
            )
            for row in final.table
        ],
        rounds=[
            Round(each.number, each.name, [_round_line(final, line) for line in each.lines])
            for each in final.rounds
        ],
        decided_by=final.decided_by,
        seeds=[final.names[bot] for bot in final.seeds],
        lot=final.lot,
    )


def _round_line(final: GameFinal, line: RoundLine[int]) -> RoundPairing:
    outcome = line.outcome
    scores = None
    if outcome is not None and not outcome.void:
        own = dict(zip(outcome.entries, outcome.scores, strict=True))
        scores = [own.get(bot, 0.0) for bot in line.players]
    return RoundPairing(
        line.key,
        [None if bot is None else final.names[bot] for bot in line.entries],
        line.state.value,
        scores,
        0 if outcome is None or outcome.void else outcome.matches,
        None if line.winner is None else final.names[line.winner],
        final.pairings.get(line.key, "") if line.state.begun else "",
    )


@serve(calls.leaderboards, opt=FROM_DATABASE)
async def leaderboards(state: State) -> list[str]:
    """List the games that have results."""
    return await service(state, Store).read(stored_leaderboards.games_with_results)


@serve(calls.leaderboard, opt=FROM_DATABASE)
async def leaderboard(
    state: State,
    game: FromPath[str],
    versions: FromQuery[Literal["latest", "all"]] = "latest",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Leaderboard:
    """Give the standings of a game; ratings come with their 95 % interval.

    For a game scored by returns, the mean return per match has one, too.  Results are kept per
    version of a bot: shown are those of the version that it played with last, or of all versions.
    """
    spec = read_game(game).spec
    standings = await board(
        service(state, Store), spec, limit, offset, every_version=versions == "all"
    )
    return Leaderboard(spec, scoring_of(spec).value, standings)


HANDLERS: Final[tuple[Any, ...]] = (
    table,
    report,
    file,
    rounds,
    certainty,
    following,
    leaderboards,
    leaderboard,
)
