"""The interface of formats: entries and outcomes in, pairings and standings out.

A format never takes back a pairing that has begun.  If an outcome is corrected after the next round
was drawn, begun pairings of that round stay.  Each answer draws the others again among the entries
left, so begin pairings as the last answer named them.

To play a competition, begin the pairings of `Format.ready`.  When a pairing is finished and the
format is `adaptive`, ask again.  When `Plan.done` is True, the competition is over.

Numbers of rounds count from 0, as stored.  Keys and names are for people and count from 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Final, Generic, TypeVar

EntryT = TypeVar("EntryT", bound=Hashable)


class FormatError(ValueError):
    """A format does not allow the request; the message says what is possible."""


class LineState(StrEnum):
    """The state of a `RoundLine`."""

    WAITING = "waiting"
    """It cannot begin yet: its entries are unknown, or it may not be needed."""
    READY = "ready"
    PLAYING = "playing"
    FINISHED = "finished"
    VOID = "void"
    """It was played and does not count."""
    BYE = "bye"
    """The entry has no opponent."""
    WALKOVER = "walkover"
    """The opponent left before it began."""
    DROPPED = "dropped"
    """It will not be played, and no entry gains from that."""

    @property
    def settled(self) -> bool:
        """True if the state is final."""
        return self not in (LineState.WAITING, LineState.READY, LineState.PLAYING)

    @property
    def begun(self) -> bool:
        """True if it is being played or was played."""
        return self in (LineState.PLAYING, LineState.FINISHED, LineState.VOID)


@dataclass(frozen=True, slots=True)
class FieldEntry(Generic[EntryT]):
    """One entry of a competition."""

    entry: EntryT
    rank: int | None = None
    """The seed, 1 for the strongest.  Entries without one follow in order of entering."""
    since: int = 0
    """The first round that it plays in; 0 if it was entered before the competition began."""
    withdrawn: int | None = None
    """The first round that it no longer plays in; None while it stays.

    For an entry that leaves (or comes) now this is `Plan.next_round`.  Its unstarted pairings of
    earlier rounds are lost to the opponent or dropped, as the format decides."""
    baseline: bool = False
    """A staff bot that the others are measured against."""

    def plays_in(self, number: int) -> bool:
        """Return whether it takes part in round ``number``."""
        return self.since <= number and (self.withdrawn is None or number < self.withdrawn)

    def table_line(
        self, points: float, played: int, tie_breaks: tuple[float, ...]
    ) -> TableLine[EntryT]:
        """Return its line of a table, without a place."""
        gone = self.withdrawn is not None
        return TableLine(self.entry, None, points, played, tie_breaks, gone, self.baseline)

    def left_in(self, number: int) -> bool:
        """Return whether it left before the end of round ``number``."""
        return self.withdrawn is not None and self.withdrawn <= number + 1


@dataclass(frozen=True)
class Field(Generic[EntryT]):
    """The entries of a competition in order of entering, which never changes.

    An entry that leaves stays in it as withdrawn; a late entry is appended.

    >>> Field.of(["ada", "bob"], ratings={"bob": 1700.0}).ranked
    ('bob', 'ada')
    """

    entrants: tuple[FieldEntry[EntryT], ...]

    def __post_init__(self) -> None:
        seen: set[EntryT] = set()
        since = 0
        for entrant in self.entrants:
            if entrant.entry in seen:
                raise FormatError(f"{entrant.entry!r} is entered twice")
            if entrant.since < since:
                raise FormatError(
                    f"{entrant.entry!r} is in since round {entrant.since}, but listed after an "
                    f"entry since round {since}: list entries in order of entering"
                )
            seen.add(entrant.entry)
            since = entrant.since

    @classmethod
    def of(
        cls, entries: Iterable[EntryT], ratings: Mapping[EntryT, float] | None = None
    ) -> Field[EntryT]:
        """Make a field of entries that play from the start, seeded by rating if they have one."""
        listed = tuple(entries)
        known = ratings or {}
        best_first = sorted((each for each in listed if each in known), key=lambda e: -known[e])
        ranks = {entry: number for number, entry in enumerate(best_first, start=1)}
        return cls(tuple([FieldEntry(entry, ranks.get(entry)) for entry in listed]))

    def __len__(self) -> int:
        return len(self.entrants)

    @cached_property
    def by_entry(self) -> dict[EntryT, FieldEntry[EntryT]]:
        """The entrants by their entries."""
        return {entrant.entry: entrant for entrant in self.entrants}

    @cached_property
    def ranked(self) -> tuple[EntryT, ...]:
        """All entries by seed, strongest first."""
        order = sorted(
            enumerate(self.entrants),
            key=lambda each: (each[1].rank is None, each[1].rank or 0, each[0]),
        )
        return tuple([entrant.entry for _, entrant in order])

    @cached_property
    def order(self) -> dict[EntryT, int]:
        """The place of each entry in `ranked`, from 0."""
        return {entry: number for number, entry in enumerate(self.ranked)}


@dataclass(frozen=True, slots=True)
class PairingOutcome(Generic[EntryT]):
    """The scores of a finished pairing, and who forfeited."""

    key: str
    entries: tuple[EntryT, ...]
    scores: tuple[float, ...]
    """The score of each entry, summed over the matches; every match gives a seat 0 to 1."""
    matches: int = 1
    """The number of matches that count."""
    void: bool = False
    """True if no match of it counts."""
    forfeited: frozenset[EntryT] = field(default_factory=frozenset)
    """Entries that forfeited matches; in a void pairing, the absent ones."""

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.entries):
            raise FormatError(
                f"{self.key}: {len(self.entries)} entries have {len(self.scores)} scores"
            )
        if not self.void and self.matches < 1:
            raise FormatError(f"{self.key}: an outcome without matches must be void")

    def share(self, entry: EntryT) -> float:
        """Return the mean score of an entry's matches, from 0 to 1."""
        return self.scores[self.entries.index(entry)] / self.matches


