"""The web API under ``/api/v1``: results, matches, records, accounts and competitions.

Everything is read from the database or the hub at the time of asking.  What is public is public
here as well: of a match with hidden information that still runs, only what a spectator may see.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Final

import msgspec
from litestar import Litestar, Request, get, post
from litestar.config.response_cache import ResponseCacheConfig
from litestar.datastructures import State
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from plyhouse.games.base import Game, Information
from plyhouse.games.registry import game_class, game_names, get_game
from plyhouse.protocol.messages import PROTOCOL_VERSION
from plyhouse.server.house.competitions import CompetitionView
from plyhouse.server.house.hub import Hub, server_version
from plyhouse.server.house.lobby import read_game, read_time_control
from plyhouse.server.house.matches import Terms
from plyhouse.server.results.leaderboards import lines, scoring_of
from plyhouse.server.results.record import Record, stored_record
from plyhouse.server.web.api_types import (
    Account,
    CompetitionDetail,
    CompetitionSummary,
    GameView,
    Health,
    Leaderboard,
    MatchView,
    NewCompetition,
    NewPlayer,
    ParameterView,
    PlayerView,
    SeatView,
)
from plyhouse.server.web.pages import ReferencePage
from plyhouse.server.web.problems import HANDLERS, MAX_BODY, Problem
from plyhouse.server.web.replay import Replay, replay
from plyhouse.server.web.site import SAFETY_HEADERS, hub_of, site_handlers
from plyhouse.storage.rows import CompetitionRow, MatchRow, StoredMatch

__all__ = ["create_api"]

MAX_PAGE: Final = 1000
MAX_POSITIONS: Final = 200
MAX_OFFSET: Final = 1_000_000_000
"""More than any table has lines, and a number that every database can count to."""
"""Positions of a replay in one answer; a board drawn takes some kilobytes."""

Limit = Annotated[int, QueryParameter(ge=1, le=MAX_PAGE, description="Most lines to return.")]


async def _authorise(request: Request[Any, Any, Any], hub: Hub, scope: str) -> None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Problem("auth/required", "Send the header 'Authorization: Bearer TOKEN'.")
    await hub.registration.identify(token.strip(), scope)


@get(["/api/v1/health", "/api/v1/status"], tags=["server"])
async def health(state: State) -> Health:
    """Say how the server is doing."""
    hub = hub_of(state)
    watchdog = hub.watchdog
    return Health(
        status="stopping" if hub.stopping else "ok",
        version=server_version().removeprefix("plyhouse "),
        protocol=PROTOCOL_VERSION,
        registration=hub.config.registration,
        uptime_s=round((hub.now() - hub.started) / 1e9, 3),
        connections=len(hub.sessions),
        bots=len(hub.directory.online()),
        matches=len(hub.directory.live),
        seeks=len(hub.lobby),
        plies=hub.runner.plies,
        stalled_ms=watchdog.total_ns // 1_000_000,
        longest_stall_ms=watchdog.longest_ns // 1_000_000,
    )


@get("/api/v1/games", tags=["games"])
async def games() -> list[GameView]:
    """List the games that can be played here."""
    listed = []
    for name in game_names():
        info = game_class(name).info
        parameters = [
            ParameterView(
                each.name,
                each.default,
                each.description,
                each.minimum,
                each.maximum,
                None if each.choices is None else list(each.choices),
            )
            for each in info.parameters
        ]
        listed.append(
            GameView(
                name=name,
                title=info.title,
                summary=info.summary,
                min_seats=info.min_seats,
                max_seats=info.max_seats,
                chance=info.chance.value,
                information=info.information.value,
                utility=info.utility.value,
                draw_offers=info.draw_offers,
                parameters=parameters,
            )
        )
    return listed


@get("/api/v1/leaderboards", tags=["results"])
async def leaderboards(state: State) -> list[str]:
    """List the games that have results."""
    return await hub_of(state).store.games_with_results()


@get("/api/v1/leaderboards/{game:str}", tags=["results"])
async def leaderboard(
    state: State,
    game: FromPath[str],
    limit: Limit = 100,
    offset: Annotated[int, QueryParameter(ge=0, le=MAX_OFFSET)] = 0,
) -> Leaderboard:
    """Give the standings of a game; ratings come with their 95 % interval.

    Where the game is scored by returns, so does the mean return per match.
    """
    spec = read_game(game).spec
    standings = await hub_of(state).store.leaderboard(spec, limit, offset)
    return Leaderboard(spec, scoring_of(spec).value, lines(spec, standings))


@get("/api/v1/matches", tags=["matches"])
async def matches(
    state: State,
    game: FromQuery[str | None] = None,
    player: FromQuery[str | None] = None,
    competition: FromQuery[str | None] = None,
    status: FromQuery[str | None] = None,
    rated: FromQuery[bool | None] = None,
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> list[MatchView]:
    """List matches, newest first; ``before`` is the last match of the page before."""
    hub = hub_of(state)
    rows = await hub.store.list_matches(
        game=None if game is None else read_game(game).spec,
        player_id=None if player is None else (await hub.store.player(player)).id,
        competition_id=competition,
        status=status,
        rated=rated,
        limit=limit,
        before=before,
    )
    return [_match_view(hub, row) for row in rows]


@get("/api/v1/matches/{match:str}", tags=["matches"])
async def one_match(state: State, match: FromPath[str]) -> MatchView:
    """Show a match; while it runs, with all that a spectator sees."""
    hub = hub_of(state)
    stored = await hub.store.match(match)
    view = _match_view(hub, stored.header)
    live = hub.directory.match(match)
    if live is None:
        return view
    waiting = live.durable()
    snapshot = live.match.snapshot(None, hub.now())
    if waiting is not None:
        await waiting
    return msgspec.structs.replace(view, snapshot=snapshot)


@get("/api/v1/matches/{match:str}/record", tags=["matches"])
async def record(state: State, match: FromPath[str]) -> Record:
    """Give the record of a match, which ``plyhouse verify`` can check.

    The seed is in it once the whole pairing is over.  In games with hidden information the
    record is closed until then.
    """
    stored = await hub_of(state).store.match(match)
    game = get_game(stored.header.game)
    if not _seats_open(stored, game):
        raise Problem(
            "match/not_over",
            f"{game.info.name} has hidden information: the record of {match} is open once all "
            "matches of its pairing are over.",
        )
    return stored_record(stored, game)


@get("/api/v1/matches/{match:str}/replay", tags=["matches"])
async def match_replay(
    state: State,
    match: FromPath[str],
    seat: Annotated[int | None, QueryParameter(ge=0)] = None,
    first: Annotated[
        int, QueryParameter(ge=0, le=MAX_OFFSET, description="Ply of the first position.")
    ] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=MAX_POSITIONS)] = MAX_POSITIONS,
) -> Replay:
    """Give the positions of a match as scenes, as spectators see them or as ``seat`` saw them.

    In games with hidden information what the seats saw is open once the whole pairing is over.
    """
    stored = await hub_of(state).store.match(match)
    game = get_game(stored.header.game)
    seats_open = _seats_open(stored, game)
    if seat is not None and seat >= game.seats:
        raise Problem("seat/unknown", f"{game.spec} has seats 0 to {game.seats - 1}.", 404)
    if seat is not None and not seats_open:
        raise Problem(
            "match/not_over",
            f"{game.info.name} has hidden information: what a seat saw in {match} is open once "
            "all matches of its pairing are over.",
        )
    # In a thread, as clocks are running here while a long match is gone through.
    return await asyncio.to_thread(
        replay, stored, game, seat, seats_open=seats_open, first=first, limit=limit
    )


@get("/api/v1/players/{name:str}", tags=["players"])
async def player(state: State, name: FromPath[str]) -> PlayerView:
    """Show a player, its bots and its latest matches."""
    hub = hub_of(state)
    row = await hub.store.player(name)
    rows = await hub.store.list_matches(player_id=row.id, limit=20)
    prefix = row.name.lower()
    online = [each for each in hub.directory.online() if each.lower().partition("/")[0] == prefix]
    return PlayerView(
        player=row.name,
        created_ms=row.created_ms,
        bots=await hub.store.bots(row.id),
        online=online,
        matches=[_match_view(hub, each) for each in rows],
    )


@post("/api/v1/players", tags=["players"])
async def register(state: State, data: JSONBody[NewPlayer]) -> Account:
    """Make an account, where registration is open; keep the token, it is shown only here."""
    return Account(*await hub_of(state).registration.register(data.player))


@get("/api/v1/competitions", tags=["competitions"])
async def competitions(state: State) -> list[CompetitionSummary]:
    """List all competitions, newest first."""
    return [CompetitionSummary(**_summary(row)) for row in await hub_of(state).store.competitions()]


@get("/api/v1/competitions/{competition:str}", tags=["competitions"])
async def one_competition(state: State, competition: FromPath[str]) -> CompetitionDetail:
    """Show a competition with its table and progress."""
    return _detail(await hub_of(state).competitions.view(competition))


@post(
    "/api/v1/competitions",
    tags=["competitions"],
    security=[{"token": []}],
)
async def organise(
    state: State, request: Request[Any, Any, Any], data: JSONBody[NewCompetition]
) -> CompetitionDetail:
    """Start a round robin; needs a token with the scope ``organise``."""
    hub = hub_of(state)
    await _authorise(request, hub, "organise")
    terms = Terms(
        read_game(data.game),
        read_time_control(data.time_control, hub.config),
        data.rated,
        data.mirrored,
    )
    made = await hub.competitions.create(data.name, terms, rounds=data.rounds, entries=data.entries)
    return _detail(await hub.competitions.view(made))


def create_api() -> Litestar:
    """Return the web application; it serves the hub that is put into its ``state.hub``."""
    handlers: list[Any] = [
        health,
        games,
        leaderboards,
        leaderboard,
        matches,
        one_match,
        record,
        match_replay,
        player,
        register,
        competitions,
        one_competition,
        organise,
        *site_handlers(),
    ]
    return Litestar(
        handlers,
        exception_handlers=HANDLERS,
        response_headers=SAFETY_HEADERS,
        logging_config=None,
        response_cache_config=ResponseCacheConfig(),
        openapi_config=OpenAPIConfig(
            title="Plyhouse",
            version="1",
            description=__doc__.split("\n\n")[1] if __doc__ else None,
            path="/api",
            use_handler_docstrings=True,
            render_plugins=[JsonRenderPlugin(path="/openapi.json"), ReferencePage(path="/")],
        ),
        request_max_body_size=MAX_BODY,
    )


def _seats_open(stored: StoredMatch, game: Game) -> bool:
    """Whether all that happened in a match is public."""
    over = stored.pairing.finished_ms is not None
    return over or game.info.information is Information.PERFECT


def _match_view(hub: Hub, row: MatchRow) -> MatchView:
    live = hub.directory.live.get(row.id)
    return MatchView(
        match=row.id,
        pairing=row.pairing_id,
        game=row.game,
        time_control=row.time_control,
        rated=row.rated,
        status=row.status,
        ply=row.ply if live is None else live.match.ply,
        seats=[
            SeatView(
                seat.seat,
                seat.player,
                seat.bot,
                seat.version,
                row.returns[seat.seat] if len(row.returns) > seat.seat else None,
            )
            for seat in row.seats
        ],
        termination=row.termination,
        reason=row.reason,
        created_ms=row.created_ms,
        started_ms=row.started_ms,
        finished_ms=row.finished_ms,
        record=f"/api/v1/matches/{row.id}/record",
    )


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
