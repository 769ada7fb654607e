"""Files of the wrong kind at the command line: refused in words, never by an internal error."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse

DEEP = "[" * 100_000
CUP = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n'
COMMANDS = {
    "replay": ("replay", "odd"),
    "verify": ("verify", "odd"),
    "book": ("book", "chess", "odd"),
    "check": ("competition", "check", "odd"),
    "serve": ("serve", "--config", "odd"),
    "match": ("match", "random", "random", "--game", "pig", "--games", "2", "--resume", "odd"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "text", [DEEP, f"a = {DEEP}", f"{DEEP}\n{DEEP}\n", "\0", "9" * 5000 + "\n"]
)
def test_file_that_is_none_of_ours_is_refused_in_words(
    plyhouse: Plyhouse, tmp_path: Path, command: str, text: str
) -> None:
    (tmp_path / "odd").write_text(text[:30_000] if command == "check" else text)
    done = plyhouse(*COMMANDS[command])
    assert done.code in (1, 2)
    assert "internal error" not in done.err


def test_value_that_is_nested_too_deeply_is_refused(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP)
    done = plyhouse("competition", "change", "cup.toml", "--set", f"rules={DEEP}", "--token", "x")
    assert done.code != 0
    assert "internal error" not in done.err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_competition_file_is_read_with_any_line_ends(
    plyhouse: Plyhouse, tmp_path: Path, encoding: str, end: str
) -> None:
    (tmp_path / "cup.toml").write_bytes(CUP.replace("\n", end).encode(encoding))
    done = plyhouse("competition", "check", "cup.toml")
    assert done.code == 0, done.err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_token_is_read_from_a_pipe_in_any_encoding(
    plyhouse: Plyhouse, encoding: str, end: str
) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    typed = f"{mark}ply_x{end}".encode(encoding)
    done = plyhouse("login", "--server", "http://127.0.0.1:9", stdin=typed)
    assert "Nothing listens at http://127.0.0.1:9" in done.err


def test_record_is_read_from_a_pipe_in_any_encoding(plyhouse: Plyhouse, tmp_path: Path) -> None:
    save = ("--game", "tic_tac_toe", "--games", "2", "--jobs", "1", "--save", "r.jsonl")
    assert plyhouse("match", "random", "random", *save).code == 0
    line = (tmp_path / "r.jsonl").read_text().splitlines()[0]
    tree = (
        "explain",
        "--record",
        "-",
        "--ply",
        "1",
        "--depth",
        "1",
        "-o",
        "tree.svg",
        "--max-nodes",
        "50",
    )
    for encoding in ("utf-8-sig", "utf-16"):
        done = plyhouse(*tree, stdin=line.encode(encoding))
        assert done.code == 0, done.err


def test_files_beside_a_bot_hide_no_modules_of_the_standard_library(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    for name in ("random.py", "json.py", "select.py", "asyncio.py"):
        (tmp_path / name).write_text("raise SystemExit('hidden')\n")
    bots = ("random", "random", "--game", "pig", "--games", "2", "--jobs", "1")
    done = plyhouse("match", *bots)
    assert done.code == 0, done.err
