"""A competition played by nothing but a format's answers, with the laws held at every step."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from plyhouse.server.competition_rules import swiss
from plyhouse.server.competition_rules.formats import (
    Facts,
    Field,
    FieldEntry,
    Format,
    LineState,
    Pairing,
    PairingOutcome,
)

__all__ = ["Play", "played", "scores_by_chance", "scores_by_strength"]

Scores = Callable[[Pairing[int], Random], tuple[float, ...]]


def scores_by_chance(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
    """Each match is won by somebody or drawn."""
    totals = dict.fromkeys(pairing.entries, 0.0)
    for match in pairing.matches:
        best = random.choice([*match, None])
        for entry in match:
            totals[entry] += 0.5 if best is None else float(entry == best)
    return tuple(totals.values())


def scores_by_strength(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
    """The entry of the least number wins."""
    best = min(pairing.entries)
    return tuple([len(pairing.matches) * float(entry == best) for entry in pairing.entries])


@dataclass
class Play:
    """The facts of a competition, as a database would hold them."""

    format: Format
    field: Field[int]
    random: Random = dataclasses.field(default_factory=lambda: Random(1))
    scores: Scores = scores_by_chance
    finished: dict[str, PairingOutcome[int]] = dataclasses.field(default_factory=dict)
    begun: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    pairings: dict[str, Pairing[int]] = dataclasses.field(default_factory=dict)
    """All that ever began."""
    void: float = 0.0
    """How likely a pairing is void."""
    _before: dict[str, Pairing[int]] = dataclasses.field(default_factory=dict)

    def facts(self) -> Facts[int]:
        """The facts, as the format needs them."""
        return Facts(self.field, self.finished, self.begun)

    def ready(self) -> list[Pairing[int]]:
        """The pairings that may begin, which are the same after a restart."""
        found = self.format.ready(self.format.plan(self.facts()))
        swiss._drawn.cache_clear()
        # All that a database says again: other objects, another order, finished ones left out.
        known = Facts(
            Field(self.field.entrants),
            dict(reversed(self.finished.items())),
            {key: who for key, who in self.begun.items() if key not in self.finished},
        )
        again = self.format.ready(self.format.plan(known))
        assert found == again, "a restart changes what is ready"
        keys = [pairing.key for pairing in found]
        assert len(keys) == len(set(keys))
        assert not set(keys) & set(self.begun)
        named = {pairing.key: pairing for pairing in found}
        for key, pairing in self._before.items():
            assert key in self.begun or named.get(key) == pairing, f"{key} has changed"
        self._before = named
        for pairing in found:
            assert len(set(pairing.entries)) == self.format.seats, "somebody meets itself"
            turns = {tuple(sorted(match)) for match in pairing.matches}
            assert len(turns) == 1
            assert len(pairing.matches) == self.format.at_once == len(set(pairing.matches))
            assert not any(self.field.by_entry[e].withdrawn == 0 for e in pairing.entries)
        self.hold_the_laws_of_rounds()
        return found

    def hold_the_laws_of_rounds(self) -> None:
        baselines = {each.entry for each in self.field.entrants if each.baseline}
        for each in self.format.plan(self.facts()).rounds:
            meetings: dict[str, set[int]] = {}
            for line in each.lines:
                meetings.setdefault(line.key.rpartition("-g")[0] or line.key, set(line.players))
            busy = Counter(entry for meeting in meetings.values() for entry in meeting)
            assert all(n == 1 or entry in baselines for entry, n in busy.items()), each

    def begin(self, pairing: Pairing[int]) -> None:
        assert pairing.key not in self.begun
        self.begun[pairing.key] = pairing.entries
        self.pairings[pairing.key] = pairing

    def finish(self, key: str) -> None:
        pairing = self.pairings[key]
        scores = self.scores(pairing, self.random)
        void = self.random.random() < self.void
        self.finished[key] = PairingOutcome(
            key, pairing.entries, scores, len(pairing.matches), void
        )

    def step(self) -> bool:
        """Begin and finish some; False if there is nothing to do any more."""
        ready = self.ready()
        playing = [key for key in self.begun if key not in self.finished]
        if not ready and not playing:
            assert self.done(), self.format.plan(self.facts()).rounds
            return False
        assert not self.done()
        for pairing in ready[: self.random.randint(0 if playing else 1, len(ready))]:
            self.begin(pairing)
        playing = [key for key in self.begun if key not in self.finished]
        self.random.shuffle(playing)
        for key in playing[: self.random.randint(0, len(playing))]:
            self.finish(key)
        return True

    def done(self) -> bool:
        return self.format.plan(self.facts()).done

    def next_round(self) -> int:
        return self.format.plan(self.facts()).next_round

    def withdraw(self, entry: int) -> None:
        number = self.next_round()
        self._before = {}
        self.field = Field(
            tuple(
                [
                    replace(each, withdrawn=number)
                    if each.entry == entry and each.withdrawn is None
                    else each
                    for each in self.field.entrants
                ]
            )
        )

    def enter(self, entry: int) -> None:
        self._before = {}
        number = self.next_round()
        self.field = Field((*self.field.entrants, FieldEntry(entry, since=number)))

    def to_the_end(self, steps: int = 5_000) -> None:
        for _ in range(steps):
            if not self.step():
                return
        raise AssertionError("it does not come to an end")

    @property
    def matches(self) -> int:
        return sum(len(pairing.matches) for pairing in self.pairings.values())

    def state_of(self, entry: int) -> list[LineState]:
        """The states of an entry's lines."""
        rounds = self.format.plan(self.facts()).rounds
        return [line.state for each in rounds for line in each.lines if entry in line.players]

    def places(self) -> dict[int, int | None]:
        table = self.format.table(self.facts())
        return {row.entry: row.place for row in table}


def played(form: Format, entries: int, *, seed: int = 1, scores: Scores = scores_by_chance) -> Play:
    """A competition of so many entries, seeded by their numbers, played to the end."""
    ratings = {entry: -float(entry) for entry in range(entries)}
    play = Play(form, Field.of(range(entries), ratings), Random(seed), scores)
    play.to_the_end()
    return play
