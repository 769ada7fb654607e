"""Liar's dice for two to six seats, one round: bid on all dice, or call the last bid a lie.

Every seat rolls its dice in secret: chance nodes, one die at a time, beginning with the first
player.  The first player begins.  A bid says how many dice of all seats together show a face.  Each
bid must be higher than the last one: more dice, or the same number of a higher face.  Instead of
bidding, a seat may call the last bidder a liar; then all dice are shown.  If at least the number
bid is there, the caller loses; otherwise the bidder does.  The loser's return is -1, the others
share 1.  With ``wild=highest`` or ``wild=lowest`` that face counts as any.

Bids are written count, x, face: ``3x5`` is three fives; the call is ``liar``; a die is its
number.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.native import NativeState
from plyhouse.games.scene import Button, Card, Cell, Element, Grid, Hand, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["LiarsDice", "LiarsDiceObservation", "LiarsDiceState"]


@final
class Rules:
    """Tables shared by all positions of one match; made by `rules_of` only.

    A bid of ``count`` dice of ``face`` is the number ``(count - 1) * faces + face - 1``,
    so that higher bids are greater numbers; ``liar`` follows the highest.
    """

    def __init__(self, seats: int = 2, dice: int = 1, faces: int = 6, wild: int = 0) -> None:
        self.seats: int = seats
        self.dice: int = dice
        self.faces: int = faces
        self.wild: int = wild
        self.all_dice: int = seats * dice
        self.liar: int = seats * dice * faces
        self.die: tuple[tuple[Any, float], ...] = tuple(
            [(face, 1.0 / faces) for face in range(1, faces + 1)]
        )
        bids = list(range(self.liar))
        self.opening: tuple[int, ...] = tuple(bids)
        self.answers: tuple[tuple[int, ...], ...] = tuple(
            [tuple(range(bid + 1, self.liar + 1)) for bid in bids]
        )
        share: float = 1.0 / (seats - 1)
        self.losses: tuple[tuple[float, ...], ...] = tuple(
            [
                tuple([-1.0 if seat == loser else share for seat in range(seats)])
                for loser in range(seats)
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.seats, self.dice, self.faces, self.wild)


@functools.cache
def rules_of(seats: int, dice: int, faces: int, wild: int) -> Rules:
    """Return the one `Rules` of these parameters; ``wild`` is the face that counts as any, or 0."""
    return Rules(seats, dice, faces, wild)


_STANDARD: Final = rules_of(2, 1, 6, 0)


@final
@mypyc_attr(free_list_len=1)
class LiarsDiceState(NativeState):
    """All dice rolled so far, seat by seat, and all bids; the last of them may be ``liar``."""

    __slots__ = ("bids", "rolled", "rules")

    rolled: tuple[int, ...]
    bids: tuple[int, ...]
    rules: Rules

    def __init__(
        self,
        to_move: int = CHANCE,
        rolled: tuple[int, ...] = (),
        bids: tuple[int, ...] = (),
        rules: Rules = _STANDARD,
    ) -> None:
        self.to_move = to_move
        self.rolled = rolled
        self.bids = bids
        self.rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        return LiarsDiceState, (self.to_move, self.rolled, self.bids, self.rules)

    def actions(self) -> tuple[Any, ...]:
        """Higher bids, the lowest first, and after a bid the call."""
        if self.to_move < 0:
            return ()
        if not self.bids:
            return self.rules.opening
        last: int = self.bids[-1]
        return self.rules.answers[last]

    def after(self, action: Any) -> LiarsDiceState:
        """Return the state after a die has come to rest, a bid or the call."""
        rules = self.rules
        choice: int = action
        if self.to_move == CHANCE:
            rolled: tuple[int, ...] = (*self.rolled, choice)
            mover: int = 0 if len(rolled) == rules.all_dice else CHANCE
            return LiarsDiceState(mover, rolled, (), rules)
        bids: tuple[int, ...] = (*self.bids, choice)
        following: int = self.to_move + 1
        if following == rules.seats:
            following = 0
        if choice == rules.liar:
            following = TERMINAL
        return LiarsDiceState(following, self.rolled, bids, rules)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the faces of the die that rolls."""
        if self.to_move == CHANCE:
            return self.rules.die
        return ()

    def loser(self) -> int:
        """At the end, the seat that loses."""
        rules = self.rules
        calls: int = len(self.bids)
        bid: int = self.bids[calls - 2]
        caller: int = (calls - 1) % rules.seats
        bidder: int = (calls - 2) % rules.seats
        return caller if holds(rules, self.rolled, bid) else bidder

    def returns(self) -> tuple[float, ...]:
        """-1 for the loser; the others share 1."""
        return self.rules.losses[self.loser()]

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        if self.to_move == TERMINAL:
            return self.returns()
        rules = self.rules
        rolled = self.rolled
        missing: int = rules.all_dice - len(rolled)
        if missing > 0:
            faces: int = rules.faces
            rolled = (*rolled, *[1 + int(rng.random() * faces) for _ in range(missing)])
        calls: int = len(self.bids)
        liar: int = rules.liar
        last: int = self.bids[-1] if calls > 0 else int(rng.random() * liar)
        if calls == 0:
            calls = 1
        while True:
            bid: int = last + 1 + int(rng.random() * (liar - last))
            calls += 1
            if bid == liar:
                true: bool = holds(rules, rolled, last)
                return rules.losses[(calls - (1 if true else 2)) % rules.seats]
            last = bid


