"""Statistics from a competition's results: strengths and their certainty.

Standings (`plyhouse.server.grades.standings`) follow the rules: mean scores.  This
module computes what can be concluded from them, with the fits of `plyhouse.server.results`:

* a rating with its fixed-time and any-time interval, and the ranks that an entry may have;
* the probability that an entry is stronger than the next one of the standings;
* for games whose returns count, and for games of chance: the mean return with its interval over
  mirrored pairs, and the mean with luck taken out;
* Nash shares where the field is not transitive;
* notes: groups that never met, entries that won everything, games that were repeated.

A match that repeats an earlier one move by move counts for the standings, as the rules require.  It
does not count here, because the same observation twice proves no more.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from plyhouse.protocol.api.standings import Nash, Strength, Twin
from plyhouse.server.grades.standings import Entrant, Standing
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.results.intervals import Interval, mean_interval
from plyhouse.server.results.scoring import pair_score
from plyhouse.server.results.sequential import ConfidenceSequence

if TYPE_CHECKING:
    from plyhouse.server.results.fitted import Estimate, Fitted
    from plyhouse.server.results.luck import Adjusted


class MatchOutcome(NamedTuple):
    """A finished match that counts; entries by name, ``player/bot``."""

    match: str
    game: str
    pairing: str
    seats: tuple[str, ...]
    scores: tuple[float, ...]
    returns: tuple[float, ...]
    luck: tuple[float, ...] | None = None
    """The luck of each seat; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The conclusions from all results of a competition."""

    matches: int
    repeated: int
    """The number of matches left out because they repeat an earlier one."""
    fitted: Fitted[str] | None
    """None until two entries have met."""
    nash: Mapping[str, Nash]
    """Nash shares by entry; empty where one order explains the results."""
    returns: Mapping[str, Mapping[str, Adjusted]]
    """Mean returns by game and entry."""
    lucky: frozenset[str]
    """The games whose luck was taken out."""
    notes: tuple[str, ...]
    """Notes for readers; entries appear in them as ``'player/bot'``."""

    def shown_notes(self, secret: Collection[str]) -> list[str]:
        """Return the notes for a viewer who may not see the names of ``secret``.

        Notes about secret entries alone are left out.  Where entries are few, a reader could soon
        identify an entry that won or lost everything, and the note says nothing to others.
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
class BoardLine:
    """One line of a board: the standing and the evidence."""

    standing: Standing
    estimate: Estimate[str] | None
    """None if the entry has played nobody."""
    ahead: float | None
    """The probability that it is stronger than the entry of the next line."""
    nash: Nash | None
    returns: Mapping[str, Adjusted] = field(default_factory=dict)
    """Mean returns by game."""


class Crossing(NamedTuple):
    """All matches between two entries, from the first one's side."""

    matches: int
    wins: int
    draws: int
    losses: int
    score: Interval
    """The mean score with its interval over mirrored pairs."""


def strength(estimate: Estimate[str] | None) -> Strength | None:
    """Return an estimate as the API answers it."""
    if estimate is None:
        return None
    at = estimate
    return Strength(
        *(at.elo, at.low, at.high, at.any_low, at.any_high, at.rank_low, at.rank_high, at.games)
    )


def lines(
    standings: Sequence[Standing], found: Statistics, *, any_time: bool = False
) -> list[BoardLine]:
    """Return the lines of a board, for all entries or only for visible ones.

    ``any_time`` means that pairings were played until a decision was certain.  Fixed-time intervals
    then cover less than they claim, so any-time bounds replace them.  Values without any-time
    bounds are left out: the probability that an entry is stronger than the next, and means without
    luck.
    """
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
        made.append(BoardLine(standing, estimates.get(name), ahead, found.nash.get(name), means))
    return _any_time_only(made) if any_time else made


def _any_time_only(made: Sequence[BoardLine]) -> list[BoardLine]:
    """Return the same lines with any-time bounds instead of fixed-time ones."""
    rated = [line.estimate for line in made if line.estimate is not None]
    ranked = [
        line.estimate
        for line in made
        if line.estimate is not None and not line.standing.entrant.twin_of
    ]
    shown = {}
    for at in rated:
        stronger = sum(other.any_low > at.any_high for other in ranked)
        weaker = sum(other.any_high < at.any_low for other in ranked)
        shown[at.name] = at._replace(
            low=at.any_low,
            high=at.any_high,
            rank_low=1 + stronger,
            rank_high=len(ranked) - weaker,
        )
    return [
        replace(
            line,
            estimate=line.estimate and shown[line.estimate.name],
            ahead=None,
            returns={game: _watched(each) for game, each in line.returns.items()},
        )
        for line in made
    ]


def _watched(found: Adjusted) -> Adjusted:
    """Return a mean with any-time bounds only, and none if adjusted for luck."""
    low, high = found.watched or (-math.inf, math.inf)
    raw = found.raw._replace(low=low, high=high)
    return found._replace(raw=raw, adjusted=found.adjusted._replace(low=-math.inf, high=math.inf))


