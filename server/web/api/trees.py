"""Search trees of positions, for viewers of a match or a replay.

A tree shows the best action. So a match that counts has none before its whole pairing is over, and
players get none during their match.  In games with hidden information there is none at all: what a
position is worth to a seat that does not know it, its tree does not say.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, cast

from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from plyhouse.games.base import CHANCE, Game, Information
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.positions import Tree
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.jobs.helper_jobs import MAX_DEPTH, MAX_THEN, USUAL_DEPTH, Trees
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.match.views import Views
from plyhouse.server.results.record import stored_record
from plyhouse.server.web.api.access import stored_for, viewer_of, visitor_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import MAX_OFFSET, service
from plyhouse.storage.rows import Identity, StoredMatch

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


@serve(calls.tree)
async def tree(
    request: Call,
    state: State,
    match: FromPath[str],
    ply: Ply = 0,
    depth: Depth = USUAL_DEPTH,
    search: Search = "",
    then: Then = None,
) -> Tree:
    """Give the search tree of a position: what each action leads to, and what it is worth.

    The tree is of the position before ``ply``, with the dice rolled, and after the actions in
    ``then``.  Without ``search``, a search that fits the game is used.  It is as deep as ``depth``,
    or as can be shown.  Matches that count have trees once their whole pairing is over, others at
    any time, but not for their seats.  The game must have no hidden information (``tree/hidden``).
    A separate process computes it (``tree/off``: not available here; ``tree/busy``, ``tree/rate``:
    ask again).
    """
    found = await _found(request, service(state, Trees), match, ply, depth, search, then)
    return cast("Tree", {name: value for name, value in found.items() if name != "svg"})


@serve(calls.tree_picture, media_type="image/svg+xml")
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
    found = await _found(request, service(state, Trees), match, ply, depth, search, then)
    return Response(str(found.get("svg", "")), media_type="image/svg+xml", headers=_PICTURE)


@serve(calls.tree_scene)
async def scene(
    request: Call, state: State, match: FromPath[str], ply: Ply = 0, then: Then = None
) -> dict[str, Any]:
    """Give the board of a position of the tree: before ``ply``, and after what is in ``then``.

    It may be seen where the tree may.
    """
    after = _actions(then, MAX_THEN + MAX_DEPTH)
    async with service(state, Helpers).queue.of(await visitor_of(request)):
        stored = await stored_for(request, match)
        await _explainable(request, stored)
        found = await service(state, Helpers).run(scene_of, stored, ply, after)
    if isinstance(found, str):
        raise Problem("tree/impossible", found)
    return found


def scene_of(stored: StoredMatch, ply: int, then: list[str]) -> dict[str, Any] | str:
    """Return the scene of a position, or why there is none; for a helper process."""
    game = get_game(stored.header.game)
    position = Position(game)
    for event in stored.events:
        if position.ply == ply and position.mover != CHANCE:
            break
        if event.kind in ("action", "chance"):
            position.apply(event.seat, event.text)
    if position.ply != ply:
        return f"{stored.header.id} has only {position.ply} plies: choose an earlier one."
    for text in then:
        try:
            position.apply(position.mover, text)
        except GameError as error:
            return f"then: {error}"
    return Views(game, game.seats).drawn(position.state, None)[1]


async def _explainable(request: Call, stored: StoredMatch) -> Game:
    """Return the game of a match whose trees the viewer may see; `Problem` otherwise."""
    game = get_game(stored.header.game)
    why = why_no_trees(game)
    if why:
        raise Problem("tree/hidden", why)
    _may_see(stored, await viewer_of(request))
    return game


def _actions(then: list[str] | None, most: int) -> list[str]:
    """Return the actions after a position; `Problem` for too many or too long ones."""
    after = then or []
    if len(after) > most or not all(text.isprintable() for text in after):
        raise Problem("tree/impossible", f"then: at most {most} actions, in print.")
    if not all(0 < len(text) <= LONGEST for text in after):
        raise Problem("tree/impossible", f"then: an action has 1 to {LONGEST} characters.")
    return after


async def _found(
    request: Call,
    trees: Trees,
    match: str,
    ply: int,
    depth: int,
    search: str,
    then: list[str] | None,
) -> dict[str, Any]:
    stored = await stored_for(request, match)
    game = await _explainable(request, stored)
    after = _actions(then, MAX_THEN)
    if not _NAME.fullmatch(search):
        raise Problem("tree/impossible", "search: a name such as alpha_beta.")
    record = await computed(stored_record, stored, game)
    visitor = await visitor_of(request)
    return await trees.of(visitor, record, ply, after, search, depth)


def why_no_trees(game: Game) -> str:
    """Why there are no trees in this game, in a sentence; empty if there are."""
    if game.info.information is Information.PERFECT:
        return ""
    return (
        f"{game.info.name} has hidden information: a seat does not know the position, so the "
        "search tree does not say what was best. A review judges by what the seat knew."
    )


def _may_see(stored: StoredMatch, viewer: Identity | None) -> None:
    """Refuse a tree that could help somebody in what is still being played."""
    if stored.pairing.finished_ms is not None:
        return
    match = stored.header.id
    if stored.header.rated or stored.pairing.tournament_id is not None:
        raise Problem(
            "match/not_over",
            f"{match} counts: it is explained once all matches of its pairing are over.",
        )
    if viewer is not None and viewer.player_id in {seat.player_id for seat in stored.header.seats}:
        raise Problem(
            "match/not_over",
            f"You have a seat in {match}: its positions are explained to you once it is over.",
        )


HANDLERS: Final[tuple[Any, ...]] = (tree, picture, scene)
