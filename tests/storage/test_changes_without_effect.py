"""Changes to the value that something has already, which store nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, func, select
from tests.harness.competition_rows import OLGA, cup

from plyhouse.storage import (
    audit,
    competition_changes,
    competition_messages,
    competition_sql,
    competition_staff,
    competition_students,
    people,
    people_changes,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.models import audit as audit_table
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

UNTIL = 10**14


def entries(connection: Connection) -> int:
    query = select(func.count()).select_from(audit_table)
    return int(connection.execute(query).scalar_one())


async def disabled(store: Store, now: int) -> None:
    await store.write(people_changes.disable_player, "ada", OLGA, now, True)


async def enabled(store: Store, now: int) -> None:
    await store.write(people_changes.enable_player, "ada", OLGA, now)


async def displayed(store: Store, now: int) -> None:
    await store.write(people_changes.set_display, "ada", " Ada L. ", By("ada"), now)


async def bot_disabled(store: Store, now: int) -> None:
    await store.write(people_changes.disable_bot, "ada", "deep", OLGA, now, True)


async def bot_enabled(store: Store, now: int) -> None:
    await store.write(people_changes.enable_bot, "ada", "deep", OLGA, now)


async def revoked(store: Store, now: int) -> None:
    (token,) = await store.read(people.list_tokens, (await store.read(people.player, "ada")).id)
    await store.write(people_changes.revoke_token, token.id, OLGA, now)


async def employed(store: Store, now: int) -> None:
    added = await store.write(competition_staff.add, "Cup", "ada", "reader", OLGA, now)
    assert added.since_ms == 1


async def extended(store: Store, now: int) -> None:
    await store.write(competition_students.extend, "Cup", "ada", UNTIL, OLGA, now)


async def limited(store: Store, now: int) -> None:
    await store.write(competition_students.allow, "Cup", 17, OLGA, now)


async def withdrawn(store: Store, now: int) -> None:
    await store.write(competition_students.withdraw, "Cup", "ada/deep", OLGA, now)


async def taken_out(store: Store, now: int) -> None:
    await store.write(competition_students.withdraw, "Cup", "ada", OLGA, now)


async def disqualified(store: Store, now: int) -> None:
    await store.write(competition_students.disqualify, "Cup", "ada", OLGA, now)


async def restored(store: Store, now: int) -> None:
    await store.write(competition_students.restore, "Cup", "ada", OLGA, now)


async def changed(store: Store, now: int) -> None:
    row = await store.read(competition_sql.find, "Cup")
    after = competition_changes.Changed(row, [])
    await store.write(competition_changes.apply, row, after, OLGA, now)


async def answered(store: Store, now: int) -> None:
    row = await store.read(competition_sql.find, "Cup")
    ada = await store.read(people.player, "ada")
    asked = await store.read(competition_messages.requests, row.id)
    if not asked:
        asked = [await store.write(competition_messages.ask, row.id, ada.id, "why?", None, now)]
    await store.write(competition_messages.answer, row.id, asked[0].id, "so", OLGA, now)


@pytest.mark.parametrize(
    "change",
    [disabled, enabled, displayed, bot_disabled, bot_enabled, revoked, employed, extended,
     limited, withdrawn, taken_out, disqualified, restored, changed, answered],
)  # fmt: skip
async def test_change_to_the_same_value_is_not_noted(store: Store, change: object) -> None:
    assert callable(change)
    ada = await store.add_player("ada")
    await store.add_token("ada")
    bot = await store.ensure_bot(ada.id, "deep")
    await store.write(competition_sql.create, cup(), (), OLGA)
    people_in = [NewMember("ada", "ada")]
    await store.write(competition_students.take_in, "Cup", people_in, OLGA, 1, None, ["ada"])
    await store.log_in(bot, "1", digest="aaaa1111")
    await change(store, 1)
    before = await store.read(entries)
    await change(store, 2)
    assert await store.read(entries) == before, await store.read(audit.latest)


async def test_name_that_stays_is_not_noted(store: Store) -> None:
    await store.add_player("ada")
    await store.write(people_changes.rename_player, "ada", "ada", OLGA, 1)
    assert await store.read(entries) == 0
