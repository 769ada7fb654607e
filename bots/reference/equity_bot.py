"""``equity``: Texas hold'em by the chances of its cards against random hands.

Sklansky, "The Theory of Poker" (1987), compares the price of a call with the chance to win.  The
bot estimates that chance by simulation: it deals random cards to those who have not folded, and
counts its share of the pot (`plyhouse.games.hidden.texas_holdem.equity`).
"""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference.holdem_actions import (
    FOLD,
    PASSIVE,
    RAISE,
    drawn_kind,
    raises_in_round,
    sized,
)
from plyhouse.games.hidden.texas_holdem.equity import equity
from plyhouse.games.playing_cards import card_number

__all__ = ["EquityBot", "equity_shares"]

TRIALS: Final = 4000
"""Random deals a turn: the standard error is below one hundredth."""

AT_ONCE: Final = 100
"""Deals between two looks at the clock."""
VALUE: Final = 1.25
"""The multiple of a fair share of the pot from which the bot bets and raises."""
STRONG: Final = 1.6
"""The multiple from which it goes on raising after a raise."""
DOUBT: Final = 0.05
"""Added to the price of a call: those who bet have better cards than random ones."""
BLUFFS: Final = 0.1
"""Probability of a bet without the cards for it."""


class EquityBot(Bot):
    """Folds, calls or raises by its equity and the price of a call.

    It bets about two thirds of the pot.  It does not learn what its opponents have by how they bet,
    except that it wants better cards against a bet than before one.
    """

    name = "equity"
    games = ("texas_holdem",)

    def __init__(self, trials: int = TRIALS) -> None:
        if trials < 1:
            raise ValueError(f"trials={trials} is not positive: give the random deals of a turn.")
        self.trials = trials

    def choose(self, turn: Turn) -> Any:
        """Return the action for the cards and the price."""
        seen: Any = turn.observation
        rivals = seen.folded.count(False) - 1
        own = tuple([card_number(card) for card in seen.cards])
        board = tuple([card_number(card) for card in seen.board])
        turn.report(sized(turn.legal_text, PASSIVE, 0.0))
        chance = self.estimated(turn, own, board, rivals)
        kind = drawn_kind(equity_shares(seen, chance), turn.rng)
        pot = sum(seen.paid)
        aim = seen.bets[seen.seat] + seen.to_call + (2 * (pot + seen.to_call)) // 3
        return sized(turn.legal_text, kind, aim)

    def estimated(
        self, turn: Turn, own: tuple[int, ...], board: tuple[int, ...], rivals: int
    ) -> float:
        """Return the mean share of the pot over the trials for which there is time."""
        stop = turn.stopper()
        shares: list[float] = []
        left = self.trials
        while left > 0:
            now = min(left, AT_ONCE)
            shares.append(now * equity(own, board, rivals, now, turn.rng.getrandbits(31)))
            left -= now
            if stop():
                break
        return sum(shares) / (self.trials - left)


def equity_shares(seen: Any, chance: float) -> dict[int, float]:
    """Return the probabilities of fold, check or call, and bet or raise.

    ``chance`` is the share of the pot that the cards win on average.
    """
    rivals = seen.folded.count(False) - 1
    fair = 1.0 / (rivals + 1)
    raises = raises_in_round(seen)
    if chance > min(0.9, (VALUE if raises == 0 else STRONG) * fair):
        return {RAISE: 1.0}
    bluffs = BLUFFS if raises == 0 else 0.0
    price = seen.to_call / (sum(seen.paid) + seen.to_call)
    stays = seen.to_call == 0 or chance > price + DOUBT
    return {RAISE: bluffs, PASSIVE if stays else FOLD: 1.0 - bluffs}
