"""Dates of a competition file in a time zone, and late days of the calendar."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from plyhouse.clients.cli.competition_change import _with_later_final, renamed
from plyhouse.server.competition_rules.dates import (
    InvalidTime,
    days_after,
    in_words,
    milliseconds,
    read_time,
)
from plyhouse.server.competition_rules.file import LateRule
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.file_sections import date_text, later_final, written_dates
from plyhouse.server.competition_rules.grade_precision import grade_notes

FILE = """name = "Cup"
games = ["pig"]
time_control = "move:1"
[dates]
zone = "Europe/Berlin"
freeze = 2027-03-27T18:00:00
final = 2027-03-29T18:00:00
[late]
days = 3
"""
HOUR = 3_600_000


def ms(text: str) -> int:
    return milliseconds(read_time(text))


def test_dates_without_an_offset_are_in_the_zone_of_the_file() -> None:
    dates = read_competition(FILE).dates
    assert dates.freeze == datetime(2027, 3, 27, 17, tzinfo=UTC)
    assert dates.final == datetime(2027, 3, 29, 16, tzinfo=UTC), "it is summer by then"
    given = FILE.replace("2027-03-29T18:00:00", "2027-03-29T18:00:00Z")
    assert read_competition(given).dates.final == datetime(2027, 3, 29, 18, tzinfo=UTC)
    text = FILE.replace("2027-03-27T18:00:00", '"2027-03-27T18:00"')
    assert read_competition(text).dates.freeze == dates.freeze


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ('zone = "Europe/Berlin"', "", "dates.freeze", 'zone = "Europe/Berlin"'),
        ("Europe/Berlin", "Europe/Berln", "dates.zone", "did you mean Europe/Berlin?"),
        ("Europe/Berlin", "CEST", "dates.zone", "no time zone 'CEST'; take one like Europe/Berlin"),
        ("Europe/Berlin", "localtime", "dates.zone", "there is no time zone 'localtime'"),
        ("Europe/Berlin", "Factory", "dates.zone", "there is no time zone 'Factory'"),
        ("Europe/Berlin", "../../etc/passwd", "dates.zone", "there is no time zone"),
        ("03-27T18:00", "03-28T02:30", "dates.freeze", "does not exist in Europe/Berlin"),
        ("03-29T18:00", "10-31T02:30", "dates.final", "is twice in Europe/Berlin"),
        ("2027-03-29T18:00:00", "9999-12-31T23:59:59-14:00", "dates.final", "calendar"),
        ("2027-03-29T18:00:00", "9999-12-31T23:59:59Z", "dates.final", "calendar"),
        ("2027-03-27T18:00:00", "0001-01-01T00:00:00", "dates.freeze", "from 1970 to 9998"),
    ],
)
def test_zone_or_time_that_means_nothing_is_refused(
    old: str, new: str, key: str, said: str
) -> None:
    with pytest.raises(InvalidCompetition) as caught:
        read_competition(FILE.replace(old, new, 1))
    mistake = caught.value.mistakes[0]
    assert mistake.key == key
    assert "late.days" not in [each.key for each in caught.value.mistakes], "the date is there"
    assert said in mistake.text


def test_last_time_of_the_calendar_has_late_days_and_words_in_every_zone() -> None:
    last = read_time("9998-12-31T23:59:59Z")
    until = LateRule(60, 10.0).until(milliseconds(last), "Pacific/Kiritimati")
    assert until is not None
    when = datetime.fromtimestamp(until / 1000, UTC)
    assert in_words(when, "Pacific/Kiritimati").startswith("9999-03-02")
    with pytest.raises(InvalidTime, match="beyond the calendar"):
        read_time("9999-12-31T23:59:59Z")


def test_late_days_are_days_of_the_calendar_when_clocks_change() -> None:
    zone = "Europe/Berlin"
    rule = LateRule(3, 10.0)
    freeze = ms("2027-03-27T18:00+01:00")
    first = ms("2027-03-28T18:00+02:00")
    assert first - freeze == 23 * HOUR
    assert [rule.days_late(each, freeze, None, zone) for each in (freeze, freeze + 1)] == [0, 1]
    assert [rule.days_late(each, freeze, None, zone) for each in (first, first + 1)] == [1, 2]
    assert rule.until(freeze, zone) == ms("2027-03-30T18:00+02:00")
    autumn = ms("2027-10-30T18:00+02:00")
    assert rule.days_late(autumn + 25 * HOUR, autumn, None, zone) == 1
    assert rule.days_late(autumn + 25 * HOUR, autumn, None, "UTC") == 2
    assert LateRule().until(freeze, zone) is None


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_late_days_never_jump_and_end_where_the_rule_says(zone: str) -> None:
    rule, freeze = LateRule(60, 1.0), ms("2027-03-01T23:30:00Z")
    for days in range(1, 61):
        end = days_after(freeze, days, zone)
        assert [rule.days_late(end + more, freeze, None, zone) for more in (0, 1)] == [
            days, days + 1,
        ]  # fmt: skip


def test_date_of_an_hour_that_comes_twice_is_written_with_its_offset() -> None:
    second = ms("2027-10-31T02:30:00+01:00")
    when = datetime.fromtimestamp(second / 1000, UTC)
    dates = read_competition(FILE).dates
    assert date_text(when, dates) == "2027-10-31T01:30:00+00:00"
    assert date_text(datetime(2027, 7, 1, 16, tzinfo=UTC), dates) == "2027-07-01T18:00:00"


def test_renamed_copy_drops_dates_that_are_over_in_the_zone() -> None:
    now = datetime(2027, 3, 27, 17, 30, tzinfo=UTC)
    text = renamed(FILE.replace("[late]\ndays = 3\n", ""), "Second", now)
    assert written_dates(text) == replace(written_dates(FILE), freeze=None)


def test_later_freeze_moves_the_final_to_the_same_time_of_day_in_its_zone() -> None:
    later = FILE.replace("03-27T18", "04-03T18")  # clocks go forward on 28 March
    assert later_final(written_dates(FILE), written_dates(later)) == datetime(
        2027, 4, 5, 16, tzinfo=UTC
    )
    moved = _with_later_final(FILE, later, yes=True)
    assert "final = 2027-04-05T18:00:00\n" in moved, "it follows another zone, as the freeze does"
    offsets = FILE.replace('zone = "Europe/Berlin"\n', "").replace(":00\n", ":00+01:00\n")
    elapsed = _with_later_final(offsets, offsets.replace("03-27T18", "04-03T18"), yes=True)
    assert written_dates(elapsed).final == datetime(2027, 4, 5, 17, tzinfo=UTC)
    for same in (FILE.replace("03-27T18", "03-28T18"), "]", FILE.replace("03-29", "04-29")):
        assert _with_later_final(FILE, same, yes=True) == same


def test_advice_about_grades_fits_several_games() -> None:
    text = FILE.replace('["pig"]', '["pig", "tic_tac_toe"]')
    text += '[[baselines]]\nbot = "staff/easy"\ngrade = "pass"\n'
    notes = " ".join(grade_notes(read_competition(text), 10))
    assert "Set rounds = " in notes
    assert "until_certain" not in notes
    one = " ".join(grade_notes(read_competition(text.replace(', "tic_tac_toe"', "")), 10))
    assert "until_certain = true" in one
