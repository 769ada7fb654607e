"""HTTP calls that erase a person, and that return everything stored about one."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from plyhouse.protocol.api.people import ErasedPlayer
from plyhouse.server.administration.erasure import Eraser
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import service
from plyhouse.storage import personal_data as stored_personal_data
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = ["HANDLERS", "Erasing"]

Call = Request[Any, Any, Any]


class Erasing(Struct, forbid_unknown_fields=True):
    """A request to erase a person, with the reason for the audit log."""

    why: Annotated[str, Meta(max_length=1000)] = ""


@post(
    "/api/v1/players/{name:str}/erase",
    tags=["administration"],
    security=[{"token": []}],
    status_code=200,
    guards=[first("organise")],
)
async def erase_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Erasing]
) -> ErasedPlayer:
    """Erase a person for good: replace the names by a pseudonym, delete the person's texts.

    Results stay.  Administrators may do this, and so may an owner of every competition in which
    the account is a student.  The server refuses while the account plays.
    """
    erasure = service(state, Eraser)
    identity = await authorise(request, "organise")
    await erasure.admit(name, identity)
    erased = await erasure.erase(name, By(identity.player, data.why))
    return ErasedPlayer(erased.pseudonym, erased.matches, list(erased.competitions))


@get("/api/v1/players/{name:str}/data", tags=["administration"], security=[{"token": []}])
async def personal_data(state: State, request: Call, name: FromPath[str]) -> dict[str, Any]:
    """Return everything stored about an account.

    The account itself may ask, and anyone who may erase it.
    """
    identity = await authorise(request, "play", "organise")
    own = key_of(identity.player) == key_of(name)
    if not own:
        await service(state, Eraser).admit(name, identity)
    return await service(state, Store).read(
        stored_personal_data.personal_data, name, reasons=not own
    )


HANDLERS: Final[tuple[Any, ...]] = (erase_player, personal_data)