def _estimates(
    standings: Sequence[Standing], fitted: Fitted[str] | None
) -> dict[str, Estimate[str]]:
    """Return the ratings of a board.

    Ranks are among all entries but twins; a twin is ranked as if it were the only one.
    """
    if fitted is None:
        return {}
    twins = {each.entrant.name for each in standings if each.entrant.twin_of}
    others = [name for name in fitted.names if name not in twins]
    found = {each.name: each for each in fitted.among(others).estimates()} if others else {}
    for twin in twins & set(fitted.names):
        with_it = fitted.among([*others, twin]).estimates()
        found |= {each.name: each for each in with_it if each.name == twin}
    return found


def crosstab(
    outcomes: Sequence[MatchOutcome], *, any_time: bool = False
) -> dict[tuple[str, str], Crossing]:
    """Return the results of every entry against every opponent.

    ``any_time`` is as in `lines`.
    """
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
            matches=count.total(),
            wins=count["W"],
            draws=count["D"],
            losses=count["L"],
            score=any_time_interval(means) if any_time else mean_interval(means, bounds=(0.0, 1.0)),
        )
    return found


def any_time_interval(means: Sequence[float]) -> Interval:
    """Return the mean of mirrored pairs' scores with any-time 95 % bounds."""
    bounds = ConfidenceSequence()
    bounds.extend(min(1.0, max(0.0, each)) for each in means)
    return Interval(math.fsum(means) / len(means), bounds.low, bounds.high, len(means))


REACH: Final = 1.96
"""The largest difference by chance in 95 of 100 cases, in its standard errors."""
STRANGE: Final = 3.0
"""The difference from which chance is an unlikely explanation, in its standard errors."""


def twins(standings: Sequence[Standing], found: Statistics) -> list[Twin]:
    """Return the twins of a board with their differences, in its order.

    The difference between an entry and its twin has one cause, chance: dice, seats, opponents'
    variation, a busy machine.  Compare a difference between two other entries with that of the
    twins before you interpret it.  Twins are one sample of the noise, and may be close by accident.
    The errors of the fitted ratings say how far chance separates two equal entries on this board in
    95 of 100 cases.  The twins' own difference checks these errors.

    A twin is a baseline of the competition file with ``twin_of``.  It is the same bot under a
    second name of its account: the digests of their files and options must agree.
    """
    lines = {line.entrant.name: line for line in standings}
    made = []
    for line in standings:
        original = lines.get(line.entrant.twin_of)
        if original is None:
            continue
        one, other = original.entrant, line.entrant
        score = elo = chance = None
        if line.score is not None and original.score is not None:
            score = abs(line.score - original.score)
        fitted = found.fitted
        if fitted is not None and {one.name, other.name} <= set(fitted.names):
            gap, error = fitted.difference(one.name, other.name)
            elo, chance = abs(gap), REACH * error
        made.append(Twin(one.name, other.name, same_bot(one, other), score, elo, chance))
    return made


def same_bot(one: Entrant, other: Entrant) -> bool:
    """Return whether two entries have the same files and options."""
    return bool(one.digest) and one.digest == other.digest


def differing(entry: str, entry_digest: str, twin: str, twin_digest: str) -> str:
    """Return why a twin is not known to be the same bot; empty if it is."""
    if entry_digest and entry_digest == twin_digest:
        return ""
    if not entry_digest or not twin_digest:
        missing = entry if not entry_digest else twin
        return (
            f"whether {twin} is the same bot as {entry} is not known: {missing} was run by a "
            "client that reports no digest of its files; run both with plyhouse bot run"
        )
    return (
        f"{twin} is not the same bot as {entry}: its files or options differ (digests "
        f"{twin_digest[:12]} and {entry_digest[:12]}); run the very same one under both names"
    )


def duplicate_note(each: Twin) -> str:
    """Return a sentence for readers about what twins show."""
    if not each.same:
        return (
            f"{each.twin!r} was to be a twin of {each.entry!r}, but not the same files played "
            "under both names: what separates them is no measure of noise."
        )
    if each.score is None:
        return f"{each.entry!r} and {each.twin!r} are twins, the same bot: they show the noise."
    by = f"their scores differ by {each.score:.3f}"
    if each.elo is not None:
        by += f", their ratings by {each.elo:.0f} points"
    text = (
        f"{each.entry!r} and {each.twin!r} are twins, the same bot entered twice: {by}. "
        "Differences of that size between other entries are noise"
    )
    if each.chance is not None:
        text += f"; so, 95 times in 100, are those of up to {each.chance:.0f} points"
    text += "."
    if each.elo is not None and each.chance and each.elo > STRANGE / REACH * each.chance:
        text += (
            " The twins are further apart than chance explains: see whether both run under the "
            "same conditions."
        )
    return text
