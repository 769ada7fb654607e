from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.tournaments import add_tournament, results

from plyhouse.server.results.leaderboards import board
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import (
    bot_profiles,
    leaderboards,
    match_lists,
    people,
    tournaments,
    voiding,
)
from plyhouse.storage.errors import AlreadyExists, Unknown
from plyhouse.storage.rows import By, FinishMatch, TournamentRow
from plyhouse.storage.store import Store


@dataclass(frozen=True)
class Rating:
    elo: float
    low: float
    high: float


async def test_standings_and_pairs_follow_the_matches(store: Store, world: Any) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    await world.play("bob", "ada", returns=(1, -1))
    await world.play("bob", "ada", returns=(-1, 1))
    await world.play("ada", "bob", returns=(0, 0))
    await world.play("cy", "ada", returns=(4, -4))
    rows = {row.bot: row for row in await store.read(leaderboards.leaderboard, "pig")}
    assert [(rows[n].score, rows[n].games) for n in ("ada", "bob", "cy")] == [
        (2.5, 5),
        (1.5, 4),
        (1.0, 1),
    ]
    ada = rows["ada"]
    assert (ada.rank, ada.wins, ada.draws, ada.losses, ada.returns) == (1, 2, 1, 2, -3.0)
    assert (ada.rating, ada.low, ada.high) == (None, None, None)
    names = {await world.version(name): name for name in ("ada", "bob", "cy")}
    assert [
        (
            names[r.version_a],
            names[r.version_b],
            r.wins_a,
            r.draws,
            r.wins_b,
            r.score_a,
            r.squares_a,
        )
        for r in await store.read(leaderboards.pair_results_of, "pig")
    ] == [("ada", "bob", 2, 1, 1, 2.5, 2.25), ("ada", "cy", 0, 0, 1, 0, 0)]
    assert [r.games for r in await store.read(leaderboards.pair_results_of, "pig")] == [4, 1]


async def test_returns_and_their_squares_are_summed_and_score_where_they_count(
    store: Store, world: Any
) -> None:
    await world.play("ada", "bob", returns=(1, -1), game="kuhn_poker", span=4)
    await world.play("bob", "ada", returns=(-2, 2), game="kuhn_poker", span=4)
    await world.play("ada", "bob", returns=(-1, 1), game="kuhn_poker", span=4)
    ada, bob = await store.read(leaderboards.leaderboard, "kuhn_poker")
    assert (ada.bot, ada.score, ada.wins, ada.draws, ada.losses) == ("ada", 2.0, 2, 0, 1)
    assert (bob.score, bob.returns, bob.return_squares) == (1.0, -2, 6)
    assert (ada.returns, ada.return_squares) == (2, 6)
    (pair,) = await store.read(leaderboards.pair_results_of, "kuhn_poker")
    assert (pair.games, pair.wins_a, pair.draws, pair.wins_b) == (3, 2, 0, 1)
    assert (pair.score_a, pair.squares_a) == (2.0, 0.75**2 + 1 + 0.25**2)


async def test_a_competition_goes_by_returns_where_they_count(store: Store, world: Any) -> None:
    bots = [(await world.bot(name)).id for name in ("ada", "bob")]
    await add_tournament(store, COMPETITION, bots)
    for returns in ((1, -1), (1, -1), (-4, 4)):
        await world.play("ada", "bob", returns=returns, tournament_id="cup", span=8)
    assert [(row.bot, row.score, row.wins) for row in await results(store, "cup")] == [
        ("bob", 1.75, 1),
        ("ada", 1.25, 2),
    ]


async def test_every_two_seats_of_a_big_match_are_a_pair(store: Store, world: Any) -> None:
    await world.play("cy", "ada", "bob", returns=(2, -1, -1))
    pairs = {
        (r.version_a, r.version_b): (r.wins_a, r.draws, r.wins_b)
        for r in await store.read(leaderboards.pair_results_of, "pig")
    }
    cy, ada, bob = [await world.version(name) for name in ("cy", "ada", "bob")]
    assert pairs == {(cy, ada): (1, 0, 0), (cy, bob): (1, 0, 0), (ada, bob): (0, 1, 0)}


async def test_partners_are_no_pair(store: Store, world: Any) -> None:
    names = ("ada", "bob", "cy", "dan")
    teams = (0, 1, 0, 1)
    match = await world.play(*names, returns=(3, -3, 3, -3), game="bridge", teams=teams)
    ada, bob, cy, dan = [await world.version(name) for name in names]
    found = await store.read(leaderboards.pair_results_of, "bridge")
    assert {(each.version_a, each.version_b) for each in found} == {
        (ada, bob), (ada, dan), (bob, cy), (cy, dan)
    }  # fmt: skip
    scores = match_scores((3, -3, 3, -3), teams=teams)
    await store.write(voiding.void_match, match, By("olga"), scores, store.now())
    assert await store.read(leaderboards.pair_results_of, "bridge") == []


