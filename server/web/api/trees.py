"""Search trees of positions: what a search looks at, for whoever watches or replays a match.

A tree says which action is best, so there is none of a match that counts before its whole pairing
is over, and none for whoever plays.  In games with hidden information there is none at all: what a
position is worth to a seat that does not know it, its tree does not say.
"""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from plyhouse.games.base import Game, Information
from plyhouse.games.registry import get_game
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.jobs.search_trees import MAX_DEPTH, MAX_THEN, USUAL_DEPTH
from plyhouse.server.results.record import stored_record
from plyhouse.server.web.api.access import address_of, stored_for, viewer_of
from plyhouse.server.web.parameters import MAX_OFFSET, hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.storage.rows import Identity, StoredMatch

__all__ = ["HANDLERS", "why_no_trees"]

Call = Request[Any, Any, Any]
LONGEST: Final = 64
"""Characters of an action that is read."""
_NAME: Final = re.compile(r"[a-z_0-9]{0,32}")
_PICTURE: Final = {
    # A picture has its colours in itself, and does nothing.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cache-control": "no-store",
}

Ply = Annotated[int, QueryParameter(ge=0, le=MAX_OFFSET, description="The ply to be played.")]
Depth = Annotated[int, QueryParameter(ge=1, le=MAX_DEPTH, description="Plies to look ahead.")]
Search = Annotated[str, QueryParameter(description="As `plyhouse explain --search` has them.")]
Then = Annotated[
    list[str] | None,
    QueryParameter(description="Actions and rolls after the position, in their order."),
]


@get("/api/v1/matches/{match:str}/tree", tags=["matches"])
async def tree(
    request: Call,
    state: State,
    match: FromPath[str],
    ply: Ply = 0,
    depth: Depth = USUAL_DEPTH,
    search: Search = "",
    then: Then = None,
) -> dict[str, Any]:
    """Give the search tree of a position: what each action leads to, and what it is worth.

    Of the position before ``ply``, with the dice rolled, and after what stands in ``then``; without
    ``search``, by what fits the game.  It is as deep as ``depth``, or as can be shown.  Of matches
    that count once their whole pairing is over, of others at any time, but not for their seats; of
    games without hidden information (``tree/hidden``).  Worked out by a process of its own
    (``tree/off``: not here; ``tree/busy``, ``tree/rate``: ask again).
    """
    found = await _found(request, hub_of(state), match, ply, depth, search, then)
    return {name: value for name, value in found.items() if name != "svg"}


@get("/api/v1/matches/{match:str}/tree.svg", tags=["matches"], media_type="image/svg+xml")
async def picture(
    request: Call,
    state: State,
    match: FromPath[str],
    ply: Ply = 0,
    depth: Depth = USUAL_DEPTH,
    search: Search = "",
    then: Then = None,
) -> Response[str]:
    """Give the same tree as a drawing in the convention of textbooks."""
    found = await _found(request, hub_of(state), match, ply, depth, search, then)
    return Response(str(found.get("svg", "")), media_type="image/svg+xml", headers=_PICTURE)


async def _found(
    request: Call,
    hub: Hub,
    match: str,
    ply: int,
    depth: int,
    search: str,
    then: list[str] | None,
) -> dict[str, Any]:
    stored = await stored_for(request, hub, match)
    viewer = await viewer_of(request, hub)
    game = get_game(stored.header.game)
    why = why_no_trees(game)
    if why:
        raise Problem("tree/hidden", why)
    _may_see(stored, game, viewer)
    after = then or []
    if len(after) > MAX_THEN or not all(text.isprintable() for text in after):
        raise Problem("tree/impossible", f"then: at most {MAX_THEN} actions, in print.")
    if not all(0 < len(text) <= LONGEST for text in after):
        raise Problem("tree/impossible", f"then: an action has 1 to {LONGEST} characters.")
    if not _NAME.fullmatch(search):
        raise Problem("tree/impossible", "search: a name such as alpha_beta.")
    record = await asyncio.to_thread(stored_record, stored, game)
    visitor = address_of(request) if viewer is None else viewer.player_id
    return await hub.trees.of(visitor, record, ply, after, search, depth)


def why_no_trees(game: Game) -> str:
    """Why there are no trees in this game, in a sentence; empty if there are."""
    if game.info.information is Information.PERFECT:
        return ""
    return (
        f"{game.info.name} has hidden information: a seat does not know the position, so the "
        "search tree does not say what was best. A review judges by what the seat knew."
    )


def _may_see(stored: StoredMatch, game: Game, viewer: Identity | None) -> None:
    """Refuse a tree that could help somebody in what is still being played."""
    if stored.pairing.finished_ms is not None:
        return
    match = stored.header.id
    if stored.header.rated or stored.pairing.competition_id is not None:
        raise Problem(
            "match/not_over",
            f"{match} counts: it is explained once all matches of its pairing are over.",
        )
    if viewer is not None and viewer.player_id in {seat.player_id for seat in stored.header.seats}:
        raise Problem(
            "match/not_over",
            f"You have a seat in {match}: its positions are explained to you once it is over.",
        )


HANDLERS: Final[tuple[Any, ...]] = (tree, picture)
