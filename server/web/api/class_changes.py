"""Competitions that change after they were opened, and frozen ones that open again."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Annotated, Any, Final

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from plyhouse.protocol.api.classes import (
    Change,
    ChangedKey,
    ClassCompetition,
    CompetitionText,
    Copied,
    Losses,
)
from plyhouse.server.competition.times import read_time
from plyhouse.server.contests.changing import Proposal, change, propose, unfreeze
from plyhouse.server.web.api.access import first, staff_for
from plyhouse.server.web.api.class_types import FileText, Why
from plyhouse.server.web.api.classes import HERE, class_summary
from plyhouse.server.web.parameters import hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.storage import class_losses
from plyhouse.storage.class_copies import Carry
from plyhouse.storage.rows import By

__all__ = [
    "HANDLERS",
    "NewCopy",
    "NewFile",
    "Unfreezing",
]

Call = Request[Any, Any, Any]
_SECURED: Final[dict[str, Any]] = {"tags": ["class"], "security": [{"token": []}]}
_DO: Final[dict[str, Any]] = {**_SECURED, "status_code": 200, "guards": [first("organise")]}


class NewFile(FileText):
    """The edited file of a competition."""

    apply: bool = False
    """False: only say what would change."""
    digest: Annotated[str, Meta(max_length=64)] = ""
    """Of the file that was edited.  The change is refused if the file is another one by now; empty:
    it is not compared."""


class NewCopy(FileText):
    """A new competition that takes over students of another one."""

    codes: bool = False
    """Whether valid codes lead into the new one from now on."""
    submissions: bool = False
    """Whether the entries of the students play in the new one, with their versions."""


class Unfreezing(Struct, forbid_unknown_fields=True):
    """A frozen competition opens again."""

    until: Annotated[str, Meta(max_length=64)] = ""
    """A new date of the freeze with its zone; empty: when somebody freezes it."""
    why: Why = ""


@get(HERE + "/{competition:str}/file", **_SECURED)
async def file(state: State, request: Call, competition: FromPath[str]) -> CompetitionText:
    """Show the competition file, as it is now."""
    row, _ = await staff_for(request, hub_of(state), competition, "see")
    return CompetitionText(row.name, row.file, _digest(row.file))


@post(HERE + "/{competition:str}/change", **_DO)
async def change_file(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewFile]
) -> Change:
    """Say what an edited file changes, or change it and tell the students.

    With ``apply``, nothing is changed if one of the changes is not possible now.
    """
    hub = hub_of(state)
    row, identity = await staff_for(request, hub, competition, "change")
    if data.digest and data.digest != _digest(row.file):
        raise Problem(
            "competition/changed_meanwhile",
            f"The file of {row.name!r} has changed since you took it: take it again, and repeat "
            "your changes.",
        )
    proposal = await propose(hub.store, hub.courses, row, data.file)
    if not data.apply or not proposal.changes:
        return _view(proposal, row.status, row.file, applied=False)
    by = By(identity.player, data.why, identity.player_id)
    made = await change(hub.store, hub.courses, proposal, by)
    await hub.audit_follower.look()
    return _view(proposal, made.status, made.file, applied=True)


@post(HERE + "/{competition:str}/unfreeze", **_DO)
async def unfreeze_now(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Unfreezing]
) -> ClassCompetition:
    """Open a frozen competition again, before its final begins."""
    hub = hub_of(state)
    row, identity = await staff_for(request, hub, competition, "run")
    until = read_time(data.until) if data.until.strip() else None
    by = By(identity.player, data.why, identity.player_id)
    made = await unfreeze(hub.store, hub.courses, row, by, until)
    await hub.audit_follower.look()
    return class_summary(made)


@get(HERE + "/{competition:str}/losses", **_SECURED)
async def losses(state: State, request: Call, competition: FromPath[str]) -> Losses:
    """Say what would be lost if a competition were deleted."""
    hub = hub_of(state)
    row, _ = await staff_for(request, hub, competition, "see")
    return Losses(**asdict(await hub.store.read(class_losses.losses, row.id, hub.store.now())))


@post(HERE + "/{competition:str}/copy", **_DO)
async def copy(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewCopy]
) -> Copied:
    """Open a new competition by its file, with the active students of this one."""
    hub = hub_of(state)
    old, identity = await staff_for(request, hub, competition, "run")
    by = By(identity.player, data.why, identity.player_id)
    made, carried = await hub.courses.open_with(
        data.file, by, Carry(old.id, data.codes, data.submissions)
    )
    await hub.audit_follower.look()
    return Copied(made.name, made.status, carried.students, carried.codes, carried.entries)


HANDLERS: Final[tuple[Any, ...]] = (file, change_file, unfreeze_now, losses, copy)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _view(proposal: Proposal, status: str, text: str, *, applied: bool) -> Change:
    lines = [
        ChangedKey(each.key, each.old, each.new, each.effect, each.refused)
        for each in proposal.changes
    ]
    return Change(proposal.row.name, status, applied, lines, proposal.notice, _digest(text))
