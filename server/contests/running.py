"""The memory of a running competition, and its reconstruction from rows.

The id of a pairing carries all that a restart needs.  ``COMPETITION-KEY`` is the pairing that its
format calls ``KEY``.  ``COMPETITION-KEY@2`` is the same in the second run of a final (see
`plyhouse.storage.class_finals`).  ``COMPETITION-KEY~1`` repeats its void matches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from plyhouse.games.base import Scoring
from plyhouse.server.competition.catalogue import make_format
from plyhouse.server.competition.facts import Field, Outcome, Pairing
from plyhouse.server.competition.formats import Format
from plyhouse.server.competition.game_scoring import grading_of
from plyhouse.server.competition.gauntlet import Gauntlet
from plyhouse.server.competition.graded import Graded
from plyhouse.server.competition.ladder import Ladder
from plyhouse.server.competition.progress import Pool, Progress, Reusable, Robin, field_of
from plyhouse.server.competition.schedule import round_robin
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.table.match_runner import Terms
from plyhouse.storage.competitions import settings
from plyhouse.storage.rows import CompetitionRow, EntryRow, PlayedSeat

__all__ = [
    "MAX_AGAIN",
    "Again",
    "PairingId",
    "Running",
    "Stored",
    "Tally",
    "Work",
    "at_a_time_of",
    "baselines_of",
    "graded_of",
    "lot_of",
    "progress_of",
    "replaced_pairings",
    "run_of",
    "twins_of",
    "way_of",
    "work_of",
]  # fmt: skip

MAX_AGAIN: Final = 3
"""The largest number of repetitions of a void match."""


class Work(Protocol):
    """The pairings still to start, in any format; ``len`` counts those ready."""

    def __len__(self) -> int:
        """Return the number of known pairings that may begin."""

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""

    @property
    def stale(self) -> bool:
        """True if the format must answer before another pairing begins."""

    @property
    def over(self) -> bool:
        """True if no pairing will begin any more."""

    @property
    def planned(self) -> int:
        """The number of all known matches."""

    @property
    def reused_matches(self) -> int:
        """The number of those matches reused from earlier runs."""

    def entries(self) -> list[int]:
        """Return the bots that have pairings left."""

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """Return the next known pairings; ``of`` keeps only those of its entries."""

    def take(
        self, room: Callable[[int], int], freed: Iterable[int] | None = None, *, limit: int
    ) -> list[Pairing[int]]:
        """Remove and return the pairings that begin now."""

    def ended(self, outcome: Outcome[int]) -> None:
        """Record a finished pairing."""

    def withdraw(self, entry: int) -> None:
        """Withdraw a bot."""


@dataclass(frozen=True, slots=True)
class PairingId:
    """The parts of the id of a pairing."""

    competition: str
    key: str
    run: int = 1
    attempt: int = 0
    """0 for the first attempt, 1 for the first repetition of void matches."""

    def __str__(self) -> str:
        run = f"@{self.run}" if self.run > 1 else ""
        again = f"~{self.attempt}" if self.attempt else ""
        return f"{self.competition}-{self.key}{run}{again}"

    @classmethod
    def parse(cls, text: str, competition: str) -> PairingId:
        """Parse the id of a pairing of this competition."""
        rest, _, attempt = text[len(competition) + 1 :].partition("~")
        key, _, run = rest.partition("@")
        return cls(
            competition,
            key,
            int(run) if run.isdecimal() else 1,
            int(attempt) if attempt.isdecimal() else 0,
        )


@dataclass(frozen=True, slots=True)
class Again:
    """Void matches of a pairing that must be repeated."""

    id: PairingId
    """The id of the pairing that repeats them."""
    orders: tuple[tuple[int, ...], ...]
    """The bots in seat order, once per match."""

    @classmethod
    def after(cls, pairing: PairingId, orders: Iterable[tuple[int, ...]]) -> Again | None:
        """Return the next repetition of void matches; None after the last one."""
        attempt = pairing.attempt + 1
        again = cls(PairingId(pairing.competition, pairing.key, pairing.run, attempt), (*orders,))
        return again if again.orders and attempt <= MAX_AGAIN else None


@dataclass(slots=True)
class Tally:
    """The results of a pairing's matches so far, repetitions included."""

    entries: tuple[int, ...]
    scores: dict[int, float] = field(default_factory=dict)
    matches: int = 0
    orders: list[tuple[int, ...]] = field(default_factory=list)
    """The seat orders of the matches that count."""
    forfeited: set[int] = field(default_factory=set)
    missed: int = 0
    """The number of matches that never began because bots were not ready."""
    voids: int = 0
    """The number of matches that do not count, including those in `missed`."""

    def void(self, *, missed: bool) -> None:
        """Record a match that does not count."""
        self.voids += 1
        self.missed += missed

    def count(self, order: tuple[int, ...], scores: Sequence[float], forfeited: int | None) -> None:
        """Add a match that counts; ``forfeited`` is the bot that forfeited it."""
        self.matches += 1
        self.orders.append(order)
        for bot, score in zip(order, scores, strict=True):
            self.scores[bot] = self.scores.get(bot, 0.0) + score
        if forfeited is not None:
            self.forfeited.add(forfeited)

    def outcome(self, key: str) -> Outcome[int]:
        """Return the outcome of the pairing, void if none of its matches counts.

        If no match began in any attempt, all bots were absent, and all of them forfeit the pairing.
        """
        nobody = not self.matches and 0 < self.missed == self.voids
        return Outcome(
            key,
            self.entries,
            tuple([self.scores.get(bot, 0.0) for bot in self.entries]),
            self.matches,
            void=not self.matches,
            forfeited=frozenset(self.entries if nobody else self.forfeited),
        )


