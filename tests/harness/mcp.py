"""Scripted models that play over MCP with the official client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextResourceContents
from tests.harness.patience import PATIENCE
from tests.harness.server import Server

MODERN: Final = "2026-07-28"
"""A revision of the protocol."""


class Model:
    """A scripted model: it calls tools by their names, each over a connection of its own."""

    def __init__(self, address: str, token: str, mode: str) -> None:
        self.address = address
        self.token = token
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._mode = mode

    def at(self, url: str) -> Model:
        """Return this model with another server of the cluster."""
        return Model(f"{url}/mcp{self.address.partition('/mcp')[2]}", self.token, self._mode)

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=self._headers, timeout=PATIENCE) as web:
            transport = streamable_http_client(self.address, http_client=web)
            async with Client(transport, mode=self._mode) as client:
                yield client

    async def answer(self, tool: str, **arguments: Any) -> CallToolResult:
        async with self.client() as client:
            return await client.call_tool(tool, arguments)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer; the client checks it against the schema."""
        answer = await self.answer(tool, **arguments)
        assert not answer.is_error, answer
        found: dict[str, Any] = answer.structured_content
        return found

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.answer(tool, **arguments)
        assert answer.is_error, answer
        error: dict[str, Any] = answer.structured_content["error"]
        assert [each.type for each in answer.content] == ["text"]
        assert answer.content[0].text == f"{error['code']}: {error['message']}"  # type: ignore[union-attr]
        return error

    async def resource(self, uri: str) -> str:
        async with self.client() as client:
            (found,) = (await client.read_resource(uri)).contents
        assert isinstance(found, TextResourceContents)
        return found.text

    async def missing_resource(self, uri: str) -> str:
        """Return why a resource cannot be read."""
        async with self.client() as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
        return str(caught.value)

    async def challenges(self) -> list[dict[str, Any]]:
        """Wait for challenges."""
        async with asyncio.timeout(PATIENCE):
            while True:
                mine = await self.call("my_matches")
                if mine.get("challenges"):
                    found: list[dict[str, Any]] = mine["challenges"]
                    return found
                await asyncio.sleep(0.01)


class Table:
    """A server with models."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def model(
        self,
        player: str = "",
        *,
        bot: str = "gpt",
        token: str = "",
        mode: str = MODERN,
        level: str = "rules",
    ) -> Model:
        token = token or (await self.server.token(player) if player else "")
        address = f"{self.server.server.url}/mcp?bot={bot}&games=pig,chess"
        address += f"&help={level}" if level else ""
        return Model(address, token, mode)

    async def seated(self, game: str, **terms: Any) -> tuple[list[Model], str]:
        """Two models at a match, in the order of their seats."""
        models = [await self.model("ada"), await self.model("bob")]
        first, second = await asyncio.gather(
            *(model.call("seek", game=game, **terms) for model in models)
        )
        assert first["match"] == second["match"]
        return models if first["view"]["seat"] == 0 else models[::-1], first["match"]


async def play(models: list[Model], match: str) -> dict[str, Any]:
    """Let both seats play their first legal action to the end; return the last view."""
    while True:
        for model in models:
            view = await model.call("wait", match=match, seconds=0)
            if view["status"] == "finished":
                return view
            if view["your_turn"]:
                await model.call("act", match=match, ply=view["ply"], action=view["legal"][0])
