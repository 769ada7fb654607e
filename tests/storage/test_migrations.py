"""Databases of Plyhouse 0.2.0, with a row in every table, brought up to date."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from sqlalchemy import (
    Connection,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    delete,
    inspect,
    select,
    text,
)
from sqlalchemy import types as sqltypes
from tests.harness.schema import differences

from plyhouse.protocol.api.bots import Holder
from plyhouse.server.match.events import end_data
from plyhouse.storage import audit, competition_sql, people_changes, schema
from plyhouse.storage.causes import decoded
from plyhouse.storage.database import Database
from plyhouse.storage.errors import AlreadyExists, OlderSchema, StorageError
from plyhouse.storage.models import audit as newest_audit
from plyhouse.storage.models import (
    competition_entries,
    competitions,
    events,
    leases,
    matches,
    players,
)
from plyhouse.storage.models import metadata as newest
from plyhouse.storage.rows import By, EventRow
from plyhouse.storage.store import Store
from plyhouse.storage.urls import parse_url

DAY_MS = 86_400_000
FILE = 'name = "Cup"\n[late]\ndays = 3\n'
GIVEN: dict[str, dict[str, Any]] = {
    "bots": {"kind": "bot"},
    "class_competitions": {"file": FILE, "status": "open", "freezes_ms": 10 * DAY_MS},
    "class_entries": {"baseline": False},
    "players": {"name": "ada", "name_key": "ada"},
}
"""Values that the migrations read; the others are of no consequence."""

COLUMNS = {"class_id": "competition_id", "competition_id": "tournament_id"}
"""Present names of columns of 0.2.0."""


def fill(connection: Connection) -> None:
    """Make the tables of 0.2.0, each with a row."""
    schema.migrate(connection, schema.KNOWN[0])
    made = MetaData()
    made.reflect(connection)
    numbers = itertools.count(1)
    rows: dict[str, dict[str, Any]] = {}
    for table in made.sorted_tables:
        if table.name != schema.VERSION_TABLE:
            rows[table.name] = row = {
                column.name: value_of(table, column.name, rows, next(numbers))
                for column in table.columns
            }
            connection.execute(table.insert().values(row))
    if connection.dialect.name == "postgresql":  # rows with ids of their own leave sequences behind
        for table in made.sorted_tables:
            if (column := table.autoincrement_column) is not None and column.server_default:
                last = f"setval(pg_get_serial_sequence('{table.name}', 'id'), max(id))"
                connection.execute(text(f"SELECT {last} FROM {table.name}"))


def value_of(table: Table, name: str, rows: dict[str, dict[str, Any]], number: int) -> Any:
    """Return a value for a column: given, that of the row it refers to, or a fresh one."""
    column = table.columns[name]
    if name in GIVEN.get(table.name, {}):
        return GIVEN[table.name][name]
    for key in column.foreign_keys:
        return rows[key.column.table.name][key.column.name]
    if isinstance(column.type, sqltypes.Boolean):
        return True
    if isinstance(column.type, LargeBinary):
        return bytes([number % 256]) * 32
    if isinstance(column.type, String | Text):
        return str(number)[: column.type.length or 9] if column.type.length != 1 else "W"
    return number


def contents(connection: Connection, tables: MetaData) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of all tables but those about the database itself."""
    return {
        table.name: [dict(row._mapping) for row in connection.execute(select(table))]
        for table in tables.sorted_tables
        if table.name not in ("meta", schema.VERSION_TABLE)
    }


