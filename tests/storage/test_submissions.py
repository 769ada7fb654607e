"""Submitted packages: kept once, checked, entered, and removed with the last that needs them."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import Connection, func, select
from tests.harness.clocks import WallClock
from tests.storage.conftest import World

from plyhouse.protocol.api.bots import Bot
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_students,
    sessions,
    stored_packages,
    submission_checks,
    submission_sql,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow, NewMember
from plyhouse.storage.errors import CompetitionRefusal, LimitReached, SubmissionRefusal, Unknown
from plyhouse.storage.maintenance import check, copy
from plyhouse.storage.models import package_parts, packages
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store
from plyhouse.storage.stored_packages import PART, put
from plyhouse.storage.submission_rows import MAX_REPORT, OUTCOMES

OLGA = By("olga")
D1, D2, D3 = "1" * 64, "2" * 64, "3" * 64
GAMES = ("connect_four", "pig")


async def kept(store: Store) -> list[str]:
    """The digests of the packages in the database, of which every part is one of a package."""

    def work(connection: Connection) -> list[str]:
        parts = connection.execute(select(package_parts.c.digest).distinct()).scalars()
        found = sorted(connection.execute(select(packages.c.digest)).scalars())
        assert sorted(parts) == found
        return found

    return await store._database.read(work)


async def course(
    world: World, name: str, *students: str, each: int = 1, freezes_ms: int | None = None
) -> None:
    """An open competition with these students, who have a bot of their own name each."""
    row = CompetitionRow(
        *(f"id-{name}", name, "", "round_robin", "open", each, 9, 1),
        freezes_ms=freezes_ms,
        parsed="{}",
        games=(CompetitionGame(0, "pig", None),),
    )
    await world.store.write(competition_sql.create, row, [], OLGA)
    people = [NewMember(each, each) for each in students]
    await world.store.write(
        competition_students.take_in, name, people, OLGA, world.store.now(), adopt="*"
    )


async def plays(world: World, name: str) -> dict[str, str]:
    """Which digest each bot plays with in a competition."""
    entries = await world.store.read(competition_sql.entries_of, f"id-{name}")
    return {each.name: each.digest for each in entries}


async def own_bot(world: World, player: str) -> Bot:
    row = await world.store.read(stored_people.player, player)
    return await world.store.ensure_bot(row.id, "bot")


async def test_a_package_waits_for_its_check_and_is_found_again(world: World) -> None:
    store = world.store
    ada, bob = await world.bot("ada"), await world.bot("bob")
    archive = b"PK\0\xff" * 300_000  # of several parts
    first = await store.submissions.add(ada.id, "v1", D1, archive, 10)
    assert (first.player, first.bot, first.bot_id, first.label) == ("ada", "ada", ada.id, "v1")
    assert (first.status, first.report, first.games, first.checked_ms) == ("waiting", "", (), None)
    assert (first.digest, first.submitted_ms, first.size) == (D1, 10, len(archive))
    second = await store.submissions.add(bob.id, "", D1, archive, 9)
    assert second.version_id != first.version_id
    assert await store.submissions.add(ada.id, "other", D1, archive, 20) == first, "the same again"
    assert await kept(world.store) == [D1]
    assert await store.read(stored_packages.archive, D1) == archive
    assert [*await store.read(submission_checks.waiting)] == [second.id, first.id], (
        "who came first comes first"
    )
    assert [*await store.read(submission_checks.waiting, 1)] == [second.id]
    assert await store.read(submission_sql.ready_version, ada.id, first.version_id) is None
    done = await store.write(submission_sql.check, first.id, True, "all\0 well \ud800", GAMES, 30)
    assert (done.status, done.games, done.checked_ms) == ("ready", GAMES, 30)
    assert done.report == "all\N{REPLACEMENT CHARACTER} well ?"
    assert await store.write(submission_sql.check, first.id, False, "too late", (), 31) == done
    assert await store.read(submission_sql.ready_version, ada.id, first.version_id) == done
    newer = await store.submissions.add(ada.id, "", D2, b"two", 40)
    assert await store.read(submission_sql.ready_version, ada.id, None) == done, (
        "the newer one waits"
    )
    newer = await store.write(submission_sql.check, newer.id, True, "x" * (MAX_REPORT + 1), (), 41)
    assert len(newer.report) <= MAX_REPORT
    assert newer.report.endswith("left out)\n")
    assert await store.read(submission_sql.ready_version, ada.id, None) == newer
    assert await store.read(submission_sql.ready_version, ada.id, first.version_id) == done
    assert (
        await store.read(submission_sql.of, bot_id=ada.id)
        == await store.read(submission_sql.of, player_id=ada.player_id)
        == [newer, done]
    )
    assert await store.read(submission_sql.find, second.id) == second
    for missing in (
        store.read(submission_sql.find, 99),
        store.read(stored_packages.archive, D3),
        store.write(submission_sql.check, 99, True, "", (), 1),
    ):
        with pytest.raises(Unknown):
            await missing


async def test_waiting_checks_list_the_oldest_of_each_player_first(world: World) -> None:
    store = world.store
    mallory, bob = await world.bot("mallory"), await world.bot("bob")
    many = [
        (await store.submissions.add(mallory.id, f"v{each}", f"{each:064x}", b"PK", 10 + each)).id
        for each in range(4)
    ]
    late = (await store.submissions.add(bob.id, "v1", D1, b"PK", 50)).id
    assert [*await store.read(submission_checks.waiting)] == [many[0], late, *many[1:]]
    assert [*await store.read(submission_checks.waiting, 2)] == [many[0], late]
    waits = await store.read(submission_checks.waiting)
    assert [(waits[each].player_id, waits[each].since_ms) for each in (many[1], late)] == [
        (mallory.player_id, 11),
        (bob.player_id, 50),
    ]


async def test_submission_that_is_entered_elsewhere_waits_since_then(world: World) -> None:
    store = world.store
    await course(world, "Cup", "ada", each=2)
    bot = await own_bot(world, "ada")
    row = await store.submissions.add(bot.id, "", D1, b"PK", 10)
    await store.write(submission_sql.check, row.id, True, "", GAMES, 20)
    assert await store.read(submission_checks.waiting) == {}
    await store.submissions.add(
        bot.id, "", D1, b"PK", 500, competition="Cup", games=("chess",), again=True
    )
    (waits,) = (await store.read(submission_checks.waiting)).values()
    assert waits.since_ms == 500


async def test_what_was_left_half_written_is_no_package(world: World) -> None:
    ada = await world.bot("ada")
    for number, digest in enumerate((D1, D1, D2)):  # a server that was killed while it wrote
        await world.store._database.write(lambda c, n=number, d=digest: put(c, d, n + 1, b"old"))  # type: ignore[misc]
    with pytest.raises(Unknown):
        await world.store.read(stored_packages.archive, D1)
    data = bytes(PART) + b"new"
    store = world.store
    at_once = [store.submissions.add(ada.id, "", digest, data, 1) for digest in (D1, D1, D3)]
    rows = await asyncio.gather(*at_once)
    assert rows[0].id == rows[1].id
    assert await kept(world.store) == [D1, D3]
    assert (
        await store.read(stored_packages.archive, D1)
        == await store.read(stored_packages.archive, D3)
        == data
    )


async def test_what_is_refused_is_not_kept_and_may_come_again(world: World) -> None:
    store = world.store
    ada, bob = await world.bot("ada"), await world.bot("bob")
    row = await store.submissions.add(ada.id, "", D1, b"one", 10)
    other = await store.submissions.add(bob.id, "", D1, b"one", 11)
    refused = await store.write(submission_sql.check, row.id, False, "line 3: no", (), 12)
    assert (refused.status, refused.report) == ("refused", "line 3: no")
    assert await kept(world.store) == [D1], "bob's still waits"
    await store.write(submission_sql.check, other.id, False, "no", (), 13)
    assert await kept(world.store) == []
    again = await store.submissions.add(ada.id, "", D1, b"one", 20)
    assert (again.id, again.version_id, again.status) == (row.id, row.version_id, "waiting")
    assert (again.report, again.submitted_ms, again.checked_ms) == ("", 20, None)
    assert await kept(world.store) == [D1]
    await store.write(submission_sql.remove, again.id)
    assert (await kept(world.store), await store.read(submission_sql.of, bot_id=ada.id)) == ([], [])


async def test_a_player_has_room_for_so_much(world: World) -> None:
    store = world.store
    ada = await world.bot("ada")
    second = await world.store.ensure_bot(ada.player_id, "second")
    await store.submissions.add(ada.id, "", D1, b"x" * 60, 1, most_bytes=100)
    await store.submissions.add(
        second.id, "", D1, b"x" * 60, 2, most_bytes=100
    )  # the same: no more bytes
    with pytest.raises(SubmissionRefusal, match="120 bytes here, and a player has 100") as refusal:
        await store.submissions.add(second.id, "", D2, b"x" * 60, 3, most_bytes=100)
    assert refusal.value.code == "submission/quota"
    assert [
        each.digest for each in await store.read(submission_sql.of, player_id=ada.player_id)
    ] == [D1, D1]
    await store.submissions.add(second.id, "", D2, b"x" * 40, 3, most_bytes=100)
    with pytest.raises(LimitReached):
        await store.submissions.add(second.id, "", D3, b"", 3, most_bytes=100, most_versions=2)


async def test_it_plays_once_it_is_ready_if_it_was_taken_when_it_came(
    world: World, clock: WallClock
) -> None:
    store, now = world.store, clock.now
    for name in ("ada", "bob"):
        await world.store.add_player(name)
    await course(world, "Cup", "ada", "bob", freezes_ms=now + 100)
    await course(world, "League", "ada")
    ada, bob = await own_bot(world, "ada"), await own_bot(world, "bob")
    row = await store.submissions.add(ada.id, "", D1, b"1", now)
    assert [(each.competition, each.outcome) for each in row.competitions] == [
        ("Cup", ""),
        ("League", ""),
    ]
    assert await plays(world, "Cup") == {}, "not before its check"
    with pytest.raises(Unknown, match="no bot"):
        await world.store.write(
            competition_entries.enter,
            "Cup",
            ada.player_id,
            "ada",
            version="",
            replaces="",
            now_ms=world.store.now(),
        )
    failed = await store.submissions.add(bob.id, "", D2, b"2", now + 1, competition="cup")
    clock.now = now + 200
    await world.store.write(competition_sql.move, "Cup", "freeze", OLGA, world.store.now())
    done = await store.write(submission_sql.check, row.id, True, "", GAMES, now + 300)
    assert [each.outcome for each in done.competitions] == ["entered", "entered"]
    failed = await store.write(submission_sql.check, failed.id, False, "no", (), now + 300)
    assert [each.outcome for each in failed.competitions] == ["refused"]
    assert await plays(world, "Cup") == await plays(world, "League") == {"ada/bot": D1}
    with pytest.raises(CompetitionRefusal, match="frozen") as refusal:
        await store.submissions.add(ada.id, "", D3, b"3", now + 100, competition="Cup")
    assert refusal.value.code == "competition/frozen"
    with pytest.raises(Unknown, match="no competition 'Cop'"):
        await store.submissions.add(ada.id, "", D3, b"3", now, competition="Cop")
    with pytest.raises(Unknown):  # not its student
        await store.submissions.add(bob.id, "", D3, b"3", now, competition="League")
    assert [each.digest for each in await store.read(submission_sql.of, bot_id=ada.id)] == [D1], (
        "nothing of it is kept"
    )
    late = await store.submissions.add(ada.id, "", D3, b"3", now + 400)
    assert [each.competition for each in late.competitions] == ["League"]
    await store.write(submission_sql.check, late.id, True, "", GAMES, now + 401)
    assert (await plays(world, "Cup"), await plays(world, "League")) == (
        {"ada/bot": D1},
        {"ada/bot": D3},
    )
    await world.store.write(competition_sql.move, "Cup", "delete", OLGA, world.store.now())
    assert [
        each.digest for each in await store.read(submission_sql.of, player_id=bob.player_id)
    ] == [], "for Cup alone"
    assert [
        each.digest for each in await store.read(submission_sql.of, player_id=ada.player_id)
    ] == [D3, D1]


async def test_which_version_plays_when_checks_end_in_another_order(
    world: World, clock: WallClock
) -> None:
    store, store, now = world.store, world.store, clock.now
    await store.add_player("ada")
    await course(world, "Cup", "ada")
    ada = await own_bot(world, "ada")
    second = await store.ensure_bot(ada.player_id, "second")
    old = await store.submissions.add(ada.id, "", D1, b"1", now)
    new = await store.submissions.add(ada.id, "", D2, b"2", now + 1)
    other = await store.submissions.add(second.id, "", D3, b"3", now + 2)
    await store.write(submission_sql.check, new.id, True, "", GAMES, now + 10)
    old = await store.write(submission_sql.check, old.id, True, "", GAMES, now + 11)
    assert [each.outcome for each in old.competitions] == ["newer"]
    other = await store.write(submission_sql.check, other.id, True, "", GAMES, now + 12)
    assert [each.outcome for each in other.competitions] == ["full"]
    assert await plays(world, "Cup") == {"ada/bot": D2}
    # Naming the competition is a choice: that version stays when others come.
    named = await store.submissions.add(ada.id, "", D1, b"1", now + 20, competition="CUP")
    assert [(each.chosen, each.outcome) for each in named.competitions] == [(True, "entered")]
    new = await store.read(submission_sql.find, new.id)
    assert [each.outcome for each in new.competitions] == ["replaced"], "another version plays"
    fourth = await store.submissions.add(ada.id, "", "4" * 64, b"4", now + 21)
    fourth = await store.write(submission_sql.check, fourth.id, True, "", GAMES, now + 22)
    assert [each.outcome for each in fourth.competitions] == ["pinned"]
    assert await plays(world, "Cup") == {"ada/bot": D1}
    with pytest.raises(CompetitionRefusal, match=r"takes 1 .*--bot bot.* --replace bot") as refusal:
        await store.submissions.add(second.id, "", D3, b"3", now + 23, competition="Cup")
    assert refusal.value.code == "competition/entry_limit"
    with pytest.raises(SubmissionRefusal, match="plays in Cup"):
        await store.write(submission_sql.remove, named.id)
    await store.write(submission_sql.remove, new.id)
    # A runner that still plays an earlier version comes back: nothing is taken back by that.
    await store.write(
        submission_sql.check,
        (await store.submissions.add(ada.id, "", D2, b"2", now + 24)).id,
        True,
        "",
        (),
        1,
    )
    await course(world, "Later", "ada")
    for digest, number in ((D1, 25), (D3, 26)):
        row = await store.submissions.add(ada.id, "", digest, digest.encode(), now + number)
        await store.write(submission_sql.check, row.id, True, "", GAMES, now + number)
    assert await plays(world, "Later") == {"ada/bot": D3}
    await store.log_in(ada, "", digest=D2)
    assert await plays(world, "Later") == {"ada/bot": D3}
    await store.log_in(ada, "", digest="9" * 64)  # what its author connects is what it wants now
    assert await plays(world, "Later") == {"ada/bot": "9" * 64}
    # A version that connects may play after any result of a check.
    fifth = await store.submissions.add(ada.id, "", "5" * 64, b"5", now + 30)
    await store.write(submission_sql.check, fifth.id, False, "", (), now + 31)
    with pytest.raises(Unknown, match="has no version '55555'"):
        await store.write(
            competition_entries.enter,
            "Cup",
            ada.player_id,
            "bot",
            "55555",
            replaces="",
            now_ms=store.now(),
        )
    await store.log_in(ada, "", digest="5" * 64)
    assert (
        await store.write(
            competition_entries.enter,
            "Cup",
            ada.player_id,
            "bot",
            "55555",
            replaces="",
            now_ms=store.now(),
        )
    ).digest == "5" * 64
    waits = await store.submissions.add(ada.id, "", "6" * 64, b"6", now + 40)
    await store.write(competition_students.withdraw, "Cup", "ada", OLGA, store.now())
    waits = await store.write(submission_sql.check, waits.id, True, "", GAMES, now + 41)
    outcomes = {each.competition: each.outcome for each in waits.competitions}
    assert outcomes == {"Cup": "out", "Later": "entered"}
    assert OUTCOMES.keys() >= set(outcomes.values())
    # Choosing another version meanwhile replaces the first choice.
    last = await store.submissions.add(ada.id, "", "7" * 64, b"7", now + 50, competition="Later")
    await store.write(
        competition_entries.enter,
        "Later",
        ada.player_id,
        "bot",
        "55555",
        replaces="",
        now_ms=store.now(),
    )
    last = await store.write(submission_sql.check, last.id, True, "", GAMES, now + 51)
    assert [each.outcome for each in last.competitions] == ["pinned"]
    assert await plays(world, "Later") == {"ada/bot": "5" * 64}


async def test_a_bot_is_entered_only_where_it_plays_one_of_the_games(
    world: World, clock: WallClock
) -> None:
    store, store, now = world.store, world.store, clock.now
    for name in ("ada", "bob"):
        await store.add_player(name)
    await course(world, "Cup", "ada", "bob")  # of pig
    ada, bob = await own_bot(world, "ada"), await own_bot(world, "bob")
    for number, (digest, games, outcome) in enumerate(
        (
            (D1, ("tic_tac_toe",), "games"),
            (D2, ("pig(target=50)",), "games"),  # other parameters are another game
            (D3, ("tic_tac_toe", "pig"), "entered"),
            ("4" * 64, ("tic_tac_toe",), "games"),
        )
    ):
        row = await store.submissions.add(ada.id, "", digest, b"1", now + number, competition="Cup")
        row = await store.write(submission_sql.check, row.id, True, "", games, now + number)
        assert (row.status, [each.outcome for each in row.competitions]) == ("ready", [outcome])
        assert outcome in OUTCOMES
    assert await plays(world, "Cup") == {"ada/bot": D3}, "what played goes on"
    await store.log_in(bob, "", digest=D1, games=("tic_tac_toe",))
    assert await plays(world, "Cup") == {"ada/bot": D3}, "nor by connecting for another game"
    await store.log_in(bob, "", digest=D1, games=("tic_tac_toe", "pig"))
    assert await plays(world, "Cup") == {"ada/bot": D3, "bob/bot": D1}


async def test_guests_are_forgotten_with_what_they_left(world: World, clock: WallClock) -> None:
    guest, _ = await world.store.write(sessions.add_guest, ["guest-a"], 50, world.store.now())
    bot = await world.store.ensure_bot(guest.id, "")
    await world.store.submissions.add(bot.id, "", D1, b"1", clock.now)
    clock.now += 60
    await world.store.write(sessions.forget_guests, [guest.id], world.store.now())
    assert await kept(world.store) == []
    with pytest.raises(Unknown):
        await world.store.read(stored_people.player, "guest-a")


async def test_the_id_of_a_deleted_submission_is_not_used_again(
    world: World, clock: WallClock
) -> None:
    store, store = world.store, world.store
    await store.add_player("ada")
    await course(world, "Cup", "ada")
    ada = await own_bot(world, "ada")
    kept = await store.submissions.add(ada.id, "", D1, b"1", clock.now)
    last = await store.submissions.add(ada.id, "", D2, b"2", clock.now, competition="Cup")
    await store.write(competition_sql.move, "Cup", "delete", OLGA, store.now())
    with pytest.raises(Unknown):
        await store.read(submission_sql.find, last.id)
    fresh = await store.submissions.add(ada.id, "", D3, b"3", clock.now)
    assert kept.id < last.id < fresh.id


async def test_packages_go_along_into_a_copy(lasting_url: str, tmp_path_factory: object) -> None:
    target = f"sqlite:///{tmp_path_factory.mktemp('copy') / 'b.db'}"  # type: ignore[attr-defined]
    archive = bytes(range(256)) * 9000
    async with await Store.open(lasting_url) as store:
        ada = await store.ensure_bot((await store.add_player("ada")).id, "")
        for number, digest in enumerate((D1, D2, D3)):
            await store.submissions.add(ada.id, "", digest, archive + digest.encode(), number)
    await copy(lasting_url, target)
    assert await check(target) == []
    async with await Store.open(target) as store:
        assert await kept(store) == [D1, D2, D3]
        assert await store.read(stored_packages.archive, D2) == archive + D2.encode()
        assert len(await store.read(submission_checks.waiting)) == 3

        def lose(connection: Connection) -> None:
            connection.execute(packages.delete().where(packages.c.digest == D2))

        await store._database.write(lose)
        total = await store._database.read(
            lambda c: c.execute(select(func.count()).select_from(packages)).scalar_one()
        )
        assert total == 2

        def cut(connection: Connection) -> None:
            last = package_parts.c.digest == D3, package_parts.c.number > 0
            connection.execute(package_parts.delete().where(*last))

        await store._database.write(cut)
    assert await check(target) == [
        "Submission 2 is waiting, and its package is not there.",
        f"Package {D3[:12]} has {PART} bytes of {len(archive) + 64}.",
    ]
