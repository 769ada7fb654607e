"""Places by the rules of a format, and seeding by lot."""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.competition_rules.playing import Play
from tests.harness.competition_fields import FORMS, SEEDS, field_of, fits

from plyhouse.server.competition_rules.format_registry import FORMATS
from plyhouse.server.competition_rules.formats import Format, TableLine
from plyhouse.server.competitions.finals import by_lot
from plyhouse.server.grades.game_tables import Decider, GameFinal, deciding
from plyhouse.server.grades.standings import Entrant, SeatResult, Standing, standings, with_places


def row(entry: int, place: int | None) -> TableLine[int]:
    return TableLine(entry, place, 0.0, 1, ())


def scored(*entrants: Entrant) -> list[Standing]:
    """Standings in which the last of these entrants has the best score."""
    results = [
        SeatResult(f"m{number}", "pig", each.bot_id, number / 10, "D")
        for number, each in enumerate(entrants)
    ]
    return standings(entrants, results)


def places(lines: list[Standing]) -> list[tuple[str, int | None]]:
    return [(line.entrant.name, line.place) for line in lines]


def entrants(names: str) -> list[Entrant]:
    return [Entrant(number, name, name) for number, name in enumerate(names, start=1)]


def test_places_of_one_game_are_those_of_its_table_whatever_the_scores_are() -> None:
    lines = scored(*entrants("abcd"))
    assert lines[0].entrant.name == "d", "it has the best mean score"
    table = [row(1, 1), row(2, 2), row(3, 3), row(4, 3)]
    found = with_places(lines, [table], "knockout")
    assert places(found) == [("a", 1), ("b", 2), ("c", 3), ("d", 3)]
    assert [line.rank for line in found] == [4, 3, 2, 1], "the rank by score is still there"


def test_entries_below_a_disqualified_entry_a_twin_or_a_hidden_one_move_up() -> None:
    out = Entrant(1, "out", "out", "disqualified")
    twin = Entrant(3, "twin", "staff", baseline=True, twin_of="b")
    shown = [out, Entrant(2, "b", "b"), twin, Entrant(5, "e", "e"), Entrant(6, "f", "f")]
    table = [row(1, 1), row(2, 2), row(3, 2), row(4, 4), row(5, 5), row(6, 5)]
    found = with_places(scored(*shown), [table], "swiss")
    assert places(found) == [("b", 1), ("twin", None), ("e", 2), ("f", 2), ("out", None)]


def test_places_over_several_games_are_by_the_mean_place_or_the_mean_score() -> None:
    lines = scored(*entrants("abc"))
    tables = [[row(1, 1), row(2, 2), row(3, 3)], [row(2, 1), row(1, 2), row(3, 3)]]
    assert places(with_places(lines, tables, "swiss")) == [("b", 1), ("a", 1), ("c", 3)]
    by_score = with_places(lines, tables, "round_robin")
    assert places(by_score) == [("c", 1), ("b", 2), ("a", 3)]
    four = [
        [row(1, 1), row(2, 2), row(3, 3), row(4, 4)],
        [row(4, 1), row(2, 2), row(3, 3), row(1, 4)],
    ]
    found = with_places(scored(*entrants("abcd")), four, "swiss")
    assert places(found) == [("b", 1), ("d", 2), ("a", 2), ("c", 4)]


def test_twin_above_all_others_is_listed_beside_the_first_over_several_games() -> None:
    twin = Entrant(1, "twin", "staff", baseline=True, twin_of="a")
    lines = scored(twin, Entrant(2, "b", "b"), Entrant(3, "a", "a"))
    table = [row(1, 1), row(3, 2), row(2, 3)]
    assert places(with_places(lines, [table, table], "swiss")) == [
        ("a", 1),
        ("twin", None),
        ("b", 2),
    ]


def test_there_are_no_places_before_the_final() -> None:
    assert places(with_places(scored(*entrants("ab")), [], "swiss")) == [("b", None), ("a", None)]


