"""The bridge to language models: forms of actions that are read, and the time of a ply over MCP.

    python -m benchmarks.language_models                    both parts
    python -m benchmarks.language_models --matches 10000    more matches

The first part plays matches of all games by scripted models.  Each ply is asked for by a prompt and
answered in a random printed form of a random legal action, as JSON, as a line or bare.  An answer
that is not read as that action counts as a failure of the bridge, and its match as forfeited.

The second part plays the same match of tic-tac-toe by two clients over websockets and by two over
MCP, in turns, on one server, and compares the seconds from one action to its answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections import Counter
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.harness.bot_turns import turn_at
from websockets.asyncio.client import connect

from plyhouse.bots.llm.answers import forms, read
from plyhouse.bots.llm.prompts import question, system
from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.registry import game_names
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import RunningServer, running_server

MOST_PLIES = 200
"""Plies of a match that are played; longer games are cut there."""
SHAPES = ('{{"action": {json}}}', "I thought about it.\n\nAction: {form}", "{form}")
"""Answers of a model that names its action in a form."""


def play(spec: str, rng: random.Random, counts: Counter[str]) -> None:
    """Play a match by a scripted model, and count its plies and failures."""
    game = get_game(spec)
    state = game.initial_state()
    failed = counts["failed"]
    for _ in range(MOST_PLIES):
        while state.to_move == CHANCE:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state = state.after(rng.choices(outcomes, weights)[0])
        if state.to_move == TERMINAL:
            break
        turn = turn_at(game, state, time_control="move:60")
        if counts["plies"] % 50 == 0:  # a prompt is longer than its answer, and fails alike
            system(turn, "rules")
            question(turn, "actions")
        form, actions = rng.choice(list(forms(turn).items()))
        answer = rng.choice(SHAPES).format(form=form, json=json.dumps(form))
        found = read(turn, answer)
        counts["plies"] += 1
        counts["failed"] += found.action not in actions or len(actions) != 1
        state = state.after(game.parse(state, next(iter(actions))))
    counts["matches"] += 1
    counts["forfeited"] += counts["failed"] > failed


def round_trips(matches: int, seconds: float) -> None:
    """Print the plies and failures of the bridge, by game."""
    names = game_names()
    rng = random.Random(1)
    counts = {name: Counter[str]() for name in names}
    begin, busy = time.monotonic(), time.process_time()
    for number in range(matches):
        if time.monotonic() - begin > seconds:
            break
        name = names[number % len(names)]
        play(name, rng, counts[name])
    print(f"{'game':20} {'matches':>8} {'plies':>9} {'not read':>9} {'forfeited':>9}")
    for name, each in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        figures = f"{each['matches']:8} {each['plies']:9} {each['failed']:9} {each['forfeited']:9}"
        print(f"{name:20} {figures}")
    print(f"in {time.process_time() - busy:.0f} s of processor time\n", flush=True)


async def account(server: RunningServer, player: str) -> str:
    """Return the token of a new player."""
    store = server.hub.store
    await store.add_player(player)
    return await store.add_token(player)


async def over_websockets(server: RunningServer, tokens: list[str]) -> list[float]:
    """Play a match; return the seconds from each action to its answer."""
    took: list[float] = []

    async def seat(token: str) -> None:
        address = f"{server.ws_url}"
        async with connect(address, subprotocols=["plyhouse.v1+json"], compression=None) as wire:  # type: ignore[list-item]
            number = 1

            async def send(kind: str, **fields: Any) -> None:
                nonlocal number
                number += 1
                await wire.send(json.dumps({"type": kind, "id": number, **fields}))

            await send("hello", token=token, bot="socket", takeover=True)
            asked = 0.0
            async for text in wire:
                message = json.loads(text)
                match message["type"]:
                    case "welcome":
                        await send("seek", game="tic_tac_toe", time_control="total:600")
                    case "ping":
                        await wire.send(json.dumps({"type": "pong", "re": message["id"]}))
                    case "match" if message["snapshot"]["status"] == "waiting":
                        await send("ready", match=message["snapshot"]["match"])
                    case "turn":
                        legal = message["observation"]["legal"]
                        asked = time.perf_counter()
                        ply = message["ply"]
                        await send("act", match=message["match"], ply=ply, action=legal[0])
                    case "accepted":
                        took.append(time.perf_counter() - asked)
                    case "finished":
                        return

    await asyncio.gather(*map(seat, tokens))
    return took


async def over_mcp(server: RunningServer, tokens: list[str]) -> list[float]:
    """Play a match; return the seconds from each action to its answer."""
    took: list[float] = []

    async def seat(token: str) -> None:
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
            address = f"{server.url}/mcp?bot=model&help=actions"
            transport = streamable_http_client(address, http_client=web)
            async with Client(transport, mode="2026-07-28") as client:

                async def call(tool: str, **arguments: Any) -> Any:
                    return (await client.call_tool(tool, arguments)).structured_content

                terms = {"game": "tic_tac_toe", "time_control": "total:600"}
                view = (await call("seek", **terms))["view"]
                while view["status"] != "finished":
                    if view["your_turn"]:
                        asked = time.perf_counter()
                        action = view["legal"][0]
                        await call("act", match=view["match"], ply=view["ply"], action=action)
                        took.append(time.perf_counter() - asked)
                    view = await call("wait", match=view["match"])

    await asyncio.gather(*map(seat, tokens))
    return took


async def latencies(matches: int) -> None:
    """Print the seconds of a ply over websockets and over MCP."""
    config = ServerConfig(port=0, database="sqlite:///:memory:", mcp=True, http_per_second=0)
    took: dict[str, list[float]] = {"websocket": [], "MCP": []}
    async with running_server(config) as server:
        tokens = [await account(server, player) for player in ("ada", "bob")]
        for _ in range(matches):
            took["websocket"] += await over_websockets(server, tokens)
            took["MCP"] += await over_mcp(server, tokens)
    print(f"{'an action and its answer':26} {'plies':>6} {'p50 ms':>8} {'p99 ms':>8}")
    for name, values in took.items():
        cuts = statistics.quantiles(values, n=100)
        print(f"{name:26} {len(values):6} {cuts[49] * 1e3:8.2f} {cuts[98] * 1e3:8.2f}")


def main() -> int:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matches", type=int, default=280, help="matches of scripted models")
    parser.add_argument("--seconds", type=float, default=600.0, help="longest time for them")
    parser.add_argument("--latency", type=int, default=20, help="matches over each connection")
    args = parser.parse_args()
    round_trips(args.matches, args.seconds)
    if args.latency:
        asyncio.run(latencies(args.latency))
    return 0


if __name__ == "__main__":
    sys.exit(main())
