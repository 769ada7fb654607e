"""``book``: plays from an opening book, then by alpha-beta: ``book(file="othello.json")``."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.evaluation.opening_book import OpeningBook
from plyhouse.search.trees.alpha_beta import alpha_beta

__all__ = ["BookBot"]


class BookBot(SearchBot):
    """Bot that plays from an opening book, and by alpha-beta once the book has no move.

    file: an opening book that ``plyhouse book`` has written.
    minimum: how often a move must have been played to count.
    varied: draw a move with a probability that grows with its points; otherwise take the best.
    """

    name = "book"
    reads = ("file",)
    algorithm = "alpha_beta"

    def __init__(
        self,
        file: str = "book.json",
        minimum: int = 3,
        varied: bool = False,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes)
        self.file = file
        self.minimum = minimum
        self.varied = varied
        self.book: OpeningBook | None = None

    def choose(self, turn: Turn) -> Any:
        """Return the action of the book, or of the search if the book has none."""
        if self.book is None:
            self.book = OpeningBook.load(self.file, turn.game)
        action = self.book.choose(
            turn.state,
            policy="weighted" if self.varied else "best",
            minimum=self.minimum,
            rng=turn.rng,
        )
        if action is not None:
            return action
        return self.say(
            turn, alpha_beta(turn.game, turn.state, self.limit(turn), seed=self.seed(turn))
        )
