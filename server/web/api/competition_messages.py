"""Messages between a class and its staff: announcements, and requests to look again."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import NewAnnouncement, RegradeAnswer, RegradeRequest
from plyhouse.protocol.api.competitions import Announcement, Regrade
from plyhouse.server.accounts.roles import allows, role_in
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.web.api.access import authorise, staff_for, viewer_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_messages, competition_sql
from plyhouse.storage import competition_messages as stored_regrades
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


@serve(competition_calls.announcements)
async def list_announcements(
    state: State, request: Call, competition: FromPath[str]
) -> list[Announcement]:
    """List the announcements of a competition, newest first, for those who may see its board."""
    return await service(state, Boards).announcements(competition, await viewer_of(request))


@serve(competition_calls.announce)
async def announce(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewAnnouncement]
) -> Announcement:
    """Publish an announcement."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    return await store.write(
        competition_messages.announce, row.id, data.text, By(identity.player), store.now()
    )


@serve(competition_calls.remove_announcement)
async def remove_announcement(
    state: State, request: Call, competition: FromPath[str], number: FromPath[int]
) -> None:
    """Remove an announcement."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    await store.write(competition_messages.remove, row.id, number, By(identity.player), store.now())


@serve(competition_calls.regrades)
async def regrades(state: State, request: Call, competition: FromPath[str]) -> list[Regrade]:
    """List the requests for a regrade, open ones first: all to the staff, a student's own to it."""
    store = service(state, Store)
    identity = await authorise(request, "play", "organise")
    row = await store.read(competition_sql.find, competition)
    staff = allows(await role_in(store, row.id, identity), "see")
    return await store.read(stored_regrades.requests, row.id, None if staff else identity.player_id)


@serve(competition_calls.ask_regrade)
async def ask_regrade(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[RegradeRequest]
) -> Regrade:
    """Ask the staff to look at a match of one's own, or at one's grade, again."""
    store = service(state, Store)
    identity = await authorise(request, "play")
    row = await store.read(competition_sql.find, competition)
    return await store.write(
        stored_regrades.ask, row.id, identity.player_id, data.text, data.match or None, store.now()
    )


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
    return await service(state, Store).write(
        stored_regrades.answer,
        row.id,
        number,
        data.text,
        by,
        service(state, Store).now(),
        close=data.close,
    )


HANDLERS: Final[tuple[Any, ...]] = (
    list_announcements,
    announce,
    remove_announcement,
    regrades,
    ask_regrade,
    answer_regrade,
)
