"""Delays of a final after the freeze: extensions of students, and late submissions.

With ``final_waits = false`` under ``[late]`` it begins on its date, and a rerun plays what comes
later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competitions.upcoming_pairings import some_of
from plyhouse.storage.competition_rows import CompetitionRow, CompetitionStudent

__all__ = ["Delay", "delay_of", "running_extensions", "told_delay"]

BEFORE = ("draft", "open", "frozen")


@dataclass(frozen=True, slots=True)
class Delay:
    """Why a final cannot begin yet."""

    until_ms: int
    extended: tuple[str, ...]
    """The students whose extensions it waits for."""
    late: bool
    """True if it waits for late submissions."""

    @property
    def reason(self) -> str:
        """The extensions and late days that the final waits for."""
        found = [f"the extension of {some_of(self.extended)}"] if self.extended else []
        found += ["late submissions (days under [late])"] if self.late else []
        return " and ".join(found)

    def words(self, row: CompetitionRow) -> str:
        """Return what the delay means for a competition."""
        due = "has no date" if row.final_ms is None else f"is due {_shown(row.final_ms)}"
        return (
            f"The final of {row.name!r} {due} and waits until {_shown(self.until_ms)} for "
            f"{self.reason}. To begin it before that: plyhouse competition run {row.name!r} "
            "--anyway, or final_waits = false under [late] in the file, which begins it on its "
            "date; what comes later then plays after plyhouse competition rerun."
        )


def delay_of(
    row: CompetitionRow, file: CompetitionFile, students: Iterable[CompetitionStudent], now_ms: int
) -> Delay | None:
    """Return what delays the final of a competition; None if nothing does.

    That is what ends after its date, or, without a date, after now.
    """
    if row.status not in BEFORE or not file.late.final_waits:
        return None
    return _delay(row, students, max(now_ms, row.final_ms or 0))


def told_delay(
    row: CompetitionRow,
    file: CompetitionFile,
    students: Iterable[CompetitionStudent],
    now_ms: int,
    *,
    of: Collection[str] | None = None,
    also: Mapping[str, int] | None = None,
) -> str:
    """Return what extensions and late days mean for the next final; empty if nothing.

    That is the final that waits, the one that begins without them, or the rerun that waits.  With
    ``of``, only if the extension of one of these students is among the reasons.  ``also`` has ends
    of extensions that nobody has yet, in ms, by who will have them.
    """
    before = row.status in BEFORE
    if not before and of is None:
        return ""
    begin = max(now_ms, row.final_ms or 0) if before else now_ms
    delay = _delay(row, students, begin, also)
    if delay is None or (of is not None and not set(of) & set(delay.extended)):
        return ""
    if not before:
        return (
            f"A rerun of {row.name!r} waits until {_shown(delay.until_ms)} for {delay.reason}. "
            f"To begin it before that: plyhouse competition rerun {row.name!r} --anyway."
        )
    if not file.late.final_waits:
        due = "when you run it" if row.final_ms is None else _shown(row.final_ms)
        return (
            f"The final of {row.name!r} begins {due}, without waiting for {delay.reason}. "
            f"What comes later plays after plyhouse competition rerun {row.name!r}."
        )
    return delay.words(row)


def running_extensions(
    row: CompetitionRow, file: CompetitionFile, students: Iterable[CompetitionStudent], now_ms: int
) -> Delay | None:
    """Return what the final waits for if it is to begin now; None for nothing.

    A rerun always waits: it plays what comes late.
    """
    if row.status != "finished" and not file.late.final_waits:
        return None
    return _delay(row, students, now_ms)


def _delay(
    row: CompetitionRow,
    students: Iterable[CompetitionStudent],
    begin: int,
    also: Mapping[str, int] | None = None,
) -> Delay | None:
    """Return the extensions and late days that end after a time."""
    ends = {player: until for player, until in (also or {}).items() if until > begin} | {
        each.player: each.extended_ms
        for each in students
        if each.status == "active" and each.extended_ms is not None and each.extended_ms > begin
    }
    late = row.late_ms if row.late_ms is not None and row.late_ms > begin else 0
    if not ends and not late:
        return None
    return Delay(max([late, *ends.values()]), tuple(sorted(ends)), bool(late))


def _shown(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M UTC}"
