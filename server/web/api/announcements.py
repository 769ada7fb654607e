"""Announcements of a competition: read by its class, written by its staff."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import NewAnnouncement
from plyhouse.protocol.api.competitions import Announcement
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.web.api.access import staff_for, viewer_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import announcements
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = ["HANDLERS"]

Call = Request[Any, Any, Any]


@serve(competition_calls.announcements)
async def list_announcements(
    state: State, request: Call, competition: FromPath[str]
) -> list[Announcement]:
    """List the announcements of a competition, newest first, for those who may see its board."""
    found = await service(state, Boards).announcements(competition, await viewer_of(request))
    return [Announcement(**asdict(each)) for each in found]


@serve(competition_calls.announce)
async def announce(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[NewAnnouncement]
) -> Announcement:
    """Publish an announcement."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    made = await store.write(
        announcements.announce, row.id, data.text, By(identity.player), store.now()
    )
    return Announcement(**asdict(made))


@serve(competition_calls.remove_announcement)
async def remove_announcement(
    state: State, request: Call, competition: FromPath[str], number: FromPath[int]
) -> None:
    """Remove an announcement."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    await store.write(announcements.remove, row.id, number, By(identity.player), store.now())


HANDLERS: Final[tuple[Any, ...]] = (list_announcements, announce, remove_announcement)
