"""Coin guess: one side has a penny or a nickel, the other names the face on it.

Lincoln is on the penny, worth 1; Jefferson is on the nickel, worth 5.  If the guess is right, the
guesser wins the coin's worth; if it is wrong, the guesser pays it.

Both variants have two seats: the first, the holder, has the coin and the second, the guesser,
names the face.

``variant=adversary``
    The holder chooses the coin in secret.  Optimal play hides the penny 5 times in 6 and
    guesses each face half of the time; the value is 0.
``variant=bag``
    Chance draws the coin from the holder's bag, in which the share ``pennies`` of the coins
    are pennies.  Nobody looks at it, and the holder only owns the bag: it never acts, it pays
    and collects.  Guessing Lincoln is worth ``6 * pennies - 5`` and Jefferson the opposite,
    so Lincoln is the better guess only above 5/6 pennies.

The holder's choices are written ``penny`` and ``nickel`` (so is the draw), the guesser's
``lincoln`` and ``jefferson``.  Returns are the coin's worth.
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
    Scoring,
    Utility,
)
from plyhouse.games.native import NativeState
from plyhouse.games.scene import Button, Card, Element, Hand, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = [
    "GUESSER",
    "HOLDER",
    "JEFFERSON",
    "LINCOLN",
    "NICKEL",
    "PENNY",
    "CoinGuess",
    "CoinGuessObservation",
    "CoinGuessState",
]

HOLDER: Final = 0
GUESSER: Final = 1

PENNY: Final = 0
NICKEL: Final = 1
LINCOLN: Final = 0
JEFFERSON: Final = 1

COINS: Final[tuple[str, ...]] = ("penny", "nickel")
FACES: Final[tuple[str, ...]] = ("lincoln", "jefferson")
WORTH: Final[tuple[float, ...]] = (1.0, 5.0)

_BOTH: Final[tuple[int, ...]] = (0, 1)
_NOTHING: Final = -1


@functools.cache
def _bag(pennies: float) -> tuple[tuple[Any, float], ...]:
    """Return the draw as chance outcomes; a coin that is not in the bag is not an outcome."""
    draws = ((PENNY, pennies), (NICKEL, 1.0 - pennies))
    return tuple([draw for draw in draws if draw[1] > 0.0])


@final
@mypyc_attr(free_list_len=1)
class CoinGuessState(NativeState):
    """The coin and the guess, -1 while there is none; ``bag`` is empty without a draw."""

    __slots__ = ("bag", "coin", "guess")

    bag: tuple[tuple[Any, float], ...]
    coin: int
    guess: int

    def __init__(
        self,
        to_move: int = HOLDER,
        bag: tuple[tuple[Any, float], ...] = (),
        coin: int = -1,
        guess: int = -1,
    ) -> None:
        self.to_move = to_move
        self.bag = bag
        self.coin = coin
        self.guess = guess

    def __reduce__(self) -> tuple[Any, ...]:
        return CoinGuessState, (self.to_move, self.bag, self.coin, self.guess)

    def actions(self) -> tuple[Any, ...]:
        """Two coins to choose from, or two faces to name."""
        if self.to_move < 0:
            return ()
        return _BOTH

    def after(self, action: Any) -> CoinGuessState:
        """Return the state after the coin is chosen or drawn, or the face is named."""
        choice: int = action
        if self.coin < 0:
            return CoinGuessState(GUESSER, self.bag, choice, -1)
        return CoinGuessState(TERMINAL, self.bag, self.coin, choice)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the draw from the bag."""
        if self.to_move == CHANCE:
            return self.bag
        return ()

    def returns(self) -> tuple[float, ...]:
        """Pay the coin's worth to the guesser if the guess is right, else to the holder."""
        worth: float = WORTH[self.coin]
        if self.guess == self.coin:
            return (-worth, worth)
        return (worth, -worth)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class CoinGuessObservation(Observation):
    """One side's view: the coin is shown to a holder who chose it, and after the end."""

    variant: str
    """The variant of the rules: "adversary" or "bag"."""
    pennies: float | None
    """Share of pennies in the bag; None if there is no bag."""
    coin: str | None
    """"penny", "nickel", or None while there is none or it is hidden."""
    guess: str | None
    """"lincoln", "jefferson", or None before the guess."""


