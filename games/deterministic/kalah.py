"""Kalah (mancala): sow seeds around the board, collect most of them in your store.

A seat takes all seeds of one of its houses and sows them one by one to the right.  They go into its
further houses, its store, the opponent's houses and around again, past the opponent's store.  If
the last seed falls into its store, the same seat moves again.  If it falls into one of its houses
that was empty, and the house opposite holds seeds, both go to its store.  When a seat has no seeds
in its houses after a move, the game ends and each seat adds the seeds left on its side to its
store.  The seat with more seeds wins.

The first player begins.  Actions are numbers of houses, ``1`` first in the direction of sowing,
and written so.  ``houses`` and ``seeds`` (in each house at the start) may be chosen.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

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
from plyhouse.games.boards import result_status
from plyhouse.games.deterministic.kalah_endgames import KalahEndings
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Cell, Counter, Grid, Scene

if TYPE_CHECKING:
    import random

__all__ = ["Kalah", "KalahObservation", "KalahState"]

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


@functools.cache
def start_board(houses: int, seeds: int) -> tuple[int, ...]:
    """Return the pits at the start; see `KalahState`."""
    side = (*([seeds] * houses), 0)
    return side + side


_STANDARD: Final = start_board(6, 4)


@final
@mypyc_attr(free_list_len=1)
class KalahState(BoardState):
    """The pits in the direction of sowing: houses and store of seat 0, then of seat 1.

    Actions are house numbers of the mover, counted from 1, as they are written.
    """

    __slots__ = ("pits",)

    pits: tuple[int, ...]

    def __init__(self, to_move: int = 0, pits: tuple[int, ...] = _STANDARD) -> None:
        self.to_move = to_move
        self.pits = pits

    def __reduce__(self) -> tuple[Any, ...]:
        return KalahState, (self.to_move, self.pits)

    def actions(self) -> tuple[Any, ...]:
        """The mover's houses that have seeds, in the direction of sowing."""
        if self.to_move < 0:
            return ()
        pits = self.pits
        houses: int = len(pits) // 2 - 1
        first: int = self.to_move * (houses + 1)
        return tuple([house + 1 for house in range(houses) if pits[first + house] != 0])

    def after(self, action: Any) -> KalahState:
        """Return the state after sowing a house."""
        pits: list[int] = list(self.pits)
        house: int = action
        following: int = sow(pits, self.to_move, house - 1)
        return KalahState(following, tuple(pits))

    def returns(self) -> tuple[float, ...]:
        """+1 for more seeds, -1 for fewer, 0 for as many."""
        pits = self.pits
        return _result(pits[len(pits) // 2 - 1], pits[len(pits) - 1])

    def key(self) -> tuple[int, tuple[int, ...]]:
        """Return the seeds and whose turn it is."""
        return (self.to_move, self.pits)

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Moves that end in the store first, then from the house next to the store."""
        houses: int = len(self.pits) // 2 - 1
        first: int = self.to_move * (houses + 1)
        again: list[Any] = []
        others: list[Any] = []
        for action in actions[::-1]:
            house: int = action
            house -= 1
            if self.pits[first + house] % (2 * houses + 1) == houses - house:
                again.append(action)
            else:
                others.append(action)
        return tuple(again + others)

    def heuristic(self) -> tuple[float, ...]:
        """Lead in seeds stored, and a tenth of the lead in seeds on the own side."""
        if self.to_move == TERMINAL:
            return self.returns()
        pits = self.pits
        half: int = len(pits) // 2
        stored: int = pits[half - 1] - pits[len(pits) - 1]
        lead: int = 0
        total: int = 0
        for index in range(half):
            lead += pits[index] - pits[half + index]
            total += pits[index] + pits[half + index]
        value: float = 0.999 * (0.9 * float(stored) + 0.1 * float(lead)) / float(total)
        return (value, -value)

    def endings(self, meter: Meter) -> Endings:
        """Return the table of positions with few seeds in the houses, for one search."""
        return KalahEndings(meter, len(self.pits) // 2 - 1, sow)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        mover: int = self.to_move
        if mover < 0:
            return self.returns()
        draw: Any = rng.random
        pits: list[int] = list(self.pits)
        houses: i64 = (len(pits) >> 1) - 1
        if houses <= 6 and sum(pits) < 128:
            south: i64 = packed(pits, 0, houses)
            north: i64 = packed(pits, houses + 1, houses)
            if mover == 0:
                return _result(int(final_lead(south, north, houses, draw)), 0)
            return _result(0, int(final_lead(north, south, houses, draw)))
        filled: list[int] = [0] * houses
        while mover >= 0:
            first: i64 = 0 if mover == 0 else houses + 1
            count: i64 = 0
            house: i64 = 0
            while house < houses:
                if pits[first + house] != 0:
                    filled[count] = int(house)
                    count += 1
                house += 1
            chance: float = draw()
            mover = sow(pits, mover, filled[int(chance * float(count))])
        return _result(pits[houses], pits[len(pits) - 1])


def packed(pits: list[int], first: i64, houses: i64) -> i64:
    """Return a side of the board as one number: a byte for each house, then one for the store."""
    side: i64 = 0
    index: i64 = first + houses
    while index >= first:
        seeds: i64 = pits[index]
        side = (side << 8) + seeds
        index -= 1
    return side


def seeds_in(side: i64) -> i64:
    """Return all seeds of a packed side."""
    pairs: i64 = (side & 0x00FF_00FF_00FF_00FF) + ((side >> 8) & 0x00FF_00FF_00FF_00FF)
    pairs = pairs + (pairs >> 32)
    return (pairs + (pairs >> 16)) & 0xFFFF


def final_lead(mine: i64, theirs: i64, houses: i64, draw: Any) -> i64:
    """Return the mover's lead in seeds at the end, after random play.

    There may be 6 houses and 127 seeds at most.  Both sides are `packed`, so that sowing adds 1 to
    many bytes at once.  Pits are named by the position of their lowest bit.
    """
    store: i64 = houses << 3
    inside: i64 = 0xFFFF_FFFF_FFFF >> (48 - store)
    swapped: bool = False
    while mine & inside != 0 and theirs & inside != 0:
        # One bit for each house that has seeds; adding 127 reaches the eighth bit.
        filled: i64 = (((mine & inside) + 0x7F7F_7F7F_7F7F) >> 7) & 0x0101_0101_0101
        halves: i64 = filled + (filled >> 24)
        count: i64 = (halves + (halves >> 8) + (halves >> 16)) & 7
        chance: float = draw()
        skip: i64 = int(chance * float(count))
        while skip > 0:
            filled = filled & (filled - 1)
            skip -= 1
        at: i64 = 0
        while filled & 1 == 0:
            filled = filled >> 8
            at += 8
        hand: i64 = (mine >> at) & 255
        mine = mine - (hand << at)
        at += 8
        room: i64 = (store + 8 - at) >> 3
        last: i64 = -1
        while True:
            if hand <= room:
                mine = mine + (ones(hand) << at)
                last = at + (hand << 3) - 8
                break
            mine = mine + (ones(room) << at)
            hand -= room
            if hand <= houses:
                theirs = theirs + ones(hand)
                break
            theirs = theirs + ones(houses)
            hand -= houses
            at = 0
            room = houses + 1
        if last == store:
            continue
        if last >= 0:
            sown: i64 = (mine >> last) & 255
            opposite: i64 = store - 8 - last
            taken: i64 = (theirs >> opposite) & 255
            if sown == 1 and taken != 0:
                theirs = theirs - (taken << opposite)
                mine = mine - (sown << last) + ((taken + 1) << store)
        keep: i64 = mine
        mine = theirs
        theirs = keep
        swapped = not swapped
    lead: i64 = seeds_in(mine) - seeds_in(theirs)
    return -lead if swapped else lead


def ones(count: i64) -> i64:
    """Return a seed in each of so many pits, at most 7."""
    return 0x01_0101_0101_0101 >> (56 - (count << 3))


def sow(pits: list[int], mover: int, house: int) -> int:
    """Sow a house of the mover, changing ``pits``; return who is to move then."""
    count: i64 = len(pits)
    half: i64 = count >> 1
    first: i64 = 0 if mover == 0 else half
    store: i64 = first + half - 1
    skipped: i64 = count - 1 if mover == 0 else half - 1
    at: i64 = first + house
    hand: i64 = pits[at]
    pits[at] = 0
    while hand > 0:
        at = at + 1 if at + 1 < count else 0
        if at != skipped:
            pits[at] = pits[at] + 1
            hand -= 1
    following: int = 1 - mover
    if at == store:
        following = mover
    elif first <= at < store and pits[at] == 1:
        opposite: i64 = count - 2 - at
        if pits[opposite] != 0:
            pits[store] = pits[store] + pits[opposite] + 1
            pits[at] = 0
            pits[opposite] = 0
    if _any(pits, 0, half - 1) and _any(pits, half, count - 1):
        return following
    left: int = 0
    right: int = 0
    for index in range(half - 1):
        left += pits[index]
        right += pits[half + index]
        pits[index] = 0
        pits[half + index] = 0
    pits[half - 1] = pits[half - 1] + left
    pits[count - 1] = pits[count - 1] + right
    return TERMINAL


def _any(pits: list[int], start: i64, end: i64) -> bool:
    """Return whether there are seeds in one of these pits."""
    index: i64 = start
    while index < end:
        if pits[index] != 0:
            return True
        index += 1
    return False


def _result(first: int, second: int) -> tuple[float, ...]:
    """Returns for the seeds in the stores at the end."""
    if first > second:
        return _WON
    if first < second:
        return _LOST
    return _DRAW


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class KalahObservation(Observation):
    """Everything: the game has perfect information."""

    houses: tuple[tuple[int, ...], ...]
    """By seat the seeds in its houses, house 1 first, in the direction of sowing.  House i of one
    seat lies opposite house n + 1 - i of the other, where n is the number of houses."""
    stores: tuple[int, ...]
    """By seat the seeds in its store."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Kalah(Game[KalahState, int, KalahObservation]):
    """Kalah with any small number of houses and seeds.

    >>> kalah = Kalah()
    >>> state = kalah.initial_state()
    >>> state = state.after(kalah.parse(state, "3"))  # the last seed in the own store: South again
    >>> kalah.observe(state, 0).houses[0], state.to_move
    ((4, 4, 0, 5, 5, 5), 0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="kalah",
        title="Kalah",
        summary="Sow seeds around the board; most seeds in the own store win.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        # Sowing without reaching the own store brings seeds of that side nearer to it,
        # each at most 9 houses; so after at most 9 * seeds plies one is stored for good.
        max_plies=10 * 2 * 10 * (9 * 2 * 10 * 10 + 1),
        parameters=(
            Parameter("houses", 6, "houses of each seat", 2, 10),
            Parameter("seeds", 4, "seeds in each house at the start", 1, 10),
        ),
        seat_names=("South", "North"),
    )
    observation_type: ClassVar[type[Observation]] = KalahObservation
    action_pattern: ClassVar[str] = "[0-9]+"

    def check_parameters(self) -> None:
        """Every combination is playable."""
        self.houses = self.int_parameter("houses")
        self.action_notation = f"the number of a house from 1 to {self.houses}"

    def initial_state(self) -> KalahState:
        """Return the same number of seeds in every house, seat 0 to move."""
        return KalahState(0, start_board(self.houses, self.int_parameter("seeds")))

    def format(self, state: KalahState, action: int) -> str:
        """Return the house number from 1."""
        return str(action)

    def observe(self, state: KalahState, seat: int | None) -> KalahObservation:
        """Houses and stores."""
        pits, houses = state.pits, self.houses
        return KalahObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            houses=(pits[:houses], pits[houses + 1 : -1]),
            stores=(pits[houses], pits[-1]),
        )

    def sample_state(self, observation: KalahObservation, rng: random.Random) -> KalahState:
        """Return the position that was observed."""
        south = (*observation.houses[0], observation.stores[0])
        north = (*observation.houses[1], observation.stores[1])
        return KalahState(observation.to_move, south + north)

    def scene(self, observation: KalahObservation) -> Scene:
        """North's houses above South's, sown against the clock; stores as counters."""
        rows: list[tuple[Cell, ...]] = []
        for seat in (1, 0):
            cells: list[Cell] = []
            for house, seeds in enumerate(observation.houses[seat]):
                name = str(house + 1)
                mine = observation.seat == seat and name in observation.legal
                cells.append(
                    Cell(
                        text=str(seeds),
                        owner=seat,
                        shape="seeds",
                        action=name if mine else None,
                        label=f"house {name} of {self.seat_name(seat)}, seeds {seeds}",
                        count=seeds,
                    )
                )
            rows.append(tuple(cells if seat == 0 else reversed(cells)))
        names = (self.seat_name(1), self.seat_name(0))
        # North's house is named first because it is drawn above: "6/1", "5/2" ...
        labels = tuple([f"{self.houses - place}/{place + 1}" for place in range(self.houses)])
        # The seat at the bottom has its store on the right.
        ends = tuple(
            [
                Cell(
                    str(observation.stores[seat]),
                    seat,
                    "seeds",
                    label=f"store of {self.seat_name(seat)}, seeds {observation.stores[seat]}",
                    count=observation.stores[seat],
                )
                for seat in (1, 0)
            ]
        )
        grid = Grid(tuple(rows), names, labels, "Houses", "pits", "wood", 0, ends)
        counters = [
            Counter(f"Store of {self.seat_name(seat)}", observation.stores[seat], None, seat)
            for seat in range(2)
        ]
        lead = observation.stores[0] - observation.stores[1]
        winner = None if observation.to_move != TERMINAL or lead == 0 else 0 if lead > 0 else 1
        status = result_status(self, winner, observation.to_move)
        mover = observation.seat_to_move
        return Scene((grid, *counters), status, mover)

    def describe(self, state: KalahState) -> str:
        """Return one line: houses and store of both seats, and whose turn it is."""
        pits, houses = state.pits, self.houses
        south = " ".join([str(seeds) for seeds in pits[:houses]])
        north = " ".join([str(seeds) for seeds in pits[houses + 1 : -1]])
        who = {0: "South to move", 1: "North to move"}.get(state.to_move, "over")
        return f"South {south} store {pits[houses]}, North {north} store {pits[-1]}, {who}"