@settings(max_examples=60, deadline=None)
@given(FORMS, st.integers(2, 12), SEEDS)
def test_places_are_a_total_preorder_at_every_moment(
    form: Format, entries: int, random: Random
) -> None:
    field = field_of(form, entries, random)
    if not fits(form, field):
        return
    play = Play(form, field, random, void=0.1)
    out = set(random.sample(range(entries), random.randint(0, entries // 2)))
    people = [
        Entrant(each, f"b{each}", "s", "disqualified" if each in out else "active")
        for each in range(entries)
    ]
    going = True
    while going:
        if random.random() < 0.2:
            play.withdraw(random.randrange(entries))
        going = play.step()
        table = form.table(play.facts())
        found = with_places(standings(people, []), [table], form.name)
        assert {line.entrant.bot_id for line in found} == set(range(entries))
        numbers = [line.place for line in found if line.place is not None]
        assert numbers == [1 + sum(other < each for other in numbers) for each in numbers]
        raw = {each.entry: each.place for each in table}
        shown = {line.entrant.bot_id: line.place for line in found}
        for one, other in ((a, b) for a in raw for b in raw):
            if None in (shown[one], shown[other]):
                continue
            assert (shown[one] < shown[other]) == (raw[one] < raw[other])  # type: ignore[operator]
        assert not any(shown[each] for each in out)


@given(st.sets(st.text(max_size=8), min_size=1, max_size=12), st.text("0123456789abcdef"))
def test_a_lot_depends_on_its_seed_and_the_names_only(names: set[str], seed: str) -> None:
    order = by_lot(seed, dict(enumerate(sorted(names))))
    again = by_lot(seed, dict(reversed(list(enumerate(sorted(names))))))
    assert order == again
    digests = [hashlib.sha256(f"{seed} {each}".encode()).hexdigest() for each in sorted(names)]
    assert [digests[each] for each in order] == sorted(digests)


def test_a_lot_favours_nobody() -> None:
    names = {number: f"s{number:02}/bot" for number in range(8)}
    first = [by_lot(f"{seed:016x}", names)[0] for seed in range(4_000)]
    counts = [first.count(number) for number in names]
    # Chi-squared with 7 degrees of freedom: the 99.99 % quantile is 29.9.
    assert sum((count - 500) ** 2 / 500 for count in counts) < 29.9


def final(form: str, column: str, table: list[TableLine[int]], **more: Any) -> GameFinal:
    fields: dict[str, Any] = {"tie_breaks": (), "rounds": (), "names": {}, "pairings": {}, **more}
    return GameFinal("pig", "t", form, table=tuple(table), column=column, **fields)


def decided(finals: list[GameFinal], lines: list[Standing]) -> tuple[str, dict[int, Decider]]:
    found = deciding(finals, with_places(lines, [each.table for each in finals], finals[0].format))
    return found.name, dict(found.values)


def test_points_decide_and_the_tie_break_between_equal_ones_is_named() -> None:
    table = [
        TableLine(1, 1, 2.5, 3, (4.0, 6.0, 1.0)),
        TableLine(2, 2, 2.5, 3, (4.0, 5.5, 2.0)),
        TableLine(3, 3, 2.0, 3, (9.0, 1.0, 1.0)),
        TableLine(4, 4, 1.0, 3, (0.0, 0.0, 0.0)),
        TableLine(5, 4, 1.0, 3, (0.0, 0.0, 0.0)),
    ]
    names = ("median-Buchholz", "Buchholz", "Sonneborn-Berger")
    swiss = final("swiss", "points", table, tie_breaks=names)
    assert decided([swiss], scored(*entrants("abcde"))) == (
        "points",
        {
            1: Decider("2.5", "Buchholz 6"),
            2: Decider("2.5", "Buchholz 5.5"),
            3: Decider("2"),
            4: Decider("1"),
            5: Decider("1"),
        },
    )


def test_column_over_several_games_is_the_mean_score_or_the_mean_place() -> None:
    tables = [[row(1, 1), row(2, 2)], [row(1, 1), row(2, 2)], [row(2, 1), row(1, 2)]]
    lines = scored(*entrants("ab"))
    name, values = decided([final("swiss", "points", each) for each in tables], lines)
    assert (name, values) == ("mean place", {1: Decider("1.33"), 2: Decider("1.67")})
    name, values = decided([final("round_robin", "points", each) for each in tables], lines)
    assert name == "mean score over the games"
    assert values == {1: Decider("0.000"), 2: Decider("0.100")}


def test_no_column_decides_before_the_final() -> None:
    assert decided([final("swiss", "points", [])], scored(*entrants("ab"))) == ("", {})


def test_every_format_has_a_column_that_can_be_shown() -> None:
    table = [TableLine(1, 1, 0.5, 1, (0.25, 0.5, 0.75))]
    lines = scored(*entrants("a"))
    for name, (form, _) in FORMATS.items():
        shown = final(name, form.column, table, tie_breaks=getattr(form, "tie_breaks", ()))
        column, values = decided([shown], lines)
        assert column == form.column
        assert values[1].value or column == "last round", name
