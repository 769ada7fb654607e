"""Tables: rounds of groups of as many entries as the game has seats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from tests.competition_rules.playing import Play, played, scores_by_strength

from plyhouse.server.competition_rules.formats import Field, LineState
from plyhouse.server.competition_rules.tables import Tables


def meetings(play: Play) -> Counter[tuple[int, ...]]:
    return Counter(
        pair
        for pairing in play.pairings.values()
        for pair in combinations(sorted(pairing.entries), 2)
    )


def games(play: Play) -> Counter[int]:
    return Counter(entry for each in play.pairings.values() for entry in each.entries)


def test_sixteen_entries_at_tables_of_four_meet_many_different_opponents() -> None:
    found = meetings(played(Tables(seats=4, number=5), 16))
    assert sum(found.values()) == 5 * 4 * 6
    assert max(found.values()) <= 2
    assert len(found) >= 100  # of 120 pairs


@pytest.mark.parametrize(("seats", "entries"), [(4, 18), (4, 7), (6, 31), (3, 5), (2, 9)])
def test_entries_sit_out_equally_often(seats: int, entries: int) -> None:
    play = played(Tables(seats=seats, number=7), entries)
    counted = games(play)
    assert len(counted) == entries
    assert max(counted.values()) - min(counted.values()) <= 1
    out = [each for each in range(entries) for state in play.state_of(each) if state == "bye"]
    assert len(out) == 7 * (entries % seats)


def test_large_field_is_drawn_without_repeated_meetings() -> None:
    form = Tables(seats=4, number=10)
    plan = form.plan(Play(form, Field.of(range(200))).facts())
    found = Counter(pair for line in plan.lines() for pair in combinations(sorted(line.players), 2))
    assert len(found) >= 0.97 * sum(found.values())


def test_seats_are_balanced_without_mirroring() -> None:
    play = played(Tables(seats=4, number=8, mirrored=False), 16)
    held = Counter(
        (entry, seat) for each in play.pairings.values() for seat, entry in enumerate(each.entries)
    )
    assert max(held.values()) <= 4
    assert play.matches == 8 * 4


def test_mirrored_group_gives_each_entry_each_seat() -> None:
    play = played(Tables(seats=4, number=1), 4)
    [pairing] = play.pairings.values()
    for seat in range(4):
        assert {match[seat] for match in pairing.matches} == {0, 1, 2, 3}


def test_table_is_by_the_mean_score() -> None:
    play = played(Tables(seats=3, number=4), 7, scores=scores_by_strength)
    rows = play.format.table(play.facts())
    assert rows[0].entry == 0
    assert rows[0].points == 1.0
    assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)


def test_an_entry_that_leaves_is_in_no_later_round() -> None:
    play = Play(Tables(seats=4, number=4), Field.of(range(12)))
    first = [each for each in play.ready() if each.round == 0]
    for each in first:
        play.begin(each)
    play.withdraw(5)
    later = [each for each in play.ready() if each.round > 0]
    assert not any(5 in each.entries for each in later)
    assert len(later) == 3 * (11 // 4)
    play.to_the_end()
    assert LineState.DROPPED not in play.state_of(5)
