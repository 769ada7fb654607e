"""Databases copied from kind to kind, backed up, checked and brought up to date."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, Table, select
from tests.tournaments import add_tournament

from plyhouse.storage import (
    competition_messages,
    competition_sql,
    competition_staff,
    competition_students,
    join_codes,
    leaderboards,
    maintenance,
    outputs,
    people,
    people_changes,
    schema,
    sessions,
    suspensions,
)
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow, NewMember
from plyhouse.storage.database import Database
from plyhouse.storage.errors import (
    AlreadyExists,
    CannotOpen,
    NotADatabase,
    OlderSchema,
    ServedAlready,
)
from plyhouse.storage.models import metadata, pairings
from plyhouse.storage.rows import By, EventRow, TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.urls import parse_url


class Rating:
    elo, low, high = 12.5, -3.0, 28.0


async def fill(world: Any) -> None:
    """Put something into every table."""
    await world.play("ada", "bob", returns=(1.0, -1.0))
    await world.play("bob", "cyd", returns=(0.0, 0.0), game="pig(target=50)")
    ada = (await world.bot("ada")).id
    row = TournamentRow("cup", "Größe", "pig", "move:1", "round_robin", 1, True, True, 5)
    players = [(await world.bot(name)).player_id for name in ("ada", "bob")]
    programs = [(await world.store.ensure_bot(each, "deep")).id for each in players]
    await add_tournament(world.store, row, programs)
    match_id, new = await world.new("ada", "bob", tournament_id="cup")
    rows = [EventRow(match_id, n, "act", n, n % 2, "é", 2**62, 1, 2, 3, -4, "{}") for n in range(3)]
    await world.store.apply([*new, *rows])
    await world.store.write(leaderboards.save_ratings, "pig", {ada: Rating()}, world.store.now())
    await world.store.add_token("ada", ("play", "organise"), "laptop")
    await world.store.write(
        people_changes.disable_player, "ada", By("olga", "away"), world.store.now()
    )
    await world.store.write(people_changes.enable_player, "ada", By("olga"), world.store.now())
    await world.store.write(
        suspensions.suspend, await world.version("ada"), "it failed", world.store.now()
    )
    await fill_competition(world.store, programs[0])
    await world.store.submissions.add(programs[0], "", "d" * 64, b"PK", 5, competition="course")
    await world.store.write(outputs.keep, match_id, ada, "part", b"[]", 5)
    await world.store.write(sessions.add_guest, ["guest-sly-fox-417"], 3_600_000, world.store.now())
    await world.store.write(sessions.sign_up, "zoe", "", "a hash", world.store.now())


async def fill_competition(store: Store, bot: int) -> None:
    """A competition, a student in it, an entry and a code."""
    games = (CompetitionGame(0, "pig", None),)
    course = CompetitionRow("course", "Größe", "x = 1", "round_robin", "open", 1, 9, 5, games=games)
    await store.write(competition_sql.create, course, [bot], By("olga"))
    await store.write(
        competition_students.take_in, "course", [NewMember("eva", "eva")], By("olga"), store.now()
    )
    await store.write(join_codes.add_code, "course", By("olga"), store.now(), uses=3, group="eva")
    await store.write(competition_messages.announce, "course", "Welcome!", By("olga"), store.now())
    await store.write(competition_staff.add, "course", "bob", "owner", By("olga"), store.now())
    eva = await store.read(people.player, "eva")
    await store.write(
        competition_messages.ask, "course", eva.id, "Please look again.", None, store.now()
    )


def copied(table: Table) -> Select[Any]:
    return select(*(column for column in table.c if column is not pairings.c.owner))


async def everything(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, without the owners of pairings, which no copy has."""
    database = await Database.open(url, migrate=False)
    try:
        return await database.read(
            lambda c: {
                table.name: sorted(map(tuple, c.execute(copied(table))), key=repr)
                for table in maintenance.TABLES
            }
        )
    finally:
        await database.close()


def test_all_tables_are_copied_but_the_facts_about_the_database() -> None:
    not_copied = {"cluster_batches", "leaders", "leases", "meta"}
    assert {table.name for table in maintenance.TABLES} == set(metadata.tables) - not_copied


async def test_a_copy_has_everything_and_goes_on(
    lasting_url: str, world_at: Any, tmp_path: Path
) -> None:
    async with world_at(lasting_url) as world:
        await fill(world)
    before = await everything(lasting_url)
    assert all(before.values()), "every table has something to lose"
    there = f"sqlite:///{tmp_path / 'copy.db'}"
    seen: dict[str, int] = {}
    rows = await maintenance.copy(lasting_url, there, seen.__setitem__)
    assert rows == sum(map(len, before.values())) == sum(seen.values())
    assert await everything(there) == before
    assert await everything(lasting_url) == before


@pytest.mark.postgresql
async def test_from_sqlite_to_postgresql_and_back(
    postgres_url: str, world_at: Any, tmp_path: Path
) -> None:
    first, last = (f"sqlite:///{tmp_path / name}.db" for name in "ab")
    async with world_at(first) as world:
        await fill(world)
    before = await everything(first)
    await maintenance.copy(first, postgres_url)
    await maintenance.copy(postgres_url, last)
    assert await everything(postgres_url) == await everything(last) == before
    async with await Store.open(postgres_url) as store:
        dan = await store.add_player("dan")  # ids go on after those copied
        assert dan.id == max(row[0] for row in before["players"]) + 1
        await store.ensure_bot(dan.id, "")
    assert await maintenance.check(postgres_url) == []


