"""Results of a final made into standings and grades, and these into CSV.

A *score* is from 0 to 1.  A match scores by wins or by returns
(`plyhouse.server.results.scoring`); a game scores the mean over its matches; an entry scores the
mean over its games, each counting alike however many matches it has.
Entries with the same score share a rank.  Who was disqualified has no rank, and comes last; the
results of others against it stay.  A twin (`plyhouse.server.competition.twins`) stands where its
score puts it, without a rank, and the others are ranked as if it were not there.

A grade (`plyhouse.server.competition.grading`) compares the mean score against each baseline, over
all matches of all games, with what the file says.  A student with several entries gets the best.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plyhouse.server.competition.file import Baseline
from plyhouse.server.competition.grade_evidence import standard_error
from plyhouse.server.competition.grading import grade_level

__all__ = ["Entrant", "Grade", "SeatResult", "Standing", "grades", "standings",
           "standings_csv"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in the final."""

    bot_id: int
    name: str
    """``player/bot``."""
    student: str
    """The account of its student or group."""
    status: str = "active"
    """``active``, ``disqualified`` or ``withdrawn``."""
    baseline: bool = False
    version: str = ""
    digest: str = ""
    twin_of: str = ""
    """The name of the entry that this is the same bot as; empty for all others."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """What one seat got in one match that counts."""

    match: str
    game: str
    bot_id: int
    score: float
    result: str
    """``W``, ``D`` or ``L``."""
    forfeit: str = ""
    """How it forfeited the match, where it did: ``flag_fall`` and so on."""
    pairing: str = ""
    """Matches of one mirrored pairing have the same; empty for a match that stands alone."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the standings."""

    rank: int | None
    """The rank by ``score``; None for disqualified entries and twins."""
    entrant: Entrant
    score: float | None
    """None as long as nothing was played."""
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    games: Mapping[str, float] = field(default_factory=dict)
    """The score in each game."""
    place: int | None = None
    """The place by the rules of the format (`plyhouse.server.competition.places`).

    None before the final, for disqualified entries, twins, and baselines that are not ranked.
    """


