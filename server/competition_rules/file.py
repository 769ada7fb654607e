"""The values of a competition file.

`plyhouse.server.competition_rules.file_reader` reads them from TOML, once.  The database keeps them
beside the text (`encoded`), and everything later takes them from there (`decoded`, `file_of`).  A
new field needs a default.  After a change of the code by which a stored value cannot be decoded,
the server reads the text again when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from plyhouse.games.base import Scoring
from plyhouse.games.registry import get_game
from plyhouse.protocol.parts import HelpDemand
from plyhouse.server.competition_rules import format_registry, formats
from plyhouse.server.competition_rules.dates import days_after
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.results.scoring import default_scoring, teams_of
from plyhouse.storage import entry_rule
from plyhouse.storage.competition_rows import CompetitionRow

LONGEST_MS: Final = 90_000_000
"""The longest calendar day, on which clocks go back."""
MAX_DAYS: Final = 60


@dataclass(frozen=True, slots=True)
class LateRule:
    """The rule of a competition file for late submissions: days after the freeze, and a penalty.

    >>> rule = LateRule(3, 10.0)
    >>> day = 86_400_000
    >>> rule.days_late(created_ms=5 * day, freeze_ms=5 * day)
    0
    >>> rule.days_late(created_ms=5 * day + 1, freeze_ms=5 * day)
    1
    >>> rule.days_late(created_ms=7 * day, freeze_ms=5 * day, extended_ms=6 * day), rule.penalty(2)
    (1, 20.0)
    """

    days: int = 0
    """The number of days after the freeze during which they are taken; 0: none."""
    penalty_per_day: float = 0.0
    """Percent of the points for each day, begun or full."""
    final_waits: bool = True
    """True if the final waits for late submissions and extensions; otherwise it begins on its date,
    and a rerun plays what comes later."""

    def until(self, freeze_ms: int | None, zone: str) -> int | None:
        """Return when late submissions end, in ms; None if none are taken."""
        if freeze_ms is None or not self.days:
            return None
        return days_after(freeze_ms, self.days, zone)

    def days_late(
        self,
        created_ms: int,
        freeze_ms: int | None,
        extended_ms: int | None = None,
        zone: str = "UTC",
    ) -> int:
        """Return how many days, begun or full, a version was late; 0 if in time.

        ``created_ms`` is when the server saw the version first.  ``extended_ms`` is the end of the
        student's extension, which is later than the freeze if there is one.  Days are those of the
        calendar in ``zone``.  Without a freeze date nothing is late.
        """
        if not self.days or freeze_ms is None:
            return 0
        begin = max(freeze_ms, extended_ms or 0)
        if created_ms <= begin:
            return 0
        days = max(1, (created_ms - begin) // LONGEST_MS)
        while days_after(begin, days, zone) < created_ms:
            days += 1
        return days

    def penalty(self, days: int) -> float:
        """Return the penalty for this number of days, in percent, at most 100."""
        return min(100.0, days * self.penalty_per_day)


MOST_AT_A_TIME: Final = 1024
"""Upper limit for ``matches_at_a_time``."""
VISIBILITIES: Final = ("public", "class", "anonymous")
"""Readers of the board: everybody, the class, or each student its own line and those just ahead."""
ROBINS: Final = ("round_robin", "double_round_robin")
"""Formats in which every entry meets every other one."""


@dataclass(frozen=True, slots=True)
class FormatTerms:
    """A format: a name of the catalogue with the parameters given."""

    name: str = "round_robin"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates of automatic steps, in UTC; None: the organiser decides."""

    zone: str = "UTC"
    """The time zone, by its name in the IANA database, in which dates without an offset are
    written and late days are counted."""

    opening: datetime | None = None
    freeze: datetime | None = None
    final: datetime | None = None

    @property
    def named_zone(self) -> str:
        """The zone of times without an offset; empty for UTC, where they have one."""
        return "" if self.zone == "UTC" else self.zone


@dataclass(frozen=True, slots=True)
class Baseline:
    """A bot of the staff that students are measured against."""

    bot: str
    """The bot, as ``player/bot``."""
    hidden: bool = False
    """True if students do not see it on the board."""
    grade: str = ""
    """The grade for reaching ``at_least`` against it; empty: none."""
    at_least: float = 0.5
    """The mean score against it, from 0 to 1, that the grade needs."""
    twin_of: str = ""
    """The baseline of which this is a copy under a second name; empty if it is no twin.
    Differences between the two on the board are noise.  A twin has no grade, and it is hidden if
    its original is."""
    reference: str = ""
    """The built-in bot, with options, that the server submits as this baseline.  Empty for bots
    that staff submit."""
    points: float | None = None
    """The points of the grade; None: evenly spaced (`points_of`)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of a competition."""

    students: int = 200
    """The largest number of students; a group counts once.  0: a competition without students."""
    matches_at_a_time: int = 8
    """The largest number of matches of the final that run at the same time; free play does not
    count."""
    absent_minutes: int = 30
    """Minutes for which a game of the final waits for an entry before withdrawing it; 0: for ever.
    Half an hour is enough to restart a machine or to call a student.  A Swiss of eight rounds
    still ends in an afternoon if each round loses an entry."""
    help: HelpDemand = ""
    """The level of help that entries must have, as the labels of their versions state it; empty for
    any.  Baselines need none."""


