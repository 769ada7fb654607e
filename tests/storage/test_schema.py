from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from tests.harness.schema import differences

from plyhouse.storage import people, schema
from plyhouse.storage.database import Database
from plyhouse.storage.errors import NewerSchema, NotADatabase, OlderSchema
from plyhouse.storage.store import Store
from plyhouse.storage.urls import parse_url


@pytest.mark.parametrize("make", [schema.migrate, schema.create])
async def test_migrations_make_exactly_the_models(url: str, make: Any) -> None:
    database = Database(parse_url(url))
    try:
        await database.write(make)
        assert await database.read(differences) == []
        assert await database.read(schema.revision) == schema.HEAD
    finally:
        await database.close()


async def test_a_new_database_is_the_migrated_one_down_to_its_options(tmp_path: Path) -> None:
    """Alembic does not compare what a table is made WITH, nor the WHERE and order of an index."""

    def ddl(connection: Connection) -> dict[str, Any]:
        query = text("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
        found: dict[str, Any] = {}
        for name, kind, sql in connection.execute(query).fetchall():
            found[name] = " ".join(sql.split())
            if kind == "table":  # the order of constraints is nobody's business, that of columns is
                columns = connection.execute(text(f"PRAGMA table_info({name})")).fetchall()
                found[name] = [tuple(column) for column in columns], sql[sql.rindex(")") :]
        return found

    made = []
    for name in ("migrate", "create"):
        database = Database(parse_url(f"sqlite:///{tmp_path / name}.db"))
        await database.write(getattr(schema, name))
        made.append(await database.read(ddl))
        await database.close()
    assert made[0] == made[1]
    assert schema.VERSION_TABLE in made[0]


def test_the_known_revisions_are_the_files() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    assert tuple(r.revision for r in script.walk_revisions())[::-1] == schema.KNOWN
    assert script.get_heads() == [schema.HEAD]


async def test_opening_again_keeps_everything(lasting_url: str) -> None:
    async with await Store.open(lasting_url) as store:
        await store.add_player("Ada")
    async with await Store.open(lasting_url) as store:
        assert [player.name for player in await store.read(people.list_players)] == ["Ada"]


async def test_many_open_a_new_database_at_once(lasting_url: str) -> None:
    stores = await asyncio.gather(*(Store.open(lasting_url) for _ in range(4)))
    for store in stores:
        assert await store.read(people.list_players) == []
        await store.close()


def _execute(statement: str, connection: Connection) -> None:
    connection.execute(text(statement))


async def change(url: str, *statements: str) -> None:
    database = await Database.open(url)
    for statement in statements:
        await database.write(partial(_execute, statement))
    await database.close()


@pytest.mark.parametrize("migrate", [True, False])
async def test_a_newer_schema_is_refused_and_named(lasting_url: str, migrate: Any) -> None:
    await change(
        lasting_url,
        "UPDATE plyhouse_schema SET version_num = '9999'",
        "UPDATE meta SET value = '7.1' WHERE name = 'plyhouse_version'",
    )
    with pytest.raises(
        NewerSchema, match=rf"Plyhouse 7\.1 \(schema 9999, .* up to {schema.HEAD}\)"
    ):
        await Store.open(lasting_url, migrate=migrate)


async def test_running_server_works_on_a_schema_that_a_newer_one_has_extended(
    lasting_url: str,
) -> None:
    async with await Store.open(lasting_url) as running:
        await running.claim()
        await change(
            lasting_url,
            "ALTER TABLE players ADD COLUMN of_a_later_version TEXT",
            "CREATE TABLE of_a_later_version (id INTEGER PRIMARY KEY)",
            "UPDATE plyhouse_schema SET version_num = '9999'",
        )
        await running.add_player("ada")
        assert [each.name for each in await running.read(people.list_players)] == ["ada"]
        with pytest.raises(NewerSchema):  # it cannot start again
            await Store.open(lasting_url)


async def test_a_newer_schema_without_its_maker_is_refused_too(lasting_url: str) -> None:
    await change(lasting_url, "UPDATE plyhouse_schema SET version_num = '9999'", "DROP TABLE meta")
    with pytest.raises(NewerSchema, match="made by a newer Plyhouse"):
        await Store.open(lasting_url)


async def test_without_migrating_an_empty_database_is_too_old(url: str) -> None:
    if url.endswith(".db"):
        open(url.removeprefix("sqlite:///"), "wb").close()  # noqa: ASYNC230
    with pytest.raises(
        OlderSchema, match=f"has schema none and this Plyhouse works with {schema.HEAD}"
    ):
        await Store.open(url, migrate=False)


async def test_the_database_of_another_program_is_left_alone(lasting_url: str) -> None:
    await change(lasting_url, "DROP TABLE plyhouse_schema")
    with pytest.raises(NotADatabase, match="belongs to another program"):
        await Store.open(lasting_url)


def test_alembic_is_only_imported_when_there_is_something_to_migrate(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from plyhouse.storage.store import Store\n"
        "async def main():\n"
        "    await (await Store.open(sys.argv[1])).close()\n"
        "asyncio.run(main())\n"
        "print('alembic' in sys.modules)\n"
    )
    command = [sys.executable, "-c", code, f"sqlite:///{tmp_path / 'a.db'}"]
    outputs = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2)]
    assert [output.strip() for output in outputs] == [b"False", b"False"]


def test_rows_import_no_database() -> None:
    code = (
        "import sys; import plyhouse.storage.rows; "
        "print(any(m.startswith(('sqlalchemy', 'alembic', 'aiosqlite')) for m in sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert output.strip() == b"False"
