"""Bots that are handed in: sent, listed, what their check said, removed.

The body of a request that hands in is the package itself, a zip or the text of one Python file:
there is nothing to be taken apart before it is known to be of a bearable size.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Final

from litestar import Request, delete, get, post, put
from litestar.datastructures import State
from litestar.openapi.spec import (
    OpenAPIFormat,
    OpenAPIMediaType,
    OpenAPIType,
    Operation,
    RequestBody,
    Schema,
)
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Struct

from plyhouse.protocol.api.submissions import (
    OpenBot,
    OpenToPlay,
    Submission,
    SubmissionEntry,
    SubmissionRules,
)
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.uploads import SECONDS
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import wall_ms
from plyhouse.storage.submission_rows import OUTCOMES, SubmissionRow, no_submission

__all__ = ["HANDLERS", "submission_view"]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/submissions"
_SECURED: Final[dict[str, Any]] = {"tags": ["submissions"], "security": [{"token": []}]}
MOST_ID: Final = 2**63 - 1
Name = Annotated[str, QueryParameter(max_length=64)]
LongName = Annotated[str, QueryParameter(max_length=200)]


class PlayWanted(Struct):
    """Somebody wants to play against a bot."""

    opponent: str
    """``player/bot``."""
    game: str


class Ready(Struct):
    """What can be challenged now."""

    opponent: str


def submission_view(hub: Hub, row: SubmissionRow, *, report: bool = True) -> Submission:
    """How a submission is told."""
    return Submission(
        submission=row.id,
        bot=f"{row.player}/{row.bot}",
        version=row.label,
        digest=row.digest,
        status=row.status,
        games=list(row.games),
        bytes=row.size,
        submitted_ms=row.submitted_ms,
        checked_ms=row.checked_ms,
        competitions=[
            SubmissionEntry(each.competition, each.chosen, each.outcome, OUTCOMES[each.outcome])
            for each in row.competitions
        ],
        open=row.open,
        report=row.report if report else "",
        waits_for=hub.hosting.in_want(row),
    )


@dataclass
class _Upload(Operation):
    """Says in the description what the body is, which no handler takes as a whole."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            description="The package: a zip, or the text of one Python file.",
            required=True,
            content={
                "application/octet-stream": OpenAPIMediaType(
                    schema=Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)
                )
            },
        )


@post(
    HERE,
    **_SECURED,
    guards=[first("play")],
    request_max_body_size=None,  # bounded below, by a setting
    operation_class=_Upload,
)
async def hand_in(
    state: State,
    request: Call,
    file: LongName = "",
    bot: Name = "",
    competition: LongName = "",
    version: Annotated[str, QueryParameter(max_length=100)] = "",
) -> Submission:
    """Hand in a package: the body is a zip, or the text of a Python file called ``file``.

    It waits for its check then.  The same package of the same bot again is the same submission.
    Once it is ready it plays in ``competition``, or without one wherever a bot that connects is
    entered.
    """
    hub = hub_of(state)
    handing = hub.uploads
    handing.refuse_unless_hosted()
    identity = await authorise(request, hub, "play")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and len(told) < 20:
        handing.refuse_size(int(told))
    with handing.place(identity.player_id) as coming:
        try:
            async with asyncio.timeout(SECONDS):
                async for part in request.stream():
                    coming.add(part)
        except TimeoutError:
            raise Problem("http/408", "The package took too long to come.", 408) from None
        row = await handing.take(
            identity, coming, file=file, bot=bot, label=version, competition=competition
        )
    return submission_view(hub, row)


@get(HERE + "/rules", tags=["submissions"])
async def rules(state: State) -> SubmissionRules:
    """Say what may be handed in; refused with ``submission/not_hosted`` where nothing may."""
    handing = hub_of(state).uploads
    handing.refuse_unless_hosted()
    rules = handing.rules
    return SubmissionRules(
        max_packed=rules.max_packed,
        max_bytes=rules.max_bytes,
        max_file=rules.max_file,
        max_files=rules.max_files,
        packages=sorted(rules.packages),
        programs=sorted(rules.runtimes),
    )


@get(HERE, **_SECURED)
async def own(state: State, request: Call, bot: Name = "") -> list[Submission]:
    """List what one has handed in, newest first, without the reports; of one bot if it is named."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    rows = await hub.store.submissions.of_player(identity.player_id)
    return [
        submission_view(hub, row, report=False)
        for row in rows
        if not bot or key_of(row.bot) == key_of(bot)
    ]


@get(HERE + "/{submission:int}", **_SECURED)
async def one(state: State, request: Call, submission: FromPath[int]) -> Submission:
    """Show a submission of one's own with what its check said.

    Organisers see what was handed in for competitions, too.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "organise")
    return submission_view(hub, await hub.uploads.seen_by(identity, _id(submission)))


@delete(HERE + "/{submission:int}", **_SECURED)
async def remove(state: State, request: Call, submission: FromPath[int]) -> None:
    """Remove a submission of one's own that plays in no competition."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    row = await hub.store.submissions.get(_id(submission))
    if row.player_id != identity.player_id:
        raise no_submission(row.id)  # to others it is not there
    await hub.store.submissions.remove(row.id)


@put("/api/v1/bots/{player:str}/{bot:str}/open", **_SECURED, guards=[first("play")])
async def open_bot(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    data: JSONBody[OpenToPlay],
) -> OpenToPlay:
    """Let people play against what is handed in of a bot of one's own, or do so no more."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    if key_of(player) != key_of(identity.player):
        raise ProtocolError("auth/scope", f"{player}/{bot} is not a bot of yours.")
    row = await hub.store.bot_named(player, bot)
    if data.open:
        hub.uploads.refuse_unless_hosted()
        if not await hub.store.submissions.of_bot(row.id):
            raise Problem(
                "submission/missing",
                f"Nothing was handed in of {row.player}/{row.name}: plyhouse submit mybot.py",
                409,
            )
    if data.open is not (row.open_ms is not None):
        await hub.store.submissions.set_open(row.id, wall_ms() if data.open else None)
        if not data.open:
            hub.hosted_play.closed(row.id)
    return OpenToPlay(data.open)


@get("/api/v1/hosted-bots", tags=["people"])
async def open_bots(state: State) -> list[OpenBot]:
    """List the bots that people can play against and that the server runs for it."""
    return [
        OpenBot(f"{row.player}/{row.bot}", list(row.games))
        for row in await hub_of(state).hosted_play.listed()
    ]


@post(
    "/api/v1/hosted-bots",
    tags=["people"],
    status_code=200,
    security=[{"token": []}],
    guards=[first("play", "guest")],
)
async def ready_bot(state: State, request: Call, data: JSONBody[PlayWanted]) -> Ready:
    """See to it that a bot can be challenged: one that is handed in and open is started.

    That takes some seconds.  ``hosted/busy`` says that one has to ask again, and keeps one's place
    in the queue for a minute.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "guest")
    player, _, bot = data.opponent.partition("/")
    spec = read_game(data.game).spec
    await hub.privacy.bot(await hub.privacy.sight(identity), player, bot)
    return Ready(await hub.hosted_play.ready(identity, player, bot, spec))


def _id(number: int) -> int:
    """Return a number that a database can look for; raises `Unknown` for any other."""
    if not 0 < number <= MOST_ID:
        raise no_submission(number)
    return number


HANDLERS: Final[tuple[Any, ...]] = (
    *(hand_in, rules, own, one, remove),
    *(open_bot, open_bots, ready_bot),
)
