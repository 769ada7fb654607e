"""The list of servers on a single server, and who may see it."""

from __future__ import annotations

import httpx
import pytest
from tests.harness.server import Server

from plyhouse.clients.api import AsyncApi

ALONE = "This server runs alone"


@pytest.mark.parametrize(("scope", "status"), [("", 401), ("play", 403), ("organise", 403)])
async def test_only_operators_see_the_servers(house: Server, scope: str, status: int) -> None:
    headers = {"authorization": f"Bearer {await house.token('ada', scope)}"} if scope else {}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        assert (await web.get("/api/v1/cluster")).status_code == status
        page = await web.get("/cluster")
    assert page.status_code == 403
    assert "sign in with a token of scope admin" in page.text
    assert ALONE not in page.text


async def test_wrong_token_of_the_page_is_named(house: Server) -> None:
    headers = {"authorization": "Bearer ply_wrong"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        assert (await web.get("/cluster")).status_code == 401


async def test_single_server_says_that_it_runs_alone(house: Server) -> None:
    token = await house.token("olga", "admin")
    async with AsyncApi(house.server.url, token=token) as api:
        state = await api.cluster()
    assert (state.alone, state.members, state.orphans) == (True, [], 0)
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        page = (await web.get("/cluster")).text
    assert ALONE in page
    assert "docs/growing.md" in page
    assert "<table" not in page
