"""Finals of competitions without students: several games, and a second run."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.tournaments import results

from plyhouse.protocol.messages import Resign
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.storage.rows import By

BY = By("olga")


@pytest.mark.parametrize("games", [["pig"], ["pig", "kuhn_poker"]])
async def test_final_without_students_plays_each_game(house: Any, games: list[str]) -> None:
    for name in ("alice", "bob"):
        await house.bot(name, games=games)
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    text = text.replace('"pig"', ", ".join(f'"{game}"' for game in games))
    row = await house.hub.competitions.open(text, BY, entries=["alice/bot", "bob/bot"])
    assert row.status == "running"
    parts = [game.tournament_id for game in row.games]
    names = []
    for part in parts:
        view = await house.hub.tournaments.view(part)
        assert (view.planned, len(view.entries)) == (1, 2)
        names.append(view.row.name)
    if len(games) == 1:
        assert (parts, names) == ([row.id], ["Cup"])
    else:
        assert names == [f"Cup: {game}" for game in games]


async def test_rerun_without_students_keeps_entries_and_results(house: Any) -> None:
    bots = [await house.bot(name, games=["pig"]) for name in ("alice", "bob")]
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    row = await house.hub.competitions.open(text, BY, entries=["alice/bot", "bob/bot"])
    match = (await asyncio.gather(*(bot.start() for bot in bots)))[0]
    await bots[0].ask(Resign, match.match)
    before = await played_out(house, row.id)
    lines = await results(house.hub.store, row.id)
    assert [line.wins for line in lines] == [1, 0]
    await house.hub.competitions.rerun(row.id, BY)
    after = await played_out(house, row.id)
    assert [each.status for each in after.entries] == ["active", "active"]
    assert (after.entries, after.finished) == (before.entries, 1)
    assert await results(house.hub.store, row.id) == lines


async def played_out(house: Any, tournament: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        while True:
            view = await house.hub.tournaments.view(tournament)
            if view.row.status == "finished":
                return view


async def test_ladder_without_students_has_places_by_its_matches(house: Any) -> None:
    bots = [await house.bot(name, games=["pig"]) for name in ("alice", "bob")]
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    text = text.replace("rounds = 1\n", "") + '\n[format]\nname = "ladder"\n'
    row = await house.hub.competitions.open(text, BY, entries=["alice/bot", "bob/bot"])
    for _ in range(2):
        match = (await asyncio.gather(*(bot.start() for bot in bots)))[0]
        await bots[0].ask(Resign, match.match)
    async with asyncio.timeout(PATIENCE):
        while (await house.hub.tournaments.view(row.id)).finished < 2:
            pass
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        board = (await api.get("/api/v1/competitions/Cup/board")).json()
    assert [(line["entry"], line["place"]) for line in board] == [("bob/bot", 1), ("alice/bot", 2)]


async def test_games_of_a_ladder_take_turns(house: Any) -> None:
    games = ["pig", "kuhn_poker"]
    bots = [await house.bot(name, games=games, max_matches=1) for name in ("alice", "bob")]
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    text = text.replace("rounds = 1\n", "").replace('"pig"', '"pig", "kuhn_poker"')
    text += '\n[format]\nname = "ladder"\n'
    await house.hub.competitions.open(text, BY, entries=["alice/bot", "bob/bot"])
    played = []
    for _ in range(4):
        match = (await asyncio.gather(*(bot.start() for bot in bots)))[0]
        played.append(match.game)
        await bots[0].ask(Resign, match.match)
    # The first game may begin twice before the second one is there.
    assert played[2] != played[3]
