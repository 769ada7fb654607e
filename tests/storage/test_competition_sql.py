"""Competitions in the database: students, codes, versions, the freeze, the final."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.harness.competition_rows import OLGA, START, cup, game, refused
from tests.harness.statements import statements

from plyhouse.protocol.api.competitions import Joining
from plyhouse.storage import (
    audit,
    class_lists,
    competition_entries,
    competition_sql,
    competition_students,
    join_codes,
    tournaments,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import (
    AlreadyExists,
    CompetitionRefusal,
    InvalidName,
    StorageError,
    Unknown,
)
from plyhouse.storage.models import competition_entries as entry_table
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store


async def owner(store: Store, token: str) -> str:
    identity = await store.authenticate(token)
    return "" if identity is None else identity.player


async def ada(store: Store, label: str = "1", digest: str = "aaaa1111", bot: str = "deep") -> int:
    """Ada's bot connects; returns its version."""
    row = await store.ensure_bot((await store.read(stored_people.player, "ada")).id, bot)
    return await store.log_in(row, label, digest=digest)


async def entry(store: Store) -> Any:
    (found,) = await store.read(competition_sql.entries_of, "id-cup")
    return found


@pytest.fixture
async def opened(store: Store) -> Store:
    """The classes of a store in which there is an open cup with ada in it."""
    await store.write(competition_sql.create, cup(), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now()
    )
    return store


# -------------------------------------------------------------------------- competitions


async def test_a_competition_is_made_whole_and_found_by_name_or_id(store: Store) -> None:
    staff = await store.add_player("staff")
    bot = await store.ensure_bot(staff.id, "random")
    version = await store.log_in(bot, "7")
    await store.write(competition_sql.create, cup(), [bot.id], OLGA)
    found = await store.read(competition_sql.find, "CUP")
    assert found == await store.read(competition_sql.find, "id-cup") == cup()
    baseline = await entry(store)
    assert (baseline.name, baseline.version_id, baseline.baseline) == (
        "staff/random",
        version,
        True,
    )
    assert [row.name for row in await store.read(competition_sql.list_all)] == ["Cup"]
    assert [row.what for row in await store.read(audit.latest)] == ["competition.open"]


async def test_no_two_competitions_have_one_name(store: Store) -> None:
    await store.write(competition_sql.create, cup(), (), OLGA)
    said = await refused("name_taken", store.write(competition_sql.create, cup("CUP"), (), OLGA))
    assert "'CUP' already, which is open" in said
    await store.write(competition_sql.move, "cup", "delete", OLGA, store.now())
    assert await store.read(competition_sql.list_all) == []
    await store.write(competition_sql.create, cup("CUP", id="second"), (), OLGA)
    with pytest.raises(Unknown, match="no competition 'kup'; there is 'CUP'"):
        await store.read(competition_sql.find, "kup")


async def test_a_competition_goes_its_way_and_no_other(opened: Store) -> None:
    assert "freeze it first" in await refused(
        "not_now", opened.write(competition_sql.begin, "id-cup", [], [], OLGA, opened.now())
    )
    await refused("not_now", opened.write(competition_sql.move, "Cup", "pause", OLGA, opened.now()))
    assert (
        await opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    ).status == "frozen"
    assert "frozen already" in await refused(
        "not_now", opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    )
    assert "frozen, and cannot be open" in await refused(
        "not_now", opened.write(competition_sql.move, "Cup", "open", OLGA, opened.now())
    )


