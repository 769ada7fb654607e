"""Limits that two writers reach at once: one of them is refused, on both databases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.harness.competition_rows import OLGA, cup, game
from tests.storage.conftest import World
from tests.storage.races import race

from plyhouse.storage import (
    competition_changes,
    competition_entries,
    competition_messages,
    competition_sql,
    competition_staff,
    competition_students,
    database,
    join_codes,
    models,
    outputs,
    people_changes,
    sessions,
    stored_packages,
    submission_sql,
    tournaments,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_changes import Carry, Changed
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import StorageError
from plyhouse.storage.outputs import LEAST
from plyhouse.storage.store import Store

D1, D2 = "1" * 64, "2" * 64
Work = Callable[[Store], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two writers of which only one may succeed."""

    first: Work
    second: Work
    at: str
    """The statement in front of which the first one stops, once it has checked."""
    code: str
    """The code of the refusal."""
    table: str = ""
    """The table that has one row more in the end; empty: none is counted."""


async def bots(store: Store) -> Meeting:
    player = await store.add_player("ada")

    def make(name: str) -> Work:
        return lambda store: store.ensure_bot(player.id, name, limit=1)

    return Meeting(make("one"), make("two"), "INSERT INTO bots", "storage/limit", "bots")


async def versions(store: Store) -> Meeting:
    bot = await store.ensure_bot((await store.add_player("ada")).id, "")

    def make(label: str) -> Work:
        return lambda store: store.ensure_version(bot.id, label, 1)

    return Meeting(make("1"), make("2"), "INSERT INTO versions", "storage/limit", "versions")


async def open_cup(store: Store, *students: str, **more: Any) -> None:
    await store.write(competition_sql.create, cup(**more), (), OLGA)
    people = [NewMember(each, each) for each in students]
    await store.write(competition_students.take_in, "Cup", people, OLGA, store.now())


async def students(store: Store) -> Meeting:
    await open_cup(store, most_students=1)

    def take_in(name: str) -> Work:
        return lambda store: store.write(
            competition_students.take_in, "Cup", [NewMember(name, name)], OLGA, store.now()
        )

    at, table = "INSERT INTO competition_students", "competition_students"
    return Meeting(take_in("ada"), take_in("bob"), at, "competition/full", table)


async def students_by_two_codes(store: Store) -> Meeting:
    await open_cup(store, most_students=1)
    codes = [
        (await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=1)).code
        for _ in range(2)
    ]

    def join(name: str, code: str) -> Work:
        return lambda store: store.write(join_codes.join, code, name, None, store.now())

    at, table = "INSERT INTO competition_students", "competition_students"
    return Meeting(join("ada", codes[0]), join("bob", codes[1]), at, "competition/full", table)


async def uses_of_a_code(store: Store) -> Meeting:
    await open_cup(store)
    code = (await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=1)).code

    def join(name: str) -> Work:
        return lambda store: store.write(join_codes.join, code, name, None, store.now())

    at, table = "INSERT INTO competition_students", "competition_students"
    return Meeting(join("ada"), join("bob"), at, "competition/code_used_up", table)


async def students_let_back_in(store: Store) -> Meeting:
    await open_cup(store, "ada", most_students=1)
    await store.write(competition_students.withdraw, "Cup", "ada", OLGA, store.now())
    return Meeting(
        lambda store: store.write(competition_students.restore, "Cup", "ada", OLGA, store.now()),
        lambda store: store.write(
            competition_students.take_in, "Cup", [NewMember("bob", "bob")], OLGA, store.now()
        ),
        "UPDATE competition_students",
        "competition/full",
    )


async def fewer_students(store: Store) -> Meeting:
    await open_cup(store, "ada", most_students=2)
    return Meeting(
        lambda store: store.write(competition_students.allow, "Cup", 1, OLGA, store.now()),
        lambda store: store.write(
            competition_students.take_in, "Cup", [NewMember("bob", "bob")], OLGA, store.now()
        ),
        "UPDATE competitions",
        "competition/full",
    )


async def fewer_students_by_file(store: Store) -> Meeting:
    await open_cup(store, "ada", most_students=2)
    before = await store.read(competition_sql.find, "Cup")
    after = Changed(replace(before, most_students=1), ())
    return Meeting(
        lambda store: store.write(competition_changes.apply, before, after, OLGA, store.now()),
        lambda store: store.write(
            competition_students.take_in, "Cup", [NewMember("bob", "bob")], OLGA, store.now()
        ),
        "UPDATE competitions",
        "competition/full",
    )


