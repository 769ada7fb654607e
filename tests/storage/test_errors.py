"""Everything that can be wrong with a database, for real."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy import exc as sa
from sqlalchemy.pool import QueuePool
from tests.harness.postgres import execute as execute_there

from plyhouse.storage import errors, match_lists, match_reads, people, tournaments, urls
from plyhouse.storage.database import Database
from plyhouse.storage.driver_errors import translate
from plyhouse.storage.errors import (
    BadUrl,
    CannotOpen,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    DriverBroken,
    DriverMissing,
    InvalidValue,
    LoginRefused,
    NotADatabase,
    OlderSchema,
    StorageError,
    StoreClosed,
    Unknown,
    Unreachable,
    WriterFull,
)
from plyhouse.storage.rows import EventRow
from plyhouse.storage.store import Store
from plyhouse.storage.urls import parse_url
from plyhouse.storage.writer import Writer


def execute(statement: Any, connection: Connection) -> None:
    connection.execute(statement)


def scalar(statement: Any, connection: Connection) -> Any:
    return connection.execute(statement).scalar_one()


def every_error() -> list[type[StorageError]]:
    found = [StorageError]
    for kind in found:
        found += kind.__subclasses__()
    return found


def test_codes_are_distinct_and_the_tree_in_the_docstring_is_complete() -> None:
    # Each of these refusals has its own code, under ``competition/`` and ``submission/``.
    refusals = (errors.CompetitionRefusal, errors.SubmissionRefusal)
    kinds = [kind for kind in every_error() if kind not in refusals]
    assert len({kind.code for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert kind.code.startswith("storage/")
        assert f" {kind.code}\n" in errors.__doc__
        assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "'' is not a database URL; write sqlite:///file.db"),
        ("plyhouse.db", "not a database URL"),
        ("mysql://root@localhost/x", "'mysql' databases are not supported"),
        ("sqlite://plyhouse.db", "write sqlite:///plyhouse.db"),
        ("sqlite:///a.db?mode=rx", "mode='rx'.*use rw or ro"),
        ("sqlite:///a.db?synchronous=off", "use full or normal"),
        ("sqlite:///a.db?busy_timeout_ms=-1", "use 0 to 600000"),
        ("sqlite:///a.db?speed=fast", "unknown option 'speed'; there are synchronous,"),
        ("sqlite:///a.db?schema=x", "unknown option 'schema'"),
        ("postgresql://root@localhost", "names no database"),
        ("postgresql://root@localhost/x?mode=ro", "unknown option 'mode'"),
        ("postgresql://root@localhost/x?schema=a;b", "use letters, digits and _"),
        ("postgresql://root@localhost/x?sslmode=maybe", "use disable or allow"),
        ("postgresql://root@localhost:port/x", "not a database URL"),
    ],
)
async def test_a_bad_url_is_explained(url: str, says: Any) -> None:
    with pytest.raises(BadUrl, match=says):
        await Store.open(url)


def test_passwords_are_not_told() -> None:
    target = parse_url("postgresql://root:hunter2@localhost/x")
    assert "hunter2" not in target.place
    assert "root" in target.place


async def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="is a folder; give a file in it"):
        await Store.open(f"sqlite:///{tmp_path}")


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="nowhere does not exist; create it first"):
        await Store.open(f"sqlite:///{tmp_path / 'nowhere' / 'a.db'}")


async def test_a_file_of_something_else_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(NotADatabase, match="is not a SQLite database; give another file"):
        await Store.open(f"sqlite:///{path}")
    assert path.read_bytes() == bytes(range(256)) * 40


async def test_a_database_of_another_program_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (title TEXT)")
    other.close()
    with pytest.raises(NotADatabase, match=r"belongs to another program .*'songs'"):
        await Store.open(f"sqlite:///{path}")


async def test_read_only_databases_can_be_read_and_say_so_when_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        await store.add_player("Ada")
        token = await store.add_token("Ada")
    async with await Store.open(f"sqlite:///{path}?mode=ro") as store:
        assert [player.name for player in await store.read(people.list_players)] == ["Ada"]
        identity = await store.authenticate(token)
        assert identity is not None
        assert identity.player == "Ada"
        with pytest.raises(DatabaseReadOnly, match="opened with mode=ro"):
            await store.add_player("Bob")
    with pytest.raises(CannotOpen, match="without mode=ro it would be created"):
        await Store.open(f"sqlite:///{tmp_path / 'b.db'}?mode=ro")


AS_NOBODY = """
import asyncio, os, sys
from plyhouse.storage.store import Store
from plyhouse.storage.errors import StorageError
import sqlalchemy.dialects.sqlite.aiosqlite, aiosqlite, alembic.command  # before rights are gone
os.setuid(65534)
async def main():
    try:
        await Store.open(sys.argv[1])
    except StorageError as error:
        print(error.code, error)
asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without rights")
@pytest.mark.parametrize("case", ["file", "folder"])
def test_a_file_or_folder_without_the_right_to_write_is_found_out_when_opening(
    case: Any, open_folder: Any
) -> None:
    path = open_folder / "a.db"
    if case == "file":
        asyncio.run(make(f"sqlite:///{path}"))
        path.chmod(0o444)
    else:
        open_folder.chmod(0o555)
    command = [sys.executable, "-c", AS_NOBODY, f"sqlite:///{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"storage/read_only the database {path} cannot be ")
    barred = path if case == "file" else open_folder
    assert f"the {case} {barred} belongs to root" in done.stdout
    assert f"chown nobody {barred}" in done.stdout
    assert done.stdout.count("\n") == 1


async def make(url: str) -> None:
    await (await Store.open(url)).close()


async def test_a_locked_database_is_given_up_after_the_busy_timeout(
    tmp_path: Path, submit: Any
) -> None:
    path = tmp_path / "a.db"
    url = f"sqlite:///{path}?busy_timeout_ms=30"
    store = await Store.open(url)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseLocked, match="is locked by another program; stop that program"):
        await store.add_player("Ada")
    with pytest.raises(DatabaseLocked):
        await submit(Writer(store), [EventRow("m", 0, "act", 0, 0, "x")])
    with pytest.raises(DatabaseLocked):
        await Store.open(url)
    assert await store.read(people.list_players) == []  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    await store.add_player("Ada")
    await store.close()


async def test_a_lock_that_is_given_up_in_time_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with await Store.open(f"sqlite:///{path}?busy_timeout_ms=20000") as store:
        code = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
            "c.execute('BEGIN EXCLUSIVE'); print('held', flush=True); "
            "sys.stdin.readline(); c.execute('ROLLBACK')"
        )
        holder = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", code, str(path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"held\n"
        adding = asyncio.create_task(store.add_player("Ada"))
        await asyncio.sleep(0)
        await holder.communicate(b"go\n")
        assert (await adding).name == "Ada"


async def test_a_full_disk_is_named_and_the_store_goes_on_afterwards(tmp_path: Path) -> None:
    """SQLite's own limit of pages gives the same error as a full disk."""
    async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store:

        def limit(connection: Any) -> None:
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))

        await store._database.write(limit)

        async def fill() -> None:
            for number in range(3000):
                await store.add_player(f"p{number}")

        with pytest.raises(DatabaseFull, match="is full; make room on it"):
            await fill()
        await store._database.write(
            lambda c: c.execute(text("PRAGMA max_page_count = 100000")).scalar_one()
        )
        await store.add_player("Ada")


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.close()
    await store.close()
    with pytest.raises(StoreClosed, match="was closed; open it again"):
        await store.read(people.list_players)
    with pytest.raises(StoreClosed):
        await store.add_player("Ada")


@pytest.mark.postgresql
async def test_close_waits_for_reads_that_are_under_way(postgres_url: str) -> None:
    """Their connections were given back to a closed pool, which left them open."""
    database = await Database.open(postgres_url)
    begun = asyncio.Event()

    def read(connection: Connection) -> int:
        begun.set()
        return int(connection.execute(text("SELECT 7 FROM pg_sleep(0.1)")).scalar_one())

    reading = asyncio.create_task(database.read(read))
    await begun.wait()
    await database.close()
    assert reading.done()
    assert await reading == 7