async def test_the_final_begins_in_few_statements_and_all_at_once(store: Store) -> None:
    await store.write(competition_sql.create, cup(), (), OLGA)
    people = [NewMember(f"s{number}", f"s{number}") for number in range(40)]
    with statements(store) as seen:
        await store.write(competition_students.take_in, "Cup", people, OLGA, store.now())
    assert len(seen) < 16, seen
    for each in people:
        player = await store.read(stored_people.player, each.account)
        bot = await store.ensure_bot(player.id, "bot")
        await store.log_in(bot, "1", digest=each.name)
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    entered = [
        (each.bot_id, each.version_id)
        for each in await store.read(competition_sql.entries_of, "id-cup")
    ]
    assert len(entered) == 40
    rows = [game("a", "pig"), game("b", "kuhn_poker")]
    with statements(store) as seen:
        begun = await store.write(competition_sql.begin, "id-cup", rows, entered, OLGA, store.now())
    assert len(seen) < 16, seen
    assert begun.status == "running"
    assert [(each.tournament_id, each.status) for each in begun.games] == [
        ("a", "running"),
        ("b", "running"),
    ]
    assert {
        (each.bot_id, each.version_id) for each in await store.read(tournaments.list_entries, "b")
    } == set(entered)
    assert len(await store.read(tournaments.list_all)) == 2
    assert await store.read(competition_sql.competition_of, "a") == "id-cup"
    assert await store.read(competition_sql.competition_of, "cup") is None


async def test_pausing_and_ending_reach_every_game(opened: Store, store: Store) -> None:
    version = await ada(store)
    bot = (await entry(store)).bot_id
    await opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    await opened.write(
        competition_sql.begin,
        "id-cup",
        [game("a", "pig"), game("b", "kuhn_poker")],
        [(bot, version)],
        OLGA,
        opened.now(),
    )

    async def statuses() -> list[str]:
        found = await opened.read(competition_sql.find, "Cup")
        return [found.status, *(each.status for each in found.games)]

    assert not await store.write(competition_sql.finish_game, "a", store.now())
    await opened.write(competition_sql.move, "Cup", "pause", OLGA, opened.now())
    assert await statuses() == ["paused", "finished", "paused"]
    assert not await opened.write(competition_sql.finish_if_done, "id-cup", opened.now())
    await opened.write(competition_sql.move, "Cup", "resume", OLGA, opened.now())
    assert await statuses() == ["running", "finished", "running"]
    assert await opened.write(competition_sql.finish_game, "b", opened.now())
    assert await statuses() == ["finished", "finished", "finished"]
    await opened.write(competition_sql.move, "Cup", "delete", OLGA, opened.now())
    assert await store.read(tournaments.list_all) == []


# ------------------------------------------------------------------------------ students


async def test_a_list_is_taken_in_once_however_often_it_comes(store: Store) -> None:
    await store.write(competition_sql.create, cup(), (), OLGA)
    await store.add_player("old")
    people = [
        NewMember("Zoë", "Zoe", "Zoë", "z@example.org"),
        NewMember("bob", "crew"),
        NewMember("cy", "crew"),
        NewMember("old", "old"),
    ]
    said = await refused(
        "account_exists",
        store.write(competition_students.take_in, "Cup", people, OLGA, store.now()),
    )
    assert "there is an account old already" in said
    assert "--adopt old" in said
    assert await store.read(competition_students.students_of, "cup") == [], "nobody was taken in"
    joined = await store.write(
        competition_students.take_in, "Cup", people, OLGA, store.now(), adopt=["OLD"]
    )
    assert [each.outcome for each in joined] == ["new", "new", "new", "known"]
    tokens = [each.token for each in joined]
    assert len(set(tokens)) == 4
    assert tokens[3] == "", "nobody gets a token of an account that was there before"
    owners = [await owner(store, token) for token in tokens[:3]]
    assert owners == ["Zoe", "crew", "crew"]
    again = await store.write(
        competition_students.take_in, "Cup", [*people, NewMember("dan", "crew")], OLGA, store.now()
    )
    assert [each.outcome for each in again] == ["present"] * 4 + ["new"]
    students = await store.read(competition_students.students_of, "cup")
    assert [(each.player, each.display) for each in students] == [
        ("crew", ""),
        ("old", ""),
        ("Zoe", "Zoë"),
    ]
    assert [each.name for each in students[0].members] == ["bob", "cy", "dan"]
    assert students[2].members[0].email == "z@example.org"


