"""The staff of a competition: listed by its staff, changed by its owners."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Meta, Struct

from plyhouse.protocol.api.competitions import Staff
from plyhouse.server.web.api.access import first, staff_for
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_staff
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = [
    "HANDLERS",
    "NewStaff",
]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/class/competitions/{competition:str}/staff"
_SECURED: Final[dict[str, Any]] = {
    "tags": ["class"],
    "security": [{"token": []}],
    "guards": [first("organise")],
}


class NewStaff(Struct, forbid_unknown_fields=True):
    """Somebody who gets a role."""

    player: Annotated[str, Meta(min_length=1, max_length=64)]
    role: Literal["owner", "assistant", "reader"]
    why: Annotated[str, Meta(max_length=1000)] = ""


@get(HERE, **_SECURED)
async def staff(state: State, request: Call, competition: FromPath[str]) -> list[Staff]:
    """List the staff of a competition, owners first; empty where every organiser is an owner."""
    row, _ = await staff_for(request, competition, "see")
    found = await service(state, Store).read(competition_staff.staff_of, row.id)
    return [Staff(each.player, each.role, each.since_ms) for each in found]


@post(HERE, **_SECURED, status_code=200)
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


@delete(HERE + "/{player:str}", **_SECURED)
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
