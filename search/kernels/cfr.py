"""Counterfactual regret minimisation on a sequence form: CFR, CFR+ and discounted CFR.

They differ in three factors per iteration, which the caller gives: what positive and
negative regrets are multiplied by, and how much the iteration counts in the average.

For one seat: its counterfactual gains come from the ends of the tree, weighted by the reaches of
the others.  They go up its own information sets, last first, where regrets are updated and matched.
This visits no node twice and gives exactly what the recursion over the tree of Zinkevich and
others (2007) does, apart from rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from plyhouse.search.kernels.sequences import End, InformationSet, SequenceForm, Slot

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["CfrKernel"]


@final
class CfrKernel:
    """The iterations on one sequence form, whose slots hold regrets and sums."""

    def __init__(self, form: SequenceForm, alternating: bool) -> None:
        self.form: SequenceForm = form
        self.seats: i64 = form.seats
        self.alternating: bool = alternating
        self.iterations: i64 = 0
        """Iterations completed."""
        self.turn: i64 = 0
        """The next seat: an iteration that was stopped halfway goes on from here."""
        self.nodes: i64 = 0
        """Ends of the tree looked at."""
        self.due: i64 = 0
        for own in form.sets:
            for info in own:
                share: float = 1.0 / float(len(info.slots))
                for slot in info.slots:
                    slot.chance = share
            self.spread(own, 0.0)

    def run(
        self,
        poll: Callable[[int], int],
        positive: list[float],
        negative: list[float],
        weight: list[float],
    ) -> None:
        """Do as many iterations as there are factors.

        ``poll`` may raise at any time: what was done stays done, and nothing is done twice
        when the same iteration is asked for again.
        """
        self.due = self.nodes
        round_: i64 = 0
        for round_ in range(len(weight)):
            grow: float = positive[round_]
            shrink: float = negative[round_]
            share: float = weight[round_]
            while self.turn < self.seats:
                seat: i64 = self.turn
                self.gather(seat, poll)
                self.match(seat, grow, shrink)
                if self.alternating:
                    self.spread(self.form.sets[seat], share)
                self.turn += 1
            if not self.alternating:
                for own in self.form.sets:
                    self.spread(own, share)
            self.turn = 0
            self.iterations += 1

    def gather(self, seat: i64, poll: Callable[[int], int]) -> None:
        """Set the gain of every slot of the seat to what the ends right after it are worth."""
        two: bool = self.seats == 2
        nodes: i64 = self.nodes
        for info in self.form.sets[seat]:
            if nodes >= self.due:
                self.nodes = nodes
                self.due = poll(nodes)
            for slot in info.slots:
                total: float = 0.0
                ends: list[End] = slot.ends
                nodes += len(ends)
                if two:
                    for end in ends:
                        total += end.weight * end.other.reach
                else:
                    for end in ends:
                        product: float = end.weight * end.other.reach
                        for third in end.more:
                            product *= third.reach
                        total += product
                slot.gain = total
        self.nodes = nodes

    def match(self, seat: i64, grow: float, shrink: float) -> None:
        """Bring the gains up the information sets, update regrets, and match them.

        Regret matching: each action in proportion to its positive regret (Hart and
        Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", 2000).
        """
        own: list[InformationSet] = self.form.sets[seat]
        place: i64 = len(own) - 1
        while place >= 0:
            info: InformationSet = own[place]
            slots: list[Slot] = info.slots
            value: float = 0.0
            for slot in slots:
                value += slot.chance * slot.gain
            total: float = 0.0
            for slot in slots:
                regret: float = slot.regret + (slot.gain - value)
                if regret > 0.0:
                    regret *= grow
                    total += regret
                else:
                    regret *= shrink
                slot.regret = regret
            if total > 0.0:
                for slot in slots:
                    slot.chance = slot.regret / total if slot.regret > 0.0 else 0.0
            else:
                share: float = 1.0 / float(len(slots))
                for slot in slots:
                    slot.chance = share
            info.parent.gain += value
            place -= 1

    def spread(self, own: list[InformationSet], weight: float) -> None:
        """Count the policy that was played in the average; compute the reaches of the next."""
        for info in own:
            before: float = info.parent.reach
            for slot in info.slots:
                slot.total += weight * slot.reach
                slot.reach = before * slot.chance
