"""Reads moves that people write in one text: ``44``, ``e2e4 e7e5``, ``roll 4 hold``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.errors import GameError, listed, shortened
from plyhouse.games.position import Position

if TYPE_CHECKING:
    from plyhouse.games.base import Game

__all__ = ["Replayed", "replayed"]

SEPARATORS: Final = " \t\r\n,;"


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where moves lead."""

    state: Any
    names: tuple[str, ...]
    """Each move as the game writes it."""
    mover: int | None
    """The seat that moved last; None where none has."""


def replayed(game: Game, text: str) -> Replayed:
    """Play these moves from the start.

    At every position the text goes on with a legal action of the seat to move or an outcome of
    chance, in the game's notation.  If several fit, the longest is taken.  Blanks, commas and
    semicolons may stand between them, and have to where moves would run together.  Raises
    `CommandError`, which says which move was wrong and what would be legal.
    """
    position = Position(game)
    names: list[str] = []
    mover: int | None = None
    rest = text.strip(SEPARATORS)
    while rest:
        if position.mover == TERMINAL:
            raise CommandError(
                f"The game is over after {' '.join(names)}: {shortened(rest)} is too much.",
                EXIT_USAGE,
            )
        action, name, length = first_move(game, position.state, rest, names)
        names.append(name)
        mover = position.mover if position.mover >= 0 else mover
        position.play(action)
        rest = rest[length:].lstrip(SEPARATORS)
    return Replayed(position.state, tuple(names), mover)


def first_move(game: Game, state: Any, rest: str, before: list[str]) -> tuple[Any, str, int]:
    """The action with which the text begins, its name, and the length of it in the text."""
    legal = legal_moves(game, state)
    folded = rest.casefold()
    fitting = [name for name in legal if folded.startswith(name.casefold())]
    # A move that ends where the text has a separator is more likely meant.
    whole = [name for name in fitting if rest[len(name) : len(name) + 1] in ("", *SEPARATORS)]
    if whole:
        name = max(whole, key=len)
        return legal[name], name, len(name)
    word = min([rest, *(rest.split(mark)[0] for mark in SEPARATORS)], key=len)
    if state.to_move != CHANCE:
        try:  # other ways to write it, that the game reads but does not write
            action = game.parse(state, word)
        except GameError:
            pass
        else:
            return action, game.format(state, action), len(word)
    if fitting:
        name = max(fitting, key=len)
        return legal[name], name, len(name)
    who = "chance" if state.to_move == CHANCE else game.seat_name(state.to_move)
    place = f"after {' '.join(before)}" if before else "at the start"
    near = difflib.get_close_matches(word.casefold(), legal, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? Possible: " if near else "possible: "
    raise CommandError(
        f"Move {len(before) + 1}, {shortened(word)}, cannot be read {place}, where it is "
        f"{who}'s turn; {hint}{listed(list(legal))}.",
        EXIT_USAGE,
    )


def legal_moves(game: Game, state: Any) -> dict[str, Any]:
    """The possible actions or outcomes, by their text."""
    if state.to_move == CHANCE:
        return {game.format_chance(state, o): o for o, _ in state.chance_outcomes()}
    return {game.format(state, action): action for action in state.actions()}
