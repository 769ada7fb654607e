"""A baseline that its competition hides has a name for organisers and its account only."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from tests.harness.finals import Course, weaker_resigns
from tests.harness.hosted_server import until
from tests.harness.server import Server

from plyhouse.protocol.messages import (
    Challenge,
    MatchMessage,
    MatchSnapshot,
    Ready,
    Resign,
    Watch,
)
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.results.record import read_record
from plyhouse.server.results.verify import verify

from .routes import get_paths

FILE = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "public"
[[baselines]]
bot = "staff/bot"
[[baselines]]
bot = "Secret/bot"
hidden = true
"""
NAME = re.compile(r"\bsecret\b", re.IGNORECASE)
OF_SECRET = re.compile(r"secret/\w|/bots/secret", re.IGNORECASE)
STUDENTS = ("s0", "s1")
ORDER = ["s0", "staff", "secret", "s1"]


async def frozen(house: Any) -> Course:
    cup = Course(house, FILE)
    await cup.freeze("connect_four", *STUDENTS, staff=("staff", "secret"))
    return cup


@pytest.fixture
async def cup(house: Server) -> Course:
    made = await frozen(house)
    await made.play(weaker_resigns(ORDER))
    return made


async def of_secret(cup: Course) -> list[str]:
    """The matches of the hidden baseline, as its organiser sees them."""
    async with cup.web("olga") as web:
        found = (await web.get("/api/v1/matches?player=secret&limit=100")).json()
    assert found
    return [each["match"] for each in found]


@pytest.mark.parametrize("who", ["", "eve", "s0"])
async def test_no_list_page_record_or_file_names_it(cup: Course, who: str) -> None:
    matches = await of_secret(cup)
    async with cup.web(who) as web:
        told = {}
        for path in (
            *("/", "/matches", "/wall", "/bots/s0/bot", "/players/s0", "/competitions/cup"),
            *("/api/v1/matches?limit=100", "/api/v1/players/s0", "/api/v1/bots/s0/bot"),
            *("/api/v1/bots/s0/bot/matches", "/api/v1/matches?player=s0"),
            *("/api/v1/competitions/cup/export/jsonl", "/competitions/cup/rounds"),
        ):
            answer = await web.get(path)
            assert answer.status_code in (200, 404), (path, answer.text)
            told[path] = answer.text
        for match in matches:
            for path in (f"/matches/{match}", f"/embed/{match}", f"/projector?match={match}"):
                told[path] = (await web.get(path)).text
            for part in ("", "/record", "/replay"):
                path = f"/api/v1/matches/{match}{part}"
                answer = await web.get(path)
                assert answer.status_code == 200, answer.text
                told[path] = answer.text
        named = [path for path, text in told.items() if NAME.search(text)]
        assert named == []
        assert PRIVATE in told["/matches"]
        assert PRIVATE in told["/bots/s0/bot"]
        record = read_record(told[f"/api/v1/matches/{matches[0]}/record"])
        assert PRIVATE in [each.player for each in record.seats]
        assert verify(record).ok, "what is told without a name can be checked"


@pytest.mark.parametrize("begun", [False, True])
async def test_no_route_names_it(house: Server, begun: bool) -> None:
    """All GET routes, for strangers, players and students, before the final and in it."""
    cup = await frozen(house)
    matches = ["nothing"]
    if begun:
        await cup.begin()
        matches = [each.id for each in house.hub.directory.own.values()]
    paths = get_paths(
        {
            "competition": ["cup"],
            "tournament": ["cup"],
            "reference": ["cup"],
            "player": ["s0", "staff"],
            "name": ["s0", "staff"],
            "bot": ["bot"],
            "match": matches,
            "game": ["connect_four"],
            "form": ["jsonl", "csv", "gradescope"],
            "digest": ["0" * 64],
            "submission": ["1"],
            "path": ["nothing"],
        }
    )
    # By its own name: messages about the account must not reveal its bot.
    of_account = ["/players/secret", "/api/v1/players/secret", "/api/v1/players/secret/data"]
    here = "/api/v1/bots/secret/bot"
    of_bot = ["/bots/secret/bot", here, f"{here}/matches", f"{here}/review"]
    wrong = ["/api/v1/bots/secret/nothing", "/api/v1/matches?bot=secret/nothing"]
    for who in ("", "eve", "s0"):
        async with cup.web(who) as web:
            assert [path for path in paths if NAME.search((await web.get(path)).text)] == []
            for path in of_account:
                assert not OF_SECRET.search((await web.get(path)).text), path
            for path in wrong:
                answer = await web.get(path)
                assert answer.status_code == 404, path
                assert not OF_SECRET.search(answer.text.replace("secret/nothing", "")), path
            # A hidden bot looks like one that does not exist.
            for path in (*of_bot, "/api/v1/matches?bot=secret/bot"):
                answer = await web.get(path)
                assert answer.status_code == 404, path
                missing = await web.get(path.replace("secret/bot", "secret/nothing"))
                assert answer.text == missing.text.replace("secret/nothing", "secret/bot"), path
    for who in ("olga", "secret"):
        async with cup.web(who) as web:
            assert [each["name"] for each in (await web.get(of_account[1])).json()["bots"]]
            assert (await web.get(of_bot[1])).status_code == 200


