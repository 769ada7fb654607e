"""Sides: which bots are partners, and which results are those of present partners."""

from __future__ import annotations

from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.sides import Sides
from plyhouse.storage.competition_results import FinalSeat
from plyhouse.storage.competition_rows import CompetitionEntry
from plyhouse.storage.rows import PlayedSeat

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


def test_matches_of_former_partners_are_not_those_of_present_sides() -> None:
    sides = Sides.kept(BRIDGE, [(1, 5), (3, 4)])
    versions = {bot: bot for bot in range(1, 6)}
    for bots, version in (
        ((1, 3, 5, 4), 1),
        ((1, 3, 2, 4), 0),
        ((2, 3, 5, 4), 0),
        ((5, 3, 1, 4), 0),
    ):
        played = [PlayedSeat("p", "m", bot, bot, 0.5, "D", finished=True, ended="") for bot in bots]
        found = sides.seats(played, versions)
        assert [each.bot_id for each in found] == list(bots[:2])
        assert [each.version_id for each in found] == [bots[0] * version, 3 * version]
        seats = [
            FinalSeat("m", "p", "bridge", seat, bot, bot, 0.5, "D", 0.0, "normal", None, 9, 1)
            for seat, bot in enumerate(bots)
        ]
        assert [each.bot_id for each in sides.final_seats(seats)] == [1, 3] * version


def test_forfeit_of_a_partner_is_one_of_its_captain() -> None:
    sides = Sides.kept(BRIDGE, [(1, 2), (3, 4)])
    played = [
        PlayedSeat("p", "m", bot, bot, 0.5, "D", finished=True, ended="flag_fall" * (bot == 4))
        for bot in (1, 3, 2, 4)
    ]
    found = sides.seats(played, {bot: bot for bot in range(5)})
    assert [(each.bot_id, each.ended) for each in found] == [(1, ""), (3, "flag_fall")]
    changed = sides.seats(played, {1: 1, 2: 2, 3: 3, 4: 9})
    assert [each.version_id for each in changed] == [0, 0]
