"""Rebuild running tournaments from their rows in the database."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.derived_files import practice_rest
from plyhouse.server.competition_rules.format_registry import make_format
from plyhouse.server.competition_rules.formats import Field, Format, PairingOutcome
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.competition_rules.pairing_queue import (
    PairingQueue,
    Pool,
    Reusable,
    RoundRobinQueue,
)
from plyhouse.server.competition_rules.progress import Progress, field_of
from plyhouse.server.competition_rules.schedule import round_robin
from plyhouse.server.competition_rules.sides import Sides, Versions, is_present
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.competitions.tournament_state import (
    PairingId,
    PairingTally,
    Repetition,
    RunningTournament,
)
from plyhouse.server.grades.final_rules import scoring_of
from plyhouse.server.grades.pairings_until_certain import GradedProgress
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.results.scoring import teams_of
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.storage import tournaments
from plyhouse.storage.rows import EntryRow, PlayedSeat, TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import settings


async def rebuilt(
    row: TournamentRow,
    seats: Sequence[PlayedSeat],
    store: Store,
    live_matches: LiveMatches,
    presences: Mapping[int, Presence],
    hidden_in: Callable[[str], Awaitable[Collection[str]]] | None,
) -> RunningTournament:
    """Rebuild a tournament; ``seats`` are those of all its stored matches.

    ``hidden_in`` is explained at `plyhouse.server.competitions.tournaments.Tournaments`.  Raises
    `GameError`, `InvalidTimeControl` or `ValueError` if the tournament cannot go on.
    """
    everybody = await store.read(tournaments.list_entries, row.id)
    game = get_game(row.game)
    sides = sides_of(row)
    entries = sides.entries(everybody)
    control = TimeControl.parse(row.time_control)
    terms = Terms(game, control, row.rated, row.mirrored, scoring_of(row))
    versions = {each.bot_id: each.version_id for each in everybody}
    way = format_of(row, terms)
    seats = sides.seats(seats, versions)
    stored = await asyncio.to_thread(StoredRun.read, row, seats, versions)
    work: PairingQueue[int]
    if isinstance(way, Ladder):
        work = LadderQueue(
            ladder=way,
            bots=[each.bot_id for each in entries],
            begun=stored.begun,
            presences=presences,
            rating_of=partial(live_matches.rating_of, game.spec),
            now=live_matches.now,
            name=row.id,
            rated=row.rated,
            finished=stored.finished,
            replaced=replaced_pairings(row, seats, versions),
            rest=practice_rest if settings(row).practice else None,
        )
    else:
        work = await asyncio.to_thread(queue_of, row, way, entries, stored)
    names = {entry.bot_id: f"{entry.player}/{entry.bot}" for entry in everybody}
    hidden = () if hidden_in is None else await hidden_in(row.id)
    running = RunningTournament(
        row,
        terms,
        names,
        work,
        settings(row),
        sides=sides,
        playing=stored.playing,
        tallies=stored.tallies,
        voids=stored.voids,
        again=stored.again,
        repeated=stored.repeated,
        before=stored.before,
        paused=row.status == "paused",
        versions={bot: version for bot, version in versions.items() if version is not None},
        unnamed=frozenset([bot for bot, name in names.items() if name.lower() in hidden]),
    )
    for entry in entries:
        if entry.status == "withdrawn":
            running.withdraw(entry.bot_id)
    return running


@dataclass(slots=True)
class StoredRun:
    """The facts about one run of a tournament, read from its rows."""

    run: int
    tallies: dict[str, PairingTally] = field(default_factory=dict)
    """Tallies of pairings that are not finished, by key."""
    finished: dict[str, PairingOutcome[int]] = field(default_factory=dict)
    begun: dict[str, tuple[int, ...]] = field(default_factory=dict)
    playing: dict[str, set[str]] = field(default_factory=dict)
    """Matches that are not finished, by the id of their pairing."""
    voids: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Void matches of those pairings."""
    again: list[Repetition] = field(default_factory=list)
    repeated: int = 0
    pool: Pool[int] = field(default_factory=Pool)
    before: int = 0
    """The number of matches of earlier runs."""
    over: set[str] = field(default_factory=set)
    """The finished matches."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id of the first pairing of each key, including those of earlier runs."""

    @classmethod
    def read(cls, row: TournamentRow, seats: Iterable[PlayedSeat], versions: Versions) -> StoredRun:
        """Sort the seats of all matches; this can take long.

        The pool gets the pairings of earlier runs whose versions all still play.
        """
        run = settings(row).run
        found = cls(run)
        matches: dict[str, list[PlayedSeat]] = {}
        for seat in seats:
            matches.setdefault(seat.match_id, []).append(seat)
        tries: dict[tuple[int, str], dict[int, list[list[PlayedSeat]]]] = {}
        for seated in matches.values():
            here = PairingId.parse(seated[0].pairing_id, row.id)
            own = tries.setdefault((here.run, here.key), defaultdict(list))
            own[here.attempt].append(seated)
            found.before += here.run != run
        reusable = []
        for (number, key), attempts in tries.items():
            if number == run:
                found._take(row.id, key, attempts)
                found.ids[key] = str(PairingId(row.id, key, run))
            else:
                identifier = str(PairingId(row.id, key, number))
                reusable += _reusable(identifier, key, attempts, versions)
        found.pool = Pool(reusable)
        return found

    def _take(self, tournament: str, key: str, attempts: dict[int, list[list[PlayedSeat]]]) -> None:
        tally = PairingTally(_order(attempts[min(attempts)][0]))
        self.begun[key] = tally.entries
        last = max(attempts)
        voids: list[tuple[int, ...]] = []
        for attempt, matches in attempts.items():
            name = PairingId(tournament, key, self.run, attempt)
            for seated in matches:
                if not seated[0].finished:
                    self.playing.setdefault(str(name), set()).add(seated[0].match_id)
                    continue
                self.over.add(seated[0].match_id)
                if not _counted(tally, seated) and attempt == last:
                    voids.append(_order(seated))
            self.repeated += len(matches) if attempt else 0
        name = PairingId(tournament, key, self.run, last)
        again = Repetition.after(name, voids)
        if str(name) in self.playing:
            self.voids[str(name)] = voids
            self.tallies[key] = tally
        elif again is not None:
            self.again.append(again)
            self.repeated += len(again.orders)
            self.tallies[key] = tally
        else:
            self.finished[key] = tally.outcome(key)


