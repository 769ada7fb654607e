"""What a competition costs, and where the figure comes from."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from plyhouse.server.competition.facts import FormatError
from plyhouse.server.competition.file import read_competition
from plyhouse.server.competition.preview import Measured, planned_matches, preview, sample
from plyhouse.server.competition.schedule import count
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


def test_core_hours_and_the_end_follow_from_what_a_match_takes() -> None:
    file = read_competition(TEXT + "[limits]\nmatches_at_a_time = 10")
    measured = {game: Measured(36.0, 5, None, "server") for game in file.games}
    found = preview(file, 10, NOW, measured)
    assert found is not None
    assert found.matches == 90 + 120 * 3
    assert found.core_hours == pytest.approx(4.5)
    assert found.end == NOW + timedelta(hours=0.45)
    few = preview(file, 10, NOW, measured, cores=2)
    assert few is not None
    assert few.end == NOW + timedelta(hours=2.25)


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


def test_a_sample_is_played_here_and_thinks_all_its_time() -> None:
    clock = itertools.count(0, 1000).__next__
    found = sample("tic_tac_toe", TimeControl.parse("move:2"), clock)
    assert found.plies is not None
    assert 5 <= found.plies <= 9
    assert found.seconds == pytest.approx(2 * found.plies, abs=0.01)
    assert (found.matches, found.source) == (8, "sample")
    dice = sample("pig(target=20)", TimeControl.parse("total:60"), clock)
    assert dice.seconds == pytest.approx(120, abs=0.01)


def test_a_sample_ends_when_its_time_is_over() -> None:
    clock = itertools.count(0, 10**9).__next__
    assert sample("tic_tac_toe", TimeControl.parse("move:2"), clock).matches == 1
