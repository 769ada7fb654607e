"""What hosted bots printed in their matches, for their authors."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request, get
from litestar.datastructures import ResponseHeader, State
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from plyhouse.server.house.outputs import BotOutput
from plyhouse.server.web.api.access import authorise, stored_for
from plyhouse.server.web.parameters import Limit, hub_of

__all__ = ["HANDLERS", "CostView", "KeptView", "LineView", "OutputView"]

Call = Request[Any, Any, Any]
_SECURED: Final[dict[str, Any]] = {
    "tags": ["submissions"],
    "security": [{"token": []}],
    "response_headers": [ResponseHeader(name="cache-control", value="no-store")],
}


class LineView(Struct):
    """Something that a bot printed, or that is said of it."""

    ply: int | None
    """The ply that it was asked for; null before its first and after its last."""
    kind: str
    """``print``: the bot printed it; ``note``: the machine that ran it says so; ``crash``: the
    traceback, and the position."""
    text: str


class CostView(Struct):
    """What a ply of the bot cost its machine, in milliseconds."""

    ply: int
    wall_ms: float
    cpu_ms: float
    """Processor time of the bot."""
    waited_ms: float
    """For how long it could have run, but its processor was another's."""


class OutputView(Struct):
    """What a bot printed in a match on one machine."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    version: str
    """The label of the version; mostly empty."""
    received_ms: int
    lines: list[LineView]
    costs: list[CostView]
    cut: int
    """Bytes that were left out ..."""
    cut_at: int
    """... before this line."""


class KeptView(Struct):
    """A match of which something is kept."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    game: str
    finished_ms: int | None
    result: str | None
    """``W``, ``D`` or ``L``; null if it is void."""
    crashes: int
    """How often the bot failed in it."""
    bytes: int
    """What it takes up of its player's room."""


@get("/api/v1/matches/{match:str}/output", **_SECURED)
async def output(state: State, request: Call, match: FromPath[str]) -> list[OutputView]:
    """Say what one's own hosted bots printed in a match that is over, how they failed, by plies.

    Nobody else is given it but administrators.  It comes some seconds after the end of the match.
    A bot that was run by several machines has a part for each.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "admin")
    stored = await stored_for(request, hub, match)
    return [_view(match, each) for each in await hub.outputs.of(stored, identity)]


@get("/api/v1/outputs", **_SECURED)
async def kept(
    state: State,
    request: Call,
    bot: Annotated[str, QueryParameter(max_length=64)] = "",
    limit: Limit = 50,
) -> list[KeptView]:
    """List the matches of one's own hosted bots of which output is kept, the latest first."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    row = await hub.store.bot_named(identity.player, bot) if bot else None
    found = await hub.store.outputs.latest(
        identity.player_id, row.id if row is not None else None, limit
    )
    return [
        KeptView(
            *(each.match, f"{each.player}/{each.bot}", each.seat, each.game, each.finished_ms),
            *(each.result, each.crashes, each.bytes),
        )
        for each in found
    ]


def _view(match: str, found: BotOutput) -> OutputView:
    row, what = found.row, found.kept
    return OutputView(
        *(match, f"{row.player}/{row.bot}", row.seat, row.label, row.received_ms),
        [LineView(line.ply, line.kind, line.text) for line in what.lines],
        [
            CostView(each.ply, each.wall / 1e6, each.cpu / 1e6, each.waited / 1e6)
            for each in what.costs
        ],
        *(what.cut, what.cut_at),
    )


HANDLERS: Final[tuple[Any, ...]] = (output, kept)
