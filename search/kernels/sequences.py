"""A game of imperfect information in sequence form, which the solvers work on.

A *sequence* is what one seat has done on a path of the tree; with perfect recall it is its last
action in its last information state, here a `Slot`.  A seat's behaviour is then a weight per slot:
its *reach*, the product of the seat's own probabilities up to it.  The expected returns are sums
over the tree's ends of the reaches of all seats there.  So a solver needs the ends and the
information states only, never the nodes between them.  Koller, Megiddo and von Stengel, "Fast
algorithms for finding randomized strategies in game trees", STOC 1994.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["End", "InformationSet", "SequenceForm", "Slot"]


@final
class Slot:
    """One action in one information state; or a seat's start, when it has done nothing yet."""

    __slots__ = (
        "chance",
        "ends",
        "gain",
        "index",
        "reach",
        "regret",
        "total",
        "trial",
        "trial_reach",
    )

    def __init__(self, index: int) -> None:
        # The most used fields come first, to share a cache line.
        self.reach: float = 1.0
        """Product of ``chance`` over the seat's actions up to and with this one."""
        self.trial_reach: float = 1.0
        """As ``reach``, of a policy that is being evaluated."""
        self.gain: float = 0.0
        """Counterfactual value: the return that follows, weighted by all but the seat."""
        self.chance: float = 1.0
        """Probability of the action in the current policy of a solver."""
        self.regret: float = 0.0
        self.total: float = 0.0
        """Weighted sum of ``reach`` over the iterations: the average policy."""
        self.ends: list[End] = []
        """Ends of the tree that follow without another action of the seat."""
        self.trial: float = 1.0
        """As ``chance``, of a policy that is being evaluated."""
        self.index: int = index


@final
class End:
    """Ends of the tree with the same slots, for one seat."""

    __slots__ = ("more", "other", "weight")

    def __init__(self, weight: float, other: Slot, more: list[Slot]) -> None:
        self.weight: float = weight
        """Sum of chance's probability times the seat's return."""
        self.other: Slot = other
        """Slot of the first of the other seats."""
        self.more: list[Slot] = more
        """Slots of those after it; empty with two seats."""


@final
class InformationSet:
    """One information state of a seat: its actions, and its previous sequence."""

    __slots__ = ("actions", "key", "parent", "seat", "slots", "state")

    def __init__(
        self,
        key: Any,
        seat: int,
        state: Any,
        actions: tuple[Any, ...],
        parent: Slot,
        slots: list[Slot],
    ) -> None:
        self.key = key
        self.seat: int = seat
        self.state = state
        """One of the states that the seat cannot tell apart here."""
        self.actions: tuple[Any, ...] = actions
        self.parent: Slot = parent
        self.slots: list[Slot] = slots


@final
class SequenceForm:
    """All information sets and ends; made by `plyhouse.search.kernels.unfold`."""

    def __init__(self, seats: int) -> None:
        self.seats: int = seats
        self.nodes: int = 0
        """Nodes of the tree it was made from."""
        self.ends: int = 0
        """Ends with different slots that are worth something to someone."""
        self.count: int = 0
        """Slots in all."""
        self.starts: list[Slot] = []
        self.sets: list[list[InformationSet]] = []
        """By seat, each information set after those that come before it in the tree."""
        for _ in range(seats):
            self.starts.append(self.new_slot())
            self.sets.append([])

    def new_slot(self) -> Slot:
        """Make the next slot."""
        slot: Slot = Slot(self.count)
        self.count += 1
        return slot

    def set_trial_uniform(self) -> None:
        """Make every action of an information set equally likely on trial."""
        for own in self.sets:
            for info in own:
                share: float = 1.0 / float(len(info.slots))
                for slot in info.slots:
                    slot.trial = share

    def set_trial_average(self) -> None:
        """Put a solver's average policy on trial; uniform where it never came."""
        for own in self.sets:
            for info in own:
                total: float = 0.0
                for slot in info.slots:
                    total += slot.total
                share: float = 1.0 / float(len(info.slots))
                for slot in info.slots:
                    slot.trial = slot.total / total if total > 0.0 else share

    def spread_trial(self) -> None:
        """Compute the reaches of the policy on trial."""
        for own in self.sets:
            for info in own:
                before: float = info.parent.trial_reach
                for slot in info.slots:
                    slot.trial_reach = before * slot.trial

    def end_gain(self, slot: Slot) -> float:
        """Value of the terminal states right after the slot, against the policy under test."""
        total: float = 0.0
        if self.seats == 2:
            for end in slot.ends:
                total += end.weight * end.other.trial_reach
            return total
        for end in slot.ends:
            product: float = end.weight * end.other.trial_reach
            for third in end.more:
                product *= third.trial_reach
            total += product
        return total

    def value(self, seat: int) -> float:
        """Expected return of a seat when all play the policy on trial (see `spread_trial`)."""
        total: float = self.end_gain(self.starts[seat])
        for info in self.sets[seat]:
            for slot in info.slots:
                reach: float = slot.trial_reach
                if reach > 0.0:
                    total += reach * self.end_gain(slot)
        return total

    def respond(self, seat: int, chosen: list[int] | None) -> float:
        """Best return of a seat against the others' policy on trial (see `spread_trial`).

        ``chosen`` receives, for each information set of the seat in order, the place of
        the best action, the first of equal ones.
        """
        start: Slot = self.starts[seat]
        start.gain = self.end_gain(start)
        own: list[InformationSet] = self.sets[seat]
        for info in own:
            for slot in info.slots:
                slot.gain = self.end_gain(slot)
        place: i64 = len(own) - 1
        if chosen is not None:
            for _ in own:
                chosen.append(0)
        while place >= 0:
            here: InformationSet = own[place]
            best: float = here.slots[0].gain
            pick: i64 = 0
            j: i64 = 1
            width: i64 = len(here.slots)
            while j < width:
                gain: float = here.slots[j].gain
                if gain > best:
                    best = gain
                    pick = j
                j += 1
            here.parent.gain += best
            if chosen is not None:
                chosen[place] = pick
            place -= 1
        return start.gain
