"""Competitions: their tables and progress, and new ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.server.house.competitions import CompetitionView
from plyhouse.server.house.lobby import read_game, read_time_control
from plyhouse.server.house.matches import Terms
from plyhouse.server.house.staff import admit_to_part
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.api.types import CompetitionDetail, CompetitionSummary, NewCompetition
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage.rows import CompetitionRow

__all__ = ["HANDLERS"]


@get("/api/v1/competitions", tags=["competitions"])
async def competitions(state: State) -> list[CompetitionSummary]:
    """List all competitions, newest first."""
    return [CompetitionSummary(**_summary(row)) for row in await hub_of(state).store.competitions()]


@get("/api/v1/competitions/{competition:str}", tags=["competitions"])
async def one_competition(
    state: State, request: Request[Any, Any, Any], competition: FromPath[str]
) -> CompetitionDetail:
    """Show a competition with its table and progress.

    A game of a final is shown to the staff of its competition only; its board shows to others what
    they may see.
    """
    hub = hub_of(state)
    if await hub.store.classes.game_of(competition) is not None:
        identity = await authorise(request, hub, "organise")
        await admit_to_part(hub.store, competition, identity, "see")
    return _detail(await hub_of(state).competitions.view(competition))


@post(
    "/api/v1/competitions",
    tags=["competitions"],
    security=[{"token": []}],
    guards=[first("organise")],
)
async def organise(
    state: State, request: Request[Any, Any, Any], data: JSONBody[NewCompetition]
) -> CompetitionDetail:
    """Start a round robin; needs a token with the scope ``organise``."""
    hub = hub_of(state)
    await authorise(request, hub, "organise")
    terms = Terms(
        read_game(data.game),
        read_time_control(data.time_control, hub.config),
        data.rated,
        data.mirrored,
    )
    made = await hub.competitions.create(data.name, terms, rounds=data.rounds, entries=data.entries)
    return _detail(await hub.competitions.view(made))


HANDLERS: Final[tuple[Any, ...]] = (competitions, one_competition, organise)


def _summary(row: CompetitionRow) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in asdict(row).items()
        if name in CompetitionSummary.__struct_fields__
    }
    return {"competition": row.id, **fields}


def _detail(view: CompetitionView) -> CompetitionDetail:
    return CompetitionDetail(
        **_summary(view.row),
        entries=[f"{entry.player}/{entry.bot}" for entry in view.entries],
        planned=view.planned,
        created=view.created,
        finished=view.finished,
        waiting_for=view.waiting_for,
        table=view.table,
    )
