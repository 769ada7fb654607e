"""The bot in JavaScript, which has no Plyhouse code in it, plays on a real server.

Needs node, npm and access to npm's registry for the one package `ws`. Without them these tests are
skipped, unless PLYHOUSE_REQUIRE_NODE=1 makes that a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from tests.harness.language_bots import (
    CuttingProxy,
    Server,
    declines_rated_challenges,
    play,
    python_bot,
)
from tests.harness.patience import PATIENCE

pytestmark = pytest.mark.javascript

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "javascript"


def unavailable(reason: str) -> NoReturn:
    if os.environ.get("PLYHOUSE_REQUIRE_NODE") == "1":
        pytest.fail(f"PLYHOUSE_REQUIRE_NODE is set, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its package installed, outside of the repository."""
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            unavailable(f"{command} is not installed")
    folder = tmp_path_factory.mktemp("javascript") / "bot"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    install = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    if install.returncode != 0:
        unavailable(f"npm could not install ws: {install.stderr[-500:]}")
    return folder


def test_it_plays_by_lines_without_its_package(server: Server) -> None:
    if shutil.which("node") is None:
        unavailable("node is not installed")
    bot = f"cmd:node {EXAMPLE / 'bot.js'} --stdio"
    match = (str(server.zygote.plyhouse), "match", bot, "random", "--game", "connect_four")
    ((code, said),) = play(
        server, [*match, "--games", "2", "--jobs", "1", "--time-control", "move:10"]
    )
    assert code == 0, said
    assert "connected as local/javascript" in said


def javascript(program: Path, *options: str) -> list[str]:
    return ["node", str(program / "bot.js"), *options]


def test_it_plays_a_match_against_a_python_bot(program: Path, server: Server) -> None:
    ours, theirs = server.token("ada"), server.token("grace")
    seek = ["--time-control", "move:10", "--matches", "1"]
    (code, said), (other_code, other_said) = play(
        server,
        javascript(
            program, "--server", server.url, "--token", ours, "--seek", "connect_four", *seek
        ),
        python_bot(server, theirs, "--game", "connect_four", "--seek", "--casual", *seek),
    )
    assert (code, other_code) == (0, 0), said + other_said
    assert "connected as ada/javascript" in said
    assert re.search(r"finished \w+: normal, we got -?\d", said), said
    assert "refused" not in said


def test_it_declines_rated_challenges(program: Path, server: Server) -> None:
    ours, theirs = server.token("rob"), server.token("kim")
    own = ("--server", server.url, "--token", ours, "--seek", "connect_four", "--matches", "1")
    declines_rated_challenges(server, javascript(program, *own), "rob/javascript", theirs)


def test_it_comes_back_when_its_connection_is_cut(program: Path, server: Server) -> None:
    ours, theirs = server.token("alan"), server.token("emmy")
    proxy = CuttingProxy(server.port)
    with closing(proxy.listener):
        proxy.start()
        # It is to move while it notices the cut, is refused once, and waits between its attempts.
        seek = ["--time-control", "move:40", "--matches", "1"]
        (code, said), (other_code, other_said) = play(
            server,
            javascript(
                program, "--server", proxy.url, "--token", ours, "--seek", "connect_four", *seek
            ),
            python_bot(server, theirs, "--game", "connect_four", "--seek", "--casual", *seek),
        )
    assert (code, other_code) == (0, 0), said + other_said
    assert (proxy.cuts, proxy.refused) == (1, 1)
    assert "server/storage" in said
    assert "connection lost" in said
    assert "resumed as alan/javascript" in said
    assert re.search(r"finished \w+: normal, we got -?\d", said), said


def test_two_of_them_play_a_game_that_they_do_not_know(program: Path, server: Server) -> None:
    tokens = [server.token("kurt"), server.token("rozsa")]
    results = play(
        server,
        *(
            javascript(
                program,
                *("--server", server.url, "--token", token, "--seek", "kuhn_poker"),
                *("--time-control", "move:10", "--matches", "3"),
            )
            for token in tokens
        ),
    )
    for code, said in results:
        assert code == 0, said
        assert len(re.findall(r"finished \w+: normal", said)) == 3


def test_a_wrong_token_ends_it_with_a_reason(program: Path, server: Server) -> None:
    ((code, said),) = play(
        server, javascript(program, "--server", server.url, "--token", "ply_wrong")
    )
    assert code == 4
    assert "auth/bad_token" in said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "--token"),
        (["--token", "t", "--matches", "many"], "--matches takes a number"),
        (["--token", "t", "--colour", "red"], "--colour"),
    ],
)
def test_wrong_options(program: Path, options: list[str], reason: str) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "PLYHOUSE_TOKEN"}
    done = subprocess.run(
        javascript(program, *options),
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert reason in done.stdout


def choose(program: Path, game: str, board: list[str], seat: int, legal: list[str]) -> set[str]:
    """All that the player would choose from, in a position."""
    observation = {"seat": seat, "to_move": seat, "legal": legal, "board": board, "connect": 4}
    script = f"""
        import {{ choose }} from "./player.js";
        const found = new Set();
        for (let at = 0; at < 1; at += 0.05)
          found.add(choose("{game}", {json.dumps(observation)}, () => at));
        console.log(JSON.stringify([...found]));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", script],
        cwd=program,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return set(json.loads(done.stdout))


COLUMNS = list("1234567")
EMPTY = "......."


@pytest.mark.parametrize(
    ("rows", "seat", "expected"),
    [
        ([EMPTY], 0, {"4"}),
        (["ooo....", "xxx...."], 0, {"4"}),  # wins rather than blocks
        (["x......", "x......", "x.oo..."], 1, {"1"}),  # blocks above
        (["x......", "xx.o...", "xo.oo.."], 1, {"3"}),  # completes a row with a gap
        (["...o...", "xxxoo..", "ooxxo.x"], 1, {"5", "6", "3", "4", "2"}),
    ],
)
def test_it_looks_one_ply_ahead_in_connect_four(
    program: Path, rows: list[str], seat: int, expected: set[str]
) -> None:
    board = [EMPTY] * (6 - len(rows)) + rows
    chosen = choose(program, "connect_four(columns=7)", board, seat, COLUMNS)
    assert chosen
    assert chosen <= expected


@pytest.mark.parametrize(
    ("board", "seat", "expected"),
    [
        (["...", "...", "..."], 0, {"b2"}),
        (["XX.", "OO.", "..."], 0, {"c3"}),
        (["XX.", "O..", "..."], 1, {"c3"}),
        (["X..", ".X.", "..."], 1, {"c1"}),
    ],
)
def test_it_looks_one_ply_ahead_in_tic_tac_toe(
    program: Path, board: list[str], seat: int, expected: set[str]
) -> None:
    legal = [
        f"{'abc'[column]}{3 - row}"
        for row in range(3)
        for column in range(3)
        if board[row][column] == "."
    ]
    assert choose(program, "tic_tac_toe", board, seat, legal) == expected


def test_the_only_dependency_is_pinned_and_nothing_names_a_registry() -> None:
    package = json.loads((EXAMPLE / "package.json").read_text(encoding="utf-8"))
    assert list(package["dependencies"]) == ["ws"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["dependencies"]["ws"])
    files = {path.name for path in EXAMPLE.iterdir()} - {"node_modules"}
    assert files == {".npmrc", "README.md", "bot.js", "package.json", "player.js"}
    assert not any("registry" in (EXAMPLE / name).read_text() for name in files)