async def test_no_server_at_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"postgresql://root:hunter2@127.0.0.1:{port}/x"
    with pytest.raises(Unreachable, match=f"no database server answers at .*:{port}/x") as caught:
        await Store.open(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.postgresql
async def test_a_database_that_does_not_exist_on_the_server(postgres_url: str) -> None:
    url = postgres_url.split("?")[0].rsplit("/", 1)[0] + "/no_such_database"
    with pytest.raises(LoginRefused, match=r"does not exist .*createdb"):
        await Store.open(url)


@pytest.mark.postgresql
async def test_a_schema_that_does_not_exist_on_the_server(postgres_url: str) -> None:
    with pytest.raises(LoginRefused, match="lacks the schema"):
        await Store.open(postgres_url.split("?")[0] + "?schema=no_such_schema")


@pytest.mark.postgresql
async def test_a_user_that_does_not_exist_on_the_server(postgres_url: str) -> None:
    address = postgres_url.split("?")[0].split("@", 1)[1]
    with pytest.raises(LoginRefused, match="refused the login"):
        await Store.open(f"postgresql://no_such_user@{address}")


@pytest.mark.postgresql
async def test_a_lost_connection_is_made_again(postgres_url: str) -> None:
    database = await Database.open(postgres_url)
    try:
        for use in (database.read, database.write):
            pid = await use(lambda c: c.execute(text("SELECT pg_backend_pid()")).scalar_one())
            killer = await Database.open(postgres_url)
            kill = text(f"SELECT pg_terminate_backend({pid})")
            await killer.write(partial(execute, kill))
            await killer.close()
            assert await use(lambda c: c.execute(text("SELECT 1")).scalar_one()) == 1
    finally:
        await database.close()


@pytest.mark.postgresql
async def test_a_lock_on_the_server_is_given_up_after_the_busy_timeout(postgres_url: str) -> None:
    async with await Store.open(f"{postgres_url}&busy_timeout_ms=30") as store:
        await store.add_player("Ada")
        blocker = await Database.open(postgres_url)
        assert blocker._engine is not None
        async with blocker._engine.begin() as connection:
            await connection.execute(text("LOCK TABLE players IN ACCESS EXCLUSIVE MODE"))
            with pytest.raises(DatabaseLocked, match="locked by another session"):
                await store.add_player("Bob")
        await blocker.close()
        await store.add_player("Bob")


@pytest.mark.postgresql
@pytest.mark.parametrize("state", ["40001", "40P01"])
async def test_tie_that_is_never_broken_is_a_lock(postgres_url: str, state: str) -> None:
    tries = 0

    def tie(connection: Connection) -> None:
        nonlocal tries
        tries += 1
        failure = f"DO $$ BEGIN RAISE EXCEPTION 'tie' USING ERRCODE = '{state}'; END $$"
        connection.execute(text(failure))

    async with await Store.open(postgres_url) as store:
        with pytest.raises(DatabaseLocked, match="locked by another session"):
            await store.write(tie)
    assert tries == 3


@pytest.mark.postgresql
async def test_server_without_free_connections_is_unreachable(postgres_url: str) -> None:
    name = f"plyhouse_test_{secrets.token_hex(6)}"
    address = postgres_url.split("?")[0].split("@", 1)[1]
    await execute_there(f"CREATE ROLE {name} LOGIN CONNECTION LIMIT 0 PASSWORD 'x'")
    try:
        with pytest.raises(Unreachable, match="accepts no more connections"):
            await Store.open(f"postgresql://{name}:x@{address}")
    finally:
        await execute_there(f"DROP ROLE {name}")


def test_busy_connections_are_an_overload() -> None:
    engine = create_engine("sqlite://", poolclass=QueuePool, max_overflow=0, pool_timeout=0)
    with contextlib.ExitStack() as stack, pytest.raises(sa.TimeoutError) as caught:
        [stack.enter_context(engine.connect()) for _ in range(6)]  # the pool has five
    engine.dispose()
    assert isinstance(translate(caught.value, "the database"), WriterFull)


async def test_without_the_driver_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(DriverMissing, match=r"pip install 'plyhouse\[postgresql\]'"):
        await Store.open("postgresql://root@127.0.0.1/x")


@pytest.mark.parametrize(
    "source",
    [
        "import package_that_is_not_there",
        "from plyhouse.storage import name_that_is_not_there",
        "raise ImportError('undefined symbol: PyLong_Long')",
    ],
)
async def test_a_driver_that_is_broken_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    (tmp_path / "asyncpg.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "asyncpg", raising=False)
    with pytest.raises(DriverBroken, match=r"cannot be imported .* look for a file of yours"):
        await Store.open("postgresql://root@127.0.0.1/x")


async def test_durability_is_set_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "FULL_SYNC", not urls.FULL_SYNC)  # tests/conftest.py turned it
    for option, level in (("", 2), ("?synchronous=full", 2), ("?synchronous=normal", 1)):
        database = await Database.open(f"sqlite:///{tmp_path / 'a.db'}{option}")
        found = await database.write(
            lambda c: [
                c.execute(text(f"PRAGMA {name}")).scalar_one()
                for name in ("synchronous", "journal_mode", "foreign_keys", "busy_timeout")
            ]
        )
        assert found == [level, "wal", 1, 5000]
        await database.close()


@pytest.mark.postgresql
async def test_durability_is_set_as_asked_on_the_server(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(urls, "FULL_SYNC", not urls.FULL_SYNC)  # tests/conftest.py turned it
    for option, level in (("", "on"), ("&synchronous=normal", "off")):
        database = await Database.open(postgres_url + option)
        query = text("SHOW synchronous_commit")
        assert await database.read(partial(scalar, query)) == level
        await database.close()


async def test_odd_characters_in_a_path_are_just_characters(tmp_path: Path) -> None:
    path = tmp_path / "a #1%20 é.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        await store.add_player("Ada")
        assert os.listdir(tmp_path).count(path.name) == 1


async def test_messages_are_one_sentence(store: Store) -> None:
    with pytest.raises(Unknown) as caught:
        await store.read(people.player, "x\ny")
    assert "\n" not in str(caught.value)
    with pytest.raises(OlderSchema):
        await Store.open("sqlite:///:memory:", migrate=False)


@pytest.mark.parametrize("name", ["\ud800", "\x00"])
async def test_a_text_that_cannot_be_stored_is_a_bad_value_or_unknown(
    store: Store, name: str
) -> None:
    for look_up in (people.player, match_reads.stored_match, tournaments.overview):
        with pytest.raises((InvalidValue, Unknown)):
            await store.read(look_up, name)
    with pytest.raises((InvalidValue, Unknown)):
        await store.read(match_lists.list_matches, match_lists.MatchFilter(), before=name)


async def test_a_number_that_cannot_be_stored_is_a_bad_value(store: Store) -> None:
    with pytest.raises(InvalidValue, match="numbers of up to 64 bits"):
        await store.read(people.bot, 2**64)
