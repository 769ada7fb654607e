"""A competition that is being played, as it stands in memory, and how it is rebuilt from rows.

The id of a pairing says all that a restart has to know: ``COMPETITION-KEY`` is the pairing that
its format calls ``KEY``, ``COMPETITION-KEY@2`` the same in the second run of a final (see
`plyhouse.storage.class_finals`), and ``COMPETITION-KEY~1`` repeats its matches that were void.
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
"""How often a void match is played again."""


class Work(Protocol):
    """What of a competition is to be begun, whatever its format; its length is what may begin."""

    def __len__(self) -> int:
        """Pairings that may begin, as far as they are known."""

    @property
    def at_once(self) -> int:
        """Matches of a pairing."""

    @property
    def stale(self) -> bool:
        """Whether the format has to be asked before anything else begins."""

    @property
    def over(self) -> bool:
        """Whether nothing will begin any more."""

    @property
    def planned(self) -> int:
        """Matches of all of it, as far as that is known."""

    @property
    def reused_matches(self) -> int:
        """Matches among them that were played before."""

    def entries(self) -> list[int]:
        """Bots that have something before them."""

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """What begins next, as far as that is known; of these entries only if they are given."""

    def take(
        self, room: Callable[[int], int], freed: Iterable[int] | None = None, *, limit: int
    ) -> list[Pairing[int]]:
        """Take out what begins now."""

    def ended(self, outcome: Outcome[int]) -> None:
        """A pairing is finished."""

    def withdraw(self, entry: int) -> None:
        """A bot has left."""


@dataclass(frozen=True, slots=True)
class PairingId:
    """The parts of the id of a pairing."""

    competition: str
    key: str
    run: int = 1
    attempt: int = 0
    """0 for the first time, 1 for the first repetition of void matches."""

    def __str__(self) -> str:
        run = f"@{self.run}" if self.run > 1 else ""
        again = f"~{self.attempt}" if self.attempt else ""
        return f"{self.competition}-{self.key}{run}{again}"

    @classmethod
    def parse(cls, text: str, competition: str) -> PairingId:
        """Read the id of a pairing of this competition."""
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
    """Matches of a pairing that were void and are to be played again."""

    id: PairingId
    """Of the pairing that repeats them."""
    orders: tuple[tuple[int, ...], ...]
    """The bots in the order of seats, once per match."""

    @classmethod
    def after(cls, pairing: PairingId, orders: Iterable[tuple[int, ...]]) -> Again | None:
        """The next try after a pairing in which these matches were void; None after the last."""
        attempt = pairing.attempt + 1
        again = cls(PairingId(pairing.competition, pairing.key, pairing.run, attempt), (*orders,))
        return again if again.orders and attempt <= MAX_AGAIN else None


@dataclass(slots=True)
class Tally:
    """What the matches of a pairing have given so far, repetitions included."""

    entries: tuple[int, ...]
    scores: dict[int, float] = field(default_factory=dict)
    matches: int = 0
    orders: list[tuple[int, ...]] = field(default_factory=list)
    """The seat orders of the matches that count."""
    forfeited: set[int] = field(default_factory=set)
    missed: int = 0
    """Matches that never began, as their bots did not become ready."""
    voids: int = 0
    """Matches that do not count, those among them."""

    def void(self, *, missed: bool) -> None:
        """Note a match that does not count."""
        self.voids += 1
        self.missed += missed

    def count(self, order: tuple[int, ...], scores: Sequence[float], forfeited: int | None) -> None:
        """Add a match that counts; ``forfeited`` is who ended it otherwise than by play."""
        self.matches += 1
        self.orders.append(order)
        for bot, score in zip(order, scores, strict=True):
            self.scores[bot] = self.scores.get(bot, 0.0) + score
        if forfeited is not None:
            self.forfeited.add(forfeited)

    def outcome(self, key: str) -> Outcome[int]:
        """How the pairing ended; void if none of its matches counts.

        Where none ever began, at no try, nobody came: then all of its bots have forfeited it.
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
    """What the rows of a competition say about one run of it."""

    run: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    """Of pairings that are not finished, by key."""
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
    """Matches of earlier runs."""
    over: set[str] = field(default_factory=set)
    """The matches that are finished."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id of the first pairing of each key, those of earlier runs included."""

    @classmethod
    def read(
        cls, row: CompetitionRow, seats: Iterable[PlayedSeat], versions: Mapping[int, int]
    ) -> Stored:
        """Sort the seats of all matches; this takes its time.

        Matches of earlier runs are in the pool as far as all of their versions still play.
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
    """Return the keys of pairings of this run in which a version played that has been replaced."""
    gone = [seat for seat in seats if versions.get(seat.bot_id) != seat.version_id]
    known = [PairingId.parse(seat.pairing_id, row.id) for seat in gone]
    return frozenset(each.key for each in known if each.run == run_of(row))


def _order(seated: Iterable[PlayedSeat]) -> tuple[int, ...]:
    return tuple([seat.bot_id for seat in seated])


def _counted(tally: Tally, seated: Sequence[PlayedSeat]) -> bool:
    """Add a finished match to a tally, if it counts."""
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
    """A pairing of an earlier run, if all of it counts and its versions still play."""
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
    """Which run of a final this is, from 1."""
    run = settings(row).get("run", 1)
    return run if isinstance(run, int) else 1


def way_of(row: CompetitionRow, terms: Terms) -> Format | Ladder:
    """The format of a competition; raises `FormatError` if it cannot be held."""
    if row.format == "round_robin":
        given: dict[str, Any] = {"laps": row.rounds}
    else:
        kept = settings(row).get("parameters")
        given = kept if isinstance(kept, dict) else {}
    return make_format(row.format, seats=terms.game.seats, mirrored=row.mirrored, **given)


def progress_of(
    row: CompetitionRow, form: Format, entries: Sequence[EntryRow], stored: Stored
) -> Progress[int]:
    """The facts of a competition of any format, from its rows."""
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
    """Who is in it, in the order of ids, which no restart changes."""
    kept = settings(row)
    left = kept.get("left")
    gone = {int(bot): number for bot, number in left.items()} if isinstance(left, dict) else {}
    bots = sorted([entry.bot_id for entry in entries])
    return field_of(bots, seeds=_ids(kept, "seeds"), baselines=_ids(kept, "baselines"), left=gone)


def lot_of(row: CompetitionRow) -> str:
    """The seed of the lot that ordered entries without a rating; empty if there was none."""
    lot = settings(row).get("lot")
    return lot if isinstance(lot, str) else ""


def graded_of(
    row: CompetitionRow, form: Gauntlet, entries: Sequence[EntryRow], stored: Stored
) -> Graded[int]:
    """The facts of a gauntlet that goes on until grades are certain, from its rows."""
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
    """How many matches of a final are played at a time; 0 for no limit."""
    limit = settings(row).get("at_a_time", 0)
    return limit if isinstance(limit, int) else 0


def baselines_of(row: CompetitionRow) -> frozenset[int]:
    """The bots that others are measured against: all that grades need, and so no twins."""
    kept = settings(row)
    return frozenset(_ids(kept, "baselines")).difference(_ids(kept, "twins"))


def twins_of(row: CompetitionRow) -> frozenset[int]:
    """The bots that are entered a second time, to show the noise."""
    return frozenset(_ids(settings(row), "twins"))


def _ids(kept: Mapping[str, object], name: str) -> list[int]:
    listed = kept.get(name)
    return [each for each in listed if isinstance(each, int)] if isinstance(listed, list) else []


def work_of(
    row: CompetitionRow, form: Format, entries: Sequence[EntryRow], stored: Stored
) -> Progress[int] | Robin[int] | Graded[int]:
    """What is left of a competition; this takes its time."""
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
    """The entries, ``player/bot`` by the bot's id."""
    work: Work
    run: int = 1
    playing: dict[str, set[str]] = field(default_factory=dict)
    """Matches that have begun and are not over, by the id of their pairing."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    """What pairings that are not finished have given so far, by key."""
    voids: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Void matches of pairings that are played, by id."""
    again: list[Again] = field(default_factory=list)
    """Matches to be played again, because they were void."""
    repeated: int = 0
    """How many matches were, or are to be, played again."""
    before: int = 0
    """Matches of earlier runs."""
    paused: bool = False
    gone: set[int] = field(default_factory=set)
    """Bots that were withdrawn."""
    versions: dict[int, int] = field(default_factory=dict)
    """The versions that play, by the bot's id; any version of bots that are not here."""
    baselines: frozenset[int] = frozenset()
    """The bots among them that others are measured against."""
    unnamed: frozenset[int] = frozenset()
    """The bots among them of which nobody who plays or watches is told the name."""
    group: str = ""
    """What this is a game of: competitions of one group share `at_a_time`."""
    at_a_time: int = 0
    """Matches of the group that run at the same time; 0: as many as their bots have room for."""
    only_hosted: bool = False
    """Whether the house runs the bots, even if their authors are there."""
    rehearsal: bool = False
    """Whether it only rehearses another one: it steps back, and nobody is suspended for it."""
    practice: bool = False
    """Whether it is a practice ladder: its bots have to be free for other play as well."""
    rests: dict[int, int] = field(default_factory=dict)
    """Until when bots rest from practice, in nanoseconds."""
    scoring: Scoring | None = None
    """What scores a match; None: the game's default."""
    cut: bool = False
    """Whether the last look ended at that limit: then bots that were not looked at may have room.
    """
    asking: bool = False
    """Whether the format is being asked."""

    @property
    def planned(self) -> int:
        """Matches of all of it: played, void ones that are repeated, and to come."""
        return self.before + self.work.planned - self.work.reused_matches + self.repeated

    @property
    def over(self) -> bool:
        """Whether nothing is played or to come."""
        return self.work.over and not self.playing and not self.again

    def is_for_runners(self, bot: int) -> bool:
        """Whether only the house may run a bot; baselines are where their staff has them."""
        return self.only_hosted and bot not in self.baselines

    def waiting(self) -> list[int]:
        """Bots that have something before them, void matches included."""
        again = [bot for each in self.again for bot in each.orders[0]]
        return list(dict.fromkeys([*self.work.entries(), *again]))

    @property
    def left(self) -> int:
        """Pairings that have not begun, as far as they are known, and those to be played again."""
        return len(self.work) + len(self.again)

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """What begins next, void matches that are played again before all else."""
        again = [
            Pairing(each.id.key, 0, each.orders)
            for each in self.again
            if of is None or not set(of).isdisjoint(each.orders[0])
        ]
        return (again + self.work.upcoming(limit, of))[:limit]

    def withdraw(self, bot: int) -> None:
        """Leave out what a bot still has before it, void matches included."""
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
        """A match is over; ``scores`` is None if it is void, ``missed`` if it never began."""
        open_ = self.playing.get(str(pairing), set())
        if match not in open_:
            return  # it was read as finished already
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
        """Nothing more of a pairing is to come."""
        self.work.ended(self.tallies.pop(pairing.key).outcome(pairing.key))
