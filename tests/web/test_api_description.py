"""The description of the API is rendered on request, outside the process of the clocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE

from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.serve import running_server
from plyhouse.server.web import application

PATHS = ("/api", "/api/openapi.json")


async def test_description_is_rendered_by_a_helper_process_and_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: Any = Helpers.run
    asked: list[Callable[..., Any]] = []

    async def noted(self: Helpers, work: Callable[..., Any]) -> Any:
        asked.append(work)
        return await run(self, work)

    monkeypatch.setattr(Helpers, "run", noted)
    application._routed.cache_clear()
    application.description.cache_clear()
    async with (
        running_server(ServerConfig(port=0, database="sqlite:///:memory:")) as server,
        httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as web,
    ):
        assert asked == []
        first = await asyncio.gather(*(web.get(path) for path in PATHS))
        assert {*asked} == {application.description}
        assert application.description.cache_info().misses == 0, "this process rendered it"
        asked.clear()
        again = [await web.get(path) for path in PATHS]
        assert asked == []
    assert [answer.status_code for answer in first] == [200, 200]
    assert [answer.content for answer in first] == [answer.content for answer in again]
