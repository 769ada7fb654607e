"""Known small cases of round robin, gauntlet and groups."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.competition_rules.playing import Play, played, scores_by_strength

from plyhouse.server.competition_rules.formats import (
    Facts,
    Field,
    FieldEntry,
    LineState,
    PairingOutcome,
)
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.groups import GroupsKnockout
from plyhouse.server.competition_rules.round_robin import RoundRobin
from plyhouse.server.competition_rules.schedule import round_robin

# --------------------------------------------------------------------------- round robin


def test_a_round_robin_is_its_schedule_numbered() -> None:
    play = Play(RoundRobin(laps=2), Field.of(range(5)))
    schedule = round_robin(range(5), 2)
    assert [(int(p.key), p.round, p.matches) for p in play.ready()] == [
        (number, pairing.round, pairing.matches) for number, pairing in enumerate(schedule)
    ]


@pytest.mark.parametrize("laps", [1, 2, 3])
def test_first_seats_of_a_round_robin_differ_by_one_at_most(laps: int) -> None:
    for entries in range(2, 30):
        planned = round_robin(range(entries), laps, mirrored=False)
        first = Counter(pairing.entries[0] for pairing in planned)
        games = laps * (entries - 1)
        found = {first[each] for each in range(entries)}
        assert found <= {games // 2, (games + 1) // 2}, entries


@pytest.mark.parametrize("entries", range(2, 12))
def test_numbers_of_round_robin_pairings_do_not_depend_on_the_seats(entries: int) -> None:
    """Running finals keep the numbers of their pairings, in either order of seats."""
    table: list[int] = [*range(entries), *([-1] if entries % 2 else [])]
    expected = []
    for number in range(len(table) - 1):
        pairs = [(table[place], table[-1 - place]) for place in range(len(table) // 2)]
        expected += [(number, set(pair)) for pair in pairs if -1 not in pair]
        table = [table[0], table[-1], *table[1:-1]]
    planned = [(each.round, set(each.entries)) for each in round_robin(range(entries))]
    assert planned == expected


def test_games_of_three_seats_meet_in_all_groups() -> None:
    play = played(RoundRobin(seats=3), 5)
    assert len(play.pairings) == 10
    assert play.matches == RoundRobin(seats=3).count(5) == 30


def test_a_late_entry_of_a_round_robin_meets_all_who_entered_before() -> None:
    play = Play(RoundRobin(), Field.of(range(4)))
    planned = play.ready()
    play.begin(planned[0])
    play.enter(7)
    play.enter(8)
    assert play.ready()[: len(planned) - 1] == planned[1:], "what was planned stays as it was"
    play.to_the_end()
    assert play.matches == RoundRobin().count(6)
    late = [key for key in play.pairings if key.startswith("late5-")]
    assert sorted(late) == ["late5-1", "late5-2", "late5-3", "late5-4"]
    met = {frozenset(pairing.entries) for pairing in play.pairings.values()}
    assert len(met) == 15


def test_who_leaves_a_round_robin_keeps_what_it_has_played() -> None:
    play = Play(RoundRobin(mirrored=False), Field.of(range(4)), scores=scores_by_strength)
    first = next(pairing for pairing in play.ready() if 0 in pairing.entries)
    play.begin(first)
    play.finish(first.key)
    play.withdraw(0)
    play.to_the_end()
    table = {row.entry: row for row in play.format.table(play.facts())}
    assert (table[0].points, table[0].played, table[0].withdrawn) == (1.0, 1, True)
    assert play.state_of(0).count(LineState.DROPPED) == 2
    assert play.matches == 4


def test_a_league_table_breaks_ties_by_direct_encounter_first() -> None:
    results = [("a", "b"), ("b", "c"), ("b", "d"), ("a", "c"), ("d", "a"), ("c", "d")]
    finished = {
        str(number): PairingOutcome(str(number), pair, (1.0, 0.0))
        for number, pair in enumerate(results)
    }
    table = RoundRobin(mirrored=False).table(Facts(Field.of("bacd"), finished, {}))
    assert [(row.entry, row.points, row.tie_breaks[0]) for row in table] == [
        ("a", 2.0, 1.0),
        ("b", 2.0, 0.0),
        ("c", 1.0, 1.0),
        ("d", 1.0, 0.0),
    ]
    assert [row.tie_breaks[1] for row in table] == [3.0, 2.0, 1.0, 2.0]
    void = {"0": PairingOutcome("0", ("a", "b"), (1.0, 0.0), void=True)}
    assert {row.played for row in RoundRobin().table(Facts(Field.of("ab"), void, {}))} == {0}


# ------------------------------------------------------------------------------ gauntlet


def test_a_gauntlet_is_everybody_against_the_baselines() -> None:
    field = Field(
        (
            FieldEntry("weak", baseline=True),
            FieldEntry("strong", baseline=True),
            FieldEntry("ada"),
            FieldEntry("bob"),
        )
    )
    form = Gauntlet(times=2, mirrored=False)
    ready = form.ready(form.plan(Facts(field, {}, {})))
    assert [(p.key, p.entries) for p in ready] == [
        ("e3-b1-1", ("ada", "weak")),
        ("e4-b2-1", ("bob", "strong")),
        ("e3-b2-1", ("strong", "ada")),
        ("e4-b1-1", ("weak", "bob")),
        ("e3-b1-2", ("weak", "ada")),
        ("e4-b2-2", ("strong", "bob")),
        ("e3-b2-2", ("ada", "strong")),
        ("e4-b1-2", ("bob", "weak")),
    ]
    finished = {
        p.key: PairingOutcome(p.key, p.entries, (float("weak" not in p.entries[:1]), 0.5))
        for p in ready
    }
    table = form.table(Facts(field, finished, {}))
    assert [(row.entry, row.place) for row in table][2:] == [("strong", None), ("weak", None)]
    later = Field((*field.entrants, FieldEntry("cy", since=2)))
    assert [p.key for p in form.ready(form.plan(Facts(later, finished, {})))] == [
        "e5-b1-1",
        "e5-b2-1",
        "e5-b1-2",
        "e5-b2-2",
    ]


def test_a_gauntlet_of_many_seats_meets_all_groups_of_baselines() -> None:
    staff = [FieldEntry(name, baseline=True) for name in ("weak", "middle", "strong")]
    field = Field((*staff, FieldEntry("ada"), FieldEntry("bob")))
    form = Gauntlet(seats=3, mirrored=False)
    ready = form.ready(form.plan(Facts(field, {}, {})))
    assert [(p.key, p.entries) for p in ready] == [
        ("e4-b1-b2-1", ("ada", "weak", "middle")),
        ("e5-b1-b3-1", ("bob", "weak", "strong")),
        ("e4-b1-b3-1", ("weak", "strong", "ada")),
        ("e5-b2-b3-1", ("middle", "strong", "bob")),
        ("e4-b2-b3-1", ("strong", "ada", "middle")),
        ("e5-b1-b2-1", ("middle", "bob", "weak")),
    ]
    mirrored = Gauntlet(seats=3)
    assert len(mirrored.ready(mirrored.plan(Facts(field, {}, {})))[0].matches) == 3
    assert mirrored.count(5, 3) == 2 * 3 * 3


# -------------------------------------------------------------------------------- groups


def test_groups_of_four_are_dealt_out_to_and_fro_and_two_of_each_go_on() -> None:
    play = played(GroupsKnockout(), 8, scores=scores_by_strength)
    members: dict[str, set[int]] = {}
    for key, pairing in play.pairings.items():
        members.setdefault(key.partition("-")[0], set()).update(pairing.entries)
    assert members["g1"] == {0, 3, 4, 7}
    assert members["g2"] == {1, 2, 5, 6}
    assert sum(key.startswith("g") for key in play.pairings) == 12
    semifinals = {frozenset(play.pairings[f"k1-{slot}-g1"].entries) for slot in (1, 2)}
    assert semifinals == {frozenset({0, 2}), frozenset({1, 3})}, "not two of one group"
    assert play.places() == {0: 1, 1: 2, 2: 3, 3: 3, 4: 5, 5: 5, 6: 7, 7: 7}


def test_who_leaves_during_the_groups_does_not_go_on() -> None:
    play = Play(GroupsKnockout(), Field.of(range(8)), scores=scores_by_strength)
    for pairing in play.ready():
        play.begin(pairing)
        play.finish(pairing.key)
    play.withdraw(0)
    play.to_the_end()
    assert not any(0 in p.entries for key, p in play.pairings.items() if key.startswith("k"))
    assert play.places()[0] == 5
    assert play.places()[1] == 1


@pytest.mark.parametrize("entries", [6, 9, 12, 16, 23])
def test_nobody_meets_its_own_group_in_the_first_round_of_the_knockout(entries: int) -> None:
    for seed in range(3):
        play = played(GroupsKnockout(), entries, seed=seed)
        group: dict[int, str] = {}
        for key, pairing in play.pairings.items():
            if key.startswith("g"):
                group.update(dict.fromkeys(pairing.entries, key.partition("-")[0]))
        for key, pairing in play.pairings.items():
            if key.startswith("k1-"):
                one, other = pairing.entries
                assert group[one] != group[other]
