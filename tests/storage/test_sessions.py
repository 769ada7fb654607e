"""Sessions, passwords and guests in every database."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plyhouse.protocol.api.people import PlayerAccount
from plyhouse.storage import (
    maintenance,
    match_lists,
    match_reads,
    people,
    people_changes,
    sessions,
)
from plyhouse.storage.errors import AlreadyExists, Disabled, TokenRevoked
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

if TYPE_CHECKING:
    from tests.harness.clocks import WallClock
from tests.storage.conftest import World

HOUR = 3_600_000
BY = By("organiser", "a test")


async def guest_of(world: World, name: str) -> PlayerAccount:
    """A guest that has logged in, so that it can be in matches."""
    row, _ = await world.store.write(sessions.add_guest, [name], HOUR, world.store.now())
    bot = await world.store.ensure_bot(row.id, row.name, "guest")
    world.bots[name] = bot, await world.store.ensure_version(bot.id, "")
    return row


async def test_a_session_ends_with_its_time_its_token_and_its_player(
    store: Store, clock: WallClock
) -> None:
    ada = await store.add_player("ada")
    token = await store.add_token(ada, ("play", "organise"))
    identity = await store.authenticate(token)
    assert identity is not None
    by_token = await store.write(sessions.begin, ada.id, HOUR, store.now(), identity.token_id)
    by_password = await store.write(sessions.begin, ada.id, HOUR, store.now())
    found = await store.read(sessions.find, by_token, store.now())
    assert found is not None
    assert (found.player, found.scopes) == ("ada", frozenset(("play", "organise")))
    assert (found.token_id, found.guest) == (identity.token_id, False)
    other = await store.read(sessions.find, by_password, store.now())
    assert other is not None
    assert other.scopes == {"play"}
    assert await store.read(sessions.find, by_token + "x", store.now()) is None
    assert await store.read(sessions.find, "", store.now()) is None

    await store.write(people_changes.revoke_token, token, BY, store.now())
    with pytest.raises(TokenRevoked):
        await store.read(sessions.find, by_token, store.now())
    assert await store.read(sessions.find, by_password, store.now()) is not None
    await store.write(people_changes.disable_player, "ada", BY, store.now())
    with pytest.raises(Disabled):
        await store.read(sessions.find, by_password, store.now())
    await store.write(people_changes.enable_player, "ada", BY, store.now())
    clock.now += HOUR
    assert await store.read(sessions.find, by_password, store.now()) is None
    assert await store.write(sessions.sweep, store.now()) == 2


async def test_oldest_session_of_an_account_with_many_ends(store: Store) -> None:
    ada, bob = await store.add_player("ada"), await store.add_player("bob")
    other = await store.write(sessions.begin, bob.id, HOUR, store.now())
    secrets = [
        await store.write(sessions.begin, ada.id, HOUR, store.now())
        for _ in range(sessions.MOST_OPEN + 2)
    ]
    assert len(await store.write(sessions.end_oldest, ada.id)) == 2
    assert await store.write(sessions.end_oldest, ada.id) == []
    found = [await store.read(sessions.find, each, store.now()) for each in secrets]
    assert [each is None for each in found] == [True] * 2 + [False] * sessions.MOST_OPEN
    assert await store.read(sessions.find, other, store.now()) is not None


async def test_signing_out_elsewhere_keeps_the_session_at_hand(store: Store) -> None:
    ada, bob = await store.add_player("ada"), await store.add_player("bob")
    here, there, other = [
        await store.write(sessions.begin, each.id, HOUR, store.now()) for each in (ada, ada, bob)
    ]
    kept = await store.read(sessions.find, here, store.now())
    assert kept is not None
    assert len(await store.write(sessions.end_others, ada.id, kept.session_id)) == 1
    assert await store.read(sessions.find, there, store.now()) is None
    assert await store.read(sessions.find, other, store.now()) is not None
    await store.write(sessions.end, kept.session_id)
    assert await store.read(sessions.find, here, store.now()) is None


async def test_passwords_are_kept_with_their_player(store: Store) -> None:
    row = await store.write(sessions.sign_up, "Ada", "", "hash-1", store.now())
    assert await store.read(sessions.password, "ada") == (row, "hash-1")
    with pytest.raises(AlreadyExists):
        await store.write(sessions.sign_up, "ADA", "", "hash-2", store.now())
    await store.write(sessions.set_password, row.id, "hash-3", store.now())
    found = await store.read(sessions.password, "ADA")
    assert found is not None
    assert found[1] == "hash-3"
    await store.add_player("bob")
    bob = await store.read(sessions.password, "bob")
    assert bob is not None
    assert bob[1] == ""
    assert await store.read(sessions.password, "nobody") is None


async def test_password_that_was_changed_while_it_was_checked_lets_nobody_in(store: Store) -> None:
    row = await store.write(sessions.sign_up, "ada", "", "old", store.now())
    secret = await store.write(sessions.begin_by_password, row.id, "old", HOUR, store.now())
    assert secret is not None
    identity = await store.read(sessions.find, secret, store.now())
    assert identity is not None
    thief = await store.write(sessions.begin_by_password, row.id, "old", HOUR, store.now())
    assert thief is not None
    change = identity, "old", "new", store.now()
    ended = await store.write(sessions.change_password, *change)
    assert ended is not None
    assert len(ended) == 1
    assert await store.read(sessions.find, thief, store.now()) is None
    assert await store.write(sessions.begin_by_password, row.id, "old", HOUR, store.now()) is None
    assert await store.write(sessions.change_password, *change) is None
    assert not await store.write(sessions.renew_hash, row.id, "old", "old, with more costs")
    assert await store.write(sessions.renew_hash, row.id, "new", "new, with more costs")
    assert await store.read(sessions.password, "ada") == (row, "new, with more costs")


async def test_session_of_a_token_revoked_meanwhile_makes_nothing(store: Store) -> None:
    await store.add_player("ada")
    identity = await store.authenticate(token := await store.add_token("ada"))
    assert identity is not None
    await store.write(people_changes.revoke_token, token, BY, store.now())
    with pytest.raises(TokenRevoked):
        await store.write(sessions.make_token, identity, "bot", store.now())
    with pytest.raises(TokenRevoked):
        await store.write(sessions.change_password, identity, "", "new", store.now())


async def test_of_a_guest_nothing_is_left_but_what_it_played(
    world: World, clock: WallClock
) -> None:
    store = world.store
    ann = await guest_of(world, "guest-a")
    session = await store.write(sessions.begin, ann.id, HOUR, store.now())
    idle, _ = await store.write(sessions.add_guest, ["guest-a", "guest-b"], HOUR, store.now())
    assert (ann.name, idle.name) == ("guest-a", "guest-b")
    with pytest.raises(AlreadyExists):
        await store.write(sessions.add_guest, ["guest-a"], HOUR, store.now())
    identity = await store.read(sessions.find, session, store.now())
    assert identity is not None
    assert identity.guest
    assert identity.scopes == {"guest"}
    match = await world.play("guest-a", "house", returns=(1.0, -1.0), rated=False)
    assert len(await store.read(sessions.guest_ids)) == 2
    assert await store.read(sessions.expiring_guests, store.now()) == []
    assert await store.read(sessions.expiring_guests, store.now(), HOUR) == [ann.id, idle.id]
    clock.now += HOUR - 1
    await store.write(sessions.extend_guests, [ann.id], HOUR, store.now())
    clock.now += 1
    assert await store.read(sessions.expiring_guests, store.now()) == [idle.id]
    assert await store.read(sessions.find, session, store.now()) is not None

    await store.write(sessions.forget_guests, [ann.id, idle.id], store.now())
    assert await store.read(sessions.guest_ids) == []
    assert await store.read(sessions.find, session, store.now()) is None
    names = {row.name for row in await store.read(people.list_players)}
    assert names == {"house", "guest"}
    seats = (await store.read(match_reads.stored_match, match)).header.seats
    assert [(seat.player, seat.bot) for seat in seats] == [("guest", "guest"), ("house", "house")]
    # The next ones that are forgotten become the same.
    eve = await guest_of(world, "guest-e")
    other = await world.play("guest-e", "house", returns=(1.0, -1.0), rated=False)
    await store.write(sessions.forget_guests, [eve.id], store.now())
    assert {row.name for row in await store.read(people.list_players)} == names
    guest = await store.read(people.player, "guest")
    assert (
        len(await store.read(match_lists.list_matches, match_lists.MatchFilter(player_id=guest.id)))
        == 2
    )
    assert other != match


async def test_roles_are_not_had_by_name(store: Store) -> None:
    await store.write(lambda c: people.add_player(c, "House", 1, own=True))  # long ago
    row = await store.write(sessions.special, "house", ("house", "house-bots"), store.now())
    assert row.name == "house-bots"
    assert await store.write(sessions.special, "house", ("house", "house-bots"), store.now()) == row
    first = await store.write(sessions.only_token, row.id, "bots", store.now(), 0)
    second = await store.write(sessions.only_token, row.id, "bots", store.now(), 0)
    assert await store.authenticate(first) is None
    found = await store.authenticate(second)
    assert found is not None
    assert (found.player, found.scopes) == ("house-bots", frozenset(("play",)))


@pytest.mark.postgresql
async def test_token_of_a_server_ends_with_the_server(postgres_url: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        one, two, three = [
            await stack.enter_async_context(await Store.open(postgres_url)) for _ in range(3)
        ]
        row = await one.write(sessions.special, "house", ("house",), one.now())

        async def token_for(store: Store) -> str:
            await store.claim(shared=True)
            return await store.write(sessions.only_token, row.id, "bots", store.now(), store.epoch)

        first, second = await token_for(one), await token_for(two)
        assert await one.authenticate(first) is not None
        assert await one.authenticate(second) is not None
        await one.close()
        third = await token_for(three)
        assert await three.authenticate(first) is None
        assert await three.authenticate(second) is not None
        assert await three.authenticate(third) is not None


async def test_roles_stay_when_a_database_is_copied(lasting_url: str, tmp_path: Path) -> None:
    copied = f"sqlite:///{tmp_path / 'copy.db'}"
    async with await Store.open(lasting_url) as store:
        house = await store.write(sessions.special, "house", ("house",), store.now())
    await maintenance.copy(lasting_url, copied)
    async with await Store.open(copied) as store:
        assert await store.write(sessions.special, "house", ("house",), store.now()) == house
