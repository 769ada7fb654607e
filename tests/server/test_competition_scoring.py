"""The scoring of a final's matches: the file decides it, and every score names it."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.harness.finals import HERE, Course
from tests.harness.server import BotClient

from plyhouse.games import Scoring
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import MatchMessage, Ready, Welcome
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.grades.final_rules import scoring_of
from plyhouse.server.results.record import read_record
from plyhouse.storage import competition_results, competition_sql, competition_students
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By, TournamentRow

FILE = """
name = "Cup"
games = ["kuhn_poker"]
time_control = "total:60"
board = "public"
{more}
[format]
name = "double_round_robin"
[[baselines]]
bot = "staff/bot"
grade = "pass"
at_least = 0.4
"""
OLGA = By("olga")


def at_random(name: str) -> Any:
    async def play(client: Any, snapshot: Any) -> None:
        await client.play(snapshot, sum(map(ord, name)))

    return play


def scored(mine: float, other: float, scoring: str) -> float:
    """The score of a match of Kuhn poker, whose returns differ by 4 at most."""
    if scoring == "returns":
        return 0.5 + (mine - other) / 8
    return 1.0 if mine > other else 0.5 if mine == other else 0.0


@pytest.mark.parametrize(
    ("more", "scoring"),
    [
        ("", "returns"),
        ('scoring = "wins"', "wins"),
        ('scoring = { kuhn_poker = "wins" }', "wins"),
        ('scoring = "returns"', "returns"),
    ],
)
async def test_final_is_scored_as_its_file_says_and_says_so(
    house: Any, more: str, scoring: str
) -> None:
    cup = Course(house, FILE.format(more=more))
    await cup.freeze("kuhn_poker", "s0", "s1", staff=("staff",))
    await cup.play(at_random)
    async with cup.web("olga") as web:
        lines = (await web.get(f"{HERE}/cup/export/jsonl")).text.splitlines()
        table = (await web.get(f"{HERE}/cup/export/csv")).text
        grades = (await web.get(f"{HERE}/cup/export/grades")).text
        notes = (await web.get(f"{HERE}/cup/export/md")).text
        whole = (await web.get(f"{HERE}/cup/export")).json()
        page = (await web.get("/competitions/cup")).text
    wanted = defaultdict(list)
    for record in map(read_record, lines):
        assert record.outcome is not None
        returns = record.outcome.returns
        for seat, other in ((0, 1), (1, 0)):
            name = f"{record.seats[seat].player}/{record.seats[seat].bot}"
            wanted[name].append(scored(returns[seat], returns[other], scoring))
    assert len(lines) == 12
    rows = list(csv.DictReader(io.StringIO(table)))
    assert {row["entry"]: float(row["score"]) for row in rows} == {
        name: pytest.approx(sum(each) / len(each)) for name, each in wanted.items()
    }
    marks = list(csv.DictReader(io.StringIO(grades)))
    told = [row["scoring"] for row in rows + marks] + [row["scoring"] for row in whole["grades"]]
    assert told == [scoring] * 7
    assert f"Matches are scored by {scoring}." in notes
    assert f"is scored by {scoring}: " in page
    report = await cup.get("/report", "s0")
    assert report["scoring"] == {"kuhn_poker": scoring}
    assert (await cup.get("/table"))["scoring"] == {"kuhn_poker": scoring}
    (game,) = (await cup.get("", "olga"))["progress"]
    assert game["scoring"] == scoring


async def test_match_that_a_restart_interrupts_is_scored_as_its_file_says(tmp_path: Path) -> None:
    config = ServerConfig(database=f"sqlite:///{tmp_path / 'cup.db'}")
    hub = await Hub.open(config)
    text = 'name = "Cup"\ngames = ["kuhn_poker"]\ntime_control = "total:60"\nscoring = "wins"\n'
    await hub.competitions.open(text, OLGA)
    joined = await hub.store.write(
        competition_students.take_in,
        "Cup",
        [NewMember(n, n) for n in ("s0", "s1")],
        OLGA,
        hub.store.now(),
    )

    async def clients() -> list[tuple[BotClient, Welcome]]:
        found = []
        for each in joined:
            client = BotClient(hub.connect(), MSGPACK)
            options = {"games": ["kuhn_poker"], "max_matches": 2, "takeover": True}
            found.append((client, await client.hello(each.token, "bot", **options)))
        return found

    there = await clients()
    await hub.store.write(competition_sql.move, "Cup", "freeze", OLGA, hub.store.now())
    row = await hub.competitions.run("Cup", OLGA)
    for client, _ in there:
        await client.next(MatchMessage)
    for shown in [each.match.config.match for each in hub.directory.own.values()]:
        for client, _ in there:
            await client.ask(Ready, shown, "ab12")
    await hub.close()

    hub = await Hub.open(config)

    async def finish(client: BotClient, welcome: Welcome) -> None:
        for shown in welcome.matches:
            await client.ask(Ready, shown.match, "ab12")
            await client.play(shown, 7)

    await asyncio.gather(*(finish(*each) for each in await clients()))
    await hub.close()
    hub = await Hub.open(config)
    seats = await hub.store.read(competition_results.played, row.id)
    assert len(seats) == 4
    assert {each.score for each in seats} <= {0.0, 0.5, 1.0}
    assert {abs(each.returned or 0.0) for each in seats} <= {1.0, 2.0}
    await hub.close()


@pytest.mark.parametrize(
    ("game", "data", "scoring"),
    [
        ("kuhn_poker", '{"scoring": "wins"}', Scoring.WINS),
        ("pig", '{"scoring": "returns"}', Scoring.RETURNS),
        ("kuhn_poker", "{}", Scoring.RETURNS),  # begun before a file could choose
        ("pig", "{}", Scoring.WINS),
        ("leduc_poker", "{}", Scoring.WINS),
        ("leduc_poker", '{"scoring": "returns"}', Scoring.RETURNS),
    ],
)
def test_begun_final_keeps_the_scoring_that_was_stored(
    game: str, data: str, scoring: Scoring
) -> None:
    row = TournamentRow("c", "Cup", game, "move:1", "round_robin", 1, True, False, 0, data=data)
    assert scoring_of(row) is scoring
