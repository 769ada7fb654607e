"""Knockout: brackets, series, third places, corrections and entries that leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.competition_rules.playing import Play, played, scores_by_strength

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
from plyhouse.server.competition_rules.knockout import (
    Knockout,
    Meeting,
    Series,
    bracket,
    bracket_matches,
    meetings,
    seeding,
)


def lines(play: Play) -> list[list[tuple[str, tuple[int, ...], LineState]]]:
    rounds = play.format.plan(play.facts()).rounds
    return [[(line.key, line.players, line.state) for line in each.lines] for each in rounds]


# ------------------------------------------------------------------------------ knockout


@pytest.mark.parametrize(
    ("entries", "first", "byes"),
    [
        (5, [{0}, {3, 4}, {1}, {2}], 3),
        (8, [{0, 7}, {3, 4}, {1, 6}, {2, 5}], 0),
        (13, [{0}, {7, 8}, {3, 12}, {4, 11}, {1}, {6, 9}, {2}, {5, 10}], 3),
    ],
)
def test_brackets_as_people_draw_them(entries: int, first: list[set[int]], byes: int) -> None:
    play = played(Knockout(), entries, scores=scores_by_strength)
    drawn = lines(play)
    assert [set(who) for _, who, _ in drawn[0]] == first
    assert [state for _, _, state in drawn[0]].count(LineState.BYE) == byes
    assert len(play.pairings) == entries - 1
    # The better seeds win, so that the two best meet in the final.
    assert set(drawn[-1][0][1]) == {0, 1}
    assert play.places()[0] == 1
    assert play.places()[1] == 2
    assert {play.places()[2], play.places()[3]} == {3}
    names = [each.name for each in play.format.plan(play.facts()).rounds]
    assert names[-3:] == ["Quarterfinals", "Semifinals", "Final"]
    if entries > 8:
        assert names[0] == "Round of 16"


def test_the_places_of_eight() -> None:
    play = played(Knockout(third_place=True), 8, scores=scores_by_strength)
    assert list(play.places().values()) == [1, 2, 3, 4, 5, 5, 5, 5]
    assert play.matches == 2 * 8
    rounds = play.format.plan(play.facts()).rounds
    assert [each.name for each in rounds][-3:] == ["Semifinals", "Third place", "Final"]
    [line] = rounds[-2].lines
    assert (set(line.players), line.winner) == ({2, 3}, 2)


def win(entry: int, pairing: Pairing[int]) -> PairingOutcome[int]:
    scores = tuple([float(each == entry) for each in pairing.entries])
    return PairingOutcome(pairing.key, pairing.entries, scores)


def test_a_series_ends_when_it_is_decided_and_seats_alternate() -> None:
    form, field = Knockout(best_of=3, mirrored=False), Field.of(range(2))
    finished: dict[str, PairingOutcome[int]] = {}
    seen = []
    for winner in (1, 1):
        [pairing] = form.ready(form.plan(Facts(field, finished, {})))
        seen.append((pairing.key, pairing.entries))
        finished[pairing.key] = win(winner, pairing)
    assert seen == [("k1-1-g1", (0, 1)), ("k1-1-g2", (1, 0))]
    assert form.plan(Facts(field, finished, {})).done
    assert [row.entry for row in form.table(Facts(field, finished, {}))] == [1, 0]


def test_a_level_series_is_prolonged_and_then_the_better_seed_goes_on() -> None:
    form, field = Knockout(best_of=2, extra=2, mirrored=False), Field.of(range(2))
    finished: dict[str, PairingOutcome[int]] = {}
    for _ in range(4):
        [pairing] = form.ready(form.plan(Facts(field, finished, {})))
        finished[pairing.key] = PairingOutcome(pairing.key, pairing.entries, (0.5, 0.5))
    assert form.plan(Facts(field, finished, {})).done
    assert form.count(2) == 4
    assert form.table(Facts(field, finished, {}))[0].entry == 0


def test_who_leaves_a_knockout_loses_to_the_opponent_and_never_after_it_has_won() -> None:
    play = Play(Knockout(), Field.of(range(4)), scores=scores_by_strength)
    first, second = play.ready()
    play.begin(first)
    play.finish(first.key)
    play.withdraw(0)  # who has just won
    play.begin(second)
    play.finish(second.key)
    play.to_the_end()
    assert [line[2] for line in lines(play)[1]] == [LineState.WALKOVER]
    assert play.places()[1] == 1
    assert play.places()[0] == 2, "it did win its semifinal"


def won(key: str, winner: str, loser: str, share: float = 1.0) -> PairingOutcome[str]:
    """The outcome of a pairing of one match in which ``winner`` sat first."""
    return PairingOutcome(key, (winner, loser), (share, 1.0 - share))


def facts_of(
    names: str, *outcomes: PairingOutcome[str], begun: dict[str, str] | None = None
) -> Facts[str]:
    """Facts of a field seeded in the order of ``names``."""
    field = Field.of(names)
    running = {key: tuple(entries) for key, entries in (begun or {}).items()}
    return Facts(field, {each.key: each for each in outcomes}, running)


def without(facts: Facts[str], *gone: str) -> Facts[str]:
    """The same facts after entries left in the first round but one."""
    entrants = [
        replace(each, withdrawn=1) if each.entry in gone else each for each in facts.field.entrants
    ]
    return Facts(Field(tuple(entrants)), facts.finished, facts.begun)


def drawn(form: Knockout, facts: Facts[str]) -> dict[str, RoundLine[str]]:
    return {line.key: line for line in form.plan(facts).lines()}


SEMIFINALS = won("k1-1-g1", "a", "d"), won("k1-2-g1", "b", "c")
SINGLE = Knockout(mirrored=False)
THIRD = Knockout(mirrored=False, third_place=True)


def test_seeding_of_each_size_is_that_of_tennis() -> None:
    assert [seed + 1 for seed in seeding(1)] == [1]
    assert [seed + 1 for seed in seeding(4)] == [1, 4, 2, 3]
    first = [1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11]
    assert [seed + 1 for seed in seeding(16)] == first


@pytest.mark.parametrize(
    ("entries", "third_place", "meetings"),
    [(2, False, 1), (2, True, 1), (3, True, 2), (4, False, 3), (4, True, 4), (9, True, 9)],
)
def test_count_is_the_meetings_times_the_longest_series(
    entries: int, third_place: bool, meetings: int
) -> None:
    form = Knockout(best_of=3, extra=4, third_place=third_place)
    assert form.count(entries) == meetings * (3 + 4) * 2
    assert bracket_matches(entries, Series(1, 0, 1), third_place=third_place) == meetings
    assert bracket_matches(entries, Series(1, 0, 1)) == entries - 1


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"best_of": 0}, "best_of must be 1 or more, not 0"),
        ({"extra": -1}, "extra must be 0 or more, not -1"),
        ({"seats": 3}, "pairs two seats, and the game has 3"),
    ],
)
def test_knockout_of_impossible_parameters_is_refused(
    parameters: dict[str, int], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        Knockout(**parameters)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="at least 2 entries, not 1"):
        Knockout().count(1)


def test_default_knockout_has_two_extra_pairings_and_no_third_place() -> None:
    assert (Knockout().series, Knockout().third_place) == (Series(1, 2, 2), False)
    assert Knockout(extra=0, best_of=1).count(2) == 2
    assert not any(each.name == "Third place" for each in SINGLE.plan(facts_of("abcd")).rounds)


def test_knockout_asks_again_after_each_pairing() -> None:
    assert Knockout.adaptive
    assert not Knockout.round_by_round


def test_rounds_and_keys_of_a_bracket_count_from_the_first_round_given() -> None:
    found = bracket("abcd", Series(1, 0, 1), facts_of("abcd"), third_place=True, first_round=5)
    assert [(each.number, each.name) for each in found.rounds] == [
        (5, "Semifinals"),
        (6, "Third place"),
        (6, "Final"),
    ]
    assert [(line.key, line.round) for each in found.rounds for line in each.lines] == [
        ("k1-1-g1", 5),
        ("k1-2-g1", 5),
        ("k2-2-g1", 6),
        ("k2-1-g1", 6),
    ]
    assert bracket("abcd", Series(1, 0, 1), facts_of("abcd")).rounds[0].number == 0
    assert not found.settled


def test_progress_counts_two_for_a_meeting_won_and_one_for_the_third_place() -> None:
    outcomes = *SEMIFINALS, won("k2-1-g1", "b", "a"), won("k2-2-g1", "c", "d")
    found = bracket("abcd", Series(1, 0, 1), facts_of("abcd", *outcomes), third_place=True)
    assert found.reached == {"a": 2, "b": 4, "c": 1, "d": 0}
    assert found.settled
    assert bracket("abc", Series(1, 0, 1), facts_of("abc")).reached == {"a": 2, "b": 0, "c": 0}


def test_losers_of_the_semifinals_meet_once_both_are_known() -> None:
    waiting = drawn(THIRD, facts_of("abcd", SEMIFINALS[0]))
    assert (waiting["k2-2-g1"].state, waiting["k2-2-g1"].players) == (LineState.WAITING, ("d",))
    assert (waiting["k2-1-g1"].state, waiting["k2-1-g1"].players) == (LineState.WAITING, ("a",))
    other = drawn(THIRD, facts_of("abcd", SEMIFINALS[1]))
    assert (other["k2-2-g1"].state, other["k2-2-g1"].players) == (LineState.WAITING, ("c",))
    ready = drawn(THIRD, facts_of("abcd", *SEMIFINALS))
    assert (ready["k2-2-g1"].state, ready["k2-2-g1"].entries) == (LineState.READY, ("c", "d"))
    assert (ready["k2-1-g1"].state, ready["k2-1-g1"].entries) == (LineState.READY, ("a", "b"))


def test_final_of_two_and_bracket_of_one_have_no_third_place() -> None:
    for names in ("a", "ab"):
        rounds = THIRD.plan(facts_of(names)).rounds
        assert [each.name for each in rounds] == ["Final"] * (len(names) - 1)


def test_semifinal_with_a_bye_leaves_the_third_place_without_an_opponent() -> None:
    line = drawn(THIRD, facts_of("abc", won("k1-2-g1", "b", "c")))["k2-2-g1"]
    assert (line.state, line.entries, line.winner) == (LineState.BYE, ("c", None), "c")


def test_begun_match_for_third_place_shows_who_lost_after_a_correction() -> None:
    corrected = won("k1-1-g1", "d", "a"), SEMIFINALS[1]
    lines = drawn(THIRD, facts_of("abcd", *corrected, begun={"k2-2-g1": "cd"}))
    assert lines["k2-2-g1"].players == ("c", "d")
    assert lines["k2-2-g1"].state is LineState.PLAYING
    assert lines["k1-1-g1"].winner == "a"
    assert set(lines["k2-1-g1"].players) == {"a", "b"}
    final = drawn(THIRD, facts_of("abcd", *corrected, begun={"k2-1-g1": "ab"}))
    assert final["k1-1-g1"].winner == "a"
    assert set(final["k2-2-g1"].players) == {"c", "d"}


def test_begun_meetings_stay_where_corrected_seeds_would_draw_others() -> None:
    # The groups sent a, b, c and d; corrected ones send e instead of d, and c before b.
    facts = facts_of("abcde", won("k1-1-g1", "a", "d"), begun={"k1-2-g1": "bc", "k2-2-g1": "ec"})
    found = bracket("acbe", Series(1, 0, 1), facts, third_place=True)
    lines = {line.key: line for each in found.rounds for line in each.lines}
    assert set(lines["k1-1-g1"].players) == {"a", "d"}
    assert set(lines["k1-2-g1"].players) == {"b", "c"}
    assert set(lines["k2-2-g1"].players) == {"c", "e"}
    # An entry that began a meeting elsewhere is in no other one.
    moved = bracket("abcd", Series(1, 0, 1), facts_of("abcd", begun={"k1-1-g1": "ab"}))
    first, second = moved.rounds[0].lines
    assert (first.state, set(first.players)) == (LineState.PLAYING, {"a", "b"})
    assert (second.state, second.players) == (LineState.BYE, ("c",))


@pytest.mark.parametrize("slot", [1, 2, 3, 4])
def test_begun_meeting_of_any_slot_moves_its_entries_there(slot: int) -> None:
    others = {1: "bc", 2: "ah", 3: "ad", 4: "ah"}[slot]
    found = bracket(
        "abcdefgh", Series(1, 0, 1), facts_of("abcdefgh", begun={f"k1-{slot}-g1": others})
    )
    lines = {line.key: line for line in found.rounds[0].lines}
    assert set(lines[f"k1-{slot}-g1"].players) == set(others)
    assert Counter(e for line in lines.values() for e in line.players).most_common(1)[0][1] == 1


def test_begun_final_is_played_while_its_semifinals_are_not() -> None:
    facts = facts_of("abcdef", begun={"k2-1-g1": "ef"})
    found = bracket("abcd", Series(1, 0, 1), facts)
    [final] = found.rounds[-1].lines
    assert (final.state, set(final.players)) == (LineState.PLAYING, {"e", "f"})


def test_winner_of_the_third_place_that_is_no_seed_has_progress_one() -> None:
    facts = facts_of("abcde", won("k2-2-g1", "e", "c"))
    found = bracket("abcd", Series(1, 0, 1), facts, third_place=True)
    assert found.reached["e"] == 1


def test_begun_meeting_is_played_before_the_one_that_leads_to_it() -> None:
    lines = drawn(SINGLE, facts_of("abcd", SEMIFINALS[0], begun={"k2-1-g1": "ac"}))
    assert (lines["k1-2-g1"].state, lines["k1-2-g1"].winner) == (LineState.WALKOVER, "c")
    assert (lines["k2-1-g1"].state, set(lines["k2-1-g1"].players)) == (
        LineState.PLAYING,
        {"a", "c"},
    )


def test_entries_of_a_begun_meeting_are_those_of_its_first_game() -> None:
    who = {"k1-2-g10": ("b", "a"), "k1-2-g2": ("a", "b"), "k3-4-g1": ("c", "d"), "w1-1-g1": ("x",)}
    expected = {(0, 1): ("a", "b"), (2, 3): ("c", "d")}
    assert meetings(who, "k") == expected
    assert meetings(dict(reversed(who.items())), "k") == expected


# -------------------------------------------------------------------------------- series


def series_of(best_of: int, extra: int, *shares: float) -> list[LineState]:
    """States of a final of a against b, of whose games a scored ``shares``."""
    outcomes = []
    for game, share in enumerate(shares, start=1):
        order = ("a", "b") if game % 2 else ("b", "a")
        scores = (share, 1.0 - share) if game % 2 else (1.0 - share, share)
        outcomes.append(PairingOutcome(f"k1-1-g{game}", order, scores))
    form = Knockout(best_of=best_of, extra=extra, mirrored=False)
    return [line.state for line in form.plan(facts_of("ab", *outcomes)).lines()]


@pytest.mark.parametrize(
    ("best_of", "extra", "shares", "unplayed"),
    [
        (1, 2, (), 1),
        (1, 2, (1.0,), 0),
        (1, 2, (0.5,), 1),
        (1, 2, (0.5, 1.0), 0),
        (1, 2, (0.5, 0.5), 1),
        (1, 2, (0.5, 0.5, 0.5), 0),
        (1, 0, (0.5,), 0),
        (3, 0, (1.0,), 1),
        (3, 0, (1.0, 1.0), 0),
        (3, 0, (0.0, 0.0), 0),
        (3, 0, (1.0, 0.5), 1),  # the other can still draw level
        (3, 0, (1.0, 0.6), 0),
        (3, 0, (1.0, 0.0), 1),
        (5, 0, (1.0, 1.0), 1),
        (5, 0, (1.0, 1.0, 0.5), 1),
        (5, 0, (1.0, 1.0, 1.0), 0),
        (2, 1, (1.0, 0.0), 1),
        (2, 0, (1.0, 0.0), 0),
        (3, 1, (0.6, 0.3, 0.6), 1),  # level but for the rounding of binary fractions
        (3, 1, (0.6, 0.3, 0.7), 0),
    ],
)
def test_series_goes_on_exactly_while_it_is_undecided(
    best_of: int, extra: int, shares: tuple[float, ...], unplayed: int
) -> None:
    states = series_of(best_of, extra, *shares)
    assert states == [LineState.FINISHED] * len(shares) + [LineState.READY] * unplayed


def test_winner_of_a_series_is_named_on_its_last_line_only() -> None:
    form = Knockout(best_of=3, extra=0, mirrored=False)
    outcomes = won("k1-1-g1", "b", "a"), won("k1-1-g2", "a", "b"), won("k1-1-g3", "b", "a", 0.7)
    rows = list(form.plan(facts_of("ab", *outcomes)).lines())
    assert [line.winner for line in rows] == [None, None, "b"]
    assert [line.entries for line in rows] == [("a", "b"), ("b", "a"), ("a", "b")]
    assert rows[-1].outcome == outcomes[-1]
    assert rows[-1].state is LineState.FINISHED


def test_level_series_goes_to_the_better_seed_even_with_rounding() -> None:
    form = Knockout(best_of=3, extra=0, mirrored=False)
    shares = [(0.3, 0.7), (0.6, 0.4), (0.6, 0.4)]
    for order in (("a", "b"), ("b", "a")):
        outcomes = [
            PairingOutcome(f"k1-1-g{game}", order, scores)
            for game, scores in enumerate(shares, start=1)
        ]
        assert list(form.plan(facts_of("ab", *outcomes)).lines())[-1].winner == "a"


def test_seats_alternate_to_the_end_of_a_long_series() -> None:
    form = Knockout(best_of=5, extra=0, mirrored=False)
    outcomes = [won(f"k1-1-g{game}", *("ab" if game % 2 else "ba")) for game in range(1, 5)]
    *_, last = form.plan(facts_of("ab", *outcomes[:3])).lines()
    assert (last.key, last.entries) == ("k1-1-g4", ("b", "a"))
    *_, last = form.plan(facts_of("ab", *outcomes)).lines()
    assert (last.key, last.entries) == ("k1-1-g5", ("a", "b"))


def test_void_pairing_of_a_series_counts_for_nobody() -> None:
    form = Knockout(best_of=2, extra=1, mirrored=False)
    void = PairingOutcome("k1-1-g1", ("a", "b"), (1.0, 0.0), void=True)
    after = [*form.plan(facts_of("ab", void, won("k1-1-g2", "b", "a"))).lines()]
    assert [(line.state, line.winner) for line in after] == [
        (LineState.VOID, None),
        (LineState.FINISHED, "b"),
    ]


def test_running_pairing_of_a_series_keeps_the_next_meeting_waiting() -> None:
    form = Knockout(best_of=2, mirrored=False)
    facts = facts_of("abcd", won("k1-1-g1", "a", "d"), begun={"k1-1-g2": "da", "k1-2-g1": "bc"})
    lines = drawn(form, facts)
    assert list(lines) == ["k1-1-g1", "k1-1-g2", "k1-2-g1", "k2-1-g1"]
    assert lines["k1-1-g2"].state is LineState.PLAYING
    assert (lines["k2-1-g1"].state, lines["k2-1-g1"].entries) == (LineState.WAITING, (None, None))
    assert not form.plan(facts).done


def test_entry_that_leaves_during_a_series_loses_it() -> None:
    form = Knockout(best_of=3, mirrored=False)
    facts = without(facts_of("ab", won("k1-1-g1", "a", "b")), "a")
    rows = list(form.plan(facts).lines())
    assert [(line.state, line.winner) for line in rows] == [
        (LineState.FINISHED, None),
        (LineState.WALKOVER, "b"),
    ]
    both = list(form.plan(without(facts, "b")).lines())
    assert [(line.state, line.winner) for line in both] == [
        (LineState.FINISHED, None),
        (LineState.DROPPED, None),
    ]


def test_meeting_of_two_that_left_gives_the_next_one_a_bye() -> None:
    facts = without(facts_of("abcd", won("k1-1-g1", "a", "d")), "b", "c")
    lines = drawn(THIRD, facts)
    assert lines["k1-2-g1"].state is LineState.DROPPED
    assert (lines["k2-1-g1"].state, lines["k2-1-g1"].winner) == (LineState.BYE, "a")
    assert (lines["k2-2-g1"].state, lines["k2-2-g1"].winner) == (LineState.BYE, "d")


def test_meeting_of_nobody_is_dropped_and_lets_nobody_go_on() -> None:
    meeting: Meeting[str] = Meeting((None, None), True, "k1-1", 0, ())
    [line], winner, certain = meeting.play(Series(1, 0, 1), facts_of("ab"), {})
    assert (line.state, winner, certain) == (LineState.DROPPED, None, True)
    assert meeting.loser(None) is None


def test_loser_is_the_other_of_the_pair_if_the_winner_is_of_it() -> None:
    meeting = Meeting(("a", "b"), True, "k1-1", 0, ())
    assert [meeting.loser(winner) for winner in ("a", "b", "c", None)] == ["b", "a", None, None]


def test_entry_without_a_seed_is_weaker_than_all_seeds() -> None:
    meeting = Meeting(("x", "b"), True, "k1-1", 0, ())
    [line], _, _ = meeting.play(Series(1, 0, 1), facts_of("abx"), {"a": 0, "b": 1})
    assert line.entries == ("b", "x")


def test_two_that_both_play_on_leave_the_result_to_decide() -> None:
    meeting = Meeting(("a", "b"), True, "k1-1", 0, ("a", "b"))
    facts = facts_of("ab", won("k1-1-g1", "b", "a"))
    assert meeting.play(Series(1, 0, 1), facts, {"a": 0, "b": 1})[1:] == ("b", True)
    [line], winner, certain = meeting.play(Series(1, 0, 1), facts_of("ab"), {"a": 0, "b": 1})
    assert (line.state, winner, certain) == (LineState.READY, None, False)
    onward = Meeting(("a", "b"), True, "k1-1", 0, ("a", "z"))
    assert onward.play(Series(1, 0, 1), facts, {"a": 0, "b": 1})[1:] == ("a", True)


# --------------------------------------------------------------------------------- table


def test_entries_still_in_precede_those_who_lost_in_the_same_round() -> None:
    facts = facts_of("abcd", won("k1-1-g1", "d", "a"), begun={"k1-2-g1": "bc"})
    table = SINGLE.table(facts)
    assert [(row.entry, row.place) for row in table] == [("d", 1), ("b", 2), ("c", 2), ("a", 4)]


def test_table_shows_points_and_means_which_do_not_decide() -> None:
    outcomes = (
        won("k1-1-g1", "a", "d", 0.6),
        won("k1-2-g1", "b", "c"),
        won("k2-1-g1", "a", "b", 0.7),
    )
    table = SINGLE.table(facts_of("abcd", *outcomes))
    assert [row.entry for row in table] == ["a", "b", "c", "d"]
    assert [row.points for row in table] == pytest.approx([1.3, 1.3, 0.0, 0.4])
    assert [row.played for row in table] == [2, 2, 1, 1]
    assert [row.tie_breaks[0] for row in table] == pytest.approx([0.65, 0.65, 0.0, 0.4])
    assert [row.place for row in table] == [1, 2, 3, 3]


def test_entry_that_left_before_the_beginning_is_last_without_points() -> None:
    field = Field((FieldEntry("a", withdrawn=0), FieldEntry("b"), FieldEntry("c")))
    table = SINGLE.table(Facts(field, {"k1-1-g1": won("k1-1-g1", "b", "c")}, {}))
    assert [(row.entry, row.place, row.tie_breaks) for row in table] == [
        ("b", 1, (1.0,)),
        ("c", 2, (0.0,)),
        ("a", 3, (0.0,)),
    ]