@dataclass(frozen=True, slots=True)
class Pairing(Generic[EntryT]):
    """Matches between the same entries, ready to begin."""

    key: str
    """A stable name, unique within the competition, of ``a-z``, ``0-9`` and ``-``."""
    round: int
    matches: tuple[tuple[EntryT, ...], ...]
    """The entries in seat order, once per match."""

    @property
    def entries(self) -> tuple[EntryT, ...]:
        """The opponents, in the seat order of the first match."""
        return self.matches[0]


@dataclass(frozen=True, slots=True)
class RoundLine(Generic[EntryT]):
    """One line of a round: a pairing, or the reason why there is none."""

    key: str
    round: int
    entries: tuple[EntryT | None, ...]
    """The opponents, in the seat order of the first match.  None means not known yet, or no
    opponent, as the state says."""
    state: LineState
    outcome: PairingOutcome[EntryT] | None = None
    winner: EntryT | None = None
    """The entry that advances, in formats with elimination."""

    @property
    def players(self) -> tuple[EntryT, ...]:
        """The entries that are known."""
        return tuple([entry for entry in self.entries if entry is not None])


@dataclass(frozen=True, slots=True)
class Round(Generic[EntryT]):
    """One round with its lines, as shown on a page."""

    number: int
    name: str
    lines: tuple[RoundLine[EntryT], ...]


@dataclass(frozen=True, slots=True)
class TableLine(Generic[EntryT]):
    """One line of a table."""

    entry: EntryT
    place: int | None
    """The place from 1; equal entries share it.  None for baselines where they are not ranked."""
    points: float
    """The sum of the points of all pairings: mean scores from 0 to 1, unless the format says
    otherwise."""
    played: int
    """The number of pairings that count."""
    tie_breaks: tuple[float, ...]
    """Values in the order of `Format.tie_breaks`; higher is better."""
    withdrawn: bool = False
    baseline: bool = False


@dataclass(frozen=True)
class Facts(Generic[EntryT]):
    """The facts from which a format derives its pairings."""

    field: Field[EntryT]
    finished: Mapping[str, PairingOutcome[EntryT]]
    """The outcomes of finished pairings, by key."""
    begun: Mapping[str, Sequence[EntryT]]
    """The entries of pairings that have begun, by key; finished ones may be left out."""

    @cached_property
    def who(self) -> dict[str, tuple[EntryT, ...]]:
        """The entries of each pairing that has begun, by key."""
        who = {key: tuple(entries) for key, entries in self.begun.items()}
        who.update((key, outcome.entries) for key, outcome in self.finished.items())
        return who

    @property
    def starters(self) -> list[EntryT]:
        """The entries that play in the first round."""
        return [each for each in self.field.ranked if self.field.by_entry[each].plays_in(0)]

    def played_line(
        self, key: str, number: int, entries: tuple[EntryT, ...]
    ) -> RoundLine[EntryT] | None:
        """Return the line of a pairing that has begun; None if it has not."""
        outcome = self.finished.get(key)
        if outcome is not None:
            state = LineState.VOID if outcome.void else LineState.FINISHED
            return RoundLine(key, number, entries, state, outcome)
        if key in self.begun:
            return RoundLine(key, number, entries, LineState.PLAYING)
        return None

    def planned_line(self, key: str, number: int, entries: tuple[EntryT, ...]) -> RoundLine[EntryT]:
        """Return the line of a pairing that is dropped if an entry leaves before it begins."""
        played = self.played_line(key, number, entries)
        if played is not None:
            return played
        gone = any(self.field.by_entry[each].withdrawn is not None for each in entries)
        state = LineState.DROPPED if gone else LineState.READY
        return RoundLine(key, number, entries, state)


