"""Boards and reports on the command line, from the API's answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import convert, structs

from plyhouse.clients.shared.standings import print_board
from plyhouse.clients.shared.student_report import report_text
from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.api.standings import Board

RATING = {
    "elo": 1512.4,
    "low": 1480.0,
    "high": 1540.0,
    "any_low": 1460.0,
    "any_high": 1560.0,
    "rank_low": 1,
    "rank_high": 2,
    "matches": 8,
}
MEAN = {"mean": 0.25, "low": -0.5, "high": 1.0, "pairs": 4}


def line(entry: str, **more: Any) -> dict[str, Any]:
    values = {
        "rank": 1,
        "place": 1,
        "student": "",
        "status": "active",
        "games": {},
        "wins": 4,
        "draws": 0,
        "losses": 4,
        "forfeits": 0,
        "entry": entry,
        "baseline": False,
        "twin_of": "",
        "score": 0.5,
        "matches": 8,
        "rating": RATING,
        "ahead": 0.873,
        "nash": None,
        "returns": {},
    }
    return {**values, **more}


def view(*lines: dict[str, Any], notes: tuple[str, ...] = ()) -> Board:
    found = {
        "competition": "c1",
        "board": "public",
        "repeated": 0,
        "seats": {},
        "draws": {},
        "crosstab": [],
        "twins": [],
        "name": "Cup",
        "status": "finished",
        "matches": 8,
        "lines": list(lines),
        "notes": list(notes),
    }
    return convert(found, Board)


def test_a_board_shows_what_it_has_and_no_column_more(capsys: pytest.CaptureFixture[str]) -> None:
    bob = line("bob/y", place=7, rating=None, ahead=None, baseline=True)
    print_board(view(line("ada/x"), bob, line("out/x", place=None)), more=True)
    said = capsys.readouterr().out
    first, *_, third = [row.split()[0] for row in said.splitlines() if "/" in row]
    assert (first, third) == ("1", "-")
    assert "place" in said
    assert "rank by rating" in said
    assert "1480 to 1540" in said
    assert "1 to 2" in said
    assert "87.3%" in said
    assert "bob/y (baseline)" in said
    assert "Nash" not in said
    assert "luck" not in said


def test_default_board_has_place_entry_score_interval_and_grade(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_board(view(line("ada/x", grade="good"), line("b/y")))
    head = next(row for row in capsys.readouterr().out.splitlines() if "place" in row)
    assert re.split("  +", head) == ["place", "entry", "score", "rating (95 %)", "grade"]
    print_board(view(line("ada/x"), line("b/y")))
    assert "grade" not in capsys.readouterr().out


def test_board_names_and_shows_the_column_that_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = line("ada/x", decider="2.5", tie_break="Buchholz 6"), line("b/y", decider="1")
    print_board(structs.replace(view(*lines), decided_by="points"))
    _, head, first, second = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["place", "entry", "points", "(decides)"]
    assert "2.5  Buchholz 6" in first
    assert second.split()[2] == "1"
    graded = view(line("ada/x", grade="good", decider="good"), line("b/y"))
    print_board(structs.replace(graded, decided_by="grade"))
    _, head, first, second = capsys.readouterr().out.splitlines()
    assert (head.count("grade"), first.count("good")) == (1, 1)


def test_a_board_has_returns_luck_nash_shares_and_notes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lucky = {"pig": {"raw": MEAN, "adjusted": {**MEAN, "mean": 0.125}, "saved": 0.5}}
    lucky["pig"] |= {"any_low": -0.75, "any_high": 1.25}
    share = {"share": 0.33, "low": 0.1, "high": 0.5, "score": 0.0, "chosen": 1.0}
    board = view(line("ada/x", returns=lucky, nash=share), line("b/y"), notes=("Beware.",))
    print_board(board, more=True)
    told = capsys.readouterr()
    shown = ("pig: return", "while watching", "−0.75 to +1.25", "without luck", "Nash share")
    for part in (*shown, "0.33"):
        assert part in told.out, part
    assert "Beware." in told.err


def test_a_report_reads_as_markdown_and_keeps_its_cells() -> None:
    score = {
        "name": "staff/easy",
        "matches": 2,
        "wins": 1,
        "draws": 0,
        "losses": 1,
        "score": 0.5,
        "low": 0.0,
        "high": 1.0,
        "any_low": 0.0,
        "any_high": 1.0,
        "grade": "pass",
        "at_least": 0.4,
        "reached": True,
    }
    found = {
        "competition": "Cup", "status": "running", "student": "ada", "display": "Ada L.",
        "grade": "pass", "graded_by": "ada/x", "baselines": [score], "opponents": [score],
        "entries": [{
            "entry": "ada/x", "version": "1|2", "digest": "", "status": "active", "place": 3,
            "score": 0.5, "matches": 2, "wins": 1, "draws": 0, "losses": 1, "forfeits": 1,
            "rank": 1, "rating": RATING,
        }],
        "forfeits": {"flag_fall": 1},
        "forfeited": [{
            "match": "m", "game": "pig", "entry": "ada/x", "kind": "flag_fall", "ply": 3,
            "reason": "Too late.", "detail": "", "actions": ["roll", "3"], "scene": None,
            "replay": "/matches/m?ply=3",
        }],
        "slowest": [], "lost": [], "history": {"ada/x": []}, "notes": ["Beware."],
    }  # fmt: skip
    text = report_text(convert(found, Report), "http://h")
    for part in (
        *("# Cup: Ada L.", "The competition is running: this is not final.", "Grade: **pass**"),
        *("pass from 0.4: reached", r"1\|2", "1 flag fall", "Replay: http://h/matches/m?ply=3"),
        *("Last actions: roll, 3", "- Beware."),
    ):
        assert part in text, part
    assert "Slowest" not in text
    unsure = {**score, "low": None, "high": None}
    text = report_text(convert({**found, "opponents": [unsure]}, Report), "")
    assert "| 0.500 | -  " in text, "one mirrored pair has no interval"
    tables = [row for row in text.splitlines() if row.startswith("|")]
    assert tables
