"""Competitions written straight into the database."""

from __future__ import annotations

from typing import Any

from plyhouse.storage.rows import (
    TournamentRow,
)
from plyhouse.storage.store import Store


async def three_bots(url: str) -> None:
    async with await Store.open(url) as store:
        for name in ("ada", "bob", "cyd"):
            player = await store.add_player(name)
            await store.ensure_bot(player.id, "mybot")


def competition(name: str, game: str = "tic_tac_toe", **more: Any) -> TournamentRow:
    return TournamentRow(
        name, name, game, "move:1", "round_robin", 1, False, True, 5, "running", **more
    )
