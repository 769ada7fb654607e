"""The bots in C++, Go, Java and Rust, which have no Plyhouse code in them, play on a real server.

They need g++, go, a JDK of version 17 or newer, or rustc; tests without their compiler are skipped.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.harness.language_bots import (
    CuttingProxy,
    Server,
    declines_rated_challenges,
    play,
    python_bot,
)
from tests.harness.patience import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEK = ("--time-control", "move:10", "--matches", "1")


@dataclass(frozen=True)
class Starter:
    """A compiled example."""

    name: str
    command: tuple[str, ...]

    def __call__(self, *options: str) -> list[str]:
        return [*self.command, *options]


def compiled(command: Sequence[str | Path], version: str = "--version") -> None:
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    # rustup's rustc is only a launcher: without a toolchain for this user it fails.
    if subprocess.run([command[0], version], capture_output=True, check=False).returncode:
        pytest.skip(f"{command[0]} does not run")
    # `go build` compiles the libraries of Go at first, which is a minute's work of one processor.
    subprocess.run(command, check=True, timeout=4 * PATIENCE)


@pytest.fixture(scope="module", params=["cpp", "go", "java", "rust"])
def starter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Starter:
    """An example in each language, compiled with all warnings as errors."""
    language: str = request.param
    folder = tmp_path_factory.mktemp(language)
    source, program = EXAMPLES / language, folder / "bot"
    match language:
        case "cpp":
            warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
            compiler: tuple[str, ...] = ("g++", "-std=c++17", "-pthread", *warnings)
            compiled([*compiler, "-o", program, source / "bot.cpp"])
        case "go":
            compiled(["go", "vet", *sorted(source.glob("*.go"))], "version")
            compiled(["go", "build", "-o", program, *sorted(source.glob("*.go"))], "version")
        case "java":
            compiled(["javac", "-Xlint:all", "-Werror", "-d", folder, *source.glob("*.java")])
            return Starter("java", ("java", "-cp", str(folder), "Bot"))
        case "rust":
            compiler = ("rustc", "--edition", "2021", "-D", "warnings")
            compiled([*compiler, "-o", program, source / "bot.rs"])
    return Starter(language, (str(program),))


def test_starter_bot_plays_a_match_against_a_python_bot(starter: Starter, server: Server) -> None:
    player = f"{starter.name}-james"
    ours, theirs = server.token(player), server.token(f"{starter.name}-guy")
    own = ("--server", server.url, "--token", ours, "--seek", "connect_four", *SEEK)
    (code, said), (other_code, other_said) = play(
        server,
        starter(*own),
        python_bot(server, theirs, "--game", "connect_four", "--seek", "--casual", *SEEK),
    )
    assert (code, other_code) == (0, 0), said + other_said
    assert f"connected as {player}/{starter.name}" in said
    assert re.search(r"finished \w+: normal, we got -?\d", said), said
    assert "refused" not in said


def test_starter_bot_declines_rated_challenges(starter: Starter, server: Server) -> None:
    """A challenger chooses the clock, by which it could take rating from a bot that waits."""
    player = f"{starter.name}-rob"
    ours, theirs = server.token(player), server.token(f"{starter.name}-kim")
    own = ("--server", server.url, "--token", ours, "--seek", "connect_four", *SEEK)
    declines_rated_challenges(server, starter(*own), f"{player}/{starter.name}", theirs)


def test_starter_bot_resumes_after_its_connection_is_cut(starter: Starter, server: Server) -> None:
    player = f"{starter.name}-joshua"
    ours, theirs = server.token(player), server.token(f"{starter.name}-doug")
    # A bot may hear of the cut only from the server's silence, after nine seconds.
    seek = ("--time-control", "move:40", "--matches", "1")
    proxy = CuttingProxy(server.port)
    with closing(proxy.listener):
        proxy.start()
        own = ("--server", proxy.url, "--token", ours, "--seek", "connect_four", *seek)
        (code, said), (other_code, other_said) = play(
            server,
            starter(*own),
            python_bot(server, theirs, "--game", "connect_four", "--seek", "--casual", *seek),
        )
    assert (code, other_code) == (0, 0), said + other_said
    assert (proxy.cuts, proxy.refused) == (1, 1)
    assert "server/storage" in said
    assert "connection lost" in said
    assert said.count(f"connected as {player}/{starter.name}") == 2
    assert re.search(r"finished \w+: normal, we got -?\d", said), said


def test_starter_plays_by_lines_with_and_without_a_sandbox(
    starter: Starter, server: Server
) -> None:
    bot = "cmd:" + shlex.join([*starter.command, "--stdio"])
    match = (str(server.zygote.plyhouse), "match", bot, "random", "--game", "connect_four")
    for options in ((), ("--sandbox",)):
        rest = ("--games", "2", "--jobs", "1", "--time-control", "move:10", *options)
        ((code, said),) = play(server, [*match, *rest])
        assert code == 0, said
        assert "connected as local/" in said


def test_starter_bots_play_hidden_information(starter: Starter, server: Server) -> None:
    tokens = [server.token(f"{starter.name}-{name}") for name in ("brian", "gilad")]
    results = play(
        server,
        *(
            starter(
                *("--server", server.url, "--token", token, "--seek", "kuhn_poker"),
                *("--time-control", "move:10", "--matches", "3"),
            )
            for token in tokens
        ),
    )
    for code, said in results:
        assert code == 0, said
        assert len(re.findall(r"finished \w+: normal", said)) == 3


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        ((), 2, "--token"),
        (("--token", "t", "--colour", "red"), 2, "-colour"),
        (("--token", "ply_wrong"), 4, "auth/bad_token"),
    ],
)
def test_starter_bot_with_wrong_options_says_why(
    starter: Starter, server: Server, options: tuple[str, ...], code: int, reason: str
) -> None:
    ((found, said),) = play(server, starter("--server", server.url, *options))
    assert found == code
    assert reason in said


def test_starter_bot_plays_rated_matches_and_explains_itself(
    starter: Starter, server: Server
) -> None:
    ours, theirs = server.token(f"{starter.name}-ada"), server.token(f"{starter.name}-bob")
    own = ("--server", server.url, "--token", ours, "--seek", "tic_tac_toe", "--rated", *SEEK)
    (code, said), (other_code, other_said) = play(
        server,
        starter(*own),
        python_bot(server, theirs, "--game", "tic_tac_toe", "--seek", "--rated", *SEEK),
    )
    assert (code, other_code) == (0, 0), said + other_said
    ((code, said),) = play(server, starter("--help"))
    assert code == 0
    assert "-rated" in said  # Go writes one dash
    ((code, said),) = play(server, starter("--nonsense", "1"))
    assert code == 2
    assert "-nonsense" in said
