"""Packages that are submitted, and where versions are entered, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row

__all__ = [
    "OpenBot",
    "OpenToPlay",
    "Submission",
    "SubmissionEntry",
    "SubmissionRules",
    "Version",
    "VersionEntry",
]


class SubmissionRules(Row, frozen=True):
    """Limits of packages, for clients that check before they send."""

    max_packed: int
    """Bytes of the zip."""
    max_bytes: int
    """Of all files together, unpacked."""
    max_file: int
    max_files: int
    packages: list[str]
    """What requirements.txt may name."""
    programs: list[str]
    """What a program may be started with."""


class SubmissionEntry(Row, frozen=True):
    """A competition that a submission is entered in."""

    competition: str
    chosen: bool
    """Whether its author named it."""
    outcome: str
    """``""`` (waits for the check), ``entered``, ``refused``, ``games``, ``begun``, ``full``,
    ``out``, ``pinned`` or ``newer``."""
    text: str
    """The same for people."""


class Submission(Row, frozen=True):
    """A package that was submitted for the server to run."""

    submission: int
    bot: str
    """``player/bot``."""
    version: str
    """The label of the version; mostly empty."""
    digest: str
    """What tells versions apart: the SHA-256 of what it holds."""
    status: str
    """``waiting`` (for its check), ``ready`` or ``refused``."""
    games: list[str]
    """What it plays; known after the check."""
    bytes: int
    """What it takes up of its player's room."""
    submitted_ms: int
    checked_ms: int | None
    competitions: list[SubmissionEntry]
    open: bool
    """Whether people may play against its bot, which plays its latest ready submission."""
    report: str = ""
    """What the check said; empty in lists."""
    waits_for: str = ""
    """What it needs that no runner machine has that is here, as a sentence; mostly empty."""


class OpenToPlay(Row, frozen=True):
    """Whether people may play against the submissions of a bot."""

    open: bool


class OpenBot(Row, frozen=True):
    """A bot that people can play against, and that the server runs for it."""

    bot: str
    """``player/bot``."""
    games: list[str]


class VersionEntry(Row, frozen=True):
    """Where a version is entered."""

    competition: str
    status: str
    chosen: bool
    left_out: bool = False
    """Whether only submissions play there, and this version is none."""


class Version(Row, frozen=True):
    """A version of one of one's bots."""

    bot: str
    version: str
    digest: str
    created_ms: int
    entered: list[VersionEntry]
