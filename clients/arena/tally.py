"""The results of a series of matches: counts, means and their 95 % intervals.

The matches of a mirrored pairing share their chance stream and are not independent, so
every interval is computed over *pairings*: the mean of a pairing is one observation.

Intervals of a score extend the method of Agresti and Coull to values between 0 and 1: they add
z^2/2 pseudo-observations at 0 and the same number at 1.  Source: "Approximate is better than
'exact' for interval estimation of binomial proportions", 1998.  Unlike mean +- 1.96 s/sqrt(n), this
interval is useful after one pairing, or when one side won them all.

Intervals of returns use Student's t.  If all pairings gave the same return, that interval would be
a point.  The Agresti-Coull interval, scaled to the game's range of returns, then replaces it.  All
intervals are clipped to that range.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.messages import VOID

Z: Final = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


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


def score_interval(values: Sequence[float]) -> Interval:
    """Return the mean of values between 0 and 1 with its Agresti-Coull interval.

    The module's docstring describes the method.

    >>> found = score_interval([1.0])  # one pairing, won: that says little
    >>> f"{found.value:.2f} from {found.low:.2f} to {found.high:.2f}"
    '1.00 from 0.17 to 1.00'
    """
    count, pseudo = len(values), Z * Z / 2
    total = count + 2 * pseudo
    centre = (math.fsum(values) + pseudo) / total
    spread = math.fsum((value - centre) ** 2 for value in values)
    spread += pseudo * (centre**2 + (1 - centre) ** 2)
    half = Z * math.sqrt(spread) / total
    return Interval(math.fsum(values) / count, max(0.0, centre - half), min(1.0, centre + half))


def mean_interval(
    values: Sequence[float], bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """Return the mean with its 95 % Student interval, clipped to ``bounds``.

    ``bounds`` are the lowest and highest possible values.  If all values are equal, or there is
    only one, the interval is the Agresti-Coull interval scaled to ``bounds``; with an infinite
    bound it is ``bounds``.

    >>> found = mean_interval([1.0, -1.0, 1.0, 1.0])
    >>> f"{found.value:.2f} from {found.low:.2f} to {found.high:.2f}"
    '0.50 from -1.09 to 2.09'
    """
    count = len(values)
    mean = math.fsum(values) / count
    if min(values) == max(values):
        low, high = bounds
        if math.isinf(low) or math.isinf(high):
            return Interval(mean, low, high)
        scaled = score_interval([(value - low) / (high - low) for value in values])
        return Interval(mean, low + scaled.low * (high - low), low + scaled.high * (high - low))
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = student(count - 1) * math.sqrt(variance / count)
    return Interval(mean, max(bounds[0], mean - half), min(bounds[1], mean + half))


def student(freedom: int) -> float:
    """Return the two-sided 95 % point of Student's t, by its Cornish-Fisher expansion.

    Exact values are used where the expansion is off by more than 1 %.
    """
    exact = {1: 12.706, 2: 4.303, 3: 3.182}
    if freedom in exact:
        return exact[freedom]
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    return Z + first / freedom + second / freedom**2 + third / freedom**3


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
        score=score_interval([_mean(v) for v in scores.values()]) if scores else None,
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
