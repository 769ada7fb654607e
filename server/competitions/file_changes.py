"""Changes of competitions after their opening, unfreezing, and files not read yet.

`plyhouse.server.competition_rules.changes` says what may change and what follows from it.  A
running server follows new dates, boards and limits through the audit log
(`plyhouse.server.administration.audit_follower`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.protocol.api.competitions import CompetitionStatus
from plyhouse.server.competition_rules.changes import Change, Stage, compare, notice
from plyhouse.server.competition_rules.dates import in_words
from plyhouse.server.competition_rules.file import (
    STRICTEST,
    CompetitionFile,
    Dates,
    decoded,
    encoded,
    file_of,
)
from plyhouse.server.competition_rules.file_reader import (
    InvalidCompetition,
    Mistake,
    read_competition,
)
from plyhouse.server.competition_rules.file_sections import DATES, date_text, later_final
from plyhouse.server.competition_rules.file_table import CannotEdit, set_value
from plyhouse.server.competitions.finals import told_delay
from plyhouse.server.competitions.lifecycle import Competitions, columns_of
from plyhouse.server.grades.final_rules import grade_thresholds, grading_rules
from plyhouse.storage import competition_changes, competition_sql, competition_students
from plyhouse.storage.competition_changes import Changed
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.competitions.file_changes")

MOST_NOTED: Final = 20
"""Mistakes that the note of a competition lists."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The changes that another file would make in a competition."""

    row: CompetitionRow
    """The competition before the changes."""
    file: CompetitionFile
    text: str
    changes: tuple[Change, ...]
    delays: str = ""
    """The delay of the final after a change of dates, in words; empty if there is none."""

    @property
    def refused(self) -> list[Change]:
        """The changes that are not possible now."""
        return [each for each in self.changes if each.refused]

    @property
    def notice(self) -> str:
        """The notice for students."""
        return notice(list(self.changes))


async def propose(
    store: Store, competitions: Competitions, row: CompetitionRow, text: str
) -> Proposal:
    """Return the changes a new file would make; raises `InvalidCompetition`."""
    if row.rehearses is not None:
        raise CompetitionRefusal(
            "competition/not_now", f"{row.name!r} is a rehearsal: change the competition itself"
        )
    if row.practice_of:
        raise CompetitionRefusal(
            "competition/not_now",
            f"{row.name!r} is a practice ladder: change the competition itself",
        )
    old = file_of(row)
    new = await competitions.check(text, of=row)
    now = datetime.fromtimestamp(store.now() / 1000, UTC)
    past = [
        Mistake(
            "competition/date_past",
            f"dates.{name}",
            f"{in_words(value, new.dates.zone)} is over",
        )
        for name in DATES
        if (value := getattr(new.dates, name)) not in (None, getattr(old.dates, name))
        and value <= now
    ]
    if past:
        raise InvalidCompetition(past)
    entries = await store.read(competition_sql.entries_of, row.id)
    stage = Stage(row.status, sum(each.status == "active" for each in entries))
    changes = tuple(compare(old, new, stage))
    delays = ""
    if any(each.key.startswith(("dates.", "late.")) for each in changes):
        students = await store.read(competition_students.students_of, row.id)
        after = replace(row, **columns_of(new, text))
        delays = told_delay(after, new, students, store.now())
    return Proposal(row, new, text, changes, delays)


async def change(
    store: Store, competitions: Competitions, proposal: Proposal, by: By
) -> CompetitionRow:
    """Apply a proposal; raises `CompetitionRefusal` if a change is refused."""
    if proposal.refused:
        lines = "".join(f"\n  {each.key}: {each.refused}" for each in proposal.refused)
        raise CompetitionRefusal(
            "competition/change_refused", f"{proposal.row.name!r} cannot change like this:{lines}"
        )
    return await _apply(store, competitions, proposal, by, step="competition.change")


