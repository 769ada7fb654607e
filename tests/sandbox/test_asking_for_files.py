"""A hosted bot learns nothing about other bots' files by asking for their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.harness.hosted_server import OLGA, PIG, HostedServer, hosted_server, until

from plyhouse.clients.runner.packages import private_folder
from plyhouse.server.hosting.runner_reports import _read as read
from plyhouse.storage import competition_sql, competition_students, outputs, people
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "Cup"
games = ["pig(target=20)"]
time_control = "total:60"
"""

ASKING = """
import json
import os

from plyhouse.bots import Bot

NAMES = {names}


def ask(name):
    found = {{}}
    for what in (os.stat, os.lstat, os.readlink, os.listdir, os.statvfs):
        try:
            found[what.__name__] = str(what(name))
        except OSError:
            pass
    if os.access(name, os.F_OK):
        found["access"] = "it is there"
    return found


class Asking(Bot):
    games = ("pig",)

    def choose(self, turn):
        print("FOUND", json.dumps({{name: ask(name) for name in NAMES}}))
        here = os.getcwd()
        print("HERE", json.dumps([here, os.stat(here).st_size >= 0]))
        return turn.legal[-1 if turn.state.total >= 8 else 0]
"""


def guesses(folder: Path, digest: str, version: str) -> list[str]:
    """Where other bots' files would be if their names could be guessed."""
    names = [
        *("logs", "logs/bob", "logs/bob/mine.log", "outbox", "packages"),
        *(f"packages/{digest}.zip", f"trees/{digest}", f"trees/{version}"),
        *("private-", "private-/logs/bob/mine.log", "private-*/logs/bob/mine.log"),
    ]
    return [str(folder / name) for name in names]


async def printed(house: HostedServer, player: str) -> list[str]:
    """Return what a player's bot printed in all its matches."""
    store = house.hub.store
    owner = await store.read(people.player, player)
    bot = await store.ensure_bot(owner.id, "mine", "bot")
    lines = []
    for each in await store.read(outputs.latest, owner.id):
        for row in await store.read(outputs.of_match, each.match, [bot.id]):
            lines += [line.text for line in read(row.data).lines]
    return lines


async def test_bot_finds_no_file_of_another_bot_by_its_name(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house:
        hub = house.hub
        cup = await hub.competitions.open(CUP, OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob")]
        joined = await hub.store.write(
            competition_students.take_in, cup.id, members, OLGA, hub.store.now()
        )
        house._players.update(each.account for each in joined)
        other = await house.submit("bob", PIG + "\nprint('here is bob')\n")
        folder = tmp_path / "lab"
        names = guesses(folder, other.digest, other.digest)
        await house.submit("ada", ASKING.format(names=names))
        await hub.competitions.run(
            (
                await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())
            ).id,
            OLGA,
        )

        async def over() -> bool:
            if (await hub.store.read(competition_sql.find, cup.id)).status != "finished":
                return False
            return bool(await printed(house, "ada"))

        async with house.runner():
            await until(over, lambda: house.said)
        said = await printed(house, "ada")
        found = [json.loads(line.removeprefix("FOUND ")) for line in said if "FOUND" in line]
        assert found
        assert all(each == {name: {} for name in names} for each in found), found[0]
        # Its own folder has a name that says nothing of another bot's.
        here = {json.loads(line.removeprefix("HERE "))[0] for line in said if "HERE" in line}
        (own,) = here
        trees = [each for each in (folder / "trees").iterdir() if str(each) != own]
        assert len(trees) == 1
        (private,) = folder.glob("private-*")
        assert (private / "logs" / "bob" / "mine.log").is_file()
        assert private.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["logs", "outbox", "packages"])
def test_private_folder_takes_in_what_lay_beside_it_and_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "kept").write_text("x")
    private = private_folder(tmp_path)
    assert (private / name / "kept").is_file()
    assert not (tmp_path / name).exists()
    assert private_folder(tmp_path) == private
