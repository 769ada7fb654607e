"""What the results of a competition prove: strengths, how sure they are, and what they withhold.

Standings (`plyhouse.server.competition.standings`) are what the rules say: mean scores.  This says
what can be concluded from them, with the fits of `plyhouse.server.results`:

* a rating with its fixed-time and any-time interval, and the ranks that an entry may have;
* how likely it is that an entry is stronger than the next one of the standings;
* for games whose returns count, and for games of chance, the mean return with its interval over
  mirrored pairs, and beside it the mean with luck taken out;
* where the field is not transitive, Nash shares;
* notes: groups that never met, entries that won everything, games that were repeated.

A match that repeats an earlier one move by move counts for the standings, as the rules say, and not
here: the same observation twice proves no more.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition.standings import Standing
from plyhouse.server.results.fitted import Estimate, Fitted
from plyhouse.server.results.luck import Adjusted
from plyhouse.server.results.nash import NashShare, nash_shares
from plyhouse.server.results.plackett_luce import Ranked, fit_rankings
from plyhouse.server.results.played import Played, ResultError, collect
from plyhouse.server.results.ratings import Interval, mean_interval
from plyhouse.server.results.scoring import pair_score, return_span
from plyhouse.server.results.separation import parts
from plyhouse.server.results.strengths import fit_strengths
from plyhouse.server.results.utilities import Paid, utilities

__all__ = [
    "Crossing",
    "Evidence",
    "Line",
    "Outcome",
    "checkpoints",
    "crosstab",
    "evidence",
    "lines",
]

NASH_SURE: Final = 30
"""Up to so many entries the Nash shares are resampled, which takes a second or two."""
NASH_MOST: Final = 100
"""With more entries there are no Nash shares."""
NASH_ROUNDS: Final = 100
PRIVATE: Final = "(another entry)"


class Outcome(NamedTuple):
    """A finished match that counts; entries by name, ``player/bot``."""

    match: str
    game: str
    pairing: str
    seats: tuple[str, ...]
    scores: tuple[float, ...]
    returns: tuple[float, ...]
    luck: tuple[float, ...] | None = None
    """How much luck each seat had; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What all results of a competition say."""

    matches: int
    repeated: int
    """Matches that repeat an earlier one, and are left out."""
    fitted: Fitted[str] | None
    """None as long as nobody has met anybody."""
    nash: Mapping[str, NashShare[str]]
    """Empty where one order explains the results."""
    returns: Mapping[str, Mapping[str, Adjusted]]
    """By game and entry."""
    lucky: frozenset[str]
    """The games whose luck was taken out."""
    notes: tuple[str, ...]
    """What a reader must know; entries stand in them as ``'player/bot'``."""

    def told(self, secret: Collection[str]) -> list[str]:
        """The notes, for somebody to whom these entries have no names.

        What is about such entries alone is left out: who won or lost everything is found out
        soon where entries are few, and says nothing to others.
        """
        names = () if self.fitted is None else self.fitted.names
        known = [repr(name) for name in set(names).difference(secret)]
        found = []
        for note in self.notes:
            masked = note
            for name in secret:
                masked = masked.replace(repr(name), PRIVATE)
            if masked == note or any(name in masked for name in known):
                found.append(masked)
        return found


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a board: what the rules say, and what it proves."""

    standing: Standing
    estimate: Estimate[str] | None
    """None if it has played nobody."""
    ahead: float | None
    """How likely it is stronger than the entry of the next line."""
    nash: NashShare[str] | None
    returns: Mapping[str, Adjusted] = field(default_factory=dict)
    """By game."""


class Crossing(NamedTuple):
    """All matches between two entries, from the first one's side."""

    matches: int
    wins: int
    draws: int
    losses: int
    score: Interval
    """The mean score with its interval over mirrored pairs."""


def evidence(
    outcomes: Sequence[Outcome], repeats: Collection[str] = (), extra: Sequence[str] = ()
) -> Evidence:
    """Work out what results say; ``repeats`` are matches that repeat an earlier one.

    ``extra`` are further notes.  Takes seconds for hundreds of entries: call it in a thread.
    """
    counted = [each for each in outcomes if each.match not in repeats]
    notes: list[str] = []
    fitted = _fit(counted, notes)
    nash = _nash(counted, notes) if fitted is not None else {}
    returns, lucky = _returns(counted)
    gone = len(outcomes) - len(counted)
    if gone:
        notes.append(
            f"{gone} of {len(outcomes)} matches repeat an earlier one move by move, by bots that "
            "never vary: they are in the scores and leave the ratings as they are."
        )
    return Evidence(len(outcomes), gone, fitted, nash, returns, lucky, (*notes, *extra))


