"""The Litestar application: every handler, and the description of the API.

Litestar derives the OpenAPI description from the handlers.  This module adds the common parts of
all routes: refusals are ``application/problem+json``, and a value may fit several types of a union.
"""

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
    competition_files,
    competition_messages,
    competition_people,
    competitions,
    dataset,
    matches,
    people,
    players,
    runners,
    server_status,
    standings,
    submissions,
    trees,
)
from plyhouse.server.web.compression import Compression
from plyhouse.server.web.error_responses import HANDLERS as ERROR_HANDLERS
from plyhouse.server.web.error_responses import with_pages
from plyhouse.server.web.pages import bot_profiles, new_competition, server
from plyhouse.server.web.pages import client_pages as play_pages
from plyhouse.server.web.pages import competition_forms as competition_form_pages
from plyhouse.server.web.pages import competitions as competition_pages
from plyhouse.server.web.pages import games as game_pages
from plyhouse.server.web.pages import leaderboards as leaderboard_pages
from plyhouse.server.web.pages import matches as match_pages
from plyhouse.server.web.pages.rendering import prepare
from plyhouse.server.web.parameters import refuse_unknown, restore_slashes
from plyhouse.server.web.request_limits import MAX_BODY

PROBLEM: Final = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457).",
    "required": ["type", "status", "title", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "integer"},
        "title": {"type": "string"},
        "code": {"type": "string", "description": "Stable: for programs."},
        "detail": {"type": "string", "description": "One sentence: for people."},
    },
}
_REFUSED: Final = {
    "description": "Refused; the body says why.",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
    },
}


def complete(described: dict[str, Any]) -> dict[str, Any]:
    """Return a description with what is derived wrongly, or not at all, put right."""
    made: dict[str, Any] = _any_of(described)
    made["components"]["schemas"]["Problem"] = PROBLEM
    for path in made["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].pop("400", None)
                operation["responses"] |= {"4XX": _REFUSED, "5XX": _REFUSED}
    return made


def _any_of(part: Any) -> Any:
    """Turn "exactly one of" into "any of": 10 is an integer and a number as well."""
    if isinstance(part, dict):
        return {("anyOf" if key == "oneOf" else key): _any_of(each) for key, each in part.items()}
    if isinstance(part, list | tuple):
        return [_any_of(each) for each in part]
    return part


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
    handlers = [*_handlers(), *server.handlers(description)]
    return Litestar(
        handlers,
        exception_handlers={kind: with_pages(each) for kind, each in ERROR_HANDLERS.items()},
        middleware=[Compression, restore_slashes],
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
        *standings.HANDLERS,
        *matches.HANDLERS,
        *dataset.HANDLERS,
        *trees.HANDLERS,
        *players.HANDLERS,
        *submissions.HANDLERS,
        *runners.HANDLERS,
        *people.HANDLERS,
        *competitions.HANDLERS,
        *competition_people.HANDLERS,
        *competition_files.HANDLERS,
        *competition_messages.HANDLERS,
        *administration.HANDLERS,
        *leaderboard_pages.HANDLERS,
        *match_pages.HANDLERS,
        *bot_profiles.HANDLERS,
        *competition_pages.HANDLERS,
        *competition_form_pages.HANDLERS,
        *new_competition.HANDLERS,
        *play_pages.HANDLERS,
        *game_pages.HANDLERS,
        *server.HANDLERS,
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
    return encode_json(complete(described)), server.as_page(described)
