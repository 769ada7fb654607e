"""A competition as its organiser sees it: progress, entries, and warnings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plyhouse.protocol.api.competitions import BEFORE_FINAL, FinalGame
from plyhouse.server.competition_rules.file import CompetitionFile, file_of
from plyhouse.server.competitions import finals
from plyhouse.server.competitions.absence_reasons import (
    gone_texts,
    suspended_texts,
    withdrawn_texts,
)
from plyhouse.server.competitions.absences import Absences
from plyhouse.server.competitions.baselines import Baselines, BaselineState
from plyhouse.server.competitions.finals import delay_of
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.upcoming_pairings import some_of, unplayed
from plyhouse.server.competitions.visible_boards import days_late
from plyhouse.server.grades.board_statistics import differing
from plyhouse.server.grades.final_rules import scoring_of
from plyhouse.server.grades.missing_games import missing, missing_words
from plyhouse.server.match.presence import Presence
from plyhouse.storage import (
    competition_reruns,
    competition_results,
    competition_students,
    submission_checks,
    submission_sql,
    suspensions,
)
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionRow,
    CompetitionStudent,
)
from plyhouse.storage.store import Store


@dataclass(frozen=True, slots=True)
class CompetitionView:
    """A competition as its organiser sees it."""

    row: CompetitionRow
    file: CompetitionFile
    students: tuple[CompetitionStudent, ...]
    entries: tuple[CompetitionEntry, ...]
    games: tuple[FinalGame, ...]
    warnings: tuple[str, ...] = ()
    """Deviations from the file that do not stop the competition."""
    left_out: frozenset[str] = frozenset()
    """Entries that only connected, although only submitted bots may play."""
    hosted: frozenset[int] = frozenset()
    """Ids of the bots whose entered version the server runs, because it was submitted."""
    baselines: Mapping[str, BaselineState] = field(default_factory=dict)
    """The state of each baseline, by its name."""
    late: Mapping[int, int] = field(default_factory=dict)
    """Days by which entries were late, by bot id."""
    missing: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The games that entries do not play, by bot id, where their check or connection says so."""

    def missing_of(self, entry: CompetitionEntry) -> str:
        """Return the games that an entry does not play and what they cost; empty for none."""
        games = self.missing.get(entry.bot_id)
        return missing_words(games, len(self.file.games)) if games else ""

    def late_of(self, entry: CompetitionEntry) -> tuple[int, float]:
        """Return the days an entry was late, and the penalty in percent."""
        days = self.late.get(entry.bot_id, 0)
        return days, self.file.late.penalty(days)


async def _progress(
    game: str, place: str, file: CompetitionFile, tournaments: Tournaments, absences: Absences
) -> FinalGame:
    """Return how far the tournament of a game has come."""
    found = await tournaments.view(place)
    names = {each.bot_id: f"{each.player}/{each.bot}" for each in found.entries}
    absent = absences.texts(place, file.limits.absent_minutes)
    return FinalGame(
        game,
        place,
        found.planned,
        found.finished,
        found.waiting_for,
        [*absent, *gone_texts(found.row, names)],
        unplayed(game, *tournaments.left(place)),
        scoring_of(found.row).value,
    )


async def overview(
    row: CompetitionRow,
    store: Store,
    tournaments: Tournaments,
    absences: Absences,
    baselines: Baselines,
    presences: Mapping[int, Presence],
) -> CompetitionView:
    """Return a competition with everything that its organiser sees."""
    file = file_of(row)
    entries = await store.read(competition_reruns.played_entries, row.id)
    games = []
    warnings: list[str] = []
    for game in row.games:
        if (place := game.tournament_id) is None:
            active = sum(each.status == "active" for each in entries)
            planned = finals.planned(file, game.game, active)
            by = file.scored_by(game.game)
            games.append(FinalGame(game.game, "", planned, 0, [], [], "", by.value))
        else:
            warnings += _too_busy(game.game, await store.read(competition_results.voided_by, place))
            games.append(await _progress(game.game, place, file, tournaments, absences))
    students = tuple(await store.read(competition_students.students_of, row.id))
    left_out = await finals.left_out(store, row, file, entries)
    states = await baselines.states(row, entries)
    warnings += [f"{each.text}." for each in states.values() if each.text]
    names = {each.bot_id: each.name for each in entries}
    gone = await store.read(suspensions.suspended_in, row.id, withdrawn=True)
    warnings += withdrawn_texts(gone, names)
    if row.status in BEFORE_FINAL:
        shut = await store.read(suspensions.suspended_in, row.id)
        needed = {each.bot_id for each in entries if each.baseline}
        warnings += suspended_texts(shut, names, needed)
        delay = delay_of(row, file, students, store.now())
        warnings += [delay.words(row)] if delay is not None else []
    checked = await store.read(submission_checks.games_for, row.id)
    lacking = {
        each.bot_id: lacks
        for each in entries
        if each.status == "active"
        if (lacks := missing(file.games, claimed_games(each, checked, presences)))
    }
    warnings += _lacking(file.games, entries, lacking)
    return CompetitionView(
        row=row,
        file=file,
        students=students,
        entries=tuple(entries),
        games=tuple(games),
        warnings=(*warnings, *_warnings(file, entries, left_out)),
        left_out=frozenset(left_out),
        hosted=frozenset(await store.read(submission_sql.entered, row.id)),
        baselines=states,
        late=await days_late(store, row, file, entries),
        missing=lacking,
    )


def claimed_games(
    entry: CompetitionEntry,
    checked: Mapping[int, Collection[str]],
    presences: Mapping[int, Presence],
) -> Collection[str]:
    """Return the games that the version of an entry plays; empty if that is not known.

    ``checked`` has the games of versions whose check covered the competition.
    """
    version = entry.next_id or entry.version_id or 0
    if version in checked:
        return checked[version]
    here = presences.get(entry.bot_id)
    return here.games if here is not None and here.online and here.version_id == version else ()


def _lacking(
    games: Sequence[str],
    entries: Sequence[CompetitionEntry],
    lacking: Mapping[int, Collection[str]],
) -> list[str]:
    """Return a warning for each game that some entries do not play."""
    found = []
    for game in games:
        names = [each.name for each in entries if game in lacking.get(each.bot_id, ())]
        if names:
            found.append(f"{game} is not played by {some_of(names)}: a missing game counts as 0.")
    return found


def _too_busy(game: str, voided: Mapping[str, int]) -> list[str]:
    """Return a warning for each machine that was too busy for the bots it ran."""
    return [
        f"{game}: the machine {machine} was too busy for bots whose flags fell there; "
        f"{'a match is' if count == 1 else f'{count} matches are'} void and played again, once for "
        "each bot. The page of each match says why; start that runner with fewer --cores, or with "
        "--nice 0 if other work keeps it busy (with --hosted: serve --no-local-runner first)."
        for machine, count in voided.items()
    ]


def _warnings(
    file: CompetitionFile, entries: Sequence[CompetitionEntry], left_out: Sequence[str]
) -> list[str]:
    """Return warnings about bots not submitted and about twins that differ."""
    known = {each.name.lower(): each for each in entries if each.baseline}
    found = []
    for twin, entry in file.twins.items():
        if twin in known and entry in known:
            one, other = known[entry], known[twin]
            found.append(differing(one.name, one.digest, other.name, other.digest))
    if left_out:
        found.append(
            f"Only submitted bots play, and {some_of(left_out)} only connected: the final is "
            "without it until it is submitted (plyhouse submit)"
        )
    return [f"{text}." for text in found if text]
