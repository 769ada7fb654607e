"""Downloads of a competition: standings, matches and grades.

Standings are those of the board that the viewer sees.  Matches are for viewers who may see all of
them: organisers, the class if the board is for the class, everybody if it is public.  A match is
included when its pairing is over, because records are closed until then.  Grades are for
organisers.
"""

from __future__ import annotations

import importlib
import io
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from typing import Any, Final

import msgspec

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.competitions import Member
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.competition_rules.class_list import is_account_of
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competitions.finals import certainty
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.grades.board import Board
from plyhouse.server.grades.board_statistics import lines
from plyhouse.server.grades.final_results import Results
from plyhouse.server.grades.grade_files import (
    GradeEntry,
    canvas_csv,
    grades_csv,
    gradescope,
    moodle_csv,
)
from plyhouse.server.grades.standings_files import (
    standings_html,
    standings_markdown,
    standings_table,
    table_csv,
)
from plyhouse.server.grades.student_grades import Grade, points_of
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.results.dataset import has_parquet
from plyhouse.server.results.notations import NOTATIONS, ONE_MATCH, notation
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.scoring import scoring_words
from plyhouse.server.results.sequential import BandDecision
from plyhouse.storage import competition_sql, competition_students, match_reads
from plyhouse.storage.competition_rows import CompetitionStudent
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import Identity, StoredMatch
from plyhouse.storage.store import Store


async def grade_entries(store: Store, boards: Boards, found: Results) -> list[GradeEntry]:
    """Return the grades of all students who were not removed, by account."""
    names = {each.bot_id: each.name for each in found.entrants}
    given = {each.bot.lower(): each.bot for each in found.file.originals}
    known: dict[str, dict[str, BandDecision]] = {}
    for each in await certainty(boards, found.row):
        baseline = given.get(names.get(each.baseline, "").lower())
        if each.entry in names and baseline is not None:
            known.setdefault(names[each.entry], {})[baseline] = each.decision
    students = {
        each.player: each
        for each in await store.read(competition_students.students_of, found.row.id)
    }
    return [
        GradeEntry(
            grade,
            grade_points(grade, found.file),
            *_whose(students.get(grade.student)),
            known.get(grade.entry, {}),
            found.file.graded,
        )
        for grade in await boards.grades(found)
    ]


def most_points(file: CompetitionFile) -> float:
    """Return the points of the best grade; 1, the best score, if no baseline has a grade."""
    return max(points_of(file.originals, file.points)) if file.graded else 1.0


def grade_points(grade: Grade, file: CompetitionFile) -> float:
    """Return the points of a grade after the penalty for a late entry; 0 without a grade."""
    if grade.level < 0:
        return 0.0
    points = points_of(file.originals, file.points)[grade.level]
    return round(points * (1 - grade.penalty / 100), 6)


def _whose(student: CompetitionStudent | None) -> tuple[str, tuple[Member, ...]]:
    """Return an account's group name, empty for one student, and its people."""
    if student is None:
        return "", ()
    people = tuple(student.members)
    # The account of one student is named after the student, that of a group after the group.
    alone = all(is_account_of(student.player, each.name) for each in people)
    return "" if alone else student.display or student.player, people


def grade_table(found: Results, entries: Sequence[GradeEntry]) -> str:
    """Return the grades of a competition as CSV."""
    return grades_csv(
        entries,
        found.file.originals,
        scoring_words(found.rules.scoring),
        certain=found.file.until_certain,
        late=found.file.late.days > 0,
        games=found.file.games,
    )


