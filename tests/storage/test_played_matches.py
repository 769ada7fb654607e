"""Stored matches as an opening book or a tuner reads them."""

from __future__ import annotations

from typing import Any

from plyhouse.clients.replay.record_files import stored_matches
from plyhouse.games.registry import get_game
from plyhouse.search.evaluation.opening_book import OpeningBook
from plyhouse.storage.rows import EventRow, FinishMatch


async def test_finished_matches_are_read_with_rolls_and_actions(
    lasting_url: str, world_at: Any
) -> None:
    async with world_at(lasting_url) as world:
        for number in range(3):
            match_id, ops = await world.new("ada", "bob", game="pig(target=10)")
            texts = [("action", "roll"), ("chance", "6"), ("draw_offer", ""), ("action", "hold")]
            events = [
                EventRow(match_id, index, kind, index, 0, text)
                for index, (kind, text) in enumerate(texts)
            ]
            await world.store.apply([*ops, *events])
            if number < 2:
                end = FinishMatch(match_id, "resignation", (1.0, -1.0), 3, 50)
                await world.store.apply([end])
        await world.play("ada", "bob", returns=(1, -1))  # of the standard game
    found = await stored_matches(lasting_url, "pig(target=10)")
    assert [list(match.actions) for match in found] == [["roll", "6", "hold"]] * 2
    book = OpeningBook.from_matches(get_game("pig(target=10)"), found)
    assert book.matches == 2
    assert await stored_matches(lasting_url, "chess") == []
