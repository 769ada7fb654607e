"""``plyhouse admin player``: accounts and tokens in a database."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse


def test_the_token_stands_alone_on_standard_output(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("admin", "player", "add", "alice")
    assert done.code == 0
    assert done.out.startswith("ply_")
    assert len(done.out.split()) == 1
    assert "alice" in done.err
    secret = done.out.strip().encode()
    assert secret not in (tmp_path / "plyhouse.db").read_bytes(), "tokens are stored as hashes"


@pytest.mark.parametrize(
    "command",
    [
        ("admin", "player", "list"),
        ("token", "list", "alice"),
        ("token", "create", "alice"),
        ("token", "revoke", "ply_abcdefgh"),
    ],
)
def test_only_adding_a_player_makes_a_database(
    plyhouse: Plyhouse, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = plyhouse(*command, "--database", "sqlite:///clbu.db")
    assert done.code == 3, done.err
    assert "there is no database clbu.db yet; correct --database, or make it with" in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir()), "a misspelt name leaves nothing behind"


def test_players_and_tokens_are_listed(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    plyhouse("token", "create", "alice", "--scope", "play", "--scope", "organise", "--label", "pc")
    assert "alice" in plyhouse("admin", "player", "list").out
    tokens = plyhouse("token", "list", "alice").out
    assert "play organise" in tokens
    assert "pc" in tokens


def test_unknown_player_is_reported_with_the_database(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("token", "create", "bob")
    assert done.code == 2
    assert "there is no player 'bob'" in done.err
    assert done.err.endswith(" (in the database sqlite:///plyhouse.db)\n")


def test_player_without_a_bot_is_refused_where_a_bot_is_needed(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("admin", "bot", "disable", "alice", "--why", "x")
    assert done.code == 2
    assert "'alice' names no bot: write PLAYER/BOT" in done.err


def test_a_token_is_revoked_by_its_beginning(plyhouse: Plyhouse) -> None:
    token = plyhouse("admin", "player", "add", "alice").out.strip()
    done = plyhouse("token", "revoke", token[:12])
    assert done.code == 0, done.err
    assert "revoked" in plyhouse("token", "list", "alice").out


def test_an_empty_database_says_what_to_do(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "not a name")  # makes the database, and no player
    assert (tmp_path / "plyhouse.db").exists()
    done = plyhouse("admin", "player", "list")
    assert done.code == 0
    assert "plyhouse admin player add" in done.err


@pytest.mark.parametrize(
    "arguments",
    [("add", "alice"), ("add", ""), ("add", "no/slash"), ("token", "nobody"), ("tokens", "nobody")],
)
def test_names_that_cannot_be(plyhouse: Plyhouse, arguments: tuple[str, ...]) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("admin", "player", *arguments)
    assert done.code == 2
    assert done.err.count("\n") == 1, done.err
    assert done.out == ""


def test_an_unknown_scope(plyhouse: Plyhouse) -> None:
    done = plyhouse("admin", "player", "add", "alice", "--scope", "everything")
    assert done.code == 2
    assert "organise" in done.err


def test_the_database_is_named_by_the_environment(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "alice", env={"PLYHOUSE_DATABASE": "sqlite:///other.db"})
    assert (tmp_path / "other.db").exists()
    assert not (tmp_path / "plyhouse.db").exists()


def test_a_database_url_that_cannot_be_read(plyhouse: Plyhouse) -> None:
    done = plyhouse("admin", "player", "list", "--database", "mysql://x")
    assert done.code == 2
    assert "sqlite:///" in done.err


def test_a_folder_that_is_not_there(plyhouse: Plyhouse) -> None:
    done = plyhouse("admin", "player", "list", "--database", "sqlite:///no/such/folder/x.db")
    assert done.code == 3
    assert done.err.count("\n") == 1


def test_a_database_of_a_newer_version(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "alice")
    with sqlite3.connect(tmp_path / "plyhouse.db") as connection:
        connection.execute("UPDATE plyhouse_schema SET version_num = '9999'")
    connection.close()
    done = plyhouse("admin", "player", "list")
    assert done.code == 3
    assert "upgrade Plyhouse" in done.err
    assert done.err.count("\n") == 1


def test_a_database_that_is_locked(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "alice")
    holder = sqlite3.connect(tmp_path / "plyhouse.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    soon = "sqlite:///plyhouse.db?busy_timeout_ms=50"  # which is 5 s otherwise
    try:
        done = plyhouse("admin", "player", "add", "bob", "--database", soon)
    finally:
        holder.close()
    assert done.code == 3
    assert "locked" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_database_that_may_not_be_written(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "alice")
    (tmp_path / "plyhouse.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        done = plyhouse("admin", "player", "add", "bob")
    finally:
        tmp_path.chmod(0o755)
    assert done.code == 3


def test_a_file_that_is_no_database(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk, eggs\n" * 100)
    done = plyhouse("admin", "player", "list", "--database", "sqlite:///notes.txt")
    assert done.code == 3
    assert done.err.count("\n") == 1
