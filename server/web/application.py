"""The Litestar application: every handler, and what goes with every answer."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any, Final

from litestar import Litestar
from litestar.config.response_cache import ResponseCacheConfig
from litestar.datastructures import State
from litestar.openapi.config import OpenAPIConfig
from litestar.serialization import encode_json

from plyhouse.server.web import client
from plyhouse.server.web.api import (
    administration,
    announcements,
    baselines,
    boards,
    bot_profiles,
    cluster,
    competition_changes,
    competition_costs,
    competition_finals,
    competition_staff,
    competition_students,
    competitions,
    erasure,
    exports,
    leaderboards,
    matches,
    outputs,
    people,
    players,
    regrades,
    runners,
    server_status,
    submissions,
    tournaments,
    trees,
)
from plyhouse.server.web.compression import Compression
from plyhouse.server.web.description import complete
from plyhouse.server.web.error_pages import with_pages
from plyhouse.server.web.error_responses import HANDLERS as ERROR_HANDLERS
from plyhouse.server.web.error_responses import MAX_BODY
from plyhouse.server.web.pages import account as account_pages
from plyhouse.server.web.pages import bot_profiles as bot_profile_pages
from plyhouse.server.web.pages import cluster as cluster_pages
from plyhouse.server.web.pages import competition_forms as competition_form_pages
from plyhouse.server.web.pages import competitions as competition_pages
from plyhouse.server.web.pages import games as game_pages
from plyhouse.server.web.pages import leaderboards as leaderboard_pages
from plyhouse.server.web.pages import matches as match_pages
from plyhouse.server.web.pages import play as play_pages
from plyhouse.server.web.pages import reference, watching
from plyhouse.server.web.pages.rendering import prepare
from plyhouse.server.web.parameters import refuse_unknown

__all__ = ["create_api", "description"]

DESCRIPTION: Final = """\
Everything is read from the database or the hub at the time of asking.  What is public is public
here as well: of a match with hidden information that still runs, only what a spectator may see.
Unknown parameters and unknown fields of a body are errors."""


def create_api() -> Litestar:
    """Return a web application; it uses the services in its ``state.services``, by class.

    All of a process share their routes, of which none knows a server: to work them out takes longer
    than the rest of a server's start.
    """
    api = copy.copy(_routed())
    api.state = State()
    return api


@cache
def _routed() -> Litestar:
    """The application with all its routes."""
    prepare()
    handlers = [*_handlers(), *reference.handlers(description)]
    return Litestar(
        handlers,
        exception_handlers={kind: with_pages(each) for kind, each in ERROR_HANDLERS.items()},
        middleware=[Compression],
        before_request=refuse_unknown,
        logging_config=None,
        response_cache_config=ResponseCacheConfig(),
        openapi_config=None,
        request_max_body_size=MAX_BODY,
    )


def _handlers() -> list[Any]:
    """Return all handlers, except those of the description of the API."""
    return [
        *server_status.HANDLERS,
        *leaderboards.HANDLERS,
        *matches.HANDLERS,
        *trees.HANDLERS,
        *players.HANDLERS,
        *outputs.HANDLERS,
        *runners.HANDLERS,
        *bot_profiles.HANDLERS,
        *people.HANDLERS,
        *tournaments.HANDLERS,
        *competitions.HANDLERS,
        *competition_students.HANDLERS,
        *competition_finals.HANDLERS,
        *competition_costs.HANDLERS,
        *announcements.HANDLERS,
        *competition_changes.HANDLERS,
        *competition_staff.HANDLERS,
        *baselines.HANDLERS,
        *erasure.HANDLERS,
        *regrades.HANDLERS,
        *boards.HANDLERS,
        *exports.HANDLERS,
        *submissions.HANDLERS,
        *administration.HANDLERS,
        *cluster.HANDLERS,
        *leaderboard_pages.HANDLERS,
        *match_pages.HANDLERS,
        *bot_profile_pages.HANDLERS,
        *competition_pages.HANDLERS,
        *competition_form_pages.HANDLERS,
        *watching.HANDLERS,
        *play_pages.HANDLERS,
        *game_pages.HANDLERS,
        *account_pages.HANDLERS,
        *cluster_pages.HANDLERS,
        *client.handlers(),
    ]


@cache
def description() -> tuple[bytes, bytes]:
    """Return the OpenAPI description of the API, as JSON and as a page.

    Takes about half a second: a server lets a process of its `Helpers` do it.
    """
    config = OpenAPIConfig("Plyhouse", "1", description=DESCRIPTION, use_handler_docstrings=True)
    made = Litestar(_handlers(), openapi_config=config, logging_config=None)
    described = made.openapi_schema.to_schema()
    return encode_json(complete(described)), reference.as_page(described)
