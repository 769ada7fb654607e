"""Requests of students to look at a match or a grade again: asked, answered and closed."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from plyhouse.protocol.api.competitions import Regrade
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.staff_roles import allows
from plyhouse.server.web.api.access import authorise, first, staff_for
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_sql
from plyhouse.storage import regrades as stored_regrades
from plyhouse.storage.regrades import MAX_TEXT
from plyhouse.storage.regrades import Regrade as RegradeRow
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = [
    "HANDLERS",
    "RegradeAnswer",
    "RegradeRequest",
]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/class/competitions/{competition:str}/regrades"
_SECURED: Final[dict[str, Any]] = {"tags": ["class"], "security": [{"token": []}]}


class RegradeRequest(Struct, forbid_unknown_fields=True):
    """A request to look at a match, or at the grade, again."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    match: Annotated[str, Meta(max_length=64)] = ""
    """A finished match of one's own; empty: the grade."""


class RegradeAnswer(Struct, forbid_unknown_fields=True):
    """An answer of the staff."""

    text: Annotated[str, Meta(max_length=MAX_TEXT)] = ""
    """In the place of an earlier answer; empty: that one stays."""
    close: bool = False


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


@get(HERE, **_SECURED)
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


@post(HERE, **_SECURED, guards=[first("play")])
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


@post(HERE + "/{number:int}/answer", **_SECURED, status_code=200, guards=[first("organise")])
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