def old_contents(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    made = MetaData()
    made.reflect(connection)
    return contents(connection, made)


@pytest.fixture
async def old(lasting_url: str) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The URL of a database of 0.2.0, and what it has."""
    database = Database(parse_url(lasting_url))
    try:
        await database.write(fill)
        return lasting_url, await database.read(old_contents)
    finally:
        await database.close()


async def test_database_of_the_oldest_version_keeps_every_value(old: Any) -> None:
    url, before = old
    async with await Store.open(url) as store:
        after = await store.read(contents, newest)
        assert await store.read(differences) == []
        assert await store.read(schema.revision) == schema.HEAD
    assert len(before) > 30
    for table, (row,) in before.items():
        (kept,) = after[renamed(table)]
        if table == "matches":
            kept |= {name: decoded(kept[name]).sentence() for name in ("reason", "void_reason")}
        assert {name: kept[COLUMNS.get(name, name)] for name in row} == row, table


async def test_everything_in_a_migrated_database_is_called_as_in_a_new_one(
    lasting_url: str,
) -> None:
    def anew(connection: Connection) -> None:
        made = MetaData()
        made.reflect(connection)
        made.drop_all(connection)
        schema.create(connection)

    database = Database(parse_url(lasting_url))
    try:
        await database.write(fill)
        await database.write(schema.migrate)
        names = await database.read(names_in)
        await database.write(anew)
        assert names == await database.read(names_in)
    finally:
        await database.close()
    assert len(names) > 200


def names_in(connection: Connection) -> set[str]:
    """Return the names of all tables, columns, indexes and constraints, as the database has them.

    SQLite renames no constraint, so there they are left out.
    """
    look = inspect(connection)
    names: set[Any] = set()
    for table in look.get_table_names():
        names |= {table, *(f"{table}.{each['name']}" for each in look.get_columns(table))}
        names |= {each["name"] for each in look.get_indexes(table)}
        if connection.dialect.name == "postgresql":
            names |= {each["name"] for each in look.get_foreign_keys(table)}
            names |= {each["name"] for each in look.get_unique_constraints(table)}
            names.add(look.get_pk_constraint(table)["name"])
    return names


def renamed(table: str) -> str:
    """Return the present name of a table of 0.2.0."""
    if table in ("competitions", "entries"):
        return {"competitions": "tournaments", "entries": "tournament_entries"}[table]
    if table == "class_competitions":
        return "competitions"
    return re.sub("^class_", "competition_", table)


async def test_late_submissions_of_an_older_competition_end_by_its_file(old: Any) -> None:
    async with await Store.open(old[0]) as store:
        late = select(competitions.c.late_ms)
        assert await store.read(lambda c: c.execute(late).scalars().all()) == [13 * DAY_MS]


async def test_person_among_the_entries_of_an_older_competition_goes(lasting_url: str) -> None:
    def played(connection: Connection) -> None:
        fill(connection)
        connection.execute(text("UPDATE bots SET name_key = 'ada'"))

    database = Database(parse_url(lasting_url))
    try:
        await database.write(played)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        assert await store.read(lambda c: c.execute(select(competition_entries)).all()) == []
        assert (await store.read(competition_sql.list_all))[0].status == "open"


async def test_names_in_older_reasons_and_in_the_older_log_become_references(
    lasting_url: str,
) -> None:
    """Each sentence stays as it was, and follows when the account is called otherwise."""
    reason = "seat 1 (ada/Deep) ran out of time at ply 3, but seat 2 ((another entry)) cannot win."
    end = {"returns": [0.5, 0.5], "reason": reason, "on_clock": 0, "detail": "too {slow}"}
    log = (  # what, subject, its id; what it is about
        ("player.rename", "lovelace to ada", "{player}", "lovelace to ada"),
        ("player.display", "ada", "{player}", "ada"),
        ("bot.disable", "ada/Deep", "{bot}", "ada/Deep"),
        ("version.suspend", "ada/Deep version 1 (abc)", "{version}", "ada/Deep version 1 (abc)"),
        ("token.revoke", "ply_x... of ada", "{token}", "ply_x... of ada"),
        ("staff.add", "ada as reader of in {} Cup", "c", None),
        ("regrade.ask", "7 of ada in Cup", "c", None),
        ("competition.withdraw", "ada/deep from Cup: pig", "c", "ada/Deep from Cup: pig"),
        ("competition.disqualify", "ada from Cup", "c", None),
        ("competition.open", "ada", "c", None),
        ("student.code", "ada for Cup", "c", None),
        ("student.reissue-token", "Ada von in Cup", "{competition}", None),
    )

    def played(connection: Connection) -> None:
        fill(connection)
        made = MetaData()
        made.reflect(connection)
        first = {
            name: dict(connection.execute(select(made.tables[name])).one()._mapping)
            for name in ("players", "bots", "versions", "tokens", "class_members", "audit")
        }
        ids = {name: str(first[f"{name}s"]["id"]) for name in ("player", "bot", "version", "token")}
        ids["competition"] = first["class_members"]["competition_id"
            if "competition_id" in first["class_members"] else "class_id"]  # fmt: skip
        for change in (
            "bots SET name = 'Deep', name_key = 'deep'",
            "versions SET label = '1', digest = 'abc'",
            "class_members SET name = 'Ada von'",
            "match_seats SET seat = 0",
        ):
            connection.execute(text(f"UPDATE {change}"))
        void = "ADA/deep had help, ada/deeper had none."
        kept = {"reason": reason, "void_reason": void}
        connection.execute(made.tables["matches"].update().values(kept))
        connection.execute(made.tables["events"].update().values(kind="end", data=json.dumps(end)))
        table = made.tables["audit"]
        connection.execute(table.delete())
        for number, (what, subject, subject_id, _) in enumerate(log, start=1):
            entry = {"what": what, "subject": subject, "subject_id": subject_id.format(**ids)}
            who = "Lovelace" if number == 1 else "ada" if number == 2 else "root (command line)"
            row = {**first["audit"], "who": who, "old_name": None, **entry}
            del row["id"]
            connection.execute(table.insert().values(row))

    database = Database(parse_url(lasting_url))
    try:
        await database.write(played)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        rows = await store.read(lambda c: c.execute(select(matches)).all())
        events_now = await store.read(lambda c: c.execute(select(events)).all())
        ada, other = Holder("ada", "Deep"), Holder("(another entry)", "")
        (match,), (event,) = rows, events_now
        data = end_data(EventRow(event.match_id, 0, "end", 3, 0, "flag_fall", data=event.data))
        for cause in (decoded(match.reason), data.cause):
            assert cause.sentence([ada, other]) == reason
            assert "ada" not in cause.encoded()
            assert cause.sentence([other, ada]) == (
                "seat 1 ((another entry)) ran out of time at ply 3, but seat 2 (ada/Deep) "
                "cannot win."
            )
        assert (data.returns, data.on_clock, data.detail) == ((0.5, 0.5), 0, "too {slow}")
        void = decoded(match.void_reason).sentence([Holder("x", "y")])
        assert void == "x/y had help, ada/deeper had none."
        entries = {each.what: each for each in await store.read(audit.latest)}
        assert {each.what: each.subject for each in entries.values()} == {
            what: shown or subject for what, subject, _, shown in log
        }
        assert [entries[what].who for what, *_ in log[:3]] == ["ada", "ada", "root (command line)"]
        by = By("ada")
        await store.write(people_changes.rename_player, "ada", "eve", by, 1)
        again = {each.what: each for each in await store.read(audit.latest, 12)}
        assert again["player.display"].subject == "ada", "entries have the names of their time"
        stored = await store.read(lambda c: c.execute(select(newest_audit)).all())
        naming = [each.what for each in stored if "ada" in f"{each.who} {each.subject}".lower()]
        assert sorted(naming) == ["competition.open", "student.code"], "words, which name nobody"


async def test_no_server_of_the_older_version_holds_the_migrated_database(old: Any) -> None:
    async with await Store.open(old[0]) as store:
        assert await store.read(lambda c: c.execute(select(leases)).all()) == []


async def test_migrated_database_gives_no_id_twice(old: Any) -> None:
    async with await Store.open(old[0]) as store:
        with pytest.raises(AlreadyExists):
            await store.add_player("ADA")
        with pytest.raises(StorageError):
            await store.ensure_bot(999, "lost")
        last = (await store.add_player("cy")).id
        await store.write(lambda c: c.execute(delete(players).where(players.c.id == last)))
        assert (await store.add_player("di")).id > last


@pytest.mark.parametrize("migrate", [True, False])
async def test_database_before_the_oldest_version_is_refused(
    lasting_url: str, migrate: bool
) -> None:
    database = await Database.open(lasting_url)
    await database.write(lambda c: c.execute(text("UPDATE plyhouse_schema SET version_num='0017'")))
    await database.close()
    with pytest.raises(OlderSchema, match=r"open it once with Plyhouse 0\.2\.0, then with this"):
        await Store.open(lasting_url, migrate=migrate)
