"""The number of matches behind a grade, and the certainty that they give.

A grade compares a mean score with a threshold.  A match scores from 0 to 1, so its standard
deviation is at most 1/2, and the mean of n independent matches has a standard error of at most
``0.5 / sqrt(n)``.

`MOST_ERROR` is 0.1.  With this error a bot whose true score is 0.1 below a threshold reaches it one
time in six, and one that is 0.2 below it one time in forty.  It takes `ENOUGH` matches.
"""

from __future__ import annotations

import math
from typing import Final

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.round_robin import RoundRobin

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
