"""Requests of students to look at a match or a grade again: asked, answered and closed."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import RegradeAnswer, RegradeRequest
from plyhouse.protocol.api.competitions import Regrade
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.staff_roles import allows
from plyhouse.server.web.api.access import authorise, staff_for
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_sql
from plyhouse.storage import regrades as stored_regrades
from plyhouse.storage.regrades import Regrade as RegradeRow
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = [
    "HANDLERS",
]

Call = Request[Any, Any, Any]


def _view(row: RegradeRow) -> Regrade:
    return Regrade(
        row.id,
        row.student,
        row.match_id or "",
        row.text,
        row.asked_ms,
        row.answer,
        row.answered_by,
        row.answered_ms,
        row.closed_ms,
    )


@serve(competition_calls.regrades)
async def regrades(state: State, request: Call, competition: FromPath[str]) -> list[Regrade]:
    """List the requests for a regrade, open ones first: all to the staff, a student's own to it."""
    store = service(state, Store)
    identity = await authorise(request, "play", "organise")
    row = await store.read(competition_sql.find, competition)
    staff = allows(await role_in(store, row.id, identity), "see")
    found = await store.read(
        stored_regrades.requests, row.id, None if staff else identity.player_id
    )
    return [_view(each) for each in found]


@serve(competition_calls.ask_regrade)
async def ask_regrade(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[RegradeRequest]
) -> Regrade:
    """Ask the staff to look at a match of one's own, or at one's grade, again."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    row = await store.read(competition_sql.find, competition)
    made = await store.write(
        stored_regrades.ask, row.id, identity.player_id, data.text, data.match or None, store.now()
    )
    return _view(made)


@serve(competition_calls.answer_regrade)
async def answer_regrade(
    state: State,
    request: Call,
    competition: FromPath[str],
    number: FromPath[int],
    data: JSONBody[RegradeAnswer],
) -> Regrade:
    """Answer a request for a regrade, close it, or both."""
    row, identity = await staff_for(request, competition, "run")
    by = By(identity.player)
    made = await service(state, Store).write(
        stored_regrades.answer,
        row.id,
        number,
        data.text,
        by,
        service(state, Store).now(),
        close=data.close,
    )
    return _view(made)


HANDLERS: Final[tuple[Any, ...]] = (regrades, ask_regrade, answer_regrade)
