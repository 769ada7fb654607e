"""What the API says of the board of a competition."""

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
from plyhouse.server.competition.evidence import Crossing, Line
from plyhouse.server.contests.boards import Board as KnownBoard
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.luck import Adjusted

__all__ = ["board_view", "cross_views"]


def board_view(found: KnownBoard, *, crosses: bool) -> Board:
    """A board for programs."""
    fitted = found.evidence.fitted
    return Board(
        *(found.row.id, found.row.name, found.row.status, found.file.board),
        *(found.evidence.matches, found.evidence.repeated),
        [_line(each, found.evidence.lucky) for each in found.lines],
        list(found.notes),
        {}
        if fitted is None
        else {
            game: [SeatTerm(seat, *term) for seat, term in enumerate(terms)]
            for game, terms in fitted.seats.items()
        },
        {} if fitted is None else dict(fitted.draws),
        cross_views(found.crosstab) if crosses else [],
        [
            Twin(each.entry, each.twin, each.same, each.score, each.elo, each.chance)
            for each in found.twins
        ],
        {game: each.value for game, each in found.scoring.items()},
        found.file.until_certain,
    )


def cross_views(table: dict[tuple[str, str], Crossing]) -> list[HeadToHead]:
    """A crosstab, by the names of the two."""
    return [HeadToHead(*key, *cell[:4], _mean(cell.score)) for key, cell in sorted(table.items())]


def _line(line: Line, lucky: frozenset[str]) -> ProvenLine:
    standing, estimate = line.standing, line.estimate
    who = standing.entrant
    return ProvenLine(
        *(standing.rank, who.name, who.student, who.status, who.baseline, standing.score),
        *(standing.matches, standing.wins, standing.draws, standing.losses, standing.forfeits),
        dict(standing.games),
        None
        if estimate is None
        else Strength(
            *(estimate.elo, estimate.low, estimate.high, estimate.any_low, estimate.any_high),
            *(estimate.rank_low, estimate.rank_high, estimate.games),
        ),
        line.ahead,
        who.twin_of,
        None
        if line.nash is None
        else Nash(
            *(line.nash.share, line.nash.low, line.nash.high, line.nash.score, line.nash.chosen)
        ),
        {game: _return(each, known=game in lucky) for game, each in line.returns.items()},
        standing.place,
    )


def _return(found: Adjusted, *, known: bool) -> MeanReturn:
    adjusted, saved = (_mean(found.adjusted), found.saved) if known else (None, None)
    return MeanReturn(_mean(found.raw), adjusted, saved, *(found.watched or (None, None)))


def _mean(interval: Interval) -> Mean:
    finite = abs(interval.low) != float("inf")
    return Mean(
        *(interval.mean, interval.low if finite else None, interval.high if finite else None),
        interval.size,
    )