def _fit(outcomes: Sequence[Outcome], notes: list[str]) -> Fitted[str] | None:
    """The strengths: by scores between two, by places where a game has more seats."""
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
                shares=[game for game in {each.game for each in several} if _span(game) > 0.0],
            )
    except ResultError as error:
        notes.append(f"There are no ratings: {error}")
        return None
    notes += fitted.notes
    return fitted


def checkpoints(outcomes: Sequence[Outcome], points: int = 10) -> list[tuple[int, Fitted[str]]]:
    """The fits after so many matches, in the order they ended: how ratings went."""
    counts = sorted({round(len(outcomes) * at / points) for at in range(1, points + 1)} - {0})
    found = []
    for count in counts:
        fitted = _fit(outcomes[:count], [])
        if fitted is not None:
            found.append((count, fitted))
    return found


def _played(outcomes: Sequence[Outcome]) -> list[Played[str]]:
    """Games between two; a pairing may hold several games, and is a unit in each of them."""
    return [
        Played(*each.seats, each.scores[0], each.game, (each.pairing, *sorted(each.seats)))
        for each in outcomes
        if len(each.seats) == 2
    ]


def _nash(outcomes: Sequence[Outcome], notes: list[str]) -> dict[str, NashShare[str]]:
    """Nash shares, if three entries beat each other in a circle."""
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
    return {each.name: each for each in shares}


def _returns(
    outcomes: Sequence[Outcome],
) -> tuple[dict[str, dict[str, Adjusted]], frozenset[str]]:
    """Mean returns where their size counts, or luck is known."""
    games: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        games[each.game].append(each)
    found: dict[str, dict[str, Adjusted]] = {}
    lucky = set()
    for game, rows in sorted(games.items()):
        known = all(each.luck is not None for each in rows)
        alone = len(rows[0].seats) == 1
        if not (known or alone or _span(game) > 0.0):
            continue
        found[game] = utilities(
            (Paid(each.seats, each.returns, each.pairing, each.luck) for each in rows),
            bounds=_bounds(game),
        )
        if known:
            lucky.add(game)
    return found, frozenset(lucky)


def _span(spec: str) -> float:
    try:
        return return_span(get_game(spec))
    except GameError:  # its file is gone
        return 0.0


def _bounds(spec: str) -> tuple[float, float] | None:
    try:
        return get_game(spec).return_bounds
    except GameError:
        return None


def lines(standings: Sequence[Standing], found: Evidence) -> list[Line]:
    """The lines of a board: of all entries, or of those that somebody may see."""
    known = set() if found.fitted is None else set(found.fitted.names)
    shown = [each.entrant.name for each in standings if each.entrant.name in known]
    fitted = found.fitted.among(shown) if found.fitted is not None and shown else None
    estimates = _estimates(standings, fitted)
    ranked = [each.entrant.name for each in standings if not each.entrant.twin_of]
    following = dict(itertools.pairwise(ranked))
    made = []
    for standing in standings:
        name = standing.entrant.name
        below = following.get(name, "")
        ahead = None
        if fitted is not None and name in known and below in known:
            ahead = fitted.superiority(name, below)
        means = {game: each[name] for game, each in found.returns.items() if name in each}
        made.append(Line(standing, estimates.get(name), ahead, found.nash.get(name), means))
    return made


def _estimates(
    standings: Sequence[Standing], fitted: Fitted[str] | None
) -> dict[str, Estimate[str]]:
    """The ratings of a board: ranks are among all but twins, of a twin as if it stood alone."""
    if fitted is None:
        return {}
    twins = {each.entrant.name for each in standings if each.entrant.twin_of}
    others = [name for name in fitted.names if name not in twins]
    found = {each.name: each for each in fitted.among(others).estimates()} if others else {}
    for twin in twins & set(fitted.names):
        with_it = fitted.among([*others, twin]).estimates()
        found |= {each.name: each for each in with_it if each.name == twin}
    return found


def crosstab(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], Crossing]:
    """How everybody did against everybody they met."""
    units: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    results: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in outcomes:
        for seat, name in enumerate(each.seats):
            for other_seat, other in enumerate(each.seats):
                if name == other:
                    continue
                mine, its = each.returns[seat], each.returns[other_seat]
                score = each.scores[seat] if len(each.seats) == 2 else pair_score(mine, its)
                units[name, other][each.game, each.pairing].append(score)
                results[name, other]["W" if mine > its else "D" if mine == its else "L"] += 1
    found = {}
    for key, pairs in units.items():
        means = [sum(scores) / len(scores) for scores in pairs.values()]
        count = results[key]
        found[key] = Crossing(
            *(count.total(), count["W"], count["D"], count["L"]),
            mean_interval(means, bounds=(0.0, 1.0)),
        )
    return found
