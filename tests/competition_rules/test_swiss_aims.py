"""Swiss rounds and tables, compared with the best of all possible rounds and plain sums."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.competition_rules.playing import Play

from plyhouse.server.competition_rules.formats import (
    Facts,
    Field,
    FieldEntry,
    FormatError,
    LineState,
    Pairing,
    PairingOutcome,
    RoundLine,
)
from plyhouse.server.competition_rules.swiss import Swiss

Aims = tuple[int, ...]
"""Broken aims of a pair or a round, the most important first."""


@dataclass
class Card:
    """The record of an entry before a round."""

    points: float = 0.0
    met: list[int] = field(default_factory=list)
    seats: list[int] = field(default_factory=list)
    rested: bool = False


def violations(seats: list[int]) -> tuple[int, int, int]:
    """Seats beyond the absolute limits, surplus of one seat, and length of the current run."""
    streak = len(list(next(itertools.groupby(reversed(seats)))[1]))
    surplus = abs(sum(seats))
    return max(surplus - 2, 0) + max(streak - 2, 0), surplus, streak


def orders(cards: list[Card], i: int, j: int) -> list[tuple[int, int]]:
    """The seat orders of a pair that the rules for seats prefer."""
    judged = []
    for first, second in ((i, j), (j, i)):
        after = [violations([*cards[first].seats, 1]), violations([*cards[second].seats, -1])]
        worst = sum(each[0] for each in after)
        balance = sum(each[1] ** 2 for each in after)
        judged.append(((worst, balance, sum(each[2] for each in after)), (first, second)))
    best = min(judged)[0]
    return [order for how, order in judged if how == best]


def seat_aims(cards: list[Card], order: tuple[int, int]) -> tuple[int, int]:
    wrong = repeated = most = 0
    for entry, seat in zip(order, (1, -1), strict=True):
        _, surplus, streak = violations([*cards[entry].seats, seat])
        wrong += max(surplus - 2, 0) + max(streak - 2, 0)
        repeated += streak > 1
        most = max(most, surplus)
    return wrong, 3 * most**2 + repeated


def aims(cards: list[Card], i: int, j: int | None, *, seats: bool) -> Aims:
    """What a pair breaks: rematch, seats, bye's points, leader down, distance, seats, halves."""
    hundredths = [round(card.points * 100) for card in cards]
    if j is None:
        fewest = min((p for p, card in zip(hundredths, cards, strict=True) if not card.rested),
                     default=0)  # fmt: skip
        return (cards[i].rested, 0, max(0, hundredths[i] - fewest), 0, 0, 0,
                (len(cards) - 1 - i) ** 2)  # fmt: skip
    i, j = sorted((i, j), key=lambda each: (-hundredths[each], each))
    groups = [[e for e in range(len(cards)) if hundredths[e] == hundredths[k]] for k in (i, j)]
    place, other = groups[0].index(i), groups[1].index(j)
    apart = hundredths[i] - hundredths[j]
    if apart:
        fold = len(groups[0]) - 1 - place + other
    else:
        half = len(groups[0]) // 2
        fold = other - place - half if place < half <= other else len(cards)
    wrong, uneasy = 0, 0
    if seats:
        wrong, uneasy = min(seat_aims(cards, order) for order in orders(cards, i, j))
    else:
        uneasy = 3
    leader = apart > 0 and hundredths[i] == max(hundredths)
    return (j in cards[i].met, wrong, 0, leader, apart**2, uneasy, fold**2)


def all_rounds(players: list[int]) -> Iterator[list[tuple[int, int | None]]]:
    if not players:
        yield []
        return
    first, rest = players[0], players[1:]
    for other in rest:
        for others in all_rounds([each for each in rest if each != other]):
            yield [(first, other), *others]
    if len(players) % 2:
        for others in all_rounds(rest):
            yield [(first, None), *others]


def total(cards: list[Card], pairs: list[tuple[int, int | None]], *, seats: bool) -> Aims:
    each = [aims(cards, i, j, seats=seats) for i, j in pairs]
    return tuple([sum(column) for column in zip(*each, strict=True)])


