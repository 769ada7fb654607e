"""Actions of organisers (disable, rename, void), all of them in the audit log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.tournaments import add_competition, add_tournament, results

from plyhouse.protocol.api.people import PlayerAccount
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import (
    audit,
    competition_sql,
    leaderboards,
    match_reads,
    people,
    people_changes,
    tournaments,
    voiding,
)
from plyhouse.storage.errors import (
    AlreadyExists,
    CompetitionRefusal,
    Disabled,
    InvalidName,
    LimitReached,
    Unknown,
)
from plyhouse.storage.rows import By, FinishMatch, StartMatch, TournamentRow
from plyhouse.storage.store import Store

OLGA = By("olga", "cheated")


async def test_a_disabled_player_is_refused_until_it_is_enabled(store: Store, clock: Any) -> None:
    await store.add_player("Ada")
    token = await store.add_token("ada")
    row = await store.write(people_changes.disable_player, "ADA", OLGA, store.now())
    assert row.disabled_ms == clock.now
    with pytest.raises(Disabled, match="the player Ada was disabled by an organiser"):
        await store.authenticate(token)
    assert (
        await store.write(people_changes.enable_player, "ada", OLGA, store.now())
    ).disabled_ms is None
    assert await store.authenticate(token) is not None


async def test_a_disabled_bot_says_so(store: Store, clock: Any) -> None:
    ada = await store.add_player("Ada")
    await store.ensure_bot(ada.id, "Deep")
    row = await store.write(people_changes.disable_bot, "ada", "deep", OLGA, store.now())
    assert (row.name, row.disabled_ms) == ("Deep", clock.now)
    assert (await store.ensure_bot(ada.id, "deep")).disabled_ms == clock.now
    assert (
        await store.write(people_changes.enable_bot, "ada", "deep", OLGA, store.now())
    ).disabled_ms is None
    with pytest.raises(Unknown, match=r"no bot Ada/shallow; bots of Ada: Deep"):
        await store.write(people_changes.disable_bot, "ada", "shallow", OLGA, store.now())


async def test_everything_is_in_the_log_with_who_when_and_why(store: Store, clock: Any) -> None:
    ada = await store.add_player("Ada")
    token = await store.add_token(ada)
    assert await store.read(audit.mark) == 0
    await store.write(
        people_changes.revoke_token, token, By("root (command line)", "leaked"), store.now()
    )
    mark = await store.read(audit.mark)
    clock.now += 5
    await store.write(people_changes.disable_player, "ada", OLGA, store.now(), keep_matches=True)
    (entry,) = await store.read(audit.since, mark)
    assert (entry.who, entry.what, entry.subject) == ("olga", "player.disable", "Ada")
    assert (entry.why, entry.at_ms, entry.keep_matches) == ("cheated", clock.now, True)
    assert entry.subject_id == str(ada.id)
    newest, oldest = await store.read(audit.latest)
    assert (newest.id, oldest.what, oldest.why) == (entry.id, "token.revoke", "leaked")
    assert oldest.subject == f"{token[:12]}... of Ada"
    assert await store.read(audit.latest, 1) == [newest]
    assert await store.read(audit.latest, before=newest.id) == [oldest]


async def test_what_fails_is_not_in_the_log(store: Store) -> None:
    with pytest.raises(Unknown):
        await store.write(people_changes.disable_player, "nobody", OLGA, store.now())
    assert await store.read(audit.latest) == []


async def test_whoever_reads_the_log_while_others_write_misses_nothing(lasting_url: str) -> None:
    async with await Store.open(lasting_url) as reader, await Store.open(lasting_url) as writer:
        await writer.add_player("ada")
        seen: list[int] = []
        done = asyncio.Event()

        async def follow() -> None:
            mark = 0
            while True:
                last = done.is_set()
                for entry in await reader.read(audit.since, mark):
                    seen.append(entry.id)
                    mark = entry.id
                if last:
                    return

        following = asyncio.create_task(follow())
        await asyncio.gather(
            *(writer.write(people_changes.set_display, "ada", str(n), OLGA, 1) for n in range(40))
        )
        done.set()
        await following
        assert len(seen) == 40
        assert seen == sorted(seen)


async def test_a_renamed_player_takes_its_past_along(store: Store, world: Any) -> None:
    match = await world.play("ada", "bob", returns=(1, -1))
    row = await store.write(people_changes.rename_player, "ada", "Countess", OLGA, store.now())
    assert row.name == "Countess"
    (first, _) = (await store.read(match_reads.stored_match, match)).header.seats
    assert (first.player, first.bot) == ("Countess", "Countess"), "its own bot is called like it"
    with pytest.raises(Unknown):
        await store.read(people.player, "ada")
    assert (
        await store.write(people_changes.rename_player, "countess", "ADA", OLGA, store.now())
    ).name == "ADA"


async def test_a_player_is_not_renamed_to_what_is_taken(store: Store) -> None:
    ada = await store.add_player("ada")
    await store.ensure_bot(ada.id, "")
    await store.ensure_bot(ada.id, "deep")
    await store.add_player("bob")

    async def rename(new: str) -> PlayerAccount:
        return await store.write(people_changes.rename_player, "ada", new, OLGA, store.now())

    with pytest.raises(AlreadyExists, match="there is a player 'bob' already"):
        await rename("BOB")
    with pytest.raises(AlreadyExists, match="ada has a bot 'deep'"):
        await rename("Deep")
    with pytest.raises(InvalidName):
        await rename("a b")
    assert (await rename("Ada")).name == "Ada", "only the case"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("  Zoë  ", "Zoë"),
        ("Zoe\u0308", "Zoë"),
        ("佐藤 花子", "佐藤 花子"),
        ("مريم", "مريم"),
        ("♞ Team 7!", "♞ Team 7!"),
        ("", ""),
        ("x" * 64, "x" * 64),
    ],
)
async def test_display_names_are_of_any_script_and_normal(
    store: Store, given: str, kept: str
) -> None:
    await store.add_player("ada")
    await store.write(people_changes.set_display, "ada", given, OLGA, store.now())
    assert (await store.read(people.player, "ada")).display == kept


@pytest.mark.parametrize(
    "name",
    [
        "a\nb",
        "a\x00b",
        "\u202eadmin",
        "a\u2066b",
        "a\u200bb",
        "a\u00adb",
        "a\u2028b",
        "a\ud800",
        "\u0301a",
        "a\u00a0b",
        "\U000e0041",
        "x" * 65,
    ],
)
async def test_display_names_deceive_nobody(store: Store, name: str) -> None:
    await store.add_player("ada")
    with pytest.raises(InvalidName, match="display name"):
        await store.write(people_changes.set_display, "ada", name, OLGA, store.now())
    assert (await store.read(people.player, "ada")).display == ""


async def test_bots_and_versions_have_a_limit_that_old_ones_do_not_meet(store: Store) -> None:
    ada = await store.add_player("ada")
    first = await store.ensure_bot(ada.id, "one", limit=1)
    with pytest.raises(LimitReached, match="a player has 1 bots here at most"):
        await store.ensure_bot(ada.id, "two", limit=1)
    assert await store.ensure_bot(ada.id, "ONE", limit=1) == first
    version = await store.ensure_version(first.id, "1", limit=1)
    with pytest.raises(LimitReached, match="a bot has 1 versions here at most"):
        await store.ensure_version(first.id, "2", limit=1)
    assert await store.ensure_version(first.id, "1", limit=1) == version


async def test_a_void_match_leaves_leaderboard_tables_and_ratings(store: Store, world: Any) -> None:
    bots = [(await world.bot(name)).id for name in ("ada", "bob")]
    cup = TournamentRow("cup", "Cup", "pig", "move:1", "round_robin", 1, True, True, 1)
    await add_tournament(store, cup, bots)
    before = await world.play("ada", "bob", returns=(1, -1), tournament_id="cup")
    board, pairs = (
        await store.read(leaderboards.leaderboard, "pig"),
        await store.read(leaderboards.pair_results_of, "pig"),
    )
    table = await results(store, "cup")
    match = await world.play("bob", "ada", returns=(3, -3), tournament_id="cup")
    assert await store.read(leaderboards.leaderboard, "pig") != board
    await store.write(voiding.void_match, match, OLGA, match_scores((3, -3)), store.now())
    assert await store.read(leaderboards.leaderboard, "pig") == board
    assert await store.read(leaderboards.pair_results_of, "pig") == pairs
    assert await results(store, "cup") == table
    header = (await store.read(match_reads.stored_match, match)).header
    assert (header.void_reason, header.returns, header.status) == ("cheated", (3, -3), "finished")
    (entry,) = await store.read(audit.latest)
    assert (entry.what, entry.subject, entry.subject_id) == ("match.void", "pig", match)
    with pytest.raises(AlreadyExists, match="void already"):
        await store.write(voiding.void_match, match, OLGA, match_scores((3, -3)), store.now())
    await store.write(voiding.void_match, before, OLGA, match_scores((1, -1)), store.now())
    assert await store.read(leaderboards.leaderboard, "pig") == []
    assert await store.read(leaderboards.pair_results_of, "pig") == []


async def test_the_last_match_of_a_version_made_void_shows_the_one_before(
    store: Store, world: Any
) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    await world.upgrade("ada", "2")
    match = await world.play("ada", "bob", returns=(-1, 1))
    await store.write(voiding.void_match, match, OLGA, match_scores((-1, 1)), store.now())
    shown = {
        row.bot: (row.version, row.games)
        for row in await store.read(leaderboards.leaderboard, "pig")
    }
    assert shown == {"ada": ("1", 1), "bob": ("1", 1)}


async def test_every_pair_of_a_big_match_is_taken_back(store: Store, world: Any) -> None:
    await world.play("ada", "bob", "cy", returns=(2, 1, -3))
    board, pairs = (
        await store.read(leaderboards.leaderboard, "pig"),
        await store.read(leaderboards.pair_results_of, "pig"),
    )
    match = await world.play("cy", "ada", "bob", returns=(2, -1, -1))
    await store.write(voiding.void_match, match, OLGA, match_scores((2, -1, -1)), store.now())
    assert await store.read(leaderboards.leaderboard, "pig") == board
    assert await store.read(leaderboards.pair_results_of, "pig") == pairs


async def test_a_running_match_that_was_made_void_counts_nowhere_when_it_ends(
    store: Store, world: Any
) -> None:
    match, ops = await world.new("ada", "bob")
    await store.apply([*ops, StartMatch(match, ("", ""), 11)])
    await store.write(voiding.void_match, match, OLGA, None, store.now())
    assert await store.read(voiding.void_running) == [match]
    end = FinishMatch(match, "normal", (1.0, -1.0), 7, 99, scores=match_scores((1.0, -1.0)))
    await store.apply([end])
    assert await store.read(leaderboards.leaderboard, "pig") == []
    assert await store.read(voiding.void_running) == []
    assert (await store.read(match_reads.stored_match, match)).header.returns == (1, -1)


async def test_a_match_that_nobody_knows_cannot_be_made_void(store: Store) -> None:
    with pytest.raises(Unknown, match="no match 'none'"):
        await store.write(voiding.void_match, "none", OLGA, None, store.now())


async def test_a_competition_is_paused_resumed_and_deleted(store: Store) -> None:
    bot = await store.ensure_bot((await store.add_player("ada")).id, "mybot")
    cup = TournamentRow(
        "cup", "Cup", "pig", "move:1", "round_robin", 1, True, True, 1, "running", started_ms=1
    )
    await add_competition(store, cup, [bot.id])
    assert (
        await store.write(competition_sql.move, "cup", "pause", OLGA, store.now())
    ).status == "paused"
    resumed = await store.write(competition_sql.move, "cup", "resume", OLGA, store.now())
    assert (resumed.status, resumed.started_ms) == ("running", 1)
    with pytest.raises(Unknown, match="has no entry"):
        await store.write(tournaments.withdraw, "cup", 99, OLGA, store.now())
    await store.write(tournaments.withdraw, "cup", bot.id, OLGA, store.now())
    assert (await store.read(tournaments.list_entries, "cup"))[0].status == "withdrawn"
    await store.write(competition_sql.move, "cup", "finish", OLGA, store.now())
    with pytest.raises(CompetitionRefusal, match="'Cup' is finished, and cannot be paused"):
        await store.write(competition_sql.move, "cup", "pause", OLGA, store.now())
    assert (
        await store.write(competition_sql.move, "cup", "delete", OLGA, store.now())
    ).status == "deleted"
    assert await store.read(tournaments.list_all) == []
    with pytest.raises(Unknown):
        await store.read(tournaments.overview, "cup")
    assert [entry.what for entry in await store.read(audit.latest)] == [
        "competition.delete",
        "competition.finish",
        "competition.withdraw",
        "competition.resume",
        "competition.pause",
        "competition.run",
        "competition.open",
    ]