def import_list(
    connection: Connection, name: str, people: Sequence[NewMember], by: By, now: int
) -> list[Joining]:
    meant = class_lists.with_older_accounts(connection, name, people)
    return competition_students.take_in(connection, name, meant, by, now)


async def test_list_of_an_older_release_keeps_accounts_without_accents(store: Store) -> None:
    await store.write(competition_sql.create, cup(), (), OLGA)
    older = [NewMember("Zoë", "Zoe", "Zoë"), NewMember("bob", "Zoes-crew", "Zoë's crew")]
    await store.write(competition_students.take_in, "Cup", older, OLGA, store.now())
    newer = [
        NewMember("Zoë", "Zoë", email="z@example.org"),
        NewMember("Zoé", "Zoé"),
        NewMember("bob", "Zoës-crew", "Zoë's crew"),
        NewMember("cy", "Zoës-crew", "Zoë's crew"),
    ]
    joined = await store.write(import_list, "Cup", newer, OLGA, store.now())
    assert [(each.account, each.outcome) for each in joined] == [
        ("Zoe", "present"),
        ("Zoé", "new"),
        ("Zoes-crew", "present"),
        ("Zoes-crew", "new"),
    ]


async def test_nobody_gets_an_account_that_another_person_has_without_accents(
    store: Store,
) -> None:
    await store.write(competition_sql.create, cup(), (), OLGA)
    older = [NewMember("Zoë", "Zoe", "Zoë")]
    await store.write(competition_students.take_in, "Cup", older, OLGA, store.now())
    both = [NewMember("Zoë", "Zoë"), NewMember("Zoe", "Zoe")]
    for people in (both, both[::-1]):
        with pytest.raises(CompetitionRefusal, match="would share the account Zoe,"):
            await store.write(import_list, "Cup", people, OLGA, store.now())
    # Who joins by a code is one person, who may have another account.
    (joined,) = await store.write(competition_students.take_in, "Cup", both[:1], OLGA, store.now())
    assert (joined.account, joined.outcome) == ("Zoë", "new")


async def test_a_list_that_cannot_be_taken_in_leaves_nothing(store: Store) -> None:
    await store.write(competition_sql.create, cup(most_students=2), (), OLGA)
    people = [NewMember(name, name) for name in ("a", "b", "c")]
    said = await refused(
        "full", store.write(competition_students.take_in, "Cup", people, OLGA, store.now())
    )
    assert "would have 3 students, and its file allows 2" in said
    with pytest.raises(InvalidName):
        await store.write(
            competition_students.take_in,
            "Cup",
            [people[0], NewMember("x", "x/y")],
            OLGA,
            store.now(),
        )
    assert await store.read(stored_people.list_players) == []
    assert await store.read(competition_students.students_of, "Cup") == []


async def test_who_was_taken_out_gives_the_place_to_another(store: Store) -> None:
    await store.write(competition_sql.create, cup(most_students=2), (), OLGA)
    people = [NewMember(name, name) for name in ("a", "b", "c")]
    await store.write(competition_students.take_in, "Cup", people[:2], OLGA, store.now())
    said = await refused(
        "full", store.write(competition_students.take_in, "Cup", people[2:], OLGA, store.now())
    )
    assert "plyhouse student limit, or withdraw" in said
    await store.write(competition_students.withdraw, "Cup", "a", OLGA, store.now())
    assert [
        each.outcome
        for each in await store.write(
            competition_students.take_in, "Cup", people[2:], OLGA, store.now()
        )
    ] == ["new"]
    await refused("full", store.write(competition_students.restore, "Cup", "a", OLGA, store.now()))
    assert [
        each.outcome
        for each in await store.write(
            competition_students.take_in, "Cup", people, OLGA, store.now()
        )
    ] == [
        "revoked",
        "present",
        "present",
    ], "who is in already needs no room"
    await store.write(competition_students.disqualify, "Cup", "b", OLGA, store.now())
    await refused("full", store.write(competition_students.restore, "Cup", "a", OLGA, store.now()))
    await store.write(competition_students.withdraw, "Cup", "c", OLGA, store.now())
    await store.write(competition_students.restore, "Cup", "a", OLGA, store.now())
    await refused("full", store.write(competition_students.allow, "Cup", 1, OLGA, store.now()))
    assert await store.write(competition_students.allow, "cup", 3, OLGA, store.now()) == "Cup"
    await store.write(competition_students.restore, "Cup", "c", OLGA, store.now())


