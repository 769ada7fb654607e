"""Opening books: what was played in known positions, and how it came out.

Counts are kept by position, so different orders of moves to it are added up.  The interval of a
move's score is E. Wilson's, "Probable inference, the law of succession, and statistical
inference", JASA 22 (1927).

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> won, lost = PlayedMatch(["b2"], (1.0, -1.0)), PlayedMatch(["a1"], (-1.0, 1.0))
>>> book = OpeningBook.from_matches(game, [won, won, won, lost])
>>> print(book.table(game.initial_state()))
move        matches   score  95 % interval
b2                3  100.0%  [43.8, 100.0]
a1                1    0.0%  [0.0, 79.3]
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError, GameMismatch
from plyhouse.search.evaluation.played_matches import PlayedMatch, replay
from plyhouse.search.files import InvalidFile, position_hash, write_atomically
from plyhouse.search.game_requirements import Needs, mismatch

__all__ = ["BookMove", "InvalidBook", "OpeningBook"]

FORMAT: Final = "plyhouse-book-1"
NEEDS: Final = Needs("the opening book", deterministic=False, two_player_zero_sum=False)
Z: Final = 1.96
"""For intervals of 95 %."""


class InvalidBook(InvalidFile):
    """A file that is not a book for this game; ``str()`` says why."""


@dataclass(frozen=True)
class BookMove:
    """One action of a position, and what it brought the seat that took it."""

    action: Any
    text: str
    count: int
    """In how many matches it was played."""
    score: float
    """Mean score, from 0 (lost) to 1 (won)."""
    low: float
    high: float
    """Bounds of the score with 95 % confidence."""


@dataclass
class Place:
    """Statistics of one position."""

    line: str
    """How it was first reached."""
    moves: dict[str, list[float]]
    """By action: how often it was played, and the sum of the scores."""


class OpeningBook:
    """Counts and scores of the first plies of matches.

    Raises `GameMismatch` for a game whose seats do not see the whole state, or whose states
    have no ``key()``.
    """

    def __init__(self, game: Game, plies: int = 20) -> None:
        reasons = tuple(NEEDS.misfits(game))
        if reasons:
            raise mismatch(NEEDS, game, reasons)
        if not hasattr(game.initial_state(), "key"):
            raise GameMismatch(
                NEEDS.algorithm, game.spec, "its states have no key()", "give them one"
            )
        if plies < 1:
            raise ValueError(f"plies={plies!r}: expected at least 1")
        self.game = game
        self.plies = plies
        """How far into a match the book looks."""
        self.matches = 0
        self.places: dict[str, Place] = {}

    @classmethod
    def from_matches(
        cls, game: Game, matches: Iterable[PlayedMatch], plies: int = 20
    ) -> OpeningBook:
        """Make a book of finished matches; raises `played.InvalidMatch`."""
        book = cls(game, plies)
        for match in matches:
            book.add(match)
        return book

    def __len__(self) -> int:
        """Return how many positions the book knows."""
        return len(self.places)

    def add(self, match: PlayedMatch) -> None:
        """Count one match; raises `played.InvalidMatch`, and counts nothing."""
        low, high = self.game.return_bounds
        steps = []
        line: list[str] = []
        for number, (state, action) in enumerate(replay(self.game, match)):
            text = match.actions[number]
            if state.to_move >= 0 and number < self.plies:
                text = self.game.format(state, action)
                score = (match.returns[state.to_move] - low) / (high - low)
                steps.append((_name(state), " ".join(line), text, min(max(score, 0.0), 1.0)))
            line.append(text)
        for name, path, text, score in steps:
            place = self.places.setdefault(name, Place(path, {}))
            counted = place.moves.setdefault(text, [0, 0.0])
            counted[0] += 1
            counted[1] += score
        self.matches += 1

    def moves(self, state: Any, minimum: int = 1) -> list[BookMove]:
        """Actions played at least ``minimum`` times, the best lower bound first."""
        place = self.places.get(_name(state)) if state.to_move >= 0 else None
        found = []
        for text, (count, total) in (place.moves if place else {}).items():
            if count < minimum:
                continue
            try:
                action = self.game.parse(state, text)
            except GameError:  # the same 64 bits for another position: as good as impossible
                continue
            low, high = wilson(total / count, int(count))
            found.append(BookMove(action, text, int(count), total / count, low, high))
        return sorted(found, key=lambda move: (-move.low, -move.count, move.text))

    def choose(
        self,
        state: Any,
        *,
        policy: Literal["best", "weighted"] = "best",
        minimum: int = 3,
        rng: random.Random | None = None,
    ) -> Any | None:
        """Return an action of the book, or None if it knows none well enough.

        ``best`` takes the one with the best lower bound: good and often played.  ``weighted``
        draws by ``rng`` among all, by the points they made (count times score), so that play
        varies.  Moves played fewer than ``minimum`` times do not count.
        """
        if policy not in ("best", "weighted"):
            raise ValueError(f"policy={policy!r}: expected 'best' or 'weighted'")
        known = self.moves(state, minimum)
        if not known:
            return None
        if policy == "best":
            return known[0].action
        weights = [move.count * move.score for move in known]
        if not sum(weights):
            return None  # everything that was tried has lost
        return (rng or random.Random(0)).choices(known, weights)[0].action

    def table(self, state: Any, minimum: int = 1) -> str:
        """Return the moves of a position, to be read by people."""
        lines = [f"{'move':<10} {'matches':>8} {'score':>7}  95 % interval"]
        lines += [
            f"{move.text:<10} {move.count:>8} {100 * move.score:>6.1f}%  "
            f"[{100 * move.low:.1f}, {100 * move.high:.1f}]"
            for move in self.moves(state, minimum)
        ]
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write the book as JSON, in one step."""
        content = {
            "format": FORMAT,
            "game": _names(self.game)[0],
            "plies": self.plies,
            "matches": self.matches,
            "positions": {
                name: {"line": place.line, "moves": place.moves}
                for name, place in sorted(self.places.items())
            },
        }
        write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path, game: Game) -> OpeningBook:
        """Read a book; raises `InvalidBook` if it does not fit, and `OSError`."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
            known = content["format"] == FORMAT
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise InvalidBook(path, "this is not an opening book of Plyhouse, or it is damaged")
        if content.get("game") not in _names(game):
            raise InvalidBook(path, f"it is for {content.get('game')}, not for {game.spec}")
        try:
            book = cls(game, int(content["plies"]))
            book.matches = int(content["matches"])
            for name, place in content["positions"].items():
                moves = {
                    str(text): [int(count), float(total)]
                    for text, (count, total) in place["moves"].items()
                }
                if not all(count >= 1 and 0 <= total <= count for count, total in moves.values()):
                    raise ValueError(f"the counts of position {name} make no sense")
                book.places[name] = Place(str(place["line"]), moves)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidBook(path, f"it is damaged: {error}") from None
        return book


def wilson(score: float, count: int) -> tuple[float, float]:
    """Return the interval of a mean score between 0 and 1 over so many matches."""
    spread = Z * Z / count
    centre = (score + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt(score * (1 - score) / count + spread / (4 * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def _names(game: Game) -> tuple[str, str]:
    """Name of a game in the file; older books have the name of its file."""
    return game.info.name + game.spec.removeprefix(game.source or game.info.name), game.spec


def _name(state: Any) -> str:
    """Name of a position in the file."""
    return f"{position_hash(state.key()):016x}"
