"""The output of hosted bots: kept by match and bot, once, within bounds, as long as they exist."""

from __future__ import annotations

import pytest
from tests.storage.conftest import World

from plyhouse.storage import outputs, people, submission_sql
from plyhouse.storage.errors import Unknown
from plyhouse.storage.outputs import LEAST, MOST_PARTS


async def test_the_same_part_again_takes_its_place_and_other_machines_add_theirs(
    world: World,
) -> None:
    match = await world.play("ada", "bob", returns=(1, -1))
    ada, bob = (await world.bot("ada")).id, (await world.bot("bob")).id
    store = world.store

    async def keep(match: str, bot: int, part: str, data: bytes, at: int, crashes: int = 0) -> None:
        await store.write(outputs.keep, match, bot, part, data, at, crashes=crashes)

    await keep(match, ada, "one-1", b"first", 10)
    await keep(match, ada, "one-1", b"again", 11, crashes=2)
    await keep(match, ada, "two-1", b"elsewhere", 12)
    await keep(match, bob, "one-2", b"bob's", 13)
    rows = await store.read(outputs.of_match, match, [ada])
    assert [(row.data, row.received_ms) for row in rows] == [(b"again", 11), (b"elsewhere", 12)]
    assert [(row.player, row.seat, row.label) for row in rows] == [("ada", 0, "1")] * 2
    assert [row.player for row in await store.read(outputs.of_match, match)] == [
        "ada",
        "ada",
        "bob",
    ]
    (kept,) = await world.store.read(outputs.latest, (await world.bot("ada")).player_id)
    assert (kept.match, kept.crashes, kept.bytes) == (match, 2, 2 * LEAST)
    assert (kept.result, kept.game) == ("W", "pig")
    for number in range(MOST_PARTS):
        await keep(match, ada, f"more-{number}", b"", 20)
    assert len(await store.read(outputs.of_match, match, [ada])) == MOST_PARTS
    with pytest.raises(Unknown, match="no match"):
        await keep("nowhere", ada, "one-1", b"", 10)
    with pytest.raises(Unknown):  # it has no seat there
        await keep(match, (await world.bot("eve")).id, "one-1", b"", 10)


async def test_of_a_player_so_much_is_kept_and_the_oldest_goes_first(world: World) -> None:
    games = [await world.play("ada", "bob", returns=(1, -1)) for _ in range(4)]
    ada, bob = await world.bot("ada"), await world.bot("bob")
    for match in games:
        for bot in (ada, bob):
            await world.store.write(
                outputs.keep, match, bot.id, "a", bytes(2 * LEAST), 10, most_bytes=5 * LEAST
            )
    for bot in (ada, bob):
        latest = await world.store.read(outputs.latest, bot.player_id, bot.id)
        assert [each.match for each in latest] == games[:1:-1]
    # Repeated output is not newer, and larger output drives out other output.
    await world.store.write(
        outputs.keep, games[3], ada.id, "a", bytes(4 * LEAST), 10, most_bytes=5 * LEAST
    )
    assert [each.match for each in await world.store.read(outputs.latest, ada.player_id)] == games[
        3:
    ]


async def test_it_goes_with_the_submission_that_printed_it(world: World) -> None:
    store = world.store
    await world.bot("ada")
    player = await store.read(people.player, "ada")
    bot = await store.ensure_bot(player.id, "mine", "bot")
    row = await store.submissions.add(bot.id, "", "a" * 64, b"zip", 1000)
    world.bots["ada"] = bot, row.version_id
    match = await world.play("ada", "bob", returns=(1, -1))
    await store.write(outputs.keep, match, bot.id, "a", b"printed", 10)
    await store.write(outputs.keep, match, (await world.bot("bob")).id, "a", b"bob's", 10)
    await store.write(submission_sql.remove, row.id)
    assert [each.player for each in await store.read(outputs.of_match, match)] == ["bob"]
