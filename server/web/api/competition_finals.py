"""Finals of competitions: their rounds and tables."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.boards import (
    BaselineCertainty,
    GameRounds,
    NextPairing,
    Place,
    Round,
    RoundPairing,
)
from plyhouse.server.competition_rules.formats import RoundLine
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.finals import finals_of
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.upcoming_pairings import SHOWN, upcoming
from plyhouse.server.grades.board import GameFinal
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service


@serve(competition_calls.rounds)
async def rounds(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    game: Annotated[str, QueryParameter(max_length=200)] = "",
) -> list[GameRounds]:
    """Show the rounds and the table of each game of a final, or of one game.

    Everybody who may see the board sees this; on an anonymous board students see their own
    pairings.
    """
    viewer = await viewer_of(request)
    found = await finals_of(service(state, Boards), competition, viewer)
    return [_final(each) for each in found if game in ("", each.game)]


@serve(competition_calls.certainty)
async def certainty(
    state: State, request: Request[Any, Any, Any], competition: FromPath[str]
) -> list[BaselineCertainty]:
    """Show how sure grades are in a gauntlet that goes on until they are certain.

    Everybody who may see the board sees this; on an anonymous board students see their own.
    """
    identity = await viewer_of(request)
    return [
        BaselineCertainty(
            game=final.game,
            entry=final.names[each.entry],
            baseline=final.names[each.baseline],
            pairs=each.decision.pairs,
            mean=each.decision.mean,
            low=each.decision.low,
            high=each.decision.high,
            state=each.decision.state.value,
            reached=each.reached,
        )
        for final in await finals_of(service(state, Boards), competition, identity)
        for each in final.certainty
    ]


@serve(competition_calls.next_pairings)
async def following(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = SHOWN,
) -> list[NextPairing]:
    """Show the pairings of each game that come next, as far as they are known; one's own first.

    Everybody who may see the board sees them; on an anonymous board students see their own.
    A ladder draws when two bots have room, and knows none before.
    """
    viewer = await viewer_of(request)
    return await upcoming(
        boards=service(state, Boards),
        tournaments=service(state, Tournaments),
        reference=competition,
        identity=viewer,
        limit=limit,
    )


HANDLERS: Final[tuple[Any, ...]] = (rounds, certainty, following)


def _final(final: GameFinal) -> GameRounds:
    return GameRounds(
        game=final.game,
        tournament=final.tournament_id,
        format=final.format,
        tie_breaks=list(final.tie_breaks),
        table=[
            Place(
                place=row.place,
                entry=final.names[row.entry],
                points=row.points,
                played=row.played,
                tie_breaks=list(row.tie_breaks),
                withdrawn=row.withdrawn,
                baseline=row.baseline,
            )
            for row in final.table
        ],
        rounds=[
            Round(each.number, each.name, [_line(final, line) for line in each.lines])
            for each in final.rounds
        ],
        decided_by=final.decided_by,
        seeds=[final.names[bot] for bot in final.seeds],
        lot=final.lot,
    )


def _line(final: GameFinal, line: RoundLine[int]) -> RoundPairing:
    outcome = line.outcome
    scores = None
    if outcome is not None and not outcome.void:
        own = dict(zip(outcome.entries, outcome.scores, strict=True))
        scores = [own.get(bot, 0.0) for bot in line.players]
    return RoundPairing(
        line.key,
        [None if bot is None else final.names[bot] for bot in line.entries],
        line.state.value,
        scores,
        0 if outcome is None or outcome.void else outcome.matches,
        None if line.winner is None else final.names[line.winner],
        final.pairings.get(line.key, "") if line.state.begun else "",
    )
