"""Names in any script: what may name a player or bot, and which names are the same."""

from __future__ import annotations

import pytest
from tests.storage.conftest import World

from plyhouse.protocol.parts import LONGEST_NAME
from plyhouse.storage import people
from plyhouse.storage.errors import AlreadyExists, InvalidName
from plyhouse.storage.names import (
    key_of,
    lookalikes,
    looks,
    name_problem,
    normal,
    without_accents,
)

SCRIPTS = (
    *("Ольга", "Ελένη", "Հայկ", "עומר", "محمد", "नमस्ते", "বাংলা", "ไทยน้ำ", "李雷", "たろう"),
    *("タロー", "김철수", "ქართული", "አማርኛ", "Zoë", "Nguyễn", "badger-7", "山田.bot_2", "日本語AI"),
)
REFUSED = (
    *("", "-", "a b", "a/b", "a\u0000", "a\u202eb", "a\u200bb", "a\u200db", "\u3164", "a\ufe0f"),
    *(
        "\u0301a",
        "p\u0430ypal",
        "\uff41da",
        "\u24d0",
        "\ufb01n",
        "a\u0585",
        "x" * 33,
        "\u0130" * 20,
    ),
)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_name_of_any_script_names_a_player_and_a_bot(world: World, name: str) -> None:
    row = await world.store.add_player(name)
    assert row.name == normal(name)
    assert await world.store.read(people.player, name.upper()) == row
    assert (await world.store.ensure_bot(row.id, name)).name == row.name
    with pytest.raises(AlreadyExists):
        await world.store.add_player(name.swapcase())


@pytest.mark.parametrize("name", REFUSED)
async def test_a_name_that_hides_or_mixes_something_is_refused(world: World, name: str) -> None:
    with pytest.raises(InvalidName):
        await world.store.add_player(name)


async def test_a_name_is_the_same_in_every_normal_form(world: World) -> None:
    row = await world.store.add_player("Zoe\u0308")
    assert row.name == "Zo\u00eb"
    assert await world.store.read(people.player, "ZOE\u0308") == row
    with pytest.raises(AlreadyExists):
        await world.store.add_player("zo\u00eb")


async def test_a_name_that_looks_like_another_one_is_refused(world: World) -> None:
    cyrillic, latin = "\u0441\u043e\u0445\u0430", "coxa"
    lisu = "\ua4da\ua4f3\ua4eb\ua4ee"
    assert lookalikes(latin) == {cyrillic, lisu}
    assert lookalikes(cyrillic) == {latin, lisu}
    await world.store.add_player(latin)
    with pytest.raises(AlreadyExists, match="looks like"):
        await world.store.add_player(cyrillic)
    await world.store.add_player("\u041e\u043b\u044c\u0433\u0430")


def test_keys_are_stable_and_short() -> None:
    for name in SCRIPTS:
        assert name_problem(normal(name)) == ""
        assert key_of(key_of(name)) == key_of(name)
        assert len(key_of(name)) <= LONGEST_NAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BOB", "\u0412\u041e\u0412"),
        ("tom", "\u0422\u041e\u041c"),
        ("BETA", "\u0392\u0395\u03a4\u0391"),
    ],
)
async def test_name_that_looks_like_another_one_in_capitals_is_refused(
    world: World, one: str, other: str
) -> None:
    await world.store.add_player(one)
    with pytest.raises(AlreadyExists, match="looks like"):
        await world.store.add_player(other)
    assert key_of(one) in lookalikes(key_of(other))
    assert key_of(other) in lookalikes(key_of(one))


def test_names_of_a_million_marks_cost_no_more_than_their_length() -> None:
    """Normal form C sorts marks by insertion: anybody's address with 10,000 took 0.1 s."""
    text = "a" + "\u0301\u0323" * 500_000
    assert key_of(text.upper()) == text
    assert name_problem(normal(text)) == f"it has to have 1 to {LONGEST_NAME} characters"
    assert without_accents(text) == "a"
    assert looks(text) == {text}
