"""Battleship: both seats hide a fleet, then shoot in turn; the first to sink all ships wins.

The first player places its ships in secret, the longest first, one ply each; then the second
player does.  Ships lie along a row or a column, may touch, and must not overlap.  Then the seats
shoot in turn, beginning with the first player, at cells they have not shot at.  All learn whether
a shot missed, hit, or sank a ship; a sunken ship is shown.  After the end all ships are shown.

Cells are a column letter and a row number, ``a1`` in the upper left.  Write a placement as both
ends, ``b3-b6``, or as the cell for a ship of one cell.  Write a shot as its cell.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

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
from plyhouse.games.errors import IllegalAction, InvalidAction, InvalidParameter
from plyhouse.games.hidden.battleship.fleet import MAX_SHIPS, MAX_SIZE, sample_fleet, waters_of
from plyhouse.games.hidden.battleship.state import BattleshipState
from plyhouse.games.scene import Button, Cell, Counter, Element, Grid, Laying, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["Battleship", "BattleshipObservation", "BattleshipState", "IllegalPlacement"]

_PLACEMENT: Final = re.compile(r"([a-o][0-9]{1,2})(?:-([a-o][0-9]{1,2}))?")


class IllegalPlacement(IllegalAction):
    """A placement over another ship; the message says where they meet."""

    def __init__(self, text: str, position: str, legal: tuple[str, ...], where: str) -> None:
        super().__init__(text, position, legal)
        self.where = where
        self.args = (f"{text!r} overlaps your ship on {where}; ships must keep clear.",)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class BattleshipObservation(Observation):
    """The own fleet, and all shots with what became of them."""

    ships: tuple[tuple[str, ...], tuple[str, ...]]
    """By seat the places of its ships, both ends as in a placement (``b3-b6``): the own fleet so
    far, after the end both; otherwise empty."""
    placed: tuple[int, int]
    """How many ships each seat has placed."""
    shots: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
    """By seat the shots it has fired, in order: the cell, and "miss", "hit" or "sunk"."""
    sunk: tuple[tuple[str, ...], tuple[str, ...]]
    """By seat the places of its ships that were sunk, in order."""
    afloat: tuple[int, int]
    """By seat, cells of its ships that are not hit."""


WORDS: Final[tuple[str, ...]] = ("miss", "hit", "sunk")


@mypyc_attr(allow_interpreted_subclasses=True)
class Battleship(Game[BattleshipState, int, BattleshipObservation]):
    """Battleship on a board of any size with any fleet that has room.

    >>> game = Battleship(columns=4, rows=4, fleet="2")
    >>> state = game.initial_state()
    >>> for text in ("a1-a2", "c3-d3", "c3"):
    ...     state = state.after(game.parse(state, text))
    >>> game.observe(state, 1).shots[0], game.observe(state, 0).ships[1]
    ((('c3', 'hit'),), ())
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="battleship",
        title="Battleship",
        summary="Hide a fleet, then shoot in turn; the first to sink all ships wins.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=2 * MAX_SHIPS + 2 * MAX_SIZE * MAX_SIZE,
        parameters=(
            Parameter("columns", 10, "width of the board", 2, MAX_SIZE),
            Parameter("rows", 10, "height of the board", 2, MAX_SIZE),
            Parameter("fleet", "5,4,3,3,2", "lengths of the ships, by ,"),
        ),
        seat_names=("first", "second"),
        simultaneous=True,
    )
    observation_type: ClassVar[type[Observation]] = BattleshipObservation
    action_pattern: ClassVar[str] = "[a-o][0-9]{1,2}(-[a-o][0-9]{1,2})?"
    action_notation: str = "a cell like a1 to shoot at, or the ends of a ship like b3-b6"

    def check_parameters(self) -> None:
        """The fleet must have room wherever its first ships are put."""
        columns, rows = self.int_parameter("columns"), self.int_parameter("rows")
        text = self.text_parameter("fleet")
        if not re.fullmatch(r"\s*[0-9]{1,2}\s*(,\s*[0-9]{1,2}\s*)*", text):
            raise self._bad("it must be lengths of ships like 5,4,3,3,2")
        fleet = tuple(sorted([int(length) for length in text.split(",")], reverse=True))
        if len(fleet) > MAX_SHIPS:
            raise self._bad(f"there may be at most {MAX_SHIPS} ships")
        if min(fleet) < 1:
            raise self._bad("every ship has a cell at least")
        if max(fleet) > max(columns, rows):
            raise self._bad(
                f"a ship of {max(fleet)} does not fit on a board of {columns} by {rows}"
            )
        before = 0
        for length in fleet:
            # A cell that is taken spoils at most so many places in rows and columns.
            spoiled = 1 if length == 1 else 2 * length
            across = rows * max(0, columns - length + 1)
            down = 0 if length == 1 else columns * max(0, rows - length + 1)
            if across + down <= spoiled * before:
                raise self._bad(
                    f"on a board of {columns} by {rows} the longer ships could leave no room "
                    f"for one of {length}; use fewer ships or a larger board"
                )
            before += length
        self.waters = waters_of(columns, rows, fleet)

    def _bad(self, reason: str) -> InvalidParameter:
        return InvalidParameter(self.info.name, "fleet", self.parameters["fleet"], reason)

    def initial_state(self) -> BattleshipState:
        """Two empty boards; seat 0 places its longest ship."""
        waters = self.waters
        return BattleshipState(
            0, waters, (), (), waters.all, waters.all, (), (), waters.afloat, waters.afloat
        )

    def format(self, state: BattleshipState, action: int) -> str:
        """Return the ends of a ship, or the cell that is shot at."""
        if state.placing():
            return self.waters.place_names[action]
        return self.waters.names[action]

    def parse(self, state: BattleshipState, text: str) -> Any:
        """Read a placement with its ends in either order, or a shot; errors name the fault."""
        found = _PLACEMENT.fullmatch(text.strip().casefold())
        if found is None or state.to_move < 0:
            return super().parse(state, text)
        waters = self.waters
        names = waters.names
        for name in found.groups():
            if name is not None and name not in names:
                board = f"a1 to {names[-1]}"
                raise InvalidAction(text, f"{name} is not on the board, {board}", "a cell on it")
        if not state.placing():
            return super().parse(state, text)
        own = state.ships0 if state.to_move == 0 else state.ships1
        length = waters.fleet[len(own)]
        expected = f"the ends of a ship of {length}"
        ends = sorted([names.index(found[1]), names.index(found[2] or found[1])])
        place_name = names[ends[0]] if ends[0] == ends[1] else "-".join(names[e] for e in ends)
        across = ends[0] // waters.columns == ends[1] // waters.columns
        if not across and (ends[1] - ends[0]) % waters.columns:
            raise InvalidAction(text, "it is neither along a row nor along a column", expected)
        count = (ends[1] - ends[0]) // (1 if across else waters.columns) + 1
        if count != length:
            raise InvalidAction(text, f"it has {count} cells, the ship has {length}", expected)
        place = next(p for p in waters.places[len(own)] if waters.place_names[p] == place_name)
        for other in own:
            common = sorted(set(waters.cells[place]) & set(waters.cells[other]))
            if common:
                legal = self.legal_text(state, state.to_move)
                where = ", ".join(names[cell] for cell in common)
                raise IllegalPlacement(text, self.describe(state), legal, where)
        return place

    def observe(self, state: BattleshipState, seat: int | None) -> BattleshipObservation:
        """Return the seat's own fleet, shots, and ships that were sunk."""
        waters = self.waters
        over = state.to_move == TERMINAL
        fleets = (state.ships0, state.ships1)
        results = (state.results(0), state.results(1))
        ships = [
            tuple([waters.place_names[place] for place in fleets[owner]])
            if over or owner == seat
            else ()
            for owner in range(2)
        ]
        shots = [tuple([(waters.names[c], WORDS[what]) for c, what, _ in shot]) for shot in results]
        sunk = [
            tuple([waters.place_names[place] for _, _, place in shot if place >= 0])
            for shot in results
        ]
        return BattleshipObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            ships=(ships[0], ships[1]),
            placed=(len(fleets[0]), len(fleets[1])),
            shots=(shots[0], shots[1]),
            sunk=(sunk[1], sunk[0]),
            afloat=(state.left0, state.left1),
        )

    def information_state(self, state: BattleshipState, seat: int) -> Hashable:
        """Return the seat's fleet, the number of ships the other has placed, and all shots."""
        fleets = (state.ships0, state.ships1)
        over = state.to_move == TERMINAL
        return (
            seat,
            fleets[seat],
            len(fleets[1 - seat]),
            state.results(0),
            state.results(1),
            fleets if over else None,
        )

    def visible(self, state: BattleshipState, action: Any, viewer: int | None) -> str | None:
        """Return a placement to its owner, a shot to all."""
        if state.placing() and viewer != state.to_move:
            return None
        return self.format(state, action)

    def _fleet(
        self, seen: BattleshipObservation, owner: int, rng: random.Random
    ) -> tuple[int, ...]:
        """Places of a fleet that fit what was seen of it."""
        waters = self.waters
        if seen.ships[owner]:
            return tuple([self._place(name) for name in seen.ships[owner]])
        closed = hits = 0
        for cell, word in seen.shots[1 - owner]:
            bit = waters.bits[waters.names.index(cell)]
            if word == "miss":
                closed |= bit
            else:
                hits |= bit
        missing = list(range(seen.placed[owner]))
        known: dict[int, int] = {}
        for name in seen.sunk[owner]:
            place = self._place(name)
            length = len(waters.cells[place])
            ship = next(ship for ship in missing if waters.fleet[ship] == length)
            missing.remove(ship)
            known[ship] = place
            closed |= waters.masks[place]
            hits &= ~waters.masks[place]
        fleet = known | sample_fleet(waters, tuple(missing), closed, hits, rng)
        return tuple([fleet[ship] for ship in range(seen.placed[owner])])

    def _place(self, name: str) -> int:
        """Return the place with a name; names of different lengths differ."""
        return self.waters.place_names.index(name)

    def sample_state(
        self, observation: BattleshipObservation, rng: random.Random
    ) -> BattleshipState:
        """Hidden fleets drawn among those that fit all shots, each with equal chance.

        (Where ships have hardly any room left chances may differ: `fleet.sample_fleet`.)
        """
        waters = self.waters
        shots = [
            tuple([waters.names.index(cell) for cell, _ in observation.shots[seat]])
            for seat in range(2)
        ]
        opens = [tuple([c for c in waters.all if c not in shots[seat]]) for seat in range(2)]
        return BattleshipState(
            observation.to_move,
            waters,
            self._fleet(observation, 0, rng),
            self._fleet(observation, 1, rng),
            opens[0],
            opens[1],
            shots[0],
            shots[1],
            observation.afloat[0],
            observation.afloat[1],
        )

    def scene(self, observation: BattleshipObservation) -> Scene:
        """Both boards with cells to shoot at; or the own one, to lay a ship from end to end."""
        waters = self.waters
        elements: list[Element] = []
        placing = observation.placed[1] < len(waters.fleet)
        viewer = observation.seat if observation.seat is not None else 0
        laying = placing and bool(observation.legal)
        for owner in (viewer,) if laying else (1 - viewer, viewer):
            target = not placing and owner != observation.seat
            actions = {name: name for name in observation.legal} if target else {}
            label = f"Board of {self.seat_name(owner)}"
            elements.append(self._grid(observation, owner, actions, label, named=laying))
            elements.append(
                Counter(f"Afloat, {self.seat_name(owner)}", observation.afloat[owner], None, owner)
            )
        if laying:
            length = waters.fleet[observation.placed[viewer]]
            ends = "" if length == 1 else ": choose both of its ends"
            elements.append(Text(f"Place a ship of {length}{ends}."))
            left = waters.fleet[observation.placed[viewer] :]
            elements.append(Laying("ship", left, viewer))
            for name in observation.legal:
                via = tuple(name.split("-"))
                elements.append(Button(name, name, via))
                if len(via) > 1:  # it does not matter which end comes first
                    elements.append(Button(name, name, via[::-1]))
        mover = observation.to_move
        if mover == TERMINAL:
            status = f"{self.seat_name(0 if observation.afloat[1] == 0 else 1)} wins"
        else:
            status = f"{self.seat_name(mover)} {'places a ship' if placing else 'to shoot'}"
        return Scene(tuple(elements), status, mover if mover >= 0 else None)

    def _grid(
        self,
        seen: BattleshipObservation,
        owner: int,
        actions: dict[str, str],
        label: str,
        *,
        named: bool,
    ) -> Grid:
        """One board with what may be seen of its ships, and actions by cell."""
        waters = self.waters
        ships: dict[int, str] = {}
        for name in (*seen.ships[owner], *seen.sunk[owner]):
            ships |= self._joins(waters.cells[self._place(name)])
        sunk = [cell for name in seen.sunk[owner] for cell in waters.cells[self._place(name)]]
        shots = dict(seen.shots[1 - owner])
        rows: list[tuple[Cell, ...]] = []
        for row in range(waters.rows):
            cells: list[Cell] = []
            for cell in range(row * waters.columns, (row + 1) * waters.columns):
                name = waters.names[cell]
                word = shots.get(name, "")
                text = {"": "s" if cell in ships else "", "miss": "o"}.get(word, "x")
                what = word or ("ship" if cell in ships else "unknown")
                shape = {"": "", "o": "miss", "x": "hit"}.get(text, "ship")
                cells.append(
                    Cell(
                        text,
                        owner if text else None,
                        "sunk" if cell in sunk else shape,
                        actions.get(name),
                        f"{name}, {what}",
                        name=name if named else "",
                        face="\u00d7" if text == "x" else "",
                        joins=ships.get(cell, "") if text else "",
                    )
                )
            rows.append(tuple(cells))
        numbers = tuple(str(row + 1) for row in range(waters.rows))
        letters = tuple("abcdefghijklmno"[: waters.columns])
        return Grid(tuple(rows), numbers, letters, label, theme="sea")

    def _joins(self, ship: Sequence[int]) -> dict[int, str]:
        """Return the cells of a ship with the directions in which it goes on."""
        steps = {"n": -self.waters.columns, "e": 1, "s": self.waters.columns, "w": -1}
        return {
            cell: "".join(
                [way for way, step in steps.items() if len(ship) > 1 and cell + step in ship]
            )
            for cell in ship
        }

    def describe(self, state: BattleshipState) -> str:
        """Both fleets, also hidden ones, and all shots."""
        lines: list[str] = []
        for seat, ships in enumerate((state.ships0, state.ships1)):
            fleet = " ".join(self.waters.place_names[place] for place in ships)
            shots = " ".join(
                self.waters.names[cell] + ("", "*", "#")[what]
                for cell, what, _ in state.results(seat)
            )
            lines.append(f"{self.seat_name(seat)}: ships {fleet or '-'}, shots {shots or '-'}")
        return "\n".join(lines)
