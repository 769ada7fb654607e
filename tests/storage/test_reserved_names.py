"""Names of the server's own accounts, on every path that makes or renames an account."""

from __future__ import annotations

import pytest
from tests.harness.competition_rows import OLGA, cup

from plyhouse.storage import (
    competition_sql,
    competition_students,
    people,
    people_changes,
    sessions,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.competition_students import ALL
from plyhouse.storage.errors import CompetitionRefusal, DisplayTaken, InvalidName
from plyhouse.storage.store import Store

RESERVED = (
    *("house", "Plyhouse", "house-bots", "house_bots", "guest", "Guest-x", "guest.fox", "erased-1"),
    *("admin", "Administrator", "server", "system", "chance", "-house"),
    "\u0455\u0443\u0455\u0442\u0435\u043c",  # "system" in Cyrillic letters
    "\u13da\u13ac\u13a1\u13d9\u13ac\u13a1",  # "SERVER" in Cherokee letters
    "\ua4e7\ua4f3\ua4f4\ua4e2\ua4f0",  # "HOUSE" in Lisu letters
    "pIyhouse",
    "adm\u0131n",
)


@pytest.mark.parametrize("name", RESERVED)
async def test_reserved_name_is_refused_wherever_an_account_is_made_or_renamed(
    store: Store, name: str
) -> None:
    await store.add_player("ada")
    await store.write(competition_sql.create, cup(), (), OLGA)
    now = store.now()
    made = (
        lambda c: people.add_player(c, name, now),
        lambda c: sessions.sign_up(c, name, "", "hash", now),
        lambda c: people_changes.rename_player(c, "ada", name, OLGA, now),
        lambda c: competition_students.take_in(
            c, "Cup", [NewMember("bob", "bob"), NewMember(name, name)], OLGA, now
        ),
    )
    for write in made:
        with pytest.raises(InvalidName, match="is reserved"):
            await store.write(write)
    assert [each.name for each in await store.read(people.list_players)] == ["ada"]
    with pytest.raises(DisplayTaken, match="looks like 'plyhouse'"):
        await store.add_player("eve", "PLY house!")


async def test_account_of_the_server_is_no_student(store: Store) -> None:
    """Staff could reissue its token, also after it was renamed."""
    await store.write(competition_sql.create, cup(), (), OLGA)
    await store.write(sessions.special, "house", ("house",), store.now())
    await store.write(people_changes.rename_player, "house", "robots", OLGA, store.now())
    await store.write(sessions.add_guest, ["guest-a"], 1000, store.now())
    for name in ("robots", "guest-a"):
        with pytest.raises(CompetitionRefusal, match="is an account of the server itself"):
            await store.write(
                competition_students.take_in,
                "Cup",
                [NewMember(name, name)],
                OLGA,
                store.now(),
                adopt=[ALL],
            )


@pytest.mark.parametrize(
    "name", ["\u0251dmin", "\u0261uest-1", "\u029c\u1d0f\u1d1c\ua731\u1d07", "ada\u01c0"]
)
async def test_name_with_phonetic_letters_or_small_capitals_is_refused(
    store: Store, name: str
) -> None:
    await store.add_player("ada")
    with pytest.raises(InvalidName, match="cannot contain"):
        await store.add_player(name)
    with pytest.raises(DisplayTaken, match="looks like 'ada'"):
        await store.add_player("eve", "\u0251d\u1d00")
