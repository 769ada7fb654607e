"""A client library for scripts and notebooks, over the HTTP API of a server.

    from plyhouse.clients.api import Api

    with Api("http://127.0.0.1:8765") as api:
        for match in api.matches(game="connect_four"):
            print(match.match, match.winner)

`Api` waits for every answer; `AsyncApi` has the same methods to be awaited.  Answers are rows:
plain dataclasses, whose lists (`Rows`) go into ``pandas.DataFrame(rows)`` as they are and draw
themselves as tables in a notebook.  Positions draw themselves, too.

    api         `Api`
    aio         `AsyncApi`
    calls       every call as data: method, path, parameters, what it answers
    rows        what is answered, a dataclass per kind of row
    competition_rows
                the same of competitions, with and without a class
    position_rows
                the same of positions: search trees, what chance could have done
    packing     a bot made into what is handed in
    reading     answers of the server, made into rows
    patience    when to ask again, and how long to wait before
    errors      what can go wrong: `ApiError` with the server's stable code
    drawing     scenes as SVG, rows as HTML

Errors:

    ApiError          the server refused: ``code``, ``status``, and its sentence
    Unreachable       no answer, or none of a Plyhouse server
"""

from __future__ import annotations

from plyhouse.clients.api.aio import AsyncApi
from plyhouse.clients.api.api import Api
from plyhouse.clients.api.drawing import Picture, picture
from plyhouse.clients.api.errors import ApiError, Unreachable
from plyhouse.clients.api.patience import Patience
from plyhouse.clients.api.rows import Rows

__all__ = ["Api", "ApiError", "AsyncApi", "Patience", "Picture", "Rows", "Unreachable", "picture"]
