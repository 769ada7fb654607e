"""Unlikely results and similar bots in a competition, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row

__all__ = ["Likeness", "SameFiles", "Suspicions", "UnlikelyPair"]


class UnlikelyPair(Row, frozen=True):
    """Results of two owners against each other, compared with the fitted ratings."""

    one: str
    other: str
    matches: int
    score: float
    """Score of ``one`` against ``other``."""
    expected: float
    """Score expected by the fit."""
    residual: float
    """The difference in standard deviations of the fit."""
    p: float
    """Two-sided p-value of the score."""
    adjusted: float
    """The p-value adjusted for the number of pairs (Benjamini-Hochberg)."""


class Likeness(Row, frozen=True):
    """Agreement of two bots of different owners."""

    one: str
    other: str
    positions: int
    """Informative positions that both faced."""
    same: int
    """Positions in which both chose the same action."""
    expected: float
    """Positions in which two of the other bots would agree."""
    p: float
    """Probability of at least this much agreement."""
    adjusted: float


class SameFiles(Row, frozen=True):
    """Entries of different owners with one digest: their files are the same, byte for byte."""

    digest: str
    entries: tuple[str, ...]


class Suspicions(Row, frozen=True):
    """A report for organisers."""

    level: float
    """The expected fraction of false alarms among the findings."""
    pairs: tuple[UnlikelyPair, ...]
    """Pairs whose adjusted p-value is at most the level."""
    pairs_tested: int
    likenesses: tuple[Likeness, ...]
    records: int
    """Number of records compared."""
    left_out: int
    """How many records were not: older than the latest `MOST_RECORDS`, or of no known game."""
    same_files: tuple[SameFiles, ...] = ()
    """Evidence without statistics: entries of which at least one belongs to a student."""