def holds(rules: Rules, rolled: tuple[int, ...], bid: int) -> bool:
    """Return whether the dice make a bid true."""
    face: int = bid % rules.faces + 1
    needed: int = bid // rules.faces + 1
    wild: int = rules.wild
    for die in rolled:
        shown: int = die
        if shown == face or shown == wild:  # noqa: SIM109 - a wild of 0 is no face
            needed -= 1
    return needed <= 0


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class LiarsDiceObservation(Observation):
    """The own dice, the bids, and after the call all dice."""

    dice: tuple[int, ...]
    """The observer's own dice rolled so far, in ascending order."""
    rolled: int
    """How many dice have been rolled by all seats together."""
    bids: tuple[str, ...]
    """Bids and the call so far, in order and as they are written; seat 0 begins."""
    shown: tuple[tuple[int, ...], ...]
    """After the call by seat its dice in ascending order; before it empty."""
    loser: int | None
    """The seat that has lost; None before the call."""
    wild: int | None
    """The face that counts as any; None if there is none."""


@mypyc_attr(allow_interpreted_subclasses=True)
class LiarsDice(Game[LiarsDiceState, int, LiarsDiceObservation]):
    """Liar's dice.

    >>> game = LiarsDice()
    >>> state = game.initial_state()
    >>> for face in (2, 5):
    ...     state = state.after(game.parse_chance(state, str(face)))
    >>> state = state.after(game.parse(state, "1x5"))
    >>> game.observe(state, 1).dice, game.observe(state, 1).bids
    ((5,), ('1x5',))
    >>> state.after(game.parse(state, "liar")).returns()
    (1.0, -1.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="liars_dice",
        title="Liar's dice",
        summary="Bid on everybody's hidden dice, or call the last bidder a liar.",
        min_seats=2,
        max_seats=6,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=6 * 6 + 6 * 6 * 10 + 1,
        parameters=(
            Parameter("seats", 2, "number of seats", 2, 6),
            Parameter("dice", 1, "dice of each seat", 1, 6),
            Parameter("faces", 6, "faces of a die", 2, 10),
            Parameter(
                "wild",
                "none",
                "face that counts as any",
                choices=("none", "highest", "lowest"),
            ),
        ),
    )
    observation_type: ClassVar[type[Observation]] = LiarsDiceObservation
    action_pattern: ClassVar[str] = "liar|[0-9]{1,2}x[0-9]{1,2}"
    action_notation: str = "a bid like 2x5 (two fives), or liar"

    def check_parameters(self) -> None:
        """Every combination is playable; keep what all positions share."""
        faces = self.int_parameter("faces")
        wild = {"none": 0, "highest": faces, "lowest": 1}[self.text_parameter("wild")]
        self.rules = rules_of(self.seats, self.int_parameter("dice"), faces, wild)

    def initial_state(self) -> LiarsDiceState:
        """Nothing rolled."""
        return LiarsDiceState(CHANCE, (), (), self.rules)

    def _text(self, bid: int) -> str:
        """Return a bid or the call as text."""
        if bid == self.rules.liar:
            return "liar"
        return f"{bid // self.rules.faces + 1}x{bid % self.rules.faces + 1}"

    def _bid(self, text: str) -> int:
        """Return the inverse of `_text`."""
        if text == "liar":
            return self.rules.liar
        count, face = text.split("x")
        return (int(count) - 1) * self.rules.faces + int(face) - 1

    def format(self, state: LiarsDiceState, action: int) -> str:
        """``2x5`` or ``liar``."""
        return self._text(action)

    def _dice(self, position: LiarsDiceState, seat: int) -> tuple[int, ...]:
        """Dice of one seat in ascending order."""
        dice = self.rules.dice
        return tuple(sorted(position.rolled[seat * dice : (seat + 1) * dice]))

    def _shown(self, position: LiarsDiceState) -> tuple[tuple[int, ...], ...]:
        """After the call, the dice of every seat."""
        if position.to_move != TERMINAL:
            return ()
        return tuple([self._dice(position, seat) for seat in range(self.rules.seats)])

    def observe(self, state: LiarsDiceState, seat: int | None) -> LiarsDiceObservation:
        """Return the seat's own dice, the bids, and after the call all dice."""
        return LiarsDiceObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            dice=() if seat is None else self._dice(state, seat),
            rolled=len(state.rolled),
            bids=tuple([self._text(bid) for bid in state.bids]),
            shown=self._shown(state),
            loser=state.loser() if state.to_move == TERMINAL else None,
            wild=self.rules.wild or None,
        )

    def information_state(self, state: LiarsDiceState, seat: int) -> Hashable:
        """Own dice, how many are rolled, the bids, and at the end all dice."""
        return (
            seat,
            self._dice(state, seat),
            len(state.rolled),
            state.bids,
            self._shown(state),
        )

    def visible(self, state: LiarsDiceState, action: Any, viewer: int | None) -> str | None:
        """Bids and the call to all; a die to the seat that rolls it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        receiver = len(state.rolled) // self.rules.dice
        return self.format_chance(state, action) if viewer == receiver else None

    def sample_state(self, observation: LiarsDiceObservation, rng: random.Random) -> LiarsDiceState:
        """Return a state that fits the observation, with the unknown dice rolled at random."""
        rules = self.rules
        dice = [1 + int(rng.random() * rules.faces) for _ in range(observation.rolled)]
        if observation.seat is not None:
            start = observation.seat * rules.dice
            dice[start : start + len(observation.dice)] = observation.dice
        if observation.shown:
            dice = [die for hand in observation.shown for die in hand]
        bids = tuple([self._bid(text) for text in observation.bids])
        return LiarsDiceState(observation.to_move, tuple(dice), bids, rules)

    def scene(self, observation: LiarsDiceObservation) -> Scene:
        """Return every seat's dice, hidden ones face down; bids as a table of counts and faces.

        The table stays as long as bids are made, so that nothing below it moves.
        """
        rules = self.rules
        elements: list[Element] = []
        made = [bid for bid in observation.bids if bid != "liar"]
        top = made[-1].split("x") if made else []
        counts = (top[1], str(rules.wild)) if observation.shown else ()
        for seat in range(rules.seats):
            name = self.seat_name(seat)
            count = min(max(observation.rolled - seat * rules.dice, 0), rules.dice)
            faces: list[str | None] = [None] * count
            if observation.shown:
                faces = [str(die) for die in observation.shown[seat]]
            elif seat == observation.seat:
                faces = [str(die) for die in observation.dice]
            cards = tuple(
                [
                    Card(face, None, face or "a hidden die", highlight=face in counts)
                    for face in faces
                ]
            )
            elements.append(Hand(f"Dice of {name}", cards, seat, "dice"))
            own = observation.bids[seat :: rules.seats]
            if own:
                elements.append(Text(f"{name}: {own[-1]}", seat))
        if top:
            elements.append(Hand(f"Top bid: {top[0]} of", (Card(top[1]),), None, "dice"))
        if observation.wild is not None:
            elements.append(Text(f"A {observation.wild} counts as any face."))
        bids = [bid for bid in observation.legal if bid != "liar"]
        if not observation.shown:
            rows = []
            last = made[-1] if made else ""
            for count in range(1, rules.all_dice + 1):
                names = [f"{count}x{face}" for face in range(1, rules.faces + 1)]
                rows.append(
                    tuple(
                        Cell(name, None, "", name if name in bids else None, name, name == last)
                        for name in names
                    )
                )
            elements.append(Grid(tuple(rows), label="Bids: count x face", look="table"))
        if "liar" in observation.legal:
            elements.append(Button(f"Call {observation.bids[-1]} a lie", "liar"))
        if observation.loser is not None:
            status = f"{self.seat_name(observation.loser)} loses"
        elif observation.to_move == CHANCE:
            status = "The dice are rolled"
        else:
            status = f"{self.seat_name(observation.to_move)} to bid"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: LiarsDiceState) -> str:
        """Return one line with all dice, also hidden ones, and the bids."""
        dice = self.rules.dice
        rolled = state.rolled
        hands = [
            "".join(str(die) for die in rolled[start : start + dice])
            if self.rules.faces < 10
            else ",".join(str(die) for die in rolled[start : start + dice])
            for start in range(0, len(rolled), dice)
        ]
        bids = " ".join(self._text(bid) for bid in state.bids)
        return f"dice: {' '.join(hands) or 'none'}, bids: {bids or 'none'}"
