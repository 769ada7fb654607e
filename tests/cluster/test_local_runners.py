"""The runners that several servers of a cluster start on one machine."""

from __future__ import annotations

import contextlib
import logging

import pytest
from tests.harness.hosted_server import until
from tests.harness.small_cluster import SmallCluster

from plyhouse.clients.runner.local import LABEL, local_runner
from plyhouse.server.accounts.builtin_bots import builtin_player
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage import people

pytestmark = [pytest.mark.postgresql]


async def test_servers_of_one_machine_have_a_runner_each(
    database: str, nats: LocalNats, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = SmallCluster(database, nats.url, hosted=True)
    try:
        leader, member = [await cluster.add() for _ in range(2)]

        async def both_came() -> bool:
            return leader.hub.hosting.machines == 2

        async with contextlib.AsyncExitStack() as stack:
            for each in (leader, member):
                await stack.enter_async_context(local_runner(each.server))
            await until(both_came)
            tokens = await leader.hub.store.read(
                people.list_tokens, (await builtin_player(leader.hub.store)).id
            )
            ours = [each for each in tokens if each.label.startswith(LABEL)]
            assert len(ours) == 2
            assert all(each.revoked_ms is None for each in ours)
    finally:
        await cluster.close()
    errors = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert [each.getMessage() for each in errors] == []