@dataclass(slots=True)
class Stored:
    """The facts about one run of a competition, read from its rows."""

    run: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    """Tallies of pairings that are not finished, by key."""
    finished: dict[str, Outcome[int]] = field(default_factory=dict)
    begun: dict[str, tuple[int, ...]] = field(default_factory=dict)
    playing: dict[str, set[str]] = field(default_factory=dict)
    """Matches that are not finished, by the id of their pairing."""
    voids: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Void matches of those pairings."""
    again: list[Again] = field(default_factory=list)
    repeated: int = 0
    pool: Pool[int] = field(default_factory=Pool)
    before: int = 0
    """The number of matches of earlier runs."""
    over: set[str] = field(default_factory=set)
    """The finished matches."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id of the first pairing of each key, including those of earlier runs."""

    @classmethod
    def read(
        cls, row: CompetitionRow, seats: Iterable[PlayedSeat], versions: Mapping[int, int]
    ) -> Stored:
        """Sort the seats of all matches; this can take long.

        The pool gets the pairings of earlier runs whose versions all still play.
        """
        run = run_of(row)
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

    def _take(
        self, competition: str, key: str, attempts: dict[int, list[list[PlayedSeat]]]
    ) -> None:
        tally = Tally(_order(attempts[min(attempts)][0]))
        self.begun[key] = tally.entries
        last = max(attempts)
        voids: list[tuple[int, ...]] = []
        for attempt, matches in attempts.items():
            name = PairingId(competition, key, self.run, attempt)
            for seated in matches:
                if not seated[0].finished:
                    self.playing.setdefault(str(name), set()).add(seated[0].match_id)
                    continue
                self.over.add(seated[0].match_id)
                if not _counted(tally, seated) and attempt == last:
                    voids.append(_order(seated))
            self.repeated += len(matches) if attempt else 0
        name = PairingId(competition, key, self.run, last)
        again = Again.after(name, voids)
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
    row: CompetitionRow, seats: Iterable[PlayedSeat], versions: Mapping[int, int]
) -> frozenset[str]:
    """Return the keys of this run's pairings that a replaced version played."""
    gone = [seat for seat in seats if versions.get(seat.bot_id) != seat.version_id]
    known = [PairingId.parse(seat.pairing_id, row.id) for seat in gone]
    return frozenset(each.key for each in known if each.run == run_of(row))


def _order(seated: Iterable[PlayedSeat]) -> tuple[int, ...]:
    return tuple([seat.bot_id for seat in seated])


def _counted(tally: Tally, seated: Sequence[PlayedSeat]) -> bool:
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
    versions: Mapping[int, int],
) -> list[Reusable[int]]:
    """Return an earlier run's pairing if it all counts and its versions play."""
    tally = Tally(_order(attempts[min(attempts)][0]))
    for matches in attempts.values():
        for seated in matches:
            if any(versions.get(seat.bot_id) != seat.version_id for seat in seated):
                return []
            if seated[0].finished:
                _counted(tally, seated)
    planned = sorted(_order(seated) for seated in attempts[min(attempts)])
    if sorted(tally.orders) != planned:
        return []
    return [Reusable(identifier, tuple(planned), tally.outcome(key))]


