"""What organisers do to a competition in the browser, and what a student does there.

Pages hold forms; the web client (`clients/web/competition.js`) sends what is pressed to the API,
which alone decides who may do what.  So nothing here is a second way to do something: who has no
session of an organiser is shown no buttons, and would be refused if it made some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Final, NamedTuple

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition.template import template
from plyhouse.server.house.classes import ClassView
from plyhouse.server.house.hub import Hub
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage.class_rows import ClassEntry, ClassStudent, Code, VersionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.probation import SuspensionRow
from plyhouse.storage.rows import Identity
from plyhouse.storage.submission_rows import SubmissionRow

__all__ = ["HANDLERS", "Entered", "Own", "Pupil", "Staff", "Step", "own_of", "staff_of"]

Call = Request[Any, Any, Any]
ORGANISERS: Final = ("organise", "admin")
FILES: Final = (
    *("csv", "md", "html", "json", "grades", "gradescope", "jsonl", "pgn", "sgf", "pdn", "mat"),
)
"""What an organiser may fetch; games without a format of their own say so."""
MOST_VERSIONS: Final = 100
"""Versions that a student chooses from, the newest."""
MOST_SUBMISSIONS: Final = 5
"""Submissions that a student sees on the page, the newest, with their reports."""


class Step(NamedTuple):
    """A step of a competition: a button."""

    name: str
    """As in the address of the API."""
    text: str
    sure: str
    """What the button says before it is pressed a second time; empty: once is enough."""
    note: str


STEPS: Final[dict[str, tuple[Step, ...]]] = {
    "draft": (Step("open", "Open now", "", "Before its date: students may join."),),
    "open": (
        Step("freeze", "Freeze", "Really freeze?", "What plays changes no more; practice goes on."),
    ),
    "frozen": (Step("run", "Begin the final", "Really begin?", "Matches begin at once."),),
    "running": (
        Step("pause", "Pause", "", "No more matches begin; those that run are played on."),
        Step("finish", "Finish", "Really end it?", "The final ends as it stands."),
    ),
    "paused": (
        Step("resume", "Resume", "", "Matches begin again."),
        Step("finish", "Finish", "Really end it?", "The final ends as it stands."),
    ),
    "finished": (
        Step("rerun", "Play again", "Really again?", "Only what has changed since is played."),
    ),
}
"""What can be done next, by the status of a competition."""


@dataclass(frozen=True, slots=True)
class Entered:
    """An entry and whether it is there."""

    entry: ClassEntry
    connected: bool
    """With the version that plays."""
    left_out: bool = False
    """Whether it only connected, where only what was handed in plays."""


@dataclass(frozen=True, slots=True)
class Pupil:
    """A student with its entries."""

    student: ClassStudent
    entries: tuple[Entered, ...]


@dataclass(frozen=True, slots=True)
class Staff:
    """What an organiser sees of a competition."""

    steps: tuple[Step, ...]
    late: bool
    """Whether somebody may still submit, so that a final would wait."""
    pupils: tuple[Pupil, ...]
    baselines: tuple[Entered, ...]
    suspended: tuple[SuspensionRow, ...]
    codes: tuple[Code, ...]
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = FILES

    @property
    def names(self) -> list[str]:
        """Students and their entries: who can be disqualified."""
        students = [each.student.player for each in self.pupils]
        return students + [one.entry.name for each in self.pupils for one in each.entries]

    @property
    def without(self) -> int:
        """Active students of whom nothing is entered."""
        return sum(each.student.status == "active" and not each.entries for each in self.pupils)


@dataclass(frozen=True, slots=True)
class Own:
    """What a student sees of its own part in a competition."""

    student: ClassStudent
    entries: tuple[Entered, ...]
    versions: tuple[VersionRow, ...]
    """To choose from; none if nothing can be chosen any more."""
    full: bool
    """Whether another bot would have to take the place of one."""
    takes: bool
    """Whether a bot may be handed in now."""
    most_bytes: int
    """Of what is handed in."""
    submissions: tuple[SubmissionRow, ...]
    """What was handed in for this competition last."""
    handed_in_only: bool = False
    """Whether only what was handed in plays in the final."""
    in_want: Mapping[int, str] = field(default_factory=dict)
    """What of that waits for a machine that has what it needs, by its id, as a sentence."""

    @property
    def bots(self) -> list[str]:
        """Names of the bots that have versions to choose from."""
        return list(dict.fromkeys(each.bot for each in self.versions))

    @property
    def chosen(self) -> list[int | None]:
        """Versions that the student chose."""
        return [
            each.entry.next_id or each.entry.version_id
            for each in self.entries
            if each.entry.chosen
        ]


def _entered(hub: Hub, view: ClassView, entries: Sequence[ClassEntry]) -> tuple[Entered, ...]:
    found = []
    for each in entries:
        here = hub.directory.participants.get(each.bot_id)
        wanted = each.next_id or each.version_id
        there = here is not None and here.online and here.version_id == wanted
        found.append(Entered(each, there, each.name in view.left_out))
    return tuple(found)


def _organises(viewer: Identity | None) -> bool:
    return viewer is not None and not viewer.scopes.isdisjoint(ORGANISERS)


async def staff_of(hub: Hub, view: ClassView, viewer: Identity | None) -> Staff | None:
    """What an organiser needs; None for everybody else."""
    if not _organises(viewer):
        return None
    row, now = view.row, hub.store.classes.now()
    entries: dict[int, list[ClassEntry]] = {}
    for each in view.entries:
        if not each.baseline:
            entries.setdefault(each.player_id, []).append(each)
    unplayed = ". ".join(each.unplayed for each in view.games if each.unplayed)
    return Staff(
        tuple(
            step._replace(note=f"{step.note} {unplayed}.")
            if step.name == "finish" and unplayed
            else step
            for step in STEPS.get(row.status, ())
        ),
        any(
            each.status == "active" and each.extended_ms is not None and each.extended_ms > now
            for each in view.students
        ),
        tuple(
            Pupil(each, _entered(hub, view, entries.get(each.player_id, ())))
            for each in view.students
        ),
        _entered(hub, view, [each for each in view.entries if each.baseline]),
        tuple(await hub.store.probation.suspended_in(row.id)),
        tuple(await hub.store.classes.codes(row.id)),
        view.warnings,
    )


async def own_of(hub: Hub, view: ClassView, viewer: Identity | None) -> Own | None:
    """What a student of the competition needs; None for everybody else."""
    if viewer is None:
        return None
    student = next((each for each in view.students if each.player_id == viewer.player_id), None)
    if student is None:
        return None
    row, now = view.row, hub.store.classes.now()
    own = [
        each for each in view.entries if each.player_id == viewer.player_id and not each.baseline
    ]
    extended = student.extended_ms is not None and student.extended_ms > now
    late = extended and row.status in ("frozen", "finished")
    versions: list[VersionRow] = []
    open_now = student.status == "active" and (row.status == "open" or late)
    if open_now:
        versions = await hub.store.classes.versions(viewer.player_id)
    handed_in = await hub.store.submissions.of_player(viewer.player_id, row.id, MOST_SUBMISSIONS)
    return Own(
        *(student, _entered(hub, view, own), tuple(versions[:MOST_VERSIONS])),
        full=len(own) >= row.entries_each,
        takes=open_now and hub.config.hosted,
        most_bytes=hub.config.max_submission_bytes,
        submissions=tuple(handed_in),
        handed_in_only=view.file.hosting_required,
        in_want={each.id: hub.hosting.in_want(each) for each in handed_in},
    )


@get("/competitions/new", include_in_schema=False)
async def new_competition(
    state: State, request: Call, name: FromQuery[str] = "", game: FromQuery[str] = ""
) -> Response[str]:
    """A competition file to fill in, to check and to open."""
    hub = hub_of(state)
    try:
        viewer = await viewer_of(request, hub)
    except ProtocolError as error:
        return page("missing.html", status=401, text=str(error))
    text = template(
        name[:64] or "My competition", (game[:200] or "connect_four",), "move:1", datetime.now(UTC)
    )
    answer = page("new_competition.html", file=text, allowed=_organises(viewer))
    answer.headers["cache-control"] = "no-store"
    return answer


@get("/join", include_in_schema=False)
async def join(request: Call, code: FromQuery[str] = "") -> Response[str]:
    """Join a competition by a code; ``code`` fills the form in."""
    return page("join.html", code=code[:32])


@get("/competitions/{reference:str}/report", include_in_schema=False)
async def report(
    state: State,
    request: Call,
    reference: FromPath[str],
    student: Annotated[str, QueryParameter(max_length=64)] = "",
) -> Response[str]:
    """The report on a student: for itself, or for an organiser."""
    hub = hub_of(state)
    try:
        viewer = await viewer_of(request, hub)
        if viewer is None:
            return page("missing.html", status=401, text="Sign in to see a report.")
        found = await hub.reports.report(reference, student, viewer)
    except ProtocolError as error:
        return page("missing.html", status=403, text=str(error))
    except Unknown as error:
        return missing(f"{str(error)[:1].upper()}{str(error)[1:]}.")
    row = await hub.store.classes.find(reference)
    answer = page("report.html", row=row, report=found)
    answer.headers["cache-control"] = "no-store"
    return answer


HANDLERS: Final[tuple[Any, ...]] = (new_competition, join, report)
