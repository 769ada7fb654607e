"""A client library for scripts and notebooks, over the HTTP API of a server.

    from plyhouse.clients.api import Api

    with Api("http://127.0.0.1:8765") as api:
        for match in api.matches(game="connect_four"):
            print(match.match, match.winner)

`AsyncApi` has the same methods as coroutines.  Answers are rows of `plyhouse.protocol.api`.  You
can pass a list of rows (`Rows`) to ``pandas.DataFrame(rows)``.  A notebook shows rows as tables and
positions as pictures.

    client      `Api` and `AsyncApi`: one table of methods, two ways to send a call, and packing a
                bot for submission
    session     the address, the token, and the handling of answers; when to repeat a request
    drawing     states as SVG, rows as HTML

Errors:

    ApiError          the server refused the request: ``code``, ``status`` and a sentence
    Unreachable       no answer, or the answer of another server
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plyhouse.clients.api.client import Api, AsyncApi
from plyhouse.clients.api.session import Patience
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.rows import NOTEBOOK, Rows

if TYPE_CHECKING:
    from plyhouse.clients.api.drawing import Picture, picture

__all__ = ["Api", "ApiError", "AsyncApi", "Patience", "Picture", "Rows", "Unreachable", "picture"]


def _scene(scene: Mapping[str, Any]) -> str:
    from plyhouse.games.scene_svg import draw_svg

    return draw_svg(scene)


def _table(rows: Sequence[Any]) -> str:
    from plyhouse.clients.api.drawing import table_html

    return table_html(rows)


NOTEBOOK.scene, NOTEBOOK.table = _scene, _table


def __getattr__(name: str) -> Any:
    """Import what draws only if it is used: commands start faster without the games."""
    if name not in ("Picture", "picture"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plyhouse.clients.api import drawing

    return getattr(drawing, name)
