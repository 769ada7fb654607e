"""Tournaments: their tables and progress, and new ones of competitions without students."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import NewTournament
from plyhouse.protocol.api.competitions import Tournament, TournamentDetail
from plyhouse.server.accounts.roles import admit_to_part
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.tournaments import Tournaments, TournamentView
from plyhouse.server.config import ServerConfig
from plyhouse.server.lobby.lobby import read_game, read_time_control
from plyhouse.server.match.terms import Terms
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_sql, tournaments
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.store import Store


@serve(competition_calls.tournaments)
async def list_tournaments(state: State) -> list[Tournament]:
    """List the tournaments of competitions without students, newest first."""
    store = service(state, Store)
    rows = await store.read(partial(tournaments.list_all, without_students=True))
    return [Tournament(**_summary(row)) for row in rows]


@serve(competition_calls.tournament)
async def one_tournament(
    state: State, request: Request[Any, Any, Any], tournament: FromPath[str]
) -> TournamentDetail:
    """Show a tournament with its table and progress.

    If its competition has students, only staff may see it; others see the board.
    """
    store = service(state, Store)
    if await store.read(competition_sql.competition_of, tournament) not in (None, tournament):
        identity = await authorise(request, "organise")
        await admit_to_part(store, tournament, identity, "see")
    return _detail(await service(state, Tournaments).view(tournament))


@serve(competition_calls.open_tournament)
async def organise(
    state: State, request: Request[Any, Any, Any], data: JSONBody[NewTournament]
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


HANDLERS: Final[tuple[Any, ...]] = (list_tournaments, one_tournament, organise)


def _summary(row: TournamentRow) -> dict[str, Any]:
    fields = {
        name: value for name, value in asdict(row).items() if name in Tournament.__struct_fields__
    }
    return {"tournament": row.id, **fields}


def _detail(view: TournamentView) -> TournamentDetail:
    return TournamentDetail(
        **_summary(view.row),
        entries=[f"{entry.player}/{entry.bot}" for entry in view.entries],
        planned=view.planned,
        created=view.created,
        finished=view.finished,
        waiting_for=view.waiting_for,
        table=view.table,
    )
