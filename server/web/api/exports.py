"""Files of what came of a competition: standings, grades, matches."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.response import Stream

from plyhouse.protocol.api import competition_calls
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.exports import FILES, MATCHES, STAFF_FILES, Exports
from plyhouse.server.web.api.access import staff_for, viewer_of
from plyhouse.server.web.api.board_types import board_view
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service

__all__ = ["HANDLERS"]

Call = Request[Any, Any, Any]
BOM: Final = "\ufeff"
"""Without this mark, Excel does not read a CSV file as UTF-8."""


@serve(competition_calls.export_file, media_type="application/octet-stream")
async def file(
    state: State, request: Call, competition: FromPath[str], form: FromPath[str]
) -> Response[Any]:
    """Return a file of a competition.

    csv, md, html and json have the standings that you may see, and jsonl, pgn, sgf, pdn, mat and
    parquet the matches. Only staff may read grades, canvas, moodle and gradescope.
    """
    if form not in FILES:
        raise Problem("http/404", f"There is no format {form!r}; use {', '.join(FILES)}.", 404)
    name, media_type = FILES[form]
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
    }
    exports = service(state, Exports)
    content: str | bytes
    if form in STAFF_FILES:
        row, _ = await staff_for(request, competition, "see")
        if form == "grades":
            content = BOM + await exports.grades(row.id)
        elif form == "gradescope":
            content = await exports.gradescope(row.id)
        else:
            content = await exports.platform(row.id, form)
    else:
        viewer = await viewer_of(request)
        if form in MATCHES:
            parts = await exports.matches(competition, form, viewer)
            return Stream(parts, media_type=media_type, headers=headers)
        if form == "parquet":
            content = await exports.parquet(competition, viewer)
        elif form == "json":
            board = await service(state, Boards).board(competition, viewer)
            view = await asyncio.to_thread(board_view, board, crosses=True)
            plain = {"standings": msgspec.to_builtins(view.lines), **msgspec.to_builtins(view)}
            plain.pop("lines")
            content = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        else:
            content = await exports.standings(competition, form, viewer)
    return Response(content, media_type=media_type, headers=headers)


HANDLERS: Final[tuple[Any, ...]] = (file,)
