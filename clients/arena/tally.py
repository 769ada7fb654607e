"""The results of a series of matches: counts, means and their 95 % intervals.

The matches of a mirrored pairing share their chance stream and are not independent, so
every interval is computed over *pairings*: the mean of a pairing is one observation.

Intervals are those of the boards of a server, `plyhouse.server.results.intervals.mean_interval`:
Wilson's for scores and for returns within bounds, Student's t for returns without luck.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.messages import VOID
from plyhouse.server.results import intervals

SCORES: Final = (0.0, 1.0)
"""The least and the greatest score, or share of anything."""


@dataclass(frozen=True)
class MatchResult:
    """One finished match: the bots by seat, and the outcome.

    A bot that played all seats of a team has one place in all fields, that of its first seat.
    """

    pairing: int
    """Index of the pairing; its matches share the chance stream."""
    bots: tuple[int, ...]
    """Index of the bot on each seat."""
    returns: tuple[float, ...]
    """Utility of each seat; empty for a void match."""
    termination: str
    culprit: int | None
    """Seat that caused the end, such as by a flag fall; None if none did."""
    plies: int
    charged_ns: tuple[int, ...]
    """Time charged to each seat's clock, in nanoseconds."""
    reason: str = ""
    """The referee's explanation of the end; empty if there is none."""
    luck: tuple[float, ...] = ()
    """Utility that cards and dice have given each seat; empty if the game has no measure of it."""
    course: str = ""
    """A digest of all actions and chance outcomes; empty in files of older versions."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the bounds of its 95 % interval; the bounds may be infinite."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Tally:
    """The result of one bot in the series."""

    bot: int
    games: int
    """Matches that counted; void ones do not."""
    wins: int
    draws: int
    losses: int
    score: Interval | None
    """Mean share of opponents beaten, 0 to 1; None when no match counted or nobody opposes."""
    mean: Interval | None
    """Mean utility per game."""
    mean_without_luck: Interval | None
    """The same with luck subtracted; None if the game has no measure of it."""
    forfeits: dict[str, int]
    """Number of matches that the bot ended other than by the rules, by termination."""
    charged_ns: int
    """Time charged over all matches."""
    plies: int
    """Plies over all matches, of all seats."""


def beaten(returns: Sequence[float], seat: int, teams: Sequence[int] = ()) -> float:
    """Return the share of the opponents that ``seat`` beat, a tie counting half.

    ``teams`` has the team of each seat; if it is empty, all other seats are opponents.

    >>> beaten((1.0, -1.0), 0), beaten((0.0, 0.0), 1), beaten((3.0, 1.0, 1.0), 1)
    (1.0, 0.5, 0.25)
    """
    mine = returns[seat]
    others = _opposing(returns, seat, teams)
    return sum((mine > value) + 0.5 * (mine == value) for value in others) / len(others)


def _opposing(returns: Sequence[float], seat: int, teams: Sequence[int]) -> list[float]:
    """Return the returns of a seat's opponents."""
    teams = teams or range(len(returns))
    return [value for team, value in zip(teams, returns, strict=True) if team != teams[seat]]


def all_alike(results: Iterable[MatchResult]) -> bool:
    """Return whether several pairings had the same games."""
    courses: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
    for each in results:
        courses[each.pairing].append((each.bots, each.returns, each.plies, each.course))
    return len(courses) > 1 and len({tuple(course) for course in courses.values()}) == 1


def mean_interval(
    values: Sequence[float], bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """Return the mean with its 95 % interval, which is within ``bounds``.

    ``bounds`` are the lowest and highest possible values.  If one is infinite and all values are
    equal, or there is only one, the interval is ``bounds``.

    >>> found = mean_interval([1.0, -1.0, 1.0, 1.0])
    >>> f"{found.value:.2f} from {found.low:.2f} to {found.high:.2f}"
    '0.50 from -1.09 to 2.09'
    >>> found = mean_interval([1.0], SCORES)  # one pairing, won: that says little
    >>> f"{found.value:.2f} from {found.low:.2f} to {found.high:.2f}"
    '1.00 from 0.03 to 1.00'
    """
    if all(map(math.isfinite, bounds)):
        found = intervals.mean_interval(values, bounds=bounds)
    elif min(values) == max(values):
        return Interval(values[0], *bounds)
    else:
        found = intervals.mean_interval(values)
    return Interval(found.mean, max(bounds[0], found.low), min(bounds[1], found.high))


def elo(score: float) -> float:
    """Return the Elo difference at which ``score`` is expected; infinite at 0 and 1.

    >>> round(elo(0.64))
    100
    """
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return -400 * math.log10(1 / score - 1)


def tally(
    results: Iterable[MatchResult],
    bots: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    teams: Sequence[int] = (),
) -> list[Tally]:
    """Return the tally of each bot, from 0 to ``bots - 1``.

    ``bounds`` are the lowest and highest returns of the game.  ``teams`` is as in `beaten`.
    """
    played = list(results)
    return [_account(played, bot, bounds, teams) for bot in range(bots)]


def _account(
    results: Sequence[MatchResult], bot: int, bounds: tuple[float, float], teams: Sequence[int]
) -> Tally:
    games = wins = draws = losses = charged = plies = 0
    forfeits: Counter[str] = Counter()
    scores: defaultdict[int, list[float]] = defaultdict(list)
    utilities: defaultdict[int, list[float]] = defaultdict(list)
    skills: defaultdict[int, list[float]] = defaultdict(list)
    for result in results:
        seat = result.bots.index(bot)
        charged += result.charged_ns[seat] if result.charged_ns else 0
        plies += result.plies
        if result.culprit == seat and result.termination != "normal":
            forfeits[result.termination] += 1
        if result.termination in VOID or not result.returns:
            continue
        games += 1
        utilities[result.pairing].append(result.returns[seat])
        if result.luck:
            skills[result.pairing].append(result.returns[seat] - result.luck[seat])
        others = _opposing(result.returns, seat, teams)
        if not others:
            continue  # nobody to win against
        mine, best = result.returns[seat], max(others)
        wins += mine > best
        draws += mine == best
        losses += mine < best
        scores[result.pairing].append(beaten(result.returns, seat, teams))
    return Tally(
        bot=bot,
        games=games,
        wins=wins,
        draws=draws,
        losses=losses,
        score=mean_interval([_mean(v) for v in scores.values()], SCORES) if scores else None,
        mean=(mean_interval([_mean(v) for v in utilities.values()], bounds) if utilities else None),
        mean_without_luck=(
            mean_interval([_mean(v) for v in skills.values()])
            if sum(map(len, skills.values())) == games > 0
            else None
        ),
        forfeits=dict(sorted(forfeits.items())),
        charged_ns=charged,
        plies=plies,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
