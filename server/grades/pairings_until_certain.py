"""A running gauntlet that continues until every grade is certain.

An entry meets a graded baseline in one pairing after the other, never in two at a time.  It stops
when the confidence sequence of its mean score (`plyhouse.server.results.sequential`) is on one side
of the baseline's threshold, or after ``most`` pairings.  With several pairings at a time, short
matches, which may be lost ones, would count before long ones.  Results that came in after the
decision would also shift the mean.  A void pairing counts as an attempt without a score.

The error rate covers all thresholds of an entry together.  Each baseline gets an equal share of it
(the union bound).  So an entry's grade is wrong with at most that probability, however many
baselines there are.

Each result updates only its own series.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    FormatError,
    Pairing,
    PairingOutcome,
    TableLine,
)
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.pairing_queue import PairingQueue, Pool
from plyhouse.server.competition_rules.tie_breaks import placed, standings
from plyhouse.server.grades.student_grades import grade_level
from plyhouse.server.results.sequential import BandDecision, Grading, GradingState

_KEY: Final = re.compile(r"e(\d+)-b(\d+)-(\d+)(?:@(\d+))?$")


@dataclass(slots=True)
class _Series(Generic[EntryT]):
    """The pairings of an entry with a baseline."""

    entry: EntryT
    baseline: EntryT
    stem: str
    """Their keys without the numbers."""
    most: int
    grading: Grading | None
    """None for a baseline without a grade, which is met a fixed number of times."""
    begun: int = 0
    playing: bool = False

    @property
    def wanted(self) -> bool:
        """True if another pairing may begin."""
        return not self.playing and self.left > 0

    @property
    def left(self) -> int:
        """The largest number of pairings that may still begin."""
        done = self.grading is not None and self.grading.decision.state is not GradingState.OPEN
        return 0 if done else self.most - self.begun

    def take_in(self, outcome: PairingOutcome[EntryT]) -> None:
        if self.grading is not None and not outcome.void:
            self.grading.add(outcome.share(self.entry))


class GradedProgress(PairingQueue[EntryT]):
    """The pairings left in a gauntlet that continues until grades are certain.

    ``thresholds`` are the mean scores that the baselines' grades need.  ``finished`` and ``begun``
    are the stored pairings of this run.  ``pool`` has pairings of earlier runs that can be reused.
    ``one_sided`` is as in `Grading`.
    """

    def __init__(
        self,
        form: Gauntlet,
        field: Field[EntryT],
        thresholds: Mapping[EntryT, float],
        finished: Mapping[str, PairingOutcome[EntryT]] | None = None,
        begun: Mapping[str, Sequence[EntryT]] | None = None,
        pool: Pool[EntryT] | None = None,
        *,
        one_sided: bool = True,
    ) -> None:
        if not form.until_certain:
            raise FormatError("this gauntlet is played a fixed number of times")
        super().__init__()
        self.format = form
        self.field = field
        self.finished = dict(finished or {})
        self.begun = {key: tuple(entries) for key, entries in (begun or {}).items()}
        """The pairings stored for this run and those reused, as formats need them."""
        self._thresholds = dict(thresholds)
        self._gone = {each.entry for each in field.entrants if each.withdrawn is not None}
        self._series: dict[str, _Series[EntryT]] = {}
        self._ready: dict[str, None] = {}
        """Series that wait for room, the longest wait first."""
        self._of: dict[EntryT, list[str]] = {each.entry: [] for each in field.entrants}
        numbered = list(enumerate(field.entrants, start=1))
        baselines = [each for each in numbered if each[1].baseline]
        graded = sum(each.entry in thresholds for _, each in baselines)
        entries = [each for each in numbered if not each[1].baseline]
        for step in range(len(baselines)):
            for place, (here, entrant) in enumerate(entries):
                # Each entry begins with another baseline, so that all baselines have work at once.
                there, baseline = baselines[(place + step) % len(baselines)]
                threshold = thresholds.get(baseline.entry)
                grading = None
                if threshold is not None:
                    share = form.error / graded
                    grading = Grading(
                        [threshold], maximum=form.most, alpha=share, one_sided=one_sided
                    )
                stem = f"e{here}-b{there}"
                most = form.times if grading is None else form.most
                self._series[stem] = _Series(
                    entrant.entry, baseline.entry, stem, most, grading
                )  # fmt: skip
                self._of[entrant.entry].append(stem)
                self._of[baseline.entry].append(stem)
        self._restore(dict(self.finished), dict(self.begun), pool or Pool())

    def _restore(
        self,
        finished: Mapping[str, PairingOutcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
        pool: Pool[EntryT],
    ) -> None:
        """Add stored pairings in the order of play, earlier runs first."""
        own: dict[str, list[int]] = {}
        for key in {*begun, *finished}:
            series_of, _, last = key.rpartition("-")
            own.setdefault(series_of, []).append(int(last))
        for stem, series in self._series.items():
            orders = self.format.orders((series.entry, series.baseline))
            for before in sorted(pool.all(orders), key=lambda each: _order(each.id)):
                if not series.wanted:
                    break
                series.begun += 1
                self.reused[f"{stem}-{series.begun}"] = before.id
                series.take_in(before.outcome)
                key = f"{stem}-{series.begun}"
                self.finished[key] = replace(before.outcome, key=key)
                self.begun[key] = before.outcome.entries
            for number in sorted(own.get(stem, ())):
                series.begun = number
                outcome = finished.get(f"{stem}-{number}")
                if outcome is None:
                    series.playing = True
                else:
                    series.take_in(outcome)
            self._look(series)

    def _look(self, series: _Series[EntryT]) -> None:
        gone = series.entry in self._gone or series.baseline in self._gone
        if series.wanted and not gone:
            self._ready[series.stem] = None
        else:
            self._ready.pop(series.stem, None)

    # ----------------------------------------------------------------------------- playing

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.format.at_once

    @property
    def over(self) -> bool:
        """True if nothing is being played or left to begin."""
        return not self._ready and not any(each.playing for each in self._series.values())

    def __len__(self) -> int:
        """Return the number of series in which another pairing may begin."""
        return len(self._ready)

    def entries(self) -> list[EntryT]:
        """Return the bots that have pairings that may begin."""
        waiting = [self._series[stem] for stem in self._ready]
        return list(dict.fromkeys(bot for each in waiting for bot in (each.entry, each.baseline)))

    def upcoming(self, limit: int, of: Collection[EntryT] | None = None) -> list[Pairing[EntryT]]:
        """Return the next pairings, longest wait first; ``of`` selects entries."""
        found: list[Pairing[EntryT]] = []
        for stem in self._ready:
            series = self._series[stem]
            both = (series.entry, series.baseline)
            if of is None or any(entry in of for entry in both):
                number = series.begun + 1
                found.append(Pairing(f"{stem}-{number}", series.begun, self.format.orders(both)))
            if len(found) >= limit:
                break
        return found

    def take(
        self,
        room: Callable[[EntryT], int],
        freed: Iterable[EntryT] | None = None,
        *,
        limit: int,
    ) -> list[Pairing[EntryT]]:
        """Remove and return pairings that can begin, the longest wait first."""
        near = self._ready
        if freed is not None:
            own = {stem for bot in freed for stem in self._of.get(bot, ())}
            near = dict.fromkeys(stem for stem in self._ready if stem in own)
        left: dict[EntryT, int] = {}
        taken: list[Pairing[EntryT]] = []
        for stem in list(near):
            if len(taken) == limit:
                break
            series = self._series[stem]
            both = (series.entry, series.baseline)
            for bot in both:
                if bot not in left:
                    left[bot] = room(bot)
            if min(left[bot] for bot in both) < self.at_once:
                continue
            for bot in both:
                left[bot] -= self.at_once
            series.begun += 1
            series.playing = True
            del self._ready[stem]
            key, number = f"{stem}-{series.begun}", series.begun - 1
            self.begun[key] = both
            taken.append(Pairing(key, number, self.format.orders(both)))
        return taken

    def ended(self, outcome: PairingOutcome[EntryT]) -> None:
        """Add the score of a finished pairing."""
        series = self._series[outcome.key.rpartition("-")[0]]
        series.playing = False
        self.finished[outcome.key] = outcome
        series.take_in(outcome)
        self._look(series)

    def withdraw(self, entry: EntryT) -> None:
        """Begin no more pairings of an entry."""
        self._gone.add(entry)
        for stem in self._of.get(entry, ()):
            self._look(self._series[stem])

    @property
    def planned(self) -> int:
        """The largest number of matches of the whole competition."""
        pairs = 0
        for each in self._series.values():
            stays = each.entry not in self._gone and each.baseline not in self._gone
            pairs += each.begun + (each.left if stays else 0)
        return pairs * self.at_once

    # ----------------------------------------------------------------------------- looking

    def facts(self) -> Facts[EntryT]:
        """Return the facts, as formats need them."""
        return Facts(self.field, self.finished, self.begun)

    def table(self, order: Sequence[EntryT], *, every_lower: bool) -> list[TableLine[EntryT]]:
        """Return the entries by grade, then by their mean over all baselines.

        All baselines have the same weight in the mean.  An entry meets a baseline the longer, the
        closer its score is to the threshold.  A mean over pairings would therefore depend on which
        baselines it had to meet again.

        ``order`` has the graded baselines from the easiest to the hardest; ``every_lower`` is as in
        `grade_level`.  Baselines have no place.
        """
        needed = [self._thresholds.get(each) for each in order]
        levels: dict[EntryT, int] = {}
        rows: dict[bool, list[TableLine[EntryT]]] = {False: [], True: []}
        outcomes = standings(self.facts())
        for entry, own in outcomes.items():
            met: dict[EntryT, list[float]] = {}
            for outcome in own:
                for other in outcome.entries:
                    if other != entry:
                        met.setdefault(other, []).append(outcome.share(entry))
            means = {other: math.fsum(shares) / len(shares) for other, shares in met.items()}
            scores = [means.get(each) for each in order]
            levels[entry] = grade_level(scores, needed, every_lower=every_lower)
            entrant = self.field.by_entry[entry]
            points = math.fsum([outcome.share(entry) for outcome in own])
            mean = math.fsum(means.values()) / len(means) if means else 0.0
            rows[entrant.baseline].append(entrant.table_line(points, len(own), (mean,)))
        students = placed(
            rows[False], self.field, lambda row: (float(levels[row.entry]), *row.tie_breaks)
        )
        baselines = placed(rows[True], self.field, lambda row: row.tie_breaks)
        return [*students, *(replace(row, place=None) for row in baselines)]

    def decisions(self) -> dict[tuple[EntryT, EntryT], BandDecision]:
        """Return the decision of every entry against every graded baseline.

        An entry in band 1 has reached the grade, one in band 0 has not.
        """
        return {
            (each.entry, each.baseline): each.grading.decision
            for each in self._series.values()
            if each.grading is not None
        }


def _order(identifier: str) -> tuple[int, int]:
    """Return the run of an earlier pairing and its number in the series."""
    found = _KEY.search(identifier)
    return (int(found[4] or 1), int(found[3])) if found else (0, 0)
