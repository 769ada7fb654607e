"""Mirrored matches of two hosted bots meet the same dice; nobody else's ever do."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
from tests.sandbox.hosted_house import OLGA, PIG, hosted_house, until
from tests.server.conftest import Client

from plyhouse.bots.hosting.package import read_package
from plyhouse.protocol.messages import MatchMessage, Ready, Welcome
from plyhouse.protocol.package import digest_of, pack
from plyhouse.server.house.outputs import _read as read
from plyhouse.server.results.record import read_record
from plyhouse.server.results.verify import verify
from plyhouse.storage.class_rows import NewMember

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "hosted" / "javascript"

CUP = """
name = "Cup"
games = ["pig(target=60)"]
time_control = "total:60"
board = "public"
[hosting]
shared_chance = true
"""


async def play_all(client: Client) -> None:
    """Play whatever comes, like a bot that is connected, one match after the other."""
    while True:
        snapshot = (await client.next(MatchMessage)).snapshot
        await client.ask(Ready, snapshot.match, "ab")
        await client.play(snapshot)


async def records(url: str) -> dict[str, list[Any]]:
    """The records of all matches by their pairing, those of a pairing in the order of play."""
    found: dict[str, list[Any]] = defaultdict(list)
    async with httpx.AsyncClient(base_url=url, timeout=30) as web:
        for each in (await web.get("/api/v1/matches?limit=200")).json():
            record = (await web.get(f"/api/v1/matches/{each['match']}/record")).json()
            found[record["pairing"]].append(record)
    return found


def rolls(record: Any) -> list[str]:
    return [each["text"] for each in record["events"] if each["kind"] == "chance"]


async def test_a_pair_of_hosted_bots_has_the_same_dice_and_one_with_a_connected_bot_has_not(
    tmp_path: Path,
) -> None:
    async with hosted_house(tmp_path) as house:
        hub = house.hub
        cup = await hub.classes.open(CUP, OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob", "eve")]
        joined = await hub.store.classes.take_in(cup.id, members, OLGA)
        house._players.update(each.account for each in joined)
        tokens = {each.account: each.token for each in joined}
        for name in ("ada", "bob"):
            await house.hand_in(name, PIG)
        eve = await house.client()
        hello = await eve.hello(tokens["eve"], "own", games=["pig"], max_matches=4)
        assert isinstance(hello, Welcome), hello
        playing = asyncio.create_task(play_all(eve))
        await hub.classes.run((await hub.store.classes.move(cup.id, "freeze", OLGA)).id, OLGA)

        async def over() -> bool:
            assert not playing.done(), playing.result()
            return (await hub.store.classes.find(cup.id)).status == "finished"

        async with house.runner():
            await until(over, lambda: house.said)
        playing.cancel()
        found = await records(house.server.url)
        assert [len(each) for each in found.values()] == [2, 2, 2]
        for pair in found.values():
            assert all(verify(read_record(json.dumps(each))).ok for each in pair)
            first, second = pair
            connected = "eve" in {seat["player"] for seat in first["seats"]}
            assert first["chance"]["seed"] == second["chance"]["seed"]
            if connected:
                assert {each["chance"]["stream"] for each in pair} == {
                    f"match:{each['match']}" for each in pair
                }
                continue
            # They play alike, so all of the second match is as the first one was.
            assert {each["chance"]["stream"] for each in pair} == {"pairing"}
            assert {each["outcome"]["termination"] for each in pair} == {"normal"}
            assert len(rolls(first)) >= 10
            assert rolls(first) == rolls(second)
            assert first["seats"] == second["seats"][::-1]
            # One was over before the other began.
            assert min(each["finished_ms"] for each in pair) <= max(
                each["started_ms"] for each in pair
            )


LINGERING = (
    ("let lastId = 0;", "console.error(`began ${Date.now()}`);\n"),
    (
        "    default: // accepted",
        '    case "finished": for (;;) console.error(`last ${Date.now()}`);\n',
    ),
)
"""A program that says when it began, and after its match works on for as long as it may."""


def edited(folder: Path) -> Path:
    shutil.copytree(EXAMPLE, folder)
    text = (folder / "bot.mjs").read_text("utf-8")
    for place, added in LINGERING:
        assert place in text, place
        text = text.replace(place, added + place, 1)
    (folder / "bot.mjs").write_text(text, "utf-8")
    return folder


async def test_a_program_has_left_before_the_second_match_of_its_pairing_begins(
    tmp_path: Path,
) -> None:
    """Its place is taken by one that began after that, which has nothing to measure it by."""
    async with hosted_house(tmp_path) as house:
        hub, store = house.hub, house.hub.store
        cup = await hub.classes.open(CUP, OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob")]
        joined = await store.classes.take_in(cup.id, members, OLGA)
        house._players.update(each.account for each in joined)
        await house.hand_in("bob", PIG)
        package = read_package(edited(tmp_path / "lingering"))
        owner = await store.player("ada")
        bot = await store.ensure_bot(owner.id, "mine", "bot")
        at, packed = store.classes.now(), pack(package)
        made = await store.submissions.submit(bot.id, "", digest_of(package), packed, at)
        await store.submissions.checked(made.id, True, "", ("pig(target=60)",), at)
        await hub.classes.run((await store.classes.move(cup.id, "freeze", OLGA)).id, OLGA)

        async def over() -> bool:
            if (await store.classes.find(cup.id)).status != "finished":
                return False
            return len(await store.outputs.latest(owner.id)) == 2

        async with house.runner():
            await until(over, lambda: house.said)
        times: dict[str, list[int]] = {}
        for each in await store.outputs.latest(owner.id):
            rows = await store.outputs.of_match(each.match, [bot.id])
            lines = [line.text.split() for row in rows for line in read(row.data).lines]
            times[each.match] = [int(last) for first, last in lines if first in ("began", "last")]
        (_, first), (_, second) = sorted(times.items(), key=lambda each: max(each[1]))
        assert len(first) > 2, "it worked on after its match"
        assert max(first) <= min(second)
