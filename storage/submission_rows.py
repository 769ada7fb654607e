"""Frozen rows of submissions.

As in `plyhouse.storage.rows`, fields named ``*_ms`` are wall-clock milliseconds since 1970 (UTC).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.storage.errors import Unknown

MAX_REPORT: Final = 64_000
"""Characters of a report that are kept."""

OUTCOMES: Final = {
    "": "waits for the check",
    "entered": "entered",
    "replaced": "no longer entered: another version or bot took its place",
    "refused": "not entered: the check refused it",
    "person": "not entered: a competition takes bots, and this one has the name of its account",
    "games": "not entered: it plays none of the games of this competition",
    "help": "not entered: the label of its version does not state the level of help that this "
    "competition demands",
    "unreadable": "not entered: the file of this competition cannot be read on this server, and "
    "until then it takes no bots; its staff knows why",
    "begun": "not entered: the final began before the check was done",
    "full": "not entered: your other bots have all places; "
    "`plyhouse bot enter NAME --replace OTHER` gives it one",
    "out": "not entered: not in the competition any more",
    "pinned": "not entered: another version was chosen for it there",
    "newer": "not entered: a newer version plays there",
}
"""Outcomes of a submission's entry in a competition, with their meaning."""


@dataclass(frozen=True, slots=True)
class AskedEntry:
    """A competition that a submission enters."""

    competition_id: str
    competition: str
    """Its name."""
    chosen: bool
    """True if its author named the competition.

    Otherwise the competition accepts every submission of the student.
    """
    asked_ms: int
    outcome: str
    """One of `OUTCOMES`; empty while it waits for the check."""
    games: tuple[str, ...] = ()
    """The games of the competition."""


@dataclass(frozen=True, slots=True)
class WaitingCheck:
    """A check that waits for a machine."""

    needs: str
    """The program that the submission is started with; empty for none."""
    baseline: bool
    """True if its bot is a baseline: then students' checks go first."""
    player_id: int
    since_ms: int
    """When it was submitted, or, if it was checked before, asked to play in other games."""


@dataclass(frozen=True, slots=True)
class CheckedFor:
    """A competition that a submission is checked for."""

    parsed: str | None
    """The values of its competition file."""
    baseline: bool
    """True if the bot is a baseline there, which has to play all of its games."""


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A package submitted as a version of a bot."""

    id: int
    player: str
    bot: str
    bot_id: int
    version_id: int
    digest: str
    """The digest of the package's contents; the version has the same."""
    label: str
    """Label of the version; empty if it has none."""
    status: str
    """``waiting`` (for its check), ``ready`` or ``refused``."""
    report: str
    """Report of the check for the author; empty before the check."""
    games: tuple[str, ...]
    """Specs of the games that it plays; empty before the check."""
    submitted_ms: int
    checked_ms: int | None
    player_id: int = 0
    size: int = 0
    """Bytes of the package; 0 if it is not kept any more."""
    open: bool = False
    """True if people may play against the bot: against its latest ready submission."""
    needs: str = ""
    """The program that it is started with, which its machine has to have; empty for none."""
    competitions: tuple[AskedEntry, ...] = ()

    @property
    def name(self) -> str:
        """The bot with its player, as in ``ada/mybot``."""
        return f"{self.player}/{self.bot}"

    @property
    def unchecked(self) -> bool:
        """True if it waits for its check, or for that of a further competition."""
        asked = any(each.outcome == "" for each in self.competitions)
        return self.status == "waiting" or (self.status == "ready" and asked)


def no_submission(number: int) -> Unknown:
    """Return the error for a submission that does not exist, or that the caller may not see."""
    return Unknown(f"there is no submission {number}; see plyhouse submission list")
