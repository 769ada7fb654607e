"""Places by the rules of the format on every board and in every file, and seeding by lot."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import io
import json
from typing import Any

from click.testing import CliRunner
from tests.harness.finals import Course, resign, weaker_resigns

from plyhouse.clients.cli.competition_status import pairings
from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.server.match.presence import PRIVATE

KNOCKOUT = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "{board}"
[format]
name = "knockout"
extra = 0
"""
HIDDEN = '[[baselines]]\nbot = "secret/bot"\nhidden = true\n'


async def knockout(house: Any, board: str = "public", more: str = "") -> tuple[Course, list[str]]:
    """Play a knockout whose winner only ever draws; return it with the order of the seeds.

    The first seed wins one match and loses one against everybody, and goes on as the better
    seed. So its mean score is 0.5, and that of the second seed is 0.75.
    """
    cup = Course(house, KNOCKOUT.format(board=board) + more)
    staff = ("secret",) if more else ()
    await cup.freeze("connect_four", *[f"s{each}" for each in range(4 - len(staff))], staff=staff)
    seeds: list[str] = []

    def how(name: str) -> Any:
        async def play(client: Any, snapshot: MatchSnapshot) -> None:
            if not seeds:
                [final] = await cup.get("/rounds", "olga")
                seeds[:] = [each.partition("/")[0] for each in final["seeds"]]
            names = ["secret" if e.player == PRIVATE else e.player for e in snapshot.players]
            worse = names[1] if seeds[0] in names else max(names, key=seeds.index)
            if name == worse:
                await resign(client, snapshot)

        return play

    await cup.play(how)
    return cup, seeds


async def test_the_winner_of_a_knockout_is_first_everywhere(house: Any) -> None:
    cup, seeds = await knockout(house)
    found = await cup.get("/table")
    lines = found["lines"]
    assert [line["entry"] for line in lines[:2]] == [f"{seeds[0]}/bot", f"{seeds[1]}/bot"]
    assert [line["place"] for line in lines] == [1, 2, 3, 3]
    assert (lines[0]["score"], lines[1]["score"]) == (0.5, 0.75)
    assert lines[1]["rank"] == 1, "the second one has the best mean score"
    assert found["decided_by"] == "last round"
    assert [line["decider"] for line in lines] == [
        "Final, won",
        "Final",
        "Semifinals",
        "Semifinals",
    ]
    board = await cup.get("/board")
    assert [line["place"] for line in board] == [1, 2, 3, 3]
    [final] = await cup.get("/rounds")
    assert [line["place"] for line in final["table"]] == [1, 2, 3, 3]
    exported = await cup.get("/export", "olga")
    assert [line["place"] for line in exported["standings"]] == [1, 2, 3, 3]
    async with cup.web() as web:
        files = {
            form: (await web.get(f"{cup.here}/export/{form}")).text
            for form in ("csv", "json", "md")
        }
        page = (await web.get("/competitions/cup")).text
    for text in (files["csv"], exported["standings_csv"]):
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [(row["place"], row["entry"]) for row in rows[:2]] == [
            ("1", f"{seeds[0]}/bot"),
            ("2", f"{seeds[1]}/bot"),
        ]
        assert "rank" not in rows[0], "a rank of no known kind"
    assert [line["place"] for line in json.loads(files["json"])["standings"]] == [1, 2, 3, 3]
    assert "| place | entry |" in files["md"]
    assert "Places are decided by the round in which an entry was beaten." in files["md"]
    assert page.index(f"{seeds[0]}/bot") < page.index(f"{seeds[1]}/bot")
    assert "rank by rating" in page
    assert "last round (decides)" in page
    assert "Final, won" in page
    report = await cup.get("/report", seeds[0])
    assert report["entries"][0]["place"] == 1


