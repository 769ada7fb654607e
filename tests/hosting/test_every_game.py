"""Every game is hosted over a real socket: random bots play it to the end, it is stored, and
its record, replayed, gives the same returns."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, Server

from plyhouse.games import CHANCE, TERMINAL, game_names, get_game
from plyhouse.games.playthrough import VARIANTS
from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.messages import Accepted, Act, Error, Finished, MatchSnapshot, Turn
from plyhouse.server.config import ServerConfig
from plyhouse.server.results.record import Record, read_record, stored_record, write_record
from plyhouse.server.results.verify import verify
from plyhouse.server.serve import running_server
from plyhouse.storage import match_reads

SMALLER = {"go": "go(size=5)"}
"""Played on a smaller board where random play takes very long."""

SPECS = sorted({*[SMALLER.get(name, name) for name in game_names()], *VARIANTS.values()})
BOTS = [("anna", JSON), *[(f"bert{number}", MSGPACK) for number in range(9)]]


@pytest.fixture
async def house() -> AsyncIterator[Server]:
    config = ServerConfig(
        port=0,
        database="sqlite:///:memory:",
        log_level="error",
        # As patient as its clients, who answer pings only while they wait for a message.
        peer_timeout=PATIENCE,
        ready_timeout=PATIENCE,
    )
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        yield Server(server, stack)


async def play(client: BotClient, match: MatchSnapshot, seed: int) -> Finished:
    """Choose at random from what the server says is legal, until the match is over."""
    rng = random.Random(seed)
    message: Any = match if match.your_turn else await client.next_of(match.match)
    while not isinstance(message, Finished):
        if isinstance(message, Turn | MatchSnapshot):
            assert message.observation is not None
            act = rng.choice(message.observation["legal"])
            answer = await client.ask(Act, match.match, message.ply, act)
            assert isinstance(answer, Accepted), answer
        message = await client.next_of(match.match)
    return message


def replayed(record: Record) -> list[float]:
    """The returns after playing the record's events by the rules alone."""
    game = get_game(record.game)
    state: Any = game.initial_state()
    for event in record.events:
        if event.kind == "chance":
            assert state.to_move == CHANCE
            state = state.after(game.parse_chance(state, event.text))
        elif event.kind == "action":
            assert state.to_move == event.seat
            state = state.after(game.parse(state, event.text))
    assert state.to_move == TERMINAL
    return [float(value) for value in state.returns()]


@pytest.mark.parametrize("spec", SPECS)
async def test_a_game_is_hosted_stored_and_replayed(spec: str, house: Server) -> None:
    game = get_game(spec)
    clients = [await house.bot(player, codec=codec) for player, codec in BOTS[: game.seats]]
    for client in clients:
        answer = await client.seek(game.spec, "total:3600")
        assert not isinstance(answer, Error), answer
    matches = await asyncio.gather(*(client.start() for client in clients))
    assert sorted(str(match.seat) for match in matches) == [str(s) for s in range(game.seats)]
    finished = await asyncio.gather(
        *(
            play(client, match, seed)
            for seed, (client, match) in enumerate(zip(clients, matches, strict=True))
        )
    )
    outcome = finished[0].outcome
    assert outcome.termination == "normal", outcome
    assert all(each.outcome == outcome for each in finished)

    stored = await house.hub.store.read(match_reads.stored_match, matches[0].match)
    record = read_record(write_record(stored_record(stored, game)))
    assert record.game == game.spec
    assert record.outcome is not None
    assert record.outcome.returns == replayed(record) == list(outcome.returns)
    report = verify(record)
    assert report.ok, str(report)
    assert not [check for check in report.checks if check.skipped]
    assert report.check("actions").count == sum(e.kind == "action" for e in record.events) > 0


def test_no_registered_game_is_left_out() -> None:
    assert {get_game(spec).info.name for spec in SPECS} == set(game_names())
