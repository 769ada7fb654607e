"""One bot entered twice: without a rank, and a measure of the noise."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest

from plyhouse.server.grades.board_fits import checkpoints, compute_statistics
from plyhouse.server.grades.board_statistics import (
    MatchOutcome,
    Statistics,
    differing,
    duplicate_note,
    lines,
    twins,
)
from plyhouse.server.grades.standings import Entrant, SeatResult, Standing, standings
from plyhouse.server.grades.standings_files import standings_table
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.tournament_settings import settings

EASY = Entrant(8, "staff/easy", "staff", baseline=True, digest="ab" * 32)
TWIN = replace(EASY, bot_id=9, name="staff/easy-2", twin_of="staff/easy")
ADA, BOB = Entrant(1, "ada/x", "ada"), Entrant(2, "bob/x", "bob")
ALL = [ADA, BOB, EASY, TWIN]
STRENGTH = {"ada/x": 0.7, "bob/x": 0.35, "staff/easy": 0.5, "staff/easy-2": 0.5}


def played(seed: int, pairs: int = 12) -> tuple[list[MatchOutcome], list[SeatResult]]:
    """Everybody against everybody, in mirrored pairs."""
    rng = random.Random(seed)
    outcomes, results = [], []
    for one, other in combinations(ALL, 2):
        for number in range(2 * pairs):
            seats = (one, other) if number % 2 else (other, one)
            first = STRENGTH[seats[0].name]
            won = rng.random() < first / (first + STRENGTH[seats[1].name])
            scores = (1.0, 0.0) if won else (0.0, 1.0)
            match, pairing = (
                f"{one.name}{other.name}{number}",
                f"{one.name}{other.name}{number // 2}",
            )
            names = (seats[0].name, seats[1].name)
            worth = (scores[0] - scores[1], scores[1] - scores[0])
            outcomes.append(MatchOutcome(match, "pig", pairing, names, scores, worth))
            results += [
                SeatResult(match, "pig", seat.bot_id, score, "W" if score else "L")
                for seat, score in zip(seats, scores, strict=True)
            ]
    return outcomes, results


def seen(seed: int, digest: str = TWIN.digest) -> tuple[list[Standing], list[MatchOutcome]]:
    outcomes, results = played(seed)
    return standings([ADA, BOB, EASY, replace(TWIN, digest=digest)], results), outcomes


def test_a_twin_stands_where_its_score_puts_it_and_others_are_ranked_without_it() -> None:
    ranked, outcomes = seen(1)
    places = {line.entrant.name: line.rank for line in ranked}
    assert places == {"ada/x": 1, "bob/x": 3, "staff/easy": 2, "staff/easy-2": None}
    scores = [line.score or 0.0 for line in ranked]
    assert scores == sorted(scores, reverse=True)
    board = {
        line.standing.entrant.name: line for line in lines(ranked, compute_statistics(outcomes))
    }
    for name, line in board.items():
        assert line.estimate is not None
        assert name in STRENGTH
        if name != TWIN.name:
            assert line.estimate.rank_high <= 3, "ranks are among those that have one"
    assert board["bob/x"].ahead is None, "nobody with a rank comes after"
    assert board[TWIN.name].ahead is None
    assert (board["staff/easy"].ahead or 0.0) > 0.5
    head, rows = standings_table(list(board.values()), ["pig"])
    assert head[-1] == "twin_of"
    assert [row[-1] for row in rows if row[-1]] == ["staff/easy"]


def test_equals_share_a_rank_across_a_twin() -> None:
    twin = replace(TWIN, name="easy/b")
    entrants = [replace(ADA, name="a/x"), twin, replace(EASY, name="z/easy"), BOB]
    rows = [
        SeatResult(f"m{each.bot_id}", "pig", each.bot_id, 0.5 if each is not BOB else 0.0, "D")
        for each in entrants
    ]
    assert [line.rank for line in standings(entrants, rows)] == [1, None, 1, 3]


def test_twins_say_how_far_chance_drives_equals_apart() -> None:
    ranked, outcomes = seen(1)
    found = compute_statistics(outcomes)
    (pair,) = twins(ranked, found)
    assert (pair.entry, pair.twin, pair.same) == ("staff/easy", "staff/easy-2", True)
    assert found.fitted is not None
    gap, error = found.fitted.difference("staff/easy", "staff/easy-2")
    assert (pair.elo, pair.chance) == pytest.approx((abs(gap), 1.96 * error))
    score = {line.entrant.name: line.score or 0.0 for line in ranked}
    assert pair.score == pytest.approx(abs(score["staff/easy"] - score["staff/easy-2"]))
    said = duplicate_note(pair)
    assert f"their scores differ by {pair.score:.3f}" in said
    assert f"their ratings by {pair.elo:.0f} points" in said
    assert "Differences of that size between other entries are noise" in said
    assert "same conditions" not in said
    assert "same conditions" in duplicate_note(replace(pair, elo=500.0, chance=100.0))
    assert twins(ranked, compute_statistics([]))[0].elo is None
    assert twins([line for line in ranked if line.entrant != EASY], found) == []


def test_chance_drives_twins_no_further_apart_than_is_said_19_times_in_20() -> None:
    within = 0
    for seed in range(60):
        ranked, outcomes = seen(seed)
        ((_, fitted),) = checkpoints(outcomes, 1)
        (pair,) = twins(ranked, Statistics(len(outcomes), 0, fitted, {}, {}, frozenset(), ()))
        assert pair.elo is not None
        assert pair.chance is not None
        within += pair.elo <= pair.chance
    assert within >= 52  # 57 are expected; three standard deviations below


def test_no_final_waits_for_a_twin_that_is_away() -> None:
    row = TournamentRow(
        *("c", "Cup", "pig", "move:1", "gauntlet", 1, True, False, 0, "running"),
        data='{"baselines": [8, 9], "twins": [9]}',
    )
    assert settings(row).needed_baselines == {8}, "these are waited for, as grades need them"
    assert settings(row).twins == {9}


def test_another_bot_under_the_second_name_is_no_twin() -> None:
    ranked, outcomes = seen(1, digest="cd" * 32)
    (pair,) = twins(ranked, compute_statistics(outcomes))
    assert not pair.same
    assert "not the same files" in duplicate_note(pair)
    assert "noise" in duplicate_note(pair)
    assert differing("s/a", "ab" * 32, "s/b", "ab" * 32) == ""
    assert "differ" in differing("s/a", "ab" * 32, "s/b", "cd" * 32)
    assert "s/b was run by a client" in differing("s/a", "ab" * 32, "s/b", "")
    assert "s/a was run by a client" in differing("s/a", "", "s/b", "")
