"""Our games by the names of UCI and XBoard, and the actions that their moves mean.

Only games whose rules agree are here; ``tests/engines`` compare the legal moves with those of
Fairy-Stockfish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from plyhouse.bots.engines.errors import EngineError, IllegalMove, quoted
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError

__all__ = ["GAMES", "Variant", "illegal", "variant_of"]

GAMES: Final = ("chess", "breakthrough")
"""The games that UCI and XBoard engines may play."""

STANDARD_START: Final = 518
"""Number of the usual setup among those of Chess960."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A game with its parameters, as engines know it.  Its actions are written alike."""

    game: Game
    name: str
    """Its value of ``UCI_Variant``; ``chess`` for what every engine plays."""
    fen: str = ""
    """Where it starts, as FEN; empty for the usual start."""
    chess960: bool = False
    """True where castling is written as king takes rook."""

    def action(self, state: Any, move: str, engine: str) -> Any:
        """Return the action of an engine's move; raise `EngineError` if it is not legal."""
        try:
            return self.game.parse(state, move)
        except GameError:
            raise illegal(self.game, state, move, engine) from None


def illegal(game: Game, state: Any, move: str, engine: str) -> IllegalMove:
    """Return the error of an engine that answers with a move that is not legal."""
    legal = [game.format(state, action) for action in state.actions()]
    shown = ", ".join(legal[:12]) + (f" and {len(legal) - 12} more" if len(legal) > 12 else "")
    return IllegalMove(
        f"{engine} answered {quoted(move)}, which is not legal here: {shown}. Check that it plays "
        f"{game.spec} by our rules.",
        move,
    )


def variant_of(game: Game, engine: str) -> Variant:
    """Return the variant of ``game``; raise `EngineError` if engines do not know it.

    >>> from plyhouse.games import get_game
    >>> variant_of(get_game("breakthrough"), "x").name
    'breakthrough'
    >>> variant_of(get_game("breakthrough(size=5)"), "x")
    Traceback (most recent call last):
    plyhouse.bots.engines.errors.EngineError: x cannot play breakthrough(size=5): UCI and XBoard \
know chess and breakthrough on 8 by 8 squares. Accept only these, with --game.
    """
    parameters = game.parameters
    if game.info.name == "chess":
        if parameters["start"] == STANDARD_START and not parameters["fen"]:
            return Variant(game, "chess")
        seen: Any = game.observe(game.initial_state(), None)
        return Variant(game, "chess", seen.fen, getattr(game, "chess960", False))
    if game.info.name == "breakthrough" and parameters["size"] == 8:
        return Variant(game, "breakthrough")
    raise EngineError(
        f"{engine} cannot play {game.spec}: UCI and XBoard know chess and breakthrough on 8 by 8 "
        "squares. Accept only these, with --game."
    )
