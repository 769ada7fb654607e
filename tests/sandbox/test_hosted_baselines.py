"""A final for which no program of anybody's has to be connected: baselines of staff and house."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness.hosted_server import OLGA, PIG, hosted_server, until

from plyhouse.bots.loading import REFERENCE_BOTS
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.reference_baselines import REFERENCE
from plyhouse.storage import (
    competition_sql,
    competition_students,
    match_lists,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
[format]
name = "gauntlet"
[hosting]
required = true
[[baselines]]
bot = "house/shallow"
reference = "alpha_beta(depth=1)"
grade = "pass"
[[baselines]]
bot = "staff/mine"
"""


def test_reference_bots_are_known_by_the_names_that_they_have_everywhere() -> None:
    assert {name: REFERENCE_BOTS[name] for name in REFERENCE} == REFERENCE


def test_baselines_of_the_house_are_named_as_such_and_exist() -> None:
    read_competition(CUP)
    for old, new, told in (
        ("alpha_beta(", "alphabeta(", "did you mean 'alpha_beta'"),
        ("depth=1", "1", "must name its options"),
        ("depth=1", "depth=open('/etc/passwd')", "must name its options"),
        ("house/shallow", "staff/shallow", "cannot be a built-in bot"),
        ("house/shallow", "house/hard", "which people play against"),
    ):
        with pytest.raises(InvalidCompetition, match=told):
            read_competition(CUP.replace(old, new))


async def test_a_hosted_final_needs_nobody_who_is_connected(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house:
        hub = house.hub
        await house.submit("staff", PIG, "mine", "kuhn_poker")
        # The check of a bot for one game is short.
        text = CUP.replace("tic_tac_toe", "kuhn_poker")
        cup = await hub.competitions.open(text.replace("alpha_beta(depth=1)", "kuhn_optimal"), OLGA)
        await hub.store.write(
            competition_students.take_in, cup.id, [NewMember("ada", "ada")], OLGA, hub.store.now()
        )
        house._players.add("ada")
        await house.submit("ada", PIG, "mine", "kuhn_poker")
        await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())

        async def checked() -> bool:
            return not await hub.store.read(submission_sql.waiting_for, cup.id)

        async def over() -> bool:
            return (await hub.store.read(competition_sql.find, cup.id)).status == "finished"

        async with house.runner():
            await until(checked, lambda: house.said)
            begun = await hub.competitions.run(cup.id, OLGA)
            await until(over, lambda: house.said)
        game = begun.games[0].tournament_id
        assert game is not None
        view = await hub.tournaments.view(game)
        names = {f"{each.player}/{each.bot}" for each in view.entries}
        assert names == {"ada/mine", "house/shallow", "staff/mine"}
        assert (view.finished, view.planned) == (4, 4)
        for row in await hub.store.read(match_lists.list_matches, match_lists.MatchFilter()):
            assert row.termination == "normal", row


async def test_reference_bot_is_checked_by_a_runner_in_the_game_of_its_competition(
    tmp_path: Path,
) -> None:
    async with hosted_server(tmp_path) as house:
        hub = house.hub
        text = CUP.partition('[[baselines]]\nbot = "staff/mine"')[0]
        text = text.replace("tic_tac_toe", "coin_guess")
        for name, reference in (("fit", "random"), ("unfit", "random(nonsense=1)")):
            file = text.replace('"Cup"', f'"{name}"').replace("house/shallow", f"house/{name}-1")
            await hub.competitions.open(file.replace("alpha_beta(depth=1)", reference), OLGA)

        async def checked() -> bool:
            return not await hub.store.read(submission_checks.waiting)

        async with house.runner():
            await until(checked, lambda: house.said)
        (fit,) = (await hub.competitions.view("fit")).baselines.values()
        assert fit.check == "ready"
        row = await hub.store.read(submission_sql.find, fit.submission)
        assert row.games == ("coin_guess",), "it claims all games, and is checked in one"
        assert "time control: total:60+0 (begun at total:" in row.report
        (unfit,) = (await hub.competitions.view("unfit")).baselines.values()
        assert (unfit.check, unfit.can_play) == ("refused", False)
        assert "nonsense" in unfit.text
