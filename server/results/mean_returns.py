"""Points and chips: mean returns with intervals over mirrored pairs.

Where the size of the return counts, the mean return is the natural measure and needs no model.  The
unit is the mirrored pair, since matches of a pair share their seats and perhaps their dice.  The
raw mean comes with one without luck (`plyhouse.server.results.luck`).

The raw mean has two intervals.  `mean_interval` is for one look, after a number of pairs fixed in
advance.  `watched_bounds` holds at all looks together, so you may watch a table while it fills.  It
needs the least and the greatest return, and assumes nothing else.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from plyhouse.server.results.intervals import mean_interval
from plyhouse.server.results.luck import Adjusted, adjusted_mean
from plyhouse.server.results.pair_results import ResultError
from plyhouse.server.results.sequential import ConfidenceSequence

ROUNDING: Final = 1e-9
"""How far a mean of returns may be outside of the range, as a share of the range."""

NameT = TypeVar("NameT", bound=Hashable)


class Paid(NamedTuple, Generic[NameT]):
    """A match and its returns."""

    seats: tuple[NameT, ...]
    returns: tuple[float, ...]
    pair: Hashable = None
    """The id shared by the matches of one mirrored pair; None for a single match."""
    luck: tuple[float, ...] | None = None
    """The luck of each seat (`match_luck`); None if it was not computed."""


def mean_returns(
    matches: Iterable[Paid[NameT]], *, bounds: tuple[float, float] | None = None
) -> dict[NameT, Adjusted]:
    """Return the mean return per match of every entry.

    ``bounds`` of a return are as in `mean_interval`; with them the result also has bounds that hold
    at every moment, see `watched_bounds`.

    The adjusted mean equals the raw one if the luck of any match is unknown.  Raises `ResultError`
    for returns that are no finite numbers or do not match the seats.
    """
    # The unit is a mirrored pair, whose value is the mean of its matches.
    sums: dict[tuple[NameT, Hashable], list[tuple[float, float | None]]] = defaultdict(list)
    for number, match in enumerate(_checked(matches)):
        unit = ("alone", number) if match.pair is None else ("pair", match.pair)
        for seat, name in enumerate(match.seats):
            luck = None if match.luck is None else match.luck[seat]
            sums[name, unit].append((match.returns[seat], luck))
    rows: dict[NameT, list[tuple[float, float | None]]] = defaultdict(list)
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
    """Return bounds on the mean return that hold at every moment.

    They hold with probability ``1 - alpha``.  ``values`` are those of all pairs so far, in any
    order, each within ``bounds``.  Returns None if a value is outside: then the game pays more than
    it declares, and no bound is valid.

    It is the confidence sequence by betting of Waudby-Smith and Ramdas (2024) over all values at
    once, see `plyhouse.server.results.sequential`.  Means refuted by fewer pairs are *not* kept.
    Pairs against different opponents have different means, and the bounds are for the mean over the
    opponents met so far.

    The bounds hold for any order of opponents, even if it depends on earlier results.  Proof: let
    each pair have the mean ``u`` given the earlier ones.  The capital against m, divided by the
    product of all ``1 + f (u / m - 1)``, is a fair game.  Where the average of the u is m or less,
    that product is 1 or less (the geometric mean is at most the arithmetic one).  So the capital is
    at most the fair game.

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
