"""Competitions: their tables and progress, and new ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct, convert

from plyhouse.protocol.api.competitions import Competition, CompetitionDetail, CompetitionStanding
from plyhouse.server.accounts.roles import admit_to_part
from plyhouse.server.contests.competitions import CompetitionView
from plyhouse.server.lobby.lobby import read_game, read_time_control
from plyhouse.server.table.match_runner import Terms
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage import class_sql
from plyhouse.storage.rows import CompetitionRow

__all__ = ["HANDLERS"]


class NewCompetition(Struct, forbid_unknown_fields=True):
    """What an organiser wants to be played."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    game: str
    time_control: str
    rounds: Annotated[int, Meta(ge=1, le=1000)] = 1
    mirrored: bool = True
    rated: bool = True
    entries: list[str] | None = None
    """Names like ``player/bot``; all connected bots that accept the game if left out."""


@get("/api/v1/competitions", tags=["competitions"])
async def competitions(state: State) -> list[Competition]:
    """List all competitions, newest first."""
    return [Competition(**_summary(row)) for row in await hub_of(state).store.competitions()]


@get("/api/v1/competitions/{competition:str}", tags=["competitions"])
async def one_competition(
    state: State, request: Request[Any, Any, Any], competition: FromPath[str]
) -> CompetitionDetail:
    """Show a competition with its table and progress.

    A game of a final is shown to the staff of its competition only; its board shows to others what
    they may see.
    """
    hub = hub_of(state)
    if await hub.store.read(class_sql.game_of, competition) is not None:
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
        name: value for name, value in asdict(row).items() if name in Competition.__struct_fields__
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
        table=convert(view.table, list[CompetitionStanding], from_attributes=True),
    )