async def test_only_an_empty_database_is_copied_into(
    lasting_url: str, world_at: Any, tmp_path: Path
) -> None:
    source = f"sqlite:///{tmp_path / 'source.db'}"
    async with world_at(source) as world:
        await fill(world)
    async with await Store.open(lasting_url) as store:
        await store.add_player("zoe")
    before = await everything(lasting_url)
    with pytest.raises(AlreadyExists, match=r"is not empty \(there is something in players\)"):
        await maintenance.copy(source, lasting_url)
    assert await everything(lasting_url) == before


async def test_a_copy_that_fails_leaves_nothing(
    lasting_url: str, world_at: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    source = f"sqlite:///{tmp_path / 'source.db'}"
    async with world_at(source) as world:
        await fill(world)

    def stop(table: str, _: int) -> None:
        if table == "events":
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await maintenance.copy(source, lasting_url, stop)
    assert not any((await everything(lasting_url)).values())
    await maintenance.copy(source, lasting_url)


async def test_nothing_is_copied_beside_a_server(lasting_url: str, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    async with await Store.open(lasting_url) as server:
        await server.claim()
        for source, target in ((lasting_url, other), (other, lasting_url)):
            async with await Store.open(other):
                pass
            with pytest.raises(ServedAlready):
                await maintenance.copy(source, target)


async def test_what_cannot_be_copied_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="there is no database"):
        await maintenance.copy(f"sqlite:///{tmp_path / 'no.db'}", "sqlite:///:memory:")
    (tmp_path / "text.db").write_text("x" * 5000)
    with pytest.raises(NotADatabase):
        await maintenance.copy(
            f"sqlite:///{tmp_path / 'text.db'}", f"sqlite:///{tmp_path / 'b.db'}"
        )
    async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}"):
        pass
    with pytest.raises(CannotOpen, match="would be gone at once"):
        await maintenance.copy(f"sqlite:///{tmp_path / 'a.db'}", "sqlite:///:memory:")


async def test_a_backup_is_one_whole_file_made_beside_a_server(
    lasting_url: str, world_at: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    async with world_at(lasting_url) as world:
        await world.store.claim()
        await fill(world)
        await maintenance.backup(lasting_url, folder / "one.db")
        before = await everything(lasting_url)
        await world.store.add_player("late")
    assert [path.name for path in folder.iterdir()] == ["one.db"]
    assert stat.S_IMODE((folder / "one.db").stat().st_mode) == 0o600
    copy = f"sqlite:///{folder / 'one.db'}"
    assert await everything(copy) == before
    assert await maintenance.check(copy) == []
    with pytest.raises(AlreadyExists, match="give the name of a new file"):
        await maintenance.backup(lasting_url, folder / "one.db")
    with pytest.raises(CannotOpen, match="create it first"):
        await maintenance.backup(lasting_url, folder / "none" / "one.db")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("DELETE FROM events WHERE idx = 1", "has 2 events and the last is number 2"),
        ("UPDATE standings SET games = games + 1", "counts 2 matches of ada, who played 1"),
        ("UPDATE pairings SET finished_ms = 7", "is over, and 1 of its matches are not"),
        ("DELETE FROM tournament_entries", "Competition cup is running with 0 entries"),
        ("DELETE FROM match_seats", "The leaderboard of pig counts 1 matches of ada"),
        ("DELETE FROM players", "refers to nothing in players"),
    ],
)
async def test_damage_is_found(world_at: Any, tmp_path: Path, damage: str, says: str) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with world_at(url) as world:
        await fill(world)
    assert await maintenance.check(url) == []
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(damage)
        connection.commit()
    assert any(says in line for line in await maintenance.check(url))


async def test_an_upgrade_says_from_where_to_where(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    (tmp_path / "a.db").touch()
    with pytest.raises(CannotOpen, match="has no tables yet"):
        await maintenance.upgrade(url)
    async with await Store.open(url):
        pass
    assert await maintenance.upgrade(url) == (schema.HEAD, schema.HEAD)


async def test_an_older_database_is_upgraded_unless_it_is_served(
    tmp_path: Path, monkeypatch: Any
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with await Store.open(url) as store:
        await store.claim()
        head = schema.HEAD
        monkeypatch.setattr(schema, "HEAD", "9999")
        monkeypatch.setattr(schema, "KNOWN", (*schema.KNOWN, "9999"))
        with pytest.raises(OlderSchema):
            await maintenance.check(url)
        with pytest.raises(ServedAlready):
            await maintenance.upgrade(url)
    monkeypatch.setattr(
        schema,
        "migrate",
        lambda c: c.exec_driver_sql(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'"),
    )
    before, after = await maintenance.upgrade(url)
    assert (before, after) == (head, "9999")
    assert await maintenance.upgrade(url) == ("9999", "9999")


@pytest.mark.postgresql
async def test_older_postgresql_database_is_claimed_and_upgraded(postgres_url: str) -> None:
    """The lease of the claim is in a schema that has no columns for clusters yet."""
    database = Database(parse_url(postgres_url))
    await database.write(lambda c: schema.migrate(c, "0019"))
    await database.close()
    assert await maintenance.upgrade(postgres_url) == ("0019", schema.HEAD)
