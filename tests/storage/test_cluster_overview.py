"""What operators see of a cluster: `cluster_overview`, and `plyhouse cluster`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.storage.cluster import Cluster
from tests.storage.conftest import World

from plyhouse.clients.cli.cluster import COLUMNS
from plyhouse.clients.cli.main import main
from plyhouse.storage import claim, members
from plyhouse.storage.errors import BadUrl
from plyhouse.storage.members import ClusterOverview, cluster_overview
from plyhouse.storage.rows import EventRow
from plyhouse.storage.store import Store

WorldAt = Callable[[str], AbstractAsyncContextManager[World]]


async def play(world: World, *kinds: str) -> None:
    """Store a new match with one event of each kind."""
    match, ops = await world.new("ada", "bob")
    events = [EventRow(match, at, kind, 0, 0, "") for at, kind in enumerate(kinds)]
    await world.store.apply([*ops, *events])


@pytest.mark.postgresql
async def test_overview_counts_what_members_own_and_lead(
    postgres_tables: str, cluster: Cluster, world_at: WorldAt
) -> None:
    async with world_at(postgres_tables) as world:
        store = world.store
        await store.claim(shared=True, address="http://:secret@a:1", version="9.9")
        await play(world, "ready", "action", "illegal", "action")
        await play(world)
        await world.play("ada", "bob", returns=(1.0, -1.0))
        for role in ("lobby", "hosting"):
            assert await store.write(members.claim_role, role, store.epoch) == store.epoch
        dead, idle = [await cluster.join() for _ in range(2)]
        await cluster.run(members.claim_role, "competitions", dead)
        await cluster.pairing(dead)
        await cluster.pairing(None)
        await cluster.end(dead)
        await store.write(members.add, store.epoch, [(idle, b"x")], store.now())
        found = await store.read(cluster_overview)
        first, second = found.members
        assert (first.member.epoch, first.member.version) == (store.epoch, "9.9")
        assert first.member.address == "http://a:1"
        assert (first.matches, first.plies, first.waiting) == (2, 2, 0)
        assert first.roles == ("hosting", "lobby")
        assert first.age_ms >= 0
        assert second.member.epoch == idle
        assert (second.matches, second.plies, second.waiting, second.roles) == (0, 0, 1, ())
        assert (found.orphans, found.free_roles) == (2, ("competitions",))


@pytest.mark.postgresql
async def test_overview_of_a_single_server_has_no_members(
    postgres_tables: str, cluster: Cluster
) -> None:
    await cluster.join(shared=False)
    async with await Store.open(postgres_tables) as store:
        assert await store.read(cluster_overview) == ClusterOverview((), 0, ())


async def test_overview_of_sqlite_is_refused() -> None:
    async with await Store.open("sqlite:///:memory:") as store:
        with pytest.raises(BadUrl, match="SQLite has no cluster"):
            await store.read(cluster_overview)


def show(url: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    """Run the command; return what it prints and what it notes."""
    assert main(["cluster", "--database", url, *options]) == 0
    return capsys.readouterr()


@pytest.mark.postgresql
def test_command_prints_the_members(
    postgres_tables: str,
    world_at: WorldAt,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claim, "VALID_S", 1000.0)  # a busy machine may be late to renew it
    assert show(postgres_tables, capsys) == ("", "No member of a cluster runs on this database.\n")

    async def run() -> tuple[str, str]:
        async with world_at(postgres_tables) as world:
            store = world.store
            await store.claim(shared=True, address="http://10.0.0.5:8765", version="0.2.0")
            await play(world, "action", "action")
            await store.write(members.claim_role, "lobby", store.epoch)
            await store.write(members.claim_role, "hosting", store.epoch)
            text, _ = await asyncio.to_thread(show, postgres_tables, capsys)
            (row,) = json.loads(
                (await asyncio.to_thread(show, postgres_tables, capsys, "--json"))[0]
            )["members"]
            assert row["member"]["address"] == "http://10.0.0.5:8765"
            assert (row["matches"], row["plies"], row["roles"]) == (1, 2, ["hosting", "lobby"])
        return text, (await asyncio.to_thread(show, postgres_tables, capsys))[1]

    text, note = asyncio.run(run())
    title, head, line = [line for line in text.splitlines() if set(line) - set("- ")]
    assert title == "Members of the cluster"
    assert head.split() == list(COLUMNS)
    process = f"{socket.gethostname()}:{os.getpid()}"
    assert re.fullmatch(
        rf" *1 +{re.escape(process)} +http://10\.0\.0\.5:8765 +0\.2\.0 +running +\d+ s"
        r" +(?:1000\.0|9\d\d\.\d) s +1 +2 +0 +hosting, lobby *",
        line,
    ), line
    assert note.splitlines() == [
        "No member of a cluster runs on this database.",
        "1 pairing without an owner: members adopt them.",
        "Without a leader: hosting, lobby.",
    ]


def test_command_refuses_sqlite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    asyncio.run(make(url))
    assert main(["cluster", "--database", url]) == 2
    assert "SQLite has no cluster" in capsys.readouterr().err


async def make(url: str) -> None:
    async with await Store.open(url):
        pass
