"""Finals: their delays after the freeze, their start, and their view for one viewer.

A final is one tournament for each game, which `plyhouse.server.competitions.tournaments` plays.
Extensions of students and late submissions delay it.  With ``final_waits = false`` under ``[late]``
it begins on its date, and a rerun plays what comes later.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from plyhouse.games.registry import get_game
from plyhouse.protocol.api.competitions import BEFORE_FINAL
from plyhouse.server.competition_rules.dates import in_words
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.competition_rules.preview import planned_matches
from plyhouse.server.competition_rules.sides import Sides, sides_in
from plyhouse.server.competition_rules.tie_breaks import places_without
from plyhouse.server.competitions.baselines import Baselines
from plyhouse.server.competitions.upcoming_pairings import some_of
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.grades.final_rules import grade_thresholds, grading_rules
from plyhouse.server.grades.game_tables import Certainty, GameFinal
from plyhouse.server.grades.visible_entries import Visibility
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage import (
    competition_reruns,
    competition_sql,
    competition_students,
    entry_rule,
    leaderboards,
    submission_sql,
    suspensions,
)
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionRow,
    CompetitionStudent,
)
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import Identity, TournamentRow, new_id
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import Side, TournamentSettings, encoded, renewed_sides


@dataclass(frozen=True, slots=True)
class Delay:
    """Why a final cannot begin yet."""

    until_ms: int
    extended: tuple[str, ...]
    """The students whose extensions it waits for."""
    late: bool
    """True if it waits for late submissions."""
    zone: str
    """The zone in which people of the competition read times."""

    def shown(self, ms: int) -> str:
        """Return a time as people of the competition read it."""
        return in_words(datetime.fromtimestamp(ms / 1000, UTC), self.zone)

    @property
    def reason(self) -> str:
        """The extensions and late days that the final waits for."""
        found = [f"the extension of {some_of(self.extended)}"] if self.extended else []
        found += ["late submissions (days under [late])"] if self.late else []
        return " and ".join(found)

    def words(self, row: CompetitionRow) -> str:
        """Return what the delay means for a competition."""
        due = "has no date" if row.final_ms is None else f"is due {self.shown(row.final_ms)}"
        return (
            f"The final of {row.name!r} {due} and waits until {self.shown(self.until_ms)} for "
            f"{self.reason}. To begin it before that: plyhouse competition run {row.name!r} "
            "--anyway, or final_waits = false under [late] in the file, which begins it on its "
            "date; what comes later then plays after plyhouse competition rerun."
        )


def delay_of(
    row: CompetitionRow, file: CompetitionFile, students: Iterable[CompetitionStudent], now_ms: int
) -> Delay | None:
    """Return what delays the final of a competition; None if nothing does.

    That is what ends after its date, or, without a date, after now.
    """
    if row.status not in BEFORE_FINAL or not file.late.final_waits:
        return None
    return _delay(row, file, students, max(now_ms, row.final_ms or 0))


def told_delay(
    row: CompetitionRow,
    file: CompetitionFile,
    students: Iterable[CompetitionStudent],
    now_ms: int,
    *,
    of: Collection[str] | None = None,
    also: Mapping[str, int] | None = None,
) -> str:
    """Return what extensions and late days mean for the next final; empty if nothing.

    The text names the final or rerun that waits for them, or the final that does not wait.  With
    ``of``, only if the extension of one of these students is among the reasons.  ``also`` has ends
    of extensions that nobody has yet, in ms, by who will have them.
    """
    before = row.status in BEFORE_FINAL
    if not before and of is None:
        return ""
    begin = max(now_ms, row.final_ms or 0) if before else now_ms
    delay = _delay(row, file, students, begin, also)
    if delay is None or (of is not None and not set(of) & set(delay.extended)):
        return ""
    if not before:
        return (
            f"A rerun of {row.name!r} waits until {delay.shown(delay.until_ms)} for "
            f"{delay.reason}. To begin it before that: "
            f"plyhouse competition rerun {row.name!r} --anyway."
        )
    if not file.late.final_waits:
        due = "when you run it" if row.final_ms is None else delay.shown(row.final_ms)
        return (
            f"The final of {row.name!r} begins {due}, without waiting for {delay.reason}. "
            f"What comes later plays after plyhouse competition rerun {row.name!r}."
        )
    return delay.words(row)


def running_extensions(
    row: CompetitionRow, file: CompetitionFile, students: Iterable[CompetitionStudent], now_ms: int
) -> Delay | None:
    """Return what the final waits for if it is to begin now; None for nothing.

    A rerun always waits: it plays what comes late.
    """
    if row.status != "finished" and not file.late.final_waits:
        return None
    return _delay(row, file, students, now_ms)


def _delay(
    row: CompetitionRow,
    file: CompetitionFile,
    students: Iterable[CompetitionStudent],
    begin: int,
    also: Mapping[str, int] | None = None,
) -> Delay | None:
    """Return the extensions and late days that end after a time."""
    ends = {player: until for player, until in (also or {}).items() if until > begin} | {
        each.player: each.extended_ms
        for each in students
        if each.status == "active" and each.extended_ms is not None and each.extended_ms > begin
    }
    late = row.late_ms if row.late_ms is not None and row.late_ms > begin else 0
    if not ends and not late:
        return None
    return Delay(max([late, *ends.values()]), tuple(sorted(ends)), bool(late), file.dates.zone)


MAX_MATCHES: Final = 100_000
"""The largest schedule accepted, in matches."""


def planned(file: CompetitionFile, game: str, entries: int) -> int:
    """Return the matches of a game for this number of entries.

    Returns 0 where the number is not known, or if nobody could play.
    """
    try:
        return planned_matches(file, game, entries) or 0
    except FormatError:
        return 0


def check(row: CompetitionRow, file: CompetitionFile, entered: Sequence[CompetitionEntry]) -> None:
    """Raise `CompetitionRefusal` if these entries cannot play the final."""
    check_number(row, file, len(entered))
    if file.limits.students and all(each.baseline for each in entered):
        raise CompetitionRefusal(
            "competition/too_few",
            f"no bot of a student is entered in {row.name!r}, and the final would be over before "
            "one comes; `plyhouse competition rehearse` plays one without students",
        )


def check_number(row: CompetitionRow, file: CompetitionFile, entries: int) -> None:
    """Raise `CompetitionRefusal` if this number of entries cannot play the final."""
    if entries < 2:
        raise CompetitionRefusal(
            "competition/too_few",
            f"{row.name!r} has {entries} entries, baselines included: nobody could be compared",
        )
    for game in row.games:
        try:
            matches = planned_matches(file, game.game, entries) or 0
        except FormatError as error:
            raise CompetitionRefusal(
                "competition/too_few",
                f"{row.name!r} has {entries} entries, baselines included: {error}",
            ) from error
        if matches > MAX_MATCHES:
            raise CompetitionRefusal(
                "competition/too_long",
                f"{entries} entries make {matches:,} matches of {game.game} in this format; "
                f"{MAX_MATCHES:,} at most: open it with fewer rounds",
            )


async def entries_to_play(
    store: Store, baselines: Baselines, row: CompetitionRow, file: CompetitionFile, *, anyway: bool
) -> list[CompetitionEntry]:
    """Return the entries that play a final.

    Raises `CompetitionRefusal` if none can play or, unless ``anyway``, if some are not ready.
    """
    now = store.now()
    if not anyway:
        students = await store.read(competition_students.students_of, row.id)
        delay = running_extensions(row, file, students, now)
        if delay is not None:
            raise CompetitionRefusal(
                "competition/extension",
                f"{some_of(delay.extended)} may still submit; wait for the end of the extension, "
                "or begin without it: --anyway"
                if delay.extended
                else "late submissions are still taken: wait for the end of that time (late.days "
                "after the freeze), or begin without them: --anyway",
            )
        unchecked = [each.name for each in await store.read(submission_sql.waiting_for, row.id)]
        if unchecked:
            raise CompetitionRefusal(
                "competition/unchecked",
                f"the submission of {some_of(unchecked)} is not checked yet; wait "
                "for a runner machine to check it, or start without it: --anyway",
            )
    everybody = await store.read(competition_sql.entries_of, row.id)
    states = await baselines.states(row, everybody)
    unfit = [each.text for each in states.values() if not each.can_play]
    if unfit:
        raise CompetitionRefusal("competition/missing_baseline", "; ".join(unfit))
    suspended = {each.version_id for each in await store.read(suspensions.suspended_in, row.id)}
    shut = [each.name for each in everybody if each.baseline and each.version_id in suspended]
    if shut:
        raise CompetitionRefusal(
            "competition/suspended_baseline",
            f"{', '.join(shut)} is suspended, and nobody could be measured against it; "
            f"plyhouse admin bot reinstate {shut[0]} lets it in again",
        )
    found = [
        each
        for each in everybody
        if each.status == "active" and each.version_id not in suspended
        if each.version_id or not file.limits.students
    ]
    if file.hosting_required:
        without = await left_out(store, row, file, found)
        if without and not anyway:
            raise CompetitionRefusal(
                "competition/not_handed_in",
                f"only submitted bots may play, and {some_of(without)} only connected; "
                "submit it (plyhouse submit), or start without it: --anyway",
            )
        found = [each for each in found if each.name not in without]
    found = entry_rule.with_help(row, found, anyway=anyway)
    before = await store.read(competition_reruns.sides, row.id)
    found = with_partners(row, file, found, before, anyway=anyway)
    check(row, file, found)
    return found


def with_partners(
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
    before: Sequence[Side] = (),
    *,
    anyway: bool,
) -> list[CompetitionEntry]:
    """Return the entries without those that lack a partner, in a competition of teams.

    ``before`` are the sides of the final that runs again.

    Raises `CompetitionRefusal` for a baseline without a partner and, unless ``anyway``, for others.
    """
    if not file.teams:
        return list(entries)
    sides = sides_in(file, entries)
    if before:
        owners = {each.bot_id: (each.player_id, each.baseline) for each in entries}
        sides = Sides.kept(get_game(file.games[0]), renewed_sides(before, owners, owners))
    alone = sides.without(entries)
    if alone and not (anyway and not any(each.baseline for each in alone)):
        raise CompetitionRefusal(
            "competition/no_partner",
            f"{row.name!r} is for sides of {file.side_size} bots of one player, and "
            f"{some_of([each.name for each in alone])} has no partner; enter another bot of "
            "the same player, or begin without it: --anyway",
        )
    return [each for each in entries if each not in alone]


async def left_out(
    store: Store,
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
) -> list[str]:
    """Return the entries that only connected, if only submitted bots may play."""
    if not file.hosting_required:
        return []
    there = await store.read(submission_sql.entered, row.id)
    return [
        each.name
        for each in entries
        if not each.baseline
        and each.status == "active"
        and each.version_id is not None
        and each.bot_id not in there
    ]


def _settings(
    competition: str, file: CompetitionFile, entered: Sequence[CompetitionEntry], sides: Sides
) -> TournamentSettings:
    """Return what the tournaments of all games of a final have in common."""
    grading = grading_rules(file, entered)
    baselines = [each for each in entered if each.baseline]
    return TournamentSettings(
        competition=competition,
        at_a_time=file.limits.matches_at_a_time,
        only_hosted=file.hosting_required,
        parameters=file.terms[1],
        baselines=frozenset(each.bot_id for each in baselines),
        twins=frozenset(each.bot_id for each in baselines if each.name.lower() in file.twins),
        thresholds={
            sides.captain(bot): needed for bot, needed in grade_thresholds(file, entered).items()
        },
        teams=file.teams,
        sides=sides.stored,
        grading=msgspec.structs.replace(grading, order=tuple(map(sides.captain, grading.order))),
    )


async def parts(
    row: CompetitionRow,
    file: CompetitionFile,
    entered: Sequence[CompetitionEntry],
    store: Store,
    now: int,
    *,
    rehearsal: bool = False,
    practice: bool = False,
) -> list[TournamentRow]:
    """Return the tournaments of a final, one for each game.

    ``practice`` makes a practice ladder, which counts for no leaderboard.

    Entries are seeded by their current place on the leaderboard of the game.  If the format uses
    seeds, entries without a rating follow by lot.
    """
    sides = sides_in(file, entered)
    common = _settings(row.id, file, entered, sides)
    # A single game without students has the competition's id and name.
    alone = not file.limits.students and len(row.games) == 1
    made = []
    for game in row.games:
        scoring = file.scored_by(game.game)
        seeds, lot = await _seeds(store, game.game, sides.captains(entered), file)
        data = msgspec.structs.replace(
            common,
            rehearsal=rehearsal,
            practice=practice,
            scoring=scoring,
            seeds=tuple(seeds),
            lot=lot,
        )
        made.append(
            TournamentRow(
                id=row.id if alone else new_id(),
                name=row.name if alone else f"{row.name}: {game.game}"[:100],
                game=game.game,
                time_control=str(file.time_control),
                format=file.terms[0],
                rounds=file.laps,
                mirrored=file.mirrored,
                # Everybody sees leaderboards, and each has one scoring.  So a match counts there
                # only if everybody may see it and it has the same scoring.
                rated=file.rated
                and not practice
                and file.board == "public"
                and scoring is default_scoring(get_game(game.game)),
                created_ms=now,
                status="running",
                started_ms=now,
                data=encoded(data),
            )
        )
    return made


async def _seeds(
    store: Store, game: str, entered: Sequence[CompetitionEntry], file: CompetitionFile
) -> tuple[list[int], str]:
    """Return the bots in seed order, and the seed of the lot; empty if none was drawn.

    Bots come first if the version that plays has a rating.
    """
    versions = {each.version_id: each.bot_id for each in entered}
    board = await store.read(leaderboards.leaderboard, game, 1_000_000, every_version=True)
    rated = [each for each in board if each.rating is not None and each.version_id in versions]
    rated.sort(key=lambda each: (-(each.rating or 0.0), each.version_id))
    seeds = [versions[each.version_id] for each in rated]
    names = {bot: name for bot, name in _labels(entered, file).items() if bot not in seeds}
    form = file.play(game)
    if isinstance(form, Ladder) or not form.adaptive or len(names) < 2:
        return seeds, ""
    lot = secrets.token_hex(8)
    return seeds + by_lot(lot, names), lot


def by_lot(seed: str, names: Mapping[int, str]) -> list[int]:
    """Order entries by lot, so that anybody can recompute the order.

    Entries are sorted by the SHA-256 of ``SEED NAME``, where ``NAME`` is the name of an entry
    (``player/bot``) in UTF-8.  ``names`` are all different.

    >>> by_lot("5eed", {1: "ada/deep", 2: "bob/bot", 3: "cy/bot"})
    [3, 2, 1]
    """
    return sorted(names, key=lambda each: hashlib.sha256(f"{seed} {names[each]}".encode()).digest())


def _labels(entered: Sequence[CompetitionEntry], file: CompetitionFile) -> dict[int, str]:
    """Return the labels of entries in a lot.

    A hidden baseline is labelled by its number in the competition file.  With its name in the lot,
    anybody who guesses the name could check the guess against the lot.
    """
    hidden = {
        each.bot.lower(): f"hidden {number}"
        for number, each in enumerate(file.baselines, start=1)
        if each.hidden
    }
    return {each.bot_id: hidden.get(each.name.lower(), each.name) for each in entered}


# ------------------------------------------------------------------------------- looking


async def finals_of(boards: Boards, reference: str, identity: Identity | None) -> list[GameFinal]:
    """Return the games of a final that has begun, computed from stored rows.

    Organisers see everything.  Others see what the board shows them, and no hidden baselines.  On
    an anonymous board a student sees its own pairings, and in the table its own lines, three ahead
    and the baselines.  Raises `ProtocolError` if the identity may see nothing, and `Unknown`.
    """
    row, entrants, eyes = await boards.eyes(reference, identity)
    out = eyes.hidden.union(each.bot_id for each in entrants if each.status == "disqualified")
    return [_seen(each, eyes, out) for each in await boards.games.of(row)]


async def certainty(boards: Boards, row: CompetitionRow) -> list[Certainty]:
    """Return how certain a gauntlet's grades are; empty in other formats."""
    if row.format != "gauntlet":
        return []
    found = await boards.games.of(row, fresh=True)
    return [each for final in found for each in final.certainty]


def _seen(final: GameFinal, eyes: Visibility, out: Collection[int]) -> GameFinal:
    """Return one viewer's part of a game; entries in ``out`` get no place."""
    lines = set(eyes.lines([row.entry for row in final.table]))
    table = places_without(final.table, out)
    return replace(
        final,
        table=tuple(row for row in table if row.entry in lines),
        lot="" if eyes.anonymous else final.lot,
        seeds=() if eyes.anonymous else tuple(b for b in final.seeds if b not in eyes.hidden),
        certainty=tuple(
            each
            for each in final.certainty
            if eyes.hidden.isdisjoint((each.entry, each.baseline)) and eyes.meets((each.entry,))
        ),
        rounds=tuple(
            replace(each, lines=tuple(line for line in each.lines if eyes.meets(line.players)))
            for each in final.rounds
        ),
        names={bot: eyes.name(bot, name) for bot, name in final.names.items()},
    )