async def joining_a_final_that_begins(store: Store) -> Meeting:
    await open_cup(store, "ada", games=cup().games[:1])
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    late, bob = 2**50, [NewMember("bob", "bob")]
    return Meeting(
        lambda store: store.write(
            competition_sql.begin, "id-cup", [game("part", "pig")], [], OLGA, store.now()
        ),
        lambda store: store.write(
            competition_students.take_in, "Cup", bob, OLGA, store.now(), late
        ),
        "UPDATE competitions",
        "competition/begun",
    )


async def two_bots(store: Store) -> list[Any]:
    player = await store.read(stored_people.player, "ada")
    return [await store.ensure_bot(player.id, name) for name in ("one", "two")]


async def chosen_entries(store: Store) -> Meeting:
    one, two = await two_bots_of_a_student(store)

    def enter(name: str) -> Work:
        return lambda store: store.write(
            competition_entries.enter,
            "Cup",
            one.player_id,
            name,
            version="",
            replaces="",
            now_ms=store.now(),
        )

    at, table = "INSERT INTO competition_entries", "competition_entries"
    return Meeting(enter(one.name), enter(two.name), at, "competition/entry_limit", table)


async def two_bots_of_a_student(store: Store) -> list[Any]:
    """Open a cup with ada in it, whose two bots connected before."""
    await store.add_player("ada")
    found = await two_bots(store)
    for bot in found:
        await store.log_in(bot, "1")
    await store.write(competition_sql.create, cup(), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now(), adopt="*"
    )
    return found


async def class_names(store: Store) -> Meeting:
    def create(identity: str) -> Work:
        return lambda store: store.write(competition_sql.create, cup(id=identity), (), OLGA)

    at, table = "INSERT INTO competitions", "competitions"
    return Meeting(create("a"), create("b"), at, "competition/name_taken", table)


async def player_names(store: Store) -> Meeting:
    def add(name: str) -> Work:
        return lambda store: store.add_player(name)

    return Meeting(add("ada"), add("ADA"), "INSERT INTO players", "storage/exists", "players")


async def names_that_look_alike(store: Store) -> Meeting:
    def add(name: str) -> Work:
        return lambda store: store.add_player(name)

    cyrillic = "\u0441\u043e\u0445\u0430"
    return Meeting(add("coxa"), add(cyrillic), "INSERT INTO players", "storage/exists", "players")


async def names_of_new_accounts(store: Store) -> Meeting:
    await open_cup(store)
    codes = [
        (await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=9)).code
        for _ in range(2)
    ]

    def join(code: str) -> Work:
        return lambda store: store.write(join_codes.join, code, "ada", None, store.now())

    at, code = "INSERT INTO players", "competition/account_taken"
    return Meeting(join(codes[0]), join(codes[1]), at, code, "players")


async def announcements_of_a_class(store: Store) -> Meeting:
    await open_cup(store)

    def announce(text: str) -> Work:
        return lambda store: store.write(
            competition_messages.announce, "Cup", text, OLGA, store.now()
        )

    at, table = "INSERT INTO announcements", "announcements"
    return Meeting(announce("one"), announce("two"), at, "competition/too_many", table)


async def requests_of_a_student(store: Store) -> Meeting:
    await open_cup(store, "ada")
    player = await store.read(stored_people.player, "ada")

    def ask(text: str) -> Work:
        return lambda store: store.write(
            competition_messages.ask, "id-cup", player.id, text, None, store.now()
        )

    at, table = "INSERT INTO regrades", "regrades"
    return Meeting(ask("one"), ask("two"), at, "competition/too_many", table)


async def bytes_of_packages(store: Store) -> Meeting:
    await store.add_player("ada")
    one, two = await two_bots(store)

    def submit(bot: Any, digest: str) -> Work:
        return lambda store: store.submissions.add(bot.id, "1", digest, b"12345", 10, most_bytes=9)

    at, table = "INSERT INTO packages", "packages"
    return Meeting(submit(one, D1), submit(two, D2), at, "submission/quota", table)


