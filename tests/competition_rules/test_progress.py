"""A competition that is played through `Progress`, with answers that come late and restarts."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.competition_rules.double_elimination import DoubleElimination
from plyhouse.server.competition_rules.formats import Format, LineState, Pairing, PairingOutcome
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.groups import GroupsKnockout
from plyhouse.server.competition_rules.knockout import Knockout
from plyhouse.server.competition_rules.pairing_queue import Pool, Reusable, RoundRobinQueue
from plyhouse.server.competition_rules.progress import Progress, field_of, look
from plyhouse.server.competition_rules.schedule import round_robin
from plyhouse.server.competition_rules.swiss import Swiss

FORMATS: list[Format] = [
    Swiss(number=4),
    Swiss(number=4, mirrored=False),
    Knockout(best_of=3),
    DoubleElimination(best_of=3),
    GroupsKnockout(size=4, advance=2),
    Gauntlet(times=2),
]


def made(form: Format, entries: int = 9, **facts: Any) -> Progress[int]:
    return Progress(form, field_of(range(entries), baselines=[0, 1]), **facts)


def ask(progress: Progress[int]) -> None:
    while progress.stale:
        progress.accept(look(progress.format, progress.facts(), progress.pool))


def outcome(pairing: Pairing[int]) -> PairingOutcome[int]:
    """The entry of the least number wins."""
    best = min(pairing.entries)
    scores = tuple(float(len(pairing.matches) * (each == best)) for each in pairing.entries)
    return PairingOutcome(pairing.key, pairing.entries, scores, len(pairing.matches))


def to_the_end(progress: Progress[int]) -> int:
    """Play what is left; return how many pairings that was."""
    played = 0
    ask(progress)
    while not progress.over:
        taken = progress.take(lambda _: 99, limit=3)
        assert taken, "it is not over, and nothing can begin"
        played += len(taken)
        for pairing in taken:
            progress.ended(outcome(pairing))
        ask(progress)
    return played


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_planned_matches_are_known_before_the_first_answer_of_the_format(form: Format) -> None:
    progress = made(form)
    planned = progress.planned
    assert planned == form.count(9, 2)
    ask(progress)
    assert progress.planned == planned


@pytest.mark.parametrize("form", FORMATS)
def test_what_comes_next_is_what_begins_next(form: Format) -> None:
    progress = made(form)
    assert progress.upcoming(5) == [], "nobody has been asked yet"
    ask(progress)
    while not progress.over:
        coming = progress.upcoming(3)
        own = progress.upcoming(2, of={4})
        assert all(4 in each.entries for each in own)
        taken = progress.take(lambda _: 99, limit=3)
        assert [each.key for each in taken] == [each.key for each in coming]
        assert all(each.key not in {one.key for one in progress.upcoming(99)} for each in taken)
        for pairing in taken:
            progress.ended(outcome(pairing))
        ask(progress)
    assert progress.upcoming(5) == []


def test_what_comes_next_in_a_round_robin_is_the_next_of_its_schedule() -> None:
    robin = RoundRobinQueue(round_robin(range(5), 2))
    first = robin.upcoming(4)
    assert [each.key for each in first] == ["0", "1", "2", "3"]
    taken = robin.take(lambda _: 99, limit=4)
    assert [(each.key, each.matches) for each in taken] == [
        (each.key, each.matches) for each in first
    ]
    assert [each.key for each in robin.upcoming(2)] == ["4", "5"]
    own = robin.upcoming(99, of=[0])
    assert [int(each.key) for each in own] == sorted(int(each.key) for each in own)
    assert {other for each in own for other in each.entries} == set(range(5))
    assert all(0 in each.entries for each in own)
    robin.withdraw(0)
    assert robin.upcoming(99, of=[0]) == []


def table(progress: Progress[int]) -> list[tuple[int, int | None]]:
    rows = progress.format.table(progress.facts())
    return [(row.entry, row.place) for row in rows]


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_answers_that_come_late_lose_nothing(form: Format) -> None:
    """Results come, bots begin and one leaves between a question and its answer."""
    random = Random(7)
    progress = made(form)
    running: list[Pairing[int]] = []
    begun: list[str] = []
    waiting: list[Any] = []
    left = False
    for step in range(10_000):
        if progress.over and not running:
            break
        if progress.stale and len(waiting) < 2 and random.random() < 0.5:
            waiting.append(look(form, progress.facts(), progress.pool))
        if waiting and random.random() < 0.4:
            progress.accept(waiting.pop(0))
        taken = progress.take(lambda _: 2, None, limit=2)
        begun += [pairing.key for pairing in taken]
        running += taken
        if running and random.random() < 0.6:
            progress.ended(outcome(running.pop(random.randrange(len(running)))))
        if step > 30 and not left:
            left = True
            progress.withdraw(8)
    assert progress.over
    assert len(begun) == len(set(begun)), "nothing begins twice"
    plan = form.plan(progress.facts())
    assert plan.settled
    assert not plan.more
    assert set(begun) == {line.key for line in plan.lines() if line.state.begun}


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_who_leaves_begins_nothing_more(form: Format) -> None:
    progress = made(form)
    ask(progress)
    (first,) = progress.take(lambda _: 99, limit=1)
    gone = next(each for each in first.entries if each > 1)
    progress.withdraw(gone)
    assert progress.take(lambda _: 99, limit=99) == [], "the round may have to be drawn anew"
    stale = look(form, replace(progress.facts(), field_changes=0), progress.pool)
    assert not progress.accept(stale), "it was asked before somebody left"
    ask(progress)
    progress.ended(outcome(first))
    while not progress.over:
        ask(progress)
        for pairing in progress.take(lambda _: 99, limit=99):
            assert gone not in pairing.entries
            progress.ended(outcome(pairing))
        ask(progress)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_nothing_is_played_again_when_nothing_has_changed(form: Format) -> None:
    first = made(form)
    to_the_end(first)
    pool = Pool(
        Reusable(f"x-{key}", form.orders(each.entries), each)
        for key, each in first.finished.items()
    )
    second = made(form, pool=pool)
    assert to_the_end(second) == 0
    assert table(second) == table(first)
    assert second.reused == {key: f"x-{key}" for key in first.finished}
    # An entry submits again: only its missing pairings are played, although it loses them.
    kept = [
        Reusable(f"x-{key}", form.orders(each.entries), each)
        for key, each in first.finished.items()
        if 8 not in each.entries
    ]
    third = made(form, pool=Pool(kept))
    assert to_the_end(third) == len(first.finished) - len(kept)
    assert table(third) == table(first)


def test_a_pairing_of_the_pool_stands_for_one_pairing_only() -> None:
    schedule = round_robin(range(4), 3)
    pair = schedule[0]
    once = Reusable("x", pair.matches, PairingOutcome("x", pair.entries, (1.0, 1.0), 2))
    robin = RoundRobinQueue(schedule, pool=Pool([once]))
    assert robin.reused == {"0": "x"}
    assert len(robin) == 3 * 6 - 1
    # From the other seat it is another match, unless the pairing has both.
    single = round_robin(range(4), 2, mirrored=False)
    one = Reusable("x", single[0].matches, PairingOutcome("x", single[0].entries, (1.0, 0.0)))
    assert RoundRobinQueue(single, pool=Pool([one])).reused == {"0": "x"}
    turned = Reusable("y", ((single[0].entries[::-1]),), one.outcome)
    assert RoundRobinQueue(single, pool=Pool([turned])).reused == {"6": "y"}


def test_a_withdrawn_entry_is_remembered_by_the_round_in_which_it_left() -> None:
    progress = made(Swiss(number=4), 8)
    ask(progress)
    for pairing in progress.take(lambda _: 99, limit=99):
        progress.ended(outcome(pairing))
    ask(progress)
    lost = progress.take(lambda _: 99, limit=1)[0]
    progress.withdraw(7)
    answer = look(progress.format, progress.facts(), progress.pool)
    assert answer.left == {7: 2}
    assert progress.accept(answer)
    again = Progress(
        progress.format,
        field_of(range(8), baselines=[0, 1], left=answer.left),
        progress.finished,
        progress.begun,
    )
    ask(again)
    assert again.entries() == progress.entries()
    states = [
        line.state
        for each in again.format.plan(again.facts()).rounds
        for line in each.lines
        if 7 in line.players
    ]
    assert states == [
        LineState.FINISHED,
        LineState.PLAYING if 7 in lost.entries else LineState.WALKOVER,
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [
            Knockout(third_place=True),
            Knockout(best_of=2),
            DoubleElimination(),
            DoubleElimination(best_of=2, mirrored=False),
            Swiss(number=4),
        ]
    ),
    st.integers(3, 11),
    st.builds(Random, st.integers(0, 2**32)),
)
def test_a_rerun_that_is_stopped_anywhere_goes_on_where_it_was(
    form: Format, entries: int, random: Random
) -> None:
    """Reused pairings are not stored: a restart finds them again, and plays nothing twice."""

    def by_chance(pairing: Pairing[int]) -> PairingOutcome[int]:
        most = len(pairing.matches)
        share = random.choice([0.0, 0.5, 1.0]) * most
        return PairingOutcome(pairing.key, pairing.entries, (share, most - share), most)

    first = made(form, entries)
    orders: dict[str, tuple[tuple[int, ...], ...]] = {}
    ask(first)
    while not first.over:
        for pairing in first.take(lambda _: 99, limit=random.randint(1, 4)):
            orders[pairing.key] = pairing.matches
            first.ended(by_chance(pairing))
        ask(first)
    again = random.randrange(entries)  # the entry that has submitted again
    pool = [
        Reusable(f"run1-{key}", matches, first.finished[key])
        for key, matches in orders.items()
        if again not in matches[0]
    ]
    stored: dict[str, PairingOutcome[int]] = {}
    begun: dict[str, tuple[int, ...]] = {}
    progress = made(form, entries, pool=Pool(pool))
    ask(progress)
    while not progress.over:
        for pairing in progress.take(lambda _: 99, limit=random.randint(1, 4)):
            assert pairing.key not in begun, "it was played already"
            begun[pairing.key] = pairing.entries
        for key in random.sample(sorted(begun), random.randint(1, len(begun))):
            if key not in stored:
                playing = Pairing(key, 0, form.orders(begun[key]))
                stored[key] = by_chance(playing)
                progress.ended(stored[key])
        ask(progress)
        if random.random() < 0.4:
            before = progress
            progress = made(form, entries, finished=stored, begun=begun, pool=Pool(pool))
            ask(progress)
            assert progress.finished == before.finished
            assert progress.reused == before.reused
            assert progress.upcoming(99) == before.upcoming(99)