@dataclass(frozen=True, slots=True)
class Practice:
    """Practice from the opening to the freeze, which counts for nothing."""

    ladder: bool = False
    """True if entries play each other on a practice ladder."""
    matches_at_a_time: int = 4
    """The largest number of matches of the ladder that run at the same time."""
    baselines: bool = True
    """True if baselines play on the ladder; hidden ones and twins never do."""


@dataclass(frozen=True, slots=True)
class CompetitionFile:
    """The contents of a competition file."""

    name: str
    games: tuple[str, ...]
    """Canonical specs without duplicates."""
    time_control: TimeControl
    format: FormatTerms = FormatTerms()
    mirrored: bool = True
    """True if each pairing is played from every seat."""
    teams: bool = False
    """True if the bots of a student are partners, and pairings are between two sides
    (`plyhouse.server.competition_rules.sides`)."""
    rounds: int = 1
    """The number of times the whole schedule is played, in formats with a fixed schedule."""
    rated: bool = False
    """True if matches of the final count for leaderboards; only with a public board."""
    entries_per_student: int = 1
    dates: Dates = Dates()
    baselines: tuple[Baseline, ...] = ()
    """Baselines in the order of the file, from the easiest grade to the best."""
    board: str = "class"
    """One of `VISIBILITIES`."""
    limits: Limits = Limits()
    hosting_required: bool = False
    """True if only submitted bots play in the final, on runner machines."""
    rules: str = ""
    """The text of the rules for students."""
    scoring: Mapping[str, Scoring] = field(default_factory=dict)
    """The scoring of the games for which the file sets it; see `scored_by`."""
    every_lower: bool = True
    """True if a grade also needs the thresholds of all lower grades."""
    practice: Practice = Practice()
    points: float | None = None
    """The points of the best grade if grades are evenly spaced; None: one point per grade."""
    late: LateRule = field(default_factory=LateRule)
    """The rule for late submissions: their limit and their cost."""

    def scored_by(self, game: str) -> Scoring:
        """Return the scoring of a game: the file's, or else the game's default."""
        found = self.scoring.get(game)
        return default_scoring(get_game(game)) if found is None else found

    @property
    def shown(self) -> frozenset[str]:
        """The baselines that everybody who sees the board may know, in small letters."""
        return frozenset(each.bot.lower() for each in self.baselines if not each.hidden)

    @property
    def until_certain(self) -> bool:
        """True if entries meet baselines until their grades are certain."""
        return self.format.parameters.get("until_certain") is True

    @property
    def originals(self) -> tuple[Baseline, ...]:
        """The baselines that students are measured against: all but twins."""
        return tuple(each for each in self.baselines if not each.twin_of)

    @property
    def graded(self) -> bool:
        """True if a baseline that students are measured against is worth a grade."""
        return any(each.grade for each in self.originals)

    @property
    def twins(self) -> dict[str, str]:
        """The original of each twin, both as lower-case names."""
        return {each.bot.lower(): each.twin_of.lower() for each in self.twinned}

    @property
    def twinned(self) -> tuple[Baseline, ...]:
        """The baselines that are twins of others."""
        return tuple(each for each in self.baselines if each.twin_of)

    @property
    def laps(self) -> int:
        """The number of times that entries meet each other in a round robin."""
        if self.format.name == "double_round_robin":
            return 2 * self.rounds
        return self.rounds * int(self.format.parameters.get("laps", 1))

    @property
    def terms(self) -> tuple[str, dict[str, Any]]:
        """The format for `format_registry.make_format`, with ``rounds`` included."""
        if self.format.name in ROBINS:
            return "round_robin", {"laps": self.laps}
        given = dict(self.format.parameters)
        if self.format.name == "gauntlet":
            given["times"] = self.rounds * int(given.get("times", 1))
        return self.format.name, given

    @property
    def side_size(self) -> int:
        """The number of bots that play as one entry."""
        return teams_of(get_game(self.games[0])).count(0) if self.teams else 1

    def play(self, game: str) -> formats.Format | Ladder:
        """Return the format for a game; raises `FormatError` if it is impossible."""
        name, given = self.terms
        seats = get_game(game).seats // self.side_size
        return format_registry.make_format(name, seats=seats, mirrored=self.mirrored, **given)


STRICTEST: Final = CompetitionFile(
    "", (), TimeControl("move"), board="anonymous", hosting_required=True
)
"""Stands for a file that cannot be read: it shows nobody anything."""

_DECODER: Final = msgspec.json.Decoder(CompetitionFile)


def encoded(file: CompetitionFile) -> str:
    """Return a file's values as they are stored."""
    return msgspec.json.encode(file).decode()


def decoded(parsed: str | None) -> CompetitionFile:
    """Return the values of a stored file; `STRICTEST` if it could not be read.

    >>> file = CompetitionFile("Cup", ("pig",), TimeControl.parse("move:1"))
    >>> decoded(encoded(file)) == file
    True
    """
    try:
        return STRICTEST if parsed is None else _DECODER.decode(parsed)
    except msgspec.DecodeError:
        return STRICTEST


def file_of(row: CompetitionRow) -> CompetitionFile:
    """Return the values of a competition's file; raises `CompetitionRefusal` for an unread one."""
    file = decoded(row.parsed)
    if file is STRICTEST:
        raise entry_rule.unreadable(row)
    return file
