"""Announcements of a competition: read by its class, written by its staff."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from plyhouse.protocol.api.competitions import Announcement
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.web.api.access import first, staff_for, viewer_of
from plyhouse.server.web.parameters import service
from plyhouse.storage import announcements
from plyhouse.storage.announcements import MAX_TEXT
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

__all__ = ["HANDLERS", "NewAnnouncement"]

Call = Request[Any, Any, Any]
HERE: Final = "/api/v1/class/competitions/{competition:str}/announcements"
_SEEN: Final[dict[str, Any]] = {"tags": ["class"], "security": [{}, {"token": []}]}
_SECURED: Final[dict[str, Any]] = {"tags": ["class"], "security": [{"token": []}]}


class NewAnnouncement(Struct, forbid_unknown_fields=True):
    """An announcement to publish."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    """Plain text; line breaks are kept."""


@get(HERE, **_SEEN)
async def list_announcements(
    state: State, request: Call, competition: FromPath[str]
) -> list[Announcement]:
    """List the announcements of a competition, newest first, for those who may see its board."""
    found = await service(state, Boards).announcements(competition, await viewer_of(request))
    return [Announcement(**asdict(each)) for each in found]


@post(HERE, **_SECURED, guards=[first("organise")])
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


@delete(HERE + "/{number:int}", **_SECURED, guards=[first("organise")])
async def remove_announcement(
    state: State, request: Call, competition: FromPath[str], number: FromPath[int]
) -> None:
    """Remove an announcement."""
    store = service(state, Store)
    row, identity = await staff_for(request, competition, "run")
    await store.write(announcements.remove, row.id, number, By(identity.player), store.now())


HANDLERS: Final[tuple[Any, ...]] = (list_announcements, announce, remove_announcement)