@mypyc_attr(allow_interpreted_subclasses=True)
class CoinGuess(Game[CoinGuessState, int, CoinGuessObservation]):
    """Guess which coin it is, against a bag or an adversary.

    >>> game = CoinGuess()
    >>> state = game.initial_state()
    >>> state = state.after(game.parse(state, "nickel"))
    >>> game.observe(state, 0).coin, game.observe(state, 1).coin
    ('nickel', None)
    >>> state.after(game.parse(state, "jefferson")).returns()
    (-5.0, 5.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="coin_guess",
        title="Coin guess",
        summary="A penny or a nickel is hidden; name the face on it and win its worth.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-5.0,
        max_return=5.0,
        max_plies=2,
        parameters=(
            Parameter(
                "variant",
                "adversary",
                "who hides the coin: seat 0 (adversary) or chance (bag)",
                choices=("adversary", "bag"),
            ),
            Parameter("pennies", 0.5, "share of pennies in the bag", 0.0, 1.0),
        ),
        seat_names=("holder", "guesser"),
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = CoinGuessObservation
    action_pattern: ClassVar[str] = "penny|nickel|lincoln|jefferson"
    action_notation: str = "penny or nickel from the holder, lincoln or jefferson from the guesser"

    def check_parameters(self) -> None:
        """The share of pennies matters to the bag only, but is harmless otherwise."""
        self.from_bag = self.text_parameter("variant") == "bag"
        self.pennies = self.float_parameter("pennies")

    @property
    def return_bounds(self) -> tuple[float, float]:
        """The worth of a nickel is at stake, unless the bag has pennies only."""
        stake = WORTH[PENNY] if self.from_bag and self.pennies == 1.0 else WORTH[NICKEL]
        return -stake, stake

    def initial_state(self) -> CoinGuessState:
        """Return the draw from the bag, or the holder's choice."""
        if self.from_bag:
            return CoinGuessState(CHANCE, _bag(self.pennies))
        return CoinGuessState(HOLDER)

    def format(self, state: CoinGuessState, action: int) -> str:
        """Return the coin or the face."""
        return (COINS if state.to_move == HOLDER else FACES)[action]

    def format_chance(self, state: CoinGuessState, outcome: int) -> str:
        """Return the coin."""
        return COINS[outcome]

    def observe(self, state: CoinGuessState, seat: int | None) -> CoinGuessObservation:
        """Return the guess, and the coin if the seat may know it."""
        over = state.to_move == TERMINAL
        known = over or (seat == HOLDER and not self.from_bag)
        return CoinGuessObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            variant="bag" if self.from_bag else "adversary",
            pennies=self.pennies if self.from_bag else None,
            coin=COINS[state.coin] if known and state.coin >= 0 else None,
            guess=FACES[state.guess] if state.guess >= 0 else None,
        )

    def information_state(self, state: CoinGuessState, seat: int) -> Hashable:
        """To move, the coin if known and the guess: each is seen once, so nothing is lost."""
        over = state.to_move == TERMINAL
        known = over or (seat == HOLDER and not self.from_bag)
        return (seat, state.to_move, state.coin if known else _NOTHING, state.guess)

    def visible(self, state: CoinGuessState, action: Any, viewer: int | None) -> str | None:
        """Return the guess to all; the choice of a coin to its holder; a draw to nobody."""
        if state.to_move == CHANCE:
            return None
        if state.to_move == HOLDER and viewer != HOLDER:
            return None
        return self.format(state, action)

    def sample_state(self, observation: CoinGuessObservation, rng: random.Random) -> CoinGuessState:
        """Return a coin drawn as from the bag; an adversary's coin is either with equal chance."""
        bag = _bag(self.pennies) if self.from_bag else ()
        guess = _NOTHING if observation.guess is None else FACES.index(observation.guess)
        if observation.coin is not None:
            coin = COINS.index(observation.coin)
        elif observation.to_move != GUESSER:
            coin = _NOTHING
        else:
            share = self.pennies if self.from_bag else 0.5
            coin = PENNY if rng.random() < share else NICKEL
        return CoinGuessState(observation.to_move, bag, coin, guess)

    def scene(self, observation: CoinGuessObservation) -> Scene:
        """Return the coin, face down while it is hidden, and a button per action."""
        there = observation.coin is not None or observation.to_move == GUESSER
        coin_name = observation.coin
        card = Card(coin_name, None, coin_name or "a hidden coin", shape=coin_name or "")
        coins = (card,) if there else ()
        elements: list[Element] = [
            Text("A penny (Lincoln) is worth 1, a nickel (Jefferson) is worth 5.")
        ]
        if observation.pennies is not None:
            elements.append(Text(f"{observation.pennies:.0%} of the coins in the bag are pennies."))
        elements.append(Hand("Coin", coins, HOLDER, "coins"))
        if observation.guess is not None:
            named = observation.guess
            shape = COINS[FACES.index(named)]
            guess = Card(named.capitalize(), None, named.capitalize(), shape=shape)
            elements.append(Hand("Guess", (guess,), GUESSER, "coins"))
        verb = "Guess" if observation.to_move == GUESSER else "Hide the"
        for action in observation.legal:
            name = action.capitalize() if observation.to_move == GUESSER else action
            shape = COINS[FACES.index(action)] if observation.to_move == GUESSER else action
            elements.append(Button(f"{verb} {name}", action, shape=shape))
        if observation.coin is not None and observation.guess is not None:
            coin = COINS.index(observation.coin)
            right = FACES.index(observation.guess) == coin
            verdict = "Right: the guesser wins" if right else "Wrong: the guesser pays"
            status = f"{verdict} {WORTH[coin]:g}"
        elif observation.to_move == CHANCE:
            status = "A coin is drawn"
        elif observation.to_move == GUESSER:
            status = "The guesser names a face"
        else:
            status = "The holder hides a coin"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: CoinGuessState) -> str:
        """Return one line with the coin (also while it is hidden) and the guess."""
        coin = COINS[state.coin] if state.coin >= 0 else "none yet"
        guess = FACES[state.guess] if state.guess >= 0 else "none yet"
        return f"coin: {coin}, guess: {guess}"
