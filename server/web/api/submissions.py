"""Bots that are handed in: sent, listed, what their check said, removed.

The body of a request that hands in is the package itself, a zip or the text of one Python file:
there is nothing to be taken apart before it is known to be of a bearable size.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Final

from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.openapi.spec import (
    OpenAPIFormat,
    OpenAPIMediaType,
    OpenAPIType,
    Operation,
    RequestBody,
    Schema,
)
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from plyhouse.server.house.handing_in import SECONDS
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.storage.submission_rows import OUTCOMES, SubmissionRow

__all__ = ["HANDLERS", "AskedView", "RulesView", "SubmissionView", "submission_view"]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/submissions"
_SECURED: Final[dict[str, Any]] = {"tags": ["submissions"], "security": [{"token": []}]}
MOST_ID: Final = 2**63 - 1
Name = Annotated[str, QueryParameter(max_length=64)]
LongName = Annotated[str, QueryParameter(max_length=200)]


class RulesView(Struct):
    """What may be handed in, so that a client can look before it sends."""

    max_packed: int
    """Bytes of the zip."""
    max_bytes: int
    """Of all files together, unpacked."""
    max_file: int
    max_files: int
    packages: list[str]
    """What requirements.txt may name."""
    programs: list[str]
    """What a program may be started with."""


class AskedView(Struct):
    """A competition in which what was handed in is to play."""

    competition: str
    chosen: bool
    """Whether its author named it."""
    outcome: str
    """``""`` (waits for the check), ``entered``, ``refused``, ``begun``, ``full``, ``out``,
    ``pinned`` or ``newer``."""
    text: str
    """The same for people."""


class SubmissionView(Struct):
    """A package that was handed in."""

    submission: int
    bot: str
    """``player/bot``."""
    version: str
    """The label of the version; mostly empty."""
    digest: str
    """What tells versions apart: the SHA-256 of what it holds."""
    status: str
    """``waiting`` (for its check), ``ready`` or ``refused``."""
    games: list[str]
    """What it plays; known after the check."""
    bytes: int
    """What it takes up of its player's room."""
    submitted_ms: int
    checked_ms: int | None
    competitions: list[AskedView]
    report: str = ""
    """What the check said; empty in lists."""


def submission_view(row: SubmissionRow, *, report: bool = True) -> SubmissionView:
    """How a submission is told."""
    return SubmissionView(
        *(row.id, f"{row.player}/{row.bot}", row.label, row.digest, row.status),
        *(list(row.games), row.size, row.submitted_ms, row.checked_ms),
        [
            AskedView(each.competition, each.chosen, each.outcome, OUTCOMES[each.outcome])
            for each in row.competitions
        ],
        row.report if report else "",
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
) -> SubmissionView:
    """Hand in a package: the body is a zip, or the text of a Python file called ``file``.

    It waits for its check then.  The same package of the same bot again is the same submission.
    Once it is ready it plays in ``competition``, or without one wherever a bot that connects is
    entered.
    """
    hub = hub_of(state)
    handing = hub.handing_in
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
    return submission_view(row)


@get(HERE + "/rules", tags=["submissions"])
async def rules(state: State) -> RulesView:
    """Say what may be handed in; refused with ``submission/not_hosted`` where nothing may."""
    handing = hub_of(state).handing_in
    handing.refuse_unless_hosted()
    rules = handing.rules
    return RulesView(
        *(rules.max_packed, rules.max_bytes, rules.max_file, rules.max_files),
        *(sorted(rules.packages), sorted(rules.runtimes)),
    )


@get(HERE, **_SECURED)
async def own(state: State, request: Call, bot: Name = "") -> list[SubmissionView]:
    """List what one has handed in, newest first, without the reports; of one bot if it is named."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    rows = await hub.store.submissions.of_player(identity.player_id)
    return [
        submission_view(row, report=False)
        for row in rows
        if not bot or row.bot.lower() == bot.lower()
    ]


@get(HERE + "/{submission:int}", **_SECURED)
async def one(state: State, request: Call, submission: FromPath[int]) -> SubmissionView:
    """Show a submission of one's own with what its check said.

    Organisers see what was handed in for competitions, too.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "organise")
    return submission_view(await hub.handing_in.seen_by(identity, _id(submission)))


@delete(HERE + "/{submission:int}", **_SECURED)
async def remove(state: State, request: Call, submission: FromPath[int]) -> None:
    """Remove a submission of one's own that plays in no competition."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play")
    row = await hub.store.submissions.get(_id(submission))
    if row.player_id != identity.player_id:
        await hub.store.submissions.get(0)  # to others it is not there
    await hub.store.submissions.remove(row.id)


def _id(number: int) -> int:
    """A number that a database can look for."""
    return number if 0 < number <= MOST_ID else 0


HANDLERS: Final[tuple[Any, ...]] = (hand_in, rules, own, one, remove)