MANY_SEATS: Final = "tables, a gauntlet or a round_robin"
"""The formats for games of more than two seats, as errors name them."""


@dataclass(frozen=True, slots=True)
class Plan(Generic[EntryT]):
    """A format's complete answer to the facts."""

    rounds: list[Round[EntryT]]
    more: bool = False
    """True if rounds will follow that cannot be drawn yet."""

    def lines(self) -> Iterable[RoundLine[EntryT]]:
        """Yield the lines of all rounds in order."""
        for each in self.rounds:
            yield from each.lines

    @property
    def settled(self) -> bool:
        """True if nothing in its rounds is still to come."""
        return all(line.state.settled for line in self.lines())

    @property
    def done(self) -> bool:
        """True if everything is finished."""
        return not self.more and self.settled

    @property
    def next_round(self) -> int:
        """The first round of which nothing has begun.

        Entries that come now are in from this round; entries that leave now are withdrawn from it.
        """
        return max((line.round + 1 for line in self.lines() if line.state.begun), default=0)


def points_then(tie_breaks: Sequence[str]) -> str:
    """Return the rule that decides places by points and these tie-breaks, in words.

    >>> points_then(["wins", "draws", "lots"])
    'points, then wins, draws and lots'
    """
    return f"points, then {', '.join(tie_breaks[:-1])} and {tie_breaks[-1]}"


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """A competition format; its fields are its parameters."""

    name: ClassVar[str]
    adaptive: ClassVar[bool]
    """True if outcomes change which pairings are ready.  If False, all are ready from the
    beginning, and only a changed field is a reason to ask again."""
    round_by_round: ClassVar[bool] = False
    """True if outcomes change which pairings are ready only once all ready ones are finished."""
    tie_breaks: ClassVar[tuple[str, ...]] = ()
    """The tie-breaks of the table, in this order, where points are equal."""

    many_seats: ClassVar[bool] = False
    """True if it pairs games of any number of seats; otherwise of two."""
    by_score: ClassVar[bool] = False
    """True if scores of different entries can be compared: all meet the same opponents, or
    opponents drawn without regard to results."""
    repeats: ClassVar[bool] = False
    """True if the schedule is known from the beginning and can be played several times."""
    reuses_by_key: ClassVar[bool] = False
    """True if a pairing of an earlier run can only replace the one with the same key.

    This is needed where two entries may meet twice and it matters who won which meeting."""
    rule_of_places: ClassVar[str] = "points"
    """The rule that decides the places, in words."""
    column: ClassVar[str] = "points"
    """The column of the standings that decides the places."""

    seats: int = 2
    """Seats of the game."""
    mirrored: bool = True
    """True if a pairing has a match for each rotation of the seats; otherwise it has one."""

    def __post_init__(self) -> None:
        if self.seats != 2 and not self.many_seats:
            raise FormatError(
                f"a {self.name} competition pairs two seats, and the game has {self.seats}: "
                f"use {MANY_SEATS}"
            )

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.seats if self.mirrored else 1

    # ------------------------------------------------------------------------ to be asked

    def ready(self, plan: Plan[EntryT]) -> list[Pairing[EntryT]]:
        """Return the pairings of an answer that may begin, in the order to begin them."""
        return [
            Pairing(line.key, line.round, self.orders(line.players))
            for line in plan.lines()
            if line.state is LineState.READY
        ]

    @abstractmethod
    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return the complete answer to the facts."""

    @abstractmethod
    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the standings, best first."""

    @abstractmethod
    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the largest number of matches; ``entries`` counts baselines too.

        Raises `FormatError` if the format is impossible with these numbers.
        """

    # --------------------------------------------------------------------------- for formats

    def orders(self, entries: tuple[EntryT, ...]) -> tuple[tuple[EntryT, ...], ...]:
        """Return the seat orders of a pairing's matches, beginning with this one."""
        return tuple([entries[turn:] + entries[:turn] for turn in range(self.at_once)])

    def _at_least(self, entries: int, least: int) -> None:
        if entries < least:
            raise FormatError(
                f"a {self.name} competition has at least {least} entries, not {entries}"
            )


def checked(name: str, value: int, least: int) -> None:
    """Raise `FormatError` if a parameter is too small."""
    if value < least:
        raise FormatError(f"{name} must be {least} or more, not {value}")