def run_of(row: CompetitionRow) -> int:
    """Return the number of this run of a final, from 1."""
    run = settings(row).get("run", 1)
    return run if isinstance(run, int) else 1


def way_of(row: CompetitionRow, terms: Terms) -> Format | Ladder:
    """Return the format of a competition; `FormatError` if it is impossible."""
    if row.format == "round_robin":
        given: dict[str, Any] = {"laps": row.rounds}
    else:
        kept = settings(row).get("parameters")
        given = kept if isinstance(kept, dict) else {}
    return make_format(row.format, seats=terms.game.seats, mirrored=row.mirrored, **given)


def progress_of(
    row: CompetitionRow, form: Format, entries: Sequence[EntryRow], stored: Stored
) -> Progress[int]:
    """Return the progress of a competition of any format, from its rows."""
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


def _field(row: CompetitionRow, entries: Sequence[EntryRow]) -> Field[int]:
    """Return the entries in the order of their ids, stable over restarts."""
    kept = settings(row)
    left = kept.get("left")
    gone = {int(bot): number for bot, number in left.items()} if isinstance(left, dict) else {}
    bots = sorted([entry.bot_id for entry in entries])
    return field_of(bots, seeds=_ids(kept, "seeds"), baselines=_ids(kept, "baselines"), left=gone)


def lot_of(row: CompetitionRow) -> str:
    """Return the seed of the lot among unrated entries; empty without a lot."""
    lot = settings(row).get("lot")
    return lot if isinstance(lot, str) else ""


def graded_of(
    row: CompetitionRow, form: Gauntlet, entries: Sequence[EntryRow], stored: Stored
) -> Graded[int]:
    """Return the progress of a gauntlet that runs until grades are certain."""
    kept = settings(row).get("thresholds")
    thresholds = kept.items() if isinstance(kept, dict) else ()
    made = Graded(
        form,
        _field(row, entries),
        {int(bot): float(share) for bot, share in thresholds},
        stored.finished,
        stored.begun,
        stored.pool,
        one_sided=grading_of(row) is not None,
    )
    for entry in entries:
        if entry.status == "withdrawn":
            made.withdraw(entry.bot_id)
    return made


def at_a_time_of(row: CompetitionRow) -> int:
    """Return how many matches of a final may run at a time; 0 for no limit."""
    limit = settings(row).get("at_a_time", 0)
    return limit if isinstance(limit, int) else 0


def baselines_of(row: CompetitionRow) -> frozenset[int]:
    """Return the baselines that grades need: all except twins."""
    kept = settings(row)
    return frozenset(_ids(kept, "baselines")).difference(_ids(kept, "twins"))


def twins_of(row: CompetitionRow) -> frozenset[int]:
    """Return the twins: bots entered a second time to measure the noise."""
    return frozenset(_ids(settings(row), "twins"))


def _ids(kept: Mapping[str, object], name: str) -> list[int]:
    listed = kept.get(name)
    return [each for each in listed if isinstance(each, int)] if isinstance(listed, list) else []


def work_of(
    row: CompetitionRow, form: Format, entries: Sequence[EntryRow], stored: Stored
) -> Progress[int] | Robin[int] | Graded[int]:
    """Return the pairings left of a competition; this can take long."""
    if isinstance(form, Gauntlet) and form.until_certain:
        return graded_of(row, form, entries, stored)
    if row.format != "round_robin":
        return progress_of(row, form, entries, stored)
    bots = sorted([entry.bot_id for entry in entries])
    schedule = round_robin(bots, row.rounds, seats=form.seats, mirrored=row.mirrored)
    begun = [int(key) for key in stored.begun if key.isdecimal()]
    return Robin(schedule, begun, stored.pool)


