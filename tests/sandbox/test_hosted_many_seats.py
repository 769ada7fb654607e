"""Hosted finals of games of four and six seats, with a real server and a real runner."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness.hosted_server import OLGA, hosted_server, until

from plyhouse.games.registry import get_game
from plyhouse.server.competitions.results_cache import ResultsCache
from plyhouse.storage import competition_sql, competition_students, match_lists
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "Cup"
games = ["{game}"]
time_control = "total:60"
[format]
name = "tables"
number = 2
[hosting]
required = true
"""
BOT = """
from plyhouse.bots import Bot


class Middle(Bot):
    games = ("pig", "bridge", "texas_holdem")

    def choose(self, turn):
        return turn.legal[len(turn.legal) // 2]
"""


@pytest.mark.parametrize(
    ("game", "students"),
    # One student sits out each round, or all sit at one table; bridge is the game of the next test.
    [("pig(seats=4,target=10)", 5), ("texas_holdem(hands=1,seats=6)", 6)],
)
async def test_hosted_final_of_many_seats_plays_all_rotations(
    tmp_path: Path, game: str, students: int
) -> None:
    seats = get_game(game).seats
    async with hosted_server(tmp_path) as house:
        hub, store = house.hub, house.hub.store
        await store.add_player("olga")
        cup = await hub.competitions.open(CUP.format(game=game), OLGA)
        members = [NewMember(f"s{number}", f"s{number}") for number in range(students)]
        joined = await store.write(competition_students.take_in, cup.id, members, OLGA, store.now())
        house._players.update(each.account for each in joined)
        for each in joined:
            await house.submit(each.account, BOT, "mine", game)
        await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
        await hub.competitions.run("Cup", OLGA)

        async def over() -> bool:
            return (await store.read(competition_sql.find, "Cup")).status == "finished"

        async with house.runner(bots=64):
            await until(over, lambda: house.said)
        rows = await store.read(match_lists.list_matches, match_lists.MatchFilter(), limit=99)
        assert [row.termination for row in rows] == ["normal"] * 2 * (students // seats) * seats
        row = await store.read(competition_sql.find, "Cup")
        results = await ResultsCache(store).of(row)
        sat = {each.name: [0] * seats for each in results.entrants}
        for outcome in results.outcomes:
            for seat, name in enumerate(outcome.seats):
                sat[name][seat] += 1
        for counts in sat.values():  # as often on each seat
            assert len(set(counts)) == 1
            assert counts[0] >= 1


async def test_hosted_final_of_sides_plays_both_bots_of_each_student(tmp_path: Path) -> None:
    text = CUP.format(game="bridge(boards=1)").replace('"tables"\nnumber = 2', '"round_robin"')
    async with hosted_server(tmp_path) as house:
        hub, store = house.hub, house.hub.store
        await store.add_player("olga")
        cup = await hub.competitions.open(f"teams = true\n{text}", OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob")]
        joined = await store.write(competition_students.take_in, cup.id, members, OLGA, store.now())
        house._players.update(each.account for each in joined)
        for each in joined:
            for bot in ("north", "south"):
                await house.submit(each.account, BOT, bot, "bridge")
        await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
        await hub.competitions.run("Cup", OLGA)

        async def over() -> bool:
            return (await store.read(competition_sql.find, "Cup")).status == "finished"

        async with house.runner(bots=16):
            await until(over, lambda: house.said)
        rows = await store.read(match_lists.list_matches, match_lists.MatchFilter(), limit=99)
        seated = sorted([f"{seat.player}/{seat.bot}" for seat in row.seats] for row in rows)
        assert seated == [
            ["ada/north", "bob/north", "ada/south", "bob/south"],
            ["bob/north", "ada/north", "bob/south", "ada/south"],
        ]
        assert {row.termination for row in rows} == {"normal"}
        results = await ResultsCache(store).of(await store.read(competition_sql.find, "Cup"))
        assert [(line.matches, line.forfeits) for line in results.standings] == [(2, 0), (2, 0)]
