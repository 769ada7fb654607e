"""Seeks for several matches at once."""

from __future__ import annotations

from typing import Any


async def test_seeks_for_several_matches_fill_all_of_them_at_once(house: Any) -> None:
    one = await house.bot("alice", max_matches=4)
    two = await house.bot("bob", max_matches=4)
    await one.seek("tic_tac_toe", count=3)
    await two.seek("tic_tac_toe", count=3)
    matches = {(await one.start()).match for _ in range(3)}
    assert len(matches) == 3
    assert {(await two.start()).match for _ in range(3)} == matches
