"""Matches, their records and replays.

The same data is public as on the pages: for a running match with hidden information, the
spectators' view.  Matches of a competition that is not public are there for those who
may see them, by their tokens (`plyhouse.server.accounts.privacy`).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast

import msgspec
from litestar import MediaType, Request, Response
from litestar.datastructures import ResponseHeader, State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.games.base import Game, Information
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Failure, Match, Replay
from plyhouse.protocol.api.positions import Chances, Review
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.jobs.helper_jobs import Reviews
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.lobby.match_search import Words, filter_of
from plyhouse.server.match.events import end_data
from plyhouse.server.results.luck import chances_json
from plyhouse.server.results.notations import TEXT, form_of, notation_text
from plyhouse.server.results.record import Record, record_json, stored_record, write_record
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import authorise, sight_of, stored_for, visitor_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import FROM_DATABASE, leave_to_leader
from plyhouse.server.web.parameters import MAX_OFFSET, Limit, service
from plyhouse.server.web.replay import replay_json
from plyhouse.storage.match_reads import shown
from plyhouse.storage.rows import StoredMatch
from plyhouse.storage.store import Store

MAX_POSITIONS: Final = 200
"""Positions of a replay in one answer; a board drawn takes some kilobytes."""


Call = Request[Any, Any, Any]


@serve(calls.page_of_matches, opt=FROM_DATABASE)
async def matches(
    state: State,
    request: Call,
    game: FromQuery[str] = "",
    player: FromQuery[str] = "",
    bot: FromQuery[str] = "",
    competition: FromQuery[str] = "",
    termination: FromQuery[str] = "",
    status: FromQuery[str] = "",
    rated: FromQuery[bool | None] = None,
    sort: FromQuery[Literal["made", "ended"]] = "made",
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> list[Match]:
    """List matches, newest first; ``before`` is the last match of the page before.

    ``game`` is a name, for all its parameters, or a name with parameters for those alone.
    ``bot`` is ``PLAYER/BOT``, and ``competition`` the name or id of one, or the id of one game of
    a final.  With ``sort`` = ``ended`` there are finished matches only, the last to end first.
    """
    if status != "finished" and sort != "ended":
        leave_to_leader(request.scope)
    privacy = service(state, Privacy)
    sight = await sight_of(request)
    words = Words(
        game=game,
        player=player,
        bot=bot,
        competition=competition,
        termination=termination,
        status=status,
    )
    looked = await filter_of(service(state, Store), privacy, sight, words)
    wanted = msgspec.structs.replace(looked.wanted, rated=rated, by_end=sort == "ended")
    found = await privacy.matches(sight, wanted, limit=limit, before=before)
    return [with_live_ply(service(state, Directory), each) for each in found]


@serve(calls.match, opt=FROM_DATABASE)
async def one_match(state: State, request: Call, match: FromPath[str]) -> Match:
    """Show a match; while it runs, with all that a spectator sees."""
    stored = await stored_for(request, match, events=False)
    if stored.header.status == "finished":
        return shown(stored.header)
    leave_to_leader(request.scope)
    directory = service(state, Directory)
    view = with_live_ply(directory, shown(stored.header))
    live = directory.match(match)
    if live is None:
        return view
    snapshot = await live.public_snapshot()
    if snapshot is None:  # its server has stopped, and another one takes it over
        return view
    return msgspec.structs.replace(view, snapshot=snapshot)


@serve(calls.record_json, opt=FROM_DATABASE)
async def record(state: State, request: Call, match: FromPath[str]) -> Response[Record]:
    """Give the record of a match, which ``plyhouse verify`` can check.

    The seed is in it once the whole pairing is over.  In games with hidden information the
    record is closed until then.
    """
    async with service(state, Helpers).queue.of(await visitor_of(request)):
        stored = await stored_for(request, match)
        _require_public(stored, f"The record of {match} is")
        return _json(await service(state, Helpers).run(record_json, stored))


@serve(
    calls.notation,
    opt=FROM_DATABASE,
    media_type=MediaType.TEXT,
    response_headers=[ResponseHeader(name="content-disposition", value="attachment")],
)
async def match_notation(
    state: State, request: Call, match: FromPath[str], form: FromQuery[str] = ""
) -> Response[str]:
    """Give the moves of a match as a file for people and other programs.

    ``form`` is a format that the game has: ``pgn`` (chess), ``sgf`` (go and othello), ``pdn``
    (checkers), ``mat`` (backgammon), ``pbn`` (bridge), ``gcg`` (Scrabble) or ``phh`` (Texas
    hold'em).  Every game has ``txt``.  Without it, the file has the first format of the game.
    In games with hidden information the moves are closed until the whole pairing is over.
    """
    async with service(state, Helpers).queue.of(await visitor_of(request)):
        stored = await stored_for(request, match)
        game = _require_public(stored, f"The moves of {match} are")
        own = form_of(game.spec)
        if form not in ("", own, TEXT):
            forms = " or ".join(dict.fromkeys((own, TEXT)))
            raise Problem(
                "http/404",
                f"Matches of {game.info.name} are not written as {form!r}: use {forms}.",
                404,
            )
        text = await service(state, Helpers).run(notation_text, stored, form or own)
    return Response(
        text,
        media_type=MediaType.TEXT,
        headers={"content-disposition": f'attachment; filename="{match}.{form or own}"'},
    )


@serve(calls.chances, opt=FROM_DATABASE)
async def chances(state: State, request: Call, match: FromPath[str]) -> Response[Chances]:
    """Return the possible outcomes at each chance node of a match.

    With the record, whose seed was committed to before the match, anybody can recompute the
    outcomes without knowing the rules.  Open once the whole pairing is over.
    """
    async with service(state, Helpers).queue.of(await visitor_of(request)):
        stored = await stored_for(request, match)
        if stored.pairing.finished_ms is None:
            raise Problem(
                "match/not_over",
                f"What chance did in {match} can be checked once all matches of its pairing are "
                "over.",
            )
        return _json(await service(state, Helpers).run(chances_json, stored))


@serve(calls.replay, opt=FROM_DATABASE)
async def match_replay(
    state: State,
    request: Call,
    match: FromPath[str],
    seat: Annotated[int | None, QueryParameter(ge=0)] = None,
    first: Annotated[
        int, QueryParameter(ge=0, le=MAX_OFFSET, description="Ply of the first position.")
    ] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=MAX_POSITIONS)] = MAX_POSITIONS,
    all_hands: Annotated[
        bool, QueryParameter(description="Whether what every seat held lies open.")
    ] = False,
) -> Response[Replay]:
    """Give the positions of a match as scenes, as spectators see them or as ``seat`` saw them.

    In games with hidden information what the seats saw is open once the whole pairing is over, and
    so are ``all_hands``.
    """
    async with service(state, Helpers).queue.of(await visitor_of(request)):
        stored = await stored_for(request, match)
        if stored.header.status != "finished":
            leave_to_leader(request.scope)
        seats_open = _may_replay(stored, seat, all_hands=all_hands)
        live = service(state, Directory).match(match)
        drawn = await service(state, Helpers).run(
            replay_json,
            stored,
            seat,
            seats_open=seats_open,
            all_hands=all_hands,
            first=first,
            limit=limit,
            live=frozenset() if live is None else live.seats_with_public_thoughts(),
        )
        return _json(drawn)


def _require_public(stored: StoredMatch, what: str) -> Game:
    """Return the game of a match; raise `Problem` as long as what happened in it is not public."""
    game = get_game(stored.header.game)
    if not record_is_public(stored, game):
        raise Problem("match/not_over", f"{what} open once all matches of its pairing are over.")
    return game


def _may_replay(stored: StoredMatch, seat: int | None, *, all_hands: bool) -> bool:
    """Return whether the views of the seats are open; raise `Problem` if the wanted one is not."""
    match, game = stored.header.id, get_game(stored.header.game)
    is_open = record_is_public(stored, game)
    if seat is not None and seat >= game.seats:
        raise Problem("seat/unknown", f"{game.spec} has seats 0 to {game.seats - 1}.", 404)
    if (seat is not None or all_hands) and not is_open:
        raise Problem(
            "match/not_over",
            f"{game.info.name} has hidden information: what a seat saw in {match} is open once "
            "all matches of its pairing are over.",
        )
    return is_open


def _json(text: bytes) -> Response[Any]:
    """Answer with JSON that a helper has written."""
    return Response(text, media_type=MediaType.JSON)


@serve(calls.review)
async def match_review(
    request: Call,
    state: State,
    match: FromPath[str],
    seat: Annotated[int | None, QueryParameter(ge=0)] = None,
) -> Review:
    """Say where a match was lost, ply by ply of one seat: without ``seat``, of the one that lost.

    A separate process computes it within some seconds, once the whole pairing is over, and the
    server keeps it (``review/off``: not available here; ``review/busy``: ask again).  Every value
    says how certain it is.
    """
    stored = await stored_for(request, match)
    # A mirrored match that is still being played must not profit from what is said of this one.
    if stored.header.status != "finished" or stored.pairing.finished_ms is None:
        raise Problem(
            "match/not_over",
            f"{match} can be reviewed once all matches of its pairing are over.",
        )
    game = get_game(stored.header.game)
    if seat is not None and seat >= game.seats:
        raise Problem("seat/unknown", f"{game.spec} has seats 0 to {game.seats - 1}.", 404)
    text = await computed(lambda: write_record(stored_record(stored, game)))
    return cast("Review", await service(state, Reviews).of(match, seat, text))


@serve(calls.detail, response_headers=[ResponseHeader(name="cache-control", value="no-store")])
async def detail(request: Call, state: State, match: FromPath[str]) -> Failure:
    """Give what is kept of a match's end for the author of the bot that caused it.

    It is the traceback of a bot that failed, or the refused action in full.  Needs a
    token of the player whose bot held that seat; nobody else is given it.
    """
    identity = await authorise(request, "play")
    stored = await stored_for(request, match)
    end = next((row for row in reversed(stored.events) if row.kind == "end"), None)
    if end is None:
        raise Problem("match/not_over", f"Match {match} is not over.")
    mine = {seat.seat for seat in stored.header.seats if seat.player_id == identity.player_id}
    if end.seat not in mine:
        raise Problem(
            "match/not_yours",
            "What a bot left when it failed is for its author alone, and here no bot of yours did.",
            403,
        )
    data = end_data(end)
    return Failure(match, end.ply, end.seat, end.text, stored.header.reason, data.detail)


HANDLERS: Final[tuple[Any, ...]] = (
    matches,
    one_match,
    record,
    match_notation,
    chances,
    match_replay,
    match_review,
    detail,
)


def with_live_ply(directory: Directory, match: Match) -> Match:
    """Return a match with its plies counted to this moment, if it is being played."""
    live = directory.live.get(match.match)
    return match if live is None else msgspec.structs.replace(match, ply=live.ply)


def record_is_public(stored: StoredMatch, game: Game) -> bool:
    """Return whether all that happened in a match is public."""
    return stored.pairing.finished_ms is not None or game.info.information is Information.PERFECT
