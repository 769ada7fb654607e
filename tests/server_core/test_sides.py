"""Sides: which bots are partners, and which results are those of present partners."""

from __future__ import annotations

from plyhouse.games.registry import get_game
from plyhouse.server.competitions.sides import Sides
from plyhouse.storage.competition_rows import CompetitionEntry

BRIDGE = get_game("bridge")


def entry(bot: int, player: str, *, baseline: bool = False) -> CompetitionEntry:
    return CompetitionEntry(
        bot, 1, player, f"b{bot}", bot, "1", "", False, baseline, "active"
    )  # fmt: skip


def test_bot_of_a_student_is_no_partner_of_its_baseline() -> None:
    entries = [
        entry(1, "ada"), entry(2, "ada", baseline=True), entry(3, "ada", baseline=True),
        entry(4, "Ada"), entry(5, "ada", baseline=True),
    ]  # fmt: skip
    sides = Sides.of(BRIDGE, entries)
    assert sides.stored == ((1, 4), (2, 3))
    assert [each.bot_id for each in sides.without(entries)] == [5]
