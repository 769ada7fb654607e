"""``plyhouse env serve``: games as environments of OpenEnv 0.10."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from tests.cli.conftest import clean_environment, forked_command
from tests.harness.patience import PATIENCE
from websockets.sync.client import ClientConnection, connect

from plyhouse.bots.api import Bot, Match, Turn
from plyhouse.bots.loading import load_bot
from plyhouse.clients.openenv.application import application
from plyhouse.clients.openenv.environment import Environment, Refused
from plyhouse.games.registry import game_names, get_game
from plyhouse.games.scene import scene_fields
from plyhouse.games.scene_text import draw_fields
from plyhouse.protocol.messages import Outcome

STEPS = 8
"""Steps of an episode of each game."""


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of an environment."""
    command = [*forked_command(), "env", "serve", "--game", "kuhn_poker", "--port", "0"]
    process = subprocess.Popen(
        command,
        env=clean_environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("kuhn_poker against easy"), process.communicate()[1]
    yield line.rpartition(" ")[2].strip()
    process.send_signal(signal.SIGINT)
    assert "Traceback" not in process.communicate(timeout=PATIENCE)[1]


def ask(socket: ClientConnection, message: Any) -> Any:
    socket.send(message if isinstance(message, str) else json.dumps(message))
    return json.loads(socket.recv(timeout=PATIENCE))


def episodes(url: str) -> ClientConnection:
    return connect(url.replace("http", "ws") + "/ws")


def test_an_episode_is_played_over_a_websocket(served: str) -> None:
    with episodes(served) as socket:
        begun = ask(socket, {"type": "reset", "data": {"seed": 3, "seat": 1, "episode_id": "e"}})
        assert begun["type"] == "observation"
        assert (begun["data"]["reward"], begun["data"]["done"]) == (None, False)
        again = ask(socket, {"type": "reset", "data": {"seed": 3, "seat": 1, "render": True}})
        assert again["data"] == begun["data"], "the seed decides; unknown fields do not matter"
        result, steps = again["data"], 0
        while not result["done"]:
            action = result["observation"]["legal"][0]
            result = ask(socket, {"type": "step", "data": {"action": action}})["data"]
            steps += 1
        assert result["observation"]["legal"] == []
        assert abs(result["reward"]) in (1.0, 2.0)
        state = ask(socket, {"type": "state"})
        assert state["type"] == "state"
        assert (state["data"]["step_count"], state["data"]["seat"]) == (steps, 1)
        socket.send(json.dumps({"type": "close"}))


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "INVALID_JSON"),
        ("[]", "VALIDATION_ERROR"),
        ({"type": "fly"}, "UNKNOWN_TYPE"),
        ({"type": "step", "data": {"move": "bet"}}, "VALIDATION_ERROR"),
        ({"type": "step", "data": {"action": "castle"}}, "EXECUTION_ERROR"),
        ({"type": "reset", "data": {"seed": -1}}, "VALIDATION_ERROR"),
        ({"type": "reset", "data": {"seat": 2}}, "EXECUTION_ERROR"),
    ],
)
def test_a_wrong_message_is_refused_and_the_episode_goes_on(
    served: str, message: Any, code: str
) -> None:
    with episodes(served) as socket:
        begun = ask(socket, {"type": "reset", "data": {"seat": 0}})["data"]
        answer = ask(socket, message)
        assert (answer["type"], answer["data"]["code"]) == ("error", code)
        action = begun["observation"]["legal"][0]
        assert ask(socket, {"type": "step", "data": {"action": action}})["type"] == "observation"


def test_no_more_episodes_are_served_than_there_is_room_for() -> None:
    made = application(get_game("nim"), load_bot("easy"), 0)
    with TestClient(made) as client, client.websocket_connect("/ws") as socket:
        assert socket.receive_json()["data"]["code"] == "CAPACITY_REACHED"


