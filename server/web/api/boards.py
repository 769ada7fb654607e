"""The board of a competition, and what its results prove."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.boards import Board
from plyhouse.protocol.api.reports import Report
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.web.api.access import authorise, viewer_of
from plyhouse.server.web.api.board_types import board_view
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service

__all__ = ["HANDLERS"]


@serve(competition_calls.table)
async def table(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    crosstab: FromQuery[bool] = False,
) -> Board:
    """Show the standings with ratings, their intervals and what the results withhold.

    The answer has what you may see. docs/ratings.md explains the columns.
    """
    found = await service(state, Boards).board(competition, await viewer_of(request))
    return await asyncio.to_thread(board_view, found, crosses=crosstab)


@serve(competition_calls.report)
async def report(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    student: Annotated[str, QueryParameter(max_length=64)] = "",
) -> Report:
    """Report on one student: to itself with its own token, or to an organiser.

    ``student`` is an account; without it, your own.
    """
    identity = await authorise(request, "play", "organise")
    return await service(state, Reports).report(competition, student, identity)


HANDLERS: Final[tuple[Any, ...]] = (table, report)
