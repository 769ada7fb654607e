"""The tables of a match of Scrabble, which all its positions share."""

from __future__ import annotations

import functools
from typing import Any, Final, final

from plyhouse.games.hidden.scrabble.words import WordList, word_list

__all__ = ["CHALLENGES", "Rules", "rules_of"]

CHALLENGES: Final = ("none", "single", "double", "five")
"""Names of costs of a challenge whose play stands; with "none" there are no challenges."""


@final
class Rules:
    """Tables shared by all positions of a match; made by `rules_of` only."""

    def __init__(
        self, seats: int, dictionary: str, points: bool, most_plays: int, challenges: str
    ) -> None:
        self.seats: int = seats
        self.dictionary: str = dictionary
        self.points: bool = points
        """True if returns are leads in points."""
        self.most_plays: int = most_plays
        """How many plays are legal, the highest ones; 0 for all."""
        self.challenges: str = challenges
        """One of `CHALLENGES`."""
        self.phonies: bool = challenges != "none"
        """True if plays may have words that are not in the list."""
        self.words: WordList = word_list(dictionary)

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.seats, self.dictionary, self.points, self.most_plays, self.challenges)
        return rules_of, given


@functools.cache
def rules_of(
    seats: int, dictionary: str, points: bool, most_plays: int = 0, challenges: str = "none"
) -> Rules:
    """Return the one `Rules` of these parameters."""
    return Rules(seats, dictionary, points, most_plays, challenges)
