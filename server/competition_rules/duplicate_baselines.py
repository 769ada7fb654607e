"""Duplicate baselines: one bot entered twice, so that a board shows its own noise.

The difference between an entry and its twin has one cause, chance: dice, seats, opponents'
variation, a busy machine.  Compare a difference between two other entries with that of the twins
before you interpret it.  Twins are one sample of the noise, and may be close by accident.  The
errors of the fitted ratings say how far chance separates two equal entries on this board in 95 of
100 cases.  The twins' own difference checks these errors.

A twin is a baseline of the competition file with ``twin_of``.  It is the same bot under a second
name of its account: the digests of their files and options must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition_rules.board_statistics import Statistics
from plyhouse.server.competition_rules.standings import Entrant, Standing

__all__ = ["DuplicateBaseline", "differing", "told", "twins"]

REACH: Final = 1.96
"""The largest difference by chance in 95 of 100 cases, in its standard errors."""
STRANGE: Final = 3.0
"""The difference from which chance is an unlikely explanation, in its standard errors."""


@dataclass(frozen=True, slots=True)
class DuplicateBaseline:
    """An entry and its twin on a board."""

    entry: str
    twin: str
    same: bool
    """True if the same files and options played under both names."""
    score: float | None
    """The difference of their scores, from 0 to 1; None until both have played."""
    elo: float | None
    """The difference of their ratings, in Elo; None until there are ratings."""
    chance: float | None
    """The largest difference between ratings of equals by chance, in 95 of 100 cases, in Elo."""

    @property
    def strange(self) -> bool:
        """True if chance is an unlikely explanation of their difference."""
        if self.elo is None or not self.chance:
            return False
        return self.elo > STRANGE / REACH * self.chance


def twins(standings: Sequence[Standing], found: Statistics) -> list[DuplicateBaseline]:
    """Return the twins of a board with their differences, in its order."""
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
        made.append(
            DuplicateBaseline(one.name, other.name, same_bot(one, other), score, elo, chance)
        )
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


def told(each: DuplicateBaseline) -> str:
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
    if each.strange:
        text += (
            " The twins are further apart than chance explains: see whether both run under the "
            "same conditions."
        )
    return text
