"""The visibility of a competition: one rule for boards, tables and rounds."""

from __future__ import annotations

import pytest

from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.grades.standings import Entrant
from plyhouse.server.grades.visible_entries import Viewer, Visibility, visible_entries
from plyhouse.server.match.presence import PRIVATE

FILE = """
name = "Cup"
games = ["pig"]
time_control = "move:1"
board = "{board}"
[[baselines]]
bot = "staff/easy"
[[baselines]]
bot = "Staff/secret"
hidden = true
[[baselines]]
bot = "staff/secret-2"
twin_of = "staff/secret"
"""
STUDENTS = [Entrant(n, f"s{n}/bot", f"s{n}") for n in range(6)]
STAFF = [
    Entrant(7, "staff/easy", "staff", baseline=True),
    Entrant(8, "staff/secret", "staff", baseline=True),
    Entrant(9, "staff/secret-2", "staff", baseline=True, twin_of="staff/secret"),
]
ORDER = [0, 1, 8, 9, 2, 3, 7, 4, 5]


def eyes(board: str, viewer: Viewer) -> Visibility:
    return visible_entries(read_competition(FILE.format(board=board)), viewer, [*STUDENTS, *STAFF])


@pytest.mark.parametrize("board", ["public", "class", "anonymous"])
def test_organisers_see_everything(board: str) -> None:
    all_ = eyes(board, Viewer(organiser=True))
    assert all_.lines(ORDER) == ORDER
    assert all(map(all_.named, ORDER))
    assert all_.meets((0, 1))


@pytest.mark.parametrize("viewer", [Viewer(), Viewer(student="s4")])
def test_others_see_all_but_hidden_baselines_and_their_twins(viewer: Viewer) -> None:
    some = eyes("public", viewer)
    assert some.lines(ORDER) == [0, 1, 2, 3, 7, 4, 5]
    assert [some.name(each.bot_id, each.name) for each in STAFF] == ["staff/easy", PRIVATE, PRIVATE]
    assert some.meets((0, 1))


def test_an_anonymous_board_shows_oneself_three_ahead_and_baselines() -> None:
    one = eyes("anonymous", Viewer(student="S4"))
    assert one.lines(ORDER) == [1, 2, 3, 7, 4]
    assert [bot for bot in ORDER if one.named(bot)] == [7, 4]
    assert one.meets((4, 0))
    assert not one.meets((0, 7)), "a baseline's pairings are those of others"
    first = eyes("anonymous", Viewer(student="s0"))
    assert first.lines(ORDER) == [0, 7]
    nobody = eyes("anonymous", Viewer(student="s9"))
    assert nobody.lines(ORDER) == [7], "who is not entered has nobody ahead"
    assert not nobody.meets((0, 7))