async def test_who_was_taken_out_stays_out_until_restored(opened: Store, store: Store) -> None:
    await ada(store)
    assert (await opened.write(competition_students.withdraw, "Cup", "ADA", OLGA, opened.now()))[
        0
    ] == "ada"
    assert (await entry(store)).status == "withdrawn"
    (again,) = await opened.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, opened.now()
    )
    assert again.outcome == "revoked"
    await ada(store, "2")
    assert (await entry(store)).version == "1"
    await refused(
        "revoked",
        opened.write(
            competition_entries.enter,
            "Cup",
            (await store.read(stored_people.player, "ada")).id,
            "deep",
            version="",
            replaces="",
            now_ms=opened.now(),
        ),
    )
    await opened.write(competition_students.restore, "Cup", "ada", OLGA, opened.now())
    assert (await entry(store)).status == "active"
    with pytest.raises(Unknown, match="no student 'bob' in 'Cup'"):
        await opened.write(competition_students.withdraw, "Cup", "bob", OLGA, opened.now())


# --------------------------------------------------------------------------------- codes


async def test_code_that_lets_people_in_is_not_in_the_audit_log(opened: Store) -> None:
    """The servers write that to their logs."""
    code = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=2)
    entry = (await opened.read(audit.since, 0))[-1]
    assert (entry.what, entry.subject) == ("student.code", f"{code.code[:4]}-*** for Cup")


async def test_a_code_lets_so_many_in_and_no_more(opened: Store, store: Store) -> None:
    code = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=2)
    assert len(code.code) == 9
    row, joined = await opened.write(
        join_codes.join, code.code.lower().replace("-", " "), "bob", None, opened.now()
    )
    assert row.name == "Cup"
    assert await owner(store, joined.token) == "bob"
    assert "already" in await refused(
        "account_taken", opened.write(join_codes.join, code.code, "BOB", None, opened.now())
    )
    old = await store.add_player("old")
    _, joined = await opened.write(join_codes.join, code.code, "", old.id, opened.now())
    assert (joined.account, joined.token) == ("old", "")
    said = await refused(
        "code_used_up", opened.write(join_codes.join, code.code, "cy", None, opened.now())
    )
    assert "for 2, and all have come" in said
    assert [each.player for each in await opened.read(competition_students.students_of, "Cup")] == [
        "ada",
        "bob",
        "old",
    ]
    assert [(each.used, each.uses) for each in await opened.read(join_codes.codes_of, "Cup")] == [
        (2, 2)
    ]


async def test_many_with_the_last_use_of_a_code(opened: Store) -> None:
    code = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=1)
    done = await asyncio.gather(
        *(
            opened.write(join_codes.join, code.code, f"s{number}", None, opened.now())
            for number in range(5)
        ),
        return_exceptions=True,
    )
    wrong = [each for each in done if isinstance(each, BaseException)]
    assert len(wrong) == 4
    assert all(isinstance(each, StorageError) for each in wrong)
    assert len(await opened.read(competition_students.students_of, "Cup")) == 2


