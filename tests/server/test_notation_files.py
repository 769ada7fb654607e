"""``/api/v1/matches/MATCH/notation``: the moves of a match as a file."""

from __future__ import annotations

import io

import chess.pgn
import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import played
from tests.harness.server import Server

from plyhouse.protocol.messages import Act, Resign


async def ask(house: Server, match: str, query: str = "") -> httpx.Response:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as http:
        return await http.get(f"/api/v1/matches/{match}/notation{query}")


async def test_chess_is_a_pgn_that_another_program_reads(house: Server) -> None:
    clients, (match, _) = await house.pair("chess")
    for ply, action in enumerate(["e2e4", "e7e5", "g1f3"]):
        await clients[ply % 2].ask(Act, match.match, ply, action)
    await clients[1].ask(Resign, match.match)
    answer = await ask(house, match.match)
    assert answer.headers["content-type"].startswith("text/plain")
    assert f'filename="{match.match}.pgn"' in answer.headers["content-disposition"]
    read = chess.pgn.read_game(io.StringIO(answer.text))
    assert read is not None
    assert read.errors == []
    assert [move.uci() for move in read.mainline_moves()] == ["e2e4", "e7e5", "g1f3"]
    assert read.headers["Result"] == "1-0"
    # The same for people, with a line for each ply.
    text = (await ask(house, match.match, "?form=txt")).text
    assert "  3. White: Nf3\n" in text
    assert "resignation" in text
    wrong = await ask(house, match.match, "?form=sgf")
    assert wrong.status_code == 404
    assert wrong.json()["detail"].endswith("use pgn or txt.")


@pytest.mark.parametrize("game", ["pig(target=10)", "kuhn_poker", "go(size=5)"])
async def test_every_game_has_a_file_once_its_pairing_is_over(house: Server, game: str) -> None:
    answer = await ask(house, await played(house, game))
    assert answer.status_code == 200
    if game.startswith("go"):
        assert answer.text.startswith("(;GM[1]")
    else:
        assert "  1. " in answer.text
        assert "\nResult: " in answer.text


async def test_hidden_moves_are_closed_until_the_pairing_is_over(house: Server) -> None:
    _, (match, _) = await house.pair("kuhn_poker")
    answer = await ask(house, match.match)
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")
