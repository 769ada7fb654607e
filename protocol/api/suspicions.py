"""Results and choices of a competition that deserve a look, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row

__all__ = ["Likeness", "SameFiles", "Suspicions", "UnlikelyPair"]


class UnlikelyPair(Row, frozen=True):
    """Two owners whose results against each other are compared with the fit."""

    one: str
    other: str
    matches: int
    score: float
    """What ``one`` scored against ``other``."""
    expected: float
    """What the fit expects of it."""
    residual: float
    """The difference in standard deviations of the fit."""
    p: float
    """How likely a score at least as far off is, both sides together."""
    adjusted: float
    """The same for the best of so many pairs (Benjamini-Hochberg)."""


class Likeness(Row, frozen=True):
    """Two bots of different owners and how alike they choose."""

    one: str
    other: str
    positions: int
    """That both faced, and that say something."""
    same: int
    """On how many both chose the same."""
    expected: float
    """On how many two of the others would."""
    p: float
    """How likely so much agreement is then."""
    adjusted: float


class SameFiles(Row, frozen=True):
    """Entries of different owners with one digest: their files are the same, byte for byte."""

    digest: str
    entries: tuple[str, ...]


class Suspicions(Row, frozen=True):
    """A report for organisers."""

    level: float
    """The part of what is named that is expected to be named by accident."""
    pairs: tuple[UnlikelyPair, ...]
    """Those whose adjusted p-value is at most the level."""
    pairs_tested: int
    likenesses: tuple[Likeness, ...]
    records: int
    """How many records were compared."""
    left_out: int
    """How many records were not: older than the latest `MOST_RECORDS`, or of no known game."""
    same_files: tuple[SameFiles, ...] = ()
    """What needs no statistics: entries of which at least one is a student's."""