async def test_a_disqualified_winner_loses_its_place_to_the_next(house: Any) -> None:
    cup, seeds = await knockout(house)
    async with cup.web("olga") as web:
        body = {"who": f"{seeds[0]}/bot", "why": "a test"}
        answer = await web.post(f"{cup.here}/disqualify", json=body)
        assert answer.status_code < 300, answer.text
    lines = (await cup.get("/table"))["lines"]
    assert [(line["entry"].partition("/")[0], line["place"]) for line in lines][:2] == [
        (seeds[1], 1),
        (lines[1]["student"], 2),
    ]
    assert (lines[-1]["student"], lines[-1]["place"]) == (seeds[0], None)
    [final] = await cup.get("/rounds")
    places = {row["entry"]: row["place"] for row in final["table"]}
    assert (places[f"{seeds[0]}/bot"], places[f"{seeds[1]}/bot"]) == (None, 1)


async def test_entries_without_a_rating_are_seeded_by_a_lot_that_anybody_recomputes(
    house: Any,
) -> None:
    cup, seeds = await knockout(house, more=HIDDEN)
    [final] = await cup.get("/rounds", "olga")
    names = {name: f"{name}/bot" for name in seeds} | {"secret": "hidden 1"}
    order = sorted(
        names, key=lambda each: hashlib.sha256(f"{final['lot']} {names[each]}".encode()).digest()
    )
    assert seeds == order
    assert any(final["lot"] in note for note in (await cup.get("/table"))["notes"])
    [shown] = await cup.get("/rounds")
    assert shown["lot"] == final["lot"]
    assert shown["seeds"] == [f"{name}/bot" for name in order if name != "secret"]
    # A hidden baseline leaves no gap between the places.
    lines = (await cup.get("/table"))["lines"]
    listed = [row["place"] for row in shown["table"]]
    assert listed == [line["place"] for line in lines]
    assert listed[0] == 1
    assert len(listed) == 3
    assert listed == [1 + sum(other < each for other in listed) for each in listed]


async def test_an_anonymous_board_shows_places_and_no_seeds(house: Any) -> None:
    cup, seeds = await knockout(house, "anonymous")
    last = (await cup.get("/table", "olga"))["lines"][-1]["student"]
    own = await cup.get("/table", last)
    assert [line["place"] for line in own["lines"]] == [1, 2, 3, 3]
    assert [line["student"] for line in own["lines"]] == [PRIVATE] * 3 + [last]
    [final] = await cup.get("/rounds", last)
    # With the seed and the names of the class, the lot could be drawn again.
    assert (final["seeds"], final["lot"]) == ([], "")
    [whole] = await cup.get("/rounds", "olga")
    assert whole["lot"] not in json.dumps(own)
    assert any(whole["lot"] in note for note in (await cup.get("/table", "olga"))["notes"])
    for other in set(seeds) - {last}:
        assert f"{other}/" not in json.dumps(own)


async def test_rounds_shows_both_brackets_of_a_double_elimination_and_the_lot(house: Any) -> None:
    cup = Course(house, KNOCKOUT.format(board="public").replace("knockout", "double_elimination"))
    names = ["s0", "s1", "s2", "s3"]
    await cup.freeze("connect_four", *names)
    await cup.play(weaker_resigns(names))
    options = ["--server", house.server.url, "--token", cup.tokens["olga"]]
    done = await asyncio.to_thread(CliRunner().invoke, pairings, ["Cup", *options])
    assert done.exit_code == 0, done.output
    titles = ["Winners, round 1", "Losers, round 1", "Winners, final", "Losers, final"]
    for title in (*titles, "Grand final"):
        assert f"\n{title}\n" in done.output, title
    assert "s0/bot wins" in done.output
    [final] = await cup.get("/rounds")
    seeds = ", ".join(f"{place} {name}" for place, name in enumerate(final["seeds"], 1))
    assert f"Seeds: {seeds}." in done.output
    assert f"by lot with the seed {final['lot']}." in done.output
    assert [line["place"] for line in final["table"]] == [1, 2, 3, 4]
    assert [line["entry"] for line in final["table"]] == [f"{name}/bot" for name in names]
