"""Files of competitions: what they cost, and changes after a competition was opened.

A frozen competition may open again.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from datetime import UTC, datetime
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.games.registry import get_game
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import BaselineChange, Costing, NewCopy, NewFile, Unfreezing
from plyhouse.protocol.api.competitions import (
    Change,
    ChangedKey,
    Competition,
    CompetitionCost,
    CompetitionText,
    Copied,
    GameCost,
    Losses,
)
from plyhouse.protocol.api.submissions import Submission
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competition_rules.dates import milliseconds_of, read_time
from plyhouse.server.competition_rules.file import CompetitionFile, file_of
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.grade_precision import grade_notes
from plyhouse.server.competition_rules.preview import (
    Measured,
    basis,
    counted_entries,
    measured_game,
    preview,
)
from plyhouse.server.competitions.file_changes import Proposal, change, propose, unfreeze
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.results.scoring import scoring_rule
from plyhouse.server.web.api.access import authorise, staff_for
from plyhouse.server.web.api.competitions import competition_summary
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.api.submissions import submission_view
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_changes, measures
from plyhouse.storage.competition_changes import Carry
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


@serve(competition_calls.competition_file)
async def file(state: State, request: Call, competition: FromPath[str]) -> CompetitionText:
    """Show the competition file, as it is now."""
    row, _ = await staff_for(request, competition, "see")
    return CompetitionText(row.name, row.file, _digest(row.file))


@serve(competition_calls.change_competition)
async def change_file(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewFile]
) -> Change:
    """Say what an edited file changes, or change it and tell the students.

    With ``apply``, nothing is changed if one of the changes is not possible now.
    """
    store = service(state, Store)
    competitions = service(state, Competitions)
    row, identity = await staff_for(request, competition, "change")
    if data.digest and data.digest != _digest(row.file):
        raise Problem(
            "competition/changed_meanwhile",
            f"The file of {row.name!r} has changed since you took it: take it again, and repeat "
            "your changes.",
        )
    proposal = await propose(store, competitions, row, data.file)
    if not data.apply or not proposal.changes:
        return _view(proposal, row.status, row.file, applied=False)
    by = By(identity.player, data.why, identity.player_id)
    made = await change(store, competitions, proposal, by)
    await service(state, AuditFollower).look()
    return _view(proposal, made.status, made.file, applied=True)


@serve(competition_calls.unfreeze_competition)
async def unfreeze_now(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Unfreezing]
) -> Competition:
    """Open a frozen competition again, before its final begins."""
    row, identity = await staff_for(request, competition, "run")
    zone = file_of(row).dates.named_zone
    until = read_time(data.until, zone) if data.until.strip() else None
    by = By(identity.player, data.why, identity.player_id)
    made = await unfreeze(service(state, Store), service(state, Competitions), row, by, until)
    await service(state, AuditFollower).look()
    return competition_summary(made)


@serve(competition_calls.competition_losses)
async def losses(state: State, request: Call, competition: FromPath[str]) -> Losses:
    """Say what would be lost if a competition were deleted."""
    store = service(state, Store)
    row, _ = await staff_for(request, competition, "see")
    return await store.read(competition_changes.losses, row.id, store.now())


@serve(competition_calls.copy_competition)
async def copy(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewCopy]
) -> Copied:
    """Open a new competition by its file, with the active students of this one."""
    old, identity = await staff_for(request, competition, "run")
    by = By(identity.player, data.why, identity.player_id)
    source = Carry(old.id, data.codes, data.submissions)
    made = await service(state, Competitions).open(data.file, by, source=source)
    store = service(state, Store)
    new = await store.read(competition_changes.losses, made.id, store.now())
    await service(state, AuditFollower).look()
    return Copied(made.name, made.status, new.students, new.codes, new.entries)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _view(proposal: Proposal, status: str, text: str, *, applied: bool) -> Change:
    lines = [
        ChangedKey(each.key, each.old, each.new, each.effect, each.refused)
        for each in proposal.changes
    ]
    digest = _digest(text)
    return Change(
        proposal.row.name, status, applied, lines, proposal.notice, digest, proposal.delays
    )


@serve(competition_calls.check_baseline)
async def change_baseline(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    data: JSONBody[BaselineChange],
) -> Submission:
    """Check a reference bot of a competition again, or let another one take its place.

    It waits for its check then. Until then another version plays, if there is one.
    """
    reference = data.reference.strip()
    row, identity = await staff_for(request, competition, "change" if reference else "run")
    made = await service(state, Competitions).baselines.check_again(
        row.id, data.bot, By(identity.player, data.why), replace_by=reference
    )
    return submission_view(service(state, Hosting), made)


_SAMPLING: Final = asyncio.Lock()
"""One sample at a time: they take a core from the clocks of matches, if for a moment."""


@serve(competition_calls.estimate_cost)
async def cost(
    state: State, request: Request[Any, Any, Any], data: JSONBody[Costing]
) -> CompetitionCost:
    """Say all that is wrong with a file, or what its competition would cost here.

    A game that was never played here is played at random for a moment.
    """
    store = service(state, Store)
    await authorise(request, "organise")
    file = await service(state, Competitions).check(data.file)
    control = str(file.time_control)
    measured: dict[str, Measured] = {}
    for game in file.games:
        known = await store.read(measures.measure, game, control, hosted=file.hosting_required)
        async with contextlib.nullcontext() if known.matches else _SAMPLING:
            measured[game] = await asyncio.to_thread(
                measured_game, game, file.time_control, known, time.perf_counter_ns
            )
    most = file.limits.students * file.entries_per_student + len(file.baselines)
    cores = service(state, Hosting).cores if file.hosting_required else 0
    now = datetime.fromtimestamp(store.now() / 1000, UTC)
    begin = file.dates.final or now
    return _cost(file, data.entries or most, measured, cores or None, begin)


def _cost(
    file: CompetitionFile,
    entries: int,
    measured: dict[str, Measured],
    cores: int | None,
    begin: datetime,
) -> CompetitionCost:
    try:
        found = preview(file, entries, begin, measured, cores)
    except FormatError as error:
        raise Problem(
            "competition/invalid", f"With {counted_entries(file, entries)}: {error}"
        ) from None
    at_a_time = file.limits.matches_at_a_time
    notes = [
        f"{game} is scored {scoring_rule(get_game(game), file.scored_by(game))}."
        for game in file.games
    ] + grade_notes(file, entries)
    if found is None:
        return CompetitionCost(file.name, entries, True, [], 0, 0.0, at_a_time, None, notes=notes)
    games = [
        GameCost(
            game=each.game,
            matches=each.matches,
            seconds=each.measured.most,
            core_hours=each.most / 3600,
            measured=each.measured.matches,
            source=each.measured.source,
            typical_seconds=each.measured.pace,
        )
        for each in found.games
    ]
    return CompetitionCost(
        name=file.name,
        entries=entries,
        endless=False,
        games=games,
        matches=found.matches,
        core_hours=found.most,
        at_a_time=found.at_a_time,
        end_ms=milliseconds_of(found.end(found.hours)),
        hours=found.hours,
        typical_hours=found.typical_hours,
        typical_end_ms=milliseconds_of(found.end(found.typical_hours)),
        notes=notes + basis(file, found),
    )


HANDLERS: Final[tuple[Any, ...]] = (
    file,
    change_file,
    unfreeze_now,
    losses,
    copy,
    change_baseline,
    cost,
)
