"""Points and chips: what an entry gets per match, with intervals over mirrored pairs.

Where the size of the return counts, the mean return is what one asks for; it needs no model.  The
unit is the mirrored pair, since matches of a pair share their seats and perhaps their dice.
Beside the raw mean stands one with luck taken out (`plyhouse.server.results.luck`).

The raw mean has two intervals.  `mean_interval` is for one look, after a number of pairs that was
fixed before; `watched_bounds` holds at all looks together, so that a table may be watched while it
fills.  The latter needs to know the least and the greatest return, and assumes nothing else.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from plyhouse.server.results.intervals import mean_interval
from plyhouse.server.results.luck import Adjusted, adjusted_mean
from plyhouse.server.results.played import ResultError
from plyhouse.server.results.sequential import ConfidenceSequence

__all__ = ["Paid", "crosstab", "utilities", "watched_bounds"]

ROUNDING: Final = 1e-9
"""By so much of the range a mean of returns may be outside of it."""

NameT = TypeVar("NameT", bound=Hashable)


class Paid(NamedTuple, Generic[NameT]):
    """A match and what it paid."""

    seats: tuple[NameT, ...]
    returns: tuple[float, ...]
    pair: Hashable = None
    """Matches of one mirrored pair have the same; None stands alone."""
    luck: tuple[float, ...] | None = None
    """How much luck each seat had (`match_luck`); None if nobody worked it out."""


def utilities(
    matches: Iterable[Paid[NameT]], *, bounds: tuple[float, float] | None = None
) -> dict[NameT, Adjusted]:
    """Mean return per match of every entry; ``bounds`` of a return, as in `mean_interval`.

    With them there are also bounds that hold at every moment, see `watched_bounds`.

    Where luck is not known of every match, the adjusted mean is the raw one.  Raises `ResultError`
    for returns that are no numbers or not as many as seats.
    """
    sums: dict[tuple[NameT, Hashable], list[tuple[float, float | None]]] = defaultdict(list)
    for number, match in enumerate(_checked(matches)):
        unit = ("alone", number) if match.pair is None else ("pair", match.pair)
        for seat, name in enumerate(match.seats):
            luck = None if match.luck is None else match.luck[seat]
            sums[name, unit].append((match.returns[seat], luck))
    return _means(sums, bounds)


def crosstab(
    matches: Iterable[Paid[NameT]], *, bounds: tuple[float, float] | None = None
) -> dict[tuple[NameT, NameT], Adjusted]:
    """Mean return per match of each entry where each other one played, too.

    ``bounds`` and errors as in `utilities`.
    """
    sums: dict[tuple[tuple[NameT, NameT], Hashable], list[tuple[float, float | None]]] = (
        defaultdict(list)
    )
    for number, match in enumerate(_checked(matches)):
        unit = ("alone", number) if match.pair is None else ("pair", match.pair)
        for seat, name in enumerate(match.seats):
            luck = None if match.luck is None else match.luck[seat]
            for other in dict.fromkeys(match.seats):
                if other != name:
                    sums[(name, other), unit].append((match.returns[seat], luck))
    return _means(sums, bounds)


KeyT = TypeVar("KeyT", bound=Hashable)


def _means(
    sums: dict[tuple[KeyT, Hashable], list[tuple[float, float | None]]],
    bounds: tuple[float, float] | None,
) -> dict[KeyT, Adjusted]:
    """Means over units, each the mean of its matches."""
    rows: dict[KeyT, list[tuple[float, float | None]]] = defaultdict(list)
    for (key, _), seen in sums.items():
        value = math.fsum(each[0] for each in seen) / len(seen)
        known = [each[1] for each in seen if each[1] is not None]
        luck = math.fsum(known) / len(seen) if len(known) == len(seen) else None
        rows[key].append((value, luck))
    found = {}
    for key, units in rows.items():
        values = [value for value, _ in units]
        lucks = [luck for _, luck in units if luck is not None]
        watched = None if bounds is None else watched_bounds(values, bounds)
        if len(lucks) == len(values):
            found[key] = adjusted_mean(values, lucks, bounds=bounds)._replace(watched=watched)
        else:
            raw = mean_interval(values, bounds=bounds)
            found[key] = Adjusted(raw, raw, 0.0, 0.0, watched)
    return found


def watched_bounds(
    values: Sequence[float], bounds: tuple[float, float], alpha: float = 0.05
) -> tuple[float, float] | None:
    """Bounds on the mean return that hold at every moment, with probability ``1 - alpha``.

    ``values`` are those of all pairs so far, in any order, each within ``bounds``.  None if one
    is not: then the game pays otherwise than it says, and nothing can be promised.

    It is the confidence sequence by betting of Waudby-Smith and Ramdas (2024), see
    `plyhouse.server.results.sequential`, over all values at once.  What was refuted by fewer
    pairs is *not* kept: pairs against different opponents have different means, and the promise
    is for the mean of those that were met so far.  That holds, whatever the order of opponents,
    also if it follows from earlier results.  For let each pair have the mean ``u`` given what came
    before: the capital against m, divided by the product of all ``1 + f (u / m - 1)``, is a fair
    game, and where the average of the u is m or less, that product is 1 or less (the geometric
    mean is no more than the arithmetic one), so that the capital is no more than the fair game.

    >>> low, high = watched_bounds([1.0, -1.0], (-2.0, 2.0))
    >>> f"{low:.2f} to {high:.2f}"
    '-1.88 to 1.88'
    >>> low, high = watched_bounds([1.0] * 100, (-2.0, 2.0))
    >>> f"{low:.2f} to {high:.2f}"
    '0.83 to 1.06'
    """
    least, greatest = bounds
    if not (math.isfinite(least) and math.isfinite(greatest) and least < greatest):
        return None
    slack = ROUNDING * (greatest - least)
    if not all(least - slack <= value <= greatest + slack for value in values):
        return None
    sequence = ConfidenceSequence(alpha, least, greatest)
    sequence.extend(min(greatest, max(least, value)) for value in values)
    return sequence.low, sequence.high


def _checked(matches: Iterable[Paid[NameT]]) -> Iterable[Paid[NameT]]:
    for number, match in enumerate(matches):
        for what, values in (("returns", match.returns), ("values of luck", match.luck)):
            if values is None:
                continue
            if len(values) != len(match.seats):
                raise ResultError(
                    f"Match {number}: {len(values)} {what} for {len(match.seats)} seats."
                )
            if not all(math.isfinite(value) for value in values):
                raise ResultError(f"Match {number}: the {what} {values} are not all numbers.")
        yield match
