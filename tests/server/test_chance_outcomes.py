"""``/api/v1/matches/MATCH/chances``: with the record, enough to check chance without the rules."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import over, played
from tests.harness.server import Server

from plyhouse.games import get_game
from plyhouse.protocol.messages import Act, Resign
from plyhouse.server.match.chance import Chance

FOLDED = "texas_holdem(hands=6)"
"""A match in which hands end before all their cards are dealt, so that counters have gaps."""


async def ask(house: Server, match: str, what: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as http:
        return await http.get(f"/api/v1/matches/{match}/{what}")


@pytest.mark.parametrize(
    "game", ["pig(target=30)", "kuhn_poker", "backgammon", "tic_tac_toe", FOLDED]
)
async def test_it_and_the_seed_give_every_roll(house: Server, game: str) -> None:
    match = await played(house, game)
    found = (await ask(house, match, "chances")).json()
    record = (await ask(house, match, "record")).json()
    rolled = [each["text"] for each in record["events"] if each["kind"] == "chance"]
    assert bool(rolled) == (game != "tic_tac_toe")
    told = record["chance"]
    stream = Chance(bytes.fromhex(told["seed"]), told["stream"], told["nonces"])
    tables = [[(each["text"], each["probability"]) for each in table] for table in found["tables"]]
    nodes = [tables[table] for table in found["nodes"]]
    numbered = zip(found["counters"], nodes, strict=True)
    assert [stream.draw(counter, node) for counter, node in numbered] == rolled
    assert found["game"] == get_game(game).spec
    if game == "kuhn_poker":
        assert [text for text, _ in nodes[0]] == ["J", "Q", "K"]
        assert len(nodes[1]) == 2


async def test_it_is_open_when_the_pairing_is_over(house: Server) -> None:
    clients, (match, _) = await house.pair("pig")
    await clients[0].ask(Act, match.match, 0, "roll")
    answer = await ask(house, match.match, "chances")
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")
    await clients[0].ask(Resign, match.match)
    await asyncio.wait_for(over(house, match.match), PATIENCE)
    assert (await ask(house, match.match, "chances")).json()["nodes"] == [0]
