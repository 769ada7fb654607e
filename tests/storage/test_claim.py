"""One server for one database: who has it, and who gets it next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.harness.claims import HOLD

from plyhouse.storage import people
from plyhouse.storage.errors import CannotOpen, ServedAlready
from plyhouse.storage.store import Store


async def test_a_database_has_one_server_at_a_time(lasting_url: str) -> None:
    async with await Store.open(lasting_url) as first:
        await first.claim()
        async with await Store.open(lasting_url) as second:
            words = rf"another Plyhouse server \(process {os.getpid()}\) uses .*; stop it or choose"
            with pytest.raises(ServedAlready, match=words):
                await second.claim()
            await second.add_player("anna")  # short work goes on beside a server
    async with await Store.open(lasting_url) as third:
        await third.claim()
        assert [player.name for player in await third.read(people.list_players)] == ["anna"]


async def test_a_claim_ends_with_its_process(lasting_url: str) -> None:
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", HOLD, lasting_url], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "claimed\n"
        async with await Store.open(lasting_url) as store:
            with pytest.raises(ServedAlready, match=rf"\(process {holder.pid}\)"):
                await store.claim()
        holder.send_signal(signal.SIGKILL)
    async with await Store.open(lasting_url) as store:
        await store.claim()  # in PostgreSQL it waits until the lease expires


async def test_all_names_of_a_file_are_one_database(tmp_path: Path) -> None:
    (tmp_path / "other.db").symlink_to(tmp_path / "a.db")
    async with (
        await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as first,
        await Store.open(f"sqlite:///{tmp_path / 'other.db'}") as second,
    ):
        await first.claim()
        with pytest.raises(ServedAlready):
            await second.claim()


async def test_file_with_a_second_name_is_not_served(tmp_path: Path) -> None:
    """Each hard link would have a lock and a journal of its own."""
    (tmp_path / "far").mkdir()
    names = tmp_path / "a.db", tmp_path / "far" / "b.db"
    await (await Store.open(f"sqlite:///{names[0]}")).close()
    names[1].hardlink_to(names[0])
    for name in names:
        async with await Store.open(f"sqlite:///{name}") as store:
            with pytest.raises(CannotOpen, match=r"has 2 names \(hard links\)"):
                await store.claim()
    names[1].unlink()
    async with await Store.open(f"sqlite:///{names[0]}") as store:
        await store.claim()


async def test_databases_in_memory_share_neither_claim_nor_rows() -> None:
    url = "sqlite:///:memory:"
    async with await Store.open(url) as first, await Store.open(url) as second:
        await first.claim()
        await second.claim()
        await first.add_player("ada")
        assert [player.name for player in await first.read(people.list_players)] == ["ada"]
        assert await second.read(people.list_players) == []