@pytest.mark.parametrize(
    "how",
    [{"rated": False}, {"termination": "aborted", "void": True}],
)
async def test_casual_and_void_matches_count_nowhere(store: Store, world: Any, how: Any) -> None:
    await world.play("ada", "bob", returns=(1, -1), **how)
    assert await store.read(leaderboards.leaderboard, "pig") == []
    assert await store.read(leaderboards.pair_results_of, "pig") == []
    assert await store.read(leaderboards.games_with_results) == []


async def test_a_bot_against_itself_makes_no_pair(store: Store, world: Any) -> None:
    await world.play("ada", "ada", returns=(1, -1))
    assert await store.read(leaderboards.pair_results_of, "pig") == []
    (ada,) = await store.read(leaderboards.leaderboard, "pig")
    assert (ada.games, ada.wins, ada.losses) == (2, 1, 1)


async def test_games_are_told_apart_with_their_parameters(store: Store, world: Any) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    await world.play("ada", "bob", returns=(1, -1), game="pig(target=50)")
    assert await store.read(leaderboards.games_with_results) == ["pig", "pig(target=50)"]
    assert [row.games for row in await store.read(leaderboards.leaderboard, "pig")] == [1, 1]


async def test_ratings_order_the_leaderboard_and_unrated_bots_come_last(
    store: Store, world: Any, clock: Any
) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    await world.play("cy", "bob", returns=(1, -1))
    ada, bob, cy = [await world.version(name) for name in ("ada", "bob", "cy")]
    await store.write(
        leaderboards.save_ratings,
        "pig",
        {bob: Rating(-50, -90, -10), cy: Rating(40.5, 0, 80)},
        store.now(),
    )
    rows = await store.read(leaderboards.leaderboard, "pig")
    assert [(row.rank, row.bot) for row in rows] == [(1, "cy"), (2, "bob"), (3, "ada")]
    assert [row.rating for row in rows] == [40.5, -50, None]
    assert (rows[0].low, rows[0].high) == (0, 80)
    assert [
        row.version_id
        for row in await store.read(leaderboards.leaderboard, "pig", limit=2, offset=1)
    ] == [
        bob,
        ada,
    ]
    assert (await store.read(leaderboards.leaderboard, "pig", limit=2, offset=1))[0].rank == 2
    # Results that come later keep the rating; an unchanged one makes no snapshot.
    await world.play("ada", "cy", returns=(1, -1))
    clock.now += 10
    await store.write(
        leaderboards.save_ratings,
        "pig",
        {bob: Rating(-50, -90, -10), cy: Rating(20, 0, 60)},
        store.now(),
    )
    history = await store.read(bot_profiles.ratings_of, (await world.bot("cy")).id, ["pig"], 9)
    assert [(s.rating, s.games, s.taken_ms) for s in history] == [
        (40.5, 1, 1_000_000),
        (20, 2, 1_000_010),
    ]
    assert (
        len(await store.read(bot_profiles.ratings_of, (await world.bot("bob")).id, ["pig"], 9)) == 1
    )


async def test_only_bots_with_results_can_be_rated(store: Store, world: Any) -> None:
    ada = await world.version("ada")
    with pytest.raises(Unknown, match="no rated result in pig"):
        await store.write(leaderboards.save_ratings, "pig", {ada: Rating(1, 0, 2)}, store.now())


COMPETITION = TournamentRow(
    "cup", "Autumn cup", "pig", "move:1", "round_robin", 2, True, True, 100, data="{}"
)


async def test_a_competition_has_entries_progress_and_a_table(
    store: Store, world: Any, clock: Any
) -> None:
    names = ["ada", "bob", "cy"]
    await add_tournament(store, COMPETITION, [(await world.bot(name)).id for name in names])
    assert await store.read(tournaments.list_all) == [COMPETITION]
    entries = await store.read(tournaments.list_entries, "cup")
    assert [(entry.bot, entry.status, entry.created_ms) for entry in entries] == [
        (name, "active", 100) for name in names
    ]
    clock.now += 1
    await world.play("ada", "bob", returns=(-1, 1), tournament_id="cup")
    await world.play("ada", "bob", returns=(0, 0), tournament_id="cup", rated=False)
    await world.play("ada", "cy", returns=(9, -9))  # elsewhere
    await world.play("ada", "bob", returns=(5, -5), tournament_id="cup", void=True)
    _, ops = await world.new("ada", "cy", tournament_id="cup")
    await store.apply(ops)
    shown = await store.read(tournaments.overview, "cup")
    assert (shown.row.status, shown.entries) == ("running", entries)
    assert [line[1:] for line in await results(store, "cup")] == [
        ("bob", 1.5, 2, 1, 1, 0),
        ("ada", 0.5, 2, 0, 1, 1),
        ("cy", 0.0, 0, 0, 0, 0),
    ]
    assert (shown.planned, shown.created, shown.finished) == (4, 4, 3)
    assert (
        len(
            await store.read(
                match_lists.list_matches, match_lists.MatchFilter(tournament_ids=("cup",))
            )
        )
        == 4
    )
    await store.write(tournaments.finish, "cup", store.now())
    (row,) = await store.read(tournaments.list_all)
    assert (row.status, row.finished_ms) == ("finished", clock.now)


