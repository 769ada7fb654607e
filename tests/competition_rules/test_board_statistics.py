"""The conclusions from results: ratings, circles, repeats, luck, and notes for the reader."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from plyhouse.server.grades.board_fits import compute_statistics
from plyhouse.server.grades.board_statistics import MatchOutcome, crosstab, lines
from plyhouse.server.grades.standings import Entrant, SeatResult, standings
from plyhouse.server.grades.standings_files import standings_table
from plyhouse.server.results.scoring import match_scores

NAMES = ("a/x", "b/x", "c/x", "d/x")


def outcome(number: int, one: str, other: str, first: float, game: str = "pig") -> MatchOutcome:
    """A match between two whose first seat got +1, 0 or -1; two of them are a pairing."""
    returns = (first, -first)
    scores = tuple(score for score, _ in match_scores(returns).seats)
    return MatchOutcome(f"m{number}", game, f"p{number // 2}", (one, other), scores, returns)


def series(one: str, other: str, wins: int, losses: int, start: int) -> list[MatchOutcome]:
    """Matches with seats swapped each time."""
    made = []
    for number in range(wins + losses):
        first = 1.0 if number < wins else -1.0
        pair = (one, other, first) if number % 2 == 0 else (other, one, -first)
        made.append(outcome(start + number, *pair))
    return made


def board(outcomes: list[MatchOutcome]) -> list[SeatResult]:
    return [
        SeatResult(each.match, each.game, NAMES.index(name), score, "W")
        for each in outcomes
        for name, score in zip(each.seats, each.scores, strict=True)
    ]


ENTRANTS = [Entrant(number, name, name[0]) for number, name in enumerate(NAMES)]


def ladder() -> list[MatchOutcome]:
    """Each beats those behind it 14 to 6."""
    found: list[MatchOutcome] = []
    for one, other in combinations(NAMES, 2):
        found += series(one, other, 14, 6, len(found))
    return found


def test_a_line_has_its_rating_both_intervals_ranks_and_how_sure_it_is_ahead() -> None:
    rows = ladder()
    made = lines(standings(ENTRANTS, board(rows)), compute_statistics(rows))
    assert [line.standing.entrant.name for line in made] == list(NAMES)
    elos = [line.estimate.elo for line in made if line.estimate is not None]
    assert elos == sorted(elos, reverse=True)
    for line in made:
        estimate = line.estimate
        assert estimate is not None
        assert estimate.any_low < estimate.low < estimate.elo < estimate.high < estimate.any_high
        assert estimate.rank_low <= (line.standing.rank or 0) <= estimate.rank_high
    sure = [line.ahead for line in made]
    assert all(0.6 < (each or 0) < 0.999 for each in sure[:-1]), sure
    assert sure[-1] is None
    assert compute_statistics(rows).notes == ()


def test_ranks_are_among_those_that_are_shown() -> None:
    rows = ladder()
    shown = standings(ENTRANTS[1:], [each for each in board(rows) if each.bot_id])
    made = lines(shown, compute_statistics(rows))
    assert [line.standing.rank for line in made] == [1, 2, 3]
    assert all(1 <= line.estimate.rank_low <= 3 for line in made if line.estimate)
    assert all(line.estimate.rank_high <= 3 for line in made if line.estimate)


def test_who_won_everything_and_who_never_met_is_told_and_can_be_told_without_names() -> None:
    rows = [*series("a/x", "b/x", 4, 0, 0), *series("c/x", "d/x", 3, 1, 10)]
    found = compute_statistics(rows)
    text = " ".join(found.notes)
    assert "2 groups have not met" in text
    assert "'a/x' won everything" in text
    masked = " ".join(found.shown_notes(["a/x", "c/x"]))
    assert "a/x" not in masked
    assert "c/x" not in masked
    assert "2 groups have not met" in masked
    assert "(another entry), 'b/x'" in masked
    assert "'b/x' lost everything" in masked
    assert "won everything" not in masked, "that is about somebody without a name alone"
    assert not found.shown_notes(["a/x", "b/x", "c/x", "d/x"])


def test_a_circle_gets_nash_shares_and_a_ladder_none() -> None:
    assert compute_statistics(ladder()).nash == {}
    rows: list[MatchOutcome] = []
    for one, other in (("a/x", "b/x"), ("b/x", "c/x"), ("c/x", "a/x")):
        rows += series(one, other, 18, 2, len(rows))
    for name in NAMES[:3]:
        rows += series(name, "d/x", 20, 0, len(rows))
    found = compute_statistics(rows)
    assert [found.nash[name].share for name in NAMES] == pytest.approx([1 / 3] * 3 + [0.0])
    assert found.nash["a/x"].low < 1 / 3 < found.nash["a/x"].high
    assert any("in a circle" in note for note in found.notes)
    holes = compute_statistics([each for each in rows if set(each.seats) != {"a/x", "d/x"}])
    assert holes.nash == {}
    assert any("everybody to have met everybody" in note for note in holes.notes)


def test_repeated_matches_stay_in_the_standings_and_prove_nothing_more() -> None:
    rows = ladder()
    again = [each._replace(match=f"again{each.match}") for each in rows]
    once, twice = (
        compute_statistics(rows),
        compute_statistics([*rows, *again], {each.match for each in again}),
    )
    assert once.fitted is not None
    assert twice.fitted is not None
    assert list(twice.fitted.elo) == list(once.fitted.elo)
    assert (twice.matches, twice.repeated) == (2 * len(rows), len(rows))
    assert any("repeat an earlier one move by move" in note for note in twice.notes)


def test_luck_stands_beside_the_raw_mean_where_it_is_known_of_all_matches() -> None:
    rng = random.Random(3)
    rows = []
    for number in range(200):
        dice = rng.choice((-0.9, 0.9))
        first = 1.0 if dice + rng.uniform(-1, 1) > 0 else -1.0
        one, other = ("a/x", "b/x") if number % 2 else ("b/x", "a/x")
        rows.append(outcome(number, one, other, first)._replace(luck=(dice, -dice)))
    found = compute_statistics(rows)
    assert found.lucky == {"pig"}
    mean = found.returns["pig"]["a/x"]
    assert mean.saved > 0.3
    assert mean.adjusted.high - mean.adjusted.low < mean.raw.high - mean.raw.low
    unknown = compute_statistics([rows[0]._replace(luck=None), *rows[1:]])
    assert unknown.lucky == frozenset()
    assert unknown.returns == {}, "pig is won or lost, so its returns say no more than scores"


def test_points_are_fitted_as_shares_and_have_their_mean() -> None:
    rows = []
    for number in range(40):
        chips = float(1 + number % 2)
        one, other = ("a/x", "b/x") if number % 4 < 2 else ("b/x", "a/x")
        first = chips if one == "a/x" else -chips
        scores = tuple(s for s, _ in match_scores((first, -first), 4.0).seats)
        rows.append(
            MatchOutcome(
                f"m{number}", "kuhn_poker", f"p{number}", (one, other), scores, (first, -first)
            )
        )
    found = compute_statistics(rows)
    assert found.fitted is not None
    assert found.returns["kuhn_poker"]["a/x"].raw.mean == pytest.approx(1.5)
    assert found.returns["kuhn_poker"]["b/x"].raw.mean == pytest.approx(-1.5)
    bounds = found.returns["kuhn_poker"]["a/x"].watched
    assert bounds is not None
    assert 0.0 < bounds[0] < 1.5 < bounds[1] < 2.0
    results = [each for each in board(rows) if each.bot_id < 2]
    head, table = standings_table(lines(standings(ENTRANTS, results), found), ["kuhn_poker"])
    best, last = (dict(zip(head, row, strict=True)) for row in (table[0], table[-1]))
    low, high = best["kuhn_poker any_low"], best["kuhn_poker any_high"]
    assert (low, best["kuhn_poker return"], high) == (bounds[0], 1.5, bounds[1])
    assert last["kuhn_poker any_low"] is None, "it has played nobody"


def test_three_seats_are_ranked_by_their_places() -> None:
    rows = []
    for number in range(30):
        seats = NAMES[:3][number % 3 :] + NAMES[:3][: number % 3]
        worth = {"a/x": 2.0, "b/x": 1.0 if number % 5 else 3.0, "c/x": 0.0 if number % 4 else 2.5}
        returns = tuple(worth[name] for name in seats)
        scores = tuple(score for score, _ in match_scores(returns).seats)
        rows.append(MatchOutcome(f"m{number}", "pacman", f"p{number}", seats, scores, returns))
    found = compute_statistics(rows)
    assert found.fitted is not None
    elo = dict(zip(found.fitted.names, found.fitted.elo, strict=True))
    assert elo["a/x"] > elo["b/x"] > elo["c/x"]
    assert found.nash == {}


def test_a_crosstab_counts_pairs_of_entries_from_both_sides() -> None:
    rows = ladder()
    table = crosstab(rows)
    assert table["a/x", "b/x"][:4] == (20, 14, 0, 6)
    assert table["b/x", "a/x"][:4] == (20, 6, 0, 14)
    score = table["a/x", "b/x"].score
    assert score.mean == pytest.approx(0.7)
    assert score.size == 10
    assert score.low < 0.7 < score.high


def test_nothing_played_is_no_evidence() -> None:
    found = compute_statistics([])
    assert found.fitted is None
    made = lines(standings(ENTRANTS, []), found)
    assert [(line.estimate, line.ahead, line.nash) for line in made] == [(None, None, None)] * 4
