"""Coins: take one or two from a row of coins; the seat that takes the last one loses.

A seat takes at least one coin and at most ``max_take``.  In misere play, the course's rule
and the default, the seat that takes the last coin loses; otherwise it wins.  With up to two
coins to take, the mover loses misere exactly when the number of coins modulo 3 is 1.

The first player begins.  Actions are written as the number taken, ``1`` or ``2``.
"""

from __future__ import annotations

import dataclasses
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
from plyhouse.games.boards import board_scene, taking_status
from plyhouse.games.native import NativeState
from plyhouse.games.scene import Card, Hand, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["Coins", "CoinsObservation", "CoinsState"]

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)


@final
@mypyc_attr(free_list_len=1)
class CoinsState(NativeState):
    """The coins left and the seat that took last; actions are numbers of coins."""

    __slots__ = ("coins", "last", "max_take", "misere")

    coins: int
    last: int
    max_take: int
    misere: bool

    def __init__(
        self,
        to_move: int = 0,
        coins: int = 4,
        last: int = 1,
        max_take: int = 2,
        misere: bool = True,
    ) -> None:
        self.to_move = to_move
        self.coins = coins
        self.last = last
        self.max_take = max_take
        self.misere = misere

    def __reduce__(self) -> tuple[Any, ...]:
        return CoinsState, (self.to_move, self.coins, self.last, self.max_take, self.misere)

    def actions(self) -> tuple[Any, ...]:
        """From one coin up."""
        if self.to_move < 0:
            return ()
        return tuple(range(1, min(self.coins, self.max_take) + 1))

    def after(self, action: Any) -> CoinsState:
        """Return the state after so many coins are taken."""
        take: int = action
        left: int = self.coins - take
        following: int = TERMINAL if left == 0 else 1 - self.to_move
        return CoinsState(following, left, self.to_move, self.max_take, self.misere)

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser."""
        return _WON if (self.last == 0) != self.misere else _LOST

    def key(self) -> tuple[int, int, int]:
        """Return the coins and whose turn it is, or was last."""
        return (self.to_move, self.coins, self.last)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        coins: int = self.coins
        last: int = self.last
        while coins > 0:
            coins -= int(rng.random() * float(min(coins, self.max_take))) + 1
            last = 1 - last
        return _WON if (last == 0) != self.misere else _LOST


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class CoinsObservation(Observation):
    """Everything: the game has perfect information."""

    coins: int
    """Coins left."""
    last: int
    """The seat that took last; seat 1 before the first action."""
    misere: bool
    """True when taking the last coin loses."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Coins(Game[CoinsState, int, CoinsObservation]):
    """The subtraction game of the course: with 4 coins the first player loses.

    >>> game = Coins()
    >>> state = game.initial_state()
    >>> while state.to_move >= 0:
    ...     state = state.after(1)
    >>> state.returns()
    (1.0, -1.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="coins",
        title="Coins",
        summary="Take one or two coins; who takes the last one loses.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=100,
        parameters=(
            Parameter("coins", 4, "coins at the start", 1, 100),
            Parameter("max_take", 2, "most coins to take at once", 1, 10),
            Parameter("misere", True, "whether taking the last coin loses"),
        ),
        seat_names=("first", "second"),
    )
    observation_type: ClassVar[type[Observation]] = CoinsObservation
    action_pattern: ClassVar[str] = "[0-9]+"

    def check_parameters(self) -> None:
        """Every combination is playable."""
        self.max_take = self.int_parameter("max_take")
        self.misere = self.parameters["misere"] is True
        self.action_notation = f"how many coins to take, from 1 to {self.max_take}"

    def initial_state(self) -> CoinsState:
        """Return all coins, seat 0 to move."""
        return CoinsState(0, self.int_parameter("coins"), 1, self.max_take, self.misere)

    def observe(self, state: CoinsState, seat: int | None) -> CoinsObservation:
        """Return the coins and the rule for the last one."""
        return CoinsObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            coins=state.coins,
            last=state.last,
            misere=state.misere,
        )

    def sample_state(self, observation: CoinsObservation, rng: random.Random) -> CoinsState:
        """Return the position that was observed."""
        return CoinsState(
            observation.to_move, observation.coins, observation.last, self.max_take, self.misere
        )

    def scene(self, observation: CoinsObservation) -> Scene:
        """Return the coins in a row: choosing one takes it and all to its right."""
        cards: list[Card] = []
        for left in range(observation.coins, 0, -1):
            name = str(left)
            legal = name in observation.legal
            label = f"take {name}" if legal else "a coin"
            cards.append(Card("o", name if legal else None, label, shape="penny"))
        taken = self.int_parameter("coins") - observation.coins
        cards += [Card(" ", None, "a coin that was taken", shape="penny", faint=True)] * taken
        hand = Hand("Coins", tuple(cards), look="coins")
        rule = Text(f"Taking the last one {'loses' if observation.misere else 'wins'}.")
        status = taking_status(self, observation.last, observation.misere, observation.to_move)
        return board_scene([hand, rule], (), status, observation.to_move)

    def describe(self, state: CoinsState) -> str:
        """Return one line: the coins left and whose turn it is."""
        rule = "the last one loses" if state.misere else "the last one wins"
        who = f"the {self.seat_name(state.last)} player took last"
        if state.to_move >= 0:
            who = f"the {self.seat_name(state.to_move)} player to move"
        coins = "1 coin" if state.coins == 1 else f"{state.coins} coins"
        return f"{coins}, up to {state.max_take} at once, {rule}, {who}"