async def submission_that_is_entered(store: Store) -> Meeting:
    """It is removed by its author while the same author enters it."""
    await store.add_player("ada")
    bot, _ = await two_bots(store)
    row = await store.submissions.add(bot.id, "1", D1, b"zip", 10)
    await store.write(submission_sql.check, row.id, True, "", ("pig",), 11)
    await store.write(competition_sql.create, cup(), (), OLGA)
    await store.write(
        competition_students.take_in, "Cup", [NewMember("ada", "ada")], OLGA, store.now(), adopt="*"
    )
    return Meeting(
        lambda store: store.write(
            competition_entries.enter,
            "Cup",
            bot.player_id,
            "one",
            version="",
            replaces="",
            now_ms=store.now(),
        ),
        lambda store: store.write(submission_sql.remove, row.id),
        "INSERT INTO competition_entries",
        "submission/entered",
        "competition_entries",
    )


async def last_owner(store: Store) -> Meeting:
    for name in ("ada", "bob"):
        await store.add_player(name)
    await open_cup(store)
    for name in ("ada", "bob"):
        await store.write(competition_staff.add, "Cup", name, "owner", OLGA, store.now())

    def remove(name: str) -> Work:
        return lambda store: store.write(competition_staff.remove, "Cup", name, OLGA, store.now())

    at = "DELETE FROM competition_staff"
    return Meeting(remove("ada"), remove("bob"), at, "competition/last_owner")


MEETINGS = [
    bots,
    versions,
    students,
    students_by_two_codes,
    uses_of_a_code,
    students_let_back_in,
    fewer_students,
    fewer_students_by_file,
    joining_a_final_that_begins,
    chosen_entries,
    class_names,
    player_names,
    names_that_look_alike,
    names_of_new_accounts,
    announcements_of_a_class,
    requests_of_a_student,
    bytes_of_packages,
    submission_that_is_entered,
    last_owner,
]


async def count(store: Store, table: str) -> int:
    query = select(func.count()).select_from(models.metadata.tables[table])
    return await store._database.read(lambda c: int(c.execute(query).scalar_one()))


