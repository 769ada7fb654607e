"""The output of hosted bots in their matches, for their authors."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import KeptOutput, Output, OutputLine, PlyCost
from plyhouse.server.hosting.outputs import BotOutput, Outputs
from plyhouse.server.web.api.access import authorise, stored_for
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import Limit, service
from plyhouse.storage import outputs, people
from plyhouse.storage.store import Store

__all__ = [
    "HANDLERS",
]

Call = Request[Any, Any, Any]


@serve(calls.output, "submissions")
async def output(state: State, request: Call, match: FromPath[str]) -> list[Output]:
    """Say what one's own hosted bots printed in a match that is over, how they failed, by plies.

    Nobody else is given it but administrators.  It comes some seconds after the end of the match.
    A bot that was run by several machines has a part for each.
    """
    identity = await authorise(request, "play", "admin")
    stored = await stored_for(request, match)
    return [_view(match, each) for each in await service(state, Outputs).of(stored, identity)]


@serve(calls.outputs)
async def kept(
    state: State,
    request: Call,
    bot: Annotated[str, QueryParameter(max_length=64)] = "",
    limit: Limit = 50,
) -> list[KeptOutput]:
    """List the matches of one's own hosted bots of which output is kept, the latest first."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    row = await store.read(people.bot_named, identity.player, bot) if bot else None
    found = await store.read(
        outputs.latest, identity.player_id, row.id if row is not None else None, limit
    )
    return [
        KeptOutput(
            each.match,
            f"{each.player}/{each.bot}",
            each.seat,
            each.game,
            each.finished_ms,
            each.result,
            each.crashes,
            each.bytes,
        )
        for each in found
    ]


def _view(match: str, found: BotOutput) -> Output:
    row, what = found.row, found.kept
    return Output(
        match=match,
        bot=f"{row.player}/{row.bot}",
        seat=row.seat,
        version=row.label,
        received_ms=row.received_ms,
        lines=[OutputLine(line.ply, line.kind, line.text) for line in what.lines],
        costs=[
            PlyCost(each.ply, each.wall / 1e6, each.cpu / 1e6, each.waited / 1e6)
            for each in what.costs
        ],
        cut=what.cut,
        cut_at=what.cut_at,
    )


HANDLERS: Final[tuple[Any, ...]] = (output, kept)