def quarters(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
    count = len(pairing.matches)
    share = random.choice([0.0, 0.0, 0.25, 0.5, 0.5, 1.0, 1.0]) * count
    return share, count - share


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(2, 8), st.booleans(), st.integers(0, 9999))
@example(4, 8, False, 0)
@example(7, 6, False, 1)
@example(6, 5, True, 2)
@example(5, 8, False, 3)
@example(6, 9, False, 11)  # every round breaks an absolute rule of seats
@example(6, 9, False, 0)
@example(7, 8, False, 5)
@example(5, 8, False, 1)
def test_each_round_is_the_best_possible_one_by_the_aims_in_their_order(
    entries: int, number: int, mirrored: bool, seed: int
) -> None:
    form = Swiss(number=number, mirrored=mirrored)
    play = Play(form, Field.of(range(entries)), Random(seed), quarters)
    play.to_the_end()
    cards = [Card() for _ in range(entries)]
    rounds = form.plan(play.facts()).rounds
    assert len(rounds) == number
    for count, each in enumerate(rounds):
        pairs = [
            (line.players[0], line.players[1] if len(line.players) > 1 else None)
            for line in each.lines
        ]
        found = total(cards, pairs, seats=not mirrored)
        best = min(total(cards, p, seats=not mirrored) for p in all_rounds([*range(entries)]))
        assert found == best
        leaders = [
            (-max(round(cards[e].points * 100) for e in line.players), min(line.players))
            for line in each.lines
            if line.state is not LineState.BYE
        ]
        assert leaders == sorted(leaders), "leading boards come first"
        for board, line in enumerate(each.lines):
            if line.state is LineState.BYE:
                continue
            one, other = line.players
            allowed = orders(cards, one, other)
            assert (one, other) in allowed
            if len(allowed) == 2:
                assert (one, other) == undecided(cards, one, other, board + count)
        for line in each.lines:
            mark(cards, line, mirrored=mirrored)


def undecided(cards: list[Card], one: int, other: int, number: int) -> tuple[int, int]:
    """The order by the last match in which the seats differed, or alternating by board."""
    better, worse = min(one, other), max(one, other)
    for mine, its in zip(reversed(cards[better].seats), reversed(cards[worse].seats), strict=False):
        if mine != its:
            return (worse, better) if mine == 1 else (better, worse)
    return (worse, better) if number % 2 else (better, worse)


def mark(cards: list[Card], line: RoundLine[int], *, mirrored: bool) -> None:
    if line.state is LineState.BYE:
        cards[line.players[0]].points += 1.0
        cards[line.players[0]].rested = True
        return
    assert line.outcome is not None
    for place, entry in enumerate(line.players):
        cards[entry].points += line.outcome.share(entry)
        cards[entry].met.append(line.players[1 - place])
        if not mirrored:
            cards[entry].seats.append(1 - 2 * place)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(1, 5), st.sampled_from([0.5, 1.0]), st.integers(0, 9999))
@example(5, 4, 0.5, 1)
def test_tie_breaks_are_sums_of_the_opponents_points(
    entries: int, number: int, bye: float, seed: int
) -> None:
    form = Swiss(number=number, bye=bye)
    play = Play(form, Field.of(range(entries)), Random(seed), quarters)
    play.to_the_end()
    own = dict.fromkeys(range(entries), 0.0)
    met: dict[int, list[tuple[int, float]]] = {each: [] for each in own}
    for line in form.plan(play.facts()).lines():
        if line.state is LineState.BYE:
            own[line.players[0]] += bye
            met[line.players[0]].append((line.players[0], bye))  # itself, as the virtual opponent
        else:
            assert line.outcome is not None
            for entry, other in (line.players, line.players[::-1]):
                own[entry] += line.outcome.share(entry)
                met[entry].append((other, line.outcome.share(entry)))
    for row in form.table(play.facts()):
        against = sorted(own[other] for other, _ in met[row.entry])
        expected = (
            sum(against) - max(against) - min(against) if number > 1 else 0.0,
            sum(against),
            sum(own[other] * share for other, share in met[row.entry]),
        )
        assert row.points == pytest.approx(own[row.entry])
        assert row.tie_breaks == pytest.approx(expected)
        assert row.played == sum(other != row.entry for other, _ in met[row.entry])


def outcome(key: str, entries: str, *scores: float, **more: object) -> PairingOutcome[str]:
    return PairingOutcome(key, tuple(entries), scores, **more)  # type: ignore[arg-type]


