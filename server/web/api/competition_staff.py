"""The staff of a competition: listed by its staff, changed by its owners."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody, QueryParameter

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import NewStaff
from plyhouse.protocol.api.competitions import Staff
from plyhouse.server.web.api.access import staff_for
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_staff
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = [
    "HANDLERS",
]

Call = Request[Any, Any, Any]


@serve(competition_calls.staff)
async def staff(state: State, request: Call, competition: FromPath[str]) -> list[Staff]:
    """List the staff of a competition, owners first; empty where every organiser is an owner."""
    row, _ = await staff_for(request, competition, "see")
    found = await service(state, Store).read(competition_staff.staff_of, row.id)
    return [Staff(each.player, each.role, each.since_ms) for each in found]


@serve(competition_calls.add_staff)
async def add_staff(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewStaff]
) -> Staff:
    """Give a player a role, in the place of the one that it had."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "change")
    by = By(identity.player, data.why)
    made, able = await store.write(
        competition_staff.add, row.id, data.player, data.role, by, store.now()
    )
    return Staff(made.player, made.role, made.since_ms, able)


@serve(competition_calls.remove_staff)
async def remove_staff(
    state: State,
    request: Call,
    competition: FromPath[str],
    player: FromPath[str],
    why: Annotated[str, QueryParameter(max_length=1000)] = "",
) -> None:
    """Take a player's role away; at least one owner stays."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "change")
    await store.write(
        competition_staff.remove, row.id, player, By(identity.player, why), store.now()
    )


HANDLERS: Final[tuple[Any, ...]] = (staff, add_staff, remove_staff)
