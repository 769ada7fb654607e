"""Competition files for games of more than two seats, with and without teams."""

from __future__ import annotations

import pytest

from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.preview import counted_entries, planned_matches

TEAMS = ", or set teams = true"


def cup(games: str, more: str) -> str:
    return f'name = "Cup"\ngames = {games}\ntime_control = "move:1"\n{more}\n'


def mistakes(text: str) -> list[str]:
    with pytest.raises(InvalidCompetition) as caught:
        read_competition(text)
    return [f"{each.key}: {each.text}" for each in caught.value.mistakes]


def style(name: str, more: str = "") -> str:
    return f'[format]\nname = "{name}"\n{more}\n'


GRADED = '[[baselines]]\nbot = "staff/easy-1"\ngrade = "pass"\n'
UNTIL_CERTAIN = style("gauntlet", "until_certain = true") + GRADED


@pytest.mark.parametrize(
    ("games", "more", "advised"),
    [
        ('["bridge"]', style("knockout"), True),
        ('["bridge"]', style("swiss"), True),
        ('["bridge"]', style("ladder"), False),
        ('["bridge"]', UNTIL_CERTAIN, True),
        ('["hearts"]', style("knockout"), False),
        ('["hearts"]', UNTIL_CERTAIN, False),
        ('["pig(seats=3)", "bridge"]', style("swiss"), False),
    ],
)
def test_teams_are_advised_where_they_would_help(games: str, more: str, advised: bool) -> None:
    said = mistakes(cup(games, more))
    assert [each.endswith(TEAMS) for each in said] == [advised] * len(said), said


def baseline(bot: str, more: str = "") -> str:
    return f'[[baselines]]\nbot = "{bot}"\n{more}\n'


def side(first: str, second: str, more: str = "", other: str = "") -> str:
    return cup('["bridge"]', "teams = true") + baseline(first, more) + baseline(second, other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            cup('["bridge"]', "teams = true") + style("gauntlet") + baseline("staff/easy-1"),
            ["baselines[0].bot: staff/easy-1 has no partner: add a second bot of account staff"],
        ),
        (
            side("a/easy", "b/easy2"),
            [
                "baselines[0].bot: a/easy has no partner: add a second bot of account a",
                "baselines[1].bot: b/easy2 has no partner: add a second bot of account b",
            ],
        ),
        (
            side("a/x-2", "A/x-10") + baseline("a/x-1"),
            ["baselines[0].bot: a/x-2 has no partner: add a second bot of account a"],
        ),
        (
            side("a/one", "a/two", 'grade = "pass"', 'grade = "good"'),
            ["baselines[1].grade: is for a side: give it to its first bot a/one"],
        ),
        (
            side("a/two", "a/one", 'grade = "pass"'),
            ["baselines[0].grade: is for a side: give it to its first bot a/one"],
        ),
        (
            side("a/one", "a/two", "hidden = true"),
            [
                "baselines[1].hidden: must be true, as for its partner a/one: the table shows "
                "both or none"
            ],
        ),
        (
            side("a/two", "a/one", "hidden = true"),
            [
                "baselines[0].hidden: must be false, as for its partner a/one: the table shows "
                "both or none"
            ],
        ),
    ],
)
def test_baselines_that_make_no_side_are_refused(text: str, said: list[str]) -> None:
    assert mistakes(text) == said


def test_baselines_of_one_account_are_partners_by_name() -> None:
    text = side("a/two", "b/one", "hidden = true", 'grade = "pass"')
    text += baseline("A/one", 'hidden = true\ngrade = "good"') + baseline("b/two")
    assert len(read_competition(text).baselines) == 4
    assert len(read_competition(text.replace("teams = true", "") + baseline("c/x")).baselines) == 5


@pytest.mark.parametrize(
    ("more", "bots", "words"),
    [("", 400, "400 entries"), ("teams = true", 400, "400 bots (200 sides)"),
     ("teams = true", 3, "3 bots (1 side)")],
)  # fmt: skip
def test_bots_and_sides_are_counted_apart(more: str, bots: int, words: str) -> None:
    assert counted_entries(read_competition(cup('["bridge"]', more)), bots) == words


def test_too_few_sides_are_counted_in_bots() -> None:
    file = read_competition(cup('["bridge"]', "teams = true"))
    with pytest.raises(FormatError, match="at least 2 sides must play, so take 4 bots or more"):
        planned_matches(file, "bridge", 3)
    assert planned_matches(file, "bridge", 4) == 2
