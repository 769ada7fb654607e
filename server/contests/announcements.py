"""Announcements of a competition, for everyone who may see its board."""

from __future__ import annotations

from plyhouse.server.competition.file import read_competition
from plyhouse.server.contests.boards import Boards
from plyhouse.storage import announcements
from plyhouse.storage.announcements import Announcement
from plyhouse.storage.class_rows import ClassCompetition
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

__all__ = ["announcements_for"]


async def announcements_for(
    store: Store, boards: Boards, row: ClassCompetition, identity: Identity | None
) -> list[Announcement]:
    """Return the announcements of a competition, newest first.

    Raises `ProtocolError` if the identity may not see the board.
    """
    viewer = await boards.viewer(row, identity)
    boards.admit(row, read_competition(row.file), viewer, identity)
    return await store.read(announcements.list_of, row.id)
