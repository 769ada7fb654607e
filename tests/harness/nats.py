"""A NATS server for tests, which they may stop and start again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.harness.ports import kept_port

from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.gateway.membership import ClusterError

__all__ = ["nats_server"]


@contextmanager
def nats_server() -> Iterator[LocalNats]:
    """Run a NATS server; skip the test, or where NATS is required fail it, if there is none."""
    try:
        server = LocalNats()
    except ClusterError as error:
        if os.environ.get("PLYHOUSE_REQUIRE_NATS") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    server._port = kept_port()
    with server:
        yield server
