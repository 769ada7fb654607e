"""``hearts``: passes by the rules of books, and plays by information-set search."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Turn
from plyhouse.bots.reference.ismcts_bot import IsmctsBot
from plyhouse.games.hidden.hearts.passing import cards_to_pass
from plyhouse.games.hidden.hearts.state import PASSED, SEATS
from plyhouse.games.playing_cards import CARDS, card_number

__all__ = ["HeartsBot"]


class HeartsBot(IsmctsBot):
    """Passes dangerous cards and empties short suits; a search chooses the cards to play.

    Chance decides too much of a deal for a search to tell three cards from three others.
    """

    name = "hearts"
    games = ("hearts",)

    def choose(self, turn: Turn) -> Any:
        """Return the next card to pass, or the card that the search found in time."""
        seen: Any = turn.observation
        if seen.pass_to is None or seen.chosen == SEATS * PASSED:
            return super().choose(turn)
        cards = [card_number(card) for card in seen.hand]
        chosen = set(seen.passed)
        return next(CARDS[card] for card in cards_to_pass(cards) if CARDS[card] not in chosen)
