"""A finished competition of a class, played by searches of different depths.

``python -m tests.harness.class_results examples/notebooks`` writes its export again.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import sys
from pathlib import Path
from typing import Any

from tests.harness.finals import Course, Play
from tests.harness.server import BotClient, Server

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Accepted, Act, Finished, MatchSnapshot, Turn
from plyhouse.search import Limit, alpha_beta
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server

__all__ = ["Cup"]

GAME = "connect_four"
FILE = """
name = "Spring cup"
games = ["connect_four"]
time_control = "total:600"
rounds = {rounds}
board = "public"
rules = "Bots keep to their seats."
[[baselines]]
bot = "staff/bot"
"""
STRENGTHS = {
    "ada": (4, 0.1),
    "ben": (3, 0.1),
    "cyd": (2, 0.1),
    "dan": (2, 0.3),
    "fay": (1, 0.2),
    "gil": (1, 1.0),
    "staff": (1, 0.5),
}
"""The depth of each search, and the share of plies that it plays at random."""


class Cup(Course):
    """A cup of six students and a baseline."""

    def __init__(self, house: Server, rounds: int) -> None:
        super().__init__(house, FILE.format(rounds=rounds), "spring cup")

    async def hold(self) -> None:
        """Open, freeze and play it."""
        students = [name for name in STRENGTHS if name != "staff"]
        await self.freeze(GAME, *students, staff=("staff",))
        await self.play(_searching)


@functools.cache  # one source of randomness for all matches of a bot
def _searching(name: str) -> Play:
    depth, careless = STRENGTHS[name]
    game, rng = get_game(GAME), random.Random(name)

    async def play(client: BotClient, match: MatchSnapshot) -> None:
        while not isinstance(message := await client.next_of(match.match), Finished):
            if isinstance(message, Turn):
                state: Any = game.sample_state(game.decode_observation(message.observation), rng)
                action = rng.choice(state.actions())
                if rng.random() >= careless:
                    action = alpha_beta(game, state, Limit(depth=depth), seed=rng.getrandbits(32))
                    action = action.action
                text = game.format(state, action)
                assert isinstance(
                    await client.ask(Act, match.match, message.ply, text), Accepted | Finished
                )

    return play


async def _export(folder: Path) -> None:
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        cup = Cup(Server(server, stack), rounds=4)
        await cup.hold()
        async with cup.web("olga") as web:
            answer = await web.get(f"{cup.here}/export/json")
        await asyncio.to_thread((folder / "standings.json").write_bytes, answer.content)


if __name__ == "__main__":
    asyncio.run(_export(Path(sys.argv[1])))
