"""The cost of a competition, and the source of the figure."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from plyhouse.protocol.api.competitions import PastFinal
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.preview import (
    Measured,
    basis,
    planned_matches,
    preview,
    sample,
)
from plyhouse.server.competition_rules.schedule import count
from plyhouse.server.match.time_control import TimeControl

NOW = datetime(2026, 10, 1, tzinfo=UTC)
TEXT = 'name = "Cup"\ngames = ["pig", "pig(seats=3)"]\ntime_control = "move:1"\n'


@pytest.mark.parametrize("mirrored", ["true", "false"])
@pytest.mark.parametrize("style", ["round_robin", "double_round_robin"])
def test_matches_are_those_of_the_schedule(mirrored: str, style: str) -> None:
    file = read_competition(f'{TEXT}mirrored = {mirrored}\nrounds = 2\n[format]\nname = "{style}"')
    laps = 4 if style == "double_round_robin" else 2
    for game, seats in (("pig", 2), ("pig(seats=3)", 3)):
        planned = planned_matches(file, game, 7)
        assert planned == count(7, laps, seats=seats, mirrored=mirrored == "true")


def test_duration_follows_from_the_pace_of_a_final() -> None:
    file = read_competition(TEXT + "[limits]\nmatches_at_a_time = 10")
    final = PastFinal("Old cup", 100, 200.0, 4.0)
    measured = {game: Measured(36.0, 5, 20.0, "server", final) for game in file.games}
    found = preview(file, 10, NOW, measured)
    assert found is not None
    assert found.matches == 90 + 120 * 3
    assert found.most == pytest.approx(4.5)
    assert found.hours == pytest.approx(0.45), "of thinking, ten matches at a time"
    assert found.typical_hours == pytest.approx(0.25), "2 s a match; more at a time are no faster"
    assert found.end(found.typical_hours) == NOW + timedelta(hours=0.25)
    few = preview(file, 10, NOW, measured, cores=2)
    assert few is not None
    assert few.typical_hours == pytest.approx(0.5), "half as many at a time as in that final"
    assert few.end(few.hours) == NOW + timedelta(hours=2.25)
    undated = preview(file, 10, None, measured)
    assert undated is not None
    assert undated.end(undated.hours) is None
    assert basis(file, found)[0].startswith("Typically: the final of Old cup played 100 matches")


def test_nothing_typical_is_predicted_without_a_final_of_each_game() -> None:
    file = read_competition(TEXT)
    final = PastFinal("Old cup", 100, 200.0, 4.0)
    measured = {"pig": Measured(36.0, 5, 20.0, "server", final)}
    measured["pig(seats=3)"] = Measured(36.0, 5, 20.0, "server")
    found = preview(file, 10, NOW, measured)
    assert found is not None
    assert found.typical_hours is None
    assert found.end(found.typical_hours) is None
    (text,) = basis(file, found)
    assert text.startswith("No final of pig(seats=3) at move:1")


TWO = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n'


def test_a_ladder_has_no_end_and_so_no_preview() -> None:
    file = read_competition(TWO + '[format]\nname = "ladder"')
    assert preview(file, 10, NOW, {}) is None


def test_every_format_is_counted_as_it_is_played() -> None:
    staff = '[[baselines]]\nbot = "staff/a"\n[[baselines]]\nbot = "staff/b"\n'
    file = read_competition(f'{TWO}rounds = 3\n[format]\nname = "gauntlet"\ntimes = 2\n{staff}')
    assert planned_matches(file, "pig", 12) == 10 * 2 * 6 * 2
    file = read_competition(f'{TWO}[format]\nname = "swiss"\nnumber = 4\n')
    assert planned_matches(file, "pig", 11) == 4 * 5 * 2
    with pytest.raises(FormatError, match="at least 2 entries"):
        planned_matches(file, "pig", 1)


def test_a_sample_bounds_the_thinking_time() -> None:
    clock = itertools.count(0, 1000).__next__
    found = sample("tic_tac_toe", TimeControl.parse("move:2"), clock)
    assert 5 <= found.plies <= 9
    assert found.most == pytest.approx(2 * found.plies)
    assert (found.matches, found.source, found.final) == (8, "sample", None)
    dice = sample("pig(target=20)", TimeControl.parse("total:60"), clock)
    assert dice.most == pytest.approx(120)


def test_a_sample_ends_when_its_time_is_over() -> None:
    clock = itertools.count(0, 10**9).__next__
    assert sample("tic_tac_toe", TimeControl.parse("move:2"), clock).matches == 1
