"""Hosted bots that carry the dice of a match to its mirrored match win nothing by it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
from tests.harness.hosted_server import OLGA, hosted_server, until
from tests.harness.patience import PATIENCE

from plyhouse.bots.sandbox.box import Tier
from plyhouse.server.results.record import read_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import competition_sql, competition_students
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "Cup"
games = ["pig(target=60)"]
time_control = "total:60"
board = "public"
"""

CARRIER = '''
"""Writes each roll into the cache and the times of a library file, and looks for earlier rolls."""

import glob
import json
import os

from plyhouse.bots import Bot

FILES = sorted(glob.glob(os.path.dirname(json.__file__) + "/../*/*.py"))


def look(number):
    """What the kernel still knows of reading a file."""
    with open(FILES[number % len(FILES)], "rb") as file:
        found = [os.fstat(file.fileno()).st_atime_ns]
        try:
            found.append(os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT))
        except OSError as error:
            found.append(error.errno)
        try:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            found.append(error.errno)
    return found


class Carrier(Bot):
    games = ("pig",)

    def choose(self, turn):
        rolls = [event.action for event in turn.history if event.seat < 0]
        print("LOOKED", [look(number) for number in range(8)])
        for number, roll in enumerate(rolls):
            look(6 * number + int(roll))
        return turn.legal[-1 if turn.state.total >= 8 else 0]
'''


async def records(url: str) -> dict[str, list[Any]]:
    """The records of all matches by their pairing."""
    found: dict[str, list[Any]] = defaultdict(list)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as web:
        for each in (await web.get("/api/v1/matches?limit=200")).json():
            record = (await web.get(f"/api/v1/matches/{each['match']}/record")).json()
            found[record["pairing"]].append(record)
    return found


def rolls(record: Any) -> list[str]:
    return [each["text"] for each in record["events"] if each["kind"] == "chance"]


async def test_bots_that_carry_dice_between_mirrored_matches_meet_other_dice(
    tmp_path: Path,
) -> None:
    async with hosted_server(tmp_path) as house:
        assert house.tier in (Tier.LANDLOCK, Tier.BUBBLEWRAP)
        hub = house.hub
        cup = await hub.competitions.open(CUP, OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob")]
        joined = await hub.store.write(
            competition_students.take_in, cup.id, members, OLGA, hub.store.now()
        )
        house._players.update(each.account for each in joined)
        for name in ("ada", "bob"):
            await house.submit(name, CARRIER)
        await hub.competitions.run(
            (
                await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())
            ).id,
            OLGA,
        )

        async def over() -> bool:
            return (await hub.store.read(competition_sql.find, cup.id)).status == "finished"

        async with house.runner():
            await until(over, lambda: house.said)
        (pair,) = (await records(house.server.url)).values()
        assert len(pair) == 2
        for each in pair:
            assert each["outcome"]["termination"] == "normal"
            assert each["chance"]["stream"] == f"match:{each['match']}"
            assert each["chance"]["nonces"] != ["", ""]
            assert verify(read_record(json.dumps(each))).ok
        first, second = map(rolls, pair)
        assert min(len(first), len(second)) >= 10
        shortest = min(len(first), len(second))
        assert first[:shortest] != second[:shortest]
