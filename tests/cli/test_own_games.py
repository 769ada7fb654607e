"""Games of one's own in every command that reads a server, a database or records of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import CHOMP, Plyhouse, clean_environment, forked_command
from tests.harness.command_line_server import Server, start, stop, token
from tests.harness.patience import PATIENCE

FILES = ("--game-files", "chomp.py")
DATABASE = ("--database", "sqlite:///club.db")


def own_game(folder: Path) -> None:
    """The example, with the key that a book needs."""
    text = CHOMP.read_text(encoding="utf-8")
    key = "    def key(self) -> tuple[Any, ...]:\n        return self.to_move, self.rows\n\n"
    place = "    def actions(self)"
    assert place in text
    (folder / "chomp.py").write_text(text.replace(place, key + place, 1), encoding="utf-8")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that hosts chomp, whose file lies in the folder of the commands."""
    own_game(tmp_path)
    started = start(tmp_path, *DATABASE, *FILES)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            stop(started)


@pytest.fixture
def played(server: Server, plyhouse: Plyhouse) -> str:
    """The id of a rated match of chomp that was played on the server."""
    seek = ("--game", "chomp.py(size=3)", "--seek", "--rated", "--matches", "1")
    run = ("bot", "run", "random", "--server", server.url, *seek)
    with subprocess.Popen(
        [*forked_command(), *run],
        cwd=server.folder,
        env=clean_environment({"PLYHOUSE_TOKEN": token(plyhouse, server, "anna")}),
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        done = plyhouse(*run, "--token", token(plyhouse, server, "bert"))
        assert done.code == 0, done.err
        waiting.communicate(timeout=PATIENCE)
    found = re.search(r"match (\w+):", done.err)
    assert found is not None, done.err
    return found[1]


def test_server_and_database_of_a_game_of_ones_own(
    server: Server, played: str, plyhouse: Plyhouse
) -> None:
    for name in ("chomp(size=3)", "chomp.py(size=3)", "chomp.py:Chomp(size=3)"):
        shown = plyhouse("leaderboard", name, "--server", server.url, *FILES)
        assert shown.code == 0, shown.err
        assert {"anna", "bert"} <= set(shown.out.split()), name
    shown = plyhouse("leaderboard", "chomp(size=3)", "--server", server.url, "--json")
    assert shown.code == 0, "a server knows its games itself"
    assert json.loads(shown.out)["scoring"] == "wins"

    made = plyhouse("book", "chomp(size=3)", *DATABASE, *FILES)
    assert made.code == 0, made.err
    assert "1 match of chomp(size=3)." in made.err
    listed = plyhouse("games", "--server", server.url, "--json")
    assert listed.code == 0, listed.err
    assert "chomp" in {each["name"] for each in json.loads(listed.out)}
    told = plyhouse("games", "chomp", "--server", server.url)
    assert told.code == 0, told.err
    assert "size = 4" in told.out
    assert "Eat chocolate" in told.out

    assert plyhouse("record", played, "-o", "one.json", "--server", server.url).code == 0
    unknown = plyhouse("verify", "one.json")
    assert unknown.code == 2
    assert "unknown game chomp: give --game-files" in unknown.err
    assert "does not hold" not in unknown.out + unknown.err
    sound = plyhouse("verify", "one.json", *FILES)
    assert (sound.code, sound.out) == (0, "1 record is sound.\n")


def test_records_of_local_matches_of_a_game_of_ones_own(
    plyhouse: Plyhouse, chomp_matches: Path, tmp_path: Path
) -> None:
    shutil.copy(chomp_matches, tmp_path / "c.jsonl")
    own_game(tmp_path)
    unknown = plyhouse("verify", "c.jsonl")
    assert unknown.code == 2
    assert "unknown game chomp.py: give --game-files" in unknown.err
    for sound in (("--game", "chomp.py"), FILES):
        done = plyhouse("verify", "c.jsonl", *sound)
        assert (done.code, done.out) == (0, "All 2 records are sound.\n")
    for name in ("chomp.py", "chomp"):
        made = plyhouse("book", name, "c.jsonl", "--plies", "4", *FILES)
        assert made.code == 0, made.err
        assert "2 matches of chomp." in made.err
    book = f'book(file="{tmp_path}/book.json",depth=1)'
    done = plyhouse("match", book, "random", "--game", "chomp.py", "--games", "2", "--jobs", "1")
    assert done.code == 0, done.err
    listed = plyhouse("games", *FILES)
    assert "chomp" in listed.out.split()
    assert "poisoned" in plyhouse("games", "chomp", *FILES).out


def test_a_sound_record_is_verified_beside_one_of_an_unknown_game(
    plyhouse: Plyhouse, chomp_matches: Path, tmp_path: Path
) -> None:
    shutil.copy(chomp_matches, tmp_path / "c.jsonl")
    own_game(tmp_path)
    save = ("--games", "2", "--jobs", "1", "--save", "p.jsonl")
    assert plyhouse("match", "random", "random", "--game", "pig(target=20)", *save).code == 0
    done = plyhouse("verify", "c.jsonl", "p.jsonl")
    assert done.code == 2
    assert "2 records are sound" in done.out
    assert "2 records could not be checked" in done.err
    text = (tmp_path / "p.jsonl").read_text(encoding="utf-8")
    (tmp_path / "p.jsonl").write_text(text.replace("roll", "hold", 1), encoding="utf-8")
    done = plyhouse("verify", "c.jsonl", "p.jsonl")
    assert done.code == 1, "what does not hold weighs more"
    assert "1 of 2 records do not hold" in done.out
