"""The forms of organisers and students on the pages of competitions.

Pages hold forms; the web client (`clients/web/competition.js`) sends what is pressed to the API,
which alone decides who may do what.  So nothing here is a second way to do something: who has no
session of an organiser is shown no buttons, and would be refused if it made some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from litestar import Request, Response, get
from litestar.params import FromQuery

from plyhouse.protocol.api.bots import Suspension
from plyhouse.protocol.api.competitions import (
    BEFORE_FINAL,
    IN_FINAL,
    TAKES_LATE,
    Code,
    CompetitionStatus,
    Entry,
    Regrade,
    Staff,
)
from plyhouse.protocol.api.submissions import Submission
from plyhouse.server.accounts.roles import allows, role_in
from plyhouse.server.competition_rules.derived_files import rehearsal_name
from plyhouse.server.competitions import exports
from plyhouse.server.competitions.baselines import BaselineState
from plyhouse.server.competitions.overview import CompetitionView
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.competition_people import entry_in
from plyhouse.server.web.api.submissions import submission_view
from plyhouse.server.web.forwarding import BY_ANY
from plyhouse.server.web.pages.rendering import page
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_staff,
    join_codes,
    submission_sql,
    suspensions,
)
from plyhouse.storage import competition_messages as stored_regrades
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionRow,
    CompetitionStudent,
    VersionRow,
)
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]
ORGANISERS: Final = ("organise", "admin")
FILES: Final = tuple(form for form in exports.FILES if form != "parquet")
"""The files that an organiser may download; games without a match format say so."""
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
    """The button's text before the second press; empty if one press is enough."""
    note: str


