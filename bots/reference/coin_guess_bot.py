"""``coin_guess_optimal``: unbeatable in coin guess, even if the opponent knows its strategy.

Against an adversary it plays the smallest case of J. von Neumann's minimax theorem.  The holder
hides the penny 5 times in 6, so that both guesses are worth the same: 5/6 * 1 - 1/6 * 5 = 0.  The
guesser names each face half of the time, so that both coins are worth 0.  Against a bag with the
share p of pennies, naming Lincoln is worth 6p - 5 and Jefferson the opposite.
"""

from __future__ import annotations

from typing import Final

from plyhouse.bots import Bot, Turn

__all__ = ["CoinGuessOptimal"]

PENNY_SHARE: Final = 5 / 6


class CoinGuessOptimal(Bot):
    """Plays the mixed equilibrium; against a bag, the better guess."""

    name = "coin_guess_optimal"
    games = ("coin_guess", "coin_guess(variant=bag)")

    def choose(self, turn: Turn) -> str:
        """Return a coin or a face, drawn from the optimal distribution."""
        if turn.seat == 0:
            return "penny" if turn.rng.random() < PENNY_SHARE else "nickel"
        if turn.game.parameters["variant"] == "bag":
            pennies = float(turn.game.parameters["pennies"])
            return "lincoln" if pennies > PENNY_SHARE else "jefferson"
        return turn.rng.choice(["lincoln", "jefferson"])