async def test_every_code_that_does_not_work_says_why(
    opened: Store, store: Store, clock: Any
) -> None:
    await refused(
        "code_unknown", opened.write(join_codes.join, "AAAA-AAAA", "bob", None, opened.now())
    )
    await refused("code_unknown", opened.write(join_codes.join, "", "bob", None, opened.now()))
    expiring = await opened.write(
        join_codes.add_code, "Cup", OLGA, opened.now(), uses=5, expires_ms=START + 10
    )
    gone = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=5)
    fine = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=5)
    await opened.write(join_codes.revoke_code, gone.code, OLGA, opened.now())
    await refused(
        "code_revoked", opened.write(join_codes.join, gone.code, "bob", None, opened.now())
    )
    with pytest.raises(Unknown, match="no valid code"):
        await opened.write(join_codes.revoke_code, gone.code, OLGA, opened.now())
    await refused("name_needed", opened.write(join_codes.join, fine.code, "", None, opened.now()))
    clock.now = START + 10
    await refused(
        "code_expired", opened.write(join_codes.join, expiring.code, "bob", None, opened.now())
    )
    await opened.write(competition_students.withdraw, "Cup", "ada", OLGA, opened.now())
    await refused(
        "revoked",
        opened.write(
            join_codes.join,
            fine.code,
            "",
            (await store.read(stored_people.player, "ada")).id,
            opened.now(),
        ),
    )
    await opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    with pytest.raises(CompetitionRefusal, match="'Cup' is frozen: a student can join only with"):
        await opened.write(join_codes.join, fine.code, "bob", None, opened.now())
    await refused("frozen", opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=5))
    late = await opened.write(
        join_codes.add_code, "Cup", OLGA, opened.now(), uses=5, late_ms=START + 1000
    )
    await opened.write(join_codes.join, late.code, "bob", None, opened.now())
    bob = (await opened.read(competition_students.students_of, "Cup"))[1]
    assert (bob.player, bob.extended_ms) == ("bob", START + 1000)


async def test_a_group_has_a_code_of_its_own(opened: Store, store: Store) -> None:
    await opened.write(
        competition_students.take_in, "Cup", [NewMember("bob", "crew")], OLGA, opened.now()
    )
    code = await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=3, group="Crew")
    await refused("name_needed", opened.write(join_codes.join, code.code, "", None, opened.now()))
    _, joined = await opened.write(join_codes.join, code.code, "cy", None, opened.now())
    assert joined.account == "crew"
    assert await owner(store, joined.token) == "crew"
    await refused(
        "account_taken", opened.write(join_codes.join, code.code, "CY", None, opened.now())
    )
    assert [each.player for each in await opened.read(competition_students.students_of, "Cup")] == [
        "ada",
        "crew",
    ]
    with pytest.raises(Unknown, match="no student 'nobody'"):
        await opened.write(join_codes.add_code, "Cup", OLGA, opened.now(), uses=1, group="nobody")


# -------------------------------------------------------------------- bots and versions


async def test_a_version_is_its_label_and_what_its_files_hold(store: Store) -> None:
    player = await store.add_player("ada")
    bot = await store.ensure_bot(player.id, "deep")
    first = await store.ensure_version(bot.id, "1", digest="a" * 64)
    assert await store.ensure_version(bot.id, "1", digest="a" * 64) == first
    other = await store.ensure_version(bot.id, "1", digest="b" * 64)
    assert other != first
    assert [
        (each.label, each.digest[:1])
        for each in await store.read(competition_entries.versions_of, player.id)
    ] == [
        ("1", "b"),
        ("1", "a"),
    ]


async def test_connecting_is_submitting_until_the_freeze(
    opened: Store, store: Store, clock: Any
) -> None:
    first = await ada(store)
    assert (await entry(store)).version_id == first
    second = await ada(store, "2", "bbbb2222")
    assert (await entry(store)).version_id == second
    await ada(store, bot="other")
    assert (await entry(store)).bot == "deep", "one entry each, and the first bot has it"
    await opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    await ada(store, "3", "cccc3333")
    assert (await entry(store)).version_id == second
    await opened.write(competition_students.extend, "Cup", "Ada", START + 100, OLGA, opened.now())
    late = await ada(store, "4", "dddd4444")
    assert (await entry(store)).version_id == late
    clock.now = START + 100
    await ada(store, "5", "eeee5555")
    assert (await entry(store)).version_id == late


