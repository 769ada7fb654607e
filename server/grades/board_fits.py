"""Computation of board statistics: `compute_statistics`, and `checkpoints`.

It needs numpy and all fits, so it is separate from its result types
(`plyhouse.server.grades.board_statistics`).  A server without a competition, and matches
on one's own machine, do without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.standings import Nash
from plyhouse.server.grades.board_statistics import MatchOutcome, Statistics
from plyhouse.server.results.fitted import Fitted
from plyhouse.server.results.luck import Adjusted
from plyhouse.server.results.mean_returns import Paid, mean_returns
from plyhouse.server.results.nash import nash_shares
from plyhouse.server.results.pair_results import Played, ResultError, collect
from plyhouse.server.results.plackett_luce import Ranked, fit_rankings
from plyhouse.server.results.scoring import return_span
from plyhouse.server.results.separation import parts
from plyhouse.server.results.strengths import fit_strengths

NASH_SURE: Final = 30
"""Largest number of entries for which Nash shares are resampled, which takes a second or two."""
NASH_MOST: Final = 100
"""Largest number of entries for which Nash shares are computed."""
NASH_ROUNDS: Final = 100


def compute_statistics(
    outcomes: Sequence[MatchOutcome],
    repeats: Collection[str] = (),
    extra: Sequence[str] = (),
    scoring: Mapping[str, Scoring] | None = None,
) -> Statistics:
    """Compute the evidence of results; ``repeats`` are repeated matches.

    ``extra`` are further notes.  ``scoring`` has the scoring by game; games that it lacks use their
    default.  For hundreds of entries this takes seconds: call it in a thread.
    """
    counted = [each for each in outcomes if each.match not in repeats]
    notes: list[str] = []
    fitted = _fit(counted, notes, scoring or {})
    nash = _nash(counted, notes) if fitted is not None else {}
    returns, lucky = _returns(counted, scoring or {})
    notes += [_saved(game, returns[game].values()) for game in sorted(lucky)]
    gone = len(outcomes) - len(counted)
    if gone:
        notes.append(
            f"{gone} of {len(outcomes)} matches repeat an earlier one move by move, by bots that "
            "never vary: they are in the scores and leave the ratings as they are."
        )
    return Statistics(len(outcomes), gone, fitted, nash, returns, lucky, (*notes, *extra))


def _fit(
    outcomes: Sequence[MatchOutcome], notes: list[str], scoring: Mapping[str, Scoring]
) -> Fitted[str] | None:
    """Fit strengths: by scores in two-seat games, by places with more seats."""
    several = [each for each in outcomes if len(set(each.seats)) > 1]
    if not several:
        return None
    try:
        if any(len(each.seats) > 2 for each in several):
            fitted = fit_rankings(
                Ranked(each.seats, each.returns, each.game, each.pairing) for each in several
            )
        else:
            fitted = fit_strengths(
                collect(_played(several)),
                shares=[
                    game
                    for game in {each.game for each in several}
                    if _span(game, scoring.get(game)) > 0.0
                ],
            )
    except ResultError as error:
        notes.append(f"There are no ratings: {error}")
        return None
    notes += fitted.notes
    return fitted


def checkpoints(
    outcomes: Sequence[MatchOutcome],
    points: int = 10,
    scoring: Mapping[str, Scoring] | None = None,
) -> list[tuple[int, Fitted[str]]]:
    """Fit ratings after each of ``points`` equal parts of the matches.

    The matches are in the order of their ends.  ``scoring`` is as in `compute_statistics`.
    """
    counts = sorted({round(len(outcomes) * at / points) for at in range(1, points + 1)} - {0})
    found = []
    for count in counts:
        fitted = _fit(outcomes[:count], [], scoring or {})
        if fitted is not None:
            found.append((count, fitted))
    return found


def _played(outcomes: Sequence[MatchOutcome]) -> list[Played[str]]:
    """Return the matches of two seats.

    A pairing may hold several games, and is a unit in each of them.
    """
    return [
        Played(*each.seats, each.scores[0], each.game, (each.pairing, *sorted(each.seats)))
        for each in outcomes
        if len(each.seats) == 2
    ]


def _nash(outcomes: Sequence[MatchOutcome], notes: list[str]) -> dict[str, Nash]:
    """Return the Nash shares if three entries beat each other in a circle."""
    names = sorted({name for each in outcomes for name in each.seats})
    if any(len(each.seats) != 2 for each in outcomes) or len(names) < 3:
        return {}
    number = {name: index for index, name in enumerate(names)}
    points = np.zeros((len(names), len(names)))
    games = np.zeros_like(points)
    for each in outcomes:
        one, other = (number[name] for name in each.seats)
        if one != other:
            points[one, other] += each.scores[0]
            points[other, one] += 1.0 - each.scores[0]
            games[one, other] += 1
            games[other, one] += 1
    beats = points > games / 2.0 + 1e-9
    if max(len(part) for part in parts(beats)) < 3:
        return {}
    circle = "Some entries beat each other in a circle, so no single order is right"
    if len(names) > NASH_MOST:
        notes.append(f"{circle}; Nash shares are given for up to {NASH_MOST} entries.")
        return {}
    rounds = NASH_ROUNDS if len(names) <= NASH_SURE else 0
    try:
        shares = nash_shares(collect(_played(outcomes)), rounds=rounds)
    except ResultError:
        notes.append(f"{circle}; Nash shares need everybody to have met everybody.")
        return {}
    notes.append(f"{circle}: see the Nash shares. With few games circles come about by chance.")
    return shares


def _returns(
    outcomes: Sequence[MatchOutcome], scoring: Mapping[str, Scoring]
) -> tuple[dict[str, dict[str, Adjusted]], frozenset[str]]:
    """Return the mean returns of games with known luck or scored by returns."""
    games: dict[str, list[MatchOutcome]] = defaultdict(list)
    for each in outcomes:
        games[each.game].append(each)
    found: dict[str, dict[str, Adjusted]] = {}
    lucky = set()
    for game, rows in sorted(games.items()):
        known = all(each.luck is not None for each in rows)
        alone = len(rows[0].seats) == 1
        by_size = max(_span(game), _span(game, scoring.get(game))) > 0.0
        if not (known or alone or by_size):
            continue
        found[game] = mean_returns(
            (Paid(each.seats, each.returns, each.pairing, each.luck) for each in rows),
            bounds=_bounds(game),
        )
        if known:
            lucky.add(game)
    return found, frozenset(lucky)


def _saved(game: str, means: Collection[Adjusted]) -> str:
    """Return a note on how many matches luck adjustment saves, as an average."""
    saved = sum(each.saved for each in means) / len(means)
    if saved < 0.005:
        return f"Taking luck out of the results of {game} saves no matches here."
    return (
        f"Taking luck out of the results of {game} saves {saved:.0%} of its matches: so many fewer "
        "would give intervals as narrow."
    )


def _span(spec: str, scoring: Scoring | None = None) -> float:
    try:
        return return_span(get_game(spec), scoring)
    except GameError:  # The file of the game is missing.
        return 0.0


def _bounds(spec: str) -> tuple[float, float] | None:
    try:
        return get_game(spec).return_bounds
    except GameError:
        return None