FILES: Final = {
    "csv": ("standings.csv", "text/csv"),
    "md": ("standings.md", "text/markdown"),
    "html": ("standings.html", "text/html"),
    "json": ("standings.json", "application/json"),
    "grades": ("grades.csv", "text/csv"),
    "canvas": ("canvas.csv", "text/csv"),
    "moodle": ("moodle.csv", "text/csv"),
    "gradescope": ("gradescope.zip", "application/zip"),
    "jsonl": ("matches.jsonl", "application/jsonl"),
    "pgn": ("matches.pgn", "application/x-chess-pgn"),
    "sgf": ("matches.sgf", "application/x-go-sgf"),
    "pdn": ("matches.pdn", "text/plain"),
    "mat": ("matches-mat.zip", "application/zip"),
    "pbn": ("matches.pbn", "text/plain"),
    "gcg": ("matches-gcg.zip", "application/zip"),
    "phh": ("matches-phh.zip", "application/zip"),
    "parquet": ("matches.parquet", "application/vnd.apache.parquet"),
}
"""The file name and the media type of each format."""
STAFF_FILES: Final = ("grades", "canvas", "moodle", "gradescope")
"""The formats that name the grades of students."""
MATCHES: Final = ("jsonl", *NOTATIONS)


class Exports:
    """The downloads of one server's competitions."""

    def __init__(self, store: Store, boards: Boards, privacy: Privacy, helpers: Helpers) -> None:
        self._store = store
        self._boards = boards
        self._privacy = privacy
        self._helpers = helpers

    async def standings(self, reference: str, form: str, identity: Identity | None) -> str:
        """Return the standings that a viewer sees, as ``csv``, ``md`` or ``html``."""
        board = await self._boards.board(reference, identity)
        return await computed(_standings, board, form)

    async def grades(self, reference: str) -> str:
        """Return the grades of all students as CSV."""
        found = await self._results(reference)
        return grade_table(found, await grade_entries(self._store, self._boards, found))

    async def platform(self, reference: str, form: str) -> str:
        """Return the grades in the form of a learning platform: ``canvas`` or ``moodle``."""
        found = await self._results(reference)
        entries = await grade_entries(self._store, self._boards, found)
        write = canvas_csv if form == "canvas" else moodle_csv
        return write(entries, found.row.name, most_points(found.file))

    async def gradescope(self, reference: str) -> bytes:
        """Return an archive with ``STUDENT/results.json`` for every student."""
        found = await self._results(reference)
        entries = await grade_entries(self._store, self._boards, found)
        return await computed(_archive, found, entries)

    async def parquet(self, reference: str, identity: Identity | None) -> bytes:
        """Return a table with one row for each seat of each match; needs pyarrow."""
        sight = await self._matches_allowed(reference, identity)
        if not has_parquet():
            raise CompetitionRefusal(
                "competition/format_missing",
                "Parquet needs pyarrow on the server (pip install 'plyhouse[parquet]'); csv and "
                "jsonl need nothing.",
            )
        found = await self._results(reference)
        names = {
            bot: name if sight.named(found.row.id, 0, name) else PRIVATE
            for each in found.entrants
            for bot, name in each.bots.items()
        }
        return await computed(_parquet, found, names)

    async def matches(
        self, reference: str, form: str, identity: Identity | None, visitor: Hashable
    ) -> AsyncIterator[bytes]:
        """Return all matches in one of `MATCHES`, part by part.

        For each match it waits for the turn of ``visitor`` among those who ask for long work.
        Raises its errors before the first part.
        """
        sight = await self._matches_allowed(reference, identity)
        found = await self._results(reference)
        if form != "jsonl":
            games = NOTATIONS[form]
            if not any(each.partition("(")[0] in games for each in found.file.games):
                raise CompetitionRefusal(
                    "competition/format_missing",
                    f"{form} is a format for {' and '.join(games)}, which {found.row.name!r} "
                    "does not play; jsonl has the records of every game.",
                )
        written = self._written(found, form, sight, visitor)
        return _zipped(written, form) if form in ONE_MATCH else _joined(written)

    async def _written(
        self, found: Results, form: str, sight: Sight, visitor: Hashable
    ) -> AsyncIterator[tuple[str, str]]:
        """Yield the id of each match and its text."""
        for match in dict.fromkeys(each.match for each in found.seats):
            stored = await self._privacy.veiled(
                sight, await self._store.read(match_reads.stored_match, match)
            )
            if stored.pairing.finished_ms is None:
                continue
            async with self._helpers.queue.of(visitor):
                text = await self._helpers.run(match_text, stored, form, found.row.name)
            if text:
                yield match, text

    async def _results(self, reference: str) -> Results:
        return await self._boards.results.of(
            await self._store.read(competition_sql.find, reference), complete=True
        )

    async def _matches_allowed(self, reference: str, identity: Identity | None) -> Sight:
        row = await self._store.read(competition_sql.find, reference)
        sight = await self._privacy.sight(identity)
        if row.id in sight.closed:
            code = "auth/required" if identity is None else "auth/scope"
            raise ProtocolError(code, f"Not all matches of {row.name!r} are yours to see.")
        return sight