@pytest.mark.parametrize("meeting", MEETINGS, ids=lambda each: str(each.__name__))
async def test_limit_reached_by_two_at_once_refuses_one(
    racing_url: str, meeting: Callable[[Store], Awaitable[Meeting]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(competition_messages, "MOST", 1)
    monkeypatch.setattr(competition_messages, "MOST_OPEN", 1)
    async with await Store.open(racing_url) as store:
        here = await meeting(store)
        before = await count(store, here.table) if here.table else 0
    outcomes = await race(racing_url, here.first, here.second, at=here.at)
    refused = [each for each in outcomes if isinstance(each, BaseException)]
    assert len(refused) == 1, outcomes
    assert isinstance(refused[0], StorageError)
    assert refused[0].code == here.code
    assert refused[0].__cause__ is None, "the text says what is wrong, not the database's driver"
    async with await Store.open(racing_url) as store:
        if here.table:
            assert await count(store, here.table) == before + 1


async def test_code_that_was_revoked_meanwhile_lets_nobody_in(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await open_cup(store)
        code = (await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=1)).code
    joined, revoked = await race(
        racing_url,
        lambda store: store.write(join_codes.join, code, "ada", None, store.now()),
        lambda store: store.write(join_codes.revoke_code, code, OLGA, store.now()),
        at="INSERT INTO competition_students",
    )
    assert revoked is None
    async with await Store.open(racing_url) as store:
        here = len(await store.read(competition_students.students_of, "Cup"))
    if racing_url.startswith("sqlite"):  # there the revocation came later
        assert (joined[1].account, here) == ("ada", 1)
    else:
        assert (joined.code, here) == ("competition/code_used_up", 0)


async def test_two_bots_that_log_in_at_once_take_one_place(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await open_cup(store, "ada")
        one, two = await two_bots(store)
    await race(
        racing_url,
        lambda store: store.log_in(one, "1"),
        lambda store: store.log_in(two, "1"),
        at="INSERT INTO competition_entries",
    )
    async with await Store.open(racing_url) as store:
        assert len(await store.read(competition_sql.entries_of, "id-cup")) == 1


async def test_two_bots_that_pass_their_checks_at_once_take_one_place(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await open_cup(store, "ada")
        rows = [
            await store.submissions.add(bot.id, "1", digest, b"zip", 10, competition="Cup")
            for bot, digest in zip(await two_bots(store), (D1, D2), strict=True)
        ]

    def check(identity: int) -> Work:
        return lambda store: store.write(submission_sql.check, identity, True, "", ("pig",), 20)

    done = await race(
        racing_url, check(rows[0].id), check(rows[1].id), at="INSERT INTO competition_entries"
    )
    assert [[each.outcome for each in row.competitions] for row in done] == [["entered"], ["full"]]
    async with await Store.open(racing_url) as store:
        assert len(await store.read(competition_sql.entries_of, "id-cup")) == 1


@pytest.mark.parametrize("first", ["remove", "submit"])
async def test_package_is_there_for_whoever_submits_it_last(racing_url: str, first: str) -> None:
    """One removes the only submission of a package while another one submits the same."""
    async with await Store.open(racing_url) as store:
        await store.add_player("ada")
        one, two = await two_bots(store)
        row = await store.submissions.add(one.id, "1", D1, b"zip", 10)

    def remove(store: Store) -> Awaitable[Any]:
        return store.write(submission_sql.remove, row.id)

    def submit(store: Store) -> Awaitable[Any]:
        return store.submissions.add(two.id, "1", D1, b"zip", 11)

    if first == "remove":
        outcomes = await race(racing_url, remove, submit, at="DELETE FROM packages")
    else:
        outcomes = await race(racing_url, submit, remove, at="INSERT INTO submissions")
    assert not [each for each in outcomes if isinstance(each, BaseException)], outcomes
    async with await Store.open(racing_url) as store:
        assert await store.read(stored_packages.archive, D1) == b"zip"
        assert [
            each.bot for each in await store.read(submission_sql.of, player_id=two.player_id)
        ] == ["two"]


async def test_outputs_of_two_matches_at_once_stay_within_the_limit(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        world = World(store)
        games = [await world.play("ada", "bob", returns=(1, -1)) for _ in range(2)]
        bot = await world.bot("ada")

    def keep(match: str) -> Work:
        return lambda store: store.write(
            outputs.keep, match, bot.id, "a", b"x", 10, most_bytes=LEAST
        )

    await race(racing_url, keep(games[0]), keep(games[1]), at="INSERT INTO outputs")
    async with await Store.open(racing_url) as store:
        assert [each.match for each in await store.read(outputs.latest, bot.player_id)] == [
            games[1]
        ]


async def test_output_sent_twice_at_once_is_kept_once(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        world = World(store)
        match = await world.play("ada", "bob", returns=(1, -1))
        bot = await world.bot("ada")

    def keep(store: Store) -> Awaitable[Any]:
        return store.write(outputs.keep, match, bot.id, "a", b"x", 10)

    assert await race(racing_url, keep, keep, at="INSERT INTO outputs") == [None, None]


async def test_passwords_set_at_once_leave_the_last_one(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        player = await store.add_player("ada")

    def set_password(hashed: str) -> Work:
        return lambda store: store.write(sessions.set_password, player.id, hashed, store.now())

    done = await race(
        racing_url, set_password("first"), set_password("second"), at="INSERT INTO passwords"
    )
    assert done == [None, None]
    async with await Store.open(racing_url) as store:
        found = await store.read(sessions.password, "ada")
        assert found is not None
        assert found[1] in ("first", "second")


async def test_token_made_while_that_of_its_session_is_revoked_ends_with_it(
    racing_url: str,
) -> None:
    async with await Store.open(racing_url) as store:
        await store.add_player("ada")
        identity = await store.authenticate(token := await store.add_token("ada"))
        assert identity is not None

    def make(store: Store) -> Awaitable[Any]:
        return store.write(sessions.make_token, identity, "bot", store.now())

    def revoke(store: Store) -> Awaitable[Any]:
        return store.write(people_changes.revoke_token, token, OLGA, store.now())

    await race(racing_url, make, revoke, at="INSERT INTO tokens")
    async with await Store.open(racing_url) as store:
        listed = await store.read(stored_people.list_tokens, identity.player_id)
        assert [each.revoked_ms is not None for each in listed] == [True, True]


async def test_tokens_revoked_at_once_need_no_second_try(
    racing_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was made with the other: both transactions want both rows, and their owner's."""
    monkeypatch.setattr(database, "_ATTEMPTS", 1)
    async with await Store.open(racing_url) as store:
        await store.add_player("ada")
        identity = await store.authenticate(origin := await store.add_token("ada"))
        assert identity is not None
        made = await store.write(sessions.make_token, identity, "bot", store.now())

    def revoke(token: str) -> Work:
        return lambda store: store.write(people_changes.revoke_token, token, OLGA, store.now())

    at = "SELECT tokens.id, tokens.prefix, tokens.revoked_ms"  # the owner is locked by then
    outcomes = await race(racing_url, revoke(origin), revoke(made), at=at)
    assert not [each for each in outcomes if isinstance(each, BaseException)], outcomes


async def test_token_reissued_in_two_copies_of_a_class_at_once_leaves_one(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await open_cup(store, "ada")
        await store.write(
            competition_changes.create, cup("Copy"), OLGA, store.now(), source=Carry("id-cup")
        )

    def reissue(name: str) -> Work:
        return lambda store: store.write(
            people_changes.reissue_token, name, "ada", "", OLGA, store.now()
        )

    outcomes = await race(racing_url, reissue("Cup"), reissue("Copy"), at="UPDATE tokens")
    async with await Store.open(racing_url) as store:
        ada = await store.read(stored_people.player, "ada")
        listed = await store.read(stored_people.list_tokens, ada.id)
        assert [each.prefix for each in listed if each.revoked_ms is None] == [
            outcomes[1].token[:12]
        ]


async def test_token_reissued_while_its_class_is_copied_is_that_of_the_copy(
    racing_url: str,
) -> None:
    """Otherwise the next one of the copy would leave it valid."""
    async with await Store.open(racing_url) as store:
        await open_cup(store, "ada")
        first = await store.write(people_changes.reissue_token, "Cup", "ada", "", OLGA, store.now())
        await store.write(people_changes.revoke_token, first.token, OLGA, store.now())

    def copy(store: Store) -> Awaitable[Any]:
        source = Carry("id-cup", codes=True)
        return store.write(
            competition_changes.create, cup("Copy"), OLGA, store.now(), source=source
        )

    def reissue(name: str) -> Work:
        return lambda store: store.write(
            people_changes.reissue_token, name, "ada", "", OLGA, store.now()
        )

    # The members are copied by then.
    outcomes = await race(racing_url, copy, reissue("Cup"), at="UPDATE competition_codes")
    assert not [each for each in outcomes if isinstance(each, BaseException)], outcomes
    async with await Store.open(racing_url) as store:
        last = await reissue("Copy")(store)
        ada = await store.read(stored_people.player, "ada")
        listed = await store.read(stored_people.list_tokens, ada.id)
        assert [each.prefix for each in listed if each.revoked_ms is None] == [last.token[:12]]


async def test_final_that_is_paused_when_its_games_end_stays_paused(racing_url: str) -> None:
    async with await Store.open(racing_url) as store:
        await open_cup(store, games=cup().games[:1])
        await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
        await store.write(
            competition_sql.begin, "id-cup", [game("part", "pig")], [], OLGA, store.now()
        )
    paused, finished = await race(
        racing_url,
        lambda store: store.write(competition_sql.move, "Cup", "pause", OLGA, store.now()),
        lambda store: store.write(competition_sql.finish_game, "part", store.now()),
        at="UPDATE competitions",
    )
    assert (paused.status, finished) == ("paused", False)
    async with await Store.open(racing_url) as store:
        assert (await store.read(competition_sql.find, "Cup")).status == "paused"


async def test_suspended_game_of_a_paused_final_is_paused_when_it_can_go_on(store: Store) -> None:
    await open_cup(store, games=cup().games[:1])
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    await store.write(competition_sql.begin, "id-cup", [game("part", "pig")], [], OLGA, store.now())
    await store.write(tournaments.suspend, "part", "its game is missing")
    await store.write(competition_sql.move, "Cup", "pause", OLGA, store.now())
    assert (await store.read(tournaments.find_tournament, "part")).status == "suspended"
    assert (await store.write(tournaments.resume, "part")).status == "paused"
    await store.write(tournaments.suspend, "part", "its game is missing again")
    await store.write(competition_sql.move, "Cup", "resume", OLGA, store.now())
    assert (await store.write(tournaments.resume, "part")).status == "running"