async def test_the_date_of_the_freeze_holds_whoever_is_asleep(store: Store, clock: Any) -> None:
    await store.write(competition_sql.create, cup(freezes_ms=START + 50), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now()
    )
    first = await ada(store)
    clock.now = START + 50
    await ada(store, "2")
    assert (await entry(store)).version_id == first
    assert (await store.read(competition_sql.find, "Cup")).status == "open", (
        "nobody has come to note it"
    )
    player = (await store.read(stored_people.player, "ada")).id
    await refused(
        "frozen",
        store.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            version="",
            replaces="",
            now_ms=store.now(),
        ),
    )


async def test_what_plays_is_the_students_choice(opened: Store, store: Store) -> None:
    player = (await store.read(stored_people.player, "ada")).id
    with pytest.raises(Unknown, match=r"no bot 'deep' that has connected; .* none yet"):
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            version="",
            replaces="",
            now_ms=opened.now(),
        )
    first = await ada(store, "1", "aaaa1111")
    second = await ada(store, "1", "bbbb2222")
    third = await ada(store, "2", "cccc3333")
    assert (
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            "aaaa",
            replaces="",
            now_ms=opened.now(),
        )
    ).version_id == first
    await ada(store, "1", "bbbb2222")
    assert (await entry(store)).version_id == first, "chosen is chosen"
    assert "bbbb2222, aaaa1111" in await refused(
        "version_unclear",
        opened.write(
            competition_entries.enter, "Cup", player, "deep", "1", replaces="", now_ms=opened.now()
        ),
    )
    assert (
        await opened.write(
            competition_entries.enter, "Cup", player, "DEEP", "2", replaces="", now_ms=opened.now()
        )
    ).version_id == third
    with pytest.raises(Unknown, match="no version 'x'; it has: 2 cccc3333"):
        await opened.write(
            competition_entries.enter, "Cup", player, "deep", "x", replaces="", now_ms=opened.now()
        )
    assert (
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            version="",
            replaces="",
            now_ms=opened.now(),
        )
    ).chosen is False
    await ada(store, "1", "bbbb2222")
    assert (await entry(store)).version_id == second
    other = await ada(store, bot="other")
    said = await refused(
        "entry_limit",
        opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "other",
            version="",
            replaces="",
            now_ms=opened.now(),
        ),
    )
    assert "takes 1 of each student" in said
    assert "--replace deep" in said
    with pytest.raises(Unknown, match="'third' is not entered"):
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "other",
            replaces="third",
            version="",
            now_ms=opened.now(),
        )
    assert (
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "other",
            replaces="deep",
            version="",
            now_ms=opened.now(),
        )
    ).version_id == other
    await opened.write(competition_sql.move, "Cup", "freeze", OLGA, opened.now())
    assert "practice goes on" in await refused(
        "frozen",
        opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "other",
            version="",
            replaces="",
            now_ms=opened.now(),
        ),
    )


async def test_disqualified_with_all_or_with_one_entry(store: Store) -> None:
    await store.write(competition_sql.create, cup(entries_each=2), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now()
    )
    await ada(store)
    await ada(store, bot="other")
    with pytest.raises(Unknown, match=r"ada/x is not entered in 'Cup'; entered: ada/deep"):
        await store.write(competition_students.disqualify, "Cup", "ada/x", OLGA, store.now())
    name, gone = await store.write(
        competition_students.disqualify, "Cup", "ADA/deep", OLGA, store.now()
    )
    assert (name, len(gone)) == ("ada/deep", 1)
    statuses = {
        each.bot: each.status for each in await store.read(competition_sql.entries_of, "id-cup")
    }
    assert statuses == {"deep": "disqualified", "other": "active"}
    player = (await store.read(stored_people.player, "ada")).id
    said = await refused(
        "revoked",
        store.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            version="",
            replaces="",
            now_ms=store.now(),
        ),
    )
    assert "ada/deep is disqualified in 'Cup'" in said
    await ada(store, bot="third")
    await refused(
        "entry_limit",
        store.write(
            competition_entries.enter,
            "Cup",
            player,
            "third",
            version="",
            replaces="",
            now_ms=store.now(),
        ),
    )
    await refused(
        "revoked",
        store.write(
            competition_entries.enter,
            "Cup",
            player,
            "third",
            replaces="deep",
            version="",
            now_ms=store.now(),
        ),
    )
    assert {each.bot for each in await store.read(competition_sql.entries_of, "id-cup")} == {
        "deep",
        "other",
    }
    name, gone = await store.write(competition_students.disqualify, "Cup", "ada", OLGA, store.now())
    assert (name, len(gone)) == ("ada", 1), "the other one has left already"
    await store.write(competition_students.withdraw, "Cup", "ada", OLGA, store.now())
    assert {each.status for each in await store.read(competition_sql.entries_of, "id-cup")} == {
        "disqualified"
    }


