"""Laws of every format, over random courses of a competition."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.competition_rules.playing import Play
from tests.harness.competition_fields import FORMS, SEEDS, field_of, fits

from plyhouse.server.competition_rules.double_elimination import DoubleElimination
from plyhouse.server.competition_rules.format_registry import FORMATS, described, make_format
from plyhouse.server.competition_rules.formats import (
    Field,
    FieldEntry,
    Format,
    FormatError,
    LineState,
    PairingOutcome,
)
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.groups import GroupsKnockout
from plyhouse.server.competition_rules.knockout import Knockout
from plyhouse.server.competition_rules.round_robin import RoundRobin
from plyhouse.server.competition_rules.swiss import Swiss
from plyhouse.server.competition_rules.tables import Tables

BRACKETS = (DoubleElimination, GroupsKnockout, Knockout)
"""Formats that nobody may join after a pairing has begun."""


def count_of(play: Play) -> int:
    baselines = sum(each.baseline for each in play.field.entrants)
    return play.format.count(len(play.field), baselines)


@settings(max_examples=100, deadline=None)
@given(FORMS, st.integers(2, 14), SEEDS)
def test_a_competition_goes_to_its_end_whatever_stops_it(
    form: Format, entries: int, random: Random
) -> None:
    field = field_of(form, entries, random)
    if not fits(form, field):
        return
    play = Play(form, field, random)
    play.to_the_end()
    most = count_of(play)
    if isinstance(form, BRACKETS):
        assert play.matches <= most
    else:
        assert play.matches == most
    table = form.table(play.facts())
    assert {row.entry for row in table} == set(range(entries))
    assert all(len(row.tie_breaks) == len(form.tie_breaks) for row in table)
    places = [row.place for row in table if row.place is not None]
    assert places == sorted(places)
    for number, place in enumerate(places, start=1):
        assert place == number or (place < number and places[number - 2] == place)


@settings(max_examples=120, deadline=None)
@given(FORMS, st.integers(2, 12), st.floats(0, 0.5), SEEDS)
def test_entries_leave_and_come_and_it_ends_properly(
    form: Format, entries: int, void: float, random: Random
) -> None:
    field = field_of(form, entries, random)
    if not fits(form, field):
        return
    play = Play(form, field, random, void=void)
    newcomers = 0
    for _ in range(5_000):
        who = {key: play.pairings[key].entries for key in play.begun}
        if random.random() < 0.15:
            play.withdraw(random.choice(play.field.entrants).entry)
        may_come = newcomers < 4 and (not isinstance(form, BRACKETS) or not play.begun)
        if may_come and random.random() < 0.1 and not play.done():
            newcomers += 1
            play.enter(100 + newcomers)
        assert {key: play.pairings[key].entries for key in play.begun} == who
        if not play.step():
            break
    assert play.done()
    for pairing in play.pairings.values():
        assert len(set(pairing.entries)) == form.seats
    for each in form.plan(play.facts()).rounds:
        for line in each.lines:
            assert line.state.settled
            if line.state is LineState.WALKOVER:
                assert line.winner in line.players
                gone = [e for e in line.players if play.field.by_entry[e].withdrawn is not None]
                assert gone


@settings(max_examples=100, deadline=None)
@given(FORMS, st.integers(4, 10), SEEDS)
# A final goes on between two who would not be in it by the corrected groups.
@example(GroupsKnockout(size=2, advance=1, mirrored=False), 4, Random(77))
@example(Knockout(best_of=1, third_place=True, mirrored=True), 4, Random(7685))
@example(Knockout(best_of=1, third_place=True, mirrored=False), 4, Random(5))
def test_a_corrected_result_takes_back_nothing_that_has_begun(
    form: Format, entries: int, random: Random
) -> None:
    field = field_of(form, entries, random)
    if not fits(form, field):
        return
    play = Play(form, field, random)
    corrections = 0
    redrawn: set[str] = set()  # rounds of which some had begun when a result was corrected
    for _ in range(5_000):
        if redrawn.intersection(key.partition("-")[0] for key in play._before):
            play._before = {}  # such a round is drawn among who is left in it, again and again
        if play.finished and random.random() < 0.2 and corrections < 5:
            corrections += 1
            key = random.choice(list(play.finished))
            outcome = play.finished[key]
            play.finished[key] = replace(outcome, scores=outcome.scores[::-1])
            play._before = {}
            redrawn.update(begun.partition("-")[0] for begun in play.begun)
        if not play.step():
            break
        shown = {
            line.key: set(line.players)
            for each in form.plan(play.facts()).rounds
            for line in each.lines
        }
        for key, who in play.begun.items():
            assert shown[key] == set(who), key
    assert play.done()


@settings(max_examples=80, deadline=None)
@given(FORMS, st.integers(2, 10), SEEDS)
def test_everybody_who_stays_plays(form: Format, entries: int, random: Random) -> None:
    field = field_of(form, entries, random)
    if not fits(form, field):
        return
    play = Play(form, field, random)
    play.withdraw(random.randrange(entries))
    play.to_the_end()
    gone = {each.entry for each in play.field.entrants if each.withdrawn is not None}
    busy = {entry for pairing in play.pairings.values() for entry in pairing.entries}
    idle = set(range(entries)) - gone - busy
    for entry in idle:  # nobody was there to play against
        states = play.state_of(entry)
        assert set(states) <= {LineState.BYE, LineState.WALKOVER, LineState.DROPPED}


@pytest.mark.parametrize("name", FORMATS)
def test_more_seats_are_refused_where_only_two_fit_and_told_what_would(name: str) -> None:
    if FORMATS[name][0].many_seats:
        assert make_format(name, seats=3).seats == 3
    else:
        with pytest.raises(FormatError, match="the game has 3: use tables, a gauntlet or"):
            make_format(name, seats=3)


@pytest.mark.parametrize(
    ("name", "entries", "baselines", "matches"),
    [
        ("round_robin", 5, 0, 10 * 3),
        ("double_round_robin", 5, 0, 10 * 3 * 2),
        ("tables", 8, 0, 6 * 2 * 3),
        ("gauntlet", 8, 3, 5 * 3 * 3),
    ],
)
def test_matches_of_three_seats_are_counted(
    name: str, entries: int, baselines: int, matches: int
) -> None:
    form = make_format(name, seats=3)
    assert isinstance(form, Format)
    assert form.count(entries, baselines) == matches


def test_until_certain_is_for_two_seats() -> None:
    with pytest.raises(FormatError, match="until_certain is for games of two seats"):
        make_format("gauntlet", seats=3, until_certain=True)


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("swis", {}, r"no format 'swis' \(did you mean swiss\?\); there are: round_robin"),
        ("swiss", {"rounds": 3}, "no parameter 'rounds'; it has: number, points, bye, late"),
        ("swiss", {"number": 0}, "number must be a whole number from 1 to 100, not 0"),
        ("swiss", {"number": True}, "number must be a whole number from 1 to 100, not True"),
        ("swiss", {"points": "wins"}, "points must be 'share' or 'result', not 'wins'"),
        ("swiss", {"late": 1.0}, "late must be a number from 0 to 0.5, not 1.0"),
        ("knockout", {"best_of": "3"}, "best_of must be a whole number from 1 to 99, not '3'"),
        ("groups_knockout", {"size": 1}, "size must be a whole number from 2 to 1000, not 1"),
        ("gauntlet", {"times": 0}, "times must be a whole number from 1 to 1000, not 0"),
        ("ladder", {"patience": -1}, "patience must be a number from 0 to 3600, not -1"),
        ("round_robin", {"laps": 0}, "laps must be a whole number from 1 to 1000, not 0"),
    ],
)
def test_wrong_parameters_are_refused(name: str, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        make_format(name, **given)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_made_with_its_defaults(name: str) -> None:
    assert make_format(
        name, **{each.name: each.default for each in described(name)}
    ) == make_format(name)


@pytest.mark.parametrize(
    ("form", "entries", "baselines", "problem"),
    [
        (RoundRobin(), 1, 0, "at least 2 entries, not 1"),
        (RoundRobin(seats=4), 3, 0, "at least 4 entries, not 3"),
        (Swiss(), 1, 0, "at least 2 entries, not 1"),
        (Tables(seats=4), 3, 0, "at least 4 entries, not 3"),
        (Knockout(), 0, 0, "at least 2 entries, not 0"),
        (DoubleElimination(), 1, 0, "at least 2 entries, not 1"),
        (GroupsKnockout(), 1, 0, "at least 2 entries, not 1"),
        (GroupsKnockout(size=2), 5, 0, "groups of 1 to 2, of which 2 cannot go on"),
        (Gauntlet(), 5, 0, "at least one baseline and one other entry, not 0 baselines among 5"),
        (Gauntlet(), 5, 5, "not 5 baselines among 5 entries"),
        (Gauntlet(seats=4), 5, 2, "a game of 4 seats has at least 3 baselines"),
    ],
)
def test_too_few_entries_are_refused(
    form: Format, entries: int, baselines: int, problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        form.count(entries, baselines)


def test_fields_and_outcomes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(FormatError, match="'a' is entered twice"):
        Field.of(["a", "b", "a"])
    with pytest.raises(FormatError, match="list entries in order of entering"):
        Field((FieldEntry("a", since=2), FieldEntry("b")))
    with pytest.raises(FormatError, match="2 entries have 1 scores"):
        PairingOutcome("r1-01", ("a", "b"), (1.0,))
    with pytest.raises(FormatError, match="without matches must be void"):
        PairingOutcome("r1-01", ("a", "b"), (0.0, 0.0), matches=0)
