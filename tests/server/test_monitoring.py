"""Requests of monitoring: health, readiness and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.harness.log_lines import log_text
from tests.harness.server import Server

from plyhouse.protocol.messages import Error, Finished, Resign
from plyhouse.server.administration import health
from plyhouse.storage import match_reads
from plyhouse.storage.errors import DatabaseFull, StorageError, Unreachable


@pytest.fixture
async def api(house: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=house.server.url) as client:
        yield client


async def numbers(api: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """All samples: by name, followed by the values of their labels."""
    answer = await api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def test_a_server_that_can_store_is_ready(api: httpx.AsyncClient) -> None:
    assert (await api.get("/healthz")).text == "ok\n"
    answer = await api.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "why": ""})
    assert (await api.get("/api/v1/health")).json()["status"] == "ok"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            DatabaseFull("the disk that holds secret.db is full"),
            "The disk of the database is full.",
        ),
        (Unreachable("no server at secret.host"), "The database cannot be reached."),
        (StorageError("secret"), "The database cannot store anything."),
    ],
)
async def test_a_server_that_cannot_store_is_not_ready(
    house: Server, api: httpx.AsyncClient, monkeypatch: Any, error: StorageError, words: str
) -> None:
    async def fails(*_: object) -> None:
        raise error

    house.hub.live_matches.writer.trouble = error
    monkeypatch.setattr(house.hub.store._database, "write", fails)
    answer = await api.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "why": words})
    assert (await api.get("/api/v1/health")).json()["status"] == "degraded"
    assert (await api.get("/healthz")).status_code == 200, "a restart would not help"
    assert (await numbers(api))["plyhouse_storing",] == 0
    monkeypatch.undo()
    assert (await api.get("/readyz")).status_code == 200, "it tries, and does not only remember"
    assert (await numbers(api))["plyhouse_storing",] == 1


async def test_trouble_is_logged_once_and_again_after_it_was_gone(
    house: Server, api: httpx.AsyncClient, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object) -> None:
        raise DatabaseFull("the disk is nearly full")

    def logged() -> int:
        return log_text(caplog).count("database does not store")

    for count in (1, 2):
        house.hub.health.forget()
        with monkeypatch.context() as patch:
            patch.setattr(house.hub.store._database, "write", fails)
            for _ in range(3):
                assert (await api.get("/readyz")).status_code == 503
        assert logged() == count
        assert (await api.get("/readyz")).status_code == 200


async def test_standstill_of_the_server_is_not_taken_for_one_of_the_database(
    house: Server, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is over, the answer of the database has come, and its time is up."""
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.03)

    async def answered_meanwhile() -> None:
        asyncio.get_running_loop().call_soon(time.sleep, 2 * health.ANSWER_SECONDS)
        for _ in range(6):  # callbacks that pass the answer on
            await asyncio.sleep(0)

    monkeypatch.setattr(house.hub.store, "probe", answered_meanwhile)
    answer = await api.get("/readyz")
    assert (answer.status_code, answer.json()["why"]) == (200, "")


async def test_a_server_that_stops_is_not_ready(house: Server, api: httpx.AsyncClient) -> None:
    house.hub.stopping = True
    assert (await api.get("/readyz")).status_code == 503


async def test_metrics_count_what_happened(house: Server, api: httpx.AsyncClient) -> None:
    before = await numbers(api)
    assert before["plyhouse_plies_total",] == 0
    clients, matches = await house.pair("tic_tac_toe")
    ends = await asyncio.gather(*(c.play(m) for c, m in zip(clients, matches, strict=True)))
    for client in clients:
        await client.seek("tic_tac_toe")
    again = [await client.start() for client in clients]
    running = await numbers(api)
    assert running["plyhouse_matches_running",] == 1
    assert running["plyhouse_matches_total", "normal"] == 1
    await clients[0].ask(Resign, again[0].match)
    await clients[1].next(Finished, match=again[0].match)
    stranger = await house.client()
    assert isinstance(await stranger.hello("ply_wrong_token", "bot"), Error)
    after = await numbers(api)
    stored = await house.hub.store.read(match_reads.stored_match, ends[0].match)
    assert after["plyhouse_plies_total",] == stored.header.ply
    assert after["plyhouse_matches_total", "resignation"] == 1
    assert after["plyhouse_logins_total",] == 2
    assert after["plyhouse_logins_refused_total", "auth/bad_token"] == 1
    assert after["plyhouse_connections_accepted_total",] == 3
    assert after["plyhouse_bots",] == 2
    commits = after["plyhouse_commit_seconds_count",]
    assert commits == sum(house.hub.live_matches.writer.latency.counts) > before.get(("none",), 0)
    assert after["plyhouse_commit_seconds_bucket", "+Inf"] == commits
    assert after["plyhouse_commit_seconds_sum",] > 0
    assert after["plyhouse_process_resident_memory_bytes",] > 1_000_000
