from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plyhouse.storage import models, people, personal_data
from plyhouse.storage.errors import (
    AlreadyExists,
    DatabaseReadOnly,
    InvalidName,
    InvalidScope,
    TokenRevoked,
    Unknown,
)
from plyhouse.storage.store import Store


async def test_a_player_is_found_by_name_in_any_case(store: Store, clock: Any) -> None:
    made = await store.add_player("Ada.L-1_")
    assert made.created_ms == clock.now
    assert await store.read(people.player, "ada.l-1_") == made
    assert await store.read(people.list_players) == [made]


async def test_a_name_is_taken_whatever_its_case(store: Store) -> None:
    await store.add_player("Ada")
    with pytest.raises(AlreadyExists, match="there is a player 'Ada' already"):
        await store.add_player("ADA")


async def test_an_unknown_player_is_named(store: Store) -> None:
    with pytest.raises(Unknown, match=r"no player 'eve'.*plyhouse admin player add NAME"):
        await store.read(people.player, "eve")


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "x" * 33, "..", "a/b", "a\n", "<b>", "\x00"],
)
async def test_names_of_another_form_are_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidName, match="1 to 32 letters"):
        await store.add_player(name)


async def test_a_token_tells_who_and_what(store: Store) -> None:
    ada = await store.add_player("Ada")
    token = await store.add_token("ada", ["admin", "play"], "laptop")
    identity = await store.authenticate(token)
    assert identity is not None
    assert (identity.player_id, identity.player) == (ada.id, "Ada")
    assert identity.scopes == {"play", "admin"}
    assert token.startswith("ply_")
    assert len(token) >= 4 + 43  # 32 bytes in base64


@pytest.mark.parametrize("token", ["", "ply_", "ply_" + "x" * 43, "\ud800", "x" * 100_000])
async def test_a_token_of_nobody_is_nobody(store: Store, token: Any) -> None:
    assert await store.authenticate(token) is None


async def test_tokens_are_not_stored_in_the_clear(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        await store.add_player("Ada")
        token = await store.add_token("Ada")
    stored = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))  # noqa: ASYNC240 - a test
    assert b"Ada" in stored
    assert token.encode() not in stored
    assert token[12:].encode() not in stored


@pytest.mark.parametrize("how", ["id", "prefix", "token"])
async def test_a_revoked_token_is_refused_as_such(store: Store, clock: Any, how: Any) -> None:
    ada = await store.add_player("Ada")
    token = await store.add_token(ada)
    other = await store.add_token(ada)
    (row, _) = await store.read(people.list_tokens, ada.id)
    clock.now += 5
    keys: dict[str, int | str] = {"id": row.id, "prefix": row.prefix, "token": token}
    revoked = await store.write(people.revoke_token, keys[how], store.now())
    assert revoked.revoked_ms == clock.now
    with pytest.raises(TokenRevoked, match=r"was revoked; ask for a new one"):
        await store.authenticate(token)
    assert await store.authenticate(other) is not None
    clock.now += 5
    assert (
        await store.write(people.revoke_token, row.id, store.now())
    ).revoked_ms == clock.now - 5  # the first time counts


@pytest.mark.parametrize("key", ["", "ply_", "%", "nothing", 99, "ply_" + "x" * 43])
async def test_revoking_needs_exactly_one_token(store: Store, key: Any) -> None:
    ada = await store.add_player("Ada")
    await store.add_token(ada)
    await store.add_token(ada)
    with pytest.raises(Unknown, match=r"token fits|token may fit"):
        await store.write(people.revoke_token, key, store.now())


@pytest.mark.parametrize("key", ["", "p", "ply_"])
async def test_what_all_tokens_begin_with_revokes_not_even_the_only_one(
    store: Store, key: str
) -> None:
    ada = await store.add_player("Ada")
    token = await store.add_token(ada)
    with pytest.raises(Unknown, match="give the whole token, or the beginning of it"):
        await store.write(people.revoke_token, key, store.now())
    assert await store.authenticate(token) is not None


@pytest.mark.parametrize("scopes", [[], ["root"], ["play", "root"]])
async def test_scopes_that_do_not_exist_are_refused(store: Store, scopes: Any) -> None:
    ada = await store.add_player("Ada")
    with pytest.raises(InvalidScope, match="play, runner, organise, admin"):
        await store.add_token(ada, scopes)


async def test_use_is_noted_once_a_minute(store: Store, clock: Any) -> None:
    ada = await store.add_player("Ada")
    token = await store.add_token(ada)
    used = []
    for step in (0, 59_999, 1):
        clock.now += step
        await store.authenticate(token)
        if behind := store._database._tasks:  # nobody who authenticates waits for the note
            await asyncio.wait(behind)
        (row,) = await store.read(people.list_tokens, ada.id)
        assert row.last_used_ms is not None
        used.append(row.last_used_ms - 1_000_000)
    assert used == [0, 0, 60_000]


async def test_bots_and_versions_are_made_once(store: Store) -> None:
    ada = await store.add_player("Ada")
    bob = await store.add_player("Bob")
    fish = await store.ensure_bot(ada.id, "Fish")
    assert await store.ensure_bot(ada.id, "fish", "human") == fish
    assert (fish.player, fish.name, fish.kind) == ("Ada", "Fish", "bot")
    assert (await store.ensure_bot(bob.id, "fish")).id != fish.id
    own = await store.ensure_bot(ada.id, "", "human")
    assert own.name == "Ada"
    assert await store.read(people.list_bots, ada.id) == [own, fish]
    assert await store.read(people.bot, own.id) == own
    one = await store.ensure_version(fish.id, "1.0")
    assert await store.ensure_version(fish.id, "1.0") == one
    assert await store.ensure_version(fish.id, "1.1") != one


async def test_many_at_once_make_one_bot(store: Store) -> None:
    ada = await store.add_player("Ada")
    rows = await asyncio.gather(*(store.ensure_bot(ada.id, "x") for _ in range(8)))
    assert len({row.id for row in rows}) == 1
    ids = await asyncio.gather(*(store.ensure_version(rows[0].id, "1") for _ in range(8)))
    assert len(set(ids)) == 1


async def test_a_bot_needs_its_player(store: Store) -> None:
    with pytest.raises((Unknown, InvalidName)):
        await store.ensure_bot(77, "")
    with pytest.raises(Unknown):
        await store.ensure_bot(77, "x")


@pytest.mark.parametrize("label", ["x" * 101, "a\nb", "\x00", "\ud800"])
async def test_labels_are_short_and_printable(store: Store, label: Any) -> None:
    ada = await store.add_player("Ada")
    bot = await store.ensure_bot(ada.id, "")
    with pytest.raises(InvalidName, match="cannot label a token"):
        await store.add_token(ada, ["play"], label)
    with pytest.raises(InvalidName, match="cannot label a version"):
        await store.ensure_version(bot.id, label)
    await store.ensure_version(bot.id, "é" * 100)


async def test_read_of_a_query_that_writes_is_refused(store: Store) -> None:
    with pytest.raises(DatabaseReadOnly):
        await store.read(people.add_player, "ann", 1)
    await store.write(people.add_player, "bob", 1)
    assert [each.name for each in await store.read(people.list_players)] == ["bob"]


async def test_data_of_an_account_have_every_column_of_its_table(store: Store) -> None:
    await store.add_player("Ada")
    found = await store.read(personal_data.personal_data, "ada")
    assert (found["account"], found["display"], found["disabled_ms"]) == ("Ada", "", None)
    assert set(models.players.c.keys()) - found.keys() == {"id", "name", "name_key"}
