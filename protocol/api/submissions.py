"""Submitted packages and their entries in competitions, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row


class SubmissionRules(Row, frozen=True):
    """Limits of packages, for clients that check before they send."""

    max_packed: int
    """Bytes of the zip."""
    max_bytes: int
    """Bytes of all files together, unpacked."""
    max_file: int
    max_files: int
    packages: list[str]
    """Packages that requirements.txt may name."""
    programs: list[str]
    """Programs that may start a bot."""


class SubmissionEntry(Row, frozen=True):
    """The entry of a submission in a competition."""

    competition: str
    chosen: bool
    """True if its author chose this competition."""
    outcome: str
    """``""`` (waits for the check), ``entered``, ``refused``, ``person``, ``games``, ``begun``,
    ``full``, ``out``, ``pinned`` or ``newer``."""
    text: str
    """The outcome in words, with the games of the competition that it does not play."""
    missing: list[str] = []
    """Those games: each counts as 0."""
    days_late: int = 0
    """Started days by which it came too late, in the answer about one submission."""
    penalty: float = 0.0
    """Percentage of the points deducted for lateness."""


class Submission(Row, frozen=True):
    """A package that was submitted for the server to run."""

    submission: int
    bot: str
    """``player/bot``."""
    version: str
    """The label of the version; empty if the author gave none."""
    digest: str
    """SHA-256 of the package's contents; it distinguishes versions."""
    status: str
    """``waiting`` (for its check), ``ready`` or ``refused``."""
    games: list[str]
    """Games that it plays; empty until it is checked."""
    bytes: int
    """Bytes of its player's storage that it uses."""
    submitted_ms: int
    checked_ms: int | None
    competitions: list[SubmissionEntry]
    open: bool
    """True if people may play against its bot, which plays its latest ready submission."""
    report: str = ""
    """Report of the check; empty in lists."""
    waits_for: str = ""
    """Why it waits, in sentences: for a runner, its place in the queue, or since when its check
    runs; empty if unknown."""


class OpenToPlay(Row, frozen=True):
    """Setting of a bot: may people play against its submissions."""

    open: bool


class Ready(Row, frozen=True):
    """The bot that can be challenged now."""

    opponent: str


class OpenBot(Row, frozen=True):
    """A bot that the server runs for people who want to play against it."""

    bot: str
    """``player/bot``."""
    games: list[str]


class VersionEntry(Row, frozen=True):
    """The entry of a version in a competition."""

    competition: str
    status: str
    chosen: bool
    left_out: bool = False
    """True if the competition accepts only submissions and this version is none."""


class Version(Row, frozen=True):
    """A version of one of your bots."""

    bot: str
    version: str
    digest: str
    created_ms: int
    entered: list[VersionEntry]
