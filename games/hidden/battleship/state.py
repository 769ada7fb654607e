"""The position of battleship: both fleets, shots, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import TERMINAL
from plyhouse.games.hidden.battleship.fleet import Waters, waters_of
from plyhouse.games.native import NativeState

if TYPE_CHECKING:
    import random

__all__ = ["BattleshipState", "Shot"]

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)

_STANDARD: Final = waters_of(10, 10, (5, 4, 3, 3, 2))

Shot = tuple[int, int, int]
"""A cell, 0 for a miss, 1 for a hit or 2 for a hit that sank a ship, and its place or -1."""


@final
@mypyc_attr(free_list_len=1)
class BattleshipState(NativeState):
    """Places of both fleets, cells still to be shot at, shots in order, and cells afloat.

    Names that end in 0 belong to seat 0, in 1 to seat 1: ``open0`` are cells at which seat 0 may
    still shoot, ``left0`` counts cells of seat 0's ships that are not hit.
    """

    __slots__ = (
        "left0",
        "left1",
        "open0",
        "open1",
        "ships0",
        "ships1",
        "shots0",
        "shots1",
        "waters",
    )

    waters: Waters
    ships0: tuple[int, ...]
    ships1: tuple[int, ...]
    open0: tuple[int, ...]
    open1: tuple[int, ...]
    shots0: tuple[int, ...]
    shots1: tuple[int, ...]
    left0: int
    left1: int

    def __init__(
        self,
        to_move: int = 0,
        waters: Waters = _STANDARD,
        ships0: tuple[int, ...] = (),
        ships1: tuple[int, ...] = (),
        open0: tuple[int, ...] = _STANDARD.all,
        open1: tuple[int, ...] = _STANDARD.all,
        shots0: tuple[int, ...] = (),
        shots1: tuple[int, ...] = (),
        left0: int = 17,
        left1: int = 17,
    ) -> None:
        self.to_move = to_move
        self.waters = waters
        self.ships0 = ships0
        self.ships1 = ships1
        self.open0 = open0
        self.open1 = open1
        self.shots0 = shots0
        self.shots1 = shots1
        self.left0 = left0
        self.left1 = left1

    def __reduce__(self) -> tuple[Any, ...]:
        return BattleshipState, (
            self.to_move,
            self.waters,
            self.ships0,
            self.ships1,
            self.open0,
            self.open1,
            self.shots0,
            self.shots1,
            self.left0,
            self.left1,
        )

    def placing(self) -> bool:
        """Return whether ships are still being placed."""
        return len(self.ships1) < len(self.waters.fleet)

    def actions(self) -> tuple[Any, ...]:
        """Places for the next ship, or cells to shoot at."""
        seat: int = self.to_move
        if seat < 0:
            return ()
        if not self.placing():
            return self.open0 if seat == 0 else self.open1
        own = self.ships0 if seat == 0 else self.ships1
        taken: int = 0
        for place in own:
            taken |= self.waters.masks[place]
        return tuple(self.waters.free_places(len(own), taken))

    def after(self, action: Any) -> BattleshipState:
        """Return the state after a ship is placed or a shot."""
        choice: int = action
        waters = self.waters
        seat: int = self.to_move
        ships0 = self.ships0
        ships1 = self.ships1
        open0 = self.open0
        open1 = self.open1
        shots0 = self.shots0
        shots1 = self.shots1
        left0: int = self.left0
        left1: int = self.left1
        if len(ships1) < len(waters.fleet):
            if seat == 0:
                ships0 = (*ships0, choice)
                if len(ships0) == len(waters.fleet):
                    seat = 1
            else:
                ships1 = (*ships1, choice)
                if len(ships1) == len(waters.fleet):
                    seat = 0
        elif seat == 0:
            open0 = tuple([cell for cell in open0 if cell != choice])
            shots0 = (*shots0, choice)
            for place in ships1:
                if choice in waters.cells[place]:
                    left1 -= 1
            seat = TERMINAL if left1 == 0 else 1
        else:
            open1 = tuple([cell for cell in open1 if cell != choice])
            shots1 = (*shots1, choice)
            for place in ships0:
                if choice in waters.cells[place]:
                    left0 -= 1
            seat = TERMINAL if left0 == 0 else 0
        return BattleshipState(
            seat, waters, ships0, ships1, open0, open1, shots0, shots1, left0, left1
        )

    def returns(self) -> tuple[float, ...]:
        """+1 for the seat with a ship afloat, -1 for the other."""
        return _WON if self.left1 == 0 else _LOST

    def heuristic(self) -> tuple[float, ...]:
        """Return the lead in cells afloat, as a share of a fleet."""
        if self.to_move == TERMINAL:
            return self.returns()
        lead: float = float(self.left0 - self.left1) / float(self.waters.afloat)
        return (lead, -lead)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end.

        Random shots come in random order, wherever the ships are.  With n cells, k of them of
        ships, the last one holds a ship with chance k / n, and so on backwards.  So it is enough to
        draw how many shots each seat needs.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        first: int = len(self.open0)
        second: int = len(self.open1)
        while rng.random() * first >= self.left1:
            first -= 1
        while rng.random() * second >= self.left0:
            second -= 1
        if first < second:
            return _WON
        if second < first:
            return _LOST
        return _LOST if self.to_move == 1 and not self.placing() else _WON

    def results(self, seat: int) -> tuple[Shot, ...]:
        """Return the shots of a seat with what became of them."""
        waters = self.waters
        shots = self.shots0 if seat == 0 else self.shots1
        ships = self.ships1 if seat == 0 else self.ships0
        afloat = {place: len(waters.cells[place]) for place in ships}
        found: list[Shot] = []
        for cell in shots:
            what, sunk = 0, -1
            for place in ships:
                if cell in waters.cells[place]:
                    afloat[place] -= 1
                    what = 1
                    if afloat[place] == 0:
                        what, sunk = 2, place
            found.append((cell, what, sunk))
        return tuple(found)
