"""Which games a run of a bot plays, and what they are called on the wire."""

from __future__ import annotations

from collections.abc import Iterable

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import add_game_file, get_game

__all__ = ["AcceptedGames"]


class AcceptedGames:
    """The games that a bot accepts: by the user's specs, and as a server is told of them.

    A server knows games of files by their names only.  It may name any game, but only what the
    user named may be a file that is run.  Raises `GameError` for a game that is not known.

    Without ``files`` no spec may be one: what a bot in a sandbox claims to play is said by a
    stranger, and a file of a game would be run here, outside of the sandbox.
    """

    def __init__(self, specs: Iterable[str], *, files: bool = True) -> None:
        self._files: dict[str, str] = {}
        self.specs = tuple(specs)
        for spec in self.specs:
            get_game(spec, files=files)
        self.offered = tuple([self.named(spec) for spec in self.specs])

    def named(self, spec: str) -> str:
        """The spec by the game's own name where it names a file that the user chose."""
        game = get_game(spec, files=True)
        if not game.source:
            return spec
        name = add_game_file(game.source)
        self._files[name] = game.source
        return name + game.spec.removeprefix(game.source)

    def game(self, spec: str) -> tuple[Game | None, bool]:
        """The game of a server's spec, if it is known, and whether it may be a file."""
        files = spec in self.specs
        try:
            return get_game(spec, files=files), files
        except GameError:
            return None, False

    def file(self, name: str) -> str:
        """The file of a game of the user's own; empty for others."""
        return self._files.get(name, "")

    def accepts(self, spec: str) -> bool:
        """Whether the bot plays this when others ask for it."""
        return spec in self.offered or spec.partition("(")[0] in self.offered
