"""The Litestar application: every handler, and what goes with every answer."""

from __future__ import annotations

from typing import Any, Final

from litestar import Litestar
from litestar.config.response_cache import ResponseCacheConfig
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from plyhouse.server.web import client
from plyhouse.server.web.api import (
    administration,
    competitions,
    house,
    leaderboards,
    matches,
    players,
)
from plyhouse.server.web.compression import Compression
from plyhouse.server.web.pages import leaderboards as leaderboard_pages
from plyhouse.server.web.pages import matches as match_pages
from plyhouse.server.web.pages import play as play_pages
from plyhouse.server.web.pages import reference
from plyhouse.server.web.pages.rendering import prepare
from plyhouse.server.web.problems import HANDLERS as PROBLEM_HANDLERS
from plyhouse.server.web.problems import MAX_BODY

__all__ = ["create_api"]

DESCRIPTION: Final = """\
Everything is read from the database or the hub at the time of asking.  What is public is public
here as well: of a match with hidden information that still runs, only what a spectator may see."""


def create_api() -> Litestar:
    """Return the web application; it serves the hub that is put into its ``state.hub``."""
    prepare()
    handlers: list[Any] = [
        *house.HANDLERS,
        *leaderboards.HANDLERS,
        *matches.HANDLERS,
        *players.HANDLERS,
        *competitions.HANDLERS,
        *administration.HANDLERS,
        *leaderboard_pages.HANDLERS,
        *match_pages.HANDLERS,
        *play_pages.HANDLERS,
        *reference.HANDLERS,
        *client.handlers(),
    ]
    return Litestar(
        handlers,
        exception_handlers=PROBLEM_HANDLERS,
        middleware=[Compression],
        logging_config=None,
        response_cache_config=ResponseCacheConfig(),
        openapi_config=OpenAPIConfig(
            title="Plyhouse",
            version="1",
            description=DESCRIPTION,
            path="/api",
            use_handler_docstrings=True,
            render_plugins=[
                JsonRenderPlugin(path="/openapi.json"),
                reference.ReferencePage(path="/"),
            ],
        ),
        request_max_body_size=MAX_BODY,
    )
