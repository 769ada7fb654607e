"""The games that a run of a bot accepts, and their names on the wire."""

from __future__ import annotations

from collections.abc import Iterable

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import add_game_file, get_game

__all__ = ["AcceptedGames"]


class AcceptedGames:
    """The accepted games: as the user specified them, and as the server knows them.

    A server knows games of files by their names only.  It may name any game, but only what the
    user named may be a file that is run.  Raises `GameError` for a game that is not known.

    Without ``files``, a spec may not name a file.  The games of a sandboxed bot are a stranger's
    claim, and a game's file would run here, outside of the sandbox.
    """

    def __init__(self, specs: Iterable[str], *, files: bool = True) -> None:
        self._files: dict[str, str] = {}
        self.specs = tuple(specs)
        for spec in self.specs:
            get_game(spec, files=files)
        self.offered = tuple([self.named(spec) for spec in self.specs])

    def named(self, spec: str) -> str:
        """Return the spec by the game's own name where it names a file that the user chose."""
        game = get_game(spec, files=True)
        if not game.source:
            return spec
        name = add_game_file(game.source)
        self._files[name] = game.source
        return name + game.spec.removeprefix(game.source)

    def game(self, spec: str) -> tuple[Game | None, bool]:
        """Return the game of a server's spec, if it is known, and whether it may be a file."""
        files = spec in self.specs
        try:
            return get_game(spec, files=files), files
        except GameError:
            return None, False

    def file(self, name: str) -> str:
        """Return the file of a game of the user's own; empty for others."""
        return self._files.get(name, "")

    def accepts(self, spec: str) -> bool:
        """Return whether the bot plays this when others ask for it."""
        return spec in self.offered or spec.partition("(")[0] in self.offered