async def test_a_hint_of_the_lobby_does_not_name_it(house: Server) -> None:
    cup = await frozen(house)
    await house.hub.audit_follower.look()
    async with cup.web() as web:
        assert "secret/bot" not in (await web.get("/play")).text
        assert "s0/bot" in (await web.get("/play")).text
    for asked, hint in (("s0/bo", "s0/bot"), ("secret/bo", "")):
        answer = await cup.bots["s1"].ask(Challenge, asked, "connect_four", "total:60")
        assert answer.code == "challenge/offline"
        assert answer.message.endswith(f" Did you mean {hint}?" if hint else "is not connected.")


@pytest.mark.parametrize("who", ["", "eve", "s0"])
async def test_nobody_finds_its_matches_by_its_name(cup: Course, who: str) -> None:
    async with cup.web(who) as web:
        assert (await web.get("/api/v1/matches?player=secret")).json() == []
        for query in ("bot=secret/bot", "bot=secret/bot&player=s0"):
            answer = await web.get(f"/api/v1/matches?{query}")
            assert answer.status_code == 404, query
        assert (await web.get("/api/v1/players/secret")).json()["matches"] == []
        assert (await web.get("/api/v1/players/secret")).json()["bots"] == []
        assert (await web.get("/api/v1/bots/secret/bot/matches")).status_code == 404
        page = (await web.get("/matches?player=secret")).text
        assert "/matches/" not in page.split('id="finished"')[1].split("</section>")[0]


async def test_why_its_match_is_void_does_not_name_it(cup: Course) -> None:
    """A machine that was too busy for a bot reports the bot's name."""
    matches = await of_secret(cup)
    async with cup.web("s0") as web:
        own = {each["match"] for each in (await web.get("/api/v1/matches?player=s0")).json()}
    (match, *_) = own.intersection(matches)
    why = "The flag of secret/Bot fell at ply 3, but its machine was not the bot's."
    async with cup.web("olga") as web:
        path = f"/api/v1/matches/{match}/void"
        assert (await web.post(path, json={"why": why})).status_code == 200
    for who in ("", "s0"):
        async with cup.web(who) as web:
            for path in (
                *(
                    f"/matches/{match}",
                    f"/api/v1/matches/{match}",
                    f"/api/v1/matches/{match}/record",
                ),
                *("/api/v1/matches?limit=100", "/api/v1/bots/s0/bot/matches", "/bots/s0/bot"),
            ):
                text = (await web.get(path)).text
                assert not NAME.search(text), path
            assert "fell at ply 3" in (await web.get(f"/api/v1/matches/{match}")).text


@pytest.mark.parametrize("who", ["olga", "secret"])
async def test_its_organiser_and_its_account_see_it(cup: Course, who: str) -> None:
    async with cup.web(who) as web:
        found = (await web.get("/api/v1/matches?player=secret&limit=100")).json()
        assert len(found) == 6
        for each in found:
            assert "secret" in [seat["player"] for seat in each["seats"]]
        record = (await web.get(f"/api/v1/matches/{found[0]['match']}/record")).json()
        assert "secret" in [seat["player"] for seat in record["seats"]]
        assert len((await web.get("/api/v1/bots/secret/bot/matches")).json()) == 6


async def test_who_plays_or_watches_is_told_no_name(
    house: Server,
) -> None:
    cup = await frozen(house)
    await cup.begin()
    while True:
        mine: MatchSnapshot = (await cup.bots["s0"].next(MatchMessage)).snapshot
        if PRIVATE in [each.player for each in mine.players]:
            break
    seat = mine.players[1 - (mine.seat or 0)]
    assert (seat.player, seat.bot, seat.version, seat.rating) == (PRIVATE, "", "", None)
    watcher = await house.client()
    await watcher.hello("")
    seen = await watcher.ask(Watch, mine.match)
    assert isinstance(seen, MatchMessage)
    assert not NAME.search(msgspec.json.encode(seen).decode())
    async with cup.web() as web:
        for path in ("/matches", "/", f"/api/v1/matches/{mine.match}", f"/matches/{mine.match}"):
            assert not NAME.search((await web.get(path)).text), path
        assert mine.match not in (await web.get("/players/secret")).text
    for name in ("s0", "secret"):
        await cup.bots[name].ask(Ready, mine.match)
    await cup.bots["secret"].ask(Resign, mine.match)
    path, seat_number = f"/api/v1/matches/{mine.match}", 2 - (mine.seat or 0)
    for who, name in (("", PRIVATE), ("s0", PRIVATE), ("olga", "secret/bot")):
        async with cup.web(who) as web:
            view = (await web.get(path)).json()
            page = (await web.get(f"/matches/{mine.match}")).text
        assert view["reason"] == f"seat {seat_number} ({name}) resigned at ply 1."
        assert f"eat {seat_number} ({name}) resigned at ply 1." in page
        assert who == "olga" or not NAME.search(str(view))


async def test_page_of_a_running_final_does_not_name_it_as_waited_for(house: Server) -> None:
    cup = await frozen(house)
    for client in cup.bots.values():
        await client.close()

    async def noticed() -> bool:
        return not any(each.online for each in house.hub.directory.presences.values())

    await until(noticed)
    await cup.begin()
    seen = {}
    for who in ("", "s0", "olga"):
        async with cup.web(who) as web:
            seen[who] = (await web.get("/competitions/cup")).text
    assert "secret/bot is not connected." in seen["olga"]
    for who in ("", "s0"):
        assert "s1/bot is not connected." in seen[who]
        assert not NAME.search(seen[who])
