"""Double elimination: two losses and an entry is out."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.competition_rules.playing import Play, played, scores_by_strength

from plyhouse.server.competition_rules.double_elimination import DoubleElimination
from plyhouse.server.competition_rules.formats import Field, LineState, Pairing, PairingOutcome
from plyhouse.server.competition_rules.pairing_queue import Pool, Reusable
from plyhouse.server.competition_rules.progress import Progress, look

SEEDS = st.builds(Random, st.integers(0, 2**32))
FORMS = st.builds(
    DoubleElimination,
    best_of=st.integers(1, 3),
    extra=st.integers(0, 2),
    mirrored=st.booleans(),
)


def names(play: Play) -> list[str]:
    return [each.name for each in play.format.plan(play.facts()).rounds]


def losses(play: Play) -> Counter[int]:
    """How many meetings each entry has lost, in play or by a walkover."""
    found: Counter[int] = Counter()
    for each in play.format.plan(play.facts()).rounds:
        for line in each.lines:
            if line.winner is not None and len(line.players) == 2:
                [loser] = set(line.players) - {line.winner}
                found[loser] += 1
    return found


def winner_of(play: Play) -> int:
    [winner] = [entry for entry, place in play.places().items() if place == 1]
    return winner


def test_eight_entries_of_which_the_better_always_wins() -> None:
    play = played(DoubleElimination(), 8, scores=scores_by_strength)
    assert names(play) == [
        *("Winners, round 1", "Winners, round 2", "Losers, round 1", "Losers, round 2"),
        *("Winners, final", "Losers, round 3", "Losers, final", "Grand final"),
    ]
    assert play.places() == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 5, 6: 7, 7: 7}
    assert len(play.pairings) == 2 * 8 - 2
    assert losses(play) == {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2}


def test_the_grand_final_is_played_again_if_the_unbeaten_entry_loses_it() -> None:
    def comeback(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
        best = max(pairing.entries) if pairing.key.startswith("f") else min(pairing.entries)
        return tuple([len(pairing.matches) * float(e == best) for e in pairing.entries])

    play = played(DoubleElimination(), 4, scores=comeback)
    assert names(play)[-2:] == ["Grand final", "Grand final, again"]
    assert winner_of(play) == 1
    assert losses(play) == {0: 2, 1: 1, 2: 2, 3: 2}
    assert len(play.pairings) == 2 * 4 - 1
    assert play.matches == play.format.count(4) // 3, "every series was decided at once"


def test_a_level_grand_final_is_won_by_the_unbeaten_entry() -> None:
    def upset(pairing: Pairing[int], random: Random) -> tuple[float, ...]:
        if pairing.key.startswith("f"):
            return tuple([len(pairing.matches) / 2] * 2)
        best = max(pairing.entries)
        return tuple([len(pairing.matches) * float(e == best) for e in pairing.entries])

    play = played(DoubleElimination(extra=0), 4, scores=upset)
    assert winner_of(play) == 3, "the last seed, but it has lost nothing"
    assert losses(play)[3] == 0


@settings(max_examples=50, deadline=None)
@given(FORMS, st.integers(2, 17), st.integers(0, 9999))
def test_everybody_but_the_winner_loses_twice(
    form: DoubleElimination, entries: int, seed: int
) -> None:
    play = played(form, entries, seed=seed)
    lost, winner = losses(play), winner_of(play)
    assert lost[winner] <= 1
    assert [lost[each] for each in range(entries) if each != winner] == [2] * (entries - 1)
    assert play.matches <= form.count(entries)


@settings(max_examples=60, deadline=None)
@given(FORMS, st.integers(2, 14), SEEDS)
def test_withdrawals_end_nothing_early_and_no_entry_loses_more_than_twice(
    form: DoubleElimination, entries: int, random: Random
) -> None:
    play = Play(form, Field.of(range(entries)), random, void=0.1)
    while play.step():
        if random.random() < 0.1:
            play.withdraw(random.randrange(entries))
    lost = losses(play)
    stay = {each.entry for each in play.field.entrants if each.withdrawn is None}
    assert max(lost.values(), default=0) <= 2
    best = [entry for entry, place in play.places().items() if place == 1]
    for entry in stay - set(best):
        assert lost[entry] == 2, "an entry that stays is out after two losses only"


@pytest.mark.parametrize("entries", [8, 16, 32, 64])
def test_opponents_meet_again_in_the_last_two_meetings_only(entries: int) -> None:
    play = played(DoubleElimination(extra=0), entries, scores=scores_by_strength)
    last = f"l{2 * entries.bit_length() - 4}-1-g1"
    assert last in play.pairings, "the final of the losers' bracket"
    met = Counter(
        frozenset(pairing.entries)
        for key, pairing in play.pairings.items()
        if key[0] != "f" and key != last
    )
    assert max(met.values()) == 1


def test_byes_are_those_of_the_strongest_and_empty_meetings_are_not_shown() -> None:
    play = played(DoubleElimination(), 5, scores=scores_by_strength)
    rounds = play.format.plan(play.facts()).rounds
    assert [line.winner for line in rounds[0].lines if line.state is LineState.BYE] == [0, 1, 2]
    assert all(line.players for each in rounds for line in each.lines)


@settings(max_examples=40, deadline=None)
@given(FORMS, st.integers(2, 10), st.integers(0, 9999))
def test_a_rerun_takes_over_every_pairing_and_ends_the_same(
    form: DoubleElimination, entries: int, seed: int
) -> None:
    play = played(form, entries, seed=seed)
    pool = Pool(
        Reusable(f"run1-{key}", pairing.matches, play.finished[key])
        for key, pairing in play.pairings.items()
    )
    again = Progress(form, play.field, pool=pool)
    again.accept(look(form, again.facts(), again.pool))
    assert again.over
    assert again.finished == play.finished
    assert again.reused == {key: f"run1-{key}" for key in play.pairings}


def test_a_meeting_that_is_corrected_after_the_next_began_stands() -> None:
    play = Play(DoubleElimination(extra=0), Field.of(range(4)), scores=scores_by_strength)
    for pairing in play.ready():
        play.begin(pairing)
        play.finish(pairing.key)
    _, losers = play.ready()
    assert (losers.key, set(losers.entries)) == ("l1-1-g1", {2, 3})
    play.begin(losers)
    first = play.finished["w1-1-g1"]
    play.finished["w1-1-g1"] = PairingOutcome(
        first.key, first.entries, first.scores[::-1], first.matches
    )
    play._before = {}
    [final] = play.ready()
    assert set(final.entries) == {0, 1}, "3 has begun to play among the losers"
    play.to_the_end()
    assert winner_of(play) == 0