@dataclass(eq=False, slots=True)
class Running:
    """A competition that is not over."""

    row: CompetitionRow
    terms: Terms
    names: dict[int, str]
    """The entries: ``player/bot`` by bot id."""
    work: Work
    run: int = 1
    playing: dict[str, set[str]] = field(default_factory=dict)
    """Matches that have begun and are not over, by the id of their pairing."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    """The results so far of pairings that are not finished, by key."""
    voids: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Void matches of running pairings, by pairing id."""
    again: list[Again] = field(default_factory=list)
    """Void matches that still have to be repeated."""
    repeated: int = 0
    """The number of repetitions of void matches, past and future."""
    before: int = 0
    """The number of matches of earlier runs."""
    paused: bool = False
    gone: set[int] = field(default_factory=set)
    """Bots that were withdrawn."""
    versions: dict[int, int] = field(default_factory=dict)
    """The versions that play, by bot id.  A bot that is missing here may play any version."""
    baselines: frozenset[int] = frozenset()
    """The bots among them that others are measured against."""
    unnamed: frozenset[int] = frozenset()
    """The bots among them whose names are hidden from players and viewers."""
    group: str = ""
    """The group of the game: competitions of one group share `at_a_time`."""
    at_a_time: int = 0
    """Matches of the group that may run at the same time; 0: limited only by the room of the bots.
    """
    only_hosted: bool = False
    """True if runner machines run the bots, even if their authors are connected."""
    rehearsal: bool = False
    """True for a rehearsal: it yields to other competitions and causes no suspensions."""
    practice: bool = False
    """True for a practice ladder: its bots must stay free for other matches as well."""
    rests: dict[int, int] = field(default_factory=dict)
    """The time until which each bot rests from practice, in nanoseconds."""
    scoring: Scoring | None = None
    """The scoring of a match; None: the game's default."""
    cut: bool = False
    """True if the last look stopped at a limit, so that the bots it skipped may have room."""
    asking: bool = False
    """True while the format is being asked."""

    @property
    def planned(self) -> int:
        """The number of matches: played, to come, and repetitions of void ones."""
        return self.before + self.work.planned - self.work.reused_matches + self.repeated

    @property
    def over(self) -> bool:
        """True if nothing is being played or left to play."""
        return self.work.over and not self.playing and not self.again

    def is_for_runners(self, bot: int) -> bool:
        """Return whether only runner machines may run a bot.

        Staff may run baselines anywhere.
        """
        return self.only_hosted and bot not in self.baselines

    def waiting(self) -> list[int]:
        """Return the bots that have matches left, including void ones to repeat."""
        again = [bot for each in self.again for bot in each.orders[0]]
        return list(dict.fromkeys([*self.work.entries(), *again]))

    @property
    def left(self) -> int:
        """The number of known pairings not yet begun, including repetitions."""
        return len(self.work) + len(self.again)

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """Return the next pairings; repetitions of void matches come first."""
        again = [
            Pairing(each.id.key, 0, each.orders)
            for each in self.again
            if of is None or not set(of).isdisjoint(each.orders[0])
        ]
        return (again + self.work.upcoming(limit, of))[:limit]

    def withdraw(self, bot: int) -> None:
        """Drop the remaining pairings of a bot, including repetitions."""
        if bot in self.gone:
            return
        self.gone.add(bot)
        self.work.withdraw(bot)
        for again in tuple(self.again):
            if bot in again.orders[0]:
                self.again.remove(again)
                self.repeated -= len(again.orders)
                self.finish(again.id)

    def match_over(
        self,
        pairing: PairingId,
        match: str,
        order: tuple[int, ...],
        scores: Sequence[float] | None,
        forfeited: int | None,
        *,
        missed: bool = False,
    ) -> None:
        """Record a match that is over.

        ``scores`` is None if the match is void; ``missed`` means that it never began.
        """
        open_ = self.playing.get(str(pairing), set())
        if match not in open_:
            return  # The match was already read as finished.
        open_.discard(match)
        tally = self.tallies.setdefault(pairing.key, Tally(order))
        if scores is None:
            self.voids.setdefault(str(pairing), []).append(order)
            tally.void(missed=missed)
        else:
            tally.count(order, scores, forfeited)
        if open_:
            return
        del self.playing[str(pairing)]
        again = Again.after(pairing, self.voids.pop(str(pairing), ()))
        if again is None or self.gone.intersection(again.orders[0]):
            self.finish(pairing)
        else:
            self.again.append(again)
            self.repeated += len(again.orders)

    def finish(self, pairing: PairingId) -> None:
        """Close a pairing that has no matches left."""
        self.work.ended(self.tallies.pop(pairing.key).outcome(pairing.key))