def test_http_says_what_the_environment_is(served: str) -> None:
    with httpx.Client(base_url=served, timeout=PATIENCE) as web:
        assert web.get("/health").json() == {"status": "healthy"}
        told = web.get("/metadata").json()
        assert (told["name"], "bet" in told["readme_content"]) == ("kuhn_poker", True)
        assert set(web.get("/schema").json()) == {"action", "observation", "state"}
        assert {"/reset", "/step", "/state"} <= set(web.get("/openapi.json").json()["paths"])
        assert web.get("/state").json()["step_count"] == 0
        first = web.post("/reset", json={"seed": 1}).json()
        assert first["observation"]["legal"]
        assert web.post("/reset").status_code == 200
        assert web.post("/step", json={"action": {"action": "bet"}}).status_code == 409
        assert web.post("/mcp", json={}).json()["jsonrpc"] == "2.0"


def test_openenvs_own_client_plays(served: str) -> None:
    client = pytest.importorskip("openenv.core.generic_client")

    async def play() -> None:
        async with client.GenericEnvClient(base_url=served) as env:
            result = await env.reset(seed=1)
            while not result.done:
                result = await env.step({"action": result.observation["legal"][0]})
            assert (await env.state())["step_count"] > 0

    asyncio.run(play())


@pytest.mark.parametrize("name", game_names())
async def test_every_game_is_an_environment(name: str) -> None:
    game, rng = get_game(name), random.Random(1)
    environment = Environment(game, load_bot("easy"))
    with pytest.raises(Refused, match="send reset first"):
        await environment.step("x")
    result = await environment.reset(seed=1)
    for _ in range(STEPS):
        if result.done:
            result = await environment.reset()
        seat = result.observation.seat
        action = rng.choice(result.observation.legal)
        result = await environment.step(action)
        shown = game.observe(environment._position.state, seat)
        assert result.observation.legal == ([] if result.done else list(shown.legal))
        assert result.observation.text == draw_fields(scene_fields(game.scene(shown)))


async def test_an_opponent_is_prepared_started_and_told_the_end() -> None:
    told = []

    class Opponent(Bot):
        def prepare(self, match: Match) -> None:
            told.append(f"prepare {match.seat}")

        def start(self, turn: Turn) -> None:
            told.append(f"start {turn.ply}")

        def choose(self, turn: Turn) -> Any:
            return "rock"

        def finish(self, outcome: Outcome) -> None:
            told.append(f"finish {outcome.returns}")

    environment = Environment(get_game("rock_paper_scissors"), Opponent)
    await environment.reset(seat=0)
    result = await environment.step("paper")
    assert told == ["prepare 1", "start 1", "finish [1.0, -1.0]"]
    assert (result.reward, result.done) == (1.0, True)


async def test_a_failed_opponent_ends_the_episode_and_nobody_moves_for_it() -> None:
    class Broken(Bot):
        def choose(self, turn: Turn) -> Any:
            return 1 / 0 if turn.ply else "dig"

    environment = Environment(get_game("rock_paper_scissors"), Broken)
    with pytest.raises(Refused, match="The opponent failed"):
        await environment.reset(seat=1)
    with pytest.raises(Refused, match="send reset first"):
        await environment.step("paper")
    await environment.reset(seat=0)
    with pytest.raises(Refused, match="The opponent failed"):
        await environment.step("paper")
    with pytest.raises(Refused, match="send reset first"):
        await environment.step("rock")


async def test_a_seat_sees_its_own_card_alone() -> None:
    environment = Environment(get_game("kuhn_poker"), load_bot("random"))
    for seed in range(10):
        first = (await environment.reset(seed)).observation
        assert sorted(each == "-1: ?" for each in first.seen[:2]) == [False, True]
        own = first.seen[first.seat].removeprefix("-1: ")
        assert f"Card of seat {first.seat + 1}: [{own}]" in first.text
        assert f"Card of seat {2 - first.seat}: [?]" in first.text
