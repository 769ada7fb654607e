"""Nim: take any number of objects from one heap; the last object decides.

The seat that takes the last object wins; in misere play it loses.  The heaps are a parameter, as
numbers with commas: ``nim(heaps="3,4,5")``.  C. L. Bouton (1901) solved the game: the mover loses
exactly when the binary sum without carries of all heaps is 0.  Misere play has one exception: if no
heap has more than one object, the mover loses when that sum is 1.

The first player begins.  Actions are written ``heap:count``: ``2:3`` takes three from the second
heap.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.boards import taking_status
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.native import NativeState
from plyhouse.games.scene import Cell, Grid, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["Nim", "NimObservation", "NimState"]

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)

_MOST: Final = 30
"""Objects in a heap at most."""
_STRIDE: Final = 32
"""An action is ``heap * 32 + count``, with heaps from 0."""
_MOST_HEAPS: Final = 10


@final
@mypyc_attr(free_list_len=1)
class NimState(NativeState):
    """The heaps and the seat that took last."""

    __slots__ = ("heaps", "last", "misere")

    heaps: tuple[int, ...]
    last: int
    misere: bool

    def __init__(
        self,
        to_move: int = 0,
        heaps: tuple[int, ...] = (3, 4, 5),
        last: int = 1,
        misere: bool = False,
    ) -> None:
        self.to_move = to_move
        self.heaps = heaps
        self.last = last
        self.misere = misere

    def __reduce__(self) -> tuple[Any, ...]:
        return NimState, (self.to_move, self.heaps, self.last, self.misere)

    def actions(self) -> tuple[Any, ...]:
        """From each heap in turn, one object up to all."""
        found: list[int] = []
        if self.to_move >= 0:
            for heap in range(len(self.heaps)):
                for count in range(1, self.heaps[heap] + 1):
                    found.append(heap * _STRIDE + count)  # noqa: PERF401 - faster compiled
        return tuple(found)

    def after(self, action: Any) -> NimState:
        """Return the state after objects are taken from one heap."""
        code: int = action
        heaps: list[int] = list(self.heaps)
        heap: int = code // _STRIDE
        heaps[heap] = heaps[heap] - code % _STRIDE
        following: int = TERMINAL
        for left in heaps:
            if left != 0:
                following = 1 - self.to_move
        return NimState(following, tuple(heaps), self.to_move, self.misere)

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser."""
        return _WON if (self.last == 0) != self.misere else _LOST

    def key(self) -> tuple[int, int, tuple[int, ...]]:
        """Return the heaps and whose turn it is, or was last."""
        return (self.to_move, self.last, self.heaps)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        heaps: list[int] = list(self.heaps)
        last: int = self.last
        left: int = 0
        for size in heaps:
            left += size
        while left > 0:
            drawn: int = int(rng.random() * float(left))
            heap: int = 0
            while drawn >= heaps[heap]:
                drawn -= heaps[heap]
                heap += 1
            heaps[heap] = heaps[heap] - drawn - 1
            left -= drawn + 1
            last = 1 - last
        return _WON if (last == 0) != self.misere else _LOST


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class NimObservation(Observation):
    """Everything: the game has perfect information."""

    heaps: tuple[int, ...]
    """Objects left in each heap, heap 1 first; an empty heap stays as 0."""
    last: int
    """The seat that took last; seat 1 before the first action."""
    misere: bool
    """True when taking the last object loses."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Nim(Game[NimState, int, NimObservation]):
    """Nim with any heaps, normal or misere.

    >>> nim = Nim(heaps="3,4,5")
    >>> state = nim.initial_state()
    >>> nim.describe(state.after(nim.parse(state, "2:4")))
    'heaps 3,0,5, the last one wins, the second player to move'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="nim",
        title="Nim",
        summary="Take from one heap at a time; the last object decides.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=_MOST_HEAPS * _MOST,
        parameters=(
            Parameter("heaps", "3,4,5", "up to 10 heaps of 1 to 30 objects, with commas"),
            Parameter("misere", False, "whether taking the last object loses"),
        ),
        seat_names=("first", "second"),
    )
    observation_type: ClassVar[type[Observation]] = NimObservation
    action_pattern: ClassVar[str] = "[0-9]+:[0-9]+"
    action_notation: str = "a heap and how many to take from it, like 2:3"

    def check_parameters(self) -> None:
        """Read the heaps."""
        text = self.text_parameter("heaps")
        words = [word.strip() for word in text.split(",")]
        for word in words:
            if not re.fullmatch(r"0*[1-9][0-9]?", word) or int(word) > _MOST:
                expected = f"every heap must be a number from 1 to {_MOST}, and {word!r} is not"
                raise InvalidParameter(self.info.name, "heaps", text, expected)
        if len(words) > _MOST_HEAPS:
            expected = f"there can be {_MOST_HEAPS} heaps at most, not {len(words)}"
            raise InvalidParameter(self.info.name, "heaps", text, expected)
        self.heaps = tuple([int(word) for word in words])
        self.misere = self.parameters["misere"] is True

    def initial_state(self) -> NimState:
        """Return all heaps, seat 0 to move."""
        return NimState(0, self.heaps, 1, self.misere)

    def format(self, state: NimState, action: int) -> str:
        """Heap from 1 and count, like ``2:3``."""
        return f"{action // _STRIDE + 1}:{action % _STRIDE}"

    def display(self, state: NimState, action: int) -> str:
        """Return how many are taken, and where."""
        return f"{action % _STRIDE} from heap {action // _STRIDE + 1}"

    def observe(self, state: NimState, seat: int | None) -> NimObservation:
        """Return the heaps and the rule for the last object."""
        return NimObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            heaps=state.heaps,
            last=state.last,
            misere=state.misere,
        )

    def sample_state(self, observation: NimObservation, rng: random.Random) -> NimState:
        """Return the position that was observed."""
        return NimState(
            observation.to_move, observation.heaps, observation.last, observation.misere
        )

    def scene(self, observation: NimObservation) -> Scene:
        """Return a row for each heap: choosing an object takes it and all to its right."""
        width = max(self.heaps)
        rows: list[tuple[Cell, ...]] = []
        for heap, left in enumerate(observation.heaps):
            cells: list[Cell] = []
            for place in range(width):
                if place >= left:
                    taken = place < self.heaps[heap]
                    label = f"heap {heap + 1}, taken" if taken else ""
                    shape = "match" if taken else ""
                    cells.append(Cell(text=" ", shape=shape, label=label, faint=taken))
                    continue
                name = f"{heap + 1}:{left - place}"
                legal = name in observation.legal
                label = f"take {left - place} from heap {heap + 1}" if legal else "an object"
                cells.append(
                    Cell(text="o", shape="match", action=name if legal else None, label=label)
                )
            rows.append(tuple(cells))
        labels = tuple([str(heap + 1) for heap in range(len(observation.heaps))])
        grid = Grid(tuple(rows), labels, (), "Heaps", "heaps", "felt")
        rule = Text(f"Taking the last one {'loses' if observation.misere else 'wins'}.")
        status = taking_status(self, observation.last, observation.misere, observation.to_move)
        return Scene((grid, rule), status, observation.seat_to_move)

    def describe(self, state: NimState) -> str:
        """Return one line: the heaps and whose turn it is."""
        heaps = ",".join([str(size) for size in state.heaps])
        rule = "the last one loses" if state.misere else "the last one wins"
        who = f"the {self.seat_name(state.last)} player took last"
        if state.to_move >= 0:
            who = f"the {self.seat_name(state.to_move)} player to move"
        return f"heaps {heaps}, {rule}, {who}"
