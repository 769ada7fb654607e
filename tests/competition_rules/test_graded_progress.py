"""A gauntlet until grades are certain: its errors, what it saves, and its bookkeeping."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

import pytest

from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.formats import FormatError, Pairing, PairingOutcome
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.pairing_queue import Pool, Reusable
from plyhouse.server.competition_rules.preview import Measured, preview
from plyhouse.server.competition_rules.progress import field_of
from plyhouse.server.grades.pairings_until_certain import GradedProgress
from plyhouse.server.results.sequential import GradingState

THRESHOLDS = {"easy": 0.4, "hard": 0.6}
Score = Callable[[str, str], float]


def made(students: int = 1, pool: Pool[str] | None = None, **given: object) -> GradedProgress[str]:
    """Students against two graded baselines and one without a grade."""
    names = [*(f"s{number}" for number in range(students)), "easy", "hard", "free"]
    form = Gauntlet(until_certain=True, **given)  # type: ignore[arg-type]
    field = field_of(names, baselines=["easy", "hard", "free"])
    return GradedProgress(form, field, THRESHOLDS, pool=pool)


def ended(pairing: Pairing[str], share: float) -> PairingOutcome[str]:
    student, baseline = pairing.entries
    return PairingOutcome(pairing.key, (student, baseline), (2 * share, 2 - 2 * share), 2)


def play(graded: GradedProgress[str], score: Score) -> Counter[str]:
    """To the end; how many pairings each baseline had."""
    count: Counter[str] = Counter()
    while not graded.over:
        taken = graded.take(lambda _: 1000, limit=1000)
        for pairing in taken:
            count[pairing.entries[1]] += 1
            graded.ended(ended(pairing, score(*pairing.entries)))
    return count


def test_grades_are_wrong_as_seldom_as_stated_and_clear_students_take_few_pairs() -> None:
    random.seed(11)
    runs, error, most = 75, 0.1, 120
    pairs: dict[float, float] = {}
    for mean in (0.1, 0.3, 0.7, 0.9):
        wrong = played = 0

        def score(_: str, __: str, mean: float = mean) -> float:
            return sum(random.random() < mean for _ in range(2)) / 2

        for _ in range(runs):
            graded = made(error=error, most=most)
            played += sum(play(graded, score).values())
            wrong += any(
                decision.band is not None and bool(decision.band) != (mean >= THRESHOLDS[baseline])
                for (_, baseline), decision in graded.decisions().items()
            )
        # Were it wrong in one of ten, more than 15 of 75 would have a probability of 0.3 %.
        assert wrong <= 15, mean
        pairs[mean] = played / runs
    assert max(pairs[0.1], pairs[0.9]) < 90 < min(pairs[0.3], pairs[0.7])
    assert max(pairs.values()) < 2 * most


def repeated(*shares: float) -> Iterator[float]:
    return itertools.cycle(shares)


def test_entries_are_placed_by_grade_although_their_pairings_have_a_lower_mean() -> None:
    graded = made(students=2, most=60)
    # s0 is close to the threshold of the hard baseline, and s1 to that of the easy one: each meets
    # that baseline very often, and the other one a few times.
    scores = {
        ("s0", "easy"): repeated(1.0),
        ("s0", "hard"): repeated(1.0, 0.5, 0.5, 0.25),
        ("s0", "free"): repeated(0.5),
        ("s1", "easy"): repeated(0.5, 0.5, 0.25),
        ("s1", "hard"): repeated(1.0),
        ("s1", "free"): repeated(0.5),
    }
    count = play(graded, lambda *pair: next(scores[pair]))
    assert count["hard"] > 60
    table = {row.entry: row for row in graded.table(["easy", "hard"], every_lower=True)}
    assert table["s0"].points / table["s0"].played > table["s1"].points / table["s1"].played
    assert [(row.entry, row.place) for row in table.values()][:2] == [("s1", 1), ("s0", 2)]
    assert {table[name].place for name in ("easy", "hard", "free")} == {None}
    (mean,) = table["s1"].tie_breaks
    assert mean == pytest.approx((5 / 12 + 1.0 + 0.5) / 3, abs=0.01)


def test_equal_grades_are_placed_by_the_mean_over_baselines_not_over_pairings() -> None:
    graded = made(students=2, most=60)
    scores = {
        ("s0", "easy"): repeated(0.75),
        ("s0", "hard"): repeated(1.0),
        ("s0", "free"): repeated(0.0),
        ("s1", "easy"): repeated(1.0),
        ("s1", "hard"): repeated(1.0, 0.5, 0.5),
        ("s1", "free"): repeated(0.0),
    }
    play(graded, lambda *pair: next(scores[pair]))
    table = {row.entry: row for row in graded.table(["easy", "hard"], every_lower=True)}
    assert [table["s0"].place, table["s1"].place] == [1, 2]
    assert table["s0"].tie_breaks[0] == pytest.approx(1.75 / 3)
    assert table["s1"].tie_breaks[0] == pytest.approx((1 + 2 / 3) / 3, abs=0.02)


def test_baselines_share_the_error() -> None:
    """A grade that is certain with one baseline is not yet certain with two."""
    alone = GradedProgress(
        Gauntlet(until_certain=True),
        field_of(["s0", "easy"], baselines=["easy"]),
        {"easy": 0.4},
    )
    both = made()
    assert play(alone, lambda *_: 1.0)["easy"] < play(both, lambda *_: 1.0)["easy"]


def test_one_pairing_at_a_time_with_each_baseline_until_decided() -> None:
    graded = made(students=2, most=30, times=3)
    first = graded.take(lambda _: 1000, limit=1000)
    assert len(first) == 6
    assert graded.take(lambda _: 1000, limit=1000) == []
    assert not graded.over
    before = graded.planned
    assert before == 2 * 2 * (30 + 30 + 3), "at most"
    for pairing in first:
        graded.ended(ended(pairing, 1.0))
    assert [each.round for each in graded.take(lambda _: 1000, freed=["s0"], limit=9)] == [1, 1, 1]
    assert graded.take(lambda _: 1, limit=9) == [], "both matches of a pairing are played together"
    graded.withdraw("s1")
    assert "s1" not in graded.entries()
    assert graded.planned < before


def test_it_ends_at_most_and_void_pairings_do_not_keep_it_for_ever() -> None:
    graded = made(most=10)
    count = play(graded, lambda *_: 0.5)
    assert count == {"easy": 10, "hard": 10, "free": 1}
    assert {each.state for each in graded.decisions().values()} == {GradingState.MAXIMUM}
    void = made(most=3)
    while not void.over:
        for pairing in void.take(lambda _: 1000, limit=1000):
            void.ended(PairingOutcome(pairing.key, pairing.entries, (0.0, 0.0), 0, void=True))
    assert {each.pairs for each in void.decisions().values()} == {0}


@pytest.mark.parametrize("at", [1, 7, 20])
def test_a_restart_changes_nothing(at: int) -> None:
    def score(student: str, baseline: str) -> float:
        key = student, baseline
        done[key] += 1
        return (done[key] * (3 if student == "s0" else 2) % 7) / 6

    done: Counter[tuple[str, str]] = Counter()
    whole = made(students=2, most=40)
    play(whole, score)
    done.clear()
    part = made(students=2, most=40)
    for _ in range(at):
        for pairing in part.take(lambda _: 4, limit=3):
            part.ended(ended(pairing, score(*pairing.entries)))
    names = ["s0", "s1", "easy", "hard", "free"]
    again = GradedProgress(
        part.format,
        field_of(names, baselines=names[2:]),
        THRESHOLDS,
        part.finished,
        part.begun,
    )
    play(again, score)
    assert again.decisions() == whole.decisions()
    assert again.finished == whole.finished


def _pool(played: Mapping[str, PairingOutcome[str]], form: Gauntlet) -> Pool[str]:
    return Pool(
        Reusable(f"cup-{key}", form.orders((each.entries[0], each.entries[1])), each)
        for key, each in played.items()
    )


def test_what_was_played_before_is_taken_over_in_its_order() -> None:
    rng = random.Random(5)
    first = made(most=60)
    play(first, lambda *_: rng.choice((0.0, 0.5, 1.0, 1.0)))
    pool = _pool(first.finished, first.format)
    again = made(most=60, pool=pool)
    assert again.over
    assert again.decisions() == first.decisions()
    assert again.reused_matches == again.planned == first.planned
    more = made(most=80, pool=pool)
    play(more, lambda *_: 1.0)
    key = max(more.begun, key=lambda key: int(key.rpartition("-")[2]))
    # A restart in the second run: what is taken over is not stored, and found again.
    fresh = {each for each in more.finished if each not in more.reused}
    names = ["s0", "easy", "hard", "free"]
    restored = GradedProgress(
        more.format,
        field_of(names, baselines=names[1:]),
        THRESHOLDS,
        {each: more.finished[each] for each in fresh},
        {each: more.begun[each] for each in fresh},
        pool,
    )
    assert key in restored.begun
    assert restored.decisions() == more.decisions()
    assert restored.reused == more.reused


def test_it_is_for_mirrored_pairings() -> None:
    with pytest.raises(FormatError, match="mirrored = true"):
        Gauntlet(until_certain=True, mirrored=False)


FILE = """
name = "Cup"
games = ["pig"]
time_control = "move:1"
[format]
name = "gauntlet"
until_certain = true
most = 50
[[baselines]]
bot = "staff/b0"
grade = "pass"
"""


def test_the_file_names_what_could_never_be_certain_and_the_preview_counts_most() -> None:
    file = read_competition(FILE)
    begin, measured = datetime(2027, 1, 1, tzinfo=UTC), {"pig": Measured(1, 1, 9, "sample")}
    found = preview(file, 11, begin, measured)
    assert found is not None
    assert found.matches == 10 * 50 * 2
    for old, new, key in (
        ('["pig"]', '["pig", "kuhn_poker"]', "format.until_certain"),
        ('grade = "pass"', "", "format.until_certain"),
        ('"pass"', '"pass"\nat_least = 1.0', "baselines[0].at_least"),
        ("most = 50", "most = 0", "format.most"),
    ):
        with pytest.raises(InvalidCompetition) as caught:
            read_competition(FILE.replace(old, new))
        assert [each.key for each in caught.value.mistakes] == [key]
