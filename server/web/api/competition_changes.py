"""Competitions that change after they were opened, and frozen ones that open again."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import BaselineChange, NewCopy, NewFile, Unfreezing
from plyhouse.protocol.api.competitions import (
    Change,
    ChangedKey,
    Competition,
    CompetitionText,
    Copied,
    Losses,
)
from plyhouse.protocol.api.submissions import Submission
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.competition_rules.dates import read_time
from plyhouse.server.competition_rules.file import file_of
from plyhouse.server.competitions.competition_changes import Proposal, change, propose, unfreeze
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.web.api.access import staff_for
from plyhouse.server.web.api.competitions import competition_summary
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.api.submissions import submission_view
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_changes
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
    made, carried = await service(state, Competitions).open_with(
        data.file, by, Carry(old.id, data.codes, data.submissions)
    )
    await service(state, AuditFollower).look()
    return Copied(made.name, made.status, carried.students, carried.codes, carried.entries)


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


HANDLERS: Final[tuple[Any, ...]] = (
    file,
    change_file,
    unfreeze_now,
    losses,
    copy,
    change_baseline,
)
