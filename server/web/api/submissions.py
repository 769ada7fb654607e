"""Submitted bots: sent, listed, reported on, removed.

The body of a submission is the package itself, a zip or the text of one Python file: nothing is
parsed before its size is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from litestar import Request
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

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.bodies import LONGEST_STORED_LABEL, PlayWanted
from plyhouse.protocol.api.matches import KeptOutput, Output, OutputLine, PlyCost
from plyhouse.protocol.api.submissions import (
    OpenBot,
    OpenToPlay,
    Ready,
    Submission,
    SubmissionEntry,
    SubmissionRules,
)
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competitions.visible_boards import lateness
from plyhouse.server.grades.missing_games import missing, outcome_words
from plyhouse.server.hosting.hosted_play import HostedPlay
from plyhouse.server.hosting.runner_reports import BotOutput, Outputs
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.hosting.uploads import SECONDS, Uploads
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.web.api.access import authorise, stored_for
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import BY_ANY
from plyhouse.server.web.parameters import Limit, Name, Reference, service
from plyhouse.storage import outputs, people, submission_sql
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import wall_ms
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow, no_submission

Call = Request[Any, Any, Any]
MOST_ID: Final = 2**63 - 1


def submission_view(
    hosting: Hosting,
    row: SubmissionRow,
    *,
    report: bool = True,
    late: Mapping[str, tuple[int, float]] | None = None,
) -> Submission:
    """The form of a submission.

    ``late`` has the days by which it is late and the penalty, by competition that it has entered.
    """
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
            SubmissionEntry(
                each.competition,
                each.chosen,
                each.outcome,
                outcome_words(each, row.games),
                list(missing(each.games, row.games)) if each.outcome == "entered" else [],
                *(late or {}).get(each.competition_id, (0, 0.0)),
            )
            for each in row.competitions
        ],
        open=row.open,
        report=row.report if report else "",
        waits_for=hosting.why_unchecked(row),
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


@serve(calls.submit, operation_class=_Upload, request_max_body_size=None)
async def receive(
    state: State,
    request: Call,
    file: Reference = "",
    bot: Name = "",
    competition: Reference = "",
    version: Annotated[str, QueryParameter(max_length=LONGEST_STORED_LABEL)] = "",
) -> Submission:
    """Submit a package: the body is a zip, or the text of a Python file called ``file``.

    The submission then waits for its check.  If you submit the same package of the same bot again,
    you get the same submission.  After its check the bot plays in ``competition``.  Without
    ``competition`` it is entered wherever a connected bot would be.
    """
    uploads = service(state, Uploads)
    uploads.refuse_unless_hosted()
    identity = await authorise(request, "play")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and len(told) < 20:
        uploads.refuse_size(int(told))
    with uploads.place(identity.player_id) as coming:
        try:
            async with asyncio.timeout(SECONDS):
                async for part in request.stream():
                    coming.add(part)
        except TimeoutError:
            raise Problem("http/408", "The package took too long to come.", 408) from None
        row = await uploads.accept(
            identity, coming, file=file, bot=bot, label=version, competition=competition
        )
    return submission_view(service(state, Hosting), row)


@serve(calls.submission_rules, opt=BY_ANY)
async def rules(state: State) -> SubmissionRules:
    """Return the rules for submissions; ``submission/not_hosted`` if the server accepts none."""
    uploads = service(state, Uploads)
    uploads.refuse_unless_hosted()
    return uploads.rules.as_answer()


@serve(calls.submissions)
async def own(state: State, request: Call, bot: Name = "") -> list[Submission]:
    """List your submissions, or those of one bot, newest first and without reports."""
    identity = await authorise(request, "play")
    rows = await service(state, Store).read(submission_sql.of, player_id=identity.player_id)
    return [
        submission_view(service(state, Hosting), row, report=False)
        for row in rows
        if not bot or key_of(row.bot) == key_of(bot)
    ]


@serve(calls.submission)
async def one(state: State, request: Call, submission: FromPath[int]) -> Submission:
    """Return a submission of yours with the report of its check.

    The staff of a competition may see its submissions, too.
    """
    identity = await authorise(request, "play", "organise")
    row = await service(state, Uploads).seen_by(identity, _id(submission))
    late = {
        each.competition_id: await lateness(service(state, Store), each.competition_id, row.bot_id)
        for each in row.competitions
        if each.outcome == "entered"
    }
    return submission_view(service(state, Hosting), row, late=late)


@serve(calls.remove_submission)
async def remove(state: State, request: Call, submission: FromPath[int]) -> None:
    """Remove a submission of yours that plays in no competition."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    row = await store.read(submission_sql.find, _id(submission))
    if row.player_id != identity.player_id:
        raise no_submission(row.id)  # to others it is not there
    await store.write(submission_sql.remove, row.id)