async def test_what_is_wrong_with_a_competition_is_said(store: Store, world: Any) -> None:
    bot = await world.bot("ada")
    await add_tournament(store, COMPETITION, [bot.id])
    with pytest.raises(AlreadyExists):
        await add_tournament(store, COMPETITION, [bot.id])
    other = replace(COMPETITION, id="other")
    with pytest.raises(AlreadyExists):
        await add_tournament(store, other, [bot.id, bot.id])
    with pytest.raises(Unknown):
        await add_tournament(store, other, [99])
    assert [row.id for row in await store.read(tournaments.list_all)] == ["cup"], "all or nothing"
    with pytest.raises(Unknown, match="no competition 'x'"):
        await store.read(tournaments.overview, "x")


async def test_bots_are_found_by_the_names_of_their_players(store: Store, world: Any) -> None:
    for name in ("ada", "bob", "cy"):
        await world.bot(name)
    found = await store.read(people.bots_of, ["ADA", "cy", "zed"])
    assert sorted(bot.name for bot in found) == ["ada", "cy"]
    assert await store.read(people.bots_of, []) == []


async def test_results_are_kept_per_version_and_the_latest_is_shown(
    store: Store, world: Any
) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    old = await world.version("ada")
    new = await world.upgrade("ada", "2")
    await world.play("ada", "bob", returns=(-1, 1))
    await world.play("bob", "ada", returns=(1, -1))
    rows = {row.bot: row for row in await store.read(leaderboards.leaderboard, "pig")}
    assert len(await store.read(leaderboards.leaderboard, "pig")) == 2, "one line for each bot"
    assert (rows["ada"].version, rows["ada"].version_id) == ("2", new)
    assert (rows["ada"].games, rows["ada"].losses, rows["ada"].latest) == (2, 2, True)
    assert rows["bob"].games == 3
    every = {
        (row.bot, row.version): row
        for row in await store.read(leaderboards.leaderboard, "pig", every_version=True)
    }
    assert set(every) == {("ada", "1"), ("ada", "2"), ("bob", "1")}
    assert (every["ada", "1"].games, every["ada", "1"].wins, every["ada", "1"].latest) == (
        1,
        1,
        False,
    )
    bob = await world.version("bob")
    met = {
        (r.version_a, r.version_b): r.games
        for r in await store.read(leaderboards.pair_results_of, "pig")
    }
    assert met == {tuple(sorted((old, bob))): 1, tuple(sorted((new, bob))): 2}
    # A bot that returns to an earlier version is listed with that version again.
    await world.upgrade("ada", "1")
    await world.play("ada", "bob", returns=(1, -1))
    assert [
        (r.version, r.games)
        for r in await store.read(leaderboards.leaderboard, "pig")
        if r.bot == "ada"
    ] == [("1", 2)]


async def test_two_versions_that_end_in_one_transaction_leave_one_latest(
    store: Store, world: Any
) -> None:
    first, ops = await world.new("ada", "bob")
    await world.upgrade("ada", "2")
    second, more = await world.new("ada", "bob")
    ends = [
        FinishMatch(*(match, "normal", (1.0, -1.0), 7, 99), scores=match_scores((1.0, -1.0)))
        for match in (second, first)
    ]
    await store.apply([*ops, *more, *ends])
    assert [(r.bot, r.version) for r in await store.read(leaderboards.leaderboard, "pig")] == [
        ("ada", "1"),
        ("bob", "1"),
    ]


async def test_a_new_version_has_a_rating_of_its_own(store: Store, world: Any) -> None:
    await world.play("ada", "bob", returns=(1, -1))
    old = await world.version("ada")
    await store.write(leaderboards.save_ratings, "pig", {old: Rating(30, 0, 60)}, store.now())
    new = await world.upgrade("ada", "2")
    await world.play("ada", "bob", returns=(1, -1))
    assert {r.bot: r.rating for r in await store.read(leaderboards.leaderboard, "pig")} == {
        "ada": None,
        "bob": None,
    }
    await store.write(leaderboards.save_ratings, "pig", {new: Rating(50, 0, 90)}, store.now())
    history = await store.read(bot_profiles.ratings_of, (await world.bot("ada")).id, ["pig"], 9)
    assert [(s.version, s.rating) for s in history] == [("1", 30), ("2", 50)]


async def test_who_plays_alone_is_ranked_by_the_mean_return_of_all_parts(
    store: Store, world: Any
) -> None:
    for name, returns in (("ada", (1.0, 2.0)), ("bob", (9.0,)), ("cy", (4.0,)), ("dan", (3.0,))):
        for each in returns:
            await world.play(name, returns=(each,), game="pacman(ghosts=random)", span=20.0)
    shown = []
    for offset in range(0, 4, 2):
        rows = await board(store, "pacman(ghosts=random)", 2, offset)
        shown += [(row.rank, row.bot, row.mean_return) for row in rows]
    assert [mean for *_, mean in shown] == [9.0, 4.0, 3.0, 1.5]
    assert [rank for rank, *_ in shown] == [1, 2, 3, 4]