@dataclass(frozen=True, slots=True)
class Grade:
    """What a student gets."""

    student: str
    grade: str
    """Empty where no threshold was reached; ``disqualified``, ``nothing entered`` or, for what was
    entered and has played no match, ``nothing played``."""
    score: float | None
    entry: str
    """The entry that it is for."""
    against: tuple[float | None, ...]
    """The mean score against each baseline of the file; None where they have not met."""
    matches: tuple[int, ...] = ()
    """How many matches each of these means is of."""
    errors: tuple[float | None, ...] = ()
    """The standard error of each of these means (`standard_error`)."""
    level: int = -1
    """The number of the baseline that the grade is of; below 0 for no grade."""
    days_late: int = 0
    """How many days, begun or full, the entry came after the freeze or the student's extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


def standings(
    entrants: Iterable[Entrant], results: Sequence[SeatResult], *, by_opponent: bool = False
) -> list[Standing]:
    """Return the standings, best first; those with equal scores by name.

    ``by_opponent`` gives every opponent the same weight in the score of a game, however often it
    was met.
    """
    of: dict[int, list[SeatResult]] = defaultdict(list)
    for result in results:
        of[result.bot_id].append(result)
    opponents: dict[str, list[int]] = defaultdict(list)
    for result in results if by_opponent else ():
        opponents[result.match].append(result.bot_id)
    lines = [_line(entrant, of[entrant.bot_id], opponents) for entrant in entrants]
    lines.sort(key=lambda line: (*_place(line), line.entrant.name.lower()))
    ranked: list[Standing] = []
    number, last = 0, None
    for line in lines:
        rank: int | None = None
        if not line.entrant.twin_of and line.entrant.status != "disqualified":
            number += 1
            same = last is not None and _place(last) == _place(line)
            rank = last.rank if last is not None and same else number
        ranked.append(
            Standing(
                *(rank, line.entrant, line.score, line.matches, line.wins, line.draws),
                *(line.losses, line.forfeits, line.games),
            )
        )
        if rank is not None:
            last = ranked[-1]
    return ranked


def _place(line: Standing) -> tuple[bool, float]:
    return line.entrant.status == "disqualified", -1.0 if line.score is None else -line.score - 2


def _line(
    entrant: Entrant, results: Sequence[SeatResult], opponents: Mapping[str, Sequence[int]]
) -> Standing:
    """A line without its rank; ``opponents`` are the bots of each match, if they weigh alike."""
    scores: dict[str, dict[tuple[int, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        met = sorted(bot for bot in opponents.get(result.match, ()) if bot != entrant.bot_id)
        scores[result.game][tuple(met)].append(result.score)
    games = {
        game: sum(sum(each) / len(each) for each in met.values()) / len(met)
        for game, met in sorted(scores.items())
    }
    count = {letter: sum(each.result == letter for each in results) for letter in "WDL"}
    return Standing(
        None,
        entrant,
        _rounded(sum(games.values()) / len(games)) if games else None,
        len(results),
        *(count["W"], count["D"], count["L"]),
        sum(bool(each.forfeit) for each in results),
        games,
    )


def _rounded(score: float) -> float:
    """A mean such that equal results are equal scores, in whatever order they were added up."""
    return round(score, 12)


def grades(
    students: Iterable[str],
    entrants: Sequence[Entrant],
    results: Sequence[SeatResult],
    baselines: Sequence[Baseline],
    *,
    every_lower: bool = True,
    by_opponent: bool = False,
) -> list[Grade]:
    """Return the grade of every student, by name.

    ``every_lower`` as in `grade_level`, ``by_opponent`` as in `standings`.
    """
    needed = [each.at_least if each.grade else None for each in baselines]
    against = _against(results)
    ids = {entrant.name.lower(): entrant.bot_id for entrant in entrants}
    staff = [ids.get(baseline.bot.lower()) for baseline in baselines]
    lines = standings(entrants, results, by_opponent=by_opponent)
    overall = {line.entrant.bot_id: line.score for line in lines}
    own: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        if not entrant.baseline:
            own[entrant.student.lower()].append(entrant)
    found: list[Grade] = []
    for student in sorted(students, key=str.lower):
        options: list[tuple[int, float, Grade]] = []
        for entrant in own[student.lower()]:
            rows = [against[entrant.bot_id, bot] if bot else [] for bot in staff]
            met = tuple(_mean([score for _, score in each]) for each in rows)
            out = entrant.status == "disqualified"
            best = -2 if out else grade_level(met, needed, every_lower=every_lower)
            grade = "disqualified" if out else baselines[best].grade if best >= 0 else ""
            score = overall[entrant.bot_id]
            if score is None and not out:
                grade = "nothing played"
            counts = tuple(map(len, rows))
            errors = tuple(map(_error, rows))
            line = Grade(student, grade, score, entrant.name, met, counts, errors, best)
            options.append((best, -1.0 if score is None else score, line))
        if options:
            found.append(max(options, key=lambda option: option[:2])[2])
        else:
            none = (None,) * len(staff)
            found.append(Grade(student, "nothing entered", None, "", none, (0,) * len(staff), none))
    return found


def _against(results: Sequence[SeatResult]) -> dict[tuple[int, int], list[tuple[str, float]]]:
    """The pairings and scores of each bot in the matches in which it met each other one."""
    matches: dict[str, list[SeatResult]] = defaultdict(list)
    for result in results:
        matches[result.match].append(result)
    found: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for seats in matches.values():
        for one in seats:
            for other in seats:
                if one.bot_id != other.bot_id:
                    unit = one.pairing or one.match
                    found[one.bot_id, other.bot_id].append((unit, one.score))
    return found


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


def _error(rows: Sequence[tuple[str, float]]) -> float | None:
    """The standard error of the mean of scores, over their pairings."""
    pairings: dict[str, list[float]] = defaultdict(list)
    for pairing, score in rows:
        pairings[pairing].append(score)
    return standard_error([sum(each) / len(each) for each in pairings.values()])


def standings_csv(lines: Sequence[Standing], games: Sequence[str]) -> str:
    """The standings as CSV, with a column for the score in each game."""
    header = ["place", "entry", "student", "status", "baseline", "score", "matches",
              "wins", "draws", "losses", "forfeits", *games, "version", "digest"]  # fmt: skip
    rows = [
        [
            "" if line.place is None else line.place,
            line.entrant.name,
            line.entrant.student,
            line.entrant.status,
            "yes" if line.entrant.baseline else "",
            _number(line.score),
            *(line.matches, line.wins, line.draws, line.losses, line.forfeits),
            *(_number(line.games.get(game)) for game in games),
            line.entrant.version,
            line.entrant.digest,
        ]
        for line in lines
    ]
    return _csv(header, rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV that spreadsheets take for text: a cell that begins like a formula gets a ``'``."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_safe(cell) for cell in header])
    writer.writerows([[_safe(cell) for cell in row] for row in rows])
    return out.getvalue()


def _safe(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" and cell else cell
