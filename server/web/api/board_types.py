"""The API's types for the board of a competition."""

from __future__ import annotations

from plyhouse.protocol.api.boards import (
    Board,
    HeadToHead,
    Mean,
    MeanReturn,
    Nash,
    ProvenLine,
    SeatTerm,
    Strength,
    Twin,
)
from plyhouse.server.competition_rules.board_statistics import BoardLine, Crossing
from plyhouse.server.competitions.boards import Board as KnownBoard
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.luck import Adjusted

__all__ = ["board_view", "cross_views"]


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
        twins=[
            Twin(each.entry, each.twin, each.same, each.score, each.elo, each.chance)
            for each in found.duplicates
        ],
        scoring={game: each.value for game, each in found.scoring.items()},
        any_time=found.file.until_certain,
    )


def cross_views(table: dict[tuple[str, str], Crossing]) -> list[HeadToHead]:
    """A crosstab, by the names of the two."""
    return [HeadToHead(*key, *cell[:4], _mean(cell.score)) for key, cell in sorted(table.items())]


def _line(line: BoardLine, lucky: frozenset[str], grade: str) -> ProvenLine:
    standing, estimate = line.standing, line.estimate
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
        rating=None
        if estimate is None
        else Strength(
            elo=estimate.elo,
            low=estimate.low,
            high=estimate.high,
            any_low=estimate.any_low,
            any_high=estimate.any_high,
            rank_low=estimate.rank_low,
            rank_high=estimate.rank_high,
            matches=estimate.games,
        ),
        ahead=line.ahead,
        twin_of=who.twin_of,
        nash=None
        if line.nash is None
        else Nash(
            share=line.nash.share,
            low=line.nash.low,
            high=line.nash.high,
            score=line.nash.score,
            chosen=line.nash.chosen,
        ),
        returns={game: _return(each, known=game in lucky) for game, each in line.returns.items()},
        place=standing.place,
        grade=grade,
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