async def unfreeze(
    store: Store,
    competitions: Competitions,
    row: CompetitionRow,
    by: By,
    until: datetime | None = None,
) -> CompetitionRow:
    """Open a frozen competition again so that versions may change.

    ``until`` is the new freeze date, if any; a final before it moves with it.  Freeze and final
    dates in the past are removed from the file.  Raises `CompetitionRefusal` if the
    competition is not frozen.
    """
    if row.status != "frozen":
        raise CompetitionRefusal(
            "competition/not_now",
            f"{row.name!r} is {row.status}: only a frozen competition opens again, before its "
            "final begins",
        )
    try:
        text = await asyncio.to_thread(_unfrozen, row, file_of(row).dates, until, store.now())
    except CannotEdit as error:
        raise CompetitionRefusal(
            "competition/change_refused",
            f"{error}; then: plyhouse competition change {row.name!r} FILE",
        ) from None
    proposal = await propose(store, competitions, row, text)
    return await _apply(
        store, competitions, proposal, by, step="competition.unfreeze", status="open"
    )


def _unfrozen(row: CompetitionRow, dates: Dates, until: datetime | None, now_ms: int) -> str:
    """Return the file with the dates that it has once it is open again; raises `CannotEdit`."""
    text = row.file
    if until is not None:
        text = set_value(text, "dates.freeze", date_text(until, dates))
    elif row.freezes_ms is not None and row.freezes_ms <= now_ms:
        text = set_value(text, "dates.freeze", None)
    if row.final_ms is not None and row.final_ms <= now_ms:
        text = set_value(text, "dates.final", None)
    elif (final := later_final(dates, replace(dates, freeze=until))) is not None:
        text = set_value(text, "dates.final", date_text(final, dates))
    return text


async def _apply(
    store: Store,
    competitions: Competitions,
    proposal: Proposal,
    by: By,
    *,
    step: str,
    status: CompetitionStatus | None = None,
) -> CompetitionRow:
    row, file = proposal.row, proposal.file
    keys = {each.key for each in proposal.changes}
    old = file_of(row)
    baselines = competitions.baselines
    # Reference bots are checked per game, so new games need new checks of all of them.
    provided = await baselines.provided(file, besides=None if "games" in keys else old)
    own = {name: bot.id for name, (bot, _) in provided.items()}
    known = await baselines.known(file) | own
    entries = await store.read(competition_sql.entries_of, row.id)
    there = {each.name.lower(): each.bot_id for each in entries if each.baseline}
    wanted = {each.bot.lower() for each in file.baselines}
    reopened = row.status == "frozen" and "dates.freeze" in keys and file.dates.freeze is not None
    columns = columns_of(file, proposal.text)
    if "limits.students" not in keys:
        del columns["most_students"]  # the staff may have let more in
    if "games" not in keys:
        del columns["games"]  # they have tournaments
    changed = replace(row, status=status or ("open" if reopened else row.status), **columns)
    told = proposal.notice
    if changed.status == "open" and row.status == "frozen":
        told = "\n".join(each for each in ("The competition is open again.", told) if each)
    after = Changed(
        changed,
        [(each.key, each.old, each.new) for each in proposal.changes],
        told,
        [known[name] for name in sorted(wanted - there.keys())],
        list(own.values()),
        [bot for name, bot in sorted(there.items()) if name not in wanted],
        _settings(file, entries) if any(game.tournament_id for game in row.games) else None,
        step,
    )
    async with competitions.beginning:
        made = await store.write(competition_changes.apply, row, after, by, store.now())
    for bot, package in provided.values():
        await baselines.queue_check(made, bot, package)
    return made


def _settings(file: CompetitionFile, entries: Sequence[CompetitionEntry]) -> dict[str, Any]:
    """Return those settings of a final's games that may change later."""
    return {
        "at_a_time": file.limits.matches_at_a_time,
        "thresholds": grade_thresholds(file, entries),
        "grading": grading_rules(file, entries),
    }


async def read_files(store: Store) -> None:
    """Read the files of competitions that have no values yet; the server does so before it serves.

    A file that cannot be read shows nobody anything, and a note says why to its staff.
    """
    for identifier, parsed in await store.read(competition_changes.parsed_files):
        if decoded(parsed) is not STRICTEST:
            continue
        text = await store.read(competition_changes.text_of, identifier)
        note = None
        try:
            parsed = encoded(await asyncio.to_thread(read_competition, text))
        except InvalidCompetition as error:
            why = "; ".join(map(str, error.mistakes[:MOST_NOTED]))
            note = (
                f"{why}. Until it can, this competition stands still, takes no bots and shows "
                "nobody its board. "
                "Install what is missing, and start the server again"
            )
            parsed = None
            log.warning("competition unreadable", extra={"competition": identifier, "why": note})
        await store.write(competition_changes.keep_parsed, identifier, text, parsed, note)