def replaced_pairings(
    row: TournamentRow, seats: Iterable[PlayedSeat], versions: Versions
) -> frozenset[str]:
    """Return the keys of this run's pairings that a replaced version played."""
    gone = [seat for seat in seats if not is_present(seat, versions)]
    known = [PairingId.parse(seat.pairing_id, row.id) for seat in gone]
    return frozenset(each.key for each in known if each.run == settings(row).run)


def _order(seated: Iterable[PlayedSeat]) -> tuple[int, ...]:
    return tuple([seat.bot_id for seat in seated])


def _counted(tally: PairingTally, seated: Sequence[PlayedSeat]) -> bool:
    """Add a finished match to a tally; return whether it counts."""
    scores = [seat.score for seat in seated if seat.score is not None and seat.result is not None]
    if len(scores) < len(seated):
        tally.void(missed=seated[0].missed)
        return False
    guilty = next((seat.bot_id for seat in seated if seat.ended in FORFEITS), None)
    tally.count(_order(seated), scores, guilty)
    return True


def _reusable(
    identifier: str,
    key: str,
    attempts: Mapping[int, Sequence[Sequence[PlayedSeat]]],
    versions: Versions,
) -> list[Reusable[int]]:
    """Return an earlier run's pairing if it all counts and its versions play."""
    tally = PairingTally(_order(attempts[min(attempts)][0]))
    for matches in attempts.values():
        for seated in matches:
            if not all(is_present(seat, versions) for seat in seated):
                return []
            if seated[0].finished:
                _counted(tally, seated)
    planned = sorted(_order(seated) for seated in attempts[min(attempts)])
    if sorted(tally.orders) != planned:
        return []
    return [Reusable(identifier, tuple(planned), tally.outcome(key))]


def sides_of(row: TournamentRow) -> Sides:
    """Return the sides of a tournament; without teams, each bot plays alone."""
    kept = settings(row)
    return Sides.kept(get_game(row.game), kept.sides) if kept.teams else Sides()


def format_of(row: TournamentRow, terms: Terms) -> Format | Ladder:
    """Return the format of a tournament; raise `FormatError` if it is impossible."""
    if row.format == "round_robin":
        given: dict[str, Any] = {"laps": row.rounds}
    else:
        given = settings(row).parameters
    seats = len(set(teams_of(terms.game))) if settings(row).teams else terms.game.seats
    return make_format(row.format, seats=seats, mirrored=row.mirrored, **given)


def progress_of(
    row: TournamentRow, form: Format, entries: Sequence[EntryRow], stored: StoredRun
) -> Progress[int]:
    """Return the progress of a tournament of any format, from its rows."""
    made = Progress(
        form,
        _field(row, entries),
        stored.finished,
        stored.begun,
        stored.pool,
    )
    for entry in entries:
        if entry.status == "withdrawn":
            made.withdraw(entry.bot_id)
    return made


def _field(row: TournamentRow, entries: Sequence[EntryRow]) -> Field[int]:
    """Return the entries in the order of their ids, stable over restarts."""
    kept = settings(row)
    bots = sorted([entry.bot_id for entry in entries])
    return field_of(bots, seeds=kept.seeds, baselines=kept.baselines, left=kept.left)


def graded_of(
    row: TournamentRow, form: Gauntlet, entries: Sequence[EntryRow], stored: StoredRun
) -> GradedProgress[int]:
    """Return the progress of a gauntlet that runs until grades are certain."""
    kept = settings(row)
    made = GradedProgress(
        form,
        _field(row, entries),
        kept.thresholds,
        stored.finished,
        stored.begun,
        stored.pool,
        one_sided=kept.grading is not None,
    )
    for entry in entries:
        if entry.status == "withdrawn":
            made.withdraw(entry.bot_id)
    return made


def queue_of(
    row: TournamentRow, form: Format, entries: Sequence[EntryRow], stored: StoredRun
) -> PairingQueue[int]:
    """Return the pairings left of a tournament; this can take long."""
    if isinstance(form, Gauntlet) and form.until_certain:
        return graded_of(row, form, entries, stored)
    if row.format != "round_robin":
        return progress_of(row, form, entries, stored)
    bots = sorted([entry.bot_id for entry in entries])
    schedule = round_robin(bots, row.rounds, seats=form.seats, mirrored=row.mirrored)
    begun = [int(key) for key in stored.begun if key.isdecimal()]
    return RoundRobinQueue(schedule, begun, stored.pool)
