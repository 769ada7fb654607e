"""The form with which a person gets into a match; the web client does the rest."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State

from plyhouse.games.registry import game_names
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import hub_of

__all__ = ["HANDLERS"]

SUGGESTED: Final = 200
"""Connected bots that are suggested as opponents."""


@get("/play", include_in_schema=False)
async def play(state: State) -> Response[str]:
    """Show the way into a match."""
    others = sorted(hub_of(state).directory.online())[:SUGGESTED]
    return page("play.html", games=game_names(), others=others)


HANDLERS: Final[tuple[Any, ...]] = (play,)
