"""HTTP calls that erase a person, and that return everything stored about one."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.bodies import Erasing
from plyhouse.protocol.api.people import ErasedPlayer
from plyhouse.server.administration.erasure import Eraser
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import personal_data as stored_personal_data
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = ["HANDLERS"]

Call = Request[Any, Any, Any]


@serve(calls.erase_player, "administration")
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


@serve(calls.stored_data, "administration")
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