async def _joined(matches: AsyncIterator[tuple[str, str]]) -> AsyncIterator[bytes]:
    """Yield the texts of all matches, one after the other."""
    async for _, text in matches:
        yield text.encode()


class _Pipe(io.RawIOBase):
    """A file that cannot seek, whose content is taken out as it is written."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._written += data
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        data, self._written = bytes(self._written), bytearray()
        return data


async def _zipped(matches: AsyncIterator[tuple[str, str]], form: str) -> AsyncIterator[bytes]:
    """Yield an archive with a file for each match."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        async for match, text in matches:
            archive.writestr(f"{match}.{form}", text)
            yield pipe.take()
    yield pipe.take()


def _standings(board: Board, form: str) -> str:
    head, rows = standings_table(board.lines, board.file.games)
    scoring = scoring_words(board.scoring)
    if form == "csv":
        head.append("scoring")
        for row in rows:
            row.append(scoring)
        return table_csv(head, rows)
    state = "" if board.row.status == "finished" else f" ({board.row.status})"
    write = standings_markdown if form == "md" else standings_html
    notes = (f"Matches are scored by {scoring}.", *board.notes)
    return write(f"{board.row.name}{state}", head, rows, notes)


def _archive(found: Results, entries: Sequence[GradeEntry]) -> bytes:
    board = {
        each.standing.entrant.name: each
        for each in lines(found.standings, found.statistics, any_time=found.file.until_certain)
    }
    bots = {each.bot_id: each.student for each in found.entrants if not each.baseline}
    forfeits: dict[str, Counter[str]] = {}
    for each in found.results:
        if each.forfeit and each.bot_id in bots:
            forfeits.setdefault(bots[each.bot_id], Counter())[each.forfeit] += 1
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        points = points_of(found.file.originals, found.file.points)
        for entry in entries:
            grade = entry.grade
            text = gradescope(
                entry,
                found.file.originals,
                points,
                board.get(grade.entry),
                forfeits.get(grade.student, {}),
                scoring_words(found.rules.scoring),
            )
            archive.writestr(f"{grade.student}/results.json", text)
    return out.getvalue()


def match_text(stored: StoredMatch, form: str, event: str) -> str:
    """Return a match in a format, for a helper process.

    Returns an empty text if the format is for another game or does not fit the match any more.
    """
    try:
        record = stored_record(stored, get_game(stored.header.game))
        if form == "jsonl":
            return msgspec.json.encode(record).decode() + "\n"
        text = notation(record, form, event)
    except GameError:
        return ""
    return "" if text is None else f"{text}\n"


def _parquet(found: Results, names: Mapping[int, str]) -> bytes:
    pyarrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    columns = {
        "match": [each.match for each in found.seats],
        "pairing": [each.pairing for each in found.seats],
        "game": [each.game for each in found.seats],
        "seat": [each.seat for each in found.seats],
        "entry": [names.get(each.bot_id, "") for each in found.seats],
        "score": [each.score for each in found.seats],
        "result": [each.result for each in found.seats],
        "returned": [each.returned for each in found.seats],
        "termination": [each.termination for each in found.seats],
        "culprit": [each.culprit for each in found.seats],
        "plies": [each.ply for each in found.seats],
        "finished_ms": [each.finished_ms for each in found.seats],
    }
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()
