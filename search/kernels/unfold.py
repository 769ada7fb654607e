"""Walks the whole tree of a game once, and keeps its sequence form.

See `plyhouse.search.kernels.sequences`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.sequences import End, InformationSet, SequenceForm, Slot

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["UnfoldKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2


@final
class UnfoldKernel:
    """One walk; ``fault`` says why it had to be given up, or is empty."""

    def __init__(
        self,
        poll: Callable[[int], int],
        information_state: Callable[[Any, int], Any],
        seats: int,
        max_nodes: int,
        max_depth: int,
    ) -> None:
        self.poll = poll
        self.information_state = information_state
        self.form: SequenceForm = SequenceForm(seats)
        self.max_nodes: i64 = max_nodes
        self.max_depth: i64 = max_depth
        self.nodes: i64 = 0
        self.due: i64 = 0
        self.fault: str = ""
        """``nodes``, ``depth``, or a sentence; empty while all is well."""
        self.known: dict[Any, InformationSet] = {}
        self.here: list[Slot] = list(self.form.starts)
        self.ends: dict[Any, list[float]] = {}
        self.slots: list[Slot] = list(self.form.starts)

    def build(self, state: Any) -> SequenceForm:
        """Walk the tree below a state; check ``fault`` before using what is returned."""
        root: NodeState = state
        self.walk(root, 1.0, 0)
        self.form.nodes = self.nodes
        if not self.failed():
            self.settle()
        return self.form

    def walk(self, state: NodeState, chance: float, depth: i64) -> None:
        """Visit a node; ``chance`` is the probability of the dealt cards and rolled dice."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        if self.nodes > self.max_nodes:
            self.fault = "nodes"
            return
        if depth > self.max_depth:
            self.fault = "depth"
            return
        mover: i64 = state.to_move
        if mover == TERMINAL:
            self.end(state.returns(), chance)
            return
        if mover == CHANCE:
            for outcome, probability in state.chance_outcomes():
                weight: float = probability
                self.walk(state.after(outcome), chance * weight, depth + 1)
                if self.failed():
                    return
            return
        actions: tuple[Any, ...] = tuple(state.actions())
        before: Slot = self.here[mover]
        info: InformationSet | None = self.enter(state, mover, before, actions)
        if info is None:
            return
        place: i64 = 0
        for action in actions:
            self.here[mover] = info.slots[place]
            self.walk(state.after(action), chance, depth + 1)
            if self.failed():
                return
            place += 1  # noqa: SIM113 - slower when compiled
        self.here[mover] = before

    def failed(self) -> bool:
        """Return whether the walk has to be given up."""
        return self.fault != ""

    def enter(
        self, state: Any, seat: int, before: Slot, actions: tuple[Any, ...]
    ) -> InformationSet | None:
        """Find the information set of the mover, or make it; None when it cannot be one."""
        key: Any = self.information_state(state, seat)
        found: InformationSet | None = self.known.get(key)
        if found is None:
            slots: list[Slot] = []
            for _ in actions:
                slot: Slot = self.form.new_slot()
                slots.append(slot)
                self.slots.append(slot)
            found = InformationSet(key, seat, state, actions, before, slots)
            self.known[key] = found
            self.form.sets[seat].append(found)
            return found
        if found.seat != seat:
            self.fault = f"seats {found.seat} and {seat} share the information state {key!r}"
        elif found.actions != actions:
            self.fault = f"seat {seat} has different actions in one information state, {key!r}"
        elif found.parent is not before:
            self.fault = (
                f"seat {seat} forgets what it has done: its information state {key!r} follows "
                "upon different actions of its own"
            )
        else:
            return found
        return None

    def end(self, returns: tuple[float, ...], chance: float) -> None:
        """Note an end of the tree; ends with the same slots are added up."""
        indices: list[int] = []
        for slot in self.here:
            indices.append(slot.index)  # noqa: PERF401 - no closure when compiled
        key: tuple[int, ...] = tuple(indices)
        sums: list[float] | None = self.ends.get(key)
        if sums is None:
            sums = []
            for _ in returns:
                sums.append(0.0)
            self.ends[key] = sums
        seat: i64 = 0
        for seat in range(self.form.seats):
            sums[seat] += chance * float(returns[seat])

    def settle(self) -> None:
        """Hand the ends to the slots."""
        ends: i64 = 0
        found: list[list[tuple[float, list[Slot]]]] = []
        for _ in self.slots:
            found.append([])  # noqa: PERF401 - no closure when compiled
        work: i64 = self.nodes
        for key, sums in self.ends.items():
            work += 1
            if work >= self.due:
                self.due = self.poll(work)
            slots: list[Slot] = []
            for index in key:
                slots.append(self.slots[index])  # noqa: PERF401 - no closure when compiled
            counted: bool = False
            seat: i64 = 0
            for seat in range(self.form.seats):
                weight: float = sums[seat]
                if weight != 0.0:
                    counted = True
                    found[key[seat]].append((weight, slots[:seat] + slots[seat + 1 :]))
            if counted:
                ends += 1
        self.ends = {}
        # Made slot by slot, they lie side by side in memory: that is the order they are read.
        place: i64 = 0
        nobody: list[Slot] = []
        for here in found:
            work += 1
            if work >= self.due:
                self.due = self.poll(work)
            for weight, others in here:
                more: list[Slot] = others[1:] if len(others) > 1 else nobody
                self.slots[place].ends.append(End(weight, others[0], more))
            place += 1  # noqa: SIM113 - slower when compiled
        self.form.ends = ends
        self.known = {}
