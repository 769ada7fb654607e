"""Lists of matches: filtered by every index that there is, in parts, the same in both ways."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from sqlalchemy import Connection, text
from tests.tournaments import add_tournament

from plyhouse.storage import match_lists
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import MatchFilter, match_ids
from plyhouse.storage.models import competition_games, competitions
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.store import Store

NAMES = ("ada", "bob", "cy", "dan")
GAMES = ("pig", "chess", "go(size=9)", "pig(target=50)", "pigs")
PIGS = ("pig", "pig(target=50)")
ENDINGS = ("normal", "resignation", "flag_fall")


async def played(world: Any, count: int) -> list[dict[str, Any]]:
    """Matches of a few bots, which end in another order than they began."""
    rng = random.Random(7)
    made = []
    for number in range(count):
        seats = rng.sample(NAMES, 2)
        fact: dict[str, Any] = {
            "seats": set(seats),
            "game": rng.choice(GAMES),
            "termination": rng.choice(ENDINGS),
            "competition": rng.choice((None, "cup")),
            "end": rng.randrange(1, 12) * 100 + 89,
        }
        fact["id"] = await world.play(
            *seats,
            returns=(1, -1),
            game=fact["game"],
            termination=fact["termination"],
            tournament_id=fact["competition"],
            created_ms=fact["end"] - 89,
            rated=number % 2 == 0,
        )
        made.append(fact)
    return made


async def competition(store: Store, name: str) -> None:
    row = TournamentRow(name, name, "pig", "move:1", "round_robin", 1, False, False, 1)
    await add_tournament(store, row, [])


@pytest.mark.parametrize(("few", "variants"), [(0, 16), (1_000, 16), (1_000, 1)])
async def test_every_filter_and_every_part_of_the_list_is_what_was_asked_for(
    store: Store, world: Any, monkeypatch: pytest.MonkeyPatch, few: int, variants: int
) -> None:
    monkeypatch.setattr(match_lists, "FEW", few)
    monkeypatch.setattr(match_lists, "VARIANTS", variants)
    await competition(store, "cup")
    made = await played(world, 40)
    bots = {name: (await world.bot(name)).id for name in NAMES}
    combinations = itertools.product(
        (None, "pig", "pig(*)"), ((), ("ada",), ("ada", "bob")), (None, "cup"), (None, "flag_fall")
    )
    for game, seats, cup, ending in combinations:
        expected = [
            fact["id"]
            for fact in sorted(made, key=lambda each: (each["end"], each["id"]), reverse=True)
            if (game is None or fact["game"] in ((game,) if game != "pig(*)" else PIGS))
            and fact["seats"] >= set(seats)
            and (cup is None or fact["competition"] == cup)
            and (ending is None or fact["termination"] == ending)
        ]
        wanted = MatchFilter(
            game=None if game == "pig(*)" else game,
            family="pig" if game == "pig(*)" else None,
            bots=tuple((bots[name],) for name in seats),
            tournament_ids=None if cup is None else (cup,),
            termination=ending,
            by_end=True,
        )
        found: list[str] = []
        before = None
        while part := await store.read(match_lists.list_matches, wanted, limit=3, before=before):
            found += [row.id for row in part]
            before = found[-1]
        assert found == expected, wanted


async def test_a_group_of_bots_is_a_player_with_any_of_them(store: Store, world: Any) -> None:
    one = await world.play("ada", "bob", returns=(1, -1))
    two = await world.play("cy", "dan", returns=(1, -1))
    await world.play("bob", "dan", returns=(1, -1))
    group = tuple([(await world.bot(name)).id for name in ("ada", "cy")])
    rows = await store.read(match_lists.list_matches, MatchFilter(bots=(group,)))
    assert {row.id for row in rows} == {one, two}
    assert await store.read(match_lists.list_matches, MatchFilter(bots=((),))) == []


async def test_a_bot_is_not_found_where_its_name_is_hidden(store: Store, world: Any) -> None:
    for name in ("cup", "open"):
        await competition(store, name)

    def classes(connection: Connection) -> None:
        words = dict.fromkeys(("id", "name", "name_key", "file", "format", "status"), "cup")
        numbers = dict.fromkeys(("entries_each", "most_students", "created_ms"), 1)
        connection.execute(competitions.insert().values({**words, **numbers}))
        values = {"competition_id": "cup", "number": 0, "game": "pig", "tournament_id": "cup"}
        connection.execute(competition_games.insert().values(values))

    await store._database.write(classes)
    bots = {name: (await world.bot(name)).id for name in NAMES}
    hidden = await world.play("ada", "bob", returns=(1, -1), tournament_id="cup")
    both = await world.play("ada", "cy", returns=(1, -1), tournament_id="cup")
    free = await world.play("ada", "bob", returns=(1, -1))
    other = await world.play("ada", "bob", returns=(1, -1), tournament_id="open")
    unnamed = {bots["ada"]: ("cup",), bots["cy"]: ("cup",)}

    async def ids(*names: str) -> set[str]:
        group = tuple(bots[name] for name in names)
        wanted = MatchFilter(bots=(group,), unnamed=unnamed)
        return {row.id for row in await store.read(match_lists.list_matches, wanted)}

    assert await ids("ada") == {free, other}
    assert await ids("bob") == {hidden, free, other}, "of others it is found"
    assert await ids("ada", "bob") == {hidden, free, other}
    assert await ids("ada", "cy") == {free, other}, "two that are hidden do not show each other"
    assert both not in await ids("cy")


PLANS = {
    "ix_matches_finished_ms_id": MatchFilter(by_end=True),
    "ix_matches_game_finished_ms_id": MatchFilter(by_end=True, game="pig"),
    "ix_matches_termination_finished_ms_id": MatchFilter(by_end=True, termination="flag_fall"),
}


@pytest.mark.parametrize("index", PLANS)
@pytest.mark.parametrize("deep", [False, True])
async def test_finished_matches_are_read_in_the_order_of_an_index(
    store: Store, world: Any, index: str, deep: bool
) -> None:
    """Also from the middle of the list on: nothing is sorted, and nothing before it is read."""
    await competition(store, "cup")
    made = await played(world, 6)

    def plan(connection: Connection) -> str:
        before = made[0]["id"] if deep else None
        query = match_ids(connection, PLANS[index], limit=50, before=before)
        sqlite = connection.dialect.name == "sqlite"
        if not sqlite:  # which of a few rows it would rather read as a whole
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            connection.execute(text("SET LOCAL enable_sort = off"))
        words = str(
            query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
        )
        explained = "EXPLAIN QUERY PLAN" if sqlite else "EXPLAIN"
        rows = connection.exec_driver_sql(f"{explained} {words}").all()
        return "\n".join(str(row[-1]) for row in rows)

    told = await store._database.read(plan)
    assert index in told
    assert "TEMP B-TREE" not in told
    assert "Sort" not in told.replace("Incremental Sort", "")


async def test_a_match_that_has_not_ended_is_no_place_to_go_on_from(
    store: Store, world: Any
) -> None:
    match_id, ops = await world.new("ada", "bob")
    await store.apply(ops)
    with pytest.raises(Unknown, match="start anew"):
        await store.read(match_lists.list_matches, MatchFilter(by_end=True), before=match_id)