async def test_to_be_taken_out_and_restored_ends_no_disqualification(store: Store) -> None:
    await store.write(competition_sql.create, cup(entries_each=2), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now()
    )
    await ada(store)
    await ada(store, bot="other")
    await store.write(competition_students.disqualify, "Cup", "ada/deep", OLGA, store.now())
    await store.write(competition_students.withdraw, "Cup", "ada", OLGA, store.now())
    await store.write(competition_students.restore, "Cup", "ada", OLGA, store.now())
    statuses = {
        each.bot: each.status for each in await store.read(competition_sql.entries_of, "id-cup")
    }
    assert statuses == {"deep": "disqualified", "other": "active"}


async def test_a_withdrawn_entry_comes_back_only_while_there_is_a_place(
    opened: Store, store: Store
) -> None:
    await ada(store)
    await ada(store, bot="other")
    player = (await store.read(stored_people.player, "ada")).id
    await store._database.write(  # as a suspension in a final leaves it
        lambda connection: connection.execute(entry_table.update().values(status="withdrawn"))
    )
    assert (
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "other",
            version="",
            replaces="",
            now_ms=opened.now(),
        )
    ).status == "active"
    await refused(
        "entry_limit",
        opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            version="",
            replaces="",
            now_ms=opened.now(),
        ),
    )
    statuses = {
        each.bot: each.status for each in await opened.read(competition_sql.entries_of, "id-cup")
    }
    assert statuses == {"deep": "withdrawn", "other": "active"}
    assert (
        await opened.write(
            competition_entries.enter,
            "Cup",
            player,
            "deep",
            replaces="other",
            version="",
            now_ms=opened.now(),
        )
    ).status == "active"


async def test_an_extension_has_its_time(opened: Store) -> None:
    await refused(
        "date_past",
        opened.write(competition_students.extend, "Cup", "ada", START, OLGA, opened.now()),
    )
    with pytest.raises(Unknown, match="no student 'bob'"):
        await opened.write(competition_students.extend, "Cup", "bob", START + 1, OLGA, opened.now())
    await opened.write(competition_students.withdraw, "Cup", "ada", OLGA, opened.now())
    await refused(
        "revoked",
        opened.write(competition_students.extend, "Cup", "ada", START + 1, OLGA, opened.now()),
    )


async def test_a_name_that_is_taken_twice_at_once(store: Store) -> None:
    done = await asyncio.gather(
        *(store.write(competition_sql.create, cup(id=f"id{n}"), (), OLGA) for n in range(4)),
        return_exceptions=True,
    )
    wrong = [each for each in done if isinstance(each, BaseException)]
    assert len(wrong) == 3
    assert all(isinstance(each, CompetitionRefusal | AlreadyExists) for each in wrong)


async def test_names_are_read_without_files(store: Store) -> None:
    for number, name in enumerate(("First", "Second", "Third", "Gone")):
        await store.write(competition_sql.create, cup(name, created_ms=START + number), [], OLGA)
    await store.write(competition_sql.move, "Gone", "delete", OLGA, store.now())
    with statements(store) as asked:
        assert await store.read(competition_sql.names, 2) == ["Third", "Second"]
    (query,) = [each for each in asked if "SELECT" in each]
    assert ".file" not in query
