"""The permissions of a database file, and whether it can be written."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from plyhouse.storage.errors import (
    AlreadyExists,
    DatabaseFull,
    InvalidValue,
    StorageError,
    Unknown,
    Unreachable,
    public_message,
)
from plyhouse.storage.models import meta
from plyhouse.storage.store import Store

SOMEBODY = 65534
posix = pytest.mark.skipif(os.name != "posix", reason="rights of files as POSIX has them")


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
async def test_a_new_database_is_its_owners_alone_and_so_is_what_is_beside_it(
    tmp_path: Path,
) -> None:
    before = os.umask(0)
    try:
        async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
            await store.add_player("ada")
            found = {path.name: rights(path) for path in tmp_path.iterdir()}  # noqa: ASYNC240
    finally:
        os.umask(before)
    assert found == {"a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600}


@posix
@pytest.mark.parametrize(("had", "has"), [(0o644, 0o640), (0o666, 0o660), (0o600, 0o600)])
async def test_an_old_one_is_closed_to_strangers(tmp_path: Path, had: int, has: int) -> None:
    path = tmp_path / "a.db"
    await (await Store.open(f"sqlite:///{path}")).close()
    path.chmod(had)
    await (await Store.open(f"sqlite:///{path}")).close()
    assert rights(path) == has


async def test_probe_writes_the_time_to_the_database(store: Store, clock: Any) -> None:
    def probed(connection: Connection) -> int:
        wanted = select(meta.c.value).where(meta.c.name == "probed_ms")
        return int(connection.execute(wanted).scalar_one())

    for _ in range(2):
        clock.now += 1
        await store.probe()
        assert await store.read(probed) == clock.now


async def test_a_disk_that_is_nearly_full_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        usage = shutil.disk_usage(tmp_path)._replace(free=1000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(DatabaseFull, match="has 1,000 bytes left"):
            await store.probe()


def test_what_strangers_are_told_names_no_place() -> None:
    place = "postgresql://ann@db.example.org/house"
    for error in (
        Unreachable(f"no database server answers at {place}"),
        DatabaseFull(f"the disk that holds {place} is full"),
        InvalidValue(f"{place} cannot store such a value"),
        StorageError(f"{place} failed"),
    ):
        assert "example" not in public_message(error)
    assert public_message(Unknown("there is no player 'eve'")) == "there is no player 'eve'"
    driver = AlreadyExists(f"{place} has this row already")
    driver.__cause__ = ValueError("from the driver")
    assert "example" not in public_message(driver)


@contextlib.contextmanager
def as_somebody() -> Iterator[None]:
    """Run the block as a user with no rights of its own, if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(SOMEBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def made(path: Path) -> None:
    await (await Store.open(f"sqlite:///{path}")).close()


@pytest.fixture
def database() -> Iterator[Path]:
    """The file of a database, in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder, "inner", "a.db")
        path.parent.mkdir()
        asyncio.run(made(path))
        wal = Path(f"{path}-wal")
        wal.touch()
        if os.geteuid() == 0:
            for each in (path.parent, path, wal):
                os.chown(each, SOMEBODY, SOMEBODY)
        yield path
        path.parent.chmod(0o700)


@posix
@pytest.mark.parametrize(
    ("name", "mode", "options"),
    [
        ("inner/a.db", 0o000, ""),
        ("inner/a.db", 0o400, ""),
        ("inner/a.db", 0o000, "?mode=ro"),
        ("inner/a.db-wal", 0o400, ""),
        ("inner", 0o500, ""),
        ("inner", 0o600, ""),
    ],
)
def test_missing_permission_of_a_database_is_named_with_the_fix(
    database: Path, name: str, mode: int, options: str
) -> None:
    barred = database.parent.parent / name
    barred.chmod(mode)
    with as_somebody(), pytest.raises(StorageError) as refused:
        asyncio.run(Store.open(f"sqlite:///{database}{options}"))
    said = str(refused.value)
    assert f" {barred} belongs to " in said
    assert stat.filemode(barred.stat().st_mode) in said
    assert f"{barred}" in said.partition("chown ")[2]
