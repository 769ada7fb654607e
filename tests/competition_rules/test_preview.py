"""The cost of a competition, and the source of the figure."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.preview import (
    Measured,
    planned_matches,
    played,
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


def test_core_hours_and_the_end_follow_from_what_a_match_takes() -> None:
    file = read_competition(TEXT + "[limits]\nmatches_at_a_time = 10")
    measured = {game: Measured(3.6, 36.0, 5, 20.0, "server") for game in file.games}
    found = preview(file, 10, NOW, measured)
    assert found is not None
    assert found.matches == 90 + 120 * 3
    assert found.typical == pytest.approx(0.45)
    assert found.most == pytest.approx(4.5)
    assert found.end(found.typical) == NOW + timedelta(hours=0.045)
    assert found.end(found.most) == NOW + timedelta(hours=0.45)
    few = preview(file, 10, NOW, measured, cores=2)
    assert few is not None
    assert few.end(few.most) == NOW + timedelta(hours=2.25)
    undated = preview(file, 10, None, measured)
    assert undated is not None
    assert undated.end(undated.most) is None
    assert undated.hours(undated.most) == pytest.approx(0.45)


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


def test_a_sample_gives_a_typical_time_and_a_bound() -> None:
    clock = itertools.count(0, 1000).__next__
    found = sample("tic_tac_toe", TimeControl.parse("move:2"), clock)
    assert 5 <= found.plies <= 9
    assert found.most == pytest.approx(2 * found.plies, abs=0.01)
    assert 0 < found.typical < 0.01, "a microsecond of rules for each random game"
    assert (found.matches, found.source) == (8, "sample")
    dice = sample("pig(target=20)", TimeControl.parse("total:60"), clock)
    assert dice.most == pytest.approx(120, abs=0.01)
    slow = sample("tic_tac_toe", TimeControl.parse("move:2"), itertools.count(0, 10**9).__next__)
    assert slow.typical == slow.most, "no bot has more time than the time control gives"


def test_played_matches_give_the_typical_time_within_the_time_control() -> None:
    control = TimeControl.parse("move:1")
    found = played("connect_four", control, 3.0, 30.0, 12)
    assert (found.typical, found.most, found.matches) == (3.0, 30.0, 12)
    assert played("connect_four", control, 300.0, 30.0, 12).typical == 30.0


def test_a_sample_ends_when_its_time_is_over() -> None:
    clock = itertools.count(0, 10**9).__next__
    assert sample("tic_tac_toe", TimeControl.parse("move:2"), clock).matches == 1
