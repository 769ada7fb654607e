"""Twins: one bot entered twice, so that a board shows its own noise.

The difference between an entry and its twin has one cause, chance: dice, seats, opponents' moods,
a busy machine.  So whoever wants to read something into the difference between two other entries
of that size should look at the twins first.  They are one sample of the noise, and may be close
by accident; how far chance drives two equal entries apart on this board in 95 of 100 cases, the
errors of the fitted ratings say, and the twins' own difference is a check on these.

A twin is a baseline of the competition file with ``twin_of``.  It is the same bot, run under a
second name of its account: the digests of their files and options agree, or it is no twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition.evidence import Evidence
from plyhouse.server.competition.standings import Entrant, Standing

__all__ = ["Twins", "differing", "told", "twins"]

REACH: Final = 1.96
"""Standard errors of a difference that chance stays within in 95 of 100 cases."""
STRANGE: Final = 3.0
"""Standard errors from which on chance hardly explains a difference."""


@dataclass(frozen=True, slots=True)
class Twins:
    """An entry and its twin on a board."""

    entry: str
    twin: str
    same: bool
    """Whether the same files and options played under both names."""
    score: float | None
    """By how much their scores differ, from 0 to 1; None until both have played."""
    elo: float | None
    """By how much their ratings differ, in Elo points; None until there are some."""
    chance: float | None
    """By how much chance makes ratings of equals differ here, at most, in 95 of 100 cases."""

    @property
    def strange(self) -> bool:
        """Whether chance hardly explains how far they are apart."""
        if self.elo is None or not self.chance:
            return False
        return self.elo > STRANGE / REACH * self.chance


def twins(standings: Sequence[Standing], found: Evidence) -> list[Twins]:
    """The twins of a board with their differences, in the order of its lines."""
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
        made.append(Twins(one.name, other.name, same_bot(one, other), score, elo, chance))
    return made


def same_bot(one: Entrant, other: Entrant) -> bool:
    """Whether two entries are the same files with the same options."""
    return bool(one.digest) and one.digest == other.digest


def differing(entry: str, entry_digest: str, twin: str, twin_digest: str) -> str:
    """What is wrong with a twin that is not the same bot; empty if it is."""
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


def told(each: Twins) -> str:
    """What twins say of a board, for whoever reads it."""
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
