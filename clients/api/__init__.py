"""A client library for scripts and notebooks, over the HTTP API of a server.

    from plyhouse.clients.api import Api

    with Api("http://127.0.0.1:8765") as api:
        for match in api.matches(game="connect_four"):
            print(match.match, match.winner)

`Api` waits for every answer; `AsyncApi` has the same methods to be awaited.  Answers are rows of
`plyhouse.protocol.api`, which the server sends: lists of them (`Rows`) go into
``pandas.DataFrame(rows)`` as they are and draw themselves as tables in a notebook.  Positions draw
themselves, too.

    aio         `AsyncApi`
    api         `Api`, written from `aio`
    session     the address, the token, and what follows an answer
    packing     a bot made into a package to submit
    reading     the JSON of an answer, or the error that it means
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
from plyhouse.protocol.api.rows import Rows

__all__ = ["Api", "ApiError", "AsyncApi", "Patience", "Picture", "Rows", "Unreachable", "picture"]
