"""A position of Scrabble: the board, racks, bag and scores.

An action is its text: a play as in `plays`, ``-`` for a pass, or ``-ABC`` for an exchange, with the
tiles in alphabetical order and blanks (``?``) last.  Tiles and squares are numbers as in `tiles`.

Where plays may be challenged, the next seat answers each with ``accept`` or ``challenge``.  Until
then its tiles lie on the board, its points count, and its seat draws no tiles.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.scrabble.action_lists import (
    LEAST_BAG,
    PASS,
    actions_with,
    listed_with,
)
from plyhouse.games.hidden.scrabble.lines import words_made
from plyhouse.games.hidden.scrabble.match_rules import Rules
from plyhouse.games.hidden.scrabble.plays import Plays, placed_squares, play_parts, play_score
from plyhouse.games.hidden.scrabble.tiles import (
    BLANK,
    COUNTS,
    RACK,
    SQUARES,
    VALUES,
    tile_names,
    tiles_named,
    without,
)
from plyhouse.games.native import NativeState

__all__ = [
    "ACCEPT",
    "CHALLENGE",
    "FIVE",
    "MOST_SCORELESS",
    "ScrabbleState",
    "first_state",
]

ACCEPT: Final = "accept"
CHALLENGE: Final = "challenge"
FIVE: Final = 5
"""Points for a seat whose play was challenged, and stands."""
MOST_SCORELESS: Final = 6
"""Turns without points in a row that end the game."""


@final
@mypyc_attr(free_list_len=1)
class ScrabbleState(NativeState):
    """The board, racks, bag and scores; at a chance node a seat draws a tile."""

    __slots__ = (
        "aside",
        "bag",
        "board",
        "laid",
        "last",
        "racks",
        "rules",
        "scoreless",
        "scores",
        "shown",
        "turn",
    )

    rules: Rules
    board: bytes
    """The content of each square."""
    racks: tuple[bytes, ...]
    """The tiles of each seat, in the order of their numbers."""
    bag: bytes
    """How many tiles of each number the bag holds."""
    scores: tuple[int, ...]
    scoreless: int
    """Turns without points in a row."""
    turn: int
    """Seat whose turn it is: it is to move, draws, or waits for the answer to its play.  After the
    end it is the seat that had the last turn."""
    aside: bytes
    """Tiles that the seat exchanges: they return to the bag when it has drawn."""
    last: tuple[str, ...]
    """The last action of each seat; "" before it."""
    laid: bytes
    """Squares of the tiles of a play that waits to be accepted or challenged."""
    shown: tuple[bytes, ...]
    """Tiles that all know a seat to hold, because a challenge returned them to it."""

    def __init__(
        self,
        to_move: int,
        rules: Rules,
        board: bytes,
        racks: tuple[bytes, ...],
        bag: bytes,
        scores: tuple[int, ...],
        scoreless: int,
        turn: int,
        aside: bytes,
        last: tuple[str, ...],
        laid: bytes,
        shown: tuple[bytes, ...],
    ) -> None:
        self.to_move = to_move
        self.rules = rules
        self.board = board
        self.racks = racks
        self.bag = bag
        self.scores = scores
        self.scoreless = scoreless
        self.turn = turn
        self.aside = aside
        self.last = last
        self.laid = laid
        self.shown = shown

    def __reduce__(self) -> tuple[Any, ...]:
        return ScrabbleState, (
            self.to_move,
            self.rules,
            self.board,
            self.racks,
            self.bag,
            self.scores,
            self.scoreless,
            self.turn,
            self.aside,
            self.last,
            self.laid,
            self.shown,
        )

    def copied(self) -> ScrabbleState:
        """Return a new object for the same position, for `after` to change."""
        return ScrabbleState(
            self.to_move,
            self.rules,
            self.board,
            self.racks,
            self.bag,
            self.scores,
            self.scoreless,
            self.turn,
            self.aside,
            self.last,
            self.laid,
            self.shown,
        )

    # Rules

    def bag_size(self) -> int:
        """Return how many tiles the bag holds."""
        return sum(self.bag)

    def plays(self, best: bool = False, stop: Callable[[], bool] | None = None) -> Plays:
        """Return the plays of the seat to move; see `Plays` for ``best`` and ``stop``."""
        return Plays(self.rules.words.edges, self.board, self.racks[self.turn], best, stop)

    def actions(self) -> tuple[Any, ...]:
        """Return the plays, then the exchanges with few tiles first, then the pass.

        Plays with words that are not in the list are left out, also where one may lay them.
        """
        if self.to_move < 0:
            return ()
        if self.laid:
            return (ACCEPT, CHALLENGE)
        bag = self.bag_size() >= LEAST_BAG
        return actions_with(self.rules, self.board, self.racks[self.turn], bag)

    def listed(self) -> tuple[tuple[Any, ...], bool]:
        """Return legal actions within a fixed number of steps, and whether they are all."""
        if self.to_move < 0 or self.laid or self.rules.most_plays:
            return self.actions(), True
        bag = self.bag_size() >= LEAST_BAG
        return listed_with(self.rules, self.board, self.racks[self.turn], bag)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the tiles in the bag, each with its share."""
        if self.to_move != CHANCE:
            return ()
        total: float = float(self.bag_size())
        return tuple(
            [(tile, float(count) / total) for tile, count in enumerate(self.bag) if count > 0]
        )

    def after(self, action: Any) -> ScrabbleState:
        """Return the state after a tile was drawn, or after an action of a seat."""
        changed = self.copied()
        if self.to_move == CHANCE:
            tile: int = action
            changed._draw(tile)
            return changed
        text: str = action
        mover: int = self.to_move
        changed.last = (*self.last[:mover], text, *self.last[mover + 1 :])
        if self.laid:
            changed._answer(text == CHALLENGE)
            return changed
        score: int = 0
        if text[0] != PASS:
            parts = play_parts(text)
            if parts is not None:
                score = changed._lay(parts[0], parts[1])
                if self.rules.phonies:
                    changed.to_move = (mover + 1) % self.rules.seats
                    return changed
        elif text != PASS:
            changed.aside = tiles_named(text[1:])
            changed._hold(without(self.racks[mover], changed.aside))
            changed._show(b"")
        changed._finish(score)
        return changed

    def wrong_words(self) -> list[str]:
        """Return the words of the play that waits for an answer which are not in the list."""
        parts = play_parts(self.last[self.turn])
        if parts is None or not self.laid:
            return []
        down, words = parts[0] >= SQUARES, self.rules.words
        return [word for word in words_made(self.board, list(self.laid), down) if word not in words]

    def answer(self) -> str:
        """Return the answer to a play by a seat that knows the word list."""
        return CHALLENGE if self.wrong_words() else ACCEPT

    def _answer(self, challenged: bool) -> None:
        """Accept the play that waits, or look its words up."""
        seat: int = self.turn
        text: str = self.last[seat]
        wrong: bool = challenged and len(self.wrong_words()) > 0
        board: list[int] = list(self.board)
        tiles: list[int] = []
        for square in self.laid:
            code: int = board[square]
            tiles.append(0 if code > BLANK else code)
            board[square] = 0
        self.laid = b""
        points: int = 0
        parts = play_parts(text)
        if parts is not None:
            points = play_score(bytes(board), parts[0], parts[1])
        if wrong:
            self.board = bytes(board)
            self._hold(bytes(sorted([*self.racks[seat], *tiles])))
            self._show(bytes(sorted([*self.shown[seat], *tiles])))
            self._score(-points)
            points = 0
        elif challenged and self.rules.challenges == "five":
            self._score(FIVE)
        self._finish(points)

    def _finish(self, points: int) -> None:
        """Let the seat draw tiles after its action, or end its turn."""
        self.scoreless = 0 if points > 0 else self.scoreless + 1
        if len(self.racks[self.turn]) < RACK and any(self.bag):
            self.to_move = CHANCE
        else:
            self._pass_on()

    def _score(self, points: int) -> None:
        """Add to the points of the seat whose turn it is."""
        scores: list[int] = list(self.scores)
        scores[self.turn] += points
        self.scores = tuple(scores)

    def _show(self, tiles: bytes) -> None:
        """Set the tiles that all know the seat whose turn it is to hold."""
        seat: int = self.turn
        self.shown = (*self.shown[:seat], tiles, *self.shown[seat + 1 :])

    def _hold(self, rack: bytes) -> None:
        """Give the seat whose turn it is another rack."""
        seat: int = self.turn
        self.racks = (*self.racks[:seat], rack, *self.racks[seat + 1 :])

    def _draw(self, tile: int) -> None:
        bag: list[int] = list(self.bag)
        bag[tile] -= 1
        rack: list[int] = sorted([*self.racks[self.turn], tile])
        self._hold(bytes(rack))
        self.bag = bytes(bag)
        if len(rack) == RACK or not any(bag):
            self._pass_on()

    def _lay(self, start: int, word: str) -> int:
        """Lay the tiles of a play on the board; return its points."""
        seat: int = self.turn
        score: int = play_score(self.board, start, word)
        board: list[int] = list(self.board)
        rack: list[int] = list(self.racks[seat])
        shown: list[int] = list(self.shown[seat])
        laid: list[int] = []
        for square, code in placed_squares(self.board, start, word):
            tile: int = 0 if code > BLANK else code
            board[square] = code
            laid.append(square)
            rack.remove(tile)
            if tile in shown:
                shown.remove(tile)
        self.board = bytes(board)
        self._hold(bytes(rack))
        self._score(score)
        if self.rules.phonies:
            self.laid = bytes(laid)
            self._show(bytes(shown))
        return score

    def _pass_on(self) -> None:
        """Let the next seat move, or draw in the deal, or end the game."""
        seat: int = self.turn
        if self.aside:
            bag: list[int] = list(self.bag)
            for tile in self.aside:
                bag[tile] += 1
            self.bag = bytes(bag)
            self.aside = b""
        out: bool = not self.racks[seat]
        skips: bool = not out and self._next_loses_turn()
        if skips:
            self.scoreless += 1
        if out or self.scoreless >= MOST_SCORELESS:
            self.to_move = TERMINAL
            self._settle(seat if out else -1)
            return
        self.turn = (seat + (2 if skips else 1)) % self.rules.seats
        self.to_move = self.turn if self.racks[self.turn] else CHANCE

    def _next_loses_turn(self) -> bool:
        """Return whether the next seat has challenged the play of this turn, which stands.

        The next seat answers every play, so that its last action is the answer to this one.
        """
        if self.rules.challenges != "double":
            return False
        challenged: bool = self.last[(self.turn + 1) % self.rules.seats] == CHALLENGE
        parts = play_parts(self.last[self.turn])
        if parts is None or not challenged:
            return False
        return not placed_squares(self.board, parts[0], parts[1])

    def _settle(self, out: int) -> None:
        """Take the tiles left off the scores, and add them to that of the seat that is out."""
        scores: list[int] = list(self.scores)
        for seat, rack in enumerate(self.racks):
            points: int = sum([VALUES[tile] for tile in rack])
            scores[seat] -= points
            if out >= 0:
                scores[out] += points
        self.scores = tuple(scores)

    def returns(self) -> tuple[float, ...]:
        """Return what the winners win from the others, or leads in points."""
        scores = self.scores
        seats: int = len(scores)
        if self.rules.points:
            mean: float = float(sum(scores)) / float(seats)
            leads: list[float] = [float(score) - mean for score in scores]
            most: float = max([abs(lead) for lead in leads])
            scale: float = 1.0 if most <= MOST_LEAD else MOST_LEAD / most
            return tuple([lead * scale for lead in leads])
        top: int = max(scores)
        winners: int = scores.count(top)
        won: float = float(seats - winners) / float(winners)
        return tuple([won if score == top else -1.0 for score in scores])

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Return the returns of a game in which all make the plays with most points.

        A seat without a play exchanges all its tiles, or passes.
        """
        state = self
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(state.drawn(rng.random()))
                continue
            if state.laid:
                state = state.after(state.answer())
                continue
            texts = state.plays(True).texts
            if texts:
                state = state.after(texts[len(texts) - 1])
            elif state.bag_size() >= LEAST_BAG:
                state = state.after(PASS + tile_names(state.racks[state.turn]))
            else:
                state = state.after(PASS)
        return state.returns()

    def drawn(self, chance: float) -> int:
        """Return the tile at a place of the bag, from 0 to 1."""
        skip: i64 = int(chance * float(self.bag_size()))
        for tile in range(27):
            count: i64 = self.bag[tile]
            skip -= count
            if skip < 0:
                return tile
        return 0


MOST_LEAD: Final = 1000.0
"""Greatest return in points: where a lead is larger, all returns are reduced in proportion."""


def first_state(rules: Rules) -> ScrabbleState:
    """Return the position before the first tile is drawn."""
    none = tuple([b"" for _ in range(rules.seats)])
    zeros = tuple([0 for _ in range(rules.seats)])
    nothing = tuple(["" for _ in range(rules.seats)])
    return ScrabbleState(
        CHANCE,
        rules,
        bytes(SQUARES),
        none,
        bytes(list(COUNTS)),
        zeros,
        0,
        0,
        b"",
        nothing,
        b"",
        none,
    )
