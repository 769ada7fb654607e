"""The current position of a match, and the one way to apply an event to it.

The engine plays with a `Position`.  Restarts and replays rebuild one, a bot's process follows its
match with one, and readers of records step through them with one.  All of them call
`Position.apply`.  (`plyhouse verify` does not: it checks what this code did, so it has its own.)

>>> from plyhouse.games import get_game
>>> position = Position(get_game("tic_tac_toe"))
>>> for seat, text in ((0, "b2"), (1, "a1")):
...     action = position.apply(seat, text)
>>> position.ply, position.mover
(2, 0)
>>> position.apply(1, "c3")
Traceback (most recent call last):
plyhouse.games.position.OutOfTurn: Seat 1 acts, but seat 0 is to move.
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameError, InvalidAction

__all__ = ["OutOfTurn", "Position", "read_action"]


class OutOfTurn(GameError):  # noqa: N818 - a condition of the events, named like IllegalAction
    """An event of a seat, or of chance, that is not to move; ``str()`` says who is."""

    code = "match/not_your_turn"

    def __init__(self, mover: int, seat: int) -> None:
        super().__init__(f"{_who(seat).capitalize()} acts, but {_turn(mover)}.")
        self.mover = mover
        self.seat = seat


def read_action(game: Game, state: Any, text: str) -> Any:
    """Return the legal action that ``text`` of the seat to move means.

    Raises `GameError` for any other text, also where the game's own ``parse`` fails in another way.
    A seat must not gain by a text on which the rules fail.  An error on a listed action, written as
    the game writes it, passes: it is no fault of the seat.
    """
    try:
        return game.parse(state, text)
    except GameError:
        raise
    except Exception as error:  # the rules of a game, even a user's, may raise anything
        if text.strip() in [game.format(state, each) for each in game.listed_actions(state)]:
            raise
        reason = f"the rules of {game.info.name} cannot read it ({type(error).__name__})"
        raise InvalidAction(text, reason, game.action_notation) from error


class Position:
    """A game in progress: its full state, and how many events led to it."""

    __slots__ = ("draws", "game", "ply", "state")

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state: Any = game.initial_state()
        """The full state, hidden parts included."""
        self.ply = 0
        """How many actions of seats led here."""
        self.draws = 0
        """How many outcomes of chance led here."""

    @property
    def mover(self) -> int:
        """The seat to move, `CHANCE` or `TERMINAL`."""
        mover: int = self.state.to_move
        return mover

    def apply(self, seat: int, text: str) -> Any:
        """Let ``seat`` (`CHANCE` for chance) do what ``text`` says; return the action.

        Raises `OutOfTurn` if somebody else is to move, and the game's own errors for a text
        that is no action here; the position then stays as it was.
        """
        state = self.state
        if state.to_move != seat:
            raise OutOfTurn(state.to_move, seat)
        if seat == CHANCE:
            action = self.game.parse_chance(state, text)
        else:
            action = read_action(self.game, state, text)
        self.play(action)
        return action

    def play(self, action: Any) -> None:
        """Apply an action or chance outcome without checking that it is legal."""
        before = self.state
        self.state = before.after(action)
        if before.to_move == CHANCE:
            self.draws += 1
        else:
            self.ply += 1


def _who(seat: int) -> str:
    return "chance" if seat == CHANCE else f"seat {seat}"


def _turn(mover: int) -> str:
    return "the game is over" if mover == TERMINAL else f"{_who(mover)} is to move"