def points_of(form: Swiss, facts: Facts[str]) -> dict[str, float]:
    return {row.entry: row.points for row in form.table(facts)}


@pytest.mark.parametrize(
    ("entries", "rounds"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (1, 1), (0, 1)]
)
def test_default_rounds_are_the_logarithm_rounded_up(entries: int, rounds: int) -> None:
    assert Swiss().rounds_for(entries) == rounds
    assert Swiss(number=7).rounds_for(entries) == 7


def test_count_is_half_the_entries_each_round_and_both_seats() -> None:
    assert Swiss(number=3).count(5) == 3 * 2 * 2
    assert Swiss(mirrored=False).count(8) == 3 * 4
    with pytest.raises(FormatError, match="at least 2 entries, not 1"):
        Swiss().count(1)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"bye": -0.1}, "bye must be between 0 and 1, not -0.1"),
        ({"bye": 1.1}, "bye must be between 0 and 1, not 1.1"),
        ({"late": -0.1}, "late must be between 0 and 0.5, not -0.1"),
        ({"late": 0.6}, "late must be between 0 and 0.5, not 0.6"),
        ({"number": 0}, "number must be 1 or more, not 0"),
        ({"points": "wins"}, "points must be 'share' or 'result', not 'wins'"),
        ({"seats": 3}, "pairs two seats, and the game has 3"),
    ],
)
def test_swiss_of_impossible_parameters_is_refused(
    parameters: dict[str, float], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        Swiss(**parameters)  # type: ignore[arg-type]
    for bye in (0.0, 1.0):
        assert (Swiss(bye=bye).bye, Swiss(late=bye / 2).late) == (bye, bye / 2)
    assert (Swiss().bye, Swiss().late, Swiss(number=1).number) == (1.0, 0.0, 1)


def test_swiss_asks_again_after_each_round() -> None:
    assert (Swiss.adaptive, Swiss.round_by_round) == (True, True)


@pytest.mark.parametrize(
    ("share", "points"),
    [(0.0, 0.0), (0.4, 0.0), (0.5, 0.5), (0.5 + 1e-12, 0.5), (0.5 - 1e-12, 0.5), (0.6, 1.0)],
)
def test_points_by_result_are_those_of_the_larger_sum(share: float, points: float) -> None:
    facts = Facts(Field.of("ab"), {"r1-01": outcome("r1-01", "ab", share, 1.0 - share)}, {})
    expected = {"a": points, "b": 1.0 - points}
    assert points_of(Swiss(points="result", mirrored=False), facts) == expected


def test_void_pairing_gives_nothing_to_an_absent_entry_and_half_a_point_to_the_other() -> None:
    for absent, points in (("a", [0.0, 0.5]), ("b", [0.5, 0.0])):
        void = outcome("r1-01", "ab", 0.0, 0.0, matches=0, void=True, forfeited=frozenset(absent))
        facts = Facts(Field.of("ab"), {"r1-01": void}, {})
        assert [*points_of(Swiss(), facts).items()] == sorted(
            zip("ab", points, strict=True), key=lambda each: -each[1]
        )
        assert [row.played for row in Swiss().table(facts)] == [1, 1]


def test_running_pairing_gives_no_points_but_its_seats_and_result_count_later() -> None:
    form = Swiss(number=2, mirrored=False)
    facts = Facts(Field.of("ab"), {}, {"r1-01": ("a", "b")})
    table = form.table(facts)
    assert [(row.points, row.played) for row in table] == [(0.0, 0), (0.0, 0)]
    plan = form.plan(facts)
    assert [line.state for line in plan.lines()] == [LineState.PLAYING]
    assert plan.more
    after = Facts(facts.field, {"r1-01": outcome("r1-01", "ab", 1.0, 0.0)}, {})
    [_, again] = form.plan(after).lines()
    assert again.entries == ("b", "a")


def test_result_against_an_entry_outside_the_field_counts_as_one_without_an_opponent() -> None:
    facts = Facts(Field.of("ab"), {"r1-01": outcome("r1-01", "az", 0.75, 0.25)}, {})
    row = Swiss(number=1, mirrored=False).table(facts)
    assert [(each.entry, each.points, each.played) for each in row] == [
        ("b", 1.0, 0),
        ("a", 0.75, 0),
    ]
    assert row[1].tie_breaks == (0.0, 0.75, 0.75 * 0.75)


def test_entries_of_a_round_that_were_not_paired_at_its_start_are_drawn() -> None:
    # One pairing has begun otherwise than corrected results would draw it.
    field = Field.of("abcdef")
    form = Swiss(number=2, mirrored=False)
    plan = form.plan(Facts(field, {}, {"r1-02": ("a", "b")}))
    pairs = {line.key: set(line.players) for line in plan.lines()}
    assert pairs["r1-02"] == {"a", "b"}
    assert set(pairs) == {"r1-01", "r1-02", "r1-03"}
    assert pairs["r1-01"] | pairs["r1-03"] == set("cdef")
    assert pairs["r1-01"] in ({"c", "e"}, {"d", "f"})
    odd = form.plan(Facts(Field.of("abcde"), {}, {"r1-01": ("a", "b")}))
    lines = [(line.key, line.state) for line in odd.lines()]
    assert lines == [
        ("r1-01", LineState.PLAYING),
        ("r1-02", LineState.READY),
        ("r1-bye", LineState.BYE),
    ]


def test_entry_left_alone_by_begun_pairings_has_the_bye() -> None:
    form = Swiss(number=1, mirrored=False)
    lines = list(form.plan(Facts(Field.of("abc"), {}, {"r1-01": ("a", "c")})).lines())
    assert [(line.key, line.state, line.winner) for line in lines] == [
        ("r1-01", LineState.PLAYING, None),
        ("r1-bye", LineState.BYE, "b"),
    ]


def test_begun_pairings_drawn_alike_keep_the_others_as_they_were() -> None:
    form = Swiss(number=1, mirrored=False)
    before = {line.key: line.entries for line in form.plan(Facts(Field.of("abcd"), {}, {})).lines()}
    assert before == {"r1-01": ("a", "c"), "r1-02": ("d", "b")}
    for key in before:
        after = form.plan(Facts(Field.of("abcd"), {}, {key: before[key]}))
        assert {line.key: line.entries for line in after.lines()} == before


def entrants(*rows: tuple[str, int, int | None]) -> Field[str]:
    return Field(tuple([FieldEntry(e, since=since, withdrawn=gone) for e, since, gone in rows]))


def test_late_entry_has_its_points_for_each_missed_round_only() -> None:
    field = entrants(("a", 0, None), ("b", 0, None), ("c", 0, None), ("d", 0, None), ("z", 2, None))
    finished = {
        each.key: each
        for each in (
            outcome("r1-01", "ac", 1.0, 0.0),
            outcome("r1-02", "bd", 1.0, 0.0),
            outcome("r2-01", "ab", 1.0, 0.0),
            outcome("r2-02", "cd", 1.0, 0.0),
        )
    }
    form = Swiss(number=3, late=0.5, mirrored=False)
    table = {row.entry: row for row in form.table(Facts(field, finished, {}))}
    assert table["z"].points == 1.0
    assert table["z"].tie_breaks[2] == 1.0 * 1.0
    plan = form.plan(Facts(field, finished, {}))
    byes = [line.winner for line in plan.lines() if line.state is LineState.BYE]
    assert byes == ["d"], "points of rounds before it came are no bye"
    assert [(each.number, each.name) for each in plan.rounds] == [
        (0, "Round 1"),
        (1, "Round 2"),
        (2, "Round 3"),
    ]


def test_leader_has_the_bye_where_all_others_have_had_it() -> None:
    finished = {
        each.key: each
        for each in (
            outcome("r1-01", "ab", 0.0, 1.0),
            outcome("r2-01", "bc", 1.0, 0.0),
        )
    }
    plan = Swiss(number=3, mirrored=False).plan(Facts(Field.of("abc"), finished, {}))
    byes = [line.winner for line in plan.lines() if line.state is LineState.BYE]
    assert byes == ["c", "a", "b"]


def test_bye_goes_to_the_fewest_points_by_a_hundredth() -> None:
    finished = {
        "r1-01": outcome("r1-01", "ac", 0.49, 0.51),
        "r1-02": outcome("r1-02", "bd", 0.5, 0.5),
    }
    plan = Swiss(number=2, mirrored=False).plan(Facts(Field.of("abcde"), finished, {}))
    byes = [line.winner for line in plan.lines() if line.state is LineState.BYE]
    assert byes == ["e", "a"]


def test_bye_goes_to_the_last_even_if_another_would_suit_the_halves() -> None:
    drawn = {
        "r1-01": "be",
        "r1-02": "ag",
        "r1-03": "cd",
        "r2-01": "bf",
        "r2-02": "ae",
        "r2-03": "cg",
    }
    finished = {key: outcome(key, pair, 0.5, 0.5) for key, pair in drawn.items()}
    plan = Swiss(number=3, bye=0.5).plan(Facts(Field.of("abcdefg"), finished, {}))
    byes = [line.winner for line in plan.lines() if line.state is LineState.BYE]
    assert byes == ["f", "d", "g"], "e would leave pairs that lie nearer to half a group apart"


def test_rounds_end_when_fewer_than_two_entries_are_left() -> None:
    field = entrants(("a", 0, None), ("b", 0, 1), ("c", 0, 1), ("d", 0, 1))
    finished = {
        "r1-01": outcome("r1-01", "ac", 1.0, 0.0),
        "r1-02": outcome("r1-02", "bd", 1.0, 0.0),
    }
    form = Swiss(number=3, mirrored=False)
    plan = form.plan(Facts(field, finished, {}))
    assert (len(plan.rounds), plan.done) == (1, True)
    two = entrants(("a", 0, None), ("b", 0, None), ("c", 0, 1), ("d", 0, 1))
    plan = form.plan(Facts(two, finished, {}))
    assert (len(plan.rounds), plan.more) == (2, True)
    nobody = entrants(*[(entry, 0, 1) for entry in "abcd"])
    plan = form.plan(Facts(nobody, finished, {}))
    assert (len(plan.rounds), plan.done) == (1, True)
    running = form.plan(Facts(field, {"r1-01": finished["r1-01"]}, {"r1-02": ("b", "d")}))
    assert running.more


def test_unplayed_pairing_of_entries_that_left_is_lost_or_dropped() -> None:
    form = Swiss(number=1, mirrored=False)
    for gone, state, winner in (
        ("c", "walkover", "a"),
        ("ac", "dropped", None),
        ("", "ready", None),
    ):
        field = entrants(*[(e, 0, 1 if e in gone else None) for e in "abcd"])
        plan = form.plan(Facts(field, {}, {"r1-02": ("d", "b")}))
        line = next(each for each in plan.lines() if each.key == "r1-01")
        assert (line.state, line.winner) == (state, winner)
    later = entrants(("a", 0, 2), ("b", 0, None))
    assert [line.state for line in form.plan(Facts(later, {}, {})).lines()] == [LineState.READY]


def test_number_of_rounds_follows_from_the_entries_at_the_beginning() -> None:
    field = entrants(*[(entry, 0, None) for entry in "abcd"], ("z", 1, None), ("y", 1, None))
    play = Play(Swiss(), Field.of(range(4)))
    play.to_the_end()
    assert len(play.format.plan(play.facts()).rounds) == 2
    finished = {
        each.key: each
        for each in (
            outcome("r1-01", "ac", 1.0, 0.0),
            outcome("r1-02", "bd", 1.0, 0.0),
            outcome("r2-01", "ab", 1.0, 0.0),
            outcome("r2-02", "zc", 1.0, 0.0),
            outcome("r2-03", "yd", 1.0, 0.0),
        )
    }
    assert Swiss().plan(Facts(field, finished, {})).done
    assert not Swiss(number=3).plan(Facts(field, finished, {})).done


def test_second_seat_against_an_entry_outside_the_field_counts() -> None:
    facts = Facts(
        Field.of("abc"),
        {"r1-01": outcome("r1-01", "za", 0.0, 1.0), "r1-02": outcome("r1-02", "bc", 1.0, 0.0)},
        {},
    )
    lines = list(Swiss(number=2, mirrored=False).plan(facts).lines())
    [first] = [line for line in lines if line.key == "r2-01"]
    assert first.entries == ("a", "b")
    form = Swiss(number=1, mirrored=False)
    points = points_of(form, Facts(facts.field, {"r1-01": facts.finished["r1-01"]}, {}))
    assert points["a"] == 1.0
