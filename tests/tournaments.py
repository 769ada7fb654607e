"""Tournaments for tests that need one without its competition."""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.storage import tournaments
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.store import Store


async def add_tournament(store: Store, row: TournamentRow, bots: Sequence[int]) -> None:
    """Store a tournament in which any version of these bots plays."""
    await store.write(tournaments.create, [row], [(bot, None) for bot in bots])
