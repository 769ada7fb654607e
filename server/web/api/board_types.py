"""What the API says of the board of a competition."""

from __future__ import annotations

from msgspec import Struct

from plyhouse.server.competition.evidence import Crossing, Line
from plyhouse.server.house.boards import Board
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.luck import Adjusted

__all__ = ["BoardView", "CrossView", "TwinView", "board_view", "cross_views"]


class MeanView(Struct):
    """A mean with its 95 % interval; a bound is null where one mirrored pair says nothing yet."""

    mean: float
    low: float | None
    high: float | None
    pairs: int


class ReturnView(Struct):
    """The mean return per match, over mirrored pairs."""

    raw: MeanView
    adjusted: MeanView | None
    """With the luck of dice and cards taken out; null where the server cannot tell it."""
    saved: float | None
    """The part of the games that this saves for an interval as wide."""
    any_low: float | None
    any_high: float | None
    """The 95 % interval of the raw mean for whoever looks at every moment; null where the game
    does not say how much a return can be."""


class RatingView(Struct):
    """A fitted strength, in Elo points."""

    elo: float
    low: float
    high: float
    """The 95 % interval for one look, after a number of matches fixed before."""
    any_low: float
    any_high: float
    """The 95 % interval for whoever looks at every moment."""
    rank_low: int
    rank_high: int
    """The best and the worst rank among the lines shown that it may have."""
    matches: float


class NashView(Struct):
    """What Nash averaging says."""

    share: float
    low: float
    high: float
    score: float
    chosen: float


class TableLine(Struct):
    """One line of a board: what the rules say, and what it proves."""

    rank: int | None
    """The rank by ``score``."""
    entry: str
    student: str
    status: str
    baseline: bool
    score: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    """Matches that it forfeited; 0 for an entry without a name."""
    games: dict[str, float]
    rating: RatingView | None
    ahead: float | None
    """How likely it is stronger than the entry of the next line; null for the last one."""
    twin_of: str
    """The entry that it is a twin of, and then without a rank; empty for all others."""
    nash: NashView | None
    returns: dict[str, ReturnView]
    """By game."""
    place: int | None = None
    """The place by the rules of the format; lines come in this order."""


class SeatTerm(Struct):
    """What a seat is worth beside the last one of its game, in Elo points."""

    seat: int
    elo: float
    low: float
    high: float


class CrossView(Struct):
    """All matches of one entry against another."""

    entry: str
    other: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: MeanView


class TwinView(Struct):
    """One bot entered twice: by how much chance drives equals apart on this board."""

    entry: str
    twin: str
    same: bool
    """Whether the same files and options played under both names."""
    score: float | None
    """By how much their scores differ; null until both have played."""
    elo: float | None
    """By how much their ratings differ."""
    chance: float | None
    """By how much, at most, chance makes ratings of two equals differ 95 times in 100."""


class BoardView(Struct):
    """A board as whoever asks may see it."""

    competition: str
    name: str
    status: str
    board: str
    matches: int
    repeated: int
    """Matches that repeat an earlier one move by move, which the ratings leave out."""
    lines: list[TableLine]
    notes: list[str]
    seats: dict[str, list[SeatTerm]]
    """By game."""
    draws: dict[str, float]
    """By game how often equals draw."""
    crosstab: list[CrossView]
    """Only if it was asked for."""
    twins: list[TwinView]
    scoring: dict[str, str] = {}
    """What scores a match, by game: ``wins`` or ``returns``."""
    any_time: bool = False
    """Whether all intervals are any-time ones, as pairings were played until grades were certain;
    ``low`` and ``high`` are ``any_low`` and ``any_high`` then."""


def board_view(found: Board, *, crosses: bool) -> BoardView:
    """A board for programs."""
    fitted = found.evidence.fitted
    return BoardView(
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
            TwinView(each.entry, each.twin, each.same, each.score, each.elo, each.chance)
            for each in found.twins
        ],
        {game: each.value for game, each in found.scoring.items()},
        found.file.until_certain,
    )


def cross_views(table: dict[tuple[str, str], Crossing]) -> list[CrossView]:
    """A crosstab, by the names of the two."""
    return [CrossView(*key, *cell[:4], _mean(cell.score)) for key, cell in sorted(table.items())]


def _line(line: Line, lucky: frozenset[str]) -> TableLine:
    standing, estimate = line.standing, line.estimate
    who = standing.entrant
    return TableLine(
        *(standing.rank, who.name, who.student, who.status, who.baseline, standing.score),
        *(standing.matches, standing.wins, standing.draws, standing.losses, standing.forfeits),
        dict(standing.games),
        None
        if estimate is None
        else RatingView(
            *(estimate.elo, estimate.low, estimate.high, estimate.any_low, estimate.any_high),
            *(estimate.rank_low, estimate.rank_high, estimate.games),
        ),
        line.ahead,
        who.twin_of,
        None
        if line.nash is None
        else NashView(
            *(line.nash.share, line.nash.low, line.nash.high, line.nash.score, line.nash.chosen)
        ),
        {game: _return(each, known=game in lucky) for game, each in line.returns.items()},
        standing.place,
    )


def _return(found: Adjusted, *, known: bool) -> ReturnView:
    adjusted, saved = (_mean(found.adjusted), found.saved) if known else (None, None)
    return ReturnView(_mean(found.raw), adjusted, saved, *(found.watched or (None, None)))


def _mean(interval: Interval) -> MeanView:
    finite = abs(interval.low) != float("inf")
    return MeanView(
        *(interval.mean, interval.low if finite else None, interval.high if finite else None),
        interval.size,
    )
