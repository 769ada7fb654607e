"""Scoring and grades of a final, and the number of matches that makes a grade certain.

Baselines are ordered from the easiest grade to the best one.  A grade needs its own threshold and,
unless the competition says otherwise, every lower one.  A bot that beats the best baseline and
loses to `random` was lucky, or is tuned against that baseline alone.

The scoring and grading of a final, as stored when the final began.

After an update of Plyhouse, or of a game's default, the results of a finished final stay as they
are.  A rerun scores new matches as the first run did.

The number of matches behind a grade, and the certainty that they give.

A grade compares a mean score with a threshold.  A match scores from 0 to 1, so its standard
deviation is at most 1/2, and the mean of n independent matches has a standard error of at most
``0.5 / sqrt(n)``.

`MOST_ERROR` is 0.1.  With this error a bot whose true score is 0.1 below a threshold reaches it one
time in six, and one that is 0.2 below it one time in forty.  It takes `ENOUGH` matches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.games.base import Scoring
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.round_robin import RoundRobin
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage import tournaments
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import GradingRules, settings

DIGITS = 12
"""Decimals to which mean scores are compared, so that the order of summation does not matter."""


def is_reached(score: float | None, at_least: float) -> bool:
    """Return whether a mean reaches a threshold; None (never met) does not."""
    return score is not None and round(score, DIGITS) >= round(at_least, DIGITS)


def grade_level(
    scores: Sequence[float | None], needed: Sequence[float | None], *, every_lower: bool
) -> int:
    """Return the number of the best baseline whose grade is reached; -1 for none.

    ``scores`` are the mean scores against the baselines, ``needed`` their thresholds (None for a
    baseline without a grade), both from the easiest to the hardest.

    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=False)
    1
    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=True)
    -1
    """
    best = -1
    for number, (score, least) in enumerate(zip(scores, needed, strict=True)):
        if least is None:
            continue
        if is_reached(score, least):
            best = number
        elif every_lower:
            break
    return best


def points_of(baselines: Sequence[Baseline], most: float | None) -> list[float]:
    """Return the points of each baseline's grade; 0 for baselines without one.

    Where the file gives none, grades are evenly spaced up to ``most`` (None: one point for each
    grade).  A better grade never has fewer points.
    """
    graded = [each for each in baselines if each.grade]
    step = 1.0 if most is None else most / max(1, len(graded))
    found, number = [], 0
    for each in baselines:
        number += bool(each.grade)
        given = number * step if each.points is None else each.points
        found.append(given if each.grade else 0.0)
    return found


LEDUC: Final = "leduc_poker"
"""A game whose unrated finals without stored scoring are scored by wins; rated ones use its
default."""


@dataclass(frozen=True, slots=True)
class FinalRules:
    """The scoring and grading of a competition."""

    scoring: Mapping[str, Scoring]
    """The scoring of each game."""
    every_lower: bool
    """True if a grade needs every lower threshold, too."""
    missing_lowest: bool
    """True if a game that an entry left out counts as the lowest result.

    A final keeps the rule with which it began."""
    by_opponent: bool
    """True if all opponents have the same weight in a score, however often they were met."""


def scoring_of(row: TournamentRow) -> Scoring:
    """Return the scoring of one game of a final, or of a public round robin.

    Rows without a stored scoring use the default that their game had when they were written.
    Raises `plyhouse.games.errors.GameError` for such a row if its game is not installed.
    """
    kept = settings(row).scoring
    if kept is not None:
        return kept
    if row.game == LEDUC and not row.rated:
        return Scoring.WINS
    return default_scoring(get_game(row.game))


def grading_rules(file: CompetitionFile, entries: Sequence[CompetitionEntry]) -> GradingRules:
    """Return the rules of grading that a final stores when it begins."""
    ids = {each.name.lower(): each.bot_id for each in entries if each.baseline}
    graded = [each.bot.lower() for each in file.baselines if each.grade]
    order = tuple([ids[name] for name in graded if name in ids])
    return GradingRules(order, file.every_lower, missing_lowest=True)


def grade_thresholds(
    file: CompetitionFile, entries: Sequence[CompetitionEntry]
) -> dict[int, float]:
    """Return the mean score that the grade of each baseline needs, by bot id."""
    needed = {each.bot.lower(): each.at_least for each in file.baselines if each.grade}
    return {
        each.bot_id: needed[each.name.lower()]
        for each in entries
        if each.baseline and each.name.lower() in needed
    }


async def final_rules(store: Store, row: CompetitionRow, file: CompetitionFile) -> FinalRules:
    """Return the rules of a final; before it begins, those of the file."""
    scoring = {}
    grading: list[GradingRules | None] = []
    for game in row.games:
        scoring[game.game] = file.scored_by(game.game)
        if game.tournament_id is not None:
            try:
                part = await store.read(tournaments.find_tournament, game.tournament_id)
            except Unknown:  # Only this game of the final was deleted.
                continue
            scoring[game.game] = scoring_of(part)
            grading.append(settings(part).grading)
    if None in grading:
        return FinalRules(scoring, every_lower=False, missing_lowest=False, by_opponent=False)
    kept = [each for each in grading if each]
    every_lower = all(each.every_lower for each in kept) if kept else file.every_lower
    missing_lowest = all(each.missing_lowest for each in kept)
    return FinalRules(scoring, every_lower, missing_lowest, file.until_certain)


MOST_ERROR: Final = 0.1
"""Standard error of a mean score above which `grade_notes` warns."""
ENOUGH: Final = 25
"""Matches after which the standard error is `MOST_ERROR` at most."""


def grade_matches(file: CompetitionFile, entries: int) -> int:
    """Return how many matches an entry plays against each baseline at least.

    The number is over all games; ``entries`` counts the baselines, too.  It is 0 for formats in
    which no entry is sure to meet a baseline, and if there are too few entries to play.

    >>> from plyhouse.server.competition_rules.file_reader import read_competition
    >>> text = 'name = "Cup"; games = ["pig", "chess"]; time_control = "move:1"; rounds = 3'
    >>> grade_matches(read_competition(text.replace("; ", chr(10))), 10)
    12
    """
    found = 0
    entries //= file.side_size
    for game in file.games:
        way = file.play(game)
        if isinstance(way, Gauntlet):
            groups = math.comb(len(file.baselines) // file.side_size - 1, way.seats - 2)
            found += way.times * groups * way.at_once
        elif isinstance(way, RoundRobin) and entries >= way.seats > 1:
            # All pairs meet equally often, and each match contains this number of pairs.
            meetings = way.count(entries) * math.comb(way.seats, 2)
            found += meetings // math.comb(entries, 2)
    return found


def grade_notes(file: CompetitionFile, entries: int) -> list[str]:
    """Return notes on the matches behind grades; warn if they are few.

    ``entries`` counts the baselines, too.  There are no notes without grades.
    """
    if not any(each.grade for each in file.baselines):
        return []
    first = file.play(file.games[0])
    if isinstance(first, Gauntlet) and first.until_certain:
        return [
            "Each student meets each graded baseline until the grade is certain, in at most "
            f"{first.most:,} pairings. A grade that is certain is wrong with a probability of at "
            f"most {first.error:.1%}."
        ]
    matches = grade_matches(file, entries)
    # `until_certain` is for one game of two seats.
    certain = first.seats == 2 and len(file.games) == 1
    remedy = 'name = "gauntlet" and until_certain = true under [format]'
    if first.seats == 2 and not certain:
        remedy = 'name = "gauntlet" under [format]'
    if first.seats > 2:
        remedy = f'name = "gauntlet" under [format], with {first.seats - 1} baselines or more'
    if not matches:
        return [
            f"Warning: in the format {file.format.name} nobody is sure to meet a baseline, so a "
            f"grade may rest on a few matches or on none. Grade with {remedy}."
        ]
    error = 0.5 / math.sqrt(matches)
    count = "1 match" if matches == 1 else f"{matches:,} matches"
    found = [
        f"Each grade rests on {count} against its baseline: the standard error of the mean score "
        f"is up to {error:.2f}."
    ]
    if error > MOST_ERROR:
        rounds = math.ceil(ENOUGH * file.rounds / matches)
        more = f"Set rounds = {rounds}."
        if certain:
            more = f"Set {remedy}, which plays until grades are certain, or set rounds = {rounds}."
        found.append(
            f"Warning: a grade should rest on {ENOUGH} matches or more, which make the standard "
            f"error {MOST_ERROR} at most. Even then a bot whose true score is 0.1 below a "
            f"threshold reaches it one time in six. {more}"
        )
    return found


def standard_error(means: Sequence[float]) -> float | None:
    """Return the standard error of a mean of independent scores from 0 to 1.

    Returns None for no scores.  ``means`` has one score for each mirrored pairing, as matches of a
    pairing are not independent.  The function adds one 0 and one 1: a few equal scores would
    otherwise have an error of 0.  (For wins and losses alone, with two of each, this is the
    interval of Agresti and Coull, 1998.)

    >>> round(standard_error([1.0]) or 0.0, 2), round(standard_error([1.0, 0.0] * 50) or 0.0, 2)
    (0.33, 0.05)
    """
    if not means:
        return None
    scores = [*means, 0.0, 1.0]
    middle = math.fsum(scores) / len(scores)
    about = math.fsum((each - middle) ** 2 for each in scores)
    return math.sqrt(about / (len(scores) - 1) / len(scores))
