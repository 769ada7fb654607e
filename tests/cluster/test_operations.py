"""What operators and load balancers are told about the servers of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, func, select
from tests.harness.hosted_server import until
from tests.harness.patience import PATIENCE
from tests.harness.server import Server
from tests.harness.small_cluster import SmallCluster, cluster_of, member_of

from plyhouse.protocol.messages import Ok
from plyhouse.server.cluster import lease_follower
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.storage import claim, leases, models

pytestmark = [pytest.mark.postgresql]


@pytest.fixture
async def web(cluster: SmallCluster) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the token of an operator."""
    token = await cluster.servers[0].token("olga", "admin")
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}) as client:
        yield client


async def numbers(web: httpx.AsyncClient, server: Server) -> dict[str, float]:
    """The metrics of a server that have no labels."""
    answer = await web.get(f"{server.server.url}/metrics")
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if not sample.labels
    }


async def readiness(web: httpx.AsyncClient, server: Server) -> tuple[int, str]:
    answer = await web.get(f"{server.server.url}/readyz")
    return answer.status_code, answer.json()["why"]


def board_of(server: Server) -> Switchboard:
    return member_of(server.hub).board


def keep_from_looking(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server notice neither the end of others nor that nobody leads."""

    async def look() -> None:
        pass

    monkeypatch.setattr(cluster_of(server.hub), "_look", look)


async def play_between(one: Server, other: Server) -> str:
    """Begin a match between sockets of two servers; return its id."""
    bots = [await one.bot("alice", "bot"), await other.bot("bob", "bot")]
    for bot in bots:
        assert isinstance(await bot.seek("connect_four", count=1), Ok)
    starts = await asyncio.gather(*(bot.start() for bot in bots))
    return starts[0].match


async def test_every_server_shows_operators_the_cluster(
    cluster: SmallCluster, web: httpx.AsyncClient
) -> None:
    _, second, third = cluster.servers
    match = await play_between(second, third)
    owner = next(each for each in cluster.servers if match in each.hub.directory.own)
    for server in cluster.servers:
        answer = await web.get(f"{server.server.url}/api/v1/cluster")
        assert answer.status_code == 200
        state = answer.json()
        assert (state["alone"], state["orphans"]) == (False, 0)
        epochs = [each.hub.store.epoch for each in cluster.servers]
        assert [each["epoch"] for each in state["members"]] == epochs
        assert [each["leads"] for each in state["members"]] == [True, False, False]
        assert {each["state"] for each in state["members"]} == {"running"}
        assert all(0 < each["lease_ms"] <= claim.valid_ms() for each in state["members"])
        owners = {each["epoch"]: each["matches"] for each in state["members"]}
        assert owners == {each.hub.store.epoch: int(each is owner) for each in cluster.servers}
        shown = await web.get(f"{server.server.url}/cluster")
        assert shown.status_code == 200
        assert shown.text.count("<strong>leader</strong>") == 1
        assert "No server leads" not in shown.text
        for each in state["members"]:
            assert each["process"] in shown.text
            assert each["address"] in shown.text
        for each in cluster.servers:
            assert each.hub.secret
            assert each.hub.secret not in answer.text + shown.text


async def test_operator_sees_the_cluster_while_nobody_leads(
    cluster: SmallCluster, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = cluster.servers
    for each in (second, third):
        keep_from_looking(each, monkeypatch)
    await cluster.stop(first)
    shown = await web.get(f"{second.server.url}/cluster")
    assert shown.status_code == 200
    assert "No server leads" in shown.text
    assert (await web.get(f"{second.server.url}/play")).status_code == 503


def numbered(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int | None]]:
    """Return the events with the numbers of servers in their fields."""
    return [(each.message, getattr(each, "server", None)) for each in caplog.records]


async def test_log_of_a_server_has_the_number_that_others_call_it_by(
    cluster: SmallCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "plyhouse.server.cluster")
    server = await cluster.add()
    number = board_of(server).epoch
    assert ("server joined the cluster", number) in numbered(caplog)
    first = cluster.servers[0]
    async with asyncio.timeout(PATIENCE):
        while number not in board_of(first).peers:  # noqa: ASYNC110 - another server tells it
            await asyncio.sleep(0.01)
        caplog.clear()
        await cluster.stop(server)
        while number in board_of(first).peers:  # noqa: ASYNC110 - another server tells it
            await asyncio.sleep(0.01)
    assert ("server gone", number) in numbered(caplog)


async def test_metrics_of_servers_add_up(cluster: SmallCluster, web: httpx.AsyncClient) -> None:
    first, second, third = cluster.servers
    match = await play_between(second, third)
    owner = next(each for each in cluster.servers if match in each.hub.directory.own)
    found = {each: await numbers(web, each) for each in cluster.servers}
    for server, values in found.items():
        mine = int(server is owner)
        assert values["plyhouse_matches_running"] == mine
        assert values["plyhouse_matches_remote"] == 1 - mine
        assert values["plyhouse_leads"] == int(server is first)
        assert values["plyhouse_cluster_members"] == 3
        assert values["plyhouse_bots"] == int(server is not first)
        assert 0 < values["plyhouse_lease_left_seconds"] <= claim.VALID_S
        assert values["plyhouse_link_unreadable_total"] == 0
        for name in ("repeated_total", "doubled_total", "waiting_bytes"):
            assert values[f"plyhouse_link_{name}"] >= 0


async def test_server_without_a_leader_is_not_ready(
    cluster: SmallCluster, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = cluster.servers
    assert await readiness(web, first) == await readiness(web, second) == (200, "")
    for each in (first, second):
        keep_from_looking(each, monkeypatch)
    electing = (503, "The servers elect a leader.")
    with monkeypatch.context() as patch:
        patch.setattr(board_of(second), "leader", 10_000)  # gone, as no peer has this epoch
        assert await readiness(web, second) == electing
    with monkeypatch.context() as patch:
        patch.setattr(board_of(first), "ready", False)  # it does not know all bots yet
        assert await readiness(web, first) == electing
    assert await readiness(web, first) == await readiness(web, second) == (200, "")


async def test_server_whose_lease_is_in_doubt_is_not_ready(
    cluster: SmallCluster, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_reach(*_: object) -> bool:
        raise TimeoutError

    first, *_ = cluster.servers
    with monkeypatch.context() as patch:
        patch.setattr(claim, "monotonic", lambda: monotonic() + claim.VALID_S)
        patch.setattr(leases, "renew", out_of_reach)
        assert await readiness(web, first) == (
            503,
            "The server could not renew its lease on the database.",
        )
    assert await readiness(web, first) == (200, "")


async def test_silent_server_loses_its_lease_before_it_expires(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = cluster.servers
    store, table, renew = first.hub.store, models.leases, leases.renew
    silent, others = third.hub.store.epoch, {first.hub.store.epoch, second.hub.store.epoch}
    mine = table.c.epoch == silent
    renewed = select(func.min(table.c.expires_ms - leases.NOW_MS)).where(table.c.epoch.in_(others))

    def renewal(connection: Connection, epoch: int, *ms: int) -> bool:
        return epoch == silent or renew(connection, epoch, *ms)  # the silent one does nothing

    async def long_valid() -> bool:
        left: int = await store.read(lambda c: c.execute(renewed).scalar_one())
        return left > PATIENCE * 800

    async def gone() -> bool:
        return silent not in cluster_of(first.hub).members

    monkeypatch.setattr(leases, "renew", renewal)
    await until(long_valid)
    half = table.update().where(mine).values(expires_ms=leases.NOW_MS + round(PATIENCE * 500))
    await store.write(lambda c: c.execute(half).rowcount)
    monkeypatch.setattr(lease_follower, "silent_left_ms", lambda: round(PATIENCE * 700))
    await cluster_of(third.hub)._link.close()
    await until(gone)
    assert others == set(cluster_of(first.hub).members)
    rest = select(table.c.expires_ms - table.c.ended_ms).where(mine)
    assert await store.read(lambda c: c.execute(rest).scalar_one()) > 0
