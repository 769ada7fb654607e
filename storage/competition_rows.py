"""Frozen rows of competitions.

As in `plyhouse.storage.rows`, fields named ``*_ms`` are wall-clock milliseconds since 1970 (UTC).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from plyhouse.protocol.api.competitions import CompetitionStatus, Member
from plyhouse.storage.rows import TournamentStatus

PRACTICE: Final = ".practice"
"""How the ids of practice ladders end, after the id of their competition."""


class _Dates(msgspec.Struct):
    zone: str = "UTC"


class _Limits(msgspec.Struct):
    help: str | None = ""


class _Values(msgspec.Struct):
    """The values of a competition file that queries need."""

    dates: _Dates = msgspec.field(default_factory=_Dates)
    limits: _Limits = msgspec.field(default_factory=_Limits)


_VALUES: Final = msgspec.json.Decoder(_Values)
_UNREAD: Final = _Values(limits=_Limits(help=None))


@dataclass(frozen=True, slots=True)
class CompetitionGame:
    """One game of a competition, and the tournament in which its final is played."""

    number: int
    game: str
    tournament_id: str | None
    """None until the final begins."""
    status: TournamentStatus | Literal[""] = ""
    """Of that tournament."""


@dataclass(frozen=True, slots=True)
class CompetitionRow:
    """A competition, with or without students."""

    id: str
    """Without students it is also the id of the tournament of a single game."""
    name: str
    file: str
    """The text of its competition file."""
    format: str
    status: CompetitionStatus
    entries_each: int
    most_students: int
    """0 for a competition without students."""
    created_ms: int
    opens_ms: int | None = None
    freezes_ms: int | None = None
    final_ms: int | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    note: str | None = None
    """Why an automatic step failed; None if none did."""
    rehearses: str | None = None
    """The id of the competition that this one is a rehearsal of; None for all others."""
    late_ms: int | None = None
    """Until when the file lets students submit after the freeze; None if it does not."""
    parsed: str | None = None
    """The values of the file, which the server reads once; None if it cannot be read."""
    games: tuple[CompetitionGame, ...] = ()

    @property
    def practice_id(self) -> str:
        """The id of its practice ladder, which is there once it has begun."""
        return self.id + PRACTICE

    @property
    def zone(self) -> str:
        """The time zone of its dates, by its name in the IANA database; UTC if unreadable."""
        return self._values.dates.zone

    @property
    def help(self) -> str | None:
        """The level of help that entries must have; empty for any, None if it cannot be read."""
        return self._values.limits.help

    @property
    def _values(self) -> _Values:
        try:
            return _UNREAD if self.parsed is None else _VALUES.decode(self.parsed)
        except msgspec.DecodeError:
            return _UNREAD

    @property
    def practice_of(self) -> str:
        """The id of the competition that this is the practice ladder of; empty for all others."""
        return self.id.removesuffix(PRACTICE) if self.id.endswith(PRACTICE) else ""


@dataclass(frozen=True, slots=True)
class CompetitionStudent:
    """An account in a competition: a student, or a group with its members."""

    player_id: int
    player: str
    display: str
    status: str
    """``active``, ``revoked`` or ``disqualified``."""
    joined_ms: int
    extended_ms: int | None
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class CompetitionEntry:
    """A bot in a competition, and the version of it that plays."""

    bot_id: int
    player_id: int
    player: str
    bot: str
    version_id: int | None
    """None if it has not connected yet."""
    version: str
    digest: str
    chosen: bool
    """True if the student chose the version; otherwise it is the last one that connected."""
    baseline: bool
    status: str
    """``active``, ``withdrawn`` or ``disqualified``."""
    next_id: int | None = None
    """The version that is entered for a rerun, where the results of the final are of another one
    (`plyhouse.storage.competition_reruns.played_entries`); so with the next two."""
    next_version: str = ""
    next_digest: str = ""
    side: tuple[int, ...] = ()
    """The bots of its side in the final, its captain first; empty before, and without teams."""

    @property
    def name(self) -> str:
        """``player/bot``."""
        return f"{self.player}/{self.bot}"


@dataclass(frozen=True, slots=True)
class NewMember:
    """Somebody to be taken in; ``account`` is its own or its group's."""

    name: str
    account: str
    display: str = ""
    """The account's display name; empty if the same as its name."""
    email: str = ""
    line: int = 0
    """The line of the class list."""
    institution_id: str = ""
    login: str = ""
    """Name by which the student logs in at the institution."""
    group: str = ""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a bot: what its files held, which never changes."""

    id: int
    bot_id: int
    bot: str
    label: str
    digest: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Submission:
    """An entry of a student in a competition."""

    competition: str
    """Its name."""
    status: str
    """Of the competition."""
    bot_id: int
    version_id: int | None
    chosen: bool
    parsed: str | None
    """The values of the competition's file."""
    handed_in: bool
    """True if that version was submitted and passed its check, or belongs to a baseline."""


def plays(offered: Iterable[str], games: Collection[str]) -> tuple[str, ...]:
    """Return the games of a competition that a bot of these games plays.

    A bot accepts a game with all parameters by its bare name.  Without ``games`` it accepts all.
    """
    return tuple(
        game for game in offered if not games or game in games or game.partition("(")[0] in games
    )
