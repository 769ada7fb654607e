"""Language models on a cluster whose leader stops in the middle of their match."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.harness.mcp import Model, Table, play
from tests.harness.patience import PATIENCE
from tests.harness.small_cluster import SmallCluster

from plyhouse.server.cluster.nats_server import LocalNats

pytestmark = [pytest.mark.postgresql]


async def matches_of(model: Model) -> list[dict[str, Any]]:
    """The matches of a model, asked for again while there is no leader or no owner yet."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(MCPError, ExceptionGroup):
                if found := (await model.call("my_matches")).get("matches"):
                    return list(found)
            await asyncio.sleep(0.05)


async def test_match_of_agents_goes_on_with_another_leader(database: str, nats: LocalNats) -> None:
    cluster = SmallCluster(database, nats.url, mcp=True)
    try:
        leader = await cluster.add()
        for _ in range(2):
            await cluster.add()
        models, match = await Table(leader).seated("tic_tac_toe", time_control="total:600")
        await models[0].call("act", match=match, ply=0, action="b2")
        await cluster.stop(leader)
        here, there = (each.server.url for each in cluster.servers)
        moved = [models[0].at(here), models[1].at(there)]
        (view,) = await matches_of(moved[1])
        assert (view["match"], view["ply"], view["your_turn"]) == (match, 1, True)
        end = await play(moved, match)
        assert end["termination"] == "normal"
    finally:
        await cluster.close()
