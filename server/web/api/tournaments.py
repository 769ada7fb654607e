"""Competitions without students: their tables and progress, and new ones."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import convert

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import NewCompetition
from plyhouse.protocol.api.tournaments import Tournament, TournamentDetail, TournamentStanding
from plyhouse.server.accounts.roles import admit_to_part
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.tournaments import Tournaments, TournamentView
from plyhouse.server.config import ServerConfig
from plyhouse.server.lobby.lobby import read_game, read_time_control
from plyhouse.server.table.match_runner import Terms
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_sql, tournaments
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.store import Store

__all__ = ["HANDLERS"]


@serve(competition_calls.tournaments)
async def competitions(state: State) -> list[Tournament]:
    """List the competitions without students, newest first."""
    store = service(state, Store)
    rows = await store.read(partial(tournaments.list_all, without_students=True))
    return [Tournament(**_summary(row)) for row in rows]


@serve(competition_calls.tournament)
async def one_competition(
    state: State, request: Request[Any, Any, Any], competition: FromPath[str]
) -> TournamentDetail:
    """Show a competition with its table and progress.

    A game of a competition with students is shown to its staff only; its board shows to others
    what they may see.
    """
    store = service(state, Store)
    if await store.read(competition_sql.game_of, competition) not in (None, competition):
        identity = await authorise(request, "organise")
        await admit_to_part(store, competition, identity, "see")
    return _detail(await service(state, Tournaments).view(competition))


@serve(competition_calls.open_tournament)
async def organise(
    state: State, request: Request[Any, Any, Any], data: JSONBody[NewCompetition]
) -> TournamentDetail:
    """Start a round robin without students; needs a token with the scope ``organise``."""
    identity = await authorise(request, "organise")
    terms = Terms(
        read_game(data.game),
        read_time_control(data.time_control, service(state, ServerConfig)),
        data.rated,
        data.mirrored,
    )
    by = By(identity.player, "", identity.player_id)
    made = await service(state, Competitions).create(
        data.name, terms, by, rounds=data.rounds, entries=data.entries
    )
    return _detail(await service(state, Tournaments).view(made.id))


HANDLERS: Final[tuple[Any, ...]] = (competitions, one_competition, organise)


def _summary(row: TournamentRow) -> dict[str, Any]:
    fields = {
        name: value for name, value in asdict(row).items() if name in Tournament.__struct_fields__
    }
    return {"competition": row.id, **fields}


def _detail(view: TournamentView) -> TournamentDetail:
    return TournamentDetail(
        **_summary(view.row),
        entries=[f"{entry.player}/{entry.bot}" for entry in view.entries],
        planned=view.planned,
        created=view.created,
        finished=view.finished,
        waiting_for=view.waiting_for,
        table=convert(view.table, list[TournamentStanding], from_attributes=True),
    )
