"""Matches, their records and replays.

What is public is public here as well: of a match with hidden information that still runs, only
what a spectator may see.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

import msgspec
from litestar import get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.games.base import Game, Information
from plyhouse.games.registry import get_game
from plyhouse.server.house.hub import Hub
from plyhouse.server.house.lobby import read_game
from plyhouse.server.match.terms import config_of
from plyhouse.server.results.record import Record, stored_record
from plyhouse.server.web.api.types import MatchView, SeatView
from plyhouse.server.web.parameters import MAX_OFFSET, Limit, hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.server.web.replay import Replay, replay
from plyhouse.storage.rows import MatchRow, StoredMatch

__all__ = ["HANDLERS", "match_view"]

MAX_POSITIONS: Final = 200
"""Positions of a replay in one answer; a board drawn takes some kilobytes."""


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
    return [match_view(hub, row) for row in rows]


@get("/api/v1/matches/{match:str}", tags=["matches"])
async def one_match(state: State, match: FromPath[str]) -> MatchView:
    """Show a match; while it runs, with all that a spectator sees."""
    hub = hub_of(state)
    stored = await hub.store.match(match)
    view = match_view(hub, stored.header)
    live = hub.directory.match(match)
    if live is None or (live.match.config.shares_chance and live.pairing.open):
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
            f"The record of {match} is open once all matches of its pairing are over.",
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

    In games with hidden information what the seats saw is open once the whole pairing is over;
    where its matches share their rolls or deals, so is everything.
    """
    stored = await hub_of(state).store.match(match)
    game = get_game(stored.header.game)
    seats_open = _seats_open(stored, game)
    if not seats_open and config_of(stored.header, game).shares_chance:
        raise Problem(
            "match/not_over",
            f"{match} has the same rolls or deals as another match that is still being played: "
            "it can be seen once all matches of its pairing are over.",
        )
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


HANDLERS: Final[tuple[Any, ...]] = (matches, one_match, record, match_replay)


def match_view(hub: Hub, row: MatchRow) -> MatchView:
    """Show a stored match; its plies are counted to this moment if it is being played."""
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
        void_reason=row.void_reason,
    )


def _seats_open(stored: StoredMatch, game: Game) -> bool:
    """Whether all that happened in a match is public."""
    if stored.pairing.finished_ms is not None:
        return True
    shared = config_of(stored.header, game).shares_chance
    return game.info.information is Information.PERFECT and not shared
