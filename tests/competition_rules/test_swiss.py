"""Swiss: near in points, nobody twice, byes and seats shared out."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from networkx import Graph, max_weight_matching
from tests.competition_rules.playing import Play, played, scores_by_strength

from plyhouse.server.competition_rules.formats import (
    Facts,
    Field,
    FieldEntry,
    LineState,
    Pairing,
    PairingOutcome,
)
from plyhouse.server.competition_rules.swiss import CANDIDATES, Swiss, cheapest_pairs


def points(play: Play) -> dict[int, float]:
    table = play.format.table(play.facts())
    return {row.entry: row.points for row in table}


def meetings(play: Play) -> list[list[set[int]]]:
    rounds = play.format.plan(play.facts()).rounds
    return [[set(line.players) for line in each.lines] for each in rounds]


def test_eight_over_three_rounds_leave_one_leader() -> None:
    play = played(Swiss(), 8, scores=scores_by_strength)
    assert Counter(points(play).values()) == {3.0: 1, 2.0: 3, 1.0: 3, 0.0: 1}
    assert play.matches == 24
    first, second, _ = meetings(play)
    assert first == [{0, 4}, {1, 5}, {2, 6}, {3, 7}], "the upper half meets the lower half"
    assert second == [{0, 2}, {1, 3}, {4, 6}, {5, 7}], "winners meet winners"


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9).flatmap(lambda half: st.permutations(range(2 * half))))
@example([1, 0, 4, 2, 5, 3])
def test_default_rounds_leave_one_of_an_even_number_without_a_loss(strengths: list[int]) -> None:
    def stronger(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
        best = max(pairing.entries, key=strengths.__getitem__)
        return tuple([len(pairing.matches) * float(entry == best) for entry in pairing.entries])

    play = played(Swiss(), len(strengths), scores=stronger)
    rounds = len(play.format.plan(play.facts()).rounds)
    leaders = [entry for entry, own in points(play).items() if own == rounds]
    assert leaders == [strengths.index(len(strengths) - 1)]


def test_seats_decide_within_the_halves_where_a_pairing_is_one_match() -> None:
    play = played(Swiss(mirrored=False), 8, scores=scores_by_strength)
    assert Counter(points(play).values()) == {3.0: 1, 2.0: 3, 1.0: 3, 0.0: 1}
    assert meetings(play)[1] == [{0, 3}, {1, 2}, {4, 7}, {5, 6}]


def test_keys_are_rounds_and_boards() -> None:
    play = played(Swiss(number=2), 5)
    rounds = play.format.plan(play.facts()).rounds
    keys = [line.key for each in rounds for line in each.lines]
    assert keys == ["r1-01", "r1-02", "r1-bye", "r2-01", "r2-02", "r2-bye"]
    assert [each.name for each in rounds] == ["Round 1", "Round 2"]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 14), st.integers(1, 6), st.booleans(), st.integers(0, 999))
def test_nobody_meets_or_rests_twice_where_that_can_be_avoided(
    entries: int, number: int, mirrored: bool, seed: int
) -> None:
    play = played(Swiss(number=number, mirrored=mirrored), entries, seed=seed)
    there = entries + entries % 2
    had: set[frozenset[int]] = set()
    for before, each in enumerate(meetings(play)):
        met = [frozenset(pair) for pair in each]
        assert sum(len(pair) == 1 for pair in met) == entries % 2
        # So long Dirac's theorem leaves a circle through all, and so a matching.
        if before <= there // 2 - 1:
            assert not had & set(met), (before, each)
        had |= set(met)
    # An entry that has rested meets its next opponent before another one rests twice.
    rests = Counter(
        entry for each in meetings(play) for pair in each if len(pair) == 1 for entry in pair
    )
    if number <= there // 2:
        assert max(rests.values(), default=0) <= 1


@settings(max_examples=15, deadline=None)
@given(st.integers(8, 20), st.integers(0, 999))
def test_seats_are_balanced_where_a_pairing_is_one_match(entries: int, seed: int) -> None:
    play = played(Swiss(number=5, mirrored=False), entries, seed=seed)
    balance: Counter[int] = Counter()
    for pairing in play.pairings.values():
        [(first, second)] = pairing.matches
        balance[first] += 1
        balance[second] -= 1
    assert max(map(abs, balance.values())) <= 2


def possible(
    players: list[int],
    met: dict[int, set[int]],
    seats: dict[int, list[int]],
    resting: list[int],
) -> bool:
    """Return whether the absolute rules allow a round in which one of these entries rests.

    Nobody meets an opponent again, plays a seat three times in a row, or sits first three times
    more often than second or the reverse.
    """

    def fits(entry: int, seat: int) -> bool:
        had = seats[entry]
        return had[-2:] != [seat, seat] and abs(sum(had) + seat) < 3

    def allowed(one: int, other: int) -> bool:
        if other in met[one]:
            return False
        return (fits(one, 1) and fits(other, -1)) or (fits(one, -1) and fits(other, 1))

    byes: list[int | None] = [*resting] or [None]
    for bye in byes:
        left = [each for each in players if each != bye]
        graph: Graph[int] = Graph()
        graph.add_nodes_from(left)
        graph.add_edges_from(e for e in itertools.combinations(left, 2) if allowed(*e))
        if 2 * len(max_weight_matching(graph, maxcardinality=True)) == len(left):
            return True
    return False


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 26), st.integers(2, 9), st.integers(0, 9999))
@example(25, 7, 1)
def test_seats_and_byes_follow_the_absolute_rules_unless_no_round_could(
    entries: int, number: int, seed: int
) -> None:
    play = played(Swiss(number=number, mirrored=False), entries, seed=seed)
    met: dict[int, set[int]] = {each: set() for each in range(entries)}
    seats: dict[int, list[int]] = {each: [] for each in range(entries)}
    rested: set[int] = set()
    points = dict.fromkeys(range(entries), 0.0)
    for each in play.format.plan(play.facts()).rounds:
        everybody = list(range(entries))
        fresh = [entry for entry in everybody if entry not in rested]
        bye = next((line.winner for line in each.lines if line.state is LineState.BYE), None)
        again = any(line.players[0] in met[line.players[-1]] for line in each.lines)
        again = again or bye in rested
        before = {entry: list(had) for entry, had in seats.items()}
        for line in each.lines:
            if line.state is not LineState.BYE:
                for entry, seat in zip(line.players, (1, -1), strict=True):
                    seats[entry].append(seat)
        wrong = again or any(
            had[-3:] in ([1] * 3, [-1] * 3) or abs(sum(had)) > 2
            for entry, had in seats.items()
            if len(had) > len(before[entry])
        )
        if bye is None:
            assert not wrong or not possible(everybody, met, before, [])
        else:
            assert not wrong or not possible(everybody, met, before, fresh)
            fewer = [entry for entry in fresh if points[entry] < points[bye] - 1e-9]
            assert not fewer or not possible(everybody, met, before, fewer), (
                "somebody with fewer points could have had the bye"
            )
            rested.add(bye)
            points[bye] += 1.0
        for line in each.lines:
            if line.outcome is not None:
                one, other = line.outcome.entries
                met[one].add(other)
                met[other].add(one)
                for entry in (one, other):
                    points[entry] += line.outcome.share(entry)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_of_25_plays_one_seat_three_times_in_a_row(seed: int) -> None:
    play = played(Swiss(number=5, mirrored=False), 25, seed=seed)
    seats: dict[int, str] = dict.fromkeys(range(25), "")
    for key in sorted(play.pairings):
        for entry, seat in zip(play.pairings[key].entries, "12", strict=True):
            seats[entry] += seat
    assert not [each for each in seats.values() if "111" in each or "222" in each]


def test_a_bye_counts_in_full_and_goes_to_the_last() -> None:
    play = played(Swiss(number=3), 5, scores=scores_by_strength)
    rounds = play.format.plan(play.facts()).rounds
    rests = [line.winner for each in rounds for line in each.lines if line.state is LineState.BYE]
    assert rests[0] == 4
    assert len(set(rests)) == 3
    assert sum(points(play).values()) == 9.0


def test_a_void_pairing_is_half_a_point_for_each_unless_neither_came() -> None:
    field = Field.of("ab")

    def given(forfeited: str) -> list[float]:
        void = PairingOutcome("r1-01", ("a", "b"), (0.0, 0.0), 0, True, frozenset(forfeited))
        return [row.points for row in Swiss(number=1).table(Facts(field, {"r1-01": void}, {}))]

    assert given("") == [0.5, 0.5], "the server's fault is nobody's"
    assert given("ab") == [0.0, 0.0]


def test_a_pairing_counts_its_share_or_its_result() -> None:
    field = Field.of("ab")
    outcome = {"r1-01": PairingOutcome("r1-01", ("a", "b"), (1.5, 0.5), matches=2)}
    by_share = Swiss(number=1).table(Facts(field, outcome, {}))
    assert [(row.entry, row.points) for row in by_share] == [("a", 0.75), ("b", 0.25)]
    by_result = Swiss(number=1, points="result").table(Facts(field, outcome, {}))
    assert [(row.entry, row.points) for row in by_result] == [("a", 1.0), ("b", 0.0)]


def test_who_comes_late_joins_the_next_round_with_half_points_if_so_agreed() -> None:
    for late in (0.0, 0.5):
        play = Play(Swiss(number=3, late=late), Field.of(range(4)), scores=scores_by_strength)
        for pairing in play.ready():
            play.begin(pairing)
        assert play.next_round() == 1
        play.enter(9)
        assert play.ready() == []
        for key in list(play.begun):
            play.finish(key)
        assert any(
            9 in pairing.entries for pairing in play.ready()
        ) or LineState.BYE in play.state_of(9)
        table = play.format.table(play.facts())
        rested = float(LineState.BYE in play.state_of(9))
        assert next(row.points for row in table if row.entry == 9) == late + rested
        play.to_the_end()


def test_who_leaves_in_the_middle_of_a_round_loses_what_has_not_begun() -> None:
    play = Play(Swiss(number=2), Field.of(range(6)), scores=scores_by_strength)
    first, second, third = play.ready()
    play.begin(first)
    leaves, stays = second.entries
    play.withdraw(leaves)
    plays_on = third.entries[0]
    assert play.field.by_entry[leaves].withdrawn == 1
    assert [each.key for each in play.ready()] == [third.key]
    assert points(play)[stays] == 1.0
    play.begin(third)
    play.withdraw(plays_on)  # what has begun is played to its end
    play.to_the_end()
    assert play.state_of(plays_on) == [LineState.FINISHED]
    assert play.state_of(leaves) == [LineState.WALKOVER]
    assert len(meetings(play)[1]) == 2


def test_who_says_that_it_leaves_after_a_round_plays_until_then() -> None:
    field = Field((FieldEntry(0, withdrawn=2), *[FieldEntry(entry) for entry in range(1, 6)]))
    play = Play(Swiss(number=4), field)
    play.to_the_end()
    assert len(play.state_of(0)) == 2


def test_ties_are_broken_by_what_the_opponents_have_scored() -> None:
    # a beat b and lost to c; b beat d; c lost to d.
    finished = {
        key: PairingOutcome(key, (one, other), (1.0, 0.0))
        for key, one, other in [
            ("r1-01", "a", "b"),
            ("r1-02", "d", "c"),
            ("r2-01", "c", "a"),
            ("r2-02", "b", "d"),
        ]
    }
    form = Swiss(number=2, mirrored=False)
    table = form.table(Facts(Field.of("abcd"), finished, {}))
    assert {row.points for row in table} == {1.0}
    assert {row.tie_breaks for row in table} == {(0.0, 2.0, 1.0)}
    assert [row.place for row in table] == [1, 1, 1, 1]
    finished["r2-02"] = PairingOutcome("r2-02", ("b", "d"), (0.0, 1.0))
    table = form.table(Facts(Field.of("abcd"), finished, {}))
    assert [(row.entry, row.place, row.points) for row in table] == [
        ("d", 1, 2.0),
        ("c", 2, 1.0),
        ("a", 3, 1.0),
        ("b", 4, 0.0),
    ]
    assert [row.tie_breaks for row in table][:3] == [
        (0.0, 1.0, 1.0),
        (0.0, 3.0, 1.0),
        (0.0, 1.0, 0.0),
    ]


def test_two_hundred_entries_are_drawn_without_a_rematch() -> None:
    form = Swiss(number=2, mirrored=False)
    play = Play(form, Field.of(range(200)))
    while ready := form.ready(form.plan(play.facts())):
        assert len(ready) == 100
        for pairing in ready:
            play.begin(pairing)
            play.finish(pairing.key)
    had = [frozenset(pair) for each in meetings(play) for pair in each]
    assert len(had) == len(set(had)) == 200


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([2, 4, 6, 8]), st.integers(0, 10**6), st.integers(1, 50))
def test_the_cheapest_pairs_are_those_that_trying_all_finds(
    nodes: int, seed: int, most: int
) -> None:
    random = Random(seed)
    costs = {pair: random.randint(0, most) for pair in itertools.combinations(range(nodes), 2)}

    def least(left: tuple[int, ...]) -> int:
        if not left:
            return 0
        return min(
            costs[left[0], other] + least(tuple(each for each in left[1:] if each != other))
            for other in left[1:]
        )

    pairs = cheapest_pairs(nodes, lambda i, j: costs[i, j])
    assert sorted(each for pair in pairs for each in pair) == list(range(nodes))
    assert sum(costs[pair] for pair in pairs) == least(tuple(range(nodes)))


def test_more_candidates_are_looked_at_where_the_cheapest_leave_somebody_alone() -> None:
    nodes = 4 * CANDIDATES + 2  # two crowds of odd size, far from each other
    half = nodes // 2 + (nodes // 2 + 1) % 2
    pairs = cheapest_pairs(nodes, lambda i, j: 1000 * ((i < half) != (j < half)) + j - i)
    assert len(pairs) == nodes // 2
    assert sum((i < half) != (j < half) for i, j in pairs) == 1


def test_candidates_are_the_cheapest_and_the_neighbours_and_no_others() -> None:
    kinds = "s" * CANDIDATES + "h" * 2 * CANDIDATES + "a" * 2 * CANDIDATES

    def cost(i: int, j: int) -> int:
        if j == i + 1:
            return {"hh": 1, "aa": 11}.get(kinds[i] + kinds[j], 100)
        if j == i + CANDIDATES and kinds[i] == "a":
            return 10
        return {"sh": 0, "ha": 9}.get(kinds[i] + kinds[j], 100)

    # The cheapest for each h are the s, and for each a the h. The neighbours leave nobody alone, so
    # the pairs of a for 10 are not considered.
    pairs = cheapest_pairs(len(kinds), cost)
    assert sum(cost(i, j) for i, j in pairs) == CANDIDATES // 2 * 1 + CANDIDATES * 11


def test_an_odd_number_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="3 cannot be paired without leaving one alone"):
        cheapest_pairs(3, lambda i, j: 0)