REHEARSE: Final = Step(
    "rehearse", "Rehearse", "",
    "The submissions so far play in a separate competition that does not count.",
)  # fmt: skip
DELETE: Final = Step(
    "delete", "Delete", "Really delete?", "It is listed nowhere any more; its matches stay."
)
"""The form that deletes a rehearsal: only then can there be another one."""
STEPS: Final[dict[CompetitionStatus, tuple[Step, ...]]] = {
    "draft": (Step("open", "Open now", "", "Before its date: students may join."),),
    "open": (
        Step(
            "freeze", "Freeze", "Really freeze?", "Entries keep their versions; practice goes on."
        ),
    ),
    "frozen": (
        Step("run", "Begin the final", "Really begin?", "Matches begin at once."),
        Step("unfreeze", "Unfreeze", "Really unfreeze?", "Versions may change again."),
    ),
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
"""The next steps, by the status of a competition."""


@dataclass(frozen=True, slots=True)
class Entered:
    """An entry of a competition as its page shows it."""

    entry: CompetitionEntry
    shown: Entry
    """The entry as the API answers it."""
    left_out: bool = False
    """True if the entry only connected, in a competition of submitted bots."""
    opened: bool | None = None
    """True if people may play against the submitted bot; None if the viewer may not decide."""
    missing: str = ""
    """The games that it does not play, and what they cost."""


@dataclass(frozen=True, slots=True)
class Pupil:
    """A student with its entries."""

    student: CompetitionStudent
    entries: tuple[Entered, ...]


@dataclass(frozen=True, slots=True)
class StaffView:
    """The staff's view of a competition."""

    role: str
    """``owner``, ``assistant`` or ``reader``, which has no forms."""
    steps: tuple[Step, ...]
    late: bool
    """True if somebody may still submit, so that a final would wait."""
    pupils: tuple[Pupil, ...]
    baselines: tuple[Entered, ...]
    suspended: tuple[Suspension, ...]
    codes: tuple[Code, ...]
    warnings: tuple[str, ...] = ()
    rehearsal: CompetitionRow | None = None
    """Its rehearsal, if there is one."""
    files: tuple[str, ...] = FILES
    people: tuple[Staff, ...] = ()
    """All of the staff, owners first."""

    @property
    def owns(self) -> bool:
        """True if the viewer may do what owners do."""
        return allows(self.role, "change")

    @property
    def runs(self) -> bool:
        """True if the viewer may do what assistants do."""
        return allows(self.role, "run")

    regrades: tuple[Regrade, ...] = ()
    """Requests to look at a result again, open ones first."""
    checks: Mapping[str, BaselineState] = field(default_factory=dict)
    """True if each baseline can play, by its name."""
    provided: frozenset[str] = frozenset()
    """Baselines that are reference bots: they can be checked again, or replaced."""

    @property
    def names(self) -> list[str]:
        """Students and their entries: who can be disqualified."""
        students = [each.student.player for each in self.pupils]
        return students + [one.entry.name for each in self.pupils for one in each.entries]

    @property
    def active(self) -> list[Pupil]:
        """Students who were neither removed nor disqualified."""
        return [each for each in self.pupils if each.student.status == "active"]

    @property
    def without(self) -> int:
        """Active students of whom nothing is entered."""
        return sum(not each.entries for each in self.active)


@dataclass(frozen=True, slots=True)
class Own:
    """A student's view of its own part in a competition."""

    student: CompetitionStudent
    entries: tuple[Entered, ...]
    versions: tuple[VersionRow, ...]
    """To choose from; none if nothing can be chosen any more."""
    full: bool
    """True if another bot would have to take the place of one."""
    takes: bool
    """True if a bot may be submitted now."""
    most_bytes: int
    """The size limit of a submission."""
    submissions: tuple[Submission, ...]
    """The latest submissions for this competition."""
    handed_in_only: bool = False
    """True if only submitted bots play in the final."""
    regrades: tuple[Regrade, ...] = ()
    """Its requests to look at a result again, open ones first."""
    late_until: int | None = None
    """Until when it may submit late, with a penalty; None if it may not, or need not."""

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


def _entered(
    directory: Directory, view: CompetitionView, entries: Sequence[CompetitionEntry]
) -> tuple[Entered, ...]:
    return tuple(
        Entered(
            each,
            entry_in(view, directory, each),
            left_out=each.name in view.left_out,
            missing=view.missing_of(each),
        )
        for each in entries
    )


async def _with_say(
    store: Store, config: ServerConfig, entries: Sequence[Entered], viewer: Identity
) -> tuple[Entered, ...]:
    """The entries, and of those of the viewer whether people may play against them."""
    if not config.hosted or config.hosted_play == "nobody":
        return tuple(entries)
    found = []
    for each in entries:
        if each.entry.player_id == viewer.player_id:
            ready = await store.read(submission_sql.ready_version, each.entry.bot_id, None)
            each = replace(each, opened=None if ready is None else ready.open)
        found.append(each)
    return tuple(found)


def _steps(
    config: ServerConfig, view: CompetitionView, rehearsal: CompetitionRow | None
) -> Iterator[Step]:
    """The next steps of an organiser."""
    row, unplayed = view.row, ". ".join(each.unplayed for each in view.games if each.unplayed)
    for step in STEPS.get(row.status, ()):
        if step.name == "rerun" and row.rehearses is not None:
            continue
        more = step.name == "finish" and unplayed
        yield step._replace(note=f"{step.note} {unplayed}.") if more else step
    if row.rehearses is not None:
        yield DELETE
    elif rehearsal is None and config.hosted and row.status in BEFORE_FINAL:
        yield REHEARSE


async def _rehearsal(store: Store, row: CompetitionRow) -> CompetitionRow | None:
    """The current rehearsal of a competition."""
    try:
        found = await store.read(competition_sql.find, rehearsal_name(row.name))
    except Unknown:
        return None
    return found if found.rehearses == row.id else None


def organises(viewer: Identity | None) -> bool:
    """Return whether somebody may open competitions."""
    return viewer is not None and not viewer.scopes.isdisjoint(ORGANISERS)


async def staff_of(
    store: Store,
    directory: Directory,
    config: ServerConfig,
    hosting: Hosting,
    view: CompetitionView,
    viewer: Identity | None,
) -> StaffView | None:
    """The staff's part of the page; None for everybody else."""
    row, now = view.row, store.now()
    role = await role_in(store, row.id, viewer)
    if viewer is None or role is None:
        return None
    runs = allows(role, "run")
    entries: dict[int, list[CompetitionEntry]] = {}
    for each in view.entries:
        if not each.baseline:
            entries.setdefault(each.player_id, []).append(each)
    baselines = _entered(directory, view, [each for each in view.entries if each.baseline])
    rehearsal = await _rehearsal(store, row)
    return StaffView(
        role,
        tuple(_steps(config, view, rehearsal)) if runs else (),
        any(
            each.status == "active" and each.extended_ms is not None and each.extended_ms > now
            for each in view.students
        ),
        tuple(
            Pupil(each, _entered(directory, view, entries.get(each.player_id, ())))
            for each in view.students
        ),
        await _with_say(store, config, baselines, viewer),
        tuple(await store.read(suspensions.suspended_in, row.id)),
        tuple(await store.read(join_codes.codes_of, row.id)) if runs else (),
        (*view.warnings, *await hosting.waiting_checks(row.id)),
        rehearsal,
        people=tuple(await store.read(competition_staff.staff_of, row.id)),
        regrades=tuple(await store.read(stored_regrades.requests, row.id)),
        checks=view.baselines,
        provided=_provided(view) if runs else frozenset(),
    )


def _provided(view: CompetitionView) -> frozenset[str]:
    """The reference bots that can be checked again now, or replaced."""
    if view.row.rehearses is not None or view.row.status in IN_FINAL:
        return frozenset()
    named = {each.bot.lower() for each in view.file.baselines if each.reference}
    return frozenset(each.name for each in view.entries if each.name.lower() in named)


async def own_of(
    store: Store,
    directory: Directory,
    config: ServerConfig,
    hosting: Hosting,
    view: CompetitionView,
    viewer: Identity | None,
) -> Own | None:
    """A student's part of the page; None for everybody else."""
    if viewer is None:
        return None
    student = next((each for each in view.students if each.player_id == viewer.player_id), None)
    if student is None:
        return None
    row, now = view.row, store.now()
    own = [
        each for each in view.entries if each.player_id == viewer.player_id and not each.baseline
    ]
    extended = student.extended_ms is not None and student.extended_ms > now
    over = row.status in TAKES_LATE
    taken_late = over and row.late_ms is not None and row.late_ms > now
    late = (extended and over) or taken_late
    versions: list[VersionRow] = []
    open_now = student.status == "active" and (row.status == "open" or late)
    if open_now:
        versions = await store.read(competition_entries.versions_of, viewer.player_id)
    handed_in = await store.read(
        submission_sql.of, player_id=viewer.player_id, competition_id=row.id, limit=MOST_SUBMISSIONS
    )
    return Own(
        student,
        await _with_say(store, config, _entered(directory, view, own), viewer),
        tuple(versions[:MOST_VERSIONS]),
        full=len(own) >= row.entries_each,
        takes=open_now and config.hosted,
        most_bytes=config.max_submission_bytes,
        submissions=tuple(submission_view(hosting, each) for each in handed_in),
        handed_in_only=view.file.hosting_required,
        regrades=tuple(await store.read(stored_regrades.requests, row.id, viewer.player_id)),
        late_until=row.late_ms if taken_late and not extended else None,
    )


@get("/join", include_in_schema=False, opt=BY_ANY)
async def join(request: Call, code: FromQuery[str] = "") -> Response[str]:
    """Join a competition by a code; ``code`` fills the form in."""
    return page("join.html", code=code[:32])


HANDLERS: Final[tuple[Any, ...]] = (join,)
