"""Pages of bots and players: what is counted, what it costs, and what is for whom."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, event, select, text
from tests.harness.server import Server

from plyhouse.protocol.api.bots import BotMatch, Holder
from plyhouse.protocol.messages import Resign
from plyhouse.server.accounts.builtin_bots import builtin_player
from plyhouse.server.results.bot_statistics import career, paces
from plyhouse.storage import bot_profiles as stored
from plyhouse.storage import people
from plyhouse.storage.bot_profiles import PlyCost
from plyhouse.storage.models import metadata


def played(number: int, result: str, **changed: Any) -> BotMatch:
    fields: dict[str, Any] = {
        "match": f"m{number}", "game": "pig", "seat": 0, "version": "1",
        "result": result, "returned": None, "termination": "normal", "forfeit": False,
        "reason": "", "rated": True, "ply": 3, "created_ms": 1, "void_reason": None,
        "others": [Holder("bob", "two")],
    }  # fmt: skip
    return BotMatch(**{**fields, **changed})


def test_matches_are_counted_by_opponent_seat_and_forfeit() -> None:
    ann = Holder("ann", "one")
    found = career(
        [
            played(1, "W"),
            played(2, "L", seat=1, termination="flag_fall", forfeit=True),
            played(3, "W", termination="bot_crash"),  # the other's
            played(4, "", termination="aborted"),
            played(5, "L", game="sum", others=[ann, ann, Holder("bob", "two")]),
        ],
        more=True,
    )
    assert (found.matches, found.void, found.wins, found.draws, found.losses) == (5, 1, 2, 0, 2)
    assert [(each.game, each.player, each.matches, each.losses) for each in found.against] == [
        ("pig", "bob", 3, 1),
        ("sum", "ann", 1, 1),
        ("sum", "bob", 1, 1),
    ]
    assert [(each.game, each.seat, each.wins) for each in found.seats] == [
        ("pig", 0, 2),
        ("pig", 1, 0),
        ("sum", 0, 0),
    ]
    assert [(each.termination, each.matches) for each in found.forfeits] == [("flag_fall", 1)]


def test_times_of_plies_are_told_by_game() -> None:
    plies = [PlyCost("a", n * 1_000_000, 500_000) for n in range(1, 21)]
    (found,) = paces([*plies], {"a": "pig"})
    assert (found.plies, found.median_ms, found.slow_ms, found.longest_ms) == (20, 11.0, 20.0, 20.0)
    assert found.lag_ms == 0.5
    assert paces([], {}) == []


def test_every_query_of_a_bots_page_begins_at_an_index_with_the_bot_in_it() -> None:
    engine = create_engine("sqlite://")
    plans: list[str] = []

    @event.listens_for(engine, "before_cursor_execute")
    def explain(connection: Any, cursor: Any, statement: str, values: Any, *rest: Any) -> None:
        if statement.startswith("SELECT"):
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            plans.extend(row[3] for row in cursor.fetchall())

    with engine.begin() as connection:
        metadata.create_all(connection)
        stored.matches_of(
            connection, 1, limit=9, before="m", closed=["c"], viewer=1, forfeits=["a"]
        )
        stored.standings_of(connection, [1], 9)
        stored.ratings_of(connection, 1, ["pig"], 9)
        stored.versions_of(connection, 1, 9)
        stored.plies_of(connection, [("m", 0)], 9)
        connection.execute(select(text("1")))
    engine.dispose()
    scans = [plan for plan in plans if plan.startswith("SCAN") and "INDEX" not in plan]
    assert [each for each in scans if "CONSTANT" not in each] == []
    assert any("mine USING INDEX ix_match_seats_bot_id_match_id" in plan for plan in plans)
    assert any("ix_standings_game_bot_id (game=? AND bot_id=?)" in plan for plan in plans)


async def test_a_built_in_bot_says_how_it_plays(house: Server) -> None:
    store = house.hub.store
    owner = await builtin_player(store)
    for name in ("hard", "easy-2", "baseline"):
        await store.write(people.ensure_bot, owner.id, name, "bot", store.now())
    clients, matches = await house.pair("tic_tac_toe")
    await clients[0].ask(Resign, matches[0].match)
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        hard, easy, baseline, other = [
            (await web.get(f"/bots/{bot}")).text
            for bot in ("house/hard", "house/easy-2", "house/baseline", "alice/one")
        ]
    assert "It thinks for about a second, by the search that suits the game" in hard
    assert "It plays any legal action" in easy
    assert "A built-in bot of Plyhouse" not in baseline
    assert "A built-in bot of Plyhouse" not in other


@pytest.mark.parametrize("path", ["/bots/alice/none", "/bots/no/body", "/players/nobody"])
async def test_there_is_a_page_that_says_that_there_is_none(house: Server, path: str) -> None:
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        answer = await web.get(path)
    assert answer.status_code == 404
    assert "Not found" in answer.text