@serve(calls.open_bot, "submissions")
async def open_bot(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    data: JSONBody[OpenToPlay],
) -> OpenToPlay:
    """Allow people to play against your submitted bot, or stop allowing it."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    if key_of(player) != key_of(identity.player):
        raise ProtocolError("auth/scope", f"{player}/{bot} is not a bot of yours.")
    row = await store.read(people.bot_named, player, bot)
    if data.open:
        service(state, Uploads).refuse_unless_hosted()
        if not await store.read(submission_sql.of, bot_id=row.id):
            raise Problem(
                "submission/missing",
                f"{row.player}/{row.name} has no submission; run: plyhouse submit mybot.py",
                409,
            )
    if data.open is not (row.open_ms is not None):
        await store.write(submission_sql.set_open, row.id, wall_ms() if data.open else None)
        if not data.open:
            service(state, HostedPlay).closed(row.id)
    return OpenToPlay(data.open)


@serve(calls.hosted_bots)
async def open_bots(state: State) -> list[OpenBot]:
    """List the submitted bots that people may play against."""
    return [
        OpenBot(f"{row.player}/{row.bot}", list(row.games))
        for row in await service(state, HostedPlay).listed()
    ]


@serve(calls.start_hosted_bot)
async def ready_bot(state: State, request: Call, data: JSONBody[PlayWanted]) -> Ready:
    """Start a submitted, open bot, so that it can be challenged.

    Starting takes some seconds.  On ``hosted/busy`` ask again; you keep your place in the queue for
    a minute.
    """
    privacy = service(state, Privacy)
    identity = await authorise(request, "play", "guest")
    player, _, bot = data.opponent.partition("/")
    spec = read_game(data.game).spec
    await privacy.bot(await privacy.sight(identity), player, bot)
    return Ready(await service(state, HostedPlay).ready(identity, player, bot, spec))


def _id(number: int) -> int:
    """Return a number that a database can look for; raises `Unknown` for any other."""
    if not 0 < number <= MOST_ID:
        raise no_submission(number)
    return number


@serve(calls.output, "submissions")
async def output(state: State, request: Call, match: FromPath[str]) -> list[Output]:
    """Say what one's own hosted bots printed in a match that is over, how they failed, by plies.

    Nobody else is given it but administrators.  It comes some seconds after the end of the match.
    A bot that was run by several machines has a part for each.
    """
    identity = await authorise(request, "play", "admin")
    stored = await stored_for(request, match, events=False)
    return [_view(match, each) for each in await service(state, Outputs).of(stored, identity)]


@serve(calls.outputs)
async def kept(
    state: State,
    request: Call,
    bot: Name = "",
    limit: Limit = 50,
) -> list[KeptOutput]:
    """List the matches of one's own hosted bots of which output is kept, the latest first."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    row = await store.read(people.bot_named, identity.player, bot) if bot else None
    return await store.read(
        outputs.latest, identity.player_id, row.id if row is not None else None, limit
    )


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


HANDLERS: Final[tuple[Any, ...]] = (
    *(receive, rules, own, one, remove),
    *(open_bot, open_bots, ready_bot),
    output,
    kept,
)
