"""What every format can do: answer from stored facts who may meet now.

The facts are a `Field`, the outcomes of finished pairings by their keys, and who plays in every
pairing that was ever begun, by its key, too (finished ones may be left out).  What has begun is
never taken back: should an outcome be corrected after the next round was drawn, the pairings of
that round which have begun stand, and only the others are drawn anew: among those who are left
whenever the format is asked, so who begins them begins them as they were named last.

To play a competition: begin what `ready` names; when a pairing is finished, and the format is
`adaptive`, ask again; when `done` says so, it is over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic

from plyhouse.server.competition.facts import (
    EntryT,
    Field,
    FormatError,
    Line,
    Outcome,
    Pairing,
    Round,
    Row,
    State,
)

__all__ = ["Format", "Plan", "checked", "played_line", "who_of"]


@dataclass(frozen=True, slots=True)
class Plan(Generic[EntryT]):
    """All that a format can say now."""

    rounds: list[Round[EntryT]]
    more: bool = False
    """Whether rounds will follow that cannot be drawn yet."""

    def lines(self) -> Iterable[Line[EntryT]]:
        """The lines of all rounds in order."""
        for each in self.rounds:
            yield from each.lines

    @property
    def settled(self) -> bool:
        """Whether nothing of the rounds in it is to come any more."""
        return all(line.state.settled for line in self.lines())


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """A way to hold a competition; its fields are its parameters."""

    name: ClassVar[str]
    adaptive: ClassVar[bool]
    """Whether outcomes change what is ready.  If not, all pairings are ready from the beginning,
    and only a changed field is a reason to ask again."""
    round_by_round: ClassVar[bool] = False
    """Whether outcomes change what is ready only when all that was ready is finished."""
    admits_late: ClassVar[bool]
    """Whether entries may join after a pairing has begun."""
    tie_breaks: ClassVar[tuple[str, ...]] = ()
    """What decides the table where points are equal, in this order."""

    reuses_by_key: ClassVar[bool] = False
    """Whether a pairing of an earlier run stands only for the one of the same key.

    So it must be where two entries may meet twice, and it matters who won which meeting."""
    decided_by: ClassVar[str] = "points"
    """What decides the places, in words."""

    seats: int = 2
    """Seats of the game."""
    mirrored: bool = True
    """Whether a pairing has a match for each rotation of the seats; otherwise it has one."""

    def __post_init__(self) -> None:
        if self.seats != 2:
            raise FormatError(
                f"a {self.name} competition pairs two seats, and the game has {self.seats}: "
                "take round_robin, in which all groups of so many meet"
            )

    @property
    def at_once(self) -> int:
        """Matches of a pairing."""
        return self.seats if self.mirrored else 1

    # ------------------------------------------------------------------------ to be asked

    def ready(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> Sequence[Pairing[EntryT]]:
        """The pairings that may begin now and have not, in the order in which they should."""
        return [
            Pairing(line.key, line.round, self.orders(line.players))
            for line in self.plan(field, finished, begun).lines()
            if line.state is State.READY
        ]

    def done(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> bool:
        """Whether everything is finished."""
        plan = self.plan(field, finished, begun)
        return not plan.more and plan.settled

    def rounds(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> list[Round[EntryT]]:
        """What is known of all rounds, byes included, for pages."""
        return self.plan(field, finished, begun).rounds

    def next_round(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> int:
        """The first round of which nothing has begun: who comes now is in since this one, and
        who leaves now is withdrawn from it.
        """
        lines = self.plan(field, finished, begun).lines()
        return max((line.round + 1 for line in lines if line.state.begun), default=0)

    @abstractmethod
    def plan(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> Plan[EntryT]:
        """All that can be said from the facts, which the other answers are taken from."""

    @abstractmethod
    def table(
        self,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]],
        begun: Mapping[str, Sequence[EntryT]],
    ) -> list[Row[EntryT]]:
        """The standings, best first."""

    @abstractmethod
    def count(self, entries: int, baselines: int = 0) -> int:
        """How many matches there are at most, ``baselines`` of the entries being such.

        Raises `FormatError` where the format cannot be held with so many.
        """

    # --------------------------------------------------------------------------- for formats

    def orders(self, entries: tuple[EntryT, ...]) -> tuple[tuple[EntryT, ...], ...]:
        """The seat orders of a pairing's matches, beginning with this one."""
        return tuple([entries[turn:] + entries[:turn] for turn in range(self.at_once)])

    def _at_least(self, entries: int, least: int) -> None:
        if entries < least:
            raise FormatError(
                f"a {self.name} competition has at least {least} entries, not {entries}"
            )


def checked(name: str, value: int, least: int) -> None:
    """Raise `FormatError` where a parameter is too small."""
    if value < least:
        raise FormatError(f"{name} must be {least} or more, not {value}")


def who_of(
    finished: Mapping[str, Outcome[EntryT]], begun: Mapping[str, Sequence[EntryT]]
) -> dict[str, tuple[EntryT, ...]]:
    """Who plays, or played, in each pairing that has begun."""
    who = {key: tuple(entries) for key, entries in begun.items()}
    who.update((key, outcome.entries) for key, outcome in finished.items())
    return who


def played_line(
    key: str,
    number: int,
    entries: tuple[EntryT, ...],
    finished: Mapping[str, Outcome[EntryT]],
    begun: Collection[str],
) -> Line[EntryT] | None:
    """The line of a pairing that has begun; None if it has not."""
    outcome = finished.get(key)
    if outcome is not None:
        state = State.VOID if outcome.void else State.FINISHED
        return Line(key, number, entries, state, outcome)
    return Line(key, number, entries, State.PLAYING) if key in begun else None
