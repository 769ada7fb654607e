"""Competition files for games of more than two seats, with and without teams."""

from __future__ import annotations

import pytest

from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition

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
